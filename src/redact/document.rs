//! A collected JSON document, redacted so that it can be undone. Two passes, since what was found by its context
//! in one string ("account no. 12345678") stands without it in another: find in all strings, then replace every
//! occurrence of any found value in all of them. Bytes that nobody changed leave as they came.
//!
//! JSON within a string (a tool call's arguments) is opened, its strings edited, and the edits led out through both
//! encodings.

use std::ops::Range;

use crate::base::checkpoint::Stopped;
use crate::detect::{Cache, Detector, Label};
use crate::edit::spliced;
use crate::redact::encrypt::Surrogates;
use crate::redact::error::RedactError;
use crate::redact::keys::Keys;
use crate::redact::method::{Method, Plan};
use crate::redact::names::Labels;
use crate::redact::redactor::Redactor;
use crate::redact::report::{Redacted, Report};
use crate::redact::undo::{Limits, Undo};
use crate::redact::values::{Hit, Place, Values};
use crate::stream::Edit;
use crate::stream::json::{
    Decoded, JsonError, Leaf, Path, PathSet, Take, Token, encode_number, encoded, walk,
};

impl Redactor {
    /// Redacts the strings of a JSON document that `which` takes, its long numbers and keys there as well, and
    /// tells how to undo it. Strings that hold JSON are opened. Findings are reported in the order of the document.
    pub fn document(
        &self,
        doc: &[u8],
        which: &PathSet,
        keys: &Keys,
        limits: Limits,
    ) -> Result<(Redacted<Vec<u8>>, Undo), RedactError> {
        let mut report = Report::default();
        let mut values = Values::new(std::slice::from_ref(self));
        // A protocol says which of its members are numbers.
        let typed = !which.is_everything();
        let mut places = Places { which, levels: limits.levels, labels: Labels::default(), unscanned: 0 };
        let mut finder = Finder {
            detector: &self.detector,
            plan: &self.plan,
            cache: self.detector.cache(),
            outcome: Ok(()),
        };
        let mut hits: Vec<Vec<Hit>> = Vec::new();
        places.visit(doc, &mut |text| {
            let fixed = typed && text.number;
            let found = finder.find(text, fixed, &mut values, &mut report);
            if fixed {
                values.keep_numbers(&found);
            }
            hits.push(found);
            Vec::new()
        })?;
        finder.outcome?;
        report.skip(places.unscanned);
        if values.is_empty() {
            return Ok((Redacted::new(doc.to_vec(), report), Undo::nothing()));
        }

        let index = values.index();
        let mut leaves = hits.iter_mut();
        places.visit(doc, &mut |text| {
            if let Some(hits) = leaves.next() {
                values.spread(&index, text.text, hits);
                if typed && text.number {
                    hits.retain(|hit| values.is_reversible(hit.value));
                    values.keep_numbers(hits);
                }
            }
            Vec::new()
        })?;
        values.settle(&mut Surrogates::new(keys), doc)?;

        let mut leaves = hits.into_iter();
        let edits = places.visit(doc, &mut |_| {
            let replace = |Hit { range, value }| {
                let rule = values.rule(value);
                report.replace(rule, self.detector.rule(rule).name());
                Edit { range, with: values.with(value).to_owned() }
            };
            leaves.next().unwrap_or_default().into_iter().map(replace).collect()
        })?;
        Ok((Redacted::new(spliced(doc, &edits), report), values.close(limits)?))
    }
}

struct Finder<'d> {
    detector: &'d Detector,
    plan: &'d Plan,
    cache: Cache,
    /// Once it was stopped, nothing more is looked through.
    outcome: Result<(), Stopped>,
}

impl Finder<'_> {
    /// What is found in a text. In a number that must stay one, only what gets another number.
    fn find(
        &mut self,
        text: Text<'_>,
        fixed: bool,
        values: &mut Values<'_>,
        report: &mut Report,
    ) -> Vec<Hit> {
        let Text { label, text, .. } = text;
        let found = self.outcome.and_then(|()| self.detector.try_find_under(&mut self.cache, label, text));
        self.outcome = found.as_ref().map(drop).map_err(|stopped| *stopped);
        let mut findings = found.unwrap_or_default();
        findings.retain(|finding| !fixed || self.plan.method(finding.rule).is_reversible());
        report.scan(text.len());
        for finding in &findings {
            let redacted = *self.plan.method(finding.rule) != Method::DetectOnly;
            report.find(finding, self.detector.rule(finding.rule).name(), redacted);
        }
        values.take(Place::default(), text, &findings)
    }
}

/// Everywhere within what was taken already.
static EVERYTHING: PathSet = PathSet::everything();

/// The texts of a document that are ours, in an order that is the same in every visit.
struct Places<'w> {
    which: &'w PathSet,
    /// How many more documents within strings are opened.
    levels: usize,
    labels: Labels,
    /// Strings passed over in the last visit.
    unscanned: usize,
}

/// A decoded text of a document.
#[derive(Clone, Copy)]
struct Text<'t> {
    /// What it is called there.
    label: Option<&'t Label>,
    text: &'t str,
    /// Whether it is a number's.
    number: bool,
}

/// Sees a decoded text, says what to replace in it.
type See<'s> = &'s mut dyn FnMut(Text<'_>) -> Vec<Edit>;

impl Places<'_> {
    /// Calls `see` for every text, and returns its edits as edits of the document.
    fn visit(&mut self, doc: &[u8], see: See<'_>) -> Result<Vec<Edit>, JsonError> {
        self.unscanned = 0;
        let mut edits = Vec::new();
        walk(doc, &mut |path, leaf| {
            if self.which.take(path) != Take::Skip {
                let spelled = doc.get(leaf.span.clone()).unwrap_or_default();
                edits.extend(self.leaf(leaf, spelled, path, see));
            }
        })?;
        Ok(edits)
    }

    /// The edits of one leaf, which is spelled so.
    fn leaf(&mut self, leaf: Leaf, spelled: &[u8], path: &Path<'_>, see: See<'_>) -> Vec<Edit> {
        let Leaf { span, token } = leaf;
        if token == Token::Number {
            let label = self.labels.of(path);
            let see = &mut |text: &str| see(Text { label, text, number: true });
            return number(spelled, span, see).into_iter().collect();
        }
        let decoded = Decoded::of(spelled);
        let outward = |edit: Edit| {
            let Edit { range, with } = edit.through(decoded.map(), |with| encoded(&with));
            Edit { range: span.start + range.start..span.start + range.end, with }
        };
        self.string(decoded.text(), token, path, see).into_iter().map(outward).collect()
    }

    /// The edits of one string: of its text, or of the document it holds.
    fn string(&mut self, text: &str, token: Token, path: &Path<'_>, see: See<'_>) -> Vec<Edit> {
        if token == Token::Text && is_data_url(text) {
            self.unscanned += 1;
            return Vec::new();
        }
        let closed = self.levels == 0 || !may_be_json(text, self.which.take(path));
        if closed || walk(text.as_bytes(), &mut |_, _| {}).is_err() {
            let label = if token.is_value() { self.labels.of(path) } else { None };
            return see(Text { label, text, number: false });
        }
        let labels = self.labels.within(path);
        let mut inner = Places { which: &EVERYTHING, levels: self.levels - 1, labels, unscanned: 0 };
        // It has just been walked without a fault.
        let edits = inner.visit(text.as_bytes(), see).unwrap_or_default();
        self.unscanned += inner.unscanned;
        edits
    }
}

/// The edit of one number, without its sign; what is no number any more becomes a string.
pub(super) fn number(
    spelled: &[u8],
    span: Range<usize>,
    see: &mut dyn FnMut(&str) -> Vec<Edit>,
) -> Option<Edit> {
    let text = std::str::from_utf8(spelled).unwrap_or_default();
    let (sign, digits) = text.split_at(usize::from(text.starts_with('-')));
    let inner = see(digits);
    let edited = [sign.as_bytes(), &spliced(digits.as_bytes(), &inner)].concat();
    let mut with = Vec::new();
    encode_number(&String::from_utf8_lossy(&edited), &mut with);
    let with = String::from_utf8_lossy(&with).into_owned();
    (!inner.is_empty()).then_some(Edit { range: span, with })
}

/// Most strings are not JSON, and this spares their walk. A string within a string is opened only where one is
/// expected: as prose, a text in quotes is its own text.
fn may_be_json(text: &str, take: Take) -> bool {
    match text.trim_start().as_bytes().first() {
        Some(b'{' | b'[') => true,
        Some(b'"') => take == Take::Embedded,
        _ => false,
    }
}

/// `data:image/png;base64,…` (RFC 2397) is a file, not text.
fn is_data_url(text: &str) -> bool {
    let head = text.as_bytes().get(..256).unwrap_or(text.as_bytes());
    let scheme = head.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"data:"));
    let comma = memchr::memchr(b',', head).and_then(|at| head.get(..at));
    scheme && comma.is_some_and(|kind| kind.to_ascii_lowercase().ends_with(b";base64"))
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
