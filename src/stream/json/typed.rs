//! What is no text because of its type, and only if it has that type.

use crate::stream::path::{JsonToken, LONG_NUMBER, MAX_KEY, MAX_TYPED, Treatment, Type};

impl Treatment {
    /// What to do with what stands there: what has not the type that it must have is text.
    #[must_use]
    pub fn of(self, token: JsonToken, text: &str) -> Self {
        match self {
            Self::Typed(of) if of.fits(token, text) => Self::Skip,
            Self::Typed(_) => Self::Text,
            other => other,
        }
    }
}

impl Type {
    fn fits(self, token: JsonToken, text: &str) -> bool {
        let (digit, letter) = (|b: u8| b.is_ascii_digit(), |b: u8| b.is_ascii_alphabetic());
        if self == Self::Number {
            return token == JsonToken::Number
                || token == JsonToken::Key && text.len() <= 7 && text.bytes().all(digit);
        }
        if self == Self::Opaque {
            let base64 = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_' | b'=');
            return token == JsonToken::Text
                && text.len() >= SHORTEST_OPAQUE
                && text.bytes().all(base64)
                && text.bytes().any(letter);
        }
        if self == Self::SignedUrl {
            return token == JsonToken::Text && is_signed_url(text);
        }
        if self == Self::Credential {
            return token == JsonToken::Text && is_credential(text);
        }
        if matches!(self, Self::CredentialUrl | Self::PlainName) {
            return false;
        }
        let numbers = digits_alone(text);
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b':' | b'/');
        let short = numbers < LONG_NUMBER || self == Self::Id && is_call_id(text);
        let shaped = text.len() <= MAX_KEY && text.bytes().all(plain) && short;
        // A long part with digits may be a key.
        let key = |part: &str| part.len() >= SHORTEST_OPAQUE && part.bytes().any(digit);
        let typed = match self {
            Self::Word => {
                text.bytes().next().is_some_and(letter)
                    && !text.split(|c: char| !c.is_ascii_alphanumeric()).any(key)
            }
            Self::Id => text.len() >= 8 && text.bytes().any(digit) && text.bytes().any(letter),
            _ => text.bytes().next().is_some_and(letter),
        };
        token == JsonToken::Text && (shaped && typed || self == Self::Name && is_resource_name(text))
    }
}

/// How many digits stand in numbers of their own, or groups of one: they may be somebody's, and are looked at. Those of a UUID
/// are not.
fn digits_alone(text: &str) -> usize {
    let bytes = text.as_bytes();
    let begins =
        |at: &usize| at.checked_sub(1).is_none_or(|at| !bytes.get(at).is_some_and(u8::is_ascii_alphanumeric));
    let uuid = |at: &usize| begins(at) && bytes.get(*at..at + UUID).is_some_and(is_uuid);
    let at = (0..(text.len() + 1).saturating_sub(UUID)).find(uuid);
    let (before, behind) = match at {
        Some(at) => (text.get(..at), text.get(at + UUID..)),
        None => (Some(text), None),
    };
    let parts = [before, behind]
        .into_iter()
        .flatten()
        .flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric()));
    parts.filter(|part| part.bytes().all(|byte| byte.is_ascii_digit())).map(str::len).sum()
}

/// Words with which ids of calls begin that are numbers else: `function-call-…`, `chatcmpl-tool-…`, `call_00_…`, `toolu_…`.
const CALLS: [&str; 4] = ["call", "tool", "toolu", "function"];

/// The fewest digits of such a number: nothing of somebody's that is written without signs has as many, or few cards.
const LONG_CALL: usize = 17;

/// The longest word and number before that number.
const LONGEST_WORD: usize = 12;
const LONGEST_COUNT: usize = 2;

/// Whether a text is the id of a call, by the words at its beginning and the long number behind them.
fn is_call_id(text: &str) -> bool {
    let signs = ['_', '-'];
    let Some((before, number)) = text.rsplit_once(signs) else { return false };
    let word = |part: &str| {
        part.len() <= LONGEST_WORD && part.bytes().all(|byte| byte.is_ascii_lowercase())
            || part.len() <= LONGEST_COUNT && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    number.len() >= LONG_CALL
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && before.split(signs).all(word)
        && before.split(signs).any(|part| CALLS.contains(&part))
}

/// The shortest credential, in bytes; behind the name of its scheme it may be shorter.
const SHORTEST_CREDENTIAL: usize = 16;
const SHORTEST_BEHIND_SCHEME: usize = 8;

/// Whether a text is a credential as a header has it: a word of letters and digits, behind the name of a scheme or alone.
fn is_credential(text: &str) -> bool {
    let scheme = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let (word, shortest) = match text.split_once(' ') {
        Some((first, rest)) if scheme(first) => (rest, SHORTEST_BEHIND_SCHEME),
        _ => (text, SHORTEST_CREDENTIAL),
    };
    let plain = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'+' | b'/' | b'=')
    };
    (shortest..=MAX_TYPED).contains(&word.len())
        && word.bytes().all(plain)
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && word.bytes().any(|byte| byte.is_ascii_alphabetic())
        && digits_alone(word) < LONG_NUMBER
}

/// Whether a text may be what a server calls something by: one word of letters, digits and few signs. Some have numbers alone.
pub fn is_id(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b':');
    (1..=MAX_KEY).contains(&text.len()) && text.bytes().all(plain)
}

/// Whether a text names something in a project of Google Cloud (AIP-122): collections and ids in turn, of which ids may be numbers
/// alone, such as `projects/7/locations/europe-west1/endpoints/6905949917125714272`.
fn is_resource_name(text: &str) -> bool {
    let segments: Vec<&str> = text.split('/').collect();
    let collection = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphabetic());
    let id = |name: &str| {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
        (1..=LONGEST_ID).contains(&name.len()) && name.bytes().all(plain)
    };
    let pairs = || segments.chunks_exact(2);
    matches!(segments.as_slice(), ["projects", _, "locations", _, ..])
        && segments.len().is_multiple_of(2)
        && pairs().all(|pair| matches!(pair, [name, one] if collection(name) && id(one)))
}

/// The longest id in such a name, in bytes.
const LONGEST_ID: usize = 63;

/// Members of a query that hold the signature of a URL, in small letters: of S3 and what speaks it, Google, CloudFront, Azure.
const SIGNATURES: [&str; 4] = ["x-amz-signature", "x-goog-signature", "signature", "sig"];

/// What else stands in such queries, in small letters; those of two letters or so are Azure's.
const SIGNED: [&str; 31] = [
    "x-amz-algorithm",
    "x-amz-content-sha256",
    "x-amz-credential",
    "x-amz-date",
    "x-amz-expires",
    "x-amz-security-token",
    "x-amz-signedheaders",
    "x-goog-algorithm",
    "x-goog-credential",
    "x-goog-date",
    "x-goog-expires",
    "x-goog-signedheaders",
    "x-id",
    "versionid",
    "googleaccessid",
    "awsaccesskeyid",
    "expires",
    "policy",
    "key-pair-id",
    "sv",
    "se",
    "sp",
    "sr",
    "st",
    "spr",
    "skoid",
    "sktid",
    "skt",
    "ske",
    "sks",
    "skv",
];

/// The shortest signature, in bytes.
const SHORTEST_SIGNATURE: usize = 24;

/// Whether a text is the URL of something that is signed, with nothing else in its query, and with no number in its path that may be
/// somebody's.
fn is_signed_url(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_graphic() && !matches!(b, b'@' | b'#');
    let behind = ["https://", "http://"].iter().find_map(|scheme| text.strip_prefix(scheme));
    let fits = text.len() <= MAX_TYPED && text.bytes().all(plain);
    let Some((path, query)) = behind.filter(|_| fits).and_then(|rest| rest.split_once('?')) else {
        return false;
    };
    let number = |segment: &str| {
        let groups = segment.split(|c: char| !c.is_ascii_alphanumeric());
        groups.filter(|group| group.bytes().all(|b| b.is_ascii_digit())).map(str::len).sum::<usize>()
            >= LONG_NUMBER
    };
    let mut signature = false;
    let known = query.split('&').all(|member| {
        let (name, value) = member.split_once('=').unwrap_or((member, ""));
        let name = name.to_ascii_lowercase();
        let mixed =
            value.bytes().any(|b| b.is_ascii_digit()) && value.bytes().any(|b| b.is_ascii_alphabetic());
        let signs = SIGNATURES.contains(&name.as_str()) && value.len() >= SHORTEST_SIGNATURE && mixed;
        signature |= signs;
        signs || SIGNED.contains(&name.as_str())
    });
    // What is encoded there reads as something else.
    known && signature && !path.contains('%') && !path.split('/').any(number)
}

/// What is shorter is no seal.
const SHORTEST_OPAQUE: usize = 16;

/// The length of a UUID's text.
const UUID: usize = 36;

/// Whether a text is a UUID (RFC 9562), and not of digits alone.
fn is_uuid(text: &[u8]) -> bool {
    let fits = |(at, byte): (usize, &u8)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == UUID && text.iter().enumerate().all(fits) && text.iter().any(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_another_type_is_text() {
        let opaque = Treatment::Typed(Type::Opaque);
        let (number, id, name) =
            (Treatment::Typed(Type::Number), Treatment::Typed(Type::Id), Treatment::Typed(Type::Name));
        let cases: &[(Treatment, JsonToken, &str, bool)] = &[
            (number, JsonToken::Number, "1234567890", true),
            (number, JsonToken::Text, "1234567890", false),
            (number, JsonToken::Text, "jane@example.com", false),
            (number, JsonToken::Key, "50256", true),
            (number, JsonToken::Key, "4111111111111111", false),
            (number, JsonToken::Key, "jane", false),
            (id, JsonToken::Text, "chatcmpl-AbC123xyz", true),
            (id, JsonToken::Text, "call_Zk3Jx91LmQpV8sTn2Rw7Yb4K", true),
            (id, JsonToken::Text, "550e8400-e29b-41d4-a716-446655440000", true),
            (id, JsonToken::Text, "chatcmpl-550e8400-e29b-41d4-a716-446655440000", true),
            (id, JsonToken::Text, "55508400-1129-4114-9716-446655440000", false),
            (id, JsonToken::Text, "call-73c9ad0e-bf5b-2003-1075-a579e07db086-0", true),
            (id, JsonToken::Text, "call-73c9ad0e-bf5b-2003-1075-a579e07db086-4111111111111111", false),
            (id, JsonToken::Text, "functions.get_weather:0", true),
            (id, JsonToken::Text, "536-22-8726", false),
            (id, JsonToken::Text, "function-call-8253937529642049129", true),
            (id, JsonToken::Text, "call_8253937529642049129", true),
            (id, JsonToken::Text, "chatcmpl-tool-8253937529642049129", true),
            (id, JsonToken::Text, "call_00_8253937529642049129", true),
            (id, JsonToken::Text, "toolu_8253937529642049129", true),
            (id, JsonToken::Text, "card_8253937529642049129", false),
            (id, JsonToken::Text, "call_4111_8253937529642049129", false),
            (id, JsonToken::Text, "call_5551234567", false),
            (id, JsonToken::Text, "call_555-123-4567", false),
            (id, JsonToken::Text, "call_4111-1111-1111-1111", false),
            (id, JsonToken::Text, "4111111111111111", false),
            (id, JsonToken::Text, "jane.doe", false),
            (id, JsonToken::Text, "jane@example.com", false),
            (id, JsonToken::Text, "it is 12 Main Street", false),
            (id, JsonToken::Number, "1234567890", false),
            (
                name,
                JsonToken::Text,
                "projects/my-project/locations/us-central1/endpoints/6905949917125714272",
                true,
            ),
            (name, JsonToken::Text, "projects/1/locations/eu/publishers/google/models/gemini-3", true),
            (name, JsonToken::Text, "projects/1/locations/eu/cachedContents/4111111111111111", true),
            (name, JsonToken::Text, "projects/1/endpoints/6905949917125714272", false),
            (name, JsonToken::Text, "projects/1/locations/eu/endpoints/jane@example.com", false),
            (name, JsonToken::Text, "projects/1/locations/eu/4111111111111111/x", false),
            (id, JsonToken::Text, "projects/1/locations/eu/endpoints/4111111111111111", false),
            (name, JsonToken::Text, "gpt-4o", true),
            (name, JsonToken::Text, "chat.completion.chunk", true),
            (name, JsonToken::Text, "meta-llama/Llama-3:free", true),
            (name, JsonToken::Text, "ask jane@example.com", false),
            (name, JsonToken::Text, "536-22-8726", false),
            (Treatment::Typed(Type::Word), JsonToken::Text, "get_weather_v2", true),
            (Treatment::Typed(Type::Word), JsonToken::Text, "AKIAQX7RZ3JY5KDN4WPL", false),
            (Treatment::Typed(Type::Word), JsonToken::Text, "sk-proj-0123456789abcdefghij", false),
            (opaque, JsonToken::Text, "Thm/2AAxWWtOEvMoeBBJ8yrkFSkNjuxu/4111111111111111+AA", true),
            (opaque, JsonToken::Text, "Thm_2AAxWWtOEvMoeBBJ8yrkFSkNjuxu-AA==", true),
            (opaque, JsonToken::Text, "4111111111111111", false),
            (opaque, JsonToken::Text, "jane@example.com", false),
            (opaque, JsonToken::Text, "not a seal but 4111 1111", false),
            (opaque, JsonToken::Number, "1234567890123456", false),
            (Treatment::Embedded, JsonToken::Text, "x", false),
        ];
        for (take, token, text, skipped) in cases {
            assert_eq!(take.of(*token, text) == Treatment::Skip, *skipped, "{take:?} {token:?} {text}");
        }
    }

    #[test]
    fn a_credential_is_one_long_word_and_no_number_of_somebodys() {
        for (text, is) in [
            ("Bearer sk-AbCdEf123456GhIj", true),
            ("Basic dXNlcjpwYXNzd29yZDE=", true),
            ("AbCdEf123456GhIjKlMnOpZz", true),
            ("eyJhbGciOiJIUzI1NiJ9.e30.AbCd_0-1", true),
            ("6f1f3c52-8e0b-4c5a-9a3f-2b7f9f0f2d11", true),
            ("jane@example.com", false),
            ("Bearer jane@example.com", false),
            ("4111111111111111", false),
            ("Bearer 4111111111111111", false),
            ("jane-536-22-8726-doe", false),
            ("Jane Doe of 12 Main Street", false),
            ("tenant-a", false),
        ] {
            let take = Treatment::Typed(Type::Credential).of(JsonToken::Text, text);
            assert_eq!(take == Treatment::Skip, is, "{text}");
        }
        for of in [Type::CredentialUrl, Type::PlainName] {
            assert_eq!(Treatment::Typed(of).of(JsonToken::Text, "https://a.example"), Treatment::Text);
        }
    }

    #[test]
    fn only_what_is_signed_and_nothing_else_is_a_signed_url() {
        let url = Treatment::Typed(Type::SignedUrl);
        let cases: &[(Treatment, JsonToken, &str, bool)] = &[
            (
                url,
                JsonToken::Text,
                "https://b.s3.amazonaws.com/i.png?X-Amz-Credential=AKIAQX7RZ3JY5KDN4WPL%2F&X-Amz-Signature=0123456789abcdef0123456789abcdef",
                true,
            ),
            (
                url,
                JsonToken::Text,
                "https://a.blob.core.windows.net/c/i.png?sv=2024&sig=hVv6aaaaaaaaaaaaaaaaaaaaaaaa%3D",
                true,
            ),
            (url, JsonToken::Text, "https://a.example/i.png?sig=short", false),
            (
                url,
                JsonToken::Text,
                "https://a.example/i.png?mail=jo%40b.de&sig=hVv6aaaaaaaaaaaaaaaaaaaaaaaa",
                false,
            ),
            (url, JsonToken::Text, "https://jo:pw@a.example/i.png?sig=hVv6aaaaaaaaaaaaaaaaaaaaaaaa", false),
            (url, JsonToken::Text, "https://a.example/i.png", false),
            (url, JsonToken::Text, "see https://a.example/?sig=hVv6aaaaaaaaaaaaaaaaaaaaaaaa", false),
            (
                url,
                JsonToken::Text,
                "https://a.example/p/536-22-8726/i.png?sig=hVv6aaaaaaaaaaaaaaaaaaaaaaaa",
                false,
            ),
            (
                url,
                JsonToken::Text,
                "https://a.example/i.png?phone=6502530000&sig=hVv6aaaaaaaaaaaaaaaaaaaaaaaa",
                false,
            ),
            (
                url,
                JsonToken::Text,
                "https://a.example/i.png?sig=hVv6aaaaaaaaaaaaaaaaaaaaaaaa#536-22-8726",
                false,
            ),
            (url, JsonToken::Text, "https://a.example/jo%2540b.de?sig=hVv6aaaaaaaaaaaaaaaaaaaaaaaa", false),
            (
                url,
                JsonToken::Text,
                "https://a.example/i.png?token=ghp_0123456789abcdefghij0123456789abcd",
                false,
            ),
            (url, JsonToken::Number, "1", false),
        ];
        for (take, token, text, skipped) in cases {
            assert_eq!(take.of(*token, text) == Treatment::Skip, *skipped, "{text}");
        }
    }
}
