//! The handshake (RFC 6455 section 4). The keys of both sides pass, so that they can tell whether they speak with each
//! other; which protocol is spoken on the way is ours to say.

use http::header::{
    CONNECTION, CONTENT_LENGTH, EXPECT, HeaderName, SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_VERSION, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderValue, Method, Version};
use pingora::http::{RequestHeader, ResponseHeader};

use crate::api::ApiError;
use crate::gateway::error::GatewayError;
use crate::telemetry::UpstreamFailure;

/// The protocol, as `Upgrade` names it.
const WEBSOCKET: &str = "websocket";

/// The only version.
const VERSION: &[u8] = b"13";

/// Protocols whose mere offer may be passed over (RFC 9110 section 7.8): what is asked is HTTP all the same.
const OFFERS: [&str; 4] = ["h2c", "h2", "http", "tls"];

/// Whether a request asks for WebSocket, in a form that every server reads alike.
///
/// # Errors
/// It asks for another protocol, or for this one as none should.
pub(in crate::gateway) fn check_request(head: &RequestHeader) -> Result<bool, GatewayError> {
    // HTTP/1.0 knows no upgrade (RFC 9110 section 7.8), and HTTP/2 has no such field.
    if head.version != Version::HTTP_11 || !names_other_protocol(&head.headers) {
        return Ok(false);
    }
    let bad = |why| Err(GatewayError::Api(ApiError::BadRequest(why)));
    let mut names = names(&head.headers, &UPGRADE);
    if !names.all(|name| name.eq_ignore_ascii_case(WEBSOCKET)) {
        return Err(GatewayError::NotBuilt("Of upgraded connections only WebSocket is served"));
    }
    if head.method != Method::GET {
        return bad("a WebSocket is asked for with GET");
    }
    if [CONTENT_LENGTH, TRANSFER_ENCODING, EXPECT].iter().any(|name| head.headers.contains_key(name)) {
        return bad("a request for a WebSocket has no body");
    }
    if !self::names(&head.headers, &CONNECTION).any(|name| name.eq_ignore_ascii_case("upgrade")) {
        return bad("Connection does not name Upgrade, so the request asks for no WebSocket");
    }
    let only = |name: &HeaderName| {
        let mut values = head.headers.get_all(name).iter();
        values.next().filter(|_| values.next().is_none()).map(HeaderValue::as_bytes)
    };
    if only(&SEC_WEBSOCKET_VERSION) != Some(VERSION) {
        return Err(GatewayError::WebSocketVersion);
    }
    if !only(&SEC_WEBSOCKET_KEY).is_some_and(is_key) {
        return bad("Sec-WebSocket-Key is not 16 bytes in base64");
    }
    Ok(true)
}

/// Whether a protocol is asked for that is not HTTP.
fn names_other_protocol(headers: &HeaderMap) -> bool {
    names(headers, &UPGRADE).any(|name| {
        let name = name.split('/').next().unwrap_or_default();
        !OFFERS.iter().any(|offer| name.eq_ignore_ascii_case(offer))
    })
}

/// What a field with a list names.
fn names<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h str> {
    let lines = headers.get_all(name).iter().map(|line| line.to_str().unwrap_or("?"));
    lines.flat_map(|line| line.split(',')).map(str::trim).filter(|name| !name.is_empty())
}

/// Sixteen bytes in base64 are 22 symbols and two of padding.
fn is_key(value: &[u8]) -> bool {
    let symbol = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    value.len() == 24 && value.strip_suffix(b"==").is_some_and(|symbols| symbols.iter().all(symbol))
}

/// Makes the head of a request that filters have passed ask the upstream for WebSocket. Where messages are `read`, no
/// extension is offered that would change how they are written.
///
/// # Errors
/// Pingora's, for a head that cannot be written.
pub(in crate::gateway) fn upgraded_head(head: &mut RequestHeader, read: bool) -> pingora::Result<()> {
    if read {
        head.remove_header(&SEC_WEBSOCKET_EXTENSIONS);
    }
    head.remove_header(&CONTENT_LENGTH);
    head.remove_header(&TRANSFER_ENCODING);
    head.set_version(Version::HTTP_11);
    head.insert_header(CONNECTION, "Upgrade")?;
    head.insert_header(UPGRADE, WEBSOCKET)
}

/// Checks the answer of an upstream that agrees, and makes it one for the caller.
///
/// # Errors
/// It agrees to something else.
pub(in crate::gateway) fn check_answer(head: &mut ResponseHeader, read: bool) -> Result<(), GatewayError> {
    let other = GatewayError::Upstream(UpstreamFailure::Broken);
    let mut protocols = names(&head.headers, &UPGRADE);
    let agrees = protocols.next().is_some_and(|name| name.eq_ignore_ascii_case(WEBSOCKET));
    if !agrees || protocols.next().is_some() {
        return Err(other);
    }
    if read && head.headers.contains_key(SEC_WEBSOCKET_EXTENSIONS) {
        return Err(GatewayError::Unscannable("it uses a WebSocket extension that was not offered"));
    }
    drop(protocols);
    let written = |head: &mut ResponseHeader| -> pingora::Result<()> {
        head.remove_header(&CONTENT_LENGTH);
        head.remove_header(&TRANSFER_ENCODING);
        head.set_version(Version::HTTP_11);
        head.insert_header(CONNECTION, "Upgrade")?;
        head.insert_header(UPGRADE, WEBSOCKET)
    };
    written(head).map_err(|_| GatewayError::Gone)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row = (&'static str, &'static [(&'static str, &'static str)], u16);

    const KEY: (&str, &str) = ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
    const V13: (&str, &str) = ("sec-websocket-version", "13");
    const UP: (&str, &str) = ("upgrade", "WebSocket");
    const CONN: (&str, &str) = ("connection", "keep-alive, Upgrade");

    const ROWS: &[Row] = &[
        ("GET", &[UP, CONN, KEY, V13], 101),
        ("GET", &[("connection", "close, upgrade")], 200),
        ("GET", &[("upgrade", "h2c"), CONN], 200),
        ("GET", &[("upgrade", "TLS/1.2, HTTP/2.0"), CONN], 200),
        ("GET", &[("upgrade", "h2c, websocket"), CONN, KEY, V13], 501),
        ("GET", &[("upgrade", "websocket, spdy/3"), CONN, KEY, V13], 501),
        ("POST", &[("upgrade", "connect-udp"), CONN], 501),
        ("POST", &[UP, CONN, KEY, V13], 400),
        ("GET", &[UP, KEY, V13], 400),
        ("GET", &[UP, ("connection", "close"), KEY, V13], 400),
        ("GET", &[UP, CONN, V13], 400),
        ("GET", &[UP, CONN, KEY, KEY, V13], 400),
        ("GET", &[UP, CONN, ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ"), V13], 400),
        ("GET", &[UP, CONN, ("sec-websocket-key", "dGhlIHNhbXBsZSBub25j!Q=="), V13], 400),
        ("GET", &[UP, CONN, KEY], 426),
        ("GET", &[UP, CONN, KEY, ("sec-websocket-version", "8")], 426),
        ("GET", &[UP, CONN, KEY, V13, ("content-length", "3")], 400),
        ("GET", &[UP, CONN, KEY, V13, ("expect", "100-continue")], 400),
    ];

    #[test]
    fn an_upgrade_is_taken_or_refused_and_never_passed_over() {
        for (method, fields, status) in ROWS {
            let mut head = RequestHeader::build(*method, b"/", None).unwrap();
            for (name, value) in *fields {
                head.append_header(*name, *value).unwrap();
            }
            let said = match check_request(&head) {
                Ok(true) => 101,
                Ok(false) => 200,
                Err(GatewayError::NotBuilt(_)) => 501,
                Err(GatewayError::WebSocketVersion) => 426,
                Err(GatewayError::Api(ApiError::BadRequest(_))) => 400,
                Err(other) => panic!("{other:?}"),
            };
            assert_eq!(said, *status, "{method} {fields:?}");
            head.set_version(Version::HTTP_10);
            assert!(matches!(check_request(&head), Ok(false)), "HTTP/1.0 knows no upgrade");
        }
    }

    #[test]
    fn an_answer_agrees_to_what_was_asked() {
        type Answer = (&'static [(&'static str, &'static str)], bool, bool);
        let rows: [Answer; 5] = [
            (&[UP], true, true),
            (&[], true, false),
            (&[("upgrade", "h2c")], true, false),
            (&[UP, ("sec-websocket-extensions", "permessage-deflate")], true, false),
            (&[UP, ("sec-websocket-extensions", "permessage-deflate")], false, true),
        ];
        for (fields, read, agrees) in rows {
            let mut head = ResponseHeader::build(101, None).unwrap();
            for (name, value) in fields {
                head.append_header((*name).to_owned(), *value).unwrap();
            }
            assert_eq!(check_answer(&mut head, read).is_ok(), agrees, "{fields:?}");
        }
    }
}
