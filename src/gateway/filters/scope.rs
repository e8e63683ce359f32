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
use crate::gateway::filters::pairs::split;
use crate::gateway::filters::presented::{KEY_HEADERS, KEY_PARAMETER, percent_decoded};
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
#[derive(Debug, PartialEq, Eq)]
enum Who {
    Token(String),
    /// Of a signed token: its issuer and its subject.
    Subject(String, String),
    /// A secret of the caller's, or who it says it is where that is signed anew in each request.
    Key(Zeroizing<Vec<u8>>),
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
        subject.or_else(|| provider_key(x.head()).map(Self::Key)).unwrap_or_else(by_address)
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
            Self::Key(secret) => scope(b"key", &[secret]),
            Self::Address(Some(address)) => scope(b"address", &[address.to_string().as_bytes()]),
            Self::Address(None) => scope(b"address", &[]),
        }
    }
}

/// The key that a request has for its provider, from where clients send one: the first of them, if there are several.
fn provider_key(head: &RequestHeader) -> Option<Zeroizing<Vec<u8>>> {
    let authorization = head.headers.get(AUTHORIZATION).and_then(|value| credentials(value.as_bytes()));
    let header = || KEY_HEADERS.iter().find_map(|name| named_in(head, &HeaderName::from_static(name)));
    if let Some(found) = authorization.or_else(header) {
        return Some(Zeroizing::new(found.to_vec()));
    }
    let target = origin_form(head);
    let (_, mut parameters) = split(&target);
    parameters.find_map(|parameter| {
        let value = parameter.strip_prefix(KEY_PARAMETER)?.strip_prefix(b"=")?;
        let value = Zeroizing::new(percent_decoded(value));
        (!value.is_empty()).then_some(value)
    })
}

/// What stays the same in `Authorization`: a bearer's token, and of AWS's signatures, each of which is another, the access
/// key that they are made with (Signature Version 4, "Authorization header").
fn credentials(value: &[u8]) -> Option<&[u8]> {
    let value = value.trim_ascii();
    let text = std::str::from_utf8(value).unwrap_or_default();
    if let Some(signature) = text.strip_prefix("AWS4-") {
        let (_, credential) = signature.split_once("Credential=")?;
        let access_key = credential.split(['/', ',', ' ']).next().unwrap_or_default();
        return Some(access_key.as_bytes()).filter(|key| !key.is_empty());
    }
    match bearer_in(text) {
        Some(token) => Some(token.as_bytes()),
        None => Some(value).filter(|value| value.contains(&b' ')),
    }
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
    fn a_provider_key_is_known_wherever_clients_send_it() {
        const SIGNED: &str = "AWS4-HMAC-SHA256 Credential=AKIA1/20261122/us-east-1/bedrock/aws4_request, \
                              SignedHeaders=host, Signature=0a1b";
        const LATER: &str = "AWS4-HMAC-SHA256 Credential=AKIA1/20261123/us-east-1/bedrock/aws4_request, \
                             SignedHeaders=host, Signature=ffff";
        let cases: [(&str, Headers, Option<&str>); 13] = [
            ("/", &[("authorization", "Bearer sk-1")], Some("sk-1")),
            ("/", &[("authorization", "bearer  sk-1 ")], Some("sk-1")),
            ("/", &[("x-api-key", "sk-1")], Some("sk-1")),
            ("/", &[("api-key", " sk-1")], Some("sk-1")),
            ("/", &[("x-goog-api-key", "sk-1")], Some("sk-1")),
            ("/v1beta?alt=sse&key=sk%2D1", &[], Some("sk-1")),
            ("/", &[("authorization", "Basic YTpi")], Some("Basic YTpi")),
            ("/", &[("authorization", SIGNED)], Some("AKIA1")),
            ("/", &[("authorization", LATER)], Some("AKIA1")),
            ("/", &[("x-api-key", ""), ("api-key", "sk-2")], Some("sk-2")),
            ("/", &[("authorization", "Bearer sk-1"), ("x-api-key", "sk-2")], Some("sk-1")),
            ("/?key=", &[("authorization", "Bearer "), ("x-api-key", " ")], None),
            ("/?keys=sk-1", &[("cookie", "key=sk-1")], None),
        ];
        for (target, headers, want) in cases {
            let found = provider_key(&head(target, headers));
            assert_eq!(found.as_deref().map(Vec::as_slice), want.map(str::as_bytes), "{target} {headers:?}");
        }
    }

    /// No two of these are the same, whatever stands in their parts.
    #[test]
    fn scopes_differ_where_anything_does() {
        let key = FpeKey::new(Secret::new(vec![7; 32])).unwrap();
        let who = [
            Who::Token("pti_1".to_owned()),
            Who::Key(Zeroizing::new(b"pti_1".to_vec())),
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
