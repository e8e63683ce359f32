//! One job from its file to its answer: fetched, proved, scanned, cleaned, delivered.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use data_encoding::HEXLOWER;
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::api::error::{ApiError, Code, Invalid};
use crate::api::fields::Faults;
use crate::api::incoming::stored;
use crate::api::pending::{Job, JobHandler, JobOutcome};
use crate::api::redact::{Entities, FileRedactor, Owner};
use crate::api::sanitize::file_report::{LookedUp, SanitizeTerms, why};
use crate::api::sanitize::order::{Loaded, ORDER, Order};
use crate::api::sanitize::request::{FileSource, SanitizeRequest};
use crate::api::sanitize::response;
use crate::api::sanitize::service::Sanitizer;
use crate::api::sanitize::settings::Resolved;
use crate::base::pointer::Pointer;
use crate::crypto::hash::sha256;
use crate::net::NetError;
use crate::sanitize::intel;
use crate::sanitize::sandbox::SandboxError;
use crate::sanitize::scan::{CountedScanner, ScanItem, Scanner};
use crate::sanitize::{RedactionMode, Rejection, ScanProviders, sanitize};
use crate::store::blobs::{Blob, BlobDigests, ByteStream};
use crate::telemetry::FileOutcome;
use crate::telemetry::trace::step;

impl Sanitizer {
    /// Does what the order says; the upload is in `blob`, where there is one.
    pub(super) async fn done(&self, owner: &Owner<'_>, order: &Order, blob: &Blob) -> JobOutcome {
        let began = self.parts().clock.instant();
        let ended = self.ended(owner, order, blob).await;
        if let Some(metrics) = self.parts().sandbox.metrics() {
            let took = self.parts().clock.instant().duration_since(began);
            metrics.job_seconds.observe(took.as_secs_f64());
            metrics.verdicts.inc(match &ended {
                Ok((_, verdict)) => *verdict,
                Err(ApiError::Internal(_)) => FileOutcome::Failed,
                Err(_) => FileOutcome::Refused,
            });
        }
        match ended {
            Ok((ended, _)) => ended,
            Err(error) => error.into(),
        }
    }

    async fn ended(
        &self,
        owner: &Owner<'_>,
        order: &Order,
        blob: &Blob,
    ) -> Result<(JobOutcome, FileOutcome), ApiError> {
        let tenant = owner.tenant;
        let file = step("sanitize.load", self.load(tenant, order, blob)).await?;
        let digest = HEXLOWER.encode(&sha256(&file.bytes));
        order.proof.check(&file.bytes, &digest).close()?;
        let (providers, entities) = self.providers(owner, &order.resolved).await?;
        let asked = SanitizeTerms {
            options: order.resolved.options,
            urls: LookedUp::by(providers.urls.as_deref()),
            domains: LookedUp::by(providers.domains.as_deref()),
            entities: &entities,
        };
        let sandbox = &self.parts().sandbox;
        let part = ScanItem { name: &file.name, bytes: file.bytes.clone() };
        let sanitized = sanitize(sandbox, order.resolved.options, part, providers).await;
        let sanitized = match sanitized {
            Err(error) if rejection(&error) == Some(Rejection::Malicious) => {
                return Ok((response::malicious(&order.parameters, &error), FileOutcome::Malicious));
            }
            Err(error) => return Err(stopped(&error, order)),
            Ok(sanitized) => sanitized,
        };
        let name = sanitized.name.clone().unwrap_or(file.name);
        let clean = Loaded { name, bytes: sanitized.cleaned.bytes.clone() };
        let place = step("sanitize.deliver", self.deliver(owner, &order.resolved, clean)).await?;
        Ok((response::clean(order, &asked, place, &sanitized), FileOutcome::Clean))
    }

    /// Who is asked about a file, and what findings of some rules are reported as. Names were looked up when the call
    /// came; a reload may have changed that.
    pub(super) async fn providers(
        &self,
        owner: &Owner<'_>,
        resolved: &Resolved,
    ) -> Result<(ScanProviders, Entities), ApiError> {
        let parts = self.parts();
        let mut faults = Faults::default();
        let disabled = |faults: &mut Faults, object: &str, member: &str| {
            let at = Pointer::root().key(object).key(member);
            faults.add(
                Code::ProviderDisabled,
                at,
                "nobody is behind this provider's name; see the configuration",
            );
        };
        let scanner = parts.scanners.get(&resolved.scan_provider).ok();
        if scanner.is_none() {
            disabled(&mut faults, "file", "scan_provider");
        }
        let mut known = |asked, provider: &Option<String>, member| {
            let found = parts.intel.get(asked, provider.as_deref()?).ok();
            if found.is_none() {
                disabled(&mut faults, "content", member);
            }
            found
        };
        let urls = known(intel::IndicatorType::Urls, &resolved.url_intel, "url_intel_provider");
        let domains = known(intel::IndicatorType::Domains, &resolved.domain_intel, "domain_intel_provider");
        faults.close()?;
        let (redactor, entities) = match self.redactor(owner, resolved).await? {
            Some(FileRedactor { redactor, keys, entities }) => (Some((redactor, keys)), entities),
            None => (None, Entities::default()),
        };
        let providers = ScanProviders {
            scanner: self.counted(scanner.ok_or(ApiError::Internal("scanners"))?, &resolved.scan_provider),
            block_unable: resolved.block_unable,
            urls,
            domains,
            defang: resolved.defang,
            threshold: resolved.threshold,
            redactor,
            redaction: resolved.options.redaction,
            password: None,
        };
        Ok((providers, entities))
    }

    /// The scanner, what it says counted under the provider's name.
    fn counted(&self, scanner: Arc<dyn Scanner>, provider: &str) -> Arc<dyn Scanner> {
        match self.parts().sandbox.metrics() {
            Some(metrics) => Arc::new(CountedScanner::new(scanner, metrics.scanner(provider))),
            None => scanner,
        }
    }

    async fn redactor(
        &self,
        owner: &Owner<'_>,
        resolved: &Resolved,
    ) -> Result<Option<FileRedactor>, ApiError> {
        if resolved.options.redaction == RedactionMode::Off {
            return Ok(None);
        }
        self.parts().redaction.of_files(owner, resolved.redact_config.as_deref()).await.map(Some)
    }

    async fn load(&self, tenant: &str, order: &Order, blob: &Blob) -> Result<Loaded, ApiError> {
        let fallback = |name: &str| order.name.clone().unwrap_or_else(|| name.to_owned());
        match &order.source {
            FileSource::Multipart | FileSource::Put | FileSource::Post => {
                let bytes = self.read(blob, order).await?;
                Ok(Loaded { name: fallback("file"), bytes })
            }
            FileSource::Url(url) => {
                let (name, bytes) = self.fetch(url, order).await?;
                Ok(Loaded { name: fallback(&name), bytes })
            }
            FileSource::Share(id) => {
                let object = self.shared(tenant, id).await?;
                let bytes = self.read(&object.blob(), order).await?;
                Ok(Loaded { name: fallback(&object.name), bytes })
            }
        }
    }

    async fn read(&self, blob: &Blob, order: &Order) -> Result<Bytes, ApiError> {
        let gone = ApiError::Internal("blob");
        let opened = self.parts().blobs.get(blob).await.map_err(|error| stored(&error))?.ok_or(gone)?;
        let most = self.parts().max_parsed;
        if opened.size > most as u64 {
            return Err(too_large(order));
        }
        gather(opened.bytes, most).await?.ok_or_else(|| too_large(order))
    }

    async fn fetch(&self, url: &str, order: &Order) -> Result<(String, Bytes), ApiError> {
        let fault = |error| match error {
            NetError::TooLarge => too_large(order),
            _ => {
                let detail = "no file can be had from this URL: it must answer a GET with 200, from an address that \
                              this service may reach";
                let at = Pointer::root().key("source_url");
                ApiError::Validation(vec![Invalid::new(Code::InaccessibleURI, at, detail)])
            }
        };
        let parts = self.parts();
        let mut fetched = parts.client.fetch(url, parts.fetch).await.map_err(fault)?;
        let name = fetched.name().to_owned();
        let mut bytes = BytesMut::new();
        while let Some(chunk) = fetched.chunk().await.map_err(fault)? {
            bytes.extend_from_slice(&chunk);
        }
        Ok((if name.is_empty() { "file".to_owned() } else { name }, bytes.freeze()))
    }
}

impl JobHandler for Sanitizer {
    fn takes(&self, order: &Value) -> bool {
        order.get(ORDER).is_some()
    }

    fn run<'a>(
        &'a self,
        job: &'a Job,
        blob: &'a Blob,
        _: Option<&'a BlobDigests>,
    ) -> BoxFuture<'a, JobOutcome> {
        Box::pin(async move {
            let order = job.order.get(ORDER).cloned().unwrap_or_default();
            match serde_json::from_value::<Order>(order) {
                Ok(order) => self.done(&Owner::of_job(job), &order, blob).await,
                Err(_) => ApiError::Internal("order").into(),
            }
        })
    }
}

async fn gather(mut pieces: Box<dyn ByteStream>, most: usize) -> Result<Option<Bytes>, ApiError> {
    let mut bytes = BytesMut::new();
    while let Some(piece) = pieces.next().await.map_err(|error| stored(&error))? {
        if bytes.len().saturating_add(piece.len()) > most {
            return Ok(None);
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(Some(bytes.freeze()))
}

/// Why a file is not released, if that is for what it is.
fn rejection(error: &SandboxError) -> Option<Rejection> {
    match error {
        SandboxError::Rejected(refusal) => Some(refusal.rejection),
        SandboxError::Start(_) | SandboxError::Died => None,
    }
}

/// What a file that is not released is to the caller.
fn stopped(error: &SandboxError, order: &Order) -> ApiError {
    match (error, rejection(error)) {
        (SandboxError::Start(_), _) => ApiError::Internal("child"),
        (_, Some(Rejection::Provider)) => {
            ApiError::Provider("A scan or reputation provider gave no answer; try again")
        }
        (_, Some(Rejection::Spent(after))) => ApiError::TooManyValues(after),
        (error, _) => {
            let detail = format!("the file is not released: {}", why(error));
            ApiError::Validation(vec![Invalid::new(
                Code::BadState,
                SanitizeRequest::at(&order.source),
                detail,
            )])
        }
    }
}

fn too_large(order: &Order) -> ApiError {
    let detail = "the file is larger than files may be that are cleaned here";
    ApiError::Validation(vec![Invalid::new(Code::IsTooBig, SanitizeRequest::at(&order.source), detail)])
}
