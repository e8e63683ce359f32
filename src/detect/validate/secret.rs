//! Secrets: whether a value can be one by the kinds of its characters.

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[("mixed", |value| mixed(value).into())];

/// Letters and digits, so that it is not a word or words with hyphens; and for a value of hexadecimal digits alone,
/// no: those are hashes and ids.
pub(super) fn mixed(value: &[u8]) -> bool {
    let has = |class: fn(&u8) -> bool| value.iter().any(class);
    has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) && !value.iter().all(u8::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_hashes_are_not_mixed() {
        assert!(mixed(b"sk-abc0def") && mixed(b"wJalrXUtnFEMI/K7"));
        assert!(!mixed(b"sk-learn-something") && !mixed(b"356a192b7913b04c"));
    }
}
