//! [`PdfLexer`]: the tokens of a content stream (ISO 32000-2, 7.2 and 7.8.2), each with where it stands, so that a change
//! leaves all other bytes as they are.

use std::ops::Range;

use crate::base::path::hex_digit;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PdfToken<'a> {
    /// A number; 0 for one that cannot be read.
    Number(f64),
    /// A string, decoded.
    String(Vec<u8>),
    /// A name, without its slash, decoded.
    Name(Vec<u8>),
    /// `[`
    Open,
    /// `]`
    Close,
    /// `<<`
    Begin,
    /// `>>`
    End,
    /// Anything else: an operator or a keyword.
    Word(&'a [u8]),
}

/// Reads tokens one by one; holds on any bytes.
#[derive(Clone, Debug)]
pub(super) struct PdfLexer<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Whether no `EI` that text follows is left, so that the rest is searched for one only once.
    searched: bool,
}

fn blank(byte: u8) -> bool {
    matches!(byte, 0 | 9 | 10 | 12 | 13 | 32)
}

fn delimits(byte: u8) -> bool {
    matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

impl<'a> PdfLexer<'a> {
    /// Begins at the beginning.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, searched: false }
    }

    /// Where the next token is looked for.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn bump(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at = self.at.saturating_add(1);
        Some(byte)
    }

    fn skip(&mut self, until: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(|byte| !until(byte)) {
            self.at = self.at.saturating_add(1);
        }
    }

    /// The next token, and where it stands.
    pub(super) fn next(&mut self) -> Option<(PdfToken<'a>, Range<usize>)> {
        loop {
            self.skip(|byte| !blank(byte));
            if self.peek() != Some(b'%') {
                break;
            }
            self.skip(|byte| matches!(byte, 10 | 13));
        }
        let start = self.at;
        let token = match self.bump()? {
            b'[' => PdfToken::Open,
            b']' => PdfToken::Close,
            b'(' => PdfToken::String(self.literal()),
            b'/' => PdfToken::Name(self.name()),
            b'<' if self.peek() == Some(b'<') => self.pair(PdfToken::Begin),
            b'>' if self.peek() == Some(b'>') => self.pair(PdfToken::End),
            b'<' => PdfToken::String(self.hexadecimal()),
            b')' | b'>' | b'{' | b'}' => PdfToken::Word(self.bytes.get(start..self.at).unwrap_or_default()),
            first => {
                self.skip(|byte| blank(byte) || delimits(byte));
                let word = self.bytes.get(start..self.at).unwrap_or_default();
                match first {
                    b'0'..=b'9' | b'+' | b'-' | b'.' => PdfToken::Number(number(word)),
                    _ => PdfToken::Word(word),
                }
            }
        };
        Some((token, start..self.at))
    }

    fn pair(&mut self, token: PdfToken<'a>) -> PdfToken<'a> {
        self.at = self.at.saturating_add(1);
        token
    }

    fn hexadecimal(&mut self) -> Vec<u8> {
        let (mut out, mut high) = (Vec::new(), None);
        while let Some(byte) = self.bump() {
            if byte == b'>' {
                break;
            }
            let Some(digit) = hex_digit(byte) else { continue };
            match high.take() {
                None => high = Some(digit),
                Some(high) => out.push(high << 4 | digit),
            }
        }
        out.extend(high.map(|high| high << 4));
        out
    }

    fn literal(&mut self) -> Vec<u8> {
        let (mut out, mut depth) = (Vec::new(), 1_usize);
        while let Some(byte) = self.bump() {
            match byte {
                b'(' => depth = depth.saturating_add(1),
                b')' => depth = depth.saturating_sub(1),
                b'\\' => {
                    self.escaped(&mut out);
                    continue;
                }
                13 => {
                    self.line_feed();
                    out.push(10);
                    continue;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
            out.push(byte);
        }
        out
    }

    fn line_feed(&mut self) {
        if self.peek() == Some(10) {
            self.at = self.at.saturating_add(1);
        }
    }

    fn escaped(&mut self, out: &mut Vec<u8>) {
        match self.bump() {
            Some(b'n') => out.push(10),
            Some(b'r') => out.push(13),
            Some(b't') => out.push(9),
            Some(b'b') => out.push(8),
            Some(b'f') => out.push(12),
            Some(13) => self.line_feed(),
            Some(first @ b'0'..=b'7') => {
                let mut code = u32::from(first - b'0');
                for _ in 0..2 {
                    let Some(next @ b'0'..=b'7') = self.peek() else { break };
                    code = code * 8 + u32::from(next - b'0');
                    self.at = self.at.saturating_add(1);
                }
                out.push((code & 0xff) as u8);
            }
            Some(10) | None => {}
            Some(other) => out.push(other),
        }
    }

    fn name(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        while let Some(byte) = self.peek().filter(|byte| !blank(*byte) && !delimits(*byte)) {
            let ahead = |by: usize| {
                self.at.checked_add(by).and_then(|at| self.bytes.get(at)).copied().and_then(hex_digit)
            };
            match (byte, ahead(1), ahead(2)) {
                (b'#', Some(high), Some(low)) => {
                    out.push(high << 4 | low);
                    self.at = self.at.saturating_add(3);
                }
                _ => {
                    out.push(byte);
                    self.at = self.at.saturating_add(1);
                }
            }
        }
        out
    }

    /// Skips the data of an inline image, right after `ID`: up to an `EI` between blanks that text follows, since the
    /// data may hold those two letters as well. How many of them were looked at.
    pub(super) fn skip_image(&mut self) -> usize {
        let from = self.at.saturating_add(1);
        let (mut first, mut end, mut looked) = (None, None, 0_usize);
        for at in memchr::memmem::find_iter(self.bytes.get(from..).unwrap_or_default(), b"EI") {
            let at = from.saturating_add(at);
            looked = looked.saturating_add(1);
            if self.is_end(at) {
                first = first.or(Some(at));
                if self.searched || self.is_before_text(at) {
                    end = Some(at);
                    break;
                }
            }
        }
        self.searched |= end.is_none();
        self.at = end.or(first).map_or(self.bytes.len(), |end| end.saturating_add(2));
        looked
    }

    /// Whether the `EI` at a place stands between blanks.
    fn is_end(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.bytes.get(before));
        let after = self.bytes.get(at.saturating_add(2));
        before.into_iter().chain(after).all(|byte| blank(*byte))
    }

    /// Whether text follows the `EI` at a place.
    fn is_before_text(&self, at: usize) -> bool {
        let after = self.bytes.get(at.saturating_add(2)..).unwrap_or_default();
        after.iter().take(12).all(|byte| blank(*byte) && *byte != 0 || (0x20..0x7f).contains(byte))
    }
}

fn number(word: &[u8]) -> f64 {
    let text = std::str::from_utf8(word).unwrap_or_default();
    let read = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    // Some writers put a second sign, others one in the middle, where readers stop.
    let once = text.trim_start_matches("--");
    let cut = once.get(1..).and_then(|rest| rest.find(['-', '+'])).and_then(|at| once.get(..=at));
    read(text).or_else(|| read(once)).or_else(|| read(cut?)).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(bytes: &[u8]) -> Vec<PdfToken<'_>> {
        let mut lexer = PdfLexer::new(bytes);
        std::iter::from_fn(|| lexer.next().map(|(token, _)| token)).collect()
    }

    #[test]
    fn strings_names_and_numbers_are_decoded() {
        let string = |text: &[u8]| PdfToken::String(text.to_vec());
        let read = tokens(b"(a\\(b(c)\\101\\\n\\n) <4a6> /A#42 -1.5 --3 .5 [] <<>> Tj%x\r'");
        let want = vec![
            string(b"a(b(c)A\n"),
            string(b"\x4a\x60"),
            PdfToken::Name(b"AB".to_vec()),
            PdfToken::Number(-1.5),
            PdfToken::Number(3.0),
            PdfToken::Number(0.5),
            PdfToken::Open,
            PdfToken::Close,
            PdfToken::Begin,
            PdfToken::End,
            PdfToken::Word(b"Tj"),
            PdfToken::Word(b"'"),
        ];
        assert_eq!(read, want);
    }

    #[test]
    fn images_end_where_text_follows() {
        let mut lexer = PdfLexer::new(b"ID \x01 EI \xff\x80( EI Q (x) Tj");
        assert_eq!(lexer.next().map(|(token, _)| token), Some(PdfToken::Word(b"ID")));
        lexer.skip_image();
        assert_eq!(lexer.next().map(|(token, _)| token), Some(PdfToken::Word(b"Q")));
        // Followed by no text anywhere: the first of them, or the end.
        for (stream, end) in [(&b"ID \x01 EI \x80 EI \x80"[..], 7), (b"ID \x01 EI\x80 Q", 10), (b"ID", 2)] {
            let mut lexer = PdfLexer::new(stream);
            lexer.next();
            lexer.skip_image();
            assert_eq!(lexer.position(), end, "{}", String::from_utf8_lossy(stream));
        }
    }

    #[test]
    fn images_that_no_text_follows_are_searched_once() {
        for unit in [&b"ID EI \x80 "[..], b"ID \x01EI EI \x80 ", b"ID \x01 EI\x80 "] {
            let stream = unit.repeat(2000);
            let places = memchr::memmem::find_iter(&stream, b"EI").count();
            let (mut lexer, mut looked, mut images) = (PdfLexer::new(&stream), 0, 0);
            while let Some((token, _)) = lexer.next() {
                if token == PdfToken::Word(b"ID") {
                    looked += lexer.skip_image();
                    images += 1;
                }
            }
            assert!(looked <= 2 * places, "{looked} of {places} for {images} images");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
            let mut lexer = PdfLexer::new(&bytes);
            let mut end = 0;
            while let Some((_, range)) = lexer.next() {
                proptest::prop_assert!(range.start >= end && range.end > range.start);
                end = range.end;
            }
        }
    }
}
