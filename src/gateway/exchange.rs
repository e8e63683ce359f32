//! [`Exchange`]: what is true of one request and its answer in every state. What exists only for a while belongs to the
//! state in which it does, see `state`.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode};
use pingora::http::RequestHeader;

use crate::api::envelope::Stamp;
use crate::api::token::Principal;
use crate::api::{ApiAnswer, Caller};
use crate::base::address::customer;
use crate::base::budget::MemoryBudget;
use crate::base::clock::{SharedClock, Timestamp};
use crate::base::id::RequestId;
use crate::base::path::RequestPath;
use crate::crypto::hash::sha256;
use crate::gateway::client_certificate::ClientCertificate;
use crate::gateway::delivery::Delivery;
use crate::gateway::error::{ErrorShape, ErrorTarget, GatewayError};
use crate::gateway::error_shape::call_id;
use crate::gateway::llm::{AnswerUsage, ModelRequest, Protocol, ProtocolChoice};
use crate::gateway::memory::RequestMemory;
use crate::gateway::min_rate::ByteRate;
use crate::gateway::model_alias::ModelPlan;
use crate::gateway::origin;
use crate::gateway::preflight::is_preflight;
use crate::gateway::request_trace::RequestTrace;
use crate::gateway::route_info::RouteInfo;
use crate::gateway::session_proof::SessionProof;
use crate::gateway::terminal::Terminal;
use crate::gateway::upstream::Upstream;
use crate::redact::{CallerDigest, RedactionCounts, RequestWords, SurrogateMap, SurrogateScope};
use crate::stream::codec::Coding;
use crate::telemetry::{BodyScan, Direction, Unscanned};
use crate::usage::{Cost, Reservation, TokenUsage};
use crate::vault::jwt::Claims;

/// What the filters have learned. Closed on purpose: a handful of filters in one crate need no map of types.
#[derive(Default)]
pub struct ExchangeFacts {
    /// The caller, once a token was proved.
    pub principal: Option<Principal>,
    /// What its caller has shown and a session is to prove again; of WebSockets only.
    pub proofs: Vec<Box<dyn SessionProof>>,
    /// The body as it came, where a filter had to see it before all others.
    pub read: Option<Bytes>,
    /// What the caller's signed token says, once it was verified and found good.
    pub claims: Option<Claims>,
    /// The caller's certificate, once its route asked for one.
    pub certificate: Option<Arc<ClientCertificate>>,
    /// The content coding that its answer may be put into, by what it came with.
    pub coding: Option<Coding>,
    /// The id that the caller gave its call, as JSON; of JSON-RPC only.
    pub call: Option<String>,
    /// What is remembered of the caller and the conversation, on routes that remember.
    pub memory: Option<Box<RequestMemory>>,
    /// Surrogates issued in this request, and in those before it that it goes on with.
    pub undo: Option<Arc<SurrogateMap>>,
    /// For whom it is known what was found in texts before.
    pub sender: Option<CallerDigest>,
    /// What surrogates of this request and its answer are the same within, on routes that encrypt.
    pub scope: Option<SurrogateScope>,
    /// Where messages go, as the answer's `endpoint` event says it; of streams of MCP only.
    pub endpoint: Option<Arc<OnceLock<String>>>,
    /// Values replaced, both ways together.
    pub redacted: Arc<AtomicU64>,
    /// Values restored in the answer.
    pub restored: Arc<AtomicU64>,
    /// What went to the upstream as the request said it, which an answer may repeat; on routes that mask what models come up with.
    pub said: Option<RequestWords>,
    /// Surrogates that stay, since they stand in URLs.
    pub kept_in_urls: Arc<AtomicU64>,
    /// Strings of the request that were not read, since they hold bytes.
    pub request_unscanned: Arc<AtomicU64>,
    /// The same of the answer.
    pub answer_unscanned: Arc<AtomicU64>,
    /// What was found, by rule, both ways together.
    pub findings: BTreeMap<String, u64>,
    /// What it asks a model for, and what that may cost, where usage is counted.
    pub metering: Option<Box<Metering>>,
    /// Which models answer it, where it asked for a name of ours.
    pub models: Option<Box<ModelPlan>>,
    /// The tokens of its answer, as far as it has come.
    pub taken: Option<AnswerUsage>,
    /// What it has used in the end.
    pub used: Option<RequestUse>,
    /// What is counted in bodies that pass, and where it will be added up.
    pub counted: Vec<(Arc<RedactionCounts>, Arc<RedactionCounts>)>,
}

/// A request whose usage is counted.
#[derive(Default)]
pub struct Metering {
    /// What it asks for.
    pub asked: ModelRequest,
    /// What it may spend, while it is under way.
    pub reservation: Option<Reservation>,
    /// The tokens that it may take at the most, about.
    pub most: TokenUsage,
    /// Whether its answer is read for what it took.
    pub reads: bool,
    /// Whether we asked for a report at the end of the stream, which the caller did not.
    pub asked_for_report: bool,
}

impl Metering {
    /// The tokens that it may take at the most, if it is answered once.
    pub fn one_answer(&self) -> TokenUsage {
        TokenUsage { output: self.most.output / self.asked.answers.unwrap_or(1).max(1), ..self.most }
    }
}

/// What a request has used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestUse {
    /// The name of the model that answered, as it was asked for.
    pub model: Option<String>,
    /// Tokens.
    pub tokens: TokenUsage,
    /// Whether nobody reported them, so that they are estimated.
    pub estimated: bool,
    /// What they cost, where the price is known.
    pub cost: Option<Cost>,
}

/// How a request ended.
#[derive(Debug, Default)]
pub struct RequestOutcome {
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
    /// The certificate that its connection has proved; it says who calls only where a filter takes it for that.
    pub connection_certificate: Option<Arc<ClientCertificate>>,
    /// What filters have learned.
    pub facts: ExchangeFacts,
    /// What it may hold.
    pub budget: MemoryBudget,
    /// Whether the request's body was looked at, for the log.
    pub request_scan: BodyScan,
    /// Whether the answer's body was looked at, for the log.
    pub answer_scan: BodyScan,
    /// What went wrong, for the log: a word of [`GatewayError::word`].
    pub error_word: Option<&'static str>,
    /// Its spans.
    pub trace: RequestTrace,
    /// How long it took to the first byte of the answer's body.
    pub(in crate::gateway) first_byte: Option<Duration>,
    /// How much of the answer the caller has had.
    pub(in crate::gateway) delivery: Delivery,
    /// Whether it asks for WebSocket.
    pub(in crate::gateway) websocket: bool,
    /// Whether it came over TLS, as far as the connection here knows.
    pub(in crate::gateway) tls: bool,
    /// Whether its head was a preflight as it came.
    preflight: bool,
    head: RequestHeader,
    /// The origin that its head named as it came.
    origin: Option<HeaderValue>,
    path: RequestPath,
    /// The path that the upstream is asked for, where that begins with another prefix.
    replaced: Option<RequestPath>,
    sends_body: bool,
    route: Arc<RouteInfo>,
    /// What is spoken at its path on its route, once somebody has asked.
    protocol: OnceLock<Option<&'static Protocol>>,
    spoken: ProtocolChoice,
    body_rate: ByteRate,
    clock: SharedClock,
    started: Instant,
}

/// What an exchange is made from.
pub struct ExchangeParts {
    /// Its id.
    pub id: RequestId,
    /// The caller's address.
    pub client: Option<IpAddr>,
    /// The certificate that its connection has proved.
    pub certificate: Option<Arc<ClientCertificate>>,
    /// What it may hold.
    pub budget: MemoryBudget,
    /// The request's head.
    pub head: RequestHeader,
    /// The path by which its route was found.
    pub path: RequestPath,
    /// The path that the upstream is asked for, where the route puts another prefix in front of it.
    pub replaced: Option<RequestPath>,
    /// Whether a body comes with it. Only the session knows: an HTTP/2 head need not say.
    pub sends_body: bool,
    /// Its route.
    pub route: Arc<RouteInfo>,
    /// What is spoken where it goes, or would if its route took it: errors look so.
    pub spoken: ProtocolChoice,
    /// How fast its body must come.
    pub body_rate: ByteRate,
    /// Its spans.
    pub trace: RequestTrace,
    /// Reads time.
    pub clock: SharedClock,
    /// When it began.
    pub started: Instant,
}

impl From<ExchangeParts> for Exchange {
    fn from(parts: ExchangeParts) -> Self {
        let ExchangeParts { id, client, certificate, budget, head, path, replaced, sends_body, .. } = parts;
        let ExchangeParts { route, spoken, body_rate, trace, clock, started, .. } = parts;
        Self {
            id,
            received: clock.now(),
            client,
            connection_certificate: certificate,
            facts: ExchangeFacts::default(),
            budget,
            request_scan: BodyScan::NotAsked,
            answer_scan: BodyScan::NotAsked,
            error_word: None,
            trace,
            first_byte: None,
            delivery: Delivery::default(),
            websocket: false,
            tls: false,
            preflight: is_preflight(&head.method, &head.headers),
            origin: origin::named_in(&head.headers).cloned(),
            head,
            path,
            replaced,
            sends_body,
            route,
            protocol: OnceLock::new(),
            spoken,
            body_rate,
            clock,
            started,
        }
    }
}

impl Exchange {
    /// Whose turn it is where callers take turns.
    pub fn caller(&self) -> Caller {
        let by_token = self.facts.principal.as_ref().map(Principal::caller);
        by_token.or_else(|| self.caller_by_certificate()).unwrap_or_else(|| self.caller_by_address())
    }

    /// The same where the certificate counts, whatever token comes with it.
    pub fn caller_by_certificate(&self) -> Option<Caller> {
        let certificate = self.facts.certificate.as_ref()?;
        Some(Caller::Certificate(sha256(certificate.identity().as_bytes())))
    }

    /// The same where tokens do not count.
    pub fn caller_by_address(&self) -> Caller {
        Caller::Address(self.client.map(customer))
    }

    /// The request's head as filters have left it.
    pub fn head(&self) -> &RequestHeader {
        &self.head
    }

    /// The request's head, to be changed.
    pub fn head_mut(&mut self) -> &mut RequestHeader {
        &mut self.head
    }

    /// The origin of the page that asks, whatever filters have made of the head; `None` where it names none or several.
    pub fn origin(&self) -> Option<&HeaderValue> {
        self.origin.as_ref()
    }

    /// Whether a browser asks by it what a page may do, whatever filters have made of the head.
    pub fn is_preflight(&self) -> bool {
        self.preflight
    }

    /// The path by which its route was found.
    pub fn path(&self) -> &RequestPath {
        &self.path
    }

    /// Goes on with this path in place of the one by which its route was found.
    ///
    /// # Errors
    /// A head that cannot be written with it.
    pub(in crate::gateway) fn set_path(&mut self, path: RequestPath) -> Result<(), GatewayError> {
        let target = match self.head.uri.query() {
            Some(query) => format!("{}?{query}", path.sent()),
            None => path.sent().to_owned(),
        };
        let unwritable = |_| GatewayError::BadBody("the request's head cannot be written");
        self.head.set_raw_path(target.as_bytes()).map_err(unwritable)?;
        self.path = path;
        Ok(())
    }

    /// The path by which is judged what it asks for: the upstream's, where the route puts another prefix in front of it. What
    /// a route only leaves out says nothing of that.
    pub fn asked_path(&self) -> &RequestPath {
        self.replaced.as_ref().unwrap_or(&self.path)
    }

    /// The protocol spoken at its path on its route.
    pub fn protocol(&self) -> Option<&'static Protocol> {
        *self.protocol.get_or_init(|| self.route.protocol(&self.path))
    }

    /// The name of the protocol spoken there, if somebody has asked by now.
    pub fn known_protocol(&self) -> Option<&'static str> {
        self.protocol.get().copied().flatten().map(|protocol| protocol.name)
    }

    /// Whether a body comes with the request.
    pub fn sends_body(&self) -> bool {
        self.sends_body
    }

    /// Whether the request asks for WebSocket, as every server reads it.
    pub fn is_websocket(&self) -> bool {
        self.websocket
    }

    /// The route taken.
    pub fn route(&self) -> &Arc<RouteInfo> {
        &self.route
    }

    /// The pool that it goes to: that of the model that answers, else the route's.
    pub fn upstream(&self) -> Option<&Arc<Upstream>> {
        let target = self.facts.models.as_ref().and_then(|plan| plan.target());
        target.and_then(|target| target.upstream.as_ref()).or(match &self.route.terminal {
            Terminal::Upstream(upstream) => Some(upstream),
            Terminal::Native(_) | Terminal::Fixed(_) | Terminal::Host => None,
        })
    }

    /// Notes that another model is asked than the one before.
    pub(in crate::gateway) fn falls_back(&self) {
        self.route.metrics.fell_back();
    }

    /// How fast the body must come.
    pub fn body_rate(&self) -> ByteRate {
        self.body_rate
    }

    /// Reads time.
    pub fn clock(&self) -> &SharedClock {
        &self.clock
    }

    /// How long it has taken so far.
    pub fn elapsed(&self) -> Duration {
        self.clock.instant().duration_since(self.started)
    }

    /// How errors are told this caller.
    pub fn error_target(&self) -> ErrorTarget<'_> {
        let shape = self.spoken.error_shape(&self.path);
        ErrorTarget { shape, stamp: self.stamp(), call: self.facts.call.as_deref() }
    }

    /// Id and times, for an envelope.
    pub fn stamp(&self) -> Stamp<'_> {
        Stamp { id: &self.id, received: self.received, answered: self.clock.now() }
    }

    /// Errors look as these protocols spell them, whatever its route speaks: it is not the route that was asked for.
    pub(in crate::gateway) fn speak(&mut self, spoken: ProtocolChoice) {
        self.spoken = spoken;
    }

    /// Notes that a body passes as it is, and why.
    pub fn passes_unscanned(&mut self, direction: Direction, why: Unscanned) {
        let scan = match direction {
            Direction::Request => &mut self.request_scan,
            Direction::Answer => &mut self.answer_scan,
        };
        *scan = BodyScan::NotScanned(why);
        self.route.metrics.unscanned(direction);
    }

    /// Reads the id of the caller's call from a body that is here whole, where errors repeat it.
    pub(in crate::gateway) fn read_call(&mut self, body: &[u8]) {
        if self.error_target().shape == ErrorShape::JsonRpc {
            self.facts.call = call_id(body);
        }
    }

    /// Turns an error into the answer for this caller.
    pub fn error_answer(&mut self, error: GatewayError) -> ApiAnswer {
        self.error_word = Some(error.word());
        error.answer(&self.error_target())
    }

    /// Notes that the caller left: no error, if the head of its answer was sent (`answered`) and it has had all of that.
    pub fn caller_left(&mut self, answered: bool) {
        let had_all = answered && self.delivery.is_complete(self.protocol());
        self.error_word = if had_all { None } else { Some(GatewayError::Left.word()) };
    }
}

/// Whether an answer to this has a body (RFC 9110 section 6.4.1).
pub fn has_body(method: &Method, status: StatusCode) -> bool {
    *method != Method::HEAD
        && !status.is_informational()
        && status != StatusCode::NO_CONTENT
        && status != StatusCode::NOT_MODIFIED
}
