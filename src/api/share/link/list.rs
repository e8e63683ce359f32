//! `POST /v1/share/link/list`: which links, in which order, how many at a time. Source: the vendor's OpenAPI schema and
//! its clients' `FilterShareLinkList`, whose names for one thing are two here and there.

use futures_util::future::BoxFuture;
use serde::Serialize;

use crate::api::endpoint::{ApiCaller, Endpoint, Success};
use crate::api::error::ApiError;
use crate::api::fields::Fields;
use crate::api::share::filter::{Numbers, Page, Texts, texts};
use crate::api::share::link::object::{Link, ShownLink};
use crate::api::share::link::parts::LinkParts;
use crate::api::share::request;
use crate::api::token::Service;

/// One page of links.
#[derive(Serialize)]
pub struct LinksResponse {
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<String>,
    share_link_objects: Vec<ShownLink>,
}

/// `POST /v1/share/link/list`.
pub struct ListLinks(pub LinkParts);

#[derive(Clone, Copy, Debug, Default)]
enum By {
    Id,
    Bucket,
    Target,
    Kind,
    Accesses,
    MostAccesses,
    #[default]
    Created,
    Expires,
    LastAccessed,
    Url,
    Title,
    Message,
    Recipient,
    Sender,
}

const ORDERS: [(&str, By); 14] = [
    ("id", By::Id),
    ("bucket_id", By::Bucket),
    ("target", By::Target),
    ("link_type", By::Kind),
    ("access_count", By::Accesses),
    ("max_access_count", By::MostAccesses),
    ("created_at", By::Created),
    ("expires_at", By::Expires),
    ("last_accessed_at", By::LastAccessed),
    ("link", By::Url),
    ("title", By::Title),
    ("message", By::Message),
    ("recipient_email", By::Recipient),
    ("sender_email", By::Sender),
];

#[derive(Clone, Debug, Default)]
struct Filter {
    id: Texts,
    /// By each of its two names; one target that fits is enough.
    targets: [Texts; 2],
    link_type: Texts,
    link: Texts,
    title: Texts,
    message: Texts,
    recipient: Texts,
    sender: Texts,
    accesses: Numbers,
    most: Numbers,
    created: Numbers,
    expires: Numbers,
    last: Numbers,
    tags: Vec<String>,
}

/// What a caller wants to see.
#[derive(Default)]
pub struct LinksRequest {
    filter: Filter,
    by: By,
    page: Page,
}

/// The five members for bounds of what has this name.
macro_rules! bounds {
    ($name:literal) => {
        [
            $name,
            concat!($name, "__gt"),
            concat!($name, "__gte"),
            concat!($name, "__lt"),
            concat!($name, "__lte"),
        ]
    };
}

/// What is said of the text of this name.
macro_rules! texts {
    ($fields:ident, $name:literal) => {
        Texts::read($fields, $name, [concat!($name, "__in"), concat!($name, "__contains")])
    };
}

impl Filter {
    fn read(fields: &mut Fields<'_>) -> Self {
        Self {
            id: texts!(fields, "id"),
            targets: [texts!(fields, "target"), texts!(fields, "target_id")],
            link_type: texts!(fields, "link_type"),
            link: texts!(fields, "link"),
            title: texts!(fields, "title"),
            message: texts!(fields, "message"),
            recipient: texts!(fields, "recipient_email"),
            sender: texts!(fields, "sender_email"),
            accesses: Numbers::integers(fields, bounds!("access_count")),
            most: Numbers::integers(fields, bounds!("max_access_count")),
            created: Numbers::times(fields, bounds!("created_at")),
            expires: Numbers::times(fields, bounds!("expires_at")),
            last: Numbers::times(fields, bounds!("last_accessed_at")),
            tags: texts(fields, "tags").unwrap_or_default(),
        }
    }

    fn takes(&self, link: &Link, url: &str) -> bool {
        let (terms, stored, sent) = (link.terms(), &link.stored, link.stored.sent.as_ref());
        let target = |texts: &Texts| terms.targets.iter().any(|target| texts.take(target));
        self.id.take(&link.id.to_string())
            && self.targets.iter().all(target)
            && self.link_type.take(terms.link_type.word())
            && self.link.take(url)
            && self.title.take_any(terms.title.as_deref())
            && self.message.take_any(terms.message.as_deref())
            && self.recipient.take_any(sent.map(|sent| sent.recipient_email.as_str()))
            && self.sender.take_any(sent.map(|sent| sent.sender_email.as_str()))
            && self.accesses.take(stored.access_count.into())
            && self.most.take_any(terms.max_access_count.map(u64::from))
            && self.created.take(stored.created_at)
            && self.expires.take(terms.expires_at)
            && self.last.take_any(stored.last_accessed_at)
            && self.tags.iter().all(|tag| terms.tags.contains(tag))
    }
}

impl LinksRequest {
    /// The link's place in the order: a text that sorts as what it is ordered by does, then the id. What is absent comes
    /// first.
    fn place(&self, link: &Link, url: &str) -> String {
        let (terms, stored, sent) = (link.terms(), &link.stored, link.stored.sent.as_ref());
        let number = |number: u64| format!("{number:020}");
        let text = |text: Option<&String>| text.cloned().unwrap_or_default();
        let by = match self.by {
            By::Id | By::Bucket => String::new(),
            By::Target => text(terms.targets.first()),
            By::Kind => terms.link_type.word().to_owned(),
            By::Accesses => number(stored.access_count.into()),
            By::MostAccesses => terms.max_access_count.map(|most| number(most.into())).unwrap_or_default(),
            By::Created => number(stored.created_at),
            By::Expires => number(terms.expires_at),
            By::LastAccessed => stored.last_accessed_at.map(number).unwrap_or_default(),
            By::Url => url.to_owned(),
            By::Title => text(terms.title.as_ref()),
            By::Message => text(terms.message.as_ref()),
            By::Recipient => text(sent.map(|sent| &sent.recipient_email)),
            By::Sender => text(sent.map(|sent| &sent.sender_email)),
        };
        format!("{by}\0{}", link.id)
    }
}

impl Endpoint for ListLinks {
    const PATH: &'static str = "/v1/share/link/list";
    const SERVICE: Service = Service::Share;
    const BARE: bool = false;
    type Request = LinksRequest;
    type Response = LinksResponse;

    fn parse(&self, mut fields: Fields<'_>) -> Result<LinksRequest, ApiError> {
        request::common(&mut fields);
        let request = LinksRequest {
            filter: fields.object("filter", Filter::read).unwrap_or_default(),
            by: fields.one_of("order_by", &ORDERS).unwrap_or_default(),
            page: Page::read(&mut fields),
        };
        fields.close()?;
        Ok(request)
    }

    fn call<'a>(
        &'a self,
        caller: ApiCaller<'a>,
        request: LinksRequest,
    ) -> BoxFuture<'a, Result<Success<LinksResponse>, ApiError>> {
        Box::pin(async move {
            let LinkParts { links, addresses, .. } = &self.0;
            let mut placed = Vec::new();
            for link in links.all(caller.who.tenant()).await.map_err(request::failed)? {
                let url = addresses.url(&link.id);
                if request.filter.takes(&link, &url) {
                    placed.push((request.place(&link, &url), link));
                }
            }
            let count = placed.len();
            let (page, last) = request.page.of(placed);
            let share_link_objects: Vec<_> =
                page.into_iter().map(|link| ShownLink::of(link, addresses)).collect();
            let summary = format!("Listed {} of {count} share links", share_link_objects.len());
            Ok(Success { summary, result: LinksResponse { count, last, share_link_objects } })
        })
    }
}
