//! Surrogates are the same within a scope, whichever way text takes, and tell nothing about those of another.

use std::collections::HashSet;
use std::sync::{Mutex, OnceLock};

use proptest::prelude::*;

use super::*;
use crate::base::quota::{Count, QuotaExceeded};
use crate::base::secret::Secret;
use crate::detect::{Catalogue, Detector, RuleSelection};
use crate::edit::spliced;
use crate::redact::{
    Alphabet, AnswerEditor, Digest, FindingLimits, Fpe, FpeContext, Method, MethodPlan, RedactError,
    RedactionCounts, Redactor, Salted,
};
use crate::stream::json::PathSet;
use crate::stream::{Edit, Editor, StreamError};

const RULES: [&str; 3] = ["EMAIL_ADDRESS", "US_SSN", "CREDIT_CARD"];

fn redactor(method: Method) -> Redactor {
    static BUILT: OnceLock<Detector> = OnceLock::new();
    let build = || {
        let rules = Catalogue::builtin().unwrap();
        Detector::new(&rules, &RuleSelection::only(&rules, RULES).unwrap()).unwrap()
    };
    Redactor::new(BUILT.get_or_init(build).clone(), MethodPlan::all(method))
}

fn key() -> Arc<FpeKey> {
    Arc::new(FpeKey::new(Secret::new(vec![7; 32])).unwrap())
}

fn keys(scope: SurrogateScope) -> Keys {
    Keys { fpe: Some(key()), tenant: "acme".into(), scope, ..Keys::default() }
}

fn fpe(tweak: Option<&[u8]>) -> Method {
    Method::Fpe(Arc::new(Fpe { alphabet: Alphabet::Alphanumeric, tweak: tweak.map(<[u8]>::to_vec) }))
}

fn text(method: Method, text: &str, keys: &Keys) -> (String, FpeContext) {
    let (redacted, context) = redactor(method).text(text, keys, FindingLimits::default()).unwrap();
    (redacted.into_value(), context)
}

/// The same as it passes.
fn live(text: &str, cut: usize, keys: &Keys) -> Result<String, StreamError> {
    let counts = Arc::new(RedactionCounts::new(2000));
    let mut editor = redactor(Method::Encrypt).live(keys, counts);
    let mut edits: Vec<Edit> = Vec::new();
    let (first, rest) = text.split_at(cut.min(text.len()));
    editor.feed(first, &mut edits)?;
    editor.feed(rest, &mut edits)?;
    editor.end(&mut edits)?;
    Ok(String::from_utf8(spliced(text.as_bytes(), &edits)).unwrap())
}

/// Texts with values in them that every one of [`RULES`] finds.
fn said() -> impl Strategy<Value = String> {
    ("[a-z]{3,9}", "[a-z]{4,9}", 1..665_u32, 1..99_u32, 1..9999_u32).prop_map(
        |(local, host, area, group, serial)| {
            format!(
                "mail {local}@{host}.com, again {local}@{host}.com; SSN {area:03}-{group:02}-{serial:04}, \
             card 4111 1111 1111 1111"
            )
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn within_a_scope_every_way_gives_the_same_and_in_another_none_of_it(said in said(), cut in 0..80_usize) {
        let scopes = [
            SurrogateScope::default(),
            SurrogateScope::of(&key(), &[b"route", b"a"]),
            SurrogateScope::of(&key(), &[b"route", b"b"]),
        ];
        let mut seen = HashSet::new();
        for scope in scopes {
            let (whole, context) = text(Method::Encrypt, &said, &keys(scope));
            prop_assert_eq!(&live(&said, cut, &keys(scope)).unwrap(), &whole);
            let document = serde_json::to_vec(&serde_json::json!({ "said": said })).unwrap();
            let everything = PathSet::everything();
            let redacted = redactor(Method::Encrypt).document(&document, &everything, &keys(scope), FindingLimits::default());
            let (redacted, undo) = redacted.unwrap();
            let redacted: serde_json::Value = serde_json::from_slice(redacted.value()).unwrap();
            prop_assert_eq!(redacted["said"].as_str().unwrap(), whole.as_str());
            // The way back does not ask for the scope.
            prop_assert_eq!(&context.restorer(key()).text(&whole).unwrap(), &said);
            let mut edits = Vec::new();
            let mut answer = AnswerEditor::restore(Arc::new(undo));
            answer.feed(&whole, &mut edits).unwrap();
            answer.end(&mut edits).unwrap();
            prop_assert_eq!(edits.len(), 4);
            let words: HashSet<String> = whole.split([' ', ',', ';', '@']).map(str::to_owned).collect();
            for word in words.into_iter().filter(|word| word.len() > 8 && !said.contains(word.as_str())) {
                prop_assert!(seen.insert(word));
            }
        }
    }
}

const SAID: &str = "mail jane.doe@example.com, SSN 536-22-8726";

#[test]
fn a_tweak_of_the_callers_own_is_all_that_counts() {
    let scopes = [SurrogateScope::default(), SurrogateScope::of(&key(), &[b"config", b"1"])];
    let [own, derived] =
        [Some(&b"abcd123"[..]), None].map(|tweak| scopes.map(|scope| text(fpe(tweak), SAID, &keys(scope)).0));
    assert_eq!(own[0], own[1]);
    assert_ne!(derived[0], derived[1]);
    let backs = scopes.map(|scope| {
        let (redacted, context) = text(fpe(None), SAID, &keys(scope));
        // As it is kept, by a program that knows of no scopes.
        FpeContext::from_bytes(context.to_bytes().expose()).unwrap().restorer(key()).text(&redacted).unwrap()
    });
    assert_eq!(backs, [SAID, SAID]);
}

/// Lets so many values pass, and keeps what it was shown.
struct Few(usize, Mutex<HashSet<String>>);

impl Count for Few {
    fn count(&self, value: &str) -> Result<(), QuotaExceeded> {
        let mut seen = self.1.lock().unwrap();
        if seen.len() == self.0 && !seen.contains(value) {
            return Err(QuotaExceeded { after: 9 });
        }
        seen.insert(value.to_owned());
        Ok(())
    }
}

#[test]
fn what_tells_a_value_again_is_counted_and_nothing_else() {
    let hashed = Method::Hash(Arc::new(Salted { digest: Digest::Sha256, salt: Secret::new(vec![1; 32]) }));
    let twice = format!("{SAID} {SAID}");
    let rows = [
        (Method::Encrypt, true),
        (fpe(None), true),
        (fpe(Some(b"abcd123")), true),
        (hashed, true),
        (Method::Mask, false),
        (Method::Replace, false),
        (Method::DetectOnly, false),
    ];
    for (method, counted) in rows {
        for most in [0, 1, 2] {
            let count = Arc::new(Few(most, Mutex::default()));
            let keys = Keys { quota: Quota::new(count.clone()), ..keys(SurrogateScope::default()) };
            let done = redactor(method.clone()).text(&twice, &keys, FindingLimits::default());
            let enough = !counted || most == 2;
            match done {
                Ok(_) => assert!(enough, "{method:?} {most}"),
                Err(error) => {
                    assert!(
                        !enough && error == RedactError::Spent(QuotaExceeded { after: 9 }),
                        "{method:?} {most}"
                    );
                }
            }
            if method == Method::Encrypt {
                let passed = live(&twice, 10, &keys);
                assert_eq!(passed.is_ok(), enough);
                assert!(enough || passed == Err(StreamError::Spent(QuotaExceeded { after: 9 })));
            }
            assert_eq!(count.1.lock().unwrap().len(), if counted { most } else { 0 });
        }
    }
}
