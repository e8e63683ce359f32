//! What accounts have spent, in the store: a row for each account and window, to which all nodes add.

use std::time::Duration;

use crate::store::{Key, NewRow, Records, StoreError};
use crate::usage::spend::Spend;
use crate::usage::sum_rows::{Addition, Sum, SumRows};

/// Rows by account and window.
pub(super) const KIND: &str = "usage.spent";
/// A row stays for so long after its window: longer than clocks differ, and not so long that those of minutes are many.
const KEPT: Duration = Duration::from_secs(2 * 24 * 60 * 60);

/// What all nodes have spent of an account.
pub(super) async fn read(records: &dyn Records, row: &str) -> Result<Spend, StoreError> {
    let found = records.get(&Key::new(KIND, row)).await?;
    Ok(found.map(|row| spend(&row.entry)).unwrap_or_default())
}

/// Adds to what was spent of an account, whose window ends when the addition expires; returns what all have spent.
pub(super) async fn add(
    records: &dyn Records,
    rows: &mut SumRows<Spend>,
    row: &str,
    addition: Addition<Spend>,
) -> Result<Spend, StoreError> {
    let addition = Addition { expires: addition.expires.plus(KEPT), ..addition };
    rows.add(records, &Key::new(KIND, row), addition).await
}

impl Sum for Spend {
    fn plus(self, more: Self) -> Self {
        self.and(more)
    }

    fn minus(self, less: Self) -> Self {
        self.without(less)
    }
}

/// A row that cannot be read counts as nothing: a budget is no reason to stop.
pub(super) fn spend(entry: &NewRow) -> Spend {
    serde_json::from_slice(&entry.value).unwrap_or_default()
}
