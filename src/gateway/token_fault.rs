//! [`TokenFault`]: what is wrong with a token of somebody else's, as RFC 6750 section 3.1 has callers told.

use http::{HeaderValue, StatusCode};

use crate::api::CHALLENGE;

/// What is wrong with a caller's token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenFault {
    /// It is none, nobody who may has signed it, its time is not now, or it is for somewhere else. Which, is not said.
    #[error("The token is not valid here: it may have expired, or be for another service")]
    Invalid,
    /// It is good, and does not grant all of these scopes.
    #[error("The token lacks a scope that this needs: {}", .0.join(" "))]
    Scope(Vec<String>),
}

impl TokenFault {
    pub(super) const fn status(&self) -> StatusCode {
        match self {
            Self::Invalid => StatusCode::UNAUTHORIZED,
            Self::Scope(_) => StatusCode::FORBIDDEN,
        }
    }

    /// The word for the access log.
    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Invalid => "unauthorized",
            Self::Scope(_) => "out_of_scope",
        }
    }

    /// The status of the API's envelope.
    pub(super) const fn envelope_status(&self) -> &'static str {
        match self {
            Self::Invalid => "Unauthorized",
            Self::Scope(_) => "ServiceNotEnabled",
        }
    }

    /// What `WWW-Authenticate` says.
    pub(super) fn challenge(&self) -> HeaderValue {
        const INVALID: HeaderValue =
            HeaderValue::from_static("Bearer realm=\"portcullis\", error=\"invalid_token\"");
        let Self::Scope(scopes) = self else { return INVALID };
        let named = scopes.iter().filter(|scope| is_scope(scope)).map(String::as_str).collect::<Vec<_>>();
        let text = format!(
            "Bearer realm=\"portcullis\", error=\"insufficient_scope\", scope=\"{}\"",
            named.join(" ")
        );
        HeaderValue::from_str(&text).unwrap_or(CHALLENGE)
    }
}

/// Whether it can be named within quotes (RFC 6749 section 3.3).
fn is_scope(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'!' | b'#'..=b'[' | b']'..=b'~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_name_what_is_missing() {
        let scope = |scopes: &[&str]| TokenFault::Scope(scopes.iter().map(|one| (*one).to_owned()).collect());
        assert_eq!(TokenFault::Invalid.challenge(), "Bearer realm=\"portcullis\", error=\"invalid_token\"");
        let rows: [(&[&str], &str); 3] = [
            (&["chat:write"], "chat:write"),
            (&["a", "https://x.test/b"], "a https://x.test/b"),
            (&["a\"b", "a b", "\u{e9}", "c\r\nd", "e"], "e"),
        ];
        for (scopes, named) in rows {
            let told =
                format!("Bearer realm=\"portcullis\", error=\"insufficient_scope\", scope=\"{named}\"");
            assert_eq!(scope(scopes).challenge(), told.as_str());
        }
    }
}
