//! Logs that are only added to, beside the rows of the same stores.
//!
//! | file | noun |
//! |---|---|
//! | `port` | [`LogLines`], the port |
//! | `embedded` | it in the SQLite file |
//! | `postgres` | it in the PostgreSQL database |
//! | `conformance` | one suite that both run (tests only) |

#[cfg(test)]
pub(super) mod conformance;
mod embedded;
mod port;
mod postgres;

pub use port::{Appended, LogEnd, LogLine, LogLines};
