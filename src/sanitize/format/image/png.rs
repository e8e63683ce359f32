//! A PNG's chunks (W3C PNG 3rd edition, section 5).

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
    (b"fdAT", usize::MAX),
    (TURN, usize::MAX),
];

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
    let Some(mut left) = length(&pixels.concat(), work.room()) else { return Ok(None) };
    let mut turn =
        chunks.iter().filter(|(name, _)| *name == TURN).find_map(|(_, data)| exif::orientation(data));
    let mut out = Vec::with_capacity(file.len());
    out.extend(SIGNATURE);
    for (name, data) in chunks {
        if name == b"IDAT" {
            let data = data.get(..left).unwrap_or(data);
            left = left.saturating_sub(data.len());
            if !data.is_empty() {
                put(&mut out, name, data);
            }
        } else if name != TURN {
            put(&mut out, name, data);
            // Behind the header it parts no data.
            if let Some(turn) = turn.take() {
                put(&mut out, TURN, &exif::turning(turn));
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
    let mut chunks = Vec::new();
    loop {
        work.items(1)?;
        let Some((name, data)) = chunk(&mut rest) else { return Ok(None) };
        if name == b"IEND" {
            return Ok(Some(chunks));
        }
        if NEEDED.iter().any(|(needed, most)| name == *needed && data.len() <= *most) {
            chunks.push((name, data));
        }
    }
}

/// Its checksum is not looked at: it is written anew.
fn chunk<'f>(rest: &mut ByteReader<'f>) -> Option<Chunk<'f>> {
    let length = u32::from_be_bytes(rest.array()?);
    let (name, data) = (rest.take(4)?, rest.take(usize::try_from(length).ok()?)?);
    rest.take(4)?;
    Some((name, data))
}

/// Where the compressed picture ends; what lies behind that is none of it.
fn length(pixels: &[u8], room: usize) -> Option<usize> {
    let mut zlib = Decompress::new(true);
    let mut scratch = vec![0; 64 << 10];
    loop {
        let (read, made) = (usize::try_from(zlib.total_in()).ok()?, zlib.total_out());
        if usize::try_from(made).ok()? > room {
            return None;
        }
        let rest = pixels.get(read..)?;
        let status = zlib.decompress(rest, &mut scratch, FlushDecompress::None).ok()?;
        let end = usize::try_from(zlib.total_in()).ok()?;
        // A picture that breaks off is for the decoder to judge.
        let stuck = end == read && zlib.total_out() == made;
        if status == Status::StreamEnd || stuck {
            return Some(end);
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
