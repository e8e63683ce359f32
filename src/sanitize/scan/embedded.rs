//! [`Embedded`]: the engine that applies rules in this process.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::Semaphore;

use crate::sanitize::scan::{Rules, ScanFailure, ScanItem, Scanner, Verdict};

/// Rules and SHA-256 lists, applied here.
#[derive(Debug)]
pub struct Embedded {
    rules: Arc<Rules>,
    time: Duration,
    turns: Semaphore,
}

impl Embedded {
    /// Over these rules; at most `time` for a part, and as many parts at once as there are processors.
    pub fn new(rules: Arc<Rules>, time: Duration) -> Self {
        let turns = std::thread::available_parallelism().map_or(1, usize::from);
        Self { rules, time, turns: Semaphore::new(turns) }
    }
}

impl Scanner for Embedded {
    fn name(&self) -> &'static str {
        "embedded"
    }

    fn scan<'a>(&'a self, part: ScanItem<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(async move {
            let Ok(_turn) = self.turns.acquire().await else {
                return Verdict::Down(ScanFailure::Unreachable);
            };
            let (rules, time) = (Arc::clone(&self.rules), self.time);
            let looked = tokio::task::spawn_blocking(move || rules.look(&part.bytes, time)).await;
            // A rule that brings the engine down says nothing about the part.
            looked.unwrap_or(Verdict::Unable(ScanFailure::Refused))
        })
    }
}
