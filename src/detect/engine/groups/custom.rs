//! Operators' own patterns, which may begin anywhere: a multi-pattern search finds the next start, or a look at each word
//! where all begin with one; a walk from there finds all ends. Matches of one group don't overlap, leftmost first, as
//! regular expressions are used to.

use regex_automata::Input;
use regex_automata::meta;

use super::super::automaton::{Automaton, WalkEnd};
use super::super::group::Group;
use super::super::pass::{Candidates, StartOutcome, WindowPass};
use super::super::track::{Overlong, Track};
use super::first_words::FirstWords;
use crate::detect::rules::syntax;

/// Memory that the search may take, in bytes.
const LIMIT: usize = 8 << 20;

/// What finds where a value may begin.
enum StartSearch {
    Words(FirstWords),
    Regex(Box<meta::Regex>),
}

impl StartSearch {
    fn new(regexes: &[String]) -> Option<Self> {
        if let Some(words) = FirstWords::new(regexes) {
            return Some(Self::Words(words));
        }
        let config = meta::Config::new()
            .utf8_empty(false)
            .nfa_size_limit(Some(LIMIT))
            // Room for all states there can be, so that none is built twice.
            .hybrid_cache_capacity(LIMIT);
        let search =
            meta::Builder::new().configure(config).syntax(syntax::config()).build_many(regexes).ok()?;
        Some(Self::Regex(Box::new(search)))
    }

    /// Where the next value may begin in `at..open`.
    fn next(&self, pass: &WindowPass<'_>, at: usize, open: usize) -> Option<usize> {
        match self {
            Self::Words(words) => words.find(&pass.view, pass.masks, at, open),
            Self::Regex(search) => {
                let hit = search.find(Input::new(pass.view.text).range(at..))?;
                Some(hit.start()).filter(|&start| start < open)
            }
        }
    }

    fn memory(&self) -> usize {
        match self {
            Self::Words(words) => words.memory(),
            Self::Regex(search) => search.memory_usage(),
        }
    }
}

/// The rules that are found anywhere.
pub(crate) struct Custom {
    automaton: Automaton,
    search: StartSearch,
    reach: usize,
}

impl Custom {
    /// `None` if the patterns together are too large. `reach` is the largest of their rules.
    pub(crate) fn new(automaton: Automaton, regexes: &[String], reach: usize) -> Option<Self> {
        Some(Self { automaton, search: StartSearch::new(regexes)?, reach })
    }
}

impl Group for Custom {
    fn memory(&self) -> usize {
        self.automaton.memory() + self.search.memory()
    }

    fn scan(&self, pass: &WindowPass<'_>, track: &mut Track, found: &mut Candidates) {
        let view = &pass.view;
        let Some(mut at) = pass.go_on(&self.automaton, track, found) else { return };
        let tail = at.max(view.len().saturating_sub(self.reach));
        let alive = |&at: &usize| self.automaton.open(view, at);
        // What could still become a match decides first: it may begin before one that is complete.
        let open =
            if view.complete { view.len() } else { (tail..view.len()).find(alive).unwrap_or(view.len()) };
        while let Some(start) = self.search.next(pass, at, open) {
            at = start + 1;
            let step = self.automaton.walk(view, &mut track.walk, start, self.reach);
            pass.step(track.walk.at - start);
            match step {
                WalkEnd::NeedMore => {
                    track.at = start;
                    return;
                }
                WalkEnd::Dead => match pass.settle_within(&self.automaton, track, &|| None, found) {
                    StartOutcome::NeedMore => {
                        track.at = start;
                        return;
                    }
                    StartOutcome::Nothing => {}
                    StartOutcome::UpTo(end) => at = end,
                },
                WalkEnd::Overlong => {
                    let limit = start + self.reach;
                    let Some(rule) = pass.overlong_rule(&self.automaton, track, limit, &|| None) else {
                        continue;
                    };
                    track.overlong = Some(Overlong::new(rule, start, self.reach));
                    match pass.go_on(&self.automaton, track, found) {
                        Some(end) => at = end,
                        None => return,
                    }
                }
            }
        }
        track.at = at.max(open);
    }
}
