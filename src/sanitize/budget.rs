//! [`UnfoldBounds`] on what a file may unfold to, and what of them is used.

use serde::{Deserialize, Serialize};

use crate::sanitize::Rejection;

/// How much a file may unfold to, all parts within parts together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnfoldBounds {
    /// Files within files.
    pub depth: u32,
    /// Objects, members, elements that are looked at.
    pub items: u64,
    /// Bytes after unpacking.
    pub bytes: u64,
    /// Requests to the host about parts, links and texts: each passes through a pipe, however little it is about.
    pub asks: u64,
}

/// What may always be unfolded, in bytes: a blank page of 300 dots an inch in colour has 26 MB.
pub(super) const FREE: u64 = 32 << 20;

/// Bytes for each byte read, once there are more than [`FREE`].
pub(super) const RATIO: u64 = 200;

/// What a small file may unfold to, all parts together, in bytes.
const SMALL: u64 = 64 << 20;

impl UnfoldBounds {
    /// The same for a file of so many bytes: it unfolds to no more than 200 times that, or 64 MiB.
    pub fn of_file(self, length: usize) -> Self {
        let most = RATIO.saturating_mul(length as u64).max(SMALL);
        Self { bytes: self.bytes.min(most), ..self }
    }
}

impl Default for UnfoldBounds {
    fn default() -> Self {
        Self { depth: 8, items: 2_000_000, bytes: 1 << 30, asks: 100_000 }
    }
}

/// What is left of the bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoundsLeft(UnfoldBounds);

impl BoundsLeft {
    pub(super) fn new(bounds: UnfoldBounds) -> Self {
        Self(bounds)
    }

    /// The bytes that may still be unpacked.
    pub(super) fn bytes(self) -> u64 {
        self.0.bytes
    }

    pub(super) fn spend(&mut self, items: u64, bytes: u64) -> Result<(), Rejection> {
        let (items, bytes) = (self.0.items.checked_sub(items), self.0.bytes.checked_sub(bytes));
        (self.0.items, self.0.bytes) =
            (items.ok_or(Rejection::OverLimit)?, bytes.ok_or(Rejection::OverLimit)?);
        Ok(())
    }

    pub(super) fn ask(&mut self) -> Result<(), Rejection> {
        self.0.asks = self.0.asks.checked_sub(1).ok_or(Rejection::OverLimit)?;
        Ok(())
    }

    pub(super) fn descend(&mut self) -> Result<(), Rejection> {
        self.0.depth = self.0.depth.checked_sub(1).ok_or(Rejection::OverLimit)?;
        Ok(())
    }

    pub(super) fn ascend(&mut self) {
        self.0.depth = self.0.depth.saturating_add(1);
    }
}
