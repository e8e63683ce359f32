//! What of a request's `model` is the name of a model, so that it may stand in logs and sums: callers can write anything
//! there.

/// The longest run of digits that a name has: a date, or the number of an account in a resource's name.
const DIGITS: usize = 8;
const DIGITS_OF_RESOURCE: usize = 12;

/// The longest name that counts as one, in bytes.
const LONGEST: usize = 128;
const LONGEST_RESOURCE: usize = 256;

/// The name, if that is what it is: words of letters and digits as providers make them, no number of anybody's and no
/// address.
///
/// ```
/// use portcullis::usage::model_name;
///
/// assert_eq!(model_name("claude-sonnet-4@20250514"), Some("claude-sonnet-4@20250514"));
/// assert_eq!(model_name("jane.doe@example.com"), None);
/// ```
pub fn model_name(text: &str) -> Option<&str> {
    let is_resource = text.starts_with("arn:aws");
    let (longest, most) =
        if is_resource { (LONGEST_RESOURCE, DIGITS_OF_RESOURCE) } else { (LONGEST, DIGITS) };
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._:/-+@".contains(&byte);
    let longest_run = longest_number(text, is_resource);
    // A version may follow an at sign, a host may not.
    let is_version =
        |behind: &str| behind.bytes().any(|b| b.is_ascii_digit()) && !behind.contains(['.', '@']);
    let host = text.split_once('@').is_some_and(|(name, behind)| !name.is_empty() && !is_version(behind));
    let mut words = text.split(['.', '_', ':', '/', '-', '+', '@']);
    // Keys are long words without a separator, and shorter ones in capitals.
    let key = words.any(|word| {
        word.len() > 24
            || word.len() > 15 && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
    });
    let letters = text.bytes().any(|byte| byte.is_ascii_alphabetic());
    let fine =
        letters && text.len() <= longest && text.bytes().all(fits) && longest_run <= most && !host && !key;
    fine.then_some(text)
}

/// The most digits between letters, without dates. Numbers are grouped, so that what parts groups is none's end.
fn longest_number(text: &str, is_resource: bool) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut run, mut longest) = (0, 0, 0);
    while let Some(byte) = bytes.get(at) {
        let begins =
            at.checked_sub(1).and_then(|before| bytes.get(before)).is_none_or(|b| !b.is_ascii_digit());
        let date = if begins { date_length(bytes.get(at..).unwrap_or_default()) } else { None };
        run = match byte {
            b'0'..=b'9' => run + usize::from(date.is_none()),
            byte if byte.is_ascii_alphabetic() || is_resource => 0,
            _ => run,
        };
        longest = longest.max(run);
        at += date.unwrap_or(1);
    }
    longest
}

/// The length of a date of this century that a text begins with, as versions have it: `20250514`, `2025-05-14`.
fn date_length(text: &[u8]) -> Option<usize> {
    let length = if text.get(4) == Some(&b'-') { 10 } else { 8 };
    let (date, behind) = text.split_at_checked(length)?;
    let digits: Vec<u8> = match length {
        10 if date.get(7) != Some(&b'-') => return None,
        10 => [date.get(..4)?, date.get(5..7)?, date.get(8..)?].concat(),
        _ => date.to_vec(),
    };
    let number: u32 = std::str::from_utf8(&digits)
        .ok()
        .filter(|all| all.bytes().all(|b| b.is_ascii_digit()))?
        .parse()
        .ok()?;
    let (year, month, day) = (number / 10_000, number / 100 % 100, number % 100);
    let fits = (2015..2100).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    (fits && !behind.first().is_some_and(u8::is_ascii_digit)).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_models_are_told_from_what_is_somebodys() {
        for name in [
            "gpt-4o",
            "gpt-4o-mini-2024-07-18",
            "claude-3-5-sonnet-20241022",
            "us.anthropic.claude-3-7-sonnet-20250219-v1:0",
            "meta-llama/Llama-3.1-8B-Instruct",
            "gemini-2.5-flash-preview-05-20",
            "llama3.2:3b",
            "text-embedding-3-small",
            "accounts/fireworks/models/deepseek-v3",
            "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-v1",
            "ft:gpt-4o-mini-2024-07-18:acme::Abc12345",
            "@cf/meta/llama-3",
            "claude-sonnet-4-20250514",
            "claude-opus-4-1-20250805",
            "claude-sonnet-4@20250514",
            "gpt-4.1-2025-04-14",
        ] {
            assert_eq!(model_name(name), Some(name));
        }
        for text in [
            "",
            "4111111111111111",
            "4111-1111-1111-1111",
            "4111-1111-20250514-1111",
            "650-253-0000-2025-04-14",
            "x-4111-1111-1111-1111",
            "536-22-8726-ssn",
            "jane.doe@example.com",
            "+1-415-555-2671",
            "Jane Doe",
            "jane.doe@corp",
            "a_4111_1111_1111_1111",
            "4111/1111/1111/1111x",
            "tel:650:253:0000",
            "ssn_536_22_8726",
            "AKIAIOSFODNN7EXAMPLE",
            "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789",
            "ghp_0123456789abcdefghijABCDEFGHIJ012345",
            "a\nb",
            "modèle",
            &"a-".repeat(100),
        ] {
            assert_eq!(model_name(text), None, "{text:?}");
        }
    }
}
