//! What accounts have spent, in the store: a row for each account and window, to which all nodes add.

use std::time::Duration;

use crate::base::clock::Timestamp;
use crate::store::{Key, NewRow, Precondition, Records, StoreError};
use crate::usage::spend::Spend;

/// Rows by account and window.
const KIND: &str = "usage.spent";
/// A row stays for so long after its window.
const KEPT: Duration = Duration::from_secs(40 * 24 * 60 * 60);
/// How often a row is written anew that others write at the same time.
const TRIES: u32 = 16;

/// What all nodes have spent of an account.
pub(super) async fn read(records: &dyn Records, row: &str) -> Result<Spend, StoreError> {
    let found = records.get(&Key::new(KIND, row)).await?;
    Ok(found.map(|row| spend(&row.entry)).unwrap_or_default())
}

/// Adds to it; returns what all have spent then.
pub(super) async fn add(
    records: &dyn Records,
    row: &str,
    spent: Spend,
    ends: Timestamp,
) -> Result<Spend, StoreError> {
    let change = |before: Option<&NewRow>| {
        let sum = before.map(spend).unwrap_or_default().and(spent);
        (serde_json::to_vec(&sum).unwrap_or_default(), sum)
    };
    update(records, Key::new(KIND, row), ends.plus(KEPT), change).await
}

/// A row that cannot be read counts as nothing: a budget is no reason to stop.
fn spend(entry: &NewRow) -> Spend {
    serde_json::from_slice(&entry.value).unwrap_or_default()
}

/// Changes a row that others may change too; `change` gives what it is to hold, and what is returned.
pub(super) async fn update<T>(
    records: &dyn Records,
    key: Key,
    expires: Timestamp,
    change: impl Fn(Option<&NewRow>) -> (Vec<u8>, T),
) -> Result<T, StoreError> {
    let mut tries = 0;
    loop {
        let before = records.get(&key).await?;
        let (value, result) = change(before.as_ref().map(|row| &row.entry));
        let expected = before.map_or(Precondition::Absent, |row| Precondition::Version(row.version));
        tries += 1;
        match records.put_if(&key, expected, NewRow { value, expires: Some(expires) }).await {
            Ok(_) => return Ok(result),
            Err(StoreError::Conflict) if tries < TRIES => {}
            Err(error) => return Err(error),
        }
    }
}
