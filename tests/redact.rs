//! Redaction as a whole: what goes out in surrogates comes back as it was, over any chunking of the answer; formats
//! are kept; what was not issued is never restored; bytes that nobody changed stay.
#![expect(clippy::unwrap_used, clippy::string_slice, reason = "a test that panics has failed, as it should")]

use std::sync::{Arc, OnceLock};

use portcullis::base::budget::MemoryBudget;
use portcullis::base::secret::Secret;
use portcullis::crypto::fpe::FpeKey;
use portcullis::detect::{Catalogue, Detector, RuleSelection};
use portcullis::redact::{
    AnswerTreatment, FindingLimits, Keys, Method, MethodPlan, RedactionCounts, Redactor, SurrogateMap,
};
use portcullis::stream::json::{Embedded, PathSet};
use portcullis::stream::{Channel, Edit, Editor};
use proptest::prelude::*;
use regex::Regex;
use serde_json::{Value, json};

#[path = "redact/forms.rs"]
mod forms;
#[path = "redact/names.rs"]
mod names;

/// Built once: it takes a while in a debug build.
fn detector() -> Detector {
    static BUILT: OnceLock<Detector> = OnceLock::new();
    let build = || {
        let catalogue = Catalogue::builtin().unwrap();
        Detector::new(&catalogue, &RuleSelection::defaults(&catalogue)).unwrap()
    };
    BUILT.get_or_init(build).clone()
}

fn keys() -> Keys {
    let key = FpeKey::new(Secret::new((0..32).collect())).unwrap();
    Keys { fpe: Some(Arc::new(key)), tenant: "acme".into(), ..Keys::default() }
}

fn redactor() -> Redactor {
    Redactor::new(detector(), MethodPlan::all(Method::Encrypt))
}

/// The document with its strings redacted, and the way back.
fn redact(doc: &Value) -> (Value, Arc<SurrogateMap>) {
    let doc = doc.to_string();
    let which = PathSet::everything();
    let (redacted, undo) =
        redactor().document(doc.as_bytes(), &which, &keys(), FindingLimits::default()).unwrap();
    (serde_json::from_slice(redacted.value()).unwrap(), Arc::new(undo))
}

/// Feeds the text in pieces that end at the given places, and applies the edits; checks what an [`Editor`] promises.
fn edit(editor: &mut impl Editor, text: &str, cuts: &[usize]) -> String {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
    cuts.retain(|&cut| text.is_char_boundary(cut));
    cuts.push(text.len());
    cuts.sort_unstable();
    let (mut edits, mut fed, mut decided): (Vec<Edit>, usize, usize) = (Vec::new(), 0, 0);
    for cut in cuts {
        let before = edits.len();
        let now = editor.feed(&text[fed..cut], &mut edits).unwrap();
        assert!((decided..=cut).contains(&now), "the decided offset goes forward, not beyond the text");
        assert!(text.is_char_boundary(now));
        for edit in &edits[before..] {
            assert!(
                edit.range.start >= decided && edit.range.end <= now,
                "edits lie in what is being decided"
            );
        }
        (fed, decided) = (cut, now);
    }
    editor.end(&mut edits).unwrap();
    let (mut out, mut done) = (String::new(), 0);
    for Edit { range, with } in edits {
        out.push_str(&text[done..range.start]);
        out.push_str(&with);
        done = range.end;
    }
    out + &text[done..]
}

fn restore(undo: &Arc<SurrogateMap>, text: &str, cuts: &[usize]) -> String {
    edit(&mut redactor().answer(AnswerTreatment::Restore(Arc::clone(undo))), text, cuts)
}

fn luhn(text: &str) -> bool {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(10)).rev().collect();
    let doubled = |(at, digit): (usize, &u32)| match digit * (1 + at as u32 % 2) {
        twice @ 10.. => twice - 9,
        once => once,
    };
    digits.iter().enumerate().map(doubled).sum::<u32>().is_multiple_of(10)
}

fn with_luhn(payload: String) -> String {
    (0..10).map(|check| format!("{payload}{check}")).find(|card| luhn(card)).unwrap()
}

/// A value that is found by itself.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,8}(\\.[a-z]{1,6})?@[a-z]{2,8}(-[a-z]{2})?\\.example\\.(com|org|de)",
        "4[0-9]{3} [0-9]{4} [0-9]{4} [0-9]{3}".prop_map(with_luhn),
        "5[1-5][0-9]{2}-[0-9]{4}-[0-9]{4}-[0-9]{3}".prop_map(with_luhn),
        (1u32..666, 1u32..100, 1u32..10_000).prop_map(|(a, g, s)| format!("{a:03}-{g:02}-{s:04}")),
        "\\+1 [2-9][0-9]{2} [2-9][0-9]{2} [0-9]{4}",
        "\\([2-9][0-9]{2}\\) [2-9][0-9]{2}-[0-9]{4}",
        "\\+44 20 [0-9]{4} [0-9]{4}",
        "ghp_[A-Za-z0-9]{36}",
    ]
}

fn prose() -> impl Strategy<Value = String> {
    let separators = prop::sample::select(vec![
        ", ",
        " — ",
        "\n",
        " call ",
        " (",
        ") ",
        "; Order 1001 ",
        " é",
        "\t",
        ". Mail ",
        ": ",
        " \"",
        "\" ",
        " 2.0.17 ",
        " account no. ",
        " + ",
        "\\",
    ]);
    separators.prop_map(str::to_owned)
}

/// Prose and values in turn.
fn text() -> impl Strategy<Value = String> {
    prop::collection::vec((prose(), value()), 0..6)
        .prop_map(|parts| parts.into_iter().map(|(prose, value)| prose + &value).collect::<String>() + ".")
}

fn cuts() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(any::<usize>(), 0..40)
}

const PII: [(&str, &str, &str); 4] = [
    ("EMAIL", "maria.lopez+rx@corp-mail.example.com", r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}"),
    ("PHONE", "+1 650 253 0000", r"\+1 [2-9]\d{2} [2-9]\d{2} \d{4}"),
    ("SSN", "536-22-8726", r"\d{3}-\d{2}-\d{4}"),
    ("CARD", "4012 8888 8888 1881", r"\d{4} \d{4} \d{4} \d{4}"),
];

fn ticket() -> String {
    let values: String = PII.iter().map(|(label, value, _)| format!("{label}: {value} | ")).collect();
    format!("Summarise the ticket. {values}Order 1001, version 2.0.17.")
}

#[test]
fn surrogates_keep_their_format_in_every_turn() {
    let (redacted, undo) = redact(&json!({"messages": [{"role": "user", "content": ticket()}]}));
    let text = redacted["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(text.ends_with("Order 1001, version 2.0.17."));
    assert_eq!(undo.len(), 4);
    for (label, value, layout) in PII {
        let found = Regex::new(&format!(r"{label}: ({layout}) \|")).unwrap().captures(&text).unwrap();
        assert!(!text.contains(value));
        assert!(label != "CARD" || luhn(&found[1]));
    }
    let again = redact(&json!([{"content": ticket()}, ticket()])).0;
    assert_eq!(again[1].as_str(), Some(text.as_str()));
    assert_eq!(again[0]["content"].as_str(), Some(text.as_str()));
    let other = Keys { tenant: "other".into(), ..keys() };
    let (elsewhere, ..) = redactor()
        .document(
            json!([text]).to_string().as_bytes(),
            &PathSet::everything(),
            &other,
            FindingLimits::default(),
        )
        .unwrap();
    assert_ne!(elsewhere.value(), json!([text]).to_string().as_bytes());
}

/// What goes out looks like what it stands for also to a detector: the next gateway sees what this one saw. Cards
/// aren't here: a surrogate's first digits need not be an issuer's.
#[test]
fn surrogates_are_found_by_the_rule_of_their_originals() {
    let values = [
        "+1 650 253 0000",
        "(415) 555-1234",
        "1-800-555-0199",
        "123-456-7890",
        "+44 20 7946 0958",
        "+49 (0)30 901820",
        "+353 1 234 5678",
        "536-22-8726",
        "912-70-1234",
        "maria.lopez+rx@corp-mail.example.com",
        "DE89 3704 0044 0532 0130 00",
        "GB29NWBK60161331926819",
        "203.0.113.77",
    ];
    let found = |text: &str| {
        let findings = detector().find(text);
        findings.iter().map(|f| (detector().rule(f.rule).name().to_owned(), f.span)).collect::<Vec<_>>()
    };
    for tenant in 0..40 {
        let keys = Keys { tenant: format!("tenant {tenant}").into(), ..keys() };
        for value in values {
            let surrogate = redactor().text(value, &keys, FindingLimits::default()).unwrap().0.into_value();
            let rules = found(value).into_iter().map(|(rule, _)| rule);
            assert!(found(&surrogate).into_iter().map(|(rule, _)| rule).eq(rules), "{value} → {surrogate}");
        }
    }
}

#[test]
fn an_answer_comes_back_as_it_was_at_any_split() {
    let (redacted, undo) = redact(&json!([ticket()]));
    let surrogate = redacted[0].as_str().unwrap();
    for piece in 1..=surrogate.len() {
        let cuts: Vec<usize> = (0..surrogate.len()).step_by(piece).collect();
        assert_eq!(restore(&undo, surrogate, &cuts), ticket());
    }
}

/// Tool-call arguments as a model writes them: JSON that was not decoded, with escapes around the values.
#[test]
fn escapes_of_undecoded_json_are_boundaries() {
    let (redacted, undo) = redact(&json!(PII.map(|(_, value, _)| value)));
    let parts = |values: [&str; 4]| {
        format!(r#"{{"body":"Line1\n{}\u00e9{}\t{}\"{}\\"}}"#, values[0], values[1], values[2], values[3])
    };
    let surrogates: Vec<&str> = redacted.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let echoed = parts(surrogates.try_into().unwrap());
    let original = parts(PII.map(|(_, value, _)| value));
    for cut in 0..echoed.len() {
        assert_eq!(restore(&undo, &echoed, &[cut]), original);
    }
}

/// What begins with the letter of an escape is masked alike where all text is there and where it comes in pieces.
#[test]
fn a_backslash_before_a_value_reads_alike_in_streams() {
    let redactor = Redactor::new(detector(), MethodPlan::all(Method::Mask));
    for letter in 'a'..='z' {
        for value in ["@corp-mail.example.com", "o.doe@example.org", "4012 8888 8888 1881", " 536-22-8726"] {
            let text = format!("Line \\{letter}{value}.");
            let counts = Arc::new(RedactionCounts::new(detector().rule_count()));
            let live = edit(&mut redactor.live(&keys(), counts), &text, &[7]);
            let whole = redactor.text(&text, &keys(), FindingLimits::default()).unwrap().0.into_value();
            assert_eq!(live, whole, "{text}");
        }
    }
}

/// The same arguments where their strings are decoded, cut at every place, as deltas of one channel are.
#[test]
fn arguments_stay_json_when_their_strings_are_restored() {
    let (redacted, undo) = redact(&json!(PII.map(|(_, value, _)| value)));
    let surrogates: Vec<&str> = redacted.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let [email, phone, ssn, card] = surrogates.try_into().unwrap();
    let escaped = email.replace('@', "\\u0040");
    let arguments = format!(
        r#"{{"to":"{escaped}","phone":"{phone}","body":"Line1\n{email}\u00e9 \"{ssn}\"","{card}":[3]}}"#
    );
    for piece in 1..arguments.len() {
        let answer = redactor().answer(AnswerTreatment::Restore(Arc::clone(&undo)));
        let mut channel = Channel::new(Box::new(Embedded::new(answer)), &MemoryBudget::unlimited());
        let mut out = String::new();
        for piece in arguments.as_bytes().chunks(piece) {
            channel.push(std::str::from_utf8(piece).unwrap(), &mut out).unwrap();
        }
        channel.finish(&mut out).unwrap();
        let body = format!("Line1\n{}é \"{}\"", PII[0].1, PII[2].1);
        let expected = json!({"to": PII[0].1, "phone": PII[1].1, "body": body, PII[3].1: [3]});
        assert_eq!(serde_json::from_str::<Value>(&out).unwrap(), expected);
    }
}

#[test]
fn numbers_are_known_in_other_groupings() {
    let (redacted, undo) =
        redact(&json!(["4012 8888 8888 1881", "+1 650 253 0000", "jo.doe@ab.example.com"]));
    let [card, phone, email] = [0, 1, 2].map(|n| redacted[n].as_str().unwrap().to_owned());
    let digits = |text: &str| text.replace([' ', '+'], "");
    let dashed = card.replace(' ', "-");
    let parenthesised =
        phone.replacen(' ', " (", 1).replacen(' ', "#", 1).replacen(' ', ")", 1).replace('#', " ");
    let cases = [
        (digits(&card), "4012888888881881"),
        (dashed, "4012-8888-8888-1881"),
        (digits(&phone), "16502530000"),
        (phone.replace(' ', "\u{2011}"), "+1\u{2011}650\u{2011}253\u{2011}0000"),
        (parenthesised, "+1 (650)253 0000"),
        (email.to_uppercase(), "JO.DOE@AB.EXAMPLE.COM"),
    ];
    for (written, original) in cases {
        let text = format!("it is {written}, yes");
        assert_eq!(restore(&undo, &text, &[8]), format!("it is {original}, yes"));
    }
}

#[test]
fn nothing_is_held_where_nothing_was_issued_or_can_begin() {
    let held = |undo: Arc<SurrogateMap>, text: &str| {
        let mut answer = redactor().answer(AnswerTreatment::Restore(undo));
        text.len() - answer.feed(text, &mut Vec::new()).unwrap()
    };
    let (redacted, undo) = redact(&json!(["4012 8888 8888 1881"]));
    let card = redacted[0].as_str().unwrap();
    assert_eq!(held(Arc::new(SurrogateMap::nothing()), "4012 "), 0);
    assert_eq!(held(Arc::clone(&undo), "prose, and a word"), 0);
    assert_eq!(held(Arc::clone(&undo), &format!("prose {}", &card[..7])), 7);
    assert_eq!(held(Arc::clone(&undo), card), card.len());
    assert_eq!(held(undo, &format!("{card}.")), 0);
}

#[test]
fn no_debug_shows_a_value() {
    let (_, undo) = redact(&json!([ticket()]));
    let text = redactor().text(&ticket(), &keys(), FindingLimits::default()).unwrap().0;
    let counts = Arc::new(RedactionCounts::new(detector().rule_count()));
    let mut live = redactor().live(&keys(), Arc::clone(&counts));
    let mut answer = redactor().answer(AnswerTreatment::Restore(Arc::clone(&undo)));
    let mut edits = Vec::new();
    live.feed(&ticket(), &mut edits).unwrap();
    answer.feed(&text.value()[..40], &mut edits).unwrap();
    live.end(&mut edits).unwrap();
    let shown = format!("{undo:?} {text:?} {live:?} {answer:?} {edits:?} {:?} {:?}", keys(), redactor());
    for (_, value, _) in PII {
        assert!(value.split([' ', '-', '@']).all(|part| part.len() < 3 || !shown.contains(part)), "{shown}");
    }
    assert_eq!(counts.by_rule().iter().map(|(_, n)| n).sum::<u64>(), 4);
    assert_eq!(counts.scanned(), ticket().len() as u64);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn what_goes_out_in_surrogates_comes_back((text, cuts) in (text(), cuts())) {
        let (redacted, undo) = redact(&json!({"messages": [{"content": text}]}));
        let surrogate = redacted["messages"][0]["content"].as_str().unwrap();
        prop_assert_eq!(restore(&undo, surrogate, &cuts), text);
    }

    #[test]
    fn chunks_do_not_show((text, cuts) in (text(), cuts())) {
        for method in [Method::Mask, Method::Replace, Method::Encrypt, Method::DetectOnly] {
            let redactor = Redactor::new(detector(), MethodPlan::all(method.clone()));
            let counts = Arc::new(RedactionCounts::new(detector().rule_count()));
            let live = edit(&mut redactor.live(&keys(), Arc::clone(&counts)), &text, &cuts);
            let mask = AnswerTreatment::Mask { keys: keys(), counts };
            prop_assert_eq!(&edit(&mut redactor.answer(mask), &text, &cuts), &live);
            prop_assert_eq!(redactor.text(&text, &keys(), FindingLimits::default()).unwrap().0.into_value(), live.clone());
            prop_assert!(method != Method::DetectOnly || live == text);
        }
    }

    /// A value that looks just like a surrogate and was not issued.
    #[test]
    fn invented_values_stay((issued, invented, cuts) in (text(), text(), cuts())) {
        let (redacted, undo) = redact(&json!([issued]));
        let redacted = redacted[0].as_str().unwrap();
        let other = Keys { tenant: "other".into(), ..keys() };
        let invented = redactor().text(&invented, &other, FindingLimits::default()).unwrap().0.into_value();
        prop_assume!(!redacted.contains(&invented));
        prop_assert_eq!(restore(&undo, &invented, &cuts), invented);
    }

    #[test]
    fn documents_within_strings_stay_documents(texts in prop::collection::vec(text(), 1..4), level in 0usize..5) {
        let mut doc = json!({"to": texts, "n": 3, "é\n": null});
        for _ in 0..level {
            doc = json!({"arguments": doc.to_string(), "id": "call_1"});
        }
        let (redacted, undo) = redact(&doc);
        let (mut plain, mut inner) = (doc, redacted);
        for _ in 0..level {
            let opened = |doc: &Value| serde_json::from_str(doc["arguments"].as_str().unwrap()).unwrap();
            (plain, inner) = (opened(&plain), opened(&inner));
        }
        for (plain, inner) in plain["to"].as_array().unwrap().iter().zip(inner["to"].as_array().unwrap()) {
            prop_assert_eq!(&restore(&undo, inner.as_str().unwrap(), &[]), plain.as_str().unwrap());
        }
        prop_assert_eq!(inner["n"].as_u64(), Some(3));
    }

    /// Take the new strings out of the document and the old ones out of the original: the rest is the same bytes.
    #[test]
    fn bytes_that_nobody_changed_stay(texts in prop::collection::vec(text(), 0..4), space in "[ \n\t]{0,3}") {
        let strings: Vec<String> = texts.iter().map(|text| json!(text).to_string()).collect();
        let doc = |strings: &[String]| {
            let list = strings.join(&format!("{space},{space}"));
            format!("{space}{{ \"a\\u00e9\":[{list}{space}] ,\"n\":1e3,\"n\":-0.50}}{space}")
        };
        let original = doc(&strings);
        let which = PathSet::everything();
        let run = redactor().document(original.as_bytes(), &which, &keys(), FindingLimits::default());
        let redacted = String::from_utf8(run.unwrap().0.into_value()).unwrap();
        let parsed: Value = serde_json::from_str(&redacted).unwrap();
        let strings: Vec<String> =
            parsed["aé"].as_array().unwrap().iter().map(ToString::to_string).collect();
        prop_assert_eq!(redacted, doc(&strings));
    }
}
