use std::collections::BTreeMap;

use crate::sanitize::bench::Bench;
use crate::sanitize::format::package::{NewPackage, Package};
use crate::sanitize::{FileKind, Note, Rejection, Stats};

/// A text document with this body, and these entries besides.
fn made(body: &str, entries: &[(&str, &str, &str)]) -> Vec<u8> {
    let mut fresh = NewPackage::new();
    fresh.put("mimetype", b"application/vnd.oasis.opendocument.text", true).expect("an entry");
    let mut listed = String::new();
    let content =
        format!("<office:document-content><office:body>{body}</office:body></office:document-content>");
    let all = [("content.xml", "text/xml", content.as_str())];
    for (name, kind, content) in all.iter().chain(entries) {
        listed += &format!("<m:file-entry m:full-path=\"{name}\" m:media-type=\"{kind}\"/>");
        fresh.put(name, content.as_bytes(), false).expect("an entry");
    }
    let manifest =
        format!("<!DOCTYPE m:manifest PUBLIC \"x\" \"Manifest.dtd\"><m:manifest>{listed}</m:manifest>");
    fresh.put("META-INF/manifest.xml", manifest.as_bytes(), false).expect("an entry");
    fresh.finish().expect("a package")
}

fn clean(bench: &mut Bench, file: &[u8]) -> (BTreeMap<String, String>, Stats) {
    let (clean, stats) = bench.clean(FileKind::Odf, file).expect("a clean file");
    let (again, rest) = bench.clean(FileKind::Odf, &clean).expect("a clean file");
    assert!(clean == again, "a clean file is a fixed point");
    assert!(rest.untouched(), "nothing is left to count: {rest:?}");
    let mut bench = Bench::disarming();
    let mut work = bench.work();
    let mut package = Package::open(&clean, &mut work).expect("a package");
    let names: Vec<String> = package.entries().iter().map(|entry| entry.name.clone()).collect();
    let read = |(at, name)| (name, package.read(at, &mut work).expect("an entry"));
    let all: Vec<(String, Vec<u8>)> = names.into_iter().enumerate().map(read).collect();
    (
        all.into_iter()
            .map(|(name, content)| (name, String::from_utf8_lossy(&content).into_owned()))
            .collect(),
        stats,
    )
}

#[test]
fn what_acts_goes() {
    let body = "<office:scripts><office:event-listeners><script:event-listener xlink:href=\"vnd.sun.star.script:x\"/>\
                </office:event-listeners></office:scripts><text:p>a<text:a xlink:href=\"file:///c:/x\">b</text:a>\
                <text:a xlink:href=\"http://bad.example\">c</text:a><draw:frame><draw:image xlink:href=\"http://h/y.png\"/>\
                </draw:frame><draw:frame><draw:object-ole xlink:href=\"./Object 1\"/><draw:image xlink:href=\"./P/a.png\"/>\
                </draw:frame><text:dde-connection>d</text:dde-connection></text:p>\
                <table:table-cell table:formula=\"of:=DDE(&quot;x&quot;)\" office:value=\"1\"/>\
                <table:table-cell table:formula=\"of:={1|2}\"/>";
    let file = made(
        body,
        &[
            ("Basic/script-lc.xml", "text/xml", "<x/>"),
            ("Basic/Standard/Module1.xml", "text/xml", "<x/>"),
            ("Object 1", "application/vnd.sun.star.oleobject", "x"),
            ("P/a.png", "image/png", "x"),
            ("META-INF/documentsignatures.xml", "", "<x/>"),
        ],
    );
    let (entries, stats) = clean(&mut Bench::disarming(), &file);
    let want = "<office:body><text:p>ab<text:a xlink:href=\"hxxp://bad%5B.%5Dexample\">c</text:a><draw:frame>\
                <draw:image xlink:href=\"./P/a.png\"/></draw:frame>d</text:p><table:table-cell office:value=\"1\"/>\
                <table:table-cell table:formula=\"of:={1|2}\"/></office:body>";
    assert!(entries["content.xml"].contains(want), "{}", entries["content.xml"]);
    assert_eq!(
        entries.keys().collect::<Vec<_>>(),
        ["META-INF/manifest.xml", "P/a.png", "content.xml", "mimetype"]
    );
    let manifest = &entries["META-INF/manifest.xml"];
    assert!(
        !manifest.contains("Basic") && !manifest.contains("DOCTYPE") && !manifest.contains("Object"),
        "{manifest}"
    );
    assert_eq!((stats.attachments, stats.interactive, stats.defanged), (1, 6, 1));
    assert_eq!(stats.notes.get(&Note::Signatures), Some(&1));
}

#[test]
fn formulas_that_reach_out_go_however_they_are_written() {
    let cell = |formula: &str| {
        let formula = formula.replace('&', "&amp;").replace('"', "&quot;");
        format!("<table:table-cell table:formula=\"{formula}\" office:value=\"4\"/>")
    };
    let mut bench = Bench::disarming();
    bench.options.links = false;
    let bound = "<table:table xmlns:x=\"http://schemas.microsoft.com/office/excel/formula\">";
    for formula in [
        "of:=COM.MICROSOFT.WEBSERVICE(\"http://h\")",
        "q:=com.microsoft.webservice (\"http://h\")",
        "of:=COM.MICROSOFT.IMAGE(\"http://h\")",
        "of:=COM.MICROSOFT.RTD(\"x\")",
        "of:=['FILE:///x'#$S.A1]",
        "of:=[file:///x.ods#$S.A1]",
        "of:=[$'a\"b'.A1]&HYPERLINK(\"file:///x\";\"y\")",
        "x:=cmd|'/C calc'!A0",
        "x:='[a.xlsx]S'!A1",
    ] {
        let body = format!("{bound}{}</table:table>", cell(formula));
        let (entries, stats) = clean(&mut bench, &made(&body, &[]));
        let want = format!("{bound}<table:table-cell office:value=\"4\"/></table:table>");
        assert!(entries["content.xml"].contains(&want), "{formula}: {}", entries["content.xml"]);
        assert_eq!(stats.interactive, 1, "{formula}");
    }
    for formula in [
        "of:=SUM([.A1:.A3])+CHISQ.DIST([.A1];[.B1];1)",
        "of:=HYPERLINK(\"https://ok.example\";\"a: b\")",
        "of:=COM.MICROSOFT.FILTERXML([.A1];\"//a\")",
        "of:=[.A1:.A3]![.A2:.B2]",
        "of:=IF([.A#REF!]=#N/A;{1|2};\"a|b\")",
        "y:=ORG.LIBREOFFICE.REGEX([.A1];\"a|b\";\"c\")",
    ] {
        let body = format!("{bound}{}</table:table>", cell(formula));
        let (entries, stats) = clean(&mut bench, &made(&body, &[]));
        assert!(entries["content.xml"].contains(&body) && stats.untouched(), "{formula}");
    }
}

#[test]
fn names_and_conditions_that_reach_out_go() {
    let fetch = "COM.MICROSOFT.WEBSERVICE(&quot;http://h&quot;)";
    for (written, left) in [
        (
            format!("<table:named-expression table:name=\"x\" table:expression=\"of:={fetch}\"/>"),
            "<table:named-expression table:name=\"x\"/>",
        ),
        (
            format!("<table:content-validation table:condition=\"of:cell-content()={fetch}\"/>"),
            "<table:content-validation/>",
        ),
        (
            format!(
                "<calcext:conditional-format><calcext:condition calcext:value=\"formula-is({fetch})\"/>\
                 </calcext:conditional-format>"
            ),
            "",
        ),
        (
            "<calcext:conditional-format><calcext:condition calcext:value=\"&gt;3\"/></calcext:conditional-format>"
                .to_owned(),
            "<calcext:conditional-format><calcext:condition calcext:value=\"&gt;3\"/></calcext:conditional-format>",
        ),
    ] {
        let (entries, _) = clean(&mut Bench::disarming(), &made(&written, &[]));
        assert!(
            entries["content.xml"].contains(&format!("<office:body>{left}</office:body>")),
            "{written}: {}",
            entries["content.xml"]
        );
    }
}

#[test]
fn what_holds_many_things_that_act_takes_time_by_their_number() {
    let body = format!("<office:event-listeners>{}</office:event-listeners>", "<x:script/>".repeat(20_000));
    let (entries, stats) = clean(&mut Bench::disarming(), &made(&body, &[]));
    assert!(entries["content.xml"].contains("<office:body></office:body>"), "what is empty goes");
    assert_eq!(stats.interactive, 20_000);
    let kept = "<office:event-listeners><x:y/></office:event-listeners><draw:frame/>";
    let (entries, _) = clean(&mut Bench::disarming(), &made(kept, &[]));
    assert!(entries["content.xml"].contains(kept));
}

#[test]
fn what_nothing_is_said_of_is_what_its_bytes_are() {
    let said = ["", "application/binary", "application/x-openoffice-wmf", "audio/wav", "font/ttf"];
    let places = [
        "Pictures/a",
        "ObjectReplacements/Object 1",
        "media/a.wav",
        "Fonts/a.ttf",
        "Thumbnails/a.png",
        "META-INF/a",
    ];
    for (kind, place) in said.iter().flat_map(|kind| places.map(|place| (*kind, place))) {
        let body = format!("<draw:frame><draw:image xlink:href=\"./{place}\"/></draw:frame>");
        let (entries, stats) =
            clean(&mut Bench::disarming(), &made(&body, &[(place, kind, "MZ\0\u{1}program")]));
        assert!(!entries.contains_key(place) && stats.attachments == 1, "{kind} {place}");
        assert!(!entries["content.xml"].contains("draw:image"), "what shows it goes with it");
        let mut bench = Bench::redacting("Jane");
        bench.options.attachments = false;
        let (entries, stats) = clean(&mut bench, &made(&body, &[(place, kind, "MZ\0\u{1}program")]));
        assert!(entries.contains_key(place) && stats.unread() == 1, "{kind} {place}");
    }
    let drawing = "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>x</script></svg>";
    for kind in ["", "application/binary", "image/svg+xml", "image/png"] {
        let (entries, _) = clean(&mut Bench::disarming(), &made("", &[("Pictures/a", kind, drawing)]));
        assert!(
            entries["Pictures/a"].starts_with("<svg") && !entries["Pictures/a"].contains("script"),
            "{kind}"
        );
    }
    let (entries, _) =
        clean(&mut Bench::disarming(), &made("", &[("Pictures/a.svg", "image/svg+xml", "MZ")]));
    assert!(entries["Pictures/a.svg"].contains("PNG"), "{:?}", entries["Pictures/a.svg"]);
    for (place, kind, content) in [
        ("ObjectReplacements/Object 1", "", "VCLMTF\u{1}\0\u{8}\0\0\0\0\0\0\0\0\0\0\0"),
        ("Fonts/a.ttf", "application/x-font-ttf", "OTTO font"),
        ("media/a", "", "OggS sound"),
        ("Pictures/a", "", ""),
        ("layout-cache", "application/binary", "\u{1}\0\u{1}\0p\u{6}\0\0ab"),
    ] {
        let file = made("", &[(place, kind, content)]);
        let (entries, stats) = clean(&mut Bench::disarming(), &file);
        assert!(entries[place] == content && stats.untouched() && stats.notes.is_empty(), "{place}");
    }
}

#[test]
fn text_is_read_over_spans() {
    let body = "<text:p>by Ja<text:span text:style-name=\"b\">n</text:span>e<text:s text:c=\"2\"/>x\
                <text:note><text:note-body><text:p>Jane</text:p></text:note-body></text:note></text:p>\
                <office:annotation><dc:creator>Jane</dc:creator><text:p>y</text:p></office:annotation>\
                <table:table-cell office:value-type=\"string\" office:string-value=\"Jane\"><text:p>Jane</text:p>\
                </table:table-cell><draw:frame><svg:desc>of Jane</svg:desc></draw:frame>";
    let meta = "<office:document-meta><dc:title>Jane</dc:title></office:document-meta>";
    let file = made(body, &[("meta.xml", "text/xml", meta), ("Thumbnails/thumbnail.png", "", "x")]);
    let (entries, stats) = clean(&mut Bench::redacting("Jane"), &file);
    let content = &entries["content.xml"];
    assert!(
        content.contains("by &lt;N&gt;<text:span text:style-name=\"b\"></text:span><text:s text:c=\"2\"/>x"),
        "{content}"
    );
    assert!(!content.contains("Jane") && entries["meta.xml"].contains("&lt;N&gt;"));
    assert!(!entries.contains_key("Thumbnails/thumbnail.png"));
    assert_eq!(stats.redacted.get("N"), Some(&7));
}

#[test]
fn what_cannot_be_read_is_refused() {
    let refused = |file: &[u8]| Bench::disarming().clean(FileKind::Odf, file).err();
    assert_eq!(refused(&made("<!DOCTYPE a [<!ENTITY b 'c'>]>", &[])), Some(Rejection::Doctype));
    let mut fresh = NewPackage::new();
    fresh.put("mimetype", b"application/vnd.oasis.opendocument.text", true).expect("an entry");
    let manifest =
        "<manifest><file-entry full-path=\"content.xml\"><encryption-data/></file-entry></manifest>";
    fresh.put("META-INF/manifest.xml", manifest.as_bytes(), false).expect("an entry");
    assert_eq!(refused(&fresh.finish().expect("a package")), Some(Rejection::Encrypted));
}

#[test]
fn a_document_without_anything_to_remove_keeps_its_bytes() {
    let mut fresh = NewPackage::new();
    fresh.put("mimetype", b"application/vnd.oasis.opendocument.text", true).expect("an entry");
    fresh.put("content.xml", b"<a><text:p>b</text:p></a>", false).expect("an entry");
    let manifest = "<manifest><file-entry full-path=\"content.xml\" media-type=\"text/xml\"/></manifest>";
    fresh.put("META-INF/manifest.xml", manifest.as_bytes(), false).expect("an entry");
    let file = fresh.finish().expect("a package");
    let (clean, stats) = Bench::redacting("Jane").clean(FileKind::Odf, &file).expect("a clean file");
    assert!(clean == file && stats.untouched());
}
