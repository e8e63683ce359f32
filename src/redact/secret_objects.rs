//! Values of a document that are secret whatever they are called: [`SecretObjects`] are Kubernetes' manifests of kind `Secret`, by
//! their `data` and `stringData`; [`KeyLines`] are private keys whose lines are the items of an array, as notebooks have them.

use std::collections::HashSet;

use memchr::memmem;

use crate::redact::document_value::DocumentValue;
use crate::stream::json::{Decoded, JsonToken, Path, Segment, walk};

/// What a value there is called.
pub(super) const SECRET: &str = "password";

/// Where such objects stand in a document; `None` while nobody has asked.
#[derive(Debug, Default)]
pub(super) struct SecretObjects(Option<HashSet<String>>);

impl SecretObjects {
    /// Another document begins.
    pub(super) fn clear(&mut self) {
        self.0 = None;
    }

    /// Whether a value is a member of such an object's data.
    pub(super) fn hold(&mut self, at: DocumentValue<'_>) -> bool {
        let above = at.path.len().checked_sub(2).and_then(|above| at.path.segment(above));
        if !matches!(above, Some(Segment::Key("data" | "stringData"))) || at.doc.is_empty() {
            return false;
        }
        let objects = self.0.get_or_insert_with(|| objects(at.doc));
        if objects.is_empty() {
            return false;
        }
        let pointer = at.path.to_string();
        let object = parent(parent(&pointer));
        objects.contains(object) || objects.contains(parent(object)) && parent(object).ends_with("/items")
    }
}

/// The array in which the lines of a private key stand, while they do.
#[derive(Debug, Default)]
pub(super) struct KeyLines(Option<String>);

impl KeyLines {
    /// Another document begins.
    pub(super) fn clear(&mut self) {
        self.0 = None;
    }

    /// Shows the next text of the document.
    pub(super) fn follow(&mut self, path: &Path<'_>, text: &str) {
        if self.0.is_none() && !text.contains("-----BEGIN ") {
            return;
        }
        let item = matches!(path.last(), Some(Segment::Index(_)));
        let begins = item && text.contains("PRIVATE KEY") && !text.contains("-----END ");
        if begins && text.contains("-----BEGIN ") {
            self.0 = Some(parent(&path.to_string()).to_owned());
        } else if text.contains("-----END ") {
            self.0 = None;
        }
    }

    /// Whether a value is one of those lines.
    pub(super) fn hold(&self, path: &Path<'_>) -> bool {
        let array = self.0.as_deref().filter(|_| matches!(path.last(), Some(Segment::Index(_))));
        array.is_some_and(|array| parent(&path.to_string()) == array)
    }
}

/// The pointers of those objects.
fn objects(doc: &[u8]) -> HashSet<String> {
    let mut objects = HashSet::new();
    if memmem::find(doc, b"Secret").is_some() {
        // Its faults are told by whoever reads all of it.
        let _faults = walk(doc, &mut |path, leaf| {
            if leaf.token != JsonToken::Text || path.last() != Some(Segment::Key("kind")) {
                return;
            }
            let pointer = path.to_string();
            match Decoded::of(doc.get(leaf.span).unwrap_or_default()).text() {
                "Secret" => objects.insert(parent(&pointer).to_owned()),
                // Its entries need no kind of their own.
                "SecretList" => objects.insert(format!("{}/items", parent(&pointer))),
                _ => false,
            };
        });
    }
    objects
}

/// What a pointer's last segment is a member of.
fn parent(pointer: &str) -> &str {
    pointer.rsplit_once('/').map_or("", |(object, _)| object)
}

#[cfg(test)]
#[path = "secret_objects_tests.rs"]
mod tests;
