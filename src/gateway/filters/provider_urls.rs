//! URLs of the provider's own in its answers, which lead past the gateway: they become the route's. Whoever follows one
//! comes back to the same route, where the request is redacted by what it holds.

use std::sync::Arc;

use async_trait::async_trait;
use http::header::{CONTENT_LOCATION, HeaderName, HeaderValue, LOCATION};
use http::{HeaderMap, StatusCode};
use pingora::http::ResponseHeader;

use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::filter::{Filter, Flow, Stage};
use crate::gateway::filters::endpoint_events::{self, Leads};
use crate::gateway::filters::readable_answer::readable_answer;
use crate::gateway::layer::{Layer, TextLayer, UnscannedPolicy};
use crate::gateway::media_type::{ContentFormat, DeclaredFormat};
use crate::gateway::path_rewrite::PathRewrite;
use crate::gateway::plan::{AnswerPlan, RequestPlan};
use crate::gateway::route_info::RouteInfo;
use crate::gateway::terminal::Terminal;
use crate::gateway::upstream::Upstream;
use crate::stream::json::{Path, Segment};
use crate::stream::{Edit, Editor, StreamError};

/// Headers that name a URL to go on with: where the bytes of a file go (Gemini API, "Upload files"), and where the outcome
/// of an operation is (Azure).
const HEADERS: [&str; 4] =
    ["x-goog-upload-url", "x-goog-upload-control-url", "operation-location", "azure-asyncoperation"];

/// What a client says of a file before it uploads it: redacted, it is as long as it turns out to be.
const LENGTH: &str = "x-goog-upload-header-content-length";

/// What the paths of requests have in them whose answers name such URLs, and the member that does (Anthropic API reference,
/// "Message Batches"); `None`: all members whose names say so (Replicate's HTTP API, "Create a prediction", and fal's "Queue
/// API").
const ANSWERS: [(&str, Option<&str>); 3] =
    [("/messages/batches", Some("results_url")), ("/predictions", None), ("/fal-ai/", None)];

/// How names of members end that hold a URL to go on with, in small letters, and names of objects that are made of such.
const FOLLOWED: [&str; 6] = ["url", "uri", "href", "link", "next", "location"];
const OF_URLS: [&str; 3] = ["urls", "links", "_links"];

/// The longest URL that is taken, in bytes.
const LONGEST: usize = 8 << 10;

/// Has the provider's URLs lead here.
pub struct ProviderUrlFilter {
    /// Where callers reach us, without a slash at its end; `None`: where this caller did.
    public: Option<Arc<str>>,
    /// Whether callers come over TLS, where their requests do not say it (HTTP/1.1).
    secure: bool,
}

impl ProviderUrlFilter {
    /// URLs begin with `public`, else with the host that the caller asks for; `secure` is whether all callers come over TLS.
    pub fn new(public: Option<&str>, secure: bool) -> Self {
        Self { public: public.map(|url| url.trim_end_matches('/').into()), secure }
    }

    /// What the route's URLs begin with; `None` where a caller names no host.
    fn base(&self, x: &Exchange) -> Option<Base> {
        let rewrite = x.route().rewrite.clone();
        let prefix = x.path().compared().split('/').skip(1).take(rewrite.strip);
        let prefix = prefix.flat_map(|segment| ["/", segment]).collect();
        if let Some(public) = &self.public {
            return Some(Base { root: public.to_string(), prefix, rewrite });
        }
        let head = x.head();
        let host = head.headers.get(http::header::HOST).and_then(|host| host.to_str().ok());
        let host = host.or_else(|| head.uri.authority().map(|authority| authority.as_str()))?;
        let known = if self.secure { "https" } else { "http" };
        let scheme = head.uri.scheme_str().unwrap_or(known);
        Some(Base { root: format!("{scheme}://{host}"), prefix, rewrite })
    }
}

/// Where callers find what the upstream names.
struct Base {
    /// Where callers reach us.
    root: String,
    /// The route's prefix, if another path goes out than comes in.
    prefix: String,
    rewrite: PathRewrite,
}

impl Base {
    /// The URL of what the upstream calls `target`, a path perhaps with a query.
    fn url(&self, target: &str) -> String {
        format!("{}{}", self.root, self.rewrite.undone(&self.prefix, target))
    }

    /// The same without scheme and host.
    fn path(&self, target: &str) -> String {
        let host = self.root.find("://").map_or(0, |at| at + 3);
        let path = self.root.get(host..).and_then(|rest| rest.get(rest.find('/')?..)).unwrap_or_default();
        format!("{path}{}", self.rewrite.undone(&self.prefix, target))
    }
}

/// What names URLs in the answer to a request, if anything does.
fn named_in(x: &Exchange) -> Option<Option<&'static str>> {
    let path = x.path().compared();
    ANSWERS.iter().find(|(part, _)| path.contains(part)).map(|(_, member)| *member)
}

/// Which URLs of an answer lead here.
#[derive(Clone)]
enum AnswerUrls {
    /// Those of members of this name. Their hosts may have been masked, and so are not looked at.
    Named(&'static str),
    /// Those that lead to the route's upstream, in members by whose names they are to be followed.
    Followed {
        route: Arc<RouteInfo>,
        /// The first segment of the request's path: what begins otherwise may be no route's, or another one's.
        segment: String,
    },
}

impl AnswerUrls {
    /// Those of the answer to a request, if any are looked for. An answer that comes later can be restored only where what
    /// the caller said is remembered.
    fn of(x: &Exchange) -> Option<Self> {
        match named_in(x)? {
            Some(member) => Some(Self::Named(member)),
            None if x.facts.memory.is_some() => {
                let segment = first_segment(x.path().compared())?.to_owned();
                Some(Self::Followed { route: Arc::clone(x.route()), segment })
            }
            None => None,
        }
    }

    /// Whether they are in an answer with this head.
    fn may_be_in(&self, head: &ResponseHeader) -> bool {
        match self {
            Self::Named(_) => head.status == StatusCode::OK,
            Self::Followed { .. } => {
                head.status.is_success()
                    && DeclaredFormat::of(&head.headers) == DeclaredFormat::As(ContentFormat::Json)
            }
        }
    }

    /// Whether the string at `path` may be one.
    fn may_be_at(&self, path: &Path<'_>) -> bool {
        let Some(Segment::Key(name)) = path.last() else { return false };
        match self {
            Self::Named(member) => name == *member,
            Self::Followed { .. } => {
                let ends = |end: &str| {
                    let at = name.len().checked_sub(end.len());
                    at.and_then(|at| name.get(at..)).is_some_and(|last| last.eq_ignore_ascii_case(end))
                };
                FOLLOWED.iter().any(|end| ends(end))
                    || path.segments().any(|above| matches!(above, Segment::Key(of) if OF_URLS.contains(&of)))
            }
        }
    }

    /// What such a URL becomes.
    fn moved(&self, base: &Base, url: &str) -> Option<String> {
        let Self::Followed { route, segment } = self else { return ours(base, url) };
        match &route.terminal {
            Terminal::Upstream(upstream) if url.contains("://") => {
                let asked = upstream.asked(url)?;
                let path = base.rewrite.undone(&base.prefix, asked);
                first_segment(&path).is_some_and(|first| first == segment).then(|| base.url(asked))
            }
            _ => None,
        }
    }
}

/// The first segment of a path, which a query may follow.
fn first_segment(path: &str) -> Option<&str> {
    path.strip_prefix('/')?.split(['/', '?', '#']).next()
}

/// The URL at our base; `None` for what is no absolute one.
fn ours(base: &Base, url: &str) -> Option<String> {
    let (scheme, rest) = url.trim().split_once("://")?;
    let known = ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    (known && !host.is_empty()).then(|| base.url(path))
}

/// Rewrites the headers that name a URL.
fn rewrite(head: &mut ResponseHeader, base: &Base) {
    for name in HEADERS {
        let url = head.headers.get(name).and_then(|url| ours(base, url.to_str().ok()?));
        if let Some(url) = url.and_then(|url| HeaderValue::from_str(&url).ok()) {
            drop(head.insert_header(HeaderName::from_static(name), url));
        }
    }
}

/// Rewrites what leads to the upstream: who follows it comes back to the route, and does not send there what was redacted
/// here.
fn relocate(head: &mut ResponseHeader, base: &Base, upstream: &Upstream) {
    // What else they name stays (RFC 9110, sections 10.2.2 and 8.7).
    for name in [LOCATION, CONTENT_LOCATION] {
        let url = head.headers.get(&name).and_then(|url| url.to_str().ok());
        let moved = url.and_then(|url| located(base, url, upstream.asked(url.trim())?));
        if let Some(url) = moved.and_then(|url| HeaderValue::from_str(&url).ok()) {
            drop(head.insert_header(name, url));
        }
    }
}

/// The URL at our base that asks what `url` asks of the upstream; `None` where it does so already.
fn located(base: &Base, url: &str, asked: &str) -> Option<String> {
    if !url.trim().starts_with('/') || url.trim().starts_with("//") {
        return Some(base.url(asked));
    }
    // It says no host, and so it needs none.
    Some(base.path(asked)).filter(|moved| moved != url)
}

/// Whether a request says what will be uploaded.
fn begins_upload(headers: &HeaderMap) -> bool {
    headers.contains_key("x-goog-upload-command")
}

#[async_trait]
impl Filter for ProviderUrlFilter {
    fn name(&self) -> &'static str {
        "own_urls"
    }

    fn stage(&self) -> Stage {
        Stage::Rewrite
    }

    async fn request(&self, x: &mut Exchange, _: &mut RequestPlan) -> Result<Flow, GatewayError> {
        if begins_upload(&x.head().headers) {
            x.head_mut().remove_header(LENGTH);
        }
        if named_in(x).is_some() || endpoint_events::may_come(x) {
            readable_answer(x.head_mut());
        }
        Ok(Flow::Next)
    }

    async fn response(
        &self,
        x: &mut Exchange,
        head: &mut ResponseHeader,
        plan: &mut AnswerPlan,
    ) -> Result<(), GatewayError> {
        let Some(base) = self.base(x).map(Arc::new) else { return Ok(()) };
        rewrite(head, &base);
        if let Terminal::Upstream(upstream) = &x.route().terminal {
            relocate(head, &base, upstream);
        }
        if endpoint_events::may_be_in(x, head) {
            let (route, base) = (Arc::clone(x.route()), Arc::clone(&base));
            let leads: Leads = Arc::new(move |url| match &route.terminal {
                Terminal::Upstream(upstream) => located(&base, url, upstream.asked(url)?),
                _ => None,
            });
            plan.rewrite(endpoint_events::leading(x.facts.endpoint.clone(), leads), UnscannedPolicy::Pass);
        }
        let Some(urls) = AnswerUrls::of(x).filter(|urls| urls.may_be_in(head)) else { return Ok(()) };
        let editor = Arc::new(move || -> Box<dyn Editor> {
            Box::new(UrlEditor {
                urls: urls.clone(),
                base: Arc::clone(&base),
                here: false,
                held: String::new(),
                length: 0,
            })
        });
        plan.rewrite(
            Layer::Text(TextLayer { editor, protocol: None, fields: None, restores: true }),
            UnscannedPolicy::Pass,
        );
        Ok(())
    }
}

/// Rewrites URLs that are all of a string.
struct UrlEditor {
    urls: AnswerUrls,
    base: Arc<Base>,
    here: bool,
    held: String,
    /// How much of a string has come.
    length: usize,
}

impl Editor for UrlEditor {
    fn under(&mut self, path: Option<&Path<'_>>) {
        self.here = path.is_some_and(|path| self.urls.may_be_at(path));
    }

    fn feed(&mut self, piece: &str, _: &mut Vec<Edit>) -> Result<usize, StreamError> {
        self.length += piece.len();
        self.here &= self.length <= LONGEST;
        if self.here {
            self.held.push_str(piece);
            return Ok(0);
        }
        Ok(self.length)
    }

    fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        let held = std::mem::take(&mut self.held);
        self.length = 0;
        if std::mem::take(&mut self.here)
            && let Some(with) = self.urls.moved(&self.base, &held)
        {
            edits.push(Edit { range: 0..held.len(), with });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A route that strips its prefix, or puts another in its place.
    fn base(root: &str, prefix: &str, put: &str) -> Base {
        let strip = prefix.matches('/').count();
        Base {
            root: root.to_owned(),
            prefix: prefix.to_owned(),
            rewrite: PathRewrite { strip, put: put.into() },
        }
    }

    #[test]
    fn absolute_urls_lead_to_the_base() {
        let rows = [
            (
                "https://api.anthropic.com/v1/messages/batches/b/results",
                Some("/v1/messages/batches/b/results"),
            ),
            (
                "https://a.googleapis.com:443/upload/v1beta/files?upload_id=a%2Fb&x=y",
                Some("/upload/v1beta/files?upload_id=a%2Fb&x=y"),
            ),
            ("HTTPS://a.example", Some("/")),
            ("http://*********:9090/x", Some("/x")),
            ("http://a?x=/y", Some("/?x=/y")),
            ("http:///x", None),
            ("/v1/messages", None),
            ("ftp://a.example/x", None),
            ("data:text/plain,a", None),
            ("no url", None),
            ("", None),
        ];
        for (url, rest) in rows {
            let want = rest.map(|rest| format!("http://gateway:8080/llm{rest}"));
            assert_eq!(ours(&base("http://gateway:8080", "/llm", ""), url), want, "{url}");
        }
        let replaced = base("https://g/portal", "/v1", "/v2");
        for (url, want) in [
            ("https://a.example/v2/files/f?v2=/v2/x", "https://g/portal/v1/files/f?v2=/v2/x"),
            ("https://a.example/v2", "https://g/portal/v1"),
            ("https://a.example/v2beta/x", "https://g/portal/v2beta/x"),
            ("https://a.example", "https://g/portal/"),
        ] {
            assert_eq!(ours(&replaced, url).as_deref(), Some(want), "{url}");
        }
    }

    #[test]
    fn what_leads_to_the_upstream_leads_to_the_base() {
        let strips = base("https://g:1", "/llm", "");
        let plain = base("https://g:1", "", "");
        let puts = base("https://g:1/portal", "/v1", "/v2");
        let rows = [
            (&strips, "http://up/v1/x?a", "/v1/x?a", Some("https://g:1/llm/v1/x?a")),
            (&strips, "//up", "", Some("https://g:1/llm/")),
            (&strips, "/v1/x", "/v1/x", Some("/llm/v1/x")),
            (&strips, "/base/v1/x", "/v1/x", Some("/llm/v1/x")),
            (&plain, "/v1/x", "/v1/x", None),
            (&plain, "/base/v1/x", "/v1/x", Some("/v1/x")),
            (&puts, "http://up/v2/x?a", "/v2/x?a", Some("https://g:1/portal/v1/x?a")),
            (&puts, "/v2/x", "/v2/x", Some("/portal/v1/x")),
            (&puts, "/login", "/login", Some("/portal/login")),
        ];
        for (base, url, asked, want) in rows {
            assert_eq!(located(base, url, asked).as_deref(), want, "{} {url}", base.root);
        }
    }

    #[test]
    fn only_the_member_changes() {
        let mut editor = UrlEditor {
            urls: AnswerUrls::Named("results_url"),
            base: Arc::new(base("http://g", "", "")),
            here: false,
            held: String::new(),
            length: 0,
        };
        let mut edits = Vec::new();
        assert_eq!(editor.feed("https://a.example/x", &mut edits), Ok(19));
        editor.end(&mut edits).unwrap();
        assert!(edits.is_empty());
        editor.here = true;
        for piece in ["https://a.ex", "ample/x"] {
            assert_eq!(editor.feed(piece, &mut edits), Ok(0));
        }
        editor.end(&mut edits).unwrap();
        assert_eq!(edits, [Edit { range: 0..19, with: "http://g/x".to_owned() }]);
        // The next string is another one.
        edits.clear();
        assert_eq!(editor.feed("https://a.example/x", &mut edits), Ok(19));
    }
}
