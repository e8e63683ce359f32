//! Strings of a document that passes, read as those of one that lies there ([`StringContent`]): a string is held back while it
//! may be base64 or a `data:` URL, which for prose is its first word. Bytes pass as they came and are counted, however
//! many; text in an encoding is taken together and edited at its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::redact::error::TOO_DEEP;
use crate::redact::file::FileClass;
use crate::redact::opaque::{
    HEAD, KEY, PartEditor, PathHint, ScanMode, StringContent, StringPart, data_url, edits_of, is_data_url,
};
use crate::redact::payload::in_base64;
use crate::stream::json::{Embedded, Path};
use crate::stream::{Edit, Editor, StreamError, TextUse};

/// So much is read of a string that goes on, to see whether it holds bytes; shorter ones are read whole.
const BEGINNING: usize = KEY + 64;

/// The most that is held of text in an encoding, in bytes.
const MOST: usize = 16 << 20;

/// So much of what passed unread is shown with the text behind it, if it turns out that there is some.
const TAIL: usize = 64;

/// How many encodings within one another are opened.
const LEVELS: usize = 8;

const REFUSED_MEDIA: &str = "a string of the body is an image, sound or a film, which this route refuses; \
                             `media = \"pass\"` lets it through unread";
const REFUSED_FILE: &str = "a string of the body is a file whose text is not read here (a document, an archive, or of no \
                            known kind); `files = \"redact\"` has documents redacted, `files = \"pass\"` lets all of them \
                            through unread";

/// An editor that can also be shown a text all at once.
pub(super) trait WholeEditor: Editor {
    /// Edits a text of its own, of which only what `look` admits counts; as [`ScanMode::Text`], also the last piece of one.
    fn whole(&mut self, text: &str, look: ScanMode, edits: &mut Vec<Edit>) -> Result<(), StreamError>;

    /// What the names on the way to a value say of it.
    fn named(&mut self, path: &Path<'_>) -> PathHint;
}

/// What is known of the string that passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StringState {
    /// It is text.
    Text,
    /// It may be base64, or a `data:` URL: all of it is held.
    Held,
    /// The same, and text is in it.
    Encoded,
    /// It is bytes: its end is held.
    Bytes,
}

/// Shows `editor` the texts in strings.
#[derive(Debug)]
pub(super) struct Strings<E> {
    editor: E,
    state: StringState,
    named: PathHint,
    held: String,
    /// How much of what is held is known to be what it seems to be.
    checked: usize,
    /// Whether something else than blanks has come, and whether only blanks may follow.
    begun: bool,
    over: bool,
    /// Where the editor's text begins.
    base: usize,
    unread: Option<Arc<AtomicU64>>,
    /// Files that may not be there.
    refused: Vec<FileClass>,
}

impl<E: WholeEditor> Strings<E> {
    pub(super) fn new(editor: E) -> Self {
        Self {
            editor,
            state: StringState::Text,
            named: PathHint::Nothing,
            held: String::new(),
            checked: 0,
            begun: false,
            over: false,
            base: 0,
            unread: None,
            refused: Vec::new(),
        }
    }

    /// With another editor.
    pub(super) fn map(self, change: impl FnOnce(E) -> E) -> Self {
        Self { editor: change(self.editor), ..self }
    }

    /// Refuses strings that hold files of these classes.
    pub(super) fn refusing(self, refused: Vec<FileClass>) -> Self {
        Self { refused, ..self }
    }

    /// Counts strings that are not read.
    pub(super) fn counting(self, unread: Arc<AtomicU64>) -> Self {
        Self { unread: Some(unread), ..self }
    }

    fn begin(&mut self, state: StringState) {
        (self.state, self.checked, self.base) = (state, 0, 0);
        (self.begun, self.over) = (false, false);
        self.held.clear();
    }

    fn count(&self) {
        if let Some(unread) = &self.unread {
            unread.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether what is held up to `end` may be base64 or a `data:` URL.
    fn seems(&mut self, end: usize) -> bool {
        let held = self.held.get(..end).unwrap_or_default();
        let unseen = |from: usize| held.as_bytes().get(from..).unwrap_or_default().iter();
        if is_data_url(held) == Some(true) {
            let Some(head) = data_url(held) else { return end < HEAD };
            let fits = |byte: &u8| !head.base64 || in_url(*byte);
            let seems = unseen(self.checked.max(head.payload)).all(fits);
            self.checked = end;
            return seems;
        }
        for byte in unseen(self.checked) {
            match byte {
                b' ' | b'\t' => self.over = self.begun,
                b'\n' | b'\r' => {}
                byte if self.over || !in_base64(*byte) => return false,
                _ => self.begun = true,
            }
        }
        self.checked = end;
        true
    }

    /// Goes on with what is held.
    fn judge(&mut self, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        if self.state == StringState::Held {
            let end = self.held.floor_char_boundary(BEGINNING);
            if !self.seems(end) {
                return self.text(edits);
            }
            if self.held.len() < BEGINNING {
                return Ok(0);
            }
            // Base64 may be cut anywhere.
            let cut = |less: usize| self.held.get(..end - less).unwrap_or_default();
            let mut readings = (0..4).map(|less| StringContent::of(cut(less), || self.named));
            match readings.find(|reading| !matches!(reading, StringContent::Text)) {
                None => return self.text(edits),
                Some(StringContent::Opaque { file, .. } | StringContent::Key { file }) => {
                    may_pass(&self.refused, file)?;
                    self.count();
                    self.state = StringState::Bytes;
                    let held = std::mem::take(&mut self.held);
                    return self.pass(&held, edits);
                }
                Some(_) => self.state = StringState::Encoded,
            }
        }
        if !self.seems(self.held.len()) {
            return self.text(edits);
        }
        if self.held.len() > MOST {
            return Err(StreamError::TooLarge { unit: "text in base64", limit: MOST });
        }
        Ok(0)
    }

    /// What is held is text.
    fn text(&mut self, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        self.state = StringState::Text;
        let held = std::mem::take(&mut self.held);
        self.shifted(edits, |editor, edits| editor.feed(&held, edits))
    }

    /// The editor's text ends with this piece, and the string with it.
    fn end_text(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.shifted(edits, |editor, edits| editor.last(piece, edits).map(|()| 0))?;
        self.begin(StringState::Text);
        Ok(())
    }

    /// The editor's edits and offsets, counted from the string's beginning.
    fn shifted(
        &mut self,
        edits: &mut Vec<Edit>,
        run: impl FnOnce(&mut E, &mut Vec<Edit>) -> Result<usize, StreamError>,
    ) -> Result<usize, StreamError> {
        let before = edits.len();
        let decided = run(&mut self.editor, edits)?;
        for edit in edits.iter_mut().skip(before) {
            edit.range = edit.range.start + self.base..edit.range.end + self.base;
        }
        Ok(decided + self.base)
    }

    /// Bytes go on: how much of all that came is decided.
    fn pass(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        let other = |byte: u8| !in_base64(byte) && byte != b'%';
        // What stands before the first of them has been read.
        let blanks = piece.len() - piece.trim_ascii_start().len();
        let from = match data_url(piece).filter(|_| self.base == 0 && self.held.is_empty()) {
            Some(head) => head.payload,
            None if self.base == 0 && self.held.is_empty() => blanks,
            None => 0,
        };
        let end = piece.bytes().skip(from).position(other).map(|at| at + from);
        self.held.push_str(piece.get(..end.unwrap_or(piece.len())).unwrap_or_default());
        let passed = self.held.len().saturating_sub(TAIL);
        self.held.drain(..passed);
        self.base += passed;
        let Some(end) = end else { return Ok(self.base) };
        self.held.push_str(piece.get(end..).unwrap_or_default());
        self.text(edits)
    }
}

/// Lets a file pass, unless it is of one of these classes.
fn may_pass(refused: &[FileClass], file: Option<FileClass>) -> Result<(), StreamError> {
    match file.filter(|class| refused.contains(class)) {
        None => Ok(()),
        Some(FileClass::Media) => Err(StreamError::NotText(REFUSED_MEDIA)),
        Some(_) => Err(StreamError::NotText(REFUSED_FILE)),
    }
}

/// Whether a byte may stand in the base64 of a URL.
fn in_url(byte: u8) -> bool {
    in_base64(byte) || byte == b'%' || byte.is_ascii_whitespace()
}

/// A string that is there.
struct InString<'e, E> {
    editor: &'e mut E,
    named: PathHint,
    refused: &'e [FileClass],
    /// Parts that are not read.
    unread: usize,
    outcome: Result<(), StreamError>,
}

impl<E: WholeEditor> PartEditor for InString<'_, E> {
    fn named(&mut self) -> PathHint {
        self.named
    }

    /// Of what passes, only whole strings are opened.
    fn reads_tokens(&mut self, _: &str) -> bool {
        false
    }

    fn edits(&mut self, part: StringPart<'_>, _: usize) -> Vec<Edit> {
        let done = if part.decoded { Err(StreamError::NotText(TOO_DEEP)) } else { self.part(part) };
        let edits = done.map_err(|error| self.outcome = Err(error)).unwrap_or_default();
        if part.replaced.is_some() { Vec::new() } else { edits }
    }
}

impl<E: WholeEditor> InString<'_, E> {
    /// Edits a part, or the document that it is.
    fn part(&mut self, part: StringPart<'_>) -> Result<Vec<Edit>, StreamError> {
        may_pass(self.refused, part.file)?;
        let mut edits = Vec::new();
        let StringPart { text, look, .. } = part;
        match look {
            ScanMode::Not => {}
            ScanMode::Text if text.trim_ascii_start().starts_with(['{', '[']) => {
                let mut embedded = Embedded::new(&mut *self.editor);
                embedded.feed(text, &mut edits)?;
                embedded.end(&mut edits)?;
            }
            look => self.editor.whole(text, look, &mut edits)?,
        }
        self.unread += usize::from(part.unread && edits.is_empty());
        Ok(edits)
    }
}

impl<E: WholeEditor> Editor for Strings<E> {
    fn under(&mut self, path: Option<&Path<'_>>) {
        self.begin(if path.is_some() { StringState::Held } else { StringState::Text });
        // The type that stands beside a file may come behind it: what has no magic may be sound as well.
        self.named = match path.map_or(PathHint::Nothing, |path| self.editor.named(path)) {
            PathHint::File => PathHint::Bytes,
            named => named,
        };
        self.editor.under(path);
    }

    fn used_as(&mut self, text: TextUse) {
        self.editor.used_as(text);
    }

    fn unread(&mut self) {
        self.count();
    }

    fn comes_back_as(&self, given: &str, signed: &str) -> bool {
        self.editor.comes_back_as(given, signed)
    }

    fn seal(&self, text: &str, signature: &str) -> Option<String> {
        self.editor.seal(text, signature)
    }

    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        match self.state {
            StringState::Text => self.shifted(edits, |editor, edits| editor.feed(piece, edits)),
            StringState::Bytes => self.pass(piece, edits),
            StringState::Held | StringState::Encoded => {
                self.held.push_str(piece);
                self.judge(edits)
            }
        }
    }

    fn last(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        match self.state {
            StringState::Text => self.end_text(piece, edits),
            StringState::Held => {
                self.held.push_str(piece);
                // Most strings turn out to be text here, and are looked at once.
                if !self.seems(self.held.floor_char_boundary(BEGINNING)) {
                    let held = std::mem::take(&mut self.held);
                    return self.end_text(&held, edits);
                }
                self.judge(edits)?;
                self.end(edits)
            }
            StringState::Encoded | StringState::Bytes => {
                self.feed(piece, edits)?;
                self.end(edits)
            }
        }
    }

    fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        match self.state {
            StringState::Bytes => {}
            StringState::Text => return self.end_text("", edits),
            StringState::Held | StringState::Encoded => {
                let mut string = InString {
                    editor: &mut self.editor,
                    named: self.named,
                    refused: &self.refused,
                    unread: 0,
                    outcome: Ok(()),
                };
                let done = edits_of(&self.held, LEVELS, &mut string);
                let InString { unread, outcome, .. } = string;
                outcome?;
                edits.extend(done);
                if unread > 0 {
                    self.count();
                }
            }
        }
        self.begin(StringState::Text);
        Ok(())
    }
}

#[cfg(test)]
#[path = "encoded_tests.rs"]
mod tests;
