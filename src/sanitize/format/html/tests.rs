use crate::sanitize::bench::Bench;
use crate::sanitize::{FileKind, Options, RedactionMode};

fn clean(html: &str) -> String {
    Bench::disarming().text(FileKind::Html, html)
}

fn redacted(html: &str) -> String {
    Bench::redacting("Jane Doe").text(FileKind::Html, html)
}

fn removed(html: &str) -> u64 {
    Bench::disarming().clean(FileKind::Html, html.as_bytes()).expect("a clean file").1.interactive
}

#[test]
fn a_page_with_nothing_to_remove_keeps_its_bytes() {
    for html in [
        "<!doctype html>\n<HTML lang=en><head><meta charset=utf-8><title>a &amp; b < c</title>\n\
         <style>p > a:hover { color: red; background: url(x.png) }</style></head>\n\
         <body class='a b'><p id=\"x\">1 < 2 &copy; &unknown; <br/><img src=\"data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7\" alt='é'>\n\
         <a href=\"page.html?a=1&amp;b=2#c\" title=t>x</a><table><tr><td width=10%>y</table></body></html>\n",
        "<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01//EN\" \"http://www.w3.org/TR/html4/strict.dtd\"><p style=\"color:red\">x",
        "<svg viewBox=\"0 0 1 1\"><g fill=\"url(#a)\"><path d=\"M0 0\"/><use href=\"#b\"/><linearGradient id=\"a\"/></g></svg>",
        "plain text",
        "",
    ] {
        assert_eq!(clean(html), html);
        assert_eq!(removed(html), 0, "{html}");
    }
}

#[test]
fn what_acts_goes() {
    for (html, want, count) in [
        ("<a href=setup.exe>x</a><a href='index.php?a=1'>y</a>", "<a>x</a><a href='index.php?a=1'>y</a>", 1),
        ("<p onclick=alert(1)>x</p>", "<p>x</p>", 1),
        ("a<script>alert('</p>')</script>b", "ab", 1),
        ("<a href=\"java&#115;cript:alert(3)\">x</a>", "<a>x</a>", 1),
        ("<a href=\" \tjava\nscript&colon;alert(4)\">x</a>", "<a>x</a>", 1),
        ("<iframe srcdoc=\"&lt;script&gt;\"><b>x</iframe>y", "y", 1),
        (
            "<svg><script>alert(7)</script><a xlink:href=\"javascript:x\"><text>t</text></a></svg>",
            "<svg><a><text>t</text></a></svg>",
            2,
        ),
        ("<form action=x><input name=a><button>b</button></form>", "b", 3),
        (
            "<div style=\"background:url(javascript:x);color:red\">z</div>",
            "<div style=\"background:none;color:red\">z</div>",
            1,
        ),
        ("<!-- c --><!--[if IE]><script>x</script><![endif]-->y", "y", 1),
        ("<base href=x><meta http-equiv=refresh content=0><link rel=stylesheet href=x>y", "y", 3),
        ("<object data=x><p>fallback</p></object><embed src=x><x-y on=1>z</x-y>", "<p>fallback</p>z", 2),
        (
            "<svg><animate attributeName=href values='javascript:x'/><foreignObject><p>x</p></foreignObject></svg>",
            "<svg><p>x</p></svg>",
            2,
        ),
        ("<template><script>x</script></template>y<noscript><img src=x></noscript>", "y", 2),
        (
            "<math><mtext><table><mglyph><style><img src=x onerror=alert(9)></style></mglyph></table></mtext></math>",
            "<table><style></style></table>",
            2,
        ),
        ("<svg><style><!--</style><img title=\"<b x=y>\"></svg>", "<svg><style></style>", 0),
        ("<svg><style>a&gt;b{}</style></svg>", "<svg><style>a>b{}</style></svg>", 0),
        ("<style><!-- a{} --></style>", "<style> a{} </style>", 0),
        ("<p a=\"b\"c=d/onclick=x>y", "<p>y", 0),
        ("<img src=x`y alt='<b>'>", "<img src=\"x&#96;y\" alt=\"&lt;b&gt;\">", 0),
        ("<plaintext><b onclick=x>&amp;", "&lt;b onclick=x>&amp;amp;", 0),
        ("<xmp><b></xmp>x", "x", 0),
        ("x<<script>a</script>img src=x onerror=y>", "x&lt;img src=x onerror=y>", 1),
        ("<style>a{}</style x></ p></b/><p/ onx=1>", "<style>a{}</style></b><p>", 1),
        ("<style>@import 'x';</style><style>b{}", "<style></style><style>b{}</style>", 1),
        ("<a b", "", 0),
        ("a\0b\u{1b}c", "abc", 0),
    ] {
        assert_eq!(clean(html), want, "{html}");
        assert_eq!(removed(html), count, "{html}");
    }
}

#[test]
fn links_are_defanged_in_texts_and_attributes() {
    for (html, want) in [
        (
            "<a href=\"https://example.com/?a=1&amp;b\">https://example.com</a>",
            "<a href=\"hxxps://example[.]com/?a=1&amp;b\">hxxps://example[.]com</a>",
        ),
        (
            "<img src=//a.example/x srcset='a.png 1x, http://b.example/c 2x'>",
            "<img src=\"hxxps://a[.]example/x\" srcset=\"a.png 1x, hxxp://b[.]example/c 2x\">",
        ),
        (
            "<p title='see http://a.example'>go to http://a.<b>exam</b>ple/x",
            "<p title=\"see hxxp://a[.]example\">go to hxxp://a[.]example<b></b>/x",
        ),
        (
            "<p style='background:url(http://a.example/x)'>",
            "<p style=\"background:url(&quot;hxxp://a[.]example/x&quot;)\">",
        ),
        (
            "<style>a{background:url(http://a.example/x)}</style>",
            "<style>a{background:url(\"hxxp://a[.]example/x\")}</style>",
        ),
        (
            "<html xmlns=\"http://www.w3.org/1999/xhtml\"><a href=mailto:a@example.com>a@example.com</a>",
            "<html xmlns=\"http://www.w3.org/1999/xhtml\"><a href=mailto:a@example.com>a@example.com</a>",
        ),
    ] {
        assert_eq!(clean(html), want, "{html}");
    }
}

#[test]
fn hosts_without_a_scheme_are_those_of_the_web() {
    let mut bench = Bench::disarming();
    bench.options.links = false;
    for (html, want) in [
        ("<img src=\"//a.example/x.png\">", "<img src=\"https://a.example/x.png\">"),
        ("<img src='/\\a.example/x'>", "<img src=\"https://a.example/x\">"),
        ("<img src=\" \\\t/\na.example/x\">", "<img src=\"https://a.example/x\">"),
        ("<img src='&#47;&sol;a.example/x?a&amp;b'>", "<img src=\"https://a.example/x?a&amp;b\">"),
        (
            "<img srcset=\"//a.example/x 1x, b.png 2x, /\\c.example/y\">",
            "<img srcset=\"https://a.example/x 1x, b.png 2x, https://c.example/y\">",
        ),
        ("<a href=//a.example>x</a>", "<a href=\"https://a.example\">x</a>"),
        ("<video poster=//a.example/p></video>", "<video poster=\"https://a.example/p\"></video>"),
        ("<table background=\"//a.example/p\">", "<table background=\"https://a.example/p\">"),
        (
            "<p style=\"background:url(//a.example/x)\">",
            "<p style=\"background:url(&quot;https://a.example/x&quot;)\">",
        ),
        (
            "<style>@font-face{font-family:a;src:url('/\\5c a.example/f')}</style>",
            "<style>@font-face{font-family:a;src:url(\"https://a.example/f\")}</style>",
        ),
        (
            "<style>a{background:image-set('//a.example/x' 1x)}</style>",
            "<style>a{background:image-set(\"https://a.example/x\" 1x)}</style>",
        ),
        (
            "<svg><image href=\"//a.example/x\"/><rect fill=\"url(//a.example/y#z)\"/></svg>",
            "<svg><image href=\"https://a.example/x\" /><rect fill=\"url(&quot;https://a.example/y#z&quot;)\" /></svg>",
        ),
        // Those that no browser takes for the web's were taken out before.
        ("<img src='\\\\a\\x'><a href='file://a/x'>y</a>", "<img><a>y</a>"),
        ("<img src=\"/a.png\"><a href=\"a//b\">x</a>", "<img src=\"/a.png\"><a href=\"a//b\">x</a>"),
    ] {
        assert_eq!(bench.text(FileKind::Html, html), want, "{html}");
    }
    bench.options.interactive = false;
    let kept = "<img src=\"//a.example/x.png\" srcset=\"//a.example/y 2x\">";
    assert_eq!(bench.text(FileKind::Html, kept), kept);
}

#[test]
fn redaction_reads_what_a_reader_reads() {
    for (html, want) in [
        ("<p>Jane <b>Doe</b>!</p>", "<p>&lt;N&gt;<b></b>!</p>"),
        (
            "<p>Ja&#110;e&#x20;Doe</p><p title='Jane Doe' data-x='Jane Doe'>",
            "<p>&lt;N&gt;</p><p title=\"&lt;N&gt;\" data-x=\"&lt;N&gt;\">",
        ),
        ("<p>Ja<!-- x -->ne<script>x</script> Doe", "<p>&lt;N&gt;"),
        ("<p>Jane</p><p> Doe", "<p>Jane</p><p> Doe"),
        (
            "<title>Jane Doe</title><style>a::after{content:'Jane Doe'}</style>",
            "<title>&lt;N&gt;</title><style>a::after{content:\"\\3c N\\3e \"}</style>",
        ),
        ("<a href='mailto:x?subject=Jane Doe'>", "<a href=\"mailto:x?subject=&lt;N&gt;\">"),
    ] {
        assert_eq!(redacted(html), want, "{html}");
    }
}

#[test]
fn what_addresses_hold_is_cleaned_as_if_it_came_alone() {
    let picture = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
    let places: [fn(&str) -> String; 5] = [
        |address| format!("<img src=\"{address}\">"),
        |address| format!("<img srcset=\"{address} 2x\">"),
        |address| format!("<svg><image xlink:href=\"{address}\"/></svg>"),
        |address| format!("<p style=\"background:url({address})\">"),
        |address| format!("<style>p{{background:url('{address}')}}</style>"),
    ];
    for place in places {
        let page = place(&format!("data:image/gif;base64,{picture}"));
        assert_eq!(clean(&page), page);
        let trailed = clean(&place(&format!("data:image/gif;base64,{picture}TVqQ")));
        assert!(trailed.contains(&format!("data:image/gif;base64,{picture}")), "{trailed}");
        assert!(!trailed.contains("TVqQ"), "{trailed}");
        for bad in ["AAECAw", "TVqQAAMAAAAEAAAA"] {
            let page = clean(&place(&format!("data:image/gif;base64,{bad}")));
            assert!(page.contains("data:image/png;base64,iVBORw0KGgo") && !page.contains(bad), "{page}");
        }
    }
    let mut bench = Bench::disarming();
    bench.text(FileKind::Html, "<img src=\" da\nta:image/png;base64,AAE%43Aw\">");
    assert_eq!(bench.parts.first().map(Vec::as_slice), Some(&[0, 1, 2, 3][..]));
}

#[test]
fn other_encodings_become_utf8_if_anything_changes() {
    let mut bench = Bench::redacting("Jané");
    let page = b"<meta charset=iso-8859-1><p>\xe9</p>";
    assert_eq!(bench.clean(FileKind::Html, page).map(|(file, _)| file), Ok(page.to_vec()));
    let (file, _) =
        bench.clean(FileKind::Html, b"<meta charset=iso-8859-1><p>Jan\xe9 \xe9</p>").expect("a clean file");
    assert_eq!(file, "\u{feff}<p>&lt;N&gt; é</p>".as_bytes());
    let again = bench.clean(FileKind::Html, &file).expect("a clean file");
    assert_eq!((again.0, again.1.untouched()), (file, true));
}

#[test]
fn without_orders_what_acts_stays() {
    let mut bench = Bench::redacting("Jane Doe");
    bench.options =
        Options { interactive: false, links: false, redaction: RedactionMode::Apply, ..Options::default() };
    let html = "<script>var a = 'Jane Doe'</script><p onclick=x <!-- y -->Jane Doe<unknown>";
    assert_eq!(
        bench.text(FileKind::Html, html),
        "<script>var a = '<N>'</script><p onclick=x <!-- y -->&lt;N&gt;<unknown>"
    );
}

proptest::proptest! {
    #[test]
    fn any_page_is_clean_after_one_cleaning(
        html in "(<(p|b|script|style|svg|title|math|a|/p|/b|/svg|/style|/title|!--|template|\\?|!\\[CDATA\\[|img)|>|--|&|lt;|#60|;|\
                 \\]\\]|\"|'|=|/| |x|onx|href|style|url\\(|\\\\3c|javascript:|http://a.bc|\\{|\\}|\\*){0,24}"
    ) {
        let html = clean(&html);
        proptest::prop_assert!(!html.contains("<script") && !html.contains("<math") && !html.contains("<template"));
    }
}
