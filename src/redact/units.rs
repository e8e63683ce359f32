//! A text as it is read, character by character: escapes as what they spell, typographic hyphens as hyphens, full-width
//! digits as digits, and what nobody reads as nothing.

use std::ops::Range;

use zeroize::Zeroizing;

use crate::detect::char_as_read;
use crate::redact::escapes::{TextStart, begins, is_plain_ascii, respelled};
use crate::redact::index::More;
use crate::redact::unescaped::read;

/// What spells one character, or nothing that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextUnit {
    /// Where it begins and how long it is, in bytes.
    pub(super) start: usize,
    pub(super) len: usize,
    /// How it reads; `None` where it is not read.
    pub(super) read: Option<char>,
    spelled: SpelledUnit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpelledUnit {
    /// By itself.
    Plainly,
    /// By another character.
    Otherwise,
    Escaped,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextUnit {
    Unit(TextUnit),
    /// More text must be seen first.
    Cut,
    End,
}

/// Reads a text from its beginning.
#[derive(Clone)]
pub(super) struct TextUnits<'t> {
    text: &'t [u8],
    at: usize,
    more: More,
}

impl<'t> TextUnits<'t> {
    pub(super) fn of(text: &'t [u8], more: More) -> Self {
        Self { text, at: 0, more }
    }

    /// All of a text that is there.
    pub(super) fn all(text: &'t str) -> impl Iterator<Item = TextUnit> {
        let mut units = Self::of(text.as_bytes(), More::No);
        std::iter::from_fn(move || match units.step() {
            NextUnit::Unit(unit) => Some(unit),
            NextUnit::Cut | NextUnit::End => None,
        })
    }

    /// What is not read yet.
    pub(super) fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Passes over so many bytes, which are there and end with a character: where they lie.
    pub(super) fn skip(&mut self, length: usize) -> Range<usize> {
        let skipped = self.at..self.at + length;
        self.at = skipped.end;
        skipped
    }

    pub(super) fn step(&mut self) -> NextUnit {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let Some(&first) = rest.first() else {
            return if self.more == More::Yes { NextUnit::Cut } else { NextUnit::End };
        };
        let (c, len, spelled) = match begins(rest, self.more) {
            TextStart::Cut => return NextUnit::Cut,
            TextStart::Escape(c, len) => (c, len, SpelledUnit::Escaped),
            TextStart::No if first.is_ascii() => (char::from(first), 1, SpelledUnit::Plainly),
            TextStart::No => {
                let Some(c) = char_at(rest) else { return NextUnit::End };
                (c, c.len_utf8(), SpelledUnit::Plainly)
            }
        };
        let read = as_read(c);
        let spelled =
            if spelled == SpelledUnit::Plainly && read != Some(c) { SpelledUnit::Otherwise } else { spelled };
        let unit = TextUnit { start: self.at, len, read, spelled };
        self.at += len;
        NextUnit::Unit(unit)
    }
}

/// Tells the ends of lines that strings within strings spell, such as `\\n`: as units, backslashes and a letter behind them.
#[derive(Default)]
pub(super) struct NestedBreak {
    /// Whether such a backslash came last.
    backslash: bool,
}

impl NestedBreak {
    /// Whether `unit`, the next one of `text`, is the letter of one.
    pub(super) fn is_break(&mut self, unit: &TextUnit, text: &[u8]) -> bool {
        let behind = std::mem::replace(&mut self.backslash, unit.is_escaped() && unit.read == Some('\\'));
        behind && matches!(text.get(unit.start..unit.start + unit.len), Some(b"n" | b"r" | b"t"))
    }
}

/// A text as its units read.
pub(super) fn as_units(text: &str) -> String {
    TextUnits::all(text).filter_map(|unit| unit.read).collect()
}

/// What a surrogate and its original read, where the one is spelled as the other: each with escapes of the same marks, or with
/// none. Letters that are escaped must be beyond ASCII in one of both, for there is no telling what else was meant.
pub(super) fn read_alike(surrogate: &str, original: &str) -> Option<[Zeroizing<String>; 2]> {
    if is_plain_ascii(surrogate) || TextUnits::all(surrogate).all(|unit| unit.is_plain()) {
        return Some([surrogate.to_owned(), read(original).into_owned()].map(Zeroizing::new));
    }
    let escapes = |text| TextUnits::all(text).filter(TextUnit::is_escaped).filter_map(|unit| unit.read);
    let marks = |text| escapes(text).filter(|c| !c.is_alphanumeric()).collect::<Vec<char>>();
    let letters = |text| escapes(text).filter(|c| c.is_alphanumeric()).collect::<Vec<char>>();
    let [ours, theirs] = [letters(surrogate), letters(original)];
    let beyond = |letters: &[char]| letters.iter().any(|c| !c.is_ascii());
    let meant = ours.is_empty() || !theirs.is_empty() && (beyond(&ours) || beyond(&theirs));
    let alike = meant && marks(surrogate) == marks(original);
    alike.then(|| [surrogate, original].map(as_units).map(Zeroizing::new))
}

/// The character that a text begins with, of which all bytes are there.
fn char_at(text: &[u8]) -> Option<char> {
    let width = match text.first()? {
        0..=0x7f => 1,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    };
    std::str::from_utf8(text.get(..width)?).ok()?.chars().next()
}

fn as_read(c: char) -> Option<char> {
    match c {
        c if c.is_ascii() => Some(c),
        '\u{2019}' | '\u{2bc}' => Some('\''),
        c => char_as_read(c),
    }
}

impl TextUnit {
    /// What spells it in `text`.
    pub(super) fn source<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start..self.start + self.len).unwrap_or_default()
    }

    /// Whether it ends a line.
    pub(super) fn breaks_line(&self) -> bool {
        matches!(self.read, Some('\n' | '\r'))
    }

    pub(super) fn is_escaped(&self) -> bool {
        self.spelled == SpelledUnit::Escaped
    }

    pub(super) fn is_plain(&self) -> bool {
        self.spelled == SpelledUnit::Plainly
    }

    /// Another character, spelled as this one is in `text`.
    pub(super) fn spell(&self, text: &str, c: char, out: &mut String) {
        let source = self.source(text);
        if self.read == Some(c) {
            out.push_str(source);
            return;
        }
        match self.spelled {
            SpelledUnit::Escaped => out.push_str(&respelled(source, c)),
            SpelledUnit::Otherwise => out.push(self.shifted(source, c).unwrap_or(c)),
            SpelledUnit::Plainly => out.push(c),
        }
    }

    /// `c` in the script, or of the width, of the digit or letter here.
    fn shifted(&self, source: &str, c: char) -> Option<char> {
        let here = u32::from(source.chars().next()?);
        let shift = here.checked_sub(u32::from(self.read?))?;
        let other = char::from_u32(u32::from(c) + shift)?;
        (c.is_ascii_alphanumeric() && as_read(other) == Some(c)).then_some(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_reads_as_what_it_spells() {
        let cases = [
            ("jo&#64;ab%2Ede", "jo@ab.de"),
            (r"jo\u0040ab\.de", "jo@ab.de"),
            ("5\u{2011}3\u{ad}6\u{a0}&shy;\u{200b}２２&nbsp;O\u{2019}B", "5-36 22 O'B"),
            ("100% &c. \\d %zz", "100% &c. \\d %zz"),
            (r"N\u011bmec N\\u011bmec N\\\\u011bmec", "N\u{11b}mec N\u{11b}mec N\u{11b}mec"),
            (r"a\\u0041 \\u0007 \\n", r"aA \u0007 \n"),
        ];
        for (text, read) in cases {
            assert_eq!(TextUnits::all(text).filter_map(|unit| unit.read).collect::<String>(), read, "{text}");
            for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
                let mut cut = TextUnits::of(&text.as_bytes()[..end], More::Yes);
                let mut whole = TextUnits::all(text);
                while let NextUnit::Unit(unit) = cut.step() {
                    assert_eq!(whole.next(), Some(unit), "{text} cut at {end}");
                }
            }
        }
    }

    #[test]
    fn another_character_is_spelled_alike() {
        let cases = [
            ("%4a", 'z', "%7a"),
            ("%4A", 'z', "%7A"),
            ("%4a", 'ü', "%c3%bc"),
            ("%u004A", 'z', "%u007A"),
            ("\\u004a", 'z', "\\u007a"),
            ("\\u004A", '\u{1f642}', "\\uD83D\\uDE42"),
            ("\\u{4a}", 'z', "\\u{7a}"),
            ("\\x4a", 'z', "\\x7a"),
            ("\\112", 'z', "\\172"),
            ("\\_", '.', "\\."),
            ("\\_", 'a', "a"),
            ("&#74;", 'z', "&#122;"),
            ("&#x4a;", 'z', "&#x7a;"),
            ("&commat;", '.', "&period;"),
            ("&commat;", 'a', "a"),
            ("２", '7', "７"),
            ("٢", '7', "٧"),
            ("2", '7', "7"),
            (r"\\u011b", '\u{fc}', r"\\u00fc"),
            (r"\\\\u011b", 'z', "z"),
        ];
        for (text, c, expected) in cases {
            let mut out = String::new();
            TextUnits::all(text).next().unwrap().spell(text, c, &mut out);
            assert_eq!(out, expected, "{text} {c}");
        }
    }
}
