//! Shapes of words: e-mail addresses, URLs, keys and free text. Letters stay letters, digits stay digits; what
//! separates them stays.

use super::cipher::{Cipher, ValuePart};
use super::letters::{Letters, ShapedSurrogate, in_alphabet, in_classes, in_secret, text_of};
use super::number;
use crate::redact::error::RedactError;
use crate::redact::escapes::respelled;
use crate::redact::pem;
use crate::redact::units::TextUnits;

const BASE36: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";
const BASE62: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// An e-mail address: separators and the last label stay. A company's name tells as much as a person's, so the
/// other labels of the domain change as well; they are in lower case, for domains are the same in any.
pub(super) fn email(cipher: &Cipher<'_>, value: &str) -> ShapedSurrogate {
    let mut text = value.as_bytes().to_vec();
    let Some(at) = memchr::memrchr(b'@', &text) else { return Ok(None) };
    let (local, domain) = text.split_at_mut(at);
    in_alphabet(cipher, ValuePart::Local, local, BASE62)?;
    labels(cipher, domain)?;
    Ok(text_of(text))
}

/// All labels of a domain but the last.
fn labels(cipher: &Cipher<'_>, domain: &mut [u8]) -> Result<(), RedactError> {
    let end = memchr::memrchr(b'.', domain).unwrap_or(domain.len());
    let (labels, _) = domain.split_at_mut(end);
    labels.make_ascii_lowercase();
    in_alphabet(cipher, ValuePart::Domain, labels, BASE36)
}

/// A URL: scheme, port, last label of the host, and all punctuation stay.
pub(super) fn url(cipher: &Cipher<'_>, value: &str) -> ShapedSurrogate {
    let mut text = value.as_bytes().to_vec();
    let scheme = value.find("://").map_or(0, |at| at + 3);
    let (_, rest) = text.split_at_mut(scheme);
    let end = rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_mut(end);
    let host = memchr::memrchr(b'@', authority).map_or(0, |at| at + 1);
    let (user, host) = authority.split_at_mut(host);
    in_classes(cipher, ValuePart::Local, user)?;
    let port = memchr::memrchr(b':', host).unwrap_or(host.len());
    let (name, _) = host.split_at_mut(port);
    match std::str::from_utf8(name).ok().filter(|name| name.parse::<std::net::Ipv4Addr>().is_ok()) {
        // Addresses change their length, and a path's permutation needs them out of its way.
        Some(address) => {
            let other = number::ip(cipher, address)?.unwrap_or_default();
            escaped_path(cipher, path)?;
            let whole = [
                value.as_bytes().get(..scheme).unwrap_or_default(),
                user,
                other.as_bytes(),
                host.get(port..).unwrap_or_default(),
                path,
            ];
            Ok(text_of(whole.concat()))
        }
        None => {
            labels(cipher, name)?;
            escaped_path(cipher, path)?;
            Ok(text_of(text))
        }
    }
}

/// What follows the host, percent-escapes left as they are.
fn escaped_path(cipher: &Cipher<'_>, path: &mut [u8]) -> Result<(), RedactError> {
    let mut free: Vec<usize> = Vec::new();
    let mut at = 0;
    while let Some(&byte) = path.get(at) {
        if byte == b'%' {
            at += 3;
            continue;
        }
        free.push(at);
        at += 1;
    }
    let mut chosen: Vec<u8> = free.iter().filter_map(|&at| path.get(at).copied()).collect();
    in_classes(cipher, ValuePart::Path, &mut chosen)?;
    for (at, byte) in free.into_iter().zip(chosen) {
        path[at] = byte;
    }
    Ok(())
}

/// An API key: the constant prefix stays (it says whose key it is, not which).
pub(super) fn key(cipher: &Cipher<'_>, value: &str, prefix: &str) -> ShapedSurrogate {
    let mut text = value.as_bytes().to_vec();
    let (_, secret) = text.split_at_mut(prefix.len().min(value.len()));
    in_secret(cipher, secret)?;
    Ok(text_of(text))
}

/// A PEM block (RFC 7468): what is not the key's own stays as it is; the rest is drawn from the PRF of its label and all that is its own, for
/// FF1's cost grows with the square of the length. A key has the same surrogate however it is laid out.
pub(super) fn pem(cipher: &Cipher<'_>, value: &str) -> Option<String> {
    let mut text = value.as_bytes().to_vec();
    let is_padding = |at: &usize| value.as_bytes().get(*at) == Some(&b'=');
    let places: Vec<usize> = pem::own(value).into_iter().filter(|at| !is_padding(at)).collect();
    let label = value.bytes().take(pem::body(value).start);
    let key: Vec<u8> = label.chain(places.iter().filter_map(|&at| text.get(at).copied())).collect();
    let mut letters = Letters { symbols: vec![0; places.len()], places };
    cipher.draws(ValuePart::Whole, &key).fill(64, &mut letters.symbols);
    letters.put(&mut text, BASE64);
    text_of(text)
}

/// Which bytes are digits of percent-escapes (RFC 3986 section 2.1): such a sign is as its own, and what stands for it
/// would be another, or none.
fn in_escapes(value: &str) -> Vec<bool> {
    let bytes = value.as_bytes();
    let mut escaped = vec![false; bytes.len()];
    for at in memchr::memchr_iter(b'%', bytes) {
        let digits = at + 1..at + 3;
        if bytes.get(digits.clone()).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
            escaped.get_mut(digits).into_iter().for_each(|digits| digits.fill(true));
        }
    }
    escaped
}

/// A character of a text, or several: what spells it, and which letter or digit it is, if it is to be another one.
struct TextPart<'t> {
    source: &'t str,
    letter: Option<char>,
}

/// The parts of a text. An escape of a sign stays as it is, and one of a letter is of a letter; what a backslash or a
/// percent sign begins else is none.
fn parts(value: &str) -> impl Iterator<Item = TextPart<'_>> {
    let escaped = in_escapes(value);
    TextUnits::all(value).map(move |unit| {
        let source = unit.source(value);
        let stays = !unit.is_escaped() && escaped.get(unit.start) == Some(&true);
        let read = if unit.is_escaped() { unit.read } else { source.chars().next() };
        TextPart { source, letter: read.filter(|c| c.is_alphanumeric() && !stays) }
    })
}

/// Any text: ASCII letters and digits within their classes; letters of other scripts become ASCII letters of the
/// same case, for there is no telling which of them would be a word.
pub(super) fn text(cipher: &Cipher<'_>, value: &str) -> Result<String, RedactError> {
    let parts: Vec<TextPart<'_>> = parts(value).collect();
    let letters = || parts.iter().filter_map(|part| part.letter);
    let mut ascii: Vec<u8> = letters().filter_map(|c| u8::try_from(c).ok()).filter(u8::is_ascii).collect();
    in_secret(cipher, &mut ascii)?;
    let mut ascii = ascii.into_iter();
    let mut drawn = vec![0; letters().filter(|c| !c.is_ascii()).count()];
    cipher.draws(ValuePart::Beyond, value.as_bytes()).fill(26, &mut drawn);
    let mut drawn = drawn.into_iter().map(|symbol| b'a' + symbol as u8);
    let mut surrogate = String::with_capacity(value.len());
    for TextPart { source, letter } in parts {
        let another = letter.and_then(|c| match c.is_ascii() {
            true => ascii.next(),
            false => drawn.next().map(|one| if c.is_uppercase() { one.to_ascii_uppercase() } else { one }),
        });
        match another.map(char::from) {
            None => surrogate.push_str(source),
            Some(c) if source.chars().nth(1).is_none() => surrogate.push(c),
            Some(c) => surrogate.push_str(&respelled(source, c)),
        }
    }
    Ok(surrogate)
}

/// Letters and digits of a surrogate that is shorter than its value.
const SHORT: usize = 64;
/// The longest first or last line of a PEM block, in bytes.
const LINE: usize = 96;

/// For a value too long to have a surrogate of its own length: its prefix, or the first and the last line of a PEM
/// block, and letters and digits drawn from the PRF of the whole.
pub(super) fn short(cipher: &Cipher<'_>, value: &str, prefix: &str) -> String {
    let mut symbols = [0; SHORT];
    cipher.draws(ValuePart::Beyond, value.as_bytes()).fill(62, &mut symbols);
    let letters = symbols.iter().filter_map(|&symbol| BASE62.get(usize::from(symbol)));
    let drawn: String = letters.map(|&letter| char::from(letter)).collect();
    match pem_lines(value) {
        Some((first, last)) => format!("{first}{drawn}{last}"),
        None => format!("{prefix}{drawn}"),
    }
}

/// The first and the last line of a PEM block, each with its line break; the last is empty where there is none.
fn pem_lines(value: &str) -> Option<(&str, &str)> {
    let label = value.strip_prefix("-----BEGIN")?;
    let begin = value.len() - label.len() + label.find("-----")? + 5;
    let body = value.get(begin..)?;
    // Inside a string that was not decoded, a line break is an escape.
    let end_of_line =
        ["\r\n", "\n", "\\r\\n", "\\n"].into_iter().find(|one| body.starts_with(one)).unwrap_or("");
    let first = value.get(..begin + end_of_line.len()).filter(|line| line.len() <= LINE)?;
    let last = body.rfind("-----END").and_then(|at| body.get(at - end_of_line.len().min(at)..));
    Some((first, last.filter(|line| line.len() <= LINE).unwrap_or_default()))
}
