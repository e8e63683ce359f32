//! File sanitization (specification, group A).
//!
//! | file | noun |
//! |---|---|
//! | `ask` | what a call asks |
//! | `settings` | [`SanitizeSettings`] of a stored config; [`Resolved`]: what holds for one call |
//! | `told` | what is told of a file |
//! | `drafts` | [`SanitizeDrafts`]: settings read from a request |

mod ask;
mod drafts;
mod settings;
mod told;

pub use drafts::{SanitizeDraft, SanitizeDrafts};
pub use settings::{Cdr, Defang, Redact, Resolved, SanitizeSettings, Scan, Sos};
pub use told::{data, summary, why};
