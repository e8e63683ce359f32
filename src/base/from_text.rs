//! Reads a value from a string of a configuration file.
//!
//! Through a visitor, not from a finished `String`: only what fails inside the deserializer gets the place of the
//! very value it failed on, also inside an array.

use std::fmt::{self, Display};

use serde::de::{Deserializer, Error, Visitor};

/// What is expected, as a noun phrase with an example, and how to read it.
pub(crate) struct FromText<T, E> {
    pub(crate) expected: &'static str,
    pub(crate) parse: fn(&str) -> Result<T, E>,
}

impl<T, E: Display> FromText<T, E> {
    pub(crate) fn read<'de, D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<T, E: Display> Visitor<'_> for FromText<T, E> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<F: Error>(self, text: &str) -> Result<T, F> {
        (self.parse)(text).map_err(F::custom)
    }
}
