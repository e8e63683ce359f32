//! A WebP's chunks (RFC 9649, section 2).

use std::collections::HashSet;

use crate::base::reader::ByteReader;
use crate::sanitize::format::image::exif;

/// Chunks that make a picture.
const PICTURE: &[&[u8; 4]] = &[b"VP8 ", b"VP8L", b"ALPH"];

/// `VP8X`'s flags that stay: animation and alpha; neither profile nor metadata (2.7).
const FLAGS: u8 = 0b0001_0010;

/// The flag of EXIF, which may say how the picture is turned.
const TURNED: u8 = 0b0000_1000;

/// The picture; `None` if its chunks cannot be told apart.
pub(super) fn written(file: &[u8]) -> Option<Vec<u8>> {
    let mut head = ByteReader::new(file);
    head.take(4)?;
    let length = usize::try_from(head.u32_le()?).ok()?;
    let mut rest = ByteReader::new(head.rest().get(..length).unwrap_or(head.rest()));
    rest.take(4)?;
    let mut out = b"RIFF\0\0\0\0WEBP".to_vec();
    let turn = orientation(rest);
    let (mut extended, mut seen) = (false, HashSet::new());
    while let Some((name, data)) = chunk(&mut rest) {
        // Of frames there are many, of others one; what says that there is more than a picture comes first (2.7).
        let one = is_first(&mut seen, name) || &name == b"ANMF";
        match &name {
            _ if !one => {}
            b"VP8X" if seen.len() > 1 => {}
            b"VP8X" => {
                let (flags, sides) = (data.first()? & FLAGS, data.get(4..10)?);
                let flags = if turn.is_some() { flags | TURNED } else { flags };
                put(&mut out, name, &[&[flags, 0, 0, 0], sides].concat());
                extended = true;
            }
            b"ANIM" => put(&mut out, name, data.get(..6)?),
            b"ANMF" => {
                let mut frame = ByteReader::new(data);
                let (mut kept, mut seen) = (frame.take(16)?.to_vec(), HashSet::new());
                while let Some((name, data)) = chunk(&mut frame) {
                    if PICTURE.contains(&&name) && is_first(&mut seen, name) {
                        put(&mut kept, name, data);
                    }
                }
                put(&mut out, name, &kept);
            }
            name if PICTURE.contains(&name) => put(&mut out, *name, data),
            _ => {}
        }
    }
    // A picture that is not extended has no metadata for anybody.
    if let Some(turn) = turn.filter(|_| extended) {
        put(&mut out, *b"EXIF", &exif::turning(turn));
    }
    let length = u32::try_from(out.len().checked_sub(8)?).ok()?;
    out.get_mut(4..8)?.copy_from_slice(&length.to_le_bytes());
    Some(out)
}

/// Whether a chunk is the first of its kind. A picture is packed in one of two ways.
fn is_first(seen: &mut HashSet<[u8; 4]>, name: [u8; 4]) -> bool {
    seen.insert(if &name == b"VP8L" { *b"VP8 " } else { name })
}

/// How the picture is turned, by the first chunk that says so.
fn orientation(mut rest: ByteReader<'_>) -> Option<u8> {
    while let Some((name, data)) = chunk(&mut rest) {
        let turn = if &name == b"EXIF" { exif::orientation(data) } else { None };
        if turn.is_some() {
            return turn;
        }
    }
    None
}

fn chunk<'f>(rest: &mut ByteReader<'f>) -> Option<([u8; 4], &'f [u8])> {
    let name = rest.array()?;
    let length = usize::try_from(rest.u32_le()?).ok()?;
    let data = rest.take(length)?;
    if length % 2 == 1 {
        rest.byte();
    }
    Some((name, data))
}

fn put(out: &mut Vec<u8>, name: [u8; 4], data: &[u8]) {
    out.extend(name);
    out.extend(u32::try_from(data.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend(data);
    if data.len() % 2 == 1 {
        out.push(0);
    }
}
