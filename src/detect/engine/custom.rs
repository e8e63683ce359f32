//! Operators' own patterns, which may begin anywhere: a multi-pattern search finds the next start, a walk from it
//! all ends. Matches of one group don't overlap, leftmost first, as regular expressions are used to.

use regex_automata::Input;
use regex_automata::meta;

use super::automaton::{Automaton, Step};
use super::judge::Settled;
use super::overlong::Overlong;
use super::{Found, Pass, Track};

/// Memory that the search may take, in bytes.
const LIMIT: usize = 8 << 20;

/// The rules that are found anywhere.
pub(crate) struct Custom {
    pub(crate) automaton: Automaton,
    search: meta::Regex,
    reach: usize,
}

impl Custom {
    /// `None` if the patterns together are too large. `reach` is the largest of their rules.
    pub(crate) fn new(automaton: Automaton, regexes: &[String], reach: usize) -> Option<Self> {
        let search = meta::Builder::new()
            .configure(
                meta::Config::new()
                    .utf8_empty(false)
                    .nfa_size_limit(Some(LIMIT))
                    // Room for all states there can be, so that none is built twice.
                    .hybrid_cache_capacity(LIMIT),
            )
            .syntax(super::config())
            .build_many(regexes)
            .ok()?;
        Some(Self { automaton, search, reach })
    }

    pub(crate) fn memory(&self) -> usize {
        self.automaton.memory() + self.search.memory_usage()
    }
}

impl Pass<'_> {
    /// Scans for values of operators' own patterns.
    pub(crate) fn custom(&self, group: &Custom, track: &mut Track, found: &mut Found) {
        let view = &self.view;
        let Some(mut at) = self.go_on(&group.automaton, track, found) else { return };
        let tail = at.max(view.len().saturating_sub(group.reach));
        let alive = |&at: &usize| group.automaton.open(view, at);
        // What could still become a match decides first: it may begin before one that is complete.
        let open =
            if view.complete { view.len() } else { (tail..view.len()).find(alive).unwrap_or(view.len()) };
        while at < open {
            let input = Input::new(view.text).range(at..);
            let Some(start) = group.search.find(input).map(|hit| hit.start()).filter(|&start| start < open)
            else {
                break;
            };
            at = start + 1;
            let step = group.automaton.walk(view, &mut track.walk, start, group.reach);
            self.step(track.walk.at - start);
            match step {
                Step::NeedMore => {
                    track.at = start;
                    return;
                }
                Step::Dead => match self.settle_within(&group.automaton, track, &|| None, found) {
                    Settled::Waiting => {
                        track.at = start;
                        return;
                    }
                    Settled::Nothing => {}
                    Settled::Upto(end) => at = end,
                },
                Step::Overlong => {
                    let limit = start + group.reach;
                    let Some(rule) = self.overlong_rule(&group.automaton, track, limit, &|| None) else {
                        continue;
                    };
                    track.overlong = Some(Overlong::new(rule, start, group.reach));
                    match self.go_on(&group.automaton, track, found) {
                        Some(end) => at = end,
                        None => return,
                    }
                }
            }
        }
        track.at = at.max(open);
    }
}
