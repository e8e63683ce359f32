//! [`update()`]: a row is read, changed and written if nobody else has written it meanwhile; else all of that again.

use std::time::Duration;

use crate::store::{Key, NewRow, Precondition, Records, Row, StoreError};

/// How often a write is tried, whoever writes. Those who write one row at the same moment are processes on one store and
/// the requests in them; of each round one wins, so nobody loses more often than there are others. So many at once are
/// beyond what is to be waited for.
const TRIES: u32 = 64;

/// So many losses are likely chance, and go round at once. From then on whoever loses gives way, a millisecond longer each
/// time.
const AT_ONCE: u32 = 4;

/// The longest that is given way, in milliseconds: all pauses together take a second.
const LONGEST: u32 = 20;

/// What becomes of a row, and what [`update()`] returns once that is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change<T> {
    /// It is to hold this.
    Put(NewRow, T),
    /// It is removed; one that is not there is removed already.
    Remove(T),
    /// It stays as it is, and nothing is written.
    Leave(T),
}

/// Changes a row that others may change too. `change` gets the row as it was read, or `None` where there is none, and is
/// called again with what is there then each time that another write came first. What it writes has the version
/// [`Precondition::next`] of [`Precondition::of`] what it got, which a seal can bind.
///
/// # Errors
/// What `change` says, at once; [`StoreError::Conflict`] if others were first each time, as [`Tries`] counts; what the
/// store says.
pub async fn update<T, E: From<StoreError>>(
    records: &dyn Records,
    key: &Key,
    change: impl FnMut(Option<Row>) -> Result<Change<T>, E>,
) -> Result<T, E> {
    let row = records.get(key).await?;
    settle(records, key, row, change).await
}

/// The same for a row that was read before: it is read again only if another write came first.
///
/// # Errors
/// As [`update()`].
pub async fn update_row<T, E: From<StoreError>>(
    records: &dyn Records,
    row: Row,
    change: impl FnMut(Option<Row>) -> Result<Change<T>, E>,
) -> Result<T, E> {
    let key = row.key.clone();
    settle(records, &key, Some(row), change).await
}

async fn settle<T, E: From<StoreError>>(
    records: &dyn Records,
    key: &Key,
    mut row: Option<Row>,
    mut change: impl FnMut(Option<Row>) -> Result<Change<T>, E>,
) -> Result<T, E> {
    let mut tries = Tries::default();
    loop {
        let expected = Precondition::of(row.as_ref());
        let wanted = change(row)?;
        let (written, result) = match (wanted, expected) {
            (Change::Put(entry, result), _) => {
                let put = records.put_if(key, expected, entry).await;
                (put.map(drop), result)
            }
            (Change::Remove(result), Precondition::Version(version)) => {
                (records.remove_if(key, version).await, result)
            }
            (Change::Remove(result) | Change::Leave(result), _) => return Ok(result),
        };
        match written {
            Ok(()) => return Ok(result),
            Err(StoreError::Conflict) => tries.again().await?,
            Err(error) => return Err(error.into()),
        }
        row = records.get(key).await?;
    }
}

/// The tries of one write. For what [`update()`] does not fit: a write of several rows, or of one that has to be looked for
/// anew each time.
#[derive(Debug, Default)]
pub struct Tries {
    lost: u32,
}

impl Tries {
    /// Another write came first. Returns when it is time to go round again: at once for the first few, later from then on.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if that was the last try.
    pub async fn again(&mut self) -> Result<(), StoreError> {
        self.lost = self.lost.saturating_add(1);
        if self.lost >= TRIES {
            return Err(StoreError::Conflict);
        }
        let pause = self.lost.saturating_sub(AT_ONCE).min(LONGEST);
        if pause > 0 {
            tokio::time::sleep(Duration::from_millis(u64::from(pause))).await;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use tokio::runtime::Handle;
    use tokio::task::block_in_place;

    use super::*;
    use crate::base::clock::{FixedClock, SharedClock, Timestamp};
    use crate::store::EmbeddedRecords;

    async fn open(folder: &Path) -> Arc<dyn Records> {
        let clock: SharedClock = Arc::new(FixedClock::at(Timestamp::from_millis(1_800_000_000_000)));
        Arc::new(EmbeddedRecords::open(&folder.join("portcullis.sqlite"), clock).await.unwrap())
    }

    fn key() -> Key {
        Key::new("case.update", "counter")
    }

    fn number(value: u8) -> NewRow {
        NewRow::lasting(vec![value])
    }

    /// Counts in the row; what it holds then.
    async fn count(records: &dyn Records) -> Result<u8, StoreError> {
        update(records, &key(), |row| {
            let sum = row.map_or(0, |row| row.entry.value[0]) + 1;
            Ok(Change::Put(number(sum), sum))
        })
        .await
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn of_two_writers_of_one_row_both_land() {
        const ROUNDS: u8 = 20;
        let folder = tempfile::tempdir().unwrap();
        let records = open(folder.path()).await;
        let writers: Vec<_> = (0..2)
            .map(|_| {
                let records = Arc::clone(&records);
                tokio::spawn(async move {
                    for _ in 0..ROUNDS {
                        count(records.as_ref()).await.unwrap();
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.await.unwrap();
        }
        let row = records.get(&key()).await.unwrap().unwrap();
        assert_eq!((row.version, row.entry), (u64::from(2 * ROUNDS), number(2 * ROUNDS)));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn who_always_loses_is_told_so_in_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let records = open(folder.path()).await;
        let (key, mut tries) = (key(), 0);
        let lost = update::<(), StoreError>(records.as_ref(), &key, |row| {
            tries += 1;
            // Somebody else writes between the read and the write.
            let theirs = records.put_if(&key, Precondition::of(row.as_ref()), number(1));
            block_in_place(|| Handle::current().block_on(theirs)).unwrap();
            Ok(Change::Put(number(2), ()))
        })
        .await;
        assert!(matches!(lost, Err(StoreError::Conflict)), "{lost:?}");
        assert_eq!(tries, TRIES);
        let row = records.get(&key).await.unwrap().unwrap();
        assert_eq!((row.version, row.entry), (u64::from(TRIES), number(1)));
    }

    #[tokio::test]
    async fn what_is_left_alone_is_not_written_and_an_error_ends_it() {
        let folder = tempfile::tempdir().unwrap();
        let records = open(folder.path()).await;
        let (records, key) = (records.as_ref(), key());
        for version in [None, Some(1)] {
            let row = update::<_, StoreError>(records, &key, |row| Ok(Change::Leave(row))).await.unwrap();
            assert_eq!(row.as_ref().map(|row| row.version), version);
            assert_eq!(records.get(&key).await.unwrap(), row);
            if row.is_none() {
                count(records).await.unwrap();
            }
        }
        // A conflict that `change` itself speaks of is not one of the write's.
        let mut calls = 0;
        let refused = update::<(), StoreError>(records, &key, |_| {
            calls += 1;
            Err(StoreError::Conflict)
        });
        assert!(matches!(refused.await, Err(StoreError::Conflict)));
        assert_eq!(calls, 1);
    }

    #[tokio::test]
    async fn what_is_removed_is_gone_and_what_is_gone_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let records = open(folder.path()).await;
        let (records, key) = (records.as_ref(), key());
        count(records).await.unwrap();
        for there in [true, false] {
            let was = update::<_, StoreError>(records, &key, |row| Ok(Change::Remove(row.is_some())));
            assert_eq!(was.await.unwrap(), there);
            assert_eq!(records.get(&key).await.unwrap(), None);
        }
    }

    #[tokio::test]
    async fn a_row_that_was_read_before_is_read_again_after_a_conflict() {
        let folder = tempfile::tempdir().unwrap();
        let records = open(folder.path()).await;
        let (records, key) = (records.as_ref(), key());
        count(records).await.unwrap();
        let before = records.get(&key).await.unwrap().unwrap();
        count(records).await.unwrap();
        let mut seen = Vec::new();
        let updated = update_row::<_, StoreError>(records, before, |row| {
            let expected = Precondition::of(row.as_ref());
            seen.push(expected);
            Ok(Change::Put(number(9), expected.next()))
        });
        assert_eq!(updated.await.unwrap(), 3);
        assert_eq!(seen, [Precondition::Version(1), Precondition::Version(2)]);
        let row = records.get(&key).await.unwrap().unwrap();
        assert_eq!((row.version, row.entry), (3, number(9)));
    }
}
