//! [`Sanitizer`]: what sanitize calls share.

use std::sync::Arc;

use serde_json::json;

use crate::api::blob::attachment;
use crate::api::configs::{ConfigError, Configs};
use crate::api::cpu::Caller;
use crate::api::error::{ApiError, Code, Invalid};
use crate::api::grant::Grants;
use crate::api::incoming::stored;
use crate::api::pending::{Job, JobStage, Jobs};
use crate::api::redact::{Owner, Redaction};
use crate::api::sanitize::order::{Loaded, ORDER, Order};
use crate::api::sanitize::response::OutputPlace;
use crate::api::sanitize::settings::{Resolved, SanitizeSettings};
use crate::api::share::{NewObject, Object, Parent, ShareError, ShareObjectKind, Shares, StoredFile};
use crate::api::token::Principal;
use crate::base::clock::SharedClock;
use crate::base::id::{ConfigId, ShareId};
use crate::base::pointer::Pointer;
use crate::net::{Client, FetchLimits};
use crate::sanitize::ReleasePolicy;
use crate::sanitize::intel::Intel;
use crate::sanitize::sandbox::Sandbox;
use crate::sanitize::scan::Scanners;
use crate::store::blobs::{Area, Blob, Blobs, WholeBlob};

/// What a [`Sanitizer`] is made from.
pub struct SanitizerServices {
    /// Reads files.
    pub sandbox: Sandbox,
    /// Measures time.
    pub clock: SharedClock,
    /// Scan providers.
    pub scanners: Scanners,
    /// Reputation providers.
    pub intel: Intel,
    /// Fetches what is at URLs.
    pub client: Client,
    /// How long and how much.
    pub fetch: FetchLimits,
    /// Uploads and clean files.
    pub blobs: Arc<dyn Blobs>,
    /// URLs for them.
    pub grants: Arc<Grants>,
    /// The share of files.
    pub shares: Shares,
    /// Redact configs, rules and keys.
    pub redaction: Redaction,
    /// Stored sanitize configs.
    pub configs: Configs<SanitizeSettings>,
    /// Calls that are answered later.
    pub jobs: Jobs,
    /// The largest upload, in bytes.
    pub max_upload: u64,
    /// The largest file that is read, in bytes.
    pub max_parsed: usize,
    /// What is released.
    pub policy: ReleasePolicy,
}

/// Cleans files. Cheap to clone.
#[derive(Clone)]
pub struct Sanitizer(Arc<SanitizerServices>);

impl Sanitizer {
    /// Cleans files with these.
    pub fn new(parts: SanitizerServices) -> Self {
        Self(Arc::new(parts))
    }

    pub(super) fn parts(&self) -> &SanitizerServices {
        &self.0
    }

    /// The settings that a call works with: of the config it names, of its token's, or the defaults of calls.
    pub(super) async fn settings(
        &self,
        who: &Principal,
        named: Option<&str>,
    ) -> Result<SanitizeSettings, ApiError> {
        let fault = |code, detail: &str| {
            ApiError::Validation(vec![Invalid::new(code, Pointer::root().key("config_id"), detail)])
        };
        let bound = who.configs();
        if let Some(named) = named {
            who.may_use(Some(named))?;
            let unknown = || fault(Code::ConfigNotExist, "there is no such config");
            let id = ConfigId::parse(named).ok_or_else(unknown)?;
            return match self.0.configs.get(&id).await {
                Ok(config) => Ok(config.settings),
                Err(ConfigError::Unknown) => Err(unknown()),
                Err(ConfigError::Elsewhere) => {
                    Err(fault(Code::ConfigServiceMismatch, "the config of this id is another service's"))
                }
                Err(error) => Err(error.unread()),
            };
        }
        let mut own = Vec::new();
        for id in bound.iter().filter_map(|id| ConfigId::parse(id)) {
            match self.0.configs.get(&id).await {
                Ok(config) => own.push(config.settings),
                Err(ConfigError::Unknown | ConfigError::Elsewhere) => {}
                Err(error) => return Err(error.unread()),
            }
        }
        match (own.pop(), own.is_empty(), bound.is_empty()) {
            (Some(settings), true, _) => Ok(settings),
            (Some(_), false, _) => Err(ApiError::AmbiguousConfigID),
            (None, _, true) => Ok(SanitizeSettings::of_calls()),
            (None, _, false) => Err(ApiError::MissingConfigID),
        }
    }

    /// What a job's row says is to be done.
    pub(super) fn job(
        who: &Principal,
        received: u64,
        order: &Order,
        stage: JobStage,
    ) -> Result<Job, ApiError> {
        let order = serde_json::to_value(order).map_err(|_| ApiError::Internal("order"))?;
        Ok(Job {
            owner: who.id().to_string(),
            tenant: who.tenant().to_string(),
            received,
            order: json!({ ORDER: order }),
            stage,
            tries: 0,
        })
    }

    /// Puts a clean file where the call wants it.
    pub(super) async fn deliver(
        &self,
        owner: &Owner<'_>,
        resolved: &Resolved,
        file: Loaded,
    ) -> Result<OutputPlace, ApiError> {
        let failed = |error| stored(&error);
        let blob = Blob::fresh(Area::Passing).map_err(|_| ApiError::Internal("random"))?;
        let limit = file.bytes.len() as u64;
        let facts = self.0.blobs.put(&blob, &mut WholeBlob::new(file.bytes), limit).await.map_err(failed)?;
        match &resolved.folder {
            Some(folder) => {
                let parent = Parent { folder: Some(folder.clone()), id: None };
                let ttl = resolved.retention_days.map(|days| format!("{days}d"));
                let new = NewObject { name: file.name, ttl, ..NewObject::default() };
                let put = self
                    .0
                    .shares
                    .put_as(owner.tenant, &parent, new, StoredFile { blob: &blob, facts: &facts })
                    .await;
                let object = put.map_err(|error| shared(&error))?;
                Ok(OutputPlace::Share(object.id.to_string()))
            }
            None => {
                let Caller::Token(by) = &owner.caller else { return Err(ApiError::Internal("job")) };
                let life = self.0.grants.life();
                let link = self.0.blobs.link(&blob, &attachment(&file.name), life).await.map_err(failed)?;
                Ok(OutputPlace::Url(link.unwrap_or_else(|| self.0.grants.download(&blob, &file.name, by))))
            }
        }
    }

    /// A file in the share of files.
    pub(super) async fn shared(&self, tenant: &str, id: &str) -> Result<Object, ApiError> {
        let unknown = || {
            let fault =
                Invalid::new(Code::DoesNotExist, Pointer::root().key("share_id"), "there is no such file");
            ApiError::Validation(vec![fault])
        };
        let id = ShareId::parse(id).ok_or_else(unknown)?;
        match self.0.shares.get(tenant, &id).await {
            Ok(object) if object.kind == ShareObjectKind::File => Ok(object),
            Ok(_) | Err(ShareError::Unknown) => Err(unknown()),
            Err(error) => Err(error.unread()),
        }
    }
}

/// What is wrong with the folder that a clean file is to go to.
fn shared(error: &ShareError) -> ApiError {
    let at = Pointer::root().key("share_output").key("output_folder");
    let fault = |detail| ApiError::Validation(vec![Invalid::new(Code::BadState, at, detail)]);
    match error {
        ShareError::Path => fault("the path is too long"),
        ShareError::Taken => fault("there is a file where a folder should be"),
        error => error.unread(),
    }
}
