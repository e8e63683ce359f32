//! Methods of HTTP, as routes name them.

use serde::{Deserialize, Deserializer};

use crate::base::from_text::FromText;

/// A method to match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpMethod(pub http::Method);

const METHODS: [http::Method; 7] = {
    use http::Method as M;
    [M::GET, M::HEAD, M::POST, M::PUT, M::PATCH, M::DELETE, M::OPTIONS]
};

/// Says that a text is no method that can be matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a method, write one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")]
pub struct HttpMethodError;

impl HttpMethod {
    /// Reads the written form: one of the registered methods, in capitals as on the wire.
    pub fn parse(text: &str) -> Result<Self, HttpMethodError> {
        METHODS.iter().find(|known| known.as_str() == text).cloned().map(Self).ok_or(HttpMethodError)
    }
}

impl<'de> Deserialize<'de> for HttpMethod {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        FromText { expected: "a method such as \"POST\"", parse: Self::parse }.read(deserializer)
    }
}
