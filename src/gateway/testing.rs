//! For tests: a gateway and upstreams on loopback, with real sockets, and filters that note what they see.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arc_swap::ArcSwap;
use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode};
use pingora::apps::HttpServerApp;
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::protocols::Stream;
use pingora::protocols::http::ServerSession;
use pingora::protocols::l4::stream::Stream as Plain;
use pingora::proxy::http_proxy;
use pingora::server::configuration::ServerConf;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::api::{ApiAnswer, ApiError, Endpoints};
use crate::base::budget::MemoryBudget;
use crate::base::clock::{SharedClock, SystemClock};
use crate::base::id::RequestId;
use crate::base::path::RequestPath;
use crate::base::units::Period;
use crate::edit::Edit;
use crate::gateway::bounds::RequestBounds;
use crate::gateway::clients::{ClientResolver, Underscores};
use crate::gateway::embed::choose_tls;
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::{Exchange, ExchangeParts, RequestOutcome};
use crate::gateway::filter::{Filter, Flow, RequestDocument, Stage};
use crate::gateway::in_flight::InFlight;
use crate::gateway::layer::{Layer, TextLayer, UnscannedPolicy};
use crate::gateway::min_rate::ByteRate;
use crate::gateway::plan::{AnswerPlan, RequestPlan};
use crate::gateway::proxy::{Gateway, GatewayParts};
use crate::gateway::request_trace::RequestTrace;
use crate::gateway::route::{Match, Route, RouteParts, RouteTable, TableParts};
use crate::gateway::route_info::RouteInfo;
use crate::gateway::terminal::{StaticAnswer, Terminal};
use crate::gateway::upstream::{
    Breaker, BreakerLimits, ConnectOptions, CredentialParts, Ejection, Http, PeerHealth, RetryPolicy, Target,
    Timeouts, Upstream, UpstreamParts, UpstreamSockets,
};
use crate::net::{AddressFuture, DnsResolver, SystemResolver};
use crate::stream::{Editor, StreamError};
use crate::telemetry::Metrics;
use crate::telemetry::trace::Tracer;

/// What happened, in order.
pub(super) type Journal = Arc<Mutex<Vec<String>>>;

/// What a journal has so far.
pub(super) fn noted(journal: &Journal) -> Vec<String> {
    journal.lock().unwrap().clone()
}

const SECRET: &str = "SECRET";

/// Replaces `SECRET` by `<">`, and holds back what may become it.
#[derive(Default)]
pub(super) struct Hide {
    text: String,
    from: usize,
}

impl Editor for Hide {
    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        self.text.push_str(piece);
        while let Some(at) = self.text.get(self.from..).unwrap_or_default().find(SECRET) {
            let range = self.from + at..self.from + at + SECRET.len();
            self.from = range.end;
            edits.push(Edit { range, with: "<\">".to_owned() });
        }
        let begins = |at: &usize| self.text.get(*at..).is_some_and(|rest| SECRET.starts_with(rest));
        Ok((self.from..self.text.len()).find(begins).unwrap_or(self.text.len()))
    }

    fn end(&mut self, _: &mut Vec<Edit>) -> Result<(), StreamError> {
        *self = Self::default();
        Ok(())
    }
}

/// Hides secrets in a body.
pub(super) fn hiding() -> Layer {
    let editor = Arc::new(|| Box::new(Hide::default()) as Box<dyn Editor>);
    Layer::Text(TextLayer { editor, protocol: None, fields: None, restores: false })
}

/// What a [`Recorder`] does besides noting.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Pass,
    Refuse,
    Answer,
    /// Collects the body, and sends this instead.
    Replace(&'static str),
    /// Hides secrets in requests that are streamed.
    HideRequest,
    /// Hides secrets in answers.
    HideAnswer(UnscannedPolicy),
    /// Refuses the answer.
    RefuseAnswer,
}

/// A filter that notes what it sees.
pub(super) struct Recorder {
    pub(super) name: &'static str,
    pub(super) stage: Stage,
    pub(super) act: Act,
    pub(super) journal: Journal,
}

impl Recorder {
    fn note(&self, what: &str) {
        self.journal.lock().unwrap().push(format!("{} {what}", self.name));
    }
}

#[async_trait]
impl Filter for Recorder {
    fn name(&self) -> &'static str {
        self.name
    }

    fn stage(&self) -> Stage {
        self.stage
    }

    async fn request(&self, x: &mut Exchange, plan: &mut RequestPlan) -> Result<Flow, GatewayError> {
        self.note("request");
        match self.act {
            Act::Refuse => return Err(ApiError::Unauthorized.into()),
            Act::Answer => {
                let body = Bytes::from_static(b"filtered");
                return Ok(Flow::Answer(ApiAnswer::new(StatusCode::OK, "text/plain", body)));
            }
            Act::Replace(_) => plan.collect(x, 1000),
            Act::HideRequest => plan.rewrite(hiding()),
            Act::Pass | Act::HideAnswer(_) | Act::RefuseAnswer => {}
        }
        Ok(Flow::Next)
    }

    async fn collected(
        &self,
        _: &mut Exchange,
        document: &mut RequestDocument,
    ) -> Result<Flow, GatewayError> {
        self.note(&format!("collected {}", String::from_utf8_lossy(document.current())));
        if let Act::Replace(with) = self.act {
            document.rewritten = Some(Bytes::from_static(with.as_bytes()));
        }
        Ok(Flow::Next)
    }

    async fn response(
        &self,
        _: &mut Exchange,
        head: &mut ResponseHeader,
        plan: &mut AnswerPlan,
    ) -> Result<(), GatewayError> {
        self.note(&format!("response {}", head.status.as_u16()));
        match self.act {
            Act::HideAnswer(policy) => plan.rewrite(hiding(), policy),
            Act::RefuseAnswer => return Err(GatewayError::UNKNOWN_ANSWER),
            _ => {}
        }
        Ok(())
    }

    fn error(&self, _: &Exchange, headers: &mut HeaderMap) {
        headers.append("x-error-seen", HeaderValue::from_static(self.name));
    }

    async fn done(&self, x: &mut Exchange, outcome: &RequestOutcome) {
        self.note(&format!("done {} {}", outcome.status, x.error_word.unwrap_or("-")));
    }
}

/// A filter that notes in `journal` what it sees.
pub(super) fn recorder(name: &'static str, stage: Stage, act: Act, journal: &Journal) -> Arc<dyn Filter> {
    Arc::new(Recorder { name, stage, act, journal: Arc::clone(journal) })
}

/// A route of all paths with these filters.
pub(super) fn route(filters: Vec<Arc<dyn Filter>>, terminal: Terminal, max_body: Option<usize>) -> Route {
    let names: Vec<&'static str> = filters.iter().map(|filter| filter.name()).collect();
    let metrics = Metrics::new().unwrap().route("r", &names);
    let info = RouteInfo { max_body, ..RouteInfo::generic("r", terminal, metrics) };
    Route::new(RouteParts { matches: Match::default(), filters, info }).unwrap()
}

/// An end that answers `fixed`.
pub(super) fn fixed() -> Terminal {
    let body = Bytes::from_static(b"fixed");
    Terminal::Fixed(StaticAnswer { status: StatusCode::OK, media_type: "text/plain", body })
}

/// The exchange of a request of this method, with these fields, on a route.
pub(super) fn exchange(route: &Route, method: &str, fields: &[(&'static str, &str)]) -> Exchange {
    let mut head = RequestHeader::build(method, b"/", None).unwrap();
    for (name, value) in fields {
        head.append_header(*name, *value).unwrap();
    }
    exchange_of(route, head)
}

/// The exchange of a request with this head on a route.
pub(super) fn exchange_of(route: &Route, head: RequestHeader) -> Exchange {
    let clock: SharedClock = Arc::new(SystemClock);
    Exchange::from(ExchangeParts {
        id: RequestId::from_random([7; 20]),
        client: Some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        certificate: None,
        budget: MemoryBudget::process(1 << 24),
        head,
        path: RequestPath::parse("/").unwrap(),
        replaced: None,
        sends_body: true,
        route: Arc::clone(route.info()),
        spoken: route.info().protocols,
        body_rate: RATE,
        trace: RequestTrace::default(),
        started: clock.instant(),
        clock,
    })
}

const RATE: ByteRate = ByteRate { per_second: 1, grace: Duration::from_secs(10) };

/// A pool of these peers.
pub(super) fn pool(peers: &[SocketAddr], ejection: Ejection) -> Arc<Upstream> {
    Arc::new(Upstream::new(pool_parts(peers, ejection)).unwrap())
}

/// A pool of one peer, whose name leads to these addresses of this machine, said by their last bytes.
pub(super) fn named_pool(last: &'static [u8], port: u16) -> Arc<Upstream> {
    let mut parts = pool_parts(&[], NEVER_OUT);
    let target = Target { host: "name.test".to_owned(), port };
    parts.targets.push((target, Arc::new(PeerHealth::default())));
    parts.resolver = Arc::new(LoopbackNames(last));
    Arc::new(Upstream::new(parts).unwrap())
}

/// Every name leads to these addresses of this machine.
struct LoopbackNames(&'static [u8]);

impl DnsResolver for LoopbackNames {
    fn lookup(&self, _: &str) -> AddressFuture {
        let found: Vec<IpAddr> = self.0.iter().map(|last| IpAddr::from([127, 0, 0, *last])).collect();
        Box::pin(std::future::ready(Ok(found)))
    }
}

/// What a pool of these peers is made from.
pub(super) fn pool_parts(peers: &[SocketAddr], ejection: Ejection) -> UpstreamParts {
    let clock: SharedClock = Arc::new(SystemClock);
    let target = |peer: &SocketAddr| {
        let target = Target { host: peer.ip().to_string(), port: peer.port() };
        (target, Arc::new(PeerHealth::default()))
    };
    let times = Timeouts {
        connect: Period::secs(1),
        first_byte: None,
        read: Period::secs(5),
        write: Period::secs(5),
        idle: Period::secs(1),
        total: None,
    };
    let dialing = ConnectOptions { tls: None, http: Http::One, times };
    UpstreamParts {
        signer: None,
        name: "pool".to_owned(),
        targets: peers.iter().map(target).collect(),
        base: "/base".to_owned(),
        dialing,
        credentials: CredentialParts::default(),
        repeats: RetryPolicy::default(),
        ejection,
        breaker: Arc::new(Breaker::new(BreakerLimits::NONE, Arc::clone(&clock))),
        before: None,
        resolver: Arc::new(SystemResolver::Configured),
        sockets: UpstreamSockets::default(),
        metrics: Metrics::new().unwrap().upstream("pool"),
        clock,
    }
}

/// Failures put no peer out.
pub(super) const NEVER_OUT: Ejection = Ejection {
    failures: 0,
    rate: 0.0,
    requests: NonZeroU32::MIN,
    window: Period::secs(1),
    eject: Period::secs(5),
    longest: Period::secs(5),
    share: 1.0,
};

/// An address at which nothing listens.
pub(super) async fn nothing() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap()
}

/// An upstream that answers each connection's one request with `answer` and closes it; what it gets is noted.
pub(super) async fn upstream(answer: &'static [u8]) -> (SocketAddr, Journal) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let journal = Journal::default();
    let seen = Arc::clone(&journal);
    tokio::spawn(async move {
        while let Ok((mut tcp, _)) = listener.accept().await {
            let request = read_request(&mut tcp).await;
            seen.lock().unwrap().push(request);
            drop(tcp.write_all(answer).await);
            drop(tcp.shutdown().await);
        }
    });
    (address, journal)
}

/// A request, head and body: to its length, or to its last chunk.
async fn read_request(tcp: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut block = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
            let length = length.and_then(|length| length.trim().parse().ok());
            let over = match length {
                Some(length) => body.len() >= length,
                None => !head.contains("chunked") || body.ends_with("0\r\n\r\n"),
            };
            if over {
                return String::from_utf8_lossy(&bytes).into_owned();
            }
        }
        match tcp.read(&mut block).await {
            Ok(read) if read > 0 => bytes.extend_from_slice(block.get(..read).unwrap_or_default()),
            _ => return String::from_utf8_lossy(&bytes).into_owned(),
        }
    }
}

/// A gateway with one route, for requests and for those that no route takes.
pub(super) fn gateway(route: Route) -> Gateway {
    choose_tls();
    let route = Arc::new(route);
    let table = TableParts {
        endpoints: Endpoints::default(),
        native: Vec::new(),
        led: Vec::new(),
        probes: Vec::new(),
        routes: vec![Arc::clone(&route)],
        processed: vec![Arc::clone(&route)],
        unmatched: route,
        shed: None,
    };
    let second = Duration::from_secs(1);
    Gateway::from(GatewayParts {
        routes: Arc::new(ArcSwap::from_pointee(RouteTable::from(table))),
        budget: MemoryBudget::process(1 << 24),
        bounds: RequestBounds {
            head: 1 << 16,
            per_request: 1 << 22,
            read: 5 * second,
            write: 5 * second,
            body_rate: RATE,
            underscores: Underscores::Pass,
        },
        clients: Arc::new(ClientResolver::default()),
        clock: Arc::new(SystemClock),
        in_flight: InFlight::default(),
        kept: 512,
        tracer: Tracer::default(),
    })
}

/// Serves a gateway on loopback.
pub(super) async fn serve(gateway: Gateway) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let app = Arc::new(http_proxy(&Arc::new(ServerConf::default()), gateway));
    tokio::spawn(async move {
        let (_running, shutdown) = watch::channel(false);
        while let Ok((tcp, _)) = listener.accept().await {
            let (app, shutdown) = (Arc::clone(&app), shutdown.clone());
            let stream: Stream = Box::new(Plain::from(tcp));
            tokio::spawn(async move {
                drop(app.process_new_http(ServerSession::new_http1(stream), &shutdown).await);
            });
        }
    });
    address
}

/// Sends one request, and returns all that comes back until the connection closes.
pub(super) async fn ask(address: SocketAddr, request: &str) -> String {
    let mut tcp = TcpStream::connect(address).await.unwrap();
    tcp.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(20), tcp.read_to_end(&mut answer)).await;
    drop(read.expect("an answer in time"));
    String::from_utf8_lossy(&answer).into_owned()
}

/// A `POST` of this text, the last on its connection.
pub(super) fn post(body: &str) -> String {
    format!(
        "POST /x HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Waits until the last thing that a journal has begins so.
pub(super) async fn until_noted(journal: &Journal, last: &str) {
    for _ in 0..400 {
        if noted(journal).last().is_some_and(|note| note.starts_with(last)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("{:?} does not end with {last}", noted(journal));
}
