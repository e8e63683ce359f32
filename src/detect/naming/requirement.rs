//! What stands where a password or a token would, and is none: what forms and validators ask of one (`min:8|max:64`, `8–16
//! characters`, `^(?=.*[A-Z]).{8,}$`), and the names of a style guide's values.

/// The longest text that is looked at, in bytes, and the most words and digits of a number in it.
const LONGEST: usize = 128;
const WORDS: usize = 12;
const DIGITS: usize = 3;

/// Say how long something is, beside a number.
const LENGTHS: &str = "\
    length len char chars character characters zeichen caractères caracteres caratteri tekens karakters \
    tecken tegn merkkiä znaków znaki znaků znakov символов символа символів karakter 文字 字符 字元 자";

/// Say that a number is a limit.
const LIMITS: &str = "\
    min max minlength maxlength minimum maximum mindestens höchstens maximal minimal least most minimo \
    massimo mínimo máximo moins plus";

/// Stand between those.
const OTHERS: &str = "\
    a al at au and between bis confirmed de di e entre et from long menos meno minst minimaal must be \
    nullable of or required string size to und y zwischen";

/// What the names of a style guide's values begin with, as in `font.size.100`: designers call those tokens.
const STYLES: &str = "\
    animation border breakpoint color colour duration easing elevation font grid motion opacity radius \
    shadow size sizing space spacing typography z";

/// Whether a word is one of those between spaces.
fn is_one_of(word: &str, of: &str) -> bool {
    of.split(' ').any(|one| one == word)
}

/// Whether a text asks something of a password, or names a value of a style guide.
pub(super) fn is_requirement(text: &[u8]) -> bool {
    // Most values have none of these.
    if text.len() > LONGEST || !text.iter().any(u8::is_ascii_digit) {
        return false;
    }
    let Ok(text) = std::str::from_utf8(text) else { return false };
    is_pattern(text) || limits_length(text) || is_style(text)
}

/// Whether a text is three small words and more with dots between, of which the first is what style guides have.
fn is_style(text: &str) -> bool {
    let mut parts = text.split('.');
    let plain = |part: &str| {
        let small = |b: u8| b.is_ascii_lowercase() || b == b'-';
        let number = part.bytes().all(|b| b.is_ascii_digit()) && part.len() <= DIGITS + 1;
        !part.is_empty() && (number || part.bytes().all(small))
    };
    parts.next().is_some_and(|first| is_one_of(first, STYLES))
        && text.split('.').count() > 2
        && parts.all(plain)
}

/// Whether a text is a regular expression from end to end that counts characters or looks ahead.
fn is_pattern(text: &str) -> bool {
    let body = text.strip_prefix('/').and_then(|text| text.strip_suffix('/')).unwrap_or(text);
    let Some(body) = body.strip_prefix('^').and_then(|body| body.strip_suffix('$')) else { return false };
    body.contains("(?=") || body.contains("(?!") || body.split('{').skip(1).any(is_repeated)
}

/// Whether a number of repetitions stands at the beginning of a text: `8,}`, `8,64}`.
fn is_repeated(text: &str) -> bool {
    let Some((count, _)) = text.split_once('}') else { return false };
    count.starts_with(|c: char| c.is_ascii_digit()) && count.bytes().all(|b| b.is_ascii_digit() || b == b',')
}

/// Whether all words of a text are numbers and what is said of a length.
fn limits_length(text: &str) -> bool {
    let (mut numbers, mut lengths, mut limits) = (0, 0, 0);
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    for (count, word) in words.enumerate() {
        if count >= WORDS {
            return false;
        }
        if word.bytes().all(|byte| byte.is_ascii_digit()) {
            numbers += 1;
            if word.len() > DIGITS {
                return false;
            }
            continue;
        }
        let lower = word.to_lowercase();
        let is = |words: &str| is_one_of(&lower, words);
        match (is(LENGTHS), is(LIMITS)) {
            (true, _) => lengths += 1,
            (false, true) => limits += 1,
            (false, false) if is(OTHERS) => {}
            (false, false) => return false,
        }
    }
    // `Max-12` may be a password; `max:12` is a limit.
    let assigned = text.contains([':', '=']);
    numbers > 0 && (lengths > 0 || limits > 0 && assigned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_of_a_password_is_none() {
        for text in [
            "min:8|max:64",
            "required|string|min:8",
            "MIN_LENGTH_8",
            "8–16 Zeichen",
            "Mindestens 8 Zeichen",
            "At least 8 characters",
            "8 caractères au moins",
            "min=8,max=64",
            "^(?=.*[A-Z])(?=.*\\d).{8,}$",
            "/^[a-z0-9]{8,16}$/",
            "font.size.100",
            "color.brand-blue.500",
        ] {
            assert!(is_requirement(text.as_bytes()), "{text}");
        }
        for text in [
            "hunter2Zq9",
            "Max-12",
            "max12",
            "Max 2024",
            "min:8800",
            "Zeichen8",
            "^secret8$",
            "{8,}",
            "8",
            "8-16",
            "at least my dog 8",
            "string:8",
            "font.size",
            "font.a8f3k2.100",
            "acme.prod.100",
            "",
        ] {
            assert!(!is_requirement(text.as_bytes()), "{text}");
        }
    }
}
