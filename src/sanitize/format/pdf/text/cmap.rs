//! CMaps (ISO 32000-2, 9.7.5 and 9.10.3): the codes of a string, their characters, and their text. Only the sections
//! matter; the PostScript around them, which files get wrong, is not read.

use std::collections::HashMap;

use crate::sanitize::format::pdf::text::lexer::{PdfLexer, PdfToken};

/// How many codes one map holds at most.
const CODES: usize = 200_000;

/// What a CMap says.
#[derive(Clone, Debug, Default)]
pub(super) struct Cmap {
    /// Lengths of codes in bytes, with the first and the last of a range.
    spaces: Vec<(usize, u32, u32)>,
    /// Text by code.
    text: HashMap<u32, String>,
    /// Characters by code.
    characters: HashMap<u32, u32>,
    /// How many codes were read, those that were read before included.
    read: usize,
}

impl Cmap {
    /// Reads a map.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let mut map = Self::default();
        let mut lexer = PdfLexer::new(bytes);
        let mut operands = Vec::new();
        while let Some((token, _)) = lexer.next() {
            let PdfToken::Word(word) = token else {
                operands.push(token);
                continue;
            };
            match word {
                b"endcodespacerange" => map.codespace(&operands),
                b"endbfchar" => operands.chunks(2).for_each(|pair| map.one(pair)),
                b"endbfrange" => map.ranges(&operands),
                b"endcidchar" => {
                    for pair in operands.chunks(2) {
                        if let [PdfToken::String(code), PdfToken::Number(character)] = pair {
                            map.character(value(code), *character as u32);
                        }
                    }
                }
                b"endcidrange" => operands.chunks(3).for_each(|range| map.character_range(range)),
                _ => {}
            }
            operands.clear();
        }
        map
    }

    /// The text of a code.
    pub(super) fn text(&self, code: u32) -> Option<&str> {
        self.text.get(&code).map(String::as_str)
    }

    /// The character of a code; 0 for one that the map leaves out.
    pub(super) fn cid(&self, code: u32) -> u32 {
        self.characters.get(&code).copied().unwrap_or(0)
    }

    /// How many bytes the next code takes: the shortest range it lies in; else as many as the shortest range has.
    pub(super) fn length(&self, rest: &[u8]) -> usize {
        let within = |bytes: &[u8], low: u32, high: u32| {
            let (low, high) = (low.to_be_bytes(), high.to_be_bytes());
            let skip = 4_usize.saturating_sub(bytes.len());
            let bounds = low.iter().zip(&high).skip(skip);
            bytes.iter().zip(bounds).all(|(byte, (low, high))| (low..=high).contains(&byte))
        };
        let fits = |length: usize| {
            let of = self.spaces.iter().filter(move |space| space.0 == length);
            rest.get(..length)
                .is_some_and(|bytes| of.into_iter().any(|(_, low, high)| within(bytes, *low, *high)))
        };
        let shortest = self.spaces.iter().map(|space| space.0).min().unwrap_or(2);
        (1..=4).find(|length| fits(*length)).unwrap_or(shortest)
    }

    fn codespace(&mut self, operands: &[PdfToken<'_>]) {
        for pair in operands.chunks(2) {
            if let [PdfToken::String(low), PdfToken::String(high)] = pair
                && (1..=4).contains(&low.len())
                && self.spaces.len() < 1000
            {
                self.spaces.push((low.len(), value(low), value(high)));
            }
        }
    }

    /// All texts by code.
    pub(super) fn texts(&self) -> impl Iterator<Item = (u32, &str)> {
        self.text.iter().map(|(code, text)| (*code, text.as_str()))
    }

    fn put(&mut self, code: u32, text: String) {
        self.read = self.read.saturating_add(1);
        let empty = text.is_empty() || text == "\0" || text == "\u{fffd}";
        if !empty && self.read < CODES {
            self.text.insert(code, text);
        }
    }

    fn character(&mut self, code: u32, character: u32) {
        self.read = self.read.saturating_add(1);
        if self.read < CODES {
            self.characters.insert(code, character);
        }
    }

    fn character_range(&mut self, range: &[PdfToken<'_>]) {
        let [PdfToken::String(low), PdfToken::String(high), PdfToken::Number(first)] = range else { return };
        for (code, character) in self.span(low, high).zip(*first as u32..) {
            self.character(code, character);
        }
    }

    fn one(&mut self, pair: &[PdfToken<'_>]) {
        if let [PdfToken::String(code), PdfToken::String(text)] = pair {
            self.put(value(code), text_of(text, 0));
        }
    }

    /// The codes of a range: not more than two bytes can tell apart, and than there is room for.
    fn span(&self, low: &[u8], high: &[u8]) -> impl Iterator<Item = u32> + use<> {
        let (low, high) = (value(low), value(high));
        (low..=high.min(low.saturating_add(0xffff))).take(CODES.saturating_sub(self.read))
    }

    fn ranges(&mut self, operands: &[PdfToken<'_>]) {
        let mut rest = operands;
        while let [PdfToken::String(low), PdfToken::String(high), to, after @ ..] = rest {
            rest = after;
            match to {
                PdfToken::String(first) => {
                    for (code, by) in self.span(low, high).zip(0_u16..) {
                        self.put(code, text_of(first, by));
                    }
                }
                PdfToken::Open => {
                    let end = after.iter().position(|token| *token == PdfToken::Close).unwrap_or(after.len());
                    for (code, token) in self.span(low, high).zip(after.iter().take(end)) {
                        if let PdfToken::String(text) = token {
                            self.put(code, text_of(text, 0));
                        }
                    }
                    rest = after.get(end.saturating_add(1)..).unwrap_or_default();
                }
                _ => {}
            }
        }
    }
}

fn value(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

/// UTF-16 text, its last unit so much further on.
fn text_of(bytes: &[u8], by: u16) -> String {
    let unit = |pair: &[u8]| pair.iter().fold(0_u16, |unit, byte| unit << 8 | u16::from(*byte));
    let mut units: Vec<u16> = bytes.chunks(2).map(unit).collect();
    if let Some(last) = units.last_mut() {
        *last = last.wrapping_add(by);
    }
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_read_however_they_are_written() {
        let map = Cmap::read(
            b"1 begincodespacerange <00> <7f> <8140> <9ffc> endcodespacerange\n\
              2 beginbfchar <01><0041> <0002> <00660069> endbfchar\n\
              2 beginbfrange <10> <12> <0061> <20> <21> [<0078><D83DDE00>] endbfrange\n\
              1 begincidrange <8140> <8142> 7 endcidrange",
        );
        assert_eq!(
            [1, 2, 0x11, 0x21].map(|code| map.text(code)),
            [Some("A"), Some("fi"), Some("b"), Some("\u{1f600}")]
        );
        assert_eq!((map.cid(0x8141), map.length(b"A"), map.length(b"\x81\x50")), (8, 1, 2));
    }
}
