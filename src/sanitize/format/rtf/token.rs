//! [`RtfToken`]: what stands where in an RTF file (RTF Specification 1.9.1, "RTF Syntax").

use std::ops::Range;

use crate::base::path::hex_digit;

/// The longest name of a control word, as readers have it.
const LONGEST: usize = 32;

/// A part of a file, and the bytes where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RtfToken {
    pub(super) range: Range<usize>,
    pub(super) what: RtfTokenKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RtfTokenKind {
    Open,
    Close,
    /// A control word, in lower case, and its number; the space that ends it is part of the token.
    Word(String, Option<i32>),
    /// A control symbol.
    Symbol(u8),
    /// `\'hh`, or a byte that is no ASCII.
    Byte(u8),
    /// Bytes of ASCII.
    Text,
    /// What `\bin` announced.
    Binary,
    /// Line ends and zeros, which mean nothing.
    Nothing,
}

/// Splits up a file. Every byte is in one token.
pub(super) fn tokens(file: &[u8]) -> impl Iterator<Item = RtfToken> + '_ {
    let (mut at, mut binary) = (0_usize, 0_usize);
    std::iter::from_fn(move || {
        let rest = file.get(at..).filter(|rest| !rest.is_empty())?;
        let (what, length) =
            if binary > 0 { (RtfTokenKind::Binary, binary.min(rest.len())) } else { token(rest) };
        binary = match &what {
            RtfTokenKind::Word(name, number) if name == "bin" => {
                number.and_then(|number| usize::try_from(number).ok()).unwrap_or(0)
            }
            _ => 0,
        };
        let range = at..at.saturating_add(length.max(1));
        at = range.end;
        Some(RtfToken { range, what })
    })
}

fn token(rest: &[u8]) -> (RtfTokenKind, usize) {
    let run = |fits: fn(&u8) -> bool| rest.iter().take_while(|b| fits(b)).count();
    match rest {
        [b'{', ..] => (RtfTokenKind::Open, 1),
        [b'}', ..] => (RtfTokenKind::Close, 1),
        [b'\\', control @ ..] => control_of(control),
        [b'\r' | b'\n' | 0, ..] => (RtfTokenKind::Nothing, run(|b| matches!(b, b'\r' | b'\n' | 0))),
        [byte @ 0x80..=0xff, ..] => (RtfTokenKind::Byte(*byte), 1),
        _ => {
            (RtfTokenKind::Text, run(|b| !matches!(b, b'{' | b'}' | b'\\' | b'\r' | b'\n' | 0 | 0x80..=0xff)))
        }
    }
}

/// What stands behind a reverse solidus; the length counts that in.
fn control_of(control: &[u8]) -> (RtfTokenKind, usize) {
    match control {
        [b'\'', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
            let digit = |b: u8| hex_digit(b).unwrap_or(0);
            (RtfTokenKind::Byte(digit(*high) << 4 | digit(*low)), 4)
        }
        [b'\r' | b'\n', ..] => (RtfTokenKind::Word("par".to_owned(), None), 2),
        [first, ..] if first.is_ascii_alphabetic() => {
            let length = control.iter().take(LONGEST).take_while(|b| b.is_ascii_alphabetic()).count();
            let (name, rest) = control.split_at_checked(length).unwrap_or((control, &[]));
            let sign = usize::from(rest.starts_with(b"-"));
            let digits = rest.iter().skip(sign).take(10).take_while(|b| b.is_ascii_digit()).count();
            let number = if digits > 0 { sign.saturating_add(digits) } else { 0 };
            let value = rest.get(..number).and_then(|text| std::str::from_utf8(text).ok());
            let value = value.and_then(|text| text.parse().ok());
            let space = usize::from(rest.get(number) == Some(&b' '));
            let name = String::from_utf8_lossy(name).to_ascii_lowercase();
            (
                RtfTokenKind::Word(name, value),
                1_usize.saturating_add(length).saturating_add(number).saturating_add(space),
            )
        }
        [symbol, ..] => (RtfTokenKind::Symbol(*symbol), 2),
        [] => (RtfTokenKind::Nothing, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_comes_apart() {
        let file = b"{\\rtf1\\b-2 x\\'e9\\~\xe9\r\n\\bin3 }}}\\u-5?\\\\}\\";
        let shown: Vec<String> = tokens(file).map(|token| format!("{:?}", token.what)).collect();
        assert_eq!(
            shown.join(" "),
            "Open Word(\"rtf\", Some(1)) Word(\"b\", Some(-2)) Text Byte(233) Symbol(126) Byte(233) Nothing \
             Word(\"bin\", Some(3)) Binary Word(\"u\", Some(-5)) Text Symbol(92) Close Nothing"
        );
        let ranges: Vec<_> = tokens(file).map(|token| token.range).collect();
        assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
    }
}
