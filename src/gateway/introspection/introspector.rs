//! [`Introspector`]: asks a server about a token, or knows what it said. However many requests come with one token at once,
//! it is asked once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OnceCell, Semaphore};

use crate::base::clock::SharedClock;
use crate::crypto::kdf::MacKey;
use crate::gateway::introspection::server::{AuthorizationServer, IntrospectionError, TokenStatus};
use crate::gateway::introspection::token_status_cache::{Digest, TokenStatusCache};

/// How long it is known at the most that a token is not active: it may be issued, or be known to all of a server's nodes, a
/// moment later.
const INACTIVE: Duration = Duration::from_secs(10);

/// The most questions under way at once; others wait, and do not wait long.
const AT_ONCE: usize = 64;

/// Between two lines in the log about a server that does not answer.
const QUIET: Duration = Duration::from_secs(10);

/// What a question has come to.
type IntrospectionResult = Result<TokenStatus, IntrospectionError>;

/// A question that somebody asks, and others wait for.
#[derive(Default)]
struct Question {
    outcome: Arc<OnceCell<IntrospectionResult>>,
    /// How many have a share in it.
    shares: usize,
}

/// What an [`Introspector`] is made from.
pub struct IntrospectorParts {
    /// Knows its tokens.
    pub server: AuthorizationServer,
    /// How long a question may wait for its turn.
    pub patience: Duration,
    /// How long an answer is kept at the most.
    pub cache_for: Duration,
    /// Random; under it answers are kept, so that nobody can look for tokens in what is kept.
    pub key: [u8; 32],
    /// Reads time.
    pub clock: SharedClock,
}

/// Knows how tokens stand.
pub struct Introspector {
    server: AuthorizationServer,
    patience: Duration,
    cache_for: Duration,
    key: MacKey,
    clock: SharedClock,
    kept: Mutex<TokenStatusCache>,
    asked: Mutex<HashMap<Digest, Question>>,
    turns: Semaphore,
    complained: Mutex<Option<Instant>>,
}

/// A share in a question; the last one takes it off the list.
struct QuestionShare<'a> {
    of: &'a Introspector,
    digest: Digest,
    outcome: Arc<OnceCell<IntrospectionResult>>,
}

impl Introspector {
    /// Makes one that knows nothing yet.
    pub fn new(parts: IntrospectorParts) -> Self {
        let IntrospectorParts { server, patience, cache_for, key, clock } = parts;
        Self {
            server,
            patience,
            cache_for,
            key: MacKey::new(&key),
            clock,
            kept: Mutex::default(),
            asked: Mutex::default(),
            turns: Semaphore::new(AT_ONCE),
            complained: Mutex::default(),
        }
    }

    /// How a token stands.
    ///
    /// # Errors
    /// The server says nothing that can be used.
    pub async fn standing(&self, token: &str) -> IntrospectionResult {
        let digest = self.key.digest(&[token.as_bytes()]);
        let known = unlocked(&self.kept).get(&digest, self.clock.instant());
        if let Some(standing) = known {
            return Ok(standing);
        }
        let share = self.share(digest);
        share.outcome.get_or_init(|| self.ask(token, digest)).await.clone()
    }

    /// A share in the question about a token, which may be under way.
    fn share(&self, digest: Digest) -> QuestionShare<'_> {
        let mut asked = unlocked(&self.asked);
        let question = asked.entry(digest).or_default();
        question.shares += 1;
        QuestionShare { of: self, digest, outcome: Arc::clone(&question.outcome) }
    }

    async fn ask(&self, token: &str, digest: Digest) -> IntrospectionResult {
        let turn = tokio::time::timeout(self.patience, self.turns.acquire()).await;
        let Ok(Ok(_turn)) = turn else { return self.failed(IntrospectionError::Gone) };
        // Before the question: what was said of a token at some time is no younger than that.
        let (since, now) = (self.clock.instant(), self.clock.now().as_millis() / 1000);
        match self.server.introspect(token).await {
            Ok((standing, bytes)) => {
                let until = since + self.good_for(&standing, now);
                unlocked(&self.kept).put(digest, standing.clone(), bytes, until);
                Ok(standing)
            }
            Err(why) => self.failed(why),
        }
    }

    /// How long a standing that was asked for at `now`, in seconds since 1970, is taken for true.
    fn good_for(&self, standing: &TokenStatus, now: u64) -> Duration {
        match standing {
            TokenStatus::Inactive => self.cache_for.min(INACTIVE),
            TokenStatus::Active(said) => {
                let left = said.expires().map(|end| Duration::from_secs(end.saturating_sub(now)));
                self.cache_for.min(left.unwrap_or(Duration::MAX))
            }
        }
    }

    fn failed(&self, why: IntrospectionError) -> IntrospectionResult {
        let now = self.clock.instant();
        let mut complained = unlocked(&self.complained);
        if complained.is_none_or(|last| now.duration_since(last) >= QUIET) {
            *complained = Some(now);
            let server = self.server.name();
            tracing::warn!(target: "portcullis::introspection", server, "tokens are not verified: {why}");
        }
        Err(why)
    }
}

impl Drop for QuestionShare<'_> {
    fn drop(&mut self) {
        let mut asked = unlocked(&self.of.asked);
        if let Some(question) = asked.get_mut(&self.digest) {
            question.shares -= 1;
            if question.shares == 0 {
                asked.remove(&self.digest);
            }
        }
    }
}

/// What is in a lock. None is held while anybody waits for something else.
fn unlocked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "introspector_tests.rs"]
mod tests;
