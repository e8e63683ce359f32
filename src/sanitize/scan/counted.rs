//! [`CountedScanner`]: a scanner whose verdicts are counted.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::sanitize::scan::scanner::{ScanItem, Scanner, Verdict};
use crate::telemetry::{ScanCounters, ScanResult};

/// Counts what another scanner says.
pub struct CountedScanner {
    scanner: Arc<dyn Scanner>,
    counters: ScanCounters,
}

impl CountedScanner {
    /// Counts what this one says.
    pub fn new(scanner: Arc<dyn Scanner>, counters: ScanCounters) -> Self {
        Self { scanner, counters }
    }
}

impl Scanner for CountedScanner {
    fn name(&self) -> &'static str {
        self.scanner.name()
    }

    fn scan<'a>(&'a self, part: ScanItem<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(async move {
            let verdict = self.scanner.scan(part).await;
            self.counters.inc(match &verdict {
                Verdict::Clean => ScanResult::Clean,
                Verdict::Malicious { .. } => ScanResult::Malicious,
                Verdict::Unable(_) => ScanResult::Unable,
                Verdict::Down(_) => ScanResult::Down,
            });
            verdict
        })
    }
}
