//! Editors that put back what was issued, and count it for the access log.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;

use crate::gateway::exchange::Exchange;
use crate::gateway::layer::Factory;
use crate::redact::{Answer, SurrogateMap, UrlPolicy};
use crate::stream::json::Path;
use crate::stream::{Edit, Editor, StreamError, TextUse};

/// Puts back what was issued.
pub(super) fn restoring(
    x: &Exchange,
    undo: Arc<ArcSwap<SurrogateMap>>,
    urls: UrlPolicy,
) -> Factory<dyn Editor> {
    let restored = Arc::clone(&x.facts.restored);
    let unscanned = Arc::clone(&x.facts.answer_unscanned);
    Arc::new(move || {
        let editor =
            Answer::restore(undo.load_full()).with_urls(urls.clone()).counting(Arc::clone(&unscanned));
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

    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        let before = edits.len();
        let decided = self.editor.feed(piece, edits)?;
        self.made.fetch_add((edits.len() - before) as u64, Ordering::Relaxed);
        Ok(decided)
    }

    fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        let before = edits.len();
        self.editor.end(edits)?;
        self.made.fetch_add((edits.len() - before) as u64, Ordering::Relaxed);
        Ok(())
    }
}
