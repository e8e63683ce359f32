//! Values known by a digit: from each word that holds one, or the word before it, one walk through the automaton
//! of all such rules. And values that are whole runs of base64 characters.

use super::automaton::{Automaton, Fate};
use super::judge::Settled;
use super::view::View;
use super::{Found, Pass, Track};

/// Letters that can stand in a word before its first digit.
const LEAD: usize = 16;
/// Letters of a word that can stand before the word with the first digit.
const WORD: usize = 4;
/// The shortest token with a digit, and the shortest without one or in a run of base64 characters, in bytes.
const SHORT: usize = 8;
const LONG: usize = 16;
const BASE64: usize = 32;

/// The next digit at or after `from`. Eight bytes at a time: a byte is a digit if, with the bits of `0` flipped, it
/// is below 10, which adding 0x76 without its top bit shows there.
fn next_digit(text: &[u8], from: usize) -> Option<usize> {
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let mut at = from;
    let mut blocks = text.get(from..)?.chunks_exact(8);
    for block in &mut blocks {
        let Ok(block) = <[u8; 8]>::try_from(block) else { break };
        let flipped = u64::from_le_bytes(block) ^ 0x3030_3030_3030_3030;
        let others = (flipped & !TOPS).wrapping_add(0x7676_7676_7676_7676) | flipped;
        let digits = !others & TOPS;
        if digits != 0 {
            return Some(at + digits.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    blocks.remainder().iter().position(u8::is_ascii_digit).map(|n| at + n)
}

fn run_end(text: &[u8], from: usize, class: fn(&u8) -> bool) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    rest.iter().position(|byte| !class(byte)).map_or(text.len(), |n| from + n)
}

/// Where the run of `class` that holds the byte before `from` begins, if within `most` bytes.
fn run_start(text: &[u8], from: usize, most: usize, class: fn(&u8) -> bool) -> Option<usize> {
    let floor = from.saturating_sub(most + 1);
    let back = text.get(floor..from).unwrap_or_default().iter().rev().take_while(|byte| class(byte)).count();
    (back <= most).then(|| from - back)
}

/// The starts that belong to the digit at `digit`, in order: a word before, signs, the word itself.
/// `None` if an escape before it has not arrived whole.
fn starts(view: &View<'_>, digit: usize) -> Option<[Option<usize>; 4]> {
    let text = view.text;
    let Some(run) = run_start(text, digit, LEAD, u8::is_ascii_alphanumeric) else { return Some([None; 4]) };
    let word = view.after_escape(run)?;
    let sign = |at: usize| {
        let before = view.before(at, 1).filter(|byte| matches!(byte, b'+' | b'('));
        (word == run && before.is_some()).then(|| at - 1)
    };
    let first = sign(run);
    let second = first.and_then(sign);
    let mut lead = None;
    if first.is_none() && word == run && matches!(view.before(run, 1), Some(b' ' | b'-')) {
        let letters = run_start(text, run - 1, WORD, u8::is_ascii_alphabetic);
        lead = letters.filter(|&start| start + 1 < run && view.word_starts(start));
    }
    Some([lead, second, first, Some(word)])
}

impl Pass<'_> {
    /// Scans for values that begin with or soon after a digit.
    pub(crate) fn digits(&self, automaton: &Automaton, track: &mut Track, found: &mut Found) {
        let (view, from) = (&self.view, track.at);
        let (mut at, mut next) = (from, from);
        while let Some(digit) = next_digit(view.text, at) {
            let Some(starts) = starts(view, digit) else {
                track.at = next.max(digit.saturating_sub(LEAD));
                return;
            };
            for start in starts.into_iter().flatten() {
                if start < next || start >= view.len() {
                    continue;
                }
                if !self.try_start(automaton, track, start, found) {
                    track.at = start;
                    return;
                }
                next = start + 1;
            }
            // Further digits of the word have the same starts.
            at = run_end(view.text, digit + 1, u8::is_ascii_alphanumeric);
        }
        track.at = view.len();
        if !view.complete {
            // What has no digit yet may get one.
            let tail = next.max(view.len().saturating_sub(LEAD + WORD + 2));
            let opens = |&at: &usize| self.may_begin(at) && automaton.open(view, at);
            track.at = (tail..view.len()).find(opens).unwrap_or(view.len());
        }
    }

    fn may_begin(&self, at: usize) -> bool {
        match self.view.get(at) {
            Some(b'+' | b'(') => true,
            Some(byte) => byte.is_ascii_alphanumeric() && self.view.word_starts(at),
            None => false,
        }
    }

    /// Whether all that begins at `start` is decided.
    fn try_start(&self, automaton: &Automaton, track: &mut Track, start: usize, found: &mut Found) -> bool {
        match automaton.walk(&self.view, &mut track.walk, start, usize::MAX) {
            Fate::Hungry | Fate::Grown => false,
            Fate::Dead if track.walk.ends.is_empty() => true,
            Fate::Dead => self.settle(automaton, &track.walk, found) != Settled::Waiting,
        }
    }

    /// Scans for values that are tokens: from the start of each run of letters, digits, `_` and `-` that is long
    /// enough and holds a digit, or is longer still, or lies in a long run of base64 characters.
    pub(crate) fn tokens(&self, automaton: &Automaton, track: &mut Track, found: &mut Found) {
        let (view, mut at) = (&self.view, track.at);
        while at < view.len() {
            let Some(start) = view.slice(at, view.len()).iter().position(is_token).map(|n| at + n) else { break };
            let end = run_end(view.text, start, is_token);
            at = end;
            if end == view.len() && !view.complete && end - start < LONG {
                track.at = start;
                return;
            }
            let run = view.slice(start, end);
            let base64 = || {
                let stop = run_end(view.text, start, is_base64);
                stop - run_start(view.text, start, BASE64, is_base64).unwrap_or(start) >= BASE64
            };
            let worth = run.len() >= LONG || run.len() >= SHORT && run.iter().any(u8::is_ascii_digit) || base64();
            let begin = if worth { view.after_escape(start) } else { None };
            let Some(begin) = begin else { continue };
            if begin < end && !self.try_start(automaton, track, begin, found) {
                track.at = start;
                return;
            }
        }
        track.at = view.len().max(track.at);
    }
}

fn is_token(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_base64(byte: &u8) -> bool {
    is_token(byte) || matches!(byte, b'+' | b'/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_found_anywhere_in_a_block() {
        for at in 0..100 {
            let mut text = vec![b'x'; 100];
            text[at] = b'7';
            assert_eq!(next_digit(&text, 0), Some(at));
            assert_eq!(next_digit(&text, at + 1), None);
        }
    }

    #[test]
    fn a_digit_has_the_starts_of_its_word_and_the_one_before() {
        let starts_in = |text: &str, digit| {
            let view = View { text: text.as_bytes(), base: 0, complete: true };
            starts(&view, digit).unwrap().into_iter().flatten().collect::<Vec<_>>()
        };
        assert_eq!(starts_in("x AB12", 4), [0, 2]);
        assert_eq!(starts_in("x AB 12", 5), [2, 5]);
        assert_eq!(starts_in("(+44", 2), [0, 1, 2]);
        assert_eq!(starts_in(r"\n41", 2), [2]);
        assert_eq!(starts_in("abcdefghijklmnopqrst4", 20), [0usize; 0]);
    }
}
