//! [`TurnRule`]: texts of a stream of which only one kind goes on at a time.

use crate::gateway::llm::place::ValuePlace;

/// Texts that go on side by side. Where a text of another rule goes on, they are complete, for clients keep the order; in one event
/// those of the rules before it are.
pub struct TurnRule {
    /// Those of the deltas, by their places.
    pub of: &'static [&'static str],
    /// Values that begin such a text though nothing of it is there yet: the name of a call. Empty strings begin none.
    pub begins: &'static [&'static str],
    /// Whether texts of this rule that have other keys follow one another, too.
    pub by_key: bool,
}

impl TurnRule {
    /// Texts side by side, which begin with themselves.
    pub const TEXTS: Self = Self { of: &[], begins: &[], by_key: false };
}

/// A [`TurnRule`] whose deltas are numbers.
pub(super) struct CompiledTurn {
    pub(super) of: Vec<usize>,
    pub(super) begins: Vec<ValuePlace>,
    pub(super) by_key: bool,
}
