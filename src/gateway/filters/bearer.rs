//! The caller's token in `Authorization: Bearer <token>` (RFC 6750 section 2.1), read in one way wherever one is asked
//! for.

use http::HeaderMap;
use http::header::{AUTHORIZATION, HeaderName};

/// The token, if there is exactly one header of the right form.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    bearer_in(only(headers, &AUTHORIZATION)?)
}

/// The token, if the value of one header has the right form.
pub(super) fn bearer_in(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim_matches(' ');
    let one_word = !token.is_empty() && !token.contains([' ', '\t']);
    (scheme.eq_ignore_ascii_case("bearer") && one_word).then_some(token)
}

/// A header's value, if there is exactly one.
pub(super) fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    let (one, None) = (all.next()?, all.next()) else { return None };
    one.to_str().ok()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn only_one_whole_bearer_header_counts() {
        let rows: &[(&[&[u8]], Option<&str>)] = &[
            (&[b"Bearer abc"], Some("abc")),
            (&[b"bearer  abc "], Some("abc")),
            (&[b"BEARER a.b-c_d~e+f/g=="], Some("a.b-c_d~e+f/g==")),
            (&[], None),
            (&[b""], None),
            (&[b"Bearer"], None),
            (&[b"Bearer "], None),
            (&[b"Bearer  "], None),
            (&[b" Bearer abc"], None),
            (&[b"abc"], None),
            (&[b"Token abc"], None),
            (&[b"Bearerabc"], None),
            (&[b"Bearer\tabc"], None),
            (&[b"Bearer a b"], None),
            (&[b"Bearer a\tb"], None),
            (&[b"Bearer \ta"], None),
            (&[b"Bearer Bearer a"], None),
            (&[b"Bearer caf\xc3\xa9"], None),
            (&[b"Bearer \xff"], None),
            (&[b"Bearer a", b"Bearer a"], None),
            (&[b"Bearer a", b"Basic b"], None),
            (&[b"Bearer a", b""], None),
        ];
        for (values, token) in rows {
            let mut headers = HeaderMap::new();
            for value in *values {
                headers.append(AUTHORIZATION, HeaderValue::from_bytes(value).unwrap());
            }
            assert_eq!(bearer(&headers), *token, "{values:?}");
        }
    }
}
