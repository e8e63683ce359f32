//! Archives, in and out.

use std::io::Write;

use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

use crate::sanitize::bench::Bench;
use crate::sanitize::format::package::{NewPackage, Package};
use crate::sanitize::{FileKind, Note, Rejection, Stats};

fn zipped(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut fresh = NewPackage::new();
    for (name, content) in entries {
        fresh.put(name, content, false).expect("an entry");
    }
    fresh.finish().expect("an archive")
}

fn unzipped(file: &[u8]) -> Vec<(String, String)> {
    let mut bench = Bench::disarming();
    let mut work = bench.work();
    let mut package = Package::open(file, &mut work).expect("an archive");
    let names: Vec<String> = package.entries().iter().map(|entry| entry.name.clone()).collect();
    let mut content = |at| String::from_utf8(package.read(at, &mut work).expect("an entry")).expect("text");
    names.into_iter().enumerate().map(|(at, name)| (name, content(at))).collect()
}

fn tarred(entries: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (name, kind, content) in entries {
        let mut header = Header::new_gnu();
        header.set_entry_type(*kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o711);
        header.set_mtime(7);
        // `append_data` would refuse the names that are tried here.
        let field = &mut header.as_old_mut().name;
        field.iter_mut().zip(name.bytes()).for_each(|(field, byte)| *field = byte);
        header.set_cksum();
        builder.append(&header, *content).expect("an entry");
    }
    builder.into_inner().expect("an archive")
}

fn gzipped(name: &str, content: &[u8]) -> Vec<u8> {
    let mut gzip = GzBuilder::new().filename(name).mtime(9).write(Vec::new(), Compression::fast());
    gzip.write_all(content).expect("gzip");
    gzip.finish().expect("gzip")
}

/// Cleaned, and what comes out once more: the same then.
fn twice(bench: &mut Bench, kind: FileKind, file: &[u8]) -> Result<(Vec<u8>, Stats), Rejection> {
    let (clean, stats) = bench.clean(kind, file)?;
    let (again, rest) = bench.clean(kind, &clean).expect("a clean file");
    assert!(clean == again && rest.untouched(), "{rest:?}");
    Ok((clean, stats))
}

#[test]
fn members_are_cleaned_and_named() {
    let page = b"<p>Jane<script>x</script>";
    let inner = zipped(&[("deep.html", page)]);
    let file = zipped(&[
        ("Jane/Jane.html", page),
        ("Jane/JANE.txt", b"Jane http://bad.example"),
        ("evil.exe", b"MZ\x90\0\x03\0\0\0\x04\xff"),
        ("inner.zip", &inner),
        ("tree.tgz", &gzipped("tree.tar", &tarred(&[("a/Jane.txt", EntryType::Regular, b"Jane")]))),
    ]);
    let mut bench = Bench::redacting("Jane");
    let (clean, stats) = twice(&mut bench, FileKind::Zip, &file).expect("a clean file");
    let names: Vec<String> = {
        let mut work = bench.work();
        let package = Package::open(&clean, &mut work).expect("an archive");
        package.entries().iter().map(|entry| entry.name.clone()).collect()
    };
    assert_eq!(names, ["<N>/<N>.html", "<N>/JANE.txt", "inner.zip", "tree.tgz"]);
    assert_eq!(stats.notes.get(&Note::Dropped), Some(&1));
    assert_eq!((stats.interactive, stats.defanged, stats.redacted.get("N")), (2, 1, Some(&8)));
}

#[test]
fn one_member_decides_for_all() {
    let encrypted = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
    let broken = zipped(&[("a.xml", b"<a"), ("b.png", b"\x89PNG\r\n\x1a\n"), ("c", encrypted)]);
    let (clean, stats) = Bench::disarming().clean(FileKind::Zip, &broken).expect("a clean file");
    assert!(unzipped(&clean).len() <= 1 && stats.notes.contains_key(&Note::Dropped), "{stats:?}");
    let mut file = zipped(&[("a", b"x")]);
    for sign in [&b"PK\x03\x04"[..], b"PK\x01\x02"] {
        let at = memchr::memmem::find(&file, sign).expect("a header");
        let flags = at + if sign == b"PK\x03\x04" { 6 } else { 8 };
        *file.get_mut(flags).expect("flags") |= 1;
    }
    assert_eq!(Bench::disarming().clean(FileKind::Zip, &file).err(), Some(Rejection::Encrypted));
}

#[test]
fn kinds_that_nobody_rewrites_pass_where_they_may() {
    let file = zipped(&[("evil.exe", b"MZ\x90\0\x03\0\0\0\x04\xff")]);
    let mut bench = Bench::disarming();
    bench.options.policy.pass_unknown = true;
    let (clean, stats) = twice(&mut bench, FileKind::Zip, &file).expect("a clean file");
    assert_eq!((clean, stats.notes.get(&Note::Passed)), (file, Some(&1)));
}

#[test]
fn tar_holds_files_and_no_ways_out() {
    let file = tarred(&[
        ("./a/", EntryType::Directory, b""),
        ("./a/Jane.txt", EntryType::Regular, b"Jane"),
        ("link", EntryType::Symlink, b""),
        ("hard", EntryType::Link, b""),
        ("null", EntryType::Char, b""),
    ]);
    let (clean, stats) = twice(&mut Bench::redacting("Jane"), FileKind::Tar, &file).expect("a clean file");
    assert_eq!(stats.notes.get(&Note::Dropped), Some(&3));
    let mut archive = tar::Archive::new(clean.as_slice());
    let entries = archive.entries().expect("entries");
    let told = entries.map(|entry| {
        let entry = entry.expect("an entry");
        let header = entry.header();
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        (name, entry.size(), header.mode().expect("a mode"), header.mtime().expect("a time"))
    });
    assert_eq!(told.collect::<Vec<_>>(), [("a/<N>.txt".to_owned(), 3, 0o644, 7)]);
    for names in [&["../a"][..], &["/a"], &["a/../../b"], &["a\\b"], &["c:a"], &["a", "./A"]] {
        let entries: Vec<_> = names.iter().map(|name| (*name, EntryType::Regular, &b"x"[..])).collect();
        let refused = Bench::disarming().clean(FileKind::Tar, &tarred(&entries)).err();
        let why = if names.len() > 1 { Rejection::DuplicateName } else { Rejection::Traversal };
        assert_eq!(refused, Some(why), "{names:?}");
    }
    let long = "x/".repeat(100) + "y";
    let mut builder = Builder::new(Vec::new());
    let mut header = Header::new_gnu();
    header.set_size(1);
    builder.append_data(&mut header, &long, &b"z"[..]).expect("an entry");
    let file = builder.into_inner().expect("an archive");
    let (clean, _) = twice(&mut Bench::disarming(), FileKind::Tar, &file).expect("a clean file");
    assert_eq!(clean.len(), file.len());
}

#[test]
fn gzip_keeps_a_plain_name() {
    let mut file = gzipped("../Jane.csv", b"Jane,=1\n");
    file.extend(gzipped("other", b"more,Jane\n"));
    file.extend(b"<script>trailing</script>");
    let (clean, stats) = twice(&mut Bench::redacting("Jane"), FileKind::Gzip, &file).expect("a clean file");
    let decoder = flate2::read::GzDecoder::new(clean.as_slice());
    let header = decoder.header().expect("a header");
    assert_eq!((header.filename(), header.mtime()), (Some(&b"<N>.csv"[..]), 0));
    let text = std::io::read_to_string(decoder).expect("text");
    assert!(text.starts_with("<N>,") && text.ends_with("more,<N>\n"), "{text}");
    assert_eq!(stats.redacted.get("N"), Some(&3));
    let cut = file.get(..30).expect("a part");
    assert_eq!(Bench::disarming().clean(FileKind::Gzip, cut).err(), Some(Rejection::Malformed));
}

#[test]
fn what_is_found_by_its_context_goes_wherever_it_stands() {
    let record = br#"{"name": "Jane"}"#;
    let inner = zipped(&[("c.txt", b"Jane, Janes"), ("of Jane.json", record)]);
    let members: [(&str, &[u8]); 4] = [
        ("a.txt", b"so Jane http://x.example"),
        ("b.zip", &inner),
        ("Jane.txt", b"Janet"),
        ("d.txt", b"none"),
    ];
    let mut bench = Bench::redacting("name: Jane");
    let mut work = bench.work();
    let clean = work.whole(FileKind::Zip, &zipped(&members)).expect("a clean file");
    assert_eq!(work.stats().redacted.get("N"), Some(&5));
    assert_eq!(work.stats().defanged, 1);
    let parts = bench.parts.len();
    let within = zipped(&[("c.txt", b"<N>, Janes"), ("of <N>.json", br#"{"name": "<N>"}"#)]);
    let want: [(&str, &[u8]); 4] = [
        ("a.txt", b"so <N> hxxp://x[.]example"),
        ("b.zip", &within),
        ("<N>.txt", b"Janet"),
        ("d.txt", b"none"),
    ];
    assert!(clean == zipped(&want), "{}", String::from_utf8_lossy(&clean));
    // Nobody is asked twice.
    let _ = bench.work().clean(FileKind::Zip, &zipped(&members));
    assert_eq!((parts * 2, bench.links), (bench.parts.len(), 2));
}

#[test]
fn where_nothing_is_left_a_file_is_read_once() {
    let record = br#"{"name": "Jane"}"#;
    let file = zipped(&[("a.json", record), ("b.txt", b"Janet")]);
    let mut bench = Bench::redacting("name: Jane");
    let mut work = bench.work();
    let before = work.room();
    let clean = work.clean(FileKind::Zip, &file);
    let once = before - work.room();
    let mut bench = Bench::redacting("name: Jane");
    let mut work = bench.work();
    assert_eq!(work.whole(FileKind::Zip, &file), clean);
    assert_eq!(before - work.room(), once);
}
