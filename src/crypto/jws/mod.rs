//! Signatures of JSON Web Signature (RFC 7515, RFC 7518 section 3, RFC 8037), by aws-lc.
//!
//! | file | noun |
//! |---|---|
//! | `algorithm` | [`JwsAlgorithm`] and the [`KeyKind`] each takes |
//! | `signing` | [`SigningKey`] |
//! | `public` | [`PublicKey`] and its [`Numbers`] |
//! | `pem` | [`private_key`] and [`public_key`] in PEM |
//! | `roca` | RSA keys that can be factored |
//! | `small_order` | keys of Ed25519 under which anything verifies |
//! | `der` | the few shapes of DER that public keys come in |

mod algorithm;
mod der;
mod pem;
mod public;
mod roca;
mod signing;
mod small_order;

#[cfg(test)]
mod tests;

pub use algorithm::{JwsAlgorithm, KeyKind};
pub use pem::{private_key, private_pem, public_key, public_pem};
pub use public::{Numbers, PublicKey};
pub use signing::{RsaBits, SigningKey};

/// Why a key cannot be used. Holds nothing of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JwsError {
    /// It is no key, or none of this algorithm.
    #[error("{0}")]
    Key(&'static str),
    /// The system has no randomness.
    #[error("no randomness")]
    Random,
    /// The library failed.
    #[error("a key cannot be used to sign")]
    Sign,
}
