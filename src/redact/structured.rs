//! Parts of a document, each with rules of its own, and nothing else of it: what the API's structured redaction does.
//! Unlike a prompt, where a value found once must not leave by another sentence, a document says by its paths what is
//! meant; so only what is found where it was looked for is replaced.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::edit::{Edit, spliced};
use crate::redact::analyzer_findings::Texts;
use crate::redact::carrier::{Carrier, CarrierText, TextVisitor, plain};
use crate::redact::document_value::DocumentValue;
use crate::redact::error::RedactError;
use crate::redact::fpe_context::FpeContext;
use crate::redact::json_edits::{number, string};
use crate::redact::keys::Keys;
use crate::redact::names::Labels;
use crate::redact::opaque::{PartEditor, PathHint, StringPart, edits_of};
use crate::redact::pass::{Detail, RedactionPass, ReplaceScope};
use crate::redact::path_hints::PathHints;
use crate::redact::redactor::Redactor;
use crate::redact::report::Redacted;
use crate::redact::restorer::Restorer;
use crate::redact::surrogate_map::FindingLimits;
use crate::redact::value::ValueSite;
use crate::stream::json::{JsonError, JsonToken, Leaf, Path, Segment, encoded, walk_numbers};

/// Which values of a document are looked into, and by which of several redactors. A string that was not chosen itself
/// is read as in a request: bytes in it stay as they are, text in base64 is redacted there. One that was is text.
#[derive(Debug)]
pub enum Selection {
    /// Every string and number, by the first.
    Everything,
    /// The values chosen, with all that lies in them; numbers too.
    Chosen(PathTree),
}

/// Chosen places, as a tree of the paths to them.
#[derive(Debug, Default)]
pub struct PathTree {
    redactor: Option<usize>,
    members: HashMap<String, PathTree>,
    elements: HashMap<usize, PathTree>,
}

impl PathTree {
    /// Chooses the value at `path` for the redactor of this number. Where two choose a value, or one that holds it, the first
    /// of the redactors has it.
    pub fn choose<'s>(&mut self, path: impl IntoIterator<Item = Segment<'s>>, redactor: usize) {
        let mut node = self;
        for segment in path {
            node = match segment {
                Segment::Key(key) => node.members.entry(kept(key).to_owned()).or_default(),
                Segment::Index(index) => node.elements.entry(index).or_default(),
            };
        }
        node.redactor = Some(node.redactor.map_or(redactor, |known| known.min(redactor)));
    }

    fn choice(&self, path: &Path<'_>) -> Option<ChosenBy> {
        let mut node = self;
        let (mut best, mut depth) = (node.redactor, 0);
        for segment in path.segments() {
            let next = match segment {
                Segment::Key(key) => node.members.get(key),
                Segment::Index(index) => node.elements.get(&index),
            };
            let Some(next) = next else { break };
            node = next;
            depth += 1;
            best = match (best, node.redactor) {
                (Some(best), Some(redactor)) => Some(best.min(redactor)),
                (best, redactor) => best.or(redactor),
            };
        }
        best.map(|redactor| ChosenBy { redactor, itself: depth == path.len() && node.redactor.is_some() })
    }
}

/// Who looks into a value.
struct ChosenBy {
    redactor: usize,
    /// Whether the value was chosen itself, and not what it lies in.
    itself: bool,
}

/// What a path keeps of a key.
fn kept(key: &str) -> &str {
    let cut = (0..=256.min(key.len())).rev().find(|&at| key.is_char_boundary(at));
    key.get(..cut.unwrap_or_default()).unwrap_or_default()
}

impl Selection {
    fn choice(&self, path: &Path<'_>, token: JsonToken) -> Option<ChosenBy> {
        match (self, token) {
            (_, JsonToken::Key | JsonToken::Rest) => None,
            (Self::Everything, JsonToken::Text | JsonToken::Number) => {
                Some(ChosenBy { redactor: 0, itself: false })
            }
            (Self::Chosen(chosen), _) => chosen.choice(path),
        }
    }
}

/// What of a document is redacted, and by whom.
#[derive(Clone, Copy, Debug)]
pub struct Selected<'s> {
    /// Which values.
    pub selection: &'s Selection,
    /// Each by the redactor of its number here.
    pub redactors: &'s [Redactor],
    /// Whether the report also holds, in detail, what was found and where, and what does not count.
    pub detail: bool,
}

/// Redacts the chosen values of a document, each by its redactor, and tells how to undo what was encrypted.
///
/// # Errors
/// What is no JSON, and as of [`Redactor::text`].
pub fn structured(
    doc: &[u8],
    selected: Selected<'_>,
    keys: &Keys,
    limits: FindingLimits,
) -> Result<(Redacted<Vec<u8>>, FpeContext), RedactError> {
    let Selected { selection, redactors, detail } = selected;
    let detail = if detail { Detail::Rejected } else { Detail::Spans };
    let pass = RedactionPass { redactors, keys, reach: ReplaceScope::Found, detail };
    pass.run(&mut Structured::new(doc, selection))?.context(limits)
}

/// The texts among the chosen values of a document.
///
/// # Errors
/// What is no JSON.
pub fn structured_texts(doc: &[u8], selection: &Selection) -> Result<Texts, RedactError> {
    let mut texts = Texts::default();
    Structured::new(doc, selection).visit(&mut |text| texts.take(text))?;
    Ok(texts)
}

/// A document of which some values are chosen.
struct Structured<'d> {
    doc: &'d [u8],
    selection: &'d Selection,
    hints: PathHints,
}

impl<'d> Structured<'d> {
    fn new(doc: &'d [u8], selection: &'d Selection) -> Self {
        Self { doc, selection, hints: PathHints::default() }
    }
}

impl Carrier for Structured<'_> {
    type Written = Vec<u8>;

    fn prepare(&mut self, labels: bool) {
        self.hints.begin(labels);
    }

    fn visit(&mut self, see: TextVisitor<'_>) -> Result<Vec<u8>, RedactError> {
        let edits = visit(self.doc, self.selection, &mut self.hints, &mut |text| plain(see(text)))?;
        Ok(spliced(self.doc, &edits))
    }

    fn bytes(&self) -> Cow<'_, [u8]> {
        self.doc.into()
    }
}

impl Restorer {
    /// The document with originals where surrogates stand, in its strings and numbers.
    pub fn document(&self, doc: &[u8]) -> Result<Vec<u8>, RedactError> {
        let (mut failed, mut hints) = (Ok(()), PathHints::default());
        let everything = Selection::Chosen(PathTree { redactor: Some(0), ..PathTree::default() });
        let edits = visit(doc, &everything, &mut hints, &mut |CarrierText { part, .. }| {
            if failed.is_err() {
                return Vec::new();
            }
            let mut edits = self.edits(part.text).unwrap_or_else(|error| {
                failed = Err(error);
                Vec::new()
            });
            edits.retain(|edit| part.look.admits(&edit.range, part.text.len()));
            edits
        })?;
        failed.map(|()| spliced(doc, &edits))
    }
}

/// How many encodings within one another are opened; what is in the last is text.
const LEVELS: usize = 8;

/// Says what to change in a text.
type EditText<'e> = dyn FnMut(CarrierText<'_>) -> Vec<Edit> + 'e;

/// Shows the chosen texts in order; their edits as edits of the document.
fn visit(
    doc: &[u8],
    which: &Selection,
    hints: &mut PathHints,
    see: &mut EditText<'_>,
) -> Result<Vec<Edit>, JsonError> {
    let (mut edits, mut labels) = (Vec::new(), Labels::default());
    walk_numbers(doc, &|_| true, &mut |path, Leaf { span, token }| {
        let Some(ChosenBy { redactor, itself }) = which.choice(path, token) else { return };
        let spelled = doc.get(span.clone()).unwrap_or_default();
        let place = ValueSite { redactor, number: token == JsonToken::Number, ..ValueSite::default() };
        let within = DocumentValue::new(doc, path, &span);
        let (labels, hints) = (&mut labels, &mut *hints);
        let mut leaf = ChosenLeaf { labels, hints, within, place, see: &mut *see };
        if place.number {
            edits.extend(number(spelled, span, |text| leaf.edits(StringPart::text(text), 0)));
            return;
        }
        edits.extend(string(
            spelled,
            span,
            |_, with| encoded(with),
            |text| match itself {
                true => leaf.edits(StringPart::text(text), 0),
                false => edits_of(text, LEVELS, &mut leaf),
            },
        ));
    })?;
    Ok(edits)
}

/// One chosen value.
struct ChosenLeaf<'l> {
    labels: &'l mut Labels,
    hints: &'l mut PathHints,
    within: DocumentValue<'l>,
    place: ValueSite,
    see: &'l mut EditText<'l>,
}

impl PartEditor for ChosenLeaf<'_> {
    fn named(&mut self) -> PathHint {
        let Self { labels, hints, within, .. } = self;
        hints.of(|| labels.named(*within))
    }

    /// What is replaced in a text must come back from that text alone.
    fn reads_tokens(&mut self, _: &str) -> bool {
        false
    }

    fn edits(&mut self, part: StringPart<'_>, _: usize) -> Vec<Edit> {
        let Self { labels, hints, within, place, see } = self;
        let path = Some(within.path);
        let label = if hints.want_labels() { labels.of(*within) } else { None };
        see(CarrierText { label, place: *place, path, ..CarrierText::of(part) })
    }
}
