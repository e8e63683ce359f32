//! A GIF's blocks (GIF89a specification, section 12 onwards).

use crate::base::reader::ByteReader;

const EXTENSION: u8 = 0x21;
const IMAGE: u8 = 0x2c;
const TRAILER: u8 = 0x3b;

/// The picture; `None` if its blocks cannot be told apart.
pub(super) fn written(file: &[u8]) -> Option<Vec<u8>> {
    let mut rest = ByteReader::new(file);
    let mut out = Vec::with_capacity(file.len());
    out.extend(rest.take(6)?);
    let screen = rest.take(7)?;
    out.extend(screen);
    out.extend(rest.take(colours(*screen.get(4)?))?);
    loop {
        match rest.byte() {
            Some(EXTENSION) => {
                let label = rest.byte()?;
                let content = blocks(&mut rest)?;
                extension(&mut out, label, content);
            }
            Some(IMAGE) => {
                let place = rest.take(9)?;
                let table = rest.take(colours(*place.get(8)?))?;
                let width = rest.take(1)?;
                let pixels = blocks(&mut rest)?;
                out.push(IMAGE);
                [place, table, width, pixels].iter().for_each(|part| out.extend(*part));
            }
            // Some encoders write one terminator too many.
            Some(0) => {}
            Some(TRAILER) | None => break,
            Some(_) => return None,
        }
    }
    out.push(TRAILER);
    Some(out)
}

/// The size of a colour table, in bytes.
fn colours(flags: u8) -> usize {
    if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) }
}

/// Blocks of data up to the empty one (section 15), with it.
fn blocks<'f>(rest: &mut ByteReader<'f>) -> Option<&'f [u8]> {
    let all = rest.rest();
    loop {
        match rest.byte()? {
            0 => return all.get(..all.len().saturating_sub(rest.rest().len())),
            length => rest.take(usize::from(length))?,
        };
    }
}

/// How a frame is shown, and how often all of them are; nothing else.
fn extension(out: &mut Vec<u8>, label: u8, content: &[u8]) {
    match (label, content) {
        (0xf9, [4, .., 0]) if content.len() == 6 => {
            out.extend([EXTENSION, label]);
            out.extend(content);
        }
        (0xff, [11, application @ ..])
            if application.starts_with(b"NETSCAPE2.0") || application.starts_with(b"ANIMEXTS1.0") =>
        {
            if let Some([3, 1, low, high, ..]) = application.get(11..) {
                out.extend([EXTENSION, label]);
                out.extend(b"\x0bNETSCAPE2.0");
                out.extend([3, 1, *low, *high, 0]);
            }
        }
        _ => {}
    }
}
