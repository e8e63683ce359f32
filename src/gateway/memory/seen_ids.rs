//! Ids in an answer, noted as it passes: nothing is held, and nothing changes.

use std::sync::{Arc, Mutex, PoisonError};

use crate::gateway::layer::{Layer, TextLayer};
use crate::gateway::llm::resources::{is_id_in_answer, last_segment};
use crate::stream::json::Path;
use crate::stream::{Edit, Editor, StreamError};

/// The longest id that is noted, in bytes.
const LONGEST: usize = 512;

/// The most ids of one answer that are noted.
const MOST: usize = 16;

/// Ids that an answer has, as far as it has passed.
#[derive(Clone, Default)]
pub(super) struct SeenIds(Arc<Mutex<SeenList>>);

#[derive(Default)]
struct SeenList {
    all: Vec<String>,
    /// How many of them were taken.
    taken: usize,
}

impl SeenIds {
    /// Those that have come since the last call.
    pub(super) fn take(&self) -> Vec<String> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new = seen.all.get(seen.taken..).unwrap_or_default().to_vec();
        seen.taken = seen.all.len();
        new
    }

    pub(super) fn add(&self, id: &str) {
        let Some(id) = last_segment(id).filter(|id| !id.contains(char::is_whitespace)) else { return };
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.all.len() < MOST && !seen.all.iter().any(|known| known == id) {
            seen.all.push(id.to_owned());
        }
    }

    /// The layer that notes them.
    pub(super) fn layer(&self) -> Layer {
        let seen = self.clone();
        let editor = Arc::new(move || -> Box<dyn Editor> {
            Box::new(Watch { seen: seen.clone(), id: None, from: 0 })
        });
        Layer::Text(TextLayer { editor, protocol: None, fields: None, restores: true })
    }
}

/// Sees each value of a document.
struct Watch {
    seen: SeenIds,
    /// The text so far, where it is an id's.
    id: Option<String>,
    from: usize,
}

impl Editor for Watch {
    fn under(&mut self, path: Option<&Path<'_>>) {
        self.id = path.is_some_and(is_id_in_answer).then(String::new);
    }

    fn feed(&mut self, piece: &str, _: &mut Vec<Edit>) -> Result<usize, StreamError> {
        self.from += piece.len();
        if let Some(id) = &mut self.id {
            if id.len() + piece.len() > LONGEST {
                self.id = None;
            } else {
                id.push_str(piece);
            }
        }
        Ok(self.from)
    }

    fn end(&mut self, _: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.from = 0;
        if let Some(id) = self.id.take() {
            self.seen.add(&id);
        }
        Ok(())
    }
}
