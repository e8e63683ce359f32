//! [`Memory`]: what is remembered of all callers, its bounds, and how it is erased.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use dashmap::DashMap;

use crate::base::clock::SharedClock;
use crate::base::secret::Secret;
use crate::crypto::kdf::MacKey;
use crate::gateway::memory::caller::{CallerId, TARGET};
use crate::gateway::memory::digests::{CallerDigests, DIGESTS, DigestInput, DigestsAt, ERASED};
use crate::gateway::memory::issued::{ISSUED, IssuedStore, NAMES, Owner};
use crate::gateway::memory::words::RecentWords;
use crate::store::{Change, KeepPart, Key, NewRow, Records, StoreError, update};
use crate::vault::{Vault, VaultError};

/// What stays of one caller, by kind of row; what ends soonest goes.
const OF_CALLER: [(&str, KeepPart); 3] = [
    (ISSUED, KeepPart { rows: 10_000, bytes: 256 << 20 }),
    (NAMES, KeepPart { rows: 50_000, bytes: 32 << 20 }),
    (DIGESTS, KeepPart { rows: 10_000, bytes: 16 << 20 }),
];

/// The same of all together.
const OF_ALL: [(&str, KeepPart); 3] = [
    (ISSUED, KeepPart { rows: 500_000, bytes: 4 << 30 }),
    (NAMES, KeepPart { rows: 2_000_000, bytes: 1 << 30 }),
    (DIGESTS, KeepPart { rows: 1_000_000, bytes: 1 << 30 }),
];

/// After so many writes for one caller it is looked how much of it there is.
const WRITES: u32 = 256;

/// Callers whose digests are in memory; of others they are read again.
const CALLERS: usize = 2048;

/// How long processes that serve may take to learn that something was erased: longer than anything is remembered.
const ERASURE: Duration = Duration::from_secs(400 * 86_400);

/// What was remembered of a caller, or of all.
struct CallerMemory {
    digests: Arc<CallerDigests>,
    writes: AtomicU32,
}

/// What is remembered of callers.
pub struct Memory {
    pub(super) issued: IssuedStore,
    pub(super) words: RecentWords,
    records: Arc<dyn Records>,
    vault: Arc<Vault>,
    clock: SharedClock,
    key: Secret<[u8; 32]>,
    /// Of digests: the same key, ready for use.
    mac: MacKey,
    callers: DashMap<CallerId, Arc<CallerMemory>>,
}

/// How many rows were removed.
pub type RowsRemoved = Result<u64, StoreError>;

impl Memory {
    /// What the store has.
    pub fn new(records: Arc<dyn Records>, vault: Arc<Vault>, clock: SharedClock) -> Self {
        let key = vault.derived_key("portcullis/memory/1");
        let issued =
            IssuedStore::new(Arc::clone(&records), Arc::clone(&vault), Arc::clone(&clock), key.clone());
        let mac = MacKey::new(key.expose());
        let words = RecentWords::new(Arc::clone(&clock));
        Self { issued, words, records, vault, clock, key, mac, callers: DashMap::new() }
    }

    /// The caller that is known by these parts.
    pub fn caller<'p>(&self, parts: impl IntoIterator<Item = &'p [u8]>) -> CallerId {
        CallerId::new(self.key.expose(), parts)
    }

    pub(super) fn digests(&self, owner: &Owner) -> DigestsAt {
        let now = self.clock.now();
        let digests = Arc::clone(&self.known(&owner.caller).digests);
        let until = now.plus(owner.remember);
        DigestsAt { digests, key: self.mac.clone(), caller: owner.caller.clone(), now, until }
    }

    fn known(&self, caller: &CallerId) -> Arc<CallerMemory> {
        if let Some(known) = self.callers.get(caller) {
            return Arc::clone(&known);
        }
        if self.callers.len() >= CALLERS {
            // Whoever is still in use stays; so does, by chance, half of the others.
            let mut odd = false;
            self.callers.retain(|_, known| {
                odd = !odd;
                odd || Arc::strong_count(&known.digests) > 1 || known.digests.is_unwritten()
            });
        }
        let fresh = || Arc::new(CallerMemory { digests: Arc::default(), writes: AtomicU32::new(0) });
        Arc::clone(&self.callers.entry(caller.clone()).or_insert_with(fresh))
    }

    fn place<'a>(&'a self, caller: &'a CallerId) -> DigestInput<'a> {
        DigestInput { records: self.records.as_ref(), vault: &self.vault, caller, now: self.clock.now() }
    }

    /// Reads what other processes have issued to the caller.
    pub(super) async fn refresh(&self, caller: &CallerId) {
        let known = self.known(caller);
        if let Err(error) = known.digests.refresh(self.place(caller), self.clock.as_ref()).await {
            tracing::warn!(target: TARGET, "what was issued to a caller cannot be read: {error}");
        }
    }

    /// Writes which surrogates the caller has had since.
    pub(super) async fn write(&self, caller: &CallerId) {
        let known = self.known(caller);
        match known.digests.write(self.place(caller)).await {
            Ok(rows) => self.written(caller, rows).await,
            Err(error) => tracing::warn!(target: TARGET, "what was issued to a caller is not kept: {error}"),
        }
    }

    /// Whether the caller has had surrogates that are in no row yet.
    pub(super) fn is_unwritten(&self, caller: &CallerId) -> bool {
        self.known(caller).digests.is_unwritten()
    }

    /// So many rows were written for the caller; now and then it is looked how many it has.
    pub(super) async fn written(&self, caller: &CallerId, rows: u32) {
        let known = self.known(caller);
        let before = known.writes.fetch_add(rows, Ordering::Relaxed);
        if before / WRITES == before.wrapping_add(rows) / WRITES {
            return;
        }
        if let Err(error) = self.trim(&caller.prefix(), &OF_CALLER).await {
            tracing::warn!(target: TARGET, "what is kept of a caller cannot be bounded: {error}");
        }
    }

    async fn trim(&self, prefix: &str, keep: &[(&'static str, KeepPart)]) -> RowsRemoved {
        let mut removed = 0;
        for (kind, keep) in keep {
            removed += self.records.trim(kind, prefix, *keep).await?;
        }
        Ok(removed)
    }

    /// Removes what is too much of all callers together; what has ended, the store's own sweep removes.
    ///
    /// # Errors
    /// The store's.
    pub async fn sweep(&self) -> RowsRemoved {
        self.trim("", &OF_ALL).await
    }

    /// Forgets what is remembered of one caller, or of all; processes that serve do within a second or with the caller's
    /// next request, whichever is later. Returns how many rows that were.
    ///
    /// # Errors
    /// The store's.
    pub async fn erase(&self, caller: Option<&CallerId>) -> Result<u64, VaultError> {
        let everybody = CallerId::everybody();
        let caller = caller.unwrap_or(&everybody);
        self.mark_erased(caller).await?;
        let kinds = OF_CALLER.map(|(kind, _)| (kind, KeepPart::NOTHING));
        let removed = self.trim(&caller.prefix(), &kinds).await?;
        self.callers.clear();
        Ok(removed)
    }

    async fn mark_erased(&self, caller: &CallerId) -> Result<(), StoreError> {
        let key = Key::new(ERASED, caller.as_str());
        update(self.records.as_ref(), &key, |_| {
            let until = self.clock.now().plus(ERASURE);
            Ok(Change::Put(NewRow { value: Vec::new(), expires: Some(until) }, ()))
        })
        .await
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Memory({} callers)", self.callers.len())
    }
}
