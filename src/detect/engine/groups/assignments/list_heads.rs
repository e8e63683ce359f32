//! Where lists of secrets begin: behind their names, the signs and types there, and the brackets that open them.

use super::super::super::track::{ListLayout, ListPlace, OpenList, SecretList};
use super::lists::indent_of;
use super::named::NameBounds;
use super::text::{NeedMore, WindowText, is_name, is_quote};
use crate::detect::naming::{self, Meaning, NAME};

/// How many items are looked at for the first value, and how far behind the beginning of the name one may begin, in bytes.
const FIRST: usize = 5;
const SEARCHED: usize = 400;
/// The longest type or name of a call before a list, in bytes, and the most of them.
const TYPE: usize = 32;
const CALLS: usize = 3;
/// How much of a text in quotes is looked at for signs that part items, in bytes.
const QUOTED: usize = 128;

/// What calls have at their end that add to a list.
const ADDS: [&[u8]; 3] = [b".append", b".push", b".add"];
/// What calls, macros and words are called that make a list of what stands in their brackets.
const COLLECTIONS: [&str; 21] = [
    "array",
    "arraylistof",
    "arrayof",
    "aslist",
    "c",
    "frozenset",
    "hashset",
    "list",
    "listof",
    "mutablelistof",
    "of",
    "qw",
    "set",
    "setof",
    "tolist",
    "toset",
    "tuple",
    "vec!",
    "%w",
    "@",
    "",
];

impl WindowText<'_> {
    /// The list that is given to the name which the word at `start..stop` is a part of, if that is the plural of a secret's and one of
    /// the first items is a value.
    pub(super) fn list_named(&self, start: usize, stop: usize) -> Result<Option<OpenList>, NeedMore> {
        let Some(name) = self.located(start, stop) else { return Ok(None) };
        let text = self.view.slice(name.start, name.end);
        let plural = ADDS.iter().find_map(|end| text.strip_suffix(*end)).unwrap_or(text);
        let adds = plural.len() < text.len();
        let one = plural.strip_suffix(b"s").or_else(|| plural.strip_suffix(b"S"));
        let last = name.start + plural.len().saturating_sub(1);
        let words = || one.and_then(|_| self.two_words(name.start, last));
        let meaning = one.and_then(naming::meaning).or_else(words).filter(|meaning| meaning.strong);
        let Some(meaning) = meaning else { return Ok(None) };
        let list = match (adds, self.is_section(name)?) {
            (true, _) if self.is(name.end, b'(')? && self.quote(name.end + 1)?.is_some() => {
                Some(open_list(meaning, ListLayout::Commas, true, name.end + 1))
            }
            (true, _) => None,
            (false, Some(first)) => Some(open_list(meaning, ListLayout::Names(0), true, first)),
            (false, None) => self.list_given(name, meaning)?,
        };
        let Some(list) = list else { return Ok(None) };
        // What stands in no brackets may be a sentence.
        let most = if list.list.plural { FIRST } else { 1 };
        let (mut open, mut items) = (list, 0);
        while items < most && open.place.offset() < start + SEARCHED {
            let Some(step) = self.go_on(open)? else { break };
            if step.item.is_some_and(|item| item.value.is_some()) {
                return Ok(Some(list));
            }
            items += usize::from(step.item.is_some());
            open = step.open;
        }
        Ok(None)
    }

    /// Where the first line of the section begins whose head the name is: `[passwords]`.
    fn is_section(&self, name: NameBounds) -> Result<Option<usize>, NeedMore> {
        let opens = self.before(name.start) == Some(b'[')
            && name.start.checked_sub(2).is_none_or(|at| self.view.get(at) == Some(b'\n'));
        if !opens || !self.is(name.end, b']')? || !self.ends_line(name.end + 1)? {
            return Ok(None);
        }
        Ok(Some(self.behind_comments(name.end + 1)?))
    }

    /// The list behind the sign that gives it to the name, or to an element of it.
    fn list_given(&self, name: NameBounds, meaning: Meaning) -> Result<Option<OpenList>, NeedMore> {
        let quote = self.quote(name.end)?.map_or(name.end, |quote| quote.end);
        let element = self.behind_index(quote)?;
        let sign = self.blanks(self.marks(element)?)?;
        if self.follows(sign, "are ")? || self.follows(sign, "were ")? {
            let first = self.blanks(self.run(sign, 5, |byte| byte.is_ascii_alphabetic())?)?;
            return Ok(Some(open_list(meaning, ListLayout::Inline, false, first)));
        }
        let added = self.run(sign, 1, |byte| byte == b'+')?;
        let behind = self.run(added, 2, |byte| matches!(byte, b':' | b'=' | b'>'))?;
        if behind == added {
            return Ok(None);
        }
        let at = self.behind_comment(self.marks(behind)?)?;
        let at = self.behind_anchor(self.behind_type(at)?)?;
        self.list_behind(self.behind_constructor(at)?, meaning)
    }

    /// Behind the index of an element at `at`: `[0]`, `["bob"]`.
    fn behind_index(&self, at: usize) -> Result<usize, NeedMore> {
        if !self.is(at, b'[')? {
            return Ok(at);
        }
        let end = match self.quote(at + 1)? {
            Some(open) => self.closed(open, NAME)?.map(|end| end + open.escapes + 1),
            None => Some(self.run(at + 1, 6, |byte| byte.is_ascii_digit())?).filter(|&end| end > at + 1),
        };
        Ok(match end {
            Some(end) if self.is(end, b']')? => end + 1,
            _ => at,
        })
    }

    /// Behind the type at `at` and the sign that gives a value: `string[] = `.
    fn behind_type(&self, at: usize) -> Result<usize, NeedMore> {
        let stop = self.run(at, TYPE, |byte| is_type(byte) || matches!(byte, b'[' | b']'))?;
        let equals = self.blanks(stop)?;
        let typed = stop > at && equals > stop && self.byte(at)?.is_some_and(|byte| byte != b'[');
        let gives = typed && self.is(equals, b'=')? && !self.is(equals + 1, b'=')?;
        if gives { self.behind_comment(equals + 1) } else { Ok(at) }
    }

    /// Behind the name that YAML gives a list at `at`, `&name`, with which the line ends.
    fn behind_anchor(&self, at: usize) -> Result<usize, NeedMore> {
        if !matches!(self.byte(at)?, Some(b'&' | b'!')) {
            return Ok(at);
        }
        let end = self.run(at + 1, TYPE, |byte| is_name(byte) || byte == b'!')?;
        Ok(if self.ends_line(end)? { self.blanks(end)? } else { at })
    }

    /// The bracket that opens the items of a list which a call, a macro or a type makes at `at`; `at` if none does.
    fn behind_constructor(&self, at: usize) -> Result<usize, NeedMore> {
        let mut at = at;
        for _ in 0..CALLS {
            let word = if self.follows(at, "new ")? { at + 4 } else { at };
            let typed = self.behind_array_sign(word)?;
            let end = self.run(typed, TYPE, is_type)?;
            let open = self.blanks(self.behind_array_sign(end)?)?;
            let name = self.view.slice(typed, end).to_ascii_lowercase();
            let last = name.rsplit(|byte| matches!(byte, b'.' | b':')).next().unwrap_or_default();
            let collects = COLLECTIONS.iter().any(|known| known.as_bytes() == last);
            let fits = match self.byte(open)? {
                Some(b'(' | b'[') => open == end && collects,
                Some(b'{') => open > at,
                _ => false,
            };
            // Brackets without a name are those of the list.
            if !fits || open == at {
                break;
            }
            let inner = self.space(open + 1)?;
            if !self.is_constructor(inner)? {
                return Ok(open);
            }
            at = inner;
        }
        Ok(at)
    }

    /// Whether a call that makes a list, or brackets within brackets of a call, begin at `at`.
    fn is_constructor(&self, at: usize) -> Result<bool, NeedMore> {
        let end = self.run(at, TYPE, is_type)?;
        let outer = self.before(at).is_some_and(|byte| byte == b'(');
        Ok(outer && matches!(self.byte(end)?, Some(b'(' | b'[')))
    }

    /// Behind the sign of an array's type at `at`: `[]`, `[4]`.
    fn behind_array_sign(&self, at: usize) -> Result<usize, NeedMore> {
        if !self.is(at, b'[')? {
            return Ok(at);
        }
        let end = self.run(at + 1, 4, |byte| byte.is_ascii_digit())?;
        Ok(if self.is(end, b']')? { end + 1 } else { at })
    }

    /// The list that begins at `at`, behind all that stands before its items.
    fn list_behind(&self, at: usize, meaning: Meaning) -> Result<Option<OpenList>, NeedMore> {
        Ok(match self.byte(at)? {
            Some(b'[' | b'{' | b'(') => Some(self.bracketed_list(at, meaning)?),
            Some(b'\n' | b'\r') => Some(self.list_below(at, meaning, false)?),
            // A block of YAML.
            Some(b'|' | b'>') if self.ends_line(self.run(at + 1, 1, |byte| byte == b'-')?)? => {
                let line = self.run(at + 1, 1, |byte| byte == b'-')?;
                Some(self.list_below(self.blanks(line)?, meaning, true)?)
            }
            Some(byte) if is_quote(byte) => Some(self.quoted_list(at, meaning)?),
            Some(_) => Some(open_list(meaning, ListLayout::Inline, false, at)),
            None => None,
        })
    }

    /// The list on the lines below the one that ends at `at`, without bullets if it is a `block`.
    fn list_below(&self, at: usize, meaning: Meaning, block: bool) -> Result<OpenList, NeedMore> {
        let first = self.behind_comments(at)?;
        // Its indent is that of the others.
        let indent = indent_of(self.view.slice(at, first));
        if !block && self.behind_bullet(first)?.is_some() {
            return Ok(open_list(meaning, ListLayout::Lines(indent), true, first));
        }
        if !block && self.member_name(first)?.is_some() {
            return Ok(open_list(meaning, ListLayout::Names(indent), true, first));
        }
        Ok(open_list(meaning, ListLayout::Plain(indent), false, first))
    }

    /// The list in quotes at `at`: of one text that has several, or of several texts.
    fn quoted_list(&self, at: usize, meaning: Meaning) -> Result<OpenList, NeedMore> {
        let first = match self.quote(at)? {
            Some(open) => self.tripled(open)?.end,
            None => at,
        };
        if self.is(first, b'\n')? {
            return self.list_below(first, meaning, true);
        }
        let end = self.run(first, QUOTED, |byte| !is_quote(byte) && byte != b'\n')?;
        let several =
            self.view.slice(first, end).iter().any(|byte| matches!(byte, b',' | b';' | b' ' | b'|'));
        Ok(open_list(meaning, ListLayout::Inline, false, if several { first } else { at }))
    }

    /// The list in the bracket at `at`.
    fn bracketed_list(&self, at: usize, meaning: Meaning) -> Result<OpenList, NeedMore> {
        let bracket = self.byte(at)?;
        let first = self.behind_comments(at + 1)?;
        // Perl's and Ruby's lists of words.
        let words = bracket != Some(b'{') && self.before(at) == Some(b'w');
        let inner = self.byte(first)?;
        if bracket != Some(b'{') && matches!(inner, Some(b'[' | b'(')) {
            return Ok(open_list(meaning, ListLayout::Nested, true, self.space(first + 1)?));
        }
        let quoted = self.quote(first)?.is_some();
        let member = !words && self.member_name(first)?.is_some();
        let layout = match bracket {
            _ if words => ListLayout::Spaced,
            Some(b'[') if !quoted => ListLayout::Commas,
            _ if member => ListLayout::Members,
            Some(b'(') if !quoted => ListLayout::Spaced,
            _ => ListLayout::Commas,
        };
        let plural = words || layout != ListLayout::Spaced;
        Ok(open_list(meaning, layout, plural, first))
    }
}

/// The list of secrets of this meaning whose first item begins at `at`.
const fn open_list(meaning: Meaning, layout: ListLayout, plural: bool, at: usize) -> OpenList {
    OpenList { list: SecretList { meaning, plural, layout }, place: ListPlace::At(at) }
}

/// What types and names of calls are made of.
fn is_type(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'.' | b':' | b'<' | b'>' | b'!' | b'&' | b'@' | b'%')
}
