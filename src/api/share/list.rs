//! `POST /v1/list`: which objects, in which order, how many at a time. Source: the public clients' `ListObjectsRequest` and
//! `FilterList`; what they leave open (the default order, the form of `last`) is this project's.

use futures_util::future::BoxFuture;
use serde::Serialize;

use crate::api::endpoint::{ApiCaller, Endpoint, Success};
use crate::api::error::ApiError;
use crate::api::fields::ObjectFields;
use crate::api::share::filter::{Numbers, PageBounds, Texts, texts};
use crate::api::share::folder::Folder;
use crate::api::share::object::{Object, ObjectView};
use crate::api::share::request;
use crate::api::share::rows::Shares;
use crate::api::token::Service;

/// One page of objects.
#[derive(Serialize)]
pub struct ListObjectsResponse {
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<String>,
    objects: Vec<ObjectView>,
}

/// `POST /v1/list`.
pub struct ListShares(pub Shares);

#[derive(Clone, Copy, Debug, Default)]
enum ObjectOrder {
    Id,
    #[default]
    Created,
    Updated,
    Name,
    Parent,
    Kind,
    Size,
}

/// What a caller wants to see.
#[derive(Default)]
pub struct ListObjectsRequest {
    filter: ObjectFilter,
    by: ObjectOrder,
    page: PageBounds,
}

#[derive(Default)]
struct ObjectFilter {
    id: Texts,
    name: Texts,
    parent: Texts,
    kind: Texts,
    folder: Option<String>,
    tags: Vec<String>,
    size: Numbers,
    created: Numbers,
    updated: Numbers,
}

impl ObjectFilter {
    fn read(fields: &mut ObjectFields<'_>) -> Self {
        let sizes = ["size", "size__gt", "size__gte", "size__lt", "size__lte"];
        let created =
            ["created_at", "created_at__gt", "created_at__gte", "created_at__lt", "created_at__lte"];
        let updated =
            ["updated_at", "updated_at__gt", "updated_at__gte", "updated_at__lt", "updated_at__lte"];
        Self {
            id: Texts::read(fields, "id", ["id__in", "id__contains"]),
            name: Texts::read(fields, "name", ["name__in", "name__contains"]),
            parent: Texts::read(fields, "parent_id", ["parent_id__in", "parent_id__contains"]),
            kind: Texts::read(fields, "type", ["type__in", "type__contains"]),
            // What is no path is no object's.
            folder: fields.text("folder").map(|path| {
                Folder::parse(path).map_or_else(String::new, |folder| folder.as_str().to_owned())
            }),
            tags: texts(fields, "tags").unwrap_or_default(),
            size: Numbers::integers(fields, sizes),
            created: Numbers::times(fields, created),
            updated: Numbers::times(fields, updated),
        }
    }

    fn takes(&self, object: &Object) -> bool {
        let parent = object.parent.as_ref().map(ToString::to_string).unwrap_or_default();
        self.id.take(&object.id.to_string())
            && self.name.take(&object.name)
            && self.parent.take(&parent)
            && self.kind.take(object.kind.word())
            && self.folder.as_ref().is_none_or(|folder| folder == object.folder.as_str())
            && self.tags.iter().all(|tag| object.tags.contains(tag))
            && self.size.take(object.size)
            && self.created.take(object.created_at.as_millis())
            && self.updated.take(object.updated_at.as_millis())
    }
}

impl ListObjectsRequest {
    /// The object's place in the order: a text that sorts as what it is ordered by does, then the id.
    fn place(&self, object: &Object) -> String {
        let number = |number: u64| format!("{number:020}");
        let text = match self.by {
            ObjectOrder::Id => String::new(),
            ObjectOrder::Created => number(object.created_at.as_millis()),
            ObjectOrder::Updated => number(object.updated_at.as_millis()),
            ObjectOrder::Name => object.name.clone(),
            ObjectOrder::Parent => object.parent.as_ref().map(ToString::to_string).unwrap_or_default(),
            ObjectOrder::Kind => object.kind.word().to_owned(),
            ObjectOrder::Size => number(object.size),
        };
        format!("{text}\0{}", object.id)
    }

    fn answer(&self, mut objects: Vec<Object>) -> ListObjectsResponse {
        objects.retain(|object| self.filter.takes(object));
        let count = objects.len();
        let placed = objects.into_iter().map(|object| (self.place(&object), object)).collect();
        let (objects, last) = self.page.of(placed);
        ListObjectsResponse { count, last, objects: objects.into_iter().map(ObjectView::from).collect() }
    }
}

impl Endpoint for ListShares {
    const PATH: &'static str = "/v1/list";
    const SERVICE: Service = Service::Share;
    const BARE: bool = false;
    type Request = ListObjectsRequest;
    type Response = ListObjectsResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<ListObjectsRequest, ApiError> {
        request::common(&mut fields);
        // There is no bucket of somebody else's that a file could have a key in.
        fields.flag("include_external_bucket_key");
        let filter = fields.object("filter", ObjectFilter::read).unwrap_or_default();
        let by = [
            ("id", ObjectOrder::Id),
            ("created_at", ObjectOrder::Created),
            ("updated_at", ObjectOrder::Updated),
            ("name", ObjectOrder::Name),
            ("parent_id", ObjectOrder::Parent),
            ("type", ObjectOrder::Kind),
            ("size", ObjectOrder::Size),
        ];
        let request = ListObjectsRequest {
            filter,
            by: fields.one_of("order_by", &by).unwrap_or_default(),
            page: PageBounds::read(&mut fields),
        };
        fields.close()?;
        Ok(request)
    }

    fn call<'a>(
        &'a self,
        caller: ApiCaller<'a>,
        request: ListObjectsRequest,
    ) -> BoxFuture<'a, Result<Success<ListObjectsResponse>, ApiError>> {
        Box::pin(async move {
            let all = self.0.all(caller.who.tenant()).await.map_err(request::failed)?;
            let result = request.answer(all);
            let summary = format!("Listed {} of {} objects", result.objects.len(), result.count);
            Ok(Success { summary, result })
        })
    }
}
