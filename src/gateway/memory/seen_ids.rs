//! Ids in an answer, noted as it passes: nothing is held, and nothing changes.

use std::sync::{Arc, Mutex, PoisonError};

use crate::gateway::layer::{Layer, TextLayer};
use crate::gateway::llm::resources::{IdScope, IdShape, any_id_in_answer, is_id_in_answer, last_segment};
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

    /// The layer that notes those that count.
    pub(super) fn layer(&self, scope: IdScope) -> Layer {
        let seen = self.clone();
        let editor = Arc::new(move || -> Box<dyn Editor> {
            Box::new(Watch { seen: seen.clone(), scope, id: None, shape: None, from: 0 })
        });
        Layer::Text(TextLayer { editor, protocol: None, fields: None, restores: true })
    }
}

/// Sees each value of a document.
struct Watch {
    seen: SeenIds,
    scope: IdScope,
    /// The text so far, where it may be an id's.
    id: Option<String>,
    /// How it looks if it is one; `None`: it is one however it looks.
    shape: Option<IdShape>,
    from: usize,
}

impl Editor for Watch {
    fn under(&mut self, path: Option<&Path<'_>>) {
        let known = path.is_some_and(is_id_in_answer);
        self.shape = path.filter(|_| !known && self.scope == IdScope::Any).and_then(any_id_in_answer);
        self.id = (known || self.shape.is_some()).then(String::new);
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
        if let Some(id) = self.id.take().filter(|id| self.shape.is_none_or(|shape| shape.fits(id))) {
            self.seen.add(&id);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::json::walk;

    fn seen(answer: &str, scope: IdScope) -> Vec<String> {
        let seen = SeenIds::default();
        let Layer::Text(layer) = seen.layer(scope) else { return Vec::new() };
        let mut editor = (layer.editor)();
        walk(answer.as_bytes(), &mut |path, leaf| {
            editor.under(Some(path));
            editor.feed(answer.get(leaf.span.clone()).unwrap(), &mut Vec::new()).unwrap();
            editor.end(&mut Vec::new()).unwrap();
        })
        .unwrap();
        seen.take()
    }

    #[test]
    fn ids_of_unknown_servers_count_only_where_they_look_like_one() {
        let answer =
            r#"{"id":"batches/1","task_id":"13b1848b-5493","session":"prod-2024","job":{"id":"job_17x"}}"#;
        assert_eq!(seen(answer, IdScope::Known), ["1"]);
        assert_eq!(seen(answer, IdScope::Any), ["1", "13b1848b-5493", "job_17x"]);
    }
}
