//! The address of a caller behind other proxies: only what a trusted peer says of it counts, be it in a PROXY head or in
//! a header. Whatever else says so is removed from requests.

use std::net::{IpAddr, SocketAddr};

use http::header::{FORWARDED, HeaderMap, HeaderName, HeaderValue};

use crate::base::address::CidrBlock;

/// Which header a trusted peer says it in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForwardedHeader {
    /// None: the peer is the caller, or the PROXY protocol says who is.
    #[default]
    Nothing,
    /// `X-Forwarded-For`, addresses from the caller's to the last proxy's.
    XForwardedFor,
    /// `Forwarded` (RFC 7239).
    Forwarded,
    /// `X-Real-IP`, one address.
    XRealIp,
}

/// What becomes of header fields with an underscore in the name, which many programs behind us would take for a hyphen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Underscores {
    /// They do not go on.
    #[default]
    Drop,
    /// The request is refused.
    Refuse,
    /// They go on.
    Pass,
}

/// Finds the address of a caller: which peers are trusted, and which header they write.
#[derive(Clone, Debug, Default)]
pub struct ClientResolver {
    trusted: Vec<CidrBlock>,
    header: ForwardedHeader,
}

impl ClientResolver {
    /// Of peers in `trusted` that header counts.
    pub fn new(trusted: Vec<CidrBlock>, header: ForwardedHeader) -> Self {
        Self { trusted, header }
    }

    /// Whether a peer is trusted.
    pub fn trusts(&self, peer: IpAddr) -> bool {
        self.trusted.iter().any(|block| block.holds(peer.to_canonical()))
    }

    /// Who is behind a request with these headers on a connection of `peer`: the last one that no trusted peer speaks
    /// for. Where the chain cannot be read, whoever could not be seen through.
    pub fn of(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        if !self.trusts(peer) {
            return peer;
        }
        let mut client = peer;
        for hop in self.hops(headers).into_iter().rev() {
            let Some(address) = hop else { break };
            client = address.to_canonical();
            if !self.trusts(client) {
                break;
            }
        }
        client
    }

    /// The addresses that are named, from the caller's on; `None` for what is none.
    fn hops(&self, headers: &HeaderMap) -> Vec<Option<IpAddr>> {
        let list = |name: HeaderName, read: fn(&str) -> Option<IpAddr>| {
            let lines = headers.get_all(name).into_iter().map(HeaderValue::to_str);
            let each = lines.flat_map(|line| line.unwrap_or("?").split(','));
            each.map(|part| read(part.trim())).collect()
        };
        match self.header {
            ForwardedHeader::Nothing => Vec::new(),
            ForwardedHeader::XForwardedFor => list(HeaderName::from_static("x-forwarded-for"), address),
            ForwardedHeader::XRealIp => list(HeaderName::from_static("x-real-ip"), address),
            ForwardedHeader::Forwarded => list(FORWARDED, |element| {
                let parameters = element.split(';').filter_map(|pair| pair.split_once('='));
                let mut names = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("for"));
                let (_, value) = names.next()?;
                address(value.trim().trim_matches('"'))
            }),
        }
    }
}

/// An address, perhaps with a port (RFC 7239 section 6).
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok().or_else(|| text.parse().ok().map(|socket: SocketAddr| socket.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clients(says: ForwardedHeader) -> ClientResolver {
        ClientResolver::new(vec!["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()], says)
    }

    fn of(says: ForwardedHeader, peer: &str, lines: &[(&'static str, &'static str)]) -> String {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        clients(says).of(peer.parse().unwrap(), &headers).to_string()
    }

    #[test]
    fn only_trusted_peers_are_believed() {
        let told = [("x-forwarded-for", "192.0.2.1")];
        assert_eq!(of(ForwardedHeader::XForwardedFor, "10.1.1.1", &told), "192.0.2.1");
        assert_eq!(of(ForwardedHeader::XForwardedFor, "198.51.100.1", &told), "198.51.100.1");
        assert_eq!(of(ForwardedHeader::Nothing, "10.1.1.1", &told), "10.1.1.1");
        assert_eq!(of(ForwardedHeader::XRealIp, "10.1.1.1", &told), "10.1.1.1");
    }

    #[test]
    fn what_a_caller_claims_is_seen_through() {
        let lines = [("x-forwarded-for", "1.1.1.1, 192.0.2.1"), ("x-forwarded-for", "10.2.2.2:4711")];
        assert_eq!(of(ForwardedHeader::XForwardedFor, "10.1.1.1", &lines), "192.0.2.1");
        let broken = [("x-forwarded-for", "1.1.1.1, unknown, 10.2.2.2")];
        assert_eq!(of(ForwardedHeader::XForwardedFor, "10.1.1.1", &broken), "10.2.2.2");
        assert_eq!(of(ForwardedHeader::XForwardedFor, "10.1.1.1", &[]), "10.1.1.1");
    }

    #[test]
    fn the_standard_header_is_read() {
        let line = [("forwarded", "for=1.1.1.1, For=\"[2001:db8::1]:4711\";proto=https, for=10.2.2.2;by=x")];
        assert_eq!(of(ForwardedHeader::Forwarded, "fd00::1", &line), "2001:db8::1");
        assert_eq!(of(ForwardedHeader::Forwarded, "fd00::1", &[("forwarded", "for=_hidden")]), "fd00::1");
    }
}
