//! [`Coding`], and how a head names codings.

/// A content coding, as registered with IANA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coding {
    /// RFC 1952.
    Gzip,
    /// The zlib format (RFC 1950). Some servers send raw deflate (RFC 1951) under this name; a decoder takes both,
    /// as browsers do.
    Deflate,
    /// Brotli (RFC 7932).
    Br,
    /// Zstandard (RFC 8878), with a window of at most 8 MiB (RFC 9659).
    Zstd,
}

/// Why a list of codings cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodingError {
    /// One of the codings is none of ours.
    #[error("the content coding is none of gzip, deflate, br and zstd")]
    Unknown,
    /// Nobody applies so many; whoever does wants to be expanded more than once.
    #[error("more than {MAX_CODINGS} content codings are applied")]
    TooMany,
}

impl Coding {
    /// Reads the value of `content-encoding`: the codings in the order in which they were applied, so that the last
    /// is to be decoded first. `identity` and empty elements are left out; an alias is its coding.
    pub fn parse(value: &str) -> Result<Vec<Self>, CodingError> {
        let mut codings = Vec::new();
        for name in value.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            if name.eq_ignore_ascii_case("identity") {
                continue;
            }
            let known = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
            codings.push(known.ok_or(CodingError::Unknown)?.1);
        }
        if codings.len() > MAX_CODINGS { Err(CodingError::TooMany) } else { Ok(codings) }
    }

    /// The registered name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, coding)| *coding == self).map_or("", |(name, _)| name)
    }
}

/// The first name of a coding is the registered one.
const NAMES: [(&str, Coding); 5] = [
    ("gzip", Coding::Gzip),
    ("x-gzip", Coding::Gzip),
    ("deflate", Coding::Deflate),
    ("br", Coding::Br),
    ("zstd", Coding::Zstd),
];

/// How many codings one body may have.
const MAX_CODINGS: usize = 2;

/// Bytes of output made in one step.
pub(super) const BLOCK: usize = 16 * 1024;
