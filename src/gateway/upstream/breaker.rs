//! How many requests a pool may have at once, how many may wait for a place, and when it gets none at all: after
//! failures in a row the breaker is open for a while, then lets one request try, and closes if that goes well.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::base::clock::SharedClock;
use crate::base::units::Period;
use crate::gateway::error::{GatewayError, Unavailable};
use crate::gateway::upstream::sockets::SocketPermit;
use crate::telemetry::Circuit;

/// `[upstreams.NAME.breaker]`: how much a pool gets, and when it gets nothing. Requests that it may not have are
/// answered with 503 and `Retry-After`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BreakerLimits {
    /// Requests at once. Default: any number.
    pub requests: Option<NonZeroUsize>,
    /// Requests that wait for a place when there are so many. Default 256.
    pub pending: usize,
    /// How long one waits. Default 1 s.
    pub wait: Period,
    /// Failures in a row after which it opens. Default 20; 0: never.
    pub failures: u32,
    /// How long it is open before one request may try; after each try that fails twice as long. Default 1 s.
    pub open: Period,
    /// The longest it is open. Default 30 s.
    pub longest: Period,
}

impl BreakerLimits {
    /// Any number of requests, always.
    pub const NONE: Self = Self {
        requests: None,
        pending: 0,
        wait: Period::secs(0),
        failures: 0,
        open: Period::secs(0),
        longest: Period::secs(0),
    };
}

impl Default for BreakerLimits {
    fn default() -> Self {
        Self {
            requests: None,
            pending: 256,
            wait: Period::secs(1),
            failures: 20,
            open: Period::secs(1),
            longest: Period::secs(30),
        }
    }
}

/// The breaker of one pool; outlives a reload that leaves its limits as they are.
pub struct Breaker {
    limits: BreakerLimits,
    places: Option<Arc<Semaphore>>,
    waiting: AtomicUsize,
    phase: Mutex<Phase>,
    in_flight: AtomicUsize,
    clock: SharedClock,
}

#[derive(Clone, Copy)]
enum Phase {
    Closed {
        failures: u32,
    },
    Open {
        until: Instant,
        times: u32,
    },
    /// One request tries.
    Trying {
        times: u32,
    },
}

/// Leave to send one request; the place is free again when it is dropped.
pub struct Permit {
    breaker: Arc<Breaker>,
    tries: bool,
    recorded: bool,
    _place: Option<OwnedSemaphorePermit>,
    _socket: Option<SocketPermit>,
}

impl Breaker {
    /// A closed one.
    pub fn new(limits: BreakerLimits, clock: SharedClock) -> Self {
        let places = limits.requests.map(|requests| Arc::new(Semaphore::new(requests.get())));
        let phase = Mutex::new(Phase::Closed { failures: 0 });
        let (waiting, in_flight) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { limits, places, waiting, phase, in_flight, clock }
    }

    /// What it lets through.
    pub fn limits(&self) -> &BreakerLimits {
        &self.limits
    }

    /// Asks for leave to send a request; may wait for a place.
    ///
    /// # Errors
    /// It is open, or there is no place in time.
    pub async fn admit(self: &Arc<Self>) -> Result<Permit, GatewayError> {
        let (place, tries) = self.entered().await?;
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        Ok(Permit { breaker: Arc::clone(self), tries, recorded: false, _place: place, _socket: None })
    }

    /// Requests that were let through and are not over.
    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// What it does with the next request.
    pub fn circuit(&self) -> Circuit {
        let now = self.clock.instant();
        match *self.lock() {
            Phase::Closed { .. } => Circuit::Closed,
            Phase::Open { until, .. } if now < until => Circuit::Open,
            Phase::Open { .. } | Phase::Trying { .. } => Circuit::HalfOpen,
        }
    }

    async fn entered(&self) -> Result<(Option<OwnedSemaphorePermit>, bool), GatewayError> {
        // While it is open no request waits for a slot.
        if self.places.is_some() {
            Self::judge(self.clock.instant(), *self.lock())?;
        }
        let place = self.place().await?;
        let now = self.clock.instant();
        let mut phase = self.lock();
        let tries = Self::judge(now, *phase)?;
        if let (true, Phase::Open { times, .. }) = (tries, *phase) {
            *phase = Phase::Trying { times };
        }
        Ok((place, tries))
    }

    async fn place(&self) -> Result<Option<OwnedSemaphorePermit>, GatewayError> {
        let Some(places) = &self.places else { return Ok(None) };
        if let Ok(place) = Arc::clone(places).try_acquire_owned() {
            return Ok(Some(place));
        }
        let full = || GatewayError::Unavailable(Unavailable::Full);
        let _waiting = WaitingRequest::begin(self).ok_or_else(full)?;
        match tokio::time::timeout(self.limits.wait.get(), Arc::clone(places).acquire_owned()).await {
            Ok(Ok(place)) => Ok(Some(place)),
            _ => Err(full()),
        }
    }

    /// Whether the request that gets through is the one that tries.
    fn judge(now: Instant, phase: Phase) -> Result<bool, GatewayError> {
        match phase {
            Phase::Closed { .. } => Ok(false),
            Phase::Open { until, .. } if now >= until => Ok(true),
            Phase::Open { until, .. } => {
                let wait = until.duration_since(now);
                Err(GatewayError::Unavailable(Unavailable::Open(
                    wait.as_secs() + u64::from(wait.subsec_nanos() > 0),
                )))
            }
            Phase::Trying { .. } => Err(GatewayError::Unavailable(Unavailable::Open(1))),
        }
    }

    fn record(&self, well: bool, tries: bool) {
        if self.limits.failures == 0 {
            return;
        }
        let now = self.clock.instant();
        let mut phase = self.lock();
        let next = match *phase {
            Phase::Closed { .. } if well => Phase::Closed { failures: 0 },
            Phase::Closed { failures } if failures + 1 < self.limits.failures => {
                Phase::Closed { failures: failures + 1 }
            }
            Phase::Closed { .. } => self.opened(now, 0),
            Phase::Trying { .. } if tries && well => Phase::Closed { failures: 0 },
            Phase::Trying { times } if tries => self.opened(now, times + 1),
            // What was sent before it opened says nothing new.
            other => other,
        };
        *phase = next;
    }

    fn opened(&self, now: Instant, times: u32) -> Phase {
        let (open, longest) = (self.limits.open.get(), self.limits.longest.get());
        let period = open.saturating_mul(1 << times.min(20)).min(longest.max(open));
        Phase::Open { until: now + period, times }
    }

    /// The trial request ended without a result: another one may try.
    fn record_none(&self) {
        let mut phase = self.lock();
        if let Phase::Trying { times } = *phase {
            *phase = Phase::Open { until: self.clock.instant(), times };
        }
    }

    fn lock(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One request that waits for a place.
struct WaitingRequest<'a>(&'a Breaker);

impl<'a> WaitingRequest<'a> {
    fn begin(breaker: &'a Breaker) -> Option<Self> {
        let more = |waiting: usize| (waiting < breaker.limits.pending).then_some(waiting + 1);
        breaker.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(Self(breaker))
    }
}

impl Drop for WaitingRequest<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Permit {
    /// With a connection that it is leave for, too.
    pub(super) fn holding(mut self, socket: SocketPermit) -> Self {
        self._socket = Some(socket);
        self
    }

    /// Records how the request went; only the first call counts.
    pub fn record(&mut self, well: bool) {
        if !self.recorded {
            self.recorded = true;
            self.breaker.record(well, self.tries);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.breaker.in_flight.fetch_sub(1, Ordering::Relaxed);
        if self.tries && !self.recorded {
            self.breaker.record_none();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::base::clock::{FixedClock, Timestamp};

    fn breaker(limits: BreakerLimits) -> (Arc<Breaker>, Arc<FixedClock>) {
        let clock = Arc::new(FixedClock::at(Timestamp::from_millis(0)));
        (Arc::new(Breaker::new(limits, Arc::clone(&clock) as SharedClock)), clock)
    }

    fn opens() -> BreakerLimits {
        let (open, longest) = (Period::secs(2), Period::secs(5));
        BreakerLimits { failures: 2, open, longest, ..BreakerLimits::NONE }
    }

    fn after(refused: Result<Permit, GatewayError>) -> Option<u64> {
        match refused.err()? {
            GatewayError::Unavailable(Unavailable::Open(after)) => Some(after),
            _ => None,
        }
    }

    async fn told(breaker: &Arc<Breaker>, well: bool) {
        breaker.admit().await.unwrap().record(well);
    }

    #[tokio::test]
    async fn failures_in_a_row_open_it_and_one_request_tries() {
        let (breaker, clock) = breaker(opens());
        told(&breaker, false).await;
        told(&breaker, true).await;
        told(&breaker, false).await;
        told(&breaker, false).await;
        assert_eq!(after(breaker.admit().await), Some(2));
        for period in [4, 5, 5] {
            clock.advance(Duration::from_secs(5));
            let mut tries = breaker.admit().await.unwrap();
            assert_eq!(after(breaker.admit().await), Some(1), "one at a time");
            tries.record(false);
            drop(tries);
            assert_eq!(after(breaker.admit().await), Some(period));
        }
        clock.advance(Duration::from_secs(5));
        drop(breaker.admit().await.unwrap());
        assert_eq!((breaker.circuit(), breaker.in_flight()), (Circuit::HalfOpen, 0));
        told(&breaker, true).await;
        told(&breaker, false).await;
        assert_eq!(breaker.circuit(), Circuit::Closed);
        assert!(breaker.admit().await.is_ok(), "it begins anew");
    }

    #[tokio::test]
    async fn what_was_sent_before_it_opened_does_not_close_it() {
        let (breaker, _) = breaker(opens());
        let mut slow = breaker.admit().await.unwrap();
        told(&breaker, false).await;
        told(&breaker, false).await;
        slow.record(true);
        assert_eq!(after(breaker.admit().await), Some(2));
    }

    #[tokio::test]
    async fn so_many_at_once_and_so_many_waiting() {
        let (requests, wait) = (Some(NonZeroUsize::MIN), Period::secs(30));
        let limits = BreakerLimits { requests, pending: 1, wait, ..BreakerLimits::NONE };
        let (breaker, _) = breaker(limits);
        let first = breaker.admit().await.unwrap();
        let waiting = tokio::spawn({
            let breaker = Arc::clone(&breaker);
            async move { breaker.admit().await.is_ok() }
        });
        while breaker.waiting.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        assert!(matches!(breaker.admit().await, Err(GatewayError::Unavailable(Unavailable::Full))));
        drop(first);
        assert!(waiting.await.unwrap());
        assert!(breaker.admit().await.is_ok());
    }
}
