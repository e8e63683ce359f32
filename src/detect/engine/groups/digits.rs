//! Values known by a digit: from each word that holds one, or the word before it, one walk through the automaton
//! of all such rules.

use super::super::automaton::Automaton;
use super::super::group::Group;
use super::super::mask::FirstDigits;
use super::super::pass::{Candidates, WindowPass};
use super::super::track::Track;
use super::super::view::{UUID, View};
use crate::detect::finding::Finding;

/// Letters that can stand in a word before its first digit.
const LEAD: usize = 16;
/// The score from which no value is looked for within a finding.
const CERTAIN: f32 = 0.85;
/// Letters of a word that can stand before the word with the first digit.
const WORD: usize = 4;

/// Where the run of `class` that holds the byte before `from` begins, if within `most` bytes.
fn run_start(text: &[u8], from: usize, most: usize, class: fn(&u8) -> bool) -> Option<usize> {
    let floor = from.saturating_sub(most + 1);
    let back = text.get(floor..from).unwrap_or_default().iter().rev().take_while(|byte| class(byte)).count();
    (back <= most).then(|| from - back)
}

/// Where a value may begin that has the digit asked about as its first.
#[derive(Clone, Copy)]
struct Starts {
    /// The word before the word before, or [`NONE`].
    far: usize,
    /// The word before, or [`NONE`].
    lead: usize,
    /// The first of the signs before the word; the word if there is none.
    sign: usize,
    /// The word with the digit, or [`NONE`].
    word: usize,
}

/// No offset.
const NONE: usize = usize::MAX;

/// The starts that belong to the digit at `digit`. `None` if an escape before it has not arrived whole.
#[inline]
fn starts(view: &View<'_>, digit: usize) -> Option<Starts> {
    let nothing = Starts { far: NONE, lead: NONE, sign: NONE, word: NONE };
    let mut run = digit;
    while view.before(run, 1).is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        run -= 1;
        if digit - run > LEAD {
            return Some(nothing);
        }
    }
    let Some(before) = view.before(run, 1) else { return Some(Starts { sign: run, word: run, ..nothing }) };
    if before == b'\\' {
        let word = view.after_escape(run)?;
        return Some(Starts { sign: word, word, ..nothing });
    }
    let is_sign = |at: usize| view.before(at, 1).is_some_and(|byte| matches!(byte, b'+' | b'('));
    let mut sign = run;
    while sign + 2 > run && is_sign(sign) {
        sign -= 1;
    }
    let lead = word_before(view, run);
    let far = if lead == NONE { NONE } else { word_before(view, lead) };
    Some(Starts { far, lead, sign, word: run })
}

/// The short word that ends one space or hyphen before `at`, or [`NONE`].
fn word_before(view: &View<'_>, at: usize) -> usize {
    if !matches!(view.before(at, 1), Some(b' ' | b'-')) {
        return NONE;
    }
    let letters = run_start(view.text, at - 1, WORD, u8::is_ascii_alphabetic);
    letters.filter(|&start| start + 1 < at && view.word_starts(start)).unwrap_or(NONE)
}

impl Starts {
    /// In order.
    fn all(self) -> impl Iterator<Item = usize> {
        let leads = [self.far, self.lead].into_iter().filter(|&start| start != NONE);
        let signs = if self.word == NONE { 0..0 } else { self.sign..self.word + 1 };
        leads.chain(signs)
    }
}

/// The rules whose values have a digit near their beginning.
pub(crate) struct Digits {
    automaton: Automaton,
}

impl Digits {
    /// The group of the automaton's patterns.
    pub(crate) const fn new(automaton: Automaton) -> Self {
        Self { automaton }
    }
}

impl Group for Digits {
    fn memory(&self) -> usize {
        self.automaton.memory()
    }

    fn scan(&self, pass: &WindowPass<'_>, track: &mut Track, found: &mut Candidates) {
        let (view, from, automaton) = (&pass.view, track.at, &self.automaton);
        let mut next = from;
        for digit in FirstDigits::new(pass.masks, from) {
            if digit < next {
                continue;
            }
            let Some(starts) = starts(view, digit) else {
                track.at = next.max(digit.saturating_sub(LEAD));
                return;
            };
            for start in starts.all() {
                if start < next || start >= view.len() {
                    continue;
                }
                if start == starts.word && view.uuid_at(start) {
                    next = start + UUID;
                    break;
                }
                let kept = found.len();
                if !pass.try_start(automaton, &mut track.walk, start, found) {
                    track.at = start;
                    return;
                }
                next = start + 1;
                if let Some(end) = certain(view, found.get(kept..).unwrap_or_default()) {
                    next = end;
                    break;
                }
            }
        }
        track.at = view.len();
        if !view.complete {
            // What has no digit yet may get one.
            let tail = next.max(view.len().saturating_sub(LEAD + 2 * (WORD + 1) + 1));
            let opens = |&at: &usize| may_begin(view, at) && automaton.open(view, at);
            track.at = (tail..view.len()).find(opens).unwrap_or(view.len());
        }
    }
}

/// Where the longest of the findings ends that are so sure that what lies within is a part of them.
fn certain(view: &View<'_>, found: &[Finding]) -> Option<usize> {
    let sure = found.iter().filter(|one| one.score.value() >= CERTAIN);
    sure.map(|one| one.span.end - view.base).max()
}

fn may_begin(view: &View<'_>, at: usize) -> bool {
    match view.get(at) {
        Some(b'+' | b'(') => true,
        Some(byte) => byte.is_ascii_alphanumeric() && view.word_starts(at),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digit_has_the_starts_of_its_word_and_the_one_before() {
        let starts_in = |text: &str, digit| {
            let view = View { text: text.as_bytes(), base: 0, complete: true };
            starts(&view, digit).unwrap().all().collect::<Vec<_>>()
        };
        assert_eq!(starts_in("x AB12", 4), [0, 2]);
        assert_eq!(starts_in("x AB 12", 5), [0, 2, 5]);
        assert_eq!(starts_in("seven AB-12", 9), [6, 9]);
        assert_eq!(starts_in("(+44", 2), [0, 1, 2]);
        assert_eq!(starts_in(r"\n41", 2), [2]);
        assert_eq!(starts_in("abcdefghijklmnopqrst4", 20), [0usize; 0]);
    }
}
