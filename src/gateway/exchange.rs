//! One request's walk: through the filters, to the terminal, and back. [`Exchange`] has the few entry points that
//! Pingora's callbacks, the relay and the native driver call.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use http::{Method, StatusCode};
use pingora::http::{RequestHeader, ResponseHeader};

use crate::api::envelope::Stamp;
use crate::api::token::Principal;
use crate::api::{Answer, Caller};
use crate::base::budget::Budget;
use crate::base::clock::{SharedClock, Timestamp};
use crate::base::id::RequestId;
use crate::base::path::RequestPath;
use crate::gateway::body::{Body, BodyFormat, Task, changed};
use crate::gateway::error::{ErrorShape, GatewayError};
use crate::gateway::filter::{Document, Flow, Layer};
use crate::gateway::route::Route;
use crate::gateway::terminal::Terminal;
use crate::gateway::told::Told;
use crate::gateway::watched::Watched;
use crate::net::customer;
use crate::redact::{Counts, Scope, Undo};
use crate::telemetry::trace::{Kind, Word};
use crate::telemetry::{Direction, Filtered, Scan, Unscanned};
use crate::vault::jwt::Claims;

mod request;

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
    /// What surrogates of this request and its answer are the same within, on routes that encrypt.
    pub scope: Option<Scope>,
    /// Values replaced, both ways together.
    pub redacted: Arc<AtomicU64>,
    /// Values restored in the answer.
    pub restored: Arc<AtomicU64>,
    /// Strings of the request that nobody read, since they hold bytes.
    pub request_unscanned: Arc<AtomicU64>,
    /// The same of the answer.
    pub answer_unscanned: Arc<AtomicU64>,
    /// What was found, by rule, both ways together.
    pub findings: BTreeMap<String, u64>,
    /// What is counted in bodies that pass, and where it will be added up.
    pub counted: Vec<(Arc<Counts>, Arc<Counts>)>,
}

/// What happens to a body that cannot be scanned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnscannedPolicy {
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
    unknown_request: UnscannedPolicy,
    unknown: UnscannedPolicy,
    /// Whether the body must show what it is before it is sent on; and its beginning, once that was read.
    unsure: bool,
    began: Bytes,
    // A context must be Sync for Pingora, a rewriter is not; nobody ever waits for these locks.
    request: Mutex<Option<Body>>,
    answer: Mutex<Option<Body>>,
    streamed: usize,
    last_words_said: bool,
    carried: Option<GatewayError>,
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
            unknown_request: UnscannedPolicy::Refuse,
            unknown: UnscannedPolicy::Refuse,
            unsure: false,
            began: Bytes::new(),
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
    pub fn carry(&mut self, fault: GatewayError) {
        self.fault = Some(fault.word());
        self.carried = Some(fault);
    }

    /// Whether a fault is kept.
    pub fn carries(&self) -> bool {
        self.carried.is_some()
    }

    /// The fault that was kept.
    pub fn carried(&mut self) -> Option<GatewayError> {
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
    pub fn shape(&self) -> ErrorShape {
        self.route.shape(&self.path)
    }

    /// Id and times, for an envelope.
    pub fn stamp(&self) -> Stamp<'_> {
        Stamp { id: &self.id, received: self.received, answered: self.clock.now() }
    }

    /// Installs a layer on the answer's body; `unknown` is what happens if that cannot be scanned.
    pub fn rewrite_answer(&mut self, layer: Layer, unknown: UnscannedPolicy) {
        self.down.push(layer);
        if unknown == UnscannedPolicy::Refuse || self.down.len() == 1 {
            self.unknown = unknown;
        }
    }

    /// The walk towards the terminal.
    ///
    /// # Errors
    /// A filter's fault.
    pub async fn request_head(&mut self) -> Result<Flow, GatewayError> {
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
    pub async fn collected(&mut self, document: &mut Document) -> Result<Flow, GatewayError> {
        let route = Arc::clone(&self.route);
        for filter in route.filters() {
            if let Flow::Answer(answer) = filter.collected(self, document).await? {
                return Ok(Flow::Answer(answer));
            }
        }
        Ok(Flow::Next)
    }

    /// The head of the answer (never a 1xx): every filter that was entered sees it, innermost first; then the
    /// rewriters are built and the head is made to fit them. Returns whether the body will change.
    ///
    /// # Errors
    /// A filter's fault, or a body that the route refuses to pass unseen.
    pub async fn answer_head(&mut self, head: &mut ResponseHeader) -> Result<bool, GatewayError> {
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
        let known = |layer: &Layer| matches!(layer, Layer::Text(text) if text.protocol.is_some());
        let format = BodyFormat::of(&head.headers, self.down.iter().any(known));
        match format
            .and_then(|format| format.may_show(self.unknown).then_some(format).ok_or(Unscanned::ContentType))
        {
            Ok(format) => {
                let (unknown, direction) = (self.unknown, Direction::Answer);
                let task =
                    Task { layers: &self.down, format: &format, direction, unknown, budget: &self.budget };
                let body = Body::new(&task).map_err(GatewayError::of_answer)?;
                *inner(&mut self.answer) = Some(body);
                self.answer_scan = Scan::Scanned;
                changed(head, self.head.version);
                Ok(true)
            }
            Err(why) if self.unknown == UnscannedPolicy::Pass => {
                self.unseen(Direction::Answer, why);
                Ok(false)
            }
            Err(Unscanned::ContentCoding) => {
                Err(GatewayError::Unscannable("its content coding is not known"))
            }
            Err(_) => Err(GatewayError::UNKNOWN_ANSWER),
        }
    }

    /// A piece of the answer. After a fault in an event stream the last event says so and the rest is swallowed.
    ///
    /// # Errors
    /// A fault in a body that has no room for words: the connection must look broken.
    pub fn answer_chunk(&mut self, chunk: &mut Option<Bytes>, end: bool) -> Result<(), GatewayError> {
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
        if body.is_unknown() && self.answer_scan == Scan::Scanned {
            self.unseen(Direction::Answer, Unscanned::ContentType);
        }
        if let Err(error) = written {
            let fault = GatewayError::of_answer(error);
            out.extend_from_slice(&self.last_words(&fault)?);
        }
        self.told.pass(&out, end);
        *chunk = (!out.is_empty()).then(|| out.freeze());
        Ok(())
    }

    /// The caller left: no fault, if it was `answered` and has had all of that.
    pub fn left(&mut self, answered: bool) {
        let had_all = answered && self.told.all() && !self.last_words_said;
        self.fault = if had_all { None } else { Some(GatewayError::Left.word()) };
    }

    /// The answer broke off, or cannot go on: what is still to be said to a caller who reads a stream of events.
    ///
    /// # Errors
    /// The fault itself, when there is no room for words.
    pub fn last_words(&mut self, fault: &GatewayError) -> Result<Bytes, GatewayError> {
        self.fault = Some(fault.word());
        let event = fault.event(self.shape());
        let body = inner(&mut self.answer);
        let mut out = BytesMut::new();
        let declared = body.as_mut().is_some_and(|body| !self.last_words_said && body.cut(&event, &mut out));
        self.last_words_said = true;
        if declared { Ok(out.freeze()) } else { Err(GatewayError::Gone) }
    }

    /// Whether a failure in mid-answer has been told to the caller, so that nothing more may follow.
    pub fn silenced(&self) -> bool {
        self.last_words_said
    }

    /// Turns a fault into the answer for this caller.
    pub fn rescue(&mut self, fault: GatewayError) -> Answer {
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
