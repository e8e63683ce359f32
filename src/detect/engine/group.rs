//! A group of rules: those whose values are found in one way.

use super::pass::{Candidates, WindowPass};
use super::track::Track;

/// The rules of one group, compiled.
pub(crate) trait Group: Send + Sync {
    /// Scans on from where `track` stands: pushes the candidates that are decided, in no order, and moves the track to
    /// where the first begins that is not.
    fn scan(&self, pass: &WindowPass<'_>, track: &mut Track, found: &mut Candidates);

    /// Bytes that it takes.
    fn memory(&self) -> usize;
}
