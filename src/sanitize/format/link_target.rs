//! Targets of links in office documents: whether following one does more than open a page, and how one is written.

use std::fmt::Write;

use crate::sanitize::name;

/// Schemes that open a page, a message or a call, and those of links that were defanged.
const HARMLESS: &[&str] = &["http", "https", "mailto", "tel", "ftp", "sip", "hxxp", "hxxps", "fxp"];

/// What may stand around a target, or around the file in it (`[\\host\a.xlsx]S!A1`): before it, and behind it.
const OPENING: &[char] = &['[', '\'', '<', '"'];
const CLOSING: &[char] = &[']', '\'', '>', '"'];

/// Whether following a link may start a program or hand the reader's name to a server in his network: any scheme but
/// the usual ones, a share (`\\host`), a path from the root, a program beside the file. So may what stands in brackets or quotes.
pub(in crate::sanitize::format) fn acts(target: &str) -> bool {
    let target: String = target.chars().filter(|c| *c > ' ').collect();
    leads_to_acting(&target) || within(&target).is_some_and(leads_to_acting)
}

/// What stands in brackets or quotes at the beginning of a target; `None` where nothing does.
fn within(target: &str) -> Option<&str> {
    let inner = target.trim_start_matches(OPENING);
    let end = inner.find(CLOSING).unwrap_or(inner.len());
    inner.get(..end).filter(|_| inner.len() < target.len())
}

/// The same for a target without blanks, as it is written.
fn leads_to_acting(target: &str) -> bool {
    if target.starts_with(['\\', '/']) || name::starts(target) {
        return true;
    }
    let scheme = target.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    scheme.split_once(':').is_some_and(|(scheme, _)| {
        let scheme = scheme.to_ascii_lowercase();
        // One that is defanged is none: `smb[://]`.
        !HARMLESS.contains(&scheme.as_str()) && !scheme.ends_with('[')
    })
}

/// Whether a part of a target acts, and not only where nothing stands before it: by a scheme of its own, as a share or as a
/// program.
pub(super) fn acts_by_itself(part: &str) -> bool {
    let part: String = part.chars().filter(|c| *c > ' ').collect();
    is_acting_part(&part) || within(&part).is_some_and(is_acting_part)
}

/// The same for a part without blanks, as it is written.
fn is_acting_part(part: &str) -> bool {
    let share = part.chars().take(2).filter(|c| matches!(c, '/' | '\\')).count() == 2;
    let scheme = part.starts_with(|c: char| c.is_ascii_alphabetic()) && has_scheme(part);
    share || name::starts(part) || (scheme && leads_to_acting(part))
}

/// Whether a target has a scheme or a host: it leads out of the package.
pub(super) fn leads_out(target: &str) -> bool {
    let target = target.trim();
    has_scheme(target) || target.starts_with("//") || target.starts_with('\\')
}

/// Whether an address leads out of a package of OpenDocument (ODF part 2, 3.7).
pub(super) fn leads_out_of_package(href: &str) -> bool {
    let href = href.trim();
    let outside = href.starts_with("../") || href.starts_with(['/', '\\']) || href.contains("/../");
    outside
        || (!href.starts_with('#') && href.split(['/', '#', '?']).next().unwrap_or_default().contains(':'))
}

fn has_scheme(target: &str) -> bool {
    target.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.is_empty()
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}

/// A target with the characters encoded that no URI has (RFC 3986, 2): readers take a package with one in it for
/// broken.
pub(in crate::sanitize::format) fn written(target: &str) -> String {
    let mut out = String::with_capacity(target.len());
    for c in target.chars() {
        if c.is_ascii_alphanumeric() || "-._~:/?#@!$&'()*+,;=%".contains(c) || !c.is_ascii() {
            out.push(c);
        } else {
            // Writing to a string does not fail.
            let _ = write!(out, "%{:02X}", u32::from(c));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts() {
        for target in [
            "file:///c:/x",
            "\\\\h\\s",
            "java\tscript:x",
            "ms-word:ofe|u|x",
            "//h/s",
            "c:\\x",
            "/etc",
            "setup.exe",
            "[\\\\h\\s\\b.xlsx]S!A1",
            "[\\\\h\\b.exe]",
            "[ b.exe]S!A1",
            "[http://h/b.xlsx]S!A1",
            "'[file:///c:/b.xlsx]S'!A1",
            "<\\\\h\\s>",
            "\"//h/s\"",
        ] {
            assert!(acts(target), "{target}");
        }
        for target in [
            "http://a",
            "mailto:a@b",
            "page.html#x:y",
            "#Sheet1!A1",
            "hxxp://a%5B.%5Db",
            "smb[://]a[.]b",
            "[Book1.xlsx]Sheet1!A1",
            "[docs\\a.xlsx]S!A1",
            "'#S'!A1",
            "[",
            "",
        ] {
            assert!(!acts(target), "{target}");
        }
    }

    #[test]
    fn what_acts_behind_something() {
        for part in ["file:x", "java\tscript:x", "\\\\h\\s", "//h", "a\\setup.exe", "[\\\\h\\s.xlsx]S!A1"] {
            assert!(acts_by_itself(part), "{part}");
        }
        for part in ["/a", "\\a", ":", "://a", "10:30", "?a=b:c", "&t=1:2", "https://a", "]S!A1", "[/a", ""] {
            assert!(!acts_by_itself(part), "{part}");
        }
    }

    #[test]
    fn addresses_that_lead_out_of_a_package() {
        for href in ["../x", "a/../../x", "/x", "\\\\h\\s", "http://h/x", " file:x"] {
            assert!(leads_out_of_package(href), "{href}");
        }
        for href in ["Pictures/a:b.png", "#a:b", "./Object 1", ""] {
            assert!(!leads_out_of_package(href), "{href}");
        }
    }

    #[test]
    fn written_targets_are_uris() {
        assert_eq!(written("hxxp://a[.]b/<N> x?y=%20"), "hxxp://a%5B.%5Db/%3CN%3E%20x?y=%20");
    }
}
