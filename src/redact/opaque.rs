//! What a string of a document holds: text, bytes that nobody reads, or text in an encoding of its own. A [`StringContent`]
//! takes it apart, the same way for a document that lies there and for one that passes.
//!
//! Opaque is what is base64 as a whole and decodes to bytes with the magic of a known kind of file; else what is long,
//! looks drawn at random and has no readable text in it. Where a provider's API has images, sound or seals (`inlineData.data`,
//! `signature`), the name tells what the form cannot, and less length is enough; no name alone makes a string opaque, and
//! a name that says that the value is a secret never does. What decodes to text is read.

use std::ops::Range;

use crate::edit::Edit;
use crate::redact::base64_tokens::tokens;
use crate::redact::file::{FileClass, magic};
use crate::redact::payload::{Base64, Payload, Percent};
use crate::stream::json::{Path, Segment};

/// From this many characters on, base64 without a known magic may be opaque.
const LONG: usize = 128;

/// The same for base64 that begins with a known magic, and where an API has a seal.
const MAGICAL: usize = 32;
const SEALED: usize = 64;

/// From this many characters on, base64 is decoded to see whether it is text: twelve bytes.
const SHORTEST: usize = 16;

/// The longest base64 that may be a key, and so is looked at as a whole.
pub(super) const KEY: usize = 8 << 10;

/// The least that a key which is found in base64 covers of it, in bytes, if not half.
const COVERED: usize = 32;

/// The longest that may stand before the payload of a `data:` URL.
pub(super) const HEAD: usize = 1024;

/// How a text is to be looked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScanMode {
    /// As text.
    Text,
    /// As a whole: it may be a key, but a number that stands in it is chance.
    Whole,
    /// Not at all.
    Not,
}

impl ScanMode {
    /// Whether what was found at `range` of a text of `length` bytes counts.
    pub(super) fn admits(self, range: &Range<usize>, length: usize) -> bool {
        let covered = range.end.saturating_sub(range.start);
        match self {
            Self::Text => true,
            Self::Whole => covered * 2 >= length || range.start == 0 && covered >= COVERED,
            Self::Not => false,
        }
    }
}

/// A part of a string.
#[derive(Clone, Copy, Debug)]
pub(super) struct StringPart<'t> {
    /// All of it.
    pub(super) text: &'t str,
    /// How to look through it.
    pub(super) look: ScanMode,
    /// Whether what it holds is not read, unless it is a key as a whole.
    pub(super) unread: bool,
    /// Whether it stood there in an encoding.
    pub(super) decoded: bool,
    /// What is written in its place, if the text that it encodes has been edited already: what becomes of it is of no use.
    pub(super) replaced: Option<&'t Edit>,
    /// Which file it is in base64, if it is one.
    pub(super) file: Option<FileClass>,
}

impl<'t> StringPart<'t> {
    /// Text as it stands.
    pub(super) fn text(text: &'t str) -> Self {
        Self { text, look: ScanMode::Text, unread: false, decoded: false, replaced: None, file: None }
    }

    /// What holds bytes.
    pub(super) fn unread(text: &'t str, look: ScanMode) -> Self {
        Self { look, unread: true, ..Self::text(text) }
    }
}

/// What the names on the way to a string say of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PathHint {
    /// Nothing.
    #[default]
    Nothing,
    /// It is a secret.
    Secret,
    /// An API has a seal there: what the provider signed or encrypted for itself.
    Seal,
    /// An API has the bytes of an image, of sound or of vectors there.
    Bytes,
    /// An API has a file of any kind there.
    File,
}

/// Members that hold seals, in the APIs of providers.
const SEALS: &[&str] = &[
    "signature",
    "thoughtSignature",
    "thought_signature",
    "encrypted_content",
    "encryptedContent",
    "encrypted_index",
    "encrypted_stdout",
    "redactedContent",
    "redacted_content",
    "continuationToken",
    "googleMapsWidgetContextToken",
    "sdkBlob",
    "newHandle",
    "nextCursor",
    "requestState",
];

/// Members that hold files of any kind, and the member that they lie in (any, if it is empty).
const FILES: &[(&str, &str)] = &[
    ("inlineData", "data"),
    ("inline_data", "data"),
    ("source", "data"),
    ("source", "bytes"),
    ("", "file_data"),
    ("", "fileData"),
];

/// Members that hold bytes, likewise.
const BYTES: &[(&str, &str)] = &[
    ("input_audio", "data"),
    ("audio", "data"),
    ("", "b64_json"),
    ("", "partial_image_b64"),
    ("", "embedding"),
];

/// Arrays of numbers that stand for words, in the APIs of providers.
const TOKENS: &[&str] = &["input", "prompt", "context", "tokens"];

impl PathHint {
    /// What the names on the way to the value at `path` say; `secret` is whether they name a secret.
    pub(super) fn of(path: &Path<'_>, secret: impl FnOnce() -> bool) -> Self {
        let (own, above) = names(path);
        if SEALS.contains(&own) {
            return Self::Seal;
        }
        let within = |(outer, inner): &(&str, &str)| *inner == own && (outer.is_empty() || *outer == above);
        if BYTES.iter().any(within) {
            return Self::Bytes;
        }
        if FILES.iter().any(within) {
            return Self::File;
        }
        if secret() { Self::Secret } else { Self::Nothing }
    }
}

/// Whether an array of token ids begins with the number at `path`.
pub(super) fn begins_tokens(path: &Path<'_>) -> bool {
    let last = path.last();
    last == Some(Segment::Index(0)) && TOKENS.contains(&names(path).0)
}

/// The names of the member that a value lies in, and of the one around that.
fn names<'p>(path: &Path<'p>) -> (&'p str, &'p str) {
    let mut keys = (0..path.len()).rev().filter_map(|at| match path.segment(at) {
        Some(Segment::Key(key)) => Some(key),
        _ => None,
    });
    (keys.next().unwrap_or_default(), keys.next().unwrap_or_default())
}

/// What a string holds.
pub(super) enum StringContent {
    /// Text, as it stands.
    Text,
    /// Bytes, behind so much text.
    Opaque {
        /// In bytes.
        head: usize,
        /// Which file they are, if they are one.
        file: Option<FileClass>,
    },
    /// Bytes that may be a key.
    Key {
        /// Which file they are, if they are one.
        file: Option<FileClass>,
    },
    /// Text in base64, which may be a key as well.
    Encoded {
        /// The text.
        payload: Payload,
        /// How the base64 is looked through.
        look: ScanMode,
    },
    /// A URL that is text itself.
    Percent(Percent),
}

impl StringContent {
    /// What `text` holds; `named` is asked only where it matters.
    pub(super) fn of(text: &str, mut named: impl FnMut() -> PathHint) -> Self {
        if let Some(head) = data_url(text) {
            return in_url(text, &head);
        }
        bare(text, &mut named)
    }

    /// Shows the parts of `text`, which is what was read, to `see`, in an order that is always the same; and leads its
    /// edits of them out to the text.
    pub(super) fn edits(&self, text: &str, see: &mut dyn FnMut(StringPart<'_>) -> Vec<Edit>) -> Vec<Edit> {
        match self {
            Self::Text => see(StringPart::text(text)),
            Self::Opaque { head, file } => {
                let (before, payload) = text.split_at(*head);
                let written = see(StringPart { file: *file, ..StringPart::unread(payload, ScanMode::Not) });
                let mut edits = if *head > 0 { see(StringPart::text(before)) } else { Vec::new() };
                edits.extend(written.into_iter().map(|edit| edit.behind(*head)));
                edits
            }
            Self::Key { file } => {
                see(StringPart { file: *file, ..StringPart::unread(text, ScanMode::Whole) })
            }
            Self::Percent(percent) => {
                let edits = see(StringPart { decoded: true, ..StringPart::text(percent.text()) });
                edits.into_iter().map(|edit| percent.in_source(edit)).collect()
            }
            Self::Encoded { payload, look } => {
                let written = edit_of(payload, see);
                let plain =
                    see(StringPart { look: *look, replaced: written.as_ref(), ..StringPart::text(text) });
                written.map_or(plain, |edit| vec![edit])
            }
        }
    }
}

/// Shows the texts that a payload encodes to `see`; the edit that writes theirs.
fn edit_of(payload: &Payload, see: &mut dyn FnMut(StringPart<'_>) -> Vec<Edit>) -> Option<Edit> {
    let texts = payload.texts().map(|text| see(StringPart { decoded: true, ..StringPart::text(text) }));
    payload.in_source(&texts.collect::<Vec<_>>())
}

/// Edits the parts of one string.
pub(super) trait PartEditor {
    /// What the names on the way to the string say of it.
    fn named(&mut self) -> PathHint;

    /// Whether text in base64 is also read in the middle of this text. What is opened as a document is not: each of its
    /// strings comes by itself.
    fn reads_tokens(&mut self, text: &str) -> bool;

    /// The edits of a part; so many more encodings within it may be opened. What would have been one too many comes as the
    /// text that it is, as [decoded](StringPart::decoded).
    fn edits(&mut self, part: StringPart<'_>, levels: usize) -> Vec<Edit>;
}

/// The edits of a string by those of its parts, through up to `levels` encodings within one another.
pub(super) fn edits_of(text: &str, levels: usize, editor: &mut dyn PartEditor) -> Vec<Edit> {
    let reading = StringContent::of(text, || editor.named());
    let tokens = match reading {
        StringContent::Text if editor.reads_tokens(text) => tokens(text),
        _ => Vec::new(),
    };
    let mut see = |part: StringPart<'_>| match levels.checked_sub(1) {
        Some(levels) if part.decoded => edits_of(part.text, levels, editor),
        _ => editor.edits(part, levels),
    };
    match tokens.is_empty() {
        true => reading.edits(text, &mut see),
        false => edits_with_tokens(text, &tokens, &mut see),
    }
}

/// Shows what the tokens of `text` encode to `see`, each of them as it stands, and then all of the text; the edits of both.
/// Where they meet, what hides more counts.
fn edits_with_tokens(
    text: &str,
    tokens: &[Payload],
    see: &mut dyn FnMut(StringPart<'_>) -> Vec<Edit>,
) -> Vec<Edit> {
    let mut inner = |token: &Payload| {
        let written = edit_of(token, see);
        let own = text.get(token.place()).unwrap_or_default();
        let whole = written.as_ref().map(|edit| Edit { range: 0..own.len(), with: edit.with.clone() });
        see(StringPart { look: ScanMode::Not, replaced: whole.as_ref(), ..StringPart::text(own) });
        written
    };
    let mut within: Vec<Edit> = tokens.iter().filter_map(&mut inner).collect();
    let mut edits = see(StringPart::text(text));
    // Both are in order, and of neither two meet.
    let covered = |token: &Edit| {
        let first = edits.partition_point(|edit| edit.range.end < token.range.end);
        edits.get(first).is_some_and(|edit| edit.range.start <= token.range.start)
    };
    within.retain(|token| !covered(token));
    let meets = |edit: &Edit| {
        let after = within.partition_point(|token| token.range.end <= edit.range.start);
        within.get(after).is_some_and(|token| token.range.start < edit.range.end)
    };
    edits.retain(|edit| !meets(edit));
    edits.extend(within);
    edits.sort_by_key(|edit| edit.range.start);
    edits
}

/// Whether a string is text in an encoding, as an id may seem to be.
pub fn encodes_text(text: &str) -> bool {
    matches!(
        StringContent::of(text, || PathHint::Nothing),
        StringContent::Encoded { .. } | StringContent::Percent(_)
    )
}

/// Whether a string is a file of which somebody else may read the text.
pub(super) fn is_file(text: &str) -> bool {
    matches!(
        StringContent::of(text, || PathHint::Nothing),
        StringContent::Opaque { file: Some(FileClass::Other), .. }
    )
}

/// Where the bytes begin that a string holds and nobody reads.
pub(super) fn opaque_from(text: &str, mut named: impl FnMut() -> PathHint) -> Option<usize> {
    match StringContent::of(text, &mut named) {
        StringContent::Opaque { head, .. } => Some(head),
        _ => None,
    }
}

/// What a `data:` URL holds.
fn in_url(text: &str, head: &DataUrlHead) -> StringContent {
    let payload = text.get(head.payload..).unwrap_or_default();
    if !head.base64 {
        return Percent::of(text, head.payload).map_or(StringContent::Text, StringContent::Percent);
    }
    let Some(base64) = Base64::in_url(payload) else { return StringContent::Text };
    let Some(bytes) = base64.decode() else { return StringContent::Text };
    if let Some(class) = magic(&bytes) {
        return StringContent::Opaque { head: head.payload, file: Some(class) };
    }
    match Payload::of(bytes, &base64, head.payload..text.len()) {
        Some(payload) => StringContent::Encoded { payload, look: ScanMode::Text },
        None if payload.len() >= LONG => {
            StringContent::Key { file: Some(if head.media { FileClass::Media } else { FileClass::Other }) }
        }
        None => StringContent::Text,
    }
}

/// What a string holds that is base64 as a whole, or text.
fn bare(text: &str, named: &mut dyn FnMut() -> PathHint) -> StringContent {
    let trimmed = text.trim_ascii();
    let (start, length) = (text.len() - text.trim_ascii_start().len(), trimmed.len());
    if length < SHORTEST {
        return StringContent::Text;
    }
    let Some(base64) = Base64::of(trimmed) else { return StringContent::Text };
    let known = if length >= MAGICAL { magic(&base64.beginning()) } else { None };
    if let Some(class) = known.filter(|_| !base64.is_wrapped()) {
        let opaque = StringContent::Opaque { head: 0, file: Some(class) };
        return if named() == PathHint::Secret { StringContent::Text } else { opaque };
    }
    let Some(bytes) = base64.decode() else { return StringContent::Text };
    if let Some(payload) = Payload::of(bytes, &base64, start..start + length) {
        let look =
            if length < LONG || named() == PathHint::Secret { ScanMode::Text } else { ScanMode::Whole };
        return StringContent::Encoded { payload, look };
    }
    if base64.is_wrapped() || length < SEALED {
        return StringContent::Text;
    }
    match named() {
        PathHint::Seal if base64.is_random() => StringContent::Opaque { head: 0, file: None },
        PathHint::Bytes if base64.is_dense() => {
            StringContent::Opaque { head: 0, file: Some(FileClass::Media) }
        }
        PathHint::File if base64.is_dense() => {
            StringContent::Opaque { head: 0, file: Some(FileClass::Other) }
        }
        PathHint::Nothing if base64.is_random() && length > KEY => {
            StringContent::Opaque { head: 0, file: None }
        }
        PathHint::Nothing if base64.is_random() && length >= LONG => StringContent::Key { file: None },
        _ => StringContent::Text,
    }
}

/// What stands before the payload of a `data:` URL.
pub(super) struct DataUrlHead {
    /// Where the payload begins.
    pub(super) payload: usize,
    /// Whether that is base64.
    pub(super) base64: bool,
    /// Whether it is said to be an image, sound or a film.
    pub(super) media: bool,
}

/// Whether a text begins as a `data:` URL; `None` while that cannot be told.
pub(super) fn is_data_url(text: &str) -> Option<bool> {
    let begins = text.trim_ascii_start().as_bytes();
    let scheme = begins.get(..5).unwrap_or(begins);
    let fits = b"data:".get(..scheme.len()).is_some_and(|known| known.eq_ignore_ascii_case(scheme));
    if fits && scheme.len() < 5 { None } else { Some(fits) }
}

/// `data:image/png;base64,…` (RFC 2397).
pub(super) fn data_url(text: &str) -> Option<DataUrlHead> {
    if is_data_url(text) != Some(true) {
        return None;
    }
    let bytes = text.as_bytes();
    let start = bytes.len() - bytes.trim_ascii_start().len();
    let behind = bytes.get(start + 5..)?;
    let comma = memchr::memchr(b',', behind.get(..HEAD).unwrap_or(behind))?;
    let kind = behind.get(..comma)?.trim_ascii().to_ascii_lowercase();
    let base64 =
        kind.strip_suffix(b"base64").map(<[u8]>::trim_ascii_end).is_some_and(|kind| kind.ends_with(b";"));
    let media = [b"image/", b"audio/", b"video/"].iter().any(|media| kind.starts_with(*media));
    Some(DataUrlHead { payload: start + 5 + comma + 1, base64, media })
}

#[cfg(test)]
#[path = "opaque_tests.rs"]
pub(in crate::redact) mod tests;
