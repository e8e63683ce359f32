//! Documents in a request, redacted by who knows their formats.

use bytes::Bytes;

use crate::api::block_in_place;
use crate::api::sanitize::{DocumentError, Documents};
use crate::gateway::error::GatewayError;
use crate::gateway::filters::file_policy::FilePlace;
use crate::gateway::filters::redact::reading::{Parsed, ReadAs, Readings};
use crate::gateway::filters::redaction_error::of_redaction;
use crate::redact::{FileClass, FindingLimits, Keys, Redactor, Report};

/// What is redacted by who knows documents.
pub(super) struct DocumentRedaction<'a> {
    pub(super) documents: &'a Documents,
    /// Keeps what it issues, so that the rest of the body goes with that.
    pub(super) redactor: Redactor,
    pub(super) keys: Keys,
    /// How the body is read.
    pub(super) reading: &'a ReadAs,
    pub(super) readings: &'a Readings,
}

/// A body in which all documents are redacted.
pub(super) struct WithDocuments {
    pub(super) body: Bytes,
    pub(super) reports: Vec<Report>,
    /// How many there are.
    pub(super) documents: usize,
    pub(super) unread: u64,
}

impl DocumentRedaction<'_> {
    /// Redacts the documents in `body`, which are parts of it, or lie in strings.
    pub(super) async fn run(self, body: Bytes) -> Result<WithDocuments, GatewayError> {
        let mut done = WithDocuments { body, reports: Vec::new(), documents: 0, unread: 0 };
        let Parsed { files, .. } = block_in_place(|| self.reading.parse(&done.body, self.readings))?;
        let (mut body, mut at) = (Vec::new(), 0);
        for file in files.iter().filter(|file| file.class == FileClass::Other) {
            let bytes = done.body.slice(file.range.clone());
            let with = self.one(bytes, &file.name, &file.place, &mut done).await?;
            if let Some(length) = &file.length {
                body.extend_from_slice(done.body.get(at..length.start).unwrap_or_default());
                body.extend_from_slice(with.len().to_string().as_bytes());
                at = length.end;
            }
            body.extend_from_slice(done.body.get(at..file.range.start).unwrap_or_default());
            body.extend_from_slice(&with);
            at = file.range.end;
        }
        if at > 0 {
            body.extend_from_slice(done.body.get(at..).unwrap_or_default());
            done.body = body.into();
        }
        // Where parts are now depends on how long the documents are.
        let Parsed { content, .. } = block_in_place(|| self.reading.parse(&done.body, self.readings))?;
        let embedded =
            block_in_place(|| content.files(&done.body, FindingLimits::default())).map_err(of_redaction)?;
        let mut written = Vec::with_capacity(embedded.len());
        for file in embedded {
            let place = FilePlace::String(file.at);
            written.push(self.one(file.bytes.into(), "", &place, &mut done).await?.to_vec());
        }
        if !written.is_empty() {
            let body = block_in_place(|| content.with_files(&done.body, &written, FindingLimits::default()));
            done.body = body.map_err(of_redaction)?.into();
        }
        Ok(done)
    }

    async fn one(
        &self,
        bytes: Bytes,
        name: &str,
        place: &FilePlace,
        done: &mut WithDocuments,
    ) -> Result<Bytes, GatewayError> {
        let (redactor, keys) = (self.redactor.clone(), self.keys.clone());
        match self.documents.redact(name, bytes, redactor, keys).await {
            Ok(redacted) => {
                done.reports.extend(redacted.reports);
                done.documents += 1;
                done.unread += redacted.unread;
                Ok(redacted.bytes)
            }
            Err(DocumentError::Api(error)) => Err(GatewayError::Api(error)),
            Err(DocumentError::Rejected(why)) => Err(GatewayError::UnreadFile(format!(
                "{place} is a file that cannot be redacted: {why}; `files = \"pass\"` lets it through unread"
            ))),
        }
    }
}
