//! [`IssuedStore`]: what was issued in a conversation, found by any of the ids that name it.
//!
//! A conversation is one row, sealed, which grows with what its requests issue. An id is another, whose name is a keyed
//! digest of caller, route and id, and which says which conversation it is of: a file, its batch and what comes of that
//! share one.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;

use crate::base::clock::{SharedClock, Timestamp};
use crate::base::secret::Secret;
use crate::crypto::random;
use crate::gateway::memory::caller::{CallerId, name_of};
use crate::redact::SurrogateMap;
use crate::store::{Change, Key, NewRow, Precondition, Records, Row, StoreError, Tries, update};
use crate::vault::{REMEMBERED, Vault, VaultError};

/// Rows by caller and a random id: what [`SurrogateMap::to_bytes`] writes.
pub(super) const ISSUED: &str = {
    let [issued, _, _] = REMEMBERED;
    issued
};

/// Rows by caller and name: the random id of a conversation.
pub(super) const NAMES: &str = {
    let [_, names, _] = REMEMBERED;
    names
};

/// A conversation as it was read.
#[derive(Clone)]
pub(super) struct Conversation {
    id: String,
    /// Of its row; 0 if there is none yet.
    version: u64,
    until: Timestamp,
    pub(super) issued: Arc<SurrogateMap>,
}

impl Conversation {
    /// A new one, in which nothing was issued.
    pub(super) fn new() -> Result<Self, VaultError> {
        let id = HEXLOWER.encode(&random::bytes::<16>()?);
        let until = Timestamp::from_millis(0);
        Ok(Self { id, version: 0, until, issued: Arc::new(SurrogateMap::nothing()) })
    }

    /// Whether both are one conversation, whatever was added to it since.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.id == other.id
    }

    /// Whether both are one conversation at one time.
    pub(super) fn is_as_new(&self, other: &Self) -> bool {
        self.is_same(other) && self.version == other.version
    }
}

/// Slots in which changes are counted: rows that share one by chance are asked for once more.
const SLOTS: usize = 1024;

/// How often this process has written rows, by what they are called.
struct WriteCounts {
    counts: Box<[AtomicU64]>,
    hasher: RandomState,
}

impl WriteCounts {
    fn new() -> Self {
        Self { counts: (0..SLOTS).map(|_| AtomicU64::new(0)).collect(), hasher: RandomState::new() }
    }

    fn slot(&self, key: &Key) -> Option<&AtomicU64> {
        let at = usize::try_from(self.hasher.hash_one(key) % SLOTS as u64).ok()?;
        self.counts.get(at)
    }

    fn add(&self, key: &Key) {
        if let Some(count) = self.slot(key) {
            count.fetch_add(1, Ordering::Release);
        }
    }

    fn of(&self, key: &Key) -> u64 {
        self.slot(key).map_or(0, |count| count.load(Ordering::Acquire))
    }
}

/// For whom something is remembered, on which route, and for how long.
#[derive(Clone)]
pub(super) struct Owner {
    pub(super) caller: CallerId,
    pub(super) route: String,
    pub(super) remember: Duration,
}

/// Conversations and their names.
pub struct IssuedStore {
    records: Arc<dyn Records>,
    vault: Arc<Vault>,
    clock: SharedClock,
    key: Secret<[u8; 32]>,
    written: WriteCounts,
}

impl IssuedStore {
    pub(super) fn new(
        records: Arc<dyn Records>,
        vault: Arc<Vault>,
        clock: SharedClock,
        key: Secret<[u8; 32]>,
    ) -> Self {
        Self { records, vault, clock, key, written: WriteCounts::new() }
    }

    /// Monotonic time.
    pub(super) fn now(&self) -> Instant {
        self.clock.instant()
    }

    /// A number that grows with what this process writes of the conversation that an id names, and of the one that is known by
    /// it.
    pub(super) fn changes(&self, owner: &Owner, id: &str, known: Option<&Conversation>) -> u64 {
        let issued = known.map_or(0, |known| self.written.of(&Self::place(owner, &known.id)));
        self.written.of(&self.name(owner, id)).wrapping_add(issued)
    }

    fn name(&self, owner: &Owner, id: &str) -> Key {
        let name = name_of(self.key.expose(), [b"name".as_slice(), owner.route.as_bytes(), id.as_bytes()]);
        Key::new(NAMES, format!("{}{name}", owner.caller.prefix()))
    }

    fn place(owner: &Owner, id: &str) -> Key {
        Key::new(ISSUED, format!("{}{id}", owner.caller.prefix()))
    }

    /// The conversation that an id names.
    pub(super) async fn find(&self, owner: &Owner, id: &str) -> Result<Option<Conversation>, VaultError> {
        let Some(row) = self.records.get(&self.name(owner, id)).await? else { return Ok(None) };
        let named = self.vault.open_row(&row)?;
        let Ok(named) = std::str::from_utf8(named.expose()) else { return Err(VaultError::Damaged) };
        self.read(owner, named).await
    }

    /// The conversation that an id names, unless it is the one that is known, as it was then.
    pub(super) async fn find_newer(
        &self,
        owner: &Owner,
        id: &str,
        known: Option<&Conversation>,
    ) -> Result<Option<Conversation>, VaultError> {
        if let Some(known) = known {
            let row = self.records.get(&Self::place(owner, &known.id)).await?;
            if row.is_some_and(|row| row.version == known.version) {
                return Ok(None);
            }
        }
        self.find(owner, id).await
    }

    async fn read(&self, owner: &Owner, id: &str) -> Result<Option<Conversation>, VaultError> {
        let Some(row) = self.records.get(&Self::place(owner, id)).await? else { return Ok(None) };
        let opened = self.vault.open_row(&row)?;
        let issued = SurrogateMap::from_bytes(opened.expose()).ok_or(VaultError::Newer)?;
        let until = row.entry.expires.unwrap_or(Timestamp::from_millis(u64::MAX));
        Ok(Some(Conversation { id: id.to_owned(), version: row.version, until, issued: Arc::new(issued) }))
    }

    /// Adds what is issued to a conversation, and has it live on. Whether a row was written.
    pub(super) async fn add(
        &self,
        owner: &Owner,
        conversation: &mut Conversation,
        issued: &SurrogateMap,
    ) -> Result<bool, VaultError> {
        let mut tries = Tries::default();
        loop {
            if conversation.issued.covers(issued) && self.lives_on(owner, conversation.until) {
                return Ok(false);
            }
            let all = Arc::new(issued.with_earlier(&conversation.issued));
            let expected = Precondition::at(conversation.version);
            let key = Self::place(owner, &conversation.id);
            let value = self.vault.seal_row(&key, expected.next(), all.to_bytes().expose())?;
            let until = self.clock.now().plus(owner.remember);
            match self.records.put_if(&key, expected, NewRow { value, expires: Some(until) }).await {
                Ok(version) => {
                    self.written.add(&key);
                    (conversation.version, conversation.until, conversation.issued) = (version, until, all);
                    return Ok(true);
                }
                Err(StoreError::Conflict) => tries.again().await?,
                Err(error) => return Err(error.into()),
            }
            match self.read(owner, &conversation.id).await? {
                Some(newer) => *conversation = newer,
                // It has ended, or was erased; what is known of it is of this request.
                None => conversation.version = 0,
            }
        }
    }

    /// Has an id name a conversation. Whether a row was written.
    pub(super) async fn call(
        &self,
        owner: &Owner,
        id: &str,
        conversation: &Conversation,
    ) -> Result<bool, VaultError> {
        let key = self.name(owner, id);
        let written: Result<bool, VaultError> = update(self.records.as_ref(), &key, |row| {
            let version = Precondition::of(row.as_ref()).next();
            let is_called_so = |row: Row| {
                let known = self.vault.open_row(&row);
                let same = known.is_ok_and(|known| known.expose() == conversation.id.as_bytes());
                same && row.entry.expires.is_some_and(|until| self.lives_on(owner, until))
            };
            if row.is_some_and(is_called_so) {
                return Ok(Change::Leave(false));
            }
            let value = self.vault.seal_row(&key, version, conversation.id.as_bytes())?;
            let until = self.clock.now().plus(owner.remember);
            Ok(Change::Put(NewRow { value, expires: Some(until) }, true))
        })
        .await;
        if matches!(written, Ok(true)) {
            self.written.add(&key);
        }
        written
    }

    /// Whether more than half of the time is left until then: whoever goes on need not write each time.
    fn lives_on(&self, owner: &Owner, until: Timestamp) -> bool {
        until > self.clock.now().plus(owner.remember / 2)
    }
}
