//! [`SessionRecheck`]: whether a session's caller may still go on, asked every few seconds and when what it has shown ends.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::time::{Instant, sleep_until};

use crate::base::clock::{SharedClock, Timestamp};
use crate::gateway::error::GatewayError;
use crate::gateway::session_proof::SessionProof;

/// How often it is asked.
const EVERY: Duration = Duration::from_secs(3);

/// The least time between two questions.
const LEAST: Duration = Duration::from_millis(1);

/// What all proofs have come to: when the first of them ends.
type Proved = Result<Option<Timestamp>, GatewayError>;

/// Asks again and again whether a session's caller may go on.
pub(super) struct SessionRecheck {
    proofs: Arc<[Box<dyn SessionProof>]>,
    clock: SharedClock,
    every: Duration,
    /// When it is asked next.
    due: Instant,
    /// The answer that is awaited. It is kept, whatever else happens meanwhile: a session that is never silent is asked too.
    asking: Option<BoxFuture<'static, Proved>>,
}

impl SessionRecheck {
    /// By these proofs; without any, the caller may go on.
    pub(super) fn new(proofs: Vec<Box<dyn SessionProof>>, clock: SharedClock) -> Self {
        Self { proofs: proofs.into(), clock, every: EVERY, due: Instant::now(), asking: None }
    }

    /// Returns once the caller may not go on, and says why. Given up and called again, it goes on where it was.
    pub(super) async fn ended(&mut self) -> GatewayError {
        if self.proofs.is_empty() {
            return std::future::pending().await;
        }
        loop {
            if self.asking.is_none() {
                sleep_until(self.due).await;
            }
            let proofs = &self.proofs;
            let proved = self.asking.get_or_insert_with(|| prove(Arc::clone(proofs))).await;
            self.asking = None;
            match proved {
                Ok(ends) => self.due = Instant::now() + self.patience(ends),
                Err(error) => return error,
            }
        }
    }

    /// How long it is not asked, where what the caller has shown ends then.
    fn patience(&self, ends: Option<Timestamp>) -> Duration {
        let now = self.clock.now().as_millis();
        let left = ends.map(|ends| Duration::from_millis(ends.as_millis().saturating_sub(now)));
        left.map_or(self.every, |left| left.clamp(LEAST, self.every))
    }
}

/// Asks all of them.
fn prove(proofs: Arc<[Box<dyn SessionProof>]>) -> BoxFuture<'static, Proved> {
    Box::pin(async move {
        let mut ends: Option<Timestamp> = None;
        for proof in proofs.iter() {
            let at = proof.prove().await?;
            ends = ends.into_iter().chain(at).min();
        }
        Ok(ends)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;

    use super::*;
    use crate::api::ApiError;
    use crate::base::clock::{Clock, FixedClock};

    const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    /// Holds so often, each time after a while, and ends then by the clock.
    struct Counted {
        holds: usize,
        asked: Arc<AtomicUsize>,
        ends: Option<Timestamp>,
    }

    #[async_trait]
    impl SessionProof for Counted {
        async fn prove(&self) -> Result<Option<Timestamp>, GatewayError> {
            tokio::time::sleep(Duration::from_millis(20)).await;
            match self.asked.fetch_add(1, Ordering::Relaxed) < self.holds {
                true => Ok(self.ends),
                false => Err(ApiError::Unauthorized.into()),
            }
        }
    }

    fn counted(holds: usize, ends: Option<Timestamp>) -> (SessionRecheck, Arc<AtomicUsize>, Arc<FixedClock>) {
        let (asked, clock) = (Arc::new(AtomicUsize::new(0)), Arc::new(FixedClock::at(START)));
        let proof: Box<dyn SessionProof> = Box::new(Counted { holds, asked: Arc::clone(&asked), ends });
        let mut recheck = SessionRecheck::new(vec![proof], Arc::clone(&clock) as SharedClock);
        recheck.every = Duration::from_millis(5);
        (recheck, asked, clock)
    }

    #[tokio::test]
    async fn a_session_that_is_never_silent_is_asked_about_too() {
        let (mut recheck, asked, _) = counted(3, None);
        let ended = async {
            // Something else happens more often than an answer takes.
            loop {
                tokio::select! {
                    error = recheck.ended() => return error,
                    () = tokio::time::sleep(Duration::from_millis(2)) => {}
                }
            }
        };
        let error = tokio::time::timeout(Duration::from_secs(30), ended).await.unwrap();
        assert_eq!((error.close_code(), asked.load(Ordering::Relaxed)), (1008, 4));
    }

    #[tokio::test]
    async fn it_is_asked_at_once_where_it_ends_and_not_at_all_where_nothing_does() {
        let hour = Duration::from_secs(3600);
        let (mut recheck, _, clock) = counted(1, None);
        recheck.every = hour;
        assert_eq!(recheck.patience(None), hour);
        assert_eq!(recheck.patience(Some(START.plus(Duration::from_secs(7)))), Duration::from_secs(7));
        clock.advance(hour);
        assert_eq!(recheck.patience(Some(START)), LEAST);
        // The first question is asked at once, and the next at the end that it has named.
        let (mut recheck, asked, clock) = counted(1, Some(START.plus(hour)));
        recheck.every = 2 * hour;
        clock.advance(hour - Duration::from_millis(50));
        let ended = tokio::time::timeout(Duration::from_secs(30), recheck.ended()).await;
        assert_eq!((ended.unwrap().close_code(), asked.load(Ordering::Relaxed)), (1008, 2));
        let mut nobody = SessionRecheck::new(Vec::new(), Arc::clone(&clock) as SharedClock);
        let silent = tokio::time::timeout(Duration::from_millis(50), nobody.ended()).await;
        assert!(silent.is_err() && clock.now() > START);
    }
}
