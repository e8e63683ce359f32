//! [`InFlight`]: how many requests are under way, and whether the process drains.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::watch;

/// Requests under way.
#[derive(Clone, Debug, Default)]
pub struct InFlight {
    count: Arc<AtomicUsize>,
    /// Whether those under way are the last.
    drains: Arc<watch::Sender<bool>>,
}

impl InFlight {
    /// How many there are now.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    pub(super) fn enter(&self) -> UnderWay {
        self.count.fetch_add(1, Ordering::Relaxed);
        UnderWay(Arc::clone(&self.count))
    }

    /// The process drains: what lasts is to end.
    pub(super) fn drain(&self) {
        self.drains.send_replace(true);
    }

    /// Tells when the process drains.
    pub(super) fn drain_watch(&self) -> DrainWatch {
        DrainWatch(self.drains.subscribe())
    }
}

/// Whether the process drains, for whatever lasts.
pub(super) struct DrainWatch(watch::Receiver<bool>);

impl DrainWatch {
    /// Returns once the process drains. Given up and called again, it goes on where it was.
    pub(super) async fn begun(&mut self) {
        let begun = self.0.wait_for(|&drains| drains).await.is_ok();
        if !begun {
            // Whoever would say so is gone.
            std::future::pending::<()>().await;
        }
    }
}

/// One request under way, until it is dropped.
pub(super) struct UnderWay(Arc<AtomicUsize>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn a_drain_is_told_to_whoever_was_there_before_and_comes_later() {
        let in_flight = InFlight::default();
        let mut before = in_flight.drain_watch();
        assert!(timeout(Duration::from_millis(20), before.begun()).await.is_err());
        in_flight.clone().drain();
        before.begun().await;
        in_flight.drain_watch().begun().await;
        let mut lonely = InFlight::default().drain_watch();
        assert!(timeout(Duration::from_millis(20), lonely.begun()).await.is_err(), "gone is not draining");
    }
}
