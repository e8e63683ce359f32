//! Heads as a proxy shows them, and what it is told to change in them.

use http::header::{
    CONNECTION, CONTENT_LENGTH, HOST, HeaderName, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Version};
use pingora::http::{RequestHeader, ResponseHeader};

use crate::api::{ApiAnswer, ApiError};
use crate::gateway::error::GatewayError;
use crate::gateway::ext_proc::message;
use crate::gateway::ext_proc::message::{HeaderMutation, HttpStatus, ImmediateResponse};
use crate::gateway::upstream::plain;

/// Fields that are the proxy's own, each way: how its connections are framed, and which target it has chosen.
const OF_PROXY: [HeaderName; 9] = [
    CONNECTION,
    CONTENT_LENGTH,
    HOST,
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// The same, without a standard's name, and how names of a family of them begin.
const OF_PROXY_TOO: [&str; 3] = ["keep-alive", "proxy-connection", "http2-settings"];
const FAMILY: &str = "x-envoy-";

/// What the proxy's router adds to answers of upstreams.
const OF_UPSTREAM: &str = "x-envoy-upstream-service-time";

/// A request's head, as it was shown.
pub(super) struct ProxyRequestHead {
    /// Method, target and fields; the authority is in `Host`.
    pub(super) head: RequestHeader,
    /// Whether the caller came over TLS, as the proxy has it.
    pub(super) tls: bool,
}

/// An answer's head, as it was shown.
pub(super) struct ProxyAnswerHead {
    /// Status and fields, without those that end at the proxy.
    pub(super) head: ResponseHeader,
    /// The fields as the proxy has them.
    pub(super) fields: HeaderMap,
}

fn bad(why: &'static str) -> GatewayError {
    GatewayError::Api(ApiError::BadRequest(why))
}

/// Pseudo-headers and fields of a head.
#[derive(Default)]
struct HeadParts<'a> {
    pseudo: Vec<(&'a str, &'a [u8])>,
    fields: HeaderMap,
}

impl<'a> HeadParts<'a> {
    fn of(shown: Option<&'a message::HeaderMap>) -> Result<Self, GatewayError> {
        let mut parts = Self::default();
        for field in shown.iter().flat_map(|shown| &shown.headers) {
            if field.key.starts_with(':') {
                if parts.pseudo.iter().any(|(name, _)| *name == field.key) {
                    return Err(bad("a pseudo-header is there twice"));
                }
                parts.pseudo.push((&field.key, field.bytes()));
                continue;
            }
            let name =
                HeaderName::from_bytes(field.key.as_bytes()).map_err(|_| bad("no header has this name"))?;
            let value =
                HeaderValue::from_bytes(field.bytes()).map_err(|_| bad("no header has this value"))?;
            if parts.fields.try_append(name, value).is_err() {
                return Err(GatewayError::Api(ApiError::HeadTooLarge));
            }
        }
        Ok(parts)
    }

    fn take(&mut self, name: &str) -> Option<&'a [u8]> {
        let at = self.pseudo.iter().position(|(known, _)| *known == name)?;
        Some(self.pseudo.swap_remove(at).1)
    }

    /// Whatever was not taken is nothing that is known.
    fn nothing_else(&self) -> Result<(), GatewayError> {
        if self.pseudo.is_empty() { Ok(()) } else { Err(bad("a pseudo-header is there that is not known")) }
    }
}

/// Reads the head of a request.
///
/// # Errors
/// A head that is none, or could be read in two ways.
pub(super) fn request_head(shown: Option<&message::HeaderMap>) -> Result<ProxyRequestHead, GatewayError> {
    let mut parts = HeadParts::of(shown)?;
    let method = parts.take(":method").and_then(|method| Method::from_bytes(method).ok());
    let method = method.ok_or(bad("the request has no method"))?;
    let scheme = parts.take(":scheme").unwrap_or_default();
    let tls = match scheme {
        b"https" => true,
        b"http" | b"" => false,
        _ => return Err(bad("a request's scheme is http or https")),
    };
    let path = parts.take(":path").filter(|path| !path.is_empty());
    if path.is_none() && method != Method::CONNECT {
        return Err(bad("the request has no path"));
    }
    // An upgrade of HTTP/2 (RFC 8441).
    if parts.take(":protocol").is_some() {
        return Err(GatewayError::NotBuilt("Upgraded connections are not processed here"));
    }
    let authority = parts.take(":authority");
    parts.nothing_else()?;
    let path = path.unwrap_or(b"/");
    if !path.starts_with(b"/") && path != b"*" {
        return Err(bad("a request's path begins with `/`"));
    }
    let unwritable = |_| bad("the request's head cannot be written");
    let mut head = RequestHeader::build(method, path, Some(parts.fields.len() + 1)).map_err(unwritable)?;
    // Its `Host` counts, and there may be no other: what holds for a request of HTTP/1.1 holds for it.
    head.set_version(Version::HTTP_11);
    for (name, value) in &parts.fields {
        head.append_header(name.clone(), value.clone()).map_err(unwritable)?;
    }
    if let Some(authority) = authority {
        let value = HeaderValue::from_bytes(authority).map_err(|_| bad("no host has this name"))?;
        head.append_header(HOST, value).map_err(unwritable)?;
    }
    Ok(ProxyRequestHead { head, tls })
}

/// Reads the head of an answer.
///
/// # Errors
/// A head that is none.
pub(super) fn answer_head(shown: Option<&message::HeaderMap>) -> Result<ProxyAnswerHead, GatewayError> {
    let unreadable = || GatewayError::Unscannable("its head cannot be read");
    let mut parts = HeadParts::of(shown).map_err(|_| unreadable())?;
    let status = parts.take(":status").and_then(|status| StatusCode::from_bytes(status).ok());
    let status = status.ok_or_else(unreadable)?;
    parts.nothing_else().map_err(|_| unreadable())?;
    let mut head = ResponseHeader::build(status, Some(parts.fields.len())).map_err(|_| unreadable())?;
    for (name, value) in &parts.fields {
        let of_proxy = is_of_proxy(name) && name != CONTENT_LENGTH;
        if !of_proxy {
            head.append_header(name.clone(), value.clone()).map_err(|_| unreadable())?;
        }
    }
    Ok(ProxyAnswerHead { head, fields: parts.fields })
}

/// Whether an answer is the proxy's own: it notes how long an upstream took for one.
pub(super) fn is_of_proxy_alone(shown: Option<&message::HeaderMap>) -> bool {
    shown.is_some_and(|shown| shown.headers.iter().all(|field| field.key != OF_UPSTREAM))
}

/// Has a head without a body say so, where it does not.
pub(super) fn says_nothing_follows(head: &mut ResponseHeader) {
    if !head.headers.contains_key(CONTENT_LENGTH) {
        drop(head.insert_header(CONTENT_LENGTH, 0));
    }
}

/// Whether nobody but the proxy has a say in a field.
fn is_of_proxy(name: &HeaderName) -> bool {
    OF_PROXY.contains(name) || OF_PROXY_TOO.contains(&name.as_str()) || name.as_str().starts_with(FAMILY)
}

/// What makes fields as the proxy has them those of a head.
fn changed(before: &HeaderMap, after: &HeaderMap) -> HeaderMutation {
    let mut mutation = HeaderMutation::default();
    for name in before.keys().filter(|name| !is_of_proxy(name) && !after.contains_key(*name)) {
        mutation.remove(name.as_str());
    }
    for name in after.keys().filter(|name| !is_of_proxy(name)) {
        if before.get_all(name).iter().eq(after.get_all(name).iter()) {
            continue;
        }
        for (at, value) in after.get_all(name).iter().enumerate() {
            mutation.set(name.as_str(), value.as_bytes(), at > 0);
        }
    }
    mutation
}

/// What the proxy has of a request's head.
pub(super) struct ProxyHeadState {
    measured: bool,
    path: Vec<u8>,
    fields: HeaderMap,
}

impl ProxyHeadState {
    /// What it has shown.
    pub(super) fn new(head: &RequestHeader) -> Self {
        let measured = head.headers.contains_key(CONTENT_LENGTH);
        Self { measured, path: head.raw_path().to_vec(), fields: head.headers.clone() }
    }

    /// Whether it says how long its body is.
    pub(super) fn is_measured(&self) -> bool {
        self.measured
    }

    /// What it is told to change, so that it has this head.
    ///
    /// # Errors
    /// A head that cannot be forwarded.
    pub(super) fn becomes(
        &mut self,
        mut head: RequestHeader,
    ) -> Result<Option<HeaderMutation>, GatewayError> {
        plain(&mut head).map_err(|_| GatewayError::BadBody("the request's head cannot be forwarded"))?;
        let mut mutation = changed(&self.fields, &head.headers);
        if head.raw_path() != self.path.as_slice() {
            mutation.set(":path", head.raw_path(), false);
        }
        (self.path, self.fields) = (head.raw_path().to_vec(), head.headers.clone());
        Ok((!mutation.is_empty()).then_some(mutation))
    }
}

/// What makes an answer's head, as the proxy has it, this one. The length of a body is said with the body.
pub(super) fn answer_becomes(fields: &HeaderMap, head: &ResponseHeader) -> Option<HeaderMutation> {
    let mutation = changed(fields, &head.headers);
    (!mutation.is_empty()).then_some(mutation)
}

/// Says how long a body is that the proxy holds as a whole.
pub(super) fn length(mutation: Option<HeaderMutation>, length: usize) -> HeaderMutation {
    let mut mutation = mutation.unwrap_or_default();
    mutation.set(CONTENT_LENGTH.as_str(), length.to_string().as_bytes(), false);
    mutation
}

/// Takes all trailers away.
pub(super) fn no_trailers(shown: Option<&message::HeaderMap>) -> Option<HeaderMutation> {
    let mut mutation = HeaderMutation::default();
    for field in shown.iter().flat_map(|trailers| &trailers.headers) {
        if !mutation.remove_headers.contains(&field.key) {
            mutation.remove(&field.key);
        }
    }
    (!mutation.is_empty()).then_some(mutation)
}

/// An answer of ours, as the proxy sends it. `why` is a word of the access log.
pub(super) fn immediate(answer: &ApiAnswer, why: Option<&'static str>) -> ImmediateResponse {
    let mut headers = HeaderMutation::default();
    for name in answer.headers.keys().filter(|name| !is_of_proxy(name)) {
        for (at, value) in answer.headers.get_all(name).iter().enumerate() {
            headers.set(name.as_str(), value.as_bytes(), at > 0);
        }
    }
    ImmediateResponse {
        status: Some(HttpStatus { code: i32::from(answer.status.as_u16()) }),
        headers: Some(headers),
        body: bytes::Bytes::copy_from_slice(answer.bytes()),
        details: format!("portcullis_{}", why.unwrap_or("answered")),
    }
}
