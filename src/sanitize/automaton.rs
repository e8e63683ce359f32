//! [`Automaton`]: sequences of symbols, looked for all at once in one walk over a text (Aho and Corasick, 1975).
//!
//! Of the sequences that end at one place the longest is told first: the others lie in it, so what the longest ones cover is
//! what all of them cover, at one match a symbol. Engines that list every match, or copy those lists from state to state, cost
//! as much as there are sequences within one another.

use crate::sanitize::Rejection;

/// What was read last is the beginning of a sequence, and nothing that began before is.
#[derive(Clone, Copy, Debug, Default)]
struct PrefixNode {
    /// The first edge that leads on; they end where those of the next state begin.
    edges: u32,
    /// The state of its longest end that is a beginning, too.
    fail: u32,
    /// The longest sequence that ends here, counted from 1; 0 if none does.
    longest: u32,
}

/// Sequences, looked for all at once. States are in the order of their depths: edge `n` leads to state `n + 1`.
#[derive(Debug)]
pub(super) struct Automaton {
    states: Vec<PrefixNode>,
    /// The symbol of each edge, in order for each state.
    edges: Vec<u32>,
    /// The longest other sequence, counted from 1, that each ends with; 0 if there is none.
    shorter: Vec<u32>,
    /// How long the longest sequence is.
    deepest: usize,
}

/// A walk over one text.
#[derive(Debug)]
pub(super) struct TextWalk<'a> {
    automaton: &'a Automaton,
    state: u32,
    /// How often a state was looked at: never more than twice a symbol.
    looked: usize,
}

/// The sequences that begin as a state says, in order, and how many symbols that are.
#[derive(Clone, Copy)]
struct Branch {
    first: usize,
    end: usize,
    depth: usize,
}

impl Automaton {
    /// Looks for these. Of those that are equal, the first counts; empty ones are never found.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`] if there are too many.
    pub(super) fn new(sequences: &[Vec<u32>]) -> Result<Self, Rejection> {
        let symbols = sequences.iter().fold(0_usize, |sum, sequence| sum.saturating_add(sequence.len()));
        if u32::try_from(symbols.max(sequences.len()).saturating_add(2)).is_err() {
            return Err(Rejection::OverLimit);
        }
        let deepest = sequences.iter().map(Vec::len).max().unwrap_or_default();
        let shorter = vec![0; sequences.len()];
        let mut automaton = Self { states: Vec::new(), edges: Vec::new(), shorter, deepest };
        let ends = automaton.grow(sequences);
        automaton.link(&ends);
        Ok(automaton)
    }

    /// Makes all states, in the order of their depths; the sequence that each is the end of, counted from 1.
    fn grow(&mut self, sequences: &[Vec<u32>]) -> Vec<u32> {
        let mut order: Vec<usize> = (0..sequences.len()).collect();
        order.sort_by_key(|n| sequences.get(*n));
        let at = |place: usize| order.get(place).and_then(|n| Some((*n, sequences.get(*n)?)));
        let mut branches = vec![Branch { first: 0, end: order.len(), depth: 0 }];
        let mut ends = Vec::new();
        while let Some(Branch { mut first, end, depth }) = branches.get(self.states.len()).copied() {
            self.states.push(PrefixNode { edges: number(self.edges.len()), fail: 0, longest: 0 });
            let mut own = 0;
            // In order, those that end come before those that go on.
            while let Some((n, _)) = at(first).filter(|(_, one)| first < end && one.len() == depth) {
                own = if own == 0 && depth > 0 { number(n + 1) } else { own };
                first += 1;
            }
            ends.push(own);
            while let Some(symbol) = at(first).filter(|_| first < end).and_then(|(_, one)| one.get(depth)) {
                let same = |place: &usize| at(*place).is_some_and(|(_, one)| one.get(depth) == Some(symbol));
                let count = (first..end).take_while(same).count().max(1);
                self.edges.push(*symbol);
                branches.push(Branch { first, end: first + count, depth: depth + 1 });
                first += count;
            }
        }
        ends
    }

    /// Says where each state goes on if a symbol does not fit, and what ends at it.
    fn link(&mut self, ends: &[u32]) {
        for from in 0..number(self.states.len()) {
            let (first, count) = (self.edges(from).0, self.edges(from).1.len());
            for edge in first..first + number(count) {
                let symbol = self.edges.get(edge as usize).copied().unwrap_or_default();
                let (next, mut fail) = (edge + 1, self.state(from).fail);
                let goes_on = if from == 0 { 0 } else { self.next(&mut fail, symbol, &mut 0) };
                let below = self.state(goes_on).longest;
                let own = ends.get(next as usize).copied().unwrap_or_default();
                if let Some(shorter) = (own as usize).checked_sub(1).and_then(|n| self.shorter.get_mut(n)) {
                    *shorter = below;
                }
                if let Some(state) = self.states.get_mut(next as usize) {
                    (state.fail, state.longest) = (goes_on, if own == 0 { below } else { own });
                }
            }
        }
    }

    fn state(&self, state: u32) -> PrefixNode {
        self.states.get(state as usize).copied().unwrap_or_default()
    }

    /// The first edge of a state, and the symbols of all of them.
    fn edges(&self, state: u32) -> (u32, &[u32]) {
        let from = self.state(state).edges;
        let to = self.states.get(state as usize + 1).map_or(self.edges.len(), |next| next.edges as usize);
        (from, self.edges.get(from as usize..to).unwrap_or_default())
    }

    /// The state behind a symbol. `state` becomes the last that was looked at.
    fn next(&self, state: &mut u32, symbol: u32, looked: &mut usize) -> u32 {
        loop {
            *looked += 1;
            let (first, symbols) = self.edges(*state);
            if let Ok(place) = symbols.binary_search(&symbol) {
                return first + number(place) + 1;
            }
            if *state == 0 {
                return 0;
            }
            *state = self.state(*state).fail;
        }
    }

    /// How many symbols the longest sequence has.
    pub(super) fn deepest(&self) -> usize {
        self.deepest
    }

    /// Begins on a text.
    pub(super) fn walk(&self) -> TextWalk<'_> {
        TextWalk { automaton: self, state: 0, looked: 0 }
    }
}

impl<'a> TextWalk<'a> {
    /// Reads a symbol, or one that is in no sequence. Which sequences end with it, the longest first.
    pub(super) fn step(&mut self, symbol: Option<u32>) -> impl Iterator<Item = usize> + use<'a> {
        let automaton = self.automaton;
        self.state = match symbol {
            Some(symbol) => automaton.next(&mut self.state, symbol, &mut self.looked),
            None => 0,
        };
        let which = |counted: u32| (counted as usize).checked_sub(1);
        let first = which(automaton.state(self.state).longest);
        std::iter::successors(first, move |n| automaton.shorter.get(*n).copied().and_then(which))
    }
}

/// A number that fits: see [`Automaton::new`].
fn number(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequences(all: &[&str]) -> Vec<Vec<u32>> {
        all.iter().map(|one| one.chars().map(u32::from).collect()).collect()
    }

    /// All that end at each place of a text, and how often states were looked at.
    fn walked(all: &[&str], text: &str) -> (Vec<Vec<usize>>, usize) {
        let automaton = Automaton::new(&sequences(all)).unwrap();
        let mut walk = automaton.walk();
        let found = text.chars().map(|c| walk.step((c != '.').then_some(u32::from(c))).collect()).collect();
        (found, walk.looked)
    }

    #[test]
    fn what_ends_somewhere_is_told_the_longest_first() {
        let all = ["he", "she", "his", "hers", "e", "", "he"];
        let (found, _) = walked(&all, "ushers.he.s.he");
        let none = Vec::<usize>::new;
        let want = [none(), none(), none(), vec![1, 0, 4], none(), vec![3], none(), none(), vec![0, 4]];
        assert_eq!(found[..9], want);
        assert_eq!(found[9..], [none(), none(), none(), none(), vec![0, 4]]);
    }

    #[test]
    fn the_same_is_found_as_by_trying_each() {
        // Words of two letters: every way in which sequences can lie in one another.
        let word = |mut n: usize| {
            let mut word = String::new();
            while n > 1 {
                word.push(if n.is_multiple_of(2) { 'a' } else { 'b' });
                n /= 2;
            }
            word
        };
        for seed in 0..400_usize {
            let pick = |n: usize| (seed * 7919 + n * 104_729) % 253 + 3;
            let all: Vec<String> = (0..seed % 9 + 1).map(|n| word(pick(n))).collect();
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            let text: String = (20..40).map(|n| word(pick(n))).collect();
            let (found, looked) = walked(&all, &text);
            assert!(looked <= 2 * text.len());
            for (at, found) in found.iter().enumerate() {
                let read = text.get(..=at).unwrap();
                let mut want: Vec<&str> =
                    all.iter().copied().filter(|one| !one.is_empty() && read.ends_with(one)).collect();
                want.sort_by_key(|one| std::cmp::Reverse(one.len()));
                want.dedup();
                let found: Vec<&str> = found.iter().map(|n| all[*n]).collect();
                assert_eq!(found, want, "{all:?} in {read}");
            }
        }
    }

    #[test]
    fn work_does_not_grow_with_what_lies_in_one_another() {
        let nested: Vec<Vec<u32>> = (1..=2000).map(|length| vec![7; length]).collect();
        let automaton = Automaton::new(&nested).unwrap();
        // One state a symbol of the longest, whatever lies in it.
        assert_eq!((automaton.states.len(), automaton.edges.len(), automaton.deepest()), (2001, 2000, 2000));
        let mut walk = automaton.walk();
        for n in 0..100_000_u32 {
            let other = n % 3001 == 3000;
            let longest = walk.step(Some(if other { 8 } else { 7 })).next();
            assert_eq!(longest.is_none(), other);
        }
        assert!(walk.looked <= 200_000);
    }
}
