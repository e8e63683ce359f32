//! One request's walk: through the filters, to the terminal, and back. [`Exchange`] has the few entry points that
//! Pingora's callbacks, the relay and the native driver call.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderName, TRANSFER_ENCODING};
use http::{HeaderValue, Method, StatusCode, Version};
use pingora::http::{RequestHeader, ResponseHeader};

use crate::api::envelope::Stamp;
use crate::api::token::Principal;
use crate::api::{Answer, ApiError, Caller};
use crate::base::budget::Budget;
use crate::base::clock::{SharedClock, Timestamp};
use crate::base::id::RequestId;
use crate::base::path::RequestPath;
use crate::gateway::body::{Body, Cast};
use crate::gateway::fault::{Fault, Shape};
use crate::gateway::filter::{Document, Flow, Layer};
use crate::gateway::route::Route;
use crate::gateway::terminal::Terminal;
use crate::gateway::told::Told;
use crate::gateway::watched::Watched;
use crate::net::customer;
use crate::redact::{Counts, Undo};
use crate::telemetry::trace::{Kind, Word};
use crate::telemetry::{Direction, Filtered, Scan, Unscanned};
use crate::vault::jwt::Claims;

/// How much of an answer's body may be read before its head is sent, so that it can have an exact length.
pub const WHOLE_ANSWER: usize = 64 << 10;

/// What the chain has learned. Closed on purpose: a handful of filters in one crate need no map of types.
#[derive(Default)]
pub struct Facts {
    /// The caller, once a token was proved.
    pub who: Option<Principal>,
    /// What the caller's signed token says, once it was verified and found good.
    pub claims: Option<Claims>,
    /// Surrogates issued in this request.
    pub undo: Option<Arc<Undo>>,
    /// Values replaced, both ways together.
    pub redacted: Arc<AtomicU64>,
    /// Values restored in the answer.
    pub restored: Arc<AtomicU64>,
    /// What was found, by rule, both ways together.
    pub findings: BTreeMap<String, u64>,
    /// What is counted in bodies that pass, and where it will be added up.
    pub counted: Vec<(Arc<Counts>, Arc<Counts>)>,
}

/// What happens to a body that cannot be scanned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unknown {
    /// It does not pass.
    #[default]
    Refuse,
    /// It passes as it is, and the log says so.
    Pass,
}

/// How a request ended.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The status sent; 0 when the caller was gone before one could be.
    pub status: u16,
    /// Body bytes received.
    pub bytes_in: u64,
    /// Body bytes sent.
    pub bytes_out: u64,
    /// How long it took.
    pub took: Duration,
}

/// One request and its answer.
pub struct Exchange {
    /// Its id.
    pub id: RequestId,
    /// When its head had arrived.
    pub received: Timestamp,
    /// The caller's address.
    pub client: Option<IpAddr>,
    /// What filters have learned.
    pub facts: Facts,
    /// What it may hold.
    pub budget: Budget,
    /// Whether the request's body was looked at, for the log.
    pub request_scan: Scan,
    /// Whether the answer's body was looked at, for the log.
    pub answer_scan: Scan,
    /// What went wrong, for the log.
    pub fault: Option<&'static str>,
    head: RequestHeader,
    path: RequestPath,
    sends_body: bool,
    route: Arc<Route>,
    pace: (usize, Duration),
    clock: SharedClock,
    started: Instant,
    entered: usize,
    collect: Option<usize>,
    up: Vec<Layer>,
    down: Vec<Layer>,
    unknown: Unknown,
    // A context must be Sync for Pingora, a rewriter is not; nobody ever waits for these locks.
    request: Mutex<Option<Body>>,
    answer: Mutex<Option<Body>>,
    streamed: usize,
    last_words_said: bool,
    carried: Option<Fault>,
    told: Told,
    pub(super) watched: Watched,
}

/// What an exchange begins with.
pub struct Begin {
    /// Its id.
    pub id: RequestId,
    /// The caller's address.
    pub client: Option<IpAddr>,
    /// What it may hold.
    pub budget: Budget,
    /// The request's head.
    pub head: RequestHeader,
    /// The path that its target has.
    pub path: RequestPath,
    /// Whether a body comes with it. Only the session knows: an HTTP/2 head need not say.
    pub sends_body: bool,
    /// Its route.
    pub route: Arc<Route>,
    /// How fast its body must come, in bytes a second, and how long it may be slower.
    pub pace: (usize, Duration),
    /// Reads time.
    pub clock: SharedClock,
    /// When it began.
    pub started: Instant,
}

impl Exchange {
    /// Whose turn it is where callers take turns.
    pub fn caller(&self) -> Caller {
        self.facts.who.as_ref().map_or_else(|| self.caller_by_address(), Principal::caller)
    }

    /// The same where tokens do not count.
    pub fn caller_by_address(&self) -> Caller {
        Caller::Address(self.client.map(customer))
    }

    /// Begins a walk along `route`.
    pub fn new(begin: Begin) -> Self {
        let Begin { id, client, budget, head, path, sends_body, route, pace, clock, started } = begin;
        let received = clock.now();
        Self {
            id,
            received,
            client,
            facts: Facts::default(),
            budget,
            request_scan: Scan::NotAsked,
            answer_scan: Scan::NotAsked,
            fault: None,
            head,
            path,
            sends_body,
            route,
            pace,
            clock,
            started,
            entered: 0,
            collect: None,
            up: Vec::new(),
            down: Vec::new(),
            unknown: Unknown::Refuse,
            request: Mutex::new(None),
            answer: Mutex::new(None),
            streamed: 0,
            last_words_said: false,
            carried: None,
            told: Told::default(),
            watched: Watched::default(),
        }
    }

    /// Keeps a fault while Pingora carries an error of its own kind to whoever answers it.
    pub fn carry(&mut self, fault: Fault) {
        self.fault = Some(fault.word());
        self.carried = Some(fault);
    }

    /// Whether a fault is kept.
    pub fn carries(&self) -> bool {
        self.carried.is_some()
    }

    /// The fault that was kept.
    pub fn carried(&mut self) -> Option<Fault> {
        self.carried.take()
    }

    /// The request's head as filters have left it.
    pub fn head(&self) -> &RequestHeader {
        &self.head
    }

    /// The request's head, to be changed.
    pub fn head_mut(&mut self) -> &mut RequestHeader {
        &mut self.head
    }

    /// The path by which its route was found.
    pub fn path(&self) -> &RequestPath {
        &self.path
    }

    /// Whether a body comes with the request.
    pub fn sends_body(&self) -> bool {
        self.sends_body
    }

    /// The route taken.
    pub fn route(&self) -> &Arc<Route> {
        &self.route
    }

    /// How fast the body must come, in bytes a second, and how long it may be slower.
    pub fn pace(&self) -> (usize, Duration) {
        self.pace
    }

    /// Reads time.
    pub fn clock(&self) -> &SharedClock {
        &self.clock
    }

    /// How errors look to this caller.
    pub fn shape(&self) -> Shape {
        self.route.shape(&self.path)
    }

    /// Id and times, for an envelope.
    pub fn stamp(&self) -> Stamp<'_> {
        Stamp { id: &self.id, received: self.received, answered: self.clock.now() }
    }

    /// Asks for the request's body to be read whole, up to `limit` bytes, before it is sent on.
    pub fn collect(&mut self, limit: usize) {
        let limit = self.route.max_body.map_or(limit, |max| max.min(limit));
        self.collect = Some(limit);
    }

    /// How much of the body to collect, if a filter asked.
    pub fn collects(&self) -> Option<usize> {
        self.collect
    }

    /// Installs a layer on the request's body as it passes.
    pub fn rewrite_request(&mut self, layer: Layer) {
        self.up.push(layer);
    }

    /// Installs a layer on the answer's body; `unknown` is what happens if that cannot be scanned.
    pub fn rewrite_answer(&mut self, layer: Layer, unknown: Unknown) {
        self.down.push(layer);
        if unknown == Unknown::Refuse || self.down.len() == 1 {
            self.unknown = unknown;
        }
    }

    /// The walk towards the terminal.
    ///
    /// # Errors
    /// A filter's fault.
    pub async fn request_head(&mut self) -> Result<Flow, Fault> {
        let route = Arc::clone(&self.route);
        for filter in route.filters() {
            self.entered += 1;
            let mut span = self.place().begin("filter", Kind::Internal);
            span.say("portcullis.filter", Word::Known(filter.name()));
            let flow = filter.request(self).await;
            let outcome = match &flow {
                Ok(Flow::Next) => Filtered::Passed,
                Ok(Flow::Answer(_)) => Filtered::Answered,
                Err(_) => Filtered::Refused,
            };
            route.metrics.filtered(filter.name(), outcome);
            if let Flow::Answer(answer) = flow? {
                return Ok(Flow::Answer(answer));
            }
        }
        Ok(Flow::Next)
    }

    /// Ends the walk at the filter in this place, which refuses the request unseen.
    pub fn stopped_at(&mut self, place: usize) {
        for (at, filter) in self.route.filters().iter().enumerate().take(place + 1) {
            let outcome = if at == place { Filtered::Refused } else { Filtered::Passed };
            self.route.metrics.filtered(filter.name(), outcome);
            self.entered = at + 1;
        }
    }

    /// Shows the collected document to every filter, in order.
    ///
    /// # Errors
    /// A filter's fault.
    pub async fn asked(&mut self, document: &mut Document) -> Result<Flow, Fault> {
        let route = Arc::clone(&self.route);
        for filter in route.filters() {
            if let Flow::Answer(answer) = filter.asked(self, document).await? {
                return Ok(Flow::Answer(answer));
            }
        }
        Ok(Flow::Next)
    }

    /// Begins an attempt to send a streamed request: a fresh pipeline, since Pingora replays the body on a retry.
    /// Returns whether the body will change.
    ///
    /// # Errors
    /// A layer that cannot be built for this head.
    pub fn begin_attempt(&mut self) -> Result<bool, Fault> {
        self.streamed = 0;
        if self.up.is_empty() {
            return Ok(false);
        }
        let cast = Cast::of(&self.head.headers).map_err(|_| Fault::BadBody("the body cannot be scanned"))?;
        let built = Body::new(&self.up, &cast, &self.budget).map_err(Fault::of_request)?;
        *inner(&mut self.request) = Some(built);
        Ok(true)
    }

    /// A piece of a streamed request. Leaves `Some(empty)` rather than `None` before the end: Pingora takes `None`
    /// for the end of the body.
    ///
    /// # Errors
    /// A body that is too large, or that a rewriter cannot take.
    pub fn request_chunk(&mut self, chunk: &mut Option<Bytes>, end: bool) -> Result<(), Fault> {
        let size = chunk.as_ref().map_or(0, Bytes::len);
        self.streamed = self.streamed.saturating_add(size);
        if let Some(limit) = self.route.max_body.filter(|&limit| self.streamed > limit) {
            return Err(Fault::Api(ApiError::TooLarge(limit)));
        }
        let Some(body) = inner(&mut self.request) else { return Ok(()) };
        let mut out = BytesMut::with_capacity(size);
        let written = body.write(chunk.as_deref().unwrap_or_default(), end, &mut out);
        if end || written.is_err() {
            self.route.metrics.scanned(Direction::Request, body.scanned());
        }
        written.map_err(Fault::of_request)?;
        *chunk = Some(out.freeze());
        Ok(())
    }

    /// The head of the answer (never a 1xx): every filter that was entered sees it, innermost first; then the
    /// rewriters are built and the head is made to fit them. Returns whether the body will change.
    ///
    /// # Errors
    /// A filter's fault, or a body that the route refuses to pass unseen.
    pub async fn answer_head(&mut self, head: &mut ResponseHeader) -> Result<bool, Fault> {
        let route = Arc::clone(&self.route);
        if let Terminal::Upstream(_) = &route.terminal {
            self.answered(head.status.as_u16());
        }
        for filter in route.filters().iter().take(self.entered).rev() {
            filter.response(self, head).await?;
        }
        if self.down.is_empty() || !has_body(&self.head.method, head.status) {
            return Ok(false);
        }
        match Cast::of(&head.headers) {
            Ok(cast) => {
                let body = Body::new(&self.down, &cast, &self.budget).map_err(Fault::of_answer)?;
                *inner(&mut self.answer) = Some(body);
                self.answer_scan = Scan::Scanned;
                changed(head, self.head.version);
                Ok(true)
            }
            Err(why) if self.unknown == Unknown::Pass => {
                self.answer_scan = Scan::NotScanned(why);
                self.route.metrics.unscanned(Direction::Answer);
                Ok(false)
            }
            Err(Unscanned::ContentCoding) => Err(Fault::Unscannable("its content coding is not known")),
            Err(_) => Err(Fault::Unscannable("its content type has no known text")),
        }
    }

    /// A piece of the answer. After a fault in an event stream the last event says so and the rest is swallowed.
    ///
    /// # Errors
    /// A fault in a body that has no room for words: the connection must look broken.
    pub fn answer_chunk(&mut self, chunk: &mut Option<Bytes>, end: bool) -> Result<(), Fault> {
        let Some(body) = inner(&mut self.answer) else {
            self.told.pass(chunk.as_deref().unwrap_or_default(), end);
            return Ok(());
        };
        if self.last_words_said {
            *chunk = None;
            return Ok(());
        }
        let piece = chunk.as_deref().unwrap_or_default();
        let mut out = BytesMut::with_capacity(piece.len() + 64);
        let written = body.write(piece, end, &mut out);
        if end {
            self.route.metrics.scanned(Direction::Answer, body.scanned());
        } else {
            self.route.metrics.held_back(body.held());
        }
        if let Err(error) = written {
            let fault = Fault::of_answer(error);
            out.extend_from_slice(&self.last_words(&fault)?);
        }
        self.told.pass(&out, end);
        *chunk = (!out.is_empty()).then(|| out.freeze());
        Ok(())
    }

    /// The caller left: no fault, if it was `answered` and has had all of that.
    pub fn left(&mut self, answered: bool) {
        let had_all = answered && self.told.all() && !self.last_words_said;
        self.fault = if had_all { None } else { Some(Fault::Left.word()) };
    }

    /// The answer broke off, or cannot go on: what is still to be said to a caller who reads a stream of events.
    ///
    /// # Errors
    /// The fault itself, when there is no room for words.
    pub fn last_words(&mut self, fault: &Fault) -> Result<Bytes, Fault> {
        self.fault = Some(fault.word());
        let event = fault.event(self.shape());
        let body = inner(&mut self.answer);
        let mut out = BytesMut::new();
        let said = body.as_mut().is_some_and(|body| !self.last_words_said && body.cut(&event, &mut out));
        self.last_words_said = true;
        if said { Ok(out.freeze()) } else { Err(Fault::Gone) }
    }

    /// Whether a failure in mid-answer has been told to the caller, so that nothing more may follow.
    pub fn silenced(&self) -> bool {
        self.last_words_said
    }

    /// Turns a fault into the answer for this caller.
    pub fn rescue(&mut self, fault: Fault) -> Answer {
        self.fault = Some(fault.word());
        let shape = self.shape();
        fault.answer(shape, &self.stamp())
    }

    /// The end, whatever it was.
    pub async fn done(&mut self, mut outcome: Outcome) {
        outcome.took = self.clock.instant().duration_since(self.started);
        let route = Arc::clone(&self.route);
        for filter in route.filters().iter().take(self.entered.max(1)).rev() {
            filter.done(self, &outcome).await;
        }
        self.unwatch(outcome.status);
    }
}

fn inner<T>(lock: &mut Mutex<T>) -> &mut T {
    lock.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// Whether an answer to this has a body (RFC 9110 section 6.4.1).
pub fn has_body(method: &Method, status: StatusCode) -> bool {
    *method != Method::HEAD
        && !status.is_informational()
        && status != StatusCode::NO_CONTENT
        && status != StatusCode::NOT_MODIFIED
}

/// Headers that describe the bytes of a body, and are wrong for a rewritten one.
fn changed(head: &mut ResponseHeader, version: Version) {
    const DIGESTS: [&str; 4] = ["content-md5", "digest", "content-digest", "repr-digest"];
    let standard: [HeaderName; 4] = [CONTENT_LENGTH, ETAG, ACCEPT_RANGES, CONTENT_RANGE];
    for name in &standard {
        head.remove_header(name);
    }
    for name in DIGESTS {
        head.remove_header(name);
    }
    if version == Version::HTTP_11 {
        drop(head.insert_header(TRANSFER_ENCODING, HeaderValue::from_static("chunked")));
    }
}
