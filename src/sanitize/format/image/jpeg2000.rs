//! [`written`]: a picture in JPEG 2000 (ISO/IEC 15444-1): of the boxes of a file, those that show it (annex I), and of its
//! codestream what comes before its end, without comments (annex A).

use crate::base::reader::ByteReader;
use crate::sanitize::Rejection;
use crate::sanitize::format::image::boxes::{BoxPlace, all_boxes, boxes};

/// How a file begins.
const FILE: &[u8] = b"\0\0\0\x0cjP  \r\n\x87\n";

/// How a codestream without a file begins.
const STREAM: &[u8] = b"\xff\x4f\xff\x51";

/// Boxes that say what the samples are, with the most bytes that they hold.
const HEADERS: &[(&[u8; 4], usize)] = &[
    (b"ihdr", 14),
    (b"bpcc", 16_384),
    (b"pclr", 1 << 17),
    (b"cmap", 1 << 16),
    (b"cdef", 1 << 16),
    (b"res ", 36),
];

/// The longest list of what a file says that it is, in bytes.
const BEGINNING: usize = 256;

/// Markers of segments that decoders need, and of comments.
const NEEDED: &[u8] = &[
    0x50, 0x51, 0x52, 0x53, 0x55, 0x57, 0x58, 0x59, 0x5c, 0x5d, 0x5e, 0x5f, 0x60, 0x61, 0x63, COMMENT, PART,
];
const COMMENT: u8 = 0x64;

/// The beginning of a part of a tile, of its data, of a packet in them, and the end.
const PART: u8 = 0x90;
const DATA: u8 = 0x93;
const PACKET: u8 = 0x91;
const END: u8 = 0xd9;

/// Whether a file begins as one.
pub(super) fn is_jpeg2000(file: &[u8]) -> bool {
    file.starts_with(FILE) || file.starts_with(STREAM)
}

/// The picture.
///
/// # Errors
/// [`Rejection::Malformed`] if it does not end, or has no codestream; [`Rejection::Unsupported`] for what this part of the
/// standard does not know.
pub(super) fn written(file: &[u8]) -> Result<Vec<u8>, Rejection> {
    if file.starts_with(STREAM) {
        return codestream(file);
    }
    let mut out = FILE.to_vec();
    let (mut headed, mut shown) = (false, false);
    for place in boxes(file, 0..file.len()) {
        let content = file.get(place.content.clone()).unwrap_or_default();
        match &place.kind {
            // There is one, at the beginning.
            b"ftyp" if out.len() == FILE.len() && content.len() <= BEGINNING => {
                put(&mut out, *b"ftyp", content)?;
            }
            b"jp2h" if !headed => {
                headed = true;
                put(&mut out, *b"jp2h", &header(file, &place).ok_or(Rejection::Malformed)?)?;
            }
            b"jp2c" if !shown => {
                shown = true;
                put(&mut out, *b"jp2c", &codestream(content)?)?;
            }
            _ => {}
        }
    }
    if headed && shown { Ok(out) } else { Err(Rejection::Malformed) }
}

fn put(out: &mut Vec<u8>, kind: [u8; 4], content: &[u8]) -> Result<(), Rejection> {
    let length = u32::try_from(content.len().saturating_add(8)).map_err(|_| Rejection::OverLimit)?;
    out.extend(length.to_be_bytes());
    out.extend(kind);
    out.extend(content);
    Ok(())
}

/// What the header says of the samples. Colour profiles are anybody's: colours without them are those of sRGB.
fn header(file: &[u8], place: &BoxPlace) -> Option<Vec<u8>> {
    let (mut out, mut colours) = (Vec::new(), 3);
    for part in all_boxes(file, place.content.clone())? {
        let content = file.get(part.content)?;
        if part.kind == *b"colr" {
            let named = content.first() == Some(&1) && content.len() <= 35;
            let space: u8 = if colours < 3 { 17 } else { 16 };
            let plain = [1, 0, 0, 0, 0, 0, space];
            put(&mut out, part.kind, if named { content } else { &plain }).ok()?;
        } else if HEADERS.iter().any(|(kind, most)| part.kind == **kind && content.len() <= *most) {
            match (&part.kind, content.get(8..10)) {
                (b"ihdr", Some(&[high, low])) => colours = u16::from_be_bytes([high, low]),
                // Whose colours are chosen from a list.
                (b"pclr", _) => colours = 3,
                _ => {}
            }
            put(&mut out, part.kind, content).ok()?;
        }
    }
    Some(out)
}

/// A codestream, in which comments are zeros.
fn codestream(bytes: &[u8]) -> Result<Vec<u8>, Rejection> {
    let mut rest = ByteReader::new(bytes.strip_prefix(b"\xff\x4f").ok_or(Rejection::Malformed)?);
    let mut out = b"\xff\x4f".to_vec();
    loop {
        let Some([0xff, marker]) = rest.array::<2>() else { return Err(Rejection::Malformed) };
        out.extend([0xff, marker]);
        match marker {
            END => return Ok(out),
            DATA => out.extend(data(&mut rest).ok_or(Rejection::Malformed)?),
            marker if NEEDED.contains(&marker) => {
                let segment = segment(&mut rest).ok_or(Rejection::Malformed)?;
                if marker == COMMENT {
                    out.extend(segment.iter().take(2));
                    out.resize(out.len().saturating_add(segment.len().saturating_sub(2)), 0);
                } else {
                    out.extend(segment);
                }
            }
            _ => return Err(Rejection::Unsupported),
        }
    }
}

/// A segment, from its length on.
fn segment<'f>(rest: &mut ByteReader<'f>) -> Option<&'f [u8]> {
    let mut ahead = *rest;
    let length = usize::from(u16::from_be_bytes(ahead.array()?));
    if length < 2 { None } else { rest.take(length) }
}

/// The data of a part of a tile: up to the next part, or the end, whose markers data never hold.
fn data<'f>(rest: &mut ByteReader<'f>) -> Option<&'f [u8]> {
    let bytes = rest.rest();
    let mut at = 0_usize;
    loop {
        at = at.checked_add(memchr::memchr(0xff, bytes.get(at..)?)?)?;
        match bytes.get(at.checked_add(1)?)? {
            &PART | &END => return rest.take(at),
            // Which is followed by a number.
            &PACKET => at = at.checked_add(6)?,
            _ => at = at.checked_add(1)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A codestream of a part with data that hold a packet's number, which looks like a marker.
    fn stream(comment: &[u8]) -> Vec<u8> {
        let segment = |marker: u8, content: &[u8]| {
            [&[0xff, marker], &(content.len() as u16 + 2).to_be_bytes()[..], content].concat()
        };
        [
            b"\xff\x4f".to_vec(),
            segment(0x51, &[0, 0, 0, 0, 0, 9]),
            segment(COMMENT, comment),
            segment(0x5c, &[1, 2]),
            segment(PART, &[0; 8]),
            segment(COMMENT, comment),
            b"\xff\x93\x01\xff\x91\0\x04\xff\x90\x02\xff\x7f\x03".to_vec(),
            segment(PART, &[1; 8]),
            b"\xff\x93\x04\xff\xd9".to_vec(),
        ]
        .concat()
    }

    fn boxed(kind: &[u8; 4], content: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, *kind, content).expect("a box");
        out
    }

    #[test]
    fn a_codestream_ends_and_has_no_comments() {
        let (file, want) = (stream(b"\0\x01SECRET"), stream(&[0; 8]));
        assert!(is_jpeg2000(&file));
        assert_eq!(written(&[file.as_slice(), b"\xff\xd9SECRET"].concat()), Ok(want.clone()));
        assert_eq!(written(&want), Ok(want.clone()));
        for end in 0..file.len() {
            assert_eq!(written(&file[..end]), Err(Rejection::Malformed), "{end}");
        }
        let unknown = [&file[..2], b"\xff\x70\0\x02", &file[2..]].concat();
        assert_eq!(codestream(&unknown), Err(Rejection::Unsupported));
    }

    #[test]
    fn a_file_has_what_shows_its_picture() {
        let (grey, profile) = ([&[0_u8; 8][..], &[0, 1, 7, 7, 0, 0]].concat(), b"\x02\0\0SECRET".to_vec());
        let file = |header: &[Vec<u8>], more: &[Vec<u8>], comment: &[u8]| {
            let parts =
                [FILE.to_vec(), boxed(b"ftyp", b"jp2 \0\0\0\0jp2 "), boxed(b"jp2h", &header.concat())];
            [parts.concat(), more.concat(), boxed(b"jp2c", &stream(comment))].concat()
        };
        let said = [boxed(b"ihdr", &grey), boxed(b"colr", &profile), boxed(b"uuid", b"SECRET")];
        let more = [boxed(b"xml ", b"<SECRET/>"), boxed(b"uuid", b"SECRET")];
        let want = file(&[boxed(b"ihdr", &grey), boxed(b"colr", b"\x01\0\0\0\0\0\x11")], &[], &[0; 8]);
        let told =
            [file(&said, &more, b"\0\x01SECRET"), boxed(b"xml ", b"SECRET"), b"SECRET".to_vec()].concat();
        assert_eq!(written(&told), Ok(want.clone()));
        assert_eq!(written(&want), Ok(want.clone()));
        // Without a codestream, and without a header.
        assert_eq!(written(&want[..40]), Err(Rejection::Malformed));
        let bare = [FILE.to_vec(), boxed(b"jp2c", &stream(b""))].concat();
        assert_eq!(written(&bare), Err(Rejection::Malformed));
    }
}
