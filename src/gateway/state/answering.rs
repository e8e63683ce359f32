//! [`Answering`]: an answer whose head has passed the filters, and whose body passes now.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::Method;
use http::Version;
use http::header::TRANSFER_ENCODING;
use pingora::http::ResponseHeader;

use crate::gateway::body::{BodyFormat, BodyRewriter, Task};
use crate::gateway::body_fields::{strip_body_headers, strip_unseen_body};
use crate::gateway::compression::Compressor;
use crate::gateway::content_coding::codings;
use crate::gateway::decoded_body::DecodedBody;
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::{Exchange, has_body};
use crate::gateway::filter_chain::FilterChain;
use crate::gateway::layer::UnscannedPolicy;
use crate::gateway::llm::{Protocol, UsageReader};
use crate::gateway::media_type::{ContentFormat, DeclaredFormat};
use crate::gateway::plan::AnswerPlan;
use crate::gateway::terminal::Terminal;
use crate::stream::StreamError;
use crate::telemetry::{BodyScan, Direction, Unscanned};

/// How long a body pauses before what waits for its next words leaves without them: its reader may have to do something first,
/// so that they come. It is longer than slow models take for a token.
pub(in crate::gateway) const PAUSE: Duration = Duration::from_secs(1);

/// The body of an answer on its way to the caller.
#[derive(Default)]
pub(in crate::gateway) struct Answering {
    // A context must be Sync for Pingora, a rewriter is not; these locks are never waited for.
    body: Mutex<Option<BodyRewriter>>,
    usage: Mutex<Option<UsageTap>>,
    compressor: Mutex<Option<Compressor>>,
}

/// Reads the tokens that an answer says it took.
struct UsageTap {
    /// Takes its codings off where nobody else does.
    decoded: DecodedBody,
    reader: UsageReader,
}

impl UsageTap {
    /// Of an answer with this head; `None` where it cannot be read.
    fn new(protocol: &'static Protocol, head: &ResponseHeader, x: &Exchange) -> Option<Self> {
        let binary =
            DeclaredFormat::of(&head.headers) == DeclaredFormat::As(ContentFormat::AmazonEventStream);
        let decoded = DecodedBody::new(&codings(&head.headers).ok()?, &x.budget).ok()?;
        Some(Self { decoded, reader: UsageReader::new(protocol, binary, &x.budget) })
    }
}

impl Answering {
    /// Shows the head of the answer (never a 1xx) to the filters; then the rewriters are built, and the head is made to
    /// fit what they leave.
    ///
    /// # Errors
    /// A filter's, or a body that the route refuses to pass unscanned.
    pub(in crate::gateway) async fn begin(
        x: &mut Exchange,
        chain: &FilterChain,
        head: &mut ResponseHeader,
    ) -> Result<Self, GatewayError> {
        if let Terminal::Upstream(_) = &x.route().terminal {
            x.trace.answered(head.status.as_u16());
        }
        let plan = chain.response(x, head).await?;
        // Judged by the head as it came: what rewrites a body does not know how long it will be.
        let compression = plan.compression().filter(|compression| compression.suits(head));
        if x.head().version == Version::HTTP_10 {
            head.remove_header(&TRANSFER_ENCODING);
        }
        if !has_body(&x.head().method, head.status) {
            if x.head().method == Method::HEAD && !plan.layers().is_empty() {
                strip_unseen_body(head);
            }
            if let Some(compression) = compression {
                compression.announce(head);
            }
            return Ok(Self::default());
        }
        let usage = plan.usage().and_then(|protocol| UsageTap::new(protocol, head, x));
        let body = Self::rewriters(x, head, &plan)?;
        let version = x.head().version;
        let compressor = compression.and_then(|compression| compression.begin(head, version, &x.budget));
        Ok(Self { body: Mutex::new(body), usage: Mutex::new(usage), compressor: Mutex::new(compressor) })
    }

    /// What rewrites the body, if anything does; its head is made to fit.
    fn rewriters(
        x: &mut Exchange,
        head: &mut ResponseHeader,
        plan: &AnswerPlan,
    ) -> Result<Option<BodyRewriter>, GatewayError> {
        if plan.layers().is_empty() {
            return Ok(None);
        }
        let format = BodyFormat::of(&head.headers, plan.knows_protocol()).and_then(|format| {
            let shows = format.may_show(plan.policy(), plan.may_have_results());
            shows.then_some(format).ok_or(Unscanned::ContentType)
        });
        match format {
            Ok(format) => {
                let task = Task {
                    layers: plan.layers(),
                    format: &format,
                    direction: Direction::Answer,
                    policy: plan.policy(),
                    budget: &x.budget,
                };
                let body = BodyRewriter::new(&task).map_err(GatewayError::of_answer)?;
                x.answer_scan = BodyScan::Scanned;
                strip_body_headers(head, x.head().version);
                Ok(Some(body))
            }
            Err(why) if plan.policy() == UnscannedPolicy::Pass => {
                x.passes_unscanned(Direction::Answer, why);
                Ok(None)
            }
            Err(Unscanned::ContentCoding) => {
                Err(GatewayError::Unscannable("its content coding is not known"))
            }
            Err(_) => Err(GatewayError::UNKNOWN_ANSWER),
        }
    }

    /// Whether the body will change.
    pub(in crate::gateway) fn rewrites(&mut self) -> bool {
        self.edits() || self.compresses()
    }

    /// Whether what the body says will change, or may be found to be what does not pass.
    pub(in crate::gateway) fn edits(&mut self) -> bool {
        unlocked(&mut self.body).is_some()
    }

    /// Whether the body is put into a content coding.
    pub(in crate::gateway) fn compresses(&mut self) -> bool {
        unlocked(&mut self.compressor).is_some()
    }

    /// Whether the body has room for an error: it is a stream.
    pub(in crate::gateway) fn is_stream(&mut self) -> bool {
        unlocked(&mut self.body).as_ref().is_some_and(|body| body.stream_frame().is_some())
    }

    /// Whether something of the body waits for what follows.
    pub(in crate::gateway) fn waits(&mut self) -> bool {
        unlocked(&mut self.body).as_ref().is_some_and(|body| body.held() > 0)
    }

    /// What of the body has waited long enough, if there is any: nothing has come for a [`PAUSE`].
    ///
    /// # Errors
    /// As of [`Answering::chunk`].
    pub(in crate::gateway) fn release(&mut self, x: &mut Exchange) -> Result<Option<Bytes>, GatewayError> {
        let Some(body) = unlocked(&mut self.body).as_mut().filter(|_| !x.delivery.is_cut_short()) else {
            return Ok(None);
        };
        let mut out = BytesMut::new();
        let released = body.release(&mut out);
        let mut piece = self.told(x, released, out)?;
        x.delivery.sent(piece.as_deref().unwrap_or_default(), false);
        self.leave(x, &mut piece, false)?;
        Ok(piece)
    }

    /// Rewrites a piece of the body. After an error in an event stream the last event says so and the rest is dropped.
    ///
    /// # Errors
    /// An error in a body that has no room for one: unless its head is still here, the connection must look broken.
    pub(in crate::gateway) fn chunk(
        &mut self,
        x: &mut Exchange,
        chunk: &mut Option<Bytes>,
        end: bool,
    ) -> Result<(), GatewayError> {
        self.edit(x, chunk, end)?;
        self.leave(x, chunk, end)
    }

    /// The rest of a piece's way: into the coding that the answer has.
    fn leave(&mut self, x: &mut Exchange, piece: &mut Option<Bytes>, end: bool) -> Result<(), GatewayError> {
        self.compress(piece, end || x.delivery.is_cut_short())?;
        if x.first_byte.is_none() && piece.as_ref().is_some_and(|piece| !piece.is_empty()) {
            x.first_byte = Some(x.elapsed());
        }
        Ok(())
    }

    fn edit(&mut self, x: &mut Exchange, chunk: &mut Option<Bytes>, end: bool) -> Result<(), GatewayError> {
        let usage = unlocked(&mut self.usage).as_mut();
        let Some(body) = unlocked(&mut self.body) else {
            let piece = chunk.as_deref().unwrap_or_default();
            if let Some(UsageTap { decoded, reader }) = usage {
                reader.read(decoded.decoded(piece, end), end);
                x.facts.taken = Some(reader.taken());
            }
            x.delivery.sent(piece, end);
            return Ok(());
        };
        if x.delivery.is_cut_short() {
            *chunk = None;
            return Ok(());
        }
        let piece = chunk.as_deref().unwrap_or_default();
        let mut out = BytesMut::with_capacity(piece.len() + 64);
        let written = body.write(piece, end, &mut out);
        if let Some(UsageTap { reader, .. }) = usage {
            reader.read(body.decoded(piece), end);
            x.facts.taken = Some(reader.taken());
        }
        if end {
            x.route().metrics.scanned(Direction::Answer, body.scanned());
        } else {
            x.route().metrics.held_back(body.held());
        }
        if body.is_unknown() && x.answer_scan == BodyScan::Scanned {
            x.passes_unscanned(Direction::Answer, Unscanned::ContentType);
        }
        *chunk = self.told(x, written, out)?;
        x.delivery.sent(chunk.as_deref().unwrap_or_default(), end);
        Ok(())
    }

    /// What is sent of a piece that a rewriter has written, and of an error that it met.
    fn told(
        &mut self,
        x: &mut Exchange,
        written: Result<(), StreamError>,
        mut out: BytesMut,
    ) -> Result<Option<Bytes>, GatewayError> {
        if let Err(error) = written {
            let error = GatewayError::of_answer(error);
            match self.last_words(x, &error) {
                Ok(event) => out.extend_from_slice(&event),
                Err(_) => return Err(error),
            }
        }
        Ok((!out.is_empty()).then(|| out.freeze()))
    }

    /// The answer broke off, or cannot go on: what is still to be sent to a caller who reads a stream of events.
    ///
    /// # Errors
    /// [`GatewayError::Gone`] when the body has no room for an error.
    pub(in crate::gateway) fn last_event(
        &mut self,
        x: &mut Exchange,
        error: &GatewayError,
    ) -> Result<Bytes, GatewayError> {
        let mut event = Some(self.last_words(x, error)?);
        self.compress(&mut event, true)?;
        Ok(event.unwrap_or_default())
    }

    /// Puts a piece into the coding that the answer has.
    fn compress(&mut self, piece: &mut Option<Bytes>, end: bool) -> Result<(), GatewayError> {
        match unlocked(&mut self.compressor) {
            None => Ok(()),
            Some(compressor) => compressor.write(piece, end).map_err(GatewayError::of_answer),
        }
    }

    fn last_words(&mut self, x: &mut Exchange, error: &GatewayError) -> Result<Bytes, GatewayError> {
        x.error_word = Some(error.word());
        let mut out = BytesMut::new();
        let to = x.error_target();
        let say = |body: &mut BodyRewriter| body.cut(&error.event(&to, body.stream_frame()), &mut out);
        let said = !x.delivery.is_cut_short() && unlocked(&mut self.body).as_mut().is_some_and(say);
        x.delivery.cut_short();
        if said { Ok(out.freeze()) } else { Err(GatewayError::Gone) }
    }
}

/// What is in a lock that is never shared while it is used.
pub(super) fn unlocked<T>(lock: &mut Mutex<T>) -> &mut T {
    lock.get_mut().unwrap_or_else(PoisonError::into_inner)
}
