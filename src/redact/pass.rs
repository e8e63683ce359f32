//! [`RedactionPass`]: the one way in which whatever lies there whole is redacted. Find in all its texts, spread what was found to
//! all of them, decide what stands for each value, write.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::sync::Arc;

use crate::base::budget::Exhausted;
use crate::base::checkpoint::Stopped;
use crate::detect::offset::CodePointCursor;
use crate::detect::{Cache, Family, Finding, Span, is_name_by_label};
use crate::edit::Edit;
use crate::redact::carrier::{Carrier, CarrierText, Replacement, TextChanges};
use crate::redact::encrypt::{Surrogates, in_plain_letters};
use crate::redact::error::{BlockedRules, RedactError};
use crate::redact::fpe_context::FpeContext;
use crate::redact::inline_documents::is_document;
use crate::redact::keys::Keys;
use crate::redact::method::Method;
use crate::redact::opaque::{ScanMode, StringPart};
use crate::redact::redactor::{MOST_EXPLAINED, OpenedText, Redactor};
use crate::redact::report::{InText, Redacted, Report};
use crate::redact::request_words::RequestWords;
use crate::redact::restore::{FoundSurrogate, Restore};
use crate::redact::spellings::NamesByWords;
use crate::redact::surnames::local;
use crate::redact::surrogate_map::{FindingLimits, SurrogateMap};
use crate::redact::unescaped::UnescapedText;
use crate::redact::urls::Hosts;
use crate::redact::value::{Hit, Reversed, ValueSite};
use crate::redact::values::{PassValues, Values};
use crate::redact::written::with_letter_of;
use crate::stream::json::{Path, Segment};

/// Where a value is replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplaceScope {
    /// Where it was found.
    Found,
    /// Wherever it stands: what was found by its context in one text stands without it in another.
    Everywhere,
}

/// How findings are reported.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// By their bytes in the text that each is in.
    Spans,
    /// With their texts and where those stand, in code points.
    Places,
    /// The same, and also what rules take for values and does not count.
    Rejected,
}

/// How something is redacted.
pub(super) struct RedactionPass<'p> {
    /// By whom: a text says which of them looks through it.
    pub(super) redactors: &'p [Redactor],
    pub(super) keys: &'p Keys,
    pub(super) reach: ReplaceScope,
    pub(super) detail: Detail,
}

/// What came of it.
pub(super) struct PassResult<'p, T> {
    pub(super) redacted: Redacted<T>,
    pub(super) values: Values<'p>,
    /// Where URLs in it lead to.
    pub(super) hosts: Hosts,
}

impl<T> PassResult<'_, T> {
    /// With the way back.
    pub(super) fn undo(self, limits: FindingLimits) -> Result<(Redacted<T>, SurrogateMap), RedactError> {
        Ok((self.redacted, self.values.close(limits)?.among(&self.hosts)))
    }

    /// With the way back for whoever holds the key.
    pub(super) fn context(self, limits: FindingLimits) -> Result<(Redacted<T>, FpeContext), RedactError> {
        Ok((self.redacted, self.values.context(limits)?))
    }
}

impl<'p> RedactionPass<'p> {
    /// By one redactor; findings are reported by their spans.
    pub(super) fn by(redactor: &'p Redactor, keys: &'p Keys, reach: ReplaceScope) -> Self {
        Self { redactors: std::slice::from_ref(redactor), keys, reach, detail: Detail::Spans }
    }

    /// Redacts what `carrier` holds. Findings are reported in the order of its texts.
    pub(super) fn run<C: Carrier>(&self, carrier: &mut C) -> Result<PassResult<'p, C::Written>, RedactError> {
        self.run_after(PassValues::default(), carrier)
    }

    /// The same after passes by the same redactors, whose values stand for what they stood for, and are found wherever
    /// they stand.
    pub(super) fn run_after<C: Carrier>(
        &self,
        known: PassValues,
        carrier: &mut C,
    ) -> Result<PassResult<'p, C::Written>, RedactError> {
        let mut search = PassSearch::new(self, known);
        carrier.prepare(true);
        let unchanged = carrier.visit(&mut |text| {
            search.text(text);
            TextChanges::new()
        })?;
        let PassSearch { mut values, mut report, mut hits, outcome, exhausted, blocked, hosts, .. } = search;
        if let Some(why) = exhausted {
            return Err(why.into());
        }
        outcome?;
        if self.redactors.iter().any(|redactor| redactor.detector.is_unread()) {
            return Err(RedactError::Unread);
        }
        if !blocked.is_empty() {
            return Err(RedactError::Blocked(blocked));
        }
        for words in self.notes() {
            carrier.wholes(&mut |text| words.read(text));
            words.settle();
        }
        if values.is_empty() {
            return Ok(PassResult { redacted: Redacted::new(unchanged, report), values, hosts });
        }
        // It may be large.
        drop(unchanged);
        if self.reach == ReplaceScope::Everywhere {
            spread(carrier, &mut values, &mut hits)?;
        }
        self.unsay(&values, &hits);
        values.settle(&mut Surrogates::new(self.keys), &carrier.bytes())?;
        if self.reach == ReplaceScope::Everywhere {
            values.align(&carrier.bytes());
        }
        let mut texts = hits.into_iter();
        let mut spellings = (self.reach == ReplaceScope::Everywhere).then(|| OtherSpellings::of(&mut values));
        // Whether all that was replaced so far can be undone.
        let mut undone = true;
        carrier.prepare(false);
        let written = carrier.visit(&mut |text| {
            let hits = texts.next().filter(|_| text.part.replaced.is_none()).unwrap_or_default();
            let mut replacements: Vec<(Edit, u32)> = hits
                .into_iter()
                .map(|Hit { range, value }| (Edit { range, with: values.with(value).to_owned() }, value))
                .collect();
            if let Some(spellings) = &mut spellings {
                spellings.add(text, &mut replacements);
            }
            undone &= replacements.iter().all(|(_, value)| values.is_reversible(*value));
            if let Some(edit) = text.part.replaced.filter(|_| undone) {
                values.encode_again(text.part.text, edit);
            }
            let replace = |(Edit { range, with }, value)| {
                let rule = report.replace(values.rule(value), values.rule_name(value));
                Edit { range, with: Replacement { text: with, rule } }
            };
            replacements.into_iter().map(replace).collect::<TextChanges>()
        })?;
        Ok(PassResult { redacted: Redacted::new(written, report), values, hosts })
    }
}

impl RedactionPass<'_> {
    /// What takes what the texts say.
    fn notes(&self) -> impl Iterator<Item = &RequestWords> {
        self.redactors.iter().filter_map(Redactor::notes)
    }

    /// What is replaced was not said to the upstream, though it stands in the texts.
    fn unsay(&self, values: &Values<'_>, hits: &[Vec<Hit>]) {
        let mut notes = self.notes().peekable();
        if notes.peek().is_none() {
            return;
        }
        let replaced: BTreeSet<u32> = hits.iter().flatten().map(|hit| hit.value).collect();
        let replaced = || replaced.iter().filter_map(|&value| values.list.get(value as usize));
        notes.for_each(|words| replaced().for_each(|value| words.forget(&value.original)));
    }
}

/// Adds to the hits of each text every other place in it where a value stands.
fn spread<C: Carrier>(
    carrier: &mut C,
    values: &mut Values<'_>,
    hits: &mut [Vec<Hit>],
) -> Result<(), RedactError> {
    let index = values.index();
    let (mut texts, mut names) = (hits.iter_mut(), NamesByWords::default());
    carrier.prepare(false);
    let spreading = carrier.visit(&mut |CarrierText { part, typed, place, .. }| {
        if let Some(hits) = texts.next().filter(|_| part.look != ScanMode::Not) {
            values.spread(&index, part.text, hits);
            hits.retain(|hit| part.look.admits(&hit.range, part.text.len()));
            if typed {
                values.keep_numbers(part.text, hits);
            }
            if place.plain {
                values.keep_plain(part.text, hits, &mut names);
            }
        }
        TextChanges::new()
    });
    spreading.map(drop)
}

/// Finds values where they are spelled as no rule finds them: as a model wrote them in an answer that is sent back. Each
/// is replaced by its surrogate in that spelling, which is what the model wrote.
struct OtherSpellings {
    restore: Restore,
    values: Arc<[u32]>,
    /// Those that are names only where they were found.
    local: HashSet<u32>,
}

impl OtherSpellings {
    fn of(values: &mut Values<'_>) -> Self {
        let Reversed { numbers, undo, .. } = values.reversed();
        Self { restore: Restore::new(undo), values: numbers, local: local(&values.list) }
    }

    /// Adds to the replacements of a text those that none of them covers. Of one that covers others, such as `Ruiz, Elena`
    /// where a rule found the `Elena`, that counts alone; where one ends within another, what of it is left is looked through
    /// by itself.
    fn add(&mut self, shown: CarrierText<'_>, replacements: &mut Vec<(Edit, u32)>) {
        let CarrierText { part, typed, place, .. } = shown;
        if part.look == ScanMode::Not || part.replaced.is_some() || typed || self.values.is_empty() {
            return;
        }
        let mut left = Vec::new();
        let mut added = Vec::new();
        let mut covered = vec![false; replacements.len()];
        for (edit, value) in self.found(part, place.plain, 0..part.text.len()) {
            let first = replacements.partition_point(|(hit, _)| hit.range.end <= edit.range.start);
            let hits = replacements.iter().enumerate().skip(first);
            let hits = || hits.clone().take_while(|(_, (hit, _))| hit.range.start < edit.range.end);
            let within = |hit: &Edit| edit.range.start <= hit.range.start && hit.range.end <= edit.range.end;
            let covers = |hit: &Edit| hit.range.start <= edit.range.start && edit.range.end <= hit.range.end;
            // What a rule found there by itself has that rule's method.
            if hits().any(|(_, (hit, _))| covers(hit)) {
                continue;
            }
            if hits().all(|(_, (hit, _))| within(hit)) {
                hits().for_each(|(n, _)| covered.get_mut(n).into_iter().for_each(|place| *place = true));
                added.push((edit, value));
                continue;
            }
            let mut at = edit.range.start;
            for (_, (hit, _)) in hits() {
                left.push(at..hit.range.start);
                at = hit.range.end;
            }
            left.push(at..edit.range.end);
        }
        for range in left.into_iter().filter(|range| !range.is_empty()) {
            added.extend(self.found(part, place.plain, range));
        }
        if !added.is_empty() {
            let mut covered = covered.into_iter();
            replacements.retain(|_| !covered.next().unwrap_or(false));
            replacements.append(&mut added);
            replacements.sort_by_key(|(edit, _)| edit.range.start);
        }
    }

    /// The values of a part of a text, in order; `plain` is whether what is in ASCII must stay so.
    fn found(&mut self, part: StringPart<'_>, plain: bool, range: Range<usize>) -> Vec<(Edit, u32)> {
        let Self { restore, values, local } = self;
        let mut found = Vec::new();
        let text = part.text.get(range.clone()).unwrap_or_default();
        restore.whole(text, &mut |FoundSurrogate { edit, entry, .. }| {
            let place = edit.range.start + range.start..edit.range.end + range.start;
            if let Some(&value) = values.get(entry as usize)
                && !local.contains(&value)
                && part.look.admits(&place, part.text.len())
            {
                let own = part.text.get(place.clone()).unwrap_or_default();
                let mut with = with_letter_of(own, edit.with);
                // Nothing else is taken there, though it does not come back.
                if plain && own.is_ascii() {
                    with = in_plain_letters(&with).into_owned();
                }
                found.push((Edit { range: place, with }, value));
            }
        });
        found
    }
}

/// The first half of a pass: what is found, and what becomes of it by its own method.
struct PassSearch<'p, 's> {
    pass: &'s RedactionPass<'p>,
    caches: Vec<Cache>,
    values: Values<'p>,
    report: Report,
    hits: Vec<Vec<Hit>>,
    /// What was found that may not pass.
    blocked: BlockedRules,
    hosts: Hosts,
    /// Once it was stopped, nothing more is looked through.
    outcome: Result<(), Stopped>,
    /// Why, where there is no room for what was found.
    exhausted: Option<Exhausted>,
}

impl<'p, 's> PassSearch<'p, 's> {
    fn new(pass: &'s RedactionPass<'p>, known: PassValues) -> Self {
        Self {
            pass,
            caches: pass.redactors.iter().map(|redactor| redactor.detector.cache()).collect(),
            values: Values::after(pass.redactors, known, pass.keys.recall.clone()),
            report: Report::default(),
            hits: Vec::new(),
            blocked: BlockedRules::default(),
            hosts: Hosts::default(),
            outcome: Ok(()),
            exhausted: None,
        }
    }

    /// Looks through a text.
    fn text(&mut self, shown: CarrierText<'_>) {
        let part = shown.part;
        // Answers to what is replaced everywhere are restored, and it matters in which URLs.
        if self.pass.reach == ReplaceScope::Everywhere && part.look != ScanMode::Not {
            self.hosts.read(part.text);
        }
        let findings = if part.look == ScanMode::Not { Vec::new() } else { self.findings(shown) };
        self.report.skip(usize::from(part.unread && findings.is_empty()));
        if let Some(class) = part.file {
            self.report.file(class, shown.path);
        }
        let place = ValueSite { local: self.is_local(shown, &findings), ..shown.place };
        self.hits.push(self.values.take(place, part.text, &findings));
    }

    /// Whether what was found in a text is a name only there: by its label, `name`, which things have, too.
    fn is_local(&self, shown: CarrierText<'_>, findings: &[Finding]) -> bool {
        let ([Finding { rule, span, .. }], Some(label)) = (findings, shown.label) else { return false };
        let Some(redactor) = self.pass.redactors.get(shown.place.redactor) else { return false };
        let word = shown.part.text.get(span.start..span.end).unwrap_or_default();
        !shown.place.plain
            && redactor.detector.rule(*rule).family() == Family::Person
            && is_name_by_label(label.text(), word)
    }

    fn findings(&mut self, shown: CarrierText<'_>) -> Vec<Finding> {
        let CarrierText { part, place, .. } = shown;
        let at = place.redactor;
        let (Some(redactor), Some(cache)) = (self.pass.redactors.get(at), self.caches.get_mut(at)) else {
            return Vec::new();
        };
        let found = self.outcome.and_then(|()| found_in(redactor, cache, shown));
        let found = found.map(|found| match part.look {
            ScanMode::Text => redactor.and_reported(part.text, found),
            _ => found,
        });
        self.outcome = found.as_ref().map(drop).map_err(|stopped| *stopped);
        let mut findings = found.unwrap_or_default();
        if let Err(why) = redactor.hold(findings.len()) {
            (self.outcome, self.exhausted) = (Err(Stopped), Some(why));
            return Vec::new();
        }
        redactor.notes().into_iter().for_each(|words| words.read(part.text));
        findings.retain(|Finding { rule, span, .. }| {
            let range = span.start..span.end;
            let card = shown.record && redactor.detector.rule(*rule).family() == Family::Card;
            part.look.admits(&range, part.text.len())
                && !card
                && !part.text.get(range).is_some_and(|value| redactor.stays(*rule, value))
        });
        self.report.scan(part.text.len());
        self.tell(shown, redactor, &findings);
        findings
    }

    /// Reports what was found in a text.
    fn tell(&mut self, shown: CarrierText<'_>, redactor: &Redactor, findings: &[Finding]) {
        let text = shown.part.text;
        let (detail, scanned) = (self.pass.detail, self.report.scanned());
        let rejected = match self.caches.get_mut(shown.place.redactor) {
            Some(cache) if detail == Detail::Rejected && scanned <= MOST_EXPLAINED => {
                redactor.rejected_beside(cache, text, findings)
            }
            _ => Vec::new(),
        };
        if findings.is_empty() && rejected.is_empty() {
            return;
        }
        let mut place = (detail != Detail::Spans).then(|| InText {
            key: shown.path.map_or_else(|| Arc::from(""), |path| dotted(path).into()),
            text,
            points: CodePointCursor::new(text),
        });
        for finding in findings {
            let method = redactor.plan.method(finding.rule);
            let (redacted, name) = (!method.leaves(), redactor.detector.rule(finding.rule).name());
            if *method == Method::Block {
                self.blocked.add(name);
            }
            self.report.find(finding, name, redacted, place.as_mut());
        }
        if let Some(place) = &mut place {
            rejected.into_iter().for_each(|one| self.report.reject(one, place));
        }
    }
}

/// What rules find in a text, now or before.
fn found_in(redactor: &Redactor, cache: &mut Cache, shown: CarrierText<'_>) -> Result<Vec<Finding>, Stopped> {
    let recent = redactor.recent().and_then(|recent| Some((recent, recent.known(shown)?)));
    if let Some(found) = recent.as_ref().and_then(|(recent, known)| recent.get(known, shown.part.text)) {
        redactor.go_on()?;
        return Ok(found.to_vec());
    }
    let CarrierText { label, part, .. } = shown;
    let mut opened = match shown.opens {
        true => redactor.opened(cache, part.text)?,
        false => {
            let found = redactor.detector.try_find_with(cache, label, part.text)?;
            OpenedText { found, is_document: is_document(part.text) }
        }
    };
    let found = match part.look {
        ScanMode::Text => {
            // The strings of a document that was opened have been read already.
            if !(shown.opens && opened.is_document) {
                opened.found = with_escapes(redactor, cache, shown, opened.found)?;
            }
            redactor.with_structures(cache, part.text, opened)?
        }
        _ => opened.found,
    };
    if let Some((recent, known)) = recent {
        recent.put(known, &found);
    }
    Ok(found)
}

/// What was found in a text as it is written, with what is found in it once its escapes are undone. Where both found
/// something, all that they cover together counts, as what the longer one is.
fn with_escapes(
    redactor: &Redactor,
    cache: &mut Cache,
    shown: CarrierText<'_>,
    found: Vec<Finding>,
) -> Result<Vec<Finding>, Stopped> {
    let text = shown.part.text;
    let Some(unescaped) = UnescapedText::of(text) else { return Ok(found) };
    let within = redactor.detector.try_find_with(cache, shown.label, &unescaped.text)?;
    let within: Vec<Finding> = within
        .into_iter()
        .map(|finding| {
            let range = unescaped.range(finding.span.start..finding.span.end);
            Finding { span: Span::new(range.start, range.end), near: None, ..finding }
        })
        .collect();
    let mut all = found;
    for finding in &mut all {
        let range = unescaped.without_halves(finding.span.start..finding.span.end);
        let span = Span::new(range.start, range.end);
        let at = within.partition_point(|one| one.span.end <= span.start);
        // What is a value only if no escape is one stays whole.
        if within.get(at).is_some_and(|one| one.span.start <= span.start && one.span.end >= span.end) {
            finding.span = span;
        }
    }
    all.extend(within);
    Ok(joined(all))
}

/// Findings in order; of those that overlap, one that covers them all.
fn joined(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| (finding.span.start, Reverse(finding.span.end)));
    findings.dedup_by(|next, last| {
        let overlap = next.span.start < last.span.end;
        if overlap {
            let span = Span::new(last.span.start, last.span.end.max(next.span.end));
            let longer = next.span.end - next.span.start > last.span.end - last.span.start;
            *last = Finding { span, ..if longer { *next } else { *last } };
        }
        overlap
    });
    findings
}

/// `one.secret`, `list.0`.
fn dotted(path: &Path<'_>) -> String {
    let segments = path.segments().map(|segment| match segment {
        Segment::Key(key) => key.to_owned(),
        Segment::Index(index) => index.to_string(),
    });
    segments.collect::<Vec<_>>().join(".")
}
