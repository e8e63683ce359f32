//! What redaction costs a chat request: `cargo bench --bench redaction`. Prints the best of several rounds, in
//! microseconds an operation and in MB/s; nothing here fails on a slow machine.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and ends where something is wrong"
)]

use std::hint::black_box;
use std::sync::Arc;

use bytes::BytesMut;
use portcullis::base::budget::MemoryBudget;
use portcullis::base::clock::{Clock, SystemClock};
use portcullis::base::secret::Secret;
use portcullis::crypto::fpe::FpeKey;
use portcullis::detect::{Catalogue, Detector, RuleSelection};
use portcullis::redact::{AnswerEditor, FindingLimits, Keys, Method, MethodPlan, RedactionCounts, Redactor};
use portcullis::stream::Editor;
use portcullis::stream::json::{EditorSlots, JsonSlots, PathSet};
use portcullis::stream::{Rewriter, TextBody};

const ROUNDS: usize = 7;

/// The best round's seconds for one call of `work`.
fn best(calls: usize, mut work: impl FnMut()) -> f64 {
    let clock = SystemClock;
    let round = |work: &mut dyn FnMut()| {
        let start = clock.instant();
        for _ in 0..calls {
            work();
        }
        clock.instant().duration_since(start).as_secs_f64() / calls as f64
    };
    (0..ROUNDS).map(|_| round(&mut work)).fold(f64::INFINITY, f64::min)
}

fn show(what: &str, bytes: usize, seconds: f64) {
    println!("{what:<44} {:>9.2} us {:>9.0} MB/s", seconds * 1e6, bytes as f64 / seconds / 1e6);
}

fn request() -> Vec<u8> {
    let pad = "The quick brown fox jumps over the lazy dog. ".repeat(16);
    format!(
        r#"{{"model":"bench","messages":[{{"role":"system","content":"You are a help desk."}},{{"role":"user","content":"{pad}EMAIL: maria.lopez@corp-mail.example.com | PHONE: +1 415 555 2671 | SSN: 536-90-4399 | CARD: 4111 1111 1111 1111 | Order 1001."}}]}}"#
    )
    .into_bytes()
}

/// Texts that are nothing but what forms of surrogates are made of, with few issued and with many: a byte must cost the
/// same in all.
fn restored_forms(redactor: &Redactor, keys: &Keys) {
    let value = |n: u32| match n % 3 {
        0 => format!("jane.doe{n}@corp-mail.example.com"),
        1 => format!("+1 415 {:03} {:04}", 200 + n % 700, n),
        _ => format!("10.{}.{}.7", n / 200, n % 200),
    };
    for count in [10, 10_000] {
        let values: Vec<String> = (0..count).map(value).collect();
        let text = values.join("\n");
        let (redacted, undo) =
            redactor.plain(text.as_bytes(), keys, FindingLimits::default()).expect("redacted");
        let (redacted, undo) = (String::from_utf8(redacted.into_value()).expect("text"), Arc::new(undo));
        let email = redacted.lines().next().unwrap_or_default();
        let begun = email.get(..email.len() - 1).unwrap_or_default();
        for unit in [
            "1 4",
            "1 ",
            "+1",
            "(1",
            "a",
            "%",
            "%31",
            "&",
            "&#49;",
            "\\u0031",
            "1\u{ad}",
            "1*",
            "xxxx ",
            "ending in 1",
            begun,
        ] {
            let text = unit.repeat((256 << 10) / unit.len());
            let work = || {
                let mut edits = Vec::new();
                let mut answer = AnswerEditor::restore(Arc::clone(&undo));
                answer.feed(&text, &mut edits).and_then(|_| answer.end(&mut edits)).expect("restored");
                edits
            };
            let shown: String = unit.escape_default().take(24).collect();
            show(
                &format!("restore, {count} issued, run of {shown}"),
                text.len(),
                best(1, || drop(black_box(work()))),
            );
        }
    }
}

fn main() {
    let catalogue = Catalogue::builtin().expect("the built-in rules load");
    let detector = Detector::new(&catalogue, &RuleSelection::defaults(&catalogue)).expect("an engine");
    let key = FpeKey::new(Secret::new(vec![7; 32])).expect("a key");
    let keys = Keys { fpe: Some(Arc::new(key)), tenant: Arc::from("bench"), ..Keys::default() };
    let body = request();
    let text = String::from_utf8(body.clone()).expect("text");
    let encrypt = Redactor::new(detector.clone(), MethodPlan::all(Method::Encrypt));
    let everything = PathSet::everything();

    let mut cache = detector.cache();
    let find = || drop(black_box(detector.find_with(&mut cache, &text)));
    show("find, chat request", body.len(), best(2000, find));
    let document = || encrypt.document(&body, &everything, &keys, FindingLimits::default()).expect("JSON");
    show("document, four values encrypted", body.len(), best(2000, || drop(black_box(document()))));
    let (redacted, undo) = document();
    let (answer, undo) = (String::from_utf8(redacted.into_value()).expect("text"), Arc::new(undo));
    let restore = || {
        let mut out = BytesMut::new();
        let slots = EditorSlots::new(AnswerEditor::restore(Arc::clone(&undo)), PathSet::everything());
        let mut rewriter = JsonSlots::new(slots, &MemoryBudget::unlimited());
        rewriter
            .write(answer.as_bytes(), &mut out)
            .and_then(|()| rewriter.finish(&mut out))
            .expect("rewritten");
        out
    };
    show("restore, four values", answer.len(), best(2000, || drop(black_box(restore()))));

    restored_forms(&encrypt, &keys);
    let prose = "The quick brown fox jumps over the lazy dog, and nobody minds. ".repeat(16_000);
    let counts = Arc::new(RedactionCounts::new(detector.rule_count()));
    let mask = Redactor::new(detector.clone(), MethodPlan::all(Method::Mask));
    let stream = |piece: usize| {
        let mut body =
            TextBody::new(mask.live(&Keys::default(), Arc::clone(&counts)), &MemoryBudget::unlimited());
        let mut out = BytesMut::new();
        for chunk in prose.as_bytes().chunks(piece) {
            body.write(chunk, &mut out).expect("rewritten");
            out.clear();
        }
        body.finish(&mut out).expect("rewritten");
    };
    show(
        "find, prose without findings",
        prose.len(),
        best(5, || drop(black_box(detector.find_with(&mut cache, &prose)))),
    );
    show("mask a text stream, 16 KiB pieces", prose.len(), best(5, || stream(16 << 10)));
    show("mask a text stream, 40 byte pieces", prose.len(), best(2, || stream(40)));
    let number = [5u16; 9];
    let fpe = keys.fpe.as_ref().expect("a key");
    let ff1 = || {
        let mut symbols = number;
        fpe.encrypt(10, b"tweak", &mut symbols).expect("in the domain");
        symbols
    };
    show(
        "FF1, nine digits",
        number.len(),
        best(20_000, || {
            black_box(ff1());
        }),
    );
    let long = [5u16; 120];
    let by_crate = || {
        let mut symbols = long;
        fpe.encrypt(62, b"tweak", &mut symbols).expect("in the domain");
        symbols
    };
    show(
        "FF1, 120 symbols (fpe crate)",
        long.len(),
        best(2000, || {
            black_box(by_crate());
        }),
    );
}
