//! The operands of an operator, as they stand in a stream.

use std::ops::Range;

use crate::sanitize::Rejection;
use crate::sanitize::format::pdf::text::lexer::{PdfLexer, PdfToken};
use crate::sanitize::format::pdf::text::record::ShowItem;

/// Keys of texts that are read instead of the glyphs.
pub(super) const TEXTS: &[&[u8]] = &[b"ActualText", b"Alt", b"E"];

/// An operand, and where it stands.
pub(super) type Operand<'b> = (PdfToken<'b>, Range<usize>);

/// The word of an operator, and where it stands.
pub(super) type OperatorWord<'b> = (&'b [u8], Range<usize>);

/// How many operands one operator takes at most.
const MOST: usize = 2_000_000;

/// How many states are kept at most; readers stop far earlier.
pub(super) const STATES: usize = 10_000;

/// The operators of a content stream, one after the other (ISO 32000-2, 7.8.2).
pub(super) struct Operators<'b>(PdfLexer<'b>);

impl<'b> Operators<'b> {
    pub(super) fn of(stream: &'b [u8]) -> Self {
        Self(PdfLexer::new(stream))
    }

    /// The next operator, and where its word stands; its operands are in `operands`, in place of what is there. What ends the
    /// stream without an operator is in there, too. The data of an inline image are passed with `ID`.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`].
    pub(super) fn next(
        &mut self,
        operands: &mut Vec<Operand<'b>>,
    ) -> Result<Option<OperatorWord<'b>>, Rejection> {
        operands.clear();
        while let Some((token, range)) = self.0.next() {
            match token {
                PdfToken::Word(b"true" | b"false" | b"null") => {}
                PdfToken::Word(word) => {
                    if word == b"ID" {
                        self.0.skip_image();
                    }
                    return Ok(Some((word, range)));
                }
                token => operands.push((token, range)),
            }
            if operands.len() > MOST {
                return Err(Rejection::OverLimit);
            }
        }
        Ok(None)
    }
}

/// The name that an operand is.
pub(super) fn name<'o>(operand: Option<&'o Operand<'_>>) -> Option<&'o [u8]> {
    match operand? {
        (PdfToken::Name(name), _) => Some(name.as_slice()),
        _ => None,
    }
}

/// The last operands, all numbers.
pub(super) fn numbers<const N: usize>(operands: &[Operand<'_>]) -> Option<[f64; N]> {
    let mut out = [0.0; N];
    let mut found = operands.iter().rev().filter_map(|(token, _)| match token {
        PdfToken::Number(number) => Some(*number),
        _ => None,
    });
    for slot in out.iter_mut().rev() {
        *slot = found.next()?;
    }
    Some(out)
}

/// What an operator shows.
pub(super) fn pieces(word: &[u8], operands: &[Operand<'_>]) -> Vec<ShowItem> {
    let piece = |(token, _): &Operand<'_>| match token {
        PdfToken::String(codes) => Some(ShowItem::Codes(codes.clone())),
        PdfToken::Number(gap) if word == b"TJ" => Some(ShowItem::Gap(*gap)),
        _ => None,
    };
    operands.iter().skip(shown(word, operands)).filter_map(piece).collect()
}

/// With which operand that begins which an operator shows: the last array, or the last string; behind all of them for one
/// that shows nothing.
fn shown(word: &[u8], operands: &[Operand<'_>]) -> usize {
    let is_string = |(token, _): &Operand<'_>| matches!(token, PdfToken::String(_));
    match word {
        b"TJ" => operands.iter().rposition(|(token, _)| *token == PdfToken::Open).unwrap_or(0),
        b"Tj" | b"'" | b"\"" => operands.iter().rposition(is_string).unwrap_or(operands.len()),
        _ => operands.len(),
    }
}

/// The strings that an operator does not show: properties of marks, what operators have that no reader knows, what is written
/// too much. Without those that a mark has instead of its glyphs, where it is `marked`; languages; the colours of a palette.
pub(super) fn unshown<'o, 'b>(
    word: &[u8],
    operands: &'o [Operand<'b>],
    marked: bool,
) -> Vec<&'o Operand<'b>> {
    let mut found = Vec::new();
    let mut before: Option<&PdfToken<'_>> = None;
    let mut palette = false;
    for operand in operands.iter().take(shown(word, operands)) {
        let (token, _) = operand;
        let key: &[u8] = match before {
            Some(PdfToken::Name(key)) => key,
            _ => b"",
        };
        match token {
            PdfToken::Name(name) if word == b"ID" && before == Some(&PdfToken::Open) => {
                palette = name == b"I" || name == b"Indexed";
            }
            PdfToken::Close => palette = false,
            PdfToken::String(text) if !text.is_empty() => {
                let read = marked && TEXTS.contains(&key) || key == b"Lang" && is_language(text);
                if !read && !palette {
                    found.push(operand);
                }
            }
            _ => {}
        }
        before = Some(token);
    }
    found
}

/// `en`, `de-CH`: an identifier of a language (ISO 32000-2, 14.9.2).
fn is_language(text: &[u8]) -> bool {
    let first = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let rest = text.iter().skip(first).all(|byte| byte.is_ascii_alphabetic() || *byte == b'-');
    (2..=3).contains(&first) && rest && text.len() <= 11
}

/// How many dots an inline image has, by its dictionary (ISO 32000-2, 8.9.7).
pub(super) fn dots(operands: &[Operand<'_>]) -> u64 {
    let side = |short: &[u8], long: &[u8]| {
        let found = operands.windows(2).find_map(|pair| match pair {
            [(PdfToken::Name(key), _), (PdfToken::Number(side), _)] if key == short || key == long => {
                Some(*side)
            }
            _ => None,
        });
        // What is negative, or too large, is cut to what there can be.
        found.unwrap_or(0.0) as u64
    };
    side(b"W", b"Width").saturating_mul(side(b"H", b"Height"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The operands of the first operator of a stream, and the operator.
    fn first(stream: &[u8]) -> (Vec<Operand<'_>>, &[u8]) {
        let mut operands = Vec::new();
        let word = Operators::of(stream).next(&mut operands).unwrap();
        (operands, word.map_or(b"", |(word, _)| word))
    }

    #[test]
    fn strings_that_nothing_shows_are_told() {
        for (stream, marked, want) in [
            (&b"(a) MP"[..], false, "a"),
            (b"/T <</x (a) /y [(b) <63>] /ActualText (d)>> DP", false, "abcd"),
            (b"/T <</x (a) /ActualText (d) /Alt (e) /E (f)>> BDC", true, "a"),
            (b"/Span <</Lang (de-CH)>> BDC", false, ""),
            (b"/Span <</Lang (Marlowe)>> BDC", false, "Marlowe"),
            (b"/Span <</Lang (0170)>> BDC", false, "0170"),
            (b"(a) 1 0 0 rg", false, "a"),
            (b"(a) (b) Tj", false, "a"),
            (b"1 2 (a) \"", false, ""),
            (b"(a) [(b) 3 (c)] TJ", false, "a"),
            (b"(a) (b) TJ", false, ""),
            (b"(a)", false, "a"),
            (b"() () foo", false, ""),
            (b"/CS [/Indexed /RGB 1 <616263646566>] /x (a) ID ", false, "a"),
            (b"/CS [/I /RGB 1 <616263646566> ] ID ", false, ""),
            (b"[/I (a)] foo", false, "a"),
        ] {
            let (operands, word) = first(stream);
            let mut text = Vec::new();
            for (token, _) in unshown(word, &operands, marked) {
                if let PdfToken::String(string) = token {
                    text.extend_from_slice(string);
                }
            }
            assert_eq!(String::from_utf8_lossy(&text), want, "{}", String::from_utf8_lossy(stream));
        }
    }

    #[test]
    fn dots_are_those_of_either_spelling() {
        for (stream, want) in [
            (&b"/W 30 /H 2 /BPC 8 ID "[..], 60),
            (b"/Width 600 /Height 800 ID ", 480_000),
            (b"/W -3 /H 2 ID ", 0),
            (b"/W 3 ID ", 0),
            (b"/W 1e300 /H 99999999999999999999999 ID ", u64::MAX),
        ] {
            let (operands, _) = first(stream);
            assert_eq!(dots(&operands), want, "{}", String::from_utf8_lossy(stream));
        }
    }
}
