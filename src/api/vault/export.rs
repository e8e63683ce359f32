//! `POST /v2/export`: hands out the material of exportable keys.

use data_encoding::BASE64;
use futures_util::future::BoxFuture;
use serde::Serialize;

use crate::api::endpoint::{ApiCaller, Endpoint, Success};
use crate::api::error::ApiError;
use crate::api::fields::ObjectFields;
use crate::api::token::Service;
use crate::api::vault::request::{common, failed, item_id, single};
use crate::api::vault::response::RevealedSecret;
use crate::base::secret::Secret;
use crate::crypto::jws;
use crate::vault::items::{ItemKind, Items, Selector};

/// `POST /v2/export`: the material of one version.
pub struct Export(pub Items);

/// A version of a key.
pub struct ExportRequest(String, Selector);

/// The material of one version.
#[derive(Serialize)]
pub struct ExportResponse {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    version: u32,
    enabled: bool,
    algorithm: &'static str,
    encryption_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    private_key: Option<RevealedSecret>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<RevealedSecret>,
}

impl Endpoint for Export {
    const PATH: &'static str = "/v2/export";
    const SERVICE: Service = Service::Vault;
    type Request = ExportRequest;
    type Response = ExportResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<ExportRequest, ApiError> {
        common(&mut fields);
        let id = fields.required_text("id").to_owned();
        let selector = single(&mut fields);
        fields.close()?;
        Ok(ExportRequest(id, selector))
    }

    fn call<'a>(
        &'a self,
        _: ApiCaller<'a>,
        ExportRequest(id, selector): ExportRequest,
    ) -> BoxFuture<'a, Result<Success<ExportResponse>, ApiError>> {
        Box::pin(async move {
            let items = &self.0;
            let opened = items.get(&item_id(&id)?).await.map_err(failed)?;
            let Some(facts) = opened.item.key else {
                return Err(ApiError::ForbiddenVaultOperation("The item is not a key"));
            };
            let version = opened.item.version(selector).map_err(failed)?;
            let material = items.exported(&opened, version).map_err(failed)?;
            let shown = |text: Secret<String>| RevealedSecret(Secret::new(text.expose().as_bytes().to_vec()));
            let (private_key, key) = match opened.item.kind {
                ItemKind::AsymmetricKey => (Some(shown(jws::private_pem(&material))), None),
                _ => (None, Some(shown(Secret::new(BASE64.encode(material.expose()))))),
            };
            let result = ExportResponse {
                id,
                kind: opened.item.kind.name(),
                version: version.number,
                enabled: opened.item.is_enabled(items.now()),
                algorithm: facts.algorithm.name(),
                encryption_type: "none",
                public_key: opened.public(version).ok().map(|key| jws::public_pem(&key)),
                private_key,
                key,
            };
            Ok(Success { summary: "Key exported".to_owned(), result })
        })
    }
}
