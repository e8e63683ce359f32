//! Mutants of packages: whatever is done to a file or to one of its entries, there is an answer.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::sanitize::FileKind;
use crate::sanitize::bench::Bench;
use crate::sanitize::format::package::{NewPackage, Package};

const REL: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

fn entries() -> Vec<(&'static str, String)> {
    let types = "<Types><Default Extension=\"rels\" ContentType=\"a/xml\"/><Default Extension=\"xml\" \
                 ContentType=\"application/xml\"/><Default Extension=\"bin\" ContentType=\"x/oleObject\"/></Types>";
    let root = format!(
        "<Relationships><Relationship Id=\"r1\" Type=\"{REL}/officeDocument\" Target=\"a/m.xml\"/></Relationships>"
    );
    let links = format!(
        "<Relationships><Relationship Id=\"r1\" Type=\"{REL}/oleObject\" Target=\"o.bin\"/><Relationship Id=\"r2\" \
         Type=\"{REL}/hyperlink\" TargetMode=\"External\" Target=\"http://a.example\"/></Relationships>"
    );
    let main = "<?xml version=\"1.0\"?><!-- Jane --><w:d><p:sp><p:graphicFrame><p:cNvPr id=\"1\"/><p:oleObj r:id=\"r1\">\
                <p:pic><p:cNvPr id=\"0\" descr=\"Jane x\"/></p:pic></p:oleObj></p:graphicFrame></p:sp><w:p><w:r><w:t>Ja</w:t>\
                <w:tab/></w:r><w:hyperlink r:id=\"r2\"><w:r><w:t>n&amp;<![CDATA[e]]></w:t></w:r></w:hyperlink></w:p>\
                <w:r><w:fldChar w:fldCharType=\"begin\"/><w:instrText>DDE x</w:instrText><w:fldChar w:fldCharType=\
                \"separate\"/><w:t>y</w:t><w:fldChar w:fldCharType=\"end\"/></w:r><c t=\"str\"><f t=\"shared\" si=\"0\" \
                ref=\"A1\">cmd|'x'!A1&amp;\"Jane\"</f><v>Jane_x0041_</v></c><definedName localSheetId=\"1\">[1]a!b</definedName>\
                <text:p>x<text:s/>Jane<text:a xlink:href=\"http://a.example\">y</text:a></text:p></w:d>";
    let listing = "<m><file-entry full-path=\"a/m.xml\" media-type=\"text/xml\"/></m>";
    vec![
        ("mimetype", "application/vnd.oasis.opendocument.text".to_owned()),
        ("[Content_Types].xml", types.to_owned()),
        ("_rels/.rels", root),
        ("a/_rels/m.xml.rels", links),
        ("a/m.xml", main.to_owned()),
        ("a/o.bin", "x".to_owned()),
        ("META-INF/manifest.xml", listing.to_owned()),
    ]
}

/// Pieces that mean something somewhere.
const PIECES: &[&str] = &[
    "<", ">", "/>", "</w:p>", "<w:p>", "\"", "'", "&", "&#x0;", "]]>", "<!--", "<?x?>", "=", "\u{0}", "ä",
    "r1", ":", "../",
];

fn mutated(mut bytes: Vec<u8>, mutations: &[(u16, u16, u8)]) -> Vec<u8> {
    for (at, length, kind) in mutations {
        let at = usize::from(*at) % (bytes.len() + 1);
        let end = (at + usize::from(*length) % 40).min(bytes.len());
        match kind % 4 {
            0 => drop(bytes.drain(at..end)),
            1 => {
                let piece = PIECES[usize::from(*kind) / 4 % PIECES.len()];
                drop(bytes.splice(at..at, piece.bytes()));
            }
            2 => {
                let copy = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, copy));
            }
            _ => bytes[at..end].iter_mut().take(1).for_each(|byte| *byte ^= kind),
        }
    }
    bytes
}

fn packed(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut fresh = NewPackage::new();
    entries.iter().for_each(|(name, content)| fresh.put(name, content, false).expect("an entry"));
    fresh.finish().expect("a package")
}

/// Cleans it; what is clean stays as it is.
fn settle(kind: FileKind, file: &[u8]) {
    let mut bench = Bench::redacting("Jane");
    let Ok((clean, _)) = bench.clean(kind, file) else { return };
    let (again, rest) = bench.clean(kind, &clean).expect("what was written can be read");
    assert!(clean == again && rest.untouched(), "a clean file is a fixed point: {rest:?}");
}

#[test]
fn the_file_itself_is_read() {
    let file =
        packed(&entries().into_iter().map(|(name, text)| (name, text.into_bytes())).collect::<Vec<_>>());
    for kind in [FileKind::Ooxml, FileKind::Odf] {
        let (clean, stats) = Bench::redacting("Jane").clean(kind, &file).expect("a clean file");
        assert!(stats.redacted.contains_key("N") && stats.defanged > 0);
        let mut bench = Bench::disarming();
        let mut work = bench.work();
        let mut package = Package::open(&clean, &mut work).expect("a package");
        let at = package.entries().iter().position(|entry| entry.name == "a/m.xml").expect("the main part");
        let text = String::from_utf8(package.read(at, &mut work).expect("the part")).expect("text");
        assert!(!text.contains("Jane"), "{text}");
    }
}

/// What was no fixed point once.
#[test]
fn entries_that_were_mutated() {
    let mut entries: Vec<_> = entries().into_iter().map(|(name, text)| (name, text.into_bytes())).collect();
    entries[4].1 = mutated(std::mem::take(&mut entries[4].1), &[(21130, 0, 53)]);
    let file = packed(&entries);
    settle(FileKind::Ooxml, &file);
    settle(FileKind::Odf, &file);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn entries_that_are_mutated(at in 0..7_usize, mutations in vec(any::<(u16, u16, u8)>(), 1..4)) {
        let mut entries: Vec<_> = entries().into_iter().map(|(name, text)| (name, text.into_bytes())).collect();
        entries[at].1 = mutated(std::mem::take(&mut entries[at].1), &mutations);
        let file = packed(&entries);
        settle(FileKind::Ooxml, &file);
        settle(FileKind::Odf, &file);
    }

    #[test]
    fn files_that_are_mutated(mutations in vec(any::<(u16, u16, u8)>(), 1..6)) {
        let file: Vec<_> = entries().into_iter().map(|(name, text)| (name, text.into_bytes())).collect();
        let file = mutated(packed(&file), &mutations);
        settle(FileKind::Ooxml, &file);
        settle(FileKind::Odf, &file);
        let mut compound = vec![0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];
        compound.extend(file);
        settle(FileKind::Ole2, &compound);
    }
}
