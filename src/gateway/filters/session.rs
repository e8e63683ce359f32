//! [`SessionRedactor`]: redacts what the client of a WebSocket sends, message by message. What was issued accumulates, for
//! whoever restores what the server says.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::api::{ApiError, Caller, CpuPool, CpuTask};
use crate::base::budget::MemoryCharge;
use crate::base::checkpoint::Checkpoint;
use crate::gateway::error::GatewayError;
use crate::gateway::filters::answers::IssuedBefore;
use crate::gateway::filters::redaction_error::of_redaction;
use crate::gateway::layer::UnscannedPolicy;
use crate::gateway::llm::enumerated;
use crate::gateway::route_info::RouteInfo;
use crate::gateway::websocket::{ClientMessage, ClientMessages, RedactedMessage, Redacting, is_readable};
use crate::redact::{FindingLimits, Keys, RedactError, RedactionCounts, Redactor, RequestWords, Session};
use crate::stream::json::{PathSet, walk};
use crate::telemetry::Direction;

/// Every string of a document.
static EVERYTHING: PathSet = PathSet::everything();

/// What one is made from.
pub(super) struct SessionParts {
    /// Finds and replaces.
    pub(super) redactor: Redactor,
    /// What it encrypts with.
    pub(super) keys: Keys,
    /// Where a known protocol has its texts: its messages are JSON.
    pub(super) known: Option<Arc<PathSet>>,
    /// Takes what was issued.
    pub(super) issued: IssuedBefore,
    /// Takes what schemas allow, which the server may say.
    pub(super) words: Option<RequestWords>,
    /// Takes what was found.
    pub(super) counts: Arc<RedactionCounts>,
    /// Counts what was not read.
    pub(super) unscanned: Arc<AtomicU64>,
    /// What happens to messages that cannot be scanned.
    pub(super) unknown: UnscannedPolicy,
    /// Places for long messages.
    pub(super) cpu: CpuPool,
    /// Whose turn it is there.
    pub(super) caller: Caller,
    /// The route.
    pub(super) route: Arc<RouteInfo>,
    /// What the values are charged to that the session remembers.
    pub(super) charge: MemoryCharge,
}

/// Redacts the messages of one session.
pub(super) struct SessionRedactor {
    parts: SessionParts,
    session: Session,
}

impl From<SessionParts> for SessionRedactor {
    fn from(parts: SessionParts) -> Self {
        Self { parts, session: Session::new(FindingLimits::default()) }
    }
}

impl ClientMessages for SessionRedactor {
    fn redact(self: Box<Self>, message: ClientMessage) -> Redacting {
        Box::pin(async move {
            let Self { mut parts, session } = *self;
            let ClientMessage { kind, payload, is_note } = message;
            let known = parts.known.is_some();
            if !is_readable(kind, &payload, known) {
                if parts.unknown == UnscannedPolicy::Refuse {
                    return Err(GatewayError::Api(ApiError::UnsupportedMediaType(
                        "This route passes only messages that it can scan: JSON and text",
                    )));
                }
                parts.unscanned.fetch_add(1, Ordering::Relaxed);
                let next: Box<dyn ClientMessages> = Box::new(Self { parts, session });
                return Ok(RedactedMessage { changed: None, next });
            }
            // What stands in a control frame is none of the protocol's.
            let known = parts.known.clone().filter(|_| !is_note);
            parts.route.metrics.scanned(Direction::Request, payload.len() as u64);
            let job = CpuTask { caller: parts.caller.clone(), bytes: payload.len() };
            let (redactor, keys, words) = (parts.redactor.clone(), parts.keys.clone(), parts.words.clone());
            let work = move |checkpoint: &Checkpoint| {
                let redactor = redactor.with_checkpoint(checkpoint.clone());
                if let (Some(words), Some(fields)) = (&words, known.as_deref()) {
                    enumerated(&payload, fields, &mut |value| words.keep(value));
                }
                match known.as_deref() {
                    Some(fields) => redactor.document_in(session, &payload, fields, &keys),
                    None if walk(&payload, &mut |_, _| {}).is_ok() => {
                        redactor.document_in(session, &payload, &EVERYTHING, &keys)
                    }
                    None => redactor.plain_in(session, &payload, &keys),
                }
            };
            let done = parts.cpu.run(job, work).await;
            let done = done.map_err(ApiError::from).map_err(GatewayError::Api)?;
            if let Err(RedactError::Blocked(rules)) = &done {
                for (rule, count) in rules.iter() {
                    parts
                        .redactor
                        .rule(rule)
                        .into_iter()
                        .for_each(|id| parts.counts.record(id, count as u64));
                }
            }
            let (redacted, session) = done.map_err(of_redaction)?;
            let report = redacted.report();
            parts.counts.report(report);
            parts.unscanned.fetch_add(report.unscanned() as u64, Ordering::Relaxed);
            parts.charge.set(session.bytes())?;
            parts.issued.store(Arc::clone(session.undo()));
            let changed = (report.count() > 0).then(|| redacted.into_value());
            let next: Box<dyn ClientMessages> = Box::new(Self { parts, session });
            Ok(RedactedMessage { changed, next })
        })
    }
}
