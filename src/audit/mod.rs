//! The audit log: who did what, when, along which route, to which model, what was found, what was decided,
//! and what it cost. Never a byte of a body.
//!
//! It is a file of JSON lines. Each line holds the hash of the line before it, so that [`verify()`] finds a
//! line that was changed, removed, inserted or moved. There is no key in it: whoever may write the file can
//! write all of it anew, or leave out lines at its end. Against that keep [`Verified::last`] elsewhere from
//! time to time, or copy the lines away as they come.
//!
//! | file | noun |
//! |---|---|
//! | `event` | [`AuditEvent`]: what a line says |
//! | `chain` | the form of a line, and [`ChainLink`]: where a chain stands |
//! | `verify` | [`verify()`]: whether lines are what was written, all of them, in order |
//! | `error` | [`AuditError`] |
//! | `file` | the file: one process writes it, a new one follows when it is moved away |
//! | `writer` | [`AuditLog`]: a queue, and the thread that writes what is in it |
//! | `follow` | [`Follower`]: reads the file as it grows, for copies of it elsewhere |
//! | `export` | [`export()`]: lines of a time, a token or a route, as JSON lines or as CSV |

mod chain;
mod error;
mod event;
mod export;
mod file;
mod follow;
mod verify;
mod writer;

pub use chain::ChainLink;
pub use error::AuditError;
pub use event::{AuditEvent, AuditKind, AuditTokens, Decision};
pub use export::{ExportFilter, ExportFormat, Exported, export};
pub use file::LogPosition;
pub use follow::{FollowedLine, Follower};
pub use verify::{BrokenLine, LineFault, Verified, verify};
pub use writer::AuditLog;
