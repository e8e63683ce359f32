//! Where patterns may begin that all begin with a word: each word's first letters are looked up among theirs, which is
//! cheaper than a search by an automaton that reads every byte.

use regex_automata::util::syntax::parse_with;
use regex_syntax::hir::Look;
use regex_syntax::hir::literal::Extractor;

use super::super::mask::{BLOCK, Class, Masks};
use super::super::view::View;
use crate::detect::rules::syntax;

/// Letters of a word that are looked at.
const LETTERS: usize = 4;
/// Beginnings that are told apart, in all their cases.
const BEGINNINGS: usize = 4096;
/// Bits of the filter, as a power of two.
const FILTER: u32 = 13;
/// Letters in any case.
const FOLD: u32 = 0x2020_2020;

/// The first letters of the words that patterns begin with. It tells of some others, too; it overlooks none.
#[derive(Debug)]
pub(super) struct FirstWords {
    /// The bits of a word's first letters that are looked at.
    kept: u32,
    filter: Box<[u64]>,
}

impl FirstWords {
    /// `None` if some pattern may begin otherwise, or in too many ways. The patterns are known to parse.
    pub(super) fn new(regexes: &[String]) -> Option<Self> {
        let mut extractor = Extractor::new();
        extractor.limit_total(BEGINNINGS).limit_literal_len(LETTERS);
        let mut keys = Vec::new();
        let mut shortest = LETTERS;
        for regex in regexes {
            let hir = parse_with(regex, &syntax::config()).ok()?;
            if !hir.properties().look_set_prefix().contains(Look::WordAscii) {
                return None;
            }
            for beginning in extractor.extract(&hir).literals()? {
                let letters = beginning.as_bytes();
                letters.iter().take(LETTERS).all(u8::is_ascii_alphanumeric).then_some(())?;
                shortest = shortest.min(letters.len());
                keys.push(key(letters));
            }
        }
        // One letter begins too many words.
        let unread = u32::try_from(LETTERS - shortest).ok().filter(|_| shortest > 1)?;
        let mut words = Self { kept: u32::MAX >> (8 * unread), filter: vec![0; 1 << (FILTER - 6)].into() };
        for key in keys {
            let (word, bit) = place(key & words.kept);
            *words.filter.get_mut(word)? |= bit;
        }
        Some(words)
    }

    /// Bytes it takes.
    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.filter)
    }

    /// The first word in `from..to` that may begin a value.
    pub(super) fn find(&self, view: &View<'_>, masks: &Masks, from: usize, to: usize) -> Option<usize> {
        let mut block = from / BLOCK * BLOCK;
        let mut seen = u64::MAX << (from - block);
        while block < to {
            let all = masks.at(Class::Word, block);
            let before = block.checked_sub(BLOCK).map_or(0, |at| masks.at(Class::Word, at) >> 63);
            let mut starts = all & !(all << 1 | before) & seen;
            while starts != 0 {
                let start = block + starts.trailing_zeros() as usize;
                starts &= starts - 1;
                let (word, bit) = place(key(view.text.get(start..).unwrap_or_default()) & self.kept);
                if self.filter.get(word).is_some_and(|bits| bits & bit != 0) {
                    return Some(start).filter(|&start| start < to);
                }
            }
            block += BLOCK;
            seen = u64::MAX;
        }
        None
    }
}

/// The first letters of a text, in one case.
#[inline]
fn key(text: &[u8]) -> u32 {
    let letters = match text.first_chunk::<LETTERS>() {
        Some(letters) => u32::from_le_bytes(*letters),
        None => text.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte)),
    };
    letters | FOLD
}

/// The word of the filter that a key is in, and its bit.
#[inline]
const fn place(key: u32) -> (usize, u64) {
    let place = (key.wrapping_mul(0x9E37_79B1) >> (32 - FILTER)) as usize;
    (place / 64, 1 << (place % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(regexes: &[&str]) -> Option<FirstWords> {
        FirstWords::new(&regexes.iter().map(|&regex| regex.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn words_are_found_by_their_first_letters() {
        let words = of(&[r"(?i)\b(?:alpha|beta)s?\b", r"\bgam{2}a\d"]).unwrap();
        let text = format!("{}xalpha aLPHs{}gamma_beta al", "0 ".repeat(60), ".".repeat(70));
        let mut masks = Masks::default();
        masks.cover(text.as_bytes());
        let view = View { text: text.as_bytes(), base: 0, complete: true };
        let (mut at, mut found) = (0, Vec::new());
        while let Some(start) = words.find(&view, &masks, at, text.len()) {
            found.push(start);
            at = start + 1;
        }
        assert_eq!(found, [127, 202, 208]);
        assert_eq!(words.find(&view, &masks, 128, 202), None);
    }

    #[test]
    fn what_may_begin_otherwise_has_none() {
        for regex in ["alpha", r"\b[a-z]+", r"\b(?:alpha|-x)", r"\ba", r"(?:\balpha|beta)", r"\b"] {
            assert!(of(&[r"\bgamma", regex]).is_none(), "{regex}");
        }
    }
}
