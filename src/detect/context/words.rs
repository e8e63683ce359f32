//! The words of a stretch of text: runs of letters, cut where the case tells that a new word begins
//! (`accessToken`, `APIKey`). A character that is not ASCII counts as a letter.

use super::super::engine::mask::{BLOCK, Class, block, mask};
use super::super::engine::view::View;

/// A word of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Where the run of letters begins that the word is of.
    pub(super) run: usize,
    /// What the lexicon has of it.
    pub(super) entry: Option<u32>,
}

/// Of the bits, those whose byte is the letter of a JSON escape: `backslash` has the bits behind a backslash.
fn escapes(bytes: &[u8; BLOCK], mut backslash: u64) -> u64 {
    let mut letters = 0;
    while backslash != 0 {
        let n = backslash.trailing_zeros();
        if bytes.get(n as usize).is_some_and(|byte| matches!(byte, b'n' | b'r' | b't' | b'b' | b'f' | b'u')) {
            letters |= 1 << n;
        }
        backslash &= backslash - 1;
    }
    letters
}

/// Gives the words of `from..to` to `sink` in order. What is left of a run that begins before `from` is left out;
/// one that goes on behind `to` is cut there.
pub(super) fn words(view: &View<'_>, from: usize, to: usize, mut sink: impl FnMut(Word)) {
    let mut at = from;
    let mut skip = view.before(from, 1).is_some_and(|byte| Class::Letter.has(byte));
    let mut run = from;
    // Whether `at` lies within a run, at the beginning of a word of it.
    let mut within = false;
    while at < to {
        let padded = &mut [0; BLOCK];
        let bytes = block(view.text, at, padded);
        let count = (to - at).min(BLOCK);
        let valid = u64::MAX >> (BLOCK - count);
        let mut letters = mask(bytes, Class::Letter) & valid;
        let behind = mask(bytes, Class::Backslash) << 1 | u64::from(view.before(at, 1) == Some(b'\\'));
        letters &= !escapes(bytes, behind);
        if skip {
            let same = letters.trailing_ones();
            letters &= u64::MAX.checked_shl(same).unwrap_or(0);
            skip = same as usize == count;
        }
        let upper = mask(bytes, Class::Upper) & letters;
        let lower = letters & !upper;
        let runs = letters & !(letters << 1);
        let cased = upper & (lower << 1) | upper & (upper << 1) & (lower >> 1);
        let mut starts = runs | cased;
        let stops = !letters | starts;
        let mut next = at + count;
        while starts != 0 {
            let start = starts.trailing_zeros();
            starts &= starts - 1;
            if runs >> start & 1 == 1 && !(start == 0 && within) {
                run = at + start as usize;
            }
            let rest = (stops >> start) & !1;
            let length = if rest == 0 { BLOCK as u32 - start } else { rest.trailing_zeros() };
            let end = at + (start + length) as usize;
            if end == at + BLOCK && end < to && Class::Letter.has(view.get(end).unwrap_or(0)) {
                // It goes on in the next block: that one begins with it, unless it fills a block by itself.
                (next, within, skip) = if start == 0 { (end, false, true) } else { (at + start as usize, true, false) };
                break;
            }
            within = false;
            sink(Word { start: at + start as usize, end, run, entry: None });
        }
        at = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, from: usize) -> Vec<&str> {
        let view = View { text: text.as_bytes(), base: 0, complete: true };
        let mut found = Vec::new();
        words(&view, from, text.len(), |word| found.push(text.get(word.start..word.end).unwrap()));
        found
    }

    #[test]
    fn words_end_where_letters_or_their_case_do() {
        let cases: [(&str, &[&str]); 8] = [
            ("my account_number: 12", &["my", "account", "number"]),
            ("accessToken APIKey", &["access", "Token", "API", "Key"]),
            ("Téléphone", &["Téléphone"]),
            (r"x\naccount", &["x", "account"]),
            ("ACCOUNT", &["ACCOUNT"]),
            ("v1beta2", &["v", "beta"]),
            ("", &[]),
            ("NewRelicAPI", &["New", "Relic", "API"]),
        ];
        for (text, expected) in cases {
            assert_eq!(of(text, 0), expected, "{text}");
        }
        assert_eq!(of("accounts due", 3), ["due"]);
    }

    #[test]
    fn words_across_blocks_are_whole() {
        for lead in 0..70 {
            let text = format!("{} accountNumber x", ".".repeat(lead));
            assert_eq!(of(&text, 0), ["account", "Number", "x"], "{lead}");
            let view = View { text: text.as_bytes(), base: 0, complete: true };
            let mut runs = Vec::new();
            words(&view, 0, text.len(), |word| runs.push(word.run));
            assert_eq!(runs, [lead + 1, lead + 1, lead + 15], "{lead}");
        }
        let long = "a".repeat(200);
        assert_eq!(of(&format!("{long} b"), 0), ["b"]);
    }
}
