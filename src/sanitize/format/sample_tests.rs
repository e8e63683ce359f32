//! A sample of each kind of file, made by hand: what the tests of hostile files damage. `PORTCULLIS_SANITIZE` says where
//! more are.

use std::io::{Cursor, Write};
use std::{env, fs};

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use image::ImageFormat;

use crate::sanitize::bench::Bench;
use crate::sanitize::format::FORMATS;
use crate::sanitize::format::package::NewPackage;
use crate::sanitize::name::fitting;
use crate::sanitize::{FileKind, Options, ScriptPolicy, identify};

pub(super) fn zip(name: &str, content: &[u8], copies: usize) -> Vec<u8> {
    let mut fresh = NewPackage::new();
    for n in 0..copies {
        fresh.put(&format!("{n}{name}"), content, false).expect("an entry");
    }
    fresh.finish().expect("an archive")
}

pub(super) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(content).expect("gzip");
    gzip.finish().expect("gzip")
}

pub(super) fn zlib(content: &[u8]) -> Vec<u8> {
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
    zlib.write_all(content).expect("zlib");
    zlib.finish().expect("zlib")
}

pub(super) fn gif(side: u16, frames: usize) -> Vec<u8> {
    let side = side.to_le_bytes();
    let frame = [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x4c, 1, 0];
    let head = [b"GIF89a".as_slice(), &side, &side, &[0x80, 0, 0, 0, 0, 0, 255, 255, 255]].concat();
    [head, frame.repeat(frames), vec![0x3b]].concat()
}

pub(super) fn tar(kind: u8, size: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.set_path("a").expect("a name");
    header.set_entry_type(tar::EntryType::new(kind));
    let gnu = header.as_gnu_mut().expect("a header");
    gnu.size.copy_from_slice(size);
    gnu.realsize.copy_from_slice(size);
    header.set_cksum();
    [header.as_bytes().as_slice(), &[0; 1024]].concat()
}

pub(super) fn pdf(body: &[u8]) -> Vec<u8> {
    let head = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj \
        3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>endobj\n";
    [head.as_slice(), body, b"\ntrailer<</Root 1 0 R>>\nstartxref\n0\n%%EOF"].concat()
}

pub(super) fn stream(content: &[u8]) -> Vec<u8> {
    let packed = zlib(content);
    let head = format!("4 0 obj<</Filter/FlateDecode/Length {}>>stream\n", packed.len());
    [head.as_bytes(), &packed, b"\nendstream endobj"].concat()
}

/// The same with where its objects are.
fn with_offsets(file: &[u8]) -> Vec<u8> {
    let text: String = file.iter().map(|byte| char::from(*byte)).collect();
    let end = text.find("trailer").expect("a trailer");
    let mut table = String::from("xref\n0 5\n0000000000 65535 f \n");
    for number in 1..5 {
        table += &format!("{:010} 00000 n \n", text.find(&format!("{number} 0 obj")).expect("an object"));
    }
    let trailer = format!("trailer<</Root 1 0 R/Size 5>>\nstartxref\n{end}\n%%EOF");
    [&file[..end], table.as_bytes(), trailer.as_bytes()].concat()
}

/// A package of entries; the first stands as it is, not packed.
fn package(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut fresh = NewPackage::new();
    for (at, (name, content)) in entries.iter().enumerate() {
        fresh.put(name, content.as_bytes(), at == 0).expect("an entry");
    }
    fresh.finish().expect("a package")
}

fn docx() -> Vec<u8> {
    const REL: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let root = format!(
        "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"r1\" \
         Type=\"{REL}/officeDocument\" Target=\"word/document.xml\"/></Relationships>"
    );
    package(&[
        (
            "[Content_Types].xml",
            "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Default Extension=\"rels\" \
             ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Override \
             PartName=\"/word/document.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.\
             wordprocessingml.document.main+xml\"/></Types>",
        ),
        ("_rels/.rels", &root),
        (
            "word/document.xml",
            "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body><w:p><w:r>\
             <w:t>Ja</w:t></w:r><w:r><w:t>ne</w:t></w:r><w:r><w:instrText>DDEAUTO c</w:instrText></w:r></w:p></w:body>\
             </w:document>",
        ),
    ])
}

fn odt() -> Vec<u8> {
    package(&[
        ("mimetype", "application/vnd.oasis.opendocument.text"),
        (
            "META-INF/manifest.xml",
            "<m:manifest xmlns:m=\"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0\"><m:file-entry m:full-path=\"/\" \
             m:media-type=\"application/vnd.oasis.opendocument.text\"/><m:file-entry m:full-path=\"content.xml\" \
             m:media-type=\"text/xml\"/></m:manifest>",
        ),
        (
            "content.xml",
            "<o:document-content xmlns:o=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" \
             xmlns:t=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\"><o:scripts/><o:body><o:text><t:p>J<t:span>ane</t:span>\
             </t:p></o:text></o:body></o:document-content>",
        ),
    ])
}

fn compound() -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).expect("a compound file");
    file.create_stream("/Contents").expect("a stream").write_all(b"Jane http://bad.example").expect("bytes");
    file.into_inner().into_inner()
}

fn picture(format: ImageFormat) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    image::DynamicImage::new_rgb8(9, 7).write_to(&mut out, format).expect("a picture");
    out.into_inner()
}

/// The samples, each under a name that fits, and the files of `PORTCULLIS_SANITIZE`.
pub(super) fn seeds() -> Vec<(String, Vec<u8>)> {
    let mail = b"From: Jane <a@example.com>\nSubject: =?utf-8?q?a?=\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<p>a=3D</p>\n--b\nContent-Type: image/png; name*0*=utf-8''a%20; name*1=b\nContent-Transfer-Encoding: base64\n\nAAAA\n--b--\n";
    let event = b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nSUMMARY:Ja\r\n ne\r\nATTACH;ENCODING=BASE64;VALUE=BINARY:TVqQAAMA\r\nURL:http://bad.example\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
    let mailbox =
        [b"From a@example.com Mon Jan  1 00:00:00 2020\n".as_slice(), mail, b"\nFrom Jane\n", mail].concat();
    let samples: [(&str, Vec<u8>); 26] = [
        ("a.eml", mail.to_vec()),
        ("a.mbox", mailbox),
        ("a.zip", zip(".html", b"<p onclick=x>Jane</p>", 3)),
        ("a.gz", gzip(b"Jane http://bad.example")),
        ("a.tar", tar(b'0', b"00000000010\0")),
        ("a.gif", gif(20, 3)),
        ("a.tif", picture(ImageFormat::Tiff)),
        ("a.png", picture(ImageFormat::Png)),
        ("a.jpg", picture(ImageFormat::Jpeg)),
        ("a.webp", picture(ImageFormat::WebP)),
        ("a.bmp", picture(ImageFormat::Bmp)),
        ("a.pdf", with_offsets(&pdf(&stream(b"BT (Jane) Tj ET")))),
        ("a.rtf", b"{\\rtf1 Jane {\\object\\objdata 00}}".to_vec()),
        ("a.json", b"{\"a\": [\"Jane\\u0041\", 1.5e3]}".to_vec()),
        ("a.csv", b"Jane,=1+1,\"x\"\n".to_vec()),
        ("a.svg", b"<svg><script>x</script><text>Jane</text></svg>".to_vec()),
        (
            "a.html",
            b"<!doctype html><p onclick=x>J&#97;ne<script>x</script><a href=\"java&#9;script:x\">y</a>"
                .to_vec(),
        ),
        ("a.xml", b"<?xml version=\"1.0\"?><?x?><a c=\"Jane\">&#74;ane<![CDATA[Jane]]></a>".to_vec()),
        ("a.md", b"# Jane\n\n[x](javascript:x) <b onclick=x>Jane</b>\n\n    Jane\n".to_vec()),
        ("a.ics", event.to_vec()),
        ("a.txt", b"Jane wrote http://bad.example\n".to_vec()),
        ("a.sh", b"#!/bin/sh\necho Jane\n".to_vec()),
        ("a.docx", docx()),
        ("a.odt", odt()),
        ("a.doc", compound()),
        ("a.yaml", b"- name: Jane\n".to_vec()),
    ];
    let mut seeds: Vec<_> = samples.into_iter().map(|(name, file)| (name.to_owned(), file)).collect();
    let entries = env::var("PORTCULLIS_SANITIZE").ok().and_then(|folder| fs::read_dir(folder).ok());
    let mut files: Vec<_> = entries.into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    for path in files {
        let file = fs::read(&path).unwrap_or_default();
        if file.len() < 60_000 {
            seeds.push((path.to_string_lossy().into_owned(), file));
        }
    }
    seeds
}

#[test]
fn every_format_has_a_sample_that_it_reads() {
    let seeds = seeds();
    for (kind, _) in FORMATS.table {
        let mut samples = seeds.iter().filter(|(name, file)| identify(file, name) == *kind).peekable();
        assert!(samples.peek().is_some(), "{kind:?} has none");
        let read = |(name, file): &(String, Vec<u8>)| {
            let mut bench = Bench::redacting("Jane");
            bench.options.policy.scripts = ScriptPolicy::Pass;
            bench.options.policy.pass_unknown = true;
            bench.clean(identify(file, name), file).is_ok()
        };
        assert!(samples.any(read), "{kind:?} refuses each of its own");
    }
}

#[test]
fn files_of_every_format_are_renamed_to_what_they_are() {
    // Compound files are read and pass as they are.
    for (kind, _) in FORMATS.table.iter().filter(|(kind, _)| *kind != FileKind::Ole2) {
        assert!(fitting("x.exe", *kind, Options::default()).is_some(), "{kind:?} keeps any name");
    }
}
