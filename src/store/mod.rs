//! Where rows live; the only place for SQL. It knows no domain type: `vault` writes sealed bytes that it cannot
//! read, the API's parts write JSON.
//!
//! | file | noun |
//! |---|---|
//! | [`records`] | [`Records`], the port: versioned rows, compare-and-set, paged scans, expiry |
//! | [`embedded`] | one SQLite file, no server |
//! | [`postgres`] | a PostgreSQL database that several gateways may share |
//! | `columns` | what a row is in a table |
//! | [`private`] | files and folders that nobody else may read |
//! | `conformance` | one suite that every backend runs (tests only) |

mod columns;
#[cfg(test)]
pub(crate) mod conformance;
pub mod embedded;
mod error;
pub mod postgres;
#[cfg(test)]
mod postgres_tests;
pub mod private;
pub mod records;

pub use embedded::EmbeddedRecords;
pub use error::{Cause, Fault, StoreError};
pub use postgres::PostgresRecords;
pub use records::{Closing, Entry, Expected, Key, Later, Records, Row};
