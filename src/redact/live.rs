//! Redaction of text as it passes: an [`Editor`] that gives every finding its rule's method, one way.
//!
//! With [`Live::restoring`] what was issued becomes the caller's own again in the same window, and only what else is found
//! gets a method. A surrogate looks like a value of its kind, so rules find it too: where both found something, what was
//! issued wins, and what is left of a longer finding is looked at by itself. A restored value is never looked at.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::detect::{Cache, Family, Finding, NextScan, RuleId, Scanner, as_read};
use crate::redact::document_value::DocumentValue;
use crate::redact::encoded::WholeEditor;
use crate::redact::encrypt::{SurrogateRequest, Surrogates};
use crate::redact::error::{BlockedRules, RedactError};
use crate::redact::issued::SurrogateIdentity;
use crate::redact::keys::Keys;
use crate::redact::method::Method;
use crate::redact::names::Labels;
use crate::redact::opaque::{PathHint, ScanMode};
use crate::redact::recall::Recall;
use crate::redact::redactor::Redactor;
use crate::redact::report::RedactionCounts;
use crate::redact::restore::{FoundSurrogate, Restore};
use crate::redact::style::Style;
use crate::redact::surrogate_log::SurrogateLog;
use crate::redact::urls::UrlPolicy;
use crate::stream::json::Path;
use crate::stream::{Edit, Editor, StreamError, TextUse};

/// Finds as text comes and edits what was found, each finding by its rule's method.
pub struct Live {
    redactor: Redactor,
    scanner: Scanner,
    labels: Labels,
    surrogates: Surrogates,
    recall: Recall,
    counts: Arc<RedactionCounts>,
    found: Vec<Finding>,
    /// Text that the scanner has not decided, from this offset on.
    text: String,
    from: usize,
    /// Where surrogates are kept, if the way back is wanted.
    record: Option<SurrogateLog>,
    /// The rule and end of the last edit: a long key comes in pieces that adjoin.
    last: Option<(RuleId, usize)>,
    /// What was issued, if it is to be restored.
    restoring: Option<Restoring>,
    /// For what is left of findings that hold a surrogate.
    rest: Option<Cache>,
    /// Where pieces are put that were looked at ahead, if that is done.
    ahead: Option<NextScan>,
    used_as: TextUse,
}

/// Surrogates in the text that is looked through.
struct Restoring {
    restore: Restore,
    /// Those that are not decided, in order.
    hits: Vec<FoundSurrogate>,
    /// Counts those that were restored.
    count: Arc<AtomicU64>,
}

impl Redactor {
    /// Redacts text as it passes, one way: what is encrypted here can't be restored. `counts` takes what was
    /// replaced and how much was looked through.
    pub fn live(&self, keys: &Keys, counts: Arc<RedactionCounts>) -> Live {
        Live::new(self.clone(), keys, counts)
    }
}

impl Live {
    pub(super) fn new(redactor: Redactor, keys: &Keys, counts: Arc<RedactionCounts>) -> Self {
        let scanner = redactor.detector.scanner();
        let surrogates = Surrogates::new(keys);
        Self {
            redactor,
            scanner,
            labels: Labels::default(),
            surrogates,
            recall: keys.recall.clone(),
            counts,
            found: Vec::new(),
            text: String::new(),
            from: 0,
            record: None,
            last: None,
            restoring: None,
            rest: None,
            ahead: None,
            used_as: TextUse::Text,
        }
    }

    /// Keeps what is issued in `surrogate_log`.
    #[must_use]
    pub fn with_surrogate_log(self, record: SurrogateLog) -> Self {
        Self { record: Some(record), ..self }
    }

    /// Uses the scans that are put into `ahead` before their pieces come.
    #[must_use]
    pub fn with_scans_ahead(self, ahead: NextScan) -> Self {
        Self { ahead: Some(ahead), ..self }
    }

    /// Puts originals back where `restore` finds what was issued; `count` takes how many.
    #[must_use]
    pub(super) fn restoring(self, restore: Restore, count: Arc<AtomicU64>) -> Self {
        Self { restoring: Some(Restoring { restore, hits: Vec::new(), count }), ..self }
    }

    /// In URLs, restores originals as `policy` says.
    #[must_use]
    pub(super) fn with_urls(self, policy: UrlPolicy) -> Self {
        let with_urls =
            |restoring: Restoring| Restoring { restore: restoring.restore.with_urls(policy), ..restoring };
        Self { restoring: self.restoring.map(with_urls), ..self }
    }

    fn begin(&mut self) {
        self.text.clear();
        self.from = 0;
        self.last = None;
    }

    /// Edits what was found up to `decided`.
    fn edit(&mut self, decided: usize, edits: &mut Vec<Edit>) -> Result<(), RedactError> {
        let hits = match &mut self.restoring {
            Some(restoring) => restoring.take(decided),
            None => Vec::new(),
        };
        let undecided = self.found.partition_point(|finding| finding.span.end <= decided);
        let later = self.found.split_off(undecided);
        let first = edits.len();
        for Finding { rule, span, .. } in std::mem::replace(&mut self.found, later) {
            let range = span.start..span.end;
            let begin = hits.partition_point(|hit| hit.edit.range.end <= range.start);
            let behind = hits.get(begin..).unwrap_or_default().iter().map(|hit| &hit.edit.range);
            let over: Vec<_> = behind.take_while(|hit| hit.start < range.end).collect();
            if over.is_empty() {
                self.replace(rule, range, edits)?;
                continue;
            }
            for rest in without(range, &over) {
                self.rest(rest, edits)?;
            }
        }
        if !hits.is_empty() {
            edits.extend(hits.into_iter().filter(|hit| !hit.kept).map(|hit| hit.edit));
            edits.get_mut(first..).unwrap_or_default().sort_by_key(|edit| edit.range.start);
        }
        Ok(())
    }

    /// What stands in a finding beside a surrogate: there may be a value in it, and most often it is none.
    fn rest(&mut self, rest: Range<usize>, edits: &mut Vec<Edit>) -> Result<(), RedactError> {
        let detector = &self.redactor.detector;
        let text = self.text.get(self.held(&rest)).unwrap_or_default();
        let cache = self.rest.get_or_insert_with(|| detector.cache());
        let found = detector.try_find_with(cache, None, text)?;
        for Finding { rule, span, .. } in found {
            self.replace(rule, rest.start + span.start..rest.start + span.end, edits)?;
        }
        Ok(())
    }

    /// Where in the text that is held a range lies.
    fn held(&self, range: &Range<usize>) -> Range<usize> {
        range.start.saturating_sub(self.from)..range.end.saturating_sub(self.from)
    }

    /// The edit of one finding.
    fn replace(
        &mut self,
        rule: RuleId,
        range: Range<usize>,
        edits: &mut Vec<Edit>,
    ) -> Result<(), RedactError> {
        let Redactor { detector, plan, .. } = &self.redactor;
        let Some(value) = self.text.get(self.held(&range)) else { return Ok(()) };
        // What a server calls something by goes back to it, and must be what it was.
        let nobodys = match self.used_as {
            TextUse::Id => true,
            TextUse::Record => detector.rule(rule).family() == Family::Card,
            TextUse::Text | TextUse::Argument | TextUse::Url => false,
        };
        if nobodys || self.redactor.stays(rule, value) || self.redactor.requires(value) {
            return Ok(());
        }
        let method = plan.method(rule);
        if method.leaves() {
            let name = detector.rule(rule).name();
            if self.last != Some((rule, range.start)) {
                self.counts.record(rule, 1);
            }
            self.last = Some((rule, range.end));
            return match method {
                Method::Block => Err(RedactError::Blocked(BlockedRules::of(name))),
                _ => Ok(()),
            };
        }
        if self.redactor.repeats(value) {
            return Ok(());
        }
        // A surrogate that the caller has had is nobody's value: in an answer it may be one that the caller wrote.
        let may_be_ours = method.is_reversible() || self.restoring.is_some();
        if may_be_ours && self.recall.covers(&self.text, &self.held(&range)) {
            return Ok(());
        }
        let adjoins = self.last == Some((rule, range.start));
        let read = as_read(value);
        let with = match self.surrogates.plain(method, detector.rule(rule), &read)? {
            Some(_) if adjoins && matches!(method, Method::Replace | Method::Text(_)) => String::new(),
            Some(with) => with,
            None => {
                let spelling = SurrogateIdentity::made(method, detector.rule(rule));
                let refuse = |surrogate: &str| {
                    self.record.as_ref().is_some_and(|record| record.refuses(surrogate, value, spelling))
                };
                let wanted =
                    SurrogateRequest { id: rule, rule: detector.rule(rule), style: Style::of(method) };
                let with = self.surrogates.issue(wanted, &read, &mut { refuse })?;
                // A name that stands for a name is somebody's, and is replaced wherever it is found.
                if !spelling.is_name() {
                    self.recall.note(&with);
                }
                if let Some(record) = &self.record {
                    record.keep(&with, value, spelling)?;
                }
                with
            }
        };
        if !adjoins {
            self.counts.record(rule, 1);
        }
        self.last = Some((rule, range.end));
        edits.push(Edit { range, with });
        Ok(())
    }
}

impl Restoring {
    /// Up to where all is decided, if each of both has decided that much: between what they found.
    fn decided(&self, both: usize, found: &[Finding]) -> usize {
        let mut decided = both;
        loop {
            let straddles = |range: &Range<usize>| range.start < decided && range.end > decided;
            let hits = self.hits.iter().map(|hit| hit.edit.range.clone());
            let spans = found.iter().map(|finding| finding.span.start..finding.span.end);
            match hits.chain(spans).filter(straddles).map(|range| range.start).min() {
                Some(start) => decided = start,
                None => return decided,
            }
        }
    }

    /// The surrogates up to there.
    fn take(&mut self, decided: usize) -> Vec<FoundSurrogate> {
        let undecided = self.hits.partition_point(|hit| hit.edit.range.end <= decided);
        let later = self.hits.split_off(undecided);
        let restored = self.hits.iter().filter(|hit| !hit.kept).count();
        self.count.fetch_add(restored as u64, Ordering::Relaxed);
        std::mem::replace(&mut self.hits, later)
    }
}

/// What of `range` none of `taken`, which are in order, covers.
fn without(range: Range<usize>, taken: &[&Range<usize>]) -> Vec<Range<usize>> {
    let (mut left, mut at) = (Vec::new(), range.start);
    for one in taken {
        left.push(at..one.start);
        at = at.max(one.end);
    }
    left.push(at..range.end);
    left.retain(|rest| rest.start < rest.end);
    left
}

impl Editor for Live {
    fn under(&mut self, path: Option<&Path<'_>>) {
        self.scanner.begin(path.and_then(|path| self.labels.of(DocumentValue::passing(path))));
        self.restoring.iter_mut().for_each(|restoring| restoring.restore.under(path));
    }

    fn used_as(&mut self, text: TextUse) {
        self.used_as = text;
        if let Some(restoring) = &mut self.restoring {
            restoring.restore.used_as(text);
        }
    }

    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        self.counts.scan(piece.len());
        self.text.push_str(piece);
        let ahead = self.ahead.as_ref().and_then(|ahead| ahead.take(piece));
        let scanned = self.scanner.feed_scanned(piece, ahead, &mut |finding| self.found.push(finding));
        let decided = match &mut self.restoring {
            Some(restoring) => {
                let restored = restoring.restore.feed(piece, &mut restoring.hits);
                restoring.decided(scanned.min(restored), &self.found)
            }
            None => scanned,
        };
        self.edit(decided, edits)?;
        self.text.drain(..decided.saturating_sub(self.from).min(self.text.len()));
        self.from = decided;
        Ok(decided)
    }

    fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.last("", edits)
    }

    fn last(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.whole(piece, ScanMode::Text, edits)
    }
}

impl WholeEditor for Live {
    fn whole(&mut self, text: &str, look: ScanMode, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.counts.scan(text.len());
        self.text.push_str(text);
        self.scanner.last(text, &mut |finding| self.found.push(finding));
        self.found.retain(|Finding { span, .. }| look.admits(&(span.start..span.end), text.len()));
        if let Some(restoring) = &mut self.restoring {
            restoring.restore.last(text, &mut restoring.hits);
            restoring.hits.retain(|hit| look.admits(&hit.edit.range, text.len()));
        }
        self.edit(usize::MAX, edits)?;
        self.begin();
        Ok(())
    }

    fn named(&mut self, path: &Path<'_>) -> PathHint {
        self.labels.named(DocumentValue::passing(path))
    }
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Live({} bytes undecided)", self.text.len())
    }
}

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;
