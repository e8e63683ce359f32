//! One file's way in order: looked at, taken apart and put together in a child, looked at again.

use crate::sanitize::sandbox::{Cleaned, Sandbox, SandboxError};
use crate::sanitize::scan::ScanItem;
use crate::sanitize::{
    ContentLocation, Note, Options, RedactionMode, RejectedFile, Rejection, ScanProviders, ScanRecord,
    ScanSession, UnreadPolicy, name,
};
use crate::telemetry::trace::step;

/// A clean file, and what was said on the way.
pub struct Sanitized {
    /// The file, and what was done to it.
    pub cleaned: Cleaned,
    /// What it must be called, where its own name does not fit what it is.
    pub name: Option<String>,
    /// What scanners, feeds and the detector said.
    pub record: ScanRecord,
}

/// Cleans a file.
///
/// # Errors
/// Why it is not released.
pub async fn sanitize(
    sandbox: &Sandbox,
    options: Options,
    file: ScanItem<'_>,
    providers: ScanProviders,
) -> Result<Sanitized, SandboxError> {
    let session = ScanSession::new(providers);
    let mut cleaned = match cleaned(sandbox, options, &file, &session).await {
        Ok(cleaned) => cleaned,
        Err(SandboxError::Rejected(mut rejected)) => {
            rejected.threat = session.threat().filter(|_| rejected.rejection == Rejection::Malicious);
            let part = rejected.threat.as_ref().map(|threat| threat.part.clone());
            if let Some(part) = part.filter(|part| !part.is_empty() && part != file.name) {
                rejected.spot = ContentLocation { part: Some(part), ..ContentLocation::default() };
                rejected.spot.bound();
            }
            session.without_values(rejected.spot.names());
            return Err(rejected.into());
        }
        Err(error) => return Err(error),
    };
    session.without_values(cleaned.stats.objects.names());
    let name = name::fitting(file.name, cleaned.kind, options);
    cleaned.stats.note(Note::Renamed, u64::from(name.is_some()));
    Ok(Sanitized { cleaned, name, record: session.close() })
}

/// A file, scanned before and after it was cleaned.
async fn cleaned(
    sandbox: &Sandbox,
    options: Options,
    file: &ScanItem<'_>,
    session: &ScanSession,
) -> Result<Cleaned, SandboxError> {
    let rejected = |rejection| SandboxError::from(RejectedFile::new(None, rejection));
    step("sanitize.scan", session.scan(file.clone())).await.map_err(rejected)?;
    let cleaned = step("sanitize.clean", sandbox.clean(options, file, session)).await?;
    let whole = options.redaction != RedactionMode::Apply || options.policy.unread == UnreadPolicy::Note;
    if !whole && cleaned.stats.unread() > 0 {
        return Err(RejectedFile::new(Some(cleaned.kind), Rejection::Unread).into());
    }
    // What was put together anew may be what no part was.
    if cleaned.bytes != file.bytes {
        let clean = ScanItem { name: file.name, bytes: cleaned.bytes.clone() };
        step("sanitize.scan_again", session.scan(clean)).await.map_err(rejected)?;
    }
    Ok(cleaned)
}

impl std::fmt::Debug for Sanitized {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sanitized").field("cleaned", &self.cleaned).finish_non_exhaustive()
    }
}
