//! JSON of any size as it passes: chosen strings go through a visitor, all other bytes leave as they came.

use std::sync::Arc;

use bytes::BytesMut;

use crate::base::budget::{MemoryBudget, MemoryCharge};
use crate::stream::json::embedded::Embedded;
use crate::stream::json::scan::{JsonScan, Slots};
use crate::stream::path::{JsonToken, MAX_TYPED, Path, Treatment, Type};
use crate::stream::path_set::PathSet;
use crate::stream::window::Window;
use crate::stream::{Edit, Editor, Rewriter, StreamError, TextUse};

/// A rewriter of one JSON document, or of any number one after another (NDJSON, concatenated, RFC 7464).
///
/// It never holds a document, only the strings' text that their editor has not decided. A replaced range acts on
/// whole escapes and is written with the escapes it needs; an edited number stays a number if it can and becomes a
/// string if not. What a lenient reader would take (control characters and odd escapes in strings) is text of its
/// string. From the first byte on that cannot be JSON, the rest of the body is shown as one text
/// ([`JsonToken::Rest`]): malformed JSON is never an error, and never passes unseen.
pub struct JsonSlots<S> {
    scan: JsonScan<S>,
    window: Window,
    edits: Vec<Edit>,
    charge: MemoryCharge,
}

impl<S: Slots> JsonSlots<S> {
    /// Offers the strings of a body to `slots`; what is held back is charged to `budget`.
    pub fn new(slots: S, budget: &MemoryBudget) -> Self {
        Self {
            scan: JsonScan::new(slots),
            window: Window::new(budget),
            edits: Vec::new(),
            charge: budget.charge(),
        }
    }
}

impl<S: Slots> Rewriter for JsonSlots<S> {
    fn write(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        let decided = self.scan.feed(chunk, &mut self.edits)?;
        self.charge.set(self.scan.weight())?;
        let put = &mut |piece: &[u8]| out.extend_from_slice(piece);
        self.window.advance(chunk, decided, &mut self.edits, put)
    }

    fn finish(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        self.scan.end(&mut self.edits)?;
        self.charge.set(0)?;
        self.window.finish(&mut self.edits, &mut |piece| out.extend_from_slice(piece))
    }

    fn held(&self) -> usize {
        self.window.held()
    }
}

/// One editor for all strings that a [`PathSet`] takes.
pub struct EditorSlots<E> {
    editor: Embedded<E>,
    paths: Arc<PathSet>,
    tokens: SlotScope,
    open: Treatment,
    /// A text that may be none because of its type, which shows at its end.
    held: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SlotScope {
    Values,
    All,
}

impl<E: Editor> EditorSlots<E> {
    /// String values only: protocols whose keys and numbers mean something.
    ///
    /// Values deeper than a path follows are taken whatever the paths say, and so is what cannot be JSON.
    pub fn new(editor: E, paths: impl Into<Arc<PathSet>>) -> Self {
        let editor = Embedded::new(editor);
        Self {
            editor,
            paths: paths.into(),
            tokens: SlotScope::Values,
            open: Treatment::Skip,
            held: String::new(),
        }
    }

    /// Takes keys (where their object's path is taken) and long numbers as well: documents of which nothing is
    /// known.
    #[must_use]
    pub fn with_keys_and_numbers(self) -> Self {
        Self { tokens: SlotScope::All, ..self }
    }
}

impl<E: Editor> Slots for EditorSlots<E> {
    fn open(&mut self, path: &Path<'_>, token: JsonToken) -> bool {
        let take = if path.is_cut() { Treatment::Text } else { self.paths.take(path) };
        self.open = match (token, self.tokens) {
            (JsonToken::Rest, _) => Treatment::Text,
            // It may be long, and is told from text by whoever edits it.
            (JsonToken::Text, _) if take == Treatment::Typed(Type::Opaque) => Treatment::Text,
            (JsonToken::Text, _) => take,
            (JsonToken::Number, _) if take == Treatment::Typed(Type::Number) => Treatment::Skip,
            (JsonToken::Key | JsonToken::Number, SlotScope::Values) => Treatment::Skip,
            (JsonToken::Key | JsonToken::Number, SlotScope::All) if take == Treatment::Skip => {
                Treatment::Skip
            }
            (JsonToken::Key | JsonToken::Number, SlotScope::All) => Treatment::Text,
        };
        if self.open != Treatment::Skip {
            let path = token.is_value().then_some(path);
            self.editor.under(path);
            self.editor.used_as(TextUse::of(self.open, path));
        }
        self.open != Treatment::Skip
    }
}

impl<E: Editor> Editor for EditorSlots<E> {
    fn used_as(&mut self, text: TextUse) {
        self.editor.used_as(text);
    }

    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        match self.open {
            Treatment::Embedded => self.editor.feed(piece, edits),
            Treatment::Typed(_) => {
                self.held.push_str(piece);
                if self.held.len() <= MAX_TYPED {
                    return Ok(0);
                }
                // Nothing that long is of a type.
                self.open = Treatment::Text;
                self.editor.plain().feed(&std::mem::take(&mut self.held), edits)
            }
            _ => self.editor.plain().feed(piece, edits),
        }
    }

    fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        match self.open {
            Treatment::Embedded => self.editor.end(edits),
            Treatment::Typed(_) => self.typed(edits),
            _ => self.editor.plain().end(edits),
        }
    }

    fn last(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        match self.open {
            Treatment::Embedded => self.editor.last(piece, edits),
            Treatment::Typed(_) => {
                self.feed(piece, edits)?;
                self.end(edits)
            }
            _ => self.editor.plain().last(piece, edits),
        }
    }
}

impl<E: Editor> EditorSlots<E> {
    /// A text that is held has ended: it is edited unless it is of its type.
    fn typed(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        let held = std::mem::take(&mut self.held);
        match self.open.of(JsonToken::Text, &held) {
            Treatment::Skip => Ok(()),
            _ => self.editor.plain().last(&held, edits),
        }
    }
}
