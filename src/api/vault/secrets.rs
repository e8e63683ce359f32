//! `POST /v2/secret/store` and `/v2/secret/rotate`.

use futures_util::future::BoxFuture;

use crate::api::endpoint::{ApiCaller, Endpoint, Success};
use crate::api::error::{ApiError, Code};
use crate::api::fields::ObjectFields;
use crate::api::token::Service;
use crate::api::vault::request::{Labels, common, failed, item_id, manual_rotation};
use crate::api::vault::response::{ItemResponse, Secrets};
use crate::base::secret::Secret;
use crate::vault::items::{ItemKind, Items, Label, MAX_SECRET, Material, NewItem, Selector, VersionState};

/// `POST /v2/secret/store`: keeps a secret.
pub struct StoreSecret(pub Items);

/// `POST /v2/secret/rotate`: adds a version to a secret.
pub struct RotateSecret(pub Items);

/// What is asked of a new secret.
pub struct SecretRequest {
    secret: Secret<Vec<u8>>,
    label: Label,
}

/// What is asked of a rotation.
pub struct RotateSecretRequest {
    id: String,
    secret: Secret<Vec<u8>>,
    then: Option<VersionState>,
}

const SECRET: &str = "secret";

/// Empty on a fault, which ends the call.
fn secret(fields: &mut ObjectFields<'_>) -> Secret<Vec<u8>> {
    let Some(text) = fields.required_secret(SECRET) else { return Secret::new(Vec::new()) };
    let at = fields.at(SECRET);
    fields.faults().length(text.expose(), at, &(1..=MAX_SECRET));
    Secret::new(text.expose().as_bytes().to_vec())
}

impl Endpoint for StoreSecret {
    const PATH: &'static str = "/v2/secret/store";
    const SERVICE: Service = Service::Vault;
    const RAW: &'static [&'static str] = &[SECRET];
    type Request = SecretRequest;
    type Response = ItemResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<SecretRequest, ApiError> {
        common(&mut fields);
        // The specification has one type of secret; clients of the vendor's know more.
        let kind = fields.text("type").unwrap_or(ItemKind::Secret.name());
        if kind != ItemKind::Secret.name() {
            fields.fault(Code::NotEnumMember, fields.at("type"), "must be secret");
        }
        let secret = secret(&mut fields);
        let label = Labels::of(&mut fields).label();
        fields.close()?;
        Ok(SecretRequest { secret, label })
    }

    fn call<'a>(
        &'a self,
        _: ApiCaller<'a>,
        request: SecretRequest,
    ) -> BoxFuture<'a, Result<Success<ItemResponse>, ApiError>> {
        Box::pin(async move {
            let SecretRequest { secret, label } = request;
            let new =
                NewItem { kind: ItemKind::Secret, label, key: None, material: Material::opaque(secret) };
            let opened = self.0.create(new).await.map_err(failed)?;
            let result = ItemResponse::new(&self.0, &opened, Selector::Current, Secrets::Shown);
            Ok(Success { summary: "Secret stored".to_owned(), result: result.map_err(failed)? })
        })
    }
}

impl Endpoint for RotateSecret {
    const PATH: &'static str = "/v2/secret/rotate";
    const SERVICE: Service = Service::Vault;
    const RAW: &'static [&'static str] = &[SECRET];
    type Request = RotateSecretRequest;
    type Response = ItemResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<RotateSecretRequest, ApiError> {
        common(&mut fields);
        let id = fields.required_text("id").to_owned();
        let secret = secret(&mut fields);
        let then = manual_rotation(&mut fields);
        fields.close()?;
        Ok(RotateSecretRequest { id, secret, then })
    }

    fn call<'a>(
        &'a self,
        _: ApiCaller<'a>,
        request: RotateSecretRequest,
    ) -> BoxFuture<'a, Result<Success<ItemResponse>, ApiError>> {
        Box::pin(async move {
            let items = &self.0;
            let id = item_id(&request.id)?;
            let opened = items.get(&id).await.map_err(failed)?;
            if opened.item.kind != ItemKind::Secret {
                return Err(ApiError::ForbiddenVaultOperation("The item is not a secret"));
            }
            let material = Material::opaque(request.secret);
            let opened = items.rotate(&id, &material, request.then).await.map_err(failed)?;
            let result = ItemResponse::new(items, &opened, Selector::Current, Secrets::Shown);
            Ok(Success { summary: "Secret rotated".to_owned(), result: result.map_err(failed)? })
        })
    }
}
