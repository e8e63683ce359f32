//! Top-level domains (IANA root zone database, and the special-use names of RFC 2606, 6761, 6762, 7686 and 9476)
//! and names made of them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[("domain", |value| domain(value).into())];

/// The labels of the root zone, lower case, IDNs in both forms.
static KNOWN: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| include_str!("tlds.txt").lines().chain(SPECIAL.iter().copied()).collect());

/// Names that are not in the root zone and are used all the same.
const SPECIAL: &[&str] = &[
    "alt",
    "arpa",
    "corp",
    "example",
    "home",
    "internal",
    "intranet",
    "invalid",
    "lan",
    "local",
    "localdomain",
    "onion",
    "private",
    "test",
];

/// The longest label, in bytes (RFC 1035 section 2.3.4).
const LABEL: usize = 63;
/// The longest name, in bytes.
const NAME: usize = 253;

/// Whether `label` is a top-level domain; letters of another script that look like Latin ones count as those.
pub(crate) fn known(label: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(label) else { return false };
    if text.is_empty() || text.len() > LABEL {
        return false;
    }
    if text.is_ascii() {
        let lower: Cow<'_, str> = if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            text.to_ascii_lowercase().into()
        } else {
            text.into()
        };
        return KNOWN.contains(lower.as_ref());
    }
    let lower = text.to_lowercase();
    let folded: String = lower.chars().map(latin).collect();
    KNOWN.contains(lower.as_str()) || folded.is_ascii() && KNOWN.contains(folded.as_str())
}

/// The Latin letter that a lower-case Cyrillic or Greek one looks like (Unicode TR 39 confusables).
const fn latin(letter: char) -> char {
    match letter {
        'а' | 'α' => 'a',
        'с' => 'c',
        'ԁ' => 'd',
        'е' => 'e',
        'һ' => 'h',
        'і' | 'ι' => 'i',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'м' => 'm',
        'п' => 'n',
        'о' | 'ο' => 'o',
        'р' | 'ρ' => 'p',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'υ' => 'u',
        'ν' => 'v',
        'х' | 'χ' => 'x',
        'у' => 'y',
        _ => letter,
    }
}

/// A domain name with a label before its top-level domain, which is not a file's ending; no label is too long or
/// has a hyphen at an end.
pub(crate) fn domain(value: &[u8]) -> bool {
    let labels = || value.split(|&byte| byte == b'.');
    let legal = |label: &[u8]| {
        (1..=LABEL).contains(&label.len()) && label.first() != Some(&b'-') && label.last() != Some(&b'-')
    };
    value.len() <= NAME
        && labels().count() > 1
        && labels().all(legal)
        && labels().next_back().is_some_and(|last| known(last) && !file(last))
}

/// Endings that are rather files than top-level domains.
const FILES: &[&str] = &["ai", "md", "mov", "pl", "ps", "py", "rs", "sh", "so", "zip"];
/// Endings that are files and no top-level domains: `icon@2x.png`.
const ONLY_FILES: &[&str] = &[
    "avif", "bmp", "conf", "cpp", "css", "csv", "dll", "doc", "docx", "exe", "gif", "heic", "html", "ico",
    "java", "jpeg", "jpg", "js", "json", "jsx", "log", "msi", "pdf", "php", "png", "scss", "sql", "svg",
    "tar", "tgz", "tiff", "toml", "ts", "tsx", "txt", "webp", "xls", "xlsx", "xml", "yaml", "yml",
];

/// Whether `label`, which is not in the root zone, could be the last of a private network's names.
pub(crate) fn private(label: &[u8]) -> bool {
    let file = || ONLY_FILES.iter().any(|known| label.eq_ignore_ascii_case(known.as_bytes()));
    (2..=LABEL).contains(&label.len()) && label.iter().all(u8::is_ascii_alphabetic) && !file()
}

fn file(label: &[u8]) -> bool {
    FILES.iter().any(|known| label.eq_ignore_ascii_case(known.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn top_level_domains() {
        for label in ["com", "COM", "de", "museum", "xn--p1ai", "рф", "РФ", "сом", "local"] {
            assert!(known(label.as_bytes()), "{label}");
        }
        for label in ["", "png", "x", "ком1", "nosuchname"] {
            assert!(!known(label.as_bytes()), "{label}");
        }
    }

    #[test]
    fn private_names() {
        assert!(private(b"corpnet") && !private(b"PNG") && !private(b"x") && !private(b"x1"));
    }

    #[test]
    fn domain_names() {
        for name in ["example.com", "a.b-c.example.co.uk", "xn--bcher-kva.example", "bücher.de"] {
            assert!(domain(name.as_bytes()), "{name}");
        }
        for name in ["com", "example.", "-a.com", "a-.com", "main.rs", "run.sh", "a..com"] {
            assert!(!domain(name.as_bytes()), "{name}");
        }
    }
}
