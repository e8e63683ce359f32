//! Secrets known by their prefix: one packed search for all prefixes, then a walk from each. A secret that
//! outgrows its reach is certain by then, and is reported piece by piece until it ends.

use aho_corasick::packed;
use aho_corasick::{AhoCorasick, MatchKind, Span};

use super::super::choice::Choice;
use super::super::finding::RuleId;
use super::super::rule::{Edge, Rule};
use super::automaton::{Automaton, Fate};
use super::grown::Grown;
use super::judge::Settled;
use super::{Found, Pass, Track};

/// What the search looks for: the beginning of one or more rules' prefixes.
struct Literal {
    text: Vec<u8>,
    rules: Choice,
    reach: usize,
}

enum Search {
    Packed(packed::Searcher),
    // Where the processor lacks what the packed search needs, or the literals are too many for it.
    Plain(AhoCorasick),
}

/// The rules known by a prefix.
pub(crate) struct Prefixes {
    pub(crate) automaton: Automaton,
    search: Search,
    literals: Vec<Literal>,
    longest: usize,
}

impl Prefixes {
    /// `None` if the literals together are too large. `rules` are those of this group.
    pub(crate) fn new(automaton: Automaton, rules: &[(RuleId, &Rule)]) -> Option<Self> {
        let mut texts: Vec<&[u8]> =
            rules.iter().flat_map(|(_, rule)| &rule.prefixes).map(|prefix| prefix.as_bytes()).collect();
        texts.sort_unstable();
        // What begins with another literal is found by it.
        texts.dedup_by(|text, shorter| text.starts_with(shorter));
        let literals: Vec<Literal> = texts.iter().map(|text| literal(text, rules)).collect();
        let mut builder = packed::Config::new().heuristic_pattern_limits(false).builder();
        builder.extend(&texts);
        let search = match builder.build() {
            Some(packed) => Search::Packed(packed),
            None => {
                Search::Plain(AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(&texts).ok()?)
            }
        };
        let longest = texts.iter().map(|text| text.len()).max()?;
        Some(Self { automaton, search, literals, longest })
    }

    pub(crate) fn memory(&self) -> usize {
        let search = match &self.search {
            Search::Packed(packed) => packed.memory_usage(),
            Search::Plain(plain) => plain.memory_usage(),
        };
        self.automaton.memory() + search
    }

    fn find(&self, text: &[u8], from: usize) -> Option<(&Literal, usize)> {
        let (literal, start) = match &self.search {
            Search::Packed(packed) => {
                let hit = packed.find_in(text, Span { start: from.min(text.len()), end: text.len() })?;
                (hit.pattern(), hit.start())
            }
            Search::Plain(plain) => {
                let hit = plain.find(aho_corasick::Input::new(text).range(from.min(text.len())..))?;
                (hit.pattern(), hit.start())
            }
        };
        Some((self.literals.get(literal.as_usize())?, start))
    }
}

fn literal(text: &[u8], rules: &[(RuleId, &Rule)]) -> Literal {
    let ours = || {
        rules
            .iter()
            .filter(|(_, rule)| rule.prefixes.iter().any(|prefix| prefix.as_bytes().starts_with(text)))
    };
    // A match is reported one byte late, so what is bounded by the reach does not outgrow it.
    let reach = ours().map(|(_, rule)| rule.reach()).max().unwrap_or(0) + 1;
    Literal { text: text.to_vec(), rules: ours().map(|&(id, _)| id).collect(), reach }
}

impl Pass<'_> {
    /// Scans for secrets known by a prefix.
    pub(crate) fn prefixes(&self, group: &Prefixes, track: &mut Track, found: &mut Found) {
        let Some(mut at) = self.grow(&group.automaton, track, found) else { return };
        while let Some((literal, start)) = group.find(self.view.text, at) {
            at = start + 1;
            if !self.choice.meets(&literal.rules) || !self.view.starts(start, Edge::Word) {
                continue;
            }
            match group.automaton.walk(&self.view, &mut track.walk, start, literal.reach) {
                Fate::Hungry => {
                    track.at = start;
                    return;
                }
                Fate::Dead => match self.settle(&group.automaton, &track.walk, found) {
                    Settled::Waiting => {
                        track.at = start;
                        return;
                    }
                    Settled::Nothing => {}
                    Settled::Upto(end) => at = end,
                },
                Fate::Grown => {
                    let limit = start + literal.reach;
                    let rule = match track.walk.ends.is_empty() {
                        true => self.begun(start),
                        false => self.outgrown(&group.automaton, &track.walk, limit),
                    };
                    let Some(rule) = rule else { continue };
                    track.grown = Some(Grown::new(rule, start, literal.reach));
                    match self.grow(&group.automaton, track, found) {
                        Some(end) => at = end,
                        None => return,
                    }
                }
            }
        }
        track.at = at.max(self.view.len());
        if !self.view.complete {
            let tail = at.max(self.view.len().saturating_sub(group.longest));
            track.at = (tail..self.view.len()).find(|&at| self.may_be_prefix(group, at)).unwrap_or(track.at);
        }
    }

    /// Whether the text from `at` to the window's end is the beginning of a literal.
    fn may_be_prefix(&self, group: &Prefixes, at: usize) -> bool {
        let text = self.view.slice(at, self.view.len());
        self.view.starts(at, Edge::Word)
            && group
                .literals
                .iter()
                .any(|known| known.text.starts_with(text) && self.choice.meets(&known.rules))
    }

    /// The rule with the longest prefix that the text at `start` has: what outgrew its reach and matched nothing
    /// yet is redacted all the same.
    fn begun(&self, start: usize) -> Option<RuleId> {
        let text = self.view.slice(start, self.view.len());
        let fits = |rule: &Rule| {
            rule.prefixes.iter().filter(|prefix| text.starts_with(prefix.as_bytes())).map(String::len).max()
        };
        let ours = self.engine.prefix_rules.iter().filter(|id| self.choice.has(**id));
        let fitting = ours.filter_map(|&id| Some((fits(self.engine.rules.get(id.index())?)?, id)));
        fitting.max_by_key(|&(length, id)| (length, std::cmp::Reverse(id))).map(|(_, id)| id)
    }
}
