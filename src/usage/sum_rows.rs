//! [`SumRows`]: rows of sums to which all nodes add, none of them twice. A write whose answer was lost may have taken place; so each
//! node numbers its writes, and a row says which of each node's it had last.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::store::{Change, Key, NewRow, Records, StoreError, update};

/// How long a row keeps a node's last write: one that lives tries again within seconds.
const KEPT: Duration = Duration::from_secs(60 * 60);

/// Writes to one row whose answers were lost, at the most.
const LOST: usize = 64;

/// What rows sum up.
pub(super) trait Sum: Copy + Default + Serialize + DeserializeOwned + Send + Sync {
    /// Both together.
    fn plus(self, more: Self) -> Self;
    /// What is left of it without `less`.
    fn minus(self, less: Self) -> Self;
}

/// What a row holds.
#[derive(Default, Serialize, Deserialize)]
struct SumRow<T> {
    #[serde(flatten)]
    sum: T,
    /// The number of each node's last write, and when that was, in milliseconds since the epoch.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    writers: BTreeMap<String, (u64, u64)>,
}

/// What one node adds to rows of sums.
pub(super) struct SumRows<T> {
    /// This node, which no other process is called.
    node: String,
    /// The number of its last write.
    number: u64,
    /// By the row: writes whose answers were lost, each with all that is in the row if that one was its last.
    lost: HashMap<String, Vec<(u64, T)>>,
}

/// What is to be added to a row.
#[derive(Clone, Copy)]
pub(super) struct Addition<T> {
    /// How much. What it was before and an answer was lost is in it.
    pub(super) more: T,
    /// When that is.
    pub(super) now: Timestamp,
    /// Until when the row stays.
    pub(super) expires: Timestamp,
}

impl<T: Sum> SumRows<T> {
    /// Those of a node that no other process is called.
    pub(super) fn of(node: &str) -> Self {
        Self { node: node.to_owned(), number: 0, lost: HashMap::new() }
    }

    /// Adds to a row; returns what it holds then. What a write before has added whose answer was lost is not added again.
    ///
    /// # Errors
    /// The store's. Of [`StoreError::Unavailable`] nobody knows whether it was added: the next call with as much or more finds out.
    pub(super) async fn add(
        &mut self,
        records: &dyn Records,
        key: &Key,
        addition: Addition<T>,
    ) -> Result<T, StoreError> {
        let Addition { more, now, expires } = addition;
        self.number += 1;
        let (node, number) = (self.node.as_str(), self.number);
        let lost = self.lost.entry(key.id().to_owned()).or_default();
        let added = update::<_, StoreError>(records, key, |before| {
            let mut row: SumRow<T> = before.map(|row| read(&row.entry)).unwrap_or_default();
            let last = row.writers.get(node).map(|(last, _)| *last);
            let had = lost.iter().find(|(number, _)| Some(*number) == last).map(|(_, had)| *had);
            row.sum = row.sum.plus(had.map_or(more, |had| more.minus(had)));
            row.writers
                .retain(|_, (_, at)| now.as_millis() < Timestamp::from_millis(*at).plus(KEPT).as_millis());
            row.writers.insert(node.to_owned(), (number, now.as_millis()));
            note(lost, number, more);
            let value = serde_json::to_vec(&row).unwrap_or_default();
            Ok(Change::Put(NewRow { value, expires: Some(expires) }, row.sum))
        })
        .await;
        match &added {
            // It may have taken place.
            Err(StoreError::Unavailable(_)) => {}
            Err(_) => lost.retain(|(of, _)| *of != number),
            // Whatever was sent before cannot take place any more: it is for another version.
            Ok(_) => lost.clear(),
        }
        if lost.is_empty() {
            self.lost.remove(key.id());
        }
        added
    }
}

/// Notes a write that is about to be sent, once.
fn note<T>(lost: &mut Vec<(u64, T)>, number: u64, more: T) {
    if lost.last().is_some_and(|(last, _)| *last == number) {
        return;
    }
    if lost.len() >= LOST {
        lost.remove(0);
    }
    lost.push((number, more));
}

/// A row that cannot be read counts as nothing: what is counted is no reason to stop.
fn read<T: Sum>(entry: &NewRow) -> SumRow<T> {
    serde_json::from_slice(&entry.value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::*;
    use crate::base::clock::FixedClock;
    use crate::store::EmbeddedRecords;
    use crate::store::faulty::{Fault, FaultyRecords, StoreWork};
    use crate::usage::cost::Cost;
    use crate::usage::report::UsageTotals;
    use crate::usage::spend::Spend;
    use crate::usage::tokens::TokenUsage;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    /// Of the next writes so many take place without an answer, and so many behind them do not.
    #[derive(Default)]
    struct LostAnswers {
        unanswered: AtomicU8,
        refused: AtomicU8,
    }

    impl LostAnswers {
        fn fault(&self, work: StoreWork) -> Fault {
            let takes = |count: &AtomicU8| {
                count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
            };
            match work {
                StoreWork::Write if takes(&self.unanswered) => Fault::Unanswered,
                StoreWork::Write if takes(&self.refused) => Fault::Refused,
                _ => Fault::None,
            }
        }
    }

    fn requests(requests: u64) -> Spend {
        Spend { requests, tokens: 10 * requests, cost: Cost::from_nanodollars(100 * requests) }
    }

    async fn add(rows: &mut SumRows<Spend>, records: &dyn Records, count: u64) -> Result<Spend, StoreError> {
        let expires = NOW.plus(KEPT);
        let addition = Addition { more: requests(count), now: NOW, expires };
        rows.add(records, &Key::new("case.sum", "all"), addition).await
    }

    #[tokio::test]
    async fn what_took_place_and_nobody_learned_is_not_added_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("records.sqlite");
        let records = EmbeddedRecords::open(&file, Arc::new(FixedClock::at(NOW))).await.unwrap();
        let lost = Arc::new(LostAnswers::default());
        let asked = Arc::clone(&lost);
        let records = FaultyRecords::new(records, move |work| asked.fault(work));
        let (mut one, mut other) = (SumRows::of("one"), SumRows::of("other"));
        assert_eq!(add(&mut one, &records, 3).await.unwrap(), requests(3));
        lost.unanswered.store(1, Ordering::Relaxed);
        add(&mut one, &records, 2).await.unwrap_err();
        // Meanwhile another node adds; and what was 2 has become 5.
        assert_eq!(add(&mut other, &records, 10).await.unwrap(), requests(15));
        assert_eq!(add(&mut one, &records, 5).await.unwrap(), requests(18));
        assert_eq!(add(&mut one, &records, 1).await.unwrap(), requests(19));
        // One that took place, and two behind it that did not.
        lost.unanswered.store(1, Ordering::Relaxed);
        lost.refused.store(2, Ordering::Relaxed);
        for count in [1, 2, 3] {
            add(&mut one, &records, count).await.unwrap_err();
        }
        assert_eq!(add(&mut one, &records, 4).await.unwrap(), requests(23));
        assert!(one.lost.is_empty());
    }

    #[test]
    fn a_row_is_read_with_writers_and_without() {
        let tokens = TokenUsage { input: 7, output: 3, ..TokenUsage::default() };
        let sum = UsageTotals { requests: 2, estimated: 1, tokens, cost: Cost::from_nanodollars(5) };
        let writers = BTreeMap::from([("one".to_owned(), (4, 1_000))]);
        let text = serde_json::to_vec(&SumRow { sum, writers }).unwrap();
        let read: SumRow<UsageTotals> = serde_json::from_slice(&text).unwrap();
        assert_eq!((read.sum, read.writers.len()), (sum, 1));
        assert_eq!(serde_json::from_slice::<UsageTotals>(&text).unwrap(), sum);
        let before = serde_json::to_vec(&sum).unwrap();
        assert_eq!(serde_json::from_slice::<SumRow<UsageTotals>>(&before).unwrap().sum, sum);
        let spend = serde_json::to_vec(&requests(2)).unwrap();
        assert_eq!(serde_json::from_slice::<SumRow<Spend>>(&spend).unwrap().sum, requests(2));
    }
}
