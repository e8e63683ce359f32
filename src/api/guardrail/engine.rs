//! [`Guardrail`]: a route's rules and methods, and places to work at.

use std::sync::Arc;

use serde_json::Value;

use crate::api::call::{ApiCall, BufferedBody};
use crate::api::cpu::{Caller, CpuPool, CpuTask, block_in_place};
use crate::api::distinct::DistinctLimit;
use crate::api::endpoint::{LONG, acceptable};
use crate::api::error::ApiError;
use crate::api::json;
use crate::api::token::{Principal, Tenant};
use crate::base::checkpoint::Checkpoint;
use crate::base::path::RequestPath;
use crate::base::secret::Secret;
use crate::crypto::fpe::FpeKey;
use crate::detect::Catalogue;
use crate::redact::{Keys, RedactError, RedactionCounts, Redactor, SurrogateScope};
use crate::vault::Vault;

/// A route's rules and methods. Cheap to clone.
#[derive(Clone)]
pub struct Guardrail(Arc<GuardrailParts>);

/// What a [`Guardrail`] is made from.
pub struct GuardrailParts {
    /// The route's name: equal values get equal surrogates within it.
    pub route: String,
    /// Within each of its callers alone.
    pub by_caller: bool,
    /// All rules.
    pub catalogue: Catalogue,
    /// Finds values in texts, and says what becomes of them.
    pub redactor: Redactor,
    /// Where findings are counted.
    pub counts: Arc<RedactionCounts>,
    /// Keeps the key.
    pub vault: Arc<Vault>,
    /// Places for long work.
    pub cpu: CpuPool,
    /// How many different values a caller may have encrypted or hashed.
    pub distinct: DistinctLimit,
    /// How many segments of a path are the route's own.
    pub prefix: usize,
    /// The largest body, in bytes.
    pub limit: usize,
}

impl std::ops::Deref for Guardrail {
    type Target = GuardrailParts;

    fn deref(&self) -> &GuardrailParts {
        &self.0
    }
}

impl Guardrail {
    /// Made from these.
    pub fn new(parts: GuardrailParts) -> Self {
        Self(Arc::new(parts))
    }

    /// What a call asks for: its path behind the route's own, without a slash at either end.
    pub(super) fn operation(&self, call: &ApiCall<'_>) -> String {
        let path = RequestPath::parse(call.head.uri.path()).unwrap_or_default();
        let mut segments = path.compared().split('/').filter(|segment| !segment.is_empty());
        segments.by_ref().take(self.prefix).for_each(drop);
        segments.collect::<Vec<_>>().join("/")
    }

    /// What `read` makes of the call's body, which is JSON.
    pub(super) async fn request<T>(
        &self,
        call: &mut ApiCall<'_>,
        read: impl FnOnce(&Value) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        self.written(call, |_, value| read(value)).await
    }

    /// The same, of which `read` also gets the bytes.
    pub(super) async fn written<T>(
        &self,
        call: &mut ApiCall<'_>,
        read: impl FnOnce(&[u8], &Value) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        acceptable(&call.head.headers)?;
        let body = BufferedBody::read(call.body, self.limit, call.budget).await?;
        let parse = || {
            let value = json::parse(&body.bytes).map_err(|fault| ApiError::Validation(vec![fault]))?;
            read(&body.bytes, &value)
        };
        if body.bytes.len() < LONG { parse() } else { block_in_place(parse) }
    }

    /// What surrogates and digests of a caller's values are made with.
    pub(super) async fn keys(&self, caller: &Caller, who: Option<&Principal>) -> Result<Keys, ApiError> {
        let key = self.vault.default_fpe_key().await.map_err(|error| ApiError::vault(&error))?;
        let scope = self.scope(&key, caller);
        let quota = self.distinct.of(caller.clone());
        let tenant = who.map(|who| who.tenant().clone()).unwrap_or_default();
        Ok(Keys { fpe: Some(key), tenant: tenant.shared(), scope, quota, ..Keys::default() })
    }

    fn scope(&self, key: &FpeKey, caller: &Caller) -> SurrogateScope {
        let route = self.route.as_bytes();
        if !self.by_caller {
            return SurrogateScope::of(key, &[b"guardrail", route]);
        }
        SurrogateScope::of(key, &[b"guardrail", route, &caller.name()])
    }

    /// What digests go by of which a call does not say more: nobody else's, and on a route that tells its callers apart no
    /// other caller's; never another tenant's.
    pub(super) fn digest_salt(&self, keys: &Keys, caller: &Caller) -> Result<Secret<Vec<u8>>, ApiError> {
        let key = keys.fpe.as_deref().ok_or(ApiError::Internal("guardrail"))?;
        let caller = if self.by_caller { caller.name() } else { Vec::new() };
        let mut parts: Vec<&[u8]> = vec![b"guardrail: salt of digests", self.route.as_bytes(), &caller];
        // Those of the store's own tenant are as they were before there were others.
        if *keys.tenant != *Tenant::default() {
            parts.push(keys.tenant.as_bytes());
        }
        Ok(Secret::new(key.prf(&parts).to_vec()))
    }

    /// Does `work` on `bytes` bytes of a caller's.
    pub(super) async fn work<T: Send + 'static>(
        &self,
        call: &mut ApiCall<'_>,
        bytes: usize,
        work: impl FnOnce(&Checkpoint) -> Result<T, RedactError> + Send + 'static,
    ) -> Result<T, ApiError> {
        self.attempt(call, bytes, work).await?.map_err(|error| match error {
            RedactError::Blocked(_) => ApiError::BadRequest("the text holds what may not pass"),
            error => ApiError::redact(&error),
        })
    }

    /// The same, for who knows what becomes of its failures.
    pub(super) async fn attempt<T: Send + 'static>(
        &self,
        call: &mut ApiCall<'_>,
        bytes: usize,
        work: impl FnOnce(&Checkpoint) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let job = CpuTask { caller: call.caller.clone(), bytes };
        tokio::select! {
            biased;
            done = self.cpu.run(job, work) => Ok(done?),
            () = call.body.left() => Err(crate::api::BodyError::Gone.into()),
        }
    }
}
