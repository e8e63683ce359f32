//! `POST /v1/share/link/list`: which links, in which order, how many at a time. Source: the vendor's OpenAPI schema and
//! its clients' `FilterShareLinkList`, whose names for one thing are two here and there.

use futures_util::future::BoxFuture;
use serde::Serialize;

use crate::api::endpoint::{ApiCaller, Endpoint, Success};
use crate::api::error::ApiError;
use crate::api::fields::ObjectFields;
use crate::api::share::filter::{Numbers, PageBounds, Texts, texts};
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
enum LinkOrder {
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

const ORDERS: [(&str, LinkOrder); 14] = [
    ("id", LinkOrder::Id),
    ("bucket_id", LinkOrder::Bucket),
    ("target", LinkOrder::Target),
    ("link_type", LinkOrder::Kind),
    ("access_count", LinkOrder::Accesses),
    ("max_access_count", LinkOrder::MostAccesses),
    ("created_at", LinkOrder::Created),
    ("expires_at", LinkOrder::Expires),
    ("last_accessed_at", LinkOrder::LastAccessed),
    ("link", LinkOrder::Url),
    ("title", LinkOrder::Title),
    ("message", LinkOrder::Message),
    ("recipient_email", LinkOrder::Recipient),
    ("sender_email", LinkOrder::Sender),
];

#[derive(Clone, Debug, Default)]
struct LinkFilter {
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
    filter: LinkFilter,
    by: LinkOrder,
    page: PageBounds,
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

impl LinkFilter {
    fn read(fields: &mut ObjectFields<'_>) -> Self {
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
            LinkOrder::Id | LinkOrder::Bucket => String::new(),
            LinkOrder::Target => text(terms.targets.first()),
            LinkOrder::Kind => terms.link_type.word().to_owned(),
            LinkOrder::Accesses => number(stored.access_count.into()),
            LinkOrder::MostAccesses => {
                terms.max_access_count.map(|most| number(most.into())).unwrap_or_default()
            }
            LinkOrder::Created => number(stored.created_at),
            LinkOrder::Expires => number(terms.expires_at),
            LinkOrder::LastAccessed => stored.last_accessed_at.map(number).unwrap_or_default(),
            LinkOrder::Url => url.to_owned(),
            LinkOrder::Title => text(terms.title.as_ref()),
            LinkOrder::Message => text(terms.message.as_ref()),
            LinkOrder::Recipient => text(sent.map(|sent| &sent.recipient_email)),
            LinkOrder::Sender => text(sent.map(|sent| &sent.sender_email)),
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

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<LinksRequest, ApiError> {
        request::common(&mut fields);
        let request = LinksRequest {
            filter: fields.object("filter", LinkFilter::read).unwrap_or_default(),
            by: fields.one_of("order_by", &ORDERS).unwrap_or_default(),
            page: PageBounds::read(&mut fields),
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
