//! The scan for values known by their places.

use std::cell::Cell;

use super::super::super::group::Group;
use super::super::super::pass::{Candidates, Evaluation, WindowPass};
use super::super::super::pattern::CompiledPattern;
use super::super::super::track::{Assignment, ListPlace, LongOption, LongRest, OpenList, RestEnd, Track};
use super::super::super::view::View;
use super::cookies::cookies;
use super::form::ValueForm;
use super::search::{self, Hit, Hits, WordSearch};
use super::text::{LookCost, NeedMore, WindowText};
use super::value::{self, AssignedValue, LONGEST, PlaceContent, piece};
use super::words::{self, LISTS, WORDS};
use crate::detect::finding::RuleId;
use crate::detect::naming::{CredentialField, LabelMeaning, NameMeaning, is_secret_word};
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

    /// Goes on with a list: with what parts two items, or with an item. One that is no secret is left to the scan like any other
    /// text. Whether there was enough text.
    fn list(&self, pass: &WindowPass<'_>, open: OpenList, track: &mut Track, found: &mut Candidates) -> bool {
        let looked = Cell::default();
        let text = WindowText { view: pass.view, looked: &looked };
        let Ok(step) = text.go_on(open) else {
            // A word that begins before may not have arrived whole.
            let at = open.place.offset();
            track.at = begun(&pass.view, track.at).filter(|&start| start < at).unwrap_or(at);
            return false;
        };
        pass.step(looked.get().steps);
        let Some(step) = step else {
            track.assignment.close();
            return true;
        };
        track.assignment.list = Some(step.open);
        let Some(item) = step.item else { return true };
        let value = item.value.map(|value| value.at_boundary(&text));
        let taken = value.and_then(|value| Some((value, self.offer(pass, value, found)?)));
        let Some((value, rule)) = taken else {
            track.at = track.at.max(item.start);
            return true;
        };
        track.at = value.end;
        track.assignment.rest = value.rest(rule);
        rest(pass, track, found)
    }

    /// Looks at the place whose word is `hit`. Whether there was enough text.
    fn place(&self, pass: &WindowPass<'_>, hit: Hit, track: &mut Track, found: &mut Candidates) -> bool {
        let looked = Cell::new(LookCost { place: hit.start, ..LookCost::default() });
        let text = WindowText { view: pass.view, looked: &looked };
        let Ok((next, content)) = text.content_of(hit) else {
            // It may be a part of a longer word.
            let begun = begun(&pass.view, track.at).filter(|&start| start < hit.start);
            track.at = begun.unwrap_or(hit.start);
            return false;
        };
        let value = content.value().map(|value| value.at_boundary(&text));
        let taken = value.and_then(|value| Some((value, self.offer(pass, value, found)?)));
        let Some((value, rule)) = taken else {
            // A longer word may begin at the same place.
            let behind = pass.view.slice(hit.start, pass.view.len());
            if !pass.view.complete && behind.len() <= words::LONGEST && search::may_begin(behind) {
                track.at = begun(&pass.view, track.at).map_or(hit.start, |start| start.min(hit.start));
                return false;
            }
            let spent = self.spend(pass, track, looked.get(), found);
            track.at = spent.unwrap_or(next.max(hit.behind()));
            if let (PlaceContent::List(list), None) = (content, spent) {
                track.assignment.open(list);
            }
            return true;
        };
        let end = value.end.max(hit.end);
        if let Some(list) = value.list {
            track.assignment.open(OpenList { list, place: ListPlace::Behind(end) });
        }
        // What stands before a command's option is still to be looked at.
        if hit.place.has_options() {
            let long = value.rest(rule).map(|rest| LongOption { rest, start: value.start, end });
            track.assignment.option = long.or(track.assignment.option);
            track.at = hit.end;
            return true;
        }
        track.at = end;
        track.assignment.rest = value.rest(rule);
        rest(pass, track, found)
    }

    /// Evaluates the text as a header's value, `{"Authorization": "Basic …"}`: all of it, or only what stands behind a scheme.
    /// Whether that is a finding; `None` where that is not decided.
    fn header(
        &self,
        pass: &WindowPass<'_>,
        whole: bool,
        track: &mut Track,
        found: &mut Candidates,
    ) -> Option<bool> {
        let looked = Cell::default();
        let text = WindowText { view: pass.view, looked: &looked };
        let value = text.header_value(track.at, whole).ok()?;
        pass.step(looked.get().steps);
        let value = value.map(|value| value.at_boundary(&text));
        let Some((value, rule)) = value.and_then(|value| Some((value, self.offer(pass, value, found)?)))
        else {
            return Some(false);
        };
        track.at = value.end;
        track.assignment.rest = value.rest(rule);
        Some(true)
    }

    /// Evaluates all of the text as what its label says it is, `{"password": "…"}`; whether that is decided.
    fn labelled(&self, pass: &WindowPass<'_>, track: &mut Track, found: &mut Candidates) -> bool {
        let Some(label) = track.assignment.labelled else { return true };
        let meaning = match label {
            LabelMeaning::Secret(meaning) => Some(meaning),
            LabelMeaning::Field(CredentialField::Authorization) => None,
            LabelMeaning::Field(CredentialField::Cookies) => {
                track.assignment.labelled = None;
                track.assignment.open(cookies(track.at));
                return true;
            }
        };
        // `auth` may be given credentials without a scheme, which are read below.
        if meaning.is_none_or(|meaning| meaning.named == NameMeaning::Basic) {
            let Some(taken) = self.header(pass, meaning.is_none(), track, found) else { return false };
            if taken {
                track.assignment.labelled = None;
                return true;
            }
        }
        let Some(meaning) = meaning else {
            track.assignment.labelled = None;
            return true;
        };
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
        // A line end is no part of a text: it is one that was pasted in, or wrapped.
        let text = text.iter().copied().filter(|byte| !matches!(byte, b'\n' | b'\r')).collect::<Vec<u8>>();
        let whole = text.len() == end - start || !text.iter().any(u8::is_ascii_whitespace);
        let text = text.as_slice();
        if is_secret_word(text) {
            return true;
        }
        let form = ValueForm::Assigned { tight: true, first: true, colon: true };
        let Some(kind) = value::kind(meaning, text, form).filter(|_| whole) else { return true };
        let value = AssignedValue { cut, rest_end: RestEnd::Line, ..piece(kind, start, end, 0.0) };
        if let Some(rule) = self.offer(pass, value, found) {
            track.at = end;
            track.assignment.rest = value.rest(rule);
        }
        true
    }
}

impl Group for Assignments {
    fn memory(&self) -> usize {
        self.searches.iter().map(WordSearch::memory).sum()
    }

    fn scan(&self, pass: &WindowPass<'_>, track: &mut Track, found: &mut Candidates) {
        if !self.labelled(pass, track, found) || !rest(pass, track, found) {
            return;
        }
        let view = &pass.view;
        let mut hits = Hits::new(&self.searches, view.text, track.at);
        loop {
            track.assignment.reach(track.at);
            let hit = hits.from(track.at);
            // What is nearest comes first.
            let next = hit.map_or(usize::MAX, |hit| hit.start);
            let Assignment { option, list, .. } = track.assignment;
            let list = list.filter(|list| list.place.offset() <= next);
            let next = list.map_or(next, |list| list.place.offset());
            let option = option.filter(|option| option.start <= next);
            let enough = match (option, list, hit) {
                (Some(option), ..) => {
                    track.at = option.end;
                    (track.assignment.rest, track.assignment.option) = (Some(option.rest), None);
                    rest(pass, track, found)
                }
                (None, Some(list), _) => self.list(pass, list, track, found),
                (None, None, Some(hit)) => self.place(pass, hit, track, found),
                (None, None, None) => break,
            };
            if !enough {
                return;
            }
        }
        let begun = if view.complete { None } else { begun(view, track.at) };
        track.at = begun.unwrap_or(track.at.max(view.len()));
    }
}

/// Where a word begins, from `at` on, that has not arrived whole.
fn begun(view: &View<'_>, at: usize) -> Option<usize> {
    let tail = at.max(view.len().saturating_sub(words::LONGEST));
    (tail..view.len()).find(|&at| search::may_begin(view.slice(at, view.len())))
}

/// Goes on with a value that is longer than one piece; whether it has come to its end.
fn rest(pass: &WindowPass<'_>, track: &mut Track, found: &mut Candidates) -> bool {
    while let Some(LongRest { rule, end }) = track.assignment.rest {
        let start = track.at;
        let text = WindowText { view: pass.view, looked: &Cell::default() };
        let end = match text.rest(start, LONGEST, end) {
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
