//! Cookies and parameters of a query, taken out of a head one by one: the rest stays as it is written.

use http::header::{COOKIE, HeaderValue};
use http::uri::{PathAndQuery, Uri};
use pingora::Error;
use pingora::http::RequestHeader;

use crate::base::path::percent_decoded;
use crate::gateway::upstream::origin_form;

/// The cookies of one header (RFC 6265 section 4.2.1), each with its name, as they are written.
fn cookies(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| *byte == b';').map(<[u8]>::trim_ascii)
}

/// Takes out the cookies that are not to be kept.
pub(super) fn retain_cookies(head: &mut RequestHeader, keep: impl Fn(&[u8]) -> bool) {
    let lines: Vec<HeaderValue> = head.headers.get_all(COOKIE).iter().cloned().collect();
    if lines.iter().flat_map(|line| cookies(line.as_bytes())).all(&keep) {
        return;
    }
    head.remove_header(&COOKIE);
    for line in lines {
        if cookies(line.as_bytes()).all(&keep) {
            drop(head.append_header(COOKIE, line));
            continue;
        }
        let kept: Vec<&[u8]> = cookies(line.as_bytes()).filter(|cookie| keep(cookie)).collect();
        let kept = HeaderValue::from_bytes(&kept.join(&b"; "[..]));
        if let Some(kept) = kept.ok().filter(|kept| !kept.is_empty()) {
            drop(head.append_header(COOKIE, kept));
        }
    }
}

/// A target's path, and the parameters of its query, each with its name, as they are written.
pub(super) fn split(target: &[u8]) -> (&[u8], impl Iterator<Item = &[u8]>) {
    let end = target.iter().position(|byte| *byte == b'?').unwrap_or(target.len());
    let (path, query) = target.split_at_checked(end).unwrap_or((target, &[]));
    let query = query.split_first().map(|(_, query)| query);
    (path, query.into_iter().flat_map(|query| query.split(|byte| *byte == b'&')))
}

/// Whether a parameter of a query has this name, however that is spelled: servers decode names as they do values.
pub(super) fn is_named(parameter: &[u8], name: &[u8]) -> bool {
    let written = parameter.split(|byte| *byte == b'=').next().unwrap_or_default();
    written == name || (written.contains(&b'%') && percent_decoded(written) == name)
}

/// Takes out the parameters of the query that are not to be kept.
///
/// # Errors
/// Pingora's, for a target that cannot be written.
pub(super) fn retain_query(head: &mut RequestHeader, keep: impl Fn(&[u8]) -> bool) -> Result<(), Box<Error>> {
    let target = origin_form(head);
    let (path, parameters) = split(&target);
    let parameters: Vec<&[u8]> = parameters.collect();
    let kept: Vec<&[u8]> = parameters.iter().copied().filter(|parameter| keep(parameter)).collect();
    if kept.len() == parameters.len() {
        return Ok(());
    }
    let mut left = path.to_vec();
    if !kept.is_empty() {
        left.push(b'?');
        left.extend_from_slice(&kept.join(&b'&'));
    }
    // Of HTTP/2 the host stands in the same URI.
    let mut parts = head.uri.clone().into_parts();
    if parts.authority.is_some()
        && let Ok(path) = PathAndQuery::try_from(left.as_slice())
    {
        parts.path_and_query = Some(path);
        if let Ok(uri) = Uri::from_parts(parts) {
            head.set_uri(uri);
            return Ok(());
        }
    }
    head.set_raw_path(&left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_stays_as_it_is_written() {
        let rows: [(&[u8], &[u8]); 7] = [
            (b"/a", b"/a"),
            (b"/a?x=1", b"/a"),
            (b"/a?", b"/a?"),
            (b"/a?b=%20&x=1&c=d+e&&f", b"/a?b=%20&c=d+e&&f"),
            (b"/a?x=1&x=2", b"/a"),
            (b"/\xff?x=1&b=\xfe", b"/\xff?b=\xfe"),
            (b"http://h/a?x=1&b", b"/a?b"),
        ];
        for (target, left) in rows {
            let mut head = RequestHeader::build("GET", target, None).unwrap();
            retain_query(&mut head, |parameter| !parameter.starts_with(b"x=")).unwrap();
            let whole =
                if left.contains(&b'=') || target == left { head.raw_path() } else { &origin_form(&head) };
            assert_eq!(whole, left, "{}", target.escape_ascii());
        }
        let mut head = RequestHeader::build("GET", b"/", None).unwrap();
        head.set_uri(Uri::from_static("https://host.example/a?x=1&b=2"));
        retain_query(&mut head, |parameter| !parameter.starts_with(b"x=")).unwrap();
        assert_eq!(head.uri.to_string(), "https://host.example/a?b=2");
    }

    #[test]
    fn a_name_is_known_in_every_spelling() {
        for parameter in ["token=a", "token", "token=", "tok%65n=a", "%74%6F%6b%65%6E=a=b"] {
            assert!(is_named(parameter.as_bytes(), b"token"), "{parameter}");
        }
        for parameter in ["", "=token", "Token=a", "tok%2565n=a", "token%20=a", "tok%6=a", "x=token"] {
            assert!(!is_named(parameter.as_bytes(), b"token"), "{parameter}");
        }
    }

    #[test]
    fn cookies_go_one_by_one() {
        let mut head = RequestHeader::build("GET", b"/", None).unwrap();
        for line in ["a=1;  b=2", "x=1", "c=3;x=2; d=4"] {
            head.append_header(COOKIE, line).unwrap();
        }
        retain_cookies(&mut head, |cookie| !cookie.starts_with(b"x="));
        let left: Vec<_> = head.headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
        assert_eq!(left, [&b"a=1;  b=2"[..], b"c=3; d=4"]);
    }
}
