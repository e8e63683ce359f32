//! Signatures of JSON Web Signature (RFC 7515, RFC 7518 section 3, RFC 8037), by aws-lc.
//!
//! | file | noun |
//! |---|---|
//! | `algorithm` | [`JwsAlgorithm`] and the [`KeyKind`] each takes |
//! | `signing` | [`SigningKey`] |
//! | `public` | [`PublicKey`] and its [`Numbers`] |
//! | `pem` | [`private_key`] and [`public_key`] in PEM |
//! | `error` | [`JwsError`] |
//! | `roca` | RSA keys that can be factored |
//! | `small_order` | keys of Ed25519 under which anything verifies |
//! | `der` | the few shapes of DER that public keys come in |

mod algorithm;
mod der;
mod error;
mod pem;
mod public;
mod roca;
mod signing;
mod small_order;

#[cfg(test)]
mod tests;

pub use algorithm::{JwsAlgorithm, KeyKind};
pub use error::JwsError;
pub use pem::{private_key, private_pem, public_key, public_pem};
pub use public::{Numbers, PublicKey};
pub use signing::{RsaBits, SigningKey};
