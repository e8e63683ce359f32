//! [`JwsError`].

/// Why a key cannot be used. Holds nothing of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JwsError {
    /// It is no key, or none of this algorithm.
    #[error("{0}")]
    Key(&'static str),
    /// The system has no randomness.
    #[error("no randomness")]
    Random,
    /// The library failed.
    #[error("a key cannot be used to sign")]
    Sign,
}
