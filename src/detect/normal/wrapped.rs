//! Numbers that a line break parts: `4111 1111⏎1111 1111`. The break is taken away only where what stands around it
//! is, together and not by itself, a payment card, an account, a social security or a telephone number; a column of
//! numbers stays one.

use super::super::validate;

/// How far before a break its number may begin, and how far behind it may end, in bytes of the view.
pub(super) const BEHIND: usize = 48;
pub(crate) const AHEAD: usize = 40;

/// What may stand at the beginning of a line before its text: blanks, and marks of quotations and remarks.
const INDENT: usize = 8;

/// Whether a line's text has not begun yet: `> ` of a quoted letter, `# ` and `// ` of a remark.
fn is_indent(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'>' | b'|' | b'#' | b'/' | b';' | b'%')
}

/// What stands in a break's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    /// Nothing.
    Close,
    /// This separator.
    Put(u8),
}

/// What such numbers are made of.
pub(super) fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || is_separator(byte)
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b' ' | b'.' | b'-' | b'(' | b')')
}

fn trimmed(left: &[u8]) -> &[u8] {
    let blanks = left.iter().rev().take(2).take_while(|&&byte| byte == b' ').count();
    left.get(..left.len() - blanks).unwrap_or_default()
}

/// Whether a number may go on behind a break that follows `left`.
pub(super) fn may_end(left: &[u8]) -> bool {
    match trimmed(left) {
        [.., before, b'-' | b'.' | b')'] => before.is_ascii_digit(),
        [.., before, last] if last.is_ascii_uppercase() => {
            before.is_ascii_uppercase() || before.is_ascii_digit()
        }
        [.., last] => last.is_ascii_digit(),
        [] => false,
    }
}

/// Whether the break at `at` of a text may part a number.
pub(super) fn may_join(bytes: &[u8], at: usize) -> bool {
    let left = bytes.get(at.saturating_sub(4)..at).unwrap_or_default();
    // What is not ASCII may read as a digit.
    let non_ascii = left.last().is_some_and(|byte| !byte.is_ascii());
    let behind = bytes.get(at..).unwrap_or_default();
    let next = behind.iter().take(INDENT + 3).find(|&&byte| !byte.is_ascii_whitespace() && !is_indent(byte));
    (non_ascii || may_end(left)) && next.is_some_and(|&next| begins(next) || !next.is_ascii())
}

fn begins(byte: u8) -> bool {
    byte.is_ascii_digit() || byte.is_ascii_uppercase() || matches!(byte, b'(' | b'-' | b'.')
}

/// How much stands before the text of a line; `None` if more may come.
pub(super) fn indent(line: &str, last: bool) -> Option<usize> {
    let blanks = line.bytes().take(INDENT).take_while(|&byte| is_indent(byte)).count();
    (last || blanks == INDENT || blanks < line.len()).then_some(blanks)
}

/// What stands in place of the break between `left` and `head`, if it parts a number.
pub(super) fn join(left: &[u8], head: &[u8]) -> Option<Join> {
    if !head.first().is_some_and(|&byte| begins(byte)) {
        return None;
    }
    let trailing = left.len() - trimmed(left).len();
    let found = digits(trimmed(left), head).or_else(|| account(trimmed(left), head))?;
    // The blank at the line's end is a separator already.
    Some(if trailing > 0 && found == Join::Put(b' ') { Join::Close } else { found })
}

/// Groups of digits of one side of a break.
#[derive(Default)]
struct Groups<'t> {
    /// They, from the break on, and how many.
    from_break: [&'t [u8]; MOST + 1],
    count: usize,
    /// A separator between two of them.
    separator: Option<u8>,
    /// Whether one stands at the break.
    open: bool,
    /// What stands right before them.
    edge: Option<u8>,
}

/// The most groups that are looked at.
const MOST: usize = 6;

impl<'t> Groups<'t> {
    fn push(&mut self, group: &'t [u8]) {
        if let Some(place) = self.from_break.get_mut(self.count) {
            *place = group;
            self.count += 1;
        }
    }

    /// The `count` that are next to the break, from there on.
    fn nearest(&self, count: usize) -> &[&'t [u8]] {
        self.from_break.get(..count).unwrap_or_default()
    }

    fn all(&self) -> &[&'t [u8]] {
        self.nearest(self.count)
    }
}

/// The last groups of `text`.
fn last_groups(text: &[u8]) -> Groups<'_> {
    let mut all = Groups { open: text.last().is_some_and(|&byte| is_separator(byte)), ..Groups::default() };
    let mut end = text.len();
    while all.count <= MOST {
        let rest = text.get(..end).unwrap_or_default();
        let gap = rest.iter().rev().take_while(|&&byte| is_separator(byte)).count();
        let rest = text.get(..end - gap).unwrap_or_default();
        let length = rest.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        if length == 0 || gap > 2 {
            all.edge = rest.last().copied().filter(|_| gap == 0);
            break;
        }
        if all.count > 0 {
            all.separator = all.separator.or(text.get(end - gap).copied());
        }
        end -= gap + length;
        all.push(text.get(end..end + length).unwrap_or_default());
    }
    all
}

/// The first groups of `text`.
fn first_groups(text: &[u8]) -> Groups<'_> {
    let mut all = Groups { open: text.first().is_some_and(|&byte| is_separator(byte)), ..Groups::default() };
    let mut at = 0;
    while all.count <= MOST {
        let rest = text.get(at..).unwrap_or_default();
        let gap = rest.iter().take_while(|&&byte| is_separator(byte)).count();
        let rest = rest.get(gap..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let next = rest.get(length).copied();
        // Digits of a word are none of a number's.
        if length == 0 || gap > 2 || next.is_some_and(|byte| byte.is_ascii_alphabetic()) {
            break;
        }
        if all.count > 0 {
            all.separator = all.separator.or(text.get(at).copied());
        }
        all.push(rest.get(..length).unwrap_or_default());
        at += gap + length;
    }
    all
}

/// The fewest digits of a number that a break may part: a calling code of three digits and a number of four.
const FEWEST: usize = 7;

/// How the digits of cards are grouped, besides not at all.
const CARDS: &[&[usize]] = &[&[4, 4, 4, 4], &[4, 4, 4, 4, 3], &[4, 6, 5], &[4, 6, 4], &[4, 4, 4, 1]];
/// Social security numbers, and telephone numbers of North America.
const OTHERS: &[&[usize]] = &[&[3, 2, 4], &[3, 3, 4], &[1, 3, 3, 4]];

fn digits(left: &[u8], head: &[u8]) -> Option<Join> {
    let (before, behind) = (last_groups(left), first_groups(head));
    let length = |groups: &[&[u8]]| -> usize { groups.iter().map(|group| group.len()).sum() };
    let digits = length(before.all()) + length(behind.all());
    if before.count == 0 || behind.count == 0 || digits < FEWEST {
        return None;
    }
    let separator = before.separator.or(behind.separator).filter(|byte| matches!(byte, b'-' | b'.'));
    let apart = if before.open && left.last() != Some(&b')') || behind.open && head.first() != Some(&b'(') {
        Join::Close
    } else {
        Join::Put(separator.unwrap_or(b' '))
    };
    let word = before.edge.is_some_and(|byte| byte.is_ascii_alphanumeric());
    let sides = |groups: &Groups<'_>| 1..=groups.count.min(4);
    for (from, to) in sides(&before).flat_map(|from| sides(&behind).map(move |to| (from, to))) {
        let (mine, theirs) = (before.nearest(from), behind.nearest(to));
        let digits = length(mine) + length(theirs);
        if !(9..=19).contains(&digits) {
            continue;
        }
        let groups = || mine.iter().rev().chain(theirs);
        let mut buffer = [0; 19];
        let symbols = groups().flat_map(|group| group.iter());
        buffer.iter_mut().zip(symbols).for_each(|(to, from)| *to = *from);
        let digits = buffer.get(..digits).unwrap_or_default();
        let mut lengths = [0; 8];
        lengths.iter_mut().zip(groups()).for_each(|(to, group)| *to = group.len());
        let alone = !word && from == before.count && to == behind.count;
        let lengths = lengths.get_mut(..from + to).unwrap_or_default();
        if is_number(lengths, digits, alone) {
            return Some(apart);
        }
        // The break may be within a group.
        if before.open || behind.open {
            continue;
        }
        if let Some([last, next]) = lengths.get_mut(from - 1..=from) {
            *last += *next;
        }
        lengths.copy_within(from + 1.., from);
        if is_number(lengths.get(..from + to - 1).unwrap_or_default(), digits, alone) {
            return Some(Join::Close);
        }
    }
    international(&before, &behind).then_some(apart)
}

/// Whether digits in groups of these lengths are a number; `alone` if no other digits stand beside them.
fn is_number(lengths: &[usize], digits: &[u8], alone: bool) -> bool {
    let card = || validate::is_card(digits);
    match lengths {
        [13..=19] => card(),
        _ if CARDS.contains(&lengths) => card(),
        _ if OTHERS.contains(&lengths) && alone => {
            let area = digits.len().checked_sub(10).and_then(|at| digits.get(at));
            area.is_none_or(|first| matches!(first, b'2'..=b'9'))
        }
        _ => false,
    }
}

/// A telephone number with its calling code, of which a part alone is none.
fn international(before: &Groups<'_>, behind: &Groups<'_>) -> bool {
    if before.edge != Some(b'+') || behind.count > 3 {
        return false;
    }
    let mut number = vec![b'+'];
    before.all().iter().rev().for_each(|group| number.extend_from_slice(group));
    let part = validate::is_phone(&number);
    behind.all().iter().for_each(|group| number.extend_from_slice(group));
    !part && validate::is_phone(&number)
}

/// The words of an account number may be this many.
const WORDS: usize = 9;

/// An IBAN.
fn account(left: &[u8], head: &[u8]) -> Option<Join> {
    let tail = left.iter().rev().take_while(|&&byte| byte.is_ascii_alphanumeric() || byte == b' ').count();
    let tail = left.get(left.len() - tail..).unwrap_or_default();
    let starts = |word: &[u8]| matches!(word, [a, b, c, d, ..] if a.is_ascii_uppercase() && b.is_ascii_uppercase() && c.is_ascii_digit() && d.is_ascii_digit());
    // Most lines end in something else.
    let count = words(tail).count();
    let mine: Vec<&[u8]> =
        words(tail).skip(count.saturating_sub(WORDS)).skip_while(|word| !starts(word)).collect();
    if mine.is_empty() {
        return None;
    }
    let end = head.iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || byte == b' ').count();
    let behind: Vec<&[u8]> = words(head.get(..end).unwrap_or_default()).take(WORDS).collect();
    let to = (1..=behind.len()).find(|&to| {
        let all = [mine.as_slice(), behind.get(..to).unwrap_or_default()].concat().concat();
        all.len() <= 34 && validate::is_iban(&all)
    })?;
    let apart = mine.iter().all(|word| word.len() == 4) && (mine.len() > 1 || to > 1);
    Some(if apart { Join::Put(b' ') } else { Join::Close })
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b' ').filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_a_break_parts_is_joined() {
        use Join::{Close, Put};
        let cases: &[(&str, &str, Option<Join>)] = &[
            ("card 4111 1111", "1111 1111, ok", Some(Put(b' '))),
            ("card 4111 1111 ", "1111 1111, ok", Some(Close)),
            ("4111-1111-", "1111-1111", Some(Close)),
            ("4111-1111", "1111-1111", Some(Put(b'-'))),
            ("4111 11", "11 1111 1111", Some(Close)),
            ("41111111", "11111111", Some(Close)),
            ("3782 822463", "10005", Some(Put(b' '))),
            ("IBAN GB82 WEST", "1234 5698 7654 32 and", Some(Put(b' '))),
            ("GB82WEST1234", "5698765432", Some(Close)),
            ("DE89 3704 0044 0", "532 0130 00", Some(Close)),
            ("ssn 536-22-", "8726.", Some(Close)),
            ("ssn 536-22", "8726.", Some(Put(b'-'))),
            ("ssn 536 22", "8726", Some(Put(b' '))),
            ("415-867-", "5309", Some(Close)),
            ("(415)", "867-5309", Some(Put(b'-'))),
            ("call +1 415", "867 5309 now", Some(Put(b' '))),
            ("+49 30", "901820", Some(Put(b' '))),
            ("4111 1111 1111 1111", "4012 8888 8888 1881", None),
            ("4111111111111111", "4012888888881881", None),
            ("total 1200", "3400 5600", None),
            ("+1 650 253 0000", "12 items", None),
            ("phone 415-867-5309", "1234 Main St", None),
            ("1 536-22", "8726 12", None),
            ("the end", "1234", None),
            ("12 345 67", "89 10 11", None),
            ("2026-11-22", "2026-11-23", None),
        ];
        for (left, head, joined) in cases {
            assert_eq!(join(left.as_bytes(), head.as_bytes()), *joined, "{left}⏎{head}");
        }
    }
}
