//! [`sign`]: a payload and a key become a token.

use data_encoding::BASE64URL_NOPAD;
use serde_json::json;

use crate::crypto::jws::{JwsError, SigningKey};

/// A JWS in compact serialization over the payload's bytes as they are given, with `alg`, `kid` and `typ` in its header.
///
/// # Errors
/// [`JwsError::Sign`].
pub fn sign(key: &SigningKey, kid: &str, payload: &[u8]) -> Result<String, JwsError> {
    let header = json!({ "alg": key.algorithm().name(), "kid": kid, "typ": "JWT" });
    let mut token = BASE64URL_NOPAD.encode(header.to_string().as_bytes());
    token.push('.');
    BASE64URL_NOPAD.encode_append(payload, &mut token);
    let signature = key.sign(token.as_bytes())?;
    token.push('.');
    BASE64URL_NOPAD.encode_append(&signature, &mut token);
    Ok(token)
}
