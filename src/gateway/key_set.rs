//! [`KeySet`]: a JWK set that was read (RFC 7517 section 5), and tokens that one of its keys has signed.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Read;
use std::path::Path;

use crate::base::regular_file;
use crate::crypto::jws::JwsAlgorithm;
use crate::vault::jwt::{JwkSet, Unverified, Verified, VerifyingKey};

/// The largest set, in bytes.
pub(super) const MAX_SET: usize = 1 << 20;

/// What is said of a larger one.
pub(super) const TOO_LARGE: &str = "the JWK set is too large";

/// The most keys of a set.
const MAX_KEYS: usize = 1000;

/// The most keys that are tried for a token.
const TRIED: usize = 16;

/// A set that was read.
pub struct KeySet {
    named: BTreeMap<String, Vec<VerifyingKey>>,
    nameless: Vec<VerifyingKey>,
}

impl KeySet {
    /// Reads a set (RFC 7517 section 5). Keys that are not for signatures, or of kinds that are not known, are passed
    /// over.
    ///
    /// # Errors
    /// What is no set, is larger than 1 MiB or 1000 keys, or has no key that can be used, in words for the operator.
    pub fn read(json: &[u8]) -> Result<Self, &'static str> {
        if json.len() > MAX_SET {
            return Err(TOO_LARGE);
        }
        let set = JwkSet::parse(json).map_err(|_| "this is no JWK set")?;
        if set.keys.len() > MAX_KEYS {
            return Err(TOO_LARGE);
        }
        let mut keys = Self { named: BTreeMap::new(), nameless: Vec::new() };
        for jwk in &set.keys {
            // An RSA key that does not say is nearly always this.
            let algorithm = jwk.algorithm().unwrap_or(JwsAlgorithm::Rs256);
            let Ok(key) = jwk.public_key(algorithm).map(|key| VerifyingKey::public(&key)) else { continue };
            match jwk.kid() {
                Some(kid) => keys.named.entry(kid.to_owned()).or_default().push(key),
                None => keys.nameless.push(key),
            }
        }
        if keys.named.is_empty() && keys.nameless.is_empty() {
            return Err("the JWK set has no key that can be used");
        }
        Ok(keys)
    }

    /// Reads the set in a file, and no more of it than a set may have.
    ///
    /// # Errors
    /// A file that cannot be read, and as [`KeySet::read`].
    pub fn file(path: &Path) -> Result<Self, &'static str> {
        let mut json = Vec::new();
        let file =
            regular_file::open(path, OpenOptions::new().read(true)).map(|file| file.take(MAX_SET as u64 + 1));
        let read = file.and_then(|mut file| file.read_to_end(&mut json));
        read.map_err(|_| "the file of keys cannot be read")?;
        Self::read(&json)
    }

    /// Whether a token's name for its key is known here. A token without one may be of any key.
    pub(super) fn knows(&self, kid: Option<&str>) -> bool {
        kid.is_none_or(|kid| self.named.contains_key(kid))
    }

    /// What the token says, if one of the keys that may have signed it has.
    pub(super) fn verify(&self, token: &str, kid: Option<&str>) -> Option<Verified> {
        let named = kid.and_then(|kid| self.named.get(kid));
        let all = self.named.values().flatten().filter(|_| kid.is_none());
        let mut keys = named.into_iter().flatten().chain(all).chain(&self.nameless).take(TRIED);
        keys.find_map(|key| Unverified::parse(token).ok()?.verify(key).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An Ed25519 key (RFC 8037 appendix A.2).
    const KEY: &str =
        r#"{"kty":"OKP","crv":"Ed25519","alg":"EdDSA","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;

    fn set(keys: usize, spaces: usize) -> String {
        format!(r#"{{"keys":[{}]}}{}"#, vec![KEY; keys].join(","), " ".repeat(spaces))
    }

    #[test]
    fn a_set_has_its_limits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        let spare = MAX_SET - set(1, 0).len();
        let rows = [
            (set(1, 0), None),
            (set(MAX_KEYS, 0), None),
            (set(MAX_KEYS + 1, 0), Some(TOO_LARGE)),
            (set(1, spare), None),
            (set(1, spare + 1), Some(TOO_LARGE)),
            (set(0, 0), Some("the JWK set has no key that can be used")),
            ("[]".to_owned(), Some("this is no JWK set")),
        ];
        for (json, why) in rows {
            assert_eq!(KeySet::read(json.as_bytes()).err(), why, "{} bytes", json.len());
            std::fs::write(&path, &json).unwrap();
            assert_eq!(KeySet::file(&path).err(), why, "{} bytes", json.len());
        }
        assert_eq!(KeySet::file(folder.path()).err(), Some("the file of keys cannot be read"));
    }
}
