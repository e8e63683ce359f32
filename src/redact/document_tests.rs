//! Documents: what changes, what stays, and through how many encodings.

use std::ops::Range;
use std::sync::Arc;

use regex::Regex;

use super::*;
use crate::base::secret::Secret;
use crate::crypto::fpe::FpeKey;
use crate::detect::RuleId;
use crate::redact::fixture::{detector, document as redact, keys, redactor, restored as restore};
use crate::redact::recall::Recall;
use crate::redact::value::ValueSite;
use crate::redact::values::{PassValues, Values};
use crate::redact::{Method, MethodPlan};

/// (document, what it looks like afterwards, replacements).
const CASES: [(&str, &str, usize); 17] = [
    (r#"{"a": "plain", "n": 1234567890123}"#, r#"\{"a": "plain", "n": 1234567890123\}"#, 0),
    (r#" {"a" : "mail jo@ab.de" }"#, r#" \{"a" : "mail [0-9A-Za-z]{2}@[0-9a-z]{2}\.de" \}"#, 1),
    (r#"["Jo\u0040ab.de\n","\u00e9"]"#, r#"\["[0-9A-Za-z]{2}@[0-9a-z]{2}\.de\\n","\\u00e9"\]"#, 1),
    // Found by its context in one string, replaced in the next and as a number.
    (
        r#"["account no. 12345678", "12345678?", 12345678, "x12345678"]"#,
        r#"\["account no. ([1-9]\d{7})", "\1\?", \1, "x12345678"\]"#,
        3,
    ),
    (r#"{"k": 4012888888881881}"#, r#"\{"k": [1-9]\d{15}\}"#, 1),
    (r#"[-4012888888881881, 1.5]"#, r#"\[-[1-9]\d{15}, 1\.5\]"#, 1),
    (r#"{"jo@ab.de": 1}"#, r#"\{"[0-9A-Za-z]{2}@[0-9a-z]{2}\.de": 1\}"#, 1),
    (r#"["{\"to\":\"jo@ab.de\"}"]"#, r#"\["\{\\"to\\":\\"[0-9A-Za-z]{2}@[0-9a-z]{2}\.de\\"\}"\]"#, 1),
    (
        r#"["{\"to\":\"a\\njo\\u0040ab.de\\u00e9\"}"]"#,
        r#"\["\{\\"to\\":\\"a\\\\n[0-9A-Za-z]{2}\\\\u0040[0-9a-z]{2}\.de\\\\u00e9\\"\}"\]"#,
        1,
    ),
    (r#"["{\"n\": 4012888888881881}"]"#, r#"\["\{\\"n\\": [1-9]\d{15}\}"\]"#, 1),
    (
        r#"["{\"jo@ab.de\": \"[\\\"jo@ab.de\\\"]\"}"]"#,
        r#"\["\{\\"([^@]{2}@[^@]{2}\.de)\\": \\"\[\\\\\\"\1\\\\\\"\]\\"\}"\]"#,
        2,
    ),
    (r#"["{not json: jo@ab.de"]"#, r#"\["\{not json: [^@]{2}@[^@]{2}\.de"\]"#, 1),
    // What does not decode is text; what does is read, or else left as it is.
    (r#"["data:image/png;base64,jo@ab.de"]"#, r#"\["data:image/png;base64,[^@]{2}@[^@]{2}\.de"\]"#, 1),
    (
        r#"["data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"]"#,
        r#"\["data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"\]"#,
        0,
    ),
    (
        r#"{"password": "Kx9\nmQ7zLw2\n"}"#,
        r#"\{"password": "[A-Z][a-z]\d\\n[a-z][A-Z]\d[a-z][A-Z][a-z]\d\\n"\}"#,
        1,
    ),
    (r#"{"password": "it must\nbe long8"}"#, r#"\{"password": "it must\\nbe long8"\}"#, 0),
    (r#"{"d": "jo@ab.de", "d": "jo@ab.de"}"#, r#"\{"d": "([^@]{2}@[^@]{2}\.de)", "d": "\1"\}"#, 2),
];

/// `regex` has no back references: the first group's text is put in for `\1`.
fn matches(layout: &str, text: &str) -> bool {
    let first = layout.replace(r"\1", r"[^\\]*?");
    let Some(groups) = Regex::new(&format!("^(?:{first})$")).unwrap().captures(text) else { return false };
    let group = groups.get(1).map_or("", |group| group.as_str());
    let exact = layout.replace(r"\1", &regex::escape(group));
    Regex::new(&format!("^(?:{exact})$")).unwrap().is_match(text)
}

#[test]
fn values_change_and_nothing_else() {
    for (doc, layout, count) in CASES {
        let (redacted, report, undo) = redact(doc, &PathSet::everything());
        assert!(matches(layout, &redacted), "{doc} → {redacted}");
        assert_eq!(report.count(), count, "{doc}");
        assert_eq!(redacted == doc, count == 0);
        // What was written with escapes is restored without: compare the parsed documents.
        let restored = restore(&redacted, undo);
        let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        if !doc.contains(r"u0040") {
            assert_eq!(parsed(&restored), parsed(doc));
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    data_encoding::BASE64.encode(bytes)
}

/// What is encoded once more, or typed otherwise than it must be, is read: (document, what goes).
fn hidden() -> Vec<(String, &'static str)> {
    let mail = "jane.doe@harbour-post.com";
    let text = base64(format!("write to {mail}, please").as_bytes());
    let twice = base64(text.as_bytes());
    let json = base64(format!(r#"{{"to":"{}"}}"#, mail.replace('@', r"\u0040")).as_bytes());
    vec![
        (format!(r#"{{"a":"{text}"}}"#), mail),
        (format!(r#"{{"a":"{twice}"}}"#), mail),
        (format!(r#"{{"a":"{json}"}}"#), mail),
        (format!(r#"{{"signature":"{text}"}}"#), mail),
        (format!(r#"{{"input_audio":{{"data":"{text}"}}}}"#), mail),
        (format!(r#"{{"source":{{"type":"text","data":"{mail}"}}}}"#), mail),
        (format!(r#"{{"password":"{text}"}}"#), mail),
        (format!(r#"{{"a":"data:;base64,{text}"}}"#), mail),
        (format!(r#"{{"a":"DATA:text/plain;charset=utf-8;BASE64,{text}"}}"#), mail),
        (format!(r#"{{"a":"data:image/png;base64,{mail}"}}"#), mail),
        (
            format!(
                r#"{{"a":"data:image/png;name={mail};base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAf"}}"#
            ),
            mail,
        ),
        (r#"{"a":"data:text/plain,jane.doe%40harbour-post.com"}"#.to_owned(), "jane.doe%40harbour-post.com"),
    ]
}

#[test]
fn what_is_encoded_is_read() {
    for (doc, gone) in hidden() {
        let (out, report, _) = redact(&doc, &PathSet::everything());
        let mut shown = out.clone();
        // Everything that can be decoded, once more.
        for _ in 0..3 {
            let parts: Vec<String> = shown
                .split(['"', ','])
                .filter_map(|part| data_encoding::BASE64.decode(part.as_bytes()).ok())
                .map(|bytes| String::from_utf8_lossy(&bytes).replace(r"\u0040", "@"))
                .collect();
            shown = format!("{shown}\"{}", parts.join("\""));
        }
        assert!(report.count() > 0 && !shown.contains(gone), "{doc} became {shown}");
    }
}

#[test]
fn bytes_stay_and_are_counted() {
    let noise: Vec<u8> = (0..30_u32).flat_map(|n| blake(n).to_be_bytes()).collect();
    let jpeg = base64(&[&b"\xff\xd8\xff\xe0\0\x10JFIF\0"[..], &noise].concat());
    let seal = base64(noise.get(..64).unwrap());
    let docs = [
        (format!(r#"{{"a":"{jpeg}"}}"#), 1),
        (format!(r#"{{"a":"data:image/jpeg;base64,{jpeg}","b":["{jpeg}"]}}"#), 2),
        (format!(r#"{{"content":[{{"type":"thinking","signature":"{seal}"}}]}}"#), 1),
        (r#"{"input":[[1212,318,257],[50256]],"context":[1,2]}"#.to_owned(), 3),
        (r#"{"values":[[1212,318,257],[50256]]}"#.to_owned(), 0),
    ];
    for (doc, unread) in docs {
        let (out, report, _) = redact(&doc, &PathSet::everything());
        assert_eq!((out, report.count(), report.unscanned()), (doc, 0, unread));
    }
    // What is found elsewhere is not looked for in them.
    let doc = format!(
        r#"["account no. 12345678","{}","data:;base64,{}"]"#,
        {
            let with = [
                &b"\xff\xd8\xff\xe0"[..],
                &noise[..20],
                &data_encoding::BASE64.decode(b"/12345678/ab").unwrap(),
                &noise,
            ];
            base64(&with.concat())
        },
        jpeg
    );
    assert!(doc.contains("/12345678/"));
    let (out, report, undo) = redact(&doc, &PathSet::everything());
    assert_eq!((report.count(), out.matches("/12345678/").count()), (1, 1));
    assert_eq!(restore(&out, undo), doc);
}

/// Numbers that look drawn at random.
fn blake(seed: u32) -> u64 {
    let mut state = u64::from(seed).wrapping_add(0x9E37_79B9_7F4A_7C15);
    for shift in [30, 27, 31] {
        state = (state ^ state >> shift).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    }
    state
}

#[test]
fn what_is_hidden_too_deep_is_refused() {
    let mut doc = r#""jo\u0040ab.de""#.to_owned();
    for _ in 0..12 {
        doc = serde_json::to_string(&format!("[{doc}]")).unwrap();
    }
    let refused = |doc: &str| {
        let done = redactor(Method::Mask).document(
            doc.as_bytes(),
            &PathSet::everything(),
            &keys(),
            FindingLimits::default(),
        );
        matches!(done, Err(RedactError::TooDeep { .. }))
    };
    assert!(refused(&doc));
    let nested = format!("{}{}{}", "[".repeat(129), r#""jo\u0040ab.de""#, "]".repeat(129));
    assert!(refused(&serde_json::to_string(&nested).unwrap()));
    let mut encoded = "jo@ab.de is a mail address".to_owned();
    for _ in 0..9 {
        encoded = base64(encoded.as_bytes());
    }
    assert!(refused(&format!("[\"{encoded}\"]")));
    assert!(!refused(&serde_json::to_string(&"[".repeat(200)).unwrap()));
}

#[test]
fn paths_decide() {
    let which = PathSet::new(&[("m[*].content", Treatment::Text)], Treatment::Skip).unwrap();
    let doc = r#"{"m":[{"role":"jo@ab.de","content":"jo@ab.de"}],"n":12345678,"jo@ab.de":1}"#;
    let (redacted, report, _) = redact(doc, &which);
    assert_eq!(report.count(), 1);
    assert!(redacted.starts_with(r#"{"m":[{"role":"jo@ab.de","content":""#));
    assert!(redacted.ends_with(r#""}],"n":12345678,"jo@ab.de":1}"#));
}

#[test]
fn methods_without_a_key() {
    let doc = r#"["jo@ab.de", "account 12345678", 12345678]"#;
    let cases = [
        (Method::Mask, r#"["********", "account ********", "********"]"#, 3),
        (Method::Replace, r#"["<EMAIL_ADDRESS>", "account <US_BANK_NUMBER>", "<US_BANK_NUMBER>"]"#, 3),
        (Method::DetectOnly, doc, 0),
    ];
    for (method, expected, count) in cases {
        let document = redactor(method).document(
            doc.as_bytes(),
            &PathSet::everything(),
            &Keys::default(),
            FindingLimits::default(),
        );
        let (redacted, undo) = document.unwrap();
        assert_eq!(String::from_utf8_lossy(redacted.value()), expected);
        assert_eq!((redacted.report().count(), undo.len()), (count, 0));
        assert_eq!(redacted.report().findings().len(), 2);
        assert!(redacted.report().findings().iter().all(|found| found.redacted == (count > 0)));
    }
}

#[test]
fn failures_say_no_value() {
    let encrypt = redactor(Method::Encrypt);
    let run = |doc: &str, keys: &Keys, limits| {
        let result = encrypt.document(doc.as_bytes(), &PathSet::everything(), keys, limits);
        result.map(drop).unwrap_err()
    };
    let two = r#"["jo@ab.de", "jo@ab.fr"]"#;
    let limits = FindingLimits { values: 1, ..FindingLimits::default() };
    let errors = [
        run(two, &Keys::default(), FindingLimits::default()),
        run(two, &keys(), limits),
        run(r#"["jo@ab.de" x"#, &keys(), FindingLimits::default()),
    ];
    assert!(matches!(
        errors,
        [RedactError::NoKey, RedactError::TooManyValues { values: 1, .. }, RedactError::Json(_)]
    ));
    for error in errors {
        assert!(!format!("{error} {error:?}").contains("jo"));
    }
}

/// A surrogate that stands in the document already means something else there.
#[test]
fn a_surrogate_is_new_to_the_document() {
    let (redacted, ..) = redact(r#"["4012 8888 8888 1881"]"#, &PathSet::everything());
    let surrogate = redacted.trim_matches(['[', ']', '"']);
    let which = PathSet::new(&[("[0]", Treatment::Text)], Treatment::Skip).unwrap();
    let doc = format!(r#"["4012 8888 8888 1881", "{surrogate}"]"#);
    let (redacted, _, undo) = redact(&doc, &which);
    assert_eq!(redacted.matches(surrogate).count(), 1);
    assert_eq!(restore(&redacted, undo), doc);
}

#[test]
fn depth_is_bounded_and_the_rest_is_text() {
    let mut doc = String::from("jo@ab.de");
    for _ in 0..7 {
        doc = serde_json::to_string(&[doc]).unwrap();
    }
    let (redacted, report, undo) = redact(&doc, &PathSet::everything());
    assert_eq!(report.count(), 1);
    assert!(!redacted.contains("jo@ab.de"));
    assert_eq!(restore(&redacted, undo), doc);
}

#[test]
fn overlapping_values_leave_no_end_behind() {
    let parts = [Redactor::new(detector(), MethodPlan::all(Method::Encrypt))];
    let mut values = Values::after(&parts, PassValues::default(), Recall::default());
    values.add(ValueSite::default(), RuleId::new(0), "ann-bob");
    values.add(ValueSite::default(), RuleId::new(0), "bob-cid");
    let index = values.index();
    let mut hits = Vec::new();
    values.spread(&index, "ann-bob-cid, bob-cid, xann-bob", &mut hits);
    let ranges: Vec<Range<usize>> = hits.into_iter().map(|hit| hit.range).collect();
    assert_eq!(ranges, [0..11, 13..20]);
}

/// What a member is called is context of its value: (document, whether its value goes).
const NAMED: &[(&str, bool)] = &[
    (r#"{"password":"hunter2!"}"#, true),
    (r#"{"Kennwort":"hunter2!"}"#, true),
    (r#"{"mot-de-passe":".hunter2 und mehr"}"#, true),
    (r#"{"密码":"hunter2!"}"#, true),
    (r#"{"p\u0061ssword":"hunter2!"}"#, true),
    (r#"{"db":{"password":{"value":"hunter2!"}}}"#, true),
    (r#"{"passwords":["hunter2!"]}"#, true),
    (r#"{"ssn":"536228726"}"#, true),
    (r#"{"ssn":536228726}"#, true),
    (r#"{"socialSecurityNumber":"536228726"}"#, true),
    (r#"{"routing":"021000021"}"#, true),
    (r#"{"phone":{"home":4158675309}}"#, true),
    (r#"{"电话":"13800138000"}"#, true),
    (r#"{"card":4111111111111111}"#, true),
    (r#"{"api_key":"Zk3Jx91LmQpV8sTn2Rw7Yb4Kc6Df0Gh5"}"#, true),
    (r#"{"a":"{\"ssn\":\"536228726\"}"}"#, true),
    (r#"{"ssn":"{\"value\":[\"536228726\"]}"}"#, true),
    (r#"{"order":"536228726"}"#, false),
    (r#"{"password":"string"}"#, false),
    (r#"{"password":"Passwort"}"#, false),
    (r#"{"password":{"type":"string","description":"At least 8 characters."}}"#, false),
    (r#"{"phone":{"type":"string","title":"Telephone","minLength":7}}"#, false),
    (r#"{"phone_verified_at":1763805600,"max_tokens":4158675309}"#, false),
];

#[test]
fn names_of_members_are_context() {
    for (doc, goes) in NAMED {
        let (out, report, undo) = redact(doc, &PathSet::everything());
        assert_eq!((report.count() > 0, out != *doc), (*goes, *goes), "{doc} became {out}");
        assert_eq!(restore(&out, undo), *doc);
    }
}

#[test]
fn a_sign_and_an_exponent_hide_no_number() {
    for doc in [r#"{"card":4111111111111111e0}"#, r#"{"card":-4111111111111111.0E+0}"#] {
        let (out, report, _) = redact(doc, &PathSet::everything());
        assert_eq!(report.count(), 1, "{doc} became {out}");
        assert!(!out.contains("4111111111111111"), "{doc} became {out}");
        assert!(serde_json::from_str::<serde_json::Value>(&out).unwrap()["card"].is_number(), "{out}");
    }
}

#[test]
fn a_protocols_numbers_stay_numbers() {
    let typed = PathSet::new(&[("in.**", Treatment::Text)], Treatment::Skip).unwrap();
    let doc = br#"{"in":{"card":4111111111111111},"n":1}"#;
    let run = |method: Method, which: &PathSet| {
        let done = redactor(method).document(doc, which, &keys(), FindingLimits::default()).unwrap();
        serde_json::from_slice::<serde_json::Value>(done.0.value()).unwrap()["in"]["card"].clone()
    };
    assert_eq!(run(Method::Mask, &typed), 0);
    let issued = run(Method::Encrypt, &typed);
    assert!(issued.is_u64() && issued != 4_111_111_111_111_111_u64);
    assert_eq!(run(Method::Mask, &PathSet::everything()), "*".repeat(16));
}

#[test]
fn what_does_not_read_as_it_is_written_comes_back_byte_by_byte() {
    let spellings = [
        "4111 1111 1111 1111",
        "4111\u{a0}1111\u{a0}1111\u{a0}1111",
        "4111\u{202f}1111\u{2009}1111 1111",
        "4111-1111-1111-1111",
        "4111\u{2011}1111\u{2013}1111\u{2212}1111",
        "41\u{200b}11111111111111",
        "４１１１１１１１１１１１１１１１",
        "٤١١١ ١١١١ ١١١١ ١١١١",
        "4111 1111\n1111 1111",
        "4111111111111111",
    ];
    let text = spellings.map(|card| format!("card {card}, ok;")).join(" ");
    let doc = serde_json::to_string(&text).unwrap();
    let (out, report, undo) = redact(&doc, &PathSet::everything());
    assert_eq!(report.count(), spellings.len());
    let read: String = crate::detect::as_read(&out).chars().filter(char::is_ascii_digit).collect();
    assert!(!read.contains("4111111111111111"));
    let out: String = serde_json::from_str(&out).unwrap();
    assert_eq!(restore(&out, undo), text);
}

#[test]
fn lines_are_documents_of_their_own() {
    let typed = PathSet::new(&[("model", Treatment::Skip)], Treatment::Text).unwrap();
    let lines = |body: &str| {
        let redactor = redactor(Method::Text("#".into()));
        redactor.lines(body.as_bytes(), &typed, &keys(), FindingLimits::default())
    };
    let body = "{\"model\":\"jo@ab.de\"}\r\n\n{\"a\":\"account no. 12345678\"}\n [\"12345678?\"] \n";
    let (redacted, _) = lines(body).unwrap();
    let expected = body.replace("12345678", "#");
    assert_eq!(String::from_utf8(redacted.into_value()).unwrap(), expected);
    let Err(RedactError::Json(error)) = lines("{}\n{\"a\":tru}\n") else { panic!("refused otherwise") };
    assert_eq!(error.offset, 3 + 5);
}

/// (what is written, what of it goes): escapes of pages' addresses, of code and of what only lenient readers take.
const ESCAPED: &[(&str, &str)] = &[
    ("see https://shop.example/?card=4111%201111%201111%201111&x=1", "4111%201111"),
    ("phone=%2B14155552671", "4155552671"),
    (r#"{"x":NaN,"to":"jane.doe\u0040harbour-post.com"}"#, "jane.doe"),
    (r#"{"x":NaN,"to":"Card\n4111111111111111"}"#, "4111111111111111"),
    (r#"{"x":NaN,"to":"jane\u002edoe@harbour-post.com"}"#, "jane"),
    (r#"log("jane.doe\x40harbour-post.com")"#, "jane.doe"),
    ("jane.doe&#64;harbour-post.com &amp; co", "jane.doe"),
    ("jane.doe&#64harbour-post.com, jane.doe%u0040harbour-post.com", "jane.doe"),
    (r"to jane.doe\u{40}harbour-post.com, jane.doe\100harbour-post.com", "jane.doe"),
    ("?q=%22ssn%22%3A%22536-22-8726%22", "536-22-8726"),
    (r#"7,"{""user"": ""bob"", ""password"": ""Xk9mQ2vLpz"", ""note"": """"}",8"#, "Xk9mQ2vLpz"),
    (r#"{&quot;password&quot;:&quot;Xk9mQ2vLpz&quot;}"#, "Xk9mQ2vLpz"),
    ("?next=%2Fmail%3Fto%3Djane.doe%2540harbour-post.com", "jane.doe"),
];

#[test]
fn what_is_escaped_in_a_text_is_read() {
    for (text, gone) in ESCAPED {
        let doc = format!("{{\"a\":{}}}", serde_json::to_string(text).unwrap());
        let (out, _, _) = redact(&doc, &PathSet::everything());
        assert!(!out.contains(gone), "{doc} became {out}");
        let redactor = redactor(Method::Encrypt);
        let (redacted, undo) = redactor.plain(text.as_bytes(), &keys(), FindingLimits::default()).unwrap();
        let out = String::from_utf8(redacted.into_value()).unwrap();
        assert!(!out.contains(gone), "{text} became {out}");
        assert_eq!(restore(&out, undo), *text, "{out}");
    }
    for text in ["100%25 of 20%20things", r"C:\new\table\u0041", "a &amp; b &lt;c&gt;", "%%%", r"\\\"] {
        let doc = serde_json::to_string(text).unwrap();
        assert_eq!(redact(&doc, &PathSet::everything()).0, doc);
    }
}

#[test]
fn what_has_a_surrogate_in_its_conversation_keeps_it_whatever_other_spelling_comes_first() {
    let redactor = redactor(Method::Encrypt);
    let redacted = |text: &str, keys: &Keys| {
        let (redacted, undo) = redactor.plain(text.as_bytes(), keys, FindingLimits::default()).unwrap();
        (String::from_utf8(redacted.into_value()).unwrap(), Arc::new(undo))
    };
    let (first, undo) = redacted("Jane.Doe@example.com", &keys());
    // Another key, as after a rotation: nothing but the conversation knows the surrogate.
    let key = FpeKey::new(Secret::new(vec![8; 32])).unwrap();
    let recall = Recall { caller: None, conversation: Some(undo) };
    let keys = Keys { fpe: Some(Arc::new(key)), recall, ..keys() };
    let (second, _) = redacted("JANE.DOE@EXAMPLE.COM, Jane.Doe@example.com", &keys);
    let (upper, same) = second.split_once(", ").unwrap();
    assert_eq!(same, first);
    assert_eq!(upper, first.to_uppercase(), "and the other is its other spelling");
}

/// Documents as a tool shows them: their values have escapes of their own.
const SHOWN: &[&str] = &[
    r#"{"re": "t\\.pemberton@fastmail\\.fm"}"#,
    r#"{"ip": "81\\.169\\.145\\.70", "plain": "81.169.145.70"}"#,
    r#"[{"m": "ingrid.halvorsen\u0040posteo.no"}, "ingrid.halvorsen@posteo.no"]"#,
    r#"{"u": "https:\/\/x:hT5vRq8Zk2Wn@shop.example\/a"}"#,
    r#"{"o": "{\"m\": \"ingrid.halvorsen\\u0040posteo.no\"}"}"#,
    r#"{"o": "{\"re\": \"t\\\\.pemberton@fastmail\\\\.fm\"}"}"#,
    r#"{"stdout": "'password' => 'Qz7$kW!m2#pL\\'x9', 'user'"}"#,
    r#"re.compile(r"81\.169\.145\.70")"#,
    r#"to: "t\.pemberton@fastmail\.fm", t.pemberton@fastmail.fm"#,
    r#"const name = "Ingrid S\u00f8rlie Halvorsen"; // Author: Ingrid Sørlie Halvorsen <x@posteo.no>"#,
];

/// The model repeats what it saw, character by character, and the file has what it had.
#[test]
fn what_is_repeated_as_it_was_shown_comes_back_as_it_was_written() {
    for shown in SHOWN {
        let (out, report, undo) = redact(&serde_json::to_string(&[shown]).unwrap(), &PathSet::everything());
        let [seen] = serde_json::from_str::<[String; 1]>(&out).unwrap();
        assert!(report.count() > 0 && seen != *shown, "{shown} became {seen}");
        assert_eq!(restore(&seen, undo), *shown, "{seen}");
    }
}

/// A text in base64 is text to us, and to a model one word.
#[test]
fn base64_that_is_repeated_as_a_whole_comes_back() {
    let auth = data_encoding::BASE64.encode(b"tpemberton: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");
    let shown = format!(r#"{{"auths":{{"ghcr.io":{{"auth":"{auth}"}}}}}}"#);
    let (out, _, undo) = redact(&serde_json::to_string(&[&shown]).unwrap(), &PathSet::everything());
    let [seen] = serde_json::from_str::<[String; 1]>(&out).unwrap();
    assert!(!seen.contains(&auth), "{seen}");
    assert_eq!(restore(&format!("It is {seen}."), undo), format!("It is {shown}."));
}

/// One message a line.
#[test]
fn a_line_answers_the_question_of_the_line_before() {
    let asked = r#"{"role":"assistant","content":"What is your social security number?"}"#;
    let said = r#"{"role":"user","content":"536228726"}"#;
    let (which, keys) = (PathSet::everything(), keys());
    for (body, found) in [(format!("{asked}\n{said}\n"), 1), (format!("{said}\n{asked}\n"), 0)] {
        let lines = redactor(Method::Encrypt).lines(body.as_bytes(), &which, &keys, FindingLimits::default());
        assert_eq!(lines.unwrap().0.report().count(), found, "{body}");
    }
}
