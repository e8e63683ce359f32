//! A value that cannot be printed by accident.
//!
//! [`Secret`] has no `Display` and no `Serialize`; its `Debug` says only that something is there. It is wiped
//! when dropped and compared in constant time. Reading it takes a call whose name shows in review.

use subtle::ConstantTimeEq;
use zeroize::Zeroize;

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

#[cfg(test)]
mod tests {
    use super::Secret;

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
