//! The redaction service's laws: what comes back, what stays, what is counted.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::sync::{Arc, OnceLock};

use portcullis::base::secret::Secret;
use portcullis::crypto::fpe::FpeKey;
use portcullis::detect::{Catalogue, Detector, RuleSelection};
use portcullis::redact::{
    Alphabet, CallRights, Digest, FindingLimits, Fpe, FpeContext, Keys, Method, MethodPlan, PartialMask,
    PathTree, Redactor, Salted, Selected, Selection, structured,
};
use portcullis::stream::json::Segment;
use proptest::prelude::*;
use serde_json::Value;

fn catalogue() -> Catalogue {
    let own = "[[rule]]\nname = 'ANYTHING'\npatterns = [{ regex = '[!-~]([ -~]*[!-~])?' }]\n";
    static BUILT: OnceLock<Catalogue> = OnceLock::new();
    let built = || {
        let mut catalogue = Catalogue::builtin().unwrap_or_else(|error| panic!("{error}"));
        catalogue.extend(own, "own").unwrap_or_else(|faults| panic!("{faults:?}"));
        catalogue
    };
    BUILT.get_or_init(built).clone()
}

fn redactor(rules: &[&str], method: Method) -> Redactor {
    let catalogue = catalogue();
    let selection = RuleSelection::only(&catalogue, rules.iter().copied()).unwrap();
    Redactor::new(Detector::new(&catalogue, &selection).unwrap(), MethodPlan::all(method))
}

fn key(bytes: &[u8]) -> Arc<FpeKey> {
    Arc::new(FpeKey::new(Secret::new(bytes.to_vec())).unwrap())
}

fn keys() -> Keys {
    Keys { fpe: Some(key(&[7; 32])), tenant: Arc::from("test"), ..Keys::default() }
}

fn fpe(alphabet: Alphabet) -> Method {
    Method::Fpe(Arc::new(Fpe { alphabet, tweak: None }))
}

/// What the context restores after it has been written and read.
fn back(context: &FpeContext, doc: &[u8]) -> Vec<u8> {
    let read = FpeContext::from_bytes(context.to_bytes().expose()).unwrap();
    read.restorer(key(&[7; 32])).document(doc).unwrap()
}

const VALUES: [&str; 9] = [
    "jane.doe@harbour-post.com",
    "536-90-4399",
    "4111 1111 1111 1111",
    "+1 415 555 2671",
    "4111111111111111",
    "10.1.2.3",
    "GB33BUKB20201555555555",
    "https://harbour-post.com/a?b=c",
    "nothing at all",
];

const RULES: [&str; 7] =
    ["EMAIL_ADDRESS", "US_SSN", "CREDIT_CARD", "PHONE_NUMBER", "IP_ADDRESS", "IBAN_CODE", "URL"];

fn text() -> impl Strategy<Value = String> {
    let words = prop_oneof![
        3 => proptest::sample::select(&VALUES[..]).prop_map(str::to_owned),
        2 => "[ -~é🙂\"\\\\\n]{0,12}",
    ];
    proptest::collection::vec(words, 0..5).prop_map(|words| words.join(" "))
}

fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => text().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::btree_map("[a-c]{1,3}", inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn alphabet() -> impl Strategy<Value = Alphabet> {
    proptest::sample::select(&Alphabet::ALL[..])
}

fn selected<'s>(selection: &'s Selection, redactors: &'s [Redactor]) -> Selected<'s> {
    Selected { selection, redactors, detail: true }
}

fn everywhere(doc: &[u8], redactor: Redactor) -> (portcullis::redact::Redacted<Vec<u8>>, FpeContext) {
    let parts = [redactor];
    structured(doc, selected(&Selection::Everything, &parts), &keys(), FindingLimits::default()).unwrap()
}

#[test]
fn a_number_comes_back_as_a_number_whatever_the_alphabet() {
    let doc = br#"{"a":-4861592119661549553,"b":4111111111111111}"#;
    for alphabet in Alphabet::ALL {
        let (redacted, context) = everywhere(doc, redactor(&RULES, fpe(alphabet)));
        let read: Value = serde_json::from_slice(redacted.value()).unwrap();
        assert_eq!(redacted.report().count(), 2, "{alphabet:?}");
        assert!(read["a"].is_number() && read["b"].is_number(), "{alphabet:?}: {read}");
        assert_eq!(back(&context, redacted.value()), doc, "{alphabet:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_encrypted_comes_back(document in document(), alphabet in proptest::option::of(alphabet())) {
        let doc = serde_json::to_vec_pretty(&document).unwrap();
        let method = alphabet.map_or(Method::Encrypt, fpe);
        let (redacted, context) = everywhere(&doc, redactor(&RULES, method));
        let bytes = redacted.value();
        prop_assert!(serde_json::from_slice::<Value>(bytes).is_ok());
        for value in VALUES.iter().filter(|value| **value != "nothing at all") {
            prop_assert!(redacted.report().count() == 0 || !String::from_utf8_lossy(bytes).contains(value), "{}", value);
        }
        prop_assert_eq!(context.is_empty(), redacted.report().count() == 0);
        prop_assert_eq!(back(&context, bytes), doc);
    }

    #[test]
    fn counts_are_those_of_the_report_and_the_rest_stays(document in document(), n in 0usize..6) {
        let doc = serde_json::to_vec(&document).unwrap();
        let methods = [
            Method::Mask,
            Method::Replace,
            Method::Text("[gone]".into()),
            Method::Partial(Arc::new(PartialMask { masks: false, left: 1, right: 2, ignore: vec!['-'], with: '#' })),
            Method::Hash(Arc::new(Salted { digest: Digest::Md5, salt: Secret::new(b"salt".to_vec()) })),
            Method::DetectOnly,
        ];
        let method = methods[n].clone();
        let (redacted, context) = everywhere(&doc, redactor(&RULES, method.clone()));
        let report = redacted.report();
        let told = report.findings().iter().filter(|found| found.redacted).count();
        prop_assert!(context.is_empty());
        prop_assert_eq!(report.count(), told);
        if method == Method::DetectOnly {
            prop_assert_eq!(redacted.value(), &doc);
        }
        // A document of which nothing is chosen stays as it is, to the byte.
        let none = Selection::Chosen(PathTree::default());
        let parts = [redactor(&RULES, method)];
        let (same, _) = structured(&doc, selected(&none, &parts), &keys(), FindingLimits::default()).unwrap();
        prop_assert_eq!(same.value(), &doc);
    }

    #[test]
    fn texts_come_back_from_an_edited_answer(text in text(), alphabet in alphabet()) {
        let (redacted, context) = redactor(&RULES, fpe(alphabet)).text(&text, &keys(), FindingLimits::default()).unwrap();
        let answer = format!("Sure. {} and again: {}.", redacted.value(), redacted.value());
        let read = FpeContext::from_bytes(context.to_bytes().expose()).unwrap();
        let restored = read.restorer(key(&[7; 32])).text(&answer).unwrap();
        prop_assert_eq!(restored, format!("Sure. {text} and again: {text}."));
    }

    #[test]
    fn a_context_is_read_whole_or_not_at_all(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        drop(FpeContext::from_bytes(&bytes));
        let (_, mut context) = redactor(&RULES, fpe(Alphabet::Numeric)).text("536-90-4399", &keys(), FindingLimits::default()).unwrap();
        for made in [None, Some(CallRights { config: Some("pci_a".to_owned()), names_key: true })] {
            context.made = made;
            let whole = context.to_bytes();
            for end in 0..whole.expose().len() {
                prop_assert!(FpeContext::from_bytes(&whole.expose()[..end]).is_none());
            }
        }
    }
}

#[test]
fn a_context_says_what_it_was_made_with() {
    let text = "ssn 536-90-4399";
    let (redacted, mut context) =
        redactor(&RULES, fpe(Alphabet::Numeric)).text(text, &keys(), FindingLimits::default()).unwrap();
    let before = context.to_bytes();
    // Without it, it has the form before: its number, then at once the key's name, which is empty here.
    assert_eq!(before.expose().get(..6).unwrap(), [2, 0, 0, 0, 0, 0]);
    let config = Some(format!("pci_{}", "a".repeat(32)));
    for made in [
        None,
        Some(CallRights::default()),
        Some(CallRights { config: None, names_key: true }),
        Some(CallRights { config, names_key: false }),
    ] {
        context.made = made.clone();
        let bytes = context.to_bytes();
        assert_eq!(bytes.expose()[0], if made.is_some() { 3 } else { 2 });
        assert!(bytes.expose().ends_with(before.expose().get(1..).unwrap()));
        let read = FpeContext::from_bytes(bytes.expose()).unwrap();
        assert_eq!(read.made, made);
        assert_eq!(read.restorer(key(&[7; 32])).text(redacted.value()).unwrap(), text);
    }
}

#[test]
fn surrogates_are_those_of_an_independent_ff1() {
    for row in include_str!("structured/ff1.tsv").lines() {
        let [name, hex, tweak, text, expected] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let unhex = |hex: &str| data_encoding::HEXLOWER.decode(hex.as_bytes()).unwrap();
        let alphabet = Alphabet::named(name).unwrap();
        let method = Method::Fpe(Arc::new(Fpe { alphabet, tweak: Some(unhex(tweak)) }));
        let keys = Keys { fpe: Some(key(&unhex(hex))), tenant: Arc::from("test"), ..Keys::default() };
        let (redacted, context) =
            redactor(&["ANYTHING"], method).text(text, &keys, FindingLimits::default()).unwrap();
        assert_eq!(redacted.value(), expected, "{row}");
        let restored = context.restorer(key(&unhex(hex))).text(expected).unwrap();
        assert_eq!(restored, text);
    }
}

#[test]
fn a_context_does_not_grow_with_the_values_it_stands_for() {
    let size = |text: &str| {
        let (_, context) = redactor(&["ANYTHING"], fpe(Alphabet::Alphanumeric))
            .text(text, &keys(), FindingLimits::default())
            .unwrap();
        context.to_bytes().expose().len()
    };
    assert_eq!(size("abcdef"), size(&"abcdef".repeat(40)));
    assert!(size("abcdef") < 64, "{}", size("abcdef"));
}

#[test]
fn numbers_stay_numbers_where_they_are_chosen() {
    let doc = br#"{"card": 4111111111111111, "n": 1.50, "id": 536904399, "s": "x"}"#;
    let mut chosen = PathTree::default();
    chosen.choose([Segment::Key("card")], 0);
    chosen.choose([Segment::Key("id")], 0);
    let which = Selection::Chosen(chosen);
    for method in [Method::Encrypt, fpe(Alphabet::Numeric)] {
        let parts = [redactor(&["CREDIT_CARD", "ANYTHING"], method)];
        let (redacted, context) =
            structured(doc, selected(&which, &parts), &keys(), FindingLimits::default()).unwrap();
        let value: Value = serde_json::from_slice(redacted.value()).unwrap();
        assert!(value["card"].is_u64() && value["card"] != 4_111_111_111_111_111_u64);
        assert!(value["id"].is_u64() && String::from_utf8_lossy(redacted.value()).contains("\"n\": 1.50"));
        let keys: Vec<&str> =
            redacted.report().findings().iter().map(|found| &*found.placed.as_ref().unwrap().key).collect();
        assert_eq!(keys, ["card", "id"]);
        assert_eq!(back(&context, redacted.value()), doc);
    }
}

#[test]
fn what_nobody_issued_stays() {
    let (redacted, context) = redactor(&["US_SSN"], fpe(Alphabet::Numeric))
        .text("ssn 536-90-4399", &keys(), FindingLimits::default())
        .unwrap();
    let surrogate = redacted.value().strip_prefix("ssn ").unwrap().to_owned();
    let restorer = context.restorer(key(&[7; 32]));
    let grouped = surrogate.replace('-', " ");
    let other = format!("not {} nor 1{surrogate}, but {surrogate} and {grouped}", "536-90-4398");
    let expected = format!("not {} nor 1{surrogate}, but 536-90-4399 and 536 90 4399", "536-90-4398");
    assert_eq!(restorer.text(&other).unwrap(), expected);
}
