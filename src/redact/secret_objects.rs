//! Values of a document that are secret whatever they are called: [`SecretObjects`] are Kubernetes' manifests of kind `Secret`, by
//! their `data` and `stringData`; [`KeyLines`] are private keys whose lines are the items of an array, as notebooks have them.

use std::collections::HashSet;

use memchr::memmem;

use crate::redact::document_value::DocumentValue;
use crate::stream::json::{Decoded, JsonToken, Path, Segment, walk};

/// What a value there is called.
pub(super) const SECRET: &str = "password";

/// The most objects that are remembered.
const MOST: usize = 10_000;

/// Where such objects stand in a document; `None` while nobody has asked.
#[derive(Debug, Default)]
pub(super) struct SecretObjects(Option<SecretPlaces>);

/// The objects of kind `Secret`, and the lists of them, whose entries need no kind of their own: fingerprints of the ways there.
#[derive(Debug, Default)]
struct SecretPlaces {
    objects: HashSet<u64>,
    lists: HashSet<u64>,
}

impl SecretObjects {
    /// Another document begins.
    pub(super) fn clear(&mut self) {
        self.0 = None;
    }

    /// Whether a value is a member of such an object's data.
    pub(super) fn hold(&mut self, at: DocumentValue<'_>) -> bool {
        let Some(object) = at.path.len().checked_sub(2) else { return false };
        let data = matches!(at.path.segment(object), Some(Segment::Key("data" | "stringData")));
        if !data || at.doc.is_empty() {
            return false;
        }
        let places = self.0.get_or_insert_with(|| SecretPlaces::of(at.doc));
        let item = object.checked_sub(2).filter(|&list| at.path.segment(list) == Some(Segment::Key("items")));
        places.objects.contains(&at.path.fingerprint(object))
            || item.is_some_and(|list| places.lists.contains(&at.path.fingerprint(list)))
    }
}

impl SecretPlaces {
    /// Those of a document.
    fn of(doc: &[u8]) -> Self {
        let mut places = Self::default();
        if memmem::find(doc, b"Secret").is_none() {
            return places;
        }
        // Its faults are told by whoever reads all of it.
        let _faults = walk(doc, &mut |path, leaf| {
            let is_kind = leaf.token == JsonToken::Text && path.last() == Some(Segment::Key("kind"));
            if !is_kind || places.objects.len() + places.lists.len() >= MOST {
                return;
            }
            let object = path.fingerprint(path.len() - 1);
            match Decoded::of(doc.get(leaf.span).unwrap_or_default()).text() {
                "Secret" => places.objects.insert(object),
                "SecretList" => places.lists.insert(object),
                _ => false,
            };
        });
        places
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

#[cfg(test)]
#[path = "secret_objects_tests.rs"]
mod tests;
