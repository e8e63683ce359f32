//! The words of a stretch of text: runs of letters, and their parts where the case tells that a new word begins
//! (`accessToken`, `APIKey`). A character that is not ASCII counts as a letter. What follows a digit is no word, nor
//! are one or two letters before one: those are parts of numbers and hashes.

use super::super::mask::{BLOCK, Class, Masks, sign_before};
use super::super::view::View;

/// A word of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WindowWord {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Where the run of letters begins that the word is of.
    pub(super) run: usize,
    /// Whether the run has characters that are not ASCII.
    pub(super) non_ascii: bool,
    /// Whether it is a run in which the case changes, which may be several words.
    pub(super) cased: bool,
}

/// Whether a backslash before this letter makes a JSON escape of the two.
const fn is_escape(letter: u8) -> bool {
    matches!(letter, b'n' | b'r' | b't' | b'b' | b'f' | b'u')
}

/// The bits of `bits` whose byte follows a backslash and is the letter of a JSON escape.
#[cold]
fn escapes(view: &View<'_>, at: usize, mut behind: u64) -> u64 {
    let mut letters = 0;
    while behind != 0 {
        let n = behind.trailing_zeros();
        if view.get(at + n as usize).is_some_and(is_escape) {
            letters |= 1 << n;
        }
        behind &= behind - 1;
    }
    letters
}

impl WindowWord {
    /// The run `start..end`, which may lie in two blocks.
    fn run(view: &View<'_>, start: usize, end: usize) -> Self {
        let letters = view.slice(start, end);
        let cased = letters.iter().skip(1).any(u8::is_ascii_uppercase);
        Self { start, end, run: start, non_ascii: !letters.is_ascii(), cased }
    }

    /// The words of a run by its case: itself where it does not change.
    pub(super) fn parts(self, view: &View<'_>, sink: &mut impl FnMut(Self)) {
        let upper = |at: usize| view.get(at).is_some_and(|byte| byte.is_ascii_uppercase());
        let mut from = self.start;
        for at in self.start + 1..self.end {
            let follows = at + 1 < self.end && !upper(at + 1);
            if upper(at) && (!upper(at - 1) || follows) {
                sink(Self { start: from, end: at, cased: false, ..self });
                from = at;
            }
        }
        sink(Self { start: from, cased: false, ..self });
    }
}

/// Whether the run is one or two letters before a digit: a part of a hash, or of a number of its own kind.
fn is_short(view: &View<'_>, start: usize, end: usize) -> bool {
    end - start <= 2 && view.get(end).is_some_and(|byte| byte.is_ascii_digit())
}

/// Gives the runs of `from..to` to `sink` in order, words or [several](WindowWord::parts) each. What is left of a run that begins before `from` is left out;
/// one that goes on behind `to` is cut there, and where it begins is the answer, whether it is a word or not.
#[inline]
pub(super) fn words(
    view: &View<'_>,
    masks: &Masks,
    from: usize,
    to: usize,
    mut sink: impl FnMut(WindowWord),
) -> Option<usize> {
    let mut at = from / BLOCK * BLOCK;
    let letter = |at: usize| view.get(at).is_some_and(|byte| Class::Letter.has(byte));
    let goes_on = from > 0 && letter(from - 1) && letter(from) && !sign_before(view.text, from);
    // What goes on from the block before, and whether it counts.
    let escaped = view.before(from, 2) == Some(b'\\') && view.before(from, 1).is_some_and(is_escape);
    let mut open = (goes_on && !escaped).then_some((from, false));
    let mut digit_before = u64::from(view.before(at, 1).is_some_and(|byte| byte.is_ascii_digit()));
    while at < to {
        let valid =
            u64::MAX << from.saturating_sub(at).min(63) & u64::MAX >> (at + BLOCK).saturating_sub(to).min(63);
        let mut letters = masks.at(Class::Letter, at) & valid;
        let behind = masks.at(Class::Backslash, at) << 1 | u64::from(view.before(at, 1) == Some(b'\\'));
        if behind & letters != 0 {
            letters &= !escapes(view, at, behind & letters);
        }
        if let Some((start, counts)) = open {
            let first = from.saturating_sub(at).min(63);
            let more = (letters >> first).trailing_ones() as usize + first;
            if more == BLOCK {
                at += BLOCK;
                continue;
            }
            if counts && !is_short(view, start, at + more) {
                sink(WindowWord::run(view, start, at + more));
            }
            letters &= u64::MAX << more;
            open = None;
        }
        let digits = masks.at(Class::Digit, at);
        let bad = letters & !(letters << 1) & (digits << 1 | digit_before);
        digit_before = digits >> 63;
        let last = letters.leading_ones();
        if last > 0 {
            let start = BLOCK as u32 - last;
            open = Some((at + start as usize, bad >> start & 1 == 0));
            letters &= !(u64::MAX << start);
        }
        // Adding a run's first bit clears the run.
        letters &= letters.wrapping_add(bad & letters);
        // Of runs within the block, those that are short.
        let first = letters & !(letters << 1);
        let short = first & (digits >> 1 | letters >> 1 & digits >> 2);
        letters &= letters.wrapping_add(short & letters);
        let capitals = masks.at(Class::Upper, at);
        let high = letters & !masks.at(Class::Word, at);
        while letters != 0 {
            let first = letters.trailing_zeros();
            let length = (letters >> first).trailing_ones();
            letters &= letters.wrapping_add(1 << first);
            let (start, end) = (at + first as usize, at + (first + length) as usize);
            let inner = capitals >> first >> 1 & ((1 << (length - 1)) - 1);
            let non_ascii = high >> first & (u64::MAX >> (64 - length)) != 0;
            sink(WindowWord { start, end, run: start, non_ascii, cased: inner != 0 });
        }
        at += BLOCK;
    }
    let (start, counts) = open?;
    if counts && !is_short(view, start, to) {
        sink(WindowWord::run(view, start, to));
    }
    Some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masks(text: &str) -> Masks {
        let mut masks = Masks::default();
        masks.cover(text.as_bytes());
        masks
    }

    fn of(text: &str, from: usize) -> Vec<&str> {
        let view = View { text: text.as_bytes(), base: 0, complete: true };
        let mut found = Vec::new();
        let mut take = |word: WindowWord| found.push(text.get(word.start..word.end).unwrap());
        words(&view, &masks(text), from, text.len(), |word| word.parts(&view, &mut take));
        found
    }

    #[test]
    fn words_end_where_letters_or_their_case_do() {
        let cases: [(&str, &[&str]); 11] = [
            ("my account_number: 12", &["my", "account", "number"]),
            ("accessToken APIKey", &["access", "Token", "API", "Key"]),
            ("Téléphone", &["Téléphone"]),
            (r"xx\naccount", &["xx", "account"]),
            ("ACCOUNT", &["ACCOUNT"]),
            ("v1beta2", &[]),
            ("phone1: 2ndWord", &["phone"]),
            ("a1b2cd3 d4e5 cc1", &[]),
            ("a/c 3 f4", &["a", "c"]),
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
            let text = format!("{} accountNumber xx", ".".repeat(lead));
            assert_eq!(of(&text, 0), ["account", "Number", "xx"], "{lead}");
            let view = View { text: text.as_bytes(), base: 0, complete: true };
            let mut runs = Vec::new();
            words(&view, &masks(&text), 0, text.len(), |word| {
                word.parts(&view, &mut |part| runs.push(part.run))
            });
            assert_eq!(runs, [lead + 1, lead + 1, lead + 15], "{lead}");
        }
        for lead in 0..70 {
            let text = format!("{} fd1 x d2", ".".repeat(lead));
            assert_eq!(of(&text, 0), ["x"], "{lead}");
        }
        let long = "a".repeat(200);
        assert_eq!(of(&format!("{long} bb"), 0), [long.as_str(), "bb"]);
        assert_eq!(of(&format!("{long}B bb"), 150), ["bb"]);
    }
}
