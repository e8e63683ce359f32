//! [`rows`]: rows of dots as faxes pack them (ITU-T T.4 and T.6; TIFF 6.0, sections 10 and 11).

use hayro_ccitt::{DecodeSettings, Decoder, DecoderContext, EncodingMode};

/// How rows are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaxCoding {
    /// Run by run, each row from a byte on.
    Bytewise,
    /// Run by run, with an end of each row (Group 3).
    Group3,
    /// Some rows by how they differ from the one before (Group 3, two-dimensional).
    Group3Differences,
    /// All of them so (Group 4).
    Group4,
}

/// Dots of so many rows, eight in a byte, each row from a byte on; the black ones are 1. `None` if they cannot be read: rows
/// that are left out at the end are white.
pub(super) fn rows(packed: &[u8], coding: FaxCoding, width: u32, rows: u32) -> Option<Vec<u8>> {
    let settings = DecodeSettings {
        columns: width,
        rows,
        end_of_block: coding != FaxCoding::Bytewise,
        end_of_line: false,
        rows_are_byte_aligned: coding == FaxCoding::Bytewise,
        encoding: match coding {
            FaxCoding::Bytewise | FaxCoding::Group3 => EncodingMode::Group3_1D,
            FaxCoding::Group3Differences => EncodingMode::Group3_2D,
            FaxCoding::Group4 => EncodingMode::Group4,
        },
        strict: false,
    };
    let row = (width as usize).div_ceil(8);
    let length = row.checked_mul(rows as usize)?;
    let mut made = FaxRows { dots: Vec::with_capacity(length), width: width as usize, row, length };
    hayro_ccitt::decode(packed, &mut made, &mut DecoderContext::new(settings)).ok()?;
    let mut dots = made.dots;
    if dots.is_empty() {
        return None;
    }
    dots.resize(length, 0);
    Some(dots)
}

/// Rows in the making.
struct FaxRows {
    dots: Vec<u8>,
    /// How many dots a row has, and how many bytes.
    width: usize,
    row: usize,
    /// How many bytes all of them have.
    length: usize,
}

impl Decoder for FaxRows {
    fn push_row(&mut self, changes: &[u32]) {
        let start = self.dots.len();
        if start >= self.length {
            return;
        }
        self.dots.resize(start.saturating_add(self.row), 0);
        let row = self.dots.get_mut(start..).unwrap_or_default();
        for run in changes.chunks(2) {
            let from = run.first().map_or(self.width, |from| *from as usize);
            let to = run.get(1).map_or(self.width, |to| *to as usize);
            blacken(row, from, to.min(self.width));
        }
    }
}

/// Sets the dots of a row from one to before another.
fn blacken(row: &mut [u8], from: usize, to: usize) {
    let first = from / 8;
    let Some(bytes) = row.get_mut(first..to.div_ceil(8)) else { return };
    for (n, byte) in bytes.iter_mut().enumerate() {
        let start = first.saturating_add(n).saturating_mul(8);
        let before = from.saturating_sub(start).min(7);
        let behind = start.saturating_add(8).saturating_sub(to).min(7);
        *byte |= (0xff_u8 >> before) & (0xff_u8 << behind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bits, which are written from left to right.
    fn bits(text: &str) -> Vec<u8> {
        let bits: Vec<u8> = text.bytes().filter(|b| matches!(b, b'0' | b'1')).map(|b| b - b'0').collect();
        bits.chunks(8)
            .map(|byte| byte.iter().enumerate().fold(0, |all, (n, bit)| all | bit << (7 - n)))
            .collect()
    }

    const END: &str = "000000000001";

    #[test]
    fn rows_are_read_as_faxes_pack_them() {
        // Four white, three black, two white; and nine white.
        let (first, second) = ("1011 10 0111", "10100");
        let want = vec![0b0000_1110, 0, 0, 0];
        let ends = format!("{END}1").repeat(6);
        for (coding, packed) in [
            (FaxCoding::Group3, format!("{END}{first}{END}{second}{}", END.repeat(6))),
            (FaxCoding::Group3, format!("{first}{second}")),
            (FaxCoding::Group3Differences, format!("{END}1{first}{END}1{second}{ends}")),
            // The second row passes the black dots of the first.
            (FaxCoding::Group3Differences, format!("{END}1{first}{END}0 0001 1{ends}")),
            (FaxCoding::Bytewise, format!("{first}000000 {second}000")),
            (FaxCoding::Group4, format!("001 1011 10 1 0001 1{END}{END}")),
        ] {
            assert_eq!(rows(&bits(&packed), coding, 9, 2), Some(want.clone()), "{coding:?} {packed}");
        }
    }

    #[test]
    fn rows_that_are_left_out_are_white_and_others_are_broken() {
        let first = bits(&format!("001 1011 10 1 {END}{END}"));
        assert_eq!(rows(&first, FaxCoding::Group4, 9, 3), Some(vec![0b0000_1110, 0, 0, 0, 0, 0]));
        assert_eq!(rows(&bits(&END.repeat(2)), FaxCoding::Group4, 9, 3), None);
        for coding in [FaxCoding::Group4, FaxCoding::Bytewise, FaxCoding::Group3] {
            assert_eq!(rows(&[], coding, 9, 3), None, "{coding:?}");
            assert_eq!(rows(&[0; 40], coding, 9, 3), None, "{coding:?}");
        }
    }

    #[test]
    fn runs_end_where_they_end() {
        for (from, to, want) in
            [(0, 0, [0, 0]), (3, 3, [0, 0]), (0, 16, [255, 255]), (7, 9, [1, 128]), (8, 8, [0, 0])]
        {
            let mut row = [0; 2];
            blacken(&mut row, from, to);
            assert_eq!(row, want, "{from} to {to}");
        }
        blacken(&mut [0; 2], 9, 3);
        blacken(&mut [0; 2], 3, 30);
    }
}
