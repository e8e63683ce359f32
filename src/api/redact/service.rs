//! What the redaction endpoints share: from what a call wants to redactors and keys, and the way back.

use std::sync::Arc;

use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD};

use crate::api::cpu::CpuPool;
use crate::api::endpoint::Asker;
use crate::api::error::{ApiError, Code, Invalid};
use crate::api::fields::Faults;
use crate::api::redact::ask::Wanted;
use crate::api::redact::plan::{Chosen, Resolver, Specific};
use crate::base::pointer::Pointer;
use crate::base::secret::Secret;
use crate::crypto::fpe::FpeKey;
use crate::detect::{Catalogue, Detector};
use crate::redact::{Context, Counts, Keys, RedactError, Redactor, Restorer};
use crate::vault::Vault;

/// The longest context, in characters: room for every value that one call may issue.
const CONTEXT: usize = 64 << 20;

/// Rules, keys and places to work at. Cheap to clone.
#[derive(Clone)]
pub struct Redaction(Arc<Parts>);

/// What [`Redaction`] is made from.
pub struct Parts {
    /// All rules.
    pub catalogue: Catalogue,
    /// The rules of those who ask for none.
    pub detector: Detector,
    /// Where findings are counted.
    pub counts: Arc<Counts>,
    /// Places for long work.
    pub cpu: CpuPool,
    /// Keeps the keys.
    pub vault: Arc<Vault>,
}

/// Who look, in the order of the places they were asked for, and their keys.
pub(super) struct Prepared {
    pub(super) parts: Vec<Redactor>,
    pub(super) keys: Keys,
}

impl Redaction {
    /// Redacts with these.
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    pub(super) fn parts(&self) -> &Parts {
        &self.0
    }

    /// Does `work` on `bytes` bytes of a caller's.
    pub(super) async fn work<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> Result<T, RedactError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let done = self.0.cpu.run(bytes, work).await.map_err(|_| ApiError::Internal("cpu"))?;
        done.map_err(|error| match error {
            RedactError::TooManyValues { .. } => ApiError::TooLarge(0),
            _ => ApiError::Internal("redact"),
        })
    }

    /// Looks up what a call and the parts of its document name.
    ///
    /// # Errors
    /// All names that nothing has.
    pub(super) async fn prepare(
        &self,
        asker: &Asker<'_>,
        wanted: &Wanted,
        places: &[Specific],
    ) -> Result<Prepared, ApiError> {
        let Parts { catalogue, detector, .. } = &*self.0;
        let key = self.key().await?;
        let tenant = asker.who.tenant();
        let salt = Secret::new(key.prf(&[b"salt of digests", tenant.as_bytes()]).to_vec());
        let mut resolver = Resolver { catalogue, salt: &salt, faults: Faults::default() };
        if let Some(config) = &wanted.config {
            resolver.faults.add(Code::ConfigNotExist, config.at.clone(), "there is no such config");
        }
        let whole = resolver.call(wanted);
        let chosen: Vec<Chosen> = match places {
            [] => vec![whole],
            places => places.iter().map(|place| resolver.place(&whole, place)).collect(),
        };
        resolver.close()?;
        let encrypts = chosen.iter().any(|chosen| chosen.plan.is_reversible());
        let parts = chosen.into_iter().map(|Chosen { choice, plan }| {
            let detector = choice.map_or_else(|| Ok(detector.clone()), |choice| detector.with(choice));
            let detector = detector.map_err(|_| ApiError::Internal("rules"))?;
            let detector = match wanted.allow.is_empty() {
                true => detector,
                false => detector.also_allowing(wanted.allow.clone()),
            };
            Ok(Redactor::new(detector, plan))
        });
        let parts = parts.collect::<Result<Vec<_>, ApiError>>()?;
        let keys = Keys { fpe: encrypts.then_some(key), tenant: Arc::from(tenant) };
        Ok(Prepared { parts, keys })
    }

    async fn key(&self) -> Result<Arc<FpeKey>, ApiError> {
        self.0.vault.default_fpe_key().await.map_err(|_| ApiError::Internal("vault"))
    }

    /// The context as its caller gets it; `None` where nothing was issued.
    pub(super) fn seal(&self, tenant: &str, context: &Context) -> Result<Option<String>, ApiError> {
        if context.is_empty() {
            return Ok(None);
        }
        let sealed = self.0.vault.seal_context(tenant, context.to_bytes().expose());
        sealed.map(|sealed| Some(BASE64.encode(&sealed))).map_err(|_| ApiError::Internal("vault"))
    }

    /// Opens a context that stands at `at` of the body.
    pub(super) async fn open(&self, tenant: &str, text: &str, at: &Pointer) -> Result<Restorer, ApiError> {
        let fault = |code, detail: &str| ApiError::Validation(vec![Invalid::new(code, at.clone(), detail)]);
        if text.len() > CONTEXT {
            return Err(fault(Code::AboveMaxLength, "longer than any context that was issued"));
        }
        let encodings = [BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD];
        let decoded = encodings.iter().find_map(|encoding| encoding.decode(text.as_bytes()).ok());
        let sealed = decoded.ok_or_else(|| fault(Code::BadFormatBase64, "must be base64 text"))?;
        let not_ours = || fault(Code::BadFormat, "not a context that was issued here, or changed since");
        let plain = self.0.vault.open_context(tenant, sealed).map_err(|_| not_ours())?;
        let context = Context::from_bytes(plain.expose()).ok_or_else(not_ours)?;
        Ok(context.restorer(self.key().await?))
    }
}
