//! Character references of HTML and XML.

/// Named references (HTML section 13.5) of what values have; no two names of one character but the first are written.
pub const REFERENCES: &[(&str, char)] = &[
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", ' '),
    ("ensp", ' '),
    ("emsp", ' '),
    ("thinsp", ' '),
    ("numsp", ' '),
    ("commat", '@'),
    ("period", '.'),
    ("hyphen", '-'),
    ("dash", '-'),
    ("ndash", '-'),
    ("plus", '+'),
    ("lowbar", '_'),
    ("colon", ':'),
    ("sol", '/'),
    ("lpar", '('),
    ("rpar", ')'),
    ("ast", '*'),
    ("shy", '\u{ad}'),
    ("zwnj", '\u{200c}'),
    ("zwj", '\u{200d}'),
];

/// The character of the reference at the beginning of `bytes` (`&#64;`, `&#x40;`, `&amp;`), and how many of them spell it.
/// Readers of HTML do without the semicolon behind a number.
pub fn reference(bytes: &[u8]) -> Option<(char, usize)> {
    match bytes {
        [b'&', b'#', b'x' | b'X', digits @ ..] => number(digits, 16).map(|(c, length)| (c, 3 + length)),
        [b'&', b'#', digits @ ..] => number(digits, 10).map(|(c, length)| (c, 2 + length)),
        _ => {
            let end = memchr::memchr(b';', bytes)?;
            let name = bytes.get(1..end)?;
            let (_, c) = REFERENCES.iter().find(|(known, _)| known.as_bytes() == name)?;
            Some((*c, end + 1))
        }
    }
}

/// The character of the number at the beginning of `bytes`, and how long that is with its semicolon.
fn number(bytes: &[u8], radix: u32) -> Option<(char, usize)> {
    let count = bytes.iter().take_while(|byte| char::from(**byte).is_digit(radix)).count();
    let digits = std::str::from_utf8(bytes.get(..count)?).ok()?;
    let c = char::from_u32(u32::from_str_radix(digits, radix).ok()?)?;
    Some((c, count + usize::from(bytes.get(count) == Some(&b';'))))
}
