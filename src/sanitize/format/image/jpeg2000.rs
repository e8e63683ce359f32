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
const HEADERS: &[(&[u8; 4], usize)] =
    &[(b"ihdr", 14), (b"bpcc", 16_384), (b"pclr", 1 << 17), (b"cmap", 1 << 16), (b"cdef", 1 << 16)];

/// What files say that they are (I.5.2; ISO/IEC 15444-2, M.9.2; 15444-6; 15444-15).
const BRANDS: &[&[u8; 4]] = &[b"jp2 ", b"jpx ", b"jpxb", b"jpm ", b"jph "];

/// How a box says colours: by the number of their space, or by a profile, of a restricted kind or of any.
const NAMED: u8 = 1;
const RESTRICTED: u8 = 2;
const ANY: u8 = 3;

/// Spaces of colours (I.5.3.3, table I.10; ISO/IEC 15444-2, table M.25), and how many bytes tell more of them: of CIELab and of
/// CIEJab.
const SPACES: &[(u32, usize)] = &[
    (0, 0),
    (1, 0),
    (3, 0),
    (4, 0),
    (9, 0),
    (11, 0),
    (CMYK, 0),
    (13, 0),
    (14, 28),
    (15, 0),
    (SRGB, 0),
    (GREY, 0),
    (18, 0),
    (19, 24),
    (20, 0),
    (21, 0),
    (22, 0),
    (23, 0),
    (24, 0),
];
const CMYK: u32 = 12;
const SRGB: u32 = 16;
const GREY: u32 = 17;

/// Which of them stands for a profile.
const PROFILES: &[(&[u8; 4], u32)] = &[(b"GRAY", GREY), (b"RGB ", SRGB), (b"CMYK", CMYK)];

/// How the number of a light begins that is told by its temperature (`CT`).
const TEMPERATURE: u32 = 0x4354;

/// The longest list of what a file says that it is, in bytes.
const BEGINNING: usize = 256;

/// Markers of segments that decoders need, and of comments.
const NEEDED: &[u8] =
    &[CAPABILITIES, 0x51, 0x52, 0x53, 0x59, 0x5c, 0x5d, 0x5e, 0x5f, 0x60, 0x61, COMMENT, PART];
const CAPABILITIES: u8 = 0x50;
const COMMENT: u8 = 0x64;

/// Markers of segments that decoders can do without: how long parts and packets are, and how components lie (A.7.1, A.7.2, A.7.3
/// and A.9.1).
const SPARE: &[u8] = &[0x55, 0x57, 0x58, 0x63];

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
pub(in crate::sanitize::format) fn written(file: &[u8]) -> Result<Vec<u8>, Rejection> {
    if file.starts_with(STREAM) {
        return codestream(file);
    }
    let mut out = FILE.to_vec();
    let (mut headed, mut shown) = (false, false);
    let all = boxes(file, 0..file.len());
    // Colours may be told of each layer apart (ISO/IEC 15444-2, M.11.7).
    let layered = all.iter().any(|place| place.kind == *b"jplh");
    for place in all {
        let content = file.get(place.content.clone()).unwrap_or_default();
        match &place.kind {
            // There is one, at the beginning.
            b"ftyp" if out.len() == FILE.len() && content.len() <= BEGINNING => {
                put(&mut out, *b"ftyp", &brands(content))?;
            }
            b"jp2h" if !headed => {
                headed = true;
                put(&mut out, *b"jp2h", &header(file, &place, layered)?)?;
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

/// What a file says that it is, as far as that is known.
fn brands(content: &[u8]) -> Vec<u8> {
    let known = |brand: &&[u8]| BRANDS.iter().any(|known| *brand == *known);
    let first = content.get(..4).filter(known).unwrap_or(b"jp2 ");
    let others = content.get(8..).unwrap_or_default().chunks(4).filter(known);
    [first, &[0; 4]].into_iter().chain(others).flatten().copied().collect()
}

/// What the header says of the samples. Of several boxes that say their colours, the first that is read here stays: readers
/// take the first (I.5.3.3). Those that only layers have are not read.
fn header(file: &[u8], place: &BoxPlace, layered: bool) -> Result<Vec<u8>, Rejection> {
    let (mut out, mut said, mut coloured) = (Vec::new(), false, false);
    for part in all_boxes(file, place.content.clone()).ok_or(Rejection::Malformed)? {
        let content = file.get(part.content).unwrap_or_default();
        if part.kind == *b"colr" {
            said = true;
            if let Some(colours) = colours(content).filter(|_| !coloured) {
                coloured = true;
                put(&mut out, part.kind, &colours)?;
            }
        } else if HEADERS.iter().any(|(kind, most)| part.kind == **kind && content.len() <= *most) {
            put(&mut out, part.kind, content)?;
        }
    }
    if coloured || !said && !layered { Ok(out) } else { Err(Rejection::Unsupported) }
}

/// What a box says of colours (I.5.3.3; ISO/IEC 15444-2, M.11.7.3): the number of their space, and for some the numbers that
/// space is told by. A profile is anybody's: what stays of it is of which colours it is. `None` for what nobody here reads.
fn colours(content: &[u8]) -> Option<Vec<u8>> {
    let mut rest = ByteReader::new(content);
    let [method, _precedence, _approximation] = rest.array()?;
    let space = match method {
        NAMED => rest.u32()?,
        // In a profile, the colours that it is of stand behind its size, maker, version and class (ISO 15076-1, 7.2).
        RESTRICTED | ANY => {
            let kind = rest.rest().get(16..20)?;
            PROFILES.iter().find(|(name, _)| kind == *name).map(|(_, space)| *space)?
        }
        _ => return None,
    };
    let told = match SPACES.iter().find(|(known, _)| *known == space)? {
        (_, told) if method == NAMED && *told > 0 && !rest.is_empty() => rest.take(*told)?,
        _ => &[],
    };
    // Ranges, offsets and a light; four letters make no such number, but of a light's temperature.
    let mut numbers = ByteReader::new(told);
    while let Some(number) = numbers.u32() {
        (number >> 24 == 0 || number >> 16 == TEMPERATURE).then_some(())?;
    }
    Some([&[NAMED, 0, 0], &space.to_be_bytes()[..], told].concat())
}

/// Whether a segment says which parts of the standard a codestream needs (ISO/IEC 15444-15, A.3): a bit for each, and two bytes for
/// each bit.
fn is_capabilities(segment: &[u8]) -> bool {
    let bits = segment.get(2..6).and_then(|bits| bits.try_into().ok()).map_or(0, u32::from_be_bytes);
    let more = usize::try_from(bits.count_ones()).unwrap_or(usize::MAX);
    segment.len() == more.saturating_mul(2).saturating_add(6)
}

/// A codestream, in which comments are zeros, and what decoders can do without are such comments.
fn codestream(bytes: &[u8]) -> Result<Vec<u8>, Rejection> {
    let mut rest = ByteReader::new(bytes.strip_prefix(b"\xff\x4f").ok_or(Rejection::Malformed)?);
    let mut out = b"\xff\x4f".to_vec();
    // Whether the part of a tile that was begun reaches to the end.
    let mut last = false;
    loop {
        let left = rest.rest().len();
        let Some([0xff, marker]) = rest.array::<2>() else { return Err(Rejection::Malformed) };
        // What decoders can do without becomes a comment, so that nothing moves.
        let marker = if SPARE.contains(&marker) { COMMENT } else { marker };
        let begin = out.len();
        out.extend([0xff, marker]);
        match marker {
            END => return Ok(out),
            DATA => match data(&mut rest) {
                Some(data) => out.extend(data),
                // All is there but the marker of the end (A.4.4), which some programs leave out.
                None if last && rest.rest().last() != Some(&0xff) => {
                    out.extend(rest.rest());
                    out.extend([0xff, END]);
                    return Ok(out);
                }
                None => return Err(Rejection::Malformed),
            },
            marker if NEEDED.contains(&marker) => {
                let segment = segment(&mut rest).ok_or(Rejection::Malformed)?;
                if marker == PART {
                    // Its length, from its marker on (A.4.2).
                    let length = segment.get(4..8).and_then(|length| length.try_into().ok());
                    last = length.map(u32::from_be_bytes).and_then(|length| usize::try_from(length).ok())
                        == Some(left);
                }
                if marker == COMMENT || marker == CAPABILITIES && !is_capabilities(segment) {
                    out.truncate(begin);
                    out.extend([0xff, COMMENT]);
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
    let length = usize::from(ahead.u16()?);
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
    fn a_codestream_without_an_end_is_whole_by_its_last_part() {
        let begin = b"\xff\x4f\xff\x51\0\x04\0\0";
        let part = |length: u32| {
            [b"\xff\x90\0\x0a\0\0", &length.to_be_bytes()[..], b"\0\x01\xff\x93\x01\x02"].concat()
        };
        for (parts, whole) in [
            (vec![part(16)], true),
            (vec![part(16), part(16)], true),
            (vec![part(0)], false),
            (vec![part(17)], false),
            (vec![part(32), part(32)], false),
        ] {
            let file = [&begin[..], &parts.concat()].concat();
            let ended = [file.as_slice(), b"\xff\xd9"].concat();
            assert_eq!(written(&ended), Ok(ended.clone()));
            assert_eq!(written(&file), if whole { Ok(ended) } else { Err(Rejection::Malformed) });
        }
    }

    #[test]
    fn colours_are_those_that_were_said() {
        let header = |colours: &[Vec<u8>]| {
            let parts: Vec<Vec<u8>> = colours.iter().map(|colours| boxed(b"colr", colours)).collect();
            let parts = [FILE.to_vec(), boxed(b"jp2h", &parts.concat()), boxed(b"jp2c", &stream(&[0; 8]))];
            parts.concat()
        };
        let named = |space: u8, more: &[u8]| [&[1, 0, 0, 0, 0, 0, space], more].concat();
        let profile = |kind: &[u8; 4]| [&b"\x02\0\0"[..], &[0; 16], kind, b"SECRET"].concat();
        let vendor = b"\x04\0\0SECRETSECRETSECRETSECRET".to_vec();
        let light = [&[0; 24][..], b"CT\x19\x64"].concat();
        for (said, want) in [
            (vec![named(12, b"SECRET")], Some(named(12, b""))),
            (vec![profile(b"CMYK")], Some(named(12, b""))),
            (vec![profile(b"RGB ")], Some(named(16, b""))),
            (vec![profile(b"GRAY"), named(16, b"")], Some(named(17, b""))),
            (vec![vendor.clone(), named(18, b"SECRET")], Some(named(18, b""))),
            (vec![named(14, &light)], Some(named(14, &light))),
            (vec![named(14, b"")], Some(named(14, b""))),
            (vec![named(14, b"SECRETSECRETSECRETSECRETSECR")], None),
            (vec![named(99, b"")], None),
            (vec![profile(b"Lab ")], None),
            (vec![vendor], None),
            (vec![b"\x02\0\0SECRET".to_vec()], None),
        ] {
            let want = want.map(|colours| header(&[colours])).ok_or(Rejection::Unsupported);
            assert_eq!(written(&header(&said)), want, "{said:?}");
            if let Ok(clean) = want {
                assert_eq!(written(&clean), Ok(clean.clone()));
            }
        }
        let layers = boxed(b"jplh", &boxed(b"cgrp", &boxed(b"colr", &named(12, b""))));
        for (colours, want) in [(vec![named(12, b"")], true), (Vec::new(), false)] {
            let (plain, file) = (header(&colours), [header(&colours), layers.clone()].concat());
            assert_eq!(written(&file), if want { Ok(plain) } else { Err(Rejection::Unsupported) });
        }
    }

    #[test]
    fn a_file_has_what_shows_its_picture() {
        let grey = [&[0_u8; 8][..], &[0, 1, 7, 7, 0, 0]].concat();
        let profile = [&b"\x02\0\0"[..], &[0; 16], b"GRAYSECRET"].concat();
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

    #[test]
    fn what_decoders_can_do_without_is_zero() {
        let segment = |marker: u8, content: &[u8]| {
            [&[0xff, marker], &(content.len() as u16 + 2).to_be_bytes()[..], content].concat()
        };
        let file = |more: &[u8]| {
            let begin = [b"\xff\x4f", &segment(0x51, &[0; 6])[..], more, &segment(PART, &[0; 8])].concat();
            [&begin[..], more, b"\xff\x93\x01\x02\xff\xd9"].concat()
        };
        for marker in [0x50, 0x55, 0x57, 0x58, 0x63, COMMENT] {
            assert_eq!(codestream(&file(&segment(marker, b"SECRET"))), Ok(file(&segment(COMMENT, &[0; 6]))));
        }
        // High throughput, and packed heads of packets.
        for needed in [segment(0x50, &[0, 2, 0, 0, 0, 8]), segment(0x61, b"\0abc")] {
            assert_eq!(codestream(&file(&needed)), Ok(file(&needed)));
        }
        assert_eq!(brands(b"jpx \0\0\0\x01jp2 SECRjpx SE"), b"jpx \0\0\0\0jp2 jpx ");
        assert_eq!(brands(b"SECRSECR"), b"jp2 \0\0\0\0");
    }
}
