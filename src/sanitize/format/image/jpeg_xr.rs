//! [`written`]: a picture in JPEG XR (ITU-T T.832, annex A): a directory such as TIFF has, and the picture that it leads to. What
//! is written of it is only how the picture is read.

use crate::base::reader::ByteReader;
use crate::sanitize::format::image::directory::{TiffDirectory, TiffNumbers};

/// How a file begins; a version follows.
const BEGINNING: &[u8] = b"II\xbc";

/// How a picture in it begins.
const PICTURE: &[u8] = b"WMPHOTO\0";

/// The tag of the format of pixels, and how many bytes that has.
const FORMAT: u16 = 0xbc01;
const FORMAT_LENGTH: usize = 16;

/// How all formats of pixels begin (annex A, table A.6); a number follows.
const FORMATS: &[u8] = b"\x24\xc3\xdd\x6f\x03\x4e\xfe\x4b\xb1\x85\x3d\x77\x76\x8d\xc9";

/// Tags of numbers that say how the picture is read: how it is turned, what kind it is, its sides, and which bands are there.
const NUMBERS: &[u16] = &[0xbc02, 0xbc04, 0xbc80, 0xbc81, 0xbcc4, 0xbcc5];

/// Where the picture is and how long it is; where that is which says how much of it is seen.
const PLACES: &[[u16; 2]] = &[[0xbcc0, 0xbcc1], [0xbcc2, 0xbcc3]];

/// Types of values.
const BYTE: u16 = 1;
const LONG: u16 = 4;

/// Whether a file begins as one.
pub(super) fn is_jpeg_xr(file: &[u8]) -> bool {
    file.starts_with(BEGINNING) && matches!(file.get(3), Some(0 | 1))
}

/// The picture; `None` if it is not all there.
pub(super) fn written(file: &[u8]) -> Option<Vec<u8>> {
    let place = ByteReader::new(file.get(4..)?).u32_le()?;
    let directory = TiffDirectory::of(TiffNumbers::of(file), u64::from(place))?;
    let format = directory
        .bytes(FORMAT)
        .filter(|format| format.len() == FORMAT_LENGTH && format.starts_with(FORMATS))?;
    let mut entries: Vec<XrEntry> = Vec::new();
    for tag in NUMBERS {
        let value = directory.first(*tag).and_then(|value| u32::try_from(value).ok());
        entries.extend(value.map(|value| XrEntry { tag: *tag, kind: LONG, count: 1, value }));
    }
    let mut pictures = Vec::new();
    for [at, length] in PLACES {
        let picture = picture(file, directory.first(*at), directory.first(*length))?;
        match picture {
            Some(picture) => pictures.push(([*at, *length], picture)),
            // The first of them is the picture itself.
            None if pictures.is_empty() => return None,
            None => {}
        }
    }
    let count = entries.len().checked_add(pictures.len().checked_mul(2)?)?.checked_add(1)?;
    // The header, the directory, and what does not fit into that.
    let behind = count.checked_mul(12)?.checked_add(14)?;
    let mut end = behind.checked_add(FORMAT_LENGTH)?;
    let value = u32::try_from(behind).ok()?;
    entries.push(XrEntry { tag: FORMAT, kind: BYTE, count: 16, value });
    for ([at, length], picture) in &pictures {
        entries.push(XrEntry { tag: *at, kind: LONG, count: 1, value: u32::try_from(end).ok()? });
        entries.push(XrEntry {
            tag: *length,
            kind: LONG,
            count: 1,
            value: u32::try_from(picture.len()).ok()?,
        });
        end = end.checked_add(picture.len())?;
    }
    entries.sort_by_key(|entry| entry.tag);
    let mut out = [file.get(..4)?, &8_u32.to_le_bytes(), &u16::try_from(count).ok()?.to_le_bytes()].concat();
    entries.iter().for_each(|entry| entry.put(&mut out));
    out.extend([0_u8; 4]);
    out.extend(format);
    pictures.iter().for_each(|(_, picture)| out.extend(*picture));
    Some(out)
}

/// A picture at a place, if there is one; `None` if it is not all there.
fn picture(file: &[u8], place: Option<u64>, length: Option<u64>) -> Option<Option<&[u8]>> {
    let (Some(place), Some(length)) = (place, length) else { return Some(None) };
    let start = usize::try_from(place).ok()?;
    let end = start.checked_add(usize::try_from(length).ok()?)?;
    if start == end {
        return Some(None);
    }
    file.get(start..end).filter(|picture| picture.starts_with(PICTURE)).map(Some)
}

/// An entry of the directory.
struct XrEntry {
    tag: u16,
    kind: u16,
    count: u32,
    value: u32,
}

impl XrEntry {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend(self.tag.to_le_bytes());
        out.extend(self.kind.to_le_bytes());
        out.extend(self.count.to_le_bytes());
        out.extend(self.value.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of these entries; what they lead to lies behind them.
    fn file(entries: &[(u16, u16, u32, u32)], behind: &[u8]) -> Vec<u8> {
        let mut out = [b"II\xbc\x01\x08\0\0\0".as_slice(), &(entries.len() as u16).to_le_bytes()].concat();
        for (tag, kind, count, value) in entries {
            XrEntry { tag: *tag, kind: *kind, count: *count, value: *value }.put(&mut out);
        }
        [out.as_slice(), &[0; 4], behind].concat()
    }

    #[test]
    fn only_what_shows_the_picture_stays() {
        let clean = [
            (FORMAT, BYTE, 16, 98),
            (0xbc80, LONG, 1, 40),
            (0xbc81, LONG, 1, 30),
            (0xbcc0, LONG, 1, 114),
            (0xbcc1, LONG, 1, 12),
            (0xbcc2, LONG, 1, 126),
            (0xbcc3, LONG, 1, 11),
        ];
        let format = [FORMATS, &[7]].concat();
        let want = file(&clean, &[&format[..], b"WMPHOTO\0abcdWMPHOTO\0xyz"].concat());
        assert!(is_jpeg_xr(&want));
        assert_eq!(written(&want), Some(want.clone()));
        // With words, a profile, and something between and behind.
        let said = [
            (270, 2, 6, 0),
            (34_675, 7, 6, 0),
            (34_853, 4, 1, 0),
            (FORMAT, BYTE, 16, 152),
            (0xbc80, 3, 1, 40),
            (0xbc81, LONG, 1, 30),
            (0xbcc0, LONG, 1, 168),
            (0xbcc1, LONG, 1, 12),
            (0xbcc2, LONG, 1, 186),
            (0xbcc3, LONG, 1, 11),
            (0xbcff, LONG, 1, 0x4543_4553),
        ];
        let mut told = file(&said, b"SECRET");
        assert_eq!(told.len(), 152);
        told.extend([&format[..], b"WMPHOTO\0abcdSECRETWMPHOTO\0xyzSECRET"].concat());
        assert_eq!(written(&told), Some(want));
    }

    #[test]
    fn what_is_not_all_there_is_none() {
        let said = [(FORMAT, BYTE, 16, 50), (0xbcc0, LONG, 1, 66), (0xbcc1, LONG, 1, 12)];
        let whole = file(&said, &[FORMATS, &[7], b"WMPHOTO\0abcd"].concat());
        assert!(written(&whole).is_some());
        for end in 0..whole.len() {
            assert_eq!(written(&whole[..end]), None, "{end}");
        }
        assert_eq!(written(&file(&said, &[FORMATS, &[7], b"MZ\x90\0\0\0\0\0abcd"].concat())), None);
        // A format of anybody's.
        assert_eq!(written(&file(&said, &[&b"SECRETSECRETSECR"[..], b"WMPHOTO\0abcd"].concat())), None);
        assert!(!is_jpeg_xr(b"II\xbc") && !is_jpeg_xr(b"II\xbc\x02"));
    }
}
