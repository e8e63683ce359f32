//! Within what the surrogates of a route look alike: what their tweak is derived from. A conversation must keep them over
//! all of its turns, since what goes upstream for an earlier turn must not change; so they go by what stays the same in it.

use std::net::IpAddr;

use http::HeaderName;
use http::header::AUTHORIZATION;
use pingora::http::RequestHeader;
use zeroize::Zeroizing;

use crate::api::Caller;
use crate::crypto::fpe::FpeKey;
use crate::gateway::exchange::Exchange;
use crate::gateway::filters::bearer::bearer_in;
use crate::gateway::filters::cookies_and_query::split;
use crate::gateway::filters::head_tokens::{KEY_HEADERS, KEY_PARAMETER, percent_decoded};
use crate::gateway::llm::conversation;
use crate::gateway::upstream::origin_form;
use crate::redact::Scope;

/// What equal values get equal surrogates within. A route is known by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tweak {
    /// The route.
    Route,
    /// The route and its caller: who has a token of ours is known by that, whoever brought a signed one by its subject,
    /// others by the key that they send the provider, and whoever sends none by address (of IPv6 the /64).
    Caller,
    /// The route and the conversation: by the id that the provider gave it before its first turn, else by this header,
    /// else as for [`Tweak::Caller`].
    Conversation {
        /// Which header names one.
        header: Option<HeaderName>,
    },
}

impl Tweak {
    /// Whether the request's body may name the conversation.
    pub(super) fn is_in_body(&self, x: &Exchange) -> bool {
        matches!(self, Self::Conversation { .. }) && conversation::may_be_in_body(x.path())
    }

    /// The scope of a request whose body names no conversation.
    pub(super) fn of_head(&self, x: &Exchange, key: &FpeKey) -> Scope {
        let route = x.route().name.as_str();
        match self {
            Self::Route => Scope::of(key, &[b"route", route.as_bytes()]),
            Self::Caller => Who::of(x).scope(key, route),
            Self::Conversation { header } => {
                if let Some(id) = conversation::in_path(x.path()) {
                    return of_conversation(key, route, id);
                }
                let named = header.as_ref().and_then(|name| named_in(x.head(), name));
                match named {
                    Some(id) => Scope::of(key, &[b"session", route.as_bytes(), id]),
                    None => Who::of(x).scope(key, route),
                }
            }
        }
    }
}

/// The scope of a conversation that its provider knows by `id`.
pub(super) fn of_conversation(key: &FpeKey, route: &str, id: &str) -> Scope {
    Scope::of(key, &[b"conversation", route.as_bytes(), id.as_bytes()])
}

/// The value of a header, if there is one.
fn named_in<'h>(head: &'h RequestHeader, name: &HeaderName) -> Option<&'h [u8]> {
    head.headers.get(name).map(|value| value.as_bytes().trim_ascii()).filter(|value| !value.is_empty())
}

/// By what a caller is known again.
enum Who {
    Token(String),
    /// Of a signed token: its issuer and its subject.
    Subject(String, String),
    /// All the keys that it sends its provider: of two callers with one in common the other may be a stand-in that many
    /// have, such as `Bearer EMPTY`.
    Keys(Vec<Credential>),
    Address(Option<IpAddr>),
}

impl Who {
    fn of(x: &Exchange) -> Self {
        if let Some(who) = &x.facts.who {
            return Self::Token(who.id().to_string());
        }
        let subject = x.facts.claims.as_ref().and_then(|claims| {
            let issuer = claims.get("iss").and_then(|issuer| issuer.as_str()).unwrap_or_default();
            Some(Self::Subject(issuer.to_owned(), claims.subject()?.to_owned()))
        });
        let by_address = || match x.caller_by_address() {
            Caller::Address(address) => Self::Address(address),
            Caller::Token(_) | Caller::Own => Self::Address(None),
        };
        let keys = || Some(provider_keys(x.head())).filter(|keys| !keys.is_empty());
        subject.or_else(|| keys().map(Self::Keys)).unwrap_or_else(by_address)
    }

    fn scope(&self, key: &FpeKey, route: &str) -> Scope {
        let scope = |kind: &[u8], parts: &[&[u8]]| {
            let all: Vec<&[u8]> =
                [b"caller", route.as_bytes(), kind].into_iter().chain(parts.iter().copied()).collect();
            Scope::of(key, &all)
        };
        match self {
            Self::Token(id) => scope(b"token", &[id.as_bytes()]),
            Self::Subject(issuer, subject) => scope(b"subject", &[issuer.as_bytes(), subject.as_bytes()]),
            Self::Keys(keys) => {
                let parts: Vec<&[u8]> = keys.iter().flat_map(Credential::parts).collect();
                scope(b"key", &parts)
            }
            Self::Address(Some(address)) => scope(b"address", &[address.to_string().as_bytes()]),
            Self::Address(None) => scope(b"address", &[]),
        }
    }
}

/// What a caller shows its provider.
#[derive(PartialEq, Eq)]
enum Credential {
    Secret(Zeroizing<Vec<u8>>),
    /// The public id of a key that each request is signed with anew.
    AccessKey(String),
}

impl Credential {
    fn secret(value: &[u8]) -> Self {
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
fn provider_keys(head: &RequestHeader) -> Vec<Credential> {
    let authorization = head.headers.get_all(AUTHORIZATION).iter();
    let authorization = authorization.filter_map(|value| credential(value.as_bytes()));
    let headers = KEY_HEADERS.iter().flat_map(|name| head.headers.get_all(*name));
    let headers = headers.map(|value| value.as_bytes().trim_ascii()).filter(|value| !value.is_empty());
    let target = origin_form(head);
    let parameters = split(&target).1.filter_map(|parameter| {
        let value = parameter.strip_prefix(KEY_PARAMETER)?.strip_prefix(b"=")?;
        Some(Zeroizing::new(percent_decoded(value))).filter(|value| !value.is_empty())
    });
    let parameters = parameters.map(Credential::Secret);
    let mut all: Vec<Credential> =
        authorization.chain(headers.map(Credential::secret)).chain(parameters).collect();
    all.sort_unstable_by(|one, other| one.parts().cmp(&other.parts()));
    all.dedup();
    all
}

/// What stays the same in `Authorization`: a bearer's token, and of signatures, each of which is another, the access key
/// that they are made with (AWS Signature Version 4, "Authorization header", and those made after it). Some clients send
/// a key without a scheme.
fn credential(value: &[u8]) -> Option<Credential> {
    let value = value.trim_ascii();
    let text = std::str::from_utf8(value).unwrap_or_default();
    if let Some((_, credential)) = text.split_once("Credential=") {
        let id = credential.split(['/', ',', ' ']).next().unwrap_or_default();
        return Some(Credential::AccessKey(id.to_owned())).filter(|_| !id.is_empty());
    }
    if let Some(token) = bearer_in(text) {
        return Some(Credential::secret(token.as_bytes()));
    }
    let scheme_alone = value.eq_ignore_ascii_case(b"bearer") || value.eq_ignore_ascii_case(b"basic");
    (!value.is_empty() && !scheme_alone).then(|| Credential::secret(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::secret::Secret;

    /// Names and values.
    type Headers = &'static [(&'static str, &'static str)];

    fn head(target: &str, headers: Headers) -> RequestHeader {
        let mut head = RequestHeader::build("POST", target.as_bytes(), None).unwrap();
        for (name, value) in headers {
            head.append_header(*name, *value).unwrap();
        }
        head
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

    /// No two of these are the same, whatever stands in their parts.
    #[test]
    fn scopes_differ_where_anything_does() {
        let key = FpeKey::new(Secret::new(vec![7; 32])).unwrap();
        let who = [
            Who::Token("pti_1".to_owned()),
            Who::Keys(vec![Credential::secret(b"pti_1")]),
            Who::Keys(vec![Credential::AccessKey("pti_1".to_owned())]),
            Who::Keys(vec![Credential::secret(b"pti"), Credential::secret(b"_1")]),
            Who::Subject("pti_1".to_owned(), String::new()),
            Who::Subject(String::new(), "pti_1".to_owned()),
            Who::Subject("pti".to_owned(), "_1".to_owned()),
            Who::Address(None),
            Who::Address(Some(IpAddr::from([127, 0, 0, 1]))),
            Who::Address(Some(IpAddr::from([127, 0, 0, 2]))),
        ];
        let mut scopes: Vec<Scope> = Vec::new();
        for route in ["a", "ab"] {
            scopes.extend(who.iter().map(|who| who.scope(&key, route)));
            scopes.push(of_conversation(&key, route, "pti_1"));
            scopes.push(Scope::of(&key, &[b"session", route.as_bytes(), b"pti_1"]));
            scopes.push(Scope::of(&key, &[b"route", route.as_bytes()]));
        }
        scopes.push(of_conversation(&key, "a", "bpti_1"));
        scopes.push(Scope::default());
        for (at, one) in scopes.iter().enumerate() {
            assert!(scopes.iter().skip(at + 1).all(|other| other != one), "{at}");
        }
        assert!(Who::Token("x".to_owned()).scope(&key, "a") == Who::Token("x".to_owned()).scope(&key, "a"));
    }
}
