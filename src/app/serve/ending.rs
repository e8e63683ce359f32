//! The last seconds of a process: requests under way end, work that takes longer is handed back for another process to
//! go on with, what waits to be written is written, and the store is closed.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::app::services::Services;
use crate::app::{metering, traces};
use crate::gateway::listen::{ConnectionLimit, Sockets};

const TARGET: &str = "portcullis::app";

/// How often it is looked whether anything is still under way.
const LOOK: Duration = Duration::from_millis(20);

/// How long connections may take to close once nothing is under way on them: callers that stay are not waited for, but
/// the last bytes of an answer may still be in a buffer.
const CLOSING: Duration = Duration::from_secs(3);

/// How long the last writes may take together.
const WRITING: Duration = Duration::from_secs(3);

/// What the end of the process has to see to.
pub(super) struct Ending {
    pub(super) parts: Arc<Services>,
    /// Closed one by one, once what waited in their queues is accepted.
    pub(super) sockets: Sockets,
    pub(super) connections: Vec<ConnectionLimit>,
    /// How long requests under way are waited for.
    pub(super) drain: Duration,
}

impl Ending {
    /// Returns when the process may end: at once if `hurry` does.
    pub(super) async fn run(self, hurry: impl Future<Output = ()>) {
        let under_way = self.parts.in_flight.count();
        tracing::info!(target: TARGET, under_way, connections = self.connections(), "draining");
        let ended = async {
            self.requests().await;
            self.rest().await;
        };
        tokio::select! {
            () = hurry => {}
            () = ended => {}
        }
        let left = self.parts.in_flight.count();
        tracing::info!(target: TARGET, cut_off = left, "stopped");
    }

    /// Until there is no connection left; those on which nothing happens are not waited for long.
    async fn requests(&self) {
        let mut quiet = Duration::ZERO;
        let idle = async {
            while !self.sockets.is_empty() || self.connections() > 0 && quiet < CLOSING {
                sleep(LOOK).await;
                quiet = if self.parts.in_flight.count() > 0 { Duration::ZERO } else { quiet + LOOK };
            }
        };
        drop(timeout(self.drain, idle).await);
    }

    async fn rest(&self) {
        let parts = &self.parts;
        let written = async {
            parts.work_gate.end().await;
            parts.opened.tokens.uses_written().await;
            metering::write(parts).await;
            traces::last(&parts.tracer).await;
            parts.access.flush();
            if let Some(audit) = &parts.audit {
                let log = Arc::clone(&audit.log);
                drop(tokio::task::spawn_blocking(move || log.flush(WRITING)).await);
                parts.audit_copies.caught_up(&audit.log).await;
            }
            parts.opened.records.close().await;
        };
        if timeout(WRITING, written).await.is_err() {
            tracing::warn!(target: TARGET, "the store does not answer: leases run out by themselves");
        }
        metering::lost(parts);
    }

    fn connections(&self) -> usize {
        self.connections.iter().map(ConnectionLimit::taken).sum()
    }
}
