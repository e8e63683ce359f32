//! What of values is kept for the way back.

use zeroize::Zeroizing;

use crate::edit::Edit;
use crate::redact::error::RedactError;
use crate::redact::fpe_context::FpeContext;
use crate::redact::issued::{IssuedSurrogate, SurrogateIdentity};
use crate::redact::surrogate_log::SurrogateLog;
use crate::redact::surrogate_map::{FindingLimits, Ledger, SurrogateMap};
use crate::redact::value::FoundValue;
use crate::redact::values::Values;

/// The most texts in base64 that are kept as a whole.
const MOST_ENCODED: usize = 256;

/// The longest of them, in bytes.
const LONGEST_ENCODED: usize = 4096;

impl Values<'_> {
    /// What was encrypted, for the way back.
    pub(super) fn close(&self, limits: FindingLimits) -> Result<SurrogateMap, RedactError> {
        let mut ledger = Ledger::new(limits);
        let own = self.issued(|_| true).map(|(_, issued)| issued);
        for issued in self.log().map_or_else(|| own.collect(), SurrogateLog::issued) {
            // A name that stands for a name is somebody's, and is replaced wherever it is found.
            if !issued.spelling.is_name() {
                self.recall.note(&issued.surrogate);
            }
            ledger.issue(issued)?;
        }
        // What there is no room for comes back where its text is read.
        for IssuedSurrogate { surrogate, original, spelling, parts } in &self.encoded {
            let (surrogate, original) = (surrogate.clone(), original.clone());
            let _full =
                ledger.issue(IssuedSurrogate { surrogate, original, spelling: *spelling, parts: *parts });
        }
        Ok(ledger.close())
    }

    /// The same, but of what FF1 alone undoes no original is kept.
    pub(super) fn context(self, limits: FindingLimits) -> Result<FpeContext, RedactError> {
        let mut context = FpeContext::new(limits);
        for value in &self.list {
            if let Some(permuted) = &value.permuted {
                context.permuted(permuted, self.spelling(value), &value.with)?;
            }
        }
        for (_, issued) in self.issued(|value| value.permuted.is_none()) {
            // Who restores it later does not know what else the text said.
            context.issued(IssuedSurrogate { parts: false, ..issued })?;
        }
        Ok(context)
    }

    /// A text in base64 is written anew, since values in it are replaced: where a model repeats all of it, no value is to be seen.
    pub(super) fn encode_again(&mut self, text: &str, edit: &Edit) {
        let original = text.get(edit.range.clone()).unwrap_or_default();
        let fits = original.len().max(edit.with.len()) <= LONGEST_ENCODED;
        // A history repeats what it has.
        let is_known = || self.encoded.iter().any(|known| known.surrogate == edit.with);
        if self.encoded.len() < MOST_ENCODED && fits && !is_known() {
            let (surrogate, original) = (edit.with.clone(), Zeroizing::new(original.to_owned()));
            self.encoded.push(IssuedSurrogate {
                surrogate,
                original,
                spelling: SurrogateIdentity::Exact,
                parts: false,
            });
        }
    }

    /// Whether what becomes of a value can be undone.
    pub(super) fn undoes(&self, value: &FoundValue) -> bool {
        self.method(value.place.redactor, value.rule).is_reversible()
    }

    /// Whether the value has the same surrogate where ASCII is not asked for: there it is known already.
    fn stands_twice(&self, value: &FoundValue) -> bool {
        let is_other = |other: &FoundValue| !other.place.plain && other.original == value.original;
        value.place.plain && self.list.iter().any(|other| is_other(other) && other.with == value.with)
    }

    /// Those of the reversible values that `which` wants, each with its number.
    pub(super) fn issued(
        &self,
        which: impl Fn(&FoundValue) -> bool,
    ) -> impl Iterator<Item = (usize, IssuedSurrogate)> {
        let chosen = self.list.iter().enumerate();
        let chosen = chosen.filter(|(_, value)| !self.stands_twice(value));
        chosen.filter(move |(_, value)| self.undoes(value) && which(value)).map(|(number, value)| {
            let FoundValue { with, original, parts, .. } = value;
            let spelling = self.spelling(value);
            (
                number,
                IssuedSurrogate {
                    surrogate: with.clone(),
                    original: original.clone(),
                    spelling,
                    parts: *parts,
                },
            )
        })
    }
}
