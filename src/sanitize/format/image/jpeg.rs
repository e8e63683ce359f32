//! A JPEG's segments (ITU-T T.81, annex B).

use crate::base::reader::ByteReader;
use crate::sanitize::format::image::exif;

/// Tables, frames, scans: what decoders need. Neither comments nor what applications add.
const NEEDED: &[u8] = &[
    0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf, 0xda, 0xdb,
    0xdc, 0xdd,
];

/// Markers of the end, and of a scan.
pub(super) const END: u8 = 0xd9;
pub(super) const SCAN: u8 = 0xda;

/// The picture; `None` if its segments cannot be told apart.
pub(in crate::sanitize::format) fn written(file: &[u8]) -> Option<Vec<u8>> {
    let mut rest = ByteReader::new(file);
    let mut out = Vec::with_capacity(file.len());
    out.extend(rest.take(2)?);
    let mut turned = false;
    loop {
        let marker = marker(&mut rest)?;
        if marker == END {
            break;
        }
        let length = usize::from(rest.u16()?).checked_sub(2)?;
        let content = rest.take(length)?;
        match marker {
            0xe0 => {
                if let Some(density) = content.strip_prefix(b"JFIF\0").and_then(|jfif| jfif.get(..7)) {
                    // No thumbnail: its sides are zero.
                    put(&mut out, marker, &[b"JFIF\0", density, &[0, 0]].concat());
                }
            }
            0xe1 => {
                let exif = content.strip_prefix(exif::MARK).filter(|_| !turned);
                if let Some(turn) = exif.and_then(exif::orientation) {
                    turned = true;
                    put(&mut out, marker, &[exif::MARK, &exif::turning(turn)].concat());
                }
            }
            // How the colours were converted, without which they come out wrong.
            0xee if content.starts_with(b"Adobe") => put(&mut out, marker, content.get(..12)?),
            SCAN => {
                put(&mut out, marker, content);
                out.extend(scan(&mut rest));
                if rest.rest().is_empty() {
                    break;
                }
            }
            marker if NEEDED.contains(&marker) => put(&mut out, marker, content),
            _ => {}
        }
    }
    out.extend([0xff, END]);
    Some(out)
}

/// Any number of `0xff` may stand before a marker (B.1.1.2).
pub(super) fn marker(rest: &mut ByteReader<'_>) -> Option<u8> {
    (rest.byte()? == 0xff).then_some(())?;
    loop {
        match rest.byte()? {
            0xff => {}
            marker => return Some(marker),
        }
    }
}

/// Entropy-coded data, with its restart markers (B.1.1.5).
fn scan<'f>(rest: &mut ByteReader<'f>) -> &'f [u8] {
    let ends =
        |at: &usize| rest.rest().get(at.saturating_add(1)).is_none_or(|b| !matches!(b, 0 | 0xd0..=0xd7));
    let end = memchr::memchr_iter(0xff, rest.rest()).find(ends).unwrap_or(rest.rest().len());
    rest.take(end).unwrap_or_default()
}

fn put(out: &mut Vec<u8>, marker: u8, content: &[u8]) {
    let length = u16::try_from(content.len().saturating_add(2)).unwrap_or(u16::MAX);
    out.extend([0xff, marker]);
    out.extend(length.to_be_bytes());
    out.extend(content);
}
