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
    let (mut run, mut longest_run) = (0, 0);
    for byte in text.bytes() {
        // Numbers are grouped, so that what parts groups is none's end.
        run = match byte {
            b'0'..=b'9' => run + 1,
            byte if byte.is_ascii_alphabetic() || is_resource => 0,
            _ => run,
        };
        longest_run = longest_run.max(run);
    }
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
        ] {
            assert_eq!(model_name(name), Some(name));
        }
        for text in [
            "",
            "4111111111111111",
            "4111-1111-1111-1111",
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
