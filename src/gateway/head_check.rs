//! What the head of a request may not say, whatever its route: what the next server could read in another way. What it says of
//! upgrades, `websocket` judges.

use http::header::{
    AGE, ALLOW, AUTHORIZATION, CACHE_CONTROL, CONNECTION, COOKIE, DATE, ETAG, EXPIRES, FORWARDED, HOST,
    HeaderName, LAST_MODIFIED, ORIGIN, PRAGMA, RANGE, REFERER, USER_AGENT, VARY, VIA,
};
use http::{HeaderMap, Method, Version};
use pingora::http::RequestHeader;

use crate::api::ApiError;
use crate::gateway::bounds::RequestBounds;
use crate::gateway::clients::Underscores;
use crate::gateway::error::GatewayError;

/// What `Allow` says.
pub(super) const METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

/// Methods that ask for a tunnel or for an echo of the request with all that was added to it.
const NEVER: [&str; 3] = ["CONNECT", "TRACE", "TRACK"];

/// Fields that name the method which is meant; many frameworks believe them.
const METHOD_FIELDS: [&str; 3] = ["x-http-method-override", "x-http-method", "x-method-override"];

/// Fields for whoever answers, which `Connection` must not name (RFC 9110 section 7.6.1): to take one away would change
/// what is asked.
const END_TO_END: [HeaderName; 20] = [
    AGE,
    ALLOW,
    AUTHORIZATION,
    CACHE_CONTROL,
    COOKIE,
    DATE,
    ETAG,
    EXPIRES,
    FORWARDED,
    HOST,
    LAST_MODIFIED,
    ORIGIN,
    PRAGMA,
    RANGE,
    REFERER,
    USER_AGENT,
    VARY,
    VIA,
    HeaderName::from_static("traceparent"),
    HeaderName::from_static("tracestate"),
];

/// How names of such fields begin or end, where there is a family of them.
const FAMILIES: [&str; 8] =
    ["accept", "content-", "if-", "sec-", "x-forwarded-", "anthropic-", "openai-", "x-goog-"];
const KEYS: [&str; 2] = ["api-key", "-token"];

/// Checks a head.
///
/// # Errors
/// Why it is refused.
pub(super) fn check_head(head: &RequestHeader, bounds: &RequestBounds) -> Result<(), GatewayError> {
    let bad = |why| Err(GatewayError::Api(ApiError::BadRequest(why)));
    if size(head) > bounds.head {
        return Err(GatewayError::Api(ApiError::HeadTooLarge));
    }
    if NEVER.iter().any(|never| head.method.as_str().eq_ignore_ascii_case(never)) {
        return Err(GatewayError::Api(ApiError::MethodNotAllowed(METHODS.to_owned())));
    }
    // Methods are told apart by case (RFC 9110 section 9.1), but not by all servers: another spelling of POST would be one
    // there, and nothing that is known here.
    let is_like =
        |known: &str| known != head.method.as_str() && known.eq_ignore_ascii_case(head.method.as_str());
    if METHODS.split(", ").any(is_like) {
        return Err(GatewayError::Api(ApiError::MethodNotAllowed(METHODS.to_owned())));
    }
    // RFC 9112 section 3.2; of HTTP/2 requests Pingora sees to `:authority`.
    if head.version == Version::HTTP_11 && head.headers.get_all(HOST).iter().count() != 1 {
        return bad("a request must have one Host header");
    }
    if bounds.underscores == Underscores::Refuse && !ambiguous(&head.headers).is_empty() {
        return bad("a header's name has an underscore");
    }
    if options(&head.headers).any(|name| is_end_to_end(&name)) {
        return bad("Connection names a header that is not only for this connection");
    }
    if names_other_method(&head.headers, &head.method) {
        return bad("a header names another method than the request has");
    }
    Ok(())
}

fn size(head: &RequestHeader) -> usize {
    let line = head.raw_path().len() + head.method.as_str().len();
    head.headers.iter().fold(line, |size, (name, value)| size + name.as_str().len() + value.len() + 4)
}

/// What `Connection` names.
fn options(headers: &HeaderMap) -> impl Iterator<Item = String> + '_ {
    let lines = headers.get_all(CONNECTION).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(|name| name.trim().to_ascii_lowercase())
}

fn is_end_to_end(name: &str) -> bool {
    END_TO_END.iter().any(|known| known == name)
        || FAMILIES.iter().any(|family| name.starts_with(family))
        || KEYS.iter().any(|key| name.ends_with(key))
}

fn names_other_method(headers: &HeaderMap, method: &Method) -> bool {
    let hyphened = |name: &HeaderName| name.as_str().replace('_', "-");
    headers
        .iter()
        .filter(|(name, _)| METHOD_FIELDS.contains(&hyphened(name).as_str()))
        .any(|(_, value)| !value.as_bytes().trim_ascii().eq_ignore_ascii_case(method.as_str().as_bytes()))
}

/// Names that many programs take for others.
pub(super) fn ambiguous(headers: &HeaderMap) -> Vec<HeaderName> {
    headers.keys().filter(|name| name.as_str().contains('_')).cloned().collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::gateway::min_rate::ByteRate;

    type Row = (&'static str, &'static [(&'static str, &'static str)], u16);

    const ROWS: &[Row] = &[
        ("GET", &[], 0),
        ("GET", &[("connection", "close, x-mine, TE, upgrade")], 0),
        ("GET", &[("connection", "Host")], 400),
        ("GET", &[("connection", "close"), ("connection", "keep-alive ,\tAUTHORIZATION")], 400),
        ("POST", &[("connection", "content-length")], 400),
        ("POST", &[("connection", "x-api-key")], 400),
        ("POST", &[("connection", "X-Forwarded-For")], 400),
        ("TRACE", &[], 405),
        ("trace", &[], 405),
        ("TRACK", &[], 405),
        ("CONNECT", &[], 405),
        ("POST", &[("x-http-method-override", "post")], 0),
        ("POST", &[("X-HTTP-Method-Override", "DELETE")], 400),
        ("POST", &[("x_http_method", "PUT")], 400),
        ("POST", &[("x-method-override", "POST"), ("x-method-override", "GET")], 400),
    ];

    #[test]
    fn a_head_is_refused_for_what_it_says() {
        let seconds = Duration::from_secs(1);
        let bounds = RequestBounds {
            head: 4096,
            per_request: 0,
            read: seconds,
            write: seconds,
            body_rate: ByteRate { per_second: 1, grace: seconds },
            underscores: Underscores::Pass,
        };
        for (method, fields, status) in ROWS {
            let mut head = RequestHeader::build(*method, b"/", None).unwrap();
            head.append_header("host", "a").unwrap();
            for (name, value) in *fields {
                head.append_header(*name, *value).unwrap();
            }
            let said = match check_head(&head, &bounds) {
                Ok(()) => 0,
                Err(GatewayError::Api(ApiError::MethodNotAllowed(_))) => 405,
                Err(GatewayError::Api(ApiError::BadRequest(_))) => 400,
                Err(other) => panic!("{other:?}"),
            };
            assert_eq!(said, *status, "{method} {fields:?}");
        }
    }
}
