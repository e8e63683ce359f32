//! `POST /v1/share/link/get` and `/v1/share/link/delete`. Source: the vendor's OpenAPI schema.

use futures_util::future::BoxFuture;
use serde::Serialize;

use crate::api::endpoint::{ApiCaller, Endpoint, Success};
use crate::api::error::ApiError;
use crate::api::fields::ObjectFields;
use crate::api::share::link::create::LinkResponse;
use crate::api::share::link::object::ShownLink;
use crate::api::share::link::parts::LinkParts;
use crate::api::share::request;
use crate::api::token::Service;
use crate::base::id::ShareLinkId;

/// The most links of one call.
const MOST: usize = 100;

/// A link.
#[derive(Serialize)]
pub struct OneLinkResponse {
    share_link_object: ShownLink,
}

/// `POST /v1/share/link/get`.
pub struct GetLink(pub LinkParts);

/// `POST /v1/share/link/delete`.
pub struct DeleteLinks(pub LinkParts);

type ChangeResult<'a, R> = BoxFuture<'a, Result<Success<R>, ApiError>>;

impl Endpoint for GetLink {
    const PATH: &'static str = "/v1/share/link/get";
    const SERVICE: Service = Service::Share;
    const BARE: bool = false;
    type Request = Option<ShareLinkId>;
    type Response = OneLinkResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<Self::Request, ApiError> {
        request::common(&mut fields);
        fields.required("id");
        let id = fields.text("id").and_then(ShareLinkId::parse);
        fields.close()?;
        Ok(id)
    }

    fn call<'a>(&'a self, caller: ApiCaller<'a>, id: Self::Request) -> ChangeResult<'a, OneLinkResponse> {
        Box::pin(async move {
            let LinkParts { links, addresses, .. } = &self.0;
            let id = id.ok_or(ApiError::NotFound)?;
            let link = links.get(caller.who.tenant(), &id).await.map_err(request::failed)?;
            let result = OneLinkResponse { share_link_object: ShownLink::of(link, addresses) };
            Ok(Success { summary: "Share link found".to_owned(), result })
        })
    }
}

impl Endpoint for DeleteLinks {
    const PATH: &'static str = "/v1/share/link/delete";
    const SERVICE: Service = Service::Share;
    const BARE: bool = false;
    type Request = Vec<Option<ShareLinkId>>;
    type Response = LinkResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<Self::Request, ApiError> {
        request::common(&mut fields);
        fields.required("ids");
        let ids =
            fields.array("ids", MOST, |value, at, faults| faults.text(value, at).map(ShareLinkId::parse));
        fields.close()?;
        Ok(ids.unwrap_or_default())
    }

    fn call<'a>(&'a self, caller: ApiCaller<'a>, ids: Self::Request) -> ChangeResult<'a, LinkResponse> {
        Box::pin(async move {
            let LinkParts { links, addresses, .. } = &self.0;
            let mut gone = Vec::with_capacity(ids.len());
            // All of them are there, or nothing is done.
            for id in ids {
                let id = id.ok_or(ApiError::NotFound)?;
                gone.push(links.get(caller.who.tenant(), &id).await.map_err(request::failed)?);
            }
            for link in &gone {
                links.remove(&link.id).await.map_err(request::failed)?;
            }
            let share_link_objects: Vec<_> =
                gone.into_iter().map(|link| ShownLink::of(link, addresses)).collect();
            let summary = format!("Deleted {} share links", share_link_objects.len());
            Ok(Success { summary, result: LinkResponse { share_link_objects } })
        })
    }
}
