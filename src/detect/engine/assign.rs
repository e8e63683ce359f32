//! Secrets known by where they stand: given to a name that says so, behind a scheme of authentication, in an
//! address, on a command line. One packed search finds the words such places have; all else is looked at from
//! there, forwards and within bounds.

mod given;
mod names;
mod places;
mod text;

use aho_corasick::packed;
use aho_corasick::{AhoCorasick, MatchKind};

use super::super::finding::RuleId;
use super::super::rule::{Gives, Rule};
use super::automaton::Compiled;
use super::judge::Judged;
use super::{Found, Pass, Track};
use text::{Hungry, Text};

/// The longest value that is taken in one piece, in bytes.
const VALUE: usize = 512;
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
    /// A command that is told who the user is by `-u` or `-p`.
    Tool(Tool),
    /// `-u user:password`.
    User,
    /// `-ppassword`.
    Pass,
    /// `net user name password /add`.
    NetUser,
    /// SQL's `IDENTIFIED BY 'password'`.
    Identified,
}

/// Commands with options that say nothing by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tool {
    Curl,
    Mysql,
    Sshpass,
}

/// The words, without the first letter where its case varies. Case beyond that: all lower or all upper.
const WORDS: &[(&str, Place)] = &[
    ("pass", Place::Name),
    ("Pass", Place::Name),
    ("PASS", Place::Name),
    ("pwd", Place::Name),
    ("Pwd", Place::Name),
    ("PWD", Place::Name),
    ("ecret", Place::Name),
    ("ECRET", Place::Name),
    ("oken", Place::Name),
    ("OKEN", Place::Name),
    ("key", Place::Name),
    ("Key", Place::Name),
    ("KEY", Place::Name),
    ("_pw", Place::Name),
    ("_PW", Place::Name),
    ("pw=", Place::Name),
    ("redential", Place::Name),
    ("REDENTIAL", Place::Name),
    ("creds", Place::Name),
    ("ennwort", Place::Name),
    ("ontrasen", Place::Name),
    ("senha", Place::Name),
    ("achtwoord", Place::Name),
    ("uthorization", Place::Authorization),
    ("UTHORIZATION", Place::Authorization),
    ("earer ", Place::Bearer),
    ("://", Place::Address),
    ("if (\"", Place::Compared),
    ("if ('", Place::Compared),
    ("if \"", Place::Compared),
    ("curl", Place::Tool(Tool::Curl)),
    ("mysql", Place::Tool(Tool::Mysql)),
    ("sshpass", Place::Tool(Tool::Sshpass)),
    (" -u", Place::User),
    ("--user", Place::User),
    (" -p", Place::Pass),
    ("net user ", Place::NetUser),
    ("dentified by ", Place::Identified),
    ("DENTIFIED BY ", Place::Identified),
];
const LONGEST: usize = 12;

enum Search {
    Packed(packed::Searcher),
    // Where the processor lacks what the packed search needs.
    Plain(AhoCorasick),
}

/// The rules of values known by their places.
pub(crate) struct Assigned {
    search: Search,
    rules: Vec<(Gives, Compiled)>,
}

/// What is carried from one window to the next.
#[derive(Clone, Copy, Default)]
pub(crate) struct Progress {
    /// The rule whose value is longer than one piece and goes on.
    rest: Option<RuleId>,
    /// The command named last, and where in the text.
    tool: Option<(Tool, usize)>,
}

/// A value and what its place says of it.
#[derive(Clone, Copy, Debug)]
struct Given {
    gives: Gives,
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
        let rules: Vec<(Gives, Compiled)> =
            rules.iter().zip(compiled).filter_map(|((_, rule), &one)| Some((rule.gives?, one))).collect();
        if rules.is_empty() {
            return None;
        }
        let words: Vec<&str> = WORDS.iter().map(|(word, _)| *word).collect();
        let mut builder = packed::Config::new().heuristic_pattern_limits(false).builder();
        builder.extend(&words);
        let search = match builder.build() {
            Some(packed) => Search::Packed(packed),
            None => {
                Search::Plain(AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(&words).ok()?)
            }
        };
        Some(Self { search, rules })
    }

    pub(crate) fn memory(&self) -> usize {
        match &self.search {
            Search::Packed(packed) => packed.memory_usage(),
            Search::Plain(plain) => plain.memory_usage(),
        }
    }

    fn find(&self, text: &[u8], from: usize) -> Option<(Place, usize, usize)> {
        let from = from.min(text.len());
        let (word, start, end) = match &self.search {
            Search::Packed(packed) => {
                let hit = packed.find_in(text, aho_corasick::Span { start: from, end: text.len() })?;
                (hit.pattern(), hit.start(), hit.end())
            }
            Search::Plain(plain) => {
                let hit = plain.find(aho_corasick::Input::new(text).range(from..))?;
                (hit.pattern(), hit.start(), hit.end())
            }
        };
        Some((WORDS.get(word.as_usize())?.1, start, end))
    }
}

impl Pass<'_> {
    /// Scans for values known by their places.
    pub(crate) fn assigned(&self, group: &Assigned, track: &mut Track, found: &mut Found) {
        if !self.rest(track, found) {
            return;
        }
        let mut at = track.at;
        while let Some((place, start, end)) = group.find(self.view.text, at) {
            let text = Text { view: self.view };
            match text.given(place, start, end, &mut track.assigned.tool) {
                Err(Hungry) => {
                    track.at = start;
                    return;
                }
                Ok((next, None)) => at = next.max(end),
                Ok((next, Some(given))) => match self.offer(group, given, found) {
                    Some(rule) => {
                        at = given.end.max(end);
                        if given.cut {
                            track.at = at;
                            track.assigned.rest = Some(rule);
                            if !self.rest(track, found) {
                                return;
                            }
                            at = track.at;
                        }
                    }
                    None => at = next.max(end),
                },
            }
        }
        track.at = at.max(self.view.len());
        if !self.view.complete {
            let tail = at.max(self.view.len().saturating_sub(LONGEST));
            track.at = (tail..self.view.len()).find(|&at| self.may_be_word(at)).unwrap_or(track.at);
        }
    }

    /// Whether the text from `at` to the window's end is the beginning of a word.
    fn may_be_word(&self, at: usize) -> bool {
        let text = self.view.slice(at, self.view.len());
        WORDS.iter().any(|(word, _)| word.as_bytes().starts_with(text))
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
            let end = match (Text { view: self.view }).run(start, VALUE, text::is_dense) {
                Ok(end) => end,
                Err(Hungry) => return false,
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
