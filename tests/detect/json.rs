//! What is found in a text is found in it as a string of a JSON document, however it is escaped and cut.

use std::fmt::Write;
use std::sync::Arc;

use bytes::BytesMut;
use data_encoding::BASE64;
use portcullis::base::budget::MemoryBudget;
use portcullis::redact::{FindingLimits, Keys, Method, MethodPlan, RedactionCounts, Redactor};
use portcullis::stream::Rewriter;
use portcullis::stream::json::{EditorSlots, JsonSlots, PathSet};
use serde_json::Value;

use crate::corpora::{Dice, Sample, detector, samples};

/// A document with the text as its one string; `escaped` characters of ten are written as `\u`.
fn document(text: &str, escaped: usize, dice: &mut Dice) -> String {
    let mut doc = String::from("{\"role\":[null,\"");
    for c in text.chars() {
        match c {
            '"' | '\\' if escaped < 10 => doc.extend(['\\', c]),
            _ if c >= ' ' && dice.below(10) >= escaped => doc.push(c),
            _ => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| write!(doc, "\\u{unit:04x}").unwrap()),
        }
    }
    doc + "\"]}"
}

/// The document's one string.
fn string(doc: &[u8]) -> String {
    let doc: Value = serde_json::from_slice(doc).unwrap();
    doc["role"][1].as_str().unwrap().to_owned()
}

/// Whether a document's strings are opened as JSON themselves, or what in them is text in base64: then other texts are looked
/// at.
fn opens(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '/' | '='));
    let is_text = |word: &str| BASE64.decode(word.as_bytes()).is_ok_and(|bytes| bytes.is_ascii());
    text.trim_start().starts_with(['{', '[', '"']) || words.filter(|word| word.len() >= 20).any(is_text)
}

/// Whether a text may have escapes of its own. They are undone where all of it lies there, not where it passes.
fn has_escapes(text: &str) -> bool {
    text.contains(['%', '\\', '&'])
}

#[test]
fn a_string_of_a_document_is_redacted_like_the_text_it_spells() {
    let redactor = Redactor::new(detector(), MethodPlan::all(Method::Mask));
    let keys = Keys::default();
    let mut wrong = Vec::new();
    for Sample { id, text } in samples(1500).into_iter().filter(|sample| !has_escapes(&sample.text)) {
        let mut dice = Dice::of(&text);
        let expected = redactor.text(&text, &keys, FindingLimits::default()).unwrap().0.into_value();
        for escaped in [0, 3, 10] {
            let doc = document(&text, escaped, &mut dice);
            assert_eq!(string(doc.as_bytes()), text, "the test spells it right");
            let counts = Arc::new(RedactionCounts::new(detector().rule_count()));
            let slots = EditorSlots::new(redactor.live(&keys, counts), PathSet::everything());
            let mut rewriter = JsonSlots::new(slots, &MemoryBudget::unlimited());
            let (mut out, mut rest) = (BytesMut::new(), doc.as_bytes());
            while !rest.is_empty() {
                let (piece, tail) = rest.split_at((1 + dice.below(40)).min(rest.len()));
                rewriter.write(piece, &mut out).unwrap();
                rest = tail;
            }
            rewriter.finish(&mut out).unwrap();
            if string(&out) != expected {
                wrong.push(format!("{id}, {escaped} of 10 escaped"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} texts:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_string_of_a_document_has_the_findings_of_the_text_it_spells() {
    let detector = detector();
    let redactor = Redactor::new(detector.clone(), MethodPlan::all(Method::DetectOnly));
    let mut cache = detector.cache();
    for Sample { id, text } in
        samples(1500).iter().filter(|sample| !opens(&sample.text) && !has_escapes(&sample.text))
    {
        let doc = document(text, 3, &mut Dice::of(text));
        let everything = PathSet::everything();
        let (redacted, _) = redactor
            .document(doc.as_bytes(), &everything, &Keys::default(), FindingLimits::default())
            .unwrap();
        assert!(redacted.value() == doc.as_bytes(), "nothing is replaced");
        let found = redacted.report().findings().iter().map(|one| (one.rule, one.span, one.score, one.near));
        let whole = detector.find_with(&mut cache, text);
        let whole = whole.iter().map(|one| (one.rule, one.span, one.score, one.near));
        assert!(found.eq(whole), "{id}");
    }
}
