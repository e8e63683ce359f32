//! Values of a document that are secret whatever they are called: [`SecretObjects`] are Kubernetes' manifests of kind `Secret`, by
//! their `data` and `stringData`; [`KeyLines`] are private keys whose lines are the items of an array, as notebooks have them.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use memchr::memmem;

use crate::redact::document_value::DocumentValue;
use crate::stream::json::{Decoded, JsonToken, Path, Segment, walk};

/// What a value there is called.
pub(super) const SECRET: &str = "password";

/// The deepest value that is looked at, and the most objects that are remembered: manifests and lists of them are shallow.
const DEEPEST: usize = 16;
const MOST: usize = 10_000;

/// Where such objects stand in a document, by fingerprints of the ways there; `None` while nobody has asked.
#[derive(Debug, Default)]
pub(super) struct SecretObjects(Option<HashSet<u64>>);

impl SecretObjects {
    /// Another document begins.
    pub(super) fn clear(&mut self) {
        self.0 = None;
    }

    /// Whether a value is a member of such an object's data.
    pub(super) fn hold(&mut self, at: DocumentValue<'_>) -> bool {
        let Some(object) = at.path.len().checked_sub(2) else { return false };
        let data = matches!(at.path.segment(object), Some(Segment::Key("data" | "stringData")));
        if !data || at.doc.is_empty() || at.path.len() > DEEPEST {
            return false;
        }
        let objects = self.0.get_or_insert_with(|| objects(at.doc));
        if objects.is_empty() {
            return false;
        }
        let item = object.checked_sub(2).filter(|&list| at.path.segment(list) == Some(Segment::Key("items")));
        objects.contains(&fingerprint(at.path, object))
            || item.is_some_and(|list| objects.contains(&fingerprint(at.path, list + 1)))
    }
}

/// The lines of a private key in an array, while they last.
#[derive(Debug, Default)]
pub(super) struct KeyLines {
    /// How deep its items lie, and the number of the one before; `None` while there is none.
    array: Option<(usize, usize)>,
    /// Whether the text shown last is such a line.
    line: bool,
}

impl KeyLines {
    /// Another document begins.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Shows the next text of the document.
    pub(super) fn follow(&mut self, path: &Path<'_>, text: &str) {
        self.line = false;
        if self.array.is_none() && !text.contains("-----BEGIN ") {
            return;
        }
        let Some(Segment::Index(item)) = path.last() else {
            self.array = None;
            return;
        };
        let begins =
            text.trim_start().starts_with("-----BEGIN ") && text.trim_end().ends_with("PRIVATE KEY-----");
        let next = self.array == item.checked_sub(1).map(|before| (path.len(), before));
        self.line = !begins && next && is_line(text);
        self.array = (begins || self.line).then_some((path.len(), item));
    }

    /// Whether a value is one of those lines: the text shown last.
    pub(super) fn hold(&self, path: &Path<'_>) -> bool {
        let last = self.array.filter(|_| self.line);
        last.is_some_and(|(depth, item)| path.len() == depth && path.last() == Some(Segment::Index(item)))
    }
}

/// Whether a text is one line of base 64.
fn is_line(text: &str) -> bool {
    let line = text.trim();
    let base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    (4..=80).contains(&line.len()) && line.bytes().all(base64)
}

/// The objects of kind `Secret`, and the lists of them, whose entries need no kind of their own.
fn objects(doc: &[u8]) -> HashSet<u64> {
    let mut objects = HashSet::new();
    if memmem::find(doc, b"Secret").is_some() {
        // Its faults are told by whoever reads all of it.
        let _faults = walk(doc, &mut |path, leaf| {
            let is_kind = leaf.token == JsonToken::Text && path.last() == Some(Segment::Key("kind"));
            if !is_kind || path.len() > DEEPEST || objects.len() >= MOST {
                return;
            }
            let object = path.len() - 1;
            match Decoded::of(doc.get(leaf.span).unwrap_or_default()).text() {
                "Secret" => objects.insert(fingerprint(path, object)),
                "SecretList" => {
                    let above = (0..object).filter_map(|at| path.segment(at));
                    objects.insert(fingerprint_of(above.chain([Segment::Key("items")])))
                }
                _ => false,
            };
        });
    }
    objects
}

/// A fingerprint of the first `length` segments of a way.
fn fingerprint(path: &Path<'_>, length: usize) -> u64 {
    fingerprint_of((0..length).filter_map(|at| path.segment(at)))
}

/// A fingerprint of a way.
fn fingerprint_of<'a>(way: impl Iterator<Item = Segment<'a>>) -> u64 {
    let mut hasher = DefaultHasher::new();
    way.for_each(|segment| segment.hash(&mut hasher));
    hasher.finish()
}

#[cfg(test)]
#[path = "secret_objects_tests.rs"]
mod tests;
