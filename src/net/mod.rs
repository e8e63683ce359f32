//! Going out.

/// A URL as browsers read it (WHATWG URL).
pub use reqwest::Url;
