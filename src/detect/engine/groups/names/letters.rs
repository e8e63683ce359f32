//! Letters and words as they stand in a window.

use super::super::super::mask::char_at;
use super::super::super::view::View;
use crate::detect::naming::is_upper;

/// The most bytes of a word, and of a sequence of words.
pub(super) const BYTES: usize = 96;

/// How much is read behind a sequence, in bytes: a house's number, a postcode and the beginning of a town.
pub(super) const AHEAD: usize = 32;

/// The text of a range, as far as it is UTF-8 and there.
pub(super) fn text<'t>(view: &View<'t>, start: usize, end: usize) -> &'t str {
    let bytes = view.text.get(start..end.min(view.text.len())).unwrap_or_default();
    let whole = |error: std::str::Utf8Error| bytes.get(..error.valid_up_to()).map(std::str::from_utf8);
    std::str::from_utf8(bytes).or_else(|error| whole(error).unwrap_or(Ok(""))).unwrap_or_default()
}

/// What stands before `start`, `most` bytes at the most. Where that is all, it is `start` bytes long.
pub(super) fn text_before<'t>(view: &View<'t>, start: usize, most: usize) -> &'t str {
    let mut from = start.saturating_sub(most);
    while from < start && view.get(from).is_some_and(|byte| byte & 0xC0 == 0x80) {
        from += 1;
    }
    text(view, from, start)
}

/// Whether a word is one of these, whatever the case of its letters of ASCII.
pub(super) fn is_any(word: &str, of: &[&str]) -> bool {
    of.iter().any(|one| word.eq_ignore_ascii_case(one))
}

/// Whether a capital letter stands at `at`.
pub(super) fn is_capital(view: &View<'_>, at: usize) -> bool {
    match view.get(at) {
        Some(byte) if byte.is_ascii() => byte.is_ascii_uppercase(),
        _ => char_at(view.text, at).is_some_and(is_upper),
    }
}

/// Where the word at `start` ends: letters, with apostrophes and hyphens between.
pub(super) fn word_end(view: &View<'_>, start: usize) -> usize {
    let letters =
        view.slice(start, start + BYTES).iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let next = view.get(start + letters);
    if letters < BYTES && next.is_none_or(|byte| byte.is_ascii() && !matches!(byte, b'\'' | b'-')) {
        return start + letters;
    }
    let mut end = start;
    while let Some(letter) = char_at(view.text, end).filter(|letter| end + letter.len_utf8() <= start + BYTES)
    {
        // `O''Malley`, as SQL writes it.
        let doubled = letter == '\'' && end == start + 1 && view.get(end + 1) == Some(b'\'');
        if doubled && char_at(view.text, end + 2).is_some_and(is_letter) {
            end += 2;
            continue;
        }
        let joint = matches!(letter, '\'' | '-' | '\u{2019}');
        let next = end + letter.len_utf8();
        let goes_on = || {
            let next = char_at(view.text, next).filter(|letter| next + letter.len_utf8() <= start + BYTES);
            joint && next.is_some_and(is_letter)
        };
        if !is_letter(letter) && !goes_on() {
            break;
        }
        end = next;
    }
    end
}

/// As `is_alphabetic`, which looks for the range of a character: most letters and signs of European texts are in these.
pub(super) fn is_letter(letter: char) -> bool {
    match letter {
        '\u{0}'..='\u{7f}' => letter.is_ascii_alphabetic(),
        '\u{80}'..='\u{ff}' => {
            letter >= '\u{c0}' && !matches!(letter, '\u{d7}' | '\u{f7}')
                || matches!(letter, '\u{aa}' | '\u{b5}' | '\u{ba}')
        }
        '\u{100}'..='\u{2af}' | '\u{400}'..='\u{481}' => true,
        '\u{2000}'..='\u{206f}' => false,
        _ => letter.is_alphabetic(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_those_of_unicode() {
        for letter in '\u{0}'..='\u{ffff}' {
            assert_eq!(is_letter(letter), letter.is_alphabetic(), "U+{:04X}", u32::from(letter));
        }
    }
}
