//! Detection over text that arrives in pieces. A [`Scanner`] holds back only what text to come could still change,
//! and finds exactly what [`Detector::find`](super::Detector::find) finds in the whole text.

use std::sync::Arc;

use super::allow::Allow;
use super::engine::{BLOCK, Engine, LOOKBACK, Masks, TrackState, Tracks, View, WindowScan};
#[cfg(feature = "names-model")]
use super::finding::RuleId;
use super::finding::{Finding, Score};
use super::naming::Label;
use super::normal::{self, Normalizer, NormalizerState};
use super::resolve::{KnownBy, Resolver, ResolverState};
use super::selection::RuleSelection;
use crate::base::checkpoint::{Checkpoint, Stopped};

/// The window is moved on when this much of it is no longer needed, in bytes.
const SLACK: usize = 256;

/// What is looked for.
#[derive(Clone)]
pub(crate) struct Query {
    pub(crate) engine: Arc<Engine>,
    pub(crate) selection: Arc<RuleSelection>,
    /// Stands in place of the rules' thresholds.
    pub(crate) floor: Option<Score>,
    /// Rules whose findings stay as they are: they take the place of no others.
    pub(crate) reported: Arc<RuleSelection>,
    /// What may pass though it is found.
    pub(crate) allow: Option<Arc<Allow>>,
    /// Asked between stretches of a whole text.
    pub(crate) checkpoint: Checkpoint,
    /// Finds names in whole texts, beside the engine.
    #[cfg(feature = "names-model")]
    pub(crate) names: Option<NamesScan>,
}

/// A names model at work for one detector.
#[cfg(feature = "names-model")]
#[derive(Clone)]
pub(crate) struct NamesScan {
    pub(crate) model: Arc<super::model::NamesModel>,
    /// Of the request that the detector serves; `None`: of none.
    pub(crate) budget: Option<Arc<super::model::PieceBudget>>,
    /// Whether a text that was not read for want of budget may not pass.
    pub(crate) strict: bool,
    pub(crate) person: Option<RuleId>,
    pub(crate) place: Option<RuleId>,
    pub(crate) organisation: Option<RuleId>,
}

/// How far one text has come: what a scan keeps between windows.
#[derive(Default)]
pub(crate) struct ScanProgress {
    tracks: Tracks,
    masks: Masks,
    found: Vec<Finding>,
    resolver: Resolver,
    /// Steps of all texts so far.
    steps: usize,
}

impl ScanProgress {
    fn run(&mut self, query: &Query, view: View<'_>) {
        self.masks.cover(view.text);
        let Query { engine, selection, floor, allow, .. } = query;
        let known = self.found.len();
        let look = WindowScan { view, masks: &self.masks, selection, floor: *floor };
        let steps = engine.scan(look, &mut self.tracks, &mut self.found);
        self.steps = self.steps.saturating_add(steps);
        if let Some(allow) = allow {
            let value = |one: &Finding| {
                view.text.get(one.span.start.checked_sub(view.base)?..one.span.end.checked_sub(view.base)?)
            };
            let fresh = self.found.split_off(known);
            let stays = |one: &Finding| !value(one).is_some_and(|value| allow.has(one.rule, value));
            self.found.extend(fresh.into_iter().filter(stays));
        }
        self.masks.forget(self.tracks.frontier().saturating_sub(LOOKBACK));
    }

    /// Looks at a window. The offset of the text up to which all is decided.
    pub(crate) fn look(&mut self, query: &Query, view: View<'_>, sink: &mut dyn FnMut(Finding)) -> usize {
        self.run(query, view);
        let frontier = if view.complete { usize::MAX } else { view.base + self.tracks.frontier() };
        let kinds = |rule| match query.reported.has(rule) {
            true => KnownBy::Shape,
            false => query.engine.known_by(rule),
        };
        self.resolver.advance(&mut self.found, frontier, &kinds, sink)
    }

    /// Looks at a whole text, a stretch at a time so that what is kept of it stays near the processor.
    ///
    /// # Errors
    /// The query's checkpoint said so.
    fn look_at_all(
        &mut self,
        query: &Query,
        text: &[u8],
        sink: &mut dyn FnMut(Finding),
    ) -> Result<(), Stopped> {
        for view in stretches(text) {
            self.look(query, view, sink);
            query.checkpoint.pass()?;
        }
        Ok(())
    }

    /// All candidates of a text, in order of their starts.
    fn candidates(&mut self, query: &Query, text: &[u8]) -> Vec<Finding> {
        for view in stretches(text) {
            self.run(query, view);
        }
        let mut all = std::mem::take(&mut self.found);
        all.sort_unstable_by_key(|one| (one.span.start, one.span.end, one.rule));
        all
    }

    /// Begins another text, with what its label says.
    fn begin(&mut self, label: Option<&Label>) {
        self.tracks.reset();
        self.masks.reset();
        self.found.clear();
        self.resolver.reset();
        if let Some(label) = label {
            self.tracks.begin(label.text().len(), label.meaning());
        }
    }
}

/// A text whose view is made at once is no longer, in bytes: the way back from a long one is not kept whole.
const AT_ONCE: usize = 256 << 10;

/// What scans of whole texts need: progress, and the last text that did not read as it is written.
#[derive(Default)]
pub(crate) struct WholeScan {
    progress: ScanProgress,
    normal: Normalizer,
    view: Vec<u8>,
}

impl WholeScan {
    /// Steps of all texts so far that were looked at at once.
    pub(crate) fn steps(&self) -> usize {
        self.progress.steps
    }

    /// Gives all findings of a text that `label` says something of to `sink`.
    ///
    /// # Errors
    /// The query's checkpoint said so.
    pub(crate) fn look(
        &mut self,
        query: &Query,
        label: Option<&Label>,
        text: &str,
        sink: &mut dyn FnMut(Finding),
    ) -> Result<(), Stopped> {
        let needs = normal::needs(text);
        if needs && text.len() > AT_ONCE {
            let mut scanner = Scanner::new(query.clone());
            scanner.begin(label);
            scanner.feed_all(text, sink)?;
            scanner.end(sink);
            return Ok(());
        }
        self.progress.begin(label);
        if label.is_none() && !needs {
            return self.progress.look_at_all(query, text.as_bytes(), sink);
        }
        self.read(label, text);
        let Self { progress, normal, view } = self;
        progress.look_at_all(query, view, &mut |finding| sink(normal.to_source(finding)))
    }

    /// All candidates of a text, in order of their starts.
    pub(crate) fn candidates(&mut self, query: &Query, text: &str) -> Vec<Finding> {
        self.progress.begin(None);
        self.read(None, text);
        let all = self.progress.candidates(query, &self.view);
        all.into_iter().map(|finding| self.normal.to_source(finding)).collect()
    }

    fn read(&mut self, label: Option<&Label>, text: &str) {
        self.view.clear();
        self.view.extend_from_slice(label.map_or("", Label::text).as_bytes());
        self.normal.begin(self.view.len());
        self.normal.push(text, true, &mut self.view);
    }
}

/// Bytes of a whole text that are looked at together.
const STRETCH: usize = 32 << 10;

/// Views of `text` that each see a stretch more of it, the last to its end.
fn stretches(text: &[u8]) -> impl Iterator<Item = View<'_>> {
    let ends = (STRETCH..text.len()).step_by(STRETCH).chain([text.len()]);
    ends.map(|end| View { text: text.get(..end).unwrap_or(text), base: 0, complete: end == text.len() })
}

/// Finds values in a text that arrives in pieces. Made by [`Detector::scanner`](super::Detector::scanner).
pub struct Scanner {
    query: Query,
    progress: ScanProgress,
    /// The text as it reads, behind its label.
    window: Vec<u8>,
    /// Where the window begins in that.
    base: usize,
    normal: Normalizer,
    /// What has come of the text as it is written, and how much of it is decided.
    fed: usize,
    decided: usize,
}

/// All that a scanner carries over from what has come to what comes, wherever its text begins: of two scanners of one detector in
/// the same state, the one finds in the rest of a text what the other finds there.
#[derive(PartialEq)]
pub(super) struct ScannerState {
    tracks: Vec<TrackState>,
    /// Candidates that are not resolved; offsets behind the end of what has come.
    found: Vec<Finding>,
    resolver: ResolverState,
    normal: NormalizerState,
    /// What can still be seen.
    seen: Vec<u8>,
}

/// How much has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScannedLength {
    /// As it reads.
    pub(super) view: usize,
    /// As it is written.
    pub(super) source: usize,
}

impl std::fmt::Debug for Scanner {
    // The window is text from outside.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Scanner({} held)", self.held())
    }
}

impl Scanner {
    pub(crate) fn new(query: Query) -> Self {
        Self {
            query,
            progress: ScanProgress::default(),
            window: Vec::new(),
            base: 0,
            normal: Normalizer::default(),
            fed: 0,
            decided: 0,
        }
    }

    /// Begins a text that is called so, at offset 0; what came of another is forgotten.
    pub fn begin(&mut self, label: Option<&Label>) {
        self.progress.begin(label);
        self.window.clear();
        self.window.extend_from_slice(label.map_or("", Label::text).as_bytes());
        self.normal.begin(self.window.len());
        (self.base, self.fed, self.decided) = (0, 0, 0);
    }

    /// As [`feed`](Self::feed) of all of a piece, so much at a time that what is kept of it stays near the processor.
    ///
    /// # Errors
    /// The detector is to stop.
    pub(crate) fn feed_all(&mut self, piece: &str, sink: &mut dyn FnMut(Finding)) -> Result<(), Stopped> {
        let mut rest = piece;
        while !rest.is_empty() {
            self.query.checkpoint.pass()?;
            let (next, behind) = rest.split_at(rest.floor_char_boundary(STRETCH));
            self.feed(next, sink);
            rest = behind;
        }
        Ok(())
    }

    /// Takes the next piece, gives the findings that are settled to `sink` in order, and returns the offset up to
    /// which the text is decided: a character boundary, never less than before. Offsets count bytes from the
    /// text's beginning; findings lie wholly below the offset returned.
    pub fn feed(&mut self, piece: &str, sink: &mut dyn FnMut(Finding)) -> usize {
        self.fed += piece.len();
        self.normal.push(piece, false, &mut self.window);
        let decided = self.look(false, sink);
        let decided = self.boundary(decided.min(self.base + self.window.len()));
        self.decided = self.normal.source(decided).max(self.decided);
        self.move_on();
        self.decided
    }

    /// The text has ended: settles the rest and begins anew at offset 0.
    pub fn end(&mut self, sink: &mut dyn FnMut(Finding)) {
        self.last("", sink);
    }

    /// Takes the last piece, with which the text ends: what [`feed`](Self::feed) and [`end`](Self::end) find, in one look.
    pub fn last(&mut self, piece: &str, sink: &mut dyn FnMut(Finding)) {
        self.normal.push(piece, true, &mut self.window);
        self.look(true, sink);
        self.begin(None);
    }

    fn look(&mut self, complete: bool, sink: &mut dyn FnMut(Finding)) -> usize {
        let Self { query, progress, window, base, normal, .. } = self;
        let view = View { text: window, base: *base, complete };
        progress.look(query, view, &mut |finding| sink(normal.to_source(finding)))
    }

    /// How much of the text has come.
    pub(super) fn length(&self) -> ScannedLength {
        ScannedLength { view: self.base + self.window.len(), source: self.fed }
    }

    /// What it carries over; `None` in the middle of something that has begun before what it keeps of the text.
    pub(super) fn state(&self) -> Option<ScannerState> {
        let ScanProgress { tracks, found, resolver, .. } = &self.progress;
        let (frontier, end) = (tracks.frontier(), self.base + self.window.len());
        let seen = frontier.saturating_sub(LOOKBACK);
        Some(ScannerState {
            tracks: tracks.state(self.window.len())?,
            found: found.iter().map(|one| one.moved(end.wrapping_neg())).collect(),
            resolver: resolver.state(self.base + frontier, end),
            normal: self.normal.state(self.base + seen)?,
            seen: self.window.get(seen..).unwrap_or_default().to_vec(),
        })
    }

    /// Keeps no more memory than what it carries over needs.
    pub(super) fn shrink(&mut self) {
        self.window.shrink_to_fit();
        self.progress.masks = Masks::default();
    }

    /// Goes on where `other` has come, before whose text `before` came in this one. The offset up to which the text is decided.
    pub(super) fn take_over(&mut self, other: Self, before: ScannedLength) -> usize {
        let ScanProgress { tracks, found, mut resolver, steps, .. } = other.progress;
        resolver.shift(before.view);
        let progress = &mut self.progress;
        progress.tracks = tracks;
        progress.found = found.into_iter().map(|one| one.moved(before.view)).collect();
        progress.resolver = resolver;
        progress.steps = progress.steps.saturating_add(steps);
        // The bits are worked out anew for what is kept.
        progress.masks.reset();
        self.window = other.window;
        self.base = other.base + before.view;
        self.normal = other.normal;
        self.normal.shift(before.view, before.source);
        self.fed = other.fed + before.source;
        self.decided = self.decided.max(other.decided + before.source);
        self.decided
    }

    /// What its texts have cost so far, as [`Cache::steps`](super::Cache::steps) counts it.
    pub fn steps(&self) -> usize {
        self.progress.steps
    }

    /// Bytes taken in that are not decided yet.
    pub fn held(&self) -> usize {
        self.fed - self.decided
    }

    /// The last character boundary at or before `offset` of the view.
    fn boundary(&self, offset: usize) -> usize {
        let inside = |offset: &usize| {
            let byte = offset.checked_sub(self.base).and_then(|at| self.window.get(at));
            byte.is_some_and(|byte| byte & 0xC0 == 0x80)
        };
        (0..4).filter_map(|back| offset.checked_sub(back)).find(|offset| !inside(offset)).unwrap_or(offset)
    }

    /// Drops what is no longer needed from the window.
    fn move_on(&mut self) {
        let unused = self.progress.tracks.frontier().saturating_sub(LOOKBACK) / BLOCK * BLOCK;
        if unused >= SLACK {
            self.window.drain(..unused);
            self.progress.tracks.shift(unused);
            self.progress.masks.shift(unused);
            self.base += unused;
            self.normal.forget(self.base);
        }
    }
}
