//! The endpoints of a service's configs: `POST /v1beta/config` and, below it, `create`, `update`, `delete` and `list`.
//! Source: the vendor's OpenAPI schema. An update changes what it says and nothing else.

use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::api::configs::change::changed;
use crate::api::configs::config::{Config, ConfigSettings};
use crate::api::configs::list::ListConfigsRequest;
use crate::api::configs::object::Settings;
use crate::api::configs::read::{ConfigDraft, Extent};
use crate::api::configs::store::{ConfigError, Configs, MAX_BYTES, MAX_CONFIGS};
use crate::api::cpu::{Caller, CpuPool, CpuTask};
use crate::api::endpoint::{ApiCaller, Endpoint, Success};
use crate::api::envelope::Dialect;
use crate::api::error::{ApiError, Code, Invalid};
use crate::api::fields::ObjectFields;
use crate::api::token::{Principal, Service};
use crate::base::clock::Timestamp;
use crate::base::id::{ConfigId, ItemId};
use crate::base::pointer::Pointer;
use crate::detect::Catalogue;
use crate::vault::VaultError;
use crate::vault::items::Items;

/// A config as callers see it.
#[derive(Serialize)]
pub struct ConfigResponse<S> {
    id: String,
    version: Version,
    created_at: String,
    updated_at: String,
    #[serde(flatten)]
    settings: S,
}

/// The documented interface counts versions; the clients tell the object's schemas apart by this member, and fail
/// on any other value.
#[derive(Serialize)]
#[serde(untagged)]
enum Version {
    Count(u64),
    Schema(&'static str),
}

impl<S: ConfigSettings> ConfigResponse<S> {
    fn new(config: Config<S>, dialect: Dialect) -> Self {
        Self {
            id: config.id.to_string(),
            version: match (dialect, S::SCHEMA) {
                (Dialect::Sdk, Some(schema)) => Version::Schema(schema),
                _ => Version::Count(config.version),
            },
            created_at: config.created_at.iso8601(),
            updated_at: config.updated_at.iso8601(),
            settings: config.settings,
        }
    }
}

/// One page of configs as callers see it.
#[derive(Serialize)]
pub struct ListConfigsResponse<S> {
    count: usize,
    items: Vec<ConfigResponse<S>>,
    last: String,
}

/// A call that names a config and says nothing else.
pub struct IdRequest(ConfigId);

/// How settings are read from a request, and proved.
pub trait Drafts: Send + Sync + 'static {
    /// What they become.
    type Settings: ConfigSettings;
    /// Settings that were read and not proved yet.
    type Draft: Send;

    /// Reads the members that the owner sets and ends the reading of `fields`.
    fn read(&self, fields: ObjectFields<'_>, extent: Extent) -> Self::Draft;

    /// What was read, whether or not it is right.
    fn settings<'d>(&self, draft: &'d Self::Draft) -> &'d Self::Settings;

    /// Proves them.
    fn prove(&self, draft: Self::Draft) -> BoxFuture<'_, Result<Self::Settings, ApiError>>;
}

/// How settings of redact configs are read.
pub struct RedactDrafts {
    /// The rules that they name.
    pub catalogue: Catalogue,
    /// Where their patterns are compiled.
    pub cpu: CpuPool,
    /// The keys and secrets that they name.
    pub items: Items,
}

impl RedactDrafts {
    /// A key or secret that cannot be used for what it is named for is found when it is named, not by each call.
    async fn check_items(&self, draft: &mut ConfigDraft) -> Result<(), ApiError> {
        let Settings { salt_vault_secret_id: salt, fpe_vault_secret_id: key, .. } = &draft.settings;
        // Ids that are none are faults already.
        let item = |id: &Option<String>| id.as_deref().and_then(ItemId::parse);
        let (salt, key) = (item(salt), item(key));
        if let Some(id) = salt {
            named("salt_vault_secret_id", self.items.secret(&id).await, draft)?;
        }
        if let Some(id) = key {
            named("fpe_vault_secret_id", self.items.fpe_key(&id, None).await, draft)?;
        }
        Ok(())
    }
}

/// What the vault says of an item that the member `name` names.
fn named<T>(name: &str, found: Result<T, VaultError>, draft: &mut ConfigDraft) -> Result<(), ApiError> {
    let (code, detail) = match found {
        Ok(_) => return Ok(()),
        Err(VaultError::Unknown) => (Code::DoesNotExist, "there is no such vault item"),
        Err(VaultError::Forbidden(_)) => (
            Code::BadState,
            "the vault item is not for that, is not exportable, or its state does not allow it",
        ),
        Err(error) => return Err(ApiError::vault(&error)),
    };
    draft.faults.add(code, Pointer::root().key(name), detail);
    Ok(())
}

impl Drafts for RedactDrafts {
    type Settings = Settings;
    type Draft = ConfigDraft;

    fn read(&self, fields: ObjectFields<'_>, extent: Extent) -> ConfigDraft {
        ConfigDraft::read(fields, &self.catalogue, extent)
    }

    fn settings<'d>(&self, draft: &'d ConfigDraft) -> &'d Settings {
        &draft.settings
    }

    fn prove(&self, mut draft: ConfigDraft) -> BoxFuture<'_, Result<Settings, ApiError>> {
        Box::pin(async move {
            self.check_items(&mut draft).await?;
            let job = CpuTask { caller: Caller::Own, bytes: draft.cost() };
            self.cpu.run(job, move |_| draft.check()).await?
        })
    }
}

/// What an update asks.
pub enum UpdateConfigRequest<D> {
    /// This config, as it was at this time, with these members.
    Change(ConfigId, Timestamp, Map<String, Value>),
    /// Something is wrong with what says which config that is; the draft has that, and other faults too.
    Faulty(D),
}

/// `POST /v1beta/config`: one config.
pub struct GetConfig<S>(Configs<S>);

/// `POST /v1beta/config/delete`: removes a config.
pub struct DeleteConfig<S>(Configs<S>);

/// `POST /v1beta/config/list`: a page of configs.
pub struct ListConfigs<S>(Configs<S>);

/// `POST /v1beta/config/create`: makes a config.
pub struct CreateConfig<D: Drafts>(Configs<D::Settings>, D);

/// `POST /v1beta/config/update`: changes a config.
pub struct UpdateConfig<D: Drafts>(Configs<D::Settings>, D);

impl<S> GetConfig<S> {
    /// Reads these configs.
    pub fn new(configs: Configs<S>) -> Self {
        Self(configs)
    }
}

impl<S> DeleteConfig<S> {
    /// Removes these configs.
    pub fn new(configs: Configs<S>) -> Self {
        Self(configs)
    }
}

impl<S> ListConfigs<S> {
    /// Lists these configs.
    pub fn new(configs: Configs<S>) -> Self {
        Self(configs)
    }
}

impl<D: Drafts> CreateConfig<D> {
    /// Makes configs.
    pub fn new(configs: Configs<D::Settings>, drafts: D) -> Self {
        Self(configs, drafts)
    }
}

impl<D: Drafts> UpdateConfig<D> {
    /// Changes configs.
    pub fn new(configs: Configs<D::Settings>, drafts: D) -> Self {
        Self(configs, drafts)
    }

    /// What a config becomes that has these settings, by these members of a body.
    fn draft(&self, before: D::Settings, body: &Map<String, Value>) -> Result<D::Draft, ApiError> {
        let whole = changed(&before, body).map_err(|_| ApiError::Internal("configs"))?;
        let mut fields = ObjectFields::of(&whole)?;
        fields.member("id");
        fields.member("updated_at");
        Ok(self.1.read(fields, Extent::Change))
    }
}

impl<S: ConfigSettings> Endpoint for GetConfig<S> {
    const PATH: &'static str = "/v1beta/config";
    const SERVICE: Service = <S as ConfigSettings>::SERVICE;
    const BARE: bool = <S as ConfigSettings>::BARE;
    type Request = IdRequest;
    type Response = ConfigResponse<S>;

    fn parse(&self, fields: ObjectFields<'_>) -> Result<IdRequest, ApiError> {
        only_id(fields)
    }

    fn call<'a>(
        &'a self,
        caller: ApiCaller<'a>,
        request: IdRequest,
    ) -> BoxFuture<'a, Result<Success<ConfigResponse<S>>, ApiError>> {
        Box::pin(async move {
            usable(caller.who, &request.0)?;
            let config = self.0.get(&request.0).await.map_err(failed)?;
            Ok(success("Config found", config, caller.dialect))
        })
    }
}

impl<S: ConfigSettings> Endpoint for DeleteConfig<S> {
    const PATH: &'static str = "/v1beta/config/delete";
    const SERVICE: Service = <S as ConfigSettings>::SERVICE;
    const BARE: bool = <S as ConfigSettings>::BARE;
    type Request = IdRequest;
    type Response = ConfigResponse<S>;

    fn parse(&self, fields: ObjectFields<'_>) -> Result<IdRequest, ApiError> {
        only_id(fields)
    }

    fn call<'a>(
        &'a self,
        caller: ApiCaller<'a>,
        request: IdRequest,
    ) -> BoxFuture<'a, Result<Success<ConfigResponse<S>>, ApiError>> {
        Box::pin(async move {
            usable(caller.who, &request.0)?;
            caller.who.may_change_configs()?;
            let config = self.0.delete(&request.0).await.map_err(failed)?;
            Ok(success("Config deleted", config, caller.dialect))
        })
    }
}

impl<D: Drafts> Endpoint for CreateConfig<D> {
    const PATH: &'static str = "/v1beta/config/create";
    const SERVICE: Service = <D::Settings as ConfigSettings>::SERVICE;
    const BARE: bool = <D::Settings as ConfigSettings>::BARE;
    type Request = D::Draft;
    type Response = ConfigResponse<D::Settings>;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<D::Draft, ApiError> {
        fields.nulls_are_absent();
        fields.read_only("id");
        fields.member("updated_at");
        Ok(self.1.read(fields, Extent::Whole))
    }

    fn call<'a>(
        &'a self,
        caller: ApiCaller<'a>,
        request: D::Draft,
    ) -> BoxFuture<'a, Result<Success<ConfigResponse<D::Settings>>, ApiError>> {
        Box::pin(async move {
            caller.who.may_change_configs()?;
            // Before it is known whether there are such items.
            caller.who.may_name_items(&self.1.settings(&request).vault_items(), &[])?;
            let settings = self.1.prove(request).await?;
            let config = self.0.create(settings).await.map_err(failed)?;
            Ok(success("Config created", config, caller.dialect))
        })
    }
}

impl<D: Drafts> Endpoint for UpdateConfig<D> {
    const PATH: &'static str = "/v1beta/config/update";
    const SERVICE: Service = <D::Settings as ConfigSettings>::SERVICE;
    const BARE: bool = <D::Settings as ConfigSettings>::BARE;
    type Request = UpdateConfigRequest<D::Draft>;
    type Response = ConfigResponse<D::Settings>;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<UpdateConfigRequest<D::Draft>, ApiError> {
        let id = config_id(&mut fields);
        let time = fields.required("updated_at").and_then(|_| fields.time("updated_at"));
        let body = fields.members().clone();
        let draft = self.1.read(fields, Extent::Change);
        Ok(match id.zip(time) {
            Some((id, time)) => UpdateConfigRequest::Change(id, time, body),
            None => UpdateConfigRequest::Faulty(draft),
        })
    }

    fn call<'a>(
        &'a self,
        caller: ApiCaller<'a>,
        request: UpdateConfigRequest<D::Draft>,
    ) -> BoxFuture<'a, Result<Success<ConfigResponse<D::Settings>>, ApiError>> {
        Box::pin(async move {
            if let UpdateConfigRequest::Change(id, ..) = &request {
                usable(caller.who, id)?;
            }
            caller.who.may_change_configs()?;
            let (id, updated_at, body) = match request {
                UpdateConfigRequest::Change(id, updated_at, body) => (id, updated_at, body),
                UpdateConfigRequest::Faulty(draft) => {
                    self.1.prove(draft).await?;
                    return Err(ApiError::Internal("configs"));
                }
            };
            let before = self.0.get(&id).await.map_err(failed)?;
            if before.updated_at != updated_at {
                return Err(failed(ConfigError::Stale));
            }
            let named: Vec<String> = before.settings.vault_items().into_iter().map(str::to_owned).collect();
            let draft = self.draft(before.settings, &body)?;
            let named: Vec<&str> = named.iter().map(String::as_str).collect();
            caller.who.may_name_items(&self.1.settings(&draft).vault_items(), &named)?;
            let settings = self.1.prove(draft).await?;
            let config = self.0.update(&id, updated_at, settings).await.map_err(failed)?;
            Ok(success("Config updated", config, caller.dialect))
        })
    }
}

impl<S: ConfigSettings> Endpoint for ListConfigs<S> {
    const PATH: &'static str = "/v1beta/config/list";
    const SERVICE: Service = <S as ConfigSettings>::SERVICE;
    const BARE: bool = <S as ConfigSettings>::BARE;
    type Request = ListConfigsRequest;
    type Response = ListConfigsResponse<S>;

    fn parse(&self, fields: ObjectFields<'_>) -> Result<ListConfigsRequest, ApiError> {
        ListConfigsRequest::read(fields)
    }

    fn call<'a>(
        &'a self,
        caller: ApiCaller<'a>,
        mut request: ListConfigsRequest,
    ) -> BoxFuture<'a, Result<Success<ListConfigsResponse<S>>, ApiError>> {
        Box::pin(async move {
            request.filter.usable = caller.who.configs().to_vec();
            let page = self.0.list(&request).await.map_err(failed)?;
            let shown = |config| ConfigResponse::new(config, caller.dialect);
            let result = ListConfigsResponse {
                count: page.count,
                items: page.items.into_iter().map(shown).collect(),
                last: page.last,
            };
            let summary = format!("Listed {} of {} configs", result.items.len(), result.count);
            Ok(Success { summary, result })
        })
    }
}

fn only_id(mut fields: ObjectFields<'_>) -> Result<IdRequest, ApiError> {
    let id = config_id(&mut fields);
    fields.nulls_are_absent();
    fields.text("config_id");
    fields.close()?;
    // Without an id there was a fault.
    id.map(IdRequest).ok_or(ApiError::Internal("configs"))
}

fn config_id(fields: &mut ObjectFields<'_>) -> Option<ConfigId> {
    fields.required("id")?;
    let id = ConfigId::parse(fields.text("id")?);
    if id.is_none() {
        fields.fault(
            Code::DoesNotMatchPattern,
            fields.at("id"),
            "must be pci_ and 32 characters of a-z and 2-7",
        );
    }
    id
}

/// A config that the token may not use is to its bearer as if it were not there.
fn usable(who: &Principal, id: &ConfigId) -> Result<(), ApiError> {
    who.may_use(Some(&id.to_string())).map_err(|_| failed(ConfigError::Unknown))
}

fn success<S: ConfigSettings>(
    summary: &str,
    config: Config<S>,
    dialect: Dialect,
) -> Success<ConfigResponse<S>> {
    Success { summary: summary.to_owned(), result: ConfigResponse::new(config, dialect) }
}

fn failed(error: ConfigError) -> ApiError {
    let fault = |code, at, detail: String| ApiError::Validation(vec![Invalid::new(code, at, detail)]);
    let at = |name| Pointer::root().key(name);
    match error {
        ConfigError::Unknown => {
            fault(Code::ConfigNotExist, at("id"), "this service has no config of this id".to_owned())
        }
        ConfigError::Elsewhere => fault(
            Code::ConfigServiceMismatch,
            at("id"),
            "the config of this id is another service's".to_owned(),
        ),
        ConfigError::Stale => {
            let detail = "the config was written since; read it again and decide anew";
            fault(Code::BadState, at("updated_at"), detail.to_owned())
        }
        ConfigError::Many => {
            let detail = format!("there are {MAX_CONFIGS} configs already; delete one");
            fault(Code::AboveMaxItems, Pointer::root(), detail)
        }
        ConfigError::Large => {
            let detail = format!("a config takes at most {MAX_BYTES} bytes");
            fault(Code::IsTooBig, Pointer::root(), detail)
        }
        ConfigError::Row => ApiError::Internal("config row"),
        ConfigError::Random(_) => ApiError::Internal("random"),
        ConfigError::Store(error) => ApiError::store(&error, "store"),
    }
}
