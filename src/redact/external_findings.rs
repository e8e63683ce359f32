//! Values that were found elsewhere: somebody else says where they stand, and what becomes of them is the plan's.

use std::collections::HashSet;

use crate::detect::{Cache, Finding, RuleId, Span};
use crate::redact::encrypt::Surrogates;
use crate::redact::error::{BlockedRules, RedactError};
use crate::redact::keys::Keys;
use crate::redact::method::Method;
use crate::redact::redactor::Redactor;
use crate::redact::style::NameKind;
use crate::redact::value::ValueSite;
use crate::redact::values::{PassValues, Values};

/// What stands for a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplacedValue {
    /// Whose value it is.
    pub rule: RuleId,
    /// What it takes the place of, in bytes: the value that was named, and the rest of a word that it ends in.
    pub span: Span,
    /// The replacement.
    pub with: String,
    /// Whether nothing of it stands in the replacement but what the rule's own values have in common with theirs: who names a
    /// value need not mean by a rule what we do, and a rule for numbers leaves letters as they are.
    pub whole: bool,
}

impl Redactor {
    /// What takes the place of values that somebody else found in a text, by the methods of their rules: in order, sharing
    /// no byte. What a method leaves as it is has none. `found` is in order, too, shares no byte, and lies on the borders of
    /// characters; what does not is left out.
    ///
    /// # Errors
    /// A rule whose values may not pass, a plan that encrypts without a key, a quota that is used up, a checkpoint that said
    /// so.
    pub fn replace(
        &self,
        text: &str,
        found: &[Finding],
        keys: &Keys,
    ) -> Result<Vec<ReplacedValue>, RedactError> {
        let mut blocked = BlockedRules::default();
        for finding in found.iter().filter(|finding| *self.plan.method(finding.rule) == Method::Block) {
            blocked.add(self.detector.rule(finding.rule).name());
        }
        if !blocked.is_empty() {
            return Err(RedactError::Blocked(blocked));
        }
        let redactors = std::slice::from_ref(self);
        let mut values = Values::after(redactors, PassValues::default(), keys.recall.clone());
        let hits = values.take(ValueSite::default(), text, found);
        values.settle(&mut Surrogates::new(keys), text.as_bytes())?;
        let mut cache = self.detector.cache();
        let replaced = hits.into_iter().map(|hit| {
            self.detector.checkpoint().pass()?;
            let (rule, with) = (values.rule(hit.value), values.with(hit.value).to_owned());
            let value = text.get(hit.range.clone()).unwrap_or_default();
            let whole = !self.method(rule).is_reversible() || self.is_whole(&mut cache, rule, value, &with);
            Ok(ReplacedValue { rule, span: Span::new(hit.range.start, hit.range.end), with, whole })
        });
        replaced.collect()
    }

    /// Whether a surrogate leaves nothing of a value that it should not.
    fn is_whole(&self, cache: &mut Cache, rule: RuleId, value: &str, with: &str) -> bool {
        // Words that names have in common with others are not what they name.
        if NameKind::of(self.detector.rule(rule).family()).is_some() {
            return true;
        }
        let all = Span::new(0, value.len());
        let mut seen = self.detector.candidates_with(cache, value).into_iter();
        if seen.any(|one| one.rule == rule && one.span == all) {
            return true;
        }
        let words = |text: &str| -> HashSet<String> {
            let words = text.split(|character: char| !character.is_alphanumeric());
            words.filter(|word| word.chars().count() > 1).map(str::to_lowercase).collect()
        };
        words(value).is_disjoint(&words(with))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::secret::Secret;
    use crate::crypto::fpe::FpeKey;
    use crate::detect::{Catalogue, Detector, RuleSelection, Score};
    use crate::redact::{FindingLimits, MethodPlan};

    fn redactor(method: Method) -> Redactor {
        let rules = Catalogue::builtin().unwrap();
        let detector = Detector::new(&rules, &RuleSelection::defaults(&rules)).unwrap();
        Redactor::new(detector, MethodPlan::all(method))
    }

    fn keys() -> Keys {
        let key = FpeKey::new(Secret::new(vec![7; 32])).unwrap();
        Keys { fpe: Some(Arc::new(key)), tenant: "t".into(), ..Keys::default() }
    }

    fn named(redactor: &Redactor, text: &str, values: &[(&str, &str)]) -> Vec<Finding> {
        let at = |(rule, value): &(&str, &str)| {
            let start = text.find(value).unwrap();
            let span = Span::new(start, start + value.len());
            Finding { rule: redactor.rule(rule).unwrap(), span, score: Score::new(1.0), near: None }
        };
        values.iter().map(at).collect()
    }

    /// What a rule would not find where it stands gets what it would get where it does.
    #[test]
    fn a_value_gets_the_surrogate_that_it_has_where_we_find_it() {
        let redactor = redactor(Method::Encrypt);
        let text = "to jane.doe@harbour-post.com";
        let (whole, _) = redactor.text(text, &keys(), FindingLimits::default()).unwrap();
        let found = named(&redactor, text, &[("EMAIL_ADDRESS", "jane.doe@harbour-post.com")]);
        let replaced = redactor.replace(text, &found, &keys()).unwrap();
        let [one] = replaced.as_slice() else { panic!("{replaced:?}") };
        assert_eq!(format!("to {}", one.with), *whole.value());
        assert_eq!((one.span.start, one.span.end), (3, text.len()));
    }

    #[test]
    fn what_a_rule_would_not_take_for_a_value_is_told() {
        let redactor = redactor(Method::Encrypt);
        let rows = [
            ("jane@harbour.com 457-55-5462", "US_SSN", false),
            ("Jane Doe 4111 1111 1111 1111", "CREDIT_CARD", false),
            ("457-55-5462", "US_SSN", true),
            ("jane.doe@harbour-post.com", "EMAIL_ADDRESS", true),
            ("Jane Doe", "PERSON", true),
        ];
        for (text, rule, whole) in rows {
            let found = named(&redactor, text, &[(rule, text)]);
            let replaced = redactor.replace(text, &found, &keys()).unwrap();
            assert_eq!(replaced.iter().map(|one| one.whole).collect::<Vec<_>>(), [whole], "{text}");
        }
    }

    #[test]
    fn each_method_does_what_it_does_elsewhere() {
        let text = "ring Zöe at 555-0100";
        let rows = [
            (Method::Mask, vec!["***", "********"]),
            (Method::Replace, vec!["<PERSON>", "<PHONE_NUMBER>"]),
            (Method::DetectOnly, vec![]),
        ];
        for (method, want) in rows {
            let redactor = redactor(method);
            let found = named(&redactor, text, &[("PERSON", "Zöe"), ("PHONE_NUMBER", "555-0100")]);
            let replaced = redactor.replace(text, &found, &keys()).unwrap();
            assert_eq!(replaced.iter().map(|one| one.with.as_str()).collect::<Vec<_>>(), want);
        }
        let redactor = redactor(Method::Block);
        let found = named(&redactor, text, &[("PERSON", "Zöe")]);
        let refused = redactor.replace(text, &found, &keys()).unwrap_err();
        assert!(matches!(refused, RedactError::Blocked(rules) if rules.to_string().contains("PERSON")));
    }
}
