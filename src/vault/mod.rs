//! Keys and secrets, sealed at rest: what lies in the store is useless without the master key, and a row that was
//! moved or changed there does not open.
//!
//! | file | noun |
//! |---|---|
//! | [`master`] | [`MasterKey`]: where it comes from |
//! | `own_key` | the vault's own, in a file that is made with a new store |
//! | [`hook`] | a master key from a program of the operator's |
//! | [`passphrase`] | a master key from a passphrase; its salt lies in the store |
//! | `origin` | [`KeyOrigin`]: where a master key was taken from, as errors name it |
//! | `wrapping` | one key that seals rows |
//! | `ring` | the keys that seal rows, sealed under the master key |
//! | [`seal`] | [`Seal`]: a key of the ring → sealed row, bound to its place |
//! | [`rotation`] | another master key in place of this one, row by row |
//! | [`items`] | [`items::Items`]: keys, secrets and folders that callers make |
//! | [`jwt`] | [JSON Web Tokens](jwt): signed and verified |
//! | [`keys`] | [`Vault`]: an opened store, and the keys that are made when first wanted |
//! | `error` | [`VaultError`]: why a key or secret could not be had |

mod error;
pub mod hook;
pub mod items;
pub mod jwt;
pub mod keys;
pub mod master;
mod origin;
mod own_key;
pub mod passphrase;
mod ring;
pub mod rotation;
pub mod seal;
mod wrapping;

pub use error::VaultError;
pub use keys::{ENDED, Freshness, PENDING, REMEMBERED, Vault};
pub use master::MasterKey;
pub use origin::KeyOrigin;
pub use rotation::Rotated;
pub use seal::Seal;
