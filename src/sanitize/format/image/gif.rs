//! A GIF's blocks (GIF89a specification, section 12 onwards).

use std::collections::HashSet;

use crate::base::reader::ByteReader;
use crate::sanitize::format::image::gif_pixels::GifPixels;

const EXTENSION: u8 = 0x21;
const IMAGE: u8 = 0x2c;
const TRAILER: u8 = 0x3b;

/// The picture, without what follows the last pixel of a frame, and colours that none has; `None` if its blocks cannot be told
/// apart.
pub(super) fn written(file: &[u8]) -> Option<Vec<u8>> {
    let mut rest = ByteReader::new(file);
    let mut out = Vec::with_capacity(file.len());
    out.extend(rest.take(6)?);
    let screen = rest.take(7)?;
    out.extend(screen);
    let table = rest.take(colours(*screen.get(4)?))?;
    let begin = out.len();
    out.extend(table);
    // What is behind the frames has a colour, too.
    let mut used: HashSet<u8> = screen.get(5).copied().into_iter().collect();
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
                let pixels = GifPixels::of(blocks(&mut rest)?, *width.first()?, size(place)?);
                let mut table = table.to_vec();
                if table.is_empty() {
                    used.extend(&pixels.colours);
                } else {
                    blank(&mut table, &pixels.colours.iter().copied().collect());
                }
                out.push(IMAGE);
                [place, table.as_slice(), width, pixels.blocks.as_slice()]
                    .iter()
                    .for_each(|part| out.extend(*part));
            }
            // Some encoders write one terminator too many.
            Some(0) => {}
            Some(TRAILER) | None => break,
            Some(_) => return None,
        }
    }
    blank(out.get_mut(begin..begin.checked_add(table.len())?)?, &used);
    out.push(TRAILER);
    Some(out)
}

/// How many pixels a frame has, by its place and sides.
fn size(place: &[u8]) -> Option<usize> {
    let mut sides = ByteReader::new(place.get(4..)?);
    usize::from(sides.u16_le()?).checked_mul(usize::from(sides.u16_le()?))
}

/// Makes colours black that no pixel has. Two are too few to say anything.
fn blank(table: &mut [u8], used: &HashSet<u8>) {
    let is_used = |number: usize| u8::try_from(number).is_ok_and(|number| used.contains(&number));
    let unused = |(number, colour): &(usize, &[u8])| !is_used(*number) && colour.iter().any(|byte| *byte > 0);
    if table.chunks(3).enumerate().filter(unused).count() <= 2 {
        return;
    }
    for (_, colour) in table.chunks_mut(3).enumerate().filter(|(number, _)| !is_used(*number)) {
        colour.fill(0);
    }
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
