//! Persons, places and organisations: sequences of words that begin with a capital, by what is known of the words,
//! by titles and endings, and by the word before. Only capitals cost anything.

mod lexicon;
mod spelling;
mod tagger;
mod words;

use super::super::finding::RuleId;
use super::super::rule::{Rule, Tag};
use super::automaton::Compiled;
use super::judge::Judged;
use super::mask::{BLOCK, Class};
use super::{Found, Pass, Track};
use tagger::{Gathered, Tagged, gather, tag};

/// The longest sequence that is looked at, in bytes, and what must follow it to know that it ends.
pub(crate) const REACH: u16 = 160;

/// What a sequence costs beside its bytes, in steps.
const SEQUENCE: usize = 32;

/// The rules that find names.
pub(crate) struct Names {
    rules: Vec<(Tag, Compiled)>,
}

impl Names {
    /// `None` without rules.
    pub(crate) fn new(rules: &[(RuleId, &Rule)], compiled: &[Compiled]) -> Option<Self> {
        let tags =
            rules.iter().zip(compiled).filter_map(|((_, rule), compiled)| Some((rule.tag?, *compiled)));
        let rules: Vec<_> = tags.collect();
        (!rules.is_empty()).then_some(Self { rules })
    }

    /// Bytes it takes.
    pub(crate) const fn memory(&self) -> usize {
        lexicon::memory()
    }
}

impl Pass<'_> {
    /// Scans for names.
    pub(crate) fn names(&self, group: &Names, track: &mut Track, found: &mut Found) {
        let mut at = track.at;
        while let Some(start) = self.capital(at) {
            if let Some(end) = tagger::lone_common(&self.view, start) {
                at = end;
                continue;
            }
            match gather(&self.view, start) {
                Gathered::NotYet => {
                    track.at = self.before_number(start).max(track.at.min(start));
                    return;
                }
                Gathered::Nothing(end) => at = end,
                Gathered::Words(words, end) => {
                    self.step(end - start + SEQUENCE);
                    at = end;
                    for tagged in tag(&self.view, &words) {
                        self.name(group, tagged, found);
                    }
                }
            }
        }
        track.at = at.max(self.view.len());
        if !self.view.complete {
            // A number may be that of a street.
            track.at = self.before_number(self.view.len());
        }
    }

    /// Where the number of a house begins that ends right before `at`, or one space before; `at` without one.
    fn before_number(&self, at: usize) -> usize {
        tagger::number_before(&self.view, at).unwrap_or(at)
    }

    fn name(&self, group: &Names, tagged: Tagged, found: &mut Found) {
        for (_, rule) in group.rules.iter().filter(|(tag, _)| *tag == tagged.tag) {
            let rule = Compiled { score: tagged.score, ..*rule };
            // These rules have open edges and no words, so their answer never waits for more text.
            if let Judged::Yes(finding) = self.judge(&rule, tagged.start, tagged.end) {
                found.push(finding);
            }
        }
    }

    /// The next word at or after `from` that begins with a capital.
    fn capital(&self, from: usize) -> Option<usize> {
        let mut block = from / BLOCK * BLOCK;
        let mut seen = u64::MAX << (from - block);
        while block < self.view.len() {
            let upper = self.masks.at(Class::Upper, block);
            let letters = self.masks.at(Class::Letter, block);
            let wide = letters & !self.masks.at(Class::Word, block);
            if (upper | wide) & seen != 0 {
                let before = block.checked_sub(BLOCK).map_or(0, |at| self.masks.at(Class::Letter, at) >> 63);
                let digits = self.masks.at(Class::Digit, block) << 1;
                let mut starts = (upper | wide) & !(letters << 1 | before | digits) & seen;
                while starts != 0 {
                    let start = block + starts.trailing_zeros() as usize;
                    if tagger::is_capital(&self.view, start) {
                        return Some(start);
                    }
                    starts &= starts - 1;
                }
            }
            block += BLOCK;
            seen = u64::MAX;
        }
        None
    }
}
