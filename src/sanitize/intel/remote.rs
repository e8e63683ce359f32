//! [`Remote`]: a provider that is asked over HTTP.
//!
//! It is asked in batches, by `POST` of `{"links": ["…", …]}`, and answers `{"scores": [n, …]}`: as many integers from
//! 0 to 100 as links, in their order. Anything else is no answer. A gateway of a few lines brings any vendor's API into
//! this shape.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;

use crate::base::clock::SharedClock;
use crate::base::secret::Secret;
use crate::net::{CallBody, Client, OutboundCall, Url};
use crate::sanitize::Rejection;
use crate::sanitize::intel::PendingScores;
use crate::sanitize::intel::cache::{Breaker, ReputationCache};
use crate::sanitize::intel::{Canonical, Reputation, Score};

/// Links in one question.
const BATCH: usize = 500;

/// The largest answer, in bytes.
const ANSWER: usize = 1 << 20;

/// What there is to say of a provider.
#[derive(Clone, Debug)]
pub struct RemoteSetup {
    /// Where it is asked.
    pub url: Url,
    /// Fields of the head, such as a key.
    pub headers: Vec<(String, Secret<String>)>,
    /// For one question.
    pub time: Duration,
    /// The most answers that are kept.
    pub cached: usize,
    /// How long an answer is kept.
    pub keep: Duration,
}

/// A provider that is asked over HTTP. What it answered is kept for a while; when it fails again and again it is left
/// alone for a while, and what is not kept fails at once.
#[derive(Debug)]
pub struct Remote {
    setup: RemoteSetup,
    client: Client,
    clock: DebugClock,
    state: Mutex<(ReputationCache, Breaker)>,
}

struct DebugClock(SharedClock);

impl std::fmt::Debug for DebugClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Clock")
    }
}

#[derive(Deserialize)]
struct Scores {
    scores: Vec<u8>,
}

impl Remote {
    /// Nothing is asked yet.
    pub fn new(setup: RemoteSetup, client: Client, clock: SharedClock) -> Self {
        let state = Mutex::new((ReputationCache::new(setup.cached, setup.keep), Breaker::default()));
        Self { setup, client, clock: DebugClock(clock), state }
    }

    fn state(&self) -> MutexGuard<'_, (ReputationCache, Breaker)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask(&self, links: &[&Canonical]) -> Result<Vec<Score>, Rejection> {
        let links: Vec<&str> = links.iter().map(|link| link.as_str()).collect();
        let json = serde_json::json!({ "links": links }).to_string();
        let RemoteSetup { url, headers, time, .. } = &self.setup;
        let call =
            OutboundCall { url, headers, body: Some(CallBody::Json(json)), timeout: *time, most: ANSWER };
        let answer = self.client.call(call).await.map_err(|_| Rejection::Provider)?;
        let fine =
            (answer.status == 200).then(|| serde_json::from_slice::<Scores>(&answer.body).ok()).flatten();
        let scores = fine.map(|answer| answer.scores).unwrap_or_default();
        let right = scores.len() == links.len() && scores.iter().all(|score| *score <= 100);
        if right { Ok(scores.into_iter().map(Score::new).collect()) } else { Err(Rejection::Provider) }
    }

    async fn judged(&self, links: &[Canonical]) -> Result<Vec<Score>, Rejection> {
        let mut known: BTreeMap<&Canonical, Score> = BTreeMap::new();
        let mut wanted: Vec<&Canonical> = Vec::new();
        {
            let (now, state) = (self.clock.0.instant(), self.state());
            for link in links {
                match state.0.get(link, now) {
                    Some(score) => drop(known.insert(link, score)),
                    None => wanted.push(link),
                }
            }
        }
        wanted.sort_unstable();
        wanted.dedup();
        for batch in wanted.chunks(BATCH) {
            if !self.state().1.closed(self.clock.0.instant()) {
                return Err(Rejection::Provider);
            }
            let scores = self.ask(batch).await;
            let now = self.clock.0.instant();
            let mut state = self.state();
            state.1.went(scores.is_ok(), now);
            for (link, score) in batch.iter().zip(scores?) {
                state.0.put((*link).clone(), score, now);
                known.insert(link, score);
            }
        }
        Ok(links.iter().map(|link| known.get(link).copied().unwrap_or_default()).collect())
    }
}

impl Reputation for Remote {
    fn name(&self) -> &'static str {
        "remote"
    }

    fn lookup<'a>(&'a self, links: &'a [Canonical]) -> PendingScores<'a> {
        Box::pin(self.judged(links))
    }
}

#[cfg(test)]
#[path = "remote_tests.rs"]
mod tests;
