//! Characters beyond ASCII that are no part of a word: quotes, dashes, arrows, pictures. The vector pass takes each of
//! their bytes for a letter's, as most are; here they are told apart.

use super::simd::WIDTH;

/// The character at `at`, if it is there whole.
pub(crate) fn char_at(text: &[u8], at: usize) -> Option<char> {
    let length = match *text.get(at)? {
        byte @ 0..=0x7F => return Some(char::from(byte)),
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return None,
    };
    std::str::from_utf8(text.get(at..at + length)?).ok()?.chars().next()
}

/// Whether the character that ends right before `at` is beyond ASCII and no part of a word.
pub(crate) fn sign_before(text: &[u8], at: usize) -> bool {
    let mut lead = (1..=char::MAX_LEN_UTF8).filter_map(|back| at.checked_sub(back));
    let lead = lead.find(|&at| text.get(at).is_some_and(|byte| byte & 0xC0 != 0x80));
    lead.is_some_and(|lead| sign_at(text, lead).is_some())
}

/// Whether a character is no part of a word, of those beyond ASCII that [`may_begin_sign`] lets through. Joiners are a part of
/// one, and nobody knows of what could not be decoded.
fn is_sign(c: char) -> bool {
    match c {
        '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{fffd}' => false,
        '\u{2000}'..='\u{206f}' => true,
        _ => !c.is_alphanumeric(),
    }
}

/// Whether a character that begins with these bytes may be a sign: Latin-1's, Arabic punctuation, U+2000 to U+2FFF, that of
/// East Asia and its wide forms, pictures. Letters and marks of most scripts begin otherwise, and are not looked at.
const fn may_begin_sign(bytes: &[u8]) -> bool {
    matches!(
        bytes,
        [0xC2 | 0xE2 | 0xEF, ..]
            | [0xC3, 0x97 | 0xB7, ..]
            | [0xD8, 0x8C | 0x9B | 0x9F, ..]
            | [0xE3, 0x80, ..]
            | [0xE3, 0x83, 0xBB, ..]
            | [0xF0, 0x9F, ..]
    )
}

/// The sign at `at`, if there is one.
fn sign_at(text: &[u8], at: usize) -> Option<char> {
    let begins = text.get(at..).is_some_and(may_begin_sign);
    if begins { char_at(text, at).filter(|&c| is_sign(c)) } else { None }
}

/// Takes the bytes of signs in `text` out of `letters` from byte `from` on, where a word of bits begins; before it that is done.
/// `words` are the bits of letters and digits of ASCII.
pub(super) fn part(text: &[u8], from: usize, letters: &mut [u32], words: &[u32]) {
    let clear = |letters: &mut [u32], at: usize, sign: char| {
        for at in at..at + sign.len_utf8() {
            if let Some(bits) = letters.get_mut(at / WIDTH) {
                *bits &= !(1 << (at % WIDTH));
            }
        }
    };
    // One that begins before it may end behind it.
    for at in from.saturating_sub(char::MAX_LEN_UTF8 - 1)..from {
        if let Some(sign) = sign_at(text, at) {
            clear(letters, at, sign);
        }
    }
    for n in from / WIDTH..letters.len() {
        let bits = |of: &[u32]| of.get(n).copied().unwrap_or(0);
        let mut non_ascii = bits(letters) & !bits(words);
        while non_ascii != 0 {
            let at = n * WIDTH + non_ascii.trailing_zeros() as usize;
            non_ascii &= non_ascii - 1;
            if let Some(sign) = sign_at(text, at) {
                clear(letters, at, sign);
            }
        }
    }
}
