//! Copies of the audit log's lines, in the store and at a collector. The file has each line first; from there it is copied a
//! moment later, in order. While a copy cannot be made the file holds what is missing, and no request waits for it.
//!
//! | file | noun |
//! |---|---|
//! | `copying` | [`AuditCopies`]: what reads the file and gives its lines on |
//! | `destination` | a place to which lines are copied |
//! | `store` | lines in the store |
//! | `collector` | lines at a collector of OTLP |

mod collector;
mod copying;
mod destination;
mod store;

pub(super) use copying::AuditCopies;
pub use copying::copy_audit_file;
