//! Which answers are compressed on their way to callers.

use serde::Deserialize;

use crate::config::{Size, Spanned};

/// `[routes.compression]`: answers are compressed for callers that accept it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Compression {
    /// Content codings; of several that a caller wants alike, the first. At least one.
    pub codings: Spanned<Vec<Spanned<ContentCoding>>>,
    /// Bodies that are known to be shorter stay as they are. Default 1 KiB.
    pub min: Size,
}

/// A content coding that bodies are put into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContentCoding {
    /// RFC 8878.
    Zstd,
    /// RFC 7932.
    Br,
    /// RFC 1952.
    Gzip,
}

impl Default for Compression {
    fn default() -> Self {
        let all = [ContentCoding::Zstd, ContentCoding::Br, ContentCoding::Gzip];
        Self { codings: Spanned::new(all.map(Spanned::new).into()), min: Size::kib(1) }
    }
}
