//! Pieces of a text that other threads look at before the scanner comes to them. Each begins a little before its piece, without
//! knowing what stands before that: most often a scan is soon in the state that one of all the text is in. Where it is not (a
//! key or a list goes on for long, say), what it found is not used, and the scanner looks itself. So what is found is the same
//! with any number of threads and any size of the pieces.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::detector::Detector;
use super::finding::Finding;
use super::scanner::{ScannedLength, Scanner, ScannerState};

/// A piece of a text, and what a scanner finds in it if its state is what it most likely is.
pub struct SpeculativeScan {
    piece: String,
    /// The state before the piece, and how much had come then.
    state: ScannerState,
    before: ScannedLength,
    found: Vec<Finding>,
    /// Has come to the piece's end.
    scanner: Scanner,
}

impl std::fmt::Debug for SpeculativeScan {
    // The piece is text from outside.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SpeculativeScan({} bytes, {} found)", self.piece.len(), self.found.len())
    }
}

impl SpeculativeScan {
    /// How much of the text before a piece is most often enough, in bytes.
    pub const CONTEXT: usize = 4 << 10;

    /// What a context begins at a multiple of in its text, in bytes: a scan goes by blocks of as many.
    pub const ALIGNMENT: usize = 64;

    /// Looks at `piece`, before which `context` stands in its text. `None` where something is under way between the two that a
    /// scanner can only know who has seen where it began, and where the detector is to stop.
    pub fn new(detector: &Detector, context: &str, piece: String) -> Option<Self> {
        let mut scanner = detector.scanner();
        scanner.feed(context, &mut |_| {});
        let (state, before) = (scanner.state()?, scanner.length());
        let mut found = Vec::new();
        scanner.feed_all(&piece, &mut |finding| found.push(finding)).ok()?;
        scanner.shrink();
        Some(Self { piece, state, before, found, scanner })
    }

    /// Where its text begins in the scanner's, if the scanner would find the same in `piece`.
    fn offset(&self, scanner: &Scanner, piece: &str) -> Option<ScannedLength> {
        let come = scanner.length();
        let view = come.view.checked_sub(self.before.view)?;
        let source = come.source.checked_sub(self.before.source)?;
        let same = self.piece == piece && scanner.state().is_some_and(|state| state == self.state);
        same.then_some(ScannedLength { view, source })
    }
}

impl Scanner {
    /// As [`feed`](Self::feed), of a piece that `scan` has looked at: what was found there is used if the scanner would find the
    /// same.
    pub fn feed_scanned(
        &mut self,
        piece: &str,
        scan: Option<SpeculativeScan>,
        sink: &mut dyn FnMut(Finding),
    ) -> usize {
        let fitting = scan.and_then(|scan| scan.offset(self, piece).map(|before| (scan, before)));
        let Some((SpeculativeScan { found, scanner, .. }, before)) = fitting else {
            return self.feed(piece, sink);
        };
        found.into_iter().for_each(|finding| sink(finding.moved(before.source)));
        self.take_over(scanner, before)
    }
}

/// Where the scan of the next piece is put for whoever is fed that piece. Clones are one place.
#[derive(Clone, Debug, Default)]
pub struct NextScan(Arc<Mutex<Option<SpeculativeScan>>>);

impl NextScan {
    /// Puts a scan there, in place of what is there.
    pub fn put(&self, scan: Option<SpeculativeScan>) {
        *self.place() = scan;
    }

    /// Takes the scan of `piece`, if that is there.
    pub fn take(&self, piece: &str) -> Option<SpeculativeScan> {
        self.place().take_if(|scan| scan.piece == piece)
    }

    fn place(&self) -> MutexGuard<'_, Option<SpeculativeScan>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "speculative_tests.rs"]
mod tests;
