//! What a row is in a table, the same in every database: signed integers, and a digest that tells what was read from
//! what was written.

use crate::base::clock::Timestamp;
use crate::crypto::hash::sha256;
use crate::store::{Key, NewRow, Row, StoreError};

/// A row as a database gives it back.
pub(crate) struct DatabaseRow<'r> {
    pub(crate) id: String,
    pub(crate) version: i64,
    pub(crate) expires: Option<i64>,
    pub(crate) value: Vec<u8>,
    pub(crate) digest: &'r [u8],
}

impl DatabaseRow<'_> {
    /// The row, if it is what was written.
    pub(crate) fn read(self, kind: &'static str) -> Result<Row, StoreError> {
        let unsigned = |value: i64| u64::try_from(value).map_err(|_| StoreError::Corrupt);
        let key = Key::new(kind, self.id);
        let version = unsigned(self.version)?;
        let expires = self.expires.map(unsigned).transpose()?.map(Timestamp::from_millis);
        let entry = NewRow { value: self.value, expires };
        if self.digest != digest(&key, version, &entry) {
            return Err(StoreError::Corrupt);
        }
        Ok(Row { key, version, entry })
    }
}

/// A write that changed no row did not find what it expects.
pub(crate) fn changed(rows: u64) -> Result<(), StoreError> {
    if rows == 0 { Err(StoreError::Conflict) } else { Ok(()) }
}

/// Over everything that identifies the row and everything it holds, each part of known length.
pub(crate) fn digest(key: &Key, version: u64, entry: &NewRow) -> [u8; 32] {
    let mut text = Vec::with_capacity(112);
    text.extend_from_slice(&sha256(key.kind().as_bytes()));
    text.extend_from_slice(&sha256(key.id().as_bytes()));
    text.extend_from_slice(&version.to_be_bytes());
    text.extend_from_slice(&entry.expires.map_or(i64::MIN, |at| signed(at.as_millis())).to_be_bytes());
    text.extend_from_slice(&sha256(&entry.value));
    sha256(&text)
}

/// Databases' integers are signed; the largest stands for "later than we can say".
pub(crate) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
