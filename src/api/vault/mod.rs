//! The vault's operations (version 2 of the vendor's interface).
//!
//! | file | noun |
//! |---|---|
//! | `request` | what several calls say in the same way |
//! | `export` | [`Export`] |
//! | `items` | [`GetItem`], [`UpdateItem`], [`DeleteItem`], [`ChangeState`], [`CreateFolder`] |
//! | `jwks` | [`Jwks`]: public keys for whoever asks |
//! | `jwt` | [`SignJwt`], [`VerifyJwt`], [`GetJwk`] |
//! | `keys` | [`GenerateKey`], [`StoreKey`], [`RotateKey`] |
//! | `list` | [`ListItems`] |
//! | `response` | [`ItemResponse`]: an item as callers see it |
//! | `secrets` | [`StoreSecret`], [`RotateSecret`] |

mod export;
mod items;
mod jwks;
mod jwt;
mod keys;
mod list;
mod request;
mod response;
mod secrets;

pub use export::Export;
pub use items::{ChangeState, CreateFolder, DeleteItem, GetItem, UpdateItem};
pub use jwks::{JWKS_PATH, Jwks};
pub use jwt::{GetJwk, SignJwt, VerifyJwt};
pub use keys::{GenerateKey, RotateKey, StoreKey};
pub use list::ListItems;
pub use response::ItemResponse;
pub use secrets::{RotateSecret, StoreSecret};
