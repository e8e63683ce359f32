//! [`PngHeader`]: what the header of a PNG says of its pixels (W3C PNG 3rd edition, 11.2.1), what other chunks may say by that,
//! and the rows that pixels unfold to (sections 7 and 9).

use crate::base::reader::ByteReader;

/// Kinds of colours: chosen from a palette, and others by how many samples a pixel has.
const GREY: u8 = 0;
const RGB: u8 = 2;
const PALETTE: u8 = 3;
const GREY_ALPHA: u8 = 4;
const RGB_ALPHA: u8 = 6;

/// How many colours a palette has at most.
pub(super) const COLOURS: usize = 256;

/// Which pixels each pass of an interlaced picture has (8.1): from which column and row on, and how far from each other.
const PASSES: &[[usize; 4]] =
    &[[0, 0, 8, 8], [4, 0, 8, 8], [0, 4, 4, 8], [2, 0, 4, 4], [0, 2, 2, 4], [1, 0, 2, 2], [0, 1, 1, 2]];

/// The displays that pictures are mastered on (11.3.2.7): those of ITU-R BT.709, of DCI-P3 and of BT.2020, under daylight.
const DISPLAYS: &[[u16; 8]] = &[
    [32_000, 16_500, 15_000, 30_000, 7_500, 3_000, 15_635, 16_450],
    [34_000, 16_000, 13_250, 34_500, 7_500, 3_000, 15_635, 16_450],
    [35_400, 14_600, 8_500, 39_850, 6_550, 2_300, 15_635, 16_450],
];

/// The largest numbers that chunks say: of a gamma and of chromaticities (hundred thousand for each), of dots a metre, of
/// brightness (ten thousand for each candela a square metre), and of code points for colours.
const GAMMA: u32 = 1_000_000;
const CHROMATICITY: u32 = 110_000;
const DOTS: u32 = 1 << 20;
const BRIGHTNESS: u32 = 100_000_000;
const CODE_POINT: u8 = 31;

/// The columns and rows of a picture or a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PngSides {
    pub(super) width: usize,
    pub(super) height: usize,
}

impl PngSides {
    /// As they stand one behind the other.
    pub(super) fn of(rest: &mut ByteReader<'_>) -> Option<Self> {
        let (width, height) = (rest.u32()?, rest.u32()?);
        Some(Self { width: usize::try_from(width).ok()?, height: usize::try_from(height).ok()? })
    }
}

/// What the header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PngHeader {
    pub(super) sides: PngSides,
    depth: usize,
    kind: u8,
    interlaced: bool,
    /// How many colours the palette has.
    entries: usize,
}

impl PngHeader {
    /// By the header's chunk; `None` for what no PNG has.
    pub(super) fn of(data: &[u8]) -> Option<Self> {
        let mut rest = ByteReader::new(data);
        let sides = PngSides::of(&mut rest)?;
        let [depth, kind, _compression, _filter, interlaced] = rest.array()?;
        let known = matches!(depth, 1 | 2 | 4 | 8 | 16)
            && matches!(kind, GREY | RGB | PALETTE | GREY_ALPHA | RGB_ALPHA)
            && !(kind == PALETTE && depth > 8);
        let depth = usize::from(depth);
        known.then_some(Self { sides, depth, kind, interlaced: interlaced != 0, entries: 0 })
    }

    /// Whether pixels choose from a palette.
    pub(super) fn has_palette(&self) -> bool {
        self.kind == PALETTE
    }

    /// The palette of such a picture, as far as pixels can choose from it; `None` for others.
    pub(super) fn palette<'f>(&mut self, data: &'f [u8]) -> Option<&'f [u8]> {
        self.has_palette().then_some(())?;
        self.entries = (data.len() / 3).min(1 << self.depth);
        data.get(..self.entries.saturating_mul(3))
    }

    /// Whether a chunk besides palettes and pixels says what it may by the header: of a length for its kind of colours, and with
    /// numbers that mean something.
    pub(super) fn allows(&self, name: &[u8], data: &[u8]) -> bool {
        let samples = self.samples();
        let mut rest = ByteReader::new(data);
        let mut numbers =
            |count: usize, most: u32| (0..count).all(|_| rest.u32().is_some_and(|number| number <= most));
        match name {
            b"tRNS" => match self.kind {
                GREY | RGB => data.len() == samples.saturating_mul(2),
                PALETTE => (1..=self.entries).contains(&data.len()),
                _ => false,
            },
            b"bKGD" => match self.kind {
                PALETTE => data.len() == 1,
                GREY | GREY_ALPHA => data.len() == 2,
                _ => data.len() == 6,
            },
            b"sBIT" => {
                let colours = if self.has_palette() { 3 } else { samples };
                data.len() == colours && data.iter().all(|bits| (1..=16).contains(bits))
            }
            b"sRGB" => matches!(data, [0..=3]),
            b"cICP" => data.len() == 4 && data.iter().all(|code| *code <= CODE_POINT),
            b"gAMA" => data.len() == 4 && numbers(1, GAMMA),
            b"cHRM" => data.len() == 32 && numbers(8, CHROMATICITY),
            b"pHYs" => data.len() == 9 && numbers(2, DOTS) && data.last().is_some_and(|unit| *unit <= 1),
            b"cLLI" => data.len() == 8 && numbers(2, BRIGHTNESS),
            b"mDCV" => is_display(data),
            b"acTL" => data.len() == 8,
            b"fcTL" => data.len() == 26,
            _ => true,
        }
    }

    /// How many samples a pixel has.
    fn samples(&self) -> usize {
        match self.kind {
            RGB => 3,
            GREY_ALPHA => 2,
            RGB_ALPHA => 4,
            _ => 1,
        }
    }

    /// The sides of each pass over a picture or a frame, those without pixels aside.
    fn passes(&self, sides: PngSides) -> Vec<PngSides> {
        if !self.interlaced {
            return if sides.width > 0 && sides.height > 0 { vec![sides] } else { Vec::new() };
        }
        let of = |[column, row, right, down]: &[usize; 4]| PngSides {
            width: sides.width.saturating_sub(*column).div_ceil(*right),
            height: sides.height.saturating_sub(*row).div_ceil(*down),
        };
        PASSES.iter().map(of).filter(|pass| pass.width > 0 && pass.height > 0).collect()
    }

    /// How many bytes a row has, without the one before it.
    fn row(&self, width: usize) -> usize {
        width.saturating_mul(self.samples()).saturating_mul(self.depth).div_ceil(8)
    }

    /// To how many bytes the rows of a picture or a frame unfold.
    pub(super) fn length(&self, sides: PngSides) -> usize {
        let of = |pass: &PngSides| self.row(pass.width).saturating_add(1).saturating_mul(pass.height);
        self.passes(sides).iter().map(of).fold(0, usize::saturating_add)
    }

    /// Marks the colours of a palette that rows choose.
    pub(super) fn mark(&self, rows: &[u8], sides: PngSides, used: &mut [bool; COLOURS]) {
        let mut rest = ByteReader::new(rows);
        for pass in self.passes(sides) {
            let mut above = vec![0; self.row(pass.width)];
            for _ in 0..pass.height {
                let Some(filter) = rest.byte() else { return };
                let Some(row) = rest.take(above.len()) else { return };
                above = unfiltered(filter, row, &above);
                self.choose(&above, pass.width, used);
            }
        }
    }

    /// Marks the colours that a row chooses.
    fn choose(&self, row: &[u8], width: usize, used: &mut [bool; COLOURS]) {
        let depth = self.depth.clamp(1, 8);
        let mask = u8::MAX >> (8 - depth);
        let numbers = row
            .iter()
            .flat_map(|byte| (0..8 / depth).map(move |n| usize::from(*byte >> (8 - depth * (n + 1)) & mask)));
        for number in numbers.take(width) {
            if let Some(used) = used.get_mut(number) {
                *used = true;
            }
        }
    }
}

/// Whether a chunk tells of a known display, and how bright that is.
fn is_display(data: &[u8]) -> bool {
    let mut rest = ByteReader::new(data);
    let mut colours = [0; 8];
    for colour in &mut colours {
        let Some(number) = rest.u16() else { return false };
        *colour = number;
    }
    let brightness: Option<[u32; 2]> = rest.u32().zip(rest.u32()).map(|(most, least)| [most, least]);
    let known = brightness.is_some_and(|numbers| numbers.iter().all(|number| *number <= BRIGHTNESS));
    known && rest.is_empty() && DISPLAYS.contains(&colours)
}

/// A row of pixels of a byte at most, by how it was filtered and the row above it (9.2).
fn unfiltered(filter: u8, row: &[u8], above: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(row.len());
    let (mut left, mut corner) = (0_u8, 0_u8);
    for (byte, above) in row.iter().zip(above) {
        let expected = match filter {
            1 => left,
            2 => *above,
            3 => left.midpoint(*above),
            4 => paeth(left, *above, corner),
            _ => 0,
        };
        left = byte.wrapping_add(expected);
        corner = *above;
        out.push(left);
    }
    out
}

/// The one of three bytes that is nearest to what they lead to (9.4).
fn paeth(left: u8, above: u8, corner: u8) -> u8 {
    let [a, b, c] = [left, above, corner].map(i16::from);
    let estimate = a + b - c;
    let (pa, pb, pc) = ((estimate - a).abs(), (estimate - b).abs(), (estimate - c).abs());
    if pa <= pb && pa <= pc {
        left
    } else if pb <= pc {
        above
    } else {
        corner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(sides: [u8; 2], depth: u8, kind: u8, interlaced: u8) -> PngHeader {
        let [width, height] = sides;
        let data = [0, 0, 0, width, 0, 0, 0, height, depth, kind, 0, 0, interlaced];
        PngHeader::of(&data).expect("a header")
    }

    #[test]
    fn rows_have_a_length() {
        for (sides, depth, kind, interlaced, want) in [
            ([3, 2], 8, RGB, 0, 20),
            ([9, 2], 1, GREY, 0, 6),
            ([3, 1], 16, RGB_ALPHA, 0, 25),
            ([5, 1], 4, PALETTE, 0, 4),
            // Four passes over the one row: of a pixel each, but for two in the last.
            ([5, 1], 8, GREY, 1, 9),
            ([1, 1], 8, GREY_ALPHA, 1, 3),
        ] {
            let header = header(sides, depth, kind, interlaced);
            assert_eq!(header.length(header.sides), want, "{header:?}");
        }
        assert!([[3, 8], [8, 5], [16, 3]].iter().all(|[depth, kind]| {
            PngHeader::of(&[0, 0, 0, 1, 0, 0, 0, 1, *depth, *kind, 0, 0, 0]).is_none()
        }));
    }

    #[test]
    fn colours_are_chosen_through_filters() {
        let marked = |header: PngHeader, rows: &[u8]| -> Vec<usize> {
            let mut used = [false; COLOURS];
            header.mark(rows, header.sides, &mut used);
            (0..COLOURS).filter(|number| used[*number]).collect()
        };
        // Each filter: nothing, the one to the left, the one above, their mean, and the nearest.
        let rows = [0, 10, 20, 1, 5, 1, 2, 1, 1, 3, 100, 0, 4, 1, 1];
        assert_eq!(marked(header([2, 5], 8, PALETTE, 0), &rows), [5, 6, 7, 10, 20, 55, 56, 103, 104]);
        assert_eq!(marked(header([3, 1], 2, PALETTE, 0), &[0, 0b1100_0111]), [0, 1, 3]);
        assert_eq!(marked(header([9, 1], 1, PALETTE, 0), &[0, 0, 0]), [0]);
        assert_eq!(marked(header([2, 1], 8, PALETTE, 1), &[0, 7, 0, 9]), [7, 9]);
        // Rows that break off.
        assert_eq!(marked(header([2, 2], 8, PALETTE, 0), &[0, 7, 8, 0, 9]), [7, 8]);
    }

    #[test]
    fn chunks_say_what_they_may() {
        let (grey, rgb) = (header([1, 1], 8, GREY, 0), header([1, 1], 8, RGB, 0));
        let mut chosen = header([1, 1], 1, PALETTE, 0);
        assert_eq!(chosen.palette(b"abcdefSECRET"), Some(&b"abcdef"[..]));
        assert_eq!(header([1, 1], 8, RGB, 0).palette(b"SECRET"), None);
        let standard = [31_270_u32, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000]
            .map(u32::to_be_bytes)
            .concat();
        let display: Vec<u8> = DISPLAYS[2].iter().flat_map(|number| number.to_be_bytes()).collect();
        let display = [&display[..], &10_000_000_u32.to_be_bytes(), &[0, 0, 0, 1]].concat();
        for (header, name, data, want) in [
            (grey, b"tRNS", &b"\0\x05"[..], true),
            (rgb, b"tRNS", b"\0\x05\0\x05\0\x05", true),
            (chosen, b"tRNS", b"\0\xff", true),
            (chosen, b"tRNS", b"SECRET", false),
            (rgb, b"tRNS", b"SECRETSECRET", false),
            (rgb, b"bKGD", b"\0\x05\0\x05\0\x05", true),
            (grey, b"bKGD", b"SECRET", false),
            (rgb, b"sBIT", b"\x08\x08\x08", true),
            (rgb, b"sBIT", b"SEC", false),
            (rgb, b"gAMA", b"\0\0\xb1\x8f", true),
            (rgb, b"gAMA", b"SECR", false),
            (rgb, b"cHRM", &standard[..], true),
            (rgb, b"cHRM", b"SECRETSECRETSECRETSECRETSECRETSE", false),
            (rgb, b"mDCV", &display[..], true),
            (rgb, b"mDCV", b"SECRETSECRETSECRETSECRET", false),
            (rgb, b"pHYs", b"\0\0\x0b\x13\0\0\x0b\x13\x01", true),
            (rgb, b"pHYs", b"SECRETSEC", false),
            (rgb, b"cICP", b"\x09\x10\0\x01", true),
            (rgb, b"cICP", b"SECR", false),
            (rgb, b"cLLI", b"\0\x98\x96\x80\0\x0f\x42\x40", true),
            (rgb, b"cLLI", b"SECRETSE", false),
            (rgb, b"sRGB", b"\0", true),
            (rgb, b"sRGB", b"S", false),
        ] {
            assert_eq!(header.allows(name, data), want, "{} {data:?}", String::from_utf8_lossy(name));
        }
    }
}
