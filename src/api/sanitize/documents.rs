//! [`Documents`]: files that lie in a request, redacted by whoever knows their formats.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use std::sync::Arc;

use crate::api::ApiError;
use crate::api::sanitize::why;
use crate::redact::{Keys, Redactor, Report};
use crate::sanitize::sandbox::{Sandbox, SandboxError};
use crate::sanitize::scan::{ScanItem, Scanner, Verdict};
use crate::sanitize::{
    Note, Options, RedactionMode, RejectedFile, Rejection, ReleasePolicy, ScanProviders, ScriptPolicy,
    UnreadPolicy, sanitize,
};

/// Redacts documents, each in a process of its own. Cheap to clone.
#[derive(Clone)]
pub struct Documents {
    sandbox: Sandbox,
    most: usize,
    unread: UnreadPolicy,
}

/// A redacted document.
pub struct RedactedDocument {
    /// The document.
    pub bytes: Bytes,
    /// What was found in it, one report for each batch of its texts.
    pub reports: Vec<Report>,
    /// Images and parts in it that nobody read.
    pub unread: u64,
}

/// Why there is none.
#[derive(Debug)]
pub enum DocumentError {
    /// The document cannot be redacted; why.
    Rejected(&'static str),
    /// Something else is at fault.
    Api(ApiError),
}

impl Documents {
    /// Documents of up to `most` bytes; `unread` says what becomes of those that cannot be read whole.
    pub fn new(sandbox: Sandbox, most: usize, unread: UnreadPolicy) -> Self {
        Self { sandbox, most, unread }
    }

    /// Replaces what `redactor` finds in the texts of a document. Attachments stay and are
    /// redacted as well; links stay; what acts (scripts, forms) does not, since nobody reads its words.
    ///
    /// # Errors
    /// See [`DocumentError`].
    pub async fn redact(
        &self,
        name: &str,
        bytes: Bytes,
        redactor: Redactor,
        keys: Keys,
    ) -> Result<RedactedDocument, DocumentError> {
        if bytes.len() > self.most {
            return Err(DocumentError::Rejected("it is larger than sanitize.limits.file"));
        }
        let options = Options {
            attachments: false,
            interactive: true,
            links: false,
            redaction: RedactionMode::Apply,
            // They are read by a model, and opened by nobody.
            policy: ReleasePolicy { pass_unknown: false, scripts: ScriptPolicy::Pass, unread: self.unread },
            fit_names: false,
        };
        let providers = ScanProviders {
            scanner: Arc::new(NotScanned),
            block_unable: false,
            urls: None,
            domains: None,
            defang: false,
            threshold: u8::MAX,
            redactor: Some((redactor, keys)),
            redaction: RedactionMode::Apply,
            password: None,
        };
        let file = ScanItem { name, bytes };
        let sanitized = sanitize(&self.sandbox, options, file, providers).await.map_err(of_sandbox)?;
        let stats = &sanitized.cleaned.stats;
        let unread = stats.unread() + stats.notes.get(&Note::NotScanned).copied().unwrap_or_default();
        Ok(RedactedDocument { bytes: sanitized.cleaned.bytes, reports: sanitized.record.reports, unread })
    }
}

fn of_sandbox(error: SandboxError) -> DocumentError {
    match &error {
        SandboxError::Start(_) => DocumentError::Api(ApiError::Internal("child")),
        SandboxError::Rejected(RejectedFile { rejection: Rejection::Spent(after), .. }) => {
            DocumentError::Api(ApiError::TooManyValues(*after))
        }
        error => DocumentError::Rejected(why(error)),
    }
}

/// Files on their way to an upstream are not searched for what harms their reader: that is the sanitizer's own call.
struct NotScanned;

impl Scanner for NotScanned {
    fn name(&self) -> &'static str {
        "none"
    }

    fn scan<'a>(&'a self, _: ScanItem<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(std::future::ready(Verdict::Clean))
    }
}

impl std::fmt::Debug for Documents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Documents").field("most", &self.most).finish_non_exhaustive()
    }
}
