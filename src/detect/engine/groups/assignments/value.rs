//! A value at a place of a secret: what it is, and whether it looks like one.

use super::super::super::track::{LongRest, OpenList, RestEnd, SecretList};
use super::form::ValueForm;
use super::seed::seed;
use super::shape::{fits_list, fits_password, fits_secret, is_certain, is_key_number, is_unguessable};
use super::text::{NeedMore, Quote, WindowText, is_quote};
use crate::detect::finding::RuleId;
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
    /// How it ends then.
    pub(super) rest_end: RestEnd,
    /// The list of which it is an item, whose others may follow.
    pub(super) list: Option<SecretList>,
}

impl AssignedValue {
    /// The same, cut between two characters. In a quote it goes on to that quote.
    pub(super) fn at_boundary(self, text: &WindowText<'_>) -> Self {
        let whole = Self { end: text.view.boundary(self.end), ..self };
        if !whole.cut || whole.rest_end != RestEnd::Word {
            return whole;
        }
        match text.quote_before(whole.start).or_else(|| text.quote_within(whole)) {
            Some(open) => Self { rest_end: RestEnd::Quote(open.byte, open.escapes), ..whole },
            None => whole,
        }
    }

    /// What of it follows, which `rule` has taken, if it was cut.
    pub(super) fn rest(self, rule: RuleId) -> Option<LongRest> {
        self.cut.then_some(LongRest { rule, end: self.rest_end })
    }
}

/// What a place has.
#[derive(Clone, Copy, Debug)]
pub(super) enum PlaceContent {
    Nothing,
    Value(AssignedValue),
    /// A list whose items are secrets.
    List(OpenList),
}

impl PlaceContent {
    /// The value, if it has one of its own.
    pub(super) const fn value(self) -> Option<AssignedValue> {
        match self {
            Self::Value(value) => Some(value),
            Self::Nothing | Self::List(_) => None,
        }
    }
}

impl From<Option<AssignedValue>> for PlaceContent {
    fn from(value: Option<AssignedValue>) -> Self {
        value.map_or(Self::Nothing, Self::Value)
    }
}

/// Where to look on if the place has no value, and what it has.
pub(super) type ContentAndRest = Result<(usize, PlaceContent), NeedMore>;

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
    /// Where the value ends that `open` opens: with its quote, or where a piece of it ends on its line.
    pub(super) fn closed_or_cut(&self, open: Quote) -> Result<Option<usize>, NeedMore> {
        if let Some(end) = self.closed(open, LONGEST)? {
            return Ok(Some(end));
        }
        let end = self.run(open.end, LONGEST, |byte| byte != b'\n')?;
        Ok((end == open.end + LONGEST).then_some(end))
    }

    /// A value in quotes.
    pub(super) fn quoted(
        &self,
        meaning: Meaning,
        start: usize,
        end: usize,
        form: ValueForm,
    ) -> Option<AssignedValue> {
        let text = self.value_at(start, end);
        let joins = |sign: u8| matches!(sign, b'.' | b'+' | b',' | b')' | b';' | b' ');
        // What looks like an opening quote closed the text before.
        if text.split_first().is_some_and(|(&sign, rest)| joins(sign) && !is_unguessable(rest)) {
            return None;
        }
        kind(meaning, text, form).map(|kind| piece(kind, start, end, 0.0))
    }

    /// The quote that is open where the first piece of a command's word ends.
    fn quote_within(&self, value: AssignedValue) -> Option<Quote> {
        let open = |open: Option<u8>, &byte: &u8| match open {
            Some(quote) => Some(quote).filter(|quote| *quote != byte),
            None => Some(byte).filter(|byte| is_quote(*byte)),
        };
        let word = (value.kind == SecretKind::Command).then(|| self.view.slice(value.start, value.end))?;
        word.iter().fold(None, open).map(|byte| Quote { byte, escapes: 0, end: value.end })
    }

    /// The quote that ends at `at`.
    fn quote_before(&self, at: usize) -> Option<Quote> {
        let byte = self.before(at).filter(|&byte| is_quote(byte))?;
        let head = self.view.slice(at.saturating_sub(5), at - 1);
        let escapes = head.iter().rev().take_while(|&&byte| byte == b'\\').count();
        Some(Quote { byte, escapes, end: at })
    }
}

/// A value, cut where it is as long as a piece can be.
pub(super) fn piece(kind: SecretKind, start: usize, end: usize, doubt: f32) -> AssignedValue {
    let cut = end - start >= LONGEST;
    AssignedValue { kind, start, end, doubt, cut, rest_end: RestEnd::Word, list: None }
}
