//! `POST /v1/list`: which objects, in which order, how many at a time. Source: the public clients' `ListRequest` and
//! `FilterList`; what they leave open (the default order, the form of `last`) is this project's.

use data_encoding::BASE64URL_NOPAD;
use serde::Serialize;

use crate::api::call::BoxFuture;
use crate::api::endpoint::{Asker, Endpoint, Success};
use crate::api::error::{ApiError, Code};
use crate::api::fields::Fields;
use crate::api::share::ask;
use crate::api::share::folder::Folder;
use crate::api::share::object::{Object, Shown};
use crate::api::share::store::Shares;
use crate::api::token::Service;

/// The most objects on one page.
const SIZE: usize = 1000;

/// The most texts of one member of the filter.
const TEXTS: usize = 1000;

/// One page of objects.
#[derive(Serialize)]
pub struct ListReply {
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<String>,
    objects: Vec<Shown>,
}

/// `POST /v1/list`.
pub struct ListShares(pub Shares);

#[derive(Clone, Copy, Debug, Default)]
enum By {
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
pub struct ListAsk {
    filter: Filter,
    last: Option<String>,
    descending: bool,
    by: By,
    size: Option<u32>,
}

/// What a text has to be: this, one of these, with each of these in it.
#[derive(Default)]
struct Texts {
    equal: Option<String>,
    one_of: Option<Vec<String>>,
    contains: Vec<String>,
}

/// Where a number has to lie: at, after, from, before, to.
#[derive(Default)]
struct Bounds([Option<u64>; 5]);

#[derive(Default)]
struct Filter {
    id: Texts,
    name: Texts,
    parent: Texts,
    kind: Texts,
    folder: Option<String>,
    tags: Vec<String>,
    size: Bounds,
    created: Bounds,
    updated: Bounds,
}

impl Texts {
    fn read(fields: &mut Fields<'_>, equal: &'static str, more: [&'static str; 2]) -> Self {
        let [one_of, contains] = more;
        Self {
            equal: fields.text(equal).map(str::to_owned),
            one_of: texts(fields, one_of),
            contains: texts(fields, contains).unwrap_or_default(),
        }
    }

    fn take(&self, text: &str) -> bool {
        self.equal.as_ref().is_none_or(|equal| equal == text)
            && self.one_of.as_ref().is_none_or(|texts| texts.iter().any(|one| one == text))
            && self.contains.iter().all(|part| text.contains(part.as_str()))
    }
}

impl Bounds {
    fn take(&self, number: u64) -> bool {
        let [equal, after, from, before, to] = self.0;
        equal.is_none_or(|equal| number == equal)
            && after.is_none_or(|after| number > after)
            && from.is_none_or(|from| number >= from)
            && before.is_none_or(|before| number < before)
            && to.is_none_or(|to| number <= to)
    }

    fn times(fields: &mut Fields<'_>, names: [&'static str; 5]) -> Self {
        Self(names.map(|name| fields.time(name).map(|time| time.as_millis())))
    }
}

fn texts(fields: &mut Fields<'_>, name: &'static str) -> Option<Vec<String>> {
    fields.array(name, TEXTS, |value, at, faults| {
        if !value.is_string() {
            faults.wrong(value, at, Code::InvalidString, "must be a string");
        }
        value.as_str().map(str::to_owned)
    })
}

impl Filter {
    fn read(fields: &mut Fields<'_>) -> Self {
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
            size: Bounds(sizes.map(|name| fields.integer(name, 0).map(u64::from))),
            created: Bounds::times(fields, created),
            updated: Bounds::times(fields, updated),
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

impl ListAsk {
    /// The object's place in the order: a text that sorts as what it is ordered by does, then the id.
    fn place(&self, object: &Object) -> String {
        let number = |number: u64| format!("{number:020}");
        let text = match self.by {
            By::Id => String::new(),
            By::Created => number(object.created_at.as_millis()),
            By::Updated => number(object.updated_at.as_millis()),
            By::Name => object.name.clone(),
            By::Parent => object.parent.as_ref().map(ToString::to_string).unwrap_or_default(),
            By::Kind => object.kind.word().to_owned(),
            By::Size => number(object.size),
        };
        format!("{text}\0{}", object.id)
    }

    fn page(&self, mut objects: Vec<Object>) -> ListReply {
        objects.retain(|object| self.filter.takes(object));
        let count = objects.len();
        let mut placed: Vec<(String, Object)> =
            objects.into_iter().map(|object| (self.place(&object), object)).collect();
        placed.sort_by(|a, b| if self.descending { b.0.cmp(&a.0) } else { a.0.cmp(&b.0) });
        placed.retain(|(place, _)| {
            self.last.as_ref().is_none_or(|last| if self.descending { place < last } else { place > last })
        });
        let size = self.size.and_then(|size| usize::try_from(size).ok()).unwrap_or(SIZE).min(SIZE);
        let more = placed.len() > size;
        placed.truncate(size);
        let last = placed.last().filter(|_| more).map(|(place, _)| BASE64URL_NOPAD.encode(place.as_bytes()));
        ListReply { count, last, objects: placed.into_iter().map(|(_, object)| object.into()).collect() }
    }
}

impl Endpoint for ListShares {
    const PATH: &'static str = "/v1/list";
    const SERVICE: Service = Service::Share;
    const BARE: bool = false;
    type Ask = ListAsk;
    type Reply = ListReply;

    fn parse(&self, mut fields: Fields<'_>) -> Result<ListAsk, ApiError> {
        ask::common(&mut fields);
        // There is no bucket of somebody else's that a file could have a key in.
        fields.flag("include_external_bucket_key");
        let filter = fields.object("filter", Filter::read).unwrap_or_default();
        let last = fields.text("last").filter(|text| !text.is_empty()).map(|text| {
            BASE64URL_NOPAD.decode(text.as_bytes()).ok().and_then(|bytes| String::from_utf8(bytes).ok())
        });
        if matches!(last, Some(None)) {
            fields.fault(Code::BadFormat, fields.at("last"), "must be `last` of the page before");
        }
        let orders = [("asc", false), ("desc", true)];
        let by = [
            ("id", By::Id),
            ("created_at", By::Created),
            ("updated_at", By::Updated),
            ("name", By::Name),
            ("parent_id", By::Parent),
            ("type", By::Kind),
            ("size", By::Size),
        ];
        let ask = ListAsk {
            filter,
            last: last.flatten(),
            descending: fields.one_of("order", &orders).unwrap_or_default(),
            by: fields.one_of("order_by", &by).unwrap_or_default(),
            size: fields.integer("size", 1),
        };
        fields.close()?;
        Ok(ask)
    }

    fn call<'a>(
        &'a self,
        asker: Asker<'a>,
        ask: ListAsk,
    ) -> BoxFuture<'a, Result<Success<ListReply>, ApiError>> {
        Box::pin(async move {
            let all = self.0.all(asker.who.tenant()).await.map_err(ask::failed)?;
            let result = ask.page(all);
            let summary = format!("Listed {} of {} objects", result.objects.len(), result.count);
            Ok(Success { summary, result })
        })
    }
}
