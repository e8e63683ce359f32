//! A value and where the file says it, so that a check made long after reading can still point at the line.
//!
//! [`Spanned`] reads as the value itself (`Deref`) and compares by it: whoever uses settings need not know that there
//! are positions.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::ops::{Deref, Range};

use serde::{Deserialize, Deserializer};

/// A `T` of the file and its byte range there; `0..0` for what no file said (a default, the command line).
#[derive(Clone, Debug)]
pub struct Spanned<T>(toml::Spanned<T>);

impl<T> Spanned<T> {
    /// A value that no file said.
    pub fn new(value: T) -> Self {
        Self(toml::Spanned::new(0..0, value))
    }

    /// Byte range in the file's text.
    pub fn span(&self) -> Range<usize> {
        self.0.span()
    }

    /// The value, position dropped.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }

    /// Another value that stands for what the file says there.
    pub(crate) fn with<U>(&self, value: U) -> Spanned<U> {
        Spanned(toml::Spanned::new(self.span(), value))
    }

    pub(crate) fn value_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}

impl<T> Deref for Spanned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.get_ref()
    }
}

impl<T: Default> Default for Spanned<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Spanned<T> {}

impl<T: PartialOrd> PartialOrd for Spanned<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: Ord> Ord for Spanned<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

// Lets a map keyed by names be asked by `&str`; sound because the order above is the value's own.
impl Borrow<str> for Spanned<String> {
    fn borrow(&self) -> &str {
        self
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        toml::Spanned::deserialize(deserializer).map(Self)
    }
}
