//! [`Links`]: links as rows of the store, which are gone when their time is over.

use std::sync::Arc;

use crate::api::share::link::object::{LastSent, Link, LinkTerms, StoredLink};
use crate::api::share::link::password::Password;
use crate::api::share::rows::{ShareError, is_of};
use crate::base::clock::{SharedClock, Timestamp};
use crate::base::id::{ShareLinkId, TokenId};
use crate::crypto::random;
use crate::store::{Change, Key, NewRow, Pages, Precondition, Records, Row, update};

const KIND: &str = "share.link";

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
        let id = ShareLinkId::from_random(random::bytes()?);
        let version = self.records.put_if(&key(&id), Precondition::Absent, entry(&stored)?).await?;
        Ok(Link { id, version, stored })
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
        let mut pages = Pages::all(self.records.as_ref(), KIND);
        while let Some(page) = pages.next().await? {
            for row in &page {
                match read(row) {
                    Ok(link) if link.tenant() == tenant => all.push(link),
                    Err(error) if is_of(row, tenant) => return Err(error),
                    Ok(_) | Err(_) => {}
                }
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
        update(self.records.as_ref(), &key(id), |_| Ok(Change::Remove(()))).await
    }

    /// Changes a link unless `change` says no.
    async fn change(
        &self,
        id: &ShareLinkId,
        change: impl Fn(&mut StoredLink) -> bool + Send,
    ) -> Result<Option<Link>, ShareError> {
        update(self.records.as_ref(), &key(id), |row| {
            let mut link = read(&row.ok_or(ShareError::Unknown)?)?;
            if !change(&mut link.stored) {
                return Ok(Change::Leave(None));
            }
            let entry = entry(&link.stored)?;
            link.version = Precondition::at(link.version).next();
            Ok(Change::Put(entry, Some(link)))
        })
        .await
    }
}

fn key(id: &ShareLinkId) -> Key {
    Key::new(KIND, id.to_string())
}

fn entry(stored: &StoredLink) -> Result<NewRow, ShareError> {
    let value = serde_json::to_vec(stored).map_err(|_| ShareError::Row)?;
    Ok(NewRow { value, expires: Some(Timestamp::from_millis(stored.terms.expires_at)) })
}

fn read(row: &Row) -> Result<Link, ShareError> {
    let stored = serde_json::from_slice(&row.entry.value).map_err(|_| ShareError::Row)?;
    let id = ShareLinkId::parse(row.key.id()).ok_or(ShareError::Row)?;
    Ok(Link { id, version: row.version, stored })
}
