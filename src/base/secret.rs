//! A value that cannot be printed by accident.
//!
//! [`Secret`] has no `Display` and no `Serialize`; its `Debug` says only that something is there. It is wiped
//! when dropped and compared in constant time. Reading it takes a call whose name shows in review. [`SecretText`] is
//! written to, and handed on whole.

use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

/// Holds `T` out of logs, metrics, errors and panics; wiped on drop.
pub struct Secret<T: Zeroize>(T);

impl<T: Zeroize> Secret<T> {
    /// Takes the value in. Copies that the caller keeps are the caller's to wipe.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// The value itself. Keep the borrow short and never format it.
    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl<T: Zeroize + Clone> Clone for Secret<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Zeroize> std::fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl<T: Zeroize> Drop for Secret<T> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl<T: Zeroize + AsRef<[u8]>> PartialEq for Secret<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_ref().ct_eq(other.0.as_ref()).into()
    }
}

impl<T: Zeroize + AsRef<[u8]>> Eq for Secret<T> {}

/// Bytes that are written piece by piece and wiped when dropped; growing leaves no copy behind.
#[derive(Default)]
pub struct SecretText(Zeroizing<Vec<u8>>);

impl SecretText {
    /// Room at first, in bytes.
    const ROOM: usize = 1024;
}

impl std::io::Write for SecretText {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let wanted = self.0.len() + bytes.len();
        if wanted > self.0.capacity() {
            let room = wanted.max(2 * self.0.capacity()).max(Self::ROOM);
            let mut larger = Zeroizing::new(Vec::with_capacity(room));
            larger.extend_from_slice(&self.0);
            self.0 = larger;
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl AsRef<[u8]> for SecretText {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for SecretText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretText(..)")
    }
}

/// How deep calls go that make or clone a key, in bytes; deeper in a build that is not optimized.
const DEEP: usize = if cfg!(debug_assertions) { 128 << 10 } else { 32 << 10 };

/// Overwrites this thread's stack beyond the caller: what was called before may have made a key there and moved it, which
/// leaves a copy.
#[inline(never)]
pub fn wipe_stack() {
    let room = [0u8; DEEP];
    std::hint::black_box(&room);
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::{Secret, SecretText};

    #[test]
    fn what_is_written_is_kept_in_order() {
        let (mut text, mut all) = (SecretText::default(), Vec::new());
        for length in [0, 1, 1023, 1, 5000, 3] {
            let piece = vec![length as u8; length];
            text.write_all(&piece).unwrap();
            all.extend(piece);
        }
        assert_eq!(text.as_ref(), all);
    }

    #[test]
    fn debug_never_shows_the_value() {
        let shown = format!("{:?}", Secret::new(String::from("hunter2")));
        assert_eq!(shown, "Secret(..)");
    }

    #[test]
    fn equality_is_by_content() {
        assert_eq!(Secret::new(vec![1u8, 2]), Secret::new(vec![1u8, 2]));
        assert_ne!(Secret::new(vec![1u8, 2]), Secret::new(vec![1u8, 2, 3]));
    }
}
