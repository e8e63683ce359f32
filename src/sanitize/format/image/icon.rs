//! [`written`]: an icon of Windows (ICO): a directory of pictures, each of which is a PNG or a bitmap without a header of its own.

use image::ImageFormat;

use crate::base::reader::ByteReader;
use crate::sanitize::format::image::{clean, png};
use crate::sanitize::{Rejection, Work};

/// How an icon begins.
const BEGINNING: &[u8] = b"\0\0\x01\0";

/// More pictures than any icon has.
const PICTURES: usize = 256;

/// How many bytes an entry of the directory has.
const ENTRY: usize = 16;

/// How many bytes the header of a bitmap has, at first and later: with masks, with one of how much is seen, with colours, and with
/// a profile of them.
const HEADERS: &[usize] = &[HEADER, 52, WITH_ALPHA, 108, 124];
const HEADER: usize = 40;
const WITH_ALPHA: usize = 56;

/// How pixels are packed that say which of their bits are of which colour.
const MASKED: u32 = 3;

/// A picture of an icon.
struct IconEntry<'f> {
    /// What the directory says of its sides and colours.
    said: [u8; 8],
    picture: &'f [u8],
}

/// Whether a file is one, by its directory.
pub(super) fn is_icon(file: &[u8]) -> bool {
    entries(file).is_some()
}

/// The icon, with nothing between its pictures and behind them.
///
/// # Errors
/// [`Rejection::Malformed`] if one of them cannot be shown; [`Rejection::Unsupported`] for bitmaps that nobody here reads;
/// [`Rejection::OverLimit`].
pub(super) fn written(file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let entries = entries(file).ok_or(Rejection::Malformed)?;
    let count = u16::try_from(entries.len()).map_err(|_| Rejection::OverLimit)?;
    let mut out = [BEGINNING, &count.to_le_bytes()].concat();
    let mut pictures: Vec<u8> = Vec::new();
    let begin = out.len().saturating_add(entries.len().saturating_mul(ENTRY));
    for entry in entries {
        let picture = if entry.picture.starts_with(png::SIGNATURE) {
            clean::written(entry.picture, ImageFormat::Png, work)?
        } else {
            bitmap(&entry)?
        };
        let place = begin.saturating_add(pictures.len());
        out.extend(entry.said);
        for number in [picture.len(), place] {
            out.extend(u32::try_from(number).map_err(|_| Rejection::OverLimit)?.to_le_bytes());
        }
        pictures.extend(picture);
    }
    out.extend(pictures);
    Ok(out)
}

/// The pictures; `None` if they are not all there, or lie in each other.
fn entries(file: &[u8]) -> Option<Vec<IconEntry<'_>>> {
    let mut rest = ByteReader::new(file.strip_prefix(BEGINNING)?);
    let count = usize::from(rest.u16_le()?);
    let mut left = file.len();
    (1..=PICTURES).contains(&count).then_some(())?;
    let mut entries = Vec::new();
    for _ in 0..count {
        let mut said: [u8; 8] = rest.array()?;
        // Nothing is to stand there.
        if let Some(reserved) = said.get_mut(3) {
            *reserved = 0;
        }
        let length = usize::try_from(rest.u32_le()?).ok()?;
        let place = usize::try_from(rest.u32_le()?).ok()?;
        left = left.checked_sub(length)?;
        let picture = file.get(place..place.checked_add(length)?).filter(|picture| !picture.is_empty())?;
        entries.push(IconEntry { said, picture });
    }
    Some(entries)
}

/// A bitmap, as far as its header says, with a header that says no more: colours to choose from, rows of pixels, and rows of bits
/// that say which are seen.
///
/// # Errors
/// [`Rejection::Malformed`] if it is not all there; [`Rejection::Unsupported`] for headers and pixels that nobody here reads.
fn bitmap(entry: &IconEntry<'_>) -> Result<Vec<u8>, Rejection> {
    let header = BitmapHeader::of(entry.picture).ok_or(Rejection::Malformed)?;
    if !header.is_known() {
        return Err(Rejection::Unsupported);
    }
    rows(entry, &header).ok_or(Rejection::Malformed)
}

/// What the header of a bitmap says ([MS-WMF] 2.2.2.3 to 2.2.2.5).
struct BitmapHeader {
    length: u32,
    width: u32,
    height: u32,
    bits: u32,
    packing: u32,
    colours: u32,
    /// Which bits are red, green and blue, and how much is seen, where that is said.
    masks: [u32; 4],
    /// How many bytes come before the colours.
    whole: usize,
}

impl BitmapHeader {
    fn of(picture: &[u8]) -> Option<Self> {
        let mut rest = ByteReader::new(picture);
        let [length, width, height, planes, packing] = longs(&mut rest)?;
        let [_size, _across, _down, colours, _important] = longs(&mut rest)?;
        let said = usize::try_from(length).ok()?;
        // Behind a header without masks they are no part of it.
        let masks = if packing == MASKED && said == HEADER { 12 } else { 0 };
        let [red, green, blue] = if packing == MASKED { longs(&mut rest)? } else { [0; 3] };
        let alpha = if packing == MASKED && said >= WITH_ALPHA { rest.u32_le()? } else { 0 };
        Some(Self {
            length,
            width,
            height,
            bits: planes >> 16,
            packing,
            colours,
            masks: [red, green, blue, alpha],
            whole: said.checked_add(masks)?,
        })
    }

    /// Whether it is read here: one that does not pack its pixels and, where it says which of their bits are of which colour
    /// (2.1.1.7), has them where others have them. In an icon these are of how much is seen, too.
    fn is_known(&self) -> bool {
        let plain = match (self.packing, self.bits) {
            (0, bits) => matches!(bits, 1 | 4 | 8 | 16 | 24 | 32),
            (MASKED, 16) => self.masks == [0x7c00, 0x3e0, 0x1f, 0],
            (MASKED, 32) => self.masks == [0xff_0000, 0xff00, 0xff, 0xff00_0000],
            _ => false,
        };
        plain && usize::try_from(self.length).is_ok_and(|length| HEADERS.contains(&length))
    }

    /// The same in the shortest header that says it.
    fn written(&self, colours: u32) -> Vec<u8> {
        let longs = [40, self.width, self.height, self.bits << 16 | 1, 0, 0, 0, 0, colours, 0];
        longs.into_iter().flat_map(u32::to_le_bytes).collect()
    }
}

fn longs<const N: usize>(rest: &mut ByteReader<'_>) -> Option<[u32; N]> {
    let mut longs = [0; N];
    for long in &mut longs {
        *long = rest.u32_le()?;
    }
    Some(longs)
}

/// Such a bitmap with its colours and rows; `None` if they are not all there.
fn rows(entry: &IconEntry<'_>, header: &BitmapHeader) -> Option<Vec<u8>> {
    let (width, height) = (usize::try_from(header.width).ok()?, usize::try_from(header.height).ok()?);
    // Of a size that an icon may have.
    ((1..=0xffff).contains(&width) && (1..=0x1_ffff).contains(&height)).then_some(())?;
    let said = usize::try_from(header.colours).ok()?;
    let colours = match (header.bits, said) {
        (1 | 4 | 8, 0) => 1_usize << header.bits,
        (1 | 4 | 8, colours) if colours > 1_usize << header.bits => return None,
        (_, colours) => colours,
    };
    let row = |bits: usize| width.saturating_mul(bits).div_ceil(32).saturating_mul(4);
    let (pixels, seen) = (row(usize::try_from(header.bits).ok()?), row(1));
    let begin = header.whole.checked_add(colours.checked_mul(4)?)?;
    let of_rows = |rows: usize| {
        let end = begin.saturating_add(pixels.saturating_mul(rows));
        let whole = entry.picture.get(begin..end.saturating_add(seen.saturating_mul(rows)));
        // Where pixels say themselves how much of them is seen, some leave the bits out.
        whole.or_else(|| entry.picture.get(begin..end).filter(|_| header.bits == 32))
    };
    // The height is that of both, but for some that say it as the directory does.
    let [_, said, ..] = entry.said;
    let single = if usize::from(said) == height { of_rows(height).zip(Some(height)) } else { None };
    let (rows, high) = single.or_else(|| of_rows(height / 2).zip(Some(height / 2)))?;
    let mut rows = rows.to_vec();
    let (shown, hidden) = rows.split_at_mut_checked(pixels.checked_mul(high)?)?;
    unpad(shown, pixels, width.saturating_mul(usize::try_from(header.bits).ok()?));
    unpad(hidden, seen, width);
    // Pixels that say their colours themselves choose from none.
    let chosen = if header.bits > 8 { &[][..] } else { entry.picture.get(header.whole..begin)? };
    let chosen = used_only(chosen, shown, &RowShape { length: pixels, width, bits: header.bits });
    let count = if header.bits > 8 { 0 } else { header.colours };
    Some([header.written(count), chosen, rows].concat())
}

/// Makes zeros of the bytes that only fill rows up, each of which has so many bytes, and bits of pixels.
fn unpad(rows: &mut [u8], length: usize, bits: usize) {
    for row in rows.chunks_mut(length.max(1)) {
        row.iter_mut().skip(bits.div_ceil(8)).for_each(|byte| *byte = 0);
    }
}

/// What a row of pixels is like.
struct RowShape {
    /// How many bytes it has.
    length: usize,
    /// How many pixels.
    width: usize,
    /// How many bits a pixel has.
    bits: u32,
}

/// The colours that pixels choose, and zeros for others, and where there is no colour.
fn used_only(colours: &[u8], rows: &[u8], shape: &RowShape) -> Vec<u8> {
    let RowShape { length, width, bits } = *shape;
    let bits = bits.clamp(1, 8);
    let mask = u8::MAX >> (8 - bits);
    let mut used = [false; 256];
    for row in rows.chunks(length.max(1)).filter(|_| !colours.is_empty()) {
        let numbers =
            row.iter().flat_map(move |byte| (0..8 / bits).map(move |n| *byte >> (8 - bits * (n + 1)) & mask));
        for number in numbers.take(width) {
            if let Some(used) = used.get_mut(usize::from(number)) {
                *used = true;
            }
        }
    }
    let mut colours = colours.to_vec();
    for (colour, used) in colours.chunks_mut(4).zip(used) {
        let kept = if used { 3 } else { 0 };
        colour.iter_mut().skip(kept).for_each(|byte| *byte = 0);
    }
    colours
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use image::DynamicImage;

    use super::*;
    use crate::sanitize::bench::Bench;

    /// A bitmap of two colours, with a side of four pixels.
    fn dots() -> Vec<u8> {
        let header = [40_u32, 4, 8, 0x1_0001, 0, 0, 0, 0, 0, 0].map(u32::to_le_bytes).concat();
        [header, [7, 7, 7, 0].repeat(2), [0xa0, 0, 0, 0].repeat(4), vec![0; 16]].concat()
    }

    fn png() -> Vec<u8> {
        let mut out = Cursor::new(Vec::new());
        DynamicImage::new_rgba8(16, 16).write_to(&mut out, ImageFormat::Png).expect("a picture");
        out.into_inner()
    }

    /// An icon of these pictures, with something before each of them.
    fn icon(pictures: &[Vec<u8>], gap: &[u8]) -> Vec<u8> {
        let mut out = [BEGINNING, &(pictures.len() as u16).to_le_bytes()].concat();
        let mut place = out.len() + pictures.len() * ENTRY;
        for picture in pictures {
            place += gap.len();
            out.extend([4, 4, 2, 0, 1, 0, 1, 0]);
            out.extend((picture.len() as u32).to_le_bytes());
            out.extend((place as u32).to_le_bytes());
            place += picture.len();
        }
        pictures.iter().for_each(|picture| out.extend([gap, picture].concat()));
        out
    }

    fn clean(file: &[u8]) -> Result<Vec<u8>, Rejection> {
        written(file, &mut Bench::disarming().work())
    }

    #[test]
    fn an_icon_is_its_pictures() {
        let want = icon(&[dots(), png()], b"");
        let trailed = [[dots(), b"SECRET".to_vec()].concat(), [png(), b"SECRET".to_vec()].concat()];
        let mut file = [icon(&trailed, b"SECRET"), b"SECRET".to_vec()].concat();
        file[9] = 0x53;
        assert_eq!(clean(&file), Ok(want.clone()));
        assert_eq!(clean(&want), Ok(want));
    }

    #[test]
    fn what_is_no_icon_is_none() {
        let file = icon(&[dots()], b"");
        for cut in [
            &file[..file.len() - 1],
            &file[..20],
            b"\0\0\x01\0\0\0",
            b"\0\0\x01\0\x01\0SECRETSECRETSECRETSECRET",
        ] {
            assert_eq!(clean(cut), Err(Rejection::Malformed));
        }
        assert!(is_icon(&file) && !is_icon(b"\0\0\x01\0\x01\0") && !is_icon(b"\0\0\x01\xba\0\0"));
        // One picture for many entries.
        let pictures = vec![dots(); 100];
        let mut many = icon(&pictures, b"");
        (0..100).for_each(|n| many[n * ENTRY + 18..][..4].copy_from_slice(&1606_u32.to_le_bytes()));
        assert!(is_icon(&many));
        many.truncate(1606 + dots().len());
        assert_eq!(clean(&many), Err(Rejection::Malformed));
    }

    #[test]
    fn a_bitmap_ends_where_its_header_says() {
        let said = [4, 4, 0, 0, 1, 0, 32, 0];
        let header =
            |height: u32| [40_u32, 4, height, 0x20_0001, 0, 0, 0, 0, 0, 0].map(u32::to_le_bytes).concat();
        let pixels = vec![9_u8; 64];
        for (height, more, want) in [(8, 16, 120), (8, 20, 120), (8, 0, 104), (4, 16, 120)] {
            let picture = [header(height), pixels.clone(), vec![0; more]].concat();
            let found = bitmap(&IconEntry { said, picture: &picture }).map(|clean| clean.len());
            assert_eq!(found, Ok(want), "{height} and {more}");
        }
        let packed = [40_u32, 4, 8, 0x20_0001, 4, 0, 0, 0, 0, 0].map(u32::to_le_bytes).concat();
        let picture = [packed, vec![0; 500]].concat();
        assert_eq!(bitmap(&IconEntry { said, picture: &picture }), Err(Rejection::Unsupported));
        let whole = [header(8), pixels].concat();
        for end in 0..whole.len() {
            assert_eq!(
                bitmap(&IconEntry { said, picture: &whole[..end] }),
                Err(Rejection::Malformed),
                "{end}"
            );
        }
    }

    #[test]
    fn a_header_says_no_more_than_the_pixels_need() {
        let said = [4, 4, 0, 0, 1, 0, 32, 0];
        // A header of so many bytes with masks, and words where numbers of no meaning are.
        let header = |length: u32, bits: u32, packing: u32, colours: u32, masks: [u32; 4]| {
            let begin = [length, 4, 8, bits << 16 | 1, packing].map(u32::to_le_bytes).concat();
            let masks = masks.map(u32::to_le_bytes).concat();
            let more = vec![b'S'; 200];
            let whole = [&begin[..], b"SECRETSECRET", &colours.to_le_bytes(), b"SECR", &masks, &more];
            whole.concat()[..length as usize].to_vec()
        };
        let standard = [0xff_0000, 0xff00, 0xff, 0xff00_0000];
        let seen = [9_u8, 0, 0, 0].repeat(4);
        let pixels = [vec![9; 64], seen.clone()].concat();
        let dots = [[7, 7, 7, 0].repeat(2), [0xa0, 0, 0, 0].repeat(4), vec![0; 16]].concat();
        let plain = |bits: u32, colours: u32, rest: &[u8]| {
            let header =
                [40, 4, 8, bits << 16 | 1, 0, 0, 0, 0, colours, 0_u32].map(u32::to_le_bytes).concat();
            [header.as_slice(), rest].concat()
        };
        let few = [vec![9; 32], seen].concat();
        let behind = [0x7c00_u32, 0x3e0, 0x1f].map(u32::to_le_bytes).concat();
        for (file, want) in [
            ([header(124, 32, 3, 0, standard), pixels.clone()].concat(), plain(32, 0, &pixels)),
            ([header(124, 32, 0, 0, [0; 4]), pixels.clone()].concat(), plain(32, 0, &pixels)),
            ([header(108, 1, 0, 0, [0; 4]), dots.clone()].concat(), plain(1, 0, &dots)),
            ([header(40, 1, 0, 2, [0; 4]), dots.clone()].concat(), plain(1, 2, &dots)),
            // With masks behind the header, and colours from which nothing chooses.
            ([header(40, 16, 3, 0, [0; 4]), behind, few.clone()].concat(), plain(16, 0, &few)),
            (
                [header(40, 32, 0, 2, [0; 4]), b"SECRETSE".to_vec(), pixels.clone()].concat(),
                plain(32, 0, &pixels),
            ),
        ] {
            let clean = bitmap(&IconEntry { said, picture: &file });
            assert_eq!(clean, Ok(want.clone()), "{file:?}");
            assert_eq!(bitmap(&IconEntry { said, picture: &want }), Ok(want.clone()));
        }
        let swapped = [0xff, 0xff00, 0xff_0000, 0xff00_0000];
        for header in [
            header(124, 32, 3, 0, swapped),
            // Nothing says how much is seen.
            header(124, 32, 3, 0, [0xff_0000, 0xff00, 0xff, 0]),
            header(124, 16, 3, 0, [0xf800, 0x7e0, 0x1f, 0]),
            header(64, 32, 0, 0, [0; 4]),
            header(124, 2, 0, 0, [0; 4]),
        ] {
            let file = [header, pixels.clone()].concat();
            assert_eq!(bitmap(&IconEntry { said, picture: &file }), Err(Rejection::Unsupported));
        }
    }

    #[test]
    fn a_bitmap_has_the_colours_that_it_shows() {
        let said = [4, 4, 0, 0, 1, 0, 8, 0];
        let header = |bits: u32, colours: u32| {
            [40, 4, 8, bits << 16 | 1, 0, 0, 0, 0, colours, 0_u32].map(u32::to_le_bytes).concat()
        };
        let mask = |fill: &[u8]| [&[0xf0][..], fill].concat().repeat(4);
        for (bits, told, colours, row, fill, want) in [
            (8, &b"abcSdefEghiC"[..], 3, &b"\0\x02\0\0"[..], &b""[..], &b"abc\0\0\0\0\0ghi\0"[..]),
            (4, b"abcSdefEghiCSECR", 4, b"\x01\x13", b"SE", b"abc\0def\0\0\0\0\0SEC\0"),
            (1, b"abcSSECR", 2, b"\x0f", b"SEC", b"abc\0\0\0\0\0"),
        ] {
            let file = [header(bits, colours), told.to_vec(), [row, fill].concat().repeat(4), mask(b"SEC")];
            let zeros = vec![0; fill.len()];
            let rows = [row, &zeros[..]].concat().repeat(4);
            let clean = [header(bits, colours), want.to_vec(), rows, mask(b"\0\0\0")].concat();
            let file = file.concat();
            assert_eq!(bitmap(&IconEntry { said, picture: &file }), Ok(clean.clone()), "{bits}");
            assert_eq!(bitmap(&IconEntry { said, picture: &clean }), Ok(clean.clone()), "{bits}");
        }
    }
}
