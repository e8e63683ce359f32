//! [`TokenStream`]: a content stream or a program as its tokens; [`texts_within`]: what nothing shows of it and may be read all the
//! same.

use std::ops::Range;

use crate::edit::Edit;
use crate::sanitize::format::passage::is_worth;
use crate::sanitize::format::pdf::text::lexer::{PdfLexer, PdfToken};
use crate::sanitize::{Rejection, Work};

/// The operators of a content stream (ISO 32000-2, annex A), and words that are values; in order.
const OPERATORS: &[&[u8]] = &[
    b"\"", b"'", b"B", b"B*", b"BDC", b"BI", b"BMC", b"BT", b"BX", b"CS", b"DP", b"Do", b"EI", b"EMC", b"ET",
    b"EX", b"F", b"G", b"ID", b"J", b"K", b"M", b"MP", b"Q", b"RG", b"S", b"SC", b"SCN", b"T*", b"TD", b"TJ",
    b"TL", b"Tc", b"Td", b"Tf", b"Tj", b"Tm", b"Tr", b"Ts", b"Tw", b"Tz", b"W", b"W*", b"b", b"b*", b"c",
    b"cm", b"cs", b"d", b"d0", b"d1", b"f", b"f*", b"false", b"g", b"gs", b"h", b"i", b"j", b"k", b"l", b"m",
    b"n", b"null", b"q", b"re", b"rg", b"ri", b"s", b"sc", b"scn", b"sh", b"true", b"v", b"w", b"y",
];

/// A stream of tokens, unfolded.
pub(super) struct TokenStream {
    pub(super) bytes: Vec<u8>,
    /// Whether it is a program (PostScript) instead of content.
    pub(super) program: bool,
}

impl TokenStream {
    /// The tokens, each with where it stands; the data of an inline image are part of their operator.
    pub(super) fn tokens(&self, see: &mut dyn FnMut(&PdfToken<'_>, Range<usize>)) {
        let mut lexer = PdfLexer::new(&self.bytes);
        while let Some((token, range)) = lexer.next() {
            if token == PdfToken::Word(b"ID") && !self.program {
                lexer.skip_image();
            }
            let end = lexer.position();
            see(&token, range.start..end);
        }
    }

    /// The bytes at a place.
    fn at(&self, range: Range<usize>) -> &[u8] {
        self.bytes.get(range).unwrap_or_default()
    }

    /// Whether a token is a word that no reader knows; in a program, any word.
    pub(super) fn is_word(&self, token: &PdfToken<'_>, range: Range<usize>) -> bool {
        match token {
            PdfToken::Word(b"{" | b"}" | b")" | b">") => false,
            PdfToken::Word(word) => self.program || OPERATORS.binary_search(word).is_err(),
            PdfToken::Number(_) => {
                !self.at(range).iter().all(|byte| byte.is_ascii_digit() || b"+-.".contains(byte))
            }
            _ => false,
        }
    }
}

/// What of a stream nothing shows and may be read: remarks, which are all that stands between two tokens and is no blank, words
/// that are no operators, and the strings of a program.
struct UnseenTexts<'r> {
    read: &'r TokenStream,
    /// Where each stands, what it reads like, and what takes its place.
    texts: Vec<(Range<usize>, String, &'static str)>,
    /// Words that follow each other.
    words: Option<Range<usize>>,
    /// Where the last token ends.
    last: usize,
}

impl<'r> UnseenTexts<'r> {
    fn of(read: &'r TokenStream) -> Self {
        let mut unseen = Self { read, texts: Vec::new(), words: None, last: 0 };
        read.tokens(&mut |token, range| unseen.see(token, range));
        unseen.between(read.bytes.len());
        unseen.end_words();
        unseen
    }

    fn see(&mut self, token: &PdfToken<'_>, range: Range<usize>) {
        self.between(range.start);
        self.last = range.end;
        if self.read.is_word(token, range.clone()) {
            let start = self.words.take().map_or(range.start, |words| words.start);
            self.words = Some(start..range.end);
            return;
        }
        self.end_words();
        // What is written in hexadecimal are codes.
        let literal = matches!(token, PdfToken::String(_)) && self.read.at(range.clone()).starts_with(b"(");
        if literal && self.read.program {
            self.add(range, "()");
        }
    }

    /// What stands between the last token and the next one.
    fn between(&mut self, next: usize) {
        let range = self.last..next;
        if memchr::memchr(b'%', self.read.at(range.clone())).is_some() {
            self.end_words();
            self.add(range, "\n");
        }
    }

    fn end_words(&mut self) {
        if let Some(words) = self.words.take() {
            self.add(words, "\n");
        }
    }

    fn add(&mut self, range: Range<usize>, with: &'static str) {
        let text = String::from_utf8_lossy(self.read.at(range.clone())).into_owned();
        if is_worth(&text) {
            self.texts.push((range, text, with));
        }
    }
}

/// The texts of a stream that hold something, and what takes their place.
///
/// # Errors
/// The host's.
pub(super) fn texts_within(read: &TokenStream, work: &mut Work<'_>) -> Result<Vec<Edit>, Rejection> {
    let UnseenTexts { texts, .. } = UnseenTexts::of(read);
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let found = work.edits(&texts.iter().map(|(_, text, _)| text.as_str()).collect::<Vec<_>>())?;
    let mut edits = Vec::new();
    for ((range, _, with), found) in texts.into_iter().zip(found) {
        if !found.is_empty() {
            found.iter().for_each(|edit| work.applied(edit));
            edits.push(Edit { range, with: with.to_owned() });
        }
    }
    Ok(edits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit;
    use crate::sanitize::bench::Bench;

    #[test]
    fn operators_are_in_order() {
        assert!(OPERATORS.is_sorted());
    }

    #[test]
    fn words_that_are_no_operators_go_where_they_hold_something() {
        for (told, want) in [
            ("BX Jane Marlowe EX q Q", "BX \n EX q Q"),
            ("q by{Marlowe}Q", "q by{\n}Q"),
            ("1 0 0 rg 12Marlowe Q", "1 0 0 rg \n Q"),
            ("Jane %of Kent\nMarlowe f*", "Jane %of Kent\n\n f*"),
            // Those that hold nothing, operators, and an image.
            ("BX Jane Doe EX", "BX Jane Doe EX"),
            ("BI /W 1 ID Marlowe EI Q and so on", "BI /W 1 ID Marlowe EI Q and so on"),
        ] {
            let read = TokenStream { bytes: told.as_bytes().to_vec(), program: false };
            let mut bench = Bench::redacting("Marlowe");
            let edits = texts_within(&read, &mut bench.work()).expect("no limit is met");
            assert_eq!(String::from_utf8_lossy(&edit::spliced(&read.bytes, &edits)), want);
        }
    }
}
