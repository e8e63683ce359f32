//! [`WorkGate`]: whether this process takes work that outlives a call.

use std::sync::Arc;

use tokio::sync::watch;

/// From the start of the process until it ends. Clones are the same.
#[derive(Clone, Debug)]
pub struct WorkGate(Arc<watch::Sender<bool>>);

impl Default for WorkGate {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }
}

/// A piece of work that the end of the shift waits for.
#[derive(Clone, Debug)]
pub(super) struct WorkGuard(watch::Receiver<bool>);

impl WorkGate {
    /// Ends it: nothing is begun any more, and what is under way is handed back. Returns once it is.
    pub async fn end(&self) {
        self.0.send_replace(true);
        self.0.closed().await;
    }

    /// Begins with something, unless the shift has ended.
    pub(super) fn begin(&self) -> Option<WorkGuard> {
        let hand = WorkGuard(self.0.subscribe());
        let over = *hand.0.borrow();
        (!over).then_some(hand)
    }
}

impl WorkGuard {
    /// Returns once the shift ends.
    pub(super) async fn over(&mut self) {
        // The other end is gone with the process only.
        drop(self.0.wait_for(|&over| over).await);
    }
}
