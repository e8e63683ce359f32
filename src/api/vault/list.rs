//! `POST /v2/list`: which items there are. A page ends with `last`, which clients send back until a page is empty.

use std::collections::BTreeMap;

use data_encoding::BASE64URL_NOPAD;
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;

use crate::api::endpoint::{ApiCaller, Endpoint, Success};
use crate::api::error::{ApiError, Code};
use crate::api::fields::{Faults, ObjectFields};
use crate::api::token::Service;
use crate::api::vault::request::{common, failed};
use crate::api::vault::response::ItemResponse;
use crate::base::listing::TimeBounds;
use crate::base::pointer::Pointer;
use crate::vault::items::{ItemFilter, Items, ListItemsRequest, OrderBy, Path, TextFilter};

/// Items on a page, where the call does not say.
const SIZE: u32 = 50;
/// The most items on a page.
const MOST: u32 = 100;
/// The most members of a filter, and items of one.
const FILTERS: usize = 100;

/// `POST /v2/list`: a page of items.
pub struct ListItems(pub Items);

/// A page of items.
#[derive(Serialize)]
pub struct ListItemsResponse {
    items: Vec<ItemResponse>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<String>,
}

const ORDERS: [(&str, OrderBy); 12] = [
    ("id", OrderBy::Id),
    ("identity", OrderBy::Id),
    ("created_at", OrderBy::CreatedAt),
    ("destroyed_at", OrderBy::DestroyedAt),
    ("expiration", OrderBy::DisabledAt),
    ("last_rotated", OrderBy::LastRotated),
    ("next_rotation", OrderBy::NextRotation),
    ("type", OrderBy::Kind),
    ("purpose", OrderBy::Purpose),
    ("name", OrderBy::Name),
    ("folder", OrderBy::Folder),
    ("version", OrderBy::Versions),
];

/// Notes are filtered by this and their name.
const METADATA: &str = "metadata_";

/// One text, or an array of them.
fn texts_of(value: &Value, at: &Pointer, faults: &mut Faults) -> Vec<String> {
    match value {
        Value::Array(items) if items.len() <= FILTERS => {
            let read = |(index, item)| faults.text(item, at.index(index)).map(str::to_owned);
            items.iter().enumerate().filter_map(read).collect()
        }
        Value::Array(_) => {
            faults.add(Code::AboveMaxItems, at.clone(), format!("must have at most {FILTERS} items"));
            Vec::new()
        }
        other => faults.text(other, at.clone()).map(str::to_owned).into_iter().collect(),
    }
}

/// Reads the member `key` of a filter; `false` if there is no such filter.
fn filter(filter: &mut ItemFilter, key: &str, value: &Value, at: Pointer, faults: &mut Faults) -> bool {
    if let Some(name) = key.strip_prefix(METADATA) {
        if let Some(text) = faults.text(value, at) {
            filter.metadata.insert(name.to_owned(), text.to_owned());
        }
        return true;
    }
    if key == "tags" || key == "tags__contains" {
        filter.tags.extend(texts_of(value, &at, faults));
        return true;
    }
    let (name, how) = key.split_once("__").unwrap_or((key, ""));
    if let Some(name) = ItemFilter::TEXTS.into_iter().find(|known| *known == name) {
        let mut text = TextFilter::default();
        match how {
            "" => text.equal = faults.text(value, at).map(str::to_owned),
            "contains" => text.contains = texts_of(value, &at, faults),
            "in" => text.within = Some(texts_of(value, &at, faults)),
            _ => return false,
        }
        if name == "folder" {
            let whole = |text: String| Path::parse(&text).map_or(text, |path| path.to_string());
            text.equal = text.equal.map(whole);
            text.within = text.within.map(|any| any.into_iter().map(whole).collect());
        }
        filter.texts.push((name, text));
        return true;
    }
    let Some(name) = ItemFilter::TIMES.into_iter().find(|known| *known == name) else { return false };
    let mut bounds = TimeBounds::default();
    let Some(bound) = bounds.named(how) else { return false };
    *bound = faults.time(value, at);
    filter.times.push((name, bounds));
    true
}

impl Endpoint for ListItems {
    const PATH: &'static str = "/v2/list";
    const SERVICE: Service = Service::Vault;
    type Request = ListItemsRequest;
    type Response = ListItemsResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<ListItemsRequest, ApiError> {
        common(&mut fields);
        let mut wanted = ItemFilter::default();
        let _: Option<BTreeMap<String, ()>> = fields.map("filter", FILTERS, |key, value, at, faults| {
            if !value.is_null() && !filter(&mut wanted, key, value, at.clone(), faults) {
                faults.add(Code::UnexpectedProperty, at, "there is no such filter");
            }
            None
        });
        let last = fields.last(place);
        let order = fields.order();
        let order_by = fields.one_of("order_by", &ORDERS).unwrap_or_default();
        let size = fields.integer("size", 1).unwrap_or(SIZE);
        if size > MOST {
            fields.fault(Code::IsTooBig, fields.at("size"), format!("must be at most {MOST}"));
        }
        fields.close()?;
        Ok(ListItemsRequest { filter: wanted, after: last, order, order_by, size: size as usize })
    }

    fn call<'a>(
        &'a self,
        _: ApiCaller<'a>,
        request: ListItemsRequest,
    ) -> BoxFuture<'a, Result<Success<ListItemsResponse>, ApiError>> {
        Box::pin(async move {
            let page = self.0.list(&request).await.map_err(failed)?;
            let items: Vec<ItemResponse> = page.items.into_iter().map(ItemResponse::listed).collect();
            let last =
                page.last.map(|(place, id)| BASE64URL_NOPAD.encode(format!("{id} {place}").as_bytes()));
            let summary = format!("Listed {} items", items.len());
            Ok(Success { summary, result: ListItemsResponse { items, last } })
        })
    }
}

/// The place that `last` names.
fn place(last: &str) -> Option<(String, String)> {
    let text = String::from_utf8(BASE64URL_NOPAD.decode(last.as_bytes()).ok()?).ok()?;
    text.split_once(' ').map(|(id, place)| (place.to_owned(), id.to_owned()))
}
