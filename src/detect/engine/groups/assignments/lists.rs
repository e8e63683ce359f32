//! Lists whose items are secrets: `passwords:` and a line for each, `"passwords": ["…", "…"]`. The first is found from the
//! name, each other from the one before it.

use super::super::super::track::SecretList;
use super::shape::{is_code, is_label, is_marked, is_random, looks_like_key, names_itself};
use super::text::{NeedMore, WindowText, is_dense};
use super::value::{AssignedValue, piece};
use crate::detect::naming::{self, Meaning, NameMeaning};
use crate::detect::rules::SecretKind;
use crate::detect::validate::credential;

/// The longest item, and the longest comment behind one, in bytes.
const ITEM: usize = 128;
/// How many items are looked at for the first value.
const FIRST: usize = 3;
/// The most blanks before an item, in bytes, and the signs there.
const INDENT: usize = 24;
/// The shortest item of a list of passwords, in bytes.
const SHORTEST: usize = 5;

/// An item of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListItem {
    pub(super) end: usize,
    /// `None` if it is a word that is no value.
    pub(super) value: Option<AssignedValue>,
}

impl WindowText<'_> {
    /// The first value of the list that is given to the name which the word at `start..stop` is a part of, if that is the plural of
    /// a secret's.
    pub(super) fn list_named(&self, start: usize, stop: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let Some(name) = self.located(start, stop) else { return Ok(None) };
        let text = self.view.slice(name.start, name.end);
        let one = text.strip_suffix(b"s").or_else(|| text.strip_suffix(b"S"));
        let meaning = one.and_then(naming::meaning).filter(|meaning| meaning.strong);
        let Some(meaning) = meaning else { return Ok(None) };
        let quote = self.quote(name.end)?.map_or(name.end, |quote| quote.end);
        let sign = self.blanks(quote)?;
        let behind = self.run(sign, 2, |byte| matches!(byte, b':' | b'=' | b'>'))?;
        let at = self.blanks(behind)?;
        let list = SecretList { meaning, plural: true };
        let mut item = match self.byte(at)? {
            _ if behind == sign => None,
            Some(b'[') => self.item_at(self.space(at + 1)?, list, true)?,
            Some(b'\n' | b'\r') => self.next_item(at, list)?,
            _ => None,
        };
        for _ in 0..FIRST {
            match item {
                Some(ListItem { end, value: None }) => item = self.next_item(end, list)?,
                _ => break,
            }
        }
        Ok(item.and_then(|item| item.value))
    }

    /// The value with the list whose first item it is, if it is one.
    pub(super) fn with_list(&self, meaning: Meaning, value: AssignedValue) -> AssignedValue {
        let head = self.view.slice(value.start.saturating_sub(INDENT), value.start);
        let head =
            head.strip_suffix(b"\"").or_else(|| head.strip_suffix(b"'")).unwrap_or(head).trim_ascii_end();
        let dashed = head.strip_suffix(b"-").is_some_and(|indent| {
            indent.iter().rev().find(|byte| !matches!(byte, b' ' | b'\t')) == Some(&b'\n')
        });
        let opens = meaning.strong && !value.cut && (dashed || head.ends_with(b"["));
        let list = SecretList { meaning, plural: false };
        AssignedValue { list: opens.then_some(list), ..value }
    }

    /// The item behind the one that ends at `at`, or behind the name: after a comma, or on the next line.
    pub(super) fn next_item(&self, at: usize, list: SecretList) -> Result<Option<ListItem>, NeedMore> {
        let quote = self.quote(at)?.map_or(at, |quote| quote.end);
        let behind = self.blanks(quote)?;
        let end = match self.byte(behind)? {
            Some(b'#') if behind > quote => self.run(behind, ITEM, |byte| !matches!(byte, b'\n' | b'\r'))?,
            _ => behind,
        };
        let next = self.space(end)?;
        let lined = self.view.slice(end, next).contains(&b'\n');
        match self.byte(next)? {
            Some(b',') => self.item_at(self.space(next + 1)?, list, true),
            Some(b'-') if lined && self.is(next + 1, b' ')? => {
                self.item_at(self.blanks(next + 1)?, list, false)
            }
            _ => Ok(None),
        }
    }

    /// The item at `at`, of a list in brackets if it is `inline`, else with a line of its own.
    fn item_at(&self, at: usize, list: SecretList, inline: bool) -> Result<Option<ListItem>, NeedMore> {
        let (start, end) = match self.quote(at)? {
            Some(open) => match self.closed(open, ITEM)? {
                Some(end) => (open.end, end),
                None => return Ok(None),
            },
            None if inline => {
                (at, self.run(at, ITEM, |byte| is_dense(byte) && !matches!(byte, b',' | b']'))?)
            }
            None => {
                let end = self.run(at, ITEM, is_dense)?;
                let behind = self.blanks(end)?;
                let alone = self.ends_line(end)? || behind > end && self.is(behind, b'#')?;
                if alone { (at, end) } else { return Ok(None) }
            }
        };
        let text = self.value_at(start, end);
        let kind = item_kind(text, list);
        // What is more than a word may be something else that has a value.
        if text.is_empty() || kind.is_none() && !text.iter().all(u8::is_ascii_alphanumeric) {
            return Ok(None);
        }
        let value = kind.map(|kind| AssignedValue { list: Some(list), ..piece(kind, start, end, 0.0) });
        Ok(Some(ListItem { end, value }))
    }
}

/// What an item is, if it can be one of the list.
fn item_kind(text: &[u8], list: SecretList) -> Option<SecretKind> {
    let Meaning { named, strong } = list.meaning;
    let parted = |byte: &u8| matches!(byte, b' ' | b':' | b'|' | b'=' | b',' | b'(' | b'{' | b'[');
    let chosen = || list.plural && text.len() >= SHORTEST && is_marked(text) && !text.iter().any(parted);
    let key = || looks_like_key(text) && credential::key(text, strong);
    let kind = match named {
        NameMeaning::Password if is_random(text) || chosen() => SecretKind::Password,
        NameMeaning::Secret if is_random(text) || key() => SecretKind::Secret,
        NameMeaning::Key if key() => SecretKind::Key,
        _ => return None,
    };
    let fits = credential::password(text) && !names_itself(text) && !is_label(text) && !is_code(text);
    fits.then_some(kind)
}
