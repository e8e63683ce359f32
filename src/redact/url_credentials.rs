//! The credentials in a URL that somebody else is to call with them: of a server of tools, of a webhook.

use std::ops::Range;

use crate::detect::Label;
use crate::stream::json::LONG_NUMBER;

/// Parameters of a query that hold a credential, though their names say so to no more than their server; in small letters.
const PARAMETERS: [&str; 4] = ["code", "sig", "k", "t"];

/// The shortest segment of a path that is a key, in bytes.
const KEY: usize = 20;

/// Where they are in a URL, in order: the user and password, what looks like a key in the path, and the values of parameters
/// that are called so. What may be an address or a number of somebody's is none.
pub(super) fn credentials(url: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let Some((scheme, rest)) = url.split_once("://") else { return found };
    if scheme.is_empty() || url.bytes().any(|byte| !byte.is_ascii_graphic()) {
        return found;
    }
    let authority = scheme.len() + 3;
    let end = rest.find(['/', '?', '#']).map_or(url.len(), |at| authority + at);
    if let Some(at) = url.get(authority..end).and_then(|text| text.rfind('@')) {
        let user = url.get(authority..authority + at).unwrap_or_default();
        if user.split(':').all(|part| part.is_empty() || !may_be_somebodys(part)) {
            found.push(authority..authority + at + 1);
        }
    }
    let until = url.get(end..).and_then(|rest| rest.find('#')).map_or(url.len(), |at| end + at);
    let path = url.get(end..until).and_then(|rest| rest.find('?')).map_or(until, |at| end + at);
    found.extend(spans(url, end..path, '/').filter(|span| is_key(url.get(span.clone()).unwrap_or_default())));
    found.extend(spans(url, path..until, '&').filter_map(|span| {
        let parameter = url.get(span.clone()).unwrap_or_default();
        let (name, value) = parameter.split_once('=')?;
        let name = name.trim_start_matches('?');
        // One letter may be the number of a key, and is mostly what is asked for.
        let is_named = PARAMETERS.contains(&name.to_ascii_lowercase().as_str())
            || name.len() > 2 && Label::of([name]).is_some_and(|label| label.is_secret());
        (is_named && !value.is_empty() && !may_be_somebodys(value))
            .then_some(span.end - value.len()..span.end)
    }));
    found
}

/// What stands between these signs in a part of a text.
fn spans(text: &str, within: Range<usize>, sign: char) -> impl Iterator<Item = Range<usize>> {
    let mut at = within.start;
    text.get(within).unwrap_or_default().split(sign).map(move |part| {
        let span = at..at + part.len();
        at = span.end + sign.len_utf8();
        span
    })
}

/// Whether a text may be an address of mail, or a number of a person's: long, and without letters.
fn may_be_somebodys(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.bytes().any(|byte| byte.is_ascii_alphabetic());
    text.contains('@') || text.to_ascii_lowercase().contains("%40") || digits >= LONG_NUMBER && !letters
}

/// Whether a segment of a path is a key: long, in one word of letters of both cases and digits.
fn is_key(segment: &str) -> bool {
    let any = |is: fn(&u8) -> bool| segment.as_bytes().iter().any(is);
    segment.len() >= KEY
        && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'='))
        && any(u8::is_ascii_lowercase)
        && any(u8::is_ascii_uppercase)
        && any(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::fixture::{document as redact, restored as restore};
    use crate::stream::json::{PathSet, Treatment, Type};

    #[test]
    fn a_url_has_them_where_servers_look_for_them() {
        let rows: [(&str, &[&str]); 16] = [
            ("https://mcp.tavily.com/mcp/?tavilyApiKey=tvly-dev-AbCd012345", &["tvly-dev-AbCd012345"]),
            ("https://mcp.exa.ai/mcp?exaApiKey=6f1f3c52-8e0b-4c5a-9a3f", &["6f1f3c52-8e0b-4c5a-9a3f"]),
            ("https://s.example/@x/mcp?api_key=6f1f3c52&profile=abc#top", &["6f1f3c52"]),
            ("https://c.example/hook?a=b&token=AbCdEf123456GhIjKl", &["AbCdEf123456GhIjKl"]),
            ("https://user:pa55Word9x@mcp.example/mcp", &["user:pa55Word9x@"]),
            ("https://f.azurewebsites.net/api/x?code=aB3%2Fd%3D%3D", &["aB3%2Fd%3D%3D"]),
            ("https://mcp.zapier.com/s/NjFhYzE2ZTItYzk0Ni00YjM0/mcp", &["NjFhYzE2ZTItYzk0Ni00YjM0"]),
            ("https://a.example/x?q=jane&keyword=Jane", &[]),
            ("https://a.example/x?token=jane%40example.com", &[]),
            ("https://a.example/x?token=536-22-8726", &[]),
            ("https://jane%40example.com:x@a.example/x", &[]),
            ("https://a.example/4012888888881881/x?email=jo@ab.de", &[]),
            ("https://a.example/DE89370400440532013000", &[]),
            ("see https://a.example/?token=AbCdEf123456", &[]),
            ("token=AbCdEf123456", &[]),
            ("", &[]),
        ];
        for (url, want) in rows {
            let found: Vec<&str> = credentials(url).into_iter().map(|span| url.get(span).unwrap()).collect();
            assert_eq!(found, want, "{url}");
        }
    }

    /// A server of tools is called with its credentials; whoever is named beside them is not told.
    #[test]
    fn credentials_in_a_url_that_somebody_else_calls_stay_and_all_else_is_redacted() {
        let which = PathSet::new(&[("url", Treatment::Typed(Type::CredentialUrl))], Treatment::Text).unwrap();
        let stays = "https://mcp.tavily.com/mcp/?tavilyApiKey=tvly-dev-AbCdEfGhIjKlMnOpQrStUvWxYz012345";
        let user =
            "https://user:pa55Word9x@mcp.acme-widgets.com/mcp?api_key=6f1f3c52-8e0b-4c5a-9a3f-2b7f9f0f2d11";
        for url in [stays, user] {
            let doc = format!(r#"{{"url":"{url}"}}"#);
            assert_eq!(redact(&doc, &which).0, doc);
            assert_ne!(redact(&doc, &PathSet::everything()).0, doc, "elsewhere it is text");
        }
        let mixed =
            format!("{stays}&mail=ingrid.halvorsen@posteo.no&card=4012888888881881&token=536-22-8726");
        let doc = format!(r#"{{"url":"{mixed}"}}"#);
        let (out, report, undo) = redact(&doc, &which);
        assert!(out.contains("=tvly-dev-AbCdEfGhIjKlMnOpQrStUvWxYz012345&mail="), "{out}");
        for value in ["ingrid.halvorsen", "4012888888881881", "536-22-8726"] {
            assert!(!out.contains(value), "{out}");
        }
        assert_eq!((report.count(), restore(&out, undo)), (3, doc));
    }
}
