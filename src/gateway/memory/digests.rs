//! [`CallerDigests`]: which surrogates a caller has had, as keyed digests with the time until which each counts.
//!
//! In the store they lie in rows by caller and time, each with what a few requests have issued: a process reads what has
//! come since it last looked. What is erased there is forgotten here when it looks.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::timeout;

use crate::base::clock::{Clock, Timestamp};
use crate::crypto::kdf::MacKey;
use crate::crypto::random;
use crate::gateway::memory::caller::{CallerId, TARGET};
use crate::redact::IssuedToCaller;
use crate::store::{Cause, Key, NewRow, Pages, Precondition, Records, StoreError};
use crate::vault::{REMEMBERED, Vault, VaultError};

/// Rows by caller and time: a form byte, then digests of 8 bytes.
pub(super) const DIGESTS: &str = {
    let [_, _, digests] = REMEMBERED;
    digests
};

/// A row by caller, or for all, whose version says how often what was remembered of it was erased.
pub(super) const ERASED: &str = "llm.erased";

const FORM: u8 = 1;

/// Rows read at one time: one that holds what many requests have issued is a quarter of a megabyte.
const PAGE: u32 = 64;

/// The most digests of one caller that are remembered, in 1 MiB or so; those that end soonest make room.
const MOST: usize = 32_768;

/// How long what another process has issued may be unknown here.
const FRESH: Duration = Duration::from_secs(1);

/// How long a request waits for what other processes have issued; then it goes by what is known here.
const LONGEST_READ: Duration = Duration::from_secs(2);

/// How far the clocks of two processes may be apart, or a write may be late, in milliseconds.
const LATE: u64 = 10_000;

/// What digests are read from, and written to.
#[derive(Clone, Copy)]
pub(super) struct DigestInput<'a> {
    pub(super) records: &'a dyn Records,
    pub(super) vault: &'a Vault,
    pub(super) caller: &'a CallerId,
    pub(super) now: Timestamp,
}

/// Which surrogates one caller has had.
#[derive(Default)]
pub struct CallerDigests {
    /// Until when each counts, in milliseconds since the epoch.
    known: Mutex<HashMap<u64, u64>>,
    /// Those that are in no row yet.
    unwritten: Mutex<Vec<(u64, u64)>>,
    read: AsyncMutex<ReadRows>,
    /// Whether the last read failed.
    read_failed: AtomicBool,
    /// Held while a row is written: what comes meanwhile goes together into the next.
    write: AsyncMutex<()>,
}

/// How far the rows were read.
#[derive(Default)]
struct ReadRows {
    /// When that was done, or tried in vain.
    at: Option<Instant>,
    /// The latest time that a row read has, in milliseconds since the epoch.
    latest: u64,
    /// Rows read that may be seen again.
    rows: HashSet<String>,
    /// The versions of the erasures of this caller's, and of all callers'.
    erased: [u64; 2],
}

fn unlocked<T>(lock: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CallerDigests {
    /// Reads what has come since, if that was not done or tried a moment ago. Whoever comes while another one reads waits for it, unless
    /// the last read failed.
    pub(super) async fn refresh(&self, place: DigestInput<'_>, clock: &dyn Clock) -> Result<(), VaultError> {
        let asked = clock.instant();
        let read = match self.read_failed.load(Ordering::Relaxed) {
            true => self.read.try_lock().ok(),
            false => timeout(LONGEST_READ, self.read.lock()).await.ok(),
        };
        // Who reads says what came of it.
        let Some(mut read) = read else { return Ok(()) };
        if read.at.is_some_and(|at| asked.saturating_duration_since(at) < FRESH) {
            return Ok(());
        }
        let newer = timeout(LONGEST_READ, self.read_newer(place, &mut read)).await;
        let newer = newer.unwrap_or_else(|_| Err(no_answer()));
        // Those who have waited for a read that failed do not try it again one after the other.
        read.at = Some(if newer.is_ok() { asked } else { clock.instant() });
        self.read_failed.store(newer.is_err(), Ordering::Relaxed);
        newer
    }

    async fn read_newer(&self, place: DigestInput<'_>, read: &mut ReadRows) -> Result<(), VaultError> {
        let erased = [version(place, place.caller).await?, version(place, &CallerId::everybody()).await?];
        if erased != read.erased {
            *read = ReadRows { erased, ..ReadRows::default() };
            unlocked(&self.known).clear();
        }
        self.read_rows(place, read).await
    }

    async fn read_rows(&self, place: DigestInput<'_>, read: &mut ReadRows) -> Result<(), VaultError> {
        let prefix = place.caller.prefix();
        let from = read.latest.saturating_sub(LATE);
        let after = format!("{prefix}{from:016x}");
        read.rows.retain(|id| *id > after);
        let mut pages = Pages::after(place.records, DIGESTS, after).with_prefix(prefix.as_str()).of(PAGE);
        while let Some(page) = pages.next().await? {
            for row in page {
                let named = row.key.id().strip_prefix(&prefix);
                let time = named.and_then(|named| named.get(..16));
                let at = time.and_then(|time| u64::from_str_radix(time, 16).ok());
                // A clock that is ahead hides nothing of the others.
                read.latest = read.latest.max(at.unwrap_or_default().min(place.now.as_millis()));
                if !read.rows.insert(row.key.id().to_owned()) {
                    continue;
                }
                let until = row.entry.expires.map_or(u64::MAX, Timestamp::as_millis);
                match place.vault.open_row(&row) {
                    Ok(opened) => self.take(opened.expose(), until, place.now),
                    // One row that is damaged is no reason to forget the others.
                    Err(error) => {
                        tracing::warn!(target: TARGET, "a row cannot be read: {error}")
                    }
                }
            }
        }
        Ok(())
    }

    fn take(&self, row: &[u8], until: u64, now: Timestamp) {
        let Some((&FORM, digests)) = row.split_first() else { return };
        let mut known = unlocked(&self.known);
        for digest in digests.as_chunks::<8>().0 {
            let digest = u64::from_be_bytes(*digest);
            let before = known.entry(digest).or_default();
            *before = until.max(*before);
        }
        bound(&mut known, now);
    }

    fn has(&self, digest: u64, now: Timestamp) -> bool {
        unlocked(&self.known).get(&digest).is_some_and(|until| *until > now.as_millis())
    }

    /// Notes one, to be written: unless it is known for more than half of that time anyway.
    fn add(&self, digest: u64, now: Timestamp, until: Timestamp) {
        let (now_ms, until_ms) = (now.as_millis(), until.as_millis());
        let mut known = unlocked(&self.known);
        if known.get(&digest).is_some_and(|known| *known > now_ms + (until_ms - now_ms) / 2) {
            return;
        }
        known.insert(digest, until_ms);
        bound(&mut known, now);
        drop(known);
        let mut unwritten = unlocked(&self.unwritten);
        if unwritten.len() < MOST {
            unwritten.push((digest, until_ms));
        }
    }

    /// Whether something is in no row yet.
    pub(super) fn is_unwritten(&self) -> bool {
        !unlocked(&self.unwritten).is_empty()
    }

    /// Writes what is in no row yet; returns how many rows that took. What cannot be written is forgotten with the process.
    pub(super) async fn write(&self, place: DigestInput<'_>) -> Result<u32, VaultError> {
        let _held = self.write.lock().await;
        let unwritten = std::mem::take(&mut *unlocked(&self.unwritten));
        let Some(until) = unwritten.iter().map(|(_, until)| *until).max() else { return Ok(0) };
        let mut value = vec![FORM];
        unwritten.iter().for_each(|(digest, _)| value.extend_from_slice(&digest.to_be_bytes()));
        let random: [u8; 4] = random::bytes()?;
        let id =
            format!("{}{:016x}{}", place.caller.prefix(), place.now.as_millis(), HEXLOWER.encode(&random));
        let key = Key::new(DIGESTS, id);
        let value = place.vault.seal_row(&key, Precondition::Absent.next(), &value)?;
        let entry = NewRow { value, expires: Some(Timestamp::from_millis(until)) };
        place.records.put_if(&key, Precondition::Absent, entry).await?;
        Ok(1)
    }
}

/// Those that end soonest make room, enough for many to come.
fn bound(known: &mut HashMap<u64, u64>, now: Timestamp) {
    if known.len() <= MOST {
        return;
    }
    known.retain(|_, until| *until > now.as_millis());
    if known.len() > MOST / 4 * 3 {
        let mut ends: Vec<u64> = known.values().copied().collect();
        let middle = ends.len() / 2;
        let (_, median, _) = ends.select_nth_unstable(middle);
        let (median, mut spare) = (*median, known.len() / 4);
        // Of many that end at one time some go too.
        known.retain(|_, until| {
            let goes = *until < median || *until == median && spare > 0;
            spare = spare.saturating_sub(usize::from(goes));
            !goes
        });
    }
}

fn no_answer() -> VaultError {
    StoreError::Unavailable(Cause::of("it does not answer")).into()
}

async fn version(place: DigestInput<'_>, caller: &CallerId) -> Result<u64, StoreError> {
    let row = place.records.get(&Key::new(ERASED, caller.as_str())).await?;
    Ok(row.map_or(0, |row| row.version))
}

/// What one request may ask of them.
pub(super) struct DigestsAt {
    pub(super) digests: Arc<CallerDigests>,
    pub(super) key: MacKey,
    pub(super) caller: CallerId,
    pub(super) now: Timestamp,
    /// How long what the request issues counts.
    pub(super) until: Timestamp,
}

impl DigestsAt {
    fn digest(&self, canonical: &[u8]) -> u64 {
        let whole = self.key.digest(&[self.caller.as_str().as_bytes(), b"/", canonical]);
        whole.first_chunk().map_or(0, |first| u64::from_be_bytes(*first))
    }
}

impl IssuedToCaller for DigestsAt {
    fn has(&self, canonical: &[u8]) -> bool {
        self.digests.has(self.digest(canonical), self.now)
    }

    fn add(&self, canonical: &[u8]) {
        self.digests.add(self.digest(canonical), self.now, self.until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_soonest_makes_room() {
        let digests = CallerDigests::default();
        let at = Timestamp::from_millis;
        for n in 0..2 * MOST as u64 {
            digests.add(n, at(0), at(1_000_000 + n));
        }
        let known = unlocked(&digests.known).len();
        assert!(known <= MOST && known > MOST / 4, "{known}");
        assert!(digests.has(2 * MOST as u64 - 1, at(0)) && !digests.has(0, at(0)));
        // All of one age.
        let digests = CallerDigests::default();
        (0..2 * MOST as u64).for_each(|n| digests.add(n, at(0), at(1_000)));
        let known = unlocked(&digests.known).len();
        assert!(known <= MOST && known > MOST / 4, "{known}");
    }

    #[test]
    fn each_counts_for_its_time_and_is_written_once_in_half_of_it() {
        let digests = CallerDigests::default();
        let at = Timestamp::from_millis;
        digests.add(7, at(0), at(100));
        assert!(digests.has(7, at(99)) && !digests.has(7, at(100)) && !digests.has(8, at(0)));
        digests.add(7, at(49), at(149));
        assert_eq!(unlocked(&digests.unwritten).len(), 1);
        digests.add(7, at(50), at(150));
        assert_eq!(unlocked(&digests.unwritten).len(), 2);
        assert!(digests.has(7, at(149)));
    }
}
