//! A PNG's chunks (W3C PNG 3rd edition, section 5).

use std::collections::HashSet;

use flate2::{Crc, Decompress, FlushDecompress, Status};

use crate::base::reader::ByteReader;
use crate::sanitize::format::image::exif;
use crate::sanitize::{Rejection, Work};

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Chunks that make the picture and how it moves, with the most bytes that they hold. Longer ones hold something else.
const NEEDED: &[(&[u8; 4], usize)] = &[
    (b"IHDR", 13),
    (b"PLTE", 768),
    (b"IDAT", usize::MAX),
    (b"tRNS", 256),
    (b"cHRM", 32),
    (b"gAMA", 4),
    (b"sBIT", 4),
    (b"sRGB", 1),
    (b"cICP", 4),
    (b"mDCV", 24),
    (b"cLLI", 8),
    (b"bKGD", 6),
    (b"pHYs", 9),
    (b"acTL", 8),
    (b"fcTL", 26),
    (FRAME, usize::MAX),
    (TURN, usize::MAX),
];

/// Those that may be there more than once (5.6); of the last, the first counts that says something.
const MANY: &[&[u8; 4]] = &[b"IDAT", b"fcTL", FRAME, TURN];

/// Those of a picture that moves: one moves if the first of them comes before its pixels (11.3.6).
const MOVES: &[&[u8; 4]] = &[b"acTL", b"fcTL", FRAME];

/// The pixels of a later frame, behind a number of four bytes.
const FRAME: &[u8; 4] = b"fdAT";

/// EXIF, of which only stays how the picture is turned.
const TURN: &[u8; 4] = b"eXIf";

/// The picture; `None` if its chunks cannot be told apart.
///
/// # Errors
/// [`Rejection::OverLimit`].
pub(super) fn written(file: &[u8], work: &mut Work<'_>) -> Result<Option<Vec<u8>>, Rejection> {
    let Some(chunks) = chunks(file, work)? else { return Ok(None) };
    let pixels: Vec<&[u8]> =
        chunks.iter().filter(|(name, _)| *name == b"IDAT").map(|(_, data)| *data).collect();
    let mut room = work.room();
    let Ok(Some(mut left)) = length(&pixels.concat(), &mut room) else { return Ok(None) };
    let mut turn =
        chunks.iter().filter(|(name, _)| *name == TURN).find_map(|(_, data)| exif::orientation(data));
    let mut out = Vec::with_capacity(file.len());
    out.extend(SIGNATURE);
    for group in chunks.chunk_by(|(name, _), (next, _)| *name == FRAME && name == next) {
        let frame: Vec<&[u8]> =
            group.iter().filter(|(name, _)| *name == FRAME).filter_map(|(_, data)| data.get(4..)).collect();
        let Some(mut shown) = length(&frame.concat(), &mut room)? else { return Ok(None) };
        for (name, data) in group {
            if *name == b"IDAT" {
                let data = data.get(..left).unwrap_or(data);
                left = left.saturating_sub(data.len());
                if !data.is_empty() {
                    put(&mut out, name, data);
                }
            } else if *name == FRAME {
                let end = shown.saturating_add(4).min(data.len());
                shown = shown.saturating_add(4).saturating_sub(end);
                put(&mut out, name, data.get(..end).unwrap_or(data));
            } else if *name != TURN {
                put(&mut out, name, data);
                // Behind the header it parts no data.
                if let Some(turn) = turn.take() {
                    put(&mut out, TURN, &exif::turning(turn));
                }
            }
        }
    }
    put(&mut out, b"IEND", b"");
    Ok(Some(out))
}

type Chunk<'f> = (&'f [u8], &'f [u8]);

fn chunks<'f>(file: &'f [u8], work: &mut Work<'_>) -> Result<Option<Vec<Chunk<'f>>>, Rejection> {
    let Some(rest) = file.strip_prefix(SIGNATURE) else { return Ok(None) };
    let mut rest = ByteReader::new(rest);
    let mut chunks: Vec<Chunk<'_>> = Vec::new();
    let (mut seen, mut moves) = (HashSet::new(), false);
    loop {
        work.items(1)?;
        let Some((name, data)) = chunk(&mut rest) else { return Ok(None) };
        if name == b"IEND" {
            chunks.retain(|(name, _)| moves || !is_of(name, MOVES));
            return Ok(Some(chunks));
        }
        let needed = NEEDED.iter().any(|(needed, most)| name == *needed && data.len() <= *most);
        let late = name == b"acTL" && seen.contains(&b"IDAT"[..]);
        if needed && !late && (seen.insert(name) || is_of(name, MANY)) {
            moves |= name == b"acTL";
            chunks.push((name, data));
        }
    }
}

fn is_of(name: &[u8], chunks: &[&[u8; 4]]) -> bool {
    chunks.iter().any(|known| name == *known)
}

/// Its checksum is not looked at: it is written anew.
fn chunk<'f>(rest: &mut ByteReader<'f>) -> Option<Chunk<'f>> {
    let length = rest.u32()?;
    let (name, data) = (rest.take(4)?, rest.take(usize::try_from(length).ok()?)?);
    rest.take(4)?;
    Some((name, data))
}

/// Where compressed pixels end, if they can be unpacked; what lies behind that is none of them. What they unfold to is taken
/// from `room`.
///
/// # Errors
/// [`Rejection::OverLimit`] if that is too much.
fn length(pixels: &[u8], room: &mut usize) -> Result<Option<usize>, Rejection> {
    if pixels.is_empty() {
        return Ok(Some(0));
    }
    let mut zlib = Decompress::new(true);
    let mut scratch = vec![0; 64 << 10];
    loop {
        let (read, made) = (zlib.total_in(), zlib.total_out());
        if usize::try_from(made).unwrap_or(usize::MAX) > *room {
            return Err(Rejection::OverLimit);
        }
        let rest = usize::try_from(read).ok().and_then(|read| pixels.get(read..)).unwrap_or_default();
        let Ok(status) = zlib.decompress(rest, &mut scratch, FlushDecompress::None) else { return Ok(None) };
        // A picture that breaks off is for the decoder to judge.
        let stuck = zlib.total_in() == read && zlib.total_out() == made;
        if status == Status::StreamEnd || stuck {
            *room = room.saturating_sub(usize::try_from(zlib.total_out()).unwrap_or(usize::MAX));
            return Ok(usize::try_from(zlib.total_in()).ok());
        }
    }
}

fn put(out: &mut Vec<u8>, name: &[u8], data: &[u8]) {
    let mut crc = Crc::new();
    crc.update(name);
    crc.update(data);
    out.extend(u32::try_from(data.len()).unwrap_or(u32::MAX).to_be_bytes());
    out.extend(name);
    out.extend(data);
    out.extend(crc.sum().to_be_bytes());
}
