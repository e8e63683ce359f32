//! Where rows and files live; the only place for SQL and S3. It knows no domain type: `vault` writes sealed bytes that it cannot
//! read, the API's parts write JSON.
//!
//! | file | noun |
//! |---|---|
//! | [`records`] | [`Records`], the port: versioned rows, compare-and-set, paged scans, expiry |
//! | `update` | [`update()`]: changes a row that others may change at the same time; [`Tries`]: how often that is tried |
//! | `pages` | [`Pages`]: the rows of a kind, page by page |
//! | [`embedded`] | one SQLite file, no server |
//! | [`postgres`] | a PostgreSQL database that several gateways may share |
//! | `log_lines` | [`LogLines`], the port: logs that are only added to |
//! | `columns` | what a row is in a table |
//! | `timed` | [`TimedRecords`]: records that are measured |
//! | [`blobs`] | [`Blobs`], the port: files put and got piece by piece, removed, swept by age |
//! | [`objects`] | files in a folder of this machine, or in an S3 bucket |
//! | [`private`] | files and folders that nobody else may read |
//! | `error` | [`StoreError`]: why the store could not do what it was asked |
//! | `faulty` | records whose calls go wrong (tests only) |
//! | `conformance` | one suite that every backend runs (tests only) |

pub mod blobs;
mod columns;
#[cfg(test)]
pub(crate) mod conformance;
pub mod embedded;
mod error;
#[cfg(test)]
pub(crate) mod faulty;
mod log_lines;
pub mod objects;
#[cfg(test)]
mod objects_tests;
mod pages;
pub mod postgres;
#[cfg(test)]
mod postgres_tests;
pub mod private;
pub mod records;
mod timed;
mod update;

pub use blobs::{Area, Blob, BlobDigests, Blobs, ByteStream, OpenBlob};
pub use embedded::EmbeddedRecords;
pub use error::{Cause, FileFault, StoreError};
pub use log_lines::{Appended, LogEnd, LogLine, LogLines};
pub use objects::{Objects, S3};
pub use pages::Pages;
pub use postgres::PostgresRecords;
pub use records::{Closing, KeepPart, Key, NewRow, Precondition, Records, RecordsFuture, Row};
pub use timed::TimedRecords;
pub use update::{Change, Tries, update, update_row};
