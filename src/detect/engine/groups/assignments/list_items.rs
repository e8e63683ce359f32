//! The items of lists: what they are, and where they end.

use super::super::super::track::{ListLayout, SecretList};
use super::labels::is_label_of_words;
use super::plain::is_of_program;
use super::shape::{is_code, is_label, is_marked, is_random, looks_like_key, names_itself};
use super::text::{NeedMore, WindowText, is_dense, is_name, is_quote};
use super::value::{AssignedValue, LONGEST, piece};
use crate::detect::naming::{self, Meaning, NAME, NameMeaning};
use crate::detect::rules::SecretKind;
use crate::detect::validate::credential;

/// The shortest item of a list of passwords, in bytes.
const SHORTEST: usize = 5;

/// An item of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListItem {
    /// Where it begins; or behind its name, if that says what its value is.
    pub(super) start: usize,
    pub(super) end: usize,
    /// `None` if it is a word that is no value.
    pub(super) value: Option<AssignedValue>,
}

impl WindowText<'_> {
    /// The item at `at`, behind its name on a line of its own.
    pub(super) fn named_item_at(&self, at: usize, list: SecretList) -> Result<Option<ListItem>, NeedMore> {
        let stop = self.run(at, NAME, is_name)?;
        let sign = self.blanks(stop)?;
        let given = match self.byte(sign)? {
            Some(b':') => sign == stop,
            Some(b'=') => !self.is(sign + 1, b'=')?,
            _ => false,
        };
        let value = self.blanks(sign + 1)?;
        if stop == at || !given || self.is(sign, b':')? && value == sign + 1 {
            return Ok(None);
        }
        // Other names have other values.
        let item = self.item_at(value, SecretList { plural: false, ..list })?;
        Ok(item.filter(|item| item.value.is_some()))
    }

    /// Where the value of the member at `at` begins, behind its name and the sign that gives it: `"bob": `, `bob => `, `bob = `. And
    /// the name.
    pub(super) fn member_name(&self, at: usize) -> Result<Option<(usize, &[u8])>, NeedMore> {
        let (start, end, behind) = match self.quote(at)? {
            Some(name) => {
                let Some(end) = self.closed(name, NAME)? else { return Ok(None) };
                (name.end, end, end + name.escapes + 1)
            }
            None => {
                let stop = self.run(at, NAME, is_name)?;
                (at, stop, stop)
            }
        };
        let sign = self.blanks(behind)?;
        let stop = match self.byte(sign)? {
            Some(b':') => sign + 1,
            Some(b'=') if self.is(sign + 1, b'>')? => sign + 2,
            Some(b'=') => sign + 1,
            _ => return Ok(None),
        };
        let value = self.space(stop)?;
        let given = start < end && !matches!(self.byte(value)?, None | Some(b':' | b'='));
        Ok(given.then(|| (value, self.view.slice(start, end))))
    }

    /// The item of an object at `at`, behind its name.
    pub(super) fn member_at(&self, at: usize, list: SecretList) -> Result<Option<ListItem>, NeedMore> {
        let Some((value, name)) = self.member_name(at)? else { return Ok(None) };
        // Names that say something have places of their own.
        if self.quote(value)?.is_none() || naming::meaning(name).is_some() {
            return Ok(None);
        }
        let plural = list.plural && !says_of_it(name);
        let item = self.item_at(value, SecretList { plural, ..list })?;
        Ok(item.map(|item| ListItem { start: at, ..item }))
    }

    /// The item at `at`, with a line of its own or with signs around it, as the layout has it.
    pub(super) fn item_at(&self, at: usize, list: SecretList) -> Result<Option<ListItem>, NeedMore> {
        let lined = matches!(list.layout, ListLayout::Lines(_) | ListLayout::Plain(_) | ListLayout::Names(_));
        let open = self.quote(at)?;
        let (start, end, whole) = match open {
            Some(open) => match self.closed_or_cut(open)? {
                Some(end) => (open.end, end, true),
                None => return Ok(None),
            },
            None if list.layout == ListLayout::Spaced => {
                let inner = |byte| is_dense(byte) && !matches!(byte, b',' | b']' | b')' | b'}');
                (at, self.run(at, LONGEST, inner)?, true)
            }
            None if !lined => {
                (at, self.run(at, LONGEST, |byte| is_dense(byte) && !matches!(byte, b',' | b']'))?, true)
            }
            None => {
                let end = self.run(at, LONGEST, is_dense)?;
                let behind = self.blanks(end)?;
                let cut = end == at + LONGEST;
                let alone = cut || self.ends_line(end)? || behind > end && self.is(behind, b'#')?;
                let line = self.run(end, at + LONGEST - end, |byte| !matches!(byte, b'\n' | b'\r'))?;
                (at, if alone { end } else { line }, alone)
            }
        };
        // A sentence may end behind it.
        let end = match list.layout {
            ListLayout::Inline if open.is_none() => self.trimmed(start, end, NameMeaning::Password),
            _ => end,
        };
        let text = self.value_at(start, end);
        let kind = item_kind(text, list, open.is_some()).filter(|_| whole);
        // What gives something a value has a place of its own. In no brackets it is a sentence's, or a setting's.
        let gives = |byte: &u8| matches!(byte, b':' | b'=') || is_quote(*byte);
        let bare = open.is_none() && !lined;
        let ends = bare && list.layout == ListLayout::Inline && text.iter().any(gives);
        let plain = matches!(list.layout, ListLayout::Plain(_));
        if kind.is_none() && (ends || plain || text.is_empty() && open.is_none()) {
            return Ok(None);
        }
        if bare && self.is_counted_up(start, end)? {
            return Ok(None);
        }
        // What is no value may have blanks in it.
        let spaced = kind.is_none() && bare && list.plural && list.layout != ListLayout::Spaced;
        let end = match spaced {
            true => self.run(end, at + LONGEST - end, |byte| !matches!(byte, b',' | b']' | b'\n' | b'\r'))?,
            false => end,
        };
        let value = kind.map(|kind| piece(kind, start, end, 0.0));
        Ok(Some(ListItem { start: at, end, value }))
    }

    /// Whether the item `start..end` is a variable behind which the next of its name stands: `hash1, hash2`.
    fn is_counted_up(&self, start: usize, end: usize) -> Result<bool, NeedMore> {
        let text = self.view.slice(start, end);
        let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let stem = text.get(..text.len() - digits).unwrap_or_default();
        if digits == 0
            || stem.is_empty()
            || !stem.iter().all(u8::is_ascii_alphabetic)
            || !self.is(end, b',')?
        {
            return Ok(false);
        }
        let next = self.space(end + 1)?;
        for (n, &byte) in stem.iter().enumerate() {
            if !self.is(next + n, byte)? {
                return Ok(false);
            }
        }
        Ok(self.byte(next + stem.len())?.is_some_and(|byte| byte.is_ascii_digit()))
    }
}

/// Whether the name of a member is one of a setting or of something about secrets: `algorithm`, `min_length`.
fn says_of_it(name: &[u8]) -> bool {
    let both = [b"password_".as_slice(), name].concat();
    naming::meaning(&both).is_none()
}

/// What an item is, if it can be one of the list. In quotes signs of programs may be a part of it.
fn item_kind(text: &[u8], list: SecretList, quoted: bool) -> Option<SecretKind> {
    let Meaning { named, strong, .. } = list.meaning;
    let parted = |byte: &u8| matches!(byte, b' ' | b':' | b'|' | b'=' | b',' | b'(' | b'{' | b'[');
    let chosen = || {
        list.plural
            && text.len() >= SHORTEST
            && is_marked(text)
            && !text.iter().any(parted)
            && !is_of_program(text, false)
            && !is_label_of_words(text)
    };
    let random = || is_random(text) || quoted && list.plural && is_random_with_signs(text);
    let key = || looks_like_key(text) && credential::key(text, strong);
    let kind = match named {
        NameMeaning::Password if random() || chosen() => SecretKind::Password,
        NameMeaning::Secret if random() || key() => SecretKind::Secret,
        NameMeaning::Key if key() => SecretKind::Key,
        _ => return None,
    };
    let fits = credential::password(text) && !names_itself(text) && !is_label(text) && !is_code(text);
    fits.then_some(kind)
}

/// Whether a text in quotes is random but for signs that part names from values elsewhere, and gives no name a value.
fn is_random_with_signs(text: &[u8]) -> bool {
    let parts = |byte: &u8| matches!(byte, b':' | b',' | b'|' | b'=' | b'(' | b'[' | b'{');
    let first = text.split(parts).next().unwrap_or_default();
    let plain: Vec<u8> = text.iter().map(|byte| if parts(byte) { b'_' } else { *byte }).collect();
    let named = first.iter().all(u8::is_ascii_alphabetic);
    first.len() < text.len() && !named && is_random(&plain)
}
