//! Escapes: what a program would read where a person sees `%20`, `\u0040` or `&#64;`.

use crate::edit::{REFERENCES, reference};
use crate::redact::index::More;
use crate::redact::quoted::{may_be_quoted, quoted, quoted_like};

/// The longest escape, in bytes: a reference may have zeros before its number.
pub(super) const LONGEST: usize = 24;

/// The most backslashes of one escape: each string of JSON within a string doubles them.
const NESTED: usize = 16;

/// The character by which sequences for terminals begin.
pub(super) const ESC: char = '\u{1b}';

/// What a text begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextStart {
    /// An escape of this character, of so many bytes.
    Escape(char, usize),
    /// None.
    No,
    /// What may become one, or another one.
    Cut,
}

/// Whether an escape may begin with this byte.
const fn may_begin(byte: u8) -> bool {
    matches!(byte, b'%' | b'\\' | b'&' | b'$' | b'[' | b'\'')
}

/// Whether a text is in ASCII, and no escape begins in it.
pub(super) fn is_plain_ascii(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii() && !may_begin(byte))
}

/// The escape at the beginning of `bytes`, where more may follow.
pub(super) fn begins(bytes: &[u8], more: More) -> TextStart {
    let window = bytes.get(..LONGEST).unwrap_or(bytes);
    if !window.first().is_some_and(|&first| may_begin(first)) {
        return TextStart::No;
    }
    if more == More::Yes && window.len() < LONGEST && (goes_on(window) || may_be_quoted(window)) {
        return TextStart::Cut;
    }
    let escaped = nested_unicode(window).or_else(|| quoted(window)).or_else(|| escape(window));
    escaped.map_or(TextStart::No, |(c, length)| TextStart::Escape(c, length))
}

/// How many backslashes text begins with, if that may be an escape of JSON that stands in strings of JSON itself.
fn nesting(text: &[u8]) -> Option<usize> {
    let count = text.iter().take_while(|&&byte| byte == b'\\').count();
    (2..=NESTED).contains(&count).then_some(count)
}

/// `\\u011b`: a character in a document of JSON that stands in strings, however deep.
fn nested_unicode(bytes: &[u8]) -> Option<(char, usize)> {
    let before = nesting(bytes)? - 1;
    let (c, length) = unicode(bytes.get(before..)?)?;
    (!c.is_control() && length == 6).then_some((c, before + length))
}

/// Whether what follows `window` may be part of the escape that it is, or may become.
fn goes_on(window: &[u8]) -> bool {
    let all = |digits: &[u8], radix| digits.iter().all(|digit| char::from(*digit).is_digit(radix));
    let fewer = |digits: &[u8], count, radix| digits.len() < count && all(digits, radix);
    match window {
        [b'%' | b'\\' | b'&'] => true,
        [b'\\', b'\\', ..] => match nesting(window).and_then(|count| window.get(count..)) {
            Some([]) => true,
            Some([b'u', digits @ ..]) => fewer(digits, 4, 16),
            _ => false,
        },
        [b'%', b'u' | b'U', digits @ ..] => fewer(digits, 4, 16),
        [b'%', ..] => {
            let one = |part: &[u8]| matches!(part, [b'%', digits @ ..] if all(digits, 16));
            window.len() < 12 && window.chunks(3).all(one) && percent(window).is_none()
        }
        [b'\\', b'u', b'{', digits @ ..] => all(digits, 16),
        [b'\\', b'u', digits @ ..] if digits.len() < 4 => all(digits, 16),
        [b'\\', b'u', _, _, _, _, next @ ..] => {
            let beginning = match next {
                [] => true,
                [b'\\'] => true,
                [b'\\', b'u', digits @ ..] => fewer(digits, 4, 16),
                _ => false,
            };
            beginning && unicode(window).is_none() && window.get(2..6).is_some_and(|digits| all(digits, 16))
        }
        [b'\\', b'U', digits @ ..] => fewer(digits, 8, 16),
        [b'\\', b'x', digits @ ..] => fewer(digits, 2, 16),
        [b'\\', b'0'..=b'1', digits @ ..] => fewer(digits, 2, 8),
        [b'&', b'#', b'x' | b'X', digits @ ..] => all(digits, 16),
        [b'&', b'#', digits @ ..] => all(digits, 10),
        [b'&', name @ ..] => REFERENCES.iter().any(|(known, _)| known.as_bytes().starts_with(name)),
        _ => false,
    }
}

/// `c` spelled as the escape `like` spells its character; a letter or digit of ASCII is itself where `like` is a name, a
/// backslash before a mark, or of a character beyond ASCII.
pub(super) fn respelled(like: &str, c: char) -> String {
    let lower = like.bytes().any(|byte| matches!(byte, b'a'..=b'f'))
        || !like.bytes().any(|byte| matches!(byte, b'A'..=b'F')) && like.starts_with('\\');
    let hex = |number: u32, width: usize| match lower {
        true => format!("{number:0width$x}"),
        false => format!("{number:0width$X}"),
    };
    let code = u32::from(c);
    let mut bytes = [0; 4];
    let mut units = [0; 2];
    if let Some(quoted) = quoted_like(like, c) {
        return quoted;
    }
    if let Some((before, inner)) = nesting(like.as_bytes()).and_then(|count| like.split_at_checked(count - 1))
    {
        return respelled(inner, c).replace('\\', &format!("{before}\\"));
    }
    // Who spells what is beyond ASCII so leaves letters and digits as they are.
    if c.is_ascii_alphanumeric() && escape(like.as_bytes()).is_some_and(|(known, _)| !known.is_ascii()) {
        return c.to_string();
    }
    match like.as_bytes() {
        [b'%', b'u' | b'U', ..] => {
            c.encode_utf16(&mut units).iter().map(|unit| format!("%u{}", hex(u32::from(*unit), 4))).collect()
        }
        [b'%', ..] => {
            let upper = !like.bytes().any(|byte| matches!(byte, b'a'..=b'f'));
            let spell = |byte: &u8| if upper { format!("%{byte:02X}") } else { format!("%{byte:02x}") };
            c.encode_utf8(&mut bytes).as_bytes().iter().map(spell).collect()
        }
        [b'\\', b'u', b'{', ..] => format!("\\u{{{}}}", hex(code, 1)),
        [b'\\', b'x', ..] if c.is_ascii() => format!("\\x{}", hex(code, 2)),
        [b'\\', b'0'..=b'1', _, _] if c.is_ascii() => format!("\\{code:03o}"),
        [b'\\', b'U', ..] => format!("\\U{}", hex(code, 8)),
        [b'\\', b'u' | b'x' | b'0'..=b'1', ..] => {
            c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{}", hex(u32::from(*unit), 4))).collect()
        }
        [b'\\', ..] if c.is_ascii_punctuation() => format!("\\{c}"),
        [b'&', b'#', x @ (b'x' | b'X'), ..] => format!("&#{}{};", char::from(*x), hex(code, 1)),
        [b'&', b'#', ..] => format!("&#{code};"),
        [b'&', ..] if !c.is_alphanumeric() => match REFERENCES.iter().find(|(_, known)| *known == c) {
            Some((name, _)) => format!("&{name};"),
            None => format!("&#{code};"),
        },
        _ => c.to_string(),
    }
}

/// The character at the beginning of `bytes`, and how many of them spell it.
pub(super) fn escape(bytes: &[u8]) -> Option<(char, usize)> {
    match bytes {
        [b'%', b'u' | b'U', ..] => code(bytes.get(2..6)?, 6),
        [b'%', ..] => percent(bytes),
        [b'\\', b'u', b'{', ..] => {
            let end = memchr::memchr(b'}', bytes)?;
            code(bytes.get(3..end)?, end + 1)
        }
        [b'\\', b'u', ..] => unicode(bytes),
        [b'\\', b'U', ..] => code(bytes.get(2..10)?, 10),
        [b'\\', b'x', ..] => code(bytes.get(2..4)?, 4).filter(|(c, _)| c.is_ascii()),
        [b'\\', a @ b'0'..=b'1', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] => {
            let octal = [a, b, c].into_iter().fold(0, |sum, digit| sum * 8 + (digit - b'0'));
            Some((char::from(octal), 4))
        }
        [b'\\', mark, ..] => {
            let c = match mark {
                b'n' => '\n',
                b'r' => '\r',
                b't' => '\t',
                b'v' => '\u{b}',
                b'f' => '\u{c}',
                b'a' => '\u{7}',
                b'b' => '\u{8}',
                b'"' | b'\'' | b'/' | b'\\' => char::from(*mark),
                b'e' if bytes.get(2) == Some(&b'[') => ESC,
                _ => return None,
            };
            Some((c, 2))
        }
        [b'&', ..] => reference(bytes),
        _ => None,
    }
}

/// A mark that is none of Markdown's behind a backslash (CommonMark section 2.4), of those that values have.
pub(super) fn mark(bytes: &[u8]) -> Option<(char, usize)> {
    match bytes {
        [b'\\', mark @ (b'_' | b'-' | b'.' | b'@' | b'+' | b'*' | b'(' | b')'), ..] => {
            Some((char::from(*mark), 2))
        }
        _ => None,
    }
}

/// Whether the backslash at `spot` and the mark behind it stand within a word.
pub(super) fn within_word(bytes: &[u8], spot: usize) -> bool {
    let around = spot.checked_sub(1).and_then(|from| bytes.get(from..spot + 3));
    matches!(around, Some([before, _, b'_' | b'-' | b'.' | b'@', after])
        if before.is_ascii_alphanumeric() && after.is_ascii_alphanumeric())
}

/// The character of this number, which `length` bytes spell.
fn code(digits: &[u8], length: usize) -> Option<(char, usize)> {
    Some((char::from_u32(hex(digits)?)?, length))
}

fn hex(digits: &[u8]) -> Option<u32> {
    let value = |sum: u32, digit: &u8| sum.checked_mul(16)?.checked_add(char::from(*digit).to_digit(16)?);
    if digits.is_empty() { None } else { digits.iter().try_fold(0, value) }
}

/// `%40`, or as many of them as a character has bytes (RFC 3986 section 2.1).
fn percent(bytes: &[u8]) -> Option<(char, usize)> {
    let mut spelled = [0; 4];
    for (n, part) in bytes.chunks_exact(3).take(4).enumerate() {
        let [b'%', digits @ ..] = part else { return None };
        *spelled.get_mut(n)? = u8::try_from(hex(digits)?).ok()?;
        let read = std::str::from_utf8(spelled.get(..=n)?).ok().and_then(|text| text.chars().next());
        if let Some(c) = read {
            return Some((c, 3 * (n + 1)));
        }
    }
    None
}

/// `\u0040`, or two of them (RFC 8259 section 7).
fn unicode(bytes: &[u8]) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let [b'\\', b'u', digits @ ..] = bytes.get(at..at + 6)? else { return None };
        u16::try_from(hex(digits)?).ok()
    };
    let first = unit(0)?;
    if let Some(c) = char::from_u32(first.into()) {
        return Some((c, 6));
    }
    char::decode_utf16([first, unit(6)?]).next()?.ok().map(|c| (c, 12))
}
