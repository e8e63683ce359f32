//! Letters and digits that are no words, as programs make passwords and keys of them.

/// The longest run of consonants that is an acronym: `HTTPS`.
const ACRONYM: usize = 5;

/// Letters in both cases and digits that make up hardly any words, nor names of programs: `sctyNuShQBrA`.
pub(crate) fn is_jumble(text: &[u8]) -> bool {
    let any = |is: fn(&u8) -> bool| text.iter().any(is);
    let plain = text.len() >= 8 && text.iter().all(u8::is_ascii_alphanumeric);
    if !plain || !any(u8::is_ascii_uppercase) || !any(u8::is_ascii_lowercase) {
        return false;
    }
    let (mut rest, mut spoken, mut short) = (text, 0, false);
    while !rest.is_empty() {
        let upper = rest.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        let lower = rest.iter().skip(upper).take_while(|byte| byte.is_ascii_lowercase()).count();
        // The last capital is that of the letters behind it.
        let length = if upper > 1 && lower > 0 { upper - 1 } else { upper + lower };
        let word = rest.get(..length).unwrap_or_default();
        let vowel = |byte: &u8| matches!(byte.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u' | b'y');
        let vowels = word.iter().any(vowel);
        spoken += match length {
            // An acronym before a word: `HTTPClient`.
            3..=ACRONYM if upper > 1 && lower > 0 => length,
            _ if upper > 1 || !vowels => 0,
            0..=2 => 0,
            3 => 2,
            _ => length,
        };
        short |= (1..=2).contains(&length) || length > ACRONYM && !vowels;
        rest = rest.get(length.max(1)..).unwrap_or_default();
    }
    let letters = text.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    short && spoken * 3 <= letters * 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_names_are_no_jumble() {
        for text in ["sctyNuShQBrA", "fVM4noinXEOV", "EtwHIvjkgoleA3dx", "kXpqrtWzLmnB", "Uaq9DRJMJJ"] {
            assert!(is_jumble(text.as_bytes()), "{text}");
        }
        for text in [
            "JavaScript",
            "userPassword1",
            "defaultTokenProvider",
            "getKeyFor2Use",
            "MyHTTPClient2",
            "LinkedIn2024",
            "SUNFLOWER7",
            "sunflower7",
            "oldUsrPwd",
            "parseJSONValue",
            "kX9p",
        ] {
            assert!(!is_jumble(text.as_bytes()), "{text}");
        }
    }
}
