//! [`Content`]: what a body holds, and the carrier of its texts. Who knows a body's head and its first bytes says it.

use std::fmt;
use std::sync::Arc;

use crate::edit::Edit;
use crate::redact::analyzer_findings::Texts;
use crate::redact::carrier::{BodyCarrier, Replacement, TextChanges};
use crate::redact::document::{JsonDocument, JsonLines};
use crate::redact::error::RedactError;
use crate::redact::events::EventStream;
use crate::redact::file::FileClass;
use crate::redact::form::{FieldNames, FormCarrier};
use crate::redact::formatted::FormattedCarrier;
use crate::redact::keys::Keys;
use crate::redact::multipart::{FormField, MultipartCarrier, PartCarrier, UnreadBytes};
use crate::redact::pass::{RedactionPass, ReplaceScope};
use crate::redact::payload::Base64;
use crate::redact::plain::BodyText;
use crate::redact::redactor::Redactor;
use crate::redact::report::Redacted;
use crate::redact::surrogate_map::{FindingLimits, SurrogateMap};
use crate::stream::formatted::TextFormat;
use crate::stream::json::PathSet;
use crate::stream::multipart::PartSpan;

/// Says which strings of a document are text.
pub trait TextFields: Send + Sync {
    /// Those of the document that a line is.
    fn of(&self, line: &[u8]) -> &PathSet;
}

impl TextFields for PathSet {
    fn of(&self, _: &[u8]) -> &PathSet {
        self
    }
}

/// What a body, or a part of one, holds.
#[derive(Clone)]
pub enum Content {
    /// A JSON document, and which of its strings are text.
    Document(Arc<PathSet>),
    /// One a line.
    Lines(Arc<dyn TextFields>),
    /// An event stream.
    Events,
    /// A form (`application/x-www-form-urlencoded`).
    Form,
    /// Text in a format: a table, or markup.
    Formatted(TextFormat),
    /// Text.
    Text,
    /// The value of a form's field of this name.
    Field(String),
    /// Parts of their own (RFC 2046), in order.
    Parts(Vec<PartContent>),
    /// Bytes that are not read, and are counted.
    Unread,
}

/// A part of a body.
#[derive(Clone, Debug)]
pub struct PartContent {
    /// Where it is.
    pub span: PartSpan,
    /// What it holds.
    pub content: Content,
}

impl PartContent {
    /// The part of a body, whose fields before it may say what its value is called.
    fn carrier<'b>(
        &'b self,
        body: &'b [u8],
        names: &mut FieldNames,
        limits: FindingLimits,
    ) -> Result<PartCarrier<'b>, RedactError> {
        let inner = body.get(self.span.body.clone()).unwrap_or_default();
        let said = match &self.content {
            Content::Field(name) => names.of(name, std::str::from_utf8(inner).ok()),
            _ => None,
        };
        let content: BodyCarrier<'b> = match said {
            Some(said) => Box::new(FormField::new(&said, inner, limits)),
            None => self.content.carrier(inner, limits)?,
        };
        PartCarrier::new(body, &self.span, content)
    }
}

/// A file in base64 within a string of a body.
#[derive(Debug)]
pub struct EmbeddedFile {
    /// Where: a JSON pointer.
    pub at: String,
    /// The file.
    pub bytes: Vec<u8>,
}

impl Redactor {
    /// Redacts a body that holds this, and tells how to undo it. What was found in one place is replaced in every other.
    ///
    /// # Errors
    /// As of [`Redactor::document`].
    pub fn content(
        &self,
        body: &[u8],
        content: &Content,
        keys: &Keys,
        limits: FindingLimits,
    ) -> Result<(Redacted<Vec<u8>>, SurrogateMap), RedactError> {
        RedactionPass::by(self, keys, ReplaceScope::Everywhere)
            .run(&mut content.carrier(body, limits)?)?
            .undo(limits)
    }
}

impl Content {
    /// The texts of a body that holds this.
    pub(super) fn carrier<'b>(
        &'b self,
        body: &'b [u8],
        limits: FindingLimits,
    ) -> Result<BodyCarrier<'b>, RedactError> {
        Ok(match self {
            Self::Document(which) => Box::new(JsonDocument::new(body, which, limits)),
            Self::Lines(fields) => Box::new(JsonLines::new(body, &|line| fields.of(line), limits)),
            Self::Events => Box::new(EventStream::new(body, limits)),
            Self::Form => Box::new(FormCarrier::new(body, limits)),
            Self::Formatted(format) => Box::new(FormattedCarrier::new(*format, body, limits)),
            Self::Text => Box::new(BodyText(body)),
            Self::Field(name) => Box::new(FormField::new(name, body, limits)),
            Self::Parts(parts) => {
                let mut names = FieldNames::default();
                let carriers = parts.iter().map(|part| part.carrier(body, &mut names, limits));
                Box::new(MultipartCarrier::new(body, carriers.collect::<Result<_, _>>()?))
            }
            Self::Unread => Box::new(UnreadBytes(body)),
        })
    }

    /// The texts of a body that holds this.
    ///
    /// # Errors
    /// As of [`Redactor::document`].
    pub fn texts(&self, body: &[u8], limits: FindingLimits) -> Result<Texts, RedactError> {
        let mut texts = Texts::default();
        self.carrier(body, limits)?.visit(&mut |text| texts.take(text))?;
        Ok(texts)
    }

    /// The files that lie in strings of a body, in formats that are not read here, in order.
    ///
    /// # Errors
    /// As of [`Redactor::document`].
    pub fn files(&self, body: &[u8], limits: FindingLimits) -> Result<Vec<EmbeddedFile>, RedactError> {
        let mut files = Vec::new();
        self.carrier(body, limits)?.visit(&mut |text| {
            if text.part.file == Some(FileClass::Other) {
                let at = text.path.map(ToString::to_string).unwrap_or_default();
                let bytes = Base64::of_file(text.part.text).and_then(|base64| base64.decode());
                files.push(EmbeddedFile { at, bytes: bytes.unwrap_or_default() });
            }
            TextChanges::new()
        })?;
        Ok(files)
    }

    /// The body with these in the place of its files, in order, in the base64 that each was in.
    ///
    /// # Errors
    /// As of [`Redactor::document`].
    pub fn with_files(
        &self,
        body: &[u8],
        files: &[Vec<u8>],
        limits: FindingLimits,
    ) -> Result<Vec<u8>, RedactError> {
        let mut files = files.iter();
        self.carrier(body, limits)?.visit(&mut |text| {
            let part = text.part;
            let file = if part.file == Some(FileClass::Other) { files.next() } else { None };
            let Some((file, base64)) = file.zip(Base64::of_file(part.text)) else {
                return TextChanges::new();
            };
            let with = Replacement { text: base64.encode(file), rule: Arc::from("") };
            vec![Edit { range: 0..part.text.len(), with }]
        })
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            Self::Document(_) => "Document",
            Self::Lines(_) => "Lines",
            Self::Events => "Events",
            Self::Form => "Form",
            Self::Formatted(_) => "Formatted",
            Self::Text => "Text",
            Self::Field(_) => "Field",
            Self::Parts(_) => "Parts",
            Self::Unread => "Unread",
        };
        f.write_str(word)
    }
}
