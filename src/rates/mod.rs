//! How often, over all nodes: shares that several processes count together in Valkey or Redis.
//!
//! | file | noun |
//! |---|---|
//! | `shared` | [`SharedRates`]: shares in an engine that nodes have in common, or at a part of them here while it is gone |

mod shared;

pub use shared::{RateShare, SharedRates};
