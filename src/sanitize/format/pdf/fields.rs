//! The fields of a form (ISO 32000-2, 12.7).

use std::collections::BTreeSet;

use lopdf::{Dictionary, Document, Object, ObjectId};

use crate::sanitize::format::pdf::graph;

/// How deep fields lie within fields.
const DEPTH: usize = 40;

/// What walking through a form came by.
#[derive(Debug, Default)]
pub(super) struct FormFields {
    /// Fields without fields of their own.
    pub(super) terminal: u64,
    /// Fields and their widgets, as far as they have numbers.
    pub(super) seen: BTreeSet<ObjectId>,
}

impl FormFields {
    /// Walks through the form of a document.
    pub(super) fn of(doc: &Document) -> Self {
        let mut fields = Self::default();
        let form = doc.catalog().ok().and_then(|catalog| graph::sub(doc, catalog, b"AcroForm"));
        for field in form.map_or(&[][..], |form| graph::array(doc, form, b"Fields")) {
            fields.walk(doc, field, DEPTH);
        }
        fields
    }

    fn walk(&mut self, doc: &Document, field: &Object, depth: usize) {
        if graph::target(doc, field).is_some_and(|id| !self.seen.insert(id)) {
            return;
        }
        let Some(dict) = graph::dict(graph::resolve(doc, field)) else { return };
        let kids = graph::array(doc, dict, b"Kids");
        let named = |kid: &Object| graph::dict(graph::resolve(doc, kid)).is_some_and(|kid| kid.has(b"T"));
        if depth == 0 || !kids.iter().any(named) {
            self.terminal = self.terminal.saturating_add(1);
            self.seen.extend(kids.iter().filter_map(|kid| graph::target(doc, kid)));
        } else {
            kids.iter().for_each(|kid| self.walk(doc, kid, depth - 1));
        }
    }
}

/// An entry of a field, or of the nearest field above that has it, or of the form.
pub(super) fn inherited<'a>(doc: &'a Document, field: &'a Dictionary, key: &[u8]) -> &'a Object {
    let mut dict = field;
    for _ in 0..DEPTH {
        if dict.has(key) {
            return graph::entry(doc, dict, key);
        }
        match graph::sub(doc, dict, b"Parent") {
            Some(parent) => dict = parent,
            None => break,
        }
    }
    let form = doc.catalog().ok().and_then(|catalog| graph::sub(doc, catalog, b"AcroForm"));
    graph::entry(doc, form.unwrap_or(field), key)
}
