//! Algorithms without lifecycles: what to do with a key, never where it comes from or how long it may live.
//!
//! | file | noun |
//! |---|---|
//! | [`random`] | the one source of randomness |
//! | [`hash`] | SHA-256, and digests under a salt |
//! | [`jws`] | signatures of tokens |
//! | [`sigv4`] | signatures of requests to AWS |
//! | [`kdf`] | HKDF and HMAC with SHA-256 |
//! | [`passphrase`] | Argon2id |
//! | [`aead`] | AES-256-GCM with a random nonce |
//! | [`cbc`] | AES in CBC mode, for texts that other programs read |
//! | [`fpe`] | format-preserving encryption: FF1, and a keyed PRF for what FF1 does not cover |
//! | `ff1` | FF1 (SP 800-38G) for short strings, without allocations |

pub mod aead;
#[cfg(feature = "server")]
pub mod cbc;
mod ff1;
pub mod fpe;
pub mod hash;
#[cfg(feature = "server")]
pub mod jws;
pub mod kdf;
#[cfg(feature = "server")]
pub mod passphrase;
#[cfg(feature = "server")]
pub mod random;
#[cfg(feature = "server")]
pub mod sigv4;
