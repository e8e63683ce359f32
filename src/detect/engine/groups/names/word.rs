//! A word of a sequence.

use super::lexicon::Classes;
use super::spelling::Spelling;

/// A word of a sequence.
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) lower: String,
    pub(super) classes: Classes,
    pub(super) spelling: Spelling,
    /// A particle in lower case.
    pub(super) particle: bool,
}
