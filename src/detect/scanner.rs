//! Detection over text that arrives in pieces. A [`Scanner`] holds back only what text to come could still change,
//! and finds exactly what [`Detector::find`](super::Detector::find) finds in the whole text.

use std::cell::RefCell;
use std::sync::Arc;

use super::choice::Choice;
use super::engine::view::{LOOKBACK, View};
use super::engine::{Engine, Pass, Tracks};
use super::finding::{Finding, Score};
use super::resolve::Resolver;

/// The window is moved on when this much of it is no longer needed, in bytes.
const SLACK: usize = 256;

/// How far one text has come: what a scan keeps between windows.
#[derive(Default)]
pub(crate) struct Progress {
    tracks: Tracks,
    found: Vec<Finding>,
    resolver: Resolver,
}

impl Progress {
    /// Looks at a window. The offset of the text up to which all is decided.
    pub(crate) fn look(&mut self, pass: &Pass<'_>, sink: &mut dyn FnMut(Finding)) -> usize {
        pass.run(&mut self.tracks, &mut self.found);
        let frontier = if pass.view.complete { usize::MAX } else { pass.view.base + self.tracks.frontier() };
        self.resolver.advance(&mut self.found, frontier, sink)
    }

    /// All candidates of a complete window, in order of their starts.
    pub(crate) fn candidates(&mut self, pass: &Pass<'_>) -> Vec<Finding> {
        pass.run(&mut self.tracks, &mut self.found);
        let mut all = std::mem::take(&mut self.found);
        all.sort_unstable_by_key(|one| (one.span.start, one.span.end, one.rule));
        all
    }

    pub(crate) fn reset(&mut self) {
        self.tracks.reset();
        self.found.clear();
        self.resolver.reset();
    }
}

/// Finds values in a text that arrives in pieces. Made by [`Detector::scanner`](super::Detector::scanner).
pub struct Scanner {
    engine: Arc<Engine>,
    choice: Arc<Choice>,
    floor: Option<Score>,
    progress: Progress,
    window: Vec<u8>,
    /// Where the window begins in the text.
    base: usize,
    decided: usize,
}

impl std::fmt::Debug for Scanner {
    // The window is text from outside.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Scanner({} held)", self.held())
    }
}

impl Scanner {
    pub(crate) fn new(engine: Arc<Engine>, choice: Arc<Choice>, floor: Option<Score>) -> Self {
        let progress = Progress::default();
        Self { engine, choice, floor, progress, window: Vec::new(), base: 0, decided: 0 }
    }

    /// Takes the next piece, gives the findings that are settled to `sink` in order, and returns the offset up to
    /// which the text is decided: a character boundary, never less than before. Offsets count bytes from the
    /// text's beginning; findings lie wholly below the offset returned.
    pub fn feed(&mut self, piece: &str, sink: &mut dyn FnMut(Finding)) -> usize {
        self.window.extend_from_slice(piece.as_bytes());
        let view = View { text: &self.window, base: self.base, complete: false };
        let pass = Pass { engine: &self.engine, view, choice: &self.choice, floor: self.floor, memo: RefCell::default() };
        let decided = self.progress.look(&pass, sink);
        self.decided = self.boundary(decided).max(self.decided);
        self.move_on();
        self.decided
    }

    /// The text has ended: settles the rest and begins anew at offset 0.
    pub fn end(&mut self, sink: &mut dyn FnMut(Finding)) {
        let view = View { text: &self.window, base: self.base, complete: true };
        self.progress.look(&Pass { engine: &self.engine, view, choice: &self.choice, floor: self.floor, memo: RefCell::default() }, sink);
        self.progress.reset();
        self.window.clear();
        (self.base, self.decided) = (0, 0);
    }

    /// Bytes taken in that are not decided yet.
    pub fn held(&self) -> usize {
        self.base + self.window.len() - self.decided
    }

    /// The last character boundary at or before `offset`.
    fn boundary(&self, offset: usize) -> usize {
        let inside = |offset: &usize| {
            let byte = offset.checked_sub(self.base).and_then(|at| self.window.get(at));
            byte.is_some_and(|byte| byte & 0xC0 == 0x80)
        };
        (0..4).filter_map(|back| offset.checked_sub(back)).find(|offset| !inside(offset)).unwrap_or(offset)
    }

    /// Drops what is no longer needed from the window.
    fn move_on(&mut self) {
        let unused = self.progress.tracks.frontier().saturating_sub(LOOKBACK);
        if unused >= SLACK {
            self.window.drain(..unused);
            self.progress.tracks.shift(unused);
            self.base += unused;
        }
    }
}
