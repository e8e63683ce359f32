//! How slowly the other side may send or take bytes: a grace is used up while nothing moves, and every byte that moves
//! earns some of it back, at the least rate that is asked for. Time in which nobody waits for bytes does not count.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// How fast bytes must move.
#[derive(Clone, Copy, Debug)]
pub struct ByteRate {
    /// Bytes a second.
    pub per_second: usize,
    /// How long they may be slower, or not move at all.
    pub grace: Duration,
}

/// Holds one direction of one connection to a [`ByteRate`].
#[derive(Debug)]
pub(crate) struct MinRate {
    /// Bytes a second.
    rate: u64,
    grace: Duration,
    left: Duration,
    since: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl MinRate {
    /// With the whole grace left.
    pub(crate) fn new(ByteRate { per_second, grace }: ByteRate) -> Self {
        let rate = u64::try_from(per_second).unwrap_or(u64::MAX).max(1);
        Self { rate, grace, left: grace, since: None, timer: None }
    }

    /// Gives the whole grace again, for another request.
    pub(crate) fn renew(&mut self) {
        self.left = self.grace;
        self.since = None;
    }

    /// Notes that so many bytes came or went.
    pub(crate) fn moved(&mut self, bytes: usize) {
        if let Some(since) = self.since.take() {
            self.left = self.left.saturating_sub(since.elapsed());
        }
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let earned = Duration::from_millis(bytes.saturating_mul(1000) / self.rate);
        self.left = self.left.saturating_add(earned).min(self.grace);
    }

    /// Nothing moves: ready once the grace is used up.
    pub(crate) fn poll_over(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let end = match self.since {
            Some(since) => since + self.left,
            None => {
                let now = Instant::now();
                self.since = Some(now);
                let end = now + self.left;
                match &mut self.timer {
                    Some(timer) => timer.as_mut().reset(end),
                    None => self.timer = Some(Box::pin(sleep_until(end))),
                }
                end
            }
        };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(end)));
        timer.as_mut().poll(context)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::time::{advance, timeout};

    use super::*;

    const GRACE: Duration = Duration::from_secs(10);
    const RATE: ByteRate = ByteRate { per_second: 1024, grace: GRACE };

    #[tokio::test(start_paused = true)]
    async fn a_drip_is_cut_when_the_grace_is_used_up() {
        let mut pace = MinRate::new(RATE);
        let begun = Instant::now();
        while timeout(Duration::from_secs(1), poll_fn(|context| pace.poll_over(context))).await.is_err() {
            pace.moved(1);
        }
        let took = begun.elapsed();
        assert!((10..=11).contains(&took.as_secs()), "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn who_keeps_the_rate_is_never_cut() {
        let mut pace = MinRate::new(RATE);
        for _ in 0..600 {
            let wait = timeout(Duration::from_secs(1), poll_fn(|context| pace.poll_over(context))).await;
            assert!(wait.is_err());
            pace.moved(1024);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_nobody_waits_is_free() {
        let mut pace = MinRate::new(RATE);
        for _ in 0..10 {
            advance(GRACE * 2).await;
            pace.moved(1);
        }
        assert!(timeout(GRACE / 2, poll_fn(|context| pace.poll_over(context))).await.is_err());
    }
}
