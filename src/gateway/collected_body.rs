//! [`CollectedBody`]: the body of a request that was read whole, and out of its codings for the filters.

use bytes::Bytes;
use pingora::proxy::Session;

use crate::api::{ApiError, BodyRead, BufferedBody};
use crate::gateway::body_fields::strip_request_digests;
use crate::gateway::content_coding::{self, Unpack};
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::filter::RequestDocument;
use crate::gateway::llm::with_model;
use crate::gateway::plan::RequestPlan;
use crate::gateway::session_body::SessionBody;
use crate::gateway::state::{Routed, Streaming};
use crate::stream::codec::Coding;
use crate::telemetry::BodyScan;

/// A body that was read whole.
pub(super) struct CollectedBody {
    /// As it came.
    body: BufferedBody,
    codings: Vec<Coding>,
    /// Out of its codings, for the filters.
    pub(super) document: RequestDocument,
}

impl CollectedBody {
    /// Reads it, and takes it out of its codings.
    ///
    /// # Errors
    /// It does not come, is too long, or is in no coding that we know.
    pub(super) async fn read(
        session: &mut Session,
        x: &Exchange,
        routed: &mut Routed,
        limit: usize,
    ) -> Result<Self, GatewayError> {
        if let Some(read) = routed.read.take() {
            return Self::out_of_codings(read, x, limit);
        }
        let mut body = SessionBody::new(session, limit, x.body_rate()).after(routed.plan.take_read());
        Self::of(&mut body, x, limit).await
    }

    /// The same, wherever it comes from.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub(super) async fn of(
        body: &mut dyn BodyRead,
        x: &Exchange,
        limit: usize,
    ) -> Result<Self, GatewayError> {
        Self::out_of_codings(BufferedBody::read(body, limit, &x.budget).await?, x, limit)
    }

    fn out_of_codings(body: BufferedBody, x: &Exchange, limit: usize) -> Result<Self, GatewayError> {
        let codings = content_coding::codings(&x.head().headers).map_err(|_| {
            ApiError::UnsupportedMediaType("Send the body in gzip, deflate, br, zstd or no coding")
        })?;
        let unpack = Unpack { codings: &codings, limit, budget: &x.budget };
        let original = content_coding::decode(&body.bytes, &unpack).map_err(GatewayError::of_request)?;
        Ok(Self { body, codings, document: RequestDocument { original, rewritten: None } })
    }

    /// The body as it came.
    #[cfg(feature = "ext_proc")]
    pub(super) fn as_came(&self) -> Bytes {
        self.body.bytes.clone()
    }

    /// The body as it goes to the upstream; nothing else of it is held.
    ///
    /// # Errors
    /// As [`Self::for_upstream`].
    pub(super) fn into_body(
        mut self,
        x: &mut Exchange,
        plan: &RequestPlan,
    ) -> Result<BufferedBody, GatewayError> {
        self.for_upstream(x, plan, None)?;
        Ok(self.body)
    }

    /// The body as it goes to the upstream, for this model in place of the one that it asks, and through what the filters
    /// have installed on bodies that pass.
    ///
    /// # Errors
    /// It cannot be put into its codings again; a layer's.
    pub(super) fn for_upstream(
        &mut self,
        x: &mut Exchange,
        plan: &RequestPlan,
        model: Option<&str>,
    ) -> Result<Bytes, GatewayError> {
        let Self { body, codings, document } = self;
        let came = body.bytes.clone();
        // What a coding says besides the body (a file's name, a comment, a frame to be skipped) was not looked at.
        let coded = !codings.is_empty() && x.request_scan == BodyScan::Scanned;
        if document.rewritten.is_some() || coded || model.is_some() {
            let plain = match model {
                Some(model) => with_model(document.current(), model),
                None => document.current().clone(),
            };
            body.replace(match codings.as_slice() {
                [] => plain,
                codings => {
                    content_coding::encode(&plain, codings, &x.budget).map_err(GatewayError::of_request)?
                }
            })?;
        }
        through_layers(x, plan, body)?;
        if body.bytes != came {
            strip_request_digests(x.head_mut());
        }
        Ok(body.bytes.clone())
    }
}

/// What the filters have installed on a body that passes, applied to one that was collected for other reasons.
///
/// # Errors
/// A layer's.
fn through_layers(x: &mut Exchange, plan: &RequestPlan, body: &mut BufferedBody) -> Result<(), GatewayError> {
    let mut passing = Streaming::new(plan.clone(), None);
    if !body.bytes.is_empty() && passing.begin_attempt(x)? {
        let mut piece = Some(body.bytes.clone());
        passing.request_chunk(x, &mut piece, true)?;
        body.replace(piece.unwrap_or_default())?;
    }
    Ok(())
}
