//! Parts of a document, each with rules of its own, and nothing else of it: what the API's structured redaction does.
//! Unlike a prompt, where a value found once must not leave by another sentence, a document says by its paths what is
//! meant; so only what is found where it was looked for is replaced.

use std::collections::HashMap;
use std::sync::Arc;

use crate::detect::offset::Points;
use crate::detect::{Cache, Label};
use crate::edit::spliced;
use crate::redact::context::{Context, Restorer};
use crate::redact::document::number;
use crate::redact::encrypt::Surrogates;
use crate::redact::error::RedactError;
use crate::redact::keys::Keys;
use crate::redact::method::Method;
use crate::redact::names::Labels;
use crate::redact::opaque::{Look, Named, Part, Reading};
use crate::redact::redactor::{MOST_EXPLAINED, Redactor};
use crate::redact::report::{Redacted, Report};
use crate::redact::undo::Limits;
use crate::redact::values::{Hit, Place, Values};
use crate::stream::Edit;
use crate::stream::json::{Decoded, JsonError, Leaf, Path, Segment, Token, encoded, walk_numbers};

/// Which values of a document are looked into, and by which of several redactors. A string that was not chosen itself
/// is read as in a request: bytes in it stay as they are, text in base64 is redacted there. One that was is text.
#[derive(Debug)]
pub enum Selection {
    /// Every string and number, by the first.
    Everything,
    /// The values chosen, with all that lies in them; numbers too.
    Chosen(Chosen),
}

/// Chosen places, as a tree of the paths to them.
#[derive(Debug, Default)]
pub struct Chosen {
    part: Option<usize>,
    members: HashMap<String, Chosen>,
    elements: HashMap<usize, Chosen>,
}

impl Chosen {
    /// Chooses the value at `path` for the redactor `part`. Where two choose a value, or one that holds it, the first
    /// of the redactors has it.
    pub fn choose<'s>(&mut self, path: impl IntoIterator<Item = Segment<'s>>, part: usize) {
        let mut node = self;
        for segment in path {
            node = match segment {
                Segment::Key(key) => node.members.entry(kept(key).to_owned()).or_default(),
                Segment::Index(index) => node.elements.entry(index).or_default(),
            };
        }
        node.part = Some(node.part.map_or(part, |known| known.min(part)));
    }

    /// Who looks into the value at `path`, and whether it was chosen itself.
    fn part(&self, path: &Path<'_>) -> Option<(usize, bool)> {
        let mut node = self;
        let (mut best, mut depth) = (node.part, 0);
        for segment in path.segments() {
            let next = match segment {
                Segment::Key(key) => node.members.get(key),
                Segment::Index(index) => node.elements.get(&index),
            };
            let Some(next) = next else { break };
            node = next;
            depth += 1;
            best = match (best, node.part) {
                (Some(best), Some(part)) => Some(best.min(part)),
                (best, part) => best.or(part),
            };
        }
        best.map(|best| (best, depth == path.len() && node.part.is_some()))
    }
}

/// What a path keeps of a key.
fn kept(key: &str) -> &str {
    let cut = (0..=256.min(key.len())).rev().find(|&at| key.is_char_boundary(at));
    key.get(..cut.unwrap_or_default()).unwrap_or_default()
}

impl Selection {
    /// Who looks into a leaf of a document, and whether it was chosen itself.
    fn part(&self, path: &Path<'_>, token: Token) -> Option<(usize, bool)> {
        match (self, token) {
            (_, Token::Key | Token::Rest) => None,
            (Self::Everything, Token::Text | Token::Number) => Some((0, false)),
            (Self::Chosen(chosen), _) => chosen.part(path),
        }
    }
}

/// Redacts the chosen parts of a document, each by the redactor of its number, and tells how to undo what was
/// encrypted. With `detail` the report holds what was found and where.
pub fn structured(
    doc: &[u8],
    (which, parts): (&Selection, &[Redactor]),
    keys: &Keys,
    (limits, detail): (Limits, bool),
) -> Result<(Redacted<Vec<u8>>, Context), RedactError> {
    let mut report = Report::default();
    let mut values = Values::new(parts);
    let mut caches: Vec<Cache> = parts.iter().map(|part| part.detector.cache()).collect();
    let mut hits: Vec<Vec<Hit>> = Vec::new();
    let mut outcome = Ok(());
    let mut labels = Labels::default();
    visit(doc, which, &mut |path, place, part| {
        let Part { text, look, .. } = part;
        if look == Look::Not {
            report.skip(1);
            hits.push(Vec::new());
            return Vec::new();
        }
        let (Some(redactor), Some(cache)) = (parts.get(place.part), caches.get_mut(place.part)) else {
            return Vec::new();
        };
        let found = outcome.and_then(|()| redactor.detector.try_find_under(cache, labels.of(path), text));
        outcome = found.as_ref().map(drop).map_err(|stopped| *stopped);
        let mut findings = found.unwrap_or_default();
        findings.retain(|finding| look.admits((finding.span.start, finding.span.end), text.len()));
        report.skip(usize::from(part.unread && findings.is_empty()));
        report.scan(text.len());
        let rejected = match detail && report.scanned() <= MOST_EXPLAINED {
            true => redactor.rejected_beside(cache, text, &findings),
            false => Vec::new(),
        };
        let told = detail && !(findings.is_empty() && rejected.is_empty());
        let key: Option<Arc<str>> = told.then(|| dotted(path).into());
        let mut points = Points::new(text);
        for finding in &findings {
            let redacted = *redactor.plan.method(finding.rule) != Method::DetectOnly;
            let told = (redactor.detector.rule(finding.rule).name(), redacted);
            if let Some(key) = &key {
                report.find_at(key, (text, &mut points), finding, told);
            }
        }
        if let Some(key) = &key {
            for one in rejected {
                report.reject_at(key, (text, &mut points), one);
            }
        }
        hits.push(values.take(place, text, &findings));
        Vec::new()
    })?;
    outcome?;
    values.settle(&mut Surrogates::new(keys), doc)?;
    let mut leaves = hits.into_iter();
    let edits = visit(doc, which, &mut |_, place, part| {
        let hits = leaves.next().filter(|_| !part.replaced).unwrap_or_default();
        let replace = |Hit { range, value }| {
            let rule = values.rule(value);
            let name = parts.get(place.part).map_or("", |redactor| redactor.detector.rule(rule).name());
            report.replace(rule, name);
            Edit { range, with: values.with(value).to_owned() }
        };
        hits.into_iter().map(replace).collect()
    })?;
    Ok((Redacted::new(spliced(doc, &edits), report), values.context(limits)?))
}

impl Restorer {
    /// The document with originals where surrogates stand, in its strings and numbers.
    pub fn document(&self, doc: &[u8]) -> Result<Vec<u8>, RedactError> {
        let mut failed = Ok(());
        let everything = Selection::Chosen(Chosen { part: Some(0), ..Chosen::default() });
        let edits = visit(doc, &everything, &mut |_, _, part| {
            let mut edits = self.edits(part.text).unwrap_or_else(|error| {
                failed = Err(error);
                Vec::new()
            });
            edits.retain(|edit| part.look.admits((edit.range.start, edit.range.end), part.text.len()));
            edits
        })?;
        failed.map(|()| spliced(doc, &edits))
    }
}

/// Sees a text of a document and says what to replace in it.
type See<'s> = &'s mut dyn FnMut(&Path<'_>, Place, Part<'_>) -> Vec<Edit>;

/// How many encodings within one another are opened; what is in the last is text.
const LEVELS: usize = 8;

/// Shows the chosen texts in order; their edits as edits of the document.
fn visit(doc: &[u8], which: &Selection, see: See<'_>) -> Result<Vec<Edit>, JsonError> {
    let (mut edits, mut labels) = (Vec::new(), Labels::default());
    walk_numbers(doc, &|_| true, &mut |path, Leaf { span, token }| {
        let Some((part, chosen)) = which.part(path, token) else { return };
        let spelled = doc.get(span.clone()).unwrap_or_default();
        let place = Place { part, number: token == Token::Number, fixed: false };
        if place.number {
            edits.extend(number(spelled, span, &mut |text| see(path, place, Part::text(text))));
            return;
        }
        let decoded = Decoded::of(spelled);
        let outward = |edit: Edit| {
            let Edit { range, with } = edit.through(decoded.map(), |with| encoded(&with));
            Edit { range: span.start + range.start..span.start + range.end, with }
        };
        let text = decoded.text();
        let inner = match chosen {
            true => see(path, place, Part::text(text)),
            false => {
                let mut named = || Named::of(path, || labels.of(path).is_some_and(Label::is_secret));
                read(text, LEVELS, &mut named, &mut |part| see(path, place, part))
            }
        };
        edits.extend(inner.into_iter().map(outward));
    })?;
    Ok(edits)
}

/// Shows the texts of a string, and leads their edits out to it.
fn read(
    text: &str,
    levels: usize,
    named: &mut dyn FnMut() -> Named,
    see: &mut dyn FnMut(Part<'_>) -> Vec<Edit>,
) -> Vec<Edit> {
    let reading = Reading::of(text, &mut *named);
    reading.edits(text, &mut |part| match levels.checked_sub(1) {
        Some(levels) if part.decoded => read(part.text, levels, named, see),
        _ => see(part),
    })
}

/// `one.secret`, `list.0`.
fn dotted(path: &Path<'_>) -> String {
    let segments = path.segments().map(|segment| match segment {
        Segment::Key(key) => key.to_owned(),
        Segment::Index(index) => index.to_string(),
    });
    segments.collect::<Vec<_>>().join(".")
}
