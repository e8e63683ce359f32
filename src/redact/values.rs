//! The distinct values found in one text or document, and what is written in their place. One value gets one
//! replacement wherever it stands, and no two values share one.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use zeroize::Zeroizing;

use crate::detect::{Detector, Finding, RuleId};
use crate::redact::encrypt::Surrogates;
use crate::redact::error::RedactError;
use crate::redact::index::Index;
use crate::redact::method::{Method, Plan};
use crate::redact::undo::{Issued, Ledger, Limits, Spelling, Undo};

/// A place where a value stands.
#[derive(Clone)]
pub(super) struct Hit {
    pub(super) range: Range<usize>,
    pub(super) value: u32,
}

struct Value {
    rule: RuleId,
    original: Zeroizing<String>,
    with: String,
}

/// Values in the order they were found.
pub(super) struct Values<'p> {
    plan: &'p Plan,
    detector: &'p Detector,
    list: Vec<Value>,
    /// From a hash of the text (or the next free number) to the list, so that no text is kept twice.
    slots: HashMap<u64, u32>,
    hasher: RandomState,
}

impl<'p> Values<'p> {
    pub(super) fn new(detector: &'p Detector, plan: &'p Plan) -> Self {
        Self { plan, detector, list: Vec::new(), slots: HashMap::new(), hasher: RandomState::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The value's number. The rule that found a text first decides what becomes of it everywhere.
    pub(super) fn add(&mut self, rule: RuleId, text: &str) -> u32 {
        let mut slot = self.hasher.hash_one(text);
        while let Some(&known) = self.slots.get(&slot) {
            if self.list.get(known as usize).is_some_and(|value| value.original.as_str() == text) {
                return known;
            }
            slot = slot.wrapping_add(1);
        }
        let number = self.list.len() as u32;
        self.slots.insert(slot, number);
        let original = Zeroizing::new(text.to_owned());
        self.list.push(Value { rule, original, with: String::new() });
        number
    }

    /// Adds what the findings cover, those that only report left out. Adjoining findings of one rule are one
    /// value: a long key comes in pieces.
    pub(super) fn take(&mut self, text: &str, findings: &[Finding]) -> Vec<Hit> {
        let mut covered: Vec<(RuleId, Range<usize>)> = Vec::new();
        for finding in findings.iter().filter(|f| self.plan.method(f.rule) != Method::DetectOnly) {
            match covered.last_mut() {
                Some((rule, range)) if *rule == finding.rule && range.end == finding.span.start => {
                    range.end = finding.span.end;
                }
                _ => covered.push((finding.rule, finding.span.start..finding.span.end)),
            }
        }
        let hits = covered.into_iter().filter_map(|(rule, range)| {
            let value = self.add(rule, text.get(range.clone())?);
            Some(Hit { range, value })
        });
        hits.collect()
    }

    /// An index of all originals.
    pub(super) fn index(&self) -> Index {
        Index::new(self.list.iter().zip(0..).map(|(value, n)| (value.original.as_bytes().into(), n)))
    }

    /// Adds to the hits of a text every other occurrence of a value at token boundaries. Where two overlap, what
    /// they cover together becomes one value: to write one of them would leave an end of the other.
    pub(super) fn spread(&mut self, index: &Index, text: &str, hits: &mut Vec<Hit>) {
        index.all(text.as_bytes(), &mut |range, value| hits.push(Hit { range, value }));
        hits.sort_by_key(|hit| (hit.range.start, std::cmp::Reverse(hit.range.end)));
        let mut merged: Vec<Hit> = Vec::with_capacity(hits.len());
        for hit in hits.drain(..) {
            match merged.last_mut() {
                Some(last) if hit.range.start < last.range.end => {
                    if hit.range.end > last.range.end {
                        last.range.end = hit.range.end;
                        let rule = self.rule(last.value);
                        last.value = self.add(rule, text.get(last.range.clone()).unwrap_or_default());
                    }
                }
                _ => merged.push(hit),
            }
        }
        *hits = merged;
    }

    /// The rule that a value was found by.
    pub(super) fn rule(&self, value: u32) -> RuleId {
        self.list.get(value as usize).map_or(RuleId::new(0), |value| value.rule)
    }

    /// What is written in the value's place; empty until [`Values::settle`].
    pub(super) fn with(&self, value: u32) -> &str {
        self.list.get(value as usize).map_or("", |value| &value.with)
    }

    /// Decides all replacements. A surrogate is neither another value's nor already somewhere in `whole` (the text,
    /// or the document as it came), or the way back would turn what was there into an original.
    pub(super) fn settle(&mut self, surrogates: &mut Surrogates, whole: &[u8]) -> Result<(), RedactError> {
        let mut open: Vec<usize> = Vec::new();
        for (at, value) in self.list.iter_mut().enumerate() {
            match plain(self.plan.method(value.rule), self.detector, value.rule, &value.original) {
                Some(with) => value.with = with,
                None => open.push(at),
            }
        }
        let mut taken = Taken::default();
        while !open.is_empty() {
            for &at in &open {
                let Some(value) = self.list.get_mut(at) else { continue };
                let rule = self.detector.rule(value.rule);
                let spelling = Spelling::of(rule.format());
                let owner = spelling.canonical(&value.original);
                let mut refuse = |surrogate: &str| taken.refuses(spelling.canonical(surrogate), &owner);
                value.with = surrogates.issue(value.rule, rule, &value.original, &mut refuse)?;
                taken.owners.insert(spelling.canonical(&value.with), owner);
            }
            let present = self.present(&open, whole);
            for &at in &present {
                if let Some(value) = self.list.get(at) {
                    let spelling = Spelling::of(self.detector.rule(value.rule).format());
                    taken.present.insert(spelling.canonical(&value.with));
                }
            }
            open = present;
        }
        Ok(())
    }

    /// Those whose new surrogate stands in the text already.
    fn present(&self, candidates: &[usize], whole: &[u8]) -> Vec<usize> {
        let new = candidates.iter().filter_map(|&at| {
            let value = self.list.get(at)?;
            Some((value.with.as_bytes().into(), at as u32))
        });
        let index = Index::new(new);
        let mut found: Vec<usize> = Vec::new();
        index.all(whole, &mut |_, at| found.push(at as usize));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// What was encrypted, for the way back.
    pub(super) fn close(self, limits: Limits) -> Result<Undo, RedactError> {
        let mut ledger = Ledger::new(limits);
        for value in self.list {
            if self.plan.method(value.rule) == Method::Encrypt {
                let spelling = Spelling::of(self.detector.rule(value.rule).format());
                let Value { original, with: surrogate, .. } = value;
                ledger.issue(Issued { surrogate, original, spelling })?;
            }
        }
        Ok(ledger.close())
    }
}

/// Surrogates given out so far, by canonical form, with the canonical form of what each stands for. Two spellings
/// of one value may share one.
#[derive(Default)]
struct Taken {
    owners: HashMap<Vec<u8>, Vec<u8>>,
    present: HashSet<Vec<u8>>,
}

impl Taken {
    fn refuses(&self, surrogate: Vec<u8>, owner: &[u8]) -> bool {
        self.owners.get(&surrogate).is_some_and(|known| known != owner) || self.present.contains(&surrogate)
    }
}

/// The replacement of a method that needs no key.
pub(super) fn plain(method: Method, detector: &Detector, rule: RuleId, value: &str) -> Option<String> {
    match method {
        Method::Mask => Some("*".repeat(value.chars().count())),
        Method::Replace => Some(format!("<{}>", detector.rule(rule).name())),
        Method::DetectOnly => Some(value.to_owned()),
        Method::Encrypt => None,
    }
}
