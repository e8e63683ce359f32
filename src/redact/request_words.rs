//! Which words a request's texts have: what an answer repeats of them is no value that a model came up with, whichever rule
//! takes it for one there. No rule replaced it where the caller wrote it, so that the model had it from the caller.
//!
//! Words are kept as prints, and so are pairs of neighbours with what stands between them: a value of several words was
//! said where each pair of its own was. Other words in another order were not.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::budget::Tally;

/// The most prints that are kept, in a megabyte. What does not fit counts as not said.
const MOST: usize = 1 << 17;

/// Room for so many is made at first.
const ROOM: usize = 1 << 9;

/// The most bytes between two words that are neighbours.
const FARTHEST: usize = 8;

/// Prints of words, and of pairs of them. See the module. Clones share them.
#[derive(Clone, Default)]
pub struct RequestWords(Arc<Mutex<Prints>>);

/// Put in order once somebody asks, which is seldom.
#[derive(Default)]
struct Prints {
    all: Vec<u64>,
    /// How many of them are in order, each once.
    sorted: usize,
    /// Of what was replaced.
    gone: BTreeSet<u64>,
    /// What they count as.
    tally: Option<Tally>,
}

impl RequestWords {
    /// None yet. What is kept counts as held; once nothing more may be held, nothing more is kept.
    pub fn holding(tally: Tally) -> Self {
        Self(Arc::new(Mutex::new(Prints { tally: Some(tally), ..Prints::default() })))
    }

    /// Takes those of a text.
    pub(super) fn read(&self, text: &str) {
        let kept = &mut *self.prints();
        prints(text, &mut |print| kept.keep(print));
    }

    /// What was replaced there was not said.
    pub(super) fn forget(&self, value: &str) {
        let kept = &mut *self.prints();
        prints(value, &mut |print| {
            kept.gone.insert(print);
            true
        });
    }

    /// Whether a text has these words, one behind the other as they stand here. Letter case does not count.
    pub(super) fn has(&self, value: &str) -> bool {
        let kept = &mut *self.prints();
        kept.sort();
        let mut some = false;
        let known = prints(value, &mut |print| {
            some = true;
            kept.all.binary_search(&print).is_ok() && !kept.gone.contains(&print)
        });
        known && some
    }

    fn prints(&self) -> MutexGuard<'_, Prints> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Prints {
    /// Whether there is room for more.
    fn keep(&mut self, print: u64) -> bool {
        if self.all.len() == self.all.capacity() && !self.grow() {
            return false;
        }
        self.all.push(print);
        true
    }

    /// Makes room: of what is there twice, and else more, up to what may be held.
    fn grow(&mut self) -> bool {
        let before = self.all.len();
        self.sort();
        if before > 0 && self.all.len() <= before / 2 {
            return true;
        }
        let more = before.max(ROOM);
        let fits = before + more <= MOST;
        let held = |tally: &Tally| tally.add(more * size_of::<u64>()).is_ok();
        if !fits || !self.tally.as_ref().is_none_or(held) {
            // A little room would be used up at once, and all put in order for it again.
            return self.all.len() <= before / 4 * 3;
        }
        self.all.reserve_exact(before + more - self.all.len());
        true
    }

    fn sort(&mut self) {
        if self.sorted < self.all.len() {
            self.all.sort_unstable();
            self.all.dedup();
            self.sorted = self.all.len();
        }
    }
}

impl std::fmt::Debug for RequestWords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RequestWords({} prints)", self.prints().all.len())
    }
}

/// Gives the prints of a text's words and pairs to `take`, until it says `false`. Whether it never did.
fn prints(text: &str, take: &mut dyn FnMut(u64) -> bool) -> bool {
    let bytes = text.as_bytes();
    let mut last: Option<(u64, Range<usize>)> = None;
    let mut at = 0;
    while let Some(range) = next_word(bytes, at) {
        at = range.end;
        let word = print(0, bytes.get(range.clone()).unwrap_or_default());
        if !take(word) {
            return false;
        }
        if let Some((before, stood)) = last
            && range.start - stood.end <= FARTHEST
        {
            let between = print(before, bytes.get(stood.end..range.start).unwrap_or_default());
            // Other than that of any word by itself.
            if !take(mixed(between ^ word.rotate_left(32)) | 1) {
                return false;
            }
        }
        last = Some((word & !1, range));
    }
    true
}

/// The next word at or behind `from`: letters and digits of ASCII, or one other character.
fn next_word(bytes: &[u8], from: usize) -> Option<Range<usize>> {
    let rest = bytes.get(from..)?;
    let start = from + rest.iter().position(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80)?;
    let rest = bytes.get(start..)?;
    let ascii = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    if ascii > 0 {
        return Some(start..start + ascii);
    }
    let more = rest.iter().skip(1).take_while(|byte| *byte & 0xC0 == 0x80).count();
    Some(start..start + 1 + more)
}

/// The print of bytes that follow what has the print `seed`. An even number; it keeps no order and no secret.
fn print(seed: u64, bytes: &[u8]) -> u64 {
    let (chunks, rest) = bytes.as_chunks::<8>();
    let mut state = seed ^ (bytes.len() as u64).wrapping_mul(FACTOR);
    for chunk in chunks {
        state = mixed(state ^ folded(*chunk));
    }
    let mut last = [0; 8];
    for (place, byte) in last.iter_mut().zip(rest) {
        *place = *byte;
    }
    mixed(state ^ folded(last)) & !1
}

const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// Letters of ASCII in lower case, all other bytes as they are or as others that are rare beside them.
fn folded(chunk: [u8; 8]) -> u64 {
    u64::from_le_bytes(chunk.map(|byte| byte.to_ascii_lowercase()))
}

/// A permutation of all numbers in which no bit of the result follows from few of the given ones (the finalizer of SplitMix64).
const fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::budget::Budget;

    fn said(text: &str, value: &str) -> bool {
        let words = RequestWords::default();
        words.read(text);
        words.has(value)
    }

    #[test]
    fn what_stands_there_was_said_and_nothing_else() {
        let text = "my wifi is Sword-fish_9, write to O'Neil@x.example: 王小明 in Zürich (12 345 678)";
        let rows = [
            ("Sword-fish_9", true),
            ("sword-FISH_9", true),
            ("fish_9", true),
            ("9, write to", true),
            ("o'neil@x.example", true),
            ("王小明", true),
            ("小明", true),
            ("Zürich", true),
            ("12 345 678", true),
            ("Swordfish_9", false),
            ("Sword_fish-9", false),
            ("word-fish", false),
            ("fish_9 write", false),
            ("王明", false),
            ("Zurich", false),
            ("12345678", false),
            ("345 12 678", false),
            ("12 678", false),
            ("", false),
            ("***", false),
        ];
        for (value, want) in rows {
            assert_eq!(said(text, value), want, "{value}");
        }
        assert!(!said("", "a"));
    }

    #[test]
    fn what_was_replaced_is_forgotten_and_the_rest_is_not() {
        let words = RequestWords::default();
        words.read("ask Ada Quist, not Ada Lovelace");
        words.forget("Ada Quist");
        assert!(!words.has("Ada Quist") && !words.has("Quist") && words.has("Lovelace") && words.has("not"));
    }

    #[test]
    fn there_are_never_more_than_fit() {
        let words = RequestWords::default();
        words.read(&text(2 * MOST));
        let kept = words.prints().all.len();
        assert!((MOST / 2..=MOST).contains(&kept), "{kept}");
        assert!(words.has("w7 w8") && !words.has(&format!("w{}", 2 * MOST - 1)));
        // What is said again takes no more room.
        let words = RequestWords::default();
        (0..1000).for_each(|_| words.read(&text(1000)));
        assert!(words.prints().all.capacity() < 8000);
        assert!(words.has("w998 w999"));
    }

    #[test]
    fn what_may_not_be_held_was_not_said() {
        let budget = Budget::process(40_000);
        let words = RequestWords::holding(budget.tally());
        words.read(&text(10_000));
        assert!(words.has("w7 w8") && !words.has("w8000") && budget.used() > 0);
        drop(words);
        assert_eq!(budget.used(), 0);
    }

    fn text(words: usize) -> String {
        (0..words).map(|n| format!("w{n} ")).collect()
    }
}
