//! [`Tail`]: whether what is shown is all there is.

/// Whether bytes may follow those shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    Open,
    Closed,
}
