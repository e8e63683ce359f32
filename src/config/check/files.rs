//! Where files live, the URLs under which callers reach them, and who takes mails with links to them.

use std::time::Duration;

use http::Uri;

use crate::config::diagnostics::Diagnostics;
use crate::config::settings::{Blobs, Settings, Share};

/// The longest that an upload or download URL may be good.
const LONGEST: Duration = Duration::from_secs(3600);

pub(super) fn blobs(blobs: &Blobs, diagnostics: &mut Diagnostics) {
    let Blobs { s3, grant, passing } = blobs;
    if grant.get().is_zero() || grant.get() > LONGEST {
        diagnostics.say(grant.span().start, "a `grant` is good for more than nothing and at most 1h");
    }
    if passing.get() < grant.get() {
        let place = [passing, grant].iter().map(|at| at.span().start).find(|&at| at > 0).unwrap_or(0);
        diagnostics.say(place, "`passing` must not be shorter than `grant`");
    }
    let Some(s3) = s3 else { return };
    if s3.bucket.is_empty() {
        diagnostics.say(s3.span().start, "a bucket has a name");
    }
    if s3.access_key.is_some() != s3.secret_key.is_some() {
        diagnostics.say(s3.span().start, "`access_key` and `secret_key` go together");
    }
    if let Some(endpoint) = s3.endpoint.iter().find(|endpoint| !is_origin(endpoint, false)) {
        diagnostics.say(endpoint.span().start, "not an address such as \"https://s3.example.com\"");
    }
}

pub(super) fn mail(share: &Share, diagnostics: &mut Diagnostics) {
    let Some(mail) = &share.mail else { return };
    if mail.command.first().is_none_or(String::is_empty) {
        let hint = "write [\"program\", \"argument\"]";
        diagnostics.hint(mail.command.span().start, "no program is named", hint);
    }
    let fits = |c: char| c.is_ascii_graphic() && !"<>()[],;:\\\"@".contains(c);
    let mut parts = mail.from.split('@').map(|part| !part.is_empty() && part.chars().all(fits));
    if (parts.next(), parts.next(), parts.next()) != (Some(true), Some(true), None) {
        diagnostics.say(mail.from.span().start, "not an e-mail address such as \"files@example.com\"");
    }
}

pub(super) fn public_url(settings: &Settings, diagnostics: &mut Diagnostics) {
    let routes = settings.routes.iter().filter_map(|route| route.public_url.as_ref());
    for url in settings.api.public_url.iter().chain(routes).filter(|url| !is_origin(url, true)) {
        diagnostics.say(url.span().start, "not an address such as \"https://portcullis.example.com\"");
    }
}

/// Scheme and host, perhaps a port, and a path where that is allowed.
fn is_origin(text: &str, path: bool) -> bool {
    let Ok(uri) = text.parse::<Uri>() else { return false };
    let plain = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
    let scheme = matches!(uri.scheme_str(), Some("http" | "https"));
    scheme && plain && uri.query().is_none() && !text.contains('#') && (path || uri.path() == "/")
}

#[cfg(test)]
mod tests {
    use super::is_origin;

    #[test]
    fn addresses_are_judged() {
        let rows = [
            ("https://portcullis.example.com", true),
            ("http://127.0.0.1:8080", true),
            ("https://h/base/", true),
            ("https://user@h", false),
            ("https://h/?a", false),
            ("https://h/#a", false),
            ("ftp://h", false),
            ("h.example", false),
            ("/path", false),
            ("", false),
        ];
        for (text, fits) in rows {
            assert_eq!(is_origin(text, true), fits, "{text}");
        }
        assert!(!is_origin("https://h/base", false) && is_origin("https://h/", false));
    }
}
