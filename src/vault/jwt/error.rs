//! Why a token was not made or not believed. Holds nothing of it.

use crate::crypto::jws::JwsError;

/// Why a token was not made or not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JwtError {
    /// Not a compact JWS (RFC 7515 section 7.1): not three parts, or one of the first two isn't base64url, or its
    /// header isn't one JSON object with each name once, or it is longer than is read.
    #[error("not a compact JWS")]
    Malformed,
    /// A compact JWS that asks for what is never done: `crit` or `b64` in its header.
    #[error("the token asks for an extension")]
    Extension,
    /// The token names another algorithm than its key's, or none.
    #[error("the token is not for this key's algorithm")]
    Algorithm,
    /// The signature isn't the key's for this token.
    #[error("the signature does not verify")]
    Signature,
    /// What should be signed is not JSON, or a name comes twice in it.
    #[error("the payload is not JSON with each name once")]
    Payload,
    /// What should be signed is JSON but not an object.
    #[error("the payload is not a JSON object")]
    NotObject,
    /// Not a public key for signatures, in the form of a JSON Web Key (RFC 7517).
    #[error("not a usable JSON Web Key")]
    Jwk,
    /// The key itself.
    #[error(transparent)]
    Key(#[from] JwsError),
}
