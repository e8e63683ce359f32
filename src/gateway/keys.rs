//! [`JwtKeys`]: public keys of those who sign tokens: from a file, or fetched, kept, fetched again when they are old or a token
//! names one that is not known, and used on while they cannot be fetched.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use tokio::sync::Mutex;

use crate::base::clock::SharedClock;
use crate::gateway::key_set::KeySet;
use crate::gateway::key_source::KeySource;
use crate::vault::jwt::{JwtError, Unverified, Verified};

/// A whole fetch.
const TIMEOUT: Duration = Duration::from_secs(10);

/// When keys are fetched again.
#[derive(Clone, Copy, Debug)]
pub struct RefreshIntervals {
    /// After this time, at the next token.
    pub refresh: Duration,
    /// For this time they are used on while they cannot be fetched.
    pub stale: Duration,
    /// Between two fetches for names that are not known, and after a failed one.
    pub pause: Duration,
}

impl Default for RefreshIntervals {
    fn default() -> Self {
        let (refresh, stale, pause) = (300, 24 * 3600, 10);
        Self {
            refresh: Duration::from_secs(refresh),
            stale: Duration::from_secs(stale),
            pause: Duration::from_secs(pause),
        }
    }
}

/// Where keys come from.
pub struct JwtKeys {
    fixed: Option<KeySet>,
    remote: Option<Remote>,
}

struct Remote {
    source: KeySource,
    ages: RefreshIntervals,
    clock: SharedClock,
    held: ArcSwapOption<CachedKeySet>,
    /// One fetch at a time; when the last one was tried.
    fetching: Mutex<Option<Instant>>,
}

struct CachedKeySet {
    keys: KeySet,
    since: Instant,
}

/// Why nothing can be said of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyError {
    /// It is none, or nobody who may sign has signed it.
    Token,
    /// The keys cannot be had.
    NoKeys,
}

impl From<JwtError> for VerifyError {
    fn from(_: JwtError) -> Self {
        Self::Token
    }
}

impl JwtKeys {
    /// These and no others.
    pub fn fixed(keys: KeySet) -> Self {
        Self { fixed: Some(keys), remote: None }
    }

    /// Those that are fetched from there.
    pub fn remote(source: KeySource, ages: RefreshIntervals, clock: SharedClock) -> Self {
        let (held, fetching) = (ArcSwapOption::empty(), Mutex::new(None));
        Self { fixed: None, remote: Some(Remote { source, ages, clock, held, fetching }) }
    }

    /// What the token says, if one of the keys has signed it.
    ///
    /// # Errors
    /// None has, or no keys could be had, or they are too old.
    pub async fn verify(&self, token: &str) -> Result<Verified, VerifyError> {
        let read = Unverified::parse(token)?;
        let kid = read.kid();
        if let Some(keys) = &self.fixed {
            return keys.verify(token, kid).ok_or(VerifyError::Token);
        }
        let remote = self.remote.as_ref().ok_or(VerifyError::NoKeys)?;
        let held = remote.held(kid).await.ok_or(VerifyError::NoKeys)?;
        held.keys.verify(token, kid).ok_or(VerifyError::Token)
    }
}

impl Remote {
    /// The keys for a token, fetched if that may help.
    async fn held(&self, kid: Option<&str>) -> Option<Arc<CachedKeySet>> {
        let fresh =
            |held: &Arc<CachedKeySet>| self.age(held.since) < self.ages.refresh && held.keys.knows(kid);
        let held = self.held.load_full();
        if held.as_ref().is_some_and(fresh) {
            return held;
        }
        // While one request fetches, those that can do without go on.
        let mut tried = match (self.fetching.try_lock(), &held) {
            (Ok(tried), _) => tried,
            (Err(_), Some(known)) if self.usable(known) && known.keys.knows(kid) => return held,
            (Err(_), _) => self.fetching.lock().await,
        };
        // Somebody else may have fetched them meanwhile.
        let held = self.held.load_full();
        let paused = tried.is_some_and(|tried| self.age(tried) < self.ages.pause);
        if !held.as_ref().is_some_and(fresh) && !paused {
            *tried = Some(self.clock.instant());
            match tokio::time::timeout(TIMEOUT, self.fetch()).await {
                Ok(Ok(keys)) => {
                    self.held.store(Some(Arc::new(CachedKeySet { keys, since: self.clock.instant() })));
                }
                Ok(Err(why)) => self.complain(why),
                Err(_) => self.complain("they do not come in time"),
            }
        }
        self.held.load_full().filter(|held| self.usable(held))
    }

    fn usable(&self, held: &CachedKeySet) -> bool {
        self.age(held.since) < self.ages.refresh + self.ages.stale
    }

    fn age(&self, since: Instant) -> Duration {
        self.clock.instant().duration_since(since)
    }

    fn complain(&self, why: &str) {
        let from = self.source.name();
        tracing::warn!(target: "portcullis::jwt", from, "keys of tokens are not fetched: {why}");
    }

    async fn fetch(&self) -> Result<KeySet, &'static str> {
        KeySet::read(&self.source.fetch().await?)
    }
}
