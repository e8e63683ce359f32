//! Answers of every LLM protocol, in each framing that one of them has.

use std::sync::{Arc, OnceLock};

use bytes::BytesMut;
use portcullis::base::budget::MemoryBudget;
use portcullis::base::path::RequestPath;
use portcullis::gateway::llm::{
    AmazonDeltas, CompiledProtocol, DocumentOutcome, EditorFactory, JsonDeltas, MessageDeltas,
    ProtocolChoice, SseDeltas, WholeAnswer,
};
use portcullis::redact::{
    AnswerTreatment, FindingLimits, Keys, Method, MethodPlan, RedactionCounts, Redactor, SurrogateMap,
};
use portcullis::stream::amazon::{AmazonEventStream, write_header, write_message};
use portcullis::stream::sse::Sse;
use portcullis::stream::websocket::MessageKind;
use portcullis::stream::{Editor, Rewriter};

use super::{all, dice, keys, lengths};

/// The most that one event may be, in bytes.
const EVENT: usize = 1 << 16;

/// Makes what rewrites an answer.
type Make = fn(Arc<CompiledProtocol>, EditorFactory, &MemoryBudget) -> Box<dyn Rewriter>;

/// Every framing.
const FRAMINGS: [Make; 4] = [
    |protocol, editor, budget| Box::new(Sse::new(SseDeltas::new(protocol, editor, budget), EVENT, budget)),
    |protocol, editor, budget| Box::new(JsonDeltas::new(protocol, editor, budget)),
    |protocol, editor, budget| Box::new(WholeAnswer::new(protocol, editor, budget)),
    |protocol, editor, budget| {
        Box::new(AmazonEventStream::new(AmazonDeltas::new(protocol, editor, budget), EVENT, budget))
    },
];

/// The first line is a path, which says the protocol; an answer follows. Chunking is invisible, also where it breaks off; what
/// was held and charged is given back; what was JSON stays JSON.
pub(super) fn protocols(data: &[u8]) {
    let (dice, rest) = dice(data);
    let (path, body) = rest.split_at(rest.iter().position(|byte| *byte == b'\n').unwrap_or(0));
    let protocol = spoken(path);
    let framed = messages(body);
    for make in FRAMINGS {
        for body in [body, &framed] {
            let broken = body.get(..dice as usize % (body.len() + 1)).unwrap_or(body);
            for body in [body, broken] {
                let whole = passed(make, &protocol, body, &[body.len()]);
                assert!(passed(make, &protocol, body, &lengths(dice, body.len())) == whole, "cut");
            }
        }
    }
    session(&protocol, body);
}

/// The protocol of a path; of what is none, any.
fn spoken(path: &[u8]) -> Arc<CompiledProtocol> {
    static COMPILED: OnceLock<Vec<Arc<CompiledProtocol>>> = OnceLock::new();
    let compiled = COMPILED.get_or_init(|| CompiledProtocol::all().unwrap());
    let parsed = RequestPath::parse(&String::from_utf8_lossy(path)).ok();
    let known = parsed.and_then(|path| ProtocolChoice::Auto.of(&path));
    let any = path.iter().map(|byte| usize::from(*byte)).sum::<usize>() % compiled.len();
    let known = known.and_then(|known| compiled.iter().find(|one| std::ptr::eq(one.protocol, known)));
    Arc::clone(known.unwrap_or(&compiled[any]))
}

/// Restores what was issued for a request, and masks the rest.
fn editors() -> EditorFactory {
    static ISSUED: OnceLock<Arc<SurrogateMap>> = OnceLock::new();
    let issue = || {
        let redactor = Redactor::new(all(), MethodPlan::all(Method::Encrypt));
        let text = "maria.lopez@clinic-mail.com, +1 650 253 0000, 4012 8888 8888 1881";
        Arc::new(redactor.plain(text.as_bytes(), &keys(), FindingLimits::default()).unwrap().1)
    };
    let undo = Arc::clone(ISSUED.get_or_init(issue));
    let redactor = Redactor::new(all(), MethodPlan::all(Method::Mask));
    let counts = Arc::new(RedactionCounts::new(all().rule_count()));
    Arc::new(move || -> Box<dyn Editor> {
        let (undo, counts, restored) = (Arc::clone(&undo), Arc::clone(&counts), Arc::default());
        Box::new(redactor.answer(AnswerTreatment::Both { undo, keys: Keys::default(), counts, restored }))
    })
}

/// What leaves; `None` if the answer is refused.
fn passed(make: Make, protocol: &Arc<CompiledProtocol>, body: &[u8], lengths: &[usize]) -> Option<Vec<u8>> {
    let budget = MemoryBudget::process(1 << 30);
    let mut rewriter = make(Arc::clone(protocol), editors(), &budget);
    let (mut out, mut rest, mut refused) = (BytesMut::new(), body, false);
    for length in lengths {
        let (piece, tail) = rest.split_at(*length);
        refused |= rewriter.write(piece, &mut out).is_err();
        if refused {
            break;
        }
        assert!(budget.used() >= rewriter.held(), "held without a charge");
        rest = tail;
    }
    refused |= refused || rewriter.finish(&mut out).is_err();
    assert!(refused || rewriter.held() == 0, "held at the end");
    drop(rewriter);
    assert_eq!(budget.used(), 0, "not given back");
    (!refused).then(|| out.to_vec())
}

/// Each line as the event of an Amazon event stream: its name, and its document.
fn messages(body: &[u8]) -> Vec<u8> {
    let mut stream = BytesMut::new();
    for line in body.split(|byte| *byte == b'\n') {
        let (name, payload) = line.split_at(line.iter().position(|byte| *byte == b' ').unwrap_or(0));
        let mut headers = Vec::new();
        write_header(":event-type", &String::from_utf8_lossy(name), &mut headers);
        write_message(&headers, payload, &mut stream).unwrap();
    }
    stream.to_vec()
}

/// Each line as a message of a WebSocket.
fn session(protocol: &Arc<CompiledProtocol>, body: &[u8]) {
    let is_json = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).is_ok();
    let budget = MemoryBudget::process(1 << 30);
    let mut deltas = MessageDeltas::new(Arc::clone(protocol), editors(), &budget);
    let (mut left, mut good) = (Vec::new(), true);
    for line in body.split(|byte| *byte == b'\n') {
        good &= is_json(line);
        match deltas.message(MessageKind::Text, line, &mut left) {
            Ok(DocumentOutcome::Replace(data) | DocumentOutcome::Emptied(data)) => {
                assert!(!good || is_json(&data), "no longer JSON");
            }
            Ok(DocumentOutcome::Keep | DocumentOutcome::Wait) => {}
            Err(_) => return,
        }
    }
    assert!(deltas.end(&mut left).is_ok());
    assert!(!good || left.iter().all(|message| is_json(&message.data)), "no longer JSON");
    drop(deltas);
    assert_eq!(budget.used(), 0, "not given back");
}
