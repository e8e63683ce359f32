use std::collections::BTreeMap;

use crate::sanitize::bench::Bench;
use crate::sanitize::format::package::{NewPackage, Package};
use crate::sanitize::{FileKind, Note, Options, Rejection, Stats};

const REL: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const W: &str = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" \
                 xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"";

/// A package that is made: parts by name, relationships by source.
#[derive(Default)]
pub(super) struct Made {
    parts: Vec<(String, Vec<u8>)>,
    types: String,
    relations: BTreeMap<String, String>,
}

impl Made {
    pub(super) fn word(body: &str) -> Self {
        let main = "application/vnd.ms-word.document.macroEnabled.main+xml";
        let text = format!("<?xml version=\"1.0\"?><w:document {W}><w:body>{body}</w:body></w:document>");
        Self::default().part("word/document.xml", main, &text).relation(
            "",
            "officeDocument",
            "word/document.xml",
            "",
        )
    }

    pub(super) fn book(workbook: &str, sheet: &str) -> Self {
        let main = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml";
        let kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml";
        let book = format!("<workbook xmlns:r=\"{REL}\">{workbook}</workbook>");
        let sheet = format!("<worksheet xmlns:r=\"{REL}\">{sheet}</worksheet>");
        let made =
            Self::default().part("xl/workbook.xml", main, &book).part("xl/worksheets/s.xml", kind, &sheet);
        made.relation("", "officeDocument", "xl/workbook.xml", "").relation(
            "xl/workbook.xml",
            "worksheet",
            "worksheets/s.xml",
            "",
        )
    }

    pub(super) fn part(mut self, name: &str, kind: &str, content: &str) -> Self {
        self.parts.push((name.to_owned(), content.as_bytes().to_vec()));
        self.types += &format!("<Override PartName=\"/{name}\" ContentType=\"{kind}\"/>");
        self
    }

    /// Ids are `rId1`, `rId2`, … in each source.
    pub(super) fn relation(mut self, source: &str, kind: &str, target: &str, rest: &str) -> Self {
        let of = self.relations.entry(source.to_owned()).or_default();
        let id = of.matches("<Relationship ").count() + 1;
        *of += &format!("<Relationship Id=\"rId{id}\" Type=\"{REL}/{kind}\" Target=\"{target}\"{rest}/>");
        self
    }

    pub(super) fn link(self, source: &str, kind: &str, target: &str) -> Self {
        self.relation(source, kind, target, " TargetMode=\"External\"")
    }

    pub(super) fn file(&self) -> Vec<u8> {
        let mut fresh = NewPackage::new();
        let types = format!(
            "<Types><Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
             <Default Extension=\"png\" ContentType=\"image/png\"/>{}</Types>",
            self.types
        );
        fresh.put("[Content_Types].xml", types.as_bytes(), false).expect("types");
        for (source, of) in &self.relations {
            let (folder, name) = source.rsplit_once('/').unwrap_or(("", source));
            let slash = if folder.is_empty() { "" } else { "/" };
            let name = format!("{folder}{slash}_rels/{name}.rels");
            let of = format!("<Relationships>{of}</Relationships>");
            fresh.put(&name, of.as_bytes(), false).expect("relationships");
        }
        for (name, content) in &self.parts {
            fresh.put(name, content, false).expect("a part");
        }
        fresh.finish().expect("a package")
    }

    /// What comes out, which no second pass changes.
    pub(super) fn clean(&self, bench: &mut Bench) -> (BTreeMap<String, String>, Stats) {
        let (clean, stats) = bench.clean(FileKind::Ooxml, &self.file()).expect("a clean file");
        let (again, rest) = bench.clean(FileKind::Ooxml, &clean).expect("a clean file");
        assert!(clean == again, "a clean file is a fixed point");
        assert!(rest.untouched(), "nothing is left to count: {rest:?}");
        (unpacked(&clean), stats)
    }
}

pub(super) fn unpacked(file: &[u8]) -> BTreeMap<String, String> {
    let mut bench = Bench::disarming();
    let mut work = bench.work();
    let mut package = Package::open(file, &mut work).expect("a package");
    let names: Vec<String> = package.entries().iter().map(|entry| entry.name.clone()).collect();
    let read = |(at, name)| (name, package.read(at, &mut work).expect("a part"));
    let all = names.into_iter().enumerate().map(read);
    all.map(|(name, content)| (name, String::from_utf8_lossy(&content).into_owned())).collect()
}

pub(super) fn count(stats: &Stats) -> (u64, u64) {
    (stats.attachments, stats.interactive)
}

#[test]
fn macros_go_with_all_that_belongs_to_them() {
    let made = Made::word("<w:p><w:r><w:t>kept</w:t></w:r></w:p>")
        .part("word/vbaProject.bin", "application/vnd.ms-office.vbaProject", "x")
        .part("word/vbaData.xml", "application/vnd.ms-word.vbaData+xml", "<w/>")
        .relation("word/document.xml", "vbaProject", "vbaProject.bin", "")
        .relation("word/vbaProject.bin", "wordVbaData", "vbaData.xml", "");
    let (parts, stats) = made.clean(&mut Bench::disarming());
    assert_eq!(
        parts.keys().collect::<Vec<_>>(),
        ["[Content_Types].xml", "_rels/.rels", "word/_rels/document.xml.rels", "word/document.xml"]
    );
    assert!(parts["[Content_Types].xml"].contains("wordprocessingml.document.main+xml"));
    assert!(!parts["[Content_Types].xml"].contains("vba"));
    assert!(parts["word/document.xml"].contains("kept"));
    assert_eq!(count(&stats), (0, 1));
}

#[test]
fn parts_are_known_by_path_type_or_relationship() {
    let made =
        Made::word("<w:p><w:r><w:object><v:shape/><o:OLEObject r:id=\"rId1\"/></w:object></w:r></w:p>")
            .part("word/odd.xml", "application/xml", "<x/>")
            .part("word/embeddings/a.png", "image/png", "x")
            .part("word/b.xml", "application/vnd.ms-office.activeX+xml", "<x/>")
            .relation("word/document.xml", "oleObject", "odd.xml", "");
    let (parts, stats) = made.clean(&mut Bench::disarming());
    assert_eq!(parts.len(), 4);
    assert!(parts["word/document.xml"].contains("<w:object><v:shape/></w:object>"));
    assert_eq!(count(&stats), (2, 1));
}

#[test]
fn programs_that_fetch_data_go_whatever_part_they_are_in() {
    let wide = "<m:DataMashup xmlns:m=\"http://schemas.microsoft.com/DataMashup\">AAA=</m:DataMashup>";
    let wide: Vec<u8> =
        std::iter::once(0xfeff).chain(wide.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    for (place, content) in [
        (
            "customXml/item1.xml",
            b"<DataMashup xmlns=\"http://schemas.microsoft.com/DataMashup\">AAA=</DataMashup>".to_vec(),
        ),
        ("xl/data.xml", wide),
    ] {
        let mut made = Made::book("<sheets><sheet r:id=\"rId1\"/></sheets>", "<sheetData/>")
            .part(place, "application/xml", "")
            .part("customXml/props.xml", "application/xml", "<properties/>")
            .part("customXml/item2.xml", "application/xml", "<a>DataMashup</a>")
            .relation("xl/workbook.xml", "customXml", &format!("/{place}"), "")
            .relation("xl/workbook.xml", "customXml", "/customXml/item2.xml", "")
            .relation(place, "customXmlProps", "/customXml/props.xml", "");
        made.parts.iter_mut().filter(|(name, _)| name == place).for_each(|part| part.1.clone_from(&content));
        let (parts, stats) = made.clean(&mut Bench::disarming());
        assert!(
            !parts.contains_key(place) && !parts.contains_key("customXml/props.xml"),
            "{:?}",
            parts.keys()
        );
        assert!(parts.contains_key("customXml/item2.xml") && !parts["[Content_Types].xml"].contains(place));
        assert_eq!(count(&stats), (0, 1));
        let mut bench = Bench::disarming();
        bench.options.interactive = false;
        assert!(made.clean(&mut bench).0.contains_key(place));
    }
}

#[test]
fn what_is_called_sound_film_or_drawing_is_one() {
    for (kind, content, stays) in [
        ("audio/wav", "RIFF....WAVE", true),
        ("video/mp4", "\0\0\0\u{18}ftypmp42", true),
        ("audio/mpeg", "ID3", true),
        ("video/mp4", "MZ program", false),
        ("audio/wav", "#!/bin/sh", false),
        ("image/svg+xml", "MZ program", false),
        ("image/svg+xml", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>", true),
    ] {
        let made = Made::word("<w:p/>").part("word/media/a.bin", kind, content).relation(
            "word/document.xml",
            "media",
            "media/a.bin",
            "",
        );
        let (parts, stats) = made.clean(&mut Bench::disarming());
        assert_eq!(parts["word/media/a.bin"] == content, stays, "{kind} {content}");
        assert_eq!(!stats.notes.contains_key(&Note::Dropped), stays, "{kind} {content}");
    }
}

#[test]
fn a_file_without_anything_to_remove_keeps_its_bytes() {
    let plain = "application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml";
    let mut made =
        Made::word("<w:p><w:r><w:t>a</w:t></w:r></w:p>").part("word/styles.xml", plain, "<w:styles/>");
    made.types = made.types.replace(
        "vnd.ms-word.document.macroEnabled",
        "vnd.openxmlformats-officedocument.\
                                      wordprocessingml.document",
    );
    let made = made.relation("word/document.xml", "styles", "styles.xml", "");
    let (clean, stats) = Bench::redacting("Jane").clean(FileKind::Ooxml, &made.file()).expect("a clean file");
    assert!(clean == made.file());
    assert!(stats.untouched());
}

#[test]
fn relationships_that_lead_out_go_with_what_refers_to_them() {
    let body = "<w:p><w:hyperlink r:id=\"rId1\"><w:r><w:t>text</w:t></w:r></w:hyperlink>\
                <w:hyperlink r:id=\"rId2\"><w:r><w:t>page</w:t></w:r></w:hyperlink>\
                <a:blip r:link=\"rId3\" r:embed=\"rId9\"/><w:subDoc r:id=\"rId4\"/></w:p>";
    let made = Made::word(body)
        .link("word/document.xml", "hyperlink", "file://host/x.exe")
        .link("word/document.xml", "hyperlink", "https://bad.example/x")
        .link("word/document.xml", "image", "https://bad.example/y.png")
        .link("word/document.xml", "subDocument", "https://bad.example/z.docx")
        .part(
            "word/settings.xml",
            "application/xml",
            &format!("<w:settings {W}><w:attachedTemplate r:id=\"rId1\"/></w:settings>"),
        )
        .relation("word/document.xml", "settings", "settings.xml", "")
        .link("word/settings.xml", "attachedTemplate", "\\\\host\\t.dotm");
    let (parts, stats) = made.clean(&mut Bench::disarming());
    let body = &parts["word/document.xml"];
    assert!(body.contains("<w:p><w:r><w:t>text</w:t></w:r><w:hyperlink r:id=\"rId2\">"), "{body}");
    assert!(body.contains("</w:hyperlink><a:blip r:embed=\"rId9\"/></w:p>"), "{body}");
    let relations = &parts["word/_rels/document.xml.rels"];
    assert!(relations.contains("hxxps://bad%5B.%5Dexample/x"), "{relations}");
    assert_eq!(relations.matches("<Relationship ").count(), 2);
    assert!(!parts["word/settings.xml"].contains("attachedTemplate"));
    assert_eq!((count(&stats), stats.defanged), ((0, 4), 1));
}

#[test]
fn fields_that_act_go_and_their_text_stays() {
    let run = |inner: &str| format!("<w:r>{inner}</w:r>");
    let mark = |kind: &str| run(&format!("<w:fldChar w:fldCharType=\"{kind}\"/>"));
    let code = |text: &str| run(&format!("<w:instrText>{text}</w:instrText>"));
    let text = |text: &str| run(&format!("<w:t>{text}</w:t>"));
    let split =
        [mark("begin"), code("DD"), code("EAUTO c:\\\\x"), mark("separate"), text("shown"), mark("end")];
    let nested =
        [mark("begin"), mark("begin"), code("QUOTE 68 68 69"), mark("end"), code(" c:\\\\x"), mark("end")];
    let harmless = [mark("begin"), code(" PAGE "), mark("separate"), text("7"), mark("end")];
    let simple = "<w:fldSimple w:instr=\"ddeauto x\"><w:r><w:t>s</w:t></w:r></w:fldSimple>";
    let body = format!("<w:p>{}{}{}{simple}</w:p>", split.concat(), nested.concat(), harmless.concat());
    let (parts, stats) = Made::word(&body).clean(&mut Bench::disarming());
    let out = &parts["word/document.xml"];
    assert!(!out.contains("DD") && !out.contains("dde") && !out.contains("QUOTE"), "{out}");
    assert!(out.contains(">shown<") && out.contains(" PAGE ") && out.contains("<w:t>s</w:t>"), "{out}");
    assert_eq!(out.matches("fldChar ").count(), 3, "{out}");
    assert_eq!(count(&stats), (0, 3));
}

#[test]
fn text_is_read_over_runs() {
    let body = "<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>Ja</w:t></w:r><w:r><w:t>ne &amp; n</w:t></w:r></w:p>\
                <w:p><w:del><w:r><w:delText>Jane</w:delText></w:r></w:del><w:r><w:t>J&#97;n<!-- x -->e</w:t></w:r></w:p>\
                <w:p><w:r><v:shape o:gfxdata=\"SmFuZQ==\"/><wp:docPr id=\"1\" descr=\"of Jane\"/><w:instrText> HYPERLINK \"mailto:Jane\"</w:instrText></w:r></w:p>\
                <!-- by Jane -->";
    let (parts, stats) = Made::word(body).clean(&mut Bench::redacting("Jane"));
    let out = &parts["word/document.xml"];
    assert!(
        out.contains(
            "<w:b/></w:rPr><w:t>&lt;N&gt;</w:t></w:r><w:r><w:t xml:space=\"preserve\"> &amp; n</w:t>"
        ),
        "{out}"
    );
    assert!(
        out.contains("<w:delText>&lt;N&gt;</w:delText>") && out.contains("descr=\"of &lt;N&gt;\""),
        "{out}"
    );
    assert!(!out.contains("Jane") && !out.contains("&#97;") && out.contains("<v:shape/>"), "{out}");
    assert_eq!(stats.redacted.get("N"), Some(&6));
}

#[test]
fn cells_are_redacted_with_their_formulas() {
    let sheet = "<sheetData><row><c r=\"A1\"><v>4.111111111111111E15</v></c><c r=\"B1\" t=\"str\"><f>\"4\"&amp;A2</f>\
                 <v>x4111111111111111</v></c><c r=\"C1\"><f>4111111111111111+1</f><v>2</v></c><c r=\"D1\">\
                 <f>HYPERLINK(\"a 4111111111111111\")</f><v>0</v></c><c t=\"inlineStr\"><is><r><t>4111_x0031_</t></r>\
                 <r><t>11111111111</t></r></is></c></row></sheetData>";
    let made = Made::book("<sheets><sheet name=\"s\" sheetId=\"1\" r:id=\"rId1\"/></sheets>", sheet);
    let (parts, stats) = made.clean(&mut Bench::redacting("4111111111111111"));
    let out = &parts["xl/worksheets/s.xml"];
    assert!(!out.contains("4111"), "{out}");
    for want in [
        "<c t=\"str\" r=\"A1\"><v>&lt;N&gt;</v></c>",
        "<c r=\"B1\" t=\"str\"><v>x&lt;N&gt;</v></c>",
        "<c r=\"C1\"><v>2</v></c>",
        "<f>HYPERLINK(&quot;a &lt;N&gt;&quot;)</f>",
        "<is><r><t>&lt;N&gt;</t></r><r><t></t></r></is>",
    ] {
        assert!(out.contains(want), "{want} in {out}");
    }
    assert_eq!(stats.redacted.get("N"), Some(&5));
}

#[test]
fn sheets_of_macros_go_and_the_rest_is_counted_anew() {
    let book = "<bookViews><workbookView activeTab=\"1\"/></bookViews><sheets><sheet name=\"m\" r:id=\"rId2\"/>\
                <sheet name=\"s\" r:id=\"rId1\"/></sheets><externalReferences><externalReference r:id=\"rId3\"/>\
                </externalReferences><definedNames><definedName name=\"_xlnm.Auto_Open\">m!A1</definedName>\
                <definedName name=\"a\" localSheetId=\"1\">s!A1</definedName></definedNames>";
    let sheet = "<sheetData><c><f>[1]x!A1</f><v>5</v></c><c><f>cmd|'/c calc'!A0</f><v>6</v></c></sheetData>";
    let made = Made::book(book, sheet)
        .part("xl/macrosheets/m.xml", "application/vnd.ms-excel.macrosheet+xml", "<x/>")
        .relation("xl/workbook.xml", "xlMacrosheet", "macrosheets/m.xml", "")
        .part("xl/externalLinks/e.xml", "application/xml", "<externalLink><ddeLink/></externalLink>")
        .relation("xl/workbook.xml", "externalLink", "externalLinks/e.xml", "");
    let (parts, stats) = made.clean(&mut Bench::disarming());
    let book = &parts["xl/workbook.xml"];
    assert!(
        book.contains(
            "activeTab=\"0\"/></bookViews><sheets><sheet name=\"s\" r:id=\"rId1\"/></sheets><definedNames>"
        ),
        "{book}"
    );
    assert!(book.contains("<definedNames><definedName name=\"a\" localSheetId=\"0\">"), "{book}");
    assert!(parts["xl/worksheets/s.xml"].contains("<c><v>5</v></c><c><v>6</v></c>"));
    assert_eq!((parts.len(), count(&stats)), (5, (0, 4)));
}

#[test]
fn signatures_go_when_anything_changes() {
    let signed = |body: &str| {
        let plain = Made::word(body).part(
            "_xmlsignatures/origin.sigs",
            "application/vnd.openxmlformats-package.digital-signature-origin",
            "",
        );
        let mut made = plain.relation("", "digital-signature/origin", "_xmlsignatures/origin.sigs", "");
        made.types = made.types.replace("vnd.ms-word.document.macroEnabled", "x");
        made
    };
    let (parts, stats) = signed("<w:p/>").clean(&mut Bench::redacting("Jane"));
    assert!(parts.contains_key("_xmlsignatures/origin.sigs") && stats.notes.is_empty());
    let (parts, stats) = signed("<w:p><w:t>Jane</w:t></w:p>").clean(&mut Bench::redacting("Jane"));
    assert!(!parts.contains_key("_xmlsignatures/origin.sigs"));
    assert!(!parts["[Content_Types].xml"].contains("origin") && !parts["_rels/.rels"].contains("origin"));
    assert_eq!(stats.notes.get(&Note::Signatures), Some(&1));
}

#[test]
fn what_readers_differ_over_is_refused() {
    let refused = |made: &Made| Bench::disarming().clean(FileKind::Ooxml, &made.file()).err();
    let mut made = Made::word("<w:p/>");
    made.parts[0].1 = b"<!DOCTYPE a><a/>".to_vec();
    assert_eq!(refused(&made), Some(Rejection::Doctype));
    for broken in ["<a>", "<a/><b/>", "<a b='1' b='2'/>", "<a>&x;</a>", "<a></b>", "x", ""] {
        made.parts[0].1 = broken.as_bytes().to_vec();
        assert_eq!(refused(&made), Some(Rejection::Malformed), "{broken}");
    }
    let utf16: Vec<u8> = "\u{feff}<a>Jane</a>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    made.parts[0].1 = utf16;
    let (clean, _) = Bench::redacting("Jane").clean(FileKind::Ooxml, &made.file()).expect("a clean file");
    assert!(unpacked(&clean)["word/document.xml"].ends_with("<a>&lt;N&gt;</a>"));
    let twice =
        Made::word("").link("word/document.xml", "hyperlink", "x").link("word/document.xml", "image", "y");
    let mut twice = twice;
    twice.relations.values_mut().for_each(|of| *of = of.replace("rId2", "rId1"));
    assert_eq!(refused(&twice), Some(Rejection::Malformed));
}

#[test]
fn what_is_not_ordered_stays() {
    let mut bench = Bench::disarming();
    bench.options = Options { interactive: false, attachments: true, links: false, ..bench.options };
    let made = Made::word("<w:p/>")
        .part("word/vbaProject.bin", "application/vnd.ms-office.vbaProject", "x")
        .relation("word/document.xml", "vbaProject", "vbaProject.bin", "")
        .part("word/embeddings/x.bin", "application/vnd.openxmlformats-officedocument.oleObject", "x");
    let (parts, stats) = made.clean(&mut bench);
    assert!(parts.contains_key("word/vbaProject.bin") && !parts.contains_key("word/embeddings/x.bin"));
    assert!(parts["[Content_Types].xml"].contains("macroEnabled"));
    assert_eq!(count(&stats), (1, 0));
}

#[test]
fn what_is_called_a_font_is_one() {
    let table = |head: &str, name: &str| format!("{head:\0<44}{name}\0\0\0\0\0\0\0<\0\0\0\u{4}abcd");
    let hidden = "application/vnd.openxmlformats-officedocument.obfuscatedFont";
    for (kind, content, stays) in [
        (hidden, table("k3Yk", "OS/2"), true),
        (hidden, table("MZ", "OS/2"), false),
        (hidden, table("k3Yk", "OS\u{1}2"), false),
        (hidden, table("k3Yk", "OS/2").replace('<', "="), false),
        (hidden, "#!/bin/sh\nls\n".to_owned(), false),
        ("application/x-fontdata", format!("{:\0<34}LP", "$\0\0\0"), true),
        ("application/x-fontdata", format!("{:\0<34}LP", "%\0\0\0"), false),
        ("application/x-font-ttf", "\0\u{1}\0\0\0\u{c}".to_owned(), true),
        ("application/x-font-ttf", "MZ".to_owned(), false),
        ("font/otf", "OTTO".to_owned(), true),
    ] {
        let made = Made::word("<w:p/>").part("word/fonts/a.bin", kind, &content).relation(
            "word/document.xml",
            "font",
            "fonts/a.bin",
            "",
        );
        let (parts, _) = made.clean(&mut Bench::disarming());
        assert_eq!(parts["word/fonts/a.bin"] == content, stays, "{kind} {content:?}");
    }
}
