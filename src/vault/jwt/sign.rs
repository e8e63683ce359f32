//! Makes a token.

use data_encoding::BASE64URL_NOPAD;
use serde::Serialize;

use crate::crypto::jws::SigningKey;
use crate::vault::jwt::compact::CLAIMS_DEPTH;
use crate::vault::jwt::{JwtError, strict};

#[derive(Serialize)]
struct JwsHeader<'a> {
    alg: &'static str,
    kid: &'a str,
    typ: &'static str,
}

/// Signs `payload`, a JSON object's text, and gives the compact JWS (RFC 7515 section 3.1). The text is signed as it is,
/// byte for byte: nothing is added, left out or written anew. The header has `alg`, `kid` and `typ: JWT`.
///
/// # Errors
/// [`JwtError::Payload`] if the text is not JSON, has a name twice in an object or is more than 64 deep;
/// [`JwtError::NotObject`] if it is not an object; [`JwtError::Key`] if the library fails.
pub fn sign(key: &SigningKey, kid: &str, payload: &str) -> Result<String, JwtError> {
    strict::object(payload.as_bytes(), CLAIMS_DEPTH)?;
    let header = JwsHeader { alg: key.algorithm().name(), kid, typ: "JWT" };
    let header = serde_json::to_vec(&header).map_err(|_| JwtError::Malformed)?;
    let encoded = [header.len(), payload.len(), 512].map(|length| BASE64URL_NOPAD.encode_len(length) + 1);
    let mut token = String::with_capacity(encoded.iter().sum());
    BASE64URL_NOPAD.encode_append(&header, &mut token);
    token.push('.');
    BASE64URL_NOPAD.encode_append(payload.as_bytes(), &mut token);
    let signature = key.sign(token.as_bytes())?;
    token.push('.');
    BASE64URL_NOPAD.encode_append(&signature, &mut token);
    Ok(token)
}
