//! What the model says of a piece, and of a word.

/// How sure the model is of a piece: probabilities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Certainty {
    pub(super) person: f32,
    pub(super) place: f32,
}

/// A word of a text, and how sure the model is that it is of a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ModelWord {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) person: f32,
    pub(super) place: f32,
}
