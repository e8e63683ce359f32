//! Clean texts and documents with the places in them that stand for values: for whoever shows both sides.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::edit::{spliced, spliced_text};
use crate::redact::carrier::{Carrier, CarrierText, TextVisitor};
use crate::redact::document::JsonTexts;
use crate::redact::error::RedactError;
use crate::redact::fpe_context::FpeContext;
use crate::redact::keys::Keys;
use crate::redact::opaque::StringPart;
use crate::redact::pass::{RedactionPass, ReplaceScope};
use crate::redact::redactor::Redactor;
use crate::redact::report::Redacted;
use crate::redact::surrogate_map::{FindingLimits, SurrogateMap};
use crate::stream::json::{Decoded, PathSet};

/// Where something was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Bytes of what came.
    pub before: Range<usize>,
    /// Bytes of what leaves.
    pub after: Range<usize>,
    /// The name of the rule that found the value; `None` where it stood in an encoding, of which all is written anew.
    pub rule: Option<Arc<str>>,
}

/// What is clean now, and where in it something was replaced, in order.
#[derive(Clone)]
pub struct AnnotatedText<T> {
    /// What is clean.
    pub value: T,
    /// What was replaced.
    pub places: Vec<Placement>,
}

impl<T> std::fmt::Debug for AnnotatedText<T> {
    // What is replaced in it by nothing may still be in it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Marked({} places)", self.places.len())
    }
}

/// A document that is clean, and where in it something was replaced.
pub type AnnotatedBytes = Redacted<AnnotatedText<Vec<u8>>>;

impl Redactor {
    /// As [`Redactor::text`], with the places of replacements.
    ///
    /// # Errors
    /// As of [`Redactor::text`].
    pub fn text_marked(
        &self,
        text: &str,
        keys: &Keys,
        limits: FindingLimits,
    ) -> Result<(Redacted<AnnotatedText<String>>, FpeContext), RedactError> {
        RedactionPass::by(self, keys, ReplaceScope::Found).run(&mut MarkedText(text))?.context(limits)
    }

    /// As [`Redactor::document`], with the places of replacements.
    ///
    /// # Errors
    /// As of [`Redactor::document`].
    pub fn document_marked(
        &self,
        doc: &[u8],
        which: &PathSet,
        keys: &Keys,
        limits: FindingLimits,
    ) -> Result<(AnnotatedBytes, SurrogateMap), RedactError> {
        let mut document = MarkedDocument { body: doc, texts: JsonTexts::new(which, limits) };
        RedactionPass::by(self, keys, ReplaceScope::Everywhere).run(&mut document)?.undo(limits)
    }
}

/// Places of edits, given in order as what they cover, the length of what they put there, and their rules.
fn placed(edits: impl Iterator<Item = (Range<usize>, usize, Option<Arc<str>>)>) -> Vec<Placement> {
    let (mut at, mut out) = (0, 0);
    let place = |(range, length, rule): (Range<usize>, usize, Option<Arc<str>>)| {
        let start = range.start.max(at);
        out += start - at;
        at = range.end.max(start);
        let after = out..out + length;
        out = after.end;
        Placement { before: start..at, after, rule }
    };
    edits.map(place).collect()
}

/// A text.
struct MarkedText<'t>(&'t str);

impl Carrier for MarkedText<'_> {
    type Written = AnnotatedText<String>;

    fn visit(&mut self, see: TextVisitor<'_>) -> Result<AnnotatedText<String>, RedactError> {
        let changes = see(CarrierText { opens: true, ..CarrierText::of(StringPart::text(self.0)) });
        let edits = changes
            .iter()
            .map(|edit| (edit.range.clone(), edit.with.text.len(), Some(Arc::clone(&edit.with.rule))));
        Ok(AnnotatedText { places: placed(edits), value: spliced_text(self.0, &changes) })
    }

    fn bytes(&self) -> Cow<'_, [u8]> {
        self.0.as_bytes().into()
    }
}

/// A JSON document.
struct MarkedDocument<'b> {
    body: &'b [u8],
    texts: JsonTexts<'b>,
}

impl Carrier for MarkedDocument<'_> {
    type Written = AnnotatedText<Vec<u8>>;

    fn prepare(&mut self, labels: bool) {
        self.texts.prepare(labels);
    }

    fn visit(&mut self, see: TextVisitor<'_>) -> Result<AnnotatedText<Vec<u8>>, RedactError> {
        // Between a change of a text and the edit of its document there may be encodings.
        let mut rules: HashMap<String, Arc<str>> = HashMap::new();
        let edits = self.texts.visit(self.body, &mut |text| {
            let changes = see(text);
            for change in &changes {
                rules.insert(change.with.text.clone(), Arc::clone(&change.with.rule));
            }
            changes
        })?;
        self.texts.opened()?;
        let rule = |with: &str| rules.get(Decoded::of(with.trim_matches('"').as_bytes()).text()).cloned();
        let places = placed(edits.iter().map(|edit| (edit.range.clone(), edit.with.len(), rule(&edit.with))));
        Ok(AnnotatedText { value: spliced(self.body, &edits), places })
    }

    fn bytes(&self) -> Cow<'_, [u8]> {
        self.body.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::{Catalogue, Detector, RuleSelection};
    use crate::redact::{Method, MethodPlan};

    fn redactor(method: Method) -> Redactor {
        let rules = Catalogue::builtin().unwrap();
        Redactor::new(
            Detector::new(&rules, &RuleSelection::defaults(&rules)).unwrap(),
            MethodPlan::all(method),
        )
    }

    fn parts(text: &str, places: &[Placement], after: bool) -> Vec<(String, Option<String>)> {
        let part = |place: &Placement| {
            let range = if after { place.after.clone() } else { place.before.clone() };
            (text.get(range).unwrap().to_owned(), place.rule.as_deref().map(str::to_owned))
        };
        places.iter().map(part).collect()
    }

    #[test]
    fn places_of_a_text_are_those_of_its_values_and_of_what_stands_for_them() {
        let text = "é🙂 jane.doe@harbour-post.com, 4111 1111 1111 1111";
        let redactor = redactor(Method::Replace);
        let (redacted, _) = redactor.text_marked(text, &Keys::default(), FindingLimits::default()).unwrap();
        let (plain, _) = redactor.text(text, &Keys::default(), FindingLimits::default()).unwrap();
        let AnnotatedText { value, places } = redacted.value();
        assert_eq!(value, plain.value());
        let rule = |name: &str| Some(name.to_owned());
        let before = [
            ("jane.doe@harbour-post.com".to_owned(), rule("EMAIL_ADDRESS")),
            ("4111 1111 1111 1111".to_owned(), rule("CREDIT_CARD")),
        ];
        assert_eq!(parts(text, places, false), before);
        let after = [
            ("<EMAIL_ADDRESS>".to_owned(), rule("EMAIL_ADDRESS")),
            ("<CREDIT_CARD>".to_owned(), rule("CREDIT_CARD")),
        ];
        assert_eq!(parts(value, places, true), after);
        assert_eq!(
            format!("{redacted:?}"),
            "Redacted { report: Report { found: 2, replaced: 2, unscanned: 0 }, .. }"
        );
    }

    #[test]
    fn places_of_a_document_are_in_its_own_spelling() {
        let doc =
            r#"{"a": "jane\u002edoe@harbour-post.com", "again": ["jane.doe@harbour-post.com"], "n": 1}"#;
        let redactor = redactor(Method::Replace);
        let which = PathSet::everything();
        let (redacted, _) = redactor
            .document_marked(doc.as_bytes(), &which, &Keys::default(), FindingLimits::default())
            .unwrap();
        let (plain, _) =
            redactor.document(doc.as_bytes(), &which, &Keys::default(), FindingLimits::default()).unwrap();
        let AnnotatedText { value, places } = redacted.into_value();
        assert_eq!(value, *plain.value());
        let rule = Some("EMAIL_ADDRESS".to_owned());
        let before = [
            (r"jane\u002edoe@harbour-post.com".to_owned(), rule.clone()),
            ("jane.doe@harbour-post.com".to_owned(), rule.clone()),
        ];
        assert_eq!(parts(doc, &places, false), before);
        let value = String::from_utf8(value).unwrap();
        let after = [("<EMAIL_ADDRESS>".to_owned(), rule.clone()), ("<EMAIL_ADDRESS>".to_owned(), rule)];
        assert_eq!(parts(&value, &places, true), after);
    }

    #[test]
    fn what_is_debugged_has_no_text() {
        let marked = AnnotatedText { value: "jane.doe@harbour-post.com".to_owned(), places: Vec::new() };
        assert_eq!(format!("{marked:?}"), "Marked(0 places)");
    }
}
