//! What a head has on its way out, and what it leaves behind.

use http::header::{
    CONNECTION, HOST, HeaderMap, HeaderName, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use pingora::Error;
use pingora::http::RequestHeader;

/// Fields by which frameworks and servers take another target than the request line has: the route was found by that one.
const TARGETS: [&str; 15] = [
    "x-original-url",
    "x-original-uri",
    "x-original-path",
    "x-original-host",
    "x-original-method",
    "x-rewrite-url",
    "x-rewrite-uri",
    "x-override-url",
    "x-envoy-original-path",
    "x-envoy-original-host",
    "x-host",
    "x-http-host-override",
    "x-http-destinationurl",
    "x-proxy-url",
    "base-url",
];

/// Fields in which proxies say who the caller is, how it came, or which certificate it has shown. A caller's own word for
/// that is not to be believed.
const CALLERS: [&str; 40] = [
    "forwarded",
    "forwarded-for",
    "x-real-ip",
    "true-client-ip",
    "x-true-client-ip",
    "client-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-originating-ip",
    "x-original-forwarded-for",
    "x-original-remote-addr",
    "x-remote-ip",
    "x-remote-addr",
    "remote-addr",
    "x-proxyuser-ip",
    "proxy-client-ip",
    "wl-proxy-client-ip",
    "wl-proxy-ssl",
    "cf-connecting-ip",
    "cf-connecting-ipv6",
    "cf-pseudo-ipv4",
    "cf-visitor",
    "fastly-client-ip",
    "fly-client-ip",
    "do-connecting-ip",
    "x-azure-clientip",
    "x-azure-socketip",
    "x-appengine-user-ip",
    "x-appengine-remote-addr",
    "x-vercel-proxied-for",
    "x-envoy-external-address",
    "x-envoy-internal",
    "cloudfront-viewer-address",
    "x-scheme",
    "x-url-scheme",
    "front-end-https",
    "ssl-client-cert",
    "ssl-client-verify",
    "x-ssl-client-cert",
    "x-client-cert",
];

/// Fields that end at this hop.
const HOP_BY_HOP: [HeaderName; 7] =
    [CONNECTION, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];

/// Others, without a standard's name.
const ENDED: [&str; 3] = ["keep-alive", "proxy-connection", "http2-settings"];

/// Takes away what ends at this hop (RFC 9110 section 7.6.1), and what a caller says about its target and itself.
pub(super) fn strip(head: &mut RequestHeader) {
    strip_hop_by_hop(&head.headers).iter().for_each(|name| drop(head.remove_header(name)));
    strip_where(head, is_stripped);
}

/// Whether a field of this name, in small letters, never goes on to an upstream as it came.
pub fn is_stripped(name: &str) -> bool {
    TARGETS.contains(&name) || CALLERS.contains(&name) || name.starts_with("x-forwarded")
}

/// Whether no header of this name leaves for an upstream, whoever has set it.
pub fn never_leaves(name: &HeaderName) -> bool {
    let plain = name.as_str().replace('_', "-");
    let plain = plain.as_str();
    let ends_here = HOP_BY_HOP.iter().any(|ended| ended.as_str() == plain) || ENDED.contains(&plain);
    ends_here || is_stripped(plain)
}

/// Takes fields away by their names, an underscore of which many servers take for a hyphen.
fn strip_where(head: &mut RequestHeader, goes: impl Fn(&str) -> bool) {
    let names = head.headers.keys().filter(|name| match name.as_str() {
        plain if !plain.contains('_') => goes(plain),
        other => goes(&other.replace('_', "-")),
    });
    let names: Vec<HeaderName> = names.cloned().collect();
    names.iter().for_each(|name| drop(head.remove_header(name)));
}

/// Makes a caller's head one for somebody else's upstream: nothing that ends at this hop or gives another target, and the
/// host it asks for in `Host` (RFC 9112 section 3.2).
///
/// # Errors
/// Pingora's, for a head that cannot be written.
pub fn plain(head: &mut RequestHeader) -> Result<(), Box<Error>> {
    strip_hop_by_hop(&head.headers).iter().for_each(|name| drop(head.remove_header(name)));
    strip_where(head, |name| TARGETS.contains(&name));
    let authority = head.uri.authority().map(|authority| authority.as_str().to_owned());
    head.set_raw_path(&origin_form(head))?;
    if let Some(authority) = authority {
        head.insert_header(HOST, authority)?;
    }
    Ok(())
}

/// The target as an origin server is asked for it (RFC 9112 section 3.2.1), whatever form the caller chose: Pingora keeps
/// an absolute one as it came.
pub(in crate::gateway) fn origin_form(head: &RequestHeader) -> Vec<u8> {
    match head.raw_path() {
        raw @ ([b'/', ..] | b"*") => raw.to_vec(),
        _ => head.uri.path_and_query().map_or("/", |path| path.as_str()).as_bytes().to_vec(),
    }
}

/// The names of `headers` that end at this hop: the standard ones, and those that `Connection` names.
pub fn strip_hop_by_hop(headers: &HeaderMap) -> Vec<HeaderName> {
    let extra = ENDED.map(HeaderName::from_static);
    let named = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named =
        named.flat_map(|list| list.split(',')).filter_map(|name| name.trim().parse::<HeaderName>().ok());
    HOP_BY_HOP.into_iter().chain(extra).chain(named).filter(|name| headers.contains_key(name)).collect()
}
