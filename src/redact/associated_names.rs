//! [`AssociatedNames`]: what a document calls its values elsewhere than on the way to them. All of it is read once, when the
//! first value is asked for that may be called so.

use std::sync::Arc;

use crate::redact::document_value::DocumentValue;
use crate::redact::heads::Heads;
use crate::redact::members::{Holder, is_typed};
use crate::redact::pairs::{Pairs, holds_values, may_be_placed};
use crate::redact::siblings::SiblingNames;
use crate::stream::json::{JsonToken, Path, Segment, walk};

/// What a document calls its values.
#[derive(Debug, Default)]
pub(super) struct AssociatedNames {
    /// Nothing while nobody has asked.
    own: Option<Arc<DocumentNames>>,
    /// Those of the document that this one lies in, beside a statement: all of it is the values for that.
    statement: Option<OuterStatement>,
}

/// A statement outside of a document.
#[derive(Debug)]
struct OuterStatement {
    /// The names that are read in its document.
    names: Arc<DocumentNames>,
    /// The way to its object.
    object: u64,
}

/// The names in a document that are read for its values.
#[derive(Debug, Default)]
struct DocumentNames {
    siblings: SiblingNames,
    pairs: Pairs,
    heads: Heads,
}

/// What a value is called by something else than its member.
#[derive(Debug)]
pub(super) struct AssociatedName {
    /// The name.
    pub(super) name: String,
    /// How many segments lead to what counts as around it.
    pub(super) within: usize,
}

impl AssociatedNames {
    /// Another document begins.
    pub(super) fn clear(&mut self) {
        self.own = None;
    }

    /// Those of a document that lies in a string there.
    pub(super) fn within(&mut self, at: DocumentValue<'_>) -> Self {
        let may = matches!(at.path.last(), Some(Segment::Key(own)) if holds_values(own));
        if !may || at.doc.is_empty() {
            return Self::default();
        }
        let names = self.read(at.doc);
        let object = names.pairs.object_of_values(at.path);
        let statement = object.map(|object| OuterStatement { names: Arc::clone(names), object });
        Self { own: None, statement }
    }

    /// The names in a document.
    fn read(&mut self, doc: &[u8]) -> &Arc<DocumentNames> {
        self.own.get_or_insert_with(|| Arc::new(DocumentNames::of(doc)))
    }

    /// What a value is called.
    pub(super) fn of(&mut self, at: DocumentValue<'_>) -> Option<AssociatedName> {
        let alone = |name: String| AssociatedName { name, within: 0 };
        let outer = self.statement.as_ref();
        let placed = outer.and_then(|statement| statement.names.pairs.placed_in(statement.object, at.path));
        if placed.is_some() {
            return placed.map(alone);
        }
        let may = match at.path.last()? {
            Segment::Key(own) => Holder::is_of_cell(own) || may_be_placed(at.path),
            Segment::Index(_) => true,
        };
        if !may || at.doc.is_empty() || at.path.is_cut() {
            return None;
        }
        let names = self.read(at.doc);
        let sibling = names.siblings.of(at);
        let place = sibling.as_ref();
        let column = place.and_then(|said| names.pairs.named_place(at.path, said.object, &said.name));
        if column.is_some() {
            return column.map(alone);
        }
        let (firm, loose) = match sibling {
            Some(said) => {
                let name = AssociatedName { name: said.name, within: said.object };
                if said.firm { (Some(name), None) } else { (None, Some(name)) }
            }
            None => (None, None),
        };
        let found = firm.or_else(|| names.pairs.of(at).map(alone)).or_else(|| {
            let head = names.heads.of(at);
            // Of what is not called a row less is known.
            if head.as_ref().is_some_and(|head| head.of_rows) || loose.is_none() {
                head.map(|head| alone(head.name))
            } else {
                loose
            }
        });
        found.or_else(|| around(at.path))
    }
}

/// What a value is called by the member around the object that says its type only: `{"password": {"S": "…"}}` of DynamoDB,
/// `{"lastName": {"stringValue": "…"}}` of Firestore.
fn around(path: &Path<'_>) -> Option<AssociatedName> {
    let within = path.len().checked_sub(2)?;
    match (path.segment(within)?, path.last()?) {
        (Segment::Key(name), Segment::Key(own)) if is_typed(own) => {
            Some(AssociatedName { name: name.to_owned(), within })
        }
        _ => None,
    }
}

impl DocumentNames {
    fn of(doc: &[u8]) -> Self {
        let mut names = Self::default();
        // Its faults are told by whoever reads all of it.
        let _faults = walk(doc, &mut |path, leaf| {
            if leaf.token == JsonToken::Text && !path.is_cut() {
                names.siblings.follow(path, doc, &leaf.span);
                names.pairs.follow(path, doc, &leaf.span);
                names.heads.follow(path, doc, &leaf.span);
            }
        });
        names
    }
}

#[cfg(test)]
#[path = "associated_names_tests.rs"]
mod tests;
