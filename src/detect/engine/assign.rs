//! Secrets known by where they stand: given to a name that says so, behind a scheme of authentication, in an
//! address, on a command line. One packed search finds the words such places have; all else is looked at from
//! there, forwards and within bounds.

mod given;
mod labelled;
mod names;
mod places;
mod shape;
#[cfg(test)]
mod tests;
mod text;

use std::cell::Cell;

use aho_corasick::packed;
use aho_corasick::{AhoCorasick, MatchKind};

use super::super::finding::RuleId;
use super::super::rule::{Rule, SecretKind};
use super::automaton::Compiled;
use super::judge::Judged;
use super::{Found, Pass, Track};
pub(crate) use names::{Meaning, meaning};
use text::{Looked, NeedMore, Text};

/// The longest value that is taken in one piece, in bytes.
const VALUE: usize = 512;
/// A value from this length on costs so much that there may be no more than so many: see [`Budget`](super::budget::Budget).
const DENSE: usize = 64;
/// The most that can lie between where a place is known and where its value ends, in bytes.
pub(crate) const REACH: u16 = 800;

/// What a word that was found begins or is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A name such as `db_password`.
    Name,
    /// The header field of HTTP.
    Authorization,
    Bearer,
    /// The authority of an address.
    Address,
    /// `if ("…" == secret)`.
    Compared,
    /// `curl -u user:password`.
    Curl,
    /// `mysql -ppassword`.
    Mysql,
    /// `net user name password /add`.
    NetUser,
    /// SQL's `IDENTIFIED BY 'password'`.
    Identified,
}

/// The words, without the first letter where its case varies. Case beyond that: all lower or all upper. In two
/// lists, for the packed search is quick with few words, and quicker with longer ones.
const WORDS: [&[(&str, Place)]; 2] = [
    &[
        ("pass", Place::Name),
        ("Pass", Place::Name),
        ("PASS", Place::Name),
        ("pwd", Place::Name),
        ("Pwd", Place::Name),
        ("PWD", Place::Name),
        ("_pw", Place::Name),
        ("ecret", Place::Name),
        ("ECRET", Place::Name),
        ("oken", Place::Name),
        ("OKEN", Place::Name),
        ("key", Place::Name),
        ("Key", Place::Name),
        ("KEY", Place::Name),
        ("://", Place::Address),
    ],
    &[
        ("redent", Place::Name),
        ("REDENT", Place::Name),
        ("creds", Place::Name),
        ("ennwort", Place::Name),
        ("ontrasen", Place::Name),
        ("senha", Place::Name),
        ("_PW=", Place::Name),
        ("uthorization", Place::Authorization),
        ("UTHORIZATION", Place::Authorization),
        ("earer ", Place::Bearer),
        ("if (", Place::Compared),
        ("curl", Place::Curl),
        ("mysql", Place::Mysql),
        ("net user ", Place::NetUser),
        ("dentified by ", Place::Identified),
        ("DENTIFIED BY ", Place::Identified),
    ],
];
const LONGEST: usize = 13;

/// The search for one list of words.
enum Search {
    Packed(packed::Searcher),
    // Where the processor lacks what the packed search needs.
    Plain(AhoCorasick),
}

impl Search {
    fn new(words: &[(&str, Place)]) -> Option<Self> {
        let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let mut builder = packed::Config::new().heuristic_pattern_limits(false).builder();
        builder.extend(&words);
        match builder.build() {
            Some(packed) => Some(Self::Packed(packed)),
            None => {
                let plain = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(&words);
                plain.ok().map(Self::Plain)
            }
        }
    }

    fn memory(&self) -> usize {
        match self {
            Self::Packed(packed) => packed.memory_usage(),
            Self::Plain(plain) => plain.memory_usage(),
        }
    }

    fn find(&self, text: &[u8], from: usize, words: &[(&str, Place)]) -> Option<Hit> {
        let from = from.min(text.len());
        let hit = match self {
            Self::Packed(packed) => {
                packed.find_in(text, aho_corasick::Span { start: from, end: text.len() })?
            }
            Self::Plain(plain) => plain.find(aho_corasick::Input::new(text).range(from..))?,
        };
        Some(Hit { start: hit.start(), end: hit.end(), place: words.get(hit.pattern().as_usize())?.1 })
    }
}

/// A word that was found.
#[derive(Clone, Copy, Debug)]
struct Hit {
    start: usize,
    end: usize,
    place: Place,
}

/// The rules of values known by their places.
pub(crate) struct Assigned {
    searches: [Search; 2],
    rules: Vec<(SecretKind, Compiled)>,
}

/// The words of both lists in the order of their starts.
struct Hits<'a> {
    group: &'a Assigned,
    text: &'a [u8],
    /// The next of each list; `None` where it was not looked for since the last was taken.
    next: [Option<Option<Hit>>; 2],
}

impl Hits<'_> {
    /// The first that starts at or after `from`.
    fn from(&mut self, from: usize) -> Option<Hit> {
        for ((next, search), words) in self.next.iter_mut().zip(&self.group.searches).zip(WORDS) {
            if next.is_none_or(|known| known.is_some_and(|hit| hit.start < from)) {
                *next = Some(search.find(self.text, from, words));
            }
        }
        self.next.iter().flatten().flatten().min_by_key(|hit| hit.start).copied()
    }
}

/// What is carried from one window to the next.
#[derive(Clone, Copy, Default)]
pub(crate) struct Progress {
    /// The rule whose value is longer than one piece and goes on.
    rest: Option<RuleId>,
    /// What the value is that the text is, if a label says so.
    labelled: Option<Meaning>,
}

impl Progress {
    /// At the beginning of a value that a label says this of.
    pub(crate) const fn labelled(labelled: Option<Meaning>) -> Self {
        Self { rest: None, labelled }
    }
}

/// A value and what its place says of it.
#[derive(Clone, Copy, Debug)]
struct Given {
    gives: SecretKind,
    start: usize,
    end: usize,
    /// What is taken off the rule's score.
    doubt: f32,
    /// Whether the value was cut at the longest piece.
    cut: bool,
}

impl Assigned {
    /// `None` if there are no such rules. `compiled` are those of `rules`, in order.
    pub(crate) fn new(rules: &[(RuleId, &Rule)], compiled: &[Compiled]) -> Option<Self> {
        let rules: Vec<(SecretKind, Compiled)> =
            rules.iter().zip(compiled).filter_map(|((_, rule), &one)| Some((rule.gives?, one))).collect();
        if rules.is_empty() {
            return None;
        }
        let [first, second] = WORDS;
        Some(Self { searches: [Search::new(first)?, Search::new(second)?], rules })
    }

    pub(crate) fn memory(&self) -> usize {
        self.searches.iter().map(Search::memory).sum()
    }
}

impl Pass<'_> {
    /// Scans for values known by their places.
    pub(crate) fn assigned(&self, group: &Assigned, track: &mut Track, found: &mut Found) {
        if !self.labelled(group, track, found) || !self.rest(track, found) {
            return;
        }
        let mut at = track.at;
        let mut hits = Hits { group, text: self.view.text, next: [None; 2] };
        while let Some(hit) = hits.from(at) {
            let looked = Cell::default();
            let (text, end) = (Text { view: self.view, looked: &looked }, hit.end);
            match text.given(hit) {
                Err(NeedMore) => {
                    track.at = hit.start;
                    return;
                }
                Ok((next, None)) => {
                    at = self.beyond(group, track, (hit.start, looked.get()), found).unwrap_or(next.max(end));
                }
                Ok((next, Some(given))) => match self.offer(group, given, found) {
                    Some(rule) => {
                        // What stands before a command's option is still to be looked at.
                        at = if hit.place == Place::Curl { end } else { given.end.max(end) };
                        if given.cut {
                            track.at = at;
                            track.assigned.rest = Some(rule);
                            if !self.rest(track, found) {
                                return;
                            }
                            at = track.at;
                        }
                    }
                    None => {
                        at = self
                            .beyond(group, track, (hit.start, looked.get()), found)
                            .unwrap_or(next.max(end));
                    }
                },
            }
        }
        track.at = at.max(self.view.len());
        if !self.view.complete {
            let tail = at.max(self.view.len().saturating_sub(LONGEST));
            track.at = (tail..self.view.len()).find(|&at| self.may_be_word(at)).unwrap_or(track.at);
        }
    }

    /// What a place that came to nothing has cost is spent. Where there was not as much, the long value that was looked
    /// at counts as a key; behind it.
    fn beyond(
        &self,
        group: &Assigned,
        track: &mut Track,
        (start, looked): (usize, Looked),
        found: &mut Found,
    ) -> Option<usize> {
        self.step(looked.steps);
        let afforded = track.budget.spend(start, looked.steps);
        let mut keys = group.rules.iter().filter(|(gives, _)| *gives == SecretKind::Key);
        let (_, rule) = keys.find(|(_, rule)| self.selection.has(rule.rule))?;
        if afforded || looked.end < looked.start + DENSE {
            return None;
        }
        let end = self.boundary(looked.end);
        self.long_piece(rule.rule, looked.start, end, found);
        Some(end)
    }

    /// Whether the text from `at` to the window's end is the beginning of a word.
    fn may_be_word(&self, at: usize) -> bool {
        let text = self.view.slice(at, self.view.len());
        WORDS.into_iter().flatten().any(|(word, _)| word.as_bytes().starts_with(text))
    }

    /// Offers the value to the rules of its kind. The rule of a finding, if there is one.
    fn offer(&self, group: &Assigned, given: Given, found: &mut Found) -> Option<RuleId> {
        let mut taken = None;
        for (gives, rule) in &group.rules {
            if *gives != given.gives {
                continue;
            }
            let doubted = Compiled { score: (rule.score - given.doubt).max(0.0), ..*rule };
            // These rules have open edges and no words, so their answer never waits for more text.
            if let Judged::Yes(finding) = self.judge(&doubted, given.start, given.end) {
                found.push(finding);
                taken = Some(rule.rule);
            }
        }
        taken
    }

    /// Goes on with a value that is longer than one piece; whether it has come to its end.
    fn rest(&self, track: &mut Track, found: &mut Found) -> bool {
        while let Some(rule) = track.assigned.rest {
            let start = track.at;
            let end = match (Text { view: self.view, looked: &Cell::default() }).run(
                start,
                VALUE,
                text::is_dense,
            ) {
                Ok(end) => end,
                Err(NeedMore) => return false,
            };
            let goes_on = end - start == VALUE;
            let end = if goes_on { self.boundary(end) } else { end };
            if end > start {
                self.long_piece(rule, start, end, found);
            }
            track.at = end;
            if !goes_on {
                track.assigned.rest = None;
            }
        }
        true
    }
}
