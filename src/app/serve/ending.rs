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
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How long connections may take to close once nothing is under way on them: callers that stay are not waited for, but
/// the last bytes of an answer may still be in a buffer.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

/// How long requests may take to end that are cut off.
const CUT_OFF_TIMEOUT: Duration = Duration::from_secs(1);

/// How long the last writes may take together.
const WRITE_TIMEOUT: Duration = Duration::from_secs(3);

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
    /// Returns when the process may end: without waiting for requests once `hurry` does.
    pub(super) async fn run(self, hurry: impl Future<Output = ()>) {
        let under_way = self.parts.in_flight.count();
        tracing::info!(target: TARGET, under_way, connections = self.connections(), "draining");
        tokio::select! {
            () = hurry => {}
            () = self.requests() => {}
        }
        let left = self.parts.in_flight.count();
        self.cut_off().await;
        self.rest().await;
        tracing::info!(target: TARGET, cut_off = left, "stopped");
    }

    /// Ends what is under way yet, so that it is counted and written down like a request whose caller has left.
    async fn cut_off(&self) {
        self.connections.iter().for_each(ConnectionLimit::cut_off);
        let ended = async {
            while self.parts.in_flight.count() > 0 {
                sleep(POLL_INTERVAL).await;
            }
        };
        drop(timeout(CUT_OFF_TIMEOUT, ended).await);
    }

    /// Until there is no connection left; those on which nothing happens are not waited for long.
    async fn requests(&self) {
        let mut quiet = Duration::ZERO;
        let idle = async {
            while !self.sockets.is_empty() || self.connections() > 0 && quiet < CLOSE_TIMEOUT {
                sleep(POLL_INTERVAL).await;
                quiet = if self.parts.in_flight.count() > 0 { Duration::ZERO } else { quiet + POLL_INTERVAL };
            }
        };
        drop(timeout(self.drain, idle).await);
    }

    async fn rest(&self) {
        let parts = &self.parts;
        let stored = async {
            parts.work_gate.end().await;
            parts.opened.tokens.uses_written().await;
            metering::write(parts).await;
        };
        // A store that hangs keeps no log from being written.
        let (stored, ()) = tokio::join!(timeout(WRITE_TIMEOUT, stored), self.logs());
        if stored.is_err() || timeout(WRITE_TIMEOUT, parts.opened.records.close()).await.is_err() {
            tracing::warn!(target: TARGET, "the store does not answer: leases run out by themselves");
        }
        parts.access.flush();
        metering::lost(parts);
    }

    /// Writes what waits in the logs of this machine, then what goes elsewhere.
    async fn logs(&self) {
        let parts = &self.parts;
        parts.access.flush();
        let audit = async {
            let Some(audit) = &parts.audit else { return };
            let log = Arc::clone(&audit.log);
            drop(tokio::task::spawn_blocking(move || log.flush(WRITE_TIMEOUT)).await);
            parts.audit_copies.caught_up(&audit.log).await;
        };
        let sent = async {
            tokio::join!(audit, traces::last(&parts.tracer));
        };
        if timeout(WRITE_TIMEOUT, sent).await.is_err() {
            tracing::warn!(target: TARGET, "what waits in the logs could not be sent in time");
        }
    }

    fn connections(&self) -> usize {
        self.connections.iter().map(ConnectionLimit::taken).sum()
    }
}
