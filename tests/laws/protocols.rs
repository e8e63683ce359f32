//! The laws over every LLM protocol: what is issued is restored and what a model invents is masked, whatever the cuts and
//! the coding; all else stays byte for byte, and nothing is held at the end.

use std::sync::{Arc, OnceLock};

use bytes::BytesMut;
use portcullis::base::budget::MemoryBudget;
use portcullis::base::path::RequestPath;
use portcullis::base::secret::Secret;
use portcullis::crypto::fpe::FpeKey;
use portcullis::detect::{Catalogue, Detector, RuleSelection};
use portcullis::gateway::body::{BodyFormat, BodyRewriter, Task};
use portcullis::gateway::content_coding::{Unpack, decode, encode};
use portcullis::gateway::layer::{Factory, Layer, TextLayer, UnscannedPolicy};
use portcullis::gateway::llm::{CompiledProtocol, ProtocolChoice};
use portcullis::gateway::media_type::{ContentFormat, DeclaredFormat};
use portcullis::redact::{
    AnswerEditor, AnswerTreatment, FindingLimits, Keys, Method, MethodPlan, RedactionCounts, Redactor,
    SurrogateMap,
};
use portcullis::stream::codec::Coding;
use portcullis::stream::json::PathSet;
use portcullis::stream::{Edit, Editor, StreamError};
use portcullis::telemetry::Direction;
use serde_json::Value;

use crate::censor::Silent;
use crate::shapes::{Framing, Shape, Texts, filled, folder, same};

/// The caller's values, by their letters in the texts.
const MINE: [(char, &str); 4] = [
    ('E', "maria.lopez+rx@clinic-mail.com"),
    ('P', "+1 650 253 0000"),
    ('S', "536-22-8726"),
    ('C', "4012 8888 8888 1881"),
];

/// The model's own.
const INVENTED: [(char, &str); 4] = [
    ('e', "tom.baker@harbour-post.com"),
    ('p', "+1 415 555 2671"),
    ('s', "536-90-4399"),
    ('c', "4111 1111 1111 1111"),
];

/// A caller, and what was issued for its values.
struct Issued {
    redactor: Redactor,
    surrogates: Vec<(char, String)>,
    undo: Arc<SurrogateMap>,
}

/// Issued once: a detector takes a while in a debug build.
fn issued() -> &'static Issued {
    static ISSUED: OnceLock<Issued> = OnceLock::new();
    ISSUED.get_or_init(|| {
        let rules = Catalogue::builtin().unwrap();
        let detector = Detector::new(&rules, &RuleSelection::defaults(&rules)).unwrap();
        let key = FpeKey::new(Secret::new(vec![7; 32])).unwrap();
        let keys = Keys { fpe: Some(Arc::new(key)), tenant: "acme".into(), ..Keys::default() };
        let [(_, mail), (_, phone), (_, ssn), (_, card)] = MINE;
        let ask = serde_json::json!({"mail": mail, "phone": phone, "ssn": ssn, "card": card}).to_string();
        let encrypts = Redactor::new(detector.clone(), MethodPlan::all(Method::Encrypt));
        let sent = encrypts.document(ask.as_bytes(), &PathSet::everything(), &keys, FindingLimits::default());
        let (redacted, undo) = sent.unwrap();
        let redacted: Value = serde_json::from_slice(redacted.value()).unwrap();
        let surrogate = |(letter, name): (char, &str)| (letter, redacted[name].as_str().unwrap().to_owned());
        let surrogates: Vec<_> =
            [('E', "mail"), ('P', "phone"), ('S', "ssn"), ('C', "card")].map(surrogate).into();
        for ((_, original), (_, surrogate)) in MINE.iter().zip(&surrogates) {
            assert_ne!(original, surrogate, "each is a surrogate");
        }
        Issued {
            redactor: Redactor::new(detector, MethodPlan::all(Method::Mask)),
            surrogates,
            undo: Arc::new(undo),
        }
    })
}

/// What is done to an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Done {
    Nothing,
    /// Nothing either, but decided late.
    Late,
    Restored,
    RestoredAndMasked,
}

/// Edits nothing, and decides at once.
#[derive(Default)]
struct Idle(usize);

impl Editor for Idle {
    fn feed(&mut self, piece: &str, _: &mut Vec<Edit>) -> Result<usize, StreamError> {
        self.0 += piece.len();
        Ok(self.0)
    }

    fn end(&mut self, _: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.0 = 0;
        Ok(())
    }
}

fn editor(done: Done) -> Factory<dyn Editor> {
    let Issued { redactor, undo, .. } = issued();
    match done {
        Done::Nothing => Arc::new(|| -> Box<dyn Editor> { Box::<Idle>::default() }),
        Done::Late => Arc::new(|| -> Box<dyn Editor> { Box::<Silent>::default() }),
        Done::Restored => {
            Arc::new(|| -> Box<dyn Editor> { Box::new(AnswerEditor::restore(Arc::clone(undo))) })
        }
        Done::RestoredAndMasked => Arc::new(|| -> Box<dyn Editor> {
            let counts = Arc::new(RedactionCounts::new(2000));
            let (undo, restored) = (Arc::clone(undo), Arc::default());
            Box::new(redactor.answer(AnswerTreatment::Both { undo, keys: Keys::default(), counts, restored }))
        }),
    }
}

/// The texts of `tests/protocols/texts.json` with these values.
fn texts(values: &[(char, String)]) -> Texts {
    let data: Value = serde_json::from_slice(&std::fs::read(folder().join("texts.json")).unwrap()).unwrap();
    let text = |name: &str| {
        let mut text = data[name].as_str().unwrap().to_owned();
        for (letter, value) in values {
            if *letter == 'E' {
                text = text.replace("%X", &value.replace('@', "\\u0040"));
            }
            text = text.replace(&format!("%{letter}"), value);
        }
        text
    };
    Texts { text: text("T"), arguments: text("A"), thought: text("H") }
}

/// What the upstream says.
fn sent() -> Texts {
    let invented = INVENTED.map(|(letter, value)| (letter, value.to_owned()));
    texts(&[&issued().surrogates[..], &invented].concat())
}

/// What the caller is to see of it.
fn wanted(done: Done) -> Texts {
    let mine = MINE.map(|(letter, value)| (letter, value.to_owned()));
    let invented = INVENTED.map(|(letter, value)| match done {
        Done::RestoredAndMasked => (letter, "*".repeat(value.chars().count())),
        _ => (letter, value.to_owned()),
    });
    match done {
        Done::Nothing | Done::Late => sent(),
        _ => texts(&[mine, invented].concat()),
    }
}

/// An answer of a protocol on its way.
pub(crate) struct Passing<'a> {
    pub(crate) path: &'a str,
    pub(crate) declared: ContentFormat,
    pub(crate) lines: bool,
    pub(crate) coding: Option<Coding>,
}

impl Passing<'_> {
    /// What comes of a body in these pieces.
    pub(crate) fn pass(&self, done: Done, pieces: &[&[u8]]) -> Vec<u8> {
        let path = self.path.split('?').next().unwrap_or_default();
        let protocol = ProtocolChoice::Auto.of(&RequestPath::parse(path).unwrap());
        let protocol = protocol.unwrap_or_else(|| panic!("no protocol has {path}"));
        let protocol = compiled().iter().find(|one| std::ptr::eq(one.protocol, protocol)).cloned();
        let layer = Layer::Text(TextLayer { editor: editor(done), protocol, fields: None, restores: true });
        let codings: Vec<Coding> = self.coding.into_iter().collect();
        let declared = DeclaredFormat::As(self.declared);
        let format = BodyFormat { declared, codings: codings.clone(), known: true, lines: self.lines };
        let budget = MemoryBudget::process(64 << 20);
        let policy = UnscannedPolicy::Refuse;
        let task =
            Task { layers: &[layer], format: &format, direction: Direction::Answer, policy, budget: &budget };
        let mut body = BodyRewriter::new(&task).unwrap();
        let (mut out, mut coded) = (BytesMut::new(), BytesMut::new());
        let last = pieces.len().saturating_sub(1);
        for (at, piece) in pieces.iter().enumerate() {
            body.write(piece, at == last, &mut coded).unwrap();
            out.extend_from_slice(&coded.split());
        }
        assert_eq!(body.held(), 0, "nothing is held at the end");
        drop(body);
        assert_eq!(budget.used(), 0, "the budget is given back");
        let unpack = Unpack { codings: &codings, limit: 64 << 20, budget: &budget };
        decode(&out.freeze(), &unpack).unwrap().to_vec()
    }
}

fn compiled() -> &'static [Arc<CompiledProtocol>] {
    static COMPILED: OnceLock<Vec<Arc<CompiledProtocol>>> = OnceLock::new();
    COMPILED.get_or_init(|| CompiledProtocol::all().unwrap())
}

/// The stream of a shape.
fn streaming(shape: &Shape, coding: Option<Coding>) -> Passing<'_> {
    let declared = if shape.framing == Framing::Events { ContentFormat::Events } else { ContentFormat::Json };
    Passing { path: &shape.path, declared, lines: shape.framing == Framing::Lines, coding }
}

fn streams() -> impl Iterator<Item = Shape> {
    Shape::all().into_iter().filter(Shape::streams)
}

/// How many bytes a body is passed in all, cut in two here and there; with `PORTCULLIS_ALL`, everywhere. Byte by byte it
/// always is.
pub(crate) fn cuts(len: usize) -> impl Iterator<Item = usize> {
    let most = if std::env::var_os("PORTCULLIS_ALL").is_some() { usize::MAX } else { 700_000 };
    (1..len).step_by((len * len / most).max(1))
}

#[test]
fn every_cut_in_two_gives_the_same_events() {
    for shape in streams() {
        let (sent, want) = (sent(), wanted(Done::Restored));
        let body = shape.body(&sent, 40);
        let passing = streaming(&shape, None);
        let whole = passing.pass(Done::Restored, &[&body]);
        shape.check(&whole, &sent, &want);
        let bytes: Vec<&[u8]> = body.chunks(1).collect();
        assert!(passing.pass(Done::Restored, &bytes) == whole, "{} byte by byte", shape.name);
        for at in cuts(body.len()) {
            let (head, tail) = body.split_at(at);
            assert!(passing.pass(Done::Restored, &[head, tail]) == whole, "{} cut at {at}", shape.name);
        }
    }
}

#[test]
fn restored_and_masked_in_one_stream_whatever_the_pieces() {
    for shape in streams() {
        let (sent, want) = (sent(), wanted(Done::RestoredAndMasked));
        for (width, step) in [(1, 61), (3, 1), (5, 1 << 20), (1000, 7)] {
            let body = shape.body(&sent, width);
            let passing = streaming(&shape, None);
            let pieces: Vec<&[u8]> = body.chunks(step).collect();
            shape.check(&passing.pass(Done::RestoredAndMasked, &pieces), &sent, &want);
        }
    }
}

#[test]
fn restored_and_masked_in_every_coding() {
    let budget = MemoryBudget::unlimited();
    for shape in streams() {
        let sent = sent();
        let body = shape.body(&sent, 40);
        for coding in [Coding::Gzip, Coding::Deflate, Coding::Br, Coding::Zstd] {
            let coded = encode(&body, &[coding], &budget).unwrap();
            for (done, step) in [(Done::Restored, 1), (Done::RestoredAndMasked, 97)] {
                let pieces: Vec<&[u8]> = coded.chunks(step).collect();
                let out = streaming(&shape, Some(coding)).pass(done, &pieces);
                shape.check(&out, &sent, &wanted(done));
            }
        }
    }
}

#[test]
fn what_nobody_edits_stays_byte_for_byte() {
    for shape in streams() {
        let sent = sent();
        for (width, step) in [(1, 1), (5, 61), (1000, 7), (1000, 1 << 20)] {
            let body = shape.body(&sent, width);
            let pieces: Vec<&[u8]> = body.chunks(step).collect();
            let passing = streaming(&shape, None);
            // An escape that is cut is held.
            if width == 1000 {
                assert!(passing.pass(Done::Nothing, &pieces) == body, "{}: identity", shape.name);
            }
            shape.check(&passing.pass(Done::Late, &pieces), &sent, &sent);
        }
    }
}

#[test]
fn whole_answers_are_restored_and_masked() {
    for shape in Shape::all() {
        let Some(template) = &shape.whole else { continue };
        let body = filled(template, &sent(), None, 0).to_string().into_bytes();
        let passing =
            Passing { path: &shape.path, declared: ContentFormat::Json, lines: false, coding: None };
        for done in [Done::Nothing, Done::Late, Done::Restored, Done::RestoredAndMasked] {
            for step in [1, 61, body.len()] {
                let pieces: Vec<&[u8]> = body.chunks(step).collect();
                let out = passing.pass(done, &pieces);
                let there: Value = serde_json::from_slice(&out).unwrap();
                if matches!(done, Done::Nothing | Done::Late) {
                    assert!(out == body, "{}", shape.name);
                }
                let want = expected_whole(template, &there, &wanted(done));
                same(&there, &want, &shape.name);
            }
        }
    }
}

/// What repeats a text may be emptied.
fn expected_whole(template: &Value, there: &Value, want: &Texts) -> Value {
    let mut wanted = filled(template, want, None, 0);
    for at in 0..there["choices"].as_array().map_or(0, Vec::len) {
        let echo = wanted["choices"][at].get_mut("logprobs");
        if let Some(echo) = echo.filter(|_| there["choices"][at]["logprobs"].is_null()) {
            *echo = Value::Null;
        }
    }
    wanted
}
