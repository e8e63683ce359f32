//! [`Compression`]: whether an answer is put into a content coding for its caller, what its head says then, and the
//! `Compressor` that does it, which keeps nothing back.

use bytes::{Bytes, BytesMut};
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG};
use http::{HeaderMap, HeaderValue, StatusCode, Version};
use pingora::http::ResponseHeader;

use crate::api::block_in_place;
use crate::base::budget::MemoryBudget;
use crate::gateway::body_fields::{frame_anew, strip_digests};
use crate::gateway::vary::add_vary;
use crate::stream::codec::{Coding, Encoder};
use crate::stream::{Rewriter, StreamError};

/// Pieces longer than this may take more than a millisecond, in bytes.
const LONG: usize = 16 << 10;

/// What is compressed beside `text/…`, `…+json` and `…+xml`. Pictures, sound and archives are compressed already.
const COMPRESSIBLE: [&str; 19] = [
    "application/ecmascript",
    "application/graphql",
    "application/javascript",
    "application/json",
    "application/json-seq",
    "application/jsonl",
    "application/ndjson",
    "application/rtf",
    "application/sql",
    "application/toml",
    "application/wasm",
    "application/x-javascript",
    "application/x-jsonlines",
    "application/x-ndjson",
    "application/x-www-form-urlencoded",
    "application/x-yaml",
    "application/xml",
    "application/yaml",
    "image/bmp",
];

/// What a route says of compression, and what one caller accepts of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
    /// The coding of this caller's answer; `None`: it accepts none, but others may.
    pub coding: Option<Coding>,
    /// Bodies that are known to be shorter stay as they are, in bytes.
    pub min: usize,
}

impl Compression {
    /// Whether an answer with this head would be compressed for somebody.
    pub(super) fn suits(&self, head: &ResponseHeader) -> bool {
        let headers = &head.headers;
        // What a part of a body is a part of has no coding (RFC 9110 section 14.2).
        let plain = !headers.contains_key(CONTENT_ENCODING) && head.status != StatusCode::PARTIAL_CONTENT;
        if !plain || forbids_transforming(headers) {
            return false;
        }
        match head.status {
            StatusCode::NOT_MODIFIED => true,
            StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT => false,
            status if status.is_informational() => false,
            _ => is_compressible(headers) && length(headers).is_none_or(|length| length >= self.min.max(1)),
        }
    }

    /// Has a head say what it says of a compressed body, where none follows: the answer to HEAD, and 304 (RFC 9110 sections
    /// 9.3.2 and 15.4.5).
    pub(super) fn announce(&self, head: &mut ResponseHeader) {
        add_vary(head, &http::header::ACCEPT_ENCODING, "Accept-Encoding");
        let Some(coding) = self.coding else { return };
        weaken(head);
        if head.status != StatusCode::NOT_MODIFIED {
            name(coding, head);
            head.remove_header(&CONTENT_LENGTH);
        }
    }

    /// Begins to compress an answer, whose head is made to fit. `None`: its caller accepts no coding, or there is too little
    /// memory: nobody is to be refused for want of what compressing takes.
    pub(super) fn begin(
        &self,
        head: &mut ResponseHeader,
        version: Version,
        budget: &MemoryBudget,
    ) -> Option<Compressor> {
        add_vary(head, &http::header::ACCEPT_ENCODING, "Accept-Encoding");
        let coding = self.coding.filter(|_| !budget.is_half_used())?;
        let encoder = Encoder::new(coding, budget).ok()?;
        weaken(head);
        name(coding, head);
        frame_anew(head, version);
        Some(Compressor(Some(encoder)))
    }
}

/// Puts a body into a coding; what is written leaves with the piece that it came in.
pub(super) struct Compressor(Option<Encoder>);

impl Compressor {
    /// Compresses a piece; `end`: nothing comes after it.
    ///
    /// # Errors
    /// The encoder's.
    pub(super) fn write(&mut self, piece: &mut Option<Bytes>, end: bool) -> Result<(), StreamError> {
        let plain = piece.take().unwrap_or_default();
        let Some(encoder) = &mut self.0 else { return Ok(()) };
        let mut out = BytesMut::new();
        let mut run = || {
            encoder.write(&plain, &mut out)?;
            if end { encoder.finish(&mut out) } else { Ok(()) }
        };
        let done = if plain.len() > LONG { block_in_place(run) } else { run() };
        if end {
            self.0 = None;
        }
        *piece = (!out.is_empty()).then(|| out.freeze());
        done
    }
}

/// Says that the body is in a coding. Digests of it as it was are none of it as it is.
fn name(coding: Coding, head: &mut ResponseHeader) {
    strip_digests(head);
    drop(head.insert_header(CONTENT_ENCODING, HeaderValue::from_static(coding.name())));
}

/// Makes strong tags weak: the bytes that they stand for are others now (RFC 9110 section 8.8.1).
fn weaken(head: &mut ResponseHeader) {
    let Some(tag) = head.headers.get(ETAG).filter(|tag| !tag.as_bytes().starts_with(b"W/")) else { return };
    let weak = HeaderValue::from_bytes(&[b"W/", tag.as_bytes()].concat());
    if let Ok(weak) = weak {
        drop(head.insert_header(ETAG, weak));
    }
}

/// How long the body is said to be.
fn length(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Whether nobody on the way may change the body (RFC 9111 section 5.2.2.6).
fn forbids_transforming(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(CACHE_CONTROL).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|word| word.trim().eq_ignore_ascii_case("no-transform"))
}

/// Whether bodies of this media type become smaller.
fn is_compressible(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let (Some(one), None) = (types.next(), types.next()) else { return false };
    let text = one.to_str().unwrap_or_default();
    let essence = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_text = essence.starts_with("text/") || essence.ends_with("+json") || essence.ends_with("+xml");
    is_text || COMPRESSIBLE.contains(&essence.as_str())
}

#[cfg(test)]
#[path = "compression_tests.rs"]
mod tests;
