//! What is fuzzed: plain functions from bytes to laws that must hold, so that the kept corpus is also run by a test
//! that needs no fuzzer.

#[cfg(feature = "server")]
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use bytes::BytesMut;
use portcullis::base::budget::MemoryBudget;
use portcullis::base::secret::Secret;
#[cfg(feature = "server")]
use portcullis::config;
use portcullis::crypto::fpe::FpeKey;
use portcullis::detect::{Catalogue, Detector, Finding, RuleSelection, Score, WIDEST};
use portcullis::redact::{
    AnswerEditor, Content, FindingLimits, Keys, Method, MethodPlan, RedactionCounts, Redactor, SurrogateMap,
};
use portcullis::stream::amazon::{AmazonEventStream, EventStreamMessage, write_header, write_message};
use portcullis::stream::formatted::{FormattedBody, TextFormat};
use portcullis::stream::json::{EditorSlots, JsonSlots, PathSet};
use portcullis::stream::sse::Sse;
use portcullis::stream::websocket::{FrameReader, Incoming, Sender};
use portcullis::stream::{Editor, GenericEvents, GenericMessages, Rewriter, StreamError, TextBody};

#[cfg(feature = "server")]
#[path = "protocols.rs"]
mod protocols;

/// A name and its function.
pub(crate) type Entry = (&'static str, fn(&[u8]));

/// Every entry point; a name is its target's and its corpus folder's.
pub(crate) const ENTRIES: &[Entry] = &[
    ("detector", detector),
    ("cost", cost),
    ("rules", rules),
    ("json", json),
    ("sse", sse),
    ("formatted", formatted),
    ("websocket", websocket),
    ("amazon", amazon),
    #[cfg(feature = "server")]
    ("config", config),
    #[cfg(feature = "server")]
    ("protocols", protocols::protocols),
    ("restore", restore),
    ("ff1", ff1),
];

/// Runs one of them.
pub(crate) fn run(name: &str, data: &[u8]) {
    ENTRIES.iter().filter(|(entry, _)| *entry == name).for_each(|(_, entry)| entry(data));
}

/// All built-in rules, and two of an operator.
fn all() -> Detector {
    static BUILT: OnceLock<Detector> = OnceLock::new();
    let own = "[[rule]]\nname = 'FUZZ_ID'\npatterns = [{ regex = '\\bFUZZ-\\d{4}\\b' }]\n\
               [[rule]]\nname = 'FUZZ_NOTE'\nreach = 64\npatterns = [{ regex = '<note>[^<]+</note>' }]";
    let build = || {
        let mut catalogue = Catalogue::builtin().unwrap();
        catalogue.extend(own, "own rules").unwrap();
        Detector::new(&catalogue, &RuleSelection::all(&catalogue)).unwrap()
    };
    BUILT.get_or_init(build).clone()
}

fn keys() -> Keys {
    static KEYS: OnceLock<Keys> = OnceLock::new();
    let make = || {
        let key = FpeKey::new(Secret::new((0..32).collect())).unwrap();
        Keys { fpe: Some(Arc::new(key)), tenant: Arc::from("fuzz"), ..Keys::default() }
    };
    KEYS.get_or_init(make).clone()
}

/// The bytes that say how the rest is cut, and the rest.
fn dice(data: &[u8]) -> (u64, &[u8]) {
    data.split_first_chunk::<4>().map_or((0, data), |(dice, rest)| (u32::from_le_bytes(*dice).into(), rest))
}

/// Cuts `len` into pieces: nearly always short ones, as the first dice say how long they may be.
fn lengths(mut dice: u64, len: usize) -> Vec<usize> {
    let most = 1 + (dice % 61) as usize;
    let (mut all, mut sum) = (Vec::new(), 0);
    while sum < len {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let piece = (1 + (dice >> 33) as usize % most).min(len - sum);
        all.push(piece);
        sum += piece;
    }
    all
}

/// Findings of a scanner that is held to its promises on the way.
fn scanned(detector: &Detector, text: &str, dice: u64) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    let mut scanner = detector.scanner();
    let (mut from, mut to, mut decided) = (0, 0, 0);
    for length in lengths(dice, text.len()) {
        to += length;
        let Some(piece) = text.get(from..to) else { continue };
        from = to;
        let known = findings.len();
        let now = scanner.feed(piece, &mut |finding| findings.push(finding));
        assert!(decided <= now && now <= to && text.is_char_boundary(now), "decided {now} after {decided}");
        assert!(findings[known..].iter().all(|one| decided <= one.span.start && one.span.end <= now));
        assert!(scanner.held() <= detector.reach() * WIDEST, "{} held", scanner.held());
        decided = now;
    }
    if let Some(piece) = text.get(from..) {
        scanner.feed(piece, &mut |finding| findings.push(finding));
    }
    scanner.end(&mut |finding| findings.push(finding));
    findings
}

/// A whole text and a stream give the same findings, at the rules' thresholds and at none.
fn detector(data: &[u8]) {
    let (dice, rest) = dice(data);
    let text = String::from_utf8_lossy(rest);
    for detector in [all(), all().at_least(Score::new(0.0))] {
        let whole = detector.find(&text);
        assert!(whole.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start));
        assert!(
            whole.iter().all(|one| text.get(one.span.start..one.span.end).is_some_and(|v| !v.is_empty()))
        );
        assert_eq!(scanned(&detector, &text, dice), whole);
        let candidates = detector.candidates_with(&mut detector.cache(), &text);
        assert!(candidates.iter().all(|one| text.get(one.span.start..one.span.end).is_some()));
    }
}

/// The most steps that a byte of a text may cost: what the fuzzer is to beat.
const MOST_STEPS: usize = 128;

/// No unit is so dear that a text of nothing else takes more than so many steps a byte.
fn cost(data: &[u8]) {
    let unit = String::from_utf8_lossy(data.get(..512).unwrap_or(data));
    if unit.is_empty() {
        return;
    }
    let text = unit.repeat(8192 / unit.len() + 1);
    let mut cache = all().cache();
    all().find_with(&mut cache, &text);
    assert!(cache.steps() <= MOST_STEPS * text.len(), "{} steps for {} bytes", cache.steps(), text.len());
}

/// Whatever an operator writes loads or is refused; what loads keeps the law of splits.
fn rules(data: &[u8]) {
    let (dice, rest) = dice(data);
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let mut catalogue = Catalogue::empty();
    if let Err(errors) = catalogue.extend(text, "fuzz.toml") {
        assert!(!errors.is_empty());
        errors.iter().for_each(|error| drop(error.to_string()));
        return;
    }
    let Ok(detector) = Detector::new(&catalogue, &RuleSelection::all(&catalogue)) else { return };
    let whole = detector.find(text);
    assert_eq!(scanned(&detector, text, dice), whole);
}

fn masking() -> Box<dyn Editor> {
    let redactor = Redactor::new(all(), MethodPlan::all(Method::Replace));
    Box::new(redactor.live(&keys(), Arc::new(RedactionCounts::new(all().rule_count()))))
}

/// The rewriter's output; its budget must be given back.
fn rewritten(
    make: impl Fn(Box<dyn Editor>, &MemoryBudget) -> Box<dyn Rewriter>,
    body: &[u8],
    dice: Option<u64>,
) -> Vec<u8> {
    let budget = MemoryBudget::process(1 << 30);
    let mut rewriter = make(masking(), &budget);
    let mut out = BytesMut::new();
    let mut rest = body;
    for length in dice.map_or_else(|| vec![body.len()], |dice| lengths(dice, body.len())) {
        let (piece, tail) = rest.split_at(length);
        rewriter.write(piece, &mut out).unwrap();
        assert!(budget.used() >= rewriter.held(), "held without a charge");
        rest = tail;
    }
    rewriter.finish(&mut out).unwrap();
    assert_eq!((rewriter.held(), budget.used()), (0, 0));
    out.to_vec()
}

fn slots(editor: Box<dyn Editor>, budget: &MemoryBudget) -> Box<dyn Rewriter> {
    let slots = EditorSlots::new(editor, PathSet::everything()).with_keys_and_numbers();
    Box::new(JsonSlots::new(slots, budget))
}

/// JSON stays JSON whatever is replaced in it, chunking is invisible, and a document comes back from its surrogates.
fn json(data: &[u8]) {
    let (dice, body) = dice(data);
    let whole = rewritten(slots, body, None);
    assert!(rewritten(slots, body, Some(dice)) == whole, "cut");
    let good = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).is_ok();
    if !good(body) {
        return;
    }
    assert!(good(&whole), "no longer JSON");
    let redactor = Redactor::new(all(), MethodPlan::all(Method::Encrypt));
    let everything = PathSet::everything();
    let Ok((redacted, undo)) = redactor.document(body, &everything, &keys(), FindingLimits::default()) else {
        return;
    };
    assert!(good(redacted.value()), "the redacted document is no longer JSON");
    let undo = Arc::new(undo);
    let back = redactor.document(redacted.value(), &everything, &keys(), FindingLimits::default());
    assert!(back.is_ok(), "what was redacted can be redacted again");
    assert_eq!(undo.is_empty(), redacted.report().count() == 0);
}

/// Tables and markup: chunking is invisible, what nobody changes stays, and what was redacted can be redacted again.
fn formatted(data: &[u8]) {
    let (dice, body) = dice(data);
    const FORMATS: [TextFormat; 4] = [TextFormat::Csv, TextFormat::Tsv, TextFormat::Xml, TextFormat::Html];
    for format in FORMATS {
        let make = |editor: Box<dyn Editor>, budget: &MemoryBudget| -> Box<dyn Rewriter> {
            Box::new(FormattedBody::new(format, editor, budget))
        };
        assert!(rewritten(make, body, Some(dice)) == rewritten(make, body, None), "cut");
    }
    let redactor = Redactor::new(all(), MethodPlan::all(Method::Encrypt));
    for format in FORMATS {
        let content = Content::Formatted(format);
        let Ok((redacted, undo)) = redactor.content(body, &content, &keys(), FindingLimits::default()) else {
            continue;
        };
        assert!(redacted.report().count() > 0 || redacted.value() == body, "what nobody changed");
        let again = redactor.content(redacted.value(), &content, &keys(), FindingLimits::default());
        assert!(again.is_ok() || undo.is_empty(), "what was redacted can be redacted again");
    }
}

/// Any chunking gives the same messages.
fn websocket(data: &[u8]) {
    let (dice, body) = dice(data);
    for sender in [Sender::Client, Sender::Server] {
        let read = |lengths: &[usize]| {
            let budget = MemoryBudget::process(1 << 30);
            let mut reader = FrameReader::new(sender, 1 << 16, &budget);
            let (mut all, mut from, mut over) = (Vec::new(), 0, false);
            for length in lengths {
                reader.push(&body[from..from + length]).unwrap();
                from += length;
                while !over {
                    match reader.read() {
                        Ok(None) => break,
                        Ok(Some(Incoming::Message(message))) => {
                            all.push((format!("{:?}", message.kind), message.payload.clone()));
                        }
                        Ok(Some(Incoming::Control(control))) => {
                            all.push((format!("{:?}", control.kind), control.payload));
                        }
                        Err(violation) => {
                            over = true;
                            all.push((violation.code().to_string(), Vec::new()));
                        }
                    }
                }
                assert!(budget.used() >= reader.held());
            }
            all
        };
        assert!(read(&lengths(dice, body.len())) == read(&[body.len()]));
    }
}

/// Event streams: chunking is invisible.
fn sse(data: &[u8]) {
    let (dice, body) = dice(data);
    let make: fn(Box<dyn Editor>, &MemoryBudget) -> Box<dyn Rewriter> =
        |editor, budget| Box::new(Sse::new(GenericEvents::new(editor), 1 << 20, budget));
    assert!(rewritten(make, body, Some(dice)) == rewritten(make, body, None));
}

/// What comes of an Amazon event stream in pieces, up to what is wrong with it.
fn messages(body: &[u8], lengths: Vec<usize>) -> (Vec<u8>, Result<(), StreamError>) {
    let budget = MemoryBudget::process(1 << 30);
    let mut stream = AmazonEventStream::new(GenericMessages::new(masking()), 1 << 20, &budget);
    let (mut out, mut rest) = (BytesMut::new(), body);
    let run = || {
        for length in lengths {
            let (piece, tail) = rest.split_at(length);
            stream.write(piece, &mut out)?;
            assert!(budget.used() >= stream.held(), "held without a charge");
            rest = tail;
        }
        stream.finish(&mut out)
    };
    let result = run();
    (out.to_vec(), result)
}

/// Amazon event streams: bytes as they are, which are hardly ever messages, and each line as one with good sums. Chunking is
/// invisible, also where something is wrong; what leaves can be read.
fn amazon(data: &[u8]) {
    let (dice, body) = dice(data);
    assert!(messages(body, lengths(dice, body.len())) == messages(body, vec![body.len()]), "as they are");
    let mut stream = BytesMut::new();
    for line in body.split(|byte| *byte == b'\n') {
        let (name, payload) = line.split_at(line.iter().position(|byte| *byte == b' ').unwrap_or(0));
        let mut headers = Vec::new();
        write_header(":event-type", &String::from_utf8_lossy(name), &mut headers);
        // Headers of any types and lengths.
        headers.extend_from_slice(name);
        write_message(&headers, payload, &mut stream).unwrap();
    }
    let whole = messages(&stream, vec![stream.len()]);
    assert!(messages(&stream, lengths(dice, stream.len())) == whole, "as messages");
    let mut rest = &whole.0[..];
    while let Some(length) = rest.first_chunk::<4>() {
        let (message, more) = rest.split_at(u32::from_be_bytes(*length) as usize);
        assert!(EventStreamMessage::parse(message).is_ok());
        rest = more;
    }
}

/// A configuration loads or says what is wrong with it, and where.
#[cfg(feature = "server")]
fn config(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let env = BTreeMap::from([("SET".to_owned(), "hunter2".to_owned())]);
    let Ok(rules) = Catalogue::builtin() else { return };
    if let Err(problems) = config::parse(text, "fuzz.toml", &env, &rules) {
        assert!(problems.iter().count() > 0);
        problems.iter().for_each(|problem| drop(problem.to_string()));
    }
}

/// A record of anything is read or refused; a text comes back from its surrogates over any chunking.
fn restore(data: &[u8]) {
    let (dice, body) = dice(data);
    drop(SurrogateMap::from_bytes(body));
    let redactor = Redactor::new(all(), MethodPlan::all(Method::Encrypt));
    let Ok((redacted, undo)) = redactor.plain(body, &keys(), FindingLimits::default()) else { return };
    let redacted = redacted.into_value();
    let mut rewriter = TextBody::new(AnswerEditor::restore(Arc::new(undo)), &MemoryBudget::unlimited());
    let (mut out, mut rest) = (BytesMut::new(), redacted.as_slice());
    for length in lengths(dice, redacted.len()) {
        let (piece, tail) = rest.split_at(length);
        rewriter.write(piece, &mut out).unwrap();
        rest = tail;
    }
    rewriter.finish(&mut out).unwrap();
    assert!(out == body, "not what it was");
}

/// What is encrypted is decrypted, stays in its domain, and the key's length and the rest are checked.
fn ff1(data: &[u8]) {
    let Some(([length, high, low, tweak], rest)) = data.split_first_chunk::<4>() else { return };
    let (raw, rest) = rest.split_at((*length as usize % 40).min(rest.len()));
    let Ok(key) = FpeKey::new(Secret::new(raw.to_vec())) else {
        return assert!(![16, 24, 32].contains(&raw.len()));
    };
    let radix = u32::from(u16::from_be_bytes([*high, *low]));
    let (tweak, rest) = rest.split_at((*tweak as usize).min(rest.len()));
    let symbols: Vec<u16> =
        rest.chunks(2).map(|two| two.iter().fold(0, |sum, &b| sum << 8 | u16::from(b))).collect();
    let mut changed = symbols.clone();
    if key.encrypt(radix, tweak, &mut changed).is_ok() {
        assert!(FpeKey::in_domain(radix, symbols.len()));
        assert!(changed.iter().all(|&symbol| u32::from(symbol) < radix));
        assert!(key.decrypt(radix, tweak, &mut changed).is_ok());
    }
    assert_eq!(changed, symbols);
    let Some((number, rest)) = rest.split_first_chunk::<16>() else { return };
    let Some((bound, _)) = rest.split_first_chunk::<16>() else { return };
    let (number, bound) = (u128::from_le_bytes(*number), u128::from_le_bytes(*bound));
    if let Ok(other) = key.encrypt_below(bound, tweak, number) {
        assert!(number < bound && other < bound);
        assert_eq!(key.decrypt_below(bound, tweak, other), Ok(number));
    }
}
