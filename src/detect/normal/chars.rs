//! How single characters read.

/// How a character reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CharReading {
    /// As it is written.
    Plain,
    /// As this ASCII character.
    As(u8),
    /// As a hyphen between digits, or a digit and a capital, else as it is written.
    Dash,
    /// Not at all.
    Gone,
    /// As the end of a line.
    Break,
}

/// The zeros of the scripts' decimal digits (Unicode 16, general category Nd); nine more follow each.
const ZEROS: &[u32] = &[
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0,
    0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50,
    0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x10d30, 0x10d40, 0x11066,
    0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x116d0, 0x116da, 0x11730,
    0x118e0, 0x11950, 0x11bf0, 0x11c50, 0x11d50, 0x11da0, 0x11f50, 0x16130, 0x16a60, 0x16ac0, 0x16b50,
    0x16d70, 0x1ccf0, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e4f0, 0x1e5f1,
    0x1e950, 0x1fbf0,
];

/// Whether a character whose first byte in UTF-8 this is may read otherwise than it is written. Most letters of most
/// scripts cannot.
pub(super) const fn may_change(byte: u8) -> bool {
    matches!(
        byte,
        0xc2 | 0xcb
            | 0xcc
            | 0xcd
            | 0xd6
            | 0xd8
            | 0xd9
            | 0xdb
            | 0xdf
            | 0xe0
            | 0xe1
            | 0xe2
            | 0xe3
            | 0xea
            | 0xef
            | 0xf0
            | 0xf3
    )
}

/// How `c` reads.
pub(super) fn sort(c: char) -> CharReading {
    match c {
        '\n' | '\r' => CharReading::Break,
        c if c.is_ascii() => CharReading::Plain,
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => {
            CharReading::As(b' ')
        }
        // Hyphens. What is a minus or a longer dash is a hyphen between digits only.
        '\u{2010}' | '\u{2011}' | '\u{fe63}' => CharReading::As(b'-'),
        '\u{2012}'..='\u{2015}' | '\u{2212}' | '\u{2043}' | '\u{fe58}' => CharReading::Dash,
        '\u{2d7}' | '\u{5be}' | '\u{1806}' | '\u{207b}' | '\u{30fc}' | '\u{ff70}' => CharReading::Dash,
        '\u{2024}' | '\u{fe52}' => CharReading::As(b'.'),
        '\u{fe6b}' => CharReading::As(b'@'),
        // Double quotes of prose, which word processors put in place of plain ones.
        '\u{201c}'..='\u{201f}' => CharReading::As(b'"'),
        // Joiners, marks of direction, selectors of variants, invisible operators.
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' | '\u{20e3}' | '\u{fe00}'..='\u{fe0f}' => {
            CharReading::Gone
        }
        // Accents that stand behind their letter (as macOS writes names of files): the letter is read.
        '\u{300}'..='\u{36f}' => CharReading::Gone,
        // Fillers of Hangul, and tags, which nobody sees.
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{e0000}'..='\u{e007f}' => CharReading::Gone,
        // Thirteen alphabets of formulas, each of 26 capitals and 26 small letters.
        '\u{1d400}'..='\u{1d6a3}' => u8::try_from((u32::from(c) - 0x1d400) % 52)
            .map_or(CharReading::Plain, |at| {
                CharReading::As(if at < 26 { b'A' + at } else { b'a' + at - 26 })
            }),
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => CharReading::Gone,
        // Full-width forms of ASCII.
        '\u{ff01}'..='\u{ff5e}' => {
            u8::try_from(u32::from(c) - 0xfee0).map_or(CharReading::Plain, CharReading::As)
        }
        c => digit(u32::from(c)),
    }
}

fn digit(code: u32) -> CharReading {
    let script = ZEROS.partition_point(|&zero| zero <= code);
    let zero = script.checked_sub(1).and_then(|at| ZEROS.get(at)).copied().unwrap_or(u32::MAX);
    match code.checked_sub(zero).and_then(|value| u8::try_from(value).ok()) {
        Some(value @ 0..=9) => CharReading::As(b'0' + value),
        _ => CharReading::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reads_otherwise_has_a_first_byte_that_says_so() {
        let mut bytes = [0; 4];
        for c in '\u{80}'..=char::MAX {
            let first = *c.encode_utf8(&mut bytes).as_bytes().first().unwrap();
            assert!(sort(c) == CharReading::Plain || may_change(first), "{c:?}");
        }
    }

    #[test]
    fn digits_of_all_scripts_are_digits() {
        for (text, read) in
            [("٠٩", "09"), ("۴", "4"), ("४", "4"), ("๑", "1"), ("４", "4"), ("𝟗", "9"), ("𝟎", "0")]
        {
            let ours: String = text
                .chars()
                .map(|c| match sort(c) {
                    CharReading::As(byte) => char::from(byte),
                    _ => c,
                })
                .collect();
            assert_eq!(ours, read);
        }
        assert!(ZEROS.is_sorted());
        assert!(
            ZEROS
                .iter()
                .all(|&zero| char::from_u32(zero).is_some() && digit(zero + 10) != CharReading::As(b':'))
        );
    }
}
