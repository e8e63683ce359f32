use crate::sanitize::bench::Bench;
use crate::sanitize::{FileKind, Rejection};

const SVG: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\">";

fn drawing(inside: &str) -> String {
    let clean = Bench::disarming().text(FileKind::Svg, &format!("{SVG}{inside}</svg>"));
    let inside = clean.strip_prefix(SVG).and_then(|rest| rest.strip_suffix("</svg>"));
    inside.unwrap_or(&clean).to_owned()
}

fn removed(kind: FileKind, xml: &str) -> u64 {
    Bench::disarming().clean(kind, xml.as_bytes()).expect("a clean file").1.interactive
}

#[test]
fn a_drawing_keeps_what_it_draws() {
    for inside in [
        "<path d=\"M0 0\" fill='url(#a)'/>\n<linearGradient id=\"a\"><stop offset=\"0\"/></linearGradient>",
        "<style><![CDATA[ a > b { fill: red } ]]></style><style>b{fill:url(#x)}</style>",
        "<text x=\"1\">a &amp; &#65;<tspan>b</tspan></text><use xlink:href=\"#a\"/>",
        "<image href=\"data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7\"/><title>t</title>",
    ] {
        assert_eq!(drawing(inside), inside);
        assert_eq!(removed(FileKind::Svg, &format!("{SVG}{inside}</svg>")), 0, "{inside}");
    }
}

#[test]
fn pictures_in_data_are_cleaned() {
    let gif = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
    let same =
        format!("<a><b url=\"data:image/gif;base64,{gif}\"/><c name=\"data:image/gif;base64,AAAA\"/></a>");
    let mut bench = Bench::disarming();
    assert_eq!(bench.text(FileKind::Xml, &same), same);
    let trailed = bench.text(FileKind::Xml, &same.replace(gif, &format!("{gif}TVqQ")));
    assert_eq!(trailed.replace("\" /", "\"/"), same);
}

#[test]
fn a_drawing_loses_what_acts() {
    for (inside, want, count) in [
        ("<script>alert(1)</script><g onload=\"x\"/>", "<g/>", 2),
        ("<s:script xmlns:s=\"http://www.w3.org/2000/svg\">x</s:script>", "", 1),
        (
            "<foreignObject><body xmlns=\"http://www.w3.org/1999/xhtml\"><b>x</b></body></foreignObject>",
            "",
            1,
        ),
        ("<a xlink:href=\"java&#10;script:x\"><text>t</text></a>", "<a><text>t</text></a>", 1),
        ("<use href=\"data:image/svg+xml,x\"/><use xlink:href=\"x.svg#a\"/>", "<use/><use/>", 2),
        (
            "<set attributeName=\"onclick\" to=\"x\"/><animate attributeName=\"href\" values=\"javascript:x\"/>",
            "",
            2,
        ),
        ("<style>@import url(x); a{fill:red}</style>", "<style> a{fill:red}</style>", 1),
        ("<style>a{}<b/></style>", "<style></style>", 1),
        (
            "<handler type=\"x\">y</handler><metadata>m</metadata><x:y xmlns:x=\"urn:x\">z</x:y><!-- c -->",
            "",
            1,
        ),
        ("<rect style=\"fill:url(javascript:x)\"/>", "<rect style=\"fill:none\"/>", 1),
        ("<?xml-stylesheet href=\"x\"?><?other?>", "", 1),
    ] {
        assert_eq!(drawing(inside).replace(" />", "/>"), want, "{inside}");
        assert_eq!(removed(FileKind::Svg, &format!("{SVG}{inside}</svg>")), count, "{inside}");
    }
}

#[test]
fn no_document_type_stays_and_no_entity_is_read() {
    let plain = "<?xml version=\"1.0\"?><!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"http://www.w3.org/x.dtd\"><svg/>";
    assert_eq!(Bench::disarming().text(FileKind::Svg, plain), "<?xml version=\"1.0\"?><svg/>");
    assert_eq!(removed(FileKind::Svg, plain), 0);
    let subset = "<!DOCTYPE a [<!ENTITY b \"c>]\"><!ENTITY d SYSTEM \"file:///etc/passwd\">]><a>x</a>";
    assert_eq!(Bench::disarming().text(FileKind::Xml, subset), "<a>x</a>");
    assert_eq!(removed(FileKind::Xml, subset), 1);
    let own = b"<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>";
    assert_eq!(Bench::disarming().clean(FileKind::Xml, own).err(), Some(Rejection::Doctype));
    for bad in [
        "<!DOCTYPE a [<!ENTITY b \"c\">]><a x=\"&b;\"/>",
        "<a><b></a>",
        "<a/><b/>",
        "<a x=\"<\"/>",
        "<a x=\"1\" x=\"2\"/>",
        "text",
        "",
        "<a>&nbsp;</a>",
        "<a/>text",
        "<a",
        "<a x=1/>",
    ] {
        for kind in [FileKind::Xml, FileKind::Svg] {
            assert_eq!(
                Bench::disarming().clean(kind, bad.as_bytes()).err(),
                Some(Rejection::Malformed),
                "{bad}"
            );
        }
    }
    let office = b"<?mso-application progid=\"Word.Document\"?><a/>";
    assert_eq!(Bench::disarming().clean(FileKind::Xml, office).err(), Some(Rejection::Unsupported));
    for whole in [
        "<o:document xmlns:o='urn:oasis:names:tc:opendocument:xmlns:office:1.0'/>",
        "<a><p:package xmlns:p='http://schemas.microsoft.com/office/2006/xmlPackage'/></a>",
        "<w:wordDocument xmlns:w='http://schemas.microsoft.com/office/word/2003/wordml'/>",
        "<Workbook xmlns='urn:schemas-microsoft-com:office:spreadsheet'/>",
        "<Window xmlns='http://schemas.microsoft.com/winfx/2006/xaml/presentation'/>",
        "<x:xdp xmlns:x='http://ns.adobe.com/xdp/'/>",
    ] {
        let refused = Bench::disarming().clean(FileKind::Xml, whole.as_bytes()).err();
        assert_eq!(refused, Some(Rejection::Unsupported), "{whole}");
    }
    let deep = "<a>".repeat(2000) + &"</a>".repeat(2000);
    assert_eq!(Bench::disarming().clean(FileKind::Xml, deep.as_bytes()).err(), Some(Rejection::OverLimit));
}

#[test]
fn data_is_redacted_where_it_is_written() {
    let mut bench = Bench::redacting("Jane");
    for (xml, want) in [
        (
            "<?xml version='1.0'?><a b='Jane' c=\"x\"><!-- Jane --><d>J&#97;ne &amp; co</d></a>",
            "<?xml version='1.0'?><a b=\"&lt;N&gt;\" c=\"x\"><d>&lt;N&gt; &amp; co</d></a>",
        ),
        (
            "<a xmlns=\"http://x.example\" xsi:schemaLocation=\"http://x.example x.xsd\" u='http://a.example'>http://b.example</a>",
            "<a xmlns=\"http://x.example\" xsi:schemaLocation=\"http://x.example x.xsd\" u=\"hxxp://a[.]example\">hxxp://b[.]example</a>",
        ),
        ("<?a Jane?><a>Ja<?b Jane c?>ne</a>", "<?a <N>?><a>&lt;N&gt;<?b <N> c?></a>"),
        (
            "<a><![CDATA[<b>Jane</b>]]> Ja<![CDATA[ne]]></a>",
            "<a><![CDATA[<b><N></b>]]> &lt;N&gt;<![CDATA[]]></a>",
        ),
        (
            "<a><script>x</script><form/><h:script xmlns:h=\"http://www.w3.org/1999/xhtml\">x</h:script></a>",
            "<a><script>x</script><form/></a>",
        ),
        (
            "<a xmlns:i=\"http://www.w3.org/2001/XInclude\"><i:include href=\"x\"/></a>",
            "<a xmlns:i=\"http://www.w3.org/2001/XInclude\"></a>",
        ),
        ("<a xlink:href='javascript:x' href='C:\\\\x'/>", "<a href=\"C:\\\\x\" />"),
    ] {
        assert_eq!(bench.text(FileKind::Xml, xml), want, "{xml}");
    }
}

#[test]
fn other_encodings_become_utf8_if_anything_changes() {
    let xml = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>é http://a.example</a>";
    let latin: Vec<u8> = xml.chars().map(|c| u8::try_from(u32::from(c)).expect("latin")).collect();
    let (clean, _) = Bench::disarming().clean(FileKind::Xml, &latin).expect("a clean file");
    assert_eq!(clean, "<?xml version=\"1.0\" encoding=\"UTF-8\"?><a>é hxxp://a[.]example</a>".as_bytes());
    let utf16: Vec<u8> =
        [0xfeff].into_iter().chain("<a>é</a>".encode_utf16()).flat_map(u16::to_le_bytes).collect();
    assert_eq!(Bench::disarming().clean(FileKind::Xml, &utf16).map(|(file, _)| file), Ok(utf16));
}

proptest::proptest! {
    #[test]
    fn any_drawing_is_clean_after_one_cleaning(
        inside in "(<(g|a|style|script|text|/g|/a|/style|/text|x:y|!\\[CDATA\\[|!--|\\?x)|>|/>|\\]\\]>|-->|\\?>|&amp;|&#60;|\"|=\"| |href|style|url\\(|onx|javascript:|http://a.bc|\\{|;){0,16}"
    ) {
        let file = format!("{SVG}{inside}</svg>");
        if let Ok((clean, _)) = Bench::disarming().clean(FileKind::Svg, file.as_bytes()) {
            let clean = String::from_utf8(clean).expect("text");
            proptest::prop_assert_eq!(Bench::disarming().text(FileKind::Svg, &clean), clean.clone());
            // In a section it is text.
            let marked: String = clean
                .split("<![CDATA[")
                .enumerate()
                .filter_map(|(n, part)| if n == 0 { Some(part) } else { part.split_once("]]>").map(|(_, rest)| rest) })
                .collect();
            proptest::prop_assert!(!marked.contains("script>"));
        }
    }
}
