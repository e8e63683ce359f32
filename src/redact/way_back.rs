//! What of values is kept for the way back.

use std::collections::HashSet;

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

    /// What is known by a value where ASCII is not asked for: its original, with its surrogate. Nothing where no value is asked
    /// for in ASCII.
    fn known_elsewhere(&self) -> HashSet<(&str, &str)> {
        if !self.list.iter().any(|value| value.place.plain) {
            return HashSet::new();
        }
        let elsewhere = self.list.iter().filter(|value| !value.place.plain);
        elsewhere.map(|value| (value.original.as_str(), value.with.as_str())).collect()
    }

    /// Those of the reversible values that `which` wants, each with its number. One that has the same surrogate where ASCII is
    /// not asked for is known by that.
    pub(super) fn issued(
        &self,
        which: impl Fn(&FoundValue) -> bool,
    ) -> impl Iterator<Item = (usize, IssuedSurrogate)> {
        let elsewhere = self.known_elsewhere();
        let chosen = self.list.iter().enumerate().filter(move |(_, value)| {
            let own = (value.original.as_str(), value.with.as_str());
            !value.place.plain || !elsewhere.contains(&own)
        });
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::Method;
    use crate::redact::fixture::redactor;
    use crate::redact::recall::Recall;
    use crate::redact::value::ValueSite;
    use crate::redact::values::PassValues;

    /// Whether a value is one of a name alone, it, and what stands for it.
    type KnownValue = (bool, &'static str, &'static str);

    #[test]
    fn what_stands_for_the_same_in_two_places_is_issued_once() {
        let redactors = [redactor(Method::Encrypt)];
        let rule = redactors[0].rule("PERSON").unwrap();
        let cases: &[(&[KnownValue], &[usize])] = &[
            (&[(false, "Anna Keller", "Eva Roth"), (true, "Anna Keller", "Eva Roth")], &[0]),
            (&[(true, "Anna Keller", "Eva Roth"), (false, "Anna Keller", "Eva Roth")], &[1]),
            (&[(false, "Anna Keller", "Zoë Roth"), (true, "Anna Keller", "Zoe Roth")], &[0, 1]),
            (&[(false, "Anna Keller", "Eva Roth"), (true, "anna-keller", "eva-roth")], &[0, 1]),
            (&[(true, "Anna Keller", "Eva Roth")], &[0]),
            (&[(false, "Anna Keller", "Eva Roth"), (false, "Ben Ruiz", "Tom Lang")], &[0, 1]),
            (&[], &[]),
        ];
        for (known, expected) in cases {
            let mut values = Values::after(&redactors, PassValues::default(), Recall::default());
            for (plain, original, with) in *known {
                let number = values.add(ValueSite { plain: *plain, ..ValueSite::default() }, rule, original);
                values.list[number as usize].with = (*with).to_owned();
            }
            let issued: Vec<usize> = values.issued(|_| true).map(|(number, _)| number).collect();
            assert_eq!(issued, *expected, "{known:?}");
        }
    }
}
