//! Lists whose items are secrets: `passwords:` and a line for each, `"passwords": ["…", "…"]`, `"passwords": {"bob": "…"}`. The
//! first is found from the name, each other from the one before it.

use super::super::super::track::{ListLayout, ListPlace, OpenList, SecretList};
use super::plain::is_of_program;
use super::shape::{is_code, is_label, is_marked, is_random, looks_like_key, names_itself};
use super::text::{NeedMore, WindowText, is_dense, is_name, is_quote};
use super::value::{AssignedValue, LONGEST, piece};
use crate::detect::naming::{self, Meaning, NAME, NameMeaning};
use crate::detect::rules::SecretKind;
use crate::detect::validate::credential;

/// The longest comment behind an item, in bytes.
const COMMENT: usize = 128;
/// How many items are looked at for the first value, and how far from the first of them one may begin, in bytes.
const FIRST: usize = 5;
const SEARCHED: usize = 320;
/// The most blanks before an item, in bytes, and the signs there.
const INDENT: usize = 24;
/// The shortest item of a list of passwords, in bytes.
const SHORTEST: usize = 5;
/// Bullets of more than one byte.
const BULLETS: [&str; 2] = ["•", "–"];

/// An item of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListItem {
    /// Where it begins; or behind its name, if that says what its value is.
    pub(super) start: usize,
    pub(super) end: usize,
    /// `None` if it is a word that is no value.
    pub(super) value: Option<AssignedValue>,
}

/// A step through a list: where it goes on, and the item that was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListStep {
    pub(super) open: OpenList,
    pub(super) item: Option<ListItem>,
}

impl WindowText<'_> {
    /// Goes on with a list: from behind an item to the next, or from there behind it. `None` where it has ended.
    pub(super) fn go_on(&self, open: OpenList) -> Result<Option<ListStep>, NeedMore> {
        let list = open.list;
        let step = |place, item| ListStep { open: OpenList { list, place }, item };
        Ok(match open.place {
            ListPlace::Behind(end) => self.next_item(end, list)?.map(|at| step(ListPlace::At(at), None)),
            ListPlace::At(at) => {
                self.item(at, list)?.map(|item| step(ListPlace::Behind(item.end), Some(item)))
            }
        })
    }

    /// The list that is given to the name which the word at `start..stop` is a part of, if that is the plural of a secret's and one of
    /// the first items is a value.
    pub(super) fn list_named(&self, start: usize, stop: usize) -> Result<Option<OpenList>, NeedMore> {
        let Some(name) = self.located(start, stop) else { return Ok(None) };
        let text = self.view.slice(name.start, name.end);
        let one = text.strip_suffix(b"s").or_else(|| text.strip_suffix(b"S"));
        let words = || one.and_then(|_| self.two_words(name.start, name.end - 1));
        let meaning = one.and_then(naming::meaning).or_else(words).filter(|meaning| meaning.strong);
        let Some(meaning) = meaning else { return Ok(None) };
        let quote = self.quote(name.end)?.map_or(name.end, |quote| quote.end);
        let sign = self.blanks(self.marks(quote)?)?;
        let behind = self.run(sign, 2, |byte| matches!(byte, b':' | b'=' | b'>'))?;
        if behind == sign {
            return Ok(None);
        }
        let Some(list) = self.list_behind(self.marks(behind)?, meaning)? else { return Ok(None) };
        // What stands in no brackets may be a sentence.
        let most = if list.list.plural { FIRST } else { 1 };
        let (mut open, mut items) = (list, 0);
        while items < most && open.place.offset() < list.place.offset() + SEARCHED {
            let Some(step) = self.go_on(open)? else { break };
            if step.item.is_some_and(|item| item.value.is_some()) {
                return Ok(Some(list));
            }
            items += usize::from(step.item.is_some());
            open = step.open;
        }
        Ok(None)
    }

    /// The list behind the sign that gives it, which ends at `at`.
    fn list_behind(&self, at: usize, meaning: Meaning) -> Result<Option<OpenList>, NeedMore> {
        let at = self.behind_comment(at)?;
        let (layout, plural, first) = match self.byte(at)? {
            Some(b'[') => (ListLayout::Commas, true, self.behind_comments(at + 1)?),
            Some(b'{') => (ListLayout::Members, true, self.behind_comments(at + 1)?),
            Some(b'(') if self.quote(self.behind_comments(at + 1)?)?.is_some() => {
                (ListLayout::Commas, true, self.behind_comments(at + 1)?)
            }
            Some(b'\n' | b'\r') => {
                let first = self.behind_comments(at)?;
                // Its indent is that of the others.
                let indent = indent_of(self.view.slice(at, first));
                let bulleted = self.behind_bullet(first)?.is_some();
                (if bulleted { ListLayout::Lines(indent) } else { ListLayout::Names(indent) }, true, first)
            }
            Some(_) => (ListLayout::Commas, false, at),
            None => return Ok(None),
        };
        let list = SecretList { meaning, plural, layout };
        Ok(Some(OpenList { list, place: ListPlace::At(first) }))
    }

    /// The value with the list whose first item it is, if it is one.
    pub(super) fn with_list(&self, meaning: Meaning, value: AssignedValue) -> AssignedValue {
        let head = self.view.slice(value.start.saturating_sub(INDENT), value.start);
        let head =
            head.strip_suffix(b"\"").or_else(|| head.strip_suffix(b"'")).unwrap_or(head).trim_ascii_end();
        let line = head.strip_suffix(b"-").and_then(|indent| {
            let blanks = indent.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            let starts = indent.iter().rev().nth(blanks) == Some(&b'\n');
            starts.then_some(ListLayout::Lines(blanks))
        });
        let opened = head.ends_with(b"[").then_some(ListLayout::Commas);
        let layout = line.or(opened).filter(|_| meaning.strong && !value.cut);
        let list = layout.map(|layout| SecretList { meaning, plural: false, layout });
        AssignedValue { list, ..value }
    }

    /// Where the item begins behind the one that ends at `at`: after a comma, or on the next line.
    fn next_item(&self, at: usize, list: SecretList) -> Result<Option<usize>, NeedMore> {
        if list.layout == ListLayout::Cookies {
            return Ok(Some(self.next_cookie(at)?));
        }
        let quote = self.quote(at)?.map_or(at, |quote| quote.end);
        let mut end = self.behind_comment(quote)?;
        let mut next = self.space(end)?;
        // A line of its own may be a comment.
        if self.is(next, b'#')? && self.view.slice(end, next).contains(&b'\n') {
            end = self.run(next, COMMENT, |byte| !matches!(byte, b'\n' | b'\r'))?;
            next = self.space(end)?;
        }
        match list.layout {
            ListLayout::Commas | ListLayout::Members if self.is(next, b',')? => {
                Ok(Some(self.behind_comments(next + 1)?))
            }
            ListLayout::Lines(indent) | ListLayout::Names(indent) => {
                // One line may be empty.
                let gap = self.view.slice(end, next);
                let lines = gap.iter().filter(|&&byte| byte == b'\n').count();
                Ok(((1..=2).contains(&lines) && indent_of(gap) == indent).then_some(next))
            }
            _ => Ok(None),
        }
    }

    /// The item that begins at `at`; `None` where the list has ended before, or something else is given a value.
    fn item(&self, at: usize, list: SecretList) -> Result<Option<ListItem>, NeedMore> {
        match list.layout {
            ListLayout::Commas => self.item_at(at, list, true),
            ListLayout::Members => self.member_at(at, list),
            ListLayout::Lines(_) => {
                let start = self.behind_bullet(at)?;
                start.map_or(Ok(None), |start| self.item_at(start, list, false))
            }
            ListLayout::Names(_) => self.named_item_at(at, list),
            ListLayout::Cookies => self.cookie_at(at),
        }
    }

    /// The item at `at`, behind its name on a line of its own.
    fn named_item_at(&self, at: usize, list: SecretList) -> Result<Option<ListItem>, NeedMore> {
        let stop = self.run(at, NAME, is_name)?;
        let value = self.blanks(stop + 1)?;
        if stop == at || !self.is(stop, b':')? || value == stop + 1 {
            return Ok(None);
        }
        // Other names have other values.
        let item = self.item_at(value, SecretList { plural: false, ..list }, false)?;
        Ok(item.filter(|item| item.value.is_some()))
    }

    /// Behind the bullet of an item at `at`: `- `, `* `, `1. `, `2) `.
    fn behind_bullet(&self, at: usize) -> Result<Option<usize>, NeedMore> {
        let digits = self.run(at, 3, |byte| byte.is_ascii_digit())?;
        let end = match self.byte(digits)? {
            Some(b'-' | b'*') if digits == at => at + 1,
            Some(b'.' | b')') if digits > at => digits + 1,
            Some(0xE2) if digits == at => {
                let mut end = at;
                for bullet in BULLETS {
                    end = if self.follows(at, bullet)? { at + bullet.len() } else { end };
                }
                end
            }
            _ => at,
        };
        let start = self.blanks(end)?;
        Ok((end > at && start > end).then_some(start))
    }

    /// The item of an object at `at`, behind its name in quotes.
    fn member_at(&self, at: usize, list: SecretList) -> Result<Option<ListItem>, NeedMore> {
        let Some(name) = self.quote(at)? else { return Ok(None) };
        let Some(end) = self.closed(name, NAME)? else { return Ok(None) };
        let sign = self.blanks(end + name.escapes + 1)?;
        if !self.is(sign, b':')? {
            return Ok(None);
        }
        let value = self.space(sign + 1)?;
        if self.quote(value)?.is_none() {
            return Ok(None);
        }
        // Names that say something have places of their own.
        if naming::meaning(self.view.slice(name.end, end)).is_some() {
            return Ok(None);
        }
        let item = self.item_at(value, list, true)?;
        Ok(item.map(|item| ListItem { start: at, ..item }))
    }

    /// The item at `at`, with commas around it if it is `inline`, else with a line of its own.
    fn item_at(&self, at: usize, list: SecretList, inline: bool) -> Result<Option<ListItem>, NeedMore> {
        let open = self.quote(at)?;
        let (start, end, whole) = match open {
            Some(open) => match self.closed_or_cut(open)? {
                Some(end) => (open.end, end, true),
                None => return Ok(None),
            },
            None if inline => {
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
        let text = self.value_at(start, end);
        let kind = item_kind(text, list).filter(|_| whole);
        // What gives something a value has a place of its own. In no brackets it is a sentence's, or a setting's.
        let gives = |byte: &u8| matches!(byte, b':' | b'=') || is_quote(*byte);
        let ends = open.is_none() && inline && !list.plural && text.iter().any(gives);
        if kind.is_none() && (ends || text.is_empty() && open.is_none()) {
            return Ok(None);
        }
        if open.is_none() && inline && self.is_counted_up(start, end)? {
            return Ok(None);
        }
        // What is no value may have blanks in it.
        let spaced = kind.is_none() && open.is_none() && inline && list.plural;
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

    /// Behind blanks at `at` and the comment there, to the end of its line.
    fn behind_comment(&self, at: usize) -> Result<usize, NeedMore> {
        let start = self.blanks(at)?;
        let comment = match self.byte(start)? {
            Some(b'#') => start > at,
            Some(b'/') => self.is(start + 1, b'/')?,
            _ => false,
        };
        if comment { self.run(start, COMMENT, |byte| !matches!(byte, b'\n' | b'\r')) } else { Ok(start) }
    }

    /// Behind blanks and line ends at `at`, and behind a few lines of comments there.
    fn behind_comments(&self, at: usize) -> Result<usize, NeedMore> {
        let mut at = self.behind_comment(at)?;
        for _ in 0..2 {
            at = self.space(at)?;
            let comment = self.is(at, b'#')? && self.is(at + 1, b' ')?
                || self.is(at, b'/')? && self.is(at + 1, b'/')?;
            if !comment {
                break;
            }
            at = self.run(at, COMMENT, |byte| !matches!(byte, b'\n' | b'\r'))?;
        }
        self.space(at)
    }
}

/// How many blanks stand behind the last line end of what parts two items.
fn indent_of(gap: &[u8]) -> usize {
    gap.iter().rev().take_while(|&&byte| byte != b'\n').count()
}

/// What an item is, if it can be one of the list.
fn item_kind(text: &[u8], list: SecretList) -> Option<SecretKind> {
    let Meaning { named, strong, .. } = list.meaning;
    let parted = |byte: &u8| matches!(byte, b' ' | b':' | b'|' | b'=' | b',' | b'(' | b'{' | b'[');
    let chosen = || {
        list.plural
            && text.len() >= SHORTEST
            && is_marked(text)
            && !text.iter().any(parted)
            && !is_of_program(text, false)
    };
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
