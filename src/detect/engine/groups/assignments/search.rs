//! One packed search for the words by which places of secrets are known.

use std::cmp::Reverse;

use aho_corasick::packed;
use aho_corasick::{AhoCorasick, MatchKind};

use super::word_context::WordContext;
use super::words::{LISTS, WORDS};

/// The search for one list of words.
pub(super) enum WordSearch {
    Packed(packed::Searcher),
    // Where the processor lacks what the packed search needs.
    Plain(AhoCorasick),
}

impl WordSearch {
    pub(super) fn new(words: &[(&str, WordContext)]) -> Option<Self> {
        let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let mut builder = packed::Config::new().heuristic_pattern_limits(false).builder();
        builder.extend(&words);
        match builder.build() {
            Some(packed) => Some(Self::Packed(packed)),
            None => {
                let plain = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(&words);
                plain.ok().map(Self::Plain)
            }
        }
    }

    pub(super) fn memory(&self) -> usize {
        match self {
            Self::Packed(packed) => packed.memory_usage(),
            Self::Plain(plain) => plain.memory_usage(),
        }
    }

    fn find(&self, text: &[u8], from: usize, words: &[(&str, WordContext)]) -> Option<Hit> {
        let from = from.min(text.len());
        let hit = match self {
            Self::Packed(packed) => {
                packed.find_in(text, aho_corasick::Span { start: from, end: text.len() })?
            }
            Self::Plain(plain) => plain.find(aho_corasick::Input::new(text).range(from..))?,
        };
        Some(Hit { start: hit.start(), end: hit.end(), place: words.get(hit.pattern().as_usize())?.1 })
    }
}

/// A word that was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) place: WordContext,
}

impl Hit {
    /// Where the next word may begin. The colon behind the name of a host may begin one.
    pub(super) fn behind(&self) -> usize {
        if self.place == WordContext::Account { self.end - 1 } else { self.end }
    }
}

/// The words of all lists in the order of their starts.
pub(super) struct Hits<'a> {
    searches: &'a [WordSearch; LISTS],
    text: &'a [u8],
    /// The next of each list; `None` where it was not looked for since the last was taken.
    next: [Option<Option<Hit>>; LISTS],
}

impl<'a> Hits<'a> {
    /// Those of `text` that start at or after `from`.
    pub(super) fn new(searches: &'a [WordSearch; LISTS], text: &'a [u8], from: usize) -> Self {
        let mut next = [None; LISTS];
        // Where all is ASCII, none of the last list is.
        if text.get(from..).is_some_and(<[u8]>::is_ascii)
            && let Some(last) = next.last_mut()
        {
            *last = Some(None);
        }
        Self { searches, text, next }
    }

    /// The first that starts at or after `from`.
    pub(super) fn from(&mut self, from: usize) -> Option<Hit> {
        for ((next, search), words) in self.next.iter_mut().zip(self.searches).zip(WORDS) {
            if next.is_none_or(|known| known.is_some_and(|hit| hit.start < from)) {
                *next = Some(search.find(self.text, from, words));
            }
        }
        // Of words that begin at one place the longest.
        self.next.iter().flatten().flatten().min_by_key(|hit| (hit.start, Reverse(hit.end))).copied()
    }
}

/// Whether `text`, which ends where the window does, is the beginning of a word.
pub(super) fn may_begin(text: &[u8]) -> bool {
    WORDS.into_iter().flatten().any(|(word, _)| word.as_bytes().starts_with(text))
}
