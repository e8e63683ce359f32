//! What accounts have spent, in the store: a row for each account and window, to which all nodes add.

use std::time::Duration;

use crate::base::clock::Timestamp;
use crate::store::{Change, Key, NewRow, Records, StoreError, update};
use crate::usage::spend::Spend;

/// Rows by account and window.
pub(super) const KIND: &str = "usage.spent";
/// A row stays for so long after its window: longer than clocks differ, and not so long that those of minutes are many.
const KEPT: Duration = Duration::from_secs(2 * 24 * 60 * 60);

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
    update(records, &Key::new(KIND, row), |before| {
        let sum = before.map(|row| spend(&row.entry)).unwrap_or_default().and(spent);
        let value = serde_json::to_vec(&sum).unwrap_or_default();
        Ok(Change::Put(NewRow { value, expires: Some(ends.plus(KEPT)) }, sum))
    })
    .await
}

/// A row that cannot be read counts as nothing: a budget is no reason to stop.
pub(super) fn spend(entry: &NewRow) -> Spend {
    serde_json::from_slice(&entry.value).unwrap_or_default()
}
