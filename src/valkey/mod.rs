//! The one door to a Valkey or Redis: scripts that several processes run on figures which they have in common.
//!
//! | file | noun |
//! |---|---|
//! | `engine` | [`Valkey`]: a connection that is left alone for a moment after it failed; [`ValkeyScript`]: what it runs |

mod engine;

pub use engine::{EngineUrlError, Valkey, ValkeyParts, ValkeyScript};
