//! [`sample`]: looks at what is counted, every few seconds, as long as there is somebody to count.

use std::sync::{Arc, Weak};

use tokio::time::{MissedTickBehavior, interval};

use crate::base::clock::SharedClock;
use crate::console::live::history::{EVERY, History};
use crate::telemetry::Series;

/// What the gateway counts.
pub trait Figures: Send + Sync + 'static {
    /// All of it, brought up to date.
    fn series(&self) -> Vec<Series>;
}

/// Fills the history until nobody counts, or nobody looks any more.
pub async fn sample<F: Figures>(figures: Weak<F>, history: Weak<History>, clock: SharedClock) {
    let mut ticks = interval(EVERY);
    // After a pause there is one look, and not all that were missed.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let (Some(figures), Some(history)) = (figures.upgrade(), history.upgrade()) else { return };
        look(figures.as_ref(), &history, &clock);
    }
}

fn look(figures: &impl Figures, history: &Arc<History>, clock: &SharedClock) {
    let series = figures.series();
    history.add(clock.now(), clock.instant(), &series);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::base::clock::{Clock, SystemClock};

    struct Nothing;

    impl Figures for Nothing {
        fn series(&self) -> Vec<Series> {
            Vec::new()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn it_ends_with_whoever_counts() {
        let (figures, history) = (Arc::new(Nothing), Arc::new(History::new(SystemClock.now())));
        let (counted, kept) = (Arc::downgrade(&figures), Arc::downgrade(&history));
        let sampler = tokio::spawn(sample(counted, kept, Arc::new(SystemClock)));
        tokio::time::sleep(EVERY * 3 + Duration::from_secs(1)).await;
        let read: serde_json::Value =
            serde_json::from_str(&history.figures(0, &serde_json::Value::Null)).unwrap();
        assert_eq!(read["next"], 4);
        drop(figures);
        tokio::time::timeout(EVERY * 2, sampler).await.unwrap().unwrap();
    }
}
