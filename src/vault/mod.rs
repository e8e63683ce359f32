//! Keys and secrets, sealed at rest: what lies in the store is useless without the master key, and a row that was
//! moved or changed there does not open.
//!
//! | file | noun |
//! |---|---|
//! | [`master`] | [`MasterKey`]: where it comes from |
//! | [`seal`] | [`Seal`]: master key → wrapping key → sealed row, bound to its place |
//! | [`items`] | [`items::Items`]: keys, secrets and folders that callers make |
//! | [`jwt`] | [JSON Web Tokens](jwt): signed and verified |
//! | [`keys`] | [`Vault`]: an opened store, and the keys that are made when first wanted |

mod error;
pub mod items;
pub mod jwt;
pub mod keys;
pub mod master;
pub mod seal;

pub use error::VaultError;
pub use keys::Vault;
pub use master::{MasterKey, Origin};
pub use seal::Seal;
