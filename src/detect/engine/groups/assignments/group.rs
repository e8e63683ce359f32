//! The scan for values known by their places.

use std::cell::Cell;

use super::super::super::group::Group;
use super::super::super::pass::{Candidates, Evaluation, WindowPass};
use super::super::super::pattern::CompiledPattern;
use super::super::super::track::Track;
use super::super::super::view::View;
use super::cookies::COOKIES;
use super::form::ValueForm;
use super::search::{self, Hits, LISTS, WORDS, WordContext, WordSearch};
use super::text::{LookCost, NeedMore, WindowText, is_dense};
use super::value::{self, AssignedValue, LONGEST, piece};
use crate::detect::finding::RuleId;
use crate::detect::naming::is_secret_word;
use crate::detect::rules::{RuleRef, SecretKind};

/// A value from this length on costs so much that there may be no more than so many: see
/// [`ScanBudget`](super::super::super::budget::ScanBudget).
const DENSE: usize = 64;

/// A rule, and the secrets it takes.
struct SecretRule {
    kind: SecretKind,
    pattern: CompiledPattern,
}

/// The rules of values known by their places.
pub(crate) struct Assignments {
    searches: [WordSearch; LISTS],
    rules: Vec<SecretRule>,
}

impl Assignments {
    /// `None` if there are no such rules. `compiled` are those of `rules`, in order.
    pub(crate) fn new(rules: &[RuleRef<'_>], compiled: &[CompiledPattern]) -> Option<Self> {
        let takers = rules.iter().zip(compiled);
        let takers = takers.filter_map(|(one, &pattern)| Some(SecretRule { kind: one.rule.gives?, pattern }));
        let rules: Vec<SecretRule> = takers.collect();
        if rules.is_empty() {
            return None;
        }
        let searches: Vec<WordSearch> = WORDS.into_iter().map(WordSearch::new).collect::<Option<_>>()?;
        Some(Self { searches: searches.try_into().ok()?, rules })
    }

    /// What looking at a place without a value has cost is spent. Where the budget had not as much, the long value that was
    /// looked at counts as a key; where it ends.
    fn spend(
        &self,
        pass: &WindowPass<'_>,
        track: &mut Track,
        looked: LookCost,
        found: &mut Candidates,
    ) -> Option<usize> {
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
    fn offer(&self, pass: &WindowPass<'_>, value: AssignedValue, found: &mut Candidates) -> Option<RuleId> {
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

    /// Goes on with a list whose items are secrets; whether it has come to its end.
    fn items(&self, pass: &WindowPass<'_>, track: &mut Track, found: &mut Candidates) -> bool {
        while let Some(list) = track.assignment.list {
            let looked = Cell::default();
            let text = WindowText { view: pass.view, looked: &looked };
            let Ok(item) = text.next_item(track.at, list) else { return false };
            pass.step(looked.get().steps);
            let Some(item) = item else {
                track.assignment.list = None;
                break;
            };
            track.at = item.end;
            let Some(value) = item.value else { continue };
            let taken = self.offer(pass, value, found);
            track.assignment.rest = taken.filter(|_| value.cut);
            if !rest(pass, track, found) {
                return false;
            }
        }
        true
    }

    /// Evaluates all of the text as what its label says it is, `{"password": "…"}`; whether that is decided.
    fn labelled(&self, pass: &WindowPass<'_>, track: &mut Track, found: &mut Candidates) -> bool {
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
        let form = ValueForm::Assigned { tight: true, first: true, colon: true };
        let Some(kind) = value::kind(meaning, text, form).filter(|_| whole) else { return true };
        if let Some(rule) = self.offer(pass, AssignedValue { cut, ..piece(kind, start, end, 0.0) }, found) {
            track.at = end;
            track.assignment.rest = Some(rule).filter(|_| cut);
        }
        true
    }
}

impl Group for Assignments {
    fn memory(&self) -> usize {
        self.searches.iter().map(WordSearch::memory).sum()
    }

    fn scan(&self, pass: &WindowPass<'_>, track: &mut Track, found: &mut Candidates) {
        if !self.labelled(pass, track, found) || !rest(pass, track, found) || !self.items(pass, track, found)
        {
            return;
        }
        let view = &pass.view;
        let mut at = track.at;
        let mut hits = Hits::new(&self.searches, view.text, at);
        while let Some(hit) = hits.from(at) {
            if hit.place == WordContext::Cookies {
                track.at = hit.end;
                track.assignment.list = Some(COOKIES);
                if !self.items(pass, track, found) {
                    return;
                }
                at = track.at;
                continue;
            }
            let looked = Cell::new(LookCost { place: hit.start, ..LookCost::default() });
            let end = hit.end;
            let Ok((next, value)) = (WindowText { view: *view, looked: &looked }).value_of(hit) else {
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
            if value.cut || value.list.is_some() {
                track.at = at;
                track.assignment.rest = Some(rule).filter(|_| value.cut);
                track.assignment.list = value.list;
                if !rest(pass, track, found) || !self.items(pass, track, found) {
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
fn rest(pass: &WindowPass<'_>, track: &mut Track, found: &mut Candidates) -> bool {
    while let Some(rule) = track.assignment.rest {
        let start = track.at;
        let text = WindowText { view: pass.view, looked: &Cell::default() };
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
