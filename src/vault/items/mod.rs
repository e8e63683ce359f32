//! Items of the vault: keys, secrets and folders, each with its versions and their states.
//!
//! | file | noun |
//! |---|---|
//! | [`algorithm`] | [`ItemKind`], [`Purpose`] and [`Algorithm`]: what an item is and is for |
//! | [`folder`] | [`Path`]: where it lies |
//! | [`frequency`] | [`Frequency`]: how often it is rotated |
//! | `list` | [`ListItemsRequest`] and [`Page`]: filters, order, pages |
//! | `material` | [`Material`]: what of a version is kept secret |
//! | `object` | [`Item`] and its [`Version`]s |
//! | `opened` | [`OpenItem`]: an item as it was read, with what it inherits |
//! | `row` | an item as the plaintext of its row |
//! | [`selector`] | [`Selector`]: which versions a call means |
//! | [`state`] | [`VersionState`]: what a version may be used for and may become |
//! | `store` | [`Items`]: reading and writing them |
//! | `tokens` | tokens signed with items ([`Signer`]) and verified against them |
//! | `uses` | what they are for, if their states allow it |
//! | `change` | what becomes of items: made, rotated, changed, removed |

pub mod algorithm;
mod change;
pub mod folder;
pub mod frequency;
mod list;
mod material;
mod object;
mod opened;
mod row;
pub mod selector;
pub mod state;
mod store;
mod tokens;
mod uses;

pub use algorithm::{Algorithm, FpeAlgorithm, ItemKind, Purpose};
pub use change::{ItemChanges, NewItem};
pub use folder::Path;
pub use frequency::Frequency;
pub use list::{ItemFilter, ListItemsRequest, ListedItem, OrderBy, Page, TextFilter};
pub use material::{MAX_SECRET, Material};
pub use object::{Item, KeyFacts, Label, Rotation, Version};
pub use opened::{OpenItem, RotationTime};
pub use selector::Selector;
pub use state::{VersionState, VersionUse};
pub(in crate::vault) use store::{FOLDERS, ITEMS};
pub use store::{Items, MAX_BYTES, MAX_VERSIONS};
pub use tokens::Signer;

#[cfg(test)]
#[path = "items_tests.rs"]
mod tests;
