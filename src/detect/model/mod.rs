//! Persons and places by a small neural model, beside the lexicon: "Rampart", BERT with six layers for token
//! classification, run on the processor by `rten`.
//!
//! It reads whole texts in windows of sentences, so it is no part of a [`Scanner`](super::Scanner), whose law is that
//! any split of a text gives the same findings. A [`Catalogue`](super::Catalogue) that
//! [reads names](super::Catalogue::reading_names) gives it to all detectors made of it; what it finds are findings of the
//! rules PERSON and LOCATION, so nothing else has to know of it.
//!
//! | module | what |
//! |---|---|
//! | `wordpiece` | the WordPiece tokenizer, with byte offsets |
//! | `windows` | splits a text into windows of whole sentences |
//! | `runner` | runs the model with `rten` |
//! | `cache` | results of windows that were read before |
//! | `word` | labels of pieces, joined to words |
//! | `surroundings` | what stands around words that it takes for names |
//! | `merge` | merges the model's findings with those of the rules |
//! | `error` | `ModelError`: why files are no names model |

mod cache;
mod error;
mod merge;
mod runner;
mod surroundings;
mod windows;
mod word;
mod wordpiece;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use regex::Regex;
use sha2::{Digest, Sha256};

use self::cache::WindowCache;
pub use self::error::ModelError;
pub(super) use self::merge::{RuleFindings, merge};
use self::runner::{LABELS, Runner};
use self::windows::windows;
use self::word::{Certainty, ModelWord};
use self::wordpiece::{Subword, WordPiece};
use crate::base::checkpoint::{Checkpoint, Stopped};

/// The files of a model's folder.
pub const FILES: [&str; 3] = ["names.onnx", "vocab.txt", "SHA256SUMS"];

/// The longest text of a request that is read, in bytes; a longer one is left to the lexicon.
const LONGEST: usize = 1 << 20;

/// A model's files, as bytes.
#[derive(Clone, Copy)]
pub struct ModelFiles<'a> {
    /// `names.onnx`.
    pub model: &'a [u8],
    /// `vocab.txt`.
    pub vocabulary: &'a [u8],
    /// `SHA256SUMS`, as `sha256sum` writes it.
    pub digests: &'a str,
}

/// How a model is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NamesOptions {
    /// How sure the model must be of a name, from 0 to 1. In small letters three fifths of it do for a name that the
    /// lexicon has; for any other word, where the sentence begins with a capital, it is 0.85 at the least.
    pub threshold: f32,
    /// Bytes of what is remembered of windows that were read; 0 remembers nothing.
    pub cache: usize,
    /// Pieces of text not remembered that one request may have read.
    pub max_tokens: usize,
    /// What becomes of a request for a model with more new text than that. Our own API leaves it to the lexicon.
    pub beyond: OverLength,
}

/// What becomes of a request with more new text than a names model may read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OverLength {
    /// It is refused: a name that was a surrogate one turn ago must not pass now.
    #[default]
    Refuse,
    /// Names in that text are left to the lexicon.
    Lexicon,
}

impl Default for NamesOptions {
    fn default() -> Self {
        Self { threshold: 0.5, cache: 16 << 20, max_tokens: 16_384, beyond: OverLength::Refuse }
    }
}

/// What a model has done since it was asked last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NamesStats {
    /// Pieces read.
    pub tokens: u64,
    /// Pieces of windows that were remembered.
    pub remembered: u64,
    /// Texts of which something was left to the lexicon, for the sake of the budget.
    pub beyond: u64,
}

/// Pieces that a request may still have read, and whether it had more.
#[derive(Debug)]
pub(crate) struct PieceBudget {
    left: AtomicUsize,
    exceeded: AtomicBool,
}

impl PieceBudget {
    pub(crate) fn new(pieces: usize) -> Self {
        Self { left: AtomicUsize::new(pieces), exceeded: AtomicBool::new(false) }
    }

    /// Takes so many, if they are left.
    fn take(&self, pieces: usize) -> bool {
        let less = |left: usize| left.checked_sub(pieces);
        let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok();
        if !taken {
            self.exceed();
        }
        taken
    }

    fn exceed(&self) {
        self.exceeded.store(true, Ordering::Relaxed);
    }

    /// Whether some text was not read for want of it.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.exceeded.load(Ordering::Relaxed)
    }
}

/// A model that is ready. Shared between threads.
pub struct NamesModel {
    runner: Runner,
    vocabulary: WordPiece,
    begin: u32,
    end: u32,
    /// Letters that it cannot read.
    foreign: Regex,
    digest: [u8; 32],
    options: NamesOptions,
    cache: WindowCache,
    tokens: AtomicU64,
    remembered: AtomicU64,
    beyond: AtomicU64,
}

impl std::fmt::Debug for NamesModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NamesModel({:?})", self.options)
    }
}

impl NamesModel {
    /// Reads a model, and tries it.
    ///
    /// # Errors
    /// The files are not what their digests say, or no such model.
    pub fn load(files: ModelFiles<'_>, options: NamesOptions) -> Result<Self, ModelError> {
        for (name, bytes) in [("names.onnx", files.model), ("vocab.txt", files.vocabulary)] {
            if !states(files.digests, name, &hex(&Sha256::digest(bytes))) {
                return Err(ModelError::Digest(name));
            }
        }
        let vocabulary = std::str::from_utf8(files.vocabulary).ok().and_then(WordPiece::read);
        let vocabulary = vocabulary.ok_or(ModelError::Vocabulary)?;
        let special = |piece| vocabulary.special(piece).ok_or(ModelError::Vocabulary);
        let (begin, end) = (special("[CLS]")?, special("[SEP]")?);
        let foreign = Regex::new(r"[\p{L}--[\p{Latin}\p{Common}]]|[ğşıĞŞİ]");
        let model = Self {
            runner: Runner::read(files.model.to_vec())?,
            begin,
            end,
            foreign: foreign.map_err(|_| ModelError::Other)?,
            digest: Sha256::digest(files.digests.as_bytes()).into(),
            options,
            cache: WindowCache::new(options.cache),
            tokens: AtomicU64::new(0),
            remembered: AtomicU64::new(0),
            beyond: AtomicU64::new(0),
            vocabulary,
        };
        let tried = model.runner.logits(&[begin, model.vocabulary.last(), end]);
        if tried.is_none_or(|logits| logits.len() != 3 * LABELS) {
            return Err(ModelError::Other);
        }
        Ok(model)
    }

    /// Whether both are one model, used alike.
    pub fn is_like(&self, other: &Self) -> bool {
        self.digest == other.digest && self.options == other.options
    }

    /// What it has done since this was asked last.
    pub fn drain_stats(&self) -> NamesStats {
        let of = |count: &AtomicU64| count.swap(0, Ordering::Relaxed);
        NamesStats { tokens: of(&self.tokens), remembered: of(&self.remembered), beyond: of(&self.beyond) }
    }

    /// The SHA-256 of the list of its files' digests, in hexadecimal.
    pub fn digest(&self) -> String {
        hex(&self.digest)
    }

    pub(super) fn options(&self) -> NamesOptions {
        self.options
    }

    /// What the model says of the words of a text, in order; nothing of words that it could not or may not read.
    ///
    /// # Errors
    /// The checkpoint said so, which is asked before each window.
    pub(super) fn words(
        &self,
        text: &str,
        checkpoint: &Checkpoint,
        budget: Option<&PieceBudget>,
    ) -> Result<Vec<ModelWord>, Stopped> {
        let beyond = || {
            budget.inspect(|budget| budget.exceed());
            self.beyond.fetch_add(1, Ordering::Relaxed);
        };
        if text.len() > LONGEST && budget.is_some() {
            beyond();
            return Ok(Vec::new());
        }
        let pieces = self.vocabulary.pieces(text);
        let mut each = vec![None; pieces.len()];
        for window in windows(text, &pieces) {
            let Some(of) = pieces.get(window.from..window.to) else { continue };
            if self.is_foreign(text, of) {
                continue;
            }
            checkpoint.pass()?;
            let Some(read) = self.window(of, budget) else {
                beyond();
                break;
            };
            let slots = each.iter_mut().take(window.to).skip(window.from);
            for (slot, sure) in slots.zip(read.iter()).skip(window.told) {
                *slot = Some(*sure);
            }
        }
        Ok(words(&each, &pieces))
    }

    /// What the model says of the pieces of a window: nothing, where it failed; `None` where the budget does not allow it.
    fn window(&self, pieces: &[Subword], budget: Option<&PieceBudget>) -> Option<Arc<[Certainty]>> {
        let ids = pieces.iter().map(|piece| piece.id);
        let input: Vec<u32> = std::iter::once(self.begin).chain(ids).chain([self.end]).collect();
        let known = self.cache.known(&input);
        let count = pieces.len() as u64;
        if let Some(read) = self.cache.get(known) {
            self.remembered.fetch_add(count, Ordering::Relaxed);
            return Some(read);
        }
        if budget.is_some_and(|budget| !budget.take(pieces.len())) {
            return None;
        }
        self.tokens.fetch_add(count, Ordering::Relaxed);
        let logits = self.runner.logits(&input).unwrap_or_default();
        // The first row is that of the piece which begins every window, the last of the one that ends it.
        let rows = logits.chunks_exact(LABELS).skip(1).take(pieces.len());
        let read: Arc<[Certainty]> = rows.map(families).collect();
        if !read.is_empty() {
            self.cache.put(known, Arc::clone(&read));
        }
        Some(read)
    }

    /// Whether a window has letters that the model cannot read.
    fn is_foreign(&self, text: &str, pieces: &[Subword]) -> bool {
        let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return true };
        let read = text.get(first.span.start..last.span.end).unwrap_or_default();
        !read.is_ascii() && self.foreign.is_match(read)
    }
}

/// The words of which all pieces were read, each as sure as its pieces are together.
fn words(each: &[Option<Certainty>], pieces: &[Subword]) -> Vec<ModelWord> {
    let mut words = Vec::new();
    let mut rest = each;
    for word in pieces.chunk_by(|a, b| a.word == b.word) {
        let (own, behind) = rest.split_at(word.len().min(rest.len()));
        rest = behind;
        let sure: Option<Vec<Certainty>> = own.iter().copied().collect();
        let (Some(sure), Some(first), Some(last)) = (sure, word.first(), word.last()) else { continue };
        let mean = |of: fn(&Certainty) -> f32| sure.iter().map(of).sum::<f32>() / sure.len() as f32;
        words.push(ModelWord {
            start: first.span.start,
            end: last.span.end,
            person: mean(|one| one.person),
            place: mean(|one| one.place),
        });
    }
    words
}

/// The probabilities of the families: given and family names; parts of addresses.
fn families(row: &[f32]) -> Certainty {
    let most = row.iter().copied().fold(f32::MIN, f32::max);
    let each: Vec<f32> = row.iter().map(|logit| (logit - most).exp()).collect();
    let all: f32 = each.iter().sum();
    let part =
        |labels: std::ops::Range<usize>| each.get(labels).unwrap_or_default().iter().sum::<f32>() / all;
    Certainty { person: part(1..5), place: part(23..35) }
}

/// Whether a list of digests has this one for a file.
fn states(digests: &str, name: &str, digest: &str) -> bool {
    digests.lines().any(|line| {
        let listed = line.split_once(char::is_whitespace);
        listed.is_some_and(|(sum, file)| {
            file.trim().trim_start_matches('*') == name && sum.eq_ignore_ascii_case(digest)
        })
    })
}

fn hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}
