//! [`Links`]: links as rows of the store, which are gone when their time is over.

use std::sync::Arc;

use crate::api::share::link::object::{LastSent, Link, LinkTerms, StoredLink};
use crate::api::share::link::password::Password;
use crate::api::share::rows::{ShareError, is_of};
use crate::base::clock::{SharedClock, Timestamp};
use crate::base::id::{ShareLinkId, TokenId};
use crate::crypto::random;
use crate::store::{Key, NewRow, Precondition, Records, Row, StoreError};

const KIND: &str = "share.link";
const PAGE: u32 = 200;

/// Of those who come in at once each wins once, so nobody loses more often than others are there; and they stand in a
/// line before a few places where passwords are compared.
const TRIES: usize = 64;

/// The links of one store. Cheap to clone.
#[derive(Clone)]
pub struct Links {
    records: Arc<dyn Records>,
    clock: SharedClock,
}

impl Links {
    /// The links in this store.
    pub fn new(records: Arc<dyn Records>, clock: SharedClock) -> Self {
        Self { records, clock }
    }

    /// Makes a link.
    pub(super) async fn make(
        &self,
        tenant: &str,
        by: &TokenId,
        terms: LinkTerms,
        password: Password,
    ) -> Result<Link, ShareError> {
        let stored = StoredLink {
            tenant: tenant.to_owned(),
            by: by.to_string(),
            terms,
            password,
            access_count: 0,
            created_at: self.clock.now().as_millis(),
            last_accessed_at: None,
            sent: None,
        };
        let link = Link { id: ShareLinkId::from_random(random::bytes()?), version: 0, stored };
        let version = self.write(&link, Precondition::Absent).await?;
        Ok(Link { version, ..link })
    }

    /// A link of whatever tenant: for whoever has its URL.
    pub(super) async fn open(&self, id: &ShareLinkId) -> Result<Link, ShareError> {
        let row = self.records.get(&key(id)).await?.ok_or(ShareError::Unknown)?;
        read(&row)
    }

    /// A link of the tenant's.
    pub(super) async fn get(&self, tenant: &str, id: &ShareLinkId) -> Result<Link, ShareError> {
        let link = self.open(id).await?;
        if link.tenant() == tenant { Ok(link) } else { Err(ShareError::Unknown) }
    }

    /// Every link of the tenant's.
    pub(super) async fn all(&self, tenant: &str) -> Result<Vec<Link>, ShareError> {
        let mut all = Vec::new();
        let mut after = String::new();
        loop {
            let page = self.records.scan(KIND, &after, PAGE).await?;
            for row in &page {
                match read(row) {
                    Ok(link) if link.tenant() == tenant => all.push(link),
                    Err(error) if is_of(row, tenant) => return Err(error),
                    Ok(_) | Err(_) => {}
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE as usize => last.key.id().clone_into(&mut after),
                _ => break,
            }
        }
        Ok(all)
    }

    /// Counts somebody who came in; `None` if nobody more may.
    pub(super) async fn enter(&self, id: &ShareLinkId) -> Result<Option<Link>, ShareError> {
        let now = self.clock.now().as_millis();
        self.change(id, |stored| {
            let most = stored.terms.max_access_count.unwrap_or(u32::MAX);
            if stored.access_count >= most {
                return false;
            }
            stored.access_count += 1;
            stored.last_accessed_at = Some(now);
            true
        })
        .await
    }

    /// Notes to whom a link was sent.
    pub(super) async fn sent(&self, id: &ShareLinkId, sent: LastSent) -> Result<Option<Link>, ShareError> {
        self.change(id, |stored| {
            stored.sent = Some(sent.clone());
            true
        })
        .await
    }

    /// Removes a link. One that is gone already is gone.
    pub(super) async fn remove(&self, id: &ShareLinkId) -> Result<(), ShareError> {
        for _ in 0..TRIES {
            let Some(row) = self.records.get(&key(id)).await? else { return Ok(()) };
            match self.records.remove_if(&row.key, row.version).await {
                Ok(()) => return Ok(()),
                Err(StoreError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Conflict.into())
    }

    /// Changes a link unless `change` says no.
    async fn change(
        &self,
        id: &ShareLinkId,
        change: impl Fn(&mut StoredLink) -> bool + Send,
    ) -> Result<Option<Link>, ShareError> {
        for _ in 0..TRIES {
            let mut link = self.open(id).await?;
            if !change(&mut link.stored) {
                return Ok(None);
            }
            match self.write(&link, Precondition::Version(link.version)).await {
                Ok(version) => return Ok(Some(Link { version, ..link })),
                Err(ShareError::Store(StoreError::Conflict)) => {}
                Err(error) => return Err(error),
            }
        }
        Err(StoreError::Conflict.into())
    }

    async fn write(&self, link: &Link, expected: Precondition) -> Result<u64, ShareError> {
        let value = serde_json::to_vec(&link.stored).map_err(|_| ShareError::Row)?;
        let expires = Some(Timestamp::from_millis(link.stored.terms.expires_at));
        Ok(self.records.put_if(&key(&link.id), expected, NewRow { value, expires }).await?)
    }
}

fn key(id: &ShareLinkId) -> Key {
    Key::new(KIND, id.to_string())
}

fn read(row: &Row) -> Result<Link, ShareError> {
    let stored = serde_json::from_slice(&row.entry.value).map_err(|_| ShareError::Row)?;
    let id = ShareLinkId::parse(row.key.id()).ok_or(ShareError::Row)?;
    Ok(Link { id, version: row.version, stored })
}
