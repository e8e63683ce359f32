//! Requests of HTTP/1 that load shedding refuses before they have a session, whatever they ask for. Under load there are
//! more of them than of others, and a session of Pingora's would cost several times the answer. What is not plain, such
//! as an upgrade, gets its session all the same, and is refused by the chain.

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use bytes::Buf;
use http::header::{CONNECTION, DATE, EXPECT, HOST, UPGRADE};
use http::{HeaderName, HeaderValue, Method, Version};
use pingora::http::RequestHeader;
use pingora::protocols::http::date::get_cached_date;
use tokio::time::timeout;

use crate::api::ApiAnswer;
use crate::gateway::exchange::RequestOutcome;
use crate::gateway::listen::filtered_stream::FilteredStream;
use crate::gateway::listen::head::{Framing, field, lines};
use crate::gateway::proxy::Gateway;
use crate::gateway::receive::{EarlyReject, ReceivedHead};
use crate::gateway::session_body::{DRAIN, DRAIN_TIME};
use crate::telemetry::FrontMetrics;

/// How long the answer may take to leave.
const ANSWER_TIME: Duration = Duration::from_secs(2);

/// What is asked to be turned away.
pub(super) struct EarlyRequest {
    /// The length of its head, in bytes: the first of what was read.
    pub(super) head: usize,
    /// Its body.
    pub(super) framing: Framing,
    /// On whose connection.
    pub(super) peer: IpAddr,
}

/// Answers a request that is refused; `None`: it is not. `Some(true)`: the connection may go on.
pub(super) async fn early_reject(
    gateway: &Gateway,
    filtered: &mut FilteredStream,
    metrics: &FrontMetrics,
    asked: EarlyRequest,
) -> Option<bool> {
    let length = match asked.framing {
        Framing::Empty => 0,
        Framing::Length(length) => usize::try_from(length).ok().filter(|&length| length <= DRAIN)?,
        Framing::Chunked => return None,
    };
    let head = plain(filtered.raw.get(..asked.head)?)?;
    // Whoever calls, it is refused.
    let received = ReceivedHead { head, peer: Some(asked.peer), sends_body: length > 0, certificate: None };
    let EarlyReject { request, answer, why } = gateway.early_reject(received)?;
    metrics.refused.inc(why);
    let mut left = asked.head + length;
    let passed = matches!(timeout(DRAIN_TIME, pass_over(filtered, &mut left)).await, Ok(Ok(())));
    let bytes_in = length.saturating_sub(left) as u64;
    let wire = wire(&answer, passed);
    let said = matches!(timeout(ANSWER_TIME, filtered.write_answer(&wire)).await, Ok(Ok(())));
    let (status, bytes_out) =
        if said { (answer.status.as_u16(), answer.bytes().len() as u64) } else { (0, 0) };
    drop(answer);
    request.done(RequestOutcome { status, bytes_in, bytes_out, took: Duration::ZERO }).await;
    Some(passed && said)
}

/// Passes over the next `left` bytes. Until that is done, the connection can do nothing but end.
async fn pass_over(filtered: &mut FilteredStream, left: &mut usize) -> io::Result<()> {
    loop {
        let here = filtered.raw.len().min(*left);
        filtered.raw.advance(here);
        *left -= here;
        filtered.body_passed(*left as u64);
        if *left == 0 {
            return Ok(());
        }
        if filtered.more().await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// A head that has been judged, if nothing in it asks for more than an answer on a connection that goes on.
fn plain(head: &[u8]) -> Option<RequestHeader> {
    let mut lines = lines(head);
    let mut words = lines.next()?.split(|&byte| byte == b' ');
    let method = Method::from_bytes(words.next()?).ok().filter(|method| *method != Method::HEAD)?;
    let target = words.next().filter(|target| target.starts_with(b"/"))?;
    if words.next() != Some(b"HTTP/1.1") {
        return None;
    }
    let mut plain = RequestHeader::build_no_case(method, target, None).ok()?;
    plain.set_version(Version::HTTP_11);
    for line in lines {
        let (name, value) = field(line).ok()?;
        let name = HeaderName::from_bytes(name).ok()?;
        let goes_on = name != CONNECTION || value.eq_ignore_ascii_case(b"keep-alive");
        if !goes_on || name == EXPECT || name == UPGRADE {
            return None;
        }
        plain.append_header(name, HeaderValue::from_bytes(value).ok()?).ok()?;
    }
    plain.headers.contains_key(HOST).then_some(plain)
}

/// An answer as it is written in HTTP/1.1.
pub(super) fn wire(answer: &ApiAnswer, goes_on: bool) -> Vec<u8> {
    let reason = answer.status.canonical_reason().unwrap_or_default();
    let mut bytes = Vec::with_capacity(512 + answer.bytes().len());
    bytes.extend_from_slice(format!("HTTP/1.1 {} {reason}\r\n", answer.status.as_u16()).as_bytes());
    let date = get_cached_date();
    let fields = answer.headers.iter().filter(|(name, _)| *name != CONNECTION).chain([(&DATE, &date)]);
    for (name, value) in fields {
        bytes.extend_from_slice(name.as_str().as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(value.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(if goes_on { b"\r\n" } else { b"connection: close\r\n\r\n" });
    bytes.extend_from_slice(answer.bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_requests_are_rejected_without_a_session() {
        let rows: &[(&str, bool)] = &[
            ("POST /v1/x HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\n", true),
            ("GET /?q=1 HTTP/1.1\r\nHost: a\r\nConnection: Keep-Alive\r\n\r\n", true),
            ("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", false),
            ("GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, x\r\n\r\n", false),
            ("GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n", false),
            ("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\ncontent-length: 3\r\n\r\n", false),
            ("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", false),
            ("GET / HTTP/1.0\r\nHost: a\r\n\r\n", false),
            ("GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", false),
            ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", false),
        ];
        for (head, is_plain) in rows {
            assert_eq!(plain(head.as_bytes()).is_some(), *is_plain, "{head}");
        }
    }

    #[test]
    fn a_head_is_read_as_it_was_sent() {
        let head = b"POST /a?b=c HTTP/1.1\r\nHost: h:1\r\nX-Forwarded-For: 192.0.2.1\r\nx-forwarded-for:10.0.0.1 \r\n\r\n";
        let plain = plain(head).unwrap();
        assert_eq!((plain.method.as_str(), plain.uri.path()), ("POST", "/a"));
        let hops: Vec<_> = plain.headers.get_all("x-forwarded-for").iter().collect();
        assert_eq!(hops, ["192.0.2.1", "10.0.0.1"]);
    }
}
