//! Values of credentials: what is a placeholder, a reference or a word of a language, and what may be a secret.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::entropy::entropy;
pub(crate) use super::jumble::is_jumble;
use super::references::holds;
pub(crate) use super::references::stands_in;
use super::source_code::{programmed, released};
use super::terms::{is_asked, is_shortcut, is_term};
use super::value_words::{WordRole, is_of};

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[
    ("password", |value| password(value).into()),
    ("credential_key", |value| key(value, true).into()),
    ("userinfo", |value| userinfo(value).into()),
    ("basic_credentials", |value| (basic(value) || userinfo(value)).into()),
    ("bearer", |value| (value.len() >= 16 && key(value, true)).into()),
];

/// Parts of what stands where a generated key should.
const STAND_INS: &[&str] = &[
    "your",
    "change",
    "insert",
    "xxxx",
    "placeholder",
    "redacted",
    "dummy",
    "sample",
    "fake",
    "example.",
    "replace",
    "removed",
    "...",
    "****",
    "-here",
    "_here",
    "todo",
    "secretname",
    "arn:",
];
const FILES: &str = "\
    .json .pem .key .txt .xml .yml .yaml .crt .cer .p12 .jks .env .html .js .ts .py .pub .php .conf \
    .cfg .ini .jar .keytab .toml .properties .war .ova .whl .tgz .tar.gz .iso .img .msi .dmg .apk .ipa";

fn lower<'b>(value: &[u8], buffer: &'b mut [u8; 128]) -> &'b [u8] {
    let length = value.len().min(buffer.len());
    for (place, byte) in buffer.iter_mut().zip(value) {
        *place = byte.to_ascii_lowercase();
    }
    buffer.get(..length).unwrap_or_default()
}

/// Whether the value has a part that stands where a generated key should.
fn has_stand_in(value: &[u8]) -> bool {
    static SEARCH: LazyLock<Option<AhoCorasick>> =
        LazyLock::new(|| AhoCorasick::builder().ascii_case_insensitive(true).build(STAND_INS).ok());
    SEARCH.as_ref().is_some_and(|search| search.is_match(value))
}

/// Whether the value is a place: a path, an address, a file.
fn place(value: &[u8]) -> bool {
    let mut buffer = [0; 128];
    let text = lower(value, &mut buffer);
    let slashes = value.iter().filter(|&&byte| byte == b'/').count();
    let rooted = (text.starts_with(b"/")
        || text.starts_with(b"./")
        || text.starts_with(b"../")
        || text.starts_with(b"~/"))
        && value.len() < 40
        && text.iter().skip(2).any(|&byte| byte == b'/')
        || text.starts_with(b"#/");
    let words = |part: &[u8]| {
        part.len() < 16
            && part.iter().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'-' | b'.'))
    };
    let path = slashes >= 2 && text == value && value.split(|&byte| byte == b'/').all(words);
    let file = || FILES.split(' ').any(|end| text.ends_with(end.as_bytes()));
    holds(text, "://") || rooted || path || text.contains(&b'.') && file()
}

/// What may be a password in a place that says it is one.
pub(crate) fn password(value: &[u8]) -> bool {
    let mut buffer = [0; 128];
    let text = lower(value, &mut buffer);
    let dummy = is_of(&[WordRole::Dummy], text);
    let hint = holds(text, "your_") || holds(text, "your-") || holds(text, "<your") || holds(text, "_here");
    let said = value.iter().any(|byte| byte.is_ascii_alphanumeric());
    // What programs ask of a value: `required|string|min:8`.
    let asked = ["required|", "nullable|", "sometimes|", "|string", "|min:", "|confirmed"];
    let hint = hint || asked.iter().any(|word| holds(text, word));
    (4..=512).contains(&value.len())
        && said
        && !dummy
        && !hint
        && !stands_in(value)
        && !place(value)
        && !is_term(value)
        && !is_asked(value)
        && !is_shortcut(value)
        && !is_type(value)
        && !is_time(value)
}

/// Whether it is a type that a schema does not leave out (GraphQL): `String!`.
fn is_type(value: &[u8]) -> bool {
    let types: [&[u8]; 5] = [b"String", b"Int", b"Float", b"Boolean", b"ID"];
    value.strip_suffix(b"!").is_some_and(|name| types.contains(&name))
}

/// What a person would not write: letters and digits mixed, or signs, or letters in no order of a language.
pub(crate) fn is_generated(value: &[u8]) -> bool {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    if letters == 0 {
        return digits >= 16 && digits == value.len();
    }
    let pieces = || value.split(|byte| !byte.is_ascii_alphanumeric());
    if pieces().map(worded).sum::<usize>() * 7 >= (letters + digits) * 4 {
        return false;
    }
    if digits == 0 {
        return unspoken(value);
    }
    let hex = value.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
    let mut changes = 0;
    let mut spoken = 0;
    let mut woven = false;
    for piece in pieces() {
        changes += piece.windows(2).filter(|pair| kind(pair.first()) != kind(pair.last())).count();
        let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        let turns = piece.windows(2).filter(|pair| digit(pair.first()) != digit(pair.last())).count();
        woven |= piece.len() >= 8 && turns >= 2;
        let runs = piece.split(|byte| byte.is_ascii_digit());
        spoken += runs.filter(|run| run.len() >= 5 && !unspoken(run)).map(<[u8]>::len).sum::<usize>();
    }
    woven
        || hex && value.len() >= 16
        || spoken * 2 < letters + digits
        || changes * 4 + 2 >= value.len().min(32)
        || unspoken(value)
}

/// Letters of words in the case of names, as in `SeedBytes25519`; none where there is but one case, for then any
/// letters can be such words.
fn worded(value: &[u8]) -> usize {
    if !value.iter().any(u8::is_ascii_uppercase) || !value.iter().any(u8::is_ascii_lowercase) {
        return 0;
    }
    let mut rest = value;
    let mut letters = 0;
    while !rest.is_empty() {
        let upper = rest.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        let lower = rest.iter().skip(upper).take_while(|byte| byte.is_ascii_lowercase()).count();
        let length = if upper > 1 && lower > 0 { upper - 1 } else { upper + lower };
        let word = rest.get(..length).unwrap_or_default();
        let vowel = word
            .iter()
            .any(|byte| matches!(byte.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u' | b'y'));
        letters += if vowel && length >= 3 && (lower > 0 && upper <= 1 || length <= 6) { length } else { 0 };
        rest = rest.get(length.max(1)..).unwrap_or_default();
    }
    letters
}

/// What a change of is counted: digits, capitals, other.
fn kind(byte: Option<&u8>) -> u8 {
    match byte {
        Some(byte) if byte.is_ascii_digit() => 1,
        Some(byte) if byte.is_ascii_uppercase() => 2,
        _ => 0,
    }
}

/// Whether letters stand in no order of a language: five consonants in a row, or words of mixed case too short.
fn unspoken(value: &[u8]) -> bool {
    let vowel = |byte: u8| matches!(byte.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u' | b'y');
    let (mut run, mut longest, mut changes, mut letters) = (0, 0, 0, 0);
    let mut before = b' ';
    for &byte in value {
        run = if byte.is_ascii_alphabetic() && !vowel(byte) { run + 1 } else { 0 };
        longest = longest.max(run);
        letters += usize::from(byte.is_ascii_alphabetic());
        changes += usize::from(before.is_ascii_lowercase() && byte.is_ascii_uppercase());
        before = byte;
    }
    longest >= 5 || changes * 5 > letters && letters >= 8 || tangled(value)
}

/// Many kinds of signs between the letters, as no name has them.
fn tangled(value: &[u8]) -> bool {
    let mut kinds = 0u128;
    for byte in value.iter().filter(|byte| byte.is_ascii_punctuation()) {
        kinds |= 1 << byte;
    }
    kinds.count_ones() >= 4
}

/// Whether it is a time (RFC 3339), which names such as `key` are given in lists by time.
pub(crate) fn is_time(value: &[u8]) -> bool {
    let minute = b"2026-01-02T03:04".len();
    let (date, rest) = value.split_at(value.len().min(minute));
    let fits = |(at, byte): (usize, &u8)| match at {
        4 | 7 => *byte == b'-',
        10 => matches!(byte, b'T' | b't' | b'_' | b' '),
        13 => *byte == b':',
        _ => byte.is_ascii_digit(),
    };
    let number =
        |at: usize| date.get(at..at + 2).and_then(|two| std::str::from_utf8(two).ok()?.parse::<u8>().ok());
    let within = |at, most| number(at).is_some_and(|number| number <= most);
    let real = [(5, 12), (8, 31), (11, 24), (14, 60)].into_iter().all(|(at, most)| within(at, most));
    date.len() == minute && date.iter().enumerate().all(fits) && real && ends_time(rest)
}

/// Whether this is what may follow the minute of a time: seconds, parts of one, a zone.
fn ends_time(rest: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut rest = rest;
    for (sign, least, most) in [(b':', 2, 2), (b'.', 1, 9)] {
        if let Some(behind) = rest.strip_prefix(&[sign]) {
            let length = digits(behind);
            if !(least..=most).contains(&length) {
                return false;
            }
            rest = behind.get(length..).unwrap_or_default();
        }
    }
    match rest {
        [] | [b'Z' | b'z'] => true,
        [b'+' | b'-', zone @ ..] => {
            let (hours, minutes) = zone.split_at(zone.len().min(2));
            let minutes = minutes.strip_prefix(b":").unwrap_or(minutes);
            digits(hours) == 2 && (minutes.is_empty() || minutes.len() == 2 && digits(minutes) == 2)
        }
        _ => false,
    }
}

/// Known for what it is by its shape: an e-mail address, a time, or a number behind a few letters.
fn shaped(value: &[u8]) -> bool {
    let mail = value.iter().position(|&byte| byte == b'@').is_some_and(|at| {
        let host = value.get(at + 1..).unwrap_or_default();
        host.contains(&b'.')
            && host.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'))
    });
    let letters = value.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    let rest = value.get(letters..).unwrap_or_default();
    mail || is_time(value)
        || released(value)
        || (1..=3).contains(&letters) && rest.iter().all(u8::is_ascii_digit)
}

/// Whether it is no words, or so is a longer part of base64 in it.
fn has_jumble(value: &[u8]) -> bool {
    let mut parts = value.split(|byte| matches!(byte, b'+' | b'/' | b'='));
    parts.any(|part| (part.len() == value.len() || part.len() >= 20) && is_jumble(part))
}

/// What may be a generated key or token. Where the name is weak, more is asked.
pub(crate) fn key(value: &[u8], strong: bool) -> bool {
    let mut buffer = [0; 128];
    let text = lower(value, &mut buffer);
    let least = if strong { 10 } else { 16 };
    if !(least..=512).contains(&value.len()) || value.iter().any(|byte| !byte.is_ascii_graphic()) {
        return false;
    }
    let mixed = value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic);
    let bar = match value.len() {
        24.. if mixed => 2.9,
        16.. if mixed && strong => 2.9,
        16.. if mixed => 3.3,
        16.. => 3.4,
        _ => 3.0,
    };
    entropy(value) >= bar
        && !(has_stand_in(value) || stands_in(value) || place(value) || shaped(value) || programmed(value))
        && (is_generated(value) || mixed && strong && has_jumble(value))
        && !alphabet(text)
}

/// What names of secrets have in them, and values have not.
pub(crate) const NAME_PARTS: [&str; 6] = ["pass", "secret", "token", "key", "pwd", "hmac"];

/// Parts of words that stand where a key would.
const KEY_STAND_INS: [&str; 6] = ["test", "example", "sample", "value", "your", "change"];

/// A key that a person chose: a word and a number, `sunflower7`.
pub(crate) fn word_key(value: &[u8]) -> bool {
    let letters = value.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (word, number) = value.split_at(letters);
    // Names of programs are in several cases.
    let one_case = word.iter().skip(1).all(u8::is_ascii_lowercase) || word.iter().all(u8::is_ascii_uppercase);
    let counted = (1..=4).contains(&number.len()) && number.iter().all(u8::is_ascii_digit);
    if !((8..=24).contains(&value.len()) && letters >= 5 && one_case && counted) {
        return false;
    }
    let mut buffer = [0; 128];
    let text = lower(value, &mut buffer);
    !NAME_PARTS.iter().chain(&KEY_STAND_INS).any(|word| holds(text, word)) && password(value)
}

/// The whole alphabet: a table of characters.
fn alphabet(text: &[u8]) -> bool {
    holds(text, "abcdefghijklmnopqrstuvwxyz")
}

/// User and password with a colon between.
pub(crate) fn userinfo(value: &[u8]) -> bool {
    let Some(at) = value.iter().position(|&byte| byte == b':') else { return key(value, true) };
    let (user, pass) = (value.get(..at).unwrap_or_default(), value.get(at + 1..).unwrap_or_default());
    let pass = pass.strip_prefix(b"\"").or(pass.strip_prefix(b"'")).unwrap_or(pass);
    let pass = pass.strip_suffix(b"\"").or(pass.strip_suffix(b"'")).unwrap_or(pass);
    // Where there is no user, what begins with the colon is no parameter of a query.
    (at == 0 || !stands_in(value)) && !stands_in(user) && pass != user && secret_word(pass)
}

/// In an address even `secret` is a password, but `password` and `pass` are how manuals name it.
fn secret_word(pass: &[u8]) -> bool {
    pass == b"secret" || password(pass)
}

/// Base64 of user and password (RFC 7617 section 2).
pub(crate) fn basic(value: &[u8]) -> bool {
    typed(value).is_some_and(|text| text.len() >= 3 && text.contains(&b':'))
}

/// Base64 of a password, as directories write it (RFC 2849).
pub(crate) fn packed(value: &[u8]) -> bool {
    typed(value).is_some_and(|text| std::str::from_utf8(&text).is_ok() && password(&text))
}

/// What base64 is of, if it can be typed: nothing of it is a control character.
fn typed(value: &[u8]) -> Option<Vec<u8>> {
    let mut bits = 0u32;
    let mut held = 0;
    let mut text = Vec::with_capacity(value.len());
    for &byte in value.iter().filter(|&&byte| byte != b'=') {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            let byte = (bits >> held & 0xFF) as u8;
            if byte < 0x20 || byte == 0x7F {
                return None;
            }
            text.push(byte);
        }
    }
    Some(text)
}

#[cfg(test)]
#[path = "credential_tests.rs"]
mod tests;
