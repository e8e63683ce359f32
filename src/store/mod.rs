//! Where rows live; the only place for SQL. It knows no domain type: `vault` writes sealed bytes that it cannot
//! read, the API's parts write JSON.
//!
//! | file | noun |
//! |---|---|
//! | [`records`] | [`Records`], the port: versioned rows, compare-and-set, paged scans, expiry |
//! | [`embedded`] | one SQLite file, no server |
//! | [`private`] | files and folders that nobody else may read |
//! | `conformance` | one suite that every backend runs (tests only) |

#[cfg(test)]
pub(crate) mod conformance;
pub mod embedded;
mod error;
pub mod private;
pub mod records;

pub use embedded::EmbeddedRecords;
pub use error::{Cause, Fault, StoreError};
pub use records::{Entry, Expected, Key, Later, Records, Row};
