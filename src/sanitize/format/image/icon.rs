//! [`written`]: an icon of Windows (ICO): a directory of pictures, each of which is a PNG or a bitmap without a header of its own.

use image::ImageFormat;

use crate::base::reader::ByteReader;
use crate::sanitize::format::image::clean;
use crate::sanitize::{Rejection, Work};

/// How an icon begins, and a PNG.
const BEGINNING: &[u8] = b"\0\0\x01\0";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// More pictures than any icon has.
const PICTURES: usize = 256;

/// How many bytes an entry of the directory has, and the header of a bitmap.
const ENTRY: usize = 16;
const HEADER: usize = 40;

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
/// [`Rejection::Malformed`] if one of them cannot be shown; [`Rejection::OverLimit`].
pub(super) fn written(file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let entries = entries(file).ok_or(Rejection::Malformed)?;
    let count = u16::try_from(entries.len()).map_err(|_| Rejection::OverLimit)?;
    let mut out = [BEGINNING, &count.to_le_bytes()].concat();
    let mut pictures: Vec<u8> = Vec::new();
    let begin = out.len().saturating_add(entries.len().saturating_mul(ENTRY));
    for entry in entries {
        let picture = if entry.picture.starts_with(PNG) {
            clean::written(entry.picture, ImageFormat::Png, work)?
        } else {
            bitmap(&entry).ok_or(Rejection::Malformed)?.to_vec()
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
    let count = usize::from(u16::from_le_bytes(rest.array()?));
    let mut left = file.len();
    (1..=PICTURES).contains(&count).then_some(())?;
    let mut entries = Vec::new();
    for _ in 0..count {
        let mut said: [u8; 8] = rest.array()?;
        // Nothing is to stand there.
        if let Some(reserved) = said.get_mut(3) {
            *reserved = 0;
        }
        let length = usize::try_from(u32::from_le_bytes(rest.array()?)).ok()?;
        let place = usize::try_from(u32::from_le_bytes(rest.array()?)).ok()?;
        left = left.checked_sub(length)?;
        let picture = file.get(place..place.checked_add(length)?).filter(|picture| !picture.is_empty())?;
        entries.push(IconEntry { said, picture });
    }
    Some(entries)
}

/// A bitmap, as far as its header says: colours to choose from, rows of pixels, and rows of bits that say which are seen.
fn bitmap<'f>(entry: &IconEntry<'f>) -> Option<&'f [u8]> {
    let mut rest = ByteReader::new(entry.picture);
    let mut long = || rest.array().map(u32::from_le_bytes);
    let (header, width, height) = (long()?, long()?, long()?);
    let (planes, packing) = (long()?, long()?);
    let (_length, _across, _down, colours) = (long()?, long()?, long()?, long()?);
    let (bits, width, height) = (planes >> 16, usize::try_from(width).ok()?, usize::try_from(height).ok()?);
    // Unpacked, and of a size that an icon may have.
    let sound = (1..=0xffff).contains(&width) && (1..=0x1_ffff).contains(&height);
    let known = usize::try_from(header) == Ok(HEADER) && packing == 0;
    if !sound || !known || !matches!(bits, 1 | 4 | 8 | 16 | 24 | 32) {
        return None;
    }
    let colours = match (bits, usize::try_from(colours).ok()?) {
        (1 | 4 | 8, 0) => 1_usize << bits,
        (1 | 4 | 8, colours) if colours > 1_usize << bits => return None,
        (_, colours) => colours.min(256),
    };
    let row = |bits: usize| width.saturating_mul(bits).div_ceil(32).saturating_mul(4);
    let (pixels, seen) = (row(usize::try_from(bits).ok()?), row(1));
    let begin = HEADER.saturating_add(colours.saturating_mul(4));
    let of_rows = |rows: usize| {
        let end = begin.saturating_add(pixels.saturating_mul(rows));
        let whole = entry.picture.get(..end.saturating_add(seen.saturating_mul(rows)));
        // Where pixels say themselves how much of them is seen, some leave the bits out.
        whole.or_else(|| entry.picture.get(..end).filter(|_| bits == 32))
    };
    // The height is that of both, but for some that say it as the directory does.
    let [_, said, ..] = entry.said;
    let single = if usize::from(said) == height { of_rows(height) } else { None };
    single.or_else(|| of_rows(height / 2))
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
        [header, vec![7; 8], vec![0xa0; 16], vec![0; 16]].concat()
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
            let found = bitmap(&IconEntry { said, picture: &picture }).map(<[u8]>::len);
            assert_eq!(found, Some(want), "{height} and {more}");
        }
        let packed = [40_u32, 4, 8, 0x20_0001, 4, 0, 0, 0, 0, 0].map(u32::to_le_bytes).concat();
        assert_eq!(bitmap(&IconEntry { said, picture: &[packed, vec![0; 500]].concat() }), None);
    }
}
