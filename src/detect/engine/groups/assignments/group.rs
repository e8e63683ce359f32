//! The scan for values known by their places.

use std::cell::Cell;

use super::super::super::group::Group;
use super::super::super::pass::{Evaluation, Found, Pass};
use super::super::super::pattern::CompiledPattern;
use super::super::super::track::Track;
use super::super::super::view::View;
use super::form::Form;
use super::search::{self, Hits, LISTS, Search, WORDS};
use super::text::{Looked, NeedMore, Text, is_dense};
use super::value::{self, LONGEST, Value};
use crate::detect::finding::RuleId;
use crate::detect::naming::is_secret_word;
use crate::detect::rules::{RuleRef, SecretKind};

/// A value from this length on costs so much that there may be no more than so many: see
/// [`Budget`](super::super::super::budget::Budget).
const DENSE: usize = 64;

/// A rule, and the secrets it takes.
struct Taker {
    kind: SecretKind,
    pattern: CompiledPattern,
}

/// The rules of values known by their places.
pub(crate) struct Assignments {
    searches: [Search; LISTS],
    rules: Vec<Taker>,
}

impl Assignments {
    /// `None` if there are no such rules. `compiled` are those of `rules`, in order.
    pub(crate) fn new(rules: &[RuleRef<'_>], compiled: &[CompiledPattern]) -> Option<Self> {
        let takers = rules.iter().zip(compiled);
        let takers = takers.filter_map(|(one, &pattern)| Some(Taker { kind: one.rule.gives?, pattern }));
        let rules: Vec<Taker> = takers.collect();
        if rules.is_empty() {
            return None;
        }
        let [first, second, third] = WORDS;
        Some(Self { searches: [Search::new(first)?, Search::new(second)?, Search::new(third)?], rules })
    }

    /// What looking at a place without a value has cost is spent. Where the budget had not as much, the long value that was
    /// looked at counts as a key; where it ends.
    fn spend(&self, pass: &Pass<'_>, track: &mut Track, looked: Looked, found: &mut Found) -> Option<usize> {
        pass.step(looked.steps);
        let afforded = track.budget.spend(looked.place, looked.steps);
        let mut keys = self.rules.iter().filter(|taker| taker.kind == SecretKind::Key);
        let key = keys.find(|taker| pass.selection.has(taker.pattern.rule))?;
        if afforded || looked.end < looked.start + DENSE {
            return None;
        }
        let end = pass.view.boundary(looked.end);
        pass.report_piece(key.pattern.rule, looked.start, end, found);
        Some(end)
    }

    /// Evaluates the value for the rules of its kind. The rule of a finding, if there is one.
    fn offer(&self, pass: &Pass<'_>, value: Value, found: &mut Found) -> Option<RuleId> {
        let mut taken = None;
        for taker in self.rules.iter().filter(|taker| taker.kind == value.kind) {
            let score = (taker.pattern.score - value.doubt).max(0.0);
            let doubted = CompiledPattern { score, ..taker.pattern };
            // These rules have open edges and no words, so their answer never waits for more text.
            if let Evaluation::Accepted(finding) = pass.evaluate(&doubted, value.start, value.end) {
                found.push(finding);
                taken = Some(taker.pattern.rule);
            }
        }
        taken
    }

    /// Evaluates all of the text as what its label says it is, `{"password": "…"}`; whether that is decided.
    fn labelled(&self, pass: &Pass<'_>, track: &mut Track, found: &mut Found) -> bool {
        let Some(meaning) = track.assignment.labelled else { return true };
        let (view, start) = (&pass.view, track.at);
        if !view.complete && view.len() < start + LONGEST {
            return false;
        }
        track.assignment.labelled = None;
        let cut = view.len() >= start + LONGEST;
        let end = if cut { view.boundary(start + LONGEST) } else { view.len() };
        let text = view.slice(start, end);
        let blank = |byte: &&u8| byte.is_ascii_whitespace();
        let tail = text.iter().rev().take_while(blank).count();
        let head = text.iter().take_while(blank).count();
        if head + tail >= text.len() {
            return true;
        }
        let (start, end) = (start + head, end - tail);
        let text = view.slice(start, end);
        // What is longer than a piece is a key, or none of these.
        let whole = if cut { text.iter().all(|&byte| is_dense(byte)) } else { !text.contains(&b'\n') };
        if is_secret_word(text) {
            return true;
        }
        let form = Form::Assigned { tight: true, first: true, colon: true };
        let Some(kind) = value::kind(meaning, text, form).filter(|_| whole) else { return true };
        if let Some(rule) = self.offer(pass, Value { kind, start, end, doubt: 0.0, cut }, found) {
            track.at = end;
            track.assignment.rest = Some(rule).filter(|_| cut);
        }
        true
    }
}

impl Group for Assignments {
    fn memory(&self) -> usize {
        self.searches.iter().map(Search::memory).sum()
    }

    fn scan(&self, pass: &Pass<'_>, track: &mut Track, found: &mut Found) {
        if !self.labelled(pass, track, found) || !rest(pass, track, found) {
            return;
        }
        let view = &pass.view;
        let mut at = track.at;
        let mut hits = Hits { searches: &self.searches, text: view.text, next: [None; LISTS] };
        while let Some(hit) = hits.from(at) {
            let looked = Cell::new(Looked { place: hit.start, ..Looked::default() });
            let end = hit.end;
            let Ok((next, value)) = (Text { view: *view, looked: &looked }).value_of(hit) else {
                // It may be a part of a longer word.
                track.at = begun(view, at).filter(|&start| start < hit.start).unwrap_or(hit.start);
                return;
            };
            let taken = value.and_then(|value| Some((value, self.offer(pass, value, found)?)));
            let Some((value, rule)) = taken else {
                at = self.spend(pass, track, looked.get(), found).unwrap_or(next.max(end));
                continue;
            };
            // What stands before a command's option is still to be looked at.
            at = if hit.place.has_options() { end } else { value.end.max(end) };
            if value.cut {
                track.at = at;
                track.assignment.rest = Some(rule);
                if !rest(pass, track, found) {
                    return;
                }
                at = track.at;
            }
        }
        track.at = at.max(view.len());
        if !view.complete {
            track.at = begun(view, at).unwrap_or(track.at);
        }
    }
}

/// Where a word begins, from `at` on, that has not arrived whole.
fn begun(view: &View<'_>, at: usize) -> Option<usize> {
    let tail = at.max(view.len().saturating_sub(search::LONGEST));
    (tail..view.len()).find(|&at| search::may_begin(view.slice(at, view.len())))
}

/// Goes on with a value that is longer than one piece; whether it has come to its end.
fn rest(pass: &Pass<'_>, track: &mut Track, found: &mut Found) -> bool {
    while let Some(rule) = track.assignment.rest {
        let start = track.at;
        let text = Text { view: pass.view, looked: &Cell::default() };
        let end = match text.run(start, LONGEST, is_dense) {
            Ok(end) => end,
            Err(NeedMore) => return false,
        };
        let goes_on = end - start == LONGEST;
        let end = if goes_on { pass.view.boundary(end) } else { end };
        if end > start {
            pass.report_piece(rule, start, end, found);
        }
        track.at = end;
        if !goes_on {
            track.assignment.rest = None;
        }
    }
    true
}
