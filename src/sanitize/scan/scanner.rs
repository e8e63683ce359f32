//! [`Scanner`], a [`ScanItem`] that it looks at, its [`Verdict`].

use bytes::Bytes;
use futures_util::future::BoxFuture;

/// What is looked at by itself: a whole file, or something that was unpacked from one.
#[derive(Clone)]
pub struct ScanItem<'a> {
    /// What it is called; only for scanners that go by names.
    pub name: &'a str,
    /// All of it.
    pub bytes: Bytes,
}

/// What a scanner says of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing is known against it.
    Clean,
    /// It is malicious.
    Malicious {
        /// The rule or signature that says so.
        rule: String,
    },
    /// This scanner cannot look at this part (`scan.block_unable_to_scan` decides what follows).
    Unable(ScanFailure),
    /// This scanner looks at nothing now (`ProviderError`).
    Down(ScanFailure),
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScanFailure {
    /// The part is larger than the scanner takes.
    #[error("it is too large")]
    TooLarge,
    /// It is encrypted.
    #[error("it is encrypted")]
    Encrypted,
    /// The time was up.
    #[error("it took too long")]
    TooLong,
    /// The scanner refused it.
    #[error("the scanner refused it")]
    Refused,
    /// The scanner cannot be reached.
    #[error("the scanner cannot be reached")]
    Unreachable,
    /// The connection ended before the answer.
    #[error("the scanner broke off")]
    BrokenOff,
}

/// An engine.
pub trait Scanner: Send + Sync {
    /// What logs call it.
    fn name(&self) -> &'static str;

    /// Looks at a part.
    fn scan<'a>(&'a self, part: ScanItem<'a>) -> BoxFuture<'a, Verdict>;
}

impl std::fmt::Debug for ScanItem<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Part({} bytes)", self.bytes.len())
    }
}
