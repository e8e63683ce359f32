//! `POST /v1/share/link/get` and `/v1/share/link/delete`. Source: the vendor's OpenAPI schema.

use serde::Serialize;

use crate::api::call::BoxFuture;
use crate::api::endpoint::{Asker, Endpoint, Success};
use crate::api::error::ApiError;
use crate::api::fields::Fields;
use crate::api::share::ask;
use crate::api::share::link::create::LinkReply;
use crate::api::share::link::object::ShownLink;
use crate::api::share::link::parts::LinkParts;
use crate::api::token::Service;
use crate::base::id::ShareLinkId;

/// The most links of one call.
const MOST: usize = 100;

/// A link.
#[derive(Serialize)]
pub struct OneLinkReply {
    share_link_object: ShownLink,
}

/// `POST /v1/share/link/get`.
pub struct GetLink(pub LinkParts);

/// `POST /v1/share/link/delete`.
pub struct DeleteLinks(pub LinkParts);

type Outcome<'a, R> = BoxFuture<'a, Result<Success<R>, ApiError>>;

impl Endpoint for GetLink {
    const PATH: &'static str = "/v1/share/link/get";
    const SERVICE: Service = Service::Share;
    const BARE: bool = false;
    type Ask = Option<ShareLinkId>;
    type Reply = OneLinkReply;

    fn parse(&self, mut fields: Fields<'_>) -> Result<Self::Ask, ApiError> {
        ask::common(&mut fields);
        fields.required("id");
        let id = fields.text("id").and_then(ShareLinkId::parse);
        fields.close()?;
        Ok(id)
    }

    fn call<'a>(&'a self, asker: Asker<'a>, id: Self::Ask) -> Outcome<'a, OneLinkReply> {
        Box::pin(async move {
            let LinkParts { links, addresses, .. } = &self.0;
            let id = id.ok_or(ApiError::NotFound)?;
            let link = links.get(asker.who.tenant(), &id).await.map_err(ask::failed)?;
            let result = OneLinkReply { share_link_object: ShownLink::of(link, addresses) };
            Ok(Success { summary: "Share link found".to_owned(), result })
        })
    }
}

impl Endpoint for DeleteLinks {
    const PATH: &'static str = "/v1/share/link/delete";
    const SERVICE: Service = Service::Share;
    const BARE: bool = false;
    type Ask = Vec<Option<ShareLinkId>>;
    type Reply = LinkReply;

    fn parse(&self, mut fields: Fields<'_>) -> Result<Self::Ask, ApiError> {
        ask::common(&mut fields);
        fields.required("ids");
        let ids =
            fields.array("ids", MOST, |value, at, faults| faults.text(value, at).map(ShareLinkId::parse));
        fields.close()?;
        Ok(ids.unwrap_or_default())
    }

    fn call<'a>(&'a self, asker: Asker<'a>, ids: Self::Ask) -> Outcome<'a, LinkReply> {
        Box::pin(async move {
            let LinkParts { links, addresses, .. } = &self.0;
            let mut gone = Vec::with_capacity(ids.len());
            // All of them are there, or nothing is done.
            for id in ids {
                let id = id.ok_or(ApiError::NotFound)?;
                gone.push(links.get(asker.who.tenant(), &id).await.map_err(ask::failed)?);
            }
            for link in &gone {
                links.remove(&link.id).await.map_err(ask::failed)?;
            }
            let share_link_objects: Vec<_> =
                gone.into_iter().map(|link| ShownLink::of(link, addresses)).collect();
            let summary = format!("Deleted {} share links", share_link_objects.len());
            Ok(Success { summary, result: LinkReply { share_link_objects } })
        })
    }
}
