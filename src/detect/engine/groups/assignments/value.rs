//! A value at a place of a secret: what it is, and whether it looks like one.

use super::super::super::track::SecretList;
use super::form::ValueForm;
use super::seed::seed;
use super::shape::{fits_list, fits_password, fits_secret, is_certain, is_key_number};
use super::text::{NeedMore, WindowText};
use crate::detect::naming::{Meaning, NameMeaning};
use crate::detect::rules::SecretKind;
use crate::detect::validate::credential;

/// The longest value that is taken in one piece, in bytes.
pub(super) const LONGEST: usize = 512;

/// A value and what its place says of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct AssignedValue {
    pub(super) kind: SecretKind,
    pub(super) start: usize,
    pub(super) end: usize,
    /// What is taken off the rule's score.
    pub(super) doubt: f32,
    /// Whether the value was cut at the longest piece.
    pub(super) cut: bool,
    /// The list of which it is an item, whose others may follow.
    pub(super) list: Option<SecretList>,
}

/// Where to look on if the value is rejected, and the value, if there is one.
pub(super) type ValueAndRest = Result<(usize, Option<AssignedValue>), NeedMore>;

/// What the whole value `text` is that a name of this meaning is given, if it can be.
pub(super) fn kind(meaning: Meaning, text: &[u8], form: ValueForm) -> Option<SecretKind> {
    let strong = meaning.strong;
    if meaning.doubtful && !is_certain(text) {
        return None;
    }
    let (kind, fits) = match meaning.named {
        NameMeaning::Password => (SecretKind::Password, fits_password(text, strong, form)),
        NameMeaning::Key => {
            let chosen = strong && matches!(form, ValueForm::Assigned { .. }) && credential::word_key(text);
            (SecretKind::Key, chosen || credential::key(text, strong) && fits_list(text, form))
        }
        NameMeaning::Basic => (SecretKind::Basic, text.len() >= 8 && credential::basic(text)),
        NameMeaning::KeyNumber => (SecretKind::Key, is_key_number(text)),
        NameMeaning::Seed => (SecretKind::Password, seed(text).is_some()),
        NameMeaning::Secret => (
            SecretKind::Secret,
            credential::key(text, strong) && fits_list(text, form) || strong && fits_secret(text, form),
        ),
    };
    fits.then_some(kind)
}

impl WindowText<'_> {
    /// A value in quotes.
    pub(super) fn quoted(
        &self,
        meaning: Meaning,
        start: usize,
        end: usize,
        form: ValueForm,
    ) -> Option<AssignedValue> {
        let text = self.value_at(start, end);
        // What looks like an opening quote closed the text before.
        if matches!(text.first(), Some(b'.' | b'+' | b',' | b')' | b';' | b' ')) {
            return None;
        }
        kind(meaning, text, form).map(|kind| piece(kind, start, end, 0.0))
    }
}

/// A value, cut where it is as long as a piece can be.
pub(super) fn piece(kind: SecretKind, start: usize, end: usize, doubt: f32) -> AssignedValue {
    AssignedValue { kind, start, end, doubt, cut: end - start >= LONGEST, list: None }
}
