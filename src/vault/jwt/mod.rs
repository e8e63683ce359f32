//! JSON Web Tokens (RFC 7519) as compact JWS (RFC 7515): signed, read, verified, judged. The algorithm is the key's,
//! never the token's, and nothing in a token says where a key might be found.
//!
//! | file | noun |
//! |---|---|
//! | `sign` | [`sign`] |
//! | `compact` | [`Unverified`], which tells no claims, and [`Verified`], which only verification makes |
//! | `key` | [`VerifyingKey`] |
//! | `policy` | [`Policy`]: what claims must say; [`Claims`] that do |
//! | `introspected` | [`Introspected`]: what a server says of a token that says nothing by itself |
//! | `jwk` | [`Jwk`], [`JwkSet`] and thumbprints |
//! | `strict` | JSON in which no name comes twice |
//! | `error` | [`JwtError`] |

mod compact;
mod error;
mod introspected;
mod jwk;
mod key;
mod policy;
mod sign;
mod strict;

#[cfg(test)]
mod forgeries_tests;
#[cfg(test)]
mod jwk_tests;
#[cfg(test)]
mod policy_tests;
#[cfg(test)]
mod vectors_tests;

pub use compact::{CLAIMS_DEPTH, LONGEST_HEADER, LONGEST_TOKEN, Unverified, Verified};
pub use error::JwtError;
pub use introspected::Introspected;
pub use jwk::{Jwk, JwkSet};
pub use key::VerifyingKey;
pub use policy::{Audience, Claims, ClaimsError, Policy};
pub use sign::sign;
