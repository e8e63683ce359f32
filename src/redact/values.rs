//! The distinct values found in one text or document, and what is written in their place. One value gets one
//! replacement wherever it stands, and no two values share one.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::base::checkpoint::Stopped;
use crate::detect::{Finding, Format, RuleId, as_read};
use crate::redact::dialled::with_plus;
use crate::redact::encrypt::{SurrogateRequest, Surrogates};
use crate::redact::error::RedactError;
use crate::redact::index::{CaseComparison, Index, whole_words};
use crate::redact::issued::{IssuedSurrogate, IssuedSurrogates, SurrogateIdentity};
use crate::redact::method::Method;
use crate::redact::parts::is_few_digits;
use crate::redact::parts_index::PartsIndex;
use crate::redact::recall::{ConversationRecall, Recall};
use crate::redact::redactor::Redactor;
use crate::redact::style::Style;
use crate::redact::surnames::known_by;
use crate::redact::surrogate_log::SurrogateLog;
use crate::redact::unescaped::read;
use crate::redact::value::{FoundValue, Hit, Reversed, ValueSite};

/// Whether few digits, which are a value elsewhere, are a year or a part of a number or an amount here.
fn is_other_number(text: &str, at: &Range<usize>) -> bool {
    let digits = text.get(at.clone()).unwrap_or_default();
    let year = digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20"));
    let mut front = text.get(..at.start).unwrap_or_default().chars().rev();
    let mut behind = text.get(at.end..).unwrap_or_default().chars();
    let number = |sign: Option<char>, next: Option<char>| {
        matches!(sign, Some('.' | ',')) && next.is_some_and(|c| c.is_ascii_digit())
    };
    let (before, next) = (front.next(), behind.next());
    let amount = matches!(before, Some('$' | '€' | '£' | '¥')) || matches!(next, Some('%' | '€' | '°'));
    year || amount || number(before, front.next()) || number(next, behind.next())
}

/// Values in the order they were found.
pub(super) struct Values<'p> {
    /// Who find: one, unless parts of a document have rules of their own.
    pub(super) redactors: &'p [Redactor],
    pub(super) list: Vec<FoundValue>,
    /// From a hash of the text (or the next free number) to the list, so that no text is kept twice.
    slots: HashMap<u64, u32>,
    hasher: RandomState,
    pub(super) recall: Recall,
    /// How many of them an earlier pass has decided.
    pub(super) settled: usize,
    /// An index of so many originals.
    indexed: Option<(usize, Arc<Index>)>,
    parts: Option<Arc<PartsIndex>>,
    pub(super) reversed: Option<Reversed>,
    /// Whole texts in base64 in which values were replaced.
    pub(super) encoded: Vec<IssuedSurrogate>,
    /// Whether less is known by its parts than after the pass before.
    pub(super) narrowed: bool,
}

/// What one pass leaves for the next: its values, and what stands for each.
#[derive(Default)]
pub(super) struct PassValues {
    list: Vec<FoundValue>,
    slots: HashMap<u64, u32>,
    hasher: RandomState,
    indexed: Option<(usize, Arc<Index>)>,
    parts: Option<Arc<PartsIndex>>,
    pub(super) reversed: Option<Reversed>,
}

impl PassValues {
    /// Distinct values.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }
}

impl<'p> Values<'p> {
    /// After a pass by the same redactors. What was decided there stays.
    pub(super) fn after(redactors: &'p [Redactor], known: PassValues, recall: Recall) -> Self {
        let PassValues { list, slots, hasher, indexed, parts, reversed } = known;
        let settled = list.len();
        let (encoded, narrowed) = (Vec::new(), false);
        Self { redactors, list, slots, hasher, recall, settled, indexed, parts, reversed, encoded, narrowed }
    }

    /// Whether the way back is another than after the pass before.
    pub(super) fn changed(&self) -> bool {
        self.has_new() || self.narrowed
    }

    /// Whether a value was found that no pass before had.
    pub(super) fn has_new(&self) -> bool {
        self.list.len() > self.settled
    }

    /// Leaves everything for the next pass.
    pub(super) fn keep(self) -> PassValues {
        let Self { list, slots, hasher, indexed, parts, reversed, .. } = self;
        PassValues { list, slots, hasher, indexed, parts, reversed }
    }

    pub(super) fn log(&self) -> Option<&'p SurrogateLog> {
        self.redactors.first()?.log.as_ref()
    }

    /// Whether to go on.
    fn pass(&self) -> Result<(), Stopped> {
        self.redactors.first().map_or(Ok(()), |redactor| redactor.detector.checkpoint().pass())
    }

    pub(super) fn method(&self, part: usize, rule: RuleId) -> &'p Method {
        self.redactors.get(part).map_or(&Method::Mask, |redactor| redactor.plan.method(rule))
    }

    /// Whether what a rule finds takes along the rest of a word even where it ends in no letter or digit itself:
    /// `::1` behind a letter gets a surrogate that begins with a digit.
    fn wide(&self, place: ValueSite, rule: RuleId) -> bool {
        self.format(place, rule) == Some(Format::Ip)
    }

    /// How a rule's values are laid out.
    fn format(&self, place: ValueSite, rule: RuleId) -> Option<Format> {
        self.redactors.get(place.redactor).map(|redactor| redactor.detector.rule(rule).format())
    }

    /// Whether what stands for a rule's values is names.
    fn issues_names(&self, place: ValueSite, rule: RuleId) -> bool {
        let named =
            |redactor: &Redactor| Style::of(redactor.plan.method(rule)).names(redactor.detector.rule(rule));
        self.redactors.get(place.redactor).is_some_and(named)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// What it takes to remember all of them, in bytes: each stands in the list, in the way back, and in an index of both.
    pub(super) fn bytes(&self) -> usize {
        const AROUND: usize = 256;
        self.list.iter().map(|value| AROUND + 3 * (value.original.len() + value.with.len())).sum()
    }

    /// The value's number. The rule that found a text first decides what becomes of it everywhere.
    pub(super) fn add(&mut self, place: ValueSite, rule: RuleId, text: &str) -> u32 {
        let mut slot = self.hasher.hash_one((place, text));
        while let Some(&known) = self.slots.get(&slot) {
            let same = |value: &FoundValue| value.place == place && value.original.as_str() == text;
            if self.list.get(known as usize).is_some_and(same) {
                return known;
            }
            slot = slot.wrapping_add(1);
        }
        let number = self.list.len() as u32;
        self.slots.insert(slot, number);
        let original = Zeroizing::new(text.to_owned());
        let read = match self.format(place, rule) {
            Some(Format::Text) if self.issues_names(place, rule) => read(text).into_owned(),
            // What is a secret, or a part of a page's address, is what is written.
            None | Some(Format::Key | Format::Pem | Format::Text | Format::Url) => as_read(text).into_owned(),
            Some(_) => read(text).into_owned(),
        };
        let read = (read != text).then(|| Zeroizing::new(read));
        self.list.push(FoundValue {
            place,
            rule,
            original,
            read,
            numeric: false,
            with: String::new(),
            parts: false,
            reused: false,
            permuted: None,
        });
        number
    }

    /// Adds what the findings cover, those that only report left out. Adjoining findings of one rule are one
    /// value: a long key comes in pieces.
    pub(super) fn take(&mut self, place: ValueSite, text: &str, findings: &[Finding]) -> Vec<Hit> {
        let mut covered: Vec<(RuleId, Range<usize>)> = Vec::new();
        for finding in findings.iter().filter(|f| !self.method(place.redactor, f.rule).leaves()) {
            let mut span = finding.span.start..finding.span.end;
            let reversible = self.method(place.redactor, finding.rule).is_reversible();
            // The pieces of a long value: each would be extended to the same word once more.
            if reversible && covered.last().is_some_and(|(_, range)| span.end <= range.end) {
                continue;
            }
            if reversible {
                whole_words(text.as_bytes(), self.wide(place, finding.rule), &mut span);
                if self.format(place, finding.rule) == Some(Format::Phone) {
                    with_plus(text, &mut span);
                }
            }
            match covered.last_mut() {
                Some((rule, range)) if *rule == finding.rule && range.end == span.start => {
                    range.end = span.end
                }
                Some((_, range)) if reversible && range.end > span.start => {
                    range.end = range.end.max(span.end)
                }
                _ => covered.push((finding.rule, span)),
            }
        }
        let hits = covered.into_iter().filter_map(|(rule, range)| {
            // One that the caller has had stands for a value already.
            if self.method(place.redactor, rule).is_reversible() && self.recall.covers(text, &range) {
                return None;
            }
            let value = self.add(place, rule, text.get(range.clone())?);
            Some(Hit { range, value })
        });
        hits.collect()
    }

    /// These hits in `text` stand where a number must stay one. What cannot be undone becomes something else there than
    /// elsewhere, so it is another value.
    pub(super) fn keep_numbers(&mut self, text: &str, hits: &mut [Hit]) {
        for hit in hits {
            if !self.is_reversible(hit.value) {
                let place = ValueSite { fixed: true, ..self.place(hit.value) };
                let rule = self.rule(hit.value);
                hit.value = self.add(place, rule, text.get(hit.range.clone()).unwrap_or_default());
            } else if let Some(value) = self.list.get_mut(hit.value as usize) {
                value.numeric = true;
            }
        }
    }

    /// Whether what becomes of the value can be undone.
    pub(super) fn is_reversible(&self, value: u32) -> bool {
        self.method(self.place(value).redactor, self.rule(value)).is_reversible()
    }

    /// An index of all originals.
    pub(super) fn index(&mut self) -> Arc<Index> {
        if let Some((length, index)) = &self.indexed
            && *length == self.list.len()
        {
            return Arc::clone(index);
        }
        let index = Arc::new(Index::new(known_by(self.redactors, &self.list)));
        self.indexed = Some((self.list.len(), Arc::clone(&index)));
        index
    }

    /// Adds to the hits of a text every other occurrence of a value at token boundaries. Where two overlap, what
    /// they cover together becomes one value: to write one of them would leave an end of the other.
    pub(super) fn spread(&mut self, index: &Index, text: &str, hits: &mut Vec<Hit>) {
        let mut found = Vec::new();
        index.all(text.as_bytes(), CaseComparison::Exact, &mut |range, value| found.push((range, value)));
        for (mut range, mut value) in found {
            let (place, rule) = (self.place(value), self.rule(value));
            if self.wide(place, rule) {
                whole_words(text.as_bytes(), true, &mut range);
            }
            let found = text.get(range.clone()).unwrap_or_default();
            if is_few_digits(found) && is_other_number(text, &range) {
                continue;
            }
            if self.list.get(value as usize).is_none_or(|one| one.original.as_str() != found) {
                value = self.add(place, rule, found);
            }
            hits.push(Hit { range, value });
        }
        hits.sort_by_key(|hit| (hit.range.start, std::cmp::Reverse(hit.range.end)));
        let mut merged: Vec<(Hit, bool)> = Vec::with_capacity(hits.len());
        for hit in hits.drain(..) {
            match merged.last_mut() {
                Some((last, grown)) if hit.range.start < last.range.end => {
                    *grown |= hit.range.end > last.range.end;
                    last.range.end = last.range.end.max(hit.range.end);
                }
                _ => merged.push((hit, false)),
            }
        }
        // Once for all that overlap: a text can be one chain of them, and each link is as long as all before it.
        for (mut hit, grown) in merged {
            if grown {
                let (place, rule) = (self.place(hit.value), self.rule(hit.value));
                hit.value = self.add(place, rule, text.get(hit.range.clone()).unwrap_or_default());
            }
            hits.push(hit);
        }
    }

    pub(super) fn place(&self, value: u32) -> ValueSite {
        self.list.get(value as usize).map_or(ValueSite::default(), |value| value.place)
    }

    /// The rule that a value was found by.
    pub(super) fn rule(&self, value: u32) -> RuleId {
        self.list.get(value as usize).map_or(RuleId::new(0), |value| value.rule)
    }

    /// The name of that rule.
    pub(super) fn rule_name(&self, value: u32) -> &'p str {
        let place = self.place(value);
        self.redactors.get(place.redactor).map_or("", |by| by.detector.rule(self.rule(value)).name())
    }

    /// What is written in the value's place; empty until [`Values::settle`].
    pub(super) fn with(&self, value: u32) -> &str {
        self.list.get(value as usize).map_or("", |value| &value.with)
    }

    /// Decides all replacements. A surrogate is neither another value's nor already somewhere in `whole` (the text,
    /// or the document as it came), or the way back would turn what was there into an original.
    pub(super) fn settle(&mut self, surrogates: &mut Surrogates, whole: &[u8]) -> Result<(), RedactError> {
        if !self.has_new() {
            self.settle_parts(whole);
            return Ok(());
        }
        let conversation = self.recall.conversation.clone();
        let earlier = conversation.as_deref().map(ConversationRecall::of).unwrap_or_default();
        self.reuse(&earlier);
        let mut taken = earlier.into_taken();
        for value in self.list.iter().take(self.settled).filter(|value| self.undoes(value)) {
            let spelling = self.spelling(value);
            taken.insert(spelling.canonical(&value.with), spelling.owner(&value.original));
        }
        self.log().into_iter().for_each(|log| log.add_to(&mut taken));
        let mut open = self.plainly(surrogates, &mut taken)?;
        // One of FF1's that stands there already is given up: its tweak is not ours to change.
        let permuted: Vec<usize> = (self.settled..self.list.len())
            .filter(|&at| self.list.get(at).is_some_and(|value| value.permuted.is_some()))
            .collect();
        for at in self.present(&permuted, whole) {
            if let Some(value) = self.list.get_mut(at) {
                value.permuted = None;
                open.push(at);
            }
        }
        while !open.is_empty() {
            for &at in &open {
                self.pass()?;
                let Some(value) = self.list.get_mut(at) else { continue };
                let Some(redactor) = self.redactors.get(value.place.redactor) else { continue };
                let rule = redactor.detector.rule(value.rule);
                let method = redactor.plan.method(value.rule);
                let spelling = SurrogateIdentity::made(method, rule);
                let owner = spelling.owner(&value.original);
                let mut refuse = |surrogate: &str| {
                    let with = value.spelled(surrogate);
                    !value.admits(&with) || taken.refuses(spelling.canonical(&with), &owner)
                };
                let wanted = SurrogateRequest { id: value.rule, rule, style: Style::of(method) };
                // A conversation that goes on has what its caller has had.
                let before = surrogates.before(wanted, value.read())?.filter(|with| self.recall.knows(with));
                let with = match before {
                    Some(with) if !refuse(&with) => with,
                    _ => surrogates.issue(wanted, value.read(), &mut refuse)?,
                };
                value.with = value.spelled(&with).into_owned();
                taken.insert(spelling.canonical(&value.with), owner);
            }
            let mut present = self.present(&open, whole);
            if present.iter().any(|&at| self.is_name(at)) {
                // What is replaced there is not there any more: it is no name's surrogate that stands in its place.
                let left = self.present(&present, &self.without_originals(whole));
                present.retain(|at| !self.is_name(*at) || left.contains(at));
            }
            // What the caller has had of us may stand in its text: it stands for the same value there.
            present.retain(|&at| !self.list.get(at).is_some_and(|value| self.recall.knows(&value.with)));
            for &at in &present {
                if let Some(value) = self.list.get(at) {
                    let spelling = self.spelling(value);
                    taken.avoid(spelling.canonical(&value.with));
                }
            }
            open = present;
        }
        self.settle_parts(whole);
        self.log().map_or(Ok(()), |log| log.keep_all(self.issued(|_| true).map(|(_, issued)| issued)))
    }

    /// Values that have a surrogate in this conversation keep it.
    fn reuse(&mut self, earlier: &ConversationRecall<'_>) {
        for at in self.settled..self.list.len() {
            let Some(value) = self.list.get(at) else { continue };
            let known = match self.method(value.place.redactor, value.rule).is_reversible() {
                true => earlier.surrogate_of(&value.original, self.spelling(value)),
                false => None,
            };
            let known = known.filter(|with| value.admits(with) && value.stays_number(with));
            if let (Some(with), Some(value)) = (known.map(str::to_owned), self.list.get_mut(at)) {
                (value.with, value.reused) = (with, true);
            }
        }
    }

    /// Decides of which surrogates parts may stand for parts of originals: not where something in `whole` is spelled like
    /// one, or what the model says of that would be taken for it. What was so once stays so.
    fn settle_parts(&mut self, whole: &[u8]) {
        let known = self.parts.clone().filter(|parts| parts.of == self.list.len());
        let parts =
            known.unwrap_or_else(|| Arc::new(PartsIndex::new(self.list.len(), self.issued(|_| true))));
        let mut present = parts.present(whole);
        if present.iter().any(|&at| self.is_name(at)) {
            let left = parts.present(&self.without_originals(whole));
            present.retain(|at| !self.is_name(*at) || left.contains(at));
        }
        self.parts = Some(parts);
        if present.is_empty() && !self.has_new() {
            return;
        }
        for (at, value) in self.list.iter_mut().enumerate() {
            let before = at >= self.settled || value.parts;
            value.parts = before && !present.contains(&at);
            self.narrowed |= at < self.settled && before != value.parts;
        }
    }

    /// Decides what needs no search for a free surrogate; returns what does.
    fn plainly(
        &mut self,
        surrogates: &Surrogates,
        taken: &mut IssuedSurrogates,
    ) -> Result<Vec<usize>, RedactError> {
        let mut open: Vec<usize> = Vec::new();
        for at in self.settled..self.list.len() {
            self.pass()?;
            let Some(value) = self.list.get(at).filter(|value| value.with.is_empty()) else { continue };
            let Some(redactor) = self.redactors.get(value.place.redactor) else { continue };
            let (method, rule) = (redactor.plan.method(value.rule), redactor.detector.rule(value.rule));
            let spelling = SurrogateIdentity::made(method, rule);
            let owner = spelling.owner(&value.original);
            let permuted = match method {
                // What FF1 alone undoes has the symbols that were there.
                Method::Fpe(fpe) if value.read.is_none() => surrogates.permute(fpe, rule, &value.original)?,
                _ => None,
            };
            let free = |with: &str| {
                with != value.original.as_str()
                    && value.admits(with)
                    && value.stays_number(with)
                    && !taken.refuses(spelling.canonical(with), &owner)
            };
            let permuted = permuted.filter(|(with, _)| free(with));
            let plain = match surrogates.plain(method, rule, value.read())? {
                Some(_) if value.place.fixed => Some("0".to_owned()),
                plain => plain,
            };
            let Some(value) = self.list.get_mut(at) else { continue };
            match (plain, permuted) {
                (Some(with), _) => value.with = with,
                (None, Some((with, permuted))) => {
                    taken.insert(spelling.canonical(&with), owner);
                    (value.with, value.permuted) = (with, Some(permuted));
                }
                (None, None) => open.push(at),
            }
        }
        Ok(open)
    }

    /// Whether the value's surrogate is a name.
    fn is_name(&self, at: usize) -> bool {
        self.list.get(at).is_some_and(|value| self.spelling(value).is_name())
    }

    /// The text with blanks where values stand.
    fn without_originals(&self, whole: &[u8]) -> Vec<u8> {
        let originals = self.list.iter().map(|value| (value.original.as_bytes().into(), 0));
        let mut left = whole.to_vec();
        Index::new(originals).all(whole, CaseComparison::Exact, &mut |range, _| {
            left.get_mut(range).unwrap_or_default().fill(b' ');
        });
        left
    }

    /// Those whose new surrogate stands in the text already.
    fn present(&self, candidates: &[usize], whole: &[u8]) -> Vec<usize> {
        let new = candidates.iter().filter_map(|&at| {
            let value = self.list.get(at)?;
            Some((value.with.as_bytes().into(), at as u32))
        });
        let index = Index::new(new);
        let mut found: Vec<usize> = Vec::new();
        index.all(whole, CaseComparison::Exact, &mut |_, at| found.push(at as usize));
        found.sort_unstable();
        found.dedup();
        found
    }
}
