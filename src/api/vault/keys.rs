//! `POST /v2/key/generate`, `/v2/key/store` and `/v2/key/rotate`.

use data_encoding::BASE64;
use futures_util::future::BoxFuture;

use crate::api::endpoint::{ApiCaller, Endpoint, Success};
use crate::api::error::{ApiError, Code};
use crate::api::fields::{ObjectFields, invalid};
use crate::api::token::Service;
use crate::api::vault::request::{Labels, common, failed, item_id, manual_rotation};
use crate::api::vault::response::{ItemResponse, Secrets};
use crate::base::secret::Secret;
use crate::vault::VaultError;
use crate::vault::items::{
    Algorithm, ItemKind, Items, KeyFacts, Label, Material, NewItem, Purpose, Selector, VersionState,
};

/// `POST /v2/key/generate`: makes a key.
pub struct GenerateKey(pub Items);

/// `POST /v2/key/store`: takes a key that somebody has.
pub struct StoreKey(pub Items);

/// `POST /v2/key/rotate`: adds a version to a key.
pub struct RotateKey(pub Items);

/// What is asked of a new key.
pub struct KeyRequest {
    kind: ItemKind,
    facts: Option<KeyFacts>,
    label: Label,
    given: KeyMaterial,
}

/// What is asked of a rotation.
pub struct RotateKeyRequest {
    id: String,
    then: Option<VersionState>,
    given: KeyMaterial,
}

/// Key material that a call brings.
#[derive(Default)]
struct KeyMaterial {
    public: Option<String>,
    private: Option<Secret<String>>,
    key: Option<Secret<String>>,
}

/// Members that hold what nobody else may know.
const SECRET: &[&str] = &["private_key", "key"];

impl KeyMaterial {
    fn of(fields: &mut ObjectFields<'_>) -> Self {
        let (private, key) = (fields.secret("private_key"), fields.secret("key"));
        Self { public: fields.text("public_key").map(str::to_owned), private, key }
    }

    /// The key of an item of this kind; `None` if none is given.
    fn material(self, kind: ItemKind, algorithm: Algorithm) -> Result<Option<Material>, ApiError> {
        let stray = |at| Err(invalid(Code::UnexpectedProperty, at, "is not for keys of this type"));
        match (kind, self) {
            (_, Self { public: None, private: None, key: None }) => Ok(None),
            (ItemKind::AsymmetricKey, Self { key: Some(_), .. }) => stray("key"),
            (ItemKind::AsymmetricKey, Self { public: Some(public), private: Some(private), .. }) => {
                Material::pair(algorithm, private.expose(), &public)
                    .map(Some)
                    .map_err(|error| unfit(error, "private_key"))
            }
            (ItemKind::AsymmetricKey, Self { public: None, .. }) => Err(required("public_key")),
            (ItemKind::AsymmetricKey, _) => Err(required("private_key")),
            (_, Self { public: Some(_), .. }) => stray("public_key"),
            (_, Self { private: Some(_), .. }) => stray("private_key"),
            (_, Self { key: Some(key), .. }) => {
                let bytes = BASE64.decode(key.expose().as_bytes()).map(Secret::new);
                let bytes =
                    bytes.map_err(|_| invalid(Code::BadFormatBase64, "key", "must be base64 text"))?;
                Material::symmetric(algorithm, bytes).map(Some).map_err(|error| unfit(error, "key"))
            }
        }
    }
}

fn required(name: &'static str) -> ApiError {
    invalid(Code::FieldRequired, name, "is required")
}

fn unfit(error: VaultError, at: &'static str) -> ApiError {
    match error {
        VaultError::Unfit(why) => invalid(Code::BadFormat, at, why),
        other => failed(other),
    }
}

impl KeyRequest {
    fn read(
        mut fields: ObjectFields<'_>,
        given: impl FnOnce(&mut ObjectFields<'_>) -> KeyMaterial,
    ) -> Result<Self, ApiError> {
        common(&mut fields);
        let kinds = [ItemKind::AsymmetricKey, ItemKind::SymmetricKey].map(|kind| (kind.name(), kind));
        fields.required("type");
        let kind = fields.one_of("type", &kinds);
        let purposes = Purpose::ALL.map(|purpose| (purpose.name(), purpose));
        fields.required("purpose");
        let purpose = fields.one_of("purpose", &purposes);
        fields.required("algorithm");
        let exportable = fields.flag("exportable").unwrap_or(false);
        let mut facts = None;
        if let (Some(kind), Some(purpose)) = (kind, purpose) {
            let all = Algorithm::all(kind, purpose);
            let words: Vec<_> = all.iter().map(|algorithm| (algorithm.name(), *algorithm)).collect();
            let algorithm = fields.one_of("algorithm", &words);
            facts = algorithm.map(|algorithm| KeyFacts { purpose, algorithm, exportable });
        } else {
            fields.text("algorithm");
        }
        let label = Labels::of(&mut fields).with_rotation(&mut fields).label();
        let given = given(&mut fields);
        fields.close()?;
        Ok(Self { kind: kind.unwrap_or(ItemKind::SymmetricKey), facts, label, given })
    }
}

async fn create(items: &Items, request: KeyRequest, stored: bool) -> Result<ItemResponse, ApiError> {
    let KeyRequest { kind, facts, label, given } = request;
    let facts = facts.ok_or(ApiError::Internal("vault"))?;
    let material = match (given.material(kind, facts.algorithm)?, kind) {
        (Some(material), _) => material,
        (None, ItemKind::AsymmetricKey) if stored => return Err(required("private_key")),
        (None, _) if stored => return Err(required("key")),
        (None, _) => Material::generate(facts.algorithm).await.map_err(failed)?,
    };
    let new = NewItem { kind, label, key: Some(facts), material };
    let opened = items.create(new).await.map_err(failed)?;
    ItemResponse::new(items, &opened, Selector::Current, Secrets::Hidden).map_err(failed)
}

impl Endpoint for GenerateKey {
    const PATH: &'static str = "/v2/key/generate";
    const SERVICE: Service = Service::Vault;
    type Request = KeyRequest;
    type Response = ItemResponse;

    fn parse(&self, fields: ObjectFields<'_>) -> Result<KeyRequest, ApiError> {
        KeyRequest::read(fields, |_| KeyMaterial::default())
    }

    fn call<'a>(
        &'a self,
        _: ApiCaller<'a>,
        request: KeyRequest,
    ) -> BoxFuture<'a, Result<Success<ItemResponse>, ApiError>> {
        Box::pin(async move {
            let result = create(&self.0, request, false).await?;
            Ok(Success { summary: "Key generated".to_owned(), result })
        })
    }
}

impl Endpoint for StoreKey {
    const PATH: &'static str = "/v2/key/store";
    const SERVICE: Service = Service::Vault;
    const RAW: &'static [&'static str] = SECRET;
    type Request = KeyRequest;
    type Response = ItemResponse;

    fn parse(&self, fields: ObjectFields<'_>) -> Result<KeyRequest, ApiError> {
        KeyRequest::read(fields, KeyMaterial::of)
    }

    fn call<'a>(
        &'a self,
        _: ApiCaller<'a>,
        request: KeyRequest,
    ) -> BoxFuture<'a, Result<Success<ItemResponse>, ApiError>> {
        Box::pin(async move {
            let result = create(&self.0, request, true).await?;
            Ok(Success { summary: "Key stored".to_owned(), result })
        })
    }
}

impl Endpoint for RotateKey {
    const PATH: &'static str = "/v2/key/rotate";
    const SERVICE: Service = Service::Vault;
    const RAW: &'static [&'static str] = SECRET;
    type Request = RotateKeyRequest;
    type Response = ItemResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<RotateKeyRequest, ApiError> {
        common(&mut fields);
        let id = fields.required_text("id").to_owned();
        let then = manual_rotation(&mut fields);
        let given = KeyMaterial::of(&mut fields);
        fields.close()?;
        Ok(RotateKeyRequest { id, then, given })
    }

    fn call<'a>(
        &'a self,
        _: ApiCaller<'a>,
        request: RotateKeyRequest,
    ) -> BoxFuture<'a, Result<Success<ItemResponse>, ApiError>> {
        Box::pin(async move {
            let items = &self.0;
            let id = item_id(&request.id)?;
            let opened = items.get(&id).await.map_err(failed)?;
            let Some(facts) = opened.item.key else {
                return Err(ApiError::ForbiddenVaultOperation("The item is not a key"));
            };
            let material = match request.given.material(opened.item.kind, facts.algorithm)? {
                Some(material) => material,
                None => Material::generate(facts.algorithm).await.map_err(failed)?,
            };
            let opened = items.rotate(&id, &material, request.then).await.map_err(failed)?;
            let result = ItemResponse::new(items, &opened, Selector::Current, Secrets::Hidden);
            Ok(Success { summary: "Key rotated".to_owned(), result: result.map_err(failed)? })
        })
    }
}
