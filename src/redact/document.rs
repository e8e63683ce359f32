//! A collected JSON document, redacted so that it can be undone. Two passes, since what was found by its context
//! in one string ("account no. 12345678") stands without it in another: find in all strings, then replace every
//! occurrence of any found value in all of them. Bytes that nobody changed leave as they came.
//!
//! JSON within a string (a tool call's arguments) is opened, its strings edited, and the edits led out through both
//! encodings.

use std::ops::Range;

use crate::base::checkpoint::Stopped;
use crate::detect::{Cache, Detector};
use crate::redact::encrypt::Surrogates;
use crate::redact::error::RedactError;
use crate::redact::keys::Keys;
use crate::redact::method::{Method, Plan};
use crate::redact::redactor::Redactor;
use crate::redact::report::{Redacted, Report};
use crate::redact::undo::{Limits, Undo};
use crate::redact::values::{Hit, Place, Values};
use crate::stream::Edit;
use crate::stream::json::{Decoded, JsonError, Leaf, PathSet, Take, Token, encode, encode_number, walk};

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
        let mut places = Places { which, levels: limits.levels, unscanned: 0 };
        let mut finder = Finder {
            detector: &self.detector,
            plan: &self.plan,
            cache: self.detector.cache(),
            outcome: Ok(()),
        };
        let mut hits: Vec<Vec<Hit>> = Vec::new();
        places.visit(doc, &mut |text| {
            hits.push(finder.find(text, &mut values, &mut report));
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
                values.spread(&index, text, hits);
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
        Ok((Redacted::new(apply(doc, &edits), report), values.close(limits)?))
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
    fn find(&mut self, text: &str, values: &mut Values<'_>, report: &mut Report) -> Vec<Hit> {
        let found = self.outcome.and_then(|()| self.detector.try_find(&mut self.cache, text));
        self.outcome = found.as_ref().map(drop).map_err(|stopped| *stopped);
        let findings = found.unwrap_or_default();
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
    /// Strings passed over in the last visit.
    unscanned: usize,
}

/// Sees a decoded text, says what to replace in it.
pub(super) type See<'s> = &'s mut dyn FnMut(&str) -> Vec<Edit>;

impl Places<'_> {
    /// Calls `see` for every text, and returns its edits as edits of the document.
    fn visit(&mut self, doc: &[u8], see: See<'_>) -> Result<Vec<Edit>, JsonError> {
        self.unscanned = 0;
        let mut edits = Vec::new();
        walk(doc, &mut |path, leaf| {
            let take = self.which.take(path);
            if take != Take::Skip {
                edits.extend(self.leaf(doc, leaf, take, see));
            }
        })?;
        Ok(edits)
    }

    fn leaf(&mut self, doc: &[u8], leaf: Leaf, take: Take, see: See<'_>) -> Vec<Edit> {
        let Leaf { span, token } = leaf;
        let encoded = doc.get(span.clone()).unwrap_or_default();
        if token == Token::Number {
            return number(encoded, span, see).into_iter().collect();
        }
        let decoded = Decoded::of(encoded);
        let outward = |Edit { range, with }: Edit| {
            let range = decoded.encoded(range);
            let range = span.start + range.start..span.start + range.end;
            Edit { range, with: written(|out| encode(&with, out)) }
        };
        self.string(decoded.text(), token, take, see).into_iter().map(outward).collect()
    }

    /// The edits of one string: of its text, or of the document it holds.
    fn string(&mut self, text: &str, token: Token, take: Take, see: See<'_>) -> Vec<Edit> {
        if token == Token::Text && is_data_url(text) {
            self.unscanned += 1;
            return Vec::new();
        }
        if self.levels == 0 || !may_be_json(text, take) || walk(text.as_bytes(), &mut |_, _| {}).is_err() {
            return see(text);
        }
        let mut inner = Places { which: &EVERYTHING, levels: self.levels - 1, unscanned: 0 };
        // It has just been walked without a fault.
        let edits = inner.visit(text.as_bytes(), see).unwrap_or_default();
        self.unscanned += inner.unscanned;
        edits
    }
}

/// The edit of one number, without its sign; what is no number any more becomes a string.
pub(super) fn number(encoded: &[u8], span: Range<usize>, see: See<'_>) -> Option<Edit> {
    let text = std::str::from_utf8(encoded).unwrap_or_default();
    let (sign, digits) = text.split_at(usize::from(text.starts_with('-')));
    let inner = see(digits);
    let edited = [sign.as_bytes(), &apply(digits.as_bytes(), &inner)].concat();
    let with = written(|out| encode_number(&String::from_utf8_lossy(&edited), out));
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

/// What `write` writes, which is text.
pub(super) fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// Edits in order, applied.
pub(super) fn apply(bytes: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut done = 0;
    for Edit { range, with } in edits {
        out.extend_from_slice(bytes.get(done..range.start).unwrap_or_default());
        out.extend_from_slice(with.as_bytes());
        done = range.end;
    }
    out.extend_from_slice(bytes.get(done..).unwrap_or_default());
    out
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
