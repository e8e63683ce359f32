//! Values that are parts of programs and of what they are built of, and no keys.

use memchr::memmem;

/// What programs are made of: `{field}` of a format, `[a-z]` of an expression, `path::of(a)`, `aes_hw_set_encrypt_key`.
pub(super) fn programmed(value: &[u8]) -> bool {
    let classes =
        || ["a-z", "A-Z", "0-9", "a-f"].iter().any(|class| memmem::find(value, class.as_bytes()).is_some());
    // `io::BufRead`.
    let calls = value.windows(6).any(|six| {
        matches!(*six, [a, b, b':', b':', c, d] if [a, b].iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'_')
            && c.is_ascii_alphabetic() && d.is_ascii_lowercase())
    });
    calls
        || value.contains(&b'{') && has_field(value)
        || value.contains(&b'[') && classes()
        || identifier(value)
}

/// Whether a value holds a name in braces, as formats of programs do.
fn has_field(value: &[u8]) -> bool {
    value.split(|&byte| byte == b'{').skip(1).any(|rest| {
        let name =
            rest.iter().take_while(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'.')).count();
        name >= 3 && matches!(rest.get(name), Some(b'}' | b'!' | b':'))
    })
}

/// Words of letters and what algorithms are called, with `_` between, and mostly words: each in one case.
fn identifier(value: &[u8]) -> bool {
    let mut words = 0;
    let mut parts = 0;
    for part in value.split(|&byte| byte == b'_').filter(|part| !part.is_empty()) {
        let letters = part.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let digits = part.iter().skip(letters).take_while(|byte| byte.is_ascii_digit()).count();
        let word = part.get(..letters).unwrap_or_default();
        let one_case = word.iter().all(u8::is_ascii_lowercase) || word.iter().all(u8::is_ascii_uppercase);
        if letters + digits < part.len() || letters > 12 || digits > 4 || !one_case {
            return false;
        }
        words += usize::from(digits == 0 && letters >= 2);
        parts += 1;
    }
    parts >= 4 && words * 2 >= parts
}

/// A package and its version, as `jjwt-api:0.11.5` behind the group `io.jsonwebtoken:` of a build file.
pub(super) fn released(value: &[u8]) -> bool {
    let Some(digit) = value.iter().position(u8::is_ascii_digit) else { return false };
    let Some((sign, name)) = value.get(..digit).and_then(<[u8]>::split_last) else { return false };
    let part =
        |byte: &u8| byte.is_ascii_lowercase() || matches!(byte, b'.' | b'-' | b'_' | b'/' | b':' | b'@');
    let version = value.get(digit..).unwrap_or_default();
    let number = version.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let numbers = version.get(..number).unwrap_or_default().split(|&byte| byte == b'.');
    let counted = numbers.clone().count() >= 2 && numbers.clone().all(|one| (1..=5).contains(&one.len()));
    // `-SNAPSHOT`, `-rc1`, `+build`.
    let stage = version.get(number..).unwrap_or_default();
    let staged = stage.is_empty() || stage.len() <= 12 && matches!(stage.first(), Some(b'-' | b'+'));
    matches!(sign, b':' | b'@' | b'-') && name.len() >= 3 && name.iter().all(part) && counted && staged
}
