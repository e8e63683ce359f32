//! Editors that put back what was issued, and count it for the access log.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;

use crate::gateway::exchange::Exchange;
use crate::gateway::layer::Factory;
use crate::redact::{AnswerEditor, NextRequest, SurrogateMap, UrlPolicy};
use crate::stream::json::Path;
use crate::stream::{Edit, Editor, StreamError, TextUse};

/// Puts back what was issued.
pub(super) fn restoring(
    x: &Exchange,
    undo: Arc<ArcSwap<SurrogateMap>>,
    urls: UrlPolicy,
    next: Option<NextRequest>,
) -> Factory<dyn Editor> {
    let restored = Arc::clone(&x.facts.restored);
    let unscanned = Arc::clone(&x.facts.answer_unscanned);
    Arc::new(move || {
        let editor = AnswerEditor::restore(undo.load_full()).with_next_request(next.clone());
        let editor = editor.with_urls(urls.clone()).counting(Arc::clone(&unscanned));
        Box::new(CountingEditor { editor, made: Arc::clone(&restored) })
    })
}

/// Counts an editor's edits for the access log.
struct CountingEditor<E> {
    editor: E,
    made: Arc<AtomicU64>,
}

impl<E: Editor> Editor for CountingEditor<E> {
    fn under(&mut self, path: Option<&Path<'_>>) {
        self.editor.under(path);
    }

    fn used_as(&mut self, text: TextUse) {
        self.editor.used_as(text);
    }

    fn unread(&mut self) {
        self.editor.unread();
    }

    fn comes_back_as(&self, given: &str, signed: &str) -> bool {
        self.editor.comes_back_as(given, signed)
    }

    fn seal(&self, text: &str, signature: &str) -> Option<String> {
        self.editor.seal(text, signature)
    }

    fn restorer(&self) -> Option<Box<dyn Editor>> {
        self.editor.restorer()
    }

    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        self.counted(edits, |editor, edits| editor.feed(piece, edits))
    }

    fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.counted(edits, |editor, edits| editor.end(edits))
    }

    fn last(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.counted(edits, |editor, edits| editor.last(piece, edits))
    }
}

impl<E: Editor> CountingEditor<E> {
    fn counted<T>(
        &mut self,
        edits: &mut Vec<Edit>,
        edit: impl FnOnce(&mut E, &mut Vec<Edit>) -> Result<T, StreamError>,
    ) -> Result<T, StreamError> {
        let before = edits.len();
        let done = edit(&mut self.editor, edits)?;
        self.made.fetch_add((edits.len() - before) as u64, Ordering::Relaxed);
        Ok(done)
    }
}
