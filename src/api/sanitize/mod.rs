//! File sanitization (specification, group A).
//!
//! | file | noun |
//! |---|---|
//! | `ask` | what a call asks |
//! | `settings` | [`SanitizeSettings`] of a stored config; [`Resolved`]: what holds for one call |
//! | `drafts` | [`SanitizeDrafts`]: settings read from a request |

mod ask;
mod drafts;
mod settings;

pub use drafts::{SanitizeDraft, SanitizeDrafts};
pub use settings::{Cdr, Defang, Redact, Resolved, SanitizeSettings, Scan, Sos};
