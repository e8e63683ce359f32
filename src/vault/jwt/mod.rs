//! JSON Web Tokens: signed with the vault's keys, verified with those of anyone.
//!
//! | file | noun |
//! |---|---|
//! | `compact` | [`Compact`]: a token as it came, which nobody has verified |
//! | `verify` | [`VerifyingKey`], and [`Verified`]: what a token says that holds |
//! | `sign` | [`sign`] |
//! | `jwk` | [`Jwk`] and [`JwkSet`] |
//! | `policy` | [`Policy`]: what a verified token must say |

mod compact;
mod jwk;
mod policy;
mod sign;
mod verify;

#[cfg(test)]
mod tests;

pub use compact::{Compact, MAX_TOKEN, NotCompact};
pub use jwk::{Jwk, JwkSet};
pub use policy::{Denied, Policy};
pub use sign::sign;
pub use verify::{Verified, VerifyingKey};
