//! [`TokenPosition`]: where in a head the token is that a route asks for.

use http::header::{AUTHORIZATION, COOKIE, HeaderName};
use pingora::http::RequestHeader;

use crate::base::path::percent_decoded;
use crate::gateway::filters::bearer::{bearer, only};
use crate::gateway::filters::cookies_and_query::{is_named, retain_cookies, retain_query};

/// Where the token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenPosition {
    /// `Authorization: Bearer …` (RFC 6750 section 2.1).
    Bearer,
    /// A header that is the token.
    Header(HeaderName),
    /// A cookie.
    Cookie(String),
    /// A parameter of the query.
    Query(String),
}

impl TokenPosition {
    /// The token, if it is there exactly once.
    pub(super) fn find(&self, head: &RequestHeader) -> Option<String> {
        match self {
            Self::Bearer => bearer(&head.headers).map(str::to_owned),
            Self::Header(name) => only(&head.headers, name).map(|token| token.trim().to_owned()),
            Self::Cookie(name) => {
                let cookies = head.headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
                let pairs =
                    cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
                let mut found = pairs.filter(|(key, _)| key == name).map(|(_, value)| value.to_owned());
                let (one, None) = (found.next()?, found.next()) else { return None };
                Some(one)
            }
            Self::Query(name) => {
                let named =
                    head.uri.query()?.split('&').filter(|one| is_named(one.as_bytes(), name.as_bytes()));
                let mut found = named.filter_map(|one| one.split_once('=')).map(|(_, value)| value);
                let (one, None) = (found.next()?, found.next()) else { return None };
                String::from_utf8(percent_decoded(one.as_bytes())).ok()
            }
        }
    }

    /// Takes the token out of a head.
    pub(super) fn strip(&self, head: &mut RequestHeader) {
        match self {
            Self::Bearer => drop(head.remove_header(&AUTHORIZATION)),
            Self::Header(name) => drop(head.remove_header(name)),
            Self::Cookie(name) => {
                retain_cookies(head, |cookie| key_of(cookie).trim_ascii() != name.as_bytes());
            }
            Self::Query(name) => {
                drop(retain_query(head, |parameter| !is_named(parameter, name.as_bytes())));
            }
        }
    }
}

/// What stands before the `=`; nothing where there is none.
fn key_of(pair: &[u8]) -> &[u8] {
    pair.iter().position(|byte| *byte == b'=').and_then(|at| pair.get(..at)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(path: &str, headers: &[(&'static str, &str)]) -> RequestHeader {
        let mut head = RequestHeader::build("GET", path.as_bytes(), None).unwrap();
        for (name, value) in headers {
            head.append_header(*name, *value).unwrap();
        }
        head
    }

    #[test]
    fn a_token_is_found_once_and_taken_out() {
        let named = HeaderName::from_static("x-token");
        type Row =
            (TokenPosition, &'static str, &'static [(&'static str, &'static str)], Option<&'static str>);
        let rows: &[Row] = &[
            (TokenPosition::Bearer, "/", &[("authorization", "Bearer a.b.c")], Some("a.b.c")),
            (TokenPosition::Bearer, "/", &[("authorization", "Basic a.b.c")], None),
            (TokenPosition::Bearer, "/", &[("authorization", "Bearer a b")], None),
            (TokenPosition::Bearer, "/", &[("authorization", "Bearer ")], None),
            (
                TokenPosition::Bearer,
                "/",
                &[("authorization", "Bearer a"), ("authorization", "Bearer b")],
                None,
            ),
            (TokenPosition::Header(named.clone()), "/", &[("x-token", "a.b.c")], Some("a.b.c")),
            (TokenPosition::Cookie("s".into()), "/", &[("cookie", "t=1; s=a.b.c; u=2")], Some("a.b.c")),
            (TokenPosition::Cookie("s".into()), "/", &[("cookie", "s=a"), ("cookie", "s=b")], None),
            (TokenPosition::Query("t".into()), "/p?x=1&t=a.b.c", &[], Some("a.b.c")),
            (TokenPosition::Query("t".into()), "/p?t=a%2Bb%3D&x", &[], Some("a+b=")),
            (TokenPosition::Query("t".into()), "/p?t=a&t=b", &[], None),
            (TokenPosition::Query("t".into()), "/p?%74=a", &[], Some("a")),
            (TokenPosition::Query("t".into()), "/p?t=a&%74=b", &[], None),
            (TokenPosition::Query("t".into()), "/p?t=a&%2574=b&T=c", &[], Some("a")),
        ];
        for (place, path, headers, found) in rows {
            let mut head = head(path, headers);
            assert_eq!(place.find(&head).as_deref(), *found, "{place:?} {path}");
            if found.is_some() {
                place.strip(&mut head);
                assert!(place.find(&head).is_none());
            }
        }
        let mut cookies = head("/p?t=a", &[("cookie", "t=1; s=a; u=2")]);
        TokenPosition::Cookie("s".into()).strip(&mut cookies);
        TokenPosition::Query("t".into()).strip(&mut cookies);
        assert_eq!(cookies.headers.get(COOKIE).unwrap(), "t=1; u=2");
        assert_eq!(cookies.uri.to_string(), "/p");
        let mut query = head("/p?%74=a&x=%74", &[]);
        TokenPosition::Query("t".into()).strip(&mut query);
        assert_eq!(query.uri.to_string(), "/p?x=%74");
    }
}
