//! [`CallerIdentity`]: by what a caller is known again, whichever of its requests it is.

use std::net::IpAddr;

use http::header::AUTHORIZATION;
use pingora::http::RequestHeader;
use zeroize::Zeroizing;

use crate::api::Caller;
use crate::base::path::percent_decoded;
use crate::gateway::exchange::Exchange;
use crate::gateway::filters::bearer::bearer_in;
use crate::gateway::filters::cookies_and_query::split;
use crate::gateway::filters::head_tokens::{KEY_HEADERS, KEY_PARAMETER};
use crate::gateway::upstream::origin_form;
use crate::redact::{CallerDigest, FindingsCache};

/// By what a caller is known again.
pub enum CallerIdentity {
    /// The id of a token of ours.
    Token(String),
    /// Of a signed token: its issuer and its subject.
    Subject(String, String),
    /// Whom a client certificate names.
    Certificate(String),
    /// All the keys that it sends its provider: of two callers with one in common the other may be a stand-in that many
    /// have, such as `Bearer EMPTY`.
    Keys(Vec<CallerCredential>),
    /// Where it calls from; of IPv6 the /64.
    Address(Option<IpAddr>),
}

impl CallerIdentity {
    /// Whoever sent a request whose head no filter has changed yet.
    pub(super) fn of(x: &Exchange) -> Self {
        if let Some(who) = &x.facts.principal {
            return Self::Token(who.id().to_string());
        }
        let subject = x.facts.claims.as_ref().and_then(|claims| {
            let issuer = claims.get("iss").and_then(|issuer| issuer.as_str()).unwrap_or_default();
            Some(Self::Subject(issuer.to_owned(), claims.subject()?.to_owned()))
        });
        let by_address = || match x.caller_by_address() {
            Caller::Address(address) => Self::Address(address),
            Caller::Token(_) | Caller::Certificate(_) | Caller::Own => Self::Address(None),
        };
        let certificate =
            || x.facts.certificate.as_ref().map(|one| Self::Certificate(one.identity().to_owned()));
        let keys = || Some(provider_keys(x.head())).filter(|keys| !keys.is_empty());
        subject.or_else(certificate).or_else(|| keys().map(Self::Keys)).unwrap_or_else(by_address)
    }

    /// The kind of what it is known by, and that itself: the same parts for the same caller only.
    pub fn name(&self) -> Vec<Zeroizing<Vec<u8>>> {
        let name = |kind: &[u8], parts: &[&[u8]]| {
            let all = std::iter::once(kind).chain(parts.iter().copied());
            all.map(|part| Zeroizing::new(part.to_vec())).collect()
        };
        match self {
            Self::Token(id) => name(b"token", &[id.as_bytes()]),
            Self::Subject(issuer, subject) => name(b"subject", &[issuer.as_bytes(), subject.as_bytes()]),
            Self::Certificate(identity) => name(b"certificate", &[identity.as_bytes()]),
            Self::Keys(keys) => {
                let parts: Vec<&[u8]> = keys.iter().flat_map(CallerCredential::parts).collect();
                name(b"key", &parts)
            }
            Self::Address(Some(address)) => name(b"address", &[address.to_string().as_bytes()]),
            Self::Address(None) => name(b"address", &[]),
        }
    }
}

/// A secret that a caller has from its provider is no shorter, in bytes; a stand-in for one, which many have, mostly is.
const SECRET: usize = 20;

impl CallerIdentity {
    /// Who it is to a cache of what was found in texts; `None` where somebody else may be taken for it: who calls from its
    /// address, or knows the public id of its key. That one could try its texts by the time that they take.
    pub(super) fn among(&self, findings: &FindingsCache) -> Option<CallerDigest> {
        let is_alone = match self {
            Self::Token(_) | Self::Subject(..) | Self::Certificate(_) => true,
            Self::Keys(keys) => keys.iter().any(CallerCredential::is_long_secret),
            Self::Address(_) => false,
        };
        let name = self.name();
        let name = || findings.caller(&name.iter().map(|part| part.as_slice()).collect::<Vec<_>>());
        is_alone.then(name)
    }
}

/// What a caller shows its provider.
#[derive(PartialEq, Eq)]
pub enum CallerCredential {
    /// A secret.
    Secret(Zeroizing<Vec<u8>>),
    /// The public id of a key that each request is signed with anew.
    AccessKey(String),
}

impl CallerCredential {
    fn is_long_secret(&self) -> bool {
        matches!(self, Self::Secret(secret) if secret.len() >= SECRET)
    }
}

impl CallerCredential {
    /// A secret: a key, or the token of a bearer.
    pub fn secret(value: &[u8]) -> Self {
        Self::Secret(Zeroizing::new(value.to_vec()))
    }

    /// Its kind and itself: an access key's id stands in logs, and is nobody's secret.
    fn parts(&self) -> [&[u8]; 2] {
        match self {
            Self::Secret(secret) => [b"secret", secret],
            Self::AccessKey(id) => [b"access key", id.as_bytes()],
        }
    }
}

/// The keys that a request has for its provider, from everywhere that clients send one, each once and in order.
fn provider_keys(head: &RequestHeader) -> Vec<CallerCredential> {
    let authorization = head.headers.get_all(AUTHORIZATION).iter();
    let authorization = authorization.filter_map(|value| credential(value.as_bytes()));
    let headers = KEY_HEADERS.iter().flat_map(|name| head.headers.get_all(*name));
    let headers = headers.map(|value| value.as_bytes().trim_ascii()).filter(|value| !value.is_empty());
    let target = origin_form(head);
    let parameters = split(&target).1.filter_map(|parameter| {
        let value = parameter.strip_prefix(KEY_PARAMETER)?.strip_prefix(b"=")?;
        Some(Zeroizing::new(percent_decoded(value))).filter(|value| !value.is_empty())
    });
    let parameters = parameters.map(CallerCredential::Secret);
    let mut all: Vec<CallerCredential> =
        authorization.chain(headers.map(CallerCredential::secret)).chain(parameters).collect();
    all.sort_unstable_by(|one, other| one.parts().cmp(&other.parts()));
    all.dedup();
    all
}

/// What stays the same in `Authorization`: a bearer's token, and of signatures, each of which is another, the access key
/// that they are made with (AWS Signature Version 4, "Authorization header", and those made after it). Some clients send
/// a key without a scheme.
fn credential(value: &[u8]) -> Option<CallerCredential> {
    let value = value.trim_ascii();
    let text = std::str::from_utf8(value).unwrap_or_default();
    if let Some((_, credential)) = text.split_once("Credential=") {
        let id = credential.split(['/', ',', ' ']).next().unwrap_or_default();
        return Some(CallerCredential::AccessKey(id.to_owned())).filter(|_| !id.is_empty());
    }
    if let Some(token) = bearer_in(text) {
        return Some(CallerCredential::secret(token.as_bytes()));
    }
    let scheme_alone = value.eq_ignore_ascii_case(b"bearer") || value.eq_ignore_ascii_case(b"basic");
    (!value.is_empty() && !scheme_alone).then(|| CallerCredential::secret(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names and values.
    type Headers = &'static [(&'static str, &'static str)];

    fn head(target: &str, headers: Headers) -> RequestHeader {
        let mut head = RequestHeader::build("POST", target.as_bytes(), None).unwrap();
        for (name, value) in headers {
            head.append_header(*name, *value).unwrap();
        }
        head
    }

    /// For whom somebody else may be taken, nothing is kept.
    #[test]
    fn who_cannot_be_told_apart_is_nobody_to_a_cache() {
        let cache = FindingsCache::new(&[7; 32], 1 << 20, std::sync::Arc::default());
        let secret = |value: &str| CallerCredential::secret(value.as_bytes());
        let alone = [
            CallerIdentity::Token("pti_1".to_owned()),
            CallerIdentity::Subject("https://issuer.test".to_owned(), "ann".to_owned()),
            CallerIdentity::Certificate("dns:ann.test".to_owned()),
            CallerIdentity::Keys(vec![secret("sk-5f0c9a7d2b5f0c9a7d2b")]),
            CallerIdentity::Keys(vec![secret("EMPTY"), secret("sk-5f0c9a7d2b5f0c9a7d2b")]),
        ];
        let known: Vec<_> = alone.iter().map(|who| who.among(&cache)).collect();
        for (n, who) in known.iter().enumerate() {
            assert!(who.is_some() && known.iter().skip(n + 1).all(|other| other != who), "{n}");
        }
        let shared = [
            CallerIdentity::Keys(vec![secret("EMPTY")]),
            CallerIdentity::Keys(vec![CallerCredential::AccessKey("AKIAQ3EGPTX7RW5MZK2H".to_owned())]),
            CallerIdentity::Address(Some(IpAddr::from([127, 0, 0, 1]))),
            CallerIdentity::Address(None),
        ];
        assert!(shared.iter().all(|who| who.among(&cache).is_none()));
    }

    #[test]
    fn provider_keys_are_known_wherever_clients_send_them() {
        const SIGNED: &str = "AWS4-HMAC-SHA256 Credential=AKIA1/20261122/us-east-1/bedrock/aws4_request, \
                              SignedHeaders=host, Signature=0a1b";
        const LATER: &str = "AWS4-HMAC-SHA256 Credential=AKIA1/20261123/us-east-1/bedrock/aws4_request, \
                             SignedHeaders=host, Signature=ffff";
        const OTHER: &str = "TC3-HMAC-SHA256 Credential=AKID1/2026-11-22/x/tc3_request, Signature=aa";
        let cases: [(&str, Headers, &[&str]); 17] = [
            ("/", &[("authorization", "Bearer sk-1")], &["sk-1"]),
            ("/", &[("authorization", "bearer  sk-1 ")], &["sk-1"]),
            ("/", &[("x-api-key", "sk-1")], &["sk-1"]),
            ("/", &[("api-key", " sk-1")], &["sk-1"]),
            ("/", &[("x-goog-api-key", "sk-1")], &["sk-1"]),
            ("/v1beta?alt=sse&key=sk%2D1", &[], &["sk-1"]),
            ("/", &[("authorization", "Basic YTpi")], &["Basic YTpi"]),
            ("/", &[("authorization", SIGNED)], &["AKIA1"]),
            ("/", &[("authorization", LATER)], &["AKIA1"]),
            ("/", &[("x-api-key", ""), ("api-key", "sk-2")], &["sk-2"]),
            ("/", &[("authorization", "Bearer EMPTY"), ("x-api-key", "sk-2")], &["EMPTY", "sk-2"]),
            ("/", &[("authorization", "Bearer sk-2"), ("authorization", "Bearer sk-1")], &["sk-1", "sk-2"]),
            ("/?key=sk-1", &[("x-api-key", "sk-1")], &["sk-1"]),
            ("/", &[("authorization", "sk-raw")], &["sk-raw"]),
            ("/", &[("authorization", OTHER)], &["AKID1"]),
            ("/?key=", &[("authorization", "Bearer "), ("x-api-key", " ")], &[]),
            ("/?keys=sk-1", &[("cookie", "key=sk-1")], &[]),
        ];
        for (target, headers, want) in cases {
            let found = provider_keys(&head(target, headers));
            let found: Vec<&[u8]> = found.iter().map(|one| one.parts()[1]).collect();
            let want: Vec<&[u8]> = want.iter().map(|one| one.as_bytes()).collect();
            assert_eq!(found, want, "{target} {headers:?}");
        }
    }
}
