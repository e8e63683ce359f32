//! What may be the name of a host by itself, without a scheme before it.

/// The longest name (RFC 1035 section 2.3.4), in bytes.
const MAX: usize = 253;

/// The longest label (RFC 1035 section 2.3.4), in bytes.
const MAX_LABEL: usize = 63;

/// Top-level domains that are endings of file names as well.
const ENDINGS: &[&str] = &["zip", "mov", "md", "rs", "py", "sh", "so", "ps", "pm"];

/// Whether a name stands for a host by all that it looks like: labels, a public suffix that is on the list
/// (<https://publicsuffix.org>), and something before it. `lone`: nothing but the name is there, no path, no port.
pub(super) fn is_domain(name: &str, lone: bool) -> bool {
    if name.len() > MAX || !name.split('.').all(is_label) {
        return false;
    }
    let Some((before, top)) = name.rsplit_once('.') else { return false };
    // `finished.It was`, but `EXAMPLE.COM`.
    let capital = |text: &str| text.chars().any(char::is_uppercase);
    if capital(top) && name.chars().any(char::is_lowercase) {
        return false;
    }
    let lower = name.to_lowercase();
    let Some(suffix) = psl::suffix(lower.as_bytes()).filter(|suffix| suffix.is_known()) else { return false };
    let Ok(suffix) = std::str::from_utf8(suffix.as_bytes()) else { return false };
    let Some(own) = lower.strip_suffix(suffix).and_then(|rest| rest.strip_suffix('.')) else {
        // A name that others register under is a host, too (`github.io`), but `co.uk` is said of many.
        return !lone && before.len() > 3;
    };
    if lone && ENDINGS.contains(&suffix) {
        return false;
    }
    let own = own.rsplit('.').next().unwrap_or(own);
    if own.contains('_') {
        return false;
    }
    // `12.in` is a length, `163.com` is a host.
    let letters = own.chars().any(char::is_alphabetic);
    letters || suffix.len() > 2 || suffix == "cn"
}

fn is_label(label: &str) -> bool {
    (1..=MAX_LABEL).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
}

/// Whether a character may be part of a host's name. Scripts that are written without spaces are left out: there,
/// a name would take the sentence around it along.
pub(super) fn in_name(c: char) -> bool {
    match c {
        '-' | '_' => true,
        _ if c.is_ascii() => c.is_ascii_alphanumeric(),
        _ => c < '\u{e00}' && c.is_alphanumeric(),
    }
}

#[cfg(test)]
mod tests {
    use super::is_domain;

    #[test]
    fn names_of_hosts_are_told_from_other_names_with_dots() {
        for name in [
            "example.com",
            "EXAMPLE.COM",
            "a.b.example.co.uk",
            "t.co",
            "163.com",
            "xn--bcher-kva.de",
            "münchen.de",
            "my_host.example.com",
            "user.github.io",
            "ml.evil.top",
        ] {
            assert!(is_domain(name, true), "{name}");
        }
        for name in [
            "example",
            "2.0.17",
            "1.2.3.4",
            "main.rs",
            "archive.zip",
            "README.md",
            "finished.It",
            "co.uk",
            "e.g",
            "a..com",
            "-a.com",
            "a-.com",
            "node.js",
            "file.txt",
            "photo.jpeg",
            "12.in",
            "x_y.com",
            "data.tar.zip",
        ] {
            assert!(!is_domain(name, true), "{name}");
        }
        for name in ["docs.rs", "evil.zip", "github.io"] {
            assert!(is_domain(name, false), "{name}");
        }
    }
}
