//! API tokens: `pts_` and 32 characters of `[a-z2-7]`, 160 random bits. Only the SHA-256 of one is stored (with
//! that many bits a slow hash would add nothing), and the row is found by it, so no comparison of the text itself
//! can leak where it differs.
//!
//! [`Tokens::verify`] alone makes a [`Principal`]. It remembers what it found for less than a second: a revocation
//! holds at once in this process and within a second in any other. What it did not find it does not remember.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dashmap::DashMap;
use data_encoding::HEXLOWER;

use crate::api::cpu::Caller;
pub use crate::api::tenant::{Tenant, TenantError};
use crate::api::token_ids;
pub use crate::api::token_info::{
    MAX_NAME, Service, TokenBounds, TokenError, TokenInfo, parse_expiry, unknown_routes,
};
use crate::api::token_record::{KIND, StoredToken};
pub use crate::api::token_text::tokens_in;
use crate::api::token_text::{distinct, text};
use crate::api::token_uses::{self, LastUses};
use crate::base::clock::{SharedClock, Timestamp};
use crate::base::id::TokenId;
use crate::base::secret::Secret;
use crate::crypto::hash::sha256;
use crate::crypto::random;
use crate::store::{Change, Key, Pages, Precondition, Records, StoreError, Tries, update};

/// What a token is to be. Where it names neither services nor routes it covers all of both; else those that it names
/// and no others.
#[derive(Clone, Debug, Default)]
pub struct NewToken {
    /// For the operator to know it by; need not be unique.
    pub name: String,
    /// Whose data its caller works on. It cannot be changed later.
    pub tenant: Tenant,
    /// Services it may use.
    pub services: Vec<Service>,
    /// Routes to others that it may pass, by their names in the configuration.
    pub routes: Vec<String>,
    /// The ids of the configs it may use; empty for all.
    pub configs: Vec<String>,
    /// When it ceases to be accepted, if ever.
    pub expires: Option<Timestamp>,
    /// What it is bound by.
    pub bounds: TokenBounds,
}

/// Who is calling, proved by a token. Only [`Tokens::verify`] and [`Tokens::signed`] make one; what it may do is decided in
/// [`scope`](crate::api::scope).
#[derive(Clone, Debug)]
pub struct Principal(Arc<TokenInfo>);

impl Principal {
    /// Of a token that was proved.
    pub(super) fn of(info: Arc<TokenInfo>) -> Self {
        Self(info)
    }

    /// The token's id, for logs and limits.
    pub fn id(&self) -> &TokenId {
        &self.0.id
    }

    /// Whose turn it is where callers take turns.
    pub fn caller(&self) -> Caller {
        Caller::Token(self.0.id.clone())
    }

    /// When the secret that proved it ceases to be accepted, if ever.
    pub fn expires(&self) -> Option<Timestamp> {
        self.0.expires
    }

    /// The token's name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The services the token may use.
    pub(super) fn services(&self) -> &[Service] {
        self.0.covered()
    }

    /// The names of the routes the token may pass; `None` for all.
    pub(super) fn routes(&self) -> Option<&[String]> {
        self.0.routes.as_deref()
    }

    /// The ids of the configs the token may use; empty for all.
    pub(super) fn configs(&self) -> &[String] {
        &self.0.configs
    }

    /// What the token is bound by.
    pub fn bounds(&self) -> &TokenBounds {
        &self.0.bounds
    }

    /// Whose data the caller works on: keys and surrogates are bound to it, and not to the token, so that another of the same
    /// tenant can take its place without losing what was made under the first.
    pub fn tenant(&self) -> &Tenant {
        &self.0.tenant
    }
}

/// What a text is that may be a token.
#[derive(Debug)]
pub enum TokenMatch {
    /// A token of this caller's.
    Good(Principal),
    /// A token that expired or was revoked.
    Ended,
    /// None of this store's.
    Unknown,
}

type Hash = [u8; 32];

/// A row that is no longer the token's, and what it said before.
struct ClaimedRow {
    row: Key,
    stored: StoredToken,
}

/// How often another rotation is waited for, and how long each time.
const TURNS: u32 = 50;
const TURN: Duration = Duration::from_millis(20);

/// Changes a row; whether there was anything to change.
type RowChange<'a> = &'a (dyn Fn(&mut StoredToken) -> bool + Send + Sync);

#[derive(Debug)]
struct CachedToken {
    info: Arc<TokenInfo>,
    /// Before the row was read.
    at: Instant,
    /// How many revocations there had been before the row was read.
    revocations: u64,
}

/// A principal is looked up again after this.
const MEMORY: Duration = Duration::from_millis(900);
/// Tokens remembered at one time. Beyond this many in use, the others are looked up each time.
const REMEMBERED: usize = 10_000;

/// The tokens of one store.
pub struct Tokens {
    pub(super) records: Arc<dyn Records>,
    pub(super) clock: SharedClock,
    seen: DashMap<Hash, CachedToken>,
    /// Counts those made here, and all other changes: whatever was read before one may be out of date after it.
    revocations: AtomicU64,
    pub(super) uses: LastUses,
}

impl Tokens {
    /// The tokens in this store.
    pub fn new(records: Arc<dyn Records>, clock: SharedClock) -> Self {
        let (seen, revocations, uses) = (DashMap::new(), AtomicU64::new(0), LastUses::default());
        Self { records, clock, seen, revocations, uses }
    }

    /// Makes a token. It can be read here and never again.
    pub async fn create(&self, new: NewToken) -> Result<(TokenId, Secret<String>), TokenError> {
        let created = self.clock.now();
        if new.expires.is_some_and(|at| at <= created) {
            return Err(TokenError::Past);
        }
        let narrowed = !(new.services.is_empty() && new.routes.is_empty());
        let (services, routes) = (distinct(new.services), distinct(new.routes));
        let mut info = TokenInfo {
            id: TokenId::from_random(random::bytes()?),
            name: new.name,
            tenant: new.tenant,
            services: narrowed.then_some(services),
            routes: narrowed.then_some(routes),
            configs: new.configs,
            created,
            expires: new.expires,
            revoked: None,
            bounds: new.bounds,
        };
        info.label_tenant();
        info.check(None)?;
        let (token, key) = fresh()?;
        token_ids::note(self.records.as_ref(), &info.id, &key).await?;
        self.records.put_if(&key, Precondition::Absent, StoredToken::new(&info).entry()?).await?;
        Ok((info.id, token))
    }

    /// Whether this is a token of this store, or once was one.
    ///
    /// # Errors
    /// What the store says: it is not known then.
    pub async fn standing(&self, presented: &str) -> Result<TokenMatch, TokenError> {
        match self.verify(presented).await {
            Ok(who) => Ok(TokenMatch::Good(who)),
            Err(TokenError::Expired | TokenError::Revoked) => Ok(TokenMatch::Ended),
            Err(TokenError::Unknown) => Ok(TokenMatch::Unknown),
            Err(error) => Err(error),
        }
    }

    /// Who presents this token. The text is judged by nothing but the lookup, whatever its shape.
    pub async fn verify(&self, presented: &str) -> Result<Principal, TokenError> {
        let hash = sha256(presented.as_bytes());
        let (at, revocations) = (self.clock.instant(), self.revocations.load(Ordering::Acquire));
        let info = match self.remembered(&hash, at, revocations) {
            Some(info) => info,
            None => {
                let key = key(&hash);
                let row = self.records.get(&key).await?.ok_or(TokenError::Unknown)?;
                // A backend may compare ids by rules of its own; equal hashes are what counts.
                if hash_of(&row.key) != Some(Secret::new(hash)) {
                    return Err(TokenError::Unknown);
                }
                let info = Arc::new(StoredToken::read(&row)?.info()?);
                self.remember(hash, CachedToken { info: Arc::clone(&info), at, revocations });
                info
            }
        };
        let now = self.clock.now();
        info.usable(now)?;
        self.uses.note(&info.id, now);
        Ok(Principal::of(info))
    }

    /// What writes down when tokens are used, to be run beside everything else in a process that serves; until then
    /// nothing is noted. `None` the second time.
    pub fn record_uses(&self) -> Option<impl Future<Output = ()> + Send + 'static> {
        self.uses.writer(Arc::clone(&self.records))
    }

    /// Returns once every use of a token that was noted here is written down.
    pub async fn uses_written(&self) {
        self.uses.written().await;
    }

    /// How many tokens were used in this process within the last five minutes.
    pub fn active(&self) -> usize {
        self.uses.active(self.clock.now())
    }

    /// When each token was last used, to the minute, as far as it is known.
    ///
    /// # Errors
    /// What the store says.
    pub async fn last_used(&self) -> Result<HashMap<TokenId, Timestamp>, TokenError> {
        Ok(token_uses::all(self.records.as_ref()).await?)
    }

    /// Every token, expired and revoked ones too, in no order that means anything.
    pub async fn list(&self) -> Result<Vec<TokenInfo>, TokenError> {
        let mut all = Vec::new();
        let mut pages = Pages::all(self.records.as_ref(), KIND);
        while let Some(page) = pages.next().await? {
            for row in &page {
                let stored = StoredToken::read(row)?;
                if !stored.replaced {
                    all.push(stored.info()?);
                }
            }
        }
        Ok(all)
    }

    /// What is known of the token of this id.
    ///
    /// # Errors
    /// [`TokenError::Unknown`]; what the store says.
    pub async fn get(&self, id: &TokenId) -> Result<TokenInfo, TokenError> {
        token_ids::find(self.records.as_ref(), id).await?.1.token()
    }

    /// Ends the token's life; nothing happens to one that was revoked before.
    pub async fn revoke(&self, id: &TokenId) -> Result<(), TokenError> {
        let now = self.clock.now().as_millis();
        self.change_rows(id, &|stored| {
            let revokes = stored.revoked.is_none();
            stored.revoked.get_or_insert(now);
            revokes
        })
        .await
    }

    /// Changes what a token may do and is bound by, at once in this process and within a second in any other. What it is
    /// known by stays. `change` is asked again where another change came first, so that none is lost; returns what the token is
    /// then.
    ///
    /// # Errors
    /// [`TokenError::Unknown`]; what a new token could not have either; what the store says; what `change` says, which has
    /// changed nothing then.
    pub async fn update(
        &self,
        id: &TokenId,
        change: impl Fn(&mut TokenInfo) -> Result<(), TokenError> + Send + Sync,
    ) -> Result<TokenInfo, TokenError> {
        let mut tries = Tries::default();
        loop {
            let (row, mut stored) = token_ids::find(self.records.as_ref(), id).await?;
            // What a later version has narrowed it by would be lost.
            if !stored.is_known() {
                return Err(TokenError::Row);
            }
            let before = stored.clone().token()?;
            let mut to = before.clone();
            change(&mut to)?;
            to.tenant = before.tenant.clone();
            to.label_tenant();
            to.check(Some(&before))?;
            stored.change(&to, self.clock.now());
            let put =
                self.records.put_if(&row.key, Precondition::Version(row.version), stored.entry()?).await;
            self.revocations.fetch_add(1, Ordering::Release);
            match put {
                Ok(_) => {}
                Err(StoreError::Conflict) => {
                    tries.again().await?;
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            self.change_rows(id, &|other| other.follow(&stored)).await?;
            return Ok(to);
        }
    }

    /// Makes another secret for a token, which stays who it is: its id, bounds and what was spent with it. The secret before
    /// is accepted for `grace` yet.
    ///
    /// # Errors
    /// [`TokenError::Unknown`] and [`TokenError::Revoked`]; what the store says.
    pub async fn rotate(&self, id: &TokenId, grace: Duration) -> Result<Secret<String>, TokenError> {
        let ClaimedRow { row, stored } = self.claim(id, grace).await?;
        let (token, key) = fresh()?;
        let version =
            self.records.put_if(&key, Precondition::Absent, stored.after(row.id()).entry()?).await?;
        if let Err(error) = token_ids::renote(self.records.as_ref(), id, &row, &key).await {
            // It took so long that another rotation went on in its place.
            if matches!(error, StoreError::Conflict) {
                drop(self.records.remove_if(&key, version).await);
            }
            return Err(error.into());
        }
        // Whoever changed or revoked the token meanwhile found the rows before alone; and so may have whoever made one of those.
        let mut next = Some(row);
        while let Some(before) = next.take() {
            let Some(before) = self.records.get(&before).await? else { break };
            let before = StoredToken::read(&before)?;
            self.change_row(&key, &|stored| stored.follow(&before)).await?;
            next = before.before.map(|before| Key::new(KIND, before));
        }
        Ok(token)
    }

    /// Takes a token's row, which from now on is that of a secret before: of several who would, one. One that has taken it and
    /// ended half way is gone on with.
    async fn claim(&self, id: &TokenId, grace: Duration) -> Result<ClaimedRow, TokenError> {
        let (mut tries, mut waited) = (Tries::default(), 0);
        loop {
            let (row, mut stored) = token_ids::find(self.records.as_ref(), id).await?;
            let (now, mut claimed) = (self.clock.now(), stored.clone());
            if stored.is_abandoned(now) {
                if let Some(next) = token_ids::successor(self.records.as_ref(), &row.key).await? {
                    token_ids::renote(self.records.as_ref(), id, &row.key, &next).await?;
                    continue;
                }
                claimed.reclaim(now);
                stored = stored.restored();
            } else if stored.replaced {
                // Another rotation is under way: its row is the token's in a moment.
                waited += 1;
                if waited > TURNS {
                    return Err(StoreError::Conflict.into());
                }
                tokio::time::sleep(TURN).await;
                continue;
            }
            stored.clone().info()?.usable(now)?;
            if !claimed.replaced {
                claimed.replace(now, grace);
            }
            let put =
                self.records.put_if(&row.key, Precondition::Version(row.version), claimed.entry()?).await;
            self.revocations.fetch_add(1, Ordering::Release);
            match put {
                Ok(_) => return Ok(ClaimedRow { row: row.key, stored }),
                Err(StoreError::Conflict) => tries.again().await?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Changes the token's row, and those of its secrets before, which may be accepted yet; and all of them again, if another
    /// row has become the token's meanwhile.
    async fn change_rows(&self, id: &TokenId, change: RowChange<'_>) -> Result<(), TokenError> {
        let (mut row, _) = token_ids::find(self.records.as_ref(), id).await?;
        loop {
            let mut next = Some(row.key.clone());
            while let Some(key) = next {
                next = self.change_row(&key, change).await?.map(|before| Key::new(KIND, before));
            }
            let (now, _) = token_ids::find(self.records.as_ref(), id).await?;
            if now.key == row.key {
                return Ok(());
            }
            row = now;
        }
    }

    /// Changes one row; returns which one was before it, if that is there.
    async fn change_row(&self, key: &Key, change: RowChange<'_>) -> Result<Option<String>, TokenError> {
        let mut writes = false;
        let changed = update::<_, TokenError>(self.records.as_ref(), key, |row| {
            let Some(row) = row else { return Ok(Change::Leave(None)) };
            let mut stored = StoredToken::read(&row)?;
            if !change(&mut stored) {
                return Ok(Change::Leave(stored.before));
            }
            let entry = stored.entry()?;
            writes = true;
            Ok(Change::Put(entry, stored.before))
        });
        let changed = changed.await;
        if writes {
            // Counted even if the write failed: an error may hide a write that took place.
            self.revocations.fetch_add(1, Ordering::Release);
        }
        changed
    }

    /// Whether what the token of this id was granted is good no more: it was revoked, or there is none of this id. One that
    /// expired did what it was made for.
    ///
    /// # Errors
    /// What the store says.
    pub async fn is_revoked(&self, id: &TokenId) -> Result<bool, TokenError> {
        match token_ids::find(self.records.as_ref(), id).await {
            Ok((_, stored)) => Ok(stored.revoked.is_some()),
            Err(TokenError::Unknown) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Whether a token was ever made in this store, be it usable or not.
    pub async fn any(&self) -> Result<bool, TokenError> {
        Ok(!self.records.scan(KIND, "", 1).await?.is_empty())
    }

    fn remembered(&self, hash: &Hash, now: Instant, revocations: u64) -> Option<Arc<TokenInfo>> {
        let seen = self.seen.get(hash)?;
        let fresh = seen.revocations == revocations && now.duration_since(seen.at) < MEMORY;
        fresh.then(|| Arc::clone(&seen.info))
    }

    fn remember(&self, hash: Hash, seen: CachedToken) {
        if self.seen.len() >= REMEMBERED {
            let now = seen.at;
            self.seen.retain(|_, seen| now.duration_since(seen.at) < MEMORY);
        }
        if self.seen.len() < REMEMBERED {
            self.seen.insert(hash, seen);
        }
    }
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tokens(..)")
    }
}

/// A new secret, and the row that has it.
fn fresh() -> Result<(Secret<String>, Key), TokenError> {
    let token = text(&Secret::new(random::bytes()?));
    let key = key(&sha256(token.expose().as_bytes()));
    Ok((token, key))
}

fn key(hash: &Hash) -> Key {
    Key::new(KIND, HEXLOWER.encode(hash))
}

fn hash_of(key: &Key) -> Option<Secret<Hash>> {
    HEXLOWER.decode(key.id().as_bytes()).ok()?.try_into().ok().map(Secret::new)
}

#[cfg(test)]
#[path = "token_tests.rs"]
mod tests;
