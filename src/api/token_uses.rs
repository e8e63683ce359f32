//! When tokens were last used, to the minute. A request only notes it; rows are written beside, at most one a minute for
//! each token, and whatever does not fit the queue, or is under way when the process is killed, is lost: it is for people who
//! tidy up, and nothing depends on it.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use dashmap::DashMap;
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::oneshot;

use crate::base::clock::Timestamp;
use crate::base::id::TokenId;
use crate::store::{Key, NewRow, Pages, Precondition, Records, StoreError};

/// Rows by the token's id: the minutes since the epoch, 8 bytes, big-endian.
const KIND: &str = "api.token.used";
const MINUTE: u64 = 60_000;
/// Uses that wait to be written.
const WAITING: usize = 1024;
/// Tokens whose last use is remembered.
const REMEMBERED: usize = 10_000;
/// A token is active if it was used within so many minutes.
const ACTIVE: u64 = 5;

/// When tokens were last used.
#[derive(Default)]
pub(super) struct LastUses {
    /// The minute of each token's last use here.
    noted: DashMap<TokenId, u64>,
    /// To whoever writes; there is nobody in a process that does not serve.
    queue: OnceLock<Sender<Note>>,
}

/// What the writer is given.
enum Note {
    /// A token was used in this minute.
    Use(TokenId, u64),
    /// Somebody waits until all before this is written.
    Here(oneshot::Sender<()>),
}

impl LastUses {
    /// Notes a use. Never waits.
    pub(super) fn note(&self, id: &TokenId, now: Timestamp) {
        let Some(queue) = self.queue.get() else { return };
        let minute = now.as_millis() / MINUTE;
        if self.noted.get(id).is_some_and(|noted| *noted >= minute) {
            return;
        }
        if self.noted.len() >= REMEMBERED {
            self.noted.retain(|_, noted| *noted + ACTIVE > minute);
        }
        if self.noted.len() >= REMEMBERED {
            return;
        }
        // Of two requests that come here at once only one is written.
        if self.noted.insert(id.clone(), minute).is_none_or(|before| before < minute) {
            drop(queue.try_send(Note::Use(id.clone(), minute)));
        }
    }

    /// How many tokens were used within the last minutes, in this process.
    pub(super) fn active(&self, now: Timestamp) -> usize {
        let minute = now.as_millis() / MINUTE;
        self.noted.iter().filter(|noted| **noted + ACTIVE > minute).count()
    }

    /// Returns once every use that was noted is written.
    pub(super) async fn written(&self) {
        let Some(queue) = self.queue.get() else { return };
        let (reached, here) = oneshot::channel();
        if queue.send(Note::Here(reached)).await.is_ok() {
            drop(here.await);
        }
    }

    /// What writes: to be run beside everything else. `None` the second time.
    pub(super) fn writer(
        &self,
        records: Arc<dyn Records>,
    ) -> Option<impl Future<Output = ()> + Send + 'static> {
        let (queue, mut waiting) = channel(WAITING);
        self.queue.set(queue).ok()?;
        Some(async move {
            while let Some(note) = waiting.recv().await {
                let (id, minute) = match note {
                    Note::Use(id, minute) => (id, minute),
                    Note::Here(reached) => {
                        // Whoever waited may have had enough.
                        let _ = reached.send(());
                        continue;
                    }
                };
                if let Err(error) = write(records.as_ref(), &id, minute).await {
                    tracing::debug!(target: "portcullis::api", token = %id, "its last use is not noted: {error}");
                }
            }
        })
    }
}

async fn write(records: &dyn Records, id: &TokenId, minute: u64) -> Result<(), StoreError> {
    let key = Key::new(KIND, id.to_string());
    let row = records.get(&key).await?;
    // Another process noted it in the same minute.
    if row.as_ref().is_some_and(|row| read(&row.entry.value) >= Some(minute)) {
        return Ok(());
    }
    let entry = NewRow::lasting(minute.to_be_bytes().to_vec());
    match records.put_if(&key, Precondition::of(row.as_ref()), entry).await {
        Ok(_) | Err(StoreError::Conflict) => Ok(()),
        Err(error) => Err(error),
    }
}

fn read(value: &[u8]) -> Option<u64> {
    value.try_into().ok().map(u64::from_be_bytes)
}

/// When each token was last used, as far as it is known.
pub(super) async fn all(records: &dyn Records) -> Result<HashMap<TokenId, Timestamp>, StoreError> {
    let mut all = HashMap::new();
    let mut pages = Pages::all(records, KIND);
    while let Some(page) = pages.next().await? {
        for row in &page {
            if let (Some(id), Some(minute)) = (TokenId::parse(row.key.id()), read(&row.entry.value)) {
                all.insert(id, Timestamp::from_millis(minute.saturating_mul(MINUTE)));
            }
        }
    }
    Ok(all)
}
