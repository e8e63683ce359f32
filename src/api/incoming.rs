//! Uploads as they come: a body as [`ByteStream`], and the parts of a form (RFC 7578) one after the other.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use data_encoding::HEXUPPER_PERMISSIVE;
use futures_util::Stream;
use futures_util::future::BoxFuture;
use http::HeaderMap;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};

use crate::api::call::{BodyError, BodyRead};
use crate::api::error::{ApiError, Code, Invalid};
use crate::base::throttle::{EVERY, LogThrottle};
use crate::store::StoreError;
use crate::store::blobs::{ByteStream, NextChunk};

/// Parts of one form, at the most.
const PARTS: usize = 100;

/// What may come without a part's content getting longer: boundaries, heads of parts, what precedes the first.
const OVERHEAD: usize = 128 << 10;

/// Bytes that are whatever comes next, and why they ended if they ended early.
pub struct Incoming<'a> {
    body: &'a mut dyn BodyRead,
    why: Option<BodyError>,
}

impl<'a> Incoming<'a> {
    /// A body as it comes.
    pub fn new(body: &'a mut dyn BodyRead) -> Self {
        Self { body, why: None }
    }

    /// What a failed write of these bytes is to the caller.
    pub fn fault(self, error: &StoreError) -> ApiError {
        self.why.map_or_else(|| stored(error), ApiError::from)
    }
}

impl ByteStream for Incoming<'_> {
    fn next(&mut self) -> NextChunk<'_> {
        Box::pin(async move {
            self.body.next().await.map_err(|why| {
                self.why = Some(why);
                StoreError::Interrupted
            })
        })
    }
}

/// How often it is said why files cannot be stored or read.
static TOLD: LogThrottle = LogThrottle::every(EVERY);

/// What the file store's fault is to a caller.
pub fn stored(error: &StoreError) -> ApiError {
    let ours = !matches!(error, StoreError::TooLarge(_) | StoreError::Interrupted);
    if ours && let Some(unsaid) = TOLD.due() {
        tracing::error!(target: "portcullis::api", unsaid, "files: {error}");
    }
    match error {
        StoreError::TooLarge(limit) => ApiError::TooLarge(usize::try_from(*limit).unwrap_or(usize::MAX)),
        StoreError::Interrupted => ApiError::BadRequest("the body ended early"),
        error => ApiError::store(error, "files"),
    }
}

/// A form being read. Parts come in their order; one is read before the next is asked for.
pub struct IncomingForm<'a> {
    reader: multer::Multipart<'a>,
    since: Arc<AtomicUsize>,
    left: usize,
}

impl<'a> IncomingForm<'a> {
    /// Whether the head says that the body is a form.
    pub fn is_one(headers: &HeaderMap) -> bool {
        boundary(headers).is_some()
    }

    /// Reads a body that is a form.
    ///
    /// # Errors
    /// One that is not.
    pub fn read(headers: &HeaderMap, body: &'a mut dyn BodyRead) -> Result<Self, ApiError> {
        let wrong = ApiError::UnsupportedMediaType("Send the body as multipart/form-data with a boundary");
        let boundary = boundary(headers).ok_or(wrong)?;
        let since = Arc::new(AtomicUsize::new(0));
        let feed = Feed { next: FormEvent::Idle(body), rest: false, since: Arc::clone(&since) };
        Ok(Self { reader: multer::Multipart::new(feed, boundary), since, left: PARTS })
    }

    /// The next part; `None` at the end.
    ///
    /// # Errors
    /// A body that is no form, or has too many parts.
    pub async fn part(&mut self) -> Result<Option<FormPart<'a>>, ApiError> {
        self.left = self
            .left
            .checked_sub(1)
            .ok_or_else(|| invalid(Code::AboveMaxItems, format!("a form has at most {PARTS} parts")))?;
        let field = self.reader.next_field().await.map_err(|error| broken(&error))?;
        self.since.store(0, Ordering::Relaxed);
        Ok(field.map(|field| FormPart { field, since: Arc::clone(&self.since), why: None }))
    }
}

/// One part of a form.
pub struct FormPart<'a> {
    field: multer::Field<'a>,
    since: Arc<AtomicUsize>,
    why: Option<ApiError>,
}

impl FormPart<'_> {
    /// Its name; empty if it has none.
    pub fn name(&self) -> &str {
        self.field.name().unwrap_or_default()
    }

    /// Whether it says that it is a file: it has a name for one, or the name of the part that is one.
    pub fn is_file(&self) -> bool {
        self.file_name().is_some() || matches!(self.name(), "upload" | "file")
    }

    /// The name of the file it is: as it is written, or in the form for other characters than ASCII (RFC 8187), which
    /// some clients send beside a name that lost them.
    pub fn file_name(&self) -> Option<Cow<'_, str>> {
        let written = self.field.headers().get(CONTENT_DISPOSITION);
        let extended = written.and_then(|value| extended(std::str::from_utf8(value.as_bytes()).ok()?));
        extended.map(Cow::Owned).or_else(|| self.field.file_name().map(Cow::Borrowed))
    }

    /// All of it, if it has at most `limit` bytes.
    ///
    /// # Errors
    /// A larger one, or a body that ends early.
    pub async fn whole(mut self, limit: usize) -> Result<Vec<u8>, ApiError> {
        let mut bytes = Vec::new();
        while let Some(piece) = self.piece().await? {
            if bytes.len().saturating_add(piece.len()) > limit {
                return Err(ApiError::TooLarge(limit));
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    }

    /// What a failed write of this part is to the caller.
    pub fn fault(self, error: &StoreError) -> ApiError {
        self.why.unwrap_or_else(|| stored(error))
    }

    async fn piece(&mut self) -> Result<Option<Bytes>, ApiError> {
        let piece = self.field.chunk().await.map_err(|error| broken(&error))?;
        self.since.store(0, Ordering::Relaxed);
        Ok(piece)
    }
}

impl ByteStream for FormPart<'_> {
    fn next(&mut self) -> NextChunk<'_> {
        Box::pin(async move {
            self.piece().await.map_err(|why| {
                self.why = Some(why);
                StoreError::Interrupted
            })
        })
    }
}

/// The value of `filename*`, if it is UTF-8 and well-formed.
fn extended(disposition: &str) -> Option<String> {
    let parameters = disposition.split(';').filter_map(|parameter| parameter.split_once('='));
    let mut named = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("filename*"));
    let (charset, rest) = named.next()?.1.trim().split_once('\'')?;
    let (_language, value) = rest.split_once('\'')?;
    if !charset.eq_ignore_ascii_case("utf-8") {
        return None;
    }
    let mut bytes = Vec::with_capacity(value.len());
    let mut pieces = value.split('%');
    bytes.extend_from_slice(pieces.next()?.as_bytes());
    for piece in pieces {
        let (digits, plain) = piece.split_at_checked(2)?;
        bytes.extend(HEXUPPER_PERMISSIVE.decode(digits.as_bytes()).ok()?);
        bytes.extend_from_slice(plain.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

fn boundary(headers: &HeaderMap) -> Option<String> {
    multer::parse_boundary(headers.get(CONTENT_TYPE)?.to_str().ok()?).ok()
}

fn invalid(code: Code, detail: String) -> ApiError {
    ApiError::Validation(vec![Invalid::body(code, detail)])
}

fn broken(error: &multer::Error) -> ApiError {
    let multer::Error::StreamReadFailed(cause) = error else {
        return invalid(Code::BadFormat, "the body is not the form that its head promises".to_owned());
    };
    match cause.downcast_ref::<FeedError>() {
        Some(FeedError::Body(why)) => (*why).into(),
        _ => invalid(Code::BadFormat, "a part's head is too long, or no part begins".to_owned()),
    }
}

#[derive(Debug, thiserror::Error)]
enum FeedError {
    #[error(transparent)]
    Body(#[from] BodyError),
    #[error("no content for too long")]
    Overhead,
}

type Pending<'a> = BoxFuture<'a, (&'a mut dyn BodyRead, Result<Option<Bytes>, BodyError>)>;

enum FormEvent<'a> {
    Idle(&'a mut dyn BodyRead),
    Reading(Pending<'a>),
    Ended,
}

/// The body for the form reader, which takes all that is ready: so between two pieces nothing is ready, or a fast caller
/// would fill the memory. And since it holds heads of parts until they are whole, what comes without content is
/// bounded.
struct Feed<'a> {
    next: FormEvent<'a>,
    rest: bool,
    since: Arc<AtomicUsize>,
}

impl Stream for Feed<'_> {
    type Item = Result<Bytes, FeedError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if std::mem::take(&mut self.rest) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let mut reading = match std::mem::replace(&mut self.next, FormEvent::Ended) {
            FormEvent::Idle(body) => Box::pin(async move {
                let piece = body.next().await;
                (body, piece)
            }) as Pending<'_>,
            FormEvent::Reading(reading) => reading,
            FormEvent::Ended => return Poll::Ready(None),
        };
        match reading.as_mut().poll(cx) {
            Poll::Pending => {
                self.next = FormEvent::Reading(reading);
                Poll::Pending
            }
            Poll::Ready((_, Err(why))) => Poll::Ready(Some(Err(why.into()))),
            Poll::Ready((_, Ok(None))) => Poll::Ready(None),
            Poll::Ready((body, Ok(Some(piece)))) => {
                let before = self.since.fetch_add(piece.len(), Ordering::Relaxed);
                if before > OVERHEAD {
                    return Poll::Ready(Some(Err(FeedError::Overhead)));
                }
                self.next = FormEvent::Idle(body);
                self.rest = true;
                Poll::Ready(Some(Ok(piece)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::extended;

    #[test]
    fn names_of_files_come_in_two_forms() {
        let rows = [
            (
                "form-data; name=\"upload\"; filename=\"_ b.txt\"; filename*=UTF-8''%C3%BC%20b.txt",
                Some("\u{fc} b.txt"),
            ),
            ("attachment; FileName*=utf-8'en'a%2fb", Some("a/b")),
            ("form-data; filename*=UTF-8''", Some("")),
            ("form-data; filename=\"a\"", None),
            ("form-data; filename*=ISO-8859-1''%FC", None),
            ("form-data; filename*=UTF-8''%FC", None),
            ("form-data; filename*=UTF-8''%C3%B", None),
            ("form-data; filename*=UTF-8''%zz", None),
            ("form-data; filename*=UTF-8", None),
        ];
        for (written, name) in rows {
            assert_eq!(extended(written).as_deref(), name, "{written}");
        }
    }
}
