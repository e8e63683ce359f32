//! [`defang`]: the form that people still read and no program follows. `http` becomes `hxxp`, `ftp` becomes `fxp`,
//! `://` of any other scheme becomes `[://]`, and each dot of the host becomes `[.]`: what tools of the field read
//! back (draft-grimminck-safe-ioc-sharing names both).

/// Dots that resolvers take for a dot (UTS #46 section 2.3).
pub(super) const DOTS: [char; 4] = ['.', '\u{3002}', '\u{ff0e}', '\u{ff61}'];

/// A link (with or without scheme) as it looks defanged. What follows the host stays as it is; what is defanged
/// already stays as it is.
pub fn defang(link: &str) -> String {
    let host = link.find("://").map_or(0, |at| at.saturating_add(3));
    let rest = link.get(host..).unwrap_or_default();
    let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
    let (front, behind) = link.split_at_checked(host.saturating_add(end)).unwrap_or((link, ""));
    let mut out = defang_front(front);
    out.push_str(behind);
    out
}

/// The same for scheme and host alone, or a part of them.
pub fn defang_front(front: &str) -> String {
    let Some((scheme, host)) = front.split_once("://") else { return bracketed(front) };
    if scheme.ends_with('[') {
        return front.to_owned();
    }
    let safe = scheme_of(scheme);
    let host = bracketed(host);
    if safe == scheme && !is_defanged(scheme) {
        format!("{scheme}[://]{host}")
    } else {
        format!("{safe}://{host}")
    }
}

/// Whether a scheme is one that nothing answers to.
pub(super) fn is_defanged(scheme: &str) -> bool {
    let scheme = scheme.to_ascii_lowercase();
    scheme.contains("hxxp") || scheme.contains("fxp")
}

/// A scheme with `http` and `ftp` made unknown; any other as it is.
fn scheme_of(scheme: &str) -> String {
    let lower = scheme.to_ascii_lowercase();
    let within = |at: usize| {
        let part =
            |name: &str| lower.match_indices(name).any(|(from, _)| (from..from + name.len()).contains(&at));
        part("http") || part("ftp")
    };
    let letter = |(at, c): (usize, char)| match c {
        't' if within(at) => 'x',
        'T' if within(at) => 'X',
        _ => c,
    };
    scheme.char_indices().map(letter).collect()
}

fn bracketed(host: &str) -> String {
    let mut out = String::with_capacity(host.len().saturating_add(8));
    let mut chars = host.chars().peekable();
    while let Some(c) = chars.next() {
        let done = out.ends_with('[') && chars.peek() == Some(&']');
        if DOTS.contains(&c) && !done { out.push_str("[.]") } else { out.push(c) }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::defang;

    #[test]
    fn schemes_and_hosts_lose_their_meaning() {
        for (link, defanged) in [
            ("http://example.com", "hxxp://example[.]com"),
            ("HTTPS://WWW.Example.com/a.b?c=d.e", "HXXPS://WWW[.]Example[.]com/a.b?c=d.e"),
            ("ftp://example.com/x", "fxp://example[.]com/x"),
            ("sftp://example.com/x", "sfxp://example[.]com/x"),
            ("git+https://example.com", "git+hxxps://example[.]com"),
            ("ws://example.com:80/", "ws[://]example[.]com:80/"),
            ("www.example.com/x", "www[.]example[.]com/x"),
            ("example.com", "example[.]com"),
            ("http://127.0.0.1:8080/", "hxxp://127[.]0[.]0[.]1:8080/"),
            ("http://[::1]/", "hxxp://[::1]/"),
            ("http://u.v@example.com/", "hxxp://u[.]v@example[.]com/"),
            ("http://example。com/", "hxxp://example[.]com/"),
            ("http://localhost", "hxxp://localhost"),
            ("", ""),
        ] {
            assert_eq!(defang(link), defanged);
            assert_eq!(defang(defanged), defanged, "again");
        }
    }
}
