//! Strings that pass are edited as those that lie there, however they are cut.

use data_encoding::BASE64;
use proptest::prelude::*;

use super::*;
use crate::base::budget::MemoryBudget;
use crate::edit::spliced;
use crate::redact::fixture;
use crate::redact::opaque::tests::noise;
use crate::redact::{AnswerEditor, AnswerTreatment, FindingLimits, Keys, Method, RedactionCounts, Redactor};
use crate::stream::Rewriter;
use crate::stream::json::{EditorSlots, JsonSlots, PathSet};

const MAIL: &str = "jane.doe@harbour-post.com";

fn redactor() -> Redactor {
    fixture::redactor(Method::Replace)
}

/// An editor that masks, and counts in `unread` what nobody read.
fn answer(unread: &Arc<AtomicU64>) -> AnswerEditor {
    let mask = AnswerTreatment::Mask { keys: Keys::default(), counts: Arc::new(RedactionCounts::new(2000)) };
    redactor().answer(mask).counting(Arc::clone(unread))
}

/// A document as it passes, in pieces of `size`, and how many of its strings nobody read.
fn passed(doc: &str, size: usize) -> (String, u64) {
    let unread = Arc::new(AtomicU64::new(0));
    let slots = EditorSlots::new(answer(&unread), PathSet::everything()).with_keys_and_numbers();
    let mut body = JsonSlots::new(slots, &MemoryBudget::unlimited());
    let mut out = bytes::BytesMut::new();
    for piece in doc.as_bytes().chunks(size) {
        body.write(piece, &mut out).unwrap();
    }
    body.finish(&mut out).unwrap();
    (String::from_utf8(out.to_vec()).unwrap(), unread.load(Ordering::Relaxed))
}

/// The same as it lies there.
fn collected(doc: &str) -> (String, u64) {
    let everything = PathSet::everything();
    let (done, _) =
        redactor().document(doc.as_bytes(), &everything, &Keys::default(), FindingLimits::default()).unwrap();
    let unread = done.report().unscanned() as u64;
    (String::from_utf8(done.into_value()).unwrap(), unread)
}

fn documents() -> Vec<String> {
    let text = BASE64.encode(format!("write to {MAIL}, please").as_bytes());
    let long = BASE64.encode(format!("write to {MAIL}, please; ").repeat(900).as_bytes());
    let jpeg = |length| BASE64.encode(&[&b"\xff\xd8\xff\xe0"[..], &noise(length)].concat());
    let seal = BASE64.encode(&noise(300));
    let json = BASE64.encode(br#"{"to":"jane.doe\u0040harbour-post.com"}"#);
    let all = [
        format!(r#"{{"a":"{text}"}}"#),
        format!(r#"{{"a":" {text} ","b":"{MAIL}"}}"#),
        format!(r#"{{"a":"{}"}}"#, BASE64.encode(text.as_bytes())),
        format!(r#"{{"a":"{json}"}}"#),
        format!(r#"{{"a":"{long}","b":"{MAIL}"}}"#),
        format!(r#"{{"a":"data:;base64,{text}"}}"#),
        format!(r#"{{"a":"data:;base64,{long}"}}"#),
        r#"{"a":"data:text/plain,jane.doe%40harbour-post.com"}"#.to_owned(),
        format!(r#"{{"a":"data:image/png;base64,{MAIL}"}}"#),
        format!(r#"{{"a":"{}","b":"{}"}}"#, jpeg(100), jpeg(40_000)),
        format!(r#"{{"a":"data:image/jpeg;base64,{}","b":"{seal}"}}"#, jpeg(40_000)),
        format!(r#"{{"signature":"{seal}","b":["{}"]}}"#, BASE64.encode(&noise(40_000))),
        format!(r#"["{MAIL}","data","data:","da","wJalrXUtnFEMI K7MDENG",4111111111111111,"a.{text}"]"#),
        format!(r#"["Hello {MAIL}","call_Zk3Jx91LmQpV8sTn2Rw7Yb4K","d","","data:{MAIL}"]"#),
        format!(r#"{{"password":"hunter2hunter2hunter2","secret":"{text}"}}"#),
    ];
    all.to_vec()
}

#[test]
fn what_passes_is_read_as_what_lies_there() {
    for doc in documents() {
        let expected = collected(&doc);
        for size in [1, 7, 1000, 8192, doc.len()] {
            let got = passed(&doc, size);
            assert!(got == expected, "{size}: {doc:.200}\n{:.300}\n{:.300}", got.0, expected.0);
        }
        assert!(!expected.0.contains(MAIL));
    }
}

#[test]
fn text_behind_bytes_is_read() {
    let noise = BASE64.encode(&noise(30_000));
    for behind in [format!(" {MAIL}"), format!(", {MAIL}"), "\\n4111 1111 1111 1111".to_owned()] {
        let doc = format!(r#"{{"a":"{noise}{behind}"}}"#);
        for size in [1, 5000, doc.len()] {
            let (out, unread) = passed(&doc, size);
            assert!(unread == 1 && !out.contains(MAIL) && !out.contains("4111 1111"), "{size} {behind}");
            assert!(out.contains(noise.get(..39_000).unwrap()));
        }
    }
}

#[test]
fn prose_is_held_to_its_first_space_only() {
    let mut editor =
        redactor().answer(AnswerTreatment::Restore(Arc::new(crate::redact::SurrogateMap::nothing())));
    let mut held = 0;
    let doc = br#"["Hello there"]"#;
    crate::stream::json::walk(doc, &mut |path, _| {
        editor.under(Some(path));
        held = editor.feed("Hello", &mut Vec::new()).unwrap();
        assert_eq!(held, 0);
        held = editor.feed(" there", &mut Vec::new()).unwrap();
    })
    .unwrap();
    assert_eq!(held, 11);
}

#[test]
fn a_text_in_base64_that_is_too_long_is_refused() {
    let mut editor =
        redactor().answer(AnswerTreatment::Restore(Arc::new(crate::redact::SurrogateMap::nothing())));
    let text = BASE64.encode("nothing to be found here, ".repeat(1000).as_bytes());
    let mut outcome = Ok(0);
    crate::stream::json::walk(br#"["x"]"#, &mut |path, _| {
        editor.under(Some(path));
        for _ in 0..(MOST / text.len() + 2) {
            outcome = outcome.clone().and_then(|_| editor.feed(&text, &mut Vec::new()));
        }
    })
    .unwrap();
    assert_eq!(outcome, Err(StreamError::TooLarge { unit: "text in base64", limit: MOST }));
}

/// What the editor makes of a string that comes in these pieces.
fn edited(pieces: &[&str]) -> String {
    let mask = AnswerTreatment::Mask { keys: Keys::default(), counts: Arc::new(RedactionCounts::new(2000)) };
    let mut editor = redactor().answer(mask);
    let mut edits = Vec::new();
    crate::stream::json::walk(br#"["x"]"#, &mut |path, _| {
        editor.under(Some(path));
        let mut decided = 0;
        for piece in pieces {
            let before = edits.len();
            let more = editor.feed(piece, &mut edits).unwrap();
            assert!(more >= decided && edits[before..].iter().all(|edit| edit.range.end <= more));
            assert!(edits[before..].iter().all(|edit| edit.range.start >= decided));
            decided = more;
        }
        editor.end(&mut edits).unwrap();
    })
    .unwrap();
    String::from_utf8(spliced(pieces.concat().as_bytes(), &edits)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn cuts_cannot_be_seen(
        lead in "( ?)|(data:,)|(data:;base64,)|(DaTa:x;base64,)",
        length in 0_usize..12_000,
        readable in any::<bool>(),
        tail in "(=?)|( jane@ab\\.de)|([A-Za-z0-9+/ ,%@.ü-]{0,40})",
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..6),
    ) {
        let bytes = if readable { b"ask jane@ab.de, ".repeat(length / 16) } else { noise(length) };
        let text = format!("{lead}{}{tail}", BASE64.encode(&bytes));
        let mut at: Vec<usize> = cuts.iter().map(|cut| text.floor_char_boundary(cut.index(text.len() + 1))).collect();
        at.sort_unstable();
        let mut pieces = Vec::new();
        let mut from = 0;
        for to in at.into_iter().chain([text.len()]) {
            pieces.push(text.get(from..to).unwrap());
            from = to;
        }
        prop_assert_eq!(edited(&pieces), edited(&[&text]));
    }
}

#[test]
fn numbers_of_records_are_no_cards() {
    let stays = |doc: &str| {
        let stays = collected(doc).0 == doc;
        for size in [1, 7, 1000] {
            assert_eq!(passed(doc, size).0 == doc, stays, "{doc}");
        }
        let mut edits = Vec::new();
        Embedded::new(answer(&Arc::default())).last(doc, &mut edits).unwrap();
        assert_eq!(edits.is_empty(), stays, "{doc}");
        stays
    };
    for doc in [
        r#"{"points": [{"id": 5082513832886728665}]}"#,
        r#"{"ids": [5082513832886728665, 5082513832886728665]}"#,
        r#"{"pointId": 5082513832886728665}"#,
        r#"{"next_page_offset": 5082513832886728665}"#,
    ] {
        assert!(stays(doc), "{doc}");
    }
    for doc in [
        r#"{"number": 4111111111111111}"#,
        r#"{"id": 4111111111111111}"#,
        r#"{"card": {"id": 5082513832886728665}}"#,
        r#"{"panId": 5082513832886728665}"#,
        r#"{"tarjeta_id": 5082513832886728665}"#,
        r#"{"pan": 4111111111111111}"#,
        r#"{"card_id": 4111111111111111}"#,
        r#"{"id": "4111111111111111"}"#,
        r#"{"paid": 4111111111111111}"#,
        r#"{"id": 5082513832886728665, "text": "5082513832886728665"}"#,
        r#"{"id": 5082513832886728665, "number": 4111111111111111}"#,
    ] {
        assert!(!stays(doc), "{doc}");
    }
}
