//! A text or a document: what is found in it, why, and what becomes of it.

use std::cell::RefCell;

use crate::base::checkpoint::{Checkpoint, Stopped};
use crate::console::playground::engines::PlaygroundEngine;
use crate::console::playground::marks::{AnalyzedText, Marking};
use crate::console::playground::redacting::{allowed, redactor};
use crate::console::playground::request::{PlaygroundChoice, PlaygroundRequest, ReadAs};
use crate::detect::{Detector, Finding, Rejected, Rejection, Span};
use crate::redact::{AnnotatedText, BlockedRules, FindingLimits, Keys, Placement, RedactError, Redactor};
use crate::stream::json::{JsonError, PathSet, walk};

/// Why nothing was found out.
#[derive(Debug)]
pub(super) enum LookError {
    /// Nobody waits for it, or it took too long.
    Stopped,
    /// It cannot be redacted; why, for the person who wants it.
    Wrong(String),
}

impl From<Stopped> for LookError {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

impl From<RedactError> for LookError {
    fn from(error: RedactError) -> Self {
        match error {
            RedactError::Stopped(_) => Self::Stopped,
            error => Self::Wrong(error.to_string()),
        }
    }
}

/// Looks through a text or a document.
///
/// # Errors
/// [`LookError`].
pub(super) fn look(
    engine: &PlaygroundEngine,
    wanted: &PlaygroundRequest,
    keys: &Keys,
    checkpoint: &Checkpoint,
) -> Result<AnalyzedText, LookError> {
    let (text, choice) = (wanted.text.as_str(), &wanted.choice);
    let redactor = redactor(engine, choice, choice.method.method(), checkpoint);
    let mut looked = AnalyzedText::default();
    let LeavingText { value, places, found, is_document } = left(&redactor, wanted, keys, &mut looked)?;
    let pointers = RefCell::new(Pointers::of(text, &found, is_document));
    let pointer = |span: Span| pointers.borrow_mut().next(span);
    let marking = Marking {
        text,
        detector: &engine.detector,
        floor: choice.floor(),
        pointers: is_document.then_some(&pointer as &dyn Fn(Span) -> String),
    };
    marking.find(&mut looked, &found, &places, &value);
    looked.redacted = value;
    checkpoint.pass()?;
    marking.reject(&mut looked, &rejected(&engine.detector, choice, text, &found));
    checkpoint.pass()?;
    marking.pass(&mut looked, &allowed(engine, choice, text, &found));
    Ok(looked)
}

/// What leaves.
struct LeavingText {
    value: String,
    places: Vec<Placement>,
    found: Vec<Finding>,
    /// Whether it is a document, of which found is told by its decoded texts.
    is_document: bool,
}

fn left(
    redactor: &Redactor,
    wanted: &PlaygroundRequest,
    keys: &Keys,
    looked: &mut AnalyzedText,
) -> Result<LeavingText, LookError> {
    let text = wanted.text.as_str();
    if wanted.read_as != ReadAs::Text {
        let everything = PathSet::everything();
        match redactor.document_marked(text.as_bytes(), &everything, keys, FindingLimits::default()) {
            Ok((redacted, _)) => {
                let AnnotatedText { value, places } = redacted.into_value();
                let value = String::from_utf8_lossy(&value).into_owned();
                return Ok(LeavingText {
                    value,
                    places,
                    found: redactor.find(None, text)?,
                    is_document: true,
                });
            }
            // Whoever types is not done yet: it is looked through as a text meanwhile.
            Err(RedactError::Json(error)) => looked.problem = Some(not_json(text, error)),
            Err(RedactError::Blocked(rules)) => return refused(redactor, text, &rules, looked),
            Err(error) => return Err(error.into()),
        }
    }
    let redacted = match redactor.text_marked(text, keys, FindingLimits::default()) {
        Ok((redacted, _)) => redacted,
        Err(RedactError::Blocked(rules)) => return refused(redactor, text, &rules, looked),
        Err(error) => return Err(error.into()),
    };
    let told = redacted.report().findings().iter();
    let found = told.map(|one| Finding { rule: one.rule, span: one.span, score: one.score, near: one.near });
    let found = found.collect();
    let AnnotatedText { value, places } = redacted.into_value();
    Ok(LeavingText { value, places, found, is_document: false })
}

/// Nothing leaves, since these rules found something.
fn refused(
    redactor: &Redactor,
    text: &str,
    rules: &BlockedRules,
    looked: &mut AnalyzedText,
) -> Result<LeavingText, LookError> {
    looked.refused = true;
    looked.problem = Some(format!("The route refuses a request with this: {rules}."));
    let found = redactor.find(None, text)?;
    Ok(LeavingText { value: String::new(), places: Vec::new(), found, is_document: false })
}

/// What is not found, also of what would be without a threshold that somebody chose.
fn rejected(detector: &Detector, choice: &PlaygroundChoice, text: &str, found: &[Finding]) -> Vec<Rejected> {
    let mut cache = detector.cache();
    let Some(floor) = choice.floor() else { return told(detector.rejected(&mut cache, text, found), found) };
    let mut all = detector.at_least(floor).rejected(&mut cache, text, found);
    let lower = detector.find_with(&mut cache, text).into_iter().filter(|one| one.score < floor);
    all.extend(lower.map(|finding| Rejected { finding, why: Rejection::Threshold }));
    told(all, found)
}

/// What lies in something that is found is of interest only where a word took it away.
fn told(mut rejected: Vec<Rejected>, found: &[Finding]) -> Vec<Rejected> {
    rejected.retain(|one| one.why == Rejection::NegativeContext || !overlaps(found, one.finding.span));
    rejected
}

fn overlaps(found: &[Finding], span: Span) -> bool {
    let at = found.partition_point(|one| one.span.end <= span.start);
    found.get(at).is_some_and(|one| one.span.overlaps(span))
}

/// What is wrong with a document, by line and column.
pub(super) fn not_json(text: &str, error: JsonError) -> String {
    let before = text.get(..error.offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("Not JSON at line {line}, column {column}: {}.", error.fault)
}

/// The pointers to the strings and numbers of a document that findings are in.
struct Pointers(std::collections::VecDeque<(Span, String)>);

impl Pointers {
    /// Of these findings, which are in order.
    fn of(text: &str, found: &[Finding], is_document: bool) -> Self {
        let mut known = std::collections::VecDeque::new();
        if is_document && !found.is_empty() {
            // It has been walked without a fault.
            let _ = walk(text.as_bytes(), &mut |path, leaf| {
                let span = Span::new(leaf.span.start, leaf.span.end);
                if overlaps(found, span) {
                    known.push_back((span, path.to_string()));
                }
            });
        }
        Self(known)
    }

    /// The one of this finding, which is behind the one before.
    fn next(&mut self, span: Span) -> String {
        while self.0.front().is_some_and(|(leaf, _)| leaf.end <= span.start) {
            self.0.pop_front();
        }
        self.0.front().filter(|(leaf, _)| leaf.overlaps(span)).map(|(_, at)| at.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::detect::{Allow, Catalogue, RuleSelection};

    fn engine() -> PlaygroundEngine {
        let catalogue = Catalogue::builtin().unwrap();
        let detector = Detector::new(&catalogue, &RuleSelection::defaults(&catalogue)).unwrap();
        PlaygroundEngine { detector, route: None, catalogue, allow: Allow::default(), address: String::new() }
    }

    fn looked(text: &str, read_as: &str, threshold: Option<f32>) -> AnalyzedText {
        let wanted = json!({"text": text, "as": read_as, "choice": {
            "road": "route", "route": null, "method": "replace", "only": null, "pass": [], "sets": ["DEFAULT"], "threshold": threshold, "rules": "", "model": false,
        }});
        let wanted = PlaygroundRequest::read(wanted.to_string().as_bytes()).unwrap();
        look(&engine(), &wanted, &Keys::default(), &Checkpoint::default()).unwrap()
    }

    fn part(text: &str, start: usize, end: usize) -> String {
        let units: Vec<u16> = text.encode_utf16().collect();
        String::from_utf16(&units[start..end]).unwrap()
    }

    #[test]
    fn places_are_right_whatever_stands_before() {
        for before in
            ["", "plain ", "\u{1f642}\u{1f1e9}\u{1f1ea} e\u{301} ", "\u{5d0}\u{202e} \u{0}\u{fffd}\n"]
        {
            let text = format!("{before} jane.doe@harbour-post.com \u{1f642} 4111 1111 1111 1111");
            let looked = looked(&text, "text", None);
            let marked: Vec<(String, &str)> = looked
                .marks
                .iter()
                .map(|mark| (part(&text, mark.start, mark.end), mark.rule.as_str()))
                .collect();
            let expected = [
                ("jane.doe@harbour-post.com".to_owned(), "EMAIL_ADDRESS"),
                ("4111 1111 1111 1111".to_owned(), "CREDIT_CARD"),
            ];
            assert_eq!(marked, expected, "{before:?}");
            let replaced: Vec<String> =
                looked.replaced.iter().map(|mark| part(&looked.redacted, mark.start, mark.end)).collect();
            assert_eq!(replaced, ["<EMAIL_ADDRESS>", "<CREDIT_CARD>"]);
            assert_eq!(looked.replaced.iter().map(|mark| mark.told).collect::<Vec<_>>(), [Some(0), Some(1)]);
            assert_eq!(looked.told[0].becomes.as_deref(), Some("<EMAIL_ADDRESS>"));
        }
    }

    #[test]
    fn values_of_a_document_have_pointers_and_spread() {
        let text = r#"{"a/b": ["x", {"mail": "jane.doe@harbour-post.com"}], "password": "hunter2-Xk9!pqz", "n": "jane.doe@harbour-post.com"}"#;
        let looked = looked(text, "json", None);
        let told: Vec<(&str, Option<&str>)> =
            looked.told.iter().map(|told| (told.rule.as_str(), told.at.as_deref())).collect();
        assert_eq!(told[0], ("EMAIL_ADDRESS", Some("/a~1b/1/mail")));
        assert_eq!(told[1].1, Some("/password"));
        assert_eq!(looked.replaced.len(), 3);
        assert!(serde_json::from_str::<serde_json::Value>(&looked.redacted).is_ok());
        assert!(looked.problem.is_none());
    }

    #[test]
    fn what_is_no_document_yet_is_looked_through_as_a_text() {
        let looked = looked("{\n  \"mail\": \"jane.doe@harbour-post.com\",", "json", None);
        assert_eq!(looked.problem.as_deref(), Some("Not JSON at line 2, column 39: unexpected end."));
        assert_eq!(looked.marks.len(), 1);
    }

    #[test]
    fn what_is_not_found_says_why() {
        let low = looked("My order number is 483920175.", "text", None);
        assert!(low.marks.is_empty());
        let [not] = low.not.as_slice() else { panic!("{:?}", low.not) };
        assert_eq!(not.value, "483920175");
        assert!(!not.why.is_empty() && not.more > 0, "{not:?}");
        // What a chosen threshold takes away is told as well.
        let text = "Hello, this is Elena Ruiz.";
        assert_eq!(looked(text, "text", None).marks.len(), 1);
        let high = looked(text, "text", Some(0.99));
        assert!(high.marks.is_empty());
        assert!(
            high.not.iter().any(|not| not.value == "Elena Ruiz" && not.rule == "PERSON"),
            "{:?}",
            high.not
        );
    }

    #[test]
    fn what_is_told_is_bounded() {
        let text = "jane.doe@harbour-post.com ".repeat(12_000);
        let looked = looked(&text, "text", None);
        assert_eq!((looked.marks.len(), looked.told.len()), (5000, super::super::marks::TOLD));
        assert!(looked.more > 0);
        assert!(!looked.redacted.contains("jane.doe"));
    }
}
