//! JSON within a string, as tool-call arguments are: an editor made of an editor for the text within.

use crate::stream::json::Path;
use crate::stream::json::scan::{EveryString, JsonScan};
use crate::stream::{Edit, Editor, StreamError, TextUse};

/// Text that is JSON itself. What it is shows in its first character that is not white space: at `{`, `[` or `"`
/// its strings, keys and long numbers are decoded and edited, each a channel of its own; otherwise, and from the
/// first byte on that cannot be JSON, it is one plain text.
///
/// Edits are in offsets of the outer text, and what they write is escaped for the inner JSON only: the carrier of
/// the outer text escapes it for its own.
pub struct Embedded<E> {
    scan: JsonScan<EveryString<E>>,
    begun: bool,
}

impl<E: Editor> Embedded<E> {
    /// Edits the text within with `editor`.
    pub fn new(editor: E) -> Self {
        Self { scan: JsonScan::new(EveryString::new(editor)), begun: false }
    }

    /// The editor for the text within, for text that is not JSON.
    pub(super) fn plain(&mut self) -> &mut E {
        &mut self.scan.slots().editor
    }
}

impl<E: Editor> Editor for Embedded<E> {
    fn under(&mut self, path: Option<&Path<'_>>) {
        self.plain().under(path);
    }

    fn used_as(&mut self, text: TextUse) {
        self.scan.slots().used_as(text);
    }

    fn comes_back_as(&self, given: &str, signed: &str) -> bool {
        self.scan.slots_ref().editor.comes_back_as(given, signed)
    }

    fn seal(&self, text: &str, signature: &str) -> Option<String> {
        self.scan.slots_ref().editor.seal(text, signature)
    }

    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        let mut rest = piece;
        if !self.begun {
            let text = piece.trim_start_matches([' ', '\t', '\n', '\r']);
            let space = piece.len() - text.len();
            let decided = self.scan.feed(piece.as_bytes().get(..space).unwrap_or_default(), edits)?;
            let Some(first) = text.bytes().next() else { return Ok(decided) };
            self.begun = true;
            if !matches!(first, b'{' | b'[' | b'"') {
                self.scan.text();
            }
            rest = text;
        }
        self.scan.feed(rest.as_bytes(), edits)
    }

    fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.begun = false;
        self.scan.end(edits)
    }
}
