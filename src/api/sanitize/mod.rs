//! File sanitization (specification, group A).
//!
//! | file | noun |
//! |---|---|
//! | `request` | what a call asks |
//! | `settings` | [`SanitizeSettings`] of a stored config; [`Resolved`]: what holds for one call |
//! | `order` | what a job is to do |
//! | `handler` | [`Sanitize`]: `POST /v1/sanitize` |
//! | `service` | [`Sanitizer`]: what calls share |
//! | `run` | one job from its file to its answer |
//! | `response` | what the answer says |
//! | `file_report` | what is told of a file |
//! | `documents` | [`Documents`]: files within other requests |
//! | `drafts` | [`SanitizeDrafts`]: settings read from a request |

mod documents;
mod drafts;
mod file_report;
mod handler;
mod order;
mod request;
mod response;
mod run;
mod service;
mod settings;

pub use documents::{DocumentError, Documents, RedactedDocument};
pub use drafts::{SanitizeDraft, SanitizeDrafts};
pub use file_report::{LookedUp, SanitizeTerms, data, refusal, summary, why};
pub use handler::Sanitize;
pub use service::{Sanitizer, SanitizerServices};
pub use settings::{Cdr, DEFAULT_PROVIDER, Defang, RedactOptions, Resolved, SanitizeSettings, Scan, Sos};
