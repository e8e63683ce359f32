//! What the redaction endpoints share: from what a call wants to redactors and keys, and the way back.

use std::sync::Arc;

use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD};

use crate::api::analyzers::Analyzers;
use crate::api::configs::{ConfigError, ConfigSettings as _, Configs, RedactConfig, Settings};
use crate::api::cpu::{Caller, CpuPool, CpuTask};
use crate::api::distinct::DistinctLimit;
use crate::api::endpoint::ApiCaller;
use crate::api::error::{ApiError, Code, Invalid};
use crate::api::fields::{Faults, ObjectFields};
use crate::api::pending;
use crate::api::redact::configured::{CompiledConfig, ReadyConfigs};
use crate::api::redact::plan::{self, Resolver};
use crate::api::redact::report::Entities;
use crate::api::redact::request::{CommonRequest, RuleReference, Specific};
use crate::api::redact::vault_material::{VaultMaterial, key_of, named};
use crate::api::token::Principal;
use crate::base::checkpoint::Checkpoint;
use crate::base::id::{ConfigId, TokenId};
use crate::base::pointer::Pointer;
use crate::base::secret::Secret;
use crate::crypto::fpe::FpeKey;
use crate::detect::{Allow, Catalogue, Detector, RuleSelection};
use crate::redact::{
    CallRights, FpeContext, KeyName, Keys, Recall, RedactError, RedactionCounts, Redactor, Restorer,
    SurrogateScope, Texts,
};
use crate::vault::Vault;
use crate::vault::items::Items;

/// The longest context, in characters: room for every value that one call may issue.
const CONTEXT: usize = 64 << 20;

/// Rules, keys and places to work at. Cheap to clone.
#[derive(Clone)]
pub struct Redaction(Arc<SharedServices>);

/// What [`Redaction`] is made from.
pub struct RedactionServices {
    /// All rules.
    pub catalogue: Catalogue,
    /// The rules of those who ask for none.
    pub detector: Detector,
    /// Who else is asked what texts hold.
    pub analyzers: Option<Analyzers>,
    /// The rules that their findings are of.
    pub reported: RuleSelection,
    /// Where findings are counted.
    pub counts: Arc<RedactionCounts>,
    /// Places for long work.
    pub cpu: CpuPool,
    /// Keeps the keys.
    pub vault: Arc<Vault>,
    /// Callers' keys and secrets.
    pub items: Items,
    /// What passes though rules find it.
    pub allow: Allow,
    /// Stored configs.
    pub configs: Configs<Settings>,
    /// How many different values a caller may have encrypted or hashed.
    pub distinct: DistinctLimit,
}

/// For whom something is redacted.
pub struct Owner<'a> {
    /// Whose data it is.
    pub tenant: &'a str,
    /// Who wants it.
    pub caller: Caller,
}

impl<'a> Owner<'a> {
    /// A caller's.
    pub fn of(who: &'a Principal) -> Self {
        Self { tenant: who.tenant(), caller: who.caller() }
    }

    /// Of whoever made the call that a job answers.
    pub fn of_job(job: &'a pending::Job) -> Self {
        let caller = TokenId::parse(&job.owner).map_or(Caller::Own, Caller::Token);
        Self { tenant: &job.tenant, caller }
    }
}

/// The parts, and what is made of them.
struct SharedServices {
    parts: RedactionServices,
    ready: ReadyConfigs,
}

impl std::ops::Deref for SharedServices {
    type Target = RedactionServices;

    fn deref(&self) -> &RedactionServices {
        &self.parts
    }
}

/// Who look, in the order of the places they were asked for, and their keys. With places there may be one more, for the
/// rest of the document.
pub(super) struct PreparedRedactors {
    pub(super) parts: Vec<Redactor>,
    pub(super) keys: Keys,
    /// What undoing it takes.
    pub(super) terms: UndoTerms,
    /// What findings of some rules are reported as.
    pub(super) entities: Entities,
}

/// Who looks through files.
pub struct FileRedactor {
    /// Who looks.
    pub redactor: Redactor,
    /// Its keys.
    pub keys: Keys,
    /// What findings of some rules are reported as.
    pub entities: Entities,
}

/// What undoing a redaction takes.
pub(super) struct UndoTerms {
    /// The key's name.
    pub(super) key: KeyName,
    /// The rights that it was made with.
    pub(super) made: CallRights,
}

/// A stored config, and what was made of it.
struct ChosenConfig {
    id: ConfigId,
    ready: Arc<CompiledConfig>,
}

impl Redaction {
    /// Redacts with these.
    pub fn new(parts: RedactionServices) -> Self {
        Self(Arc::new(SharedServices { parts, ready: ReadyConfigs::default() }))
    }

    pub(super) fn parts(&self) -> &RedactionServices {
        &self.0
    }

    /// Does `work` on `bytes` bytes of a caller's.
    pub(super) async fn work<T: Send + 'static>(
        &self,
        caller: &ApiCaller<'_>,
        bytes: usize,
        work: impl FnOnce(&Checkpoint) -> Result<T, RedactError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let job = CpuTask { caller: caller.who.caller(), bytes };
        self.0.cpu.run(job, work).await?.map_err(|error| ApiError::redact(&error))
    }

    /// The same redactors, knowing what analyzers say of the texts that `texts` finds in `bytes` bytes of a caller's.
    ///
    /// # Errors
    /// An analyzer that must answer and does not.
    pub(super) async fn asked(
        &self,
        caller: &ApiCaller<'_>,
        redactors: Vec<Redactor>,
        bytes: usize,
        texts: impl FnOnce() -> Result<Texts, RedactError> + Send + 'static,
    ) -> Result<Vec<Redactor>, ApiError> {
        let Some(analyzers) = self.0.analyzers.as_ref().filter(|_| redactors.iter().any(Redactor::hears))
        else {
            return Ok(redactors);
        };
        let texts = self.work(caller, bytes, |_| texts()).await?;
        let reported = analyzers.ask(texts.into_texts()).await;
        let reported = Arc::new(reported.map_err(|_| ApiError::Provider("an analyzer gives no answer"))?);
        Ok(redactors.into_iter().map(|redactor| redactor.with_reported(Arc::clone(&reported))).collect())
    }

    /// Looks up what a call and the parts of its document name.
    ///
    /// # Errors
    /// All names that nothing has.
    pub(super) async fn prepare(
        &self,
        caller: &ApiCaller<'_>,
        wanted: &CommonRequest,
        places: &[Specific],
    ) -> Result<PreparedRedactors, ApiError> {
        let config = self.config(caller.who, wanted.config.as_ref()).await?;
        let granted = config.as_ref().map(|config| config.ready.settings.vault_items()).unwrap_or_default();
        caller.who.may_name_items(&named(wanted, places), &granted)?;
        let mut prepared = self.prepared(&Owner::of(caller.who), config.as_ref(), wanted, places).await?;
        let held = |redactor: Redactor| redactor.with_charge(caller.held.clone());
        prepared.parts = prepared.parts.into_iter().map(held).collect();
        Ok(prepared)
    }

    /// Who looks through files, with a config or with the defaults, and their key.
    ///
    /// # Errors
    /// A config, or something that it names, that is not there.
    pub async fn of_files(&self, owner: &Owner<'_>, config: Option<&str>) -> Result<FileRedactor, ApiError> {
        let fault = |code, detail: &str| {
            ApiError::Validation(vec![Invalid::new(code, Pointer::root().key("config_id"), detail)])
        };
        let gone = || {
            fault(
                Code::ConfigNotExist,
                "the redact config that the sanitize config names is not there any more",
            )
        };
        let config = match config {
            None => None,
            Some(id) => {
                let id = ConfigId::parse(id).ok_or_else(gone)?;
                let config = self.0.configs.get(&id).await;
                let config = config.map_err(|error| match error {
                    ConfigError::Unknown => gone(),
                    ConfigError::Elsewhere => fault(
                        Code::ConfigServiceMismatch,
                        "what the sanitize config names as its redact config is another service's",
                    ),
                    error => error.unread(),
                })?;
                Some(self.ready(&config).await?)
            }
        };
        let nothing = serde_json::json!({});
        let wanted = CommonRequest::of(&mut ObjectFields::of(&nothing)?);
        let mut prepared = self.prepared(owner, config.as_ref(), &wanted, &[]).await?;
        let redactor = prepared.parts.pop().ok_or(ApiError::Internal("redact"))?;
        Ok(FileRedactor { redactor, keys: prepared.keys, entities: prepared.entities })
    }

    async fn prepared(
        &self,
        owner: &Owner<'_>,
        config: Option<&ChosenConfig>,
        wanted: &CommonRequest,
        places: &[Specific],
    ) -> Result<PreparedRedactors, ApiError> {
        let (tenant, id) = (owner.tenant, config.map(|config| config.id.to_string()));
        let config = config.map(|config| config.ready.as_ref());
        let detector = config.map_or(&self.0.detector, |config| &config.detector);
        let catalogue = config.map_or(&self.0.catalogue, |config| &config.catalogue);
        let mut faults = Faults::default();
        let kept = VaultMaterial::fetch(&self.0.items, wanted, places, config, &mut faults).await?;
        let own = self.key().await?;
        let own_salt = || Secret::new(own.prf(&[b"salt of digests", tenant.as_bytes()]).to_vec());
        let salt = kept.salt.unwrap_or_else(own_salt);
        let granted = config.and_then(|config| config.settings.fpe_vault_secret_id.as_deref());
        let names_key = wanted.fpe_key.as_ref().is_some_and(|named| granted != Some(named.name.as_str()));
        let (key, name) = kept.key.unwrap_or((own, KeyName::default()));
        let mut resolver = Resolver { catalogue, config, salt: &salt, tweaks: &kept.tweaks, faults };
        let whole = resolver.call(wanted);
        let chosen: Vec<plan::CallChoices> = match places {
            [] => vec![whole],
            places => {
                let places = places.iter().map(|place| resolver.place(&whole, place));
                let mut chosen: Vec<plan::CallChoices> = places.collect();
                chosen.extend(resolver.rest(&whole));
                chosen
            }
        };
        let allow = resolver.allow(&wanted.allow);
        resolver.close()?;
        let encrypts = chosen.iter().any(|chosen| chosen.plan.is_reversible());
        let enabled = config.map(|config| &config.enabled);
        let parts = chosen.into_iter().map(|plan::CallChoices { selection, plan }| {
            let among = selection.as_ref().or(enabled);
            let hears = self.0.reported.iter().filter(|&rule| among.is_none_or(|among| among.has(rule)));
            let hears: RuleSelection = hears.collect();
            let detector =
                selection.map_or_else(|| Ok(detector.clone()), |selection| detector.with(selection));
            let detector = detector.map_err(|_| ApiError::Internal("rules"))?;
            let detector = match allow.is_empty() {
                true => detector,
                false => detector.also_allowing(allow.clone()),
            };
            Ok(Redactor::new(detector, plan).with_analyzer_rules(hears))
        });
        let parts = parts.collect::<Result<Vec<_>, ApiError>>()?;
        let keys = Keys {
            scope: id
                .as_ref()
                .map(|id| SurrogateScope::of(&key, &[b"config", id.as_bytes()]))
                .unwrap_or_default(),
            fpe: encrypts.then_some(key),
            tenant: Arc::from(tenant),
            quota: self.0.distinct.of(owner.caller.clone()),
            recall: Recall::default(),
        };
        let entities = config.map(|config| config.entities.clone()).unwrap_or_default();
        let terms = UndoTerms { key: name, made: CallRights { config: id, names_key } };
        Ok(PreparedRedactors { parts, keys, terms, entities })
    }

    /// The config that a call works with: the one it names, or the one that its token is for. `None`: the default.
    async fn config(
        &self,
        who: &Principal,
        named: Option<&RuleReference>,
    ) -> Result<Option<ChosenConfig>, ApiError> {
        let bound = who.configs();
        let Some(named) = named else {
            return match self.bound(bound).await?.as_slice() {
                [] if bound.is_empty() => Ok(None),
                [] => Err(ApiError::MissingConfigID),
                [config] => self.ready(config).await.map(Some),
                _ => Err(ApiError::AmbiguousConfigID),
            };
        };
        let config = self.named(who, named).await?;
        self.ready(&config).await.map(Some)
    }

    /// The config that a call names.
    ///
    /// # Errors
    /// One that the token does not cover, one that is not there, or is another service's.
    pub(super) async fn named(
        &self,
        who: &Principal,
        named: &RuleReference,
    ) -> Result<RedactConfig, ApiError> {
        who.may_use(Some(&named.name))?;
        let unknown = || {
            let fault = Invalid::new(Code::ConfigNotExist, named.at.clone(), "there is no such config");
            ApiError::Validation(vec![fault])
        };
        let id: ConfigId = ConfigId::parse(&named.name).ok_or_else(unknown)?;
        match self.0.configs.get(&id).await {
            Ok(config) => Ok(config),
            Err(ConfigError::Unknown) => Err(unknown()),
            Err(ConfigError::Elsewhere) => {
                let detail = "the config of this id is another service's";
                let fault = Invalid::new(Code::ConfigServiceMismatch, named.at.clone(), detail);
                Err(ApiError::Validation(vec![fault]))
            }
            Err(error) => Err(error.unread()),
        }
    }

    /// The redact configs among those that a token is for.
    async fn bound(&self, ids: &[String]) -> Result<Vec<RedactConfig>, ApiError> {
        let mut configs = Vec::new();
        for id in ids.iter().filter_map(|id| ConfigId::parse(id)) {
            match self.0.configs.get(&id).await {
                Ok(config) => configs.push(config),
                Err(ConfigError::Unknown | ConfigError::Elsewhere) => {}
                Err(error) => return Err(error.unread()),
            }
        }
        Ok(configs)
    }

    async fn ready(&self, config: &RedactConfig) -> Result<ChosenConfig, ApiError> {
        let id = config.id.clone();
        if let Some(ready) = self.0.ready.get(config) {
            return Ok(ChosenConfig { id, ready });
        }
        let (parts, settings) = (Arc::clone(&self.0), config.settings.clone());
        // Rules are compiled.
        let job = CpuTask { caller: Caller::Own, bytes: usize::MAX };
        let made =
            self.0.cpu.run(job, move |_| CompiledConfig::new(&parts.catalogue, &parts.allow, &settings));
        let ready = Arc::new(made.await??);
        self.0.ready.keep(config, &ready);
        Ok(ChosenConfig { id, ready })
    }

    async fn key(&self) -> Result<Arc<FpeKey>, ApiError> {
        self.0.vault.default_fpe_key().await.map_err(|error| ApiError::vault(&error))
    }

    /// The context of what was encrypted on these terms, as its caller gets it; `None` where nothing was issued.
    pub(super) fn seal(
        &self,
        tenant: &str,
        mut context: FpeContext,
        terms: UndoTerms,
    ) -> Result<Option<String>, ApiError> {
        if context.is_empty() {
            return Ok(None);
        }
        (context.key, context.made) = (terms.key, Some(terms.made));
        let sealed = self.0.vault.seal_context(tenant, context.to_bytes().expose());
        sealed.map(|sealed| Some(BASE64.encode(&sealed))).map_err(|_| ApiError::Internal("vault"))
    }

    /// Opens a context that stands at `at` of the body.
    ///
    /// # Errors
    /// A text that is no context of this vault's, one that the caller may not undo, a key that is gone.
    pub(super) async fn open(&self, who: &Principal, text: &str, at: &Pointer) -> Result<Restorer, ApiError> {
        let fault = |code, detail: &str| ApiError::Validation(vec![Invalid::new(code, at.clone(), detail)]);
        if text.len() > CONTEXT {
            return Err(fault(Code::AboveMaxLength, "longer than any context that was issued"));
        }
        let encodings = [BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD];
        let decoded = encodings.iter().find_map(|encoding| encoding.decode(text.as_bytes()).ok());
        let sealed = decoded.ok_or_else(|| fault(Code::BadFormatBase64, "must be base64 text"))?;
        let not_ours = || fault(Code::BadFormat, "not a context that was issued here, or changed since");
        let plain = self.0.vault.open_context(who.tenant(), sealed).map_err(|_| not_ours())?;
        let context = FpeContext::from_bytes(plain.expose()).ok_or_else(not_ours)?;
        who.may_undo(context.made.as_ref(), &context.key)?;
        if context.key == KeyName::default() {
            return Ok(context.restorer(self.key().await?));
        }
        match key_of(&self.0.items, &context.key).await? {
            Ok(key) => Ok(context.restorer(key)),
            Err(code) => Err(fault(code, "the vault has its key no longer, or the key may not be used")),
        }
    }
}
