//! Letters and words as they stand in a window.

use super::super::super::mask::char_at;
use super::super::super::view::View;

/// The most bytes of a word, and of a sequence of words.
pub(super) const BYTES: usize = 96;

/// How much is read behind a sequence, in bytes: a house's number, a postcode and the beginning of a town.
pub(super) const AHEAD: usize = 32;

/// The text of a range, as far as it is UTF-8 and there.
pub(super) fn text<'t>(view: &View<'t>, start: usize, end: usize) -> &'t str {
    let bytes = view.text.get(start..end.min(view.text.len())).unwrap_or_default();
    let valid = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
    bytes.get(..valid).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
}

/// Whether a capital letter stands at `at`.
pub(super) fn is_capital(view: &View<'_>, at: usize) -> bool {
    match view.get(at) {
        Some(byte) if byte.is_ascii() => byte.is_ascii_uppercase(),
        _ => char_at(view.text, at).is_some_and(char::is_uppercase),
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

/// As `is_alphabetic`, which looks for the range of a character; the letters of most European scripts are in these.
pub(super) fn is_letter(letter: char) -> bool {
    letter.is_ascii_alphabetic()
        || matches!(letter, '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2af}' | '\u{400}'..='\u{481}')
        || !letter.is_ascii() && letter.is_alphabetic()
}
