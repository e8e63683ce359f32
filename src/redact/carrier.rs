//! [`Carrier`]: what holds texts, whatever it is: a text, a document, lines, an event stream, a form, a file. A pass looks
//! at its texts and says what to replace in each; the carrier knows how a text is spelled there.

use std::borrow::Cow;
use std::sync::Arc;

use crate::detect::Label;
use crate::edit::Edit;
use crate::redact::error::RedactError;
use crate::redact::opaque::StringPart;
use crate::redact::value::ValueSite;
use crate::stream::json::Path;

/// What stands in a value's place.
#[derive(Clone)]
pub struct Replacement {
    /// The text.
    pub text: String,
    /// The name of the rule that found the value.
    pub rule: Arc<str>,
}

impl AsRef<str> for Replacement {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// What is to change in one text, in order.
pub type TextChanges = Vec<Edit<Replacement>>;

/// A text of a carrier.
#[derive(Clone, Copy)]
pub(super) struct CarrierText<'t> {
    /// What it is called there.
    pub(super) label: Option<&'t Label>,
    /// Its text, and how to look through it.
    pub(super) part: StringPart<'t>,
    /// Which redactor looks through it, and what it may become.
    pub(super) place: ValueSite,
    /// Whether it is a number that the document's protocol wants to stay one.
    pub(super) typed: bool,
    /// Whether it is a number that tells records apart, and no card's.
    pub(super) record: bool,
    /// Where in a document it stands.
    pub(super) path: Option<&'t Path<'t>>,
    /// Whether the values of a JSON document that it may be are also looked at each under its name.
    pub(super) opens: bool,
}

impl<'t> CarrierText<'t> {
    /// A part of a text, without a name.
    pub(super) fn of(part: StringPart<'t>) -> Self {
        let place = ValueSite::default();
        Self { label: None, part, place, typed: false, record: false, path: None, opens: false }
    }
}

/// Sees a text, says what is to change in it.
pub(super) type TextVisitor<'s> = &'s mut (dyn FnMut(CarrierText<'_>) -> TextChanges + Send);

/// Holds texts.
pub(super) trait Carrier {
    /// What it becomes.
    type Written;

    /// Another visit begins, in which texts are shown with their labels or without. Which texts there are follows from labels, so
    /// a visit without them comes after one with them.
    fn prepare(&mut self, _labels: bool) {}

    /// Shows every text, in an order that is the same each time; returns it as the changes make it. Where there are none
    /// it is as it came.
    fn visit(&mut self, see: TextVisitor<'_>) -> Result<Self::Written, RedactError>;

    /// The bytes in which no surrogate may stand already.
    fn bytes(&self) -> Cow<'_, [u8]>;

    /// Calls `take` for every text that is shown in parts only, as a document in a string is: whole, as its reader sees it.
    fn wholes(&self, _take: &mut dyn FnMut(&str)) {}
}

/// A carrier that is written as bytes.
pub(super) type BodyCarrier<'b> = Box<dyn Carrier<Written = Vec<u8>> + 'b>;

impl<C: Carrier + ?Sized> Carrier for Box<C> {
    type Written = C::Written;

    fn prepare(&mut self, labels: bool) {
        (**self).prepare(labels);
    }

    fn visit(&mut self, see: TextVisitor<'_>) -> Result<Self::Written, RedactError> {
        (**self).visit(see)
    }

    fn bytes(&self) -> Cow<'_, [u8]> {
        (**self).bytes()
    }

    fn wholes(&self, take: &mut dyn FnMut(&str)) {
        (**self).wholes(take);
    }
}

/// Changes, without who asked for them.
pub(super) fn plain(changes: TextChanges) -> Vec<Edit> {
    changes.into_iter().map(|Edit { range, with }| Edit { range, with: with.text }).collect()
}

impl std::fmt::Debug for Replacement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replacement").field("rule", &self.rule).finish_non_exhaustive()
    }
}
