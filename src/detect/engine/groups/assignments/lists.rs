//! Lists whose items are secrets: `passwords:` and a line for each, `"passwords": ["…", "…"]`, `"passwords": {"bob": "…"}`. The
//! first is found from the name, each other from the one before it.

use super::super::super::track::{ListLayout, ListPlace, OpenList, SecretList};
use super::list_items::ListItem;
use super::text::{NeedMore, WindowText};
use super::value::AssignedValue;
use crate::detect::naming::Meaning;

/// The longest comment behind an item, in bytes.
const COMMENT: usize = 128;
/// The most blanks before an item, in bytes, and the signs there.
const INDENT: usize = 24;
/// The most brackets that close one after another.
const CLOSED: usize = 2;
/// Bullets of more than one byte.
const BULLETS: [&str; 2] = ["•", "–"];
/// Words between the items of a sentence.
const WORDS: [&str; 4] = ["and ", "or ", "& ", "to "];

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
            ListPlace::Behind(end) => match list.layout {
                ListLayout::Cookies(ends) => self.next_cookie(end, ends)?.map(|place| step(place, None)),
                _ => self.next_item(end, list)?.map(|at| step(ListPlace::At(at), None)),
            },
            ListPlace::At(at) => {
                self.item(at, list)?.map(|item| step(ListPlace::Behind(item.end), Some(item)))
            }
        })
    }

    /// The value with the list whose first item it is, if it is one.
    pub(super) fn with_list(
        &self,
        meaning: Meaning,
        value: AssignedValue,
    ) -> Result<AssignedValue, NeedMore> {
        if !meaning.strong || value.cut {
            return Ok(value);
        }
        let head = self.view.slice(value.start.saturating_sub(INDENT), value.start);
        let head =
            head.strip_suffix(b"\"").or_else(|| head.strip_suffix(b"'")).unwrap_or(head).trim_ascii_end();
        let line = head.strip_suffix(b"-").and_then(|indent| {
            let blanks = indent.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            let starts = indent.iter().rev().nth(blanks) == Some(&b'\n');
            starts.then_some(ListLayout::Lines(blanks))
        });
        let opened = head.ends_with(b"[").then_some(ListLayout::Commas);
        let layout = match line.or(opened) {
            // `the password is a or b`.
            None if self.is(value.end, b' ')? && self.joins(value.end + 1)? > value.end + 1 => {
                Some(ListLayout::Inline)
            }
            layout => layout,
        };
        let behind = self.quote(value.end)?.map_or(value.end, |quote| quote.end);
        // A plan of changes has what will be behind what was: an item as good as the first.
        let changed = layout.is_none() && self.behind_arrow(behind)?.is_some();
        let layout = layout.or(changed.then_some(ListLayout::Inline));
        let list = layout.map(|layout| SecretList { meaning, plural: changed, layout });
        Ok(AssignedValue { list, ..value })
    }

    /// Behind the word at `at` with which a sentence goes on with another item.
    fn joins(&self, at: usize) -> Result<usize, NeedMore> {
        for word in WORDS {
            if self.follows(at, word)? {
                return self.blanks(at + word.len());
            }
        }
        Ok(at)
    }

    /// Where the item begins behind the one that ends at `at`: after a comma, or on the next line.
    fn next_item(&self, at: usize, list: SecretList) -> Result<Option<usize>, NeedMore> {
        let quote = self.quote(at)?.map_or(at, |quote| quote.end);
        let mut end = self.behind_comment(quote)?;
        let mut next = self.space(end)?;
        // A line of its own may be a comment.
        if self.is(next, b'#')? && self.view.slice(end, next).contains(&b'\n') {
            end = self.run(next, COMMENT, |byte| !matches!(byte, b'\n' | b'\r'))?;
            next = self.space(end)?;
        }
        let gap = self.view.slice(end, next);
        let lines = gap.iter().filter(|&&byte| byte == b'\n').count();
        let sign = self.byte(next)?;
        match list.layout {
            ListLayout::Commas | ListLayout::Members if matches!(sign, Some(b',' | b';' | b'|')) => {
                Ok(Some(self.behind_comments(next + 1)?))
            }
            // Shells part the items of an array by blanks.
            ListLayout::Commas if quote > at && next > quote => Ok(self.quote(next)?.map(|_| next)),
            // Members may have a line each.
            ListLayout::Members if lines > 0 && !matches!(sign, None | Some(b'}' | b']' | b')')) => {
                Ok(Some(next))
            }
            ListLayout::Nested => self.next_nested(next),
            ListLayout::Spaced if next > at => Ok(Some(next)),
            ListLayout::Inline => self.next_inline(quote, list),
            ListLayout::Lines(indent) | ListLayout::Names(indent) => {
                // One line may be empty.
                Ok(((1..=2).contains(&lines) && indent_of(gap) == indent).then_some(next))
            }
            ListLayout::Plain(indent) => Ok((lines == 1 && indent_of(gap) == indent).then_some(next)),
            ListLayout::CookieMembers => self.next_cookie_member(at),
            _ => Ok(None),
        }
    }

    /// Where the item begins behind brackets that close at `at`, and those that open again.
    fn next_nested(&self, at: usize) -> Result<Option<usize>, NeedMore> {
        let close = self.run(at, CLOSED, |byte| matches!(byte, b']' | b')' | b'}'))?;
        let comma = self.space(close)?;
        if !self.is(comma, b',')? {
            return Ok(None);
        }
        let item = self.behind_comments(comma + 1)?;
        let open = self.run(item, 1, |byte| matches!(byte, b'[' | b'(' | b'{'))?;
        // What follows the brackets without others is no item.
        Ok(if open > item || close == at { Some(self.space(open)?) } else { None })
    }

    /// Where the item begins on the line behind the one that ends at `at`, by the sign, the word or the blank between.
    fn next_inline(&self, at: usize, list: SecretList) -> Result<Option<usize>, NeedMore> {
        if list.plural {
            return self.behind_arrow(at);
        }
        let sign = self.blanks(at)?;
        match self.byte(sign)? {
            Some(b',') => {
                let item = self.behind_comments(sign + 1)?;
                Ok(Some(self.joins(item)?))
            }
            None | Some(b'\n' | b'\r') => Ok(None),
            // Other words and settings may follow as well.
            byte => {
                let signed = matches!(byte, Some(b';')) || sign > at && matches!(byte, Some(b'|' | b'/'));
                let item = if signed { self.blanks(sign + 1)? } else { self.joins(sign)? };
                let parted = signed || sign > at;
                let value = if parted { self.item_at(item, list)? } else { None };
                Ok(value.and_then(|item| item.value).map(|_| item))
            }
        }
    }

    /// The item that begins at `at`; `None` where the list has ended before, or something else is given a value.
    fn item(&self, at: usize, list: SecretList) -> Result<Option<ListItem>, NeedMore> {
        match list.layout {
            ListLayout::Commas | ListLayout::Nested | ListLayout::Spaced | ListLayout::Inline => {
                self.item_at(at, list)
            }
            ListLayout::Members => self.member_at(at, list),
            ListLayout::Lines(_) => {
                let start = self.behind_bullet(at)?;
                start.map_or(Ok(None), |start| self.item_at(start, list))
            }
            ListLayout::Plain(_) => self.item_at(at, list),
            ListLayout::Names(_) => self.named_item_at(at, list),
            ListLayout::Cookies(ends) => self.cookie_at(at, ends),
            ListLayout::CookieMembers => self.cookie_member_at(at),
        }
    }

    /// Behind the bullets of an item at `at`, of which an item of lists within lists has two.
    pub(super) fn behind_bullet(&self, at: usize) -> Result<Option<usize>, NeedMore> {
        let Some(first) = self.behind_one_bullet(at)? else { return Ok(None) };
        let second = if self.is(first, b'-')? { self.behind_one_bullet(first)? } else { None };
        Ok(Some(second.unwrap_or(first)))
    }

    /// Behind the bullet at `at`: `- `, `* `, `1. `, `2) `.
    fn behind_one_bullet(&self, at: usize) -> Result<Option<usize>, NeedMore> {
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

    /// Behind blanks at `at` and the comment there, to the end of its line.
    pub(super) fn behind_comment(&self, at: usize) -> Result<usize, NeedMore> {
        let start = self.blanks(at)?;
        let comment = match self.byte(start)? {
            Some(b'#') => start > at,
            Some(b'/') if self.is(start + 1, b'*')? => return self.behind_remark(start),
            Some(b'/') => self.is(start + 1, b'/')?,
            _ => false,
        };
        if comment { self.run(start, COMMENT, |byte| !matches!(byte, b'\n' | b'\r')) } else { Ok(start) }
    }

    /// Behind blanks and line ends at `at`, and behind a few lines of comments there.
    pub(super) fn behind_comments(&self, at: usize) -> Result<usize, NeedMore> {
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

    /// Behind blanks behind the remark `/* … */` at `at`.
    fn behind_remark(&self, at: usize) -> Result<usize, NeedMore> {
        let mut end = at + 2;
        while end < at + COMMENT {
            end = self.run(end, at + COMMENT - end, |byte| !matches!(byte, b'*' | b'\n' | b'\r'))?;
            if !self.is(end, b'*')? {
                break;
            }
            if self.is(end + 1, b'/')? {
                return self.blanks(end + 2);
            }
            end += 1;
        }
        Ok(at)
    }
}

/// How many blanks stand behind the last line end of what parts two items.
pub(super) fn indent_of(gap: &[u8]) -> usize {
    gap.iter().rev().take_while(|&&byte| byte != b'\n').count()
}
