//! A tiny model of the same inputs and outputs: each piece has its label, whatever stands around it.

use sha2::{Digest, Sha256};

use super::super::runner::LABELS;
use crate::detect::{ModelError, ModelFiles, NamesModel, NamesOptions};

/// What the pieces of the tiny model are, and the logit of that.
#[derive(Clone, Copy)]
enum Piece {
    Other,
    Person(f32),
    Place(f32),
}

const PIECES: &[(&str, Piece)] = &[
    ("[PAD]", Piece::Other),
    ("[UNK]", Piece::Other),
    ("[CLS]", Piece::Other),
    ("[SEP]", Piece::Other),
    (".", Piece::Other),
    ("mark", Piece::Other),
    ("zorblax", Piece::Person(9.0)),
    ("quimby", Piece::Person(9.0)),
    ("##son", Piece::Person(9.0)),
    ("maybe", Piece::Person(3.9)),
    ("flumport", Piece::Place(9.0)),
];

/// The tiny model's files.
pub(super) struct Files {
    pub(super) model: Vec<u8>,
    pub(super) vocabulary: String,
    pub(super) digests: String,
}

impl Files {
    pub(super) fn new() -> Self {
        let model = onnx();
        let vocabulary: String = PIECES.iter().map(|(piece, _)| format!("{piece}\n")).collect();
        let mut files = Self { model, vocabulary, digests: String::new() };
        files.digest();
        files
    }

    /// Writes the digests anew.
    pub(super) fn digest(&mut self) {
        let of = |bytes: &[u8]| data_encoding::HEXLOWER.encode(&Sha256::digest(bytes));
        let (model, vocabulary) = (of(&self.model), of(self.vocabulary.as_bytes()));
        self.digests = format!("{model}  names.onnx\n{vocabulary}  vocab.txt\n");
    }

    pub(super) fn load(&self, options: NamesOptions) -> Result<NamesModel, ModelError> {
        let files =
            ModelFiles { model: &self.model, vocabulary: self.vocabulary.as_bytes(), digests: &self.digests };
        NamesModel::load(files, options)
    }
}

pub(super) fn model(options: NamesOptions) -> NamesModel {
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
                (Piece::Other, 0) => 9.0,
                (Piece::Person(logit), 1) | (Piece::Place(logit), 29) => *logit,
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
