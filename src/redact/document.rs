//! Collected JSON: one document ([`Redactor::document`]), or one a line ([`Redactor::lines`]). Two passes, since what was
//! found by its context in one string ("account no. 12345678") stands without it in another. Bytes that nobody changed
//! leave as they came.
//!
//! JSON within a string (a tool call's arguments) is opened, its strings edited, and the edits led out through both
//! encodings; so is text in base64. Bytes in it pass as they came, and are counted.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use crate::detect::Label;
use crate::edit::{Edit, spliced};
use crate::redact::carrier::{Carrier, CarrierText, TextVisitor, plain};
use crate::redact::document_value::DocumentValue;
use crate::redact::error::RedactError;
use crate::redact::json_edits::{number, string};
use crate::redact::json_spelling::spelled_as;
use crate::redact::keys::Keys;
use crate::redact::line_heads::line_heads;
use crate::redact::line_lists::LineLists;
use crate::redact::names::Labels;
use crate::redact::opaque::{
    PartEditor, PathHint, ScanMode, StringPart, begins_tokens, edits_of, encodes_text, is_file,
};
use crate::redact::pass::{RedactionPass, ReplaceScope};
use crate::redact::path_hints::PathHints;
use crate::redact::redactor::Redactor;
use crate::redact::report::Redacted;
use crate::redact::surrogate_map::{FindingLimits, SurrogateMap};
use crate::redact::url_credentials::credentials;
use crate::redact::value::ValueSite;
use crate::stream::json::{
    Decoded, JsonError, JsonFault, JsonToken, LONG_NUMBER, Path, PathSet, Segment, Treatment, Type, encoded,
    is_long, numbers_record, walk, walk_numbers,
};

impl Redactor {
    /// Redacts the strings of a JSON document that `which` takes, its long numbers and keys there as well, and
    /// tells how to undo it. Strings that hold JSON are opened. Findings are reported in the order of the document.
    ///
    /// # Errors
    /// What is no JSON; encodings that lie deeper in one another than `limits` has levels; and as of [`Redactor::text`].
    pub fn document(
        &self,
        doc: &[u8],
        which: &PathSet,
        keys: &Keys,
        limits: FindingLimits,
    ) -> Result<(Redacted<Vec<u8>>, SurrogateMap), RedactError> {
        let mut document = JsonDocument::new(doc, which, limits);
        RedactionPass::by(self, keys, ReplaceScope::Everywhere).run(&mut document)?.undo(limits)
    }

    /// Redacts a JSON document a line (NDJSON) as [`Redactor::document`] does one, and all together; blank lines stay.
    ///
    /// # Errors
    /// As of [`Redactor::document`].
    pub fn lines(
        &self,
        body: &[u8],
        which: &PathSet,
        keys: &Keys,
        limits: FindingLimits,
    ) -> Result<(Redacted<Vec<u8>>, SurrogateMap), RedactError> {
        let mut lines = JsonLines::new(body, &|_| which, limits);
        RedactionPass::by(self, keys, ReplaceScope::Everywhere).run(&mut lines)?.undo(limits)
    }
}

/// A body that is one document.
pub(super) struct JsonDocument<'b> {
    body: &'b [u8],
    texts: JsonTexts<'b>,
}

impl<'b> JsonDocument<'b> {
    pub(super) fn new(body: &'b [u8], which: &'b PathSet, limits: FindingLimits) -> Self {
        Self { body, texts: JsonTexts::new(which, limits) }
    }
}

impl Carrier for JsonDocument<'_> {
    type Written = Vec<u8>;

    fn prepare(&mut self, labels: bool) {
        self.texts.prepare(labels);
    }

    fn visit(&mut self, see: TextVisitor<'_>) -> Result<Vec<u8>, RedactError> {
        let edits = self.texts.visit(self.body, see)?;
        self.texts.opened().map(|()| spliced(self.body, &edits))
    }

    fn bytes(&self) -> Cow<'_, [u8]> {
        self.body.into()
    }

    /// The documents within strings, URLs with credentials, and each number behind its member's name: as values they are read
    /// without that.
    fn wholes(&self, take: &mut dyn FnMut(&str)) {
        let which = self.texts.which;
        let mut member = String::new();
        // Its faults were told by who reads all of it.
        let _faults = walk_numbers(self.body, &|_| true, &mut |path, leaf| {
            let spelled = self.body.get(leaf.span).unwrap_or_default();
            let taken = || which.take(path);
            match leaf.token {
                JsonToken::Text if may_hold_json(spelled) && taken() != Treatment::Skip => {
                    take(Decoded::of(spelled).text());
                }
                JsonToken::Text if taken() == CREDENTIAL_URL => take(Decoded::of(spelled).text()),
                JsonToken::Number if taken().of(JsonToken::Number, "") != Treatment::Skip => {
                    member.clear();
                    if let Some(Segment::Key(name)) = path.last() {
                        member.push_str(name);
                        member.push(':');
                    }
                    member.push_str(std::str::from_utf8(spelled).unwrap_or_default());
                    take(&member);
                }
                _ => {}
            }
        });
    }
}

/// A body that is one document a line.
pub(super) struct JsonLines<'b> {
    body: &'b [u8],
    /// Where each begins, and which strings of it are text.
    lines: Vec<(usize, &'b PathSet)>,
    /// What the first says that the values of the others are called.
    heads: Arc<[String]>,
    texts: JsonTexts<'b>,
}

impl<'b> JsonLines<'b> {
    /// `which` says of a line which of its strings are text.
    pub(super) fn new(
        body: &'b [u8],
        which: &dyn Fn(&'b [u8]) -> &'b PathSet,
        limits: FindingLimits,
    ) -> Self {
        let (mut at, mut lines, mut heads) = (0, Vec::new(), Arc::default());
        for line in body.split(|&byte| byte == b'\n') {
            if !line.trim_ascii().is_empty() {
                if lines.is_empty() {
                    heads = line_heads(line);
                }
                lines.push((at, which(line)));
            }
            at += line.len() + 1;
        }
        Self { body, lines, heads, texts: JsonTexts::everything(limits) }
    }
}

impl Carrier for JsonLines<'_> {
    type Written = Vec<u8>;

    fn prepare(&mut self, labels: bool) {
        self.texts.prepare(labels);
    }

    fn visit(&mut self, see: TextVisitor<'_>) -> Result<Vec<u8>, RedactError> {
        let mut edits = Vec::new();
        for (number, &(at, which)) in self.lines.iter().enumerate() {
            self.texts.under(if number > 0 { Arc::clone(&self.heads) } else { Arc::default() });
            let behind = |JsonError { offset, fault }| JsonError { offset: at + offset, fault };
            let rest = self.body.get(at..).unwrap_or_default();
            let line = rest.split(|&byte| byte == b'\n').next().unwrap_or_default();
            self.texts.reading(which);
            let inner = self.texts.visit(line, see).map_err(behind)?;
            edits.extend(inner.into_iter().map(|edit| edit.behind(at)));
        }
        self.texts.opened().map(|()| spliced(self.body, &edits))
    }

    fn bytes(&self) -> Cow<'_, [u8]> {
        self.body.into()
    }
}

/// A URL in which credentials stay.
const CREDENTIAL_URL: Treatment = Treatment::Typed(Type::CredentialUrl);

/// Everywhere within what was taken already.
static EVERYTHING: PathSet = PathSet::everything();

/// The texts of JSON documents that are ours, in an order that is the same in every visit.
pub(super) struct JsonTexts<'w> {
    which: &'w PathSet,
    /// Whether a protocol says which members are numbers.
    typed: bool,
    /// Whether it stands within a string, so that a model sees its escapes.
    nested: bool,
    /// How many more encodings within strings are opened: documents, and text in base64.
    levels: usize,
    labels: Labels,
    hints: PathHints,
    /// Whether there is one too many that may hide something.
    deep: bool,
    /// The objects of the document that say that the file in them is an image, sound or a film; once that was asked.
    media: Option<HashSet<String>>,
}

impl<'w> JsonTexts<'w> {
    pub(super) fn new(which: &'w PathSet, limits: FindingLimits) -> Self {
        let typed = which.is_of_protocol();
        let (labels, hints) = (Labels::default(), PathHints::default());
        Self { which, typed, nested: false, levels: limits.levels, labels, hints, deep: false, media: None }
    }

    /// Another visit begins, as of a carrier.
    pub(super) fn prepare(&mut self, labels: bool) {
        self.hints.begin(labels);
    }

    /// The documents to come are rows under these heads, if they are arrays.
    pub(super) fn under(&mut self, heads: Arc<[String]>) {
        self.labels.under(heads);
    }

    /// The documents to come have their texts there.
    fn reading(&mut self, which: &'w PathSet) {
        (self.which, self.typed) = (which, which.is_of_protocol());
    }

    /// Of any documents, all texts.
    pub(super) fn everything(limits: FindingLimits) -> Self {
        Self::new(&EVERYTHING, limits)
    }

    /// Of a document within the string there, all texts. Its hints go on with these, and are given back.
    fn within(&mut self, at: DocumentValue<'_>, levels: usize) -> JsonTexts<'static> {
        let labels = if self.hints.want_labels() { self.labels.within(at) } else { Labels::default() };
        JsonTexts {
            which: &EVERYTHING,
            typed: self.typed,
            nested: true,
            levels,
            labels,
            hints: std::mem::take(&mut self.hints),
            deep: false,
            media: None,
        }
    }

    /// Calls `see` for every text, and returns its edits as edits of the document.
    pub(super) fn visit(&mut self, doc: &[u8], see: TextVisitor<'_>) -> Result<Vec<Edit>, JsonError> {
        let mut edits = Vec::new();
        self.media = None;
        self.labels.begin();
        // Where the list begins that is read as one text.
        let (lists, mut joined) = (LineLists::of(doc), None);
        walk_numbers(doc, &|_| true, &mut |path, leaf| {
            let spelled = doc.get(leaf.span.clone()).unwrap_or_default();
            if leaf.token == JsonToken::Number {
                edits.extend(self.number(DocumentValue::new(doc, path, &leaf.span), spelled, see));
                return;
            }
            let take = self.which.take(path);
            let list = lists.at(leaf.span.start);
            if take == Treatment::Skip || list.is_some_and(|list| list.follows(leaf.span.start, joined)) {
                return;
            }
            let within = DocumentValue::new(doc, path, &leaf.span);
            let spell = if self.nested { spelled_as } else { |_: &str, with: &str| encoded(with) };
            let begin = leaf.span.start;
            let see = |text: &str| self.leaf(TakenValue { within, take }, text, leaf.token, see);
            match list.filter(|list| list.begins_at(begin)) {
                Some(list) => {
                    joined = Some(begin);
                    edits.extend(list.edits(doc, spell, see));
                }
                None => edits.extend(string(spelled, leaf.span, spell, see)),
            }
        })?;
        Ok(edits)
    }

    /// The edits of a text that stands by itself, and that `path` leads to.
    pub(super) fn text(&mut self, path: &Path<'_>, text: &str, see: TextVisitor<'_>) -> Vec<Edit> {
        let taken = TakenValue { within: DocumentValue::passing(path), take: self.which.take(path) };
        self.leaf(taken, text, JsonToken::Text, see)
    }

    /// Whether all that may hide something has been opened.
    pub(super) fn opened(&self) -> Result<(), RedactError> {
        if self.deep { Err(RedactError::TooDeep { levels: self.levels }) } else { Ok(()) }
    }

    /// The edit of a number. Short ones are words of a language model at most.
    fn number(&mut self, at: DocumentValue<'_>, spelled: &[u8], see: TextVisitor<'_>) -> Option<Edit> {
        let path = at.path;
        let digits = spelled.iter().filter(|byte| byte.is_ascii_digit()).count();
        if digits < LONG_NUMBER {
            if begins_tokens(path) && spelled.iter().all(u8::is_ascii_digit) {
                see(CarrierText::of(StringPart::unread("", ScanMode::Not)));
            }
            return None;
        }
        if !is_long(spelled) || self.which.take(path).of(JsonToken::Number, "") == Treatment::Skip {
            return None;
        }
        let (typed, record) = (self.typed, numbers_record(path, spelled));
        let label = self.label(at);
        number(spelled, at.start..at.end, |text| {
            plain(see(CarrierText { label, typed, record, ..CarrierText::of(StringPart::text(text)) }))
        })
    }

    /// The edits of one string or key.
    fn leaf(
        &mut self,
        taken: TakenValue<'_>,
        text: &str,
        token: JsonToken,
        see: TextVisitor<'_>,
    ) -> Vec<Edit> {
        let TakenValue { within, take } = taken;
        // Who says that a string is sealed, or an id, hides no text in it.
        if take.of(token, text) == Treatment::Skip && !encodes_text(text) && !is_file(text) {
            if token == JsonToken::Key || take == Treatment::Typed(Type::Opaque) {
                // A token's id, or what a provider sealed.
                see(CarrierText::of(StringPart::unread("", ScanMode::Not)));
            }
            return Vec::new();
        }
        if token == JsonToken::Key && self.which.has_name(text) {
            return Vec::new();
        }
        if token != JsonToken::Text {
            return plain(see(CarrierText::of(StringPart::text(text))));
        }
        if self.hints.want_labels() {
            self.labels.follow(within.path, text);
        }
        let levels = self.levels;
        let kept = if take == CREDENTIAL_URL { credentials(text) } else { Vec::new() };
        let (mut at, mut edits) = (0, Vec::new());
        for next in kept.into_iter().chain(std::iter::once(text.len()..text.len())) {
            let part = text.get(at..next.start).unwrap_or_default();
            if !part.is_empty() || text.is_empty() {
                let inner = edits_of(part, levels, &mut InString { texts: self, taken, see: &mut *see });
                edits.extend(inner.into_iter().map(|edit| edit.behind(at)));
            }
            at = next.end;
        }
        edits
    }

    /// The label of a value, if labels are wanted.
    fn label(&mut self, at: DocumentValue<'_>) -> Option<&Label> {
        if self.hints.want_labels() { self.labels.of(at) } else { None }
    }

    /// What the names on the way to a string say of it, and the type that stands beside a file.
    fn named(&mut self, at: DocumentValue<'_>) -> PathHint {
        let Self { labels, hints, media: known, .. } = self;
        hints.of(|| {
            let named = labels.named(at);
            if named != PathHint::File {
                return named;
            }
            let media = known.get_or_insert_with(|| media(at.doc));
            if media.contains(&around(at.path)) { PathHint::Bytes } else { named }
        })
    }
}

/// Members that name the type of the file beside them.
const TYPES: &[&str] = &["mimeType", "mime_type", "media_type", "mediaType"];

/// The objects of a document that name a type of images, sound or films.
fn media(doc: &[u8]) -> HashSet<String> {
    let mut media = HashSet::new();
    // Its faults are told by whoever reads all of it.
    let _faults = walk(doc, &mut |path, leaf| {
        let own = path.last();
        let typed = matches!(own, Some(Segment::Key(key)) if TYPES.contains(&key));
        if typed && leaf.token == JsonToken::Text {
            let kind = Decoded::of(doc.get(leaf.span).unwrap_or_default()).text().to_ascii_lowercase();
            if ["image/", "audio/", "video/"].iter().any(|media| kind.starts_with(media)) {
                media.insert(around(path));
            }
        }
    });
    media
}

/// The object that the member at `path` is of.
fn around(path: &Path<'_>) -> String {
    let pointer = path.to_string();
    pointer.rsplit_once('/').map(|(object, _)| object.to_owned()).unwrap_or_default()
}

/// A value, and what is to be done at its path.
#[derive(Clone, Copy)]
struct TakenValue<'d> {
    within: DocumentValue<'d>,
    take: Treatment,
}

/// The parts of one string.
struct InString<'s, 'w> {
    texts: &'s mut JsonTexts<'w>,
    taken: TakenValue<'s>,
    see: TextVisitor<'s>,
}

impl PartEditor for InString<'_, '_> {
    fn named(&mut self) -> PathHint {
        self.texts.named(self.taken.within)
    }

    fn reads_tokens(&mut self, text: &str) -> bool {
        !may_be_json(text, self.taken.take) || walk(text.as_bytes(), &mut |_, _| {}).is_err()
    }

    /// Also those of the document that a part is.
    fn edits(&mut self, part: StringPart<'_>, levels: usize) -> Vec<Edit> {
        let Self { texts, taken: TakenValue { within, take }, see } = self;
        if part.decoded {
            texts.deep = true;
            return Vec::new();
        }
        let text = part.text;
        if part.look == ScanMode::Text && may_be_json(text, *take) {
            match walk(text.as_bytes(), &mut |_, _| {}) {
                Ok(()) if levels > 0 => {
                    let mut inner = texts.within(*within, levels - 1);
                    // It has just been walked without a fault.
                    let edits = inner.visit(text.as_bytes(), see).unwrap_or_default();
                    texts.deep |= inner.deep;
                    texts.hints = inner.hints;
                    return edits;
                }
                // What is written with escapes would not be read.
                Ok(()) | Err(JsonError { fault: JsonFault::TooDeep, .. }) => {
                    texts.deep |= text.contains('\\');
                }
                Err(_) => {}
            }
        }
        let at = part.file.map(|_| within.path);
        let is_plain = *take == Treatment::Typed(Type::PlainName);
        let place = ValueSite { plain: is_plain, ..ValueSite::default() };
        plain(see(CarrierText { label: texts.label(*within), path: at, place, ..CarrierText::of(part) }))
    }
}

/// Whether a string, as it is spelled, begins as an object or an array.
fn may_hold_json(spelled: &[u8]) -> bool {
    let escape = |byte: &&u8| matches!(byte, b'"' | b' ' | b'\\' | b'n' | b'r' | b't');
    matches!(spelled.iter().find(|byte| !escape(byte)), Some(b'{' | b'['))
}

/// Most strings are not JSON, and this spares their walk. A string within a string is opened only where one is
/// expected, or where it has escapes: as prose, a text in quotes is its own text.
fn may_be_json(text: &str, take: Treatment) -> bool {
    match text.trim_start().as_bytes().first() {
        Some(b'{' | b'[') => true,
        Some(b'"') => take == Treatment::Embedded || text.contains('\\') && text.trim_end().ends_with('"'),
        _ => false,
    }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
