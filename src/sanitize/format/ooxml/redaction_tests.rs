//! Values go from wherever a package holds them: from any attribute, from data of anybody, from headers and footers of sheets.

use crate::sanitize::bench::Bench;
use crate::sanitize::format::FORMATS;
use crate::sanitize::format::ooxml::tests::{Made, unpacked};
use crate::sanitize::{
    Edit, FileKind, Host, HostRequest, NewText, Options, RedactionMode, Rejection, Response, UnfoldBounds,
    Work,
};

const CARD: &str = "4111111111111111";

const SHEETS: &str = "<sheets><sheet name=\"s\" r:id=\"rId1\"/></sheets>";

#[test]
fn attributes_of_any_name_are_read() {
    for written in [
        "<autoFilter ref=\"A1:A9\"><filterColumn colId=\"0\"><filters><filter val=\"$\"/></filters></filterColumn></autoFilter>",
        "<customFilters><customFilter operator=\"equal\" val=\"$\"/></customFilters>",
        "<scenarios><scenario name=\"s\"><inputCells r=\"A1\" val=\"$\"/></scenario></scenarios>",
        "<cfRule type=\"containsText\" text=\"$\" priority=\"2\"/>",
        "<protectedRanges><protectedRange name=\"$\" sqref=\"A1\"/></protectedRanges>",
        "<numFmts><numFmt numFmtId=\"170\" formatCode=\"&quot;$&quot;\"/></numFmts>",
        "<tableColumn id=\"1\" name=\"a\" totalsRowLabel=\"$\"/>",
        "<x n=\"$\"/>",
        "<w:listItem w:displayText=\"A\" w:value=\"$\"/>",
        "<w:attr w:name=\"a\" w:val=\"$\"/>",
        "<unheard of=\"x$\"/>",
        "<row r=\"1\" spans=\"1:2\" x14ac:dyDescent=\"0.25\" of=\"&#x34;111111111111111\"/>",
        // Under the name of something else.
        "<p id=\"$\" rsidR=\"$\" style=\"$\"/>",
    ] {
        let made = Made::book(SHEETS, &format!("<sheetData/>{}", written.replace('$', CARD)));
        let (parts, stats) = made.clean(&mut Bench::redacting(CARD));
        let out = &parts["xl/worksheets/s.xml"];
        let want = written.replace('$', "&lt;N&gt;").replace("&#x34;111111111111111", "&lt;N&gt;");
        assert!(out.contains(&want), "{want} in {out}");
        assert!(stats.redacted.contains_key("N"), "{written}");
    }
}

#[test]
fn alternatives_are_read_one_by_one() {
    let run = |text: &str| format!("<w:r><w:t>{text}</w:t></w:r>");
    let both = |first: &str, second: &str| {
        format!(
            "<mc:AlternateContent><mc:Choice Requires=\"x\">{first}</mc:Choice><mc:Fallback>{second}</mc:Fallback>\
             </mc:AlternateContent>"
        )
    };
    let (half, rest) = CARD.split_at(8);
    let new = run("&lt;N&gt;");
    for (written, want, count) in [
        (both(&run(CARD), &run(CARD)), both(&new, &new), 2),
        (both(&both(&run(CARD), &run(CARD)), &run(CARD)), both(&both(&new, &new), &new), 3),
        // What stands around is read with the first that has text.
        (run(half) + &both(&run(rest), &run("x")), new.clone() + &both(&run(""), &run("x")), 1),
        (run(half) + &both("<w:p/>", &run(rest)), new.clone() + &both("<w:p/>", &run("")), 1),
    ] {
        let made = Made::word(&format!("<w:p>{written}</w:p>"));
        let (parts, stats) = made.clean(&mut Bench::redacting(CARD));
        let out = &parts["word/document.xml"];
        assert!(out.contains(&format!("<w:p>{want}</w:p>")), "{want} in {out}");
        assert_eq!(stats.redacted.get("N"), Some(&count), "{written}");
    }
}

#[test]
fn what_says_how_things_look_is_not_read() {
    let written = "<w:p w:rsidR=\"12345678\"><wp:docPr id=\"12345678\"/><a:ext cx=\"12345678\" uri=\"{12345678-0000-0000-0000-000000000000}\"/>\
                   <w:jc w:val=\"x12345678\"/><v:shape path=\"m12345678,2l\" o:spid=\"_x0000_s12345678\"/></w:p>";
    let made = Made::word(written);
    let (parts, stats) = made.clean(&mut Bench::redacting("12345678"));
    assert!(parts["word/document.xml"].contains(written), "{}", parts["word/document.xml"]);
    assert!(stats.untouched());
}

#[test]
fn names_in_formulas_stay_names() {
    let workbook = format!(
        "{SHEETS}<definedNames><definedName name=\"sales.com\">s!A1</definedName>\
                            <definedName name=\"c4111111111111111\">s!A2</definedName></definedNames>"
    );
    let table = "<table id=\"3\" name=\"4111111111111111\" displayName=\"4111111111111111\"/>";
    let made = Made::book(&workbook, "<sheetData/>").part("xl/tables/t.xml", "application/xml", table);
    let (parts, _) = made.clean(&mut Bench::redacting(CARD));
    let book = &parts["xl/workbook.xml"];
    assert!(
        book.contains("<definedName name=\"sales.com\">") && book.contains("<definedName name=\"c_N__5\">"),
        "{book}"
    );
    assert_eq!(parts["xl/tables/t.xml"], "<table id=\"3\" name=\"_N__3\" displayName=\"_N__3\"/>");
}

#[test]
fn data_of_anybody_is_read_by_its_names() {
    let data = "<p xmlns=\"http://a.example/hunter2\" password=\"hunter2\"><add key=\"password\" value=\"hunter2\"/>\
                <n:password>hunter2</n:password><other a=\"hunter2\">hunter2</other></p>";
    let made = |kind: &str| {
        Made::word("<w:p/>")
            .part("customXml/item1.xml", "application/xml", data)
            .relation("word/document.xml", "customXml", "../customXml/item1.xml", "")
            .relation("word/document.xml", kind, "../customXml/item1.xml", "")
    };
    let mut bench = Bench::redacting("password: hunter2");
    let (parts, _) = made("customXml").clean(&mut bench);
    let want = "<p xmlns=\"http://a.example/hunter2\" password=\"&lt;N&gt;\"><add key=\"password\" value=\"&lt;N&gt;\"/>\
                <n:password>&lt;N&gt;</n:password><other a=\"hunter2\">hunter2</other></p>";
    assert_eq!(parts["customXml/item1.xml"], want);
    // What is a part of the document besides says nothing by its names.
    let (parts, _) = made("footnotes").clean(&mut bench);
    assert_eq!(parts["customXml/item1.xml"], data);
}

#[test]
fn headers_of_sheets_keep_their_codes() {
    let sheet = "<sheetData/><headerFooter><oddHeader>&amp;C4111 1111 1111 1111&amp;Rx</oddHeader><oddFooter>&amp;L&amp;\"Arial,Bold\"4111 \
                 &amp;B1111 1111 1111&amp;12 R&amp;&amp;D &amp;P</oddFooter><evenHeader>&amp;CPage &amp;P</evenHeader></headerFooter>";
    let made = Made::book(SHEETS, sheet);
    let (parts, stats) = made.clean(&mut Bench::redacting("4111 1111 1111 1111"));
    let out = &parts["xl/worksheets/s.xml"];
    for want in [
        "<oddHeader>&amp;C&lt;N&gt;&amp;Rx</oddHeader>",
        "<oddFooter>&amp;L&amp;&quot;Arial,Bold&quot;&lt;N&gt;&amp;B&amp;12 R&amp;&amp;D &amp;P</oddFooter>",
        "<evenHeader>&amp;CPage &amp;P</evenHeader>",
    ] {
        assert!(out.contains(want), "{want} in {out}");
    }
    assert_eq!(stats.redacted.get("N"), Some(&2));
}

/// Finds a number by the word before it, and by nothing else.
struct Numbered;

impl Host for Numbered {
    fn ask(&mut self, request: HostRequest<'_>) -> Result<Response, Rejection> {
        Ok(match request {
            HostRequest::Part { .. } => Response::Part,
            HostRequest::Links(links) => Response::Links(vec![false; links.len()]),
            HostRequest::Password => Response::Password(None),
            HostRequest::Texts(texts) => {
                Response::Texts(texts.iter().map(|named| numbers(&named.text)).collect())
            }
        })
    }
}

fn numbers(text: &str) -> Vec<Edit> {
    let edit = |at: usize| Edit {
        range: at + "No. ".len()..at + "No. 12345678".len(),
        with: NewText { text: "<N>".to_owned(), rule: Some("N".to_owned()), ..NewText::default() },
    };
    text.match_indices("No. 12345678").map(|(at, _)| edit(at)).collect()
}

#[test]
fn what_is_known_goes_from_identifiers_too() {
    for (written, want) in [
        ("<wp:docPr id=\"12345678\"/>", "<wp:docPr id=\"&lt;N&gt;\"/>"),
        ("<w:listItem w:value=\"12345678\"/>", "<w:listItem w:value=\"&lt;N&gt;\"/>"),
        (
            "<wp:docPr id=\"12345679\"/><a:ext cx=\"1234567\"/>",
            "<wp:docPr id=\"12345679\"/><a:ext cx=\"1234567\"/>",
        ),
    ] {
        let made = Made::word(&format!("{written}<w:p><w:r><w:t>No. 12345678</w:t></w:r></w:p>"));
        let options = Options { redaction: RedactionMode::Apply, ..Options::default() };
        let mut host = Numbered;
        let mut work = Work::new(&FORMATS, options, UnfoldBounds::default(), &mut host);
        let clean = work.whole(FileKind::Ooxml, &made.file()).expect("a clean file");
        let parts = unpacked(&clean);
        let out = &parts["word/document.xml"];
        assert!(out.contains(want) && out.contains("<w:t>No. &lt;N&gt;</w:t>"), "{want} in {out}");
    }
}
