//! Which words a request's texts have: what an answer repeats of them is no value that a model came up with, whichever rule
//! takes it for one there. No rule replaced it where the caller wrote it, so that the model had it from the caller.
//!
//! Words are kept as prints, and so are pairs of neighbours with what stands between them: a value of several words was
//! said where each pair of its own was. Other words in another order were not.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::budget::WorkCharge;

/// The most prints that are kept, in a megabyte. What does not fit counts as not said.
const MOST: usize = 1 << 17;

/// Room for so many is made at first.
const ROOM: usize = 1 << 9;

/// So many that are in no order are gone through, one by one, for each that is asked for: few are.
const UNSORTED: usize = 1 << 10;

/// From so many on they are put in order where there is time for it, and not by who asks first: that takes a millisecond.
const SORTED_EARLY: usize = 1 << 14;

/// The most prints of values that stay, wherever else they are replaced.
const MOST_STAYING: usize = 1 << 15;

/// The most bytes between two words that are neighbours.
const FARTHEST: usize = 8;

/// Prints of words, and of pairs of them. See the module. Clones share them.
#[derive(Clone, Default)]
pub struct RequestWords(Arc<Mutex<Prints>>);

/// Few are put in order once somebody asks, which is seldom.
#[derive(Default)]
struct Prints {
    all: Vec<u64>,
    /// How many of them are in order, each once.
    sorted: usize,
    /// There is no room for more.
    full: bool,
    /// Of what was replaced.
    gone: BTreeSet<u64>,
    /// Of what went out as it is, whatever was replaced elsewhere.
    stays: BTreeSet<u64>,
    /// What they count as.
    tally: Option<WorkCharge>,
}

impl RequestWords {
    /// None yet. What is kept counts as held; once nothing more may be held, nothing more is kept.
    pub fn holding(tally: WorkCharge) -> Self {
        Self(Arc::new(Mutex::new(Prints { tally: Some(tally), ..Prints::default() })))
    }

    /// What they take, about, in bytes.
    pub fn size(&self) -> usize {
        let kept = self.prints();
        // A set has about as much again around what is in it.
        size_of::<u64>() * (kept.all.capacity() + 2 * (kept.gone.len() + kept.stays.len()))
    }

    /// Takes those of a text.
    pub(super) fn read(&self, text: &str) {
        let kept = &mut *self.prints();
        prints(text, &mut |print| kept.keep(print));
    }

    /// This went out as it is, and would have if it stood elsewhere too: a value that the caller's program allows a model to say.
    pub fn keep(&self, value: &str) {
        let kept = &mut *self.prints();
        prints(value, &mut |print| {
            let room = kept.stays.len() < MOST_STAYING;
            if room {
                kept.stays.insert(print);
            }
            room
        });
    }

    /// Whether a value is one of those, or of their words as they stand there.
    pub(super) fn stays(&self, value: &str) -> bool {
        let kept = &*self.prints();
        !kept.stays.is_empty() && all(value, &mut |print| kept.stays.contains(&print))
    }

    /// No more texts come for now.
    pub(super) fn settle(&self) {
        let kept = &mut *self.prints();
        if kept.all.len() >= SORTED_EARLY {
            kept.sort();
        }
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
        if kept.all.len() - kept.sorted > UNSORTED {
            kept.sort();
        }
        all(value, &mut |print| kept.stays.contains(&print) || kept.has(print) && !kept.gone.contains(&print))
    }

    fn prints(&self) -> MutexGuard<'_, Prints> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Prints {
    /// Whether there is room for more.
    fn keep(&mut self, print: u64) -> bool {
        // To look for room again at each would take what putting all in order takes.
        self.full = self.full || self.all.len() == self.all.capacity() && !self.grow();
        if !self.full {
            self.all.push(print);
        }
        !self.full
    }

    /// Makes room: as much again, or where that may not be, of what was said more than once.
    fn grow(&mut self) -> bool {
        let before = self.all.len();
        let more = before.max(ROOM);
        let held = |tally: &WorkCharge| tally.add(more * size_of::<u64>()).is_ok();
        if before + more <= MOST && self.tally.as_ref().is_none_or(held) {
            self.all.reserve_exact(more);
            return true;
        }
        self.sort();
        // A little room would be used up at once, and all put in order for it again.
        self.all.len() <= before / 4 * 3
    }

    fn has(&self, print: u64) -> bool {
        let (sorted, others) = self.all.split_at(self.sorted);
        sorted.binary_search(&print).is_ok() || others.contains(&print)
    }

    fn sort(&mut self) {
        if self.sorted < self.all.len() {
            // What was in order stays so, and is only merged with the rest.
            self.all.sort();
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

/// Whether a text has prints, and each of them is one of these.
fn all(text: &str, is: &mut dyn FnMut(u64) -> bool) -> bool {
    let mut some = false;
    let known = prints(text, &mut |print| {
        some = true;
        is(print)
    });
    known && some
}

/// Gives the prints of a text's words and pairs to `take`, until it says `false`. Whether it never did.
///
/// A word is letters and digits of ASCII, or one other character.
fn prints(text: &str, take: &mut dyn FnMut(u64) -> bool) -> bool {
    let mut reader = WordReader::default();
    for &byte in text.as_bytes() {
        let goes_on = match byte {
            byte if byte.is_ascii_alphanumeric() => {
                let begins = reader.kind != WordKind::Letters;
                if begins && !reader.ended(take) {
                    return false;
                }
                reader.letter(WordKind::Letters, byte.to_ascii_lowercase())
            }
            // Of a character's bytes all but the first.
            0x80..=0xbf => reader.letter(WordKind::Character, byte),
            0xc0.. => reader.ended(take) && reader.letter(WordKind::Character, byte),
            _ => reader.ended(take) && reader.between(byte),
        };
        if !goes_on {
            return false;
        }
    }
    reader.ended(take)
}

/// Which word is read.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum WordKind {
    #[default]
    None,
    Letters,
    Character,
}

/// Goes through a text.
#[derive(Default)]
struct WordReader {
    kind: WordKind,
    /// Of the word that is read.
    word: u64,
    /// Of the word before it, and of what has come since.
    last: Option<u64>,
    gap: u64,
    length: usize,
}

impl WordReader {
    fn letter(&mut self, kind: WordKind, byte: u8) -> bool {
        self.kind = kind;
        self.word = (self.word ^ u64::from(byte)).wrapping_mul(FACTOR);
        true
    }

    /// Blanks and quotes between words do not count: who repeats a member sets them otherwise.
    fn between(&mut self, byte: u8) -> bool {
        self.length += 1;
        if !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'`') {
            self.gap = (self.gap ^ u64::from(byte)).wrapping_mul(FACTOR);
        }
        true
    }

    /// Gives the word that was read, if there is one, and its pair with the one before.
    fn ended(&mut self, take: &mut dyn FnMut(u64) -> bool) -> bool {
        if self.kind == WordKind::None {
            return true;
        }
        // Words have even prints, and pairs odd ones.
        let word = mixed(self.word) & !1;
        let pair = self.last.filter(|_| self.length <= FARTHEST);
        let pair = pair.map(|last| mixed(mixed(last ^ self.gap) ^ word) | 1);
        *self = Self { last: Some(word), ..Self::default() };
        take(word) && pair.is_none_or(take)
    }
}

const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// A permutation of all numbers in which no bit of the result follows from few of the given ones (the finalizer of SplitMix64).
const fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::budget::MemoryBudget;

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
            ("is 'Sword-fish_9'", true),
            ("my\nwifi", true),
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
    fn what_a_program_allows_stays_though_it_is_replaced_elsewhere() {
        let words = RequestWords::default();
        words.read("ask Ada Quist about Ada Lovelace");
        words.keep("Dr. Ada Quist (cardiology)");
        words.forget("Ada Quist");
        words.forget("Ada Lovelace");
        for (value, stays) in
            [("Ada Quist", true), ("dr. ada", true), ("Quist Ada", false), ("Lovelace", false), ("", false)]
        {
            assert_eq!((words.stays(value), words.has(value)), (stays, stays), "{value}");
        }
        assert!(words.has("about") && !words.stays("about"));
        words.keep(&text(MOST_STAYING));
        assert!(words.prints().stays.len() <= MOST_STAYING);
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
        assert!(words.prints().all.capacity() <= MOST);
        assert!(words.has("w998 w999"));
    }

    #[test]
    fn what_is_full_stays_so_without_being_put_in_order_again() {
        let words = RequestWords::default();
        (0..2 * MOST).for_each(|n| words.read(&format!("abc{n}: 314")));
        let kept = words.prints();
        assert!(kept.full && kept.all.len() <= MOST);
    }

    #[test]
    fn what_may_not_be_held_was_not_said() {
        let budget = MemoryBudget::process(40_000);
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
