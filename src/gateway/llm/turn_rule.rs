//! [`TurnRule`]: texts of a stream of which only one kind goes on at a time.

/// Texts that go on side by side. Where a text begins of another rule, they are complete: clients keep the order.
pub struct TurnRule {
    /// Those of the deltas, by their places.
    pub of: &'static [&'static str],
    /// How they follow one another.
    pub order: TurnOrder,
}

/// How texts of one rule follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnOrder {
    /// Side by side, whatever they are told apart by.
    Together,
    /// One at a time, as they are told apart by their keys.
    ByKey,
    /// Side by side, and each begins with its first event though nothing of it is there: the arguments of calls. A text in the
    /// same event was there before.
    Calls,
}

/// A [`TurnRule`] whose deltas are numbers.
pub(super) struct CompiledTurn {
    pub(super) of: Vec<usize>,
    pub(super) order: TurnOrder,
}
