//! [`Compact`]: a JWS in compact serialization (RFC 7515 section 3.1), read strictly. What it says may be anybody's
//! words: only the header can be asked here, and only to choose a key.

use std::fmt;

use data_encoding::BASE64URL_NOPAD;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;

/// The longest token, in bytes.
pub const MAX_TOKEN: usize = 1 << 20;

/// The longest header, decoded, in bytes.
const MAX_HEADER: usize = 16 << 10;

/// The text is no JWS in compact serialization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a JWS in compact serialization")]
pub struct NotCompact;

/// A token as it came. Nobody has verified it.
pub struct Compact<'t> {
    /// What is signed: header and payload as they are written.
    pub(super) signed: &'t str,
    /// The signature as it is written.
    pub(super) signature: &'t str,
    pub(super) payload: Vec<u8>,
    header: Header,
}

/// The members of a header that matter.
#[derive(Debug, Default)]
struct Header {
    alg: String,
    kid: Option<String>,
    /// Something that must be understood, and is not (RFC 7515 section 4.1.11; RFC 7797).
    critical: bool,
}

impl<'t> Compact<'t> {
    /// Reads a token.
    ///
    /// # Errors
    /// [`NotCompact`]: not three parts of base64url without padding (RFC 4648 section 5, unused bits zero), a header
    /// that is no JSON object, says a member twice or has no text as `alg`, or too long.
    pub fn parse(token: &'t str) -> Result<Self, NotCompact> {
        if token.len() > MAX_TOKEN {
            return Err(NotCompact);
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(NotCompact)?;
        let (header, payload) = signed.split_once('.').ok_or(NotCompact)?;
        let decode = |part: &str| BASE64URL_NOPAD.decode(part.as_bytes()).map_err(|_| NotCompact);
        let (header, payload) = (decode(header)?, decode(payload)?);
        decode(signature)?;
        if header.len() > MAX_HEADER {
            return Err(NotCompact);
        }
        let header = serde_json::from_slice::<Header>(&header).map_err(|_| NotCompact)?;
        Ok(Self { signed, signature, payload, header })
    }

    /// The algorithm that the token claims.
    pub fn alg(&self) -> &str {
        &self.header.alg
    }

    /// The key that the token names.
    pub fn kid(&self) -> Option<&str> {
        self.header.kid.as_deref()
    }

    /// Whether the header has extensions that must be understood.
    pub(super) fn is_critical(&self) -> bool {
        self.header.critical
    }
}

impl fmt::Debug for Compact<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Compact({} bytes)", self.signed.len())
    }
}

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Header;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JOSE header")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
                let (mut header, mut seen) = (Header::default(), std::collections::HashSet::new());
                let mut alg = None;
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    match (name.as_str(), value) {
                        ("alg", Value::String(text)) => alg = Some(text),
                        ("kid", Value::String(text)) => header.kid = Some(text),
                        ("alg" | "kid", _) => return Err(A::Error::custom("not a text")),
                        ("crit" | "b64", _) => header.critical = true,
                        _ => {}
                    }
                    if !seen.insert(name) {
                        return Err(A::Error::custom("a member twice"));
                    }
                }
                header.alg = alg.ok_or_else(|| A::Error::custom("no algorithm"))?;
                Ok(header)
            }
        }
        reader.deserialize_map(Members)
    }
}
