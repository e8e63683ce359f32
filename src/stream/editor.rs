//! What edits text in motion: an [`Editor`] sees the decoded text of one channel (a text body, one JSON string,
//! the deltas of one choice) and says which ranges of it to replace. Whoever carries the text (a text body, a
//! JSON string with escapes, a run of events) applies the [`Edit`]s to its own encoding, so bytes that nobody
//! changed leave as they came.

use crate::edit::Edit;
use crate::stream::StreamError;
use crate::stream::path::Path;

/// Edits one channel of text as it passes.
///
/// Any split of the text gives the same edits. Edits are pushed in order, never overlap, and lie wholly below the
/// offset returned with them.
///
/// The offsets of edits are bytes of the decoded text, counted from the channel's beginning.
pub trait Editor: Send {
    /// The text to come is the value at `path` of a document, and the names on the way there say what it is; or no
    /// value. Told before any of it, if at all, and for that text only.
    fn under(&mut self, path: Option<&Path<'_>>) {
        let _ = path;
    }

    /// A string passes that nobody reads.
    fn unread(&mut self) {}

    /// Whether an edit so far cannot be undone by whoever it comes back to.
    fn is_lossy(&self) -> bool {
        false
    }

    /// A signature that stands for `signature` of a block of which `text` was edited so: it brings the text back. `None`
    /// where there can be none.
    fn seal(&self, text: &str, signature: &str) -> Option<String> {
        let _ = (text, signature);
        None
    }

    /// Sees the next piece, pushes the edits it has settled, and returns the offset (in bytes, from the channel's
    /// beginning) up to which the text is decided and may leave.
    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError>;

    /// The text has ended: settles the rest and begins a new channel at offset 0.
    fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError>;
}

impl<E: Editor + ?Sized> Editor for &mut E {
    fn under(&mut self, path: Option<&Path<'_>>) {
        (**self).under(path);
    }

    fn unread(&mut self) {
        (**self).unread();
    }

    fn is_lossy(&self) -> bool {
        (**self).is_lossy()
    }

    fn seal(&self, text: &str, signature: &str) -> Option<String> {
        (**self).seal(text, signature)
    }

    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        (**self).feed(piece, edits)
    }

    fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        (**self).end(edits)
    }
}

impl<E: Editor + ?Sized> Editor for Box<E> {
    fn under(&mut self, path: Option<&Path<'_>>) {
        (**self).under(path);
    }

    fn unread(&mut self) {
        (**self).unread();
    }

    fn is_lossy(&self) -> bool {
        (**self).is_lossy()
    }

    fn seal(&self, text: &str, signature: &str) -> Option<String> {
        (**self).seal(text, signature)
    }

    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        (**self).feed(piece, edits)
    }

    fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        (**self).end(edits)
    }
}
