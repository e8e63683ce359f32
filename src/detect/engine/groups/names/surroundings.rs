//! What words touch: identifiers, dates and quantities are no names.

use super::super::super::view::View;
use super::word::Word;

/// Whether the lone word `start..end` is part of an identifier, a path, a call or markup.
pub(super) fn in_code(view: &View<'_>, start: usize, end: usize) -> bool {
    let behind = match view.slice(end, end + 2) {
        [b'_' | b'(' | b'[' | b'{' | b'=' | b'\\', ..] | b"::" => true,
        [b'.' | b'/', next, ..] => next.is_ascii_alphanumeric(),
        [b'-', next, ..] => next.is_ascii_digit(),
        _ => false,
    };
    let front = view.slice(start.saturating_sub(2), start);
    behind
        || matches!(front, [.., b'_' | b'$' | b'<' | b'&'] | b"::" | b"</" | b"--")
        || matches!(front, [letter, b'.' | b'/' | b'-'] if letter.is_ascii_alphanumeric())
}

/// Whether a month's name that is also a person's stands in a date.
pub(super) fn in_date(view: &View<'_>, word: &Word) -> bool {
    let near = |byte: &u8| matches!(byte, b' ' | b'/' | b'-' | b'.' | b',');
    let behind = view.slice(word.end, word.end + 3).iter().find(|byte| !near(byte));
    let front = view.slice(word.start.saturating_sub(3), word.start);
    let front = front.iter().rev().find(|byte| !near(byte));
    word.lower == "jan" && [behind, front].into_iter().flatten().any(u8::is_ascii_digit)
}

/// Whether the number from `start` on stands by itself: not the end of a version, a path or another number.
pub(super) fn lone_number(view: &View<'_>, start: usize) -> bool {
    let before = start.checked_sub(1).and_then(|at| view.get(at));
    before.is_none_or(|byte| matches!(byte, b' ' | b'\n' | b'\t' | b'"' | b'\'' | b'(' | b'>' | b':' | b','))
}

/// Whether a sentence goes on in lower case behind `end`.
pub(super) fn goes_on(view: &View<'_>, end: usize) -> bool {
    matches!(view.slice(end, end + 2), [b' ', b'a'..=b'z'])
}
