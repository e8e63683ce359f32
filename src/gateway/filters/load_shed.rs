//! Refuses requests before anything is spent on them: when too many are under way, when those hold nearly all that they
//! may, and when work waits too long for a thread. What is refused early is cheap, so that what was begun gets done.

use std::cell::OnceCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;

use crate::api::ApiError;
use crate::base::budget::MemoryBudget;
use crate::base::clock::{SharedClock, micros};
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::filter::{Filter, Flow, Stage};
use crate::gateway::in_flight::InFlight;
use crate::gateway::plan::RequestPlan;
use crate::telemetry::{FrontMetrics, Refusal};

/// How often it is looked how long work waits.
const TICK: Duration = Duration::from_millis(50);

/// How long work waits for a thread, measured on the threads that serve: a task that wants to run every so often sees how
/// much later it does.
pub struct QueueDelay(SharedClock);

thread_local! {
    /// The measure of the runtime that this thread works for.
    static HERE: OnceCell<Arc<Lag>> = const { OnceCell::new() };
}

/// What one task has seen, in microseconds.
struct Lag {
    clock: SharedClock,
    start: Instant,
    /// When it wants to run next, since the start.
    due: AtomicU64,
    /// How much later it ran the last time.
    late: AtomicU64,
}

impl QueueDelay {
    /// By this clock.
    pub fn new(clock: SharedClock) -> Self {
        Self(clock)
    }

    /// How long work waits on this thread's runtime. Must be called within one.
    pub fn wait(&self) -> Duration {
        HERE.with(|here| {
            here.get_or_init(|| {
                let lag = Arc::new(Lag::new(Arc::clone(&self.0)));
                tokio::spawn(measure(Arc::clone(&lag)));
                lag
            })
            .wait()
        })
    }
}

impl Lag {
    fn new(clock: SharedClock) -> Self {
        let start = clock.instant();
        Self { clock, start, due: AtomicU64::new(micros(TICK)), late: AtomicU64::new(0) }
    }

    fn wait(&self) -> Duration {
        let overdue = self.now().saturating_sub(self.due.load(Ordering::Relaxed));
        Duration::from_micros(overdue.max(self.late.load(Ordering::Relaxed)))
    }

    fn now(&self) -> u64 {
        micros(self.clock.instant().saturating_duration_since(self.start))
    }
}

async fn measure(lag: Arc<Lag>) {
    loop {
        tokio::time::sleep(TICK).await;
        let now = lag.now();
        lag.late.store(now.saturating_sub(lag.due.load(Ordering::Relaxed)), Ordering::Relaxed);
        lag.due.store(now + micros(TICK), Ordering::Relaxed);
    }
}

/// What it goes by.
pub struct LoadShedParts {
    /// Requests under way.
    pub in_flight: InFlight,
    /// The most of them.
    pub most: usize,
    /// What they hold together.
    pub budget: MemoryBudget,
    /// From how many held bytes on no more are taken: before those under way run out of room.
    pub held: usize,
    /// How long work waits.
    pub queue: Arc<QueueDelay>,
    /// The longest it may.
    pub wait: Duration,
    /// Counts what is refused.
    pub metrics: FrontMetrics,
}

/// Refuses what is too much.
pub struct LoadShedFilter(LoadShedParts);

impl LoadShedFilter {
    /// By these measures.
    pub fn new(parts: LoadShedParts) -> Self {
        Self(parts)
    }

    /// Why another request is too much, where so many others are under way.
    fn why(&self, others: usize) -> Option<Refusal> {
        let parts = &self.0;
        if others >= parts.most {
            Some(Refusal::InFlight)
        } else if parts.budget.used() >= parts.held {
            Some(Refusal::Held)
        } else if parts.queue.wait() > parts.wait {
            Some(Refusal::Queue)
        } else {
            None
        }
    }
}

#[async_trait]
impl Filter for LoadShedFilter {
    fn name(&self) -> &'static str {
        "shed"
    }

    fn stage(&self) -> Stage {
        Stage::LoadShed
    }

    fn rejects_all(&self) -> Option<Refusal> {
        self.why(self.0.in_flight.count())
    }

    async fn request(&self, _: &mut Exchange, _: &mut RequestPlan) -> Result<Flow, GatewayError> {
        // The request itself is under way already.
        match self.why(self.0.in_flight.count().saturating_sub(1)) {
            None => Ok(Flow::Next),
            Some(why) => {
                self.0.metrics.refused.inc(why);
                Err(GatewayError::Api(ApiError::Overloaded))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::SystemClock;
    use crate::telemetry::Metrics;

    fn shed(most: usize, held: usize) -> LoadShedFilter {
        let clock: SharedClock = Arc::new(SystemClock);
        LoadShedFilter::new(LoadShedParts {
            in_flight: InFlight::default(),
            most,
            budget: MemoryBudget::process(1000),
            held,
            queue: Arc::new(QueueDelay::new(clock)),
            wait: Duration::from_secs(30),
            metrics: Metrics::new().unwrap().front.clone(),
        })
    }

    #[tokio::test]
    async fn what_is_held_keeps_the_next_out() {
        let shed = shed(10, 800);
        assert_eq!(shed.rejects_all(), None);
        let mut charge = shed.0.budget.charge();
        charge.set(800).unwrap();
        assert_eq!(shed.rejects_all(), Some(Refusal::Held));
        drop(charge);
        assert_eq!(shed.rejects_all(), None);
    }

    /// One thread, which does nothing else for a while: whoever asks then hears of it, and no longer afterwards.
    #[tokio::test]
    async fn a_busy_thread_is_seen_and_forgotten() {
        let queue = QueueDelay::new(Arc::new(SystemClock));
        assert!(queue.wait() < Duration::from_millis(100));
        tokio::task::yield_now().await;
        std::thread::sleep(TICK + Duration::from_millis(200));
        assert!(queue.wait() >= Duration::from_millis(200));
        for _ in 0..200 {
            tokio::time::sleep(TICK).await;
            if queue.wait() < Duration::from_millis(100) {
                return;
            }
        }
        panic!("it is still late");
    }
}
