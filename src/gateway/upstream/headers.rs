//! What a head has on its way out, and what it leaves behind.

use http::header::{
    CONNECTION, HOST, HeaderMap, HeaderName, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use pingora::Error;
use pingora::http::RequestHeader;

/// What a caller says about forwarding is not to be believed.
const FORWARDING: [&str; 6] = [
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-forwarded-port",
    "x-real-ip",
];

/// Takes away what ends at this hop (RFC 9110 section 7.6.1), and what a caller says about forwarding.
pub(super) fn strip(head: &mut RequestHeader) {
    strip_hop_by_hop(&head.headers).iter().for_each(|name| drop(head.remove_header(name)));
    for name in FORWARDING {
        head.remove_header(name);
    }
}

/// Makes a caller's head one for somebody else's upstream: nothing that ends at this hop, and the host it asks for in
/// `Host` (RFC 9112 section 3.2).
///
/// # Errors
/// Pingora's, for a head that cannot be written.
pub fn plain(head: &mut RequestHeader) -> Result<(), Box<Error>> {
    strip_hop_by_hop(&head.headers).iter().for_each(|name| drop(head.remove_header(name)));
    let authority = head.uri.authority().map(|authority| authority.as_str().to_owned());
    head.set_raw_path(&origin_form(head))?;
    if let Some(authority) = authority {
        head.insert_header(HOST, authority)?;
    }
    Ok(())
}

/// The target as an origin server is asked for it (RFC 9112 section 3.2.1), whatever form the caller chose: Pingora keeps
/// an absolute one as it came.
pub(super) fn origin_form(head: &RequestHeader) -> Vec<u8> {
    match head.raw_path() {
        raw @ ([b'/', ..] | b"*") => raw.to_vec(),
        _ => head.uri.path_and_query().map_or("/", |path| path.as_str()).as_bytes().to_vec(),
    }
}

/// The names of `headers` that end at this hop: the standard ones, and those that `Connection` names.
pub fn strip_hop_by_hop(headers: &HeaderMap) -> Vec<HeaderName> {
    let standard =
        [CONNECTION, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];
    let extra = ["keep-alive", "proxy-connection", "http2-settings"].map(HeaderName::from_static);
    let named = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named =
        named.flat_map(|list| list.split(',')).filter_map(|name| name.trim().parse::<HeaderName>().ok());
    standard.into_iter().chain(extra).chain(named).filter(|name| headers.contains_key(name)).collect()
}
