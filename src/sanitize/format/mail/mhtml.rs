//! [`kept_location`]: where a part came from (`Content-Location`), which readers put before the links in it and find parts by
//! (RFC 2557).

use crate::sanitize::format::markup::uri::{AfterAddress, is_safe, of_web};

/// How locations within a message begin (RFC 2557, section 5).
const WITHIN: &str = "thismessage:/";

/// A location that may stay: this one; of one on a disk or a share its path, which leads to no computer but parts still find
/// each other by. `None` where nothing of it may stay.
pub(super) fn kept_location(location: &str) -> Option<String> {
    let stays = |location: &str| {
        location.get(..WITHIN.len()).is_some_and(|start| start.eq_ignore_ascii_case(WITHIN))
            || is_safe(location, AfterAddress::Load) && of_web(location).is_none()
    };
    if stays(location) {
        return Some(location.to_owned());
    }
    let read: String = location.chars().filter(|c| *c > ' ' && *c != '"').collect();
    let read = read.replace('\\', "/");
    let path = match read.split_once(':') {
        Some((scheme, path)) if scheme.eq_ignore_ascii_case("file") || scheme.len() == 1 => path,
        Some((scheme, _)) if !scheme.contains('/') => return None,
        _ => read.as_str(),
    };
    // A host, and a drive.
    let path = path.strip_prefix("//").map_or(path, |rest| rest.split_once('/').map_or("", |(_, path)| path));
    let path = path.trim_start_matches('/');
    let drive = path.split_once('/').filter(|(drive, _)| drive.len() == 2 && drive.ends_with([':', '|']));
    let path = drive.map_or(path, |(_, path)| path).trim_start_matches('/');
    (!path.is_empty() && stays(path)).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_that_lead_to_a_computer_lead_into_the_message() {
        for (location, want) in [
            ("https://a.example/b", Some("https://a.example/b")),
            ("cid:frame-1@mhtml.blink", Some("cid:frame-1@mhtml.blink")),
            ("thismessage:/a.htm", Some("thismessage:/a.htm")),
            ("a_files/b.png", Some("a_files/b.png")),
            ("file:///C:/a/b.htm", Some("a/b.htm")),
            ("file:///C|/a/b.htm", Some("a/b.htm")),
            ("FILE://host/share/b.htm", Some("share/b.htm")),
            ("file:////host/share/b.htm", Some("host/share/b.htm")),
            ("\\\\host\\share\\b.htm", Some("share/b.htm")),
            ("//host/b.htm", Some("b.htm")),
            ("c:\\a\\b.htm", Some("a/b.htm")),
            ("\"file://host/b.htm\"", Some("b.htm")),
            ("file://host/x:y", None),
            ("file://host", None),
            ("javascript:x", None),
            ("mhtml:file://host/a", None),
        ] {
            assert_eq!(kept_location(location).as_deref(), want, "{location}");
            assert_eq!(want.and_then(kept_location).as_deref(), want, "{location}");
        }
    }
}
