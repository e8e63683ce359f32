//! The routes, in words: where clients call, who may, what the upstream sees, and what comes back.
//!
//! | file | noun |
//! |---|---|
//! | `words` | what a route's settings mean, as sentences |
//! | `effects` | what it means for a route that its settings change |
//! | `section` | [`RoutePages`] |

mod effects;
mod section;
mod words;

pub(super) use effects::{RuledRoute, effects};
pub(super) use section::RoutePages;
pub(super) use words::{is_open, looks_for};
