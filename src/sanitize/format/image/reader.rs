//! [`Reader`]: bytes, taken one by one.

/// What is left to read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'f>(pub(super) &'f [u8]);

impl<'f> Reader<'f> {
    /// The next `n` bytes.
    pub(super) fn take(&mut self, n: usize) -> Option<&'f [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }

    /// The next `N` bytes.
    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    /// The next byte.
    pub(super) fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }
}
