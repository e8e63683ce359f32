//! [`ReadAs`]: how a collected body is looked through.

use std::sync::Arc;

use http::HeaderMap;
use http::header::CONTENT_TYPE;

use crate::gateway::body::{BodyFormat, BodyKind, NOT_UTF8};
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::filters::file_policy::{BodyFile, FilePlace, RefusedFile};
use crate::gateway::filters::redact::batch::BatchLines;
use crate::gateway::filters::redaction_error::of_redaction;
use crate::gateway::media_type::{ContentFormat, DeclaredFormat, is_lines, is_lines_type};
use crate::redact::{Content, FileClass, PartContent, RedactError};
use crate::stream::StreamError;
use crate::stream::formatted::TextFormat;
use crate::stream::json::{PathSet, walk};
use crate::stream::multipart::{Boundary, PartHead, PartSpan, split};
use crate::stream::sniff::ENOUGH;
use crate::telemetry::Direction;

/// The request header that says that a body is a piece of a file (Gemini API, "Upload files").
const UPLOAD: &str = "x-goog-upload-command";

const PIECE: &str = "text that is uploaded in pieces cannot be redacted; upload the file in one request";

/// How a collected body is looked through.
#[derive(Clone, Debug)]
pub(super) enum ReadAs {
    Json,
    /// A JSON document a line.
    Lines,
    /// One document, or one a line under the label of one.
    JsonOrLines,
    /// What began like JSON and was not said to be.
    JsonOrText,
    Events,
    Form,
    /// A table, or markup.
    Formatted(TextFormat),
    Text,
    /// Parts, between these.
    Parts {
        boundary: Boundary,
        /// Whether a file among them is one piece of several.
        pieces: bool,
    },
    /// A file.
    File {
        media_type: String,
        /// Whether it is one piece of several.
        piece: bool,
    },
}

/// What bodies are read by besides themselves.
#[derive(Clone)]
pub(super) struct Readings {
    /// The strings of a document of the request's protocol that are text.
    pub(super) fields: Arc<PathSet>,
    /// The same of any document.
    pub(super) everything: Arc<PathSet>,
    /// The same of the lines of a batch.
    pub(super) batch: Arc<BatchLines>,
}

/// A body that was looked at.
pub(super) struct Parsed {
    pub(super) content: Content,
    /// What of it is no text.
    pub(super) files: Vec<BodyFile>,
}

/// Whether a head is that of a multipart body.
pub(super) fn is_multipart(headers: &HeaderMap) -> bool {
    media_type(headers).get(..10).is_some_and(|start| start.eq_ignore_ascii_case("multipart/"))
}

/// Whether a body is a piece of a file that is uploaded.
pub(super) fn is_upload(headers: &HeaderMap) -> bool {
    let command = headers.get(UPLOAD).and_then(|value| value.to_str().ok()).unwrap_or_default();
    command.split(',').any(|word| word.trim().eq_ignore_ascii_case("upload"))
}

/// Whether a path is that of the parts of an upload (OpenAI API, "Uploads").
fn is_part_of_upload(path: &str) -> bool {
    path.trim_end_matches('/').ends_with("/parts") && path.contains("/uploads/")
}

/// Whether more pieces of the file follow, or went before.
fn is_piece(headers: &HeaderMap) -> bool {
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let last = header(UPLOAD).split(',').any(|word| word.trim().eq_ignore_ascii_case("finalize"));
    !last || !matches!(header("x-goog-upload-offset").trim(), "" | "0")
}

impl ReadAs {
    /// How a body with this head is looked through; `None` if nobody knows. `known` is whether it belongs to a known protocol.
    ///
    /// # Errors
    /// A body that is not what it is said to be.
    pub(super) fn of(x: &Exchange, known: bool, body: &[u8]) -> Result<Option<Self>, GatewayError> {
        let headers = &x.head().headers;
        // How a body begins counts for more than its label.
        if is_multipart(headers) && body.strip_prefix(b"\r\n").unwrap_or(body).starts_with(b"--") {
            return match Boundary::of(media_type(headers)) {
                Err(error) if known => Err(GatewayError::of_request(error)),
                boundary => {
                    let pieces = is_part_of_upload(x.asked_path().compared());
                    Ok(boundary.ok().map(|boundary| Self::Parts { boundary, pieces }))
                }
            };
        }
        if is_upload(headers) {
            let media_type = media_type(headers).to_owned();
            return Ok(Some(Self::File { media_type, piece: is_piece(headers) }));
        }
        let format = BodyFormat::of(headers, known).map_err(|_| GatewayError::UNKNOWN_TYPE)?;
        let head = body.get(..body.len().min(ENOUGH)).unwrap_or_default();
        let kind = format.kind(head, head.len() == body.len(), Direction::Request);
        let reading = match kind {
            _ if body.is_empty() => Self::Text,
            BodyKind::Wrong(why) => return Err(GatewayError::BadBody(why)),
            BodyKind::Unknown | BodyKind::More if !known => return Ok(None),
            _ if memchr::memchr(0, body).is_some() => return Err(GatewayError::BadBody(NOT_UTF8)),
            _ if known => Self::Json,
            BodyKind::As(ContentFormat::Json) if is_lines(headers) => Self::Lines,
            BodyKind::As(ContentFormat::Json)
                if format.declared == DeclaredFormat::As(ContentFormat::Json) =>
            {
                Self::JsonOrLines
            }
            BodyKind::As(ContentFormat::Json) => Self::JsonOrText,
            BodyKind::As(ContentFormat::Events) => Self::Events,
            BodyKind::As(ContentFormat::Form) => Self::Form,
            BodyKind::As(ContentFormat::Formatted(format)) => Self::Formatted(format),
            _ => Self::Text,
        };
        Ok(Some(reading))
    }

    /// What the body holds.
    ///
    /// # Errors
    /// A multipart body whose parts cannot be told apart.
    pub(super) fn parse(&self, body: &[u8], by: &Readings) -> Result<Parsed, BodyFault> {
        let content = match self {
            Self::Parts { boundary, pieces } => return parts(body, boundary, *pieces, by),
            Self::File { media_type, piece } => {
                let (content, class) = of_file(body, &FileHead { media_type, name: "" }, by);
                // A value may go on in the next piece, and whoever takes the pieces counts their bytes.
                if *piece && class == FileClass::Text {
                    return Err(BodyFault::Form(StreamError::NotText(PIECE)));
                }
                let file = BodyFile {
                    class,
                    place: FilePlace::Body,
                    range: 0..body.len(),
                    length: None,
                    name: String::new(),
                };
                let files = if class == FileClass::Text { Vec::new() } else { vec![file] };
                return Ok(Parsed { content, files });
            }
            Self::Lines => Content::Lines(Arc::clone(&by.batch) as _),
            Self::JsonOrLines if is_json_by_line(body) => Content::Lines(Arc::clone(&by.batch) as _),
            Self::Json | Self::JsonOrLines => Content::Document(Arc::clone(&by.fields)),
            Self::JsonOrText => of_text(body, &FileHead::default(), by),
            Self::Events => Content::Events,
            Self::Form => Content::Form,
            Self::Formatted(format) => Content::Formatted(*format),
            Self::Text => Content::Text,
        };
        Ok(Parsed { content, files: Vec::new() })
    }
}

/// What is said of a file.
#[derive(Default)]
struct FileHead<'h> {
    media_type: &'h str,
    name: &'h str,
}

impl FileHead<'_> {
    /// Whether it is said to be a JSON document a line.
    fn is_lines(&self) -> bool {
        let ending = self.name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        is_lines_type(self.media_type) || matches!(ending.as_deref(), Some("jsonl" | "ndjson"))
    }
}

/// What the parts of a body hold; of `pieces` of files no text.
fn parts(body: &[u8], boundary: &Boundary, pieces: bool, by: &Readings) -> Result<Parsed, BodyFault> {
    let (mut contents, mut files) = (Vec::new(), Vec::new());
    for (at, span) in split(body, boundary)?.into_iter().enumerate() {
        let PartSpan { head, body: range } = span.clone();
        let begin = head.start;
        let head = PartHead::parse(body.get(head).unwrap_or_default())?;
        let held = body.get(range.clone()).unwrap_or_default();
        let media_type = head.media_type.unwrap_or_default();
        let name = head.file_name.unwrap_or_default();
        let (content, class) = match head.name {
            Some(field) if name.is_empty() && media_type.is_empty() && is_field(held) => {
                (Content::Field(field), FileClass::Text)
            }
            _ => of_file(held, &FileHead { media_type: &media_type, name: &name }, by),
        };
        // A value may go on in the next piece.
        if pieces && class == FileClass::Text && !matches!(content, Content::Field(_)) {
            return Err(BodyFault::Form(StreamError::NotText(PIECE)));
        }
        if class != FileClass::Text {
            let length = head.length.map(|said| begin + said.digits.start..begin + said.digits.end);
            files.push(BodyFile { class, place: FilePlace::Part(at + 1), range, length, name });
        }
        contents.push(PartContent { span, content });
    }
    Ok(Parsed { content: Content::Parts(contents), files })
}

/// Whether a part without a type is a value, and no file.
fn is_field(held: &[u8]) -> bool {
    std::str::from_utf8(held).is_ok() && FileClass::of(held, "", "") == FileClass::Text
}

/// What a file holds.
fn of_file(body: &[u8], head: &FileHead<'_>, by: &Readings) -> (Content, FileClass) {
    let class = FileClass::of(body, head.media_type, head.name);
    let content = match class {
        FileClass::Text => of_text(body, head, by),
        FileClass::Media | FileClass::Other => Content::Unread,
    };
    (content, class)
}

/// What text holds: documents, if all of it is some; else what it is said to be.
fn of_text(body: &[u8], head: &FileHead<'_>, by: &Readings) -> Content {
    let said = || {
        let format = TextFormat::of_file(head.media_type, head.name);
        format.map_or(Content::Text, Content::Formatted)
    };
    let whole = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body).trim_ascii_start();
    if !matches!(whole.first(), Some(b'{' | b'[' | b'"')) {
        return said();
    }
    let lines = head.is_lines();
    if !lines && walk(body, &mut |_, _| {}).is_ok() {
        Content::Document(Arc::clone(&by.everything))
    } else if lines && are_documents(body) || is_json_by_line(body) {
        Content::Lines(Arc::clone(&by.batch) as _)
    } else if lines && walk(body, &mut |_, _| {}).is_ok() {
        Content::Document(Arc::clone(&by.everything))
    } else {
        said()
    }
}

fn is_json(text: &[u8]) -> bool {
    walk(text, &mut |_, _| {}).is_ok()
}

fn documents(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    body.split(|b| *b == b'\n').filter(|line| !line.trim_ascii().is_empty())
}

/// Whether each line of a body is a JSON document.
fn are_documents(body: &[u8]) -> bool {
    documents(body).all(is_json)
}

/// Whether a body is several JSON documents, one a line.
fn is_json_by_line(body: &[u8]) -> bool {
    documents(body).nth(1).is_some() && are_documents(body)
}

/// The first `Content-Type` of a head.
fn media_type(headers: &HeaderMap) -> &str {
    headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Why a body cannot be redacted.
#[derive(Debug)]
pub(super) enum BodyFault {
    /// It is not what it is said to be.
    Form(StreamError),
    /// Its texts cannot be.
    Redact(RedactError),
    /// A file in it.
    File(RefusedFile),
}

impl From<StreamError> for BodyFault {
    fn from(error: StreamError) -> Self {
        Self::Form(error)
    }
}

impl From<RedactError> for BodyFault {
    fn from(error: RedactError) -> Self {
        Self::Redact(error)
    }
}

impl From<RefusedFile> for BodyFault {
    fn from(file: RefusedFile) -> Self {
        Self::File(file)
    }
}

impl From<BodyFault> for GatewayError {
    fn from(fault: BodyFault) -> Self {
        match fault {
            BodyFault::Form(error) => Self::of_request(error),
            BodyFault::Redact(error) => of_redaction(error),
            BodyFault::File(file) => file.into(),
        }
    }
}
