//! The audit log of this process.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::app::error::AppError;
use crate::audit::{AuditError, AuditLog};
use crate::config::settings::{Audit, AuditFailure};
use crate::gateway::filters::AuditTrail;
use crate::telemetry::{Addresses, Metrics};

/// How many processes may write beside each other.
const BESIDE: u32 = 9;

/// Opens the log as the settings say. While another process writes the file, as the one before does in an upgrade, this one
/// writes a file beside it.
///
/// # Errors
/// A file that cannot be opened or is no audit log.
pub(super) fn open(setting: &Audit, addresses: Addresses, metrics: &Metrics) -> Result<AuditTrail, AppError> {
    let name = setting.node.as_deref().cloned().or_else(host).unwrap_or_else(|| "portcullis".to_owned());
    let mut path: PathBuf = setting.file.to_path_buf();
    let mut number = 1;
    let log = loop {
        match AuditLog::open(&path, &name) {
            Err(AuditError::Locked { .. }) if number < BESIDE => {
                number += 1;
                path = beside(&setting.file, number);
            }
            opened => break opened.map_err(|error| AppError::Io(format!("audit.file: {error}")))?,
        }
    };
    if number > 1 {
        let path = path.display();
        tracing::warn!(target: "portcullis::audit", %path, "another process writes the audit log; this one writes here");
    }
    Ok(AuditTrail {
        log: Arc::new(log),
        addresses,
        must_be_written: setting.on_failure == AuditFailure::Refuse,
        lost: metrics.audit_lines_lost.clone(),
        told: Arc::default(),
    })
}

/// `audit.jsonl` → `audit.2.jsonl`.
fn beside(path: &Path, number: u32) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let ending = path.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
    path.with_file_name(format!("{stem}.{number}{ending}"))
}

fn host() -> Option<String> {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Some(name).filter(|name| !name.is_empty())
}
