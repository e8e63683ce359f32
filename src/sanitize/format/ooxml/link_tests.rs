//! What leads out of a package by itself goes, whatever it is called and wherever it is written.

use crate::sanitize::bench::Bench;
use crate::sanitize::format::ooxml::tests::{Made, count};

#[test]
fn what_is_called_a_link_and_is_fetched_goes() {
    let object = "<w:object><v:shape/><o:OLEObject Type=\"Link\" r:id=\"rId1\"/></w:object>";
    for (used, left) in [
        ("<a:blip r:link=\"rId1\"/>", "<a:blip/>"),
        ("<a:blip r:embed=\"rId1\"/>", "<a:blip/>"),
        ("<v:imagedata r:id=\"rId1\"/>", "<v:imagedata/>"),
        ("<v:imagedata r:id=\"r&#73;d1\"/>", "<v:imagedata/>"),
        (object, "<w:object><v:shape/></w:object>"),
        ("<w:subDoc r:id=\"rId1\"/>", ""),
        ("<w:altChunk r:id=\"rId1\"/>", ""),
        ("<a:videoFile r:link=\"rId1\"/>", ""),
        (
            "<a:hlinkClick r:id=\"\"><a:snd r:embed=\"rId1\"/></a:hlinkClick>",
            "<a:hlinkClick r:id=\"\"></a:hlinkClick>",
        ),
        ("<w:hyperlink r:id=\"rId1\"><w:r/></w:hyperlink><a:blip r:link=\"rId1\"/>", "<w:r/><a:blip/>"),
    ] {
        let made = Made::word(&format!("<w:p>{used}</w:p>"));
        let made = made.link("word/document.xml", "hyperlink", "https://bad.example/x");
        let (parts, stats) = made.clean(&mut Bench::disarming());
        let body = &parts["word/document.xml"];
        assert!(body.contains(&format!("<w:p>{left}</w:p>")), "{used}: {body}");
        assert!(!parts["word/_rels/document.xml.rels"].contains("bad"), "{used}");
        assert_eq!(count(&stats), (0, 1), "{used}");
    }
}

#[test]
fn links_that_wait_stay() {
    for used in [
        "<w:hyperlink r:id=\"rId1\"><w:r/></w:hyperlink>",
        "<a:hlinkClick r:id=\"rId1\"/>",
        "<a:hlinkHover r:id=\"rId1\"/>",
        "<a:hlinkMouseOver r:id=\"rId1\"/>",
        "<a:hlinkClick r:id=\"rId1\"/><a1611:picAttrSrcUrl r:id=\"rId1\"/>",
        "<w:t>nothing refers to it</w:t>",
    ] {
        let made = Made::word(&format!("<w:p>{used}</w:p>"));
        let made = made.link("word/document.xml", "hyperlink", "https://bad.example/x");
        let (parts, stats) = made.clean(&mut Bench::disarming());
        assert!(parts["word/document.xml"].contains(used), "{used}");
        assert!(parts["word/_rels/document.xml.rels"].contains("hxxps://"), "{used}");
        assert_eq!((count(&stats), stats.defanged), ((0, 0), 1), "{used}");
    }
}

#[test]
fn places_outside_that_attributes_name_go() {
    for (written, left, acting) in [
        (
            "<v:imagedata src=\"http://h/x\" o:href=\"http://h/y\" o:althref=\"\\\\h\\z\"/>",
            "<v:imagedata/>",
            3,
        ),
        ("<v:fill src=\"http:h\" o:althref=\"file:///x\"/>", "<v:fill/>", 2),
        ("<v:stroke><o:left src=\"\\\\h\\x\"/></v:stroke>", "<v:stroke><o:left/></v:stroke>", 1),
        ("<v:fill src=\"x.png\" r:id=\"rId9\"/>", "<v:fill src=\"x.png\" r:id=\"rId9\"/>", 0),
        (
            "<sl:schemaLibrary><sl:schema sl:uri=\"u\" sl:manifestLocation=\"\\\\h\\m\" sl:schemaLocation=\"http://h/x\"/>\
             </sl:schemaLibrary>",
            "<sl:schemaLibrary><sl:schema sl:uri=\"u\"/></sl:schemaLibrary>",
            2,
        ),
        ("<w:smartTagType w:name=\"x\" w:url=\"http://h/x.exe\"/>", "<w:smartTagType w:name=\"x\"/>", 1),
        ("<o:signatureline sigprovurl=\"http://h\"/>", "<o:signatureline/>", 1),
    ] {
        let made = Made::word(&format!("<w:p>{written}</w:p>"));
        let (parts, stats) = made.clean(&mut Bench::disarming());
        let body = &parts["word/document.xml"];
        assert!(body.contains(&format!("<w:p>{left}</w:p>")), "{written}: {body}");
        assert_eq!(count(&stats), (0, acting), "{written}");
    }
}

#[test]
fn places_outside_that_workbooks_name_go() {
    let xml = "application/xml";
    let made = Made::book(
        "<sheets><sheet name=\"s\" r:id=\"rId1\"/></sheets><webPublishObjects count=\"1\"><webPublishObject id=\"1\" \
         destinationFile=\"\\\\h\\x\"/></webPublishObjects>",
        "<sheetData/><webPublishItems count=\"1\"><webPublishItem id=\"1\" destinationFile=\"\\\\h\\x.htm\"/></webPublishItems>",
    )
    .part("xl/queryTables/q.xml", xml, "<queryTable name=\"q\" connectionId=\"1\" refreshOnLoad=\"1\"/>")
    .part("xl/queryTables/r.xml", xml, "<queryTable name=\"q\" refreshOnLoad=\"0\"/>")
    .part(
        "xl/connections.xml",
        xml,
        "<connections><connection id=\"1\"><olapPr localConnection=\"h\" rowDrillCount=\"1\"/><x15:dbCommand text=\"h\"/>\
         </connection></connections>",
    )
    .part(
        "xl/xmlMaps.xml",
        xml,
        "<MapInfo><Schema ID=\"s\" SchemaRef=\"\\\\h\\a.xsd\"/><Map ID=\"1\"><DataBinding FileBinding=\"true\"/></Map></MapInfo>",
    );
    let (parts, stats) = made.clean(&mut Bench::disarming());
    for (part, left) in [
        ("xl/workbook.xml", "</sheets></workbook>"),
        ("xl/worksheets/s.xml", "<sheetData/></worksheet>"),
        ("xl/queryTables/q.xml", "<queryTable name=\"q\" connectionId=\"1\"/>"),
        ("xl/queryTables/r.xml", "<queryTable name=\"q\" refreshOnLoad=\"0\"/>"),
        ("xl/connections.xml", "<olapPr rowDrillCount=\"1\"/><x15:dbCommand text=\"\"/>"),
        ("xl/xmlMaps.xml", "<MapInfo><Schema ID=\"s\"/><Map ID=\"1\"></Map></MapInfo>"),
    ] {
        assert!(parts[part].ends_with(left) || parts[part].contains(left), "{part}: {}", parts[part]);
    }
    assert_eq!(count(&stats), (0, 6));
}

#[test]
fn formulas_in_attributes_act_too() {
    let rule = |value: &str| {
        format!(
            "<conditionalFormatting><cfRule type=\"iconSet\"><iconSet><cfvo type=\"percent\" val=\"0\"/><cfvo \
             type=\"formula\" val=\"{value}\"/></iconSet></cfRule></conditionalFormatting>"
        )
    };
    let sheet = format!("<sheetData/>{}{}", rule("WEBSERVICE(&quot;http://h&quot;)"), rule("SUM(A1:A2)"));
    let made = Made::book("<sheets><sheet name=\"s\" r:id=\"rId1\"/></sheets>", &sheet);
    let (parts, stats) = made.clean(&mut Bench::disarming());
    let out = &parts["xl/worksheets/s.xml"];
    assert!(out.contains(&format!("<sheetData/>{}</worksheet>", rule("SUM(A1:A2)"))), "{out}");
    assert_eq!(count(&stats), (0, 1));
}
