//! [`target`]: a link that is all of a text.

use std::ops::Range;

use crate::sanitize::Link;
use crate::sanitize::link::defang::{defang_front, is_defanged};

/// A link that leads out of the file, as a program reads it that follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkTarget {
    /// Where scheme and host stand, in bytes of the text.
    pub front: Range<usize>,
    /// What stands there once the link is defanged.
    pub with: String,
    /// Where the link leads: scheme, `://`, and the rest.
    pub link: Link,
}

/// Schemes whose slashes may be missing, turned round or too many (URL Standard: special schemes).
const SPECIAL: &[&str] = &["http", "https", "ftp", "ws", "wss"];

/// What stands in `href`, `LinkTarget`, `/URI`: `None` if it leads nowhere but into the file, or to no host. The text is
/// read as browsers do, but has to be rid of tabs, line ends and space around it before.
pub fn target(text: &str) -> Option<LinkTarget> {
    let (scheme, after) = scheme(text);
    let special = scheme.is_some_and(|scheme| SPECIAL.contains(&scheme.to_ascii_lowercase().as_str()));
    let rest = text.get(after..)?;
    let bare = if scheme.is_none() || special {
        rest.trim_start_matches(['/', '\\'])
    } else {
        rest.strip_prefix("//").unwrap_or(rest)
    };
    let slashes = rest.len().saturating_sub(bare.len());
    let www =
        scheme.is_none() && slashes == 0 && bare.get(..4).is_some_and(|w| w.eq_ignore_ascii_case("www."));
    if !(special || slashes >= 2 || www) {
        return None;
    }
    let host_at = after.saturating_add(slashes);
    let end = bare.find(['/', '\\', '?', '#']).unwrap_or(bare.len());
    let host = bare.get(..end).filter(|host| host.contains(|c: char| c.is_alphanumeric() || c == '['))?;
    let name = host.rsplit('@').next().unwrap_or(host);
    // A host that holds this is no host to anybody.
    let nowhere = scheme.is_some_and(is_defanged) || name.contains(['<', '>']);
    if nowhere || name.contains("[.]") && !(special || www) {
        return None;
    }
    let path = bare.get(end..).unwrap_or_default();
    let shown = scheme.unwrap_or("https");
    let link = if www { text.to_owned() } else { format!("{shown}://{host}{path}") };
    let with = if www { defang_front(host) } else { defang_front(&format!("{shown}://{host}")) };
    let front = 0..host_at.saturating_add(end);
    (text.get(front.clone()) != Some(with.as_str())).then_some(LinkTarget {
        front,
        with,
        link: Link::Url(link),
    })
}

/// The scheme, and where it ends.
fn scheme(text: &str) -> (Option<&str>, usize) {
    let Some((scheme, _)) = text.split_once(':') else { return (None, 0) };
    let part = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    if scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(part) {
        (Some(scheme), scheme.len().saturating_add(1))
    } else {
        (None, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::target;

    fn defanged(text: &str) -> Option<String> {
        target(text).map(|found| found.with + text.get(found.front.end..).expect("a range of it"))
    }

    #[test]
    fn a_target_is_read_as_browsers_do() {
        for (text, want) in [
            ("https://example.com/a.b", "hxxps://example[.]com/a.b"),
            ("HTTP:/\\example.com\\x", "HXXP://example[.]com\\x"),
            ("http:example.com", "hxxp://example[.]com"),
            ("//example.com/x", "hxxps://example[.]com/x"),
            ("\\\\example.com\\x", "hxxps://example[.]com\\x"),
            ("/\\intranet/x", "hxxps://intranet/x"),
            ("http://a,b@example.com/", "hxxp://a,b@example[.]com/"),
            ("http://example[.]com/", "hxxp://example[.]com/"),
            ("www.example.com", "www[.]example[.]com"),
            ("smb://example.com/x", "smb[://]example[.]com/x"),
            ("http://例え。jp/", "hxxp://例え[.]jp/"),
        ] {
            assert_eq!(defanged(text).as_deref(), Some(want), "{text}");
            assert_eq!(defanged(want), None, "{want}");
        }
        for text in [
            "",
            "#a",
            "page.html",
            "/a/b",
            "?q",
            "mailto:a@example.com",
            "tel:1",
            "file:///etc/x",
            "http:///",
            "x:y",
        ] {
            assert_eq!(defanged(text), None, "{text}");
        }
    }
}
