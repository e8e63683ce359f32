//! Within what the surrogates of a route look alike: what their tweak is derived from. A conversation must keep them over
//! all of its turns, since what goes upstream for an earlier turn must not change; so they go by what stays the same in it.

use http::HeaderName;
use pingora::http::RequestHeader;

use crate::crypto::fpe::FpeKey;
use crate::gateway::exchange::Exchange;
use crate::gateway::filters::caller_identity::CallerIdentity;
use crate::gateway::llm::conversation;
use crate::redact::SurrogateScope;

/// What equal values get equal surrogates within. A route is known by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TweakScope {
    /// The route.
    Route,
    /// The route and its caller: who has a token of ours is known by that, whoever brought a signed one by its subject,
    /// others by the key that they send the provider, and whoever sends none by address (of IPv6 the /64).
    Caller,
    /// The route and the conversation: by the id that the provider gave it before its first turn, else by this header,
    /// else as for [`TweakScope::Caller`].
    Conversation {
        /// Which header names one.
        header: Option<HeaderName>,
    },
}

impl TweakScope {
    /// Whether the request's body may name the conversation.
    pub(super) fn is_in_body(&self, x: &Exchange) -> bool {
        matches!(self, Self::Conversation { .. }) && conversation::may_be_in_body(x.path())
    }

    /// The scope of a request whose body names no conversation.
    pub(super) fn of_head(&self, x: &Exchange, key: &FpeKey) -> SurrogateScope {
        let route = x.route().name.as_str();
        match self {
            Self::Route => SurrogateScope::of(key, &[b"route", route.as_bytes()]),
            Self::Caller => of_caller(&CallerIdentity::of(x), key, route),
            Self::Conversation { header } => {
                if let Some(id) = conversation::in_path(x.path()) {
                    return of_conversation(key, route, id);
                }
                let named = header.as_ref().and_then(|name| named_in(x.head(), name));
                match named {
                    Some(id) => SurrogateScope::of(key, &[b"session", route.as_bytes(), id]),
                    None => of_caller(&CallerIdentity::of(x), key, route),
                }
            }
        }
    }
}

/// The scope of a caller.
fn of_caller(who: &CallerIdentity, key: &FpeKey, route: &str) -> SurrogateScope {
    let name = who.name();
    let name = name.iter().map(|part| part.as_slice());
    let all: Vec<&[u8]> = [b"caller", route.as_bytes()].into_iter().chain(name).collect();
    SurrogateScope::of(key, &all)
}

/// The scope of a conversation that its provider knows by `id`.
pub(super) fn of_conversation(key: &FpeKey, route: &str, id: &str) -> SurrogateScope {
    SurrogateScope::of(key, &[b"conversation", route.as_bytes(), id.as_bytes()])
}

/// The value of a header, if there is one.
fn named_in<'h>(head: &'h RequestHeader, name: &HeaderName) -> Option<&'h [u8]> {
    head.headers.get(name).map(|value| value.as_bytes().trim_ascii()).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use crate::base::secret::Secret;
    use crate::gateway::filters::caller_identity::CallerCredential;

    /// No two of these are the same, whatever stands in their parts.
    #[test]
    fn scopes_differ_where_anything_does() {
        let key = FpeKey::new(Secret::new(vec![7; 32])).unwrap();
        let who = [
            CallerIdentity::Token("pti_1".to_owned()),
            CallerIdentity::Keys(vec![CallerCredential::secret(b"pti_1")]),
            CallerIdentity::Keys(vec![CallerCredential::AccessKey("pti_1".to_owned())]),
            CallerIdentity::Keys(vec![CallerCredential::secret(b"pti"), CallerCredential::secret(b"_1")]),
            CallerIdentity::Subject("pti_1".to_owned(), String::new()),
            CallerIdentity::Subject(String::new(), "pti_1".to_owned()),
            CallerIdentity::Subject("pti".to_owned(), "_1".to_owned()),
            CallerIdentity::Certificate("pti_1".to_owned()),
            CallerIdentity::Certificate("pti".to_owned()),
            CallerIdentity::Address(None),
            CallerIdentity::Address(Some(IpAddr::from([127, 0, 0, 1]))),
            CallerIdentity::Address(Some(IpAddr::from([127, 0, 0, 2]))),
        ];
        let mut scopes: Vec<SurrogateScope> = Vec::new();
        for route in ["a", "ab"] {
            scopes.extend(who.iter().map(|who| of_caller(who, &key, route)));
            scopes.push(of_conversation(&key, route, "pti_1"));
            scopes.push(SurrogateScope::of(&key, &[b"session", route.as_bytes(), b"pti_1"]));
            scopes.push(SurrogateScope::of(&key, &[b"route", route.as_bytes()]));
        }
        scopes.push(of_conversation(&key, "a", "bpti_1"));
        scopes.push(SurrogateScope::default());
        for (at, one) in scopes.iter().enumerate() {
            assert!(scopes.iter().skip(at + 1).all(|other| other != one), "{at}");
        }
        let token = || CallerIdentity::Token("x".to_owned());
        assert!(of_caller(&token(), &key, "a") == of_caller(&token(), &key, "a"));
    }
}
