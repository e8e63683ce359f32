//! What is written where values of secrets are and is none: labels of several words, constants, attributes.

use super::shape::has_digit;

/// Whether a text is words with a version or a number of something between hyphens or low lines, as standards, rules and names of
/// secrets are called: `min_length_12`, `api-key-v3`, `argon2id-v1.3`. A word and a number is a password as often.
pub(super) fn is_label_of_words(text: &[u8]) -> bool {
    let parts = || text.split(|byte| matches!(byte, b'-' | b'_' | b'.'));
    let number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let plain = parts().count() == 2 && parts().any(number) && parts().any(|part| !has_digit(part));
    let parted = text.iter().any(|byte| matches!(byte, b'-' | b'_'));
    parted && !plain && parts().any(is_word) && parts().all(|part| is_word(part) || is_count(part))
}

/// Whether a part of a label is a word in one case, which a short number and letters may follow: `Rotate`, `argon2id`.
fn is_word(part: &[u8]) -> bool {
    let letters = part.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (word, rest) = part.split_at(letters);
    let one_case = word.iter().skip(1).all(u8::is_ascii_lowercase) || word.iter().all(u8::is_ascii_uppercase);
    let vowel = |byte: &u8| matches!(byte.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u' | b'y');
    letters >= 3 && one_case && word.iter().any(vowel) && (rest.is_empty() || is_count(rest))
}

/// Whether a part of a label is short letters, a number, a version or a number and what it counts: `no`, `12`, `v3`, `90d`.
fn is_count(part: &[u8]) -> bool {
    let rest = part.strip_prefix(b"v").filter(|rest| !rest.is_empty()).unwrap_or(part);
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let unit = rest.get(digits..).unwrap_or_default();
    digits <= 4 && unit.len() <= 2 && unit.iter().all(u8::is_ascii_lowercase)
}

/// Whether it is the name of a constant of a program: capitals, with a word among them.
pub(super) fn is_constant(text: &[u8]) -> bool {
    let shouted = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    let mut parts = text.split(|&byte| byte == b'_');
    text.contains(&b'_')
        && text.iter().all(shouted)
        && text.first().is_some_and(u8::is_ascii_uppercase)
        && parts.any(|part| part.len() >= 4 && is_word(part) && !has_digit(part))
}

/// Whether it is an attribute of a program: `#[allow]`.
pub(super) fn is_attribute(text: &[u8]) -> bool {
    text.starts_with(b"#[") && text.ends_with(b"]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_told_from_passwords() {
        for name in ["TLS13_CHACHA20_POLY1305_SHA256_INTERNAL", "DEFAULT_2FA", "MAX_LENGTH_12"] {
            assert!(is_constant(name.as_bytes()), "{name}");
        }
        for value in ["AB12_CD34", "K7XQ_9ZLM_W3PR", "Gx7_KKPW", "ABCDEFGH"] {
            assert!(!is_constant(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn labels_of_words_are_told_from_passwords() {
        for label in [
            "OWASP-ASVS-4.0",
            "argon2id-v1.3",
            "rotate_every_90d",
            "min_length_12",
            "no-reuse-5x",
            "password1_field",
            "api-key-v3",
            "db-password-v2",
        ] {
            assert!(is_label_of_words(label.as_bytes()), "{label}");
        }
        for value in
            ["Zx4-Kq8_Wm2.Rt6", "kx7-lm2-qp9", "summer-2024", "winter-rain-12!", "Gx7!kkpw", "hunter2"]
        {
            assert!(!is_label_of_words(value.as_bytes()), "{value}");
        }
    }
}
