//! How random a value looks: what tells a key from a placeholder or from words of its shape.

use std::sync::LazyLock;

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[
    ("random", |value| random(value).into()),
    ("entropy", |value| (entropy(value) >= VARIED).into()),
    ("cased", |value| cased(value).into()),
    ("slack", |value| slack(value).into()),
];

/// Shannon entropies, in bits a character. Of 32 random hexadecimal digits hardly any are below 3; of placeholders
/// and of runs of one character all are below 2.5.
const VARIED: f32 = 3.0;
const PLAIN: f32 = 2.6;
const SHORT: f32 = 2.2;

/// Logarithms to the base 2 are kept for counts below this: values are short.
const COUNTS: usize = 1024;

#[expect(clippy::cast_precision_loss, reason = "values are short")]
fn log2(count: usize) -> f32 {
    static KNOWN: LazyLock<Box<[f32]>> =
        LazyLock::new(|| (0..COUNTS).map(|count| (count.max(1) as f32).log2()).collect());
    KNOWN.get(count).copied().unwrap_or_else(|| (count as f32).log2())
}

/// Shannon entropy of the bytes, in bits a byte.
#[expect(clippy::cast_precision_loss, reason = "values are short")]
pub(super) fn entropy(value: &[u8]) -> f32 {
    let mut counts = [0u32; 256];
    for &byte in value {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    // Each byte that stands n times adds its part n times.
    let of = |&byte: &u8| counts.get(usize::from(byte)).map_or(0.0, |&count| log2(count as usize));
    log2(value.len().max(1)) - value.iter().map(of).sum::<f32>() / value.len().max(1) as f32
}

/// Letters and digits, varied enough for the length.
fn random(value: &[u8]) -> bool {
    let least = if value.len() < 16 { SHORT } else { PLAIN };
    value.iter().any(u8::is_ascii_digit)
        && value.iter().any(u8::is_ascii_alphabetic)
        && entropy(value) >= least
}

/// Letters of both cases, varied: what a key of letters alone has, and a word has not.
fn cased(value: &[u8]) -> bool {
    let small = value.iter().filter(|byte| byte.is_ascii_lowercase()).count();
    let large = value.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    small.min(large) >= 4 && entropy(value) >= VARIED
}

/// Slack's tokens have numbers of teams and users behind the prefix, or are as random as keys.
fn slack(value: &[u8]) -> bool {
    value.len() >= 20
        && value.iter().filter(|byte| byte.is_ascii_digit()).count() >= 4
        && entropy(value) >= PLAIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_shannons() {
        assert!(entropy(b"").abs() < 1e-6 && entropy(b"aaaa").abs() < 1e-6);
        assert!((entropy(b"abcd") - 2.0).abs() < 1e-6);
    }

    #[test]
    fn placeholders_and_words_are_not_random() {
        assert!(random(b"0a1b2c3d4e5f60718293a4b5c6d7e8f9"));
        for value in
            ["xxxxxxxxxxxxxxxxxxxxxxx1", "my-service-name-in-production", "00000000000000000000000000000001"]
        {
            assert!(!random(value.as_bytes()), "{value}");
        }
        assert!(slack(b"xoxb-012345678901-abcdefghijklmnop"));
        assert!(!slack(b"xoxe.xoxp-1-something-else"));
    }
}
