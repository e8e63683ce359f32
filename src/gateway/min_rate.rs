//! How long the other side may keep us waiting: a grace, used up while nothing moves and earned back by every byte that
//! does, at the least rate that is asked for. Time in which nobody waits for it does not count.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// The patience for one direction of one connection.
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
    /// At least `rate` bytes a second, once `grace` has been used up.
    pub(crate) fn new(rate: usize, grace: Duration) -> Self {
        let rate = u64::try_from(rate).unwrap_or(u64::MAX).max(1);
        Self { rate, grace, left: grace, since: None, timer: None }
    }

    /// All patience again: another request.
    pub(crate) fn renew(&mut self) {
        self.left = self.grace;
        self.since = None;
    }

    /// So many bytes came or went.
    pub(crate) fn moved(&mut self, bytes: usize) {
        if let Some(since) = self.since.take() {
            self.left = self.left.saturating_sub(since.elapsed());
        }
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let earned = Duration::from_millis(bytes.saturating_mul(1000) / self.rate);
        self.left = self.left.saturating_add(earned).min(self.grace);
    }

    /// Nothing moves: ready once patience is at its end.
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

    #[tokio::test(start_paused = true)]
    async fn a_drip_is_cut_when_the_grace_is_used_up() {
        let mut pace = MinRate::new(1024, GRACE);
        let begun = Instant::now();
        while timeout(Duration::from_secs(1), poll_fn(|context| pace.poll_over(context))).await.is_err() {
            pace.moved(1);
        }
        let took = begun.elapsed();
        assert!((10..=11).contains(&took.as_secs()), "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn who_keeps_the_rate_is_never_cut() {
        let mut pace = MinRate::new(1024, GRACE);
        for _ in 0..600 {
            let wait = timeout(Duration::from_secs(1), poll_fn(|context| pace.poll_over(context))).await;
            assert!(wait.is_err());
            pace.moved(1024);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_nobody_waits_is_free() {
        let mut pace = MinRate::new(1024, GRACE);
        for _ in 0..10 {
            advance(GRACE * 2).await;
            pace.moved(1);
        }
        assert!(timeout(GRACE / 2, poll_fn(|context| pace.poll_over(context))).await.is_err());
    }
}
