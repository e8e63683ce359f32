//! [`CollectorCopy`]: lines of the audit log at a collector of OTLP, each as the body of a log record. What the collector has
//! taken is noted beside the log, so that after a restart nothing is missing, and a batch comes twice at the most.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::api::block_in_place;
use crate::app::audit_copies::destination::{Copied, CopyDestination};
use crate::app::collector::{Collector, ExportOutcome};
use crate::app::error::AppError;
use crate::audit::{ChainLink, FollowedLine};
use crate::config::settings::AuditOtlp;
use crate::store::private;
use crate::telemetry::{LogRecord, Severity, encode_records};

/// What the records are, for whoever filters them.
const EVENT: &str = "portcullis.audit";

/// Nanoseconds in a millisecond.
const NANOS: u64 = 1_000_000;

/// Lines at a collector.
pub(super) struct CollectorCopy {
    collector: Collector,
    service: String,
    /// Where it is noted which line was taken last.
    note: PathBuf,
}

impl CollectorCopy {
    /// Of the log in this file.
    ///
    /// # Errors
    /// A client that cannot be had.
    pub(super) fn new(setting: &AuditOtlp, log: &Path) -> Result<Self, AppError> {
        let client = Collector::client().map_err(|error| AppError::Io(format!("audit.otlp: {error}")))?;
        let headers = setting.headers.iter().map(|(name, value)| (name.clone(), value.value().clone()));
        let collector = Collector {
            endpoint: setting.endpoint.0.clone(),
            headers: headers.collect(),
            time: setting.time.get(),
            client,
        };
        let mut note = log.as_os_str().to_owned();
        note.push(".otlp");
        Ok(Self { collector, service: setting.service.clone(), note: note.into() })
    }

    fn failed(&self, error: &dyn std::fmt::Display) -> String {
        format!("{}: {error}", self.note.display())
    }
}

impl CopyDestination for CollectorCopy {
    async fn ends(&mut self) -> Copied<Vec<ChainLink>> {
        match block_in_place(|| std::fs::read_to_string(&self.note)) {
            Ok(text) => match ChainLink::parse(text.trim_end()) {
                Some(link) => Ok(vec![link]),
                None => {
                    Err(self.failed(&"this is no note of the audit log; remove it to send all lines again"))
                }
            },
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(self.failed(&error)),
        }
    }

    async fn take(&mut self, run: &[FollowedLine]) -> Copied<()> {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { return Ok(()) };
        let records: Vec<LogRecord<'_>> = run.iter().map(record).collect();
        let export = encode_records(&self.service, &first.node, EVENT, &records);
        match self.collector.send(&export, "rejectedLogRecords").await {
            ExportOutcome::All => {}
            ExportOutcome::AllBut(rejected) => {
                tracing::error!(target: "portcullis::audit", rejected, "the collector does not take lines of the audit log");
            }
            ExportOutcome::Nothing => return Err("the collector does not take them".to_owned()),
        }
        let mut draft = self.note.clone().into_os_string();
        draft.push(".new");
        let draft = PathBuf::from(draft);
        // It waits for the disk.
        block_in_place(|| {
            drop(std::fs::remove_file(&draft));
            let noted = private::publish(&draft, format!("{}\n", last.this).as_bytes());
            noted.and_then(|()| private::replace(&self.note, &draft)).map_err(|error| self.failed(&error))
        })
    }
}

fn record(line: &FollowedLine) -> LogRecord<'_> {
    let severity = match line.decision.as_str() {
        "passed" => Severity::Info,
        "refused" => Severity::Warn,
        _ => Severity::Error,
    };
    LogRecord { time: line.time.as_millis().saturating_mul(NANOS), severity, body: &line.text }
}
