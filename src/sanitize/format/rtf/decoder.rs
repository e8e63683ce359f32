//! [`TextDecoder`]: text as it is spelled, put together from bytes in code pages and from `\u` with what stands in for it.

use std::collections::HashMap;
use std::ops::Range;

use encoding_rs::{Encoding, WINDOWS_1252};

use crate::sanitize::format::patch::SpelledText;

/// Fonts that are remembered.
const FONTS: usize = 10_000;

/// The encodings of a file.
#[derive(Debug)]
pub(super) struct Pages {
    /// `\ansicpg`.
    pub(super) default: &'static Encoding,
    fonts: HashMap<i32, &'static Encoding>,
}

impl Default for Pages {
    fn default() -> Self {
        Self { default: WINDOWS_1252, fonts: HashMap::new() }
    }
}

impl Pages {
    /// `\ansicpg`, `\cpg`: a code page by its number.
    pub(super) fn page(number: i32) -> &'static Encoding {
        let label = match number {
            932 => "shift_jis".to_owned(),
            936 => "gbk".to_owned(),
            949 => "euc-kr".to_owned(),
            950 => "big5".to_owned(),
            874 => "windows-874".to_owned(),
            65001 => "utf-8".to_owned(),
            10000 => "macintosh".to_owned(),
            _ => format!("windows-{number}"),
        };
        Encoding::for_label(label.as_bytes()).unwrap_or(WINDOWS_1252)
    }

    /// `\fcharset` of a font.
    pub(super) fn charset(&mut self, font: i32, charset: i32) {
        let page = match charset {
            77 => 10000,
            128 => 932,
            129 => 949,
            134 => 936,
            136 => 950,
            161 => 1253,
            162 => 1254,
            163 => 1258,
            177 => 1255,
            178 => 1256,
            186 => 1257,
            204 => 1251,
            222 => 874,
            238 => 1250,
            _ => return,
        };
        if self.fonts.len() < FONTS {
            self.fonts.insert(font, Self::page(page));
        }
    }

    /// The encoding of a font's text.
    pub(super) fn of(&self, font: i32) -> &'static Encoding {
        self.fonts.get(&font).copied().unwrap_or(self.default)
    }
}

/// A `\u`.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnicodeEscape {
    /// Its number as it is written.
    pub(super) code: i32,
    /// How many characters follow for programs that do not know it.
    pub(super) stand_ins: u32,
}

/// Puts characters together.
#[derive(Debug, Default)]
pub(super) struct TextDecoder {
    /// Bytes of a code page that wait for those that follow them.
    bytes: Vec<(u8, Range<usize>)>,
    /// A `\u`: where it stands, what it is, how many stand-ins still follow.
    unit: Option<(Range<usize>, u16, u32)>,
    /// The first half of a surrogate pair.
    high: Option<(Range<usize>, u16)>,
}

impl TextDecoder {
    /// `\u`, with stand-ins to follow.
    pub(super) fn unit(
        &mut self,
        range: Range<usize>,
        unit: UnicodeEscape,
        page: &'static Encoding,
        to: &mut SpelledText,
    ) {
        self.end(page, to);
        // Numbers above 32767 are written as negative ones, or as they are.
        let code = u16::try_from(unit.code & 0xffff).unwrap_or(0);
        self.unit = Some((range, code, unit.stand_ins));
    }

    /// Takes a stand-in; whether it was one.
    pub(super) fn stands_in(&mut self, range: &Range<usize>) -> bool {
        match &mut self.unit {
            Some((whole, _, left)) if *left > 0 => {
                *left = left.saturating_sub(1);
                whole.end = range.end;
                true
            }
            _ => false,
        }
    }

    /// A byte in a code page.
    pub(super) fn byte(
        &mut self,
        byte: u8,
        range: Range<usize>,
        page: &'static Encoding,
        to: &mut SpelledText,
    ) {
        if self.stands_in(&range) {
            return;
        }
        self.end_unit(to);
        self.end_high(to);
        self.bytes.push((byte, range));
        if self.bytes.len() > 64 {
            self.end_bytes(page, to);
        }
    }

    /// ASCII that stands at `at`.
    pub(super) fn text(&mut self, text: &str, mut at: usize, page: &'static Encoding, to: &mut SpelledText) {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let length = first.len_utf8();
            let here = at..at.saturating_add(length);
            let half =
                self.bytes.last().is_some_and(|(byte, _)| is_lead(*byte, page)) && odd(&self.bytes, page);
            if half && first.is_ascii() {
                self.bytes.push((u8::try_from(u32::from(first)).unwrap_or(b'?'), here.clone()));
            } else if !self.stands_in(&here) {
                break;
            }
            at = here.end;
            rest = rest.get(length..).unwrap_or_default();
        }
        if !rest.is_empty() {
            self.end(page, to);
            to.plain(at, rest);
        }
    }

    /// A character that has a control of its own.
    pub(super) fn sign(
        &mut self,
        c: &str,
        range: Range<usize>,
        page: &'static Encoding,
        to: &mut SpelledText,
    ) {
        if !self.stands_in(&range) {
            self.end(page, to);
            to.escape(range, c);
        }
    }

    /// What was begun ends here.
    pub(super) fn end(&mut self, page: &'static Encoding, to: &mut SpelledText) {
        self.end_unit(to);
        self.end_high(to);
        self.end_bytes(page, to);
    }

    /// A first half that nothing follows is no character.
    fn end_high(&mut self, to: &mut SpelledText) {
        if let Some((range, _)) = self.high.take() {
            to.escape(range, "\u{fffd}");
        }
    }

    fn end_unit(&mut self, to: &mut SpelledText) {
        let Some((range, code, _)) = self.unit.take() else { return };
        if (0xd800..0xdc00).contains(&code) {
            if let Some((range, _)) = self.high.replace((range, code)) {
                to.escape(range, "\u{fffd}");
            }
            return;
        }
        let (range, units) = match self.high.take() {
            Some((before, high)) if (0xdc00..0xe000).contains(&code) => {
                (before.start..range.end, vec![high, code])
            }
            Some((before, _)) => {
                to.escape(before, "\u{fffd}");
                (range, vec![code])
            }
            None => (range, vec![code]),
        };
        to.escape(range, &String::from_utf16_lossy(&units));
    }

    fn end_bytes(&mut self, page: &'static Encoding, to: &mut SpelledText) {
        let bytes = std::mem::take(&mut self.bytes);
        let mut rest = bytes.as_slice();
        while let Some(((byte, range), behind)) = rest.split_first() {
            let pair = behind.first().filter(|_| is_lead(*byte, page));
            let (text, range, next) = match pair {
                Some((trail, end)) => {
                    let two = [*byte, *trail];
                    let (text, _) = page.decode_without_bom_handling(&two);
                    (text.into_owned(), range.start..end.end, behind.get(1..).unwrap_or_default())
                }
                None => {
                    let (text, _) = page.decode_without_bom_handling(std::slice::from_ref(byte));
                    (text.into_owned(), range.clone(), behind)
                }
            };
            to.escape(range, &text);
            rest = next;
        }
    }
}

/// Whether the last of these bytes waits for another.
fn odd(bytes: &[(u8, Range<usize>)], page: &'static Encoding) -> bool {
    let mut waits = false;
    for (byte, _) in bytes {
        waits = !waits && is_lead(*byte, page);
    }
    waits
}

/// Whether a byte is the first of two.
fn is_lead(byte: u8, page: &'static Encoding) -> bool {
    if page.is_single_byte() || page == encoding_rs::UTF_8 {
        return false;
    }
    byte >= 0x81 && !(page == encoding_rs::SHIFT_JIS && (0xa0..0xe0).contains(&byte))
}
