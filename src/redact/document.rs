//! A collected JSON document, redacted so that it can be undone. Two passes, since what was found by its context
//! in one string ("account no. 12345678") stands without it in another: find in all strings, then replace every
//! occurrence of any found value in all of them. Bytes that nobody changed leave as they came.
//!
//! JSON within a string (a tool call's arguments) is opened, its strings edited, and the edits led out through both
//! encodings; so is text in base64. Bytes in it pass as they came, and are counted.

use std::ops::Range;

use crate::base::checkpoint::Stopped;
use crate::detect::{Cache, Detector, Label};
use crate::edit::spliced;
use crate::redact::encrypt::Surrogates;
use crate::redact::error::RedactError;
use crate::redact::keys::Keys;
use crate::redact::method::{Method, Plan};
use crate::redact::names::Labels;
use crate::redact::opaque::{Look, Named, Part, Reading, begins_tokens, encodes_text};
use crate::redact::redactor::Redactor;
use crate::redact::report::{Redacted, Report};
use crate::redact::undo::{Limits, Undo};
use crate::redact::values::{Hit, Place, Values};
use crate::stream::Edit;
use crate::stream::json::{
    Decoded, JsonError, JsonFault, LONG_NUMBER, Leaf, Path, PathSet, Take, Token, digits_of, encoded,
    is_long, walk, walk_numbers, with_digits,
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
        let mut places = Places { which, levels: limits.levels, labels: Labels::default(), deep: false };
        let mut finder = Finder {
            detector: &self.detector,
            plan: &self.plan,
            cache: self.detector.cache(),
            outcome: Ok(()),
        };
        let mut hits: Vec<Vec<Hit>> = Vec::new();
        places.visit(doc, &mut |text| {
            let found = finder.find(text, &mut values, &mut report);
            if text.part.unread && found.is_empty() {
                report.skip(1);
            }
            hits.push(found);
            Vec::new()
        })?;
        finder.outcome?;
        if places.deep {
            return Err(RedactError::TooDeep { levels: limits.levels });
        }
        if values.is_empty() {
            return Ok((Redacted::new(doc.to_vec(), report), Undo::nothing()));
        }

        let index = values.index();
        let mut leaves = hits.iter_mut();
        places.visit(doc, &mut |text| {
            if let Some(hits) = leaves.next().filter(|_| text.part.look != Look::Not) {
                let Part { text: whole, look, .. } = text.part;
                values.spread(&index, whole, hits);
                hits.retain(|hit| look.admits((hit.range.start, hit.range.end), whole.len()));
                if typed && text.number {
                    values.keep_numbers(whole, hits);
                }
            }
            Vec::new()
        })?;
        values.settle(&mut Surrogates::new(keys), doc)?;

        let mut leaves = hits.into_iter();
        let edits = places.visit(doc, &mut |text| {
            let hits = leaves.next().filter(|_| !text.part.replaced).unwrap_or_default();
            let replace = |Hit { range, value }| {
                let rule = values.rule(value);
                report.replace(rule, self.detector.rule(rule).name());
                Edit { range, with: values.with(value).to_owned() }
            };
            hits.into_iter().map(replace).collect()
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
    /// What is found in a text.
    fn find(&mut self, text: Text<'_>, values: &mut Values<'_>, report: &mut Report) -> Vec<Hit> {
        let Text { label, part: Part { text, look, .. }, .. } = text;
        if look == Look::Not {
            return Vec::new();
        }
        let found = self.outcome.and_then(|()| self.detector.try_find_under(&mut self.cache, label, text));
        self.outcome = found.as_ref().map(drop).map_err(|stopped| *stopped);
        let mut findings = found.unwrap_or_default();
        findings.retain(|finding| look.admits((finding.span.start, finding.span.end), text.len()));
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
    /// How many more encodings within strings are opened: documents, and text in base64.
    levels: usize,
    labels: Labels,
    /// Whether there is one too many that may hide something.
    deep: bool,
}

/// A text of a document.
#[derive(Clone, Copy)]
struct Text<'t> {
    /// What it is called there.
    label: Option<&'t Label>,
    part: Part<'t>,
    /// Whether it is a number's.
    number: bool,
}

/// Sees a text, says what to replace in it.
type See<'s> = &'s mut dyn FnMut(Text<'_>) -> Vec<Edit>;

impl Places<'_> {
    /// Calls `see` for every text, and returns its edits as edits of the document.
    fn visit(&mut self, doc: &[u8], see: See<'_>) -> Result<Vec<Edit>, JsonError> {
        let mut edits = Vec::new();
        walk_numbers(doc, &|_| true, &mut |path, leaf| {
            let spelled = doc.get(leaf.span.clone()).unwrap_or_default();
            if leaf.token == Token::Number {
                edits.extend(self.number(leaf, spelled, path, see));
            } else if self.which.take(path) != Take::Skip {
                edits.extend(self.leaf(leaf, spelled, path, see));
            }
        })?;
        Ok(edits)
    }

    /// The edit of a number. Short ones are words of a language model at most.
    fn number(&mut self, leaf: Leaf, spelled: &[u8], path: &Path<'_>, see: See<'_>) -> Option<Edit> {
        if spelled.iter().filter(|byte| byte.is_ascii_digit()).count() < LONG_NUMBER {
            if begins_tokens(path) && spelled.iter().all(u8::is_ascii_digit) {
                see(Text { label: None, part: Part::unread("", Look::Not), number: false });
            }
            return None;
        }
        if !is_long(spelled) || self.which.take(path).of(Token::Number, "") == Take::Skip {
            return None;
        }
        let label = self.labels.of(path);
        number(spelled, leaf.span, &mut |text| see(Text { label, part: Part::text(text), number: true }))
    }

    /// The edits of one string or key, which is spelled so.
    fn leaf(&mut self, leaf: Leaf, spelled: &[u8], path: &Path<'_>, see: See<'_>) -> Vec<Edit> {
        let Leaf { span, token } = leaf;
        let decoded = Decoded::of(spelled);
        let outward = |edit: Edit| {
            let Edit { range, with } = edit.through(decoded.map(), |with| encoded(&with));
            Edit { range: span.start + range.start..span.start + range.end, with }
        };
        let take = self.which.take(path);
        if take.of(token, decoded.text()) == Take::Skip && !encodes_text(decoded.text()) {
            if token == Token::Key {
                // A token's id.
                see(Text { label: None, part: Part::unread("", Look::Not), number: false });
            }
            return Vec::new();
        }
        let edits = match token {
            Token::Text => self.string(decoded.text(), path, see),
            _ => see(Text { label: None, part: Part::text(decoded.text()), number: false }),
        };
        edits.into_iter().map(outward).collect()
    }

    /// The edits of one string value: of its text, of the text that it encodes, or of the document that it holds.
    fn string(&mut self, text: &str, path: &Path<'_>, see: See<'_>) -> Vec<Edit> {
        let reading =
            Reading::of(text, || Named::of(path, || self.labels.of(path).is_some_and(Label::is_secret)));
        reading.edits(text, &mut |part| {
            if !part.decoded {
                return self.text(part, path, see);
            }
            let Some(levels) = self.levels.checked_sub(1) else {
                self.deep = true;
                return Vec::new();
            };
            let before = std::mem::replace(&mut self.levels, levels);
            let edits = self.string(part.text, path, see);
            self.levels = before;
            edits
        })
    }

    /// The edits of a text, or of the document that it is.
    fn text(&mut self, part: Part<'_>, path: &Path<'_>, see: See<'_>) -> Vec<Edit> {
        let text = part.text;
        if part.look == Look::Text && may_be_json(text, self.which.take(path)) {
            match walk(text.as_bytes(), &mut |_, _| {}) {
                Ok(()) if self.levels > 0 => {
                    let labels = self.labels.within(path);
                    let mut inner =
                        Places { which: &EVERYTHING, levels: self.levels - 1, labels, deep: false };
                    // It has just been walked without a fault.
                    let edits = inner.visit(text.as_bytes(), see).unwrap_or_default();
                    self.deep |= inner.deep;
                    return edits;
                }
                // What is written with escapes would not be read.
                Ok(()) | Err(JsonError { fault: JsonFault::TooDeep, .. }) => self.deep |= text.contains('\\'),
                Err(_) => {}
            }
        }
        see(Text { label: self.labels.of(path), part, number: false })
    }
}

/// The edit of one number; what is no number any more becomes a string.
pub(super) fn number(
    spelled: &[u8],
    span: Range<usize>,
    see: &mut dyn FnMut(&str) -> Vec<Edit>,
) -> Option<Edit> {
    let text = std::str::from_utf8(spelled).unwrap_or_default();
    let digits = digits_of(text);
    let edits = see(digits);
    let edited = spliced(digits.as_bytes(), &edits);
    let with = || with_digits(text, &String::from_utf8_lossy(&edited));
    (!edits.is_empty()).then(|| Edit { range: span, with: with() })
}

/// Most strings are not JSON, and this spares their walk. A string within a string is opened only where one is
/// expected, or where it has escapes: as prose, a text in quotes is its own text.
fn may_be_json(text: &str, take: Take) -> bool {
    match text.trim_start().as_bytes().first() {
        Some(b'{' | b'[') => true,
        Some(b'"') => take == Take::Embedded || text.contains('\\') && text.trim_end().ends_with('"'),
        _ => false,
    }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
