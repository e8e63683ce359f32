//! [`Beside`]: what a document says of its values elsewhere than on the way to them. All of it is read once, when the first value
//! is asked for that may be called so.

use crate::redact::document_value::DocumentValue;
use crate::redact::heads::Heads;
use crate::redact::members::Holder;
use crate::redact::pairs::{Pairs, may_be_placed};
use crate::redact::siblings::SiblingNames;
use crate::redact::ways::Ways;
use crate::stream::json::{JsonToken, Segment, walk};

/// What a document says of its values; nothing while nobody has asked.
#[derive(Debug, Default)]
pub(super) struct Beside(Option<Box<Elsewhere>>);

#[derive(Debug, Default)]
struct Elsewhere {
    siblings: SiblingNames,
    pairs: Pairs,
    heads: Heads,
}

/// What a value is called by something else than its member.
#[derive(Debug)]
pub(super) struct BesideName {
    /// The name.
    pub(super) name: String,
    /// How many segments lead to what counts as around it.
    pub(super) within: usize,
}

impl Beside {
    /// Another document begins.
    pub(super) fn clear(&mut self) {
        self.0 = None;
    }

    /// What a value is called.
    pub(super) fn of(&mut self, at: DocumentValue<'_>) -> Option<BesideName> {
        let may = match at.path.last()? {
            Segment::Key(own) => Holder::is_of_cell(own) || may_be_placed(at.path),
            Segment::Index(_) => true,
        };
        if !may || at.doc.is_empty() {
            return None;
        }
        let ways = Ways::of(at.path)?;
        let elsewhere = self.0.get_or_insert_with(|| Elsewhere::of(at.doc));
        let sibling = elsewhere.siblings.of(at, &ways);
        let (firm, loose) = match sibling {
            Some(said) => {
                let name = BesideName { name: said.name, within: said.object };
                if said.firm { (Some(name), None) } else { (None, Some(name)) }
            }
            None => (None, None),
        };
        let alone = |name: String| BesideName { name, within: 0 };
        firm.or_else(|| elsewhere.pairs.of(at, &ways).map(alone)).or_else(|| {
            let head = elsewhere.heads.of(at, &ways);
            // Of what is not called a row less is known.
            if head.as_ref().is_some_and(|head| head.of_rows) || loose.is_none() {
                head.map(|head| alone(head.name))
            } else {
                loose
            }
        })
    }
}

impl Elsewhere {
    fn of(doc: &[u8]) -> Box<Self> {
        let mut elsewhere = Box::<Self>::default();
        // Its faults are told by whoever reads all of it.
        let _faults = walk(doc, &mut |path, leaf| {
            if leaf.token != JsonToken::Text {
                return;
            }
            let Some(ways) = Ways::of(path) else { return };
            elsewhere.siblings.follow(path, &ways, doc, &leaf.span);
            elsewhere.pairs.follow(path, &ways, doc, &leaf.span);
            elsewhere.heads.follow(path, &ways, doc, &leaf.span);
        });
        elsewhere
    }
}

#[cfg(test)]
#[path = "beside_tests.rs"]
mod tests;
