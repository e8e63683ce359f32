//! One file's way in order: looked at, taken apart and put together in a child, looked at again.

use bytes::Bytes;

use crate::sanitize::sandbox::{Cleaned, Sandbox, SandboxError};
use crate::sanitize::{Options, Providers, Record, ScanSession};
use crate::telemetry::trace::step;

/// A clean file, and what was heard on the way.
pub struct Sanitized {
    /// The file, and what was done to it.
    pub cleaned: Cleaned,
    /// What scanners, feeds and the detector said.
    pub record: Record,
}

/// Cleans the file `bytes`, which its owner calls `name`.
///
/// # Errors
/// Why it is not released.
pub async fn sanitize(
    sandbox: &Sandbox,
    options: Options,
    (name, bytes): (&str, &Bytes),
    providers: Providers,
) -> Result<Sanitized, SandboxError> {
    let session = ScanSession::new(providers);
    let refused = |rejection| SandboxError::Rejected(None, rejection);
    step("sanitize.scan", session.scan(name, bytes.clone())).await.map_err(refused)?;
    let cleaned = step("sanitize.clean", sandbox.clean(options, (name, bytes), &session)).await?;
    // What was put together anew may be what no part was.
    if cleaned.bytes != *bytes {
        step("sanitize.scan_again", session.scan(name, cleaned.bytes.clone())).await.map_err(refused)?;
    }
    Ok(Sanitized { cleaned, record: session.close() })
}

impl std::fmt::Debug for Sanitized {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sanitized").field("cleaned", &self.cleaned).finish_non_exhaustive()
    }
}
