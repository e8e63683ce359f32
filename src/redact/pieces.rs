//! The texts of one file, which somebody else takes apart and puts together: told what is to change in each. As in a
//! document, what was found in one text is replaced in every other.

use std::sync::Arc;

use crate::detect::Label;
use crate::detect::offset::Points;
use crate::edit::Edit;
use crate::redact::encrypt::Surrogates;
use crate::redact::error::RedactError;
use crate::redact::keys::Keys;
use crate::redact::method::Method;
use crate::redact::redactor::Redactor;
use crate::redact::report::Report;
use crate::redact::values::{Hit, Place, Values};

/// A text of a file.
#[derive(Clone, Copy)]
pub struct Text<'t> {
    /// What it is called there: the head of its column, the name of its element or member.
    pub label: Option<&'t Label>,
    /// All of it.
    pub text: &'t str,
}

/// What stands in a value's place.
#[derive(Clone)]
pub struct Replacement {
    /// The text.
    pub text: String,
    /// The name of the rule that found the value.
    pub rule: Arc<str>,
}

/// What is to change in one text, in order.
pub type Changes = Vec<Edit<Replacement>>;

impl Redactor {
    /// What is to change in each of the texts: sorted, apart from each other; and what was found. The report tells
    /// findings in detail, in code points of the text that each is in.
    ///
    /// # Errors
    /// A plan that encrypts, without a key.
    pub fn pieces(&self, texts: &[Text<'_>], keys: &Keys) -> Result<(Vec<Changes>, Report), RedactError> {
        let mut report = Report::default();
        let mut values = Values::new(std::slice::from_ref(self));
        let mut cache = self.detector.cache();
        let nowhere: Arc<str> = Arc::from("");
        let mut hits: Vec<Vec<Hit>> = Vec::with_capacity(texts.len());
        for &Text { label, text } in texts {
            let findings = self.detector.try_find_under(&mut cache, label, text)?;
            report.scan(text.len());
            let mut points = Points::new(text);
            for finding in &findings {
                let redacted = *self.plan.method(finding.rule) != Method::DetectOnly;
                let name = self.detector.rule(finding.rule).name();
                report.find_at(&nowhere, (text, &mut points), finding, (name, redacted));
            }
            hits.push(values.take(Place::default(), text, &findings));
        }
        if values.is_empty() {
            return Ok((texts.iter().map(|_| Vec::new()).collect(), report));
        }
        let index = values.index();
        for (text, hits) in texts.iter().zip(&mut hits) {
            values.spread(&index, text.text, hits);
        }
        values.settle(
            &mut Surrogates::new(keys),
            texts.iter().map(|text| text.text).collect::<Vec<_>>().join("\n").as_bytes(),
        )?;
        let changes = hits.into_iter().map(|hits| {
            let change = |Hit { range, value }: Hit| {
                let rule = values.rule(value);
                let name = self.detector.rule(rule).name();
                report.replace(rule, name);
                Edit {
                    range,
                    with: Replacement { text: values.with(value).to_owned(), rule: Arc::from(name) },
                }
            };
            hits.into_iter().map(change).collect()
        });
        let changes = changes.collect();
        Ok((changes, report))
    }
}

impl std::fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Text({} bytes)", self.text.len())
    }
}

impl std::fmt::Debug for Replacement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replacement").field("rule", &self.rule).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::{Catalogue, Choice, Detector};
    use crate::redact::Plan;

    #[test]
    fn what_is_found_in_one_text_changes_in_all() {
        let rules = Catalogue::builtin().unwrap();
        let detector = Detector::new(&rules, &Choice::defaults(&rules)).unwrap();
        let redactor = Redactor::new(detector, Plan::all(Method::Replace));
        let texts = ["Account number: 12345678 is closed", "ref 12345678", "nothing"];
        let texts = texts.map(|text| Text { label: None, text });
        let (changes, report) = redactor.pieces(&texts, &Keys::default()).unwrap();
        assert_eq!(changes.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 0]);
        assert_eq!(report.count(), 2);
        for (text, changes) in texts.iter().zip(&changes) {
            assert!(changes.iter().all(|change| text.text.get(change.range.clone()) == Some("12345678")));
        }
    }
}
