//! The way back: which surrogate was issued for which original. In memory only, bounded, wiped when dropped.
//!
//! A surrogate is known again by its exact bytes, else by one of the [`surrogate_variants`](super::surrogate_variants) that models write. It is
//! never known by its shape: what a model invented looks just like a surrogate and would decrypt to somebody's number.

use std::sync::Arc;

use zeroize::Zeroizing;

use crate::redact::error::RedactError;
use crate::redact::form_search::Matched;
use crate::redact::fragments::{FragmentMatch, Fragments};
use crate::redact::index::{CaseComparison, Index, IndexStep, More};
use crate::redact::issued::{IssuedSurrogate, SurrogateIdentity};
use crate::redact::left_context::LeftContext;
use crate::redact::parts::is_few_digits;
use crate::redact::preceding::{PassedText, PrecedingContext};
use crate::redact::surrogate_variants::SurrogateVariants;
use crate::redact::urls::Hosts;

/// How much one document's findings may be: a bound on memory, not on what is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindingLimits {
    /// Distinct values.
    pub values: usize,
    /// Bytes of the values and their surrogates together.
    pub bytes: usize,
    /// JSON documents within strings within strings, and text in base64 there: how deep they are opened. Deeper ones
    /// are looked through as text where that is all there is to them, and else refused. Each level of documents takes
    /// twice the backslashes of the one before.
    pub levels: usize,
}

impl Default for FindingLimits {
    fn default() -> Self {
        Self { values: 65_536, bytes: 16 << 20, levels: 8 }
    }
}

/// As [`IssuedSurrogate`], of what holds it.
#[derive(Clone, Copy)]
pub(super) struct IssuedPair<'u> {
    pub(super) surrogate: &'u str,
    pub(super) original: &'u str,
    pub(super) spelling: SurrogateIdentity,
    pub(super) parts: bool,
}

/// The surrogates issued in one document, and what they stand for.
pub struct SurrogateMap {
    originals: Vec<Zeroizing<String>>,
    /// What stands for each of them.
    surrogates: Vec<(Box<str>, SurrogateIdentity, bool)>,
    exact: Index,
    forms: SurrogateVariants,
    fragments: Fragments,
    hosts: Arc<Hosts>,
}

impl SurrogateMap {
    /// Nothing was issued.
    pub fn nothing() -> Self {
        Self::of(Vec::new())
    }

    pub(super) fn of(issued: Vec<IssuedSurrogate>) -> Self {
        let fragments = Fragments::of(&issued);
        Self::with(issued, fragments)
    }

    /// Originals, each with what stands for it.
    pub(super) fn hiding(originals: Vec<IssuedSurrogate>) -> Self {
        let fragments = Fragments::hiding(&originals);
        Self::with(originals, fragments)
    }

    fn with(issued: Vec<IssuedSurrogate>, fragments: Fragments) -> Self {
        let exact = issued.iter().zip(0..).map(|(issue, entry)| (issue.surrogate.as_bytes().into(), entry));
        let exact = Index::new(exact);
        let forms = SurrogateVariants::of(&issued);
        let surrogate =
            |issue: &IssuedSurrogate| (issue.surrogate.as_str().into(), issue.spelling, issue.parts);
        let surrogates = issued.iter().map(surrogate).collect();
        let originals: Vec<Zeroizing<String>> = issued.into_iter().map(|issue| issue.original).collect();
        let mut hosts = Hosts::default();
        originals.iter().for_each(|original| hosts.read(original));
        Self { originals, surrogates, exact, forms, fragments, hosts: Arc::new(hosts) }
    }

    /// The same, for texts in which URLs led to these hosts as well.
    #[must_use]
    pub(super) fn among(mut self, hosts: &Hosts) -> Self {
        if hosts.len() > 0 {
            let mut all = hosts.clone();
            all.extend(&self.hosts);
            self.hosts = Arc::new(all);
        }
        self
    }

    /// The hosts that URLs lead to in the texts that it was issued for.
    pub(super) fn hosts(&self) -> &Arc<Hosts> {
        &self.hosts
    }

    /// All that was issued.
    pub(super) fn pairs(&self) -> impl Iterator<Item = IssuedPair<'_>> {
        let all = self.surrogates.iter().zip(&self.originals);
        all.map(|((surrogate, spelling, parts), original)| IssuedPair {
            surrogate,
            original,
            spelling: *spelling,
            parts: *parts,
        })
    }

    /// Distinct originals.
    pub fn len(&self) -> usize {
        self.originals.len()
    }

    /// Whether nothing was issued, so that nothing needs to be looked for.
    pub fn is_empty(&self) -> bool {
        self.originals.is_empty()
    }

    /// Whether something that stands for an original may begin with this byte.
    pub(super) fn may_begin(&self, byte: u8) -> bool {
        self.exact.may_begin(byte) || self.forms.may_begin(byte) || self.fragments.may_begin(byte)
    }

    /// What is issued at the beginning of `text`, behind what stands before it. Exact bytes go before another spelling of
    /// the same length.
    pub(super) fn seek(&self, before: PrecedingContext<'_>, text: &[u8], more: More) -> LookupResult {
        let Some(&first) = text.first() else { return LookupResult::No };
        let exact = match before.left.admits(first) {
            true => self.exact.longest(text, CaseComparison::Exact, more),
            false => IndexStep::No,
        };
        let exact = match exact {
            IndexStep::No => LookupResult::No,
            IndexStep::Wait => return LookupResult::Wait,
            IndexStep::Found { len, entry } => {
                LookupResult::Found { len, with: self.original(entry).to_owned(), entry }
            }
        };
        let piece = match before.left.admits(first) {
            true => self.fragments.seek(text, more),
            false => FragmentMatch::No,
        };
        let whole = match (exact, self.forms.seek(before, text, more)) {
            (_, Matched::Wait) => LookupResult::Wait,
            (exact, Matched::No) => exact,
            (LookupResult::Found { len, with, entry }, Matched::Found { len: other, .. }) if len >= other => {
                LookupResult::Found { len, with, entry }
            }
            (exact, Matched::Found { len, form }) => {
                let written = text.get(..len).and_then(|text| std::str::from_utf8(text).ok());
                match written.and_then(|written| self.forms.restored(form, written, &self.originals)) {
                    Some((with, entry)) => LookupResult::Found { len, with, entry },
                    None => exact,
                }
            }
        };
        match (self.unless_few_hidden(whole), piece) {
            (LookupResult::Wait, _) | (_, FragmentMatch::Wait) => LookupResult::Wait,
            (LookupResult::Found { len, with, entry }, FragmentMatch::Found { len: part, .. })
                if len >= part =>
            {
                LookupResult::Found { len, with, entry }
            }
            (_, FragmentMatch::Found { len, with, entry }) => LookupResult::Found { len, with, entry },
            (whole, FragmentMatch::No) => whole,
        }
    }

    /// What was found, unless few digits are to be hidden: all that are spelled alike were looked at already, and no other spelling is
    /// theirs.
    fn unless_few_hidden(&self, found: LookupResult) -> LookupResult {
        let LookupResult::Found { entry, .. } = &found else { return found };
        let few =
            self.surrogates.get(*entry as usize).is_some_and(|(surrogate, ..)| is_few_digits(surrogate));
        if few && self.fragments.hides() { LookupResult::No } else { found }
    }

    /// What a text stands for if all of it is a form.
    pub(super) fn stands_for(&self, text: &str) -> Option<String> {
        let before =
            PrecedingContext { passed: &PassedText::default(), text: b"", left: LeftContext::default() };
        match self.seek(before, text.as_bytes(), More::No) {
            LookupResult::Found { len, with, .. } if len == text.len() => Some(with),
            _ => None,
        }
    }

    fn original(&self, entry: u32) -> &str {
        self.originals.get(entry as usize).map_or("", |original| original.as_str())
    }
}

impl std::fmt::Debug for SurrogateMap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SurrogateMap({} values)", self.len())
    }
}

/// What a look for what was issued said.
#[derive(PartialEq, Eq)]
pub(super) enum LookupResult {
    /// Nothing begins here.
    No,
    /// So many bytes stand for the original of this number, which reads like this when it is written as they are.
    Found { len: usize, with: String, entry: u32 },
    /// More text must be seen first.
    Wait,
}

/// Collects what is issued, within the limits.
pub(super) struct Ledger {
    issued: Vec<IssuedSurrogate>,
    limits: FindingLimits,
    values: usize,
    bytes: usize,
}

impl Ledger {
    pub(super) fn new(limits: FindingLimits) -> Self {
        Self { issued: Vec::new(), limits, values: 0, bytes: 0 }
    }

    pub(super) fn issue(&mut self, issued: IssuedSurrogate) -> Result<(), RedactError> {
        self.count(issued.surrogate.len() + issued.original.len())?;
        self.issued.push(issued);
        Ok(())
    }

    /// Counts a value of so many bytes.
    pub(super) fn count(&mut self, bytes: usize) -> Result<(), RedactError> {
        self.bytes += bytes;
        if self.values >= self.limits.values || self.bytes > self.limits.bytes {
            let FindingLimits { values, bytes, .. } = self.limits;
            return Err(RedactError::TooManyValues { values, bytes });
        }
        self.values += 1;
        Ok(())
    }

    pub(super) fn close(self) -> SurrogateMap {
        SurrogateMap::of(self.issued)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::issued::SurrogateIdentity;

    #[test]
    fn a_ledger_is_bounded() {
        let issued = |n: usize| IssuedSurrogate {
            surrogate: format!("s{n}"),
            original: Zeroizing::new(format!("o{n}")),
            spelling: SurrogateIdentity::Exact,
            parts: false,
        };
        let limits = FindingLimits { values: 2, bytes: 100, levels: 4 };
        let refused = Err(RedactError::TooManyValues { values: 2, bytes: 100 });
        let mut ledger = Ledger::new(limits);
        assert_eq!([0, 1].map(|n| ledger.issue(issued(n))), [Ok(()), Ok(())]);
        assert_eq!(ledger.issue(issued(2)), refused);
        let mut ledger = Ledger::new(FindingLimits { values: 100, bytes: 7, ..limits });
        assert!(ledger.issue(issued(0)).is_ok());
        assert!(ledger.issue(issued(1)).is_err());
        assert_eq!(format!("{:?}", ledger.close()), "SurrogateMap(1 values)");
    }
}
