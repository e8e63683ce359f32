//! Which addresses markup may lead to: an allow-list of schemes, read as browsers read them.

use crate::sanitize::name;

/// What follows an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sanitize::format) enum AfterAddress {
    /// A person who clicks.
    Link,
    /// The program that shows the file, by itself: images, fonts, media.
    Load,
    /// A reference within the file.
    Within,
}

/// Schemes that lead to a page, a person or a part of the same message, and act on nothing; and what defanging makes
/// of them.
const SCHEMES: &[&str] = &[
    "http", "https", "ftp", "ftps", "sftp", "mailto", "tel", "sms", "sip", "sips", "xmpp", "geo", "news",
    "cid", "mid", "hxxp", "hxxps", "fxp", "fxps", "sfxp", "about",
];

/// What is loaded may come from these only.
const LOADED: &[&str] = &["http", "https", "ftp", "cid", "mid", "hxxp", "hxxps", "fxp"];

/// Images that nothing in can act.
const IMAGES: &[&str] =
    &["image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp", "image/bmp", "image/x-icon"];

/// What parts the names of a path.
const SLASHES: [char; 2] = ['/', '\\'];

/// Whether an address, decoded, is one that may stay.
pub(in crate::sanitize::format) fn is_safe(address: &str, of: AfterAddress) -> bool {
    let read = as_read(address);
    if of == AfterAddress::Within {
        return read.starts_with('#');
    }
    // A path on another host: whoever opens it gives away who they are.
    if read.starts_with("\\\\") {
        return false;
    }
    let head = read.get(..read.find(['/', '\\', '?', '#']).unwrap_or(read.len())).unwrap_or_default();
    let Some((scheme, _)) = head.split_once(':') else {
        return of != AfterAddress::Link || !name::starts(&read);
    };
    match of {
        // A scheme that is defanged is none: `smb[://]`.
        _ if scheme.ends_with('[') => scheme.trim_end_matches('[').chars().all(|c| c.is_ascii_alphanumeric()),
        AfterAddress::Link if scheme == "about" => head == "about:blank",
        AfterAddress::Link => SCHEMES.contains(&scheme),
        _ => LOADED.contains(&scheme) || is_image(&read),
    }
}

/// An address without a scheme that names a host (RFC 3986, 4.2: `//host/path`), with that of the web; `None` for any other.
/// Whoever opens a page from a disk has `file:` around it, where the host is a computer nearby: it would be asked for the file,
/// and told who asks. Read as browsers do, which skip blanks and take `\` for `/` (URL Standard, 4.4).
pub(in crate::sanitize::format) fn of_web(address: &str) -> Option<String> {
    let start = address.trim_start_matches(|c: char| c <= ' ');
    if !start.starts_with(SLASHES) {
        return None;
    }
    let read: String = start.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    let host = read.trim_start_matches(SLASHES);
    let slashes = read.len().saturating_sub(host.len());
    (slashes > 1 && !host.is_empty()).then(|| format!("https://{host}"))
}

/// Whether an address, decoded, is a script, or a page with one.
pub(in crate::sanitize::format) fn is_script(address: &str) -> bool {
    let read = as_read(address);
    [
        "javascript:",
        "vbscript:",
        "livescript:",
        "mocha:",
        "data:text/html",
        "data:image/svg",
        "data:application/xhtml",
    ]
    .iter()
    .any(|scheme| read.starts_with(scheme))
}

/// Whether an address holds an image itself.
fn is_image(read: &str) -> bool {
    let Some((kind, data)) = read.strip_prefix("data:").and_then(|data| data.split_once(";base64,")) else {
        return false;
    };
    IMAGES.contains(&kind) && data.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=%".contains(&b))
}

/// Without what browsers skip, and what hides in a name; in lower case.
fn as_read(address: &str) -> String {
    let skipped = |c: char| {
        c <= ' '
            || c.is_control()
            || c.is_whitespace()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{feff}' | '\u{ad}')
    };
    address.chars().filter(|c| !skipped(*c)).flat_map(char::to_lowercase).collect()
}

/// The addresses in a `srcset`, and what stands between them.
pub(in crate::sanitize::format) fn srcset(value: &str) -> Vec<(&str, bool)> {
    let mut out = Vec::new();
    let mut rest = value;
    loop {
        let from = rest.find(|c: char| !(c.is_ascii_whitespace() || c == ',')).unwrap_or(rest.len());
        let (space, word) = rest.split_at_checked(from).unwrap_or((rest, ""));
        out.push((space, false));
        let length = word.find(|c: char| c.is_ascii_whitespace()).unwrap_or(word.len());
        let (whole, behind) = word.split_at_checked(length).unwrap_or((word, ""));
        if whole.is_empty() {
            return out;
        }
        let address = whole.trim_end_matches(',');
        out.push((address, true));
        // Descriptors go up to the next comma, unless one closed the address.
        let descriptors =
            if address.len() < whole.len() { 0 } else { behind.find(',').unwrap_or(behind.len()) };
        let (descriptors, next) = behind.split_at_checked(descriptors).unwrap_or((behind, ""));
        let closing = whole.get(address.len()..).unwrap_or_default();
        out.push((closing, false));
        out.push((descriptors, false));
        rest = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_are_allowed_and_not_forbidden() {
        for address in [
            "https://a.example",
            "page.html",
            "#a",
            "?q=a:b",
            "/a:b",
            "mailto:a@b",
            "smb[://]a[.]b",
            "//a.b/",
            "",
        ] {
            assert!(is_safe(address, AfterAddress::Link), "{address}");
        }
        for address in [
            "javascript:x",
            " \u{1}JaVa\tScRiPt:x",
            "java\nscript:x",
            "vbscript:x",
            "data:text/html,x",
            "file:///etc",
            "\\\\a\\b",
            "ms-msdt:x",
            "view-source:x",
            "blob:x",
            "jar:x",
            "java\u{200b}script:x",
            "about:config",
            "files/setup.EXE",
            "data:image/png;base64,AA==",
        ] {
            assert!(!is_safe(address, AfterAddress::Link), "{address}");
        }
        assert!(is_safe("data:image/png;base64,AA==", AfterAddress::Load));
        assert!(!is_safe("data:image/svg+xml;base64,AA==", AfterAddress::Load));
        assert!(!is_safe("data:image/png,<svg>", AfterAddress::Load));
        assert!(is_safe("#a", AfterAddress::Within) && !is_safe("a.svg#a", AfterAddress::Within));
    }

    #[test]
    fn hosts_without_a_scheme_are_of_the_web() {
        for (address, want) in [
            ("//a.example/b?c=//d", Some("https://a.example/b?c=//d")),
            (" \u{1}/\\a.example/b", Some("https://a.example/b")),
            ("\\/a.example", Some("https://a.example")),
            ("/\t/\r\na.exa\nmple/b c ", Some("https://a.example/b c ")),
            ("////a.example/b", Some("https://a.example/b")),
            ("//[::1]/x", Some("https://[::1]/x")),
            ("/a//b", None),
            ("a//b", None),
            ("", None),
            ("//", None),
            ("http://a.example", None),
            ("#//a", None),
        ] {
            assert_eq!(of_web(address).as_deref(), want, "{address:?}");
            assert_eq!(want.and_then(of_web), None);
        }
    }

    #[test]
    fn a_srcset_comes_apart_and_together() {
        let value = " a.png 1x, http://b.example/,c 2x,d.png,";
        let parts = srcset(value);
        assert_eq!(parts.iter().map(|part| part.0).collect::<String>(), value);
        let addresses: Vec<&str> = parts.iter().filter(|part| part.1).map(|part| part.0).collect();
        assert_eq!(addresses, ["a.png", "http://b.example/,c", "d.png"]);
    }
}
