//! [`Console`]: from a request to its section, and the answer to it with what tells a browser to load nothing from elsewhere.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, LOCATION, REFERRER_POLICY, SET_COOKIE,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use maud::{Markup, html};

use crate::api::changes::ChangeLog;
use crate::api::scope::ConsoleRole;
use crate::api::token::Tokens;
use crate::api::{ApiAnswer, ApiCall, BufferedBody, Caller, CpuPool, Handler};
use crate::base::clock::SharedClock;
use crate::base::rate::{Buckets, Rate};
use crate::base::secret::Secret;
use crate::console::access::{Hosts, is_from_us};
use crate::console::compressed::compressed;
use crate::console::configuration::ConfigurationPages;
use crate::console::docs::Docs;
use crate::console::form::{Form, TooManyFields};
use crate::console::layout::{self, SectionLink};
use crate::console::live::{History, LivePages};
use crate::console::playground::{Cleaner, Playground, PlaygroundParts, RouteRedactors};
use crate::console::routes::RoutePages;
use crate::console::rules::RulePages;
use crate::console::running::RunningConfig;
use crate::console::session::{Sessions, SignInError, Visitor};
use crate::console::tokens::{TokenPages, TokenPagesParts};
use crate::console::usage::UsagePages;
use crate::console::visit::{PageContext, PageReply, PageRequest, Section, Visit};
use crate::console::{assets, sign_in};
use crate::store::Records;
use crate::telemetry::RecentRequests;
use crate::usage::Ledger;
use crate::vault::items::Items;

/// What pages may do: use what is on this listener, and nothing else. No script and no style stands in a page itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// How often one address may try a token that is not good.
const TRIES: Rate = Rate { times: 10, per: Duration::from_secs(60) };

/// The largest form for signing in and out, in bytes.
const SMALL: usize = 4 << 10;

/// What a script sends along, so that it counts as one of ours.
const CSRF: HeaderName = HeaderName::from_static("x-csrf-token");

/// What the console is made from.
pub struct ConsoleParts {
    /// The names it may be asked under.
    pub hosts: Hosts,
    /// The port of its listener.
    pub port: u16,
    /// Whether it is reached by TLS alone.
    pub secure: bool,
    /// Callers' tokens.
    pub tokens: Arc<Tokens>,
    /// Where changes are written down.
    pub changes: ChangeLog,
    /// What was spent.
    pub ledger: Arc<Ledger>,
    /// Where sums of it are.
    pub records: Arc<dyn Records>,
    /// The configuration that runs.
    pub running: Arc<RunningConfig>,
    /// Callers' keys.
    pub items: Items,
    /// Places for long work.
    pub cpu: CpuPool,
    /// What was counted within the last hour.
    pub history: Arc<History>,
    /// The last requests.
    pub recent: Arc<RecentRequests>,
    /// Cleans files.
    pub cleaner: Arc<dyn Cleaner>,
    /// Redactors of the configuration's routes.
    pub route_redactors: RouteRedactors,
    /// Reads time.
    pub clock: SharedClock,
}

/// The console.
pub struct Console {
    hosts: Hosts,
    sessions: Sessions,
    tries: Buckets<Caller>,
    changes: ChangeLog,
    clock: SharedClock,
    sections: Vec<Box<dyn Section>>,
}

impl Console {
    /// Made from these.
    pub fn new(parts: ConsoleParts) -> Self {
        let ConsoleParts { hosts, port, secure, tokens, changes, ledger, records, .. } = parts;
        let ConsoleParts { running, items, cpu, cleaner, route_redactors, history, recent, clock, .. } =
            parts;
        let live = LivePages { history, recent, running: Arc::clone(&running) };
        let playground = Playground::new(PlaygroundParts {
            running: Arc::clone(&running),
            cpu: cpu.clone(),
            cleaner,
            route_redactors,
        });
        let configuration =
            ConfigurationPages { running: Arc::clone(&running), items, cpu, clock: Arc::clone(&clock) };
        let rules = RulePages { running: Arc::clone(&running) };
        let routes = RoutePages { running: Arc::clone(&running) };
        let docs = Docs { running: Arc::clone(&running) };
        let usage = UsagePages {
            tokens: Arc::clone(&tokens),
            ledger: Arc::clone(&ledger),
            records: Arc::clone(&records),
            running: Arc::clone(&running),
            clock: Arc::clone(&clock),
        };
        let token_pages = TokenPages::new(TokenPagesParts {
            tokens: Arc::clone(&tokens),
            changes: changes.clone(),
            ledger,
            records,
            running,
            clock: Arc::clone(&clock),
        });
        let sections: Vec<Box<dyn Section>> = vec![
            Box::new(live),
            Box::new(routes),
            Box::new(playground),
            Box::new(rules),
            Box::new(configuration),
            Box::new(token_pages),
            Box::new(usage),
            Box::new(docs),
        ];
        let sessions = Sessions::new(tokens, Arc::clone(&clock), port, secure);
        Self { hosts, sessions, tries: Buckets::default(), changes, clock, sections }
    }

    async fn answer(&self, call: &mut ApiCall<'_>) -> ApiAnswer {
        let (head, path) = (call.head, call.head.uri.path().to_owned());
        if !self.hosts.know(head) {
            return text(
                StatusCode::MISDIRECTED_REQUEST,
                "This console is not known under that name: see `admin.hosts`.\n",
            );
        }
        let asked = match head.method {
            Method::GET | Method::HEAD => PageRequest::Show,
            Method::POST => PageRequest::Do,
            _ => return text(StatusCode::METHOD_NOT_ALLOWED, "GET and POST are all there is here.\n"),
        };
        if asked == PageRequest::Show
            && let Some(asset) = assets::answer(&path)
        {
            return asset;
        }
        if asked == PageRequest::Do && !is_from_us(head) {
            return text(StatusCode::FORBIDDEN, "Only pages of this console may ask for that.\n");
        }
        if path == "/sign-in" && asked == PageRequest::Do {
            return self.sign_in(call).await;
        }
        match self.sessions.of(&head.headers).await {
            Ok(Some(visitor)) if path == "/sign-out" && asked == PageRequest::Do => {
                self.sign_out(call, &visitor).await
            }
            Ok(Some(_)) if path == "/sign-in" => see("/"),
            Ok(Some(visitor)) => self.visit(call, &path, asked, &visitor).await,
            // A script asks again once there is a session; a page shows where that is begun.
            Ok(None) if head.headers.contains_key(CSRF) || path.ends_with(".json") => {
                ApiAnswer::json(StatusCode::UNAUTHORIZED, r#"{"error":"Sign in first."}"#)
            }
            Ok(None) if asked == PageRequest::Do => {
                let why = "You are not signed in any more. Sign in, and try again.";
                document(StatusCode::UNAUTHORIZED, sign_in::page(&self.wanted(&path), Some(why)))
            }
            Ok(None) => document(StatusCode::OK, sign_in::page(&self.wanted(&path), None)),
            Err(error) => {
                tracing::error!(target: "portcullis::console", "a session's token cannot be looked up: {error}");
                text(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "Tokens cannot be looked up now. Try again in a moment.\n",
                )
            }
        }
    }

    /// The path of a section, if `path` is in one; else that of the first.
    fn wanted(&self, path: &str) -> String {
        let known = self.section(path).is_some()
            && path.chars().all(|c| c.is_ascii_alphanumeric() || "/-_.".contains(c));
        if known { path.to_owned() } else { "/".to_owned() }
    }

    /// The section that a path leads to, and what stands behind its own path. The first one is also at the root.
    fn section<'p>(&self, path: &'p str) -> Option<(&dyn Section, &'p str)> {
        if path == "/" {
            return self.sections.first().map(|section| (section.as_ref(), ""));
        }
        self.sections.iter().find_map(|section| {
            let rest = path.strip_prefix(section.path())?;
            let rest = if rest.is_empty() { rest } else { rest.strip_prefix('/')? };
            Some((section.as_ref(), rest))
        })
    }

    async fn sign_in(&self, call: &mut ApiCall<'_>) -> ApiAnswer {
        let Ok(body) = BufferedBody::read(call.body, SMALL, call.budget).await else {
            return too_large(SMALL);
        };
        let read = Form::read(&body.bytes);
        body.wipe();
        let Ok(form) = read else { return too_many() };
        let next = self.wanted(form.text(sign_in::NEXT));
        let refused = |status, why: &str| document(status, sign_in::page(&next, Some(why)));
        let now = self.clock.instant();
        if self.tries.take(call.caller.clone(), TRIES, now).is_err() {
            return refused(StatusCode::TOO_MANY_REQUESTS, "Too many tokens were tried. Wait a minute.");
        }
        match self.admit(form.secret("token")).await {
            Ok(cookie) => {
                self.tries.give_back(&call.caller, TRIES);
                with_cookie(see(&next), &cookie)
            }
            Err(error @ SignInError::Scope) => {
                let how = "Make one that does: portcullis tokens create -c portcullis.toml --name me --service admin";
                refused(StatusCode::FORBIDDEN, &format!("{error} {how}"))
            }
            Err(error @ SignInError::Token) => refused(StatusCode::FORBIDDEN, &error.to_string()),
            Err(error) => refused(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
        }
    }

    /// Begins a session with a token, once that is in the audit log; what the browser is to keep.
    async fn admit(&self, token: Secret<String>) -> Result<String, SignInError> {
        let admitted = self.sessions.prove(token).await?;
        self.changes.ready().map_err(|_| SignInError::Audit)?;
        let noted = self.changes.note(admitted.who(), "console.sign_in", None);
        noted.and_then(|()| self.changes.written()).map_err(|_| SignInError::Audit)?;
        self.sessions.begin(admitted)
    }

    async fn sign_out(&self, call: &mut ApiCall<'_>, visitor: &Visitor) -> ApiAnswer {
        let Ok(body) = BufferedBody::read(call.body, SMALL, call.budget).await else {
            return too_large(SMALL);
        };
        match carries(call, &body.bytes, visitor) {
            Ok(true) => {}
            Ok(false) => return stale(),
            Err(TooManyFields) => return too_many(),
        }
        // Whether or not it can be written down, the session ends.
        let cookie = self.sessions.end(&call.head.headers);
        match self.changes.note(&visitor.who, "console.sign_out", None) {
            Ok(()) => with_cookie(see("/"), &cookie),
            Err(_) => with_cookie(
                text(StatusCode::SERVICE_UNAVAILABLE, "The audit log cannot be written.\n"),
                &cookie,
            ),
        }
    }

    async fn visit(
        &self,
        call: &mut ApiCall<'_>,
        path: &str,
        asked: PageRequest,
        visitor: &Visitor,
    ) -> ApiAnswer {
        let Some((section, rest)) = self.section(path) else {
            return self.reply(PageReply::NotFound, "", visitor);
        };
        let limit = section.limit();
        let Ok(body) = BufferedBody::read(call.body, limit, call.budget).await else {
            return too_large(limit);
        };
        if asked == PageRequest::Do {
            match carries(call, &body.bytes, visitor) {
                Ok(true) => {}
                Ok(false) => return stale(),
                Err(TooManyFields) => return too_many(),
            }
            if visitor.role == ConsoleRole::Viewer && !section.only_looks(rest) {
                return self.reply(PageReply::Forbidden, section.path(), visitor);
            }
        }
        let Ok(query) = Form::read(call.head.uri.query().unwrap_or_default().as_bytes()) else {
            return too_many();
        };
        let (body, caller) = (body.bytes.clone(), visitor.who.caller());
        let visit = Visit { asked, rest, query, body, visitor, caller };
        let reply = section.call(visit).await;
        // A page may not be: it has what guards its forms beside what its address says, and its size would tell of both.
        let may_shrink = matches!(reply, PageReply::Json(..));
        let answer = self.reply(reply, section.path(), visitor);
        if may_shrink { compressed(answer, call) } else { answer }
    }

    fn reply(&self, reply: PageReply, here: &str, visitor: &Visitor) -> ApiAnswer {
        let framed = |status, page: &PageContext| {
            let links: Vec<SectionLink> = self
                .sections
                .iter()
                .map(|section| SectionLink { path: section.path(), name: section.name() })
                .collect();
            document(status, layout::framed(page, &links, here, visitor))
        };
        let wrong = |title: &str, why: &str| {
            PageContext::plain(title, html! { header { h1 { (title) } p { (why) } } })
        };
        match reply {
            PageReply::Page(page) => framed(StatusCode::OK, &page),
            PageReply::Wrong(status, page) => framed(status, &page),
            PageReply::Json(status, json) => ApiAnswer::json(status, json),
            PageReply::See(path) => see(&path),
            PageReply::NotFound => {
                framed(StatusCode::NOT_FOUND, &wrong("Not found", "There is no such page in the console."))
            }
            PageReply::Forbidden => {
                let why = "This token may look and not change anything. One with --service admin may.";
                framed(StatusCode::FORBIDDEN, &wrong("Not allowed", why))
            }
            PageReply::File { media_type, name, bytes } => {
                let mut answer = ApiAnswer::new(StatusCode::OK, media_type, bytes);
                let kept = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""));
                answer
                    .headers
                    .insert(CONTENT_DISPOSITION, kept.unwrap_or(HeaderValue::from_static("attachment")));
                answer
            }
        }
    }
}

impl Handler for Console {
    fn call<'a>(&'a self, mut call: ApiCall<'a>) -> BoxFuture<'a, ApiAnswer> {
        Box::pin(async move {
            let mut answer = self.answer(&mut call).await;
            let headers = &mut answer.headers;
            for (name, value) in [
                (CONTENT_SECURITY_POLICY, POLICY),
                (X_CONTENT_TYPE_OPTIONS, "nosniff"),
                (X_FRAME_OPTIONS, "DENY"),
                // With "no-referrer", browsers would send `Origin: null` with our own forms.
                (REFERRER_POLICY, "same-origin"),
                (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
                (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
            ] {
                headers.insert(name, HeaderValue::from_static(value));
            }
            headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
            answer
        })
    }
}

/// Whether what is asked comes from a page of this session.
fn carries(call: &ApiCall<'_>, body: &[u8], visitor: &Visitor) -> Result<bool, TooManyFields> {
    Ok(match call.head.headers.get(CSRF) {
        Some(said) => said.to_str().is_ok_and(|said| Secret::new(said.to_owned()) == visitor.csrf),
        None => Form::read(body)?.secret("csrf") == visitor.csrf,
    })
}

fn text(status: StatusCode, text: &'static str) -> ApiAnswer {
    ApiAnswer::new(status, "text/plain; charset=utf-8", text)
}

fn stale() -> ApiAnswer {
    text(StatusCode::FORBIDDEN, "This page is from another session. Go back, load it anew, and try again.\n")
}

fn too_many() -> ApiAnswer {
    let said = format!("{TooManyFields}\n");
    ApiAnswer::new(StatusCode::PAYLOAD_TOO_LARGE, "text/plain; charset=utf-8", said)
}

fn too_large(limit: usize) -> ApiAnswer {
    let said = format!("What was sent did not arrive whole, or is larger than {limit} bytes.\n");
    ApiAnswer::new(StatusCode::PAYLOAD_TOO_LARGE, "text/plain; charset=utf-8", said)
}

fn document(status: StatusCode, page: Markup) -> ApiAnswer {
    ApiAnswer::new(status, "text/html; charset=utf-8", page.into_string())
}

fn see(path: &str) -> ApiAnswer {
    let mut answer = ApiAnswer::new(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", "");
    let place = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/"));
    answer.headers.insert(LOCATION, place);
    answer
}

fn with_cookie(mut answer: ApiAnswer, cookie: &str) -> ApiAnswer {
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        answer.headers.insert(SET_COOKIE, cookie);
    }
    answer
}
