//! Links: where they are written in a text, and what they look like once nobody can follow them by mistake.
//!
//! | file | noun |
//! |---|---|
//! | `find` | [`FoundLink`]: a link in a text |
//! | `host` | what may be the name of a host |
//! | `target` | a link that is all of a text: `href`, `LinkTarget`, `/URI` |
//! | `defang` | `hxxp`, `[.]` |
//! | `plain` | [`LinkText`]: a link without its escapes |

mod defang;
mod find;
mod host;
mod plain;
mod target;

pub use defang::{defang, defang_front};
pub use find::{FoundLink, find};
pub use plain::LinkText;
pub use target::{LinkTarget, target};
