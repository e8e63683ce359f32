//! The model's part in a detector, with a tiny model of the same inputs and outputs: each of its pieces has its label,
//! whatever stands around it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sha2::{Digest, Sha256};

use super::runner::LABELS;
use super::{ModelError, ModelFiles, NamesModel, NamesOptions, NamesStats, OverLength};
use crate::base::checkpoint::{Checkpoint, GoOn, Stopped};
use crate::detect::{Allow, Catalogue, Detector, RuleSelection, Score};

/// What the pieces of the tiny model are, and the logit of that.
#[derive(Clone, Copy)]
enum PieceClass {
    Other,
    Person(f32),
    Place(f32),
}

const PIECES: &[(&str, PieceClass)] = &[
    ("[PAD]", PieceClass::Other),
    ("[UNK]", PieceClass::Other),
    ("[CLS]", PieceClass::Other),
    ("[SEP]", PieceClass::Other),
    (".", PieceClass::Other),
    ("mark", PieceClass::Other),
    ("zorblax", PieceClass::Person(9.0)),
    ("quimby", PieceClass::Person(9.0)),
    ("##son", PieceClass::Person(9.0)),
    ("vexley", PieceClass::Person(3.9)),
    ("flumport", PieceClass::Place(9.0)),
];

/// The tiny model's files.
struct Files {
    model: Vec<u8>,
    vocabulary: String,
    digests: String,
}

impl Files {
    fn new() -> Self {
        let model = onnx();
        let vocabulary: String = PIECES.iter().map(|(piece, _)| format!("{piece}\n")).collect();
        let mut files = Self { model, vocabulary, digests: String::new() };
        files.digest();
        files
    }

    /// Writes the digests anew.
    fn digest(&mut self) {
        let of = |bytes: &[u8]| data_encoding::HEXLOWER.encode(&Sha256::digest(bytes));
        let (model, vocabulary) = (of(&self.model), of(self.vocabulary.as_bytes()));
        self.digests = format!("{model}  names.onnx\n{vocabulary}  vocab.txt\n");
    }

    fn load(&self, options: NamesOptions) -> Result<NamesModel, ModelError> {
        let files =
            ModelFiles { model: &self.model, vocabulary: self.vocabulary.as_bytes(), digests: &self.digests };
        NamesModel::load(files, options)
    }
}

fn model(options: NamesOptions) -> NamesModel {
    Files::new().load(options).unwrap()
}

/// Protocol buffers, as far as an ONNX file of one `Gather` needs them.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value > 127 {
            self.0.push((value & 127) as u8 | 128);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(mut self, field: u64, value: u64) -> Self {
        self.varint(field << 3);
        self.varint(value);
        self
    }

    fn bytes(mut self, field: u64, value: impl AsRef<[u8]>) -> Self {
        self.varint(field << 3 | 2);
        self.varint(value.as_ref().len() as u64);
        self.0.extend_from_slice(value.as_ref());
        self
    }
}

/// A value of one type and shape.
fn value(name: &str, kind: u64, dimensions: &[&str]) -> Vec<u8> {
    let shape = dimensions.iter().fold(Message::default(), |shape, dimension| {
        shape.bytes(1, Message::default().bytes(2, dimension).0)
    });
    let tensor = Message::default().number(1, kind).bytes(2, shape.0);
    Message::default().bytes(1, name).bytes(2, Message::default().bytes(1, tensor.0).0).0
}

fn onnx() -> Vec<u8> {
    let mut weights = Vec::new();
    for (_, piece) in PIECES {
        for label in 0..LABELS {
            let logit: f32 = match (piece, label) {
                (PieceClass::Other, 0) => 9.0,
                (PieceClass::Person(logit), 1) | (PieceClass::Place(logit), 29) => *logit,
                _ => 0.0,
            };
            weights.extend(logit.to_le_bytes());
        }
    }
    let tensor = Message::default()
        .number(1, PIECES.len() as u64)
        .number(1, LABELS as u64)
        .number(2, 1)
        .bytes(8, "labels")
        .bytes(9, weights);
    let node =
        Message::default().bytes(1, "labels").bytes(1, "input_ids").bytes(2, "logits").bytes(3, "gather");
    let graph = Message::default()
        .bytes(1, node.bytes(4, "Gather").0)
        .bytes(2, "tiny")
        .bytes(5, tensor.0)
        .bytes(11, value("input_ids", 7, &["batch", "length"]))
        .bytes(12, value("logits", 1, &["batch", "length", "labels"]));
    let opset = Message::default().bytes(1, "").number(2, 18);
    Message::default().number(1, 8).bytes(7, graph.0).bytes(8, opset.0).0
}

fn catalogue(options: NamesOptions) -> Catalogue {
    reading(&Arc::new(model(options)))
}

fn reading(model: &Arc<NamesModel>) -> Catalogue {
    Catalogue::builtin().unwrap().reading_names(Some(Arc::clone(model)))
}

fn persons(catalogue: &Catalogue) -> Detector {
    let selection = RuleSelection::only(catalogue, ["PERSON"]).unwrap();
    Detector::new(catalogue, &selection).unwrap()
}

fn detector(rules: &[&str]) -> Detector {
    let catalogue = catalogue(NamesOptions::default());
    let selection = RuleSelection::only(&catalogue, rules.iter().copied()).unwrap();
    Detector::new(&catalogue, &selection).unwrap()
}

fn found(detector: &Detector, text: &str) -> Vec<String> {
    let found = detector.find(text);
    let shown = |one: &crate::detect::Finding| {
        format!("{}:{}", detector.rule(one.rule).name(), text.get(one.span.start..one.span.end).unwrap())
    };
    found.iter().map(shown).collect()
}

#[test]
fn whole_texts_are_read_by_the_model_where_its_rules_are_on() {
    let both = ["PERSON", "LOCATION", "EMAIL_ADDRESS"];
    let cases: &[(&[&str], &str, &[&str])] = &[
        (&both, "ask zorblax quimby in flumport", &["PERSON:zorblax quimby", "LOCATION:flumport"]),
        (&both, "ask quimbyson now", &["PERSON:quimbyson"]),
        (&both, "mail zorblax@harbour-post.com now", &["EMAIL_ADDRESS:zorblax@harbour-post.com"]),
        (&["PERSON"], "ask zorblax in flumport", &["PERSON:zorblax"]),
        (&["LOCATION"], "ask zorblax in flumport", &["LOCATION:flumport"]),
        (&["EMAIL_ADDRESS"], "ask zorblax in flumport", &[]),
        // A window with letters that it cannot read is the lexicon's; the next paragraph is not.
        (&both, "спроси zorblax\n\nask quimby", &["PERSON:quimby"]),
        (&both, "zorblax ağa", &[]),
        (&both, "zorblax, 5 µm", &["PERSON:zorblax"]),
        (&both, "", &[]),
    ];
    for (rules, text, wanted) in cases {
        assert_eq!(&found(&detector(rules), text), wanted, "{text} by {rules:?}");
    }
}

#[test]
fn a_person_by_the_lexicon_falls_where_the_model_refutes_it() {
    let without = Catalogue::builtin().unwrap();
    let selection = RuleSelection::only(&without, ["PERSON"]).unwrap();
    let lexicon = Detector::new(&without, &selection).unwrap();
    let text = "My name is Mark.";
    assert_eq!(found(&lexicon, text), ["PERSON:Mark"]);
    assert!(found(&detector(&["PERSON"]), text).is_empty());
}

#[test]
fn thresholds_and_allow_lists_hold_for_the_model_too() {
    let plain = detector(&["PERSON"]);
    assert_eq!(found(&plain, "vexley zorblax"), ["PERSON:vexley zorblax"]);
    assert_eq!(found(&plain.at_least(Score::new(0.99)), "vexley, zorblax"), ["PERSON:zorblax"]);
    let mut allow = Allow::default();
    allow.values(None, ["zorblax"], false).unwrap();
    assert!(found(&plain.allowing(allow), "zorblax").is_empty());
    let mut raised = catalogue(NamesOptions::default());
    raised.set_threshold(raised.find("PERSON").unwrap(), 1.0);
    let selection = RuleSelection::only(&raised, ["PERSON"]).unwrap();
    assert!(found(&Detector::new(&raised, &selection).unwrap(), "vexley").is_empty());
}

#[test]
fn what_was_read_costs_nothing() {
    let model = Arc::new(model(NamesOptions::default()));
    let detector = persons(&reading(&model));
    let text = "ask zorblax.\n\nask quimby.";
    let first = found(&detector, text);
    assert_eq!(model.drain_stats(), NamesStats { tokens: 6, remembered: 0, beyond: 0 });
    assert_eq!(found(&detector, text), first);
    assert_eq!(model.drain_stats(), NamesStats { tokens: 0, remembered: 6, beyond: 0 });
    // Also where the text goes on.
    assert_eq!(found(&detector, &format!("{text}\n\nask")), first);
    assert_eq!(model.drain_stats(), NamesStats { tokens: 1, remembered: 6, beyond: 0 });
}

#[test]
fn a_request_has_a_budget_for_what_is_new() {
    for beyond in [OverLength::Refuse, OverLength::Lexicon] {
        let model = Arc::new(model(NamesOptions { max_tokens: 4, beyond, ..NamesOptions::default() }));
        let detector = persons(&reading(&model)).strict();
        let text = "ask zorblax.\n\nask quimby now.";
        let request = detector.with_checkpoint(Checkpoint::default());
        assert_eq!(found(&request, text), ["PERSON:zorblax"]);
        assert_eq!(model.drain_stats().beyond, 1);
        assert_eq!(request.is_unread(), beyond == OverLength::Refuse);
        // What is shared is spent for both, and another request has a budget of its own.
        let shared = detector.sharing(&request);
        assert!(found(&shared, "quimby or quimby").is_empty());
        let other = detector.with_checkpoint(Checkpoint::default());
        assert_eq!(found(&other, "ask quimby."), ["PERSON:quimby"]);
        assert!(!other.is_unread());
        // The same request once more goes further: what was read is remembered.
        let again = detector.with_checkpoint(Checkpoint::default());
        assert_eq!(found(&again, text), ["PERSON:zorblax", "PERSON:quimby"]);
        assert!(!again.is_unread());
        // Who is not strict never refuses.
        assert!(!persons(&reading(&model)).with_checkpoint(Checkpoint::default()).is_unread());
    }
}

/// Lets some windows pass.
struct Few(AtomicUsize);

impl GoOn for Few {
    fn go_on(&self) -> Result<(), Stopped> {
        let less = |left: usize| left.checked_sub(1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).map(drop).map_err(|_| Stopped)
    }
}

#[test]
fn work_stops_between_windows_when_nobody_waits_for_it() {
    let model = Arc::new(model(NamesOptions::default()));
    let detector = persons(&reading(&model));
    let text: String = (0..40).map(|n| format!("ask{} zorblax.\n\n", " ask".repeat(n))).collect();
    let stopping = detector.with_checkpoint(Checkpoint::new(Arc::new(Few(AtomicUsize::new(5)))));
    assert_eq!(stopping.try_find_with(&mut stopping.cache(), None, &text), Err(Stopped));
    // The rules' look at the text asks once.
    assert_eq!(model.drain_stats().tokens, 3 + 4 + 5 + 6);
}

#[test]
fn callers_at_once_get_the_same() {
    let detector = detector(&["PERSON"]);
    std::thread::scope(|scope| {
        for n in 0..8 {
            let detector = &detector;
            scope.spawn(move || {
                for m in 0..20 {
                    assert_eq!(found(detector, &format!("{n} {m} zorblax")), ["PERSON:zorblax"]);
                }
            });
        }
    });
}

/// What is done to the files of a model.
type Damage = fn(&mut Files);

#[test]
fn files_that_are_no_model_are_errors() {
    let load = |change: fn(&mut Files), sums: bool| {
        let mut files = Files::new();
        change(&mut files);
        if sums {
            files.digest();
        }
        files.load(NamesOptions::default()).err()
    };
    let cases: &[(Damage, bool, ModelError)] = &[
        (|files| files.model.push(0), false, ModelError::Digest("names.onnx")),
        (|files| files.vocabulary.push('a'), false, ModelError::Digest("vocab.txt")),
        (|files| files.digests.clear(), false, ModelError::Digest("names.onnx")),
        (|files| files.model.clear(), true, ModelError::Unreadable),
        (|files| files.model = b"not a model".to_vec(), true, ModelError::Unreadable),
        (|files| files.model.truncate(300), true, ModelError::Unreadable),
        (|files| files.vocabulary = files.vocabulary.replace("[CLS]", "x"), true, ModelError::Vocabulary),
        (|files| files.vocabulary.push_str("more\n"), true, ModelError::Other),
    ];
    for (change, sums, wanted) in cases {
        assert_eq!(load(*change, *sums), Some(*wanted));
    }
}
