//! What was issued is restored and what else is found is redacted, in one window and however the text comes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::secret::Secret;
use crate::crypto::fpe::FpeKey;
use crate::edit::spliced;
use crate::redact::fixture::{keys, redactor};
use crate::redact::{
    AnswerTreatment, FindingLimits, IssuedToCaller, Keys, Method, PublicNameRules, Recall, RedactionCounts,
    Redactor, RequestWords, SurrogateMap,
};
use crate::stream::Editor;
use crate::stream::json::PathSet;

const MAIL: &str = "ingrid.olsen@fjord-mail.example.com";
const CARD: &str = "5425 2334 3010 9903";

/// What was issued for these values: the surrogates, and the way back.
fn issued(values: &[&str]) -> (Vec<String>, Arc<SurrogateMap>) {
    let text = values.join("\n");
    let redactor = redactor(Method::Encrypt);
    let (redacted, undo) = redactor.plain(text.as_bytes(), &keys(), FindingLimits::default()).unwrap();
    let text = String::from_utf8(redacted.into_value()).unwrap();
    (text.lines().map(str::to_owned).collect(), Arc::new(undo))
}

/// What becomes of an answer that comes in these pieces, and how much was restored and redacted.
fn answered(undo: &Arc<SurrogateMap>, pieces: &[&str]) -> (String, u64, u64) {
    answered_under(keys(), undo, pieces)
}

fn answered_under(keys: Keys, undo: &Arc<SurrogateMap>, pieces: &[&str]) -> (String, u64, u64) {
    answered_by(&redactor(Method::Mask), keys, undo, pieces)
}

fn answered_by(
    redactor: &Redactor,
    keys: Keys,
    undo: &Arc<SurrogateMap>,
    pieces: &[&str],
) -> (String, u64, u64) {
    let counts = Arc::new(RedactionCounts::new(1000));
    let restored = Arc::new(AtomicU64::new(0));
    let answering = AnswerTreatment::Both {
        undo: Arc::clone(undo),
        keys,
        counts: Arc::clone(&counts),
        restored: Arc::clone(&restored),
    };
    let mut editor = redactor.answer(answering);
    let mut edits = Vec::new();
    let mut decided = 0;
    for piece in pieces {
        let from = edits.len();
        let now = editor.feed(piece, &mut edits).unwrap();
        assert!(now >= decided && edits[from..].iter().all(|edit| edit.range.start >= decided));
        assert!(edits.iter().all(|edit| edit.range.end <= now), "an edit is beyond what is decided");
        decided = now;
    }
    editor.end(&mut edits).unwrap();
    let text = String::from_utf8(spliced(pieces.concat().as_bytes(), &edits)).unwrap();
    let redacted = counts.drain().into_iter().map(|(_, count)| count).sum();
    (text, restored.load(Ordering::Relaxed), redacted)
}

#[test]
fn what_a_model_says_of_nobody_stays_however_it_comes() {
    let redactor = redactor(Method::Mask);
    let rule = |name| redactor.rule(name);
    let public = PublicNameRules { places: rule("LOCATION"), persons: rule("PERSON") };
    let text = "Marie Curie was born in Warsaw, Poland. Maria Lopez lives in Gisborne, not in Paris, France.";
    let masked = text.replace("Maria Lopez", "***********").replace("Gisborne", "********");
    let said = |redactor: &Redactor, size: usize| {
        let answering = AnswerTreatment::Mask { keys: keys(), counts: Arc::new(RedactionCounts::new(1000)) };
        let (mut editor, mut edits) = (redactor.answer(answering), Vec::new());
        for piece in text.as_bytes().chunks(size) {
            editor.feed(str::from_utf8(piece).unwrap(), &mut edits).unwrap();
        }
        editor.end(&mut edits).unwrap();
        String::from_utf8(spliced(text.as_bytes(), &edits)).unwrap()
    };
    let lenient = redactor.clone().leaving(public);
    for size in 1..=text.len() {
        assert_eq!(said(&lenient, size), masked, "pieces of {size}");
    }
    assert!(!said(&redactor, 9).contains("Poland"), "only where it is asked for");
}

#[test]
fn what_was_issued_comes_back_and_what_was_not_does_not() {
    let (surrogates, undo) = issued(&[MAIL, CARD]);
    let (mail, card) = (surrogates[0].as_str(), surrogates[1].as_str());
    let hidden = |text: &str| "*".repeat(text.chars().count());
    let other = "jane.doe@example.org";
    let rows = [
        (format!("Write to {mail}."), format!("Write to {MAIL}."), 1, 0),
        (format!("Write to {other}, not {mail}!"), format!("Write to {}, not {MAIL}!", hidden(other)), 1, 1),
        (
            format!("{card} {card} 4111 1111 1111 1111"),
            format!("{CARD} {CARD} {}", hidden("4111 1111 1111 1111")),
            2,
            1,
        ),
        (format!("{mail},{other}"), format!("{MAIL},{}", hidden(other)), 1, 1),
        (format!("https://x.example/?to={mail}&n=1"), format!("https://x.example/?to={MAIL}&n=1"), 1, 0),
        // The caller's own value in the model's mouth is found by itself only where it was not issued.
        (format!("Not {MAIL}"), format!("Not {}", hidden(MAIL)), 0, 1),
        ("Order 1001, version 2.0.17.".to_owned(), "Order 1001, version 2.0.17.".to_owned(), 0, 0),
    ];
    for (said, want, restored, redacted) in &rows {
        assert_eq!(answered(&undo, &[said]), (want.clone(), *restored, *redacted), "{said}");
        for cut in (0..said.len()).filter(|cut| said.is_char_boundary(*cut)) {
            let (left, right) = said.split_at(cut);
            assert_eq!(answered(&undo, &[left, right]).0, *want, "cut at {cut}");
        }
        let single: Vec<String> = said.chars().map(String::from).collect();
        let single: Vec<&str> = single.iter().map(String::as_str).collect();
        assert_eq!(answered(&undo, &single), (want.clone(), *restored, *redacted), "one by one");
    }
}

/// No rule found it in the request, where no label stood before it; behind one in the answer it is still the caller's.
#[test]
fn what_the_caller_said_is_nothing_that_a_model_came_up_with() {
    let words = RequestWords::default();
    let asked =
        format!("Sw0rdfish-and-chips is what I chose, account 7, card {CARD}; now write 4471 99 20 down");
    let redacts = redactor(Method::Encrypt).with_request_words(words.clone());
    let (redacted, undo) = redacts.plain(asked.as_bytes(), &keys(), FindingLimits::default()).unwrap();
    assert_eq!(redacted.report().count(), 1, "the test has a value that is found in the request");
    let undo = Arc::new(undo);
    let answers = redactor(Method::Mask).letting_repeat(words);
    let rows = [
        ("password: Sw0rdfish-and-chips", "password: Sw0rdfish-and-chips"),
        ("password: Sw0rdFish-And-Chips.", "password: Sw0rdFish-And-Chips."),
        ("password: Sw0rdfish_and-chips", "password: *******************"),
        ("password: chips-and-Sw0rdfish", "password: *******************"),
        ("password: Sw0rdfish-and-chips7", "password: ********************"),
        // What was replaced was not said: the model cannot have it from here.
        ("card 5425 2334 3010 9903", "card *******************"),
    ];
    for (said, want) in rows {
        for cut in 0..=said.len() {
            let (left, right) = said.split_at(cut);
            assert_eq!(answered_by(&answers, keys(), &undo, &[left, right]).0, want, "{left}|{right}");
        }
        assert!(answered(&undo, &[said]).0.contains('*'), "without that it is masked: {said}");
    }
}

/// Its values are read one by one, and its reader sees all of it.
#[test]
fn what_a_document_in_a_string_says_was_said() {
    let words = RequestWords::default();
    let body = br#"{"content": "{\"cvv\": 314, \"pin\": 4711, \"mail\": \"jane.doe@example.com\"}"}"#;
    let redacts = redactor(Method::Encrypt).with_request_words(words.clone());
    let (redacted, undo) =
        redacts.document(body, &PathSet::everything(), &keys(), FindingLimits::default()).unwrap();
    assert_eq!(redacted.report().count(), 1, "numbers of documents stay numbers");
    let undo = Arc::new(undo);
    let answers = redactor(Method::Mask).letting_repeat(words);
    let said = r#"{"cvv": 314, "pin": 4711}"#;
    assert_eq!(answered_by(&answers, keys(), &undo, &[said]).0, said);
    assert!(answered(&undo, &[said]).0.contains('*'), "without that it is masked");
    assert!(
        answered_by(&answers, keys(), &undo, &[r#"{"cvv": 315}"#]).0.contains('*'),
        "another is invented"
    );
}

/// A tool that answers with an object says what its members are called.
#[test]
fn what_members_with_numbers_say_was_said() {
    let words = RequestWords::default();
    let body = br#"{"response":{"cvv":314,"ends":[4711],"mail":"jane.doe@example.com"}}"#;
    let redacts = redactor(Method::Encrypt).with_request_words(words.clone());
    let (_, undo) =
        redacts.document(body, &PathSet::everything(), &keys(), FindingLimits::default()).unwrap();
    let undo = Arc::new(undo);
    let answers = redactor(Method::Mask).letting_repeat(words);
    for said in [r#"{"cvv": 314}"#, r#"{"cvv":314}"#, "cvv: 314", "'cvv' : 314", "CVV: 314"] {
        assert_eq!(answered_by(&answers, keys(), &undo, &[said]).0, said);
        assert!(answered(&undo, &[said]).0.contains('*'), "without that it is masked: {said}");
    }
    for said in ["cvv: 315", "cvv: 471"] {
        assert!(answered_by(&answers, keys(), &undo, &[said]).0.contains('*'), "{said}");
    }
}

/// What may not pass may not be repeated either.
#[test]
fn what_is_blocked_in_answers_is_blocked_though_it_was_said() {
    let words = RequestWords::default();
    let redacts = redactor(Method::Encrypt).with_request_words(words.clone());
    redacts.plain(b"Sw0rdfish-and-chips", &keys(), FindingLimits::default()).unwrap();
    let answers = redactor(Method::Block).letting_repeat(words);
    let undo = Arc::new(SurrogateMap::nothing());
    let (counts, restored) = (Arc::new(RedactionCounts::new(1000)), Arc::default());
    let mut editor = answers.answer(AnswerTreatment::Both { undo, keys: keys(), counts, restored });
    let mut edits = Vec::new();
    let fed = editor.feed("password: Sw0rdfish-and-chips", &mut edits);
    assert!(fed.and_then(|_| editor.end(&mut edits)).is_err());
}

#[test]
fn with_nothing_issued_all_that_is_found_is_redacted() {
    let (_, undo) = issued(&[]);
    let (text, restored, redacted) = answered(&undo, &["Write to jane", ".doe@example.org now"]);
    assert_eq!((text.as_str(), restored, redacted), ("Write to ******************** now", 0, 1));
}

#[test]
fn every_surrogate_comes_back_wherever_it_is_cut() {
    for byte in 0..40 {
        let key = FpeKey::new(Secret::new(vec![byte; 32])).unwrap();
        let keys = Keys { fpe: Some(Arc::new(key)), ..keys() };
        for value in ["jane.doe@example.com", MAIL, CARD, "+1 212 736 5000", "401-53-2219"] {
            let text = format!("SSN, phone, card or mail: {value}");
            let redactor = redactor(Method::Encrypt);
            let (redacted, undo) = redactor.plain(text.as_bytes(), &keys, FindingLimits::default()).unwrap();
            let surrogate = String::from_utf8(redacted.into_value()).unwrap().split_off(26);
            assert_ne!(surrogate, value);
            let undo = Arc::new(undo);
            for cut in 0..=surrogate.len() {
                let (left, right) = surrogate.split_at(cut);
                assert_eq!(answered(&undo, &[left, right]).0, value, "{left}|{right}");
            }
        }
    }
}

#[test]
fn what_the_caller_has_had_of_us_passes_in_an_answer() {
    struct Had(Vec<u8>);

    impl IssuedToCaller for Had {
        fn has(&self, canonical: &[u8]) -> bool {
            canonical == self.0
        }

        fn add(&self, _: &[u8]) {}
    }

    let (earlier, _) = issued(&[CARD]);
    let (_, undo) = issued(&[]);
    let digits = earlier[0].replace(' ', "").into_bytes();
    let recall = Recall { caller: Some(Arc::new(Had(digits))), conversation: None };
    let said = format!("You wrote {}, and I say 4111 1111 1111 1111.", earlier[0]);
    let want = format!("You wrote {}, and I say *******************.", earlier[0]);
    assert_eq!(answered_under(Keys { recall, ..keys() }, &undo, &[&said]), (want, 0, 1));
}
