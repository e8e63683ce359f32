//! What a handler gets and gives: [`ApiCall`] and [`ApiAnswer`], in `http` types only, so the API would run unchanged
//! under another server, and its tests need no socket.

use bytes::{Bytes, BytesMut};
use futures_util::future::BoxFuture;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode, request};
use zeroize::Zeroize;

use crate::api::cpu::Caller;
use crate::api::token::Principal;
use crate::base::budget::{Exhausted, MemoryBudget, MemoryCharge};
use crate::base::clock::{SharedClock, Timestamp};
use crate::base::id::RequestId;
use crate::store::{ByteStream, OpenBlob};

/// Why a body cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// It is larger than the limit, in bytes.
    #[error("the body is larger than {0} bytes")]
    TooLarge(usize),
    /// The caller was too slow.
    #[error("the body did not arrive in time")]
    Slow,
    /// It is not framed as HTTP frames bodies.
    #[error("the body's chunks are not well-formed")]
    Malformed,
    /// The caller left.
    #[error("the body ended early")]
    Gone,
    /// A budget is used up.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
}

/// A request's body, read piece by piece.
pub trait BodyRead: Send {
    /// The next piece; `None` at the end. Never more in sum than the route's limit.
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, BodyError>>;

    /// Waits until the caller has left. Asked once the body has been read to its end; never, where that cannot be seen.
    fn left(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}

/// A whole body in memory, and what it holds of the budget.
#[derive(Debug)]
pub struct BufferedBody {
    /// The bytes.
    pub bytes: Bytes,
    charge: MemoryCharge,
}

impl BufferedBody {
    /// Reads `body` to its end under `limit` bytes.
    ///
    /// # Errors
    /// The body's own, [`BodyError::TooLarge`] past the limit, or a used-up budget.
    pub async fn read(
        body: &mut dyn BodyRead,
        limit: usize,
        budget: &MemoryBudget,
    ) -> Result<Self, BodyError> {
        let mut charge = budget.charge();
        let Some(first) = body.next().await? else { return Ok(Self { bytes: Bytes::new(), charge }) };
        let mut whole: Option<BytesMut> = None;
        let mut size = first.len();
        loop {
            if size > limit {
                return Err(BodyError::TooLarge(limit));
            }
            charge.set(size)?;
            let Some(more) = body.next().await? else { break };
            size += more.len();
            if size <= limit && !more.is_empty() {
                whole.get_or_insert_with(|| BytesMut::from(&first[..])).extend_from_slice(&more);
            }
        }
        Ok(Self { bytes: whole.map_or(first, BytesMut::freeze), charge })
    }

    /// Overwrites it, where nobody else holds it.
    pub fn wipe(self) {
        if let Ok(mut bytes) = self.bytes.try_into_mut() {
            bytes.as_mut().zeroize();
        }
    }

    /// Puts other bytes in its place (a decoded or rewritten form).
    ///
    /// # Errors
    /// A used-up budget.
    pub fn replace(&mut self, bytes: Bytes) -> Result<(), Exhausted> {
        self.charge.set(bytes.len())?;
        self.bytes = bytes;
        Ok(())
    }
}

/// One request to one of our endpoints.
pub struct ApiCall<'a> {
    /// The caller, once a token was proved.
    pub who: Option<&'a Principal>,
    /// Whose turn it is where callers take turns.
    pub caller: Caller,
    /// The request's id.
    pub id: &'a RequestId,
    /// When its head had arrived.
    pub received: Timestamp,
    /// Reads the time of the answer.
    pub clock: &'a SharedClock,
    /// Method, path and headers.
    pub head: &'a request::Parts,
    /// The body, under the route's limit.
    pub body: &'a mut dyn BodyRead,
    /// What may be held of it.
    pub budget: &'a MemoryBudget,
}

/// An answer's body.
pub enum Body {
    /// In memory.
    Whole(Bytes),
    /// Comes piece by piece; the headers say how long it is.
    Stream(Box<dyn ByteStream>),
}

impl std::fmt::Debug for Body {
    // A body is the caller's.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(bytes) => write!(f, "Whole({} bytes)", bytes.len()),
            Self::Stream(_) => f.write_str("Stream(..)"),
        }
    }
}

/// One answer.
#[derive(Debug)]
pub struct ApiAnswer {
    /// The status.
    pub status: StatusCode,
    /// All headers, framing included.
    pub headers: HeaderMap,
    /// The body.
    pub body: Body,
}

impl ApiAnswer {
    /// An answer with a body of this media type.
    pub fn new(status: StatusCode, media_type: &'static str, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let mut headers = HeaderMap::with_capacity(4);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        Self { status, headers, body: Body::Whole(body) }
    }

    /// A file, with a body that comes piece by piece.
    pub fn stream(media_type: HeaderValue, file: OpenBlob) -> Self {
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(CONTENT_TYPE, media_type);
        headers.insert(CONTENT_LENGTH, HeaderValue::from(file.size));
        Self { status: StatusCode::OK, headers, body: Body::Stream(file.bytes) }
    }

    /// The bytes of a body in memory; none of one that is not.
    pub fn bytes(&self) -> &[u8] {
        match &self.body {
            Body::Whole(bytes) => bytes,
            Body::Stream(_) => &[],
        }
    }

    /// An answer of JSON.
    pub fn json(status: StatusCode, body: impl Into<Bytes>) -> Self {
        Self::new(status, "application/json", body)
    }
}

/// An endpoint with its types erased: what a route's terminal holds.
pub trait Handler: Send + Sync + 'static {
    /// Answers the call; never fails, since errors are answers too.
    fn call<'a>(&'a self, call: ApiCall<'a>) -> BoxFuture<'a, ApiAnswer>;
}
