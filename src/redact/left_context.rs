//! [`LeftContext`]: what stands to the left of a place in a text, and whether a token may begin there.
//!
//! Letters and digits of ASCII make up words, and a token begins where no word goes on. What an escape ends with looks like a part
//! of a word and is none: `\n`, `\x22`, `\u003c`, `%20`, and the codes by which terminals colour (`ESC[31m`), also as they are
//! spelled in logs (`\u001b[31m`, `\033[31m`, `^[[31m`, `[31m`). What redacts and what restores both go by this.

/// No escape has more bytes than this: what is longer is none.
const LONGEST: usize = 40;

/// Bytes of numbers in a sequence for terminals, at the most.
const PARAMETERS: usize = 31;

/// The code of the character by which sequences for terminals begin (ECMA-48).
const ESC: u32 = 0x1b;

/// What stands to the left of the next byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LeftContext {
    /// Nothing that goes on.
    #[default]
    Open,
    /// A word.
    Word,
    /// A dash that no word stands before.
    Dash,
    /// A letter behind such a dash: an option, whose value may follow at once, as in `mysql -pvalue`.
    Flag,
    /// A backslash.
    Backslash,
    /// An escape that has `left` hexadecimal digits still to come, and the number that it has so far.
    Hex { left: u8, code: u32 },
    /// `\0` to `\7`, or two such digits; so many more may follow.
    Octal { left: u8, code: u32 },
    /// `%`, or `%25`, which is one once it is decoded.
    Percent,
    /// `%` and one digit, of this value.
    PercentHigh(u32),
    /// `^`, which may be the first half of `^[`.
    Caret,
    /// ESC, or what spells it.
    Esc,
    /// ESC and `(` or the like, which one more byte ends.
    EscSet,
    /// `[`, how many bytes of a sequence for terminals have come behind it, and whether the last one is a digit.
    Bracket { begun_by_esc: bool, length: u8, digit: bool },
}

impl LeftContext {
    /// Whether a token may begin with `byte` here.
    pub(super) fn admits(self, byte: u8) -> bool {
        let within = match self {
            Self::Word | Self::Hex { .. } | Self::PercentHigh(_) | Self::EscSet => true,
            Self::Bracket { digit, .. } => digit,
            Self::Open | Self::Dash | Self::Flag => false,
            Self::Backslash | Self::Octal { .. } | Self::Percent | Self::Caret | Self::Esc => false,
        };
        !(within && byte.is_ascii_alphanumeric())
    }

    /// How many bytes of a text go on with the word that stands here, in which no token begins; it stands behind them too.
    pub(super) fn within_word(self, text: &[u8]) -> usize {
        match self {
            Self::Word => text.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count(),
            _ => 0,
        }
    }

    /// How many letters of a text go on with the word that stands here. What is behind them is not looked at: who asks at
    /// each digit of a long word must not pay for all of it.
    pub(super) fn letters_of_word(self, text: &[u8]) -> usize {
        match self {
            Self::Word => text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count(),
            _ => 0,
        }
    }

    /// Behind a stretch. Nearly always its last bytes tell: no escape reaches further than [`LONGEST`], but for `%25` that is
    /// encoded again and again, which are digits to the end.
    pub(super) fn behind(self, stretch: &[u8]) -> Self {
        let tail = stretch.get(stretch.len().saturating_sub(LONGEST)..).unwrap_or_default();
        let settled = match stretch.len() > LONGEST {
            true => !tail.iter().all(u8::is_ascii_hexdigit),
            false => matches!(self, Self::Open | Self::Word),
        };
        match tail.last() {
            None => self,
            Some(last) if settled && !tail.iter().copied().any(begins_escape) => match tail {
                // What stands before them is not here.
                [b'-'] | [_, b'-'] | [b'-', _] | [_] => {
                    stretch.iter().fold(self, |left, &byte| left.after(byte))
                }
                [.., before, b'-'] if !before.is_ascii_alphanumeric() => Self::Dash,
                [.., before, b'-', letter]
                    if !before.is_ascii_alphanumeric() && letter.is_ascii_alphabetic() =>
                {
                    Self::Flag
                }
                _ if last.is_ascii_alphanumeric() => Self::Word,
                _ => Self::Open,
            },
            Some(_) => stretch.iter().fold(self, |left, &byte| left.after(byte)),
        }
    }

    /// Behind one more byte.
    pub(super) fn after(self, byte: u8) -> Self {
        let digit = |radix| char::from(byte).to_digit(radix);
        match self {
            // Nearly all.
            Self::Word | Self::Flag if byte == b'-' => Self::Open,
            Self::Dash if byte.is_ascii_alphabetic() => Self::Flag,
            Self::Open | Self::Word | Self::Dash | Self::Flag => Self::beginning(byte),
            Self::Backslash => match byte {
                b'u' => Self::Hex { left: 4, code: 0 },
                b'U' => Self::Hex { left: 8, code: 0 },
                b'x' => Self::Hex { left: 2, code: 0 },
                b'e' => Self::Esc,
                b'0'..=b'7' => Self::Octal { left: 2, code: u32::from(byte - b'0') },
                byte if byte.is_ascii_alphanumeric() => Self::Open,
                _ => Self::beginning(byte),
            },
            Self::Hex { left, code } => match digit(16) {
                None => Self::beginning(byte),
                Some(digit) if left > 1 => Self::Hex { left: left - 1, code: code << 4 | digit },
                Some(digit) => Self::spelled(code << 4 | digit),
            },
            Self::Octal { left, code } => match digit(8) {
                Some(digit) if left > 1 => Self::Octal { left: left - 1, code: code << 3 | digit },
                Some(digit) => Self::spelled(code << 3 | digit),
                None => Self::beginning(byte),
            },
            Self::Percent => match digit(16) {
                Some(digit) => Self::PercentHigh(digit),
                None if matches!(byte, b'u' | b'U') => Self::Hex { left: 4, code: 0 },
                None => Self::beginning(byte),
            },
            Self::PercentHigh(high) => match digit(16) {
                Some(low) => Self::percent(high << 4 | low),
                None => Self::beginning(byte),
            },
            Self::Caret if byte == b'[' => Self::Esc,
            Self::Caret => Self::beginning(byte),
            Self::Esc => match byte {
                b'[' => Self::Bracket { begun_by_esc: true, length: 0, digit: false },
                b'(' | b')' | b'*' | b'+' => Self::EscSet,
                // A backslash that is doubled before it was spelled stands here as well.
                _ => Self::beginning(byte),
            },
            Self::EscSet => Self::Open,
            Self::Bracket { begun_by_esc, length, .. } => Self::in_bracket(begun_by_esc, length, byte),
        }
    }

    /// Behind a byte that goes on with nothing.
    fn beginning(byte: u8) -> Self {
        match byte {
            byte if byte.is_ascii_alphanumeric() => Self::Word,
            b'\\' => Self::Backslash,
            b'%' => Self::Percent,
            b'-' => Self::Dash,
            b'^' => Self::Caret,
            b'[' => Self::Bracket { begun_by_esc: false, length: 0, digit: false },
            0x1b => Self::Esc,
            _ => Self::Open,
        }
    }

    /// Behind an escape of a character.
    fn spelled(code: u32) -> Self {
        if code == ESC { Self::Esc } else { Self::Open }
    }

    /// Behind a percent-escape: of a letter or digit it is a part of a word, as what it spells is.
    fn percent(code: u32) -> Self {
        match u8::try_from(code) {
            Ok(byte) if byte.is_ascii_alphanumeric() => Self::Word,
            Ok(b'%') => Self::Percent,
            _ => Self::spelled(code),
        }
    }

    /// Behind a byte of a sequence for terminals: parameters, then one byte that ends it. Without ESC before it one is known by its
    /// numbers and the end that colours have.
    fn in_bracket(begun_by_esc: bool, length: u8, byte: u8) -> Self {
        match byte {
            b'0'..=b'?' if usize::from(length) < PARAMETERS => {
                Self::Bracket { begun_by_esc, length: length + 1, digit: byte.is_ascii_digit() }
            }
            b'm' | b'K' if length > 0 => Self::Open,
            b'@'..=b'~' if begun_by_esc => Self::Open,
            _ => Self::beginning(byte),
        }
    }
}

fn begins_escape(byte: u8) -> bool {
    matches!(byte, b'\\' | b'%' | b'^' | b'[' | 0x1b)
}

/// Where the token begins that goes on up to `at`: there, or at the beginning of its word.
pub(super) fn token_start(text: &[u8], at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    let word = before.iter().rposition(|byte| !byte.is_ascii_alphanumeric()).map_or(0, |end| end + 1);
    let from = word.saturating_sub(LONGEST);
    let (mut left, mut start) = (LeftContext::Open, at);
    let mut found = false;
    for (place, &byte) in text.iter().enumerate().take(at + 1).skip(from) {
        // What is put there may begin with a letter or digit, whatever does now.
        if place >= word && left.admits(b'a') {
            (start, found) = (place, true);
        }
        left = left.after(byte);
    }
    if found { start } else { word }
}

/// A sequence for terminals at the beginning of `bytes`, which has so many of them (ECMA-48); without ESC before it, one that colours.
pub(super) fn terminal_sequence(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [0x1b, rest @ ..] => behind_esc(rest).map(|length| 1 + length),
        [b'[', rest @ ..] => {
            let numbers = parameters(rest).filter(|count| *count > 0)?;
            matches!(rest.get(numbers), Some(b'm' | b'K')).then_some(numbers + 2)
        }
        _ => None,
    }
}

/// What of a sequence for terminals stands behind its ESC: so many bytes.
pub(super) fn behind_esc(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [b'[', rest @ ..] => {
            let numbers = parameters(rest)?;
            matches!(rest.get(numbers), Some(b'@'..=b'~')).then_some(numbers + 2)
        }
        [b'(' | b')' | b'*' | b'+', set, ..] if set.is_ascii_graphic() => Some(2),
        _ => None,
    }
}

/// How many bytes of parameters there are; `None` for more than any sequence has.
fn parameters(bytes: &[u8]) -> Option<usize> {
    let count = bytes.iter().take_while(|byte| matches!(byte, b'0'..=b'?')).take(PARAMETERS + 1).count();
    (count <= PARAMETERS).then_some(count)
}

/// The places in `text` at which something that looks like a word ends an escape.
#[cfg(test)]
fn boundaries(text: &str) -> Vec<std::ops::Range<usize>> {
    let (mut left, mut found) = (LeftContext::Open, Vec::new());
    for (at, byte) in text.bytes().enumerate() {
        let word = at > 0 && text.as_bytes()[at - 1].is_ascii_alphanumeric();
        if word && byte.is_ascii_alphanumeric() && left.admits(byte) {
            found.push(at..at + 1);
        }
        left = left.after(byte);
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_stretch_leaves_what_its_bytes_leave(
            text in "([\\\\\\\\nxu0a1f %^\u{1b}\\[;m(.é-]{1,12}|%(25){0,40}[0-9a ]{0,3}|[0-9a-f]{30,50}){0,6}", cut in 0usize..200,
        ) {
            let (head, tail) = text.as_bytes().split_at(cut.min(text.len()));
            let each = |left: LeftContext, bytes: &[u8]| bytes.iter().fold(left, |left, &byte| left.after(byte));
            let left = each(LeftContext::default(), head);
            prop_assert_eq!(left.behind(tail), each(left, tail));
        }

        #[test]
        fn a_token_begins_where_one_may(
            text in "[\\\\nxu0a1f %\u{1b}\\[;m.é-]{0,90}", at in 0usize..90,
        ) {
            let at = at.min(text.len());
            let start = token_start(text.as_bytes(), at);
            prop_assert!(start <= at);
            prop_assert!(text.as_bytes()[start..at].iter().all(u8::is_ascii_alphanumeric));
        }
    }

    #[test]
    fn escapes_are_boundaries() {
        let cases = [
            ("a", false),
            (" ", true),
            ("é", true),
            (r"\n", true),
            (r"\d", true),
            (r"\\n", true),
            (r"\nn", false),
            (r"\u00e9", true),
            (r"\u00e", false),
            (r"\U0001f642", true),
            (r"\x22", true),
            (r"\x2", false),
            (r"\040", true),
            (r"\0", true),
            ("%20", true),
            ("%41", false),
            ("%2520", true),
            ("%252", false),
            ("%u0020", true),
            ("3A", false),
            ("%3", false),
            ("\u{1b}[31m", true),
            ("\u{1b}[01;38;2;255;255;255m", true),
            ("\u{1b}[K", true),
            ("\u{1b}[?25h", true),
            ("\u{1b}(B", true),
            (r"\u001b[31m", true),
            (r"\x1b[0m", true),
            (r"\033[1;33m", true),
            (r"\e[m", true),
            ("^[[31m", true),
            ("[31m", true),
            ("[31mm", false),
            ("[m", false),
            ("[31x", false),
            ("[3 m", false),
            ("[1;", true),
            ("[<", true),
            ("a[=", true),
            ("[10:22:", true),
            ("[12", false),
            (r"\", true),
            ("-p", true),
            (" -p", true),
            ("--p", true),
            ("-5", false),
            ("a-p", false),
            ("-pa", false),
        ];
        for (before, admits) in cases {
            let left = before.bytes().fold(LeftContext::Open, LeftContext::after);
            assert_eq!(left.admits(b'4'), admits, "{before}");
            let text = format!("{before}4111");
            assert_eq!(token_start(text.as_bytes(), before.len()) == before.len(), admits, "{before}");
        }
    }

    #[test]
    fn sequences_for_terminals_have_their_lengths() {
        for (text, length) in [
            ("\u{1b}[31mred", Some(5)),
            ("\u{1b}[mred", Some(3)),
            ("\u{1b}[K", Some(3)),
            ("\u{1b}(Bx", Some(3)),
            ("[01;31mred", Some(7)),
            ("[a]", None),
            ("[12]", None),
            ("[m", None),
            ("\u{1b}x", None),
            ("\u{1b}[31", None),
            ("\u{1b}[1 m", None),
            ("x", None),
        ] {
            assert_eq!(terminal_sequence(text.as_bytes()), length, "{text:?}");
        }
        assert_eq!(boundaries("\u{1b}[31mred \\u003cjo a1"), [5..6, 15..16]);
    }
}
