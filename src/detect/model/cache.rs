//! What the model said of texts it has read: an LLM client sends its whole history again every turn.
//!
//! A text is known by a digest under keys that this process drew, never kept; what is kept of it are places and figures.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, PoisonError};

use super::word::Word;

/// Bytes that an entry takes beside its words, about.
const ENTRY: usize = 96;

/// A text: two 64-bit digests (SipHash) under different keys, and its length.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Known(u64, u64, usize);

/// What was read last, in two halves: once the young one is full it becomes the old one, which is forgotten.
pub(super) struct Cache {
    keys: [RandomState; 2],
    /// The most bytes of both halves.
    bytes: usize,
    halves: Mutex<Halves>,
}

#[derive(Default)]
struct Halves {
    young: HashMap<Known, Arc<[Word]>>,
    old: HashMap<Known, Arc<[Word]>>,
    /// Bytes of the young half.
    bytes: usize,
}

impl Cache {
    /// Of at most so many bytes; 0 keeps nothing.
    pub(super) fn new(bytes: usize) -> Self {
        Self { keys: [RandomState::new(), RandomState::new()], bytes, halves: Mutex::default() }
    }

    /// What a text is known by.
    pub(super) fn known(&self, text: &str) -> Known {
        let [a, b] = &self.keys;
        Known(a.hash_one(text), b.hash_one(text), text.len())
    }

    pub(super) fn get(&self, text: Known) -> Option<Arc<[Word]>> {
        let mut halves = self.halves.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(words) = halves.young.get(&text) {
            return Some(Arc::clone(words));
        }
        let words = halves.old.remove(&text)?;
        self.keep(&mut halves, text, Arc::clone(&words));
        Some(words)
    }

    pub(super) fn put(&self, text: Known, words: Arc<[Word]>) {
        let mut halves = self.halves.lock().unwrap_or_else(PoisonError::into_inner);
        self.keep(&mut halves, text, words);
    }

    fn keep(&self, halves: &mut Halves, text: Known, words: Arc<[Word]>) {
        let size = ENTRY + size_of_val(&*words);
        if size > self.bytes / 2 {
            return;
        }
        if halves.bytes + size > self.bytes / 2 {
            halves.old = std::mem::take(&mut halves.young);
            halves.bytes = 0;
        }
        if halves.young.insert(text, words).is_none() {
            halves.bytes += size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(count: usize) -> Arc<[Word]> {
        vec![Word { start: 0, end: 1, person: 0.0, place: 0.0 }; count].into()
    }

    #[test]
    fn what_is_asked_for_stays_and_the_rest_goes() {
        let cache = Cache::new(8 * (ENTRY + size_of::<Word>()));
        let first = cache.known("first");
        cache.put(first, words(1));
        for n in 0..40 {
            cache.put(cache.known(&n.to_string()), words(1));
            assert!(cache.get(first).is_some(), "after {n}");
        }
        assert!(cache.get(cache.known("0")).is_none());
        assert!(cache.get(cache.known("39")).is_some());
        let halves = cache.halves.lock().unwrap();
        assert!(halves.young.len() <= 4 && halves.old.len() <= 4);
    }

    #[test]
    fn what_is_too_large_is_not_kept() {
        let cache = Cache::new(1000);
        cache.put(cache.known("a"), words(1000));
        assert!(cache.get(cache.known("a")).is_none());
        let none = Cache::new(0);
        none.put(none.known("a"), words(0));
        assert!(none.get(none.known("a")).is_none());
    }
}
