//! A PNG's chunks (W3C PNG 3rd edition, section 5).

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::io::{self, Read};

use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc, Decompress, FlushDecompress, Status};

use crate::base::reader::ByteReader;
use crate::sanitize::format::image::check::MEMORY;
use crate::sanitize::format::image::exif;
use crate::sanitize::format::image::png_rows::{COLOURS, PngHeader, PngSides};
use crate::sanitize::{Rejection, Work};

/// How a PNG begins.
pub(super) const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

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

/// The header, the palette, and how much of each of its colours is seen, or of one colour.
const HEADER: &[u8] = b"IHDR";
const PALETTE: &[u8] = b"PLTE";
const SEEN: &[u8] = b"tRNS";

/// Those of a picture that moves: one moves if the first of them comes before its pixels (11.3.6).
const MOVES: &[&[u8; 4]] = &[b"acTL", b"fcTL", FRAME];

/// Where a frame is and for how long, behind its number.
const CONTROL: &[u8] = b"fcTL";

/// The pixels of a later frame, behind a number of four bytes.
const FRAME: &[u8; 4] = b"fdAT";

/// EXIF, of which only stays how the picture is turned.
const TURN: &[u8; 4] = b"eXIf";

/// The picture; `None` if its chunks cannot be told apart.
///
/// # Errors
/// [`Rejection::OverLimit`].
pub(super) fn written(file: &[u8], work: &mut Work<'_>) -> Result<Option<Vec<u8>>, Rejection> {
    let Some((header, chunks)) = chunks(file, work)? else { return Ok(None) };
    let mut reader = PngReader { header, room: work.room(), used: [false; COLOURS] };
    let pixels: Vec<&[u8]> =
        chunks.iter().filter(|(name, _)| *name == b"IDAT").map(|(_, data)| *data).collect();
    let Ok(Some(mut pixels)) = reader.pixels(&pixels.concat(), header.sides) else { return Ok(None) };
    let Some(mut frames) = reader.frames(&chunks)? else { return Ok(None) };
    let mut turn =
        chunks.iter().filter(|(name, _)| *name == TURN).find_map(|(_, data)| exif::orientation(data));
    let mut out = Vec::with_capacity(file.len());
    out.extend(SIGNATURE);
    let (mut number, mut frame) = (0_u32, PngPixels::default());
    let mut numbered = |data: &[u8]| {
        let all = [&number.to_be_bytes()[..], data].concat();
        number = number.saturating_add(1);
        all
    };
    for (place, (name, data)) in chunks.iter().enumerate() {
        match *name {
            b"IDAT" => {
                let data = pixels.next(data);
                if !data.is_empty() {
                    put(&mut out, name, &data);
                }
            }
            name if name == FRAME => {
                if place.checked_sub(1).and_then(|before| chunks.get(before)).is_none_or(|(n, _)| *n != FRAME)
                {
                    frame = frames.pop_front().unwrap_or_default();
                }
                let data = frame.next(data.get(4..).unwrap_or_default());
                if !data.is_empty() {
                    put(&mut out, name, &numbered(&data));
                }
            }
            CONTROL => put(&mut out, name, &numbered(data.get(4..).unwrap_or_default())),
            name if name == TURN => {}
            PALETTE => put(&mut out, name, &reader.used_only(data, 3)),
            SEEN if header.has_palette() => put(&mut out, name, &reader.used_only(data, 1)),
            name => {
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

/// What the header says, and the chunks that stay, the header first; `None` if they cannot be told apart.
///
/// # Errors
/// [`Rejection::OverLimit`].
fn chunks<'f>(file: &'f [u8], work: &mut Work<'_>) -> Result<Option<(PngHeader, Vec<Chunk<'f>>)>, Rejection> {
    let Some(rest) = file.strip_prefix(SIGNATURE) else { return Ok(None) };
    let mut rest = ByteReader::new(rest);
    let Some(first) = chunk(&mut rest).filter(|(name, data)| *name == HEADER && data.len() == 13) else {
        return Ok(None);
    };
    let Some(mut header) = PngHeader::of(first.1) else { return Ok(None) };
    let mut chunks: Vec<Chunk<'_>> = vec![first];
    let (mut seen, mut moves) = (HashSet::from([HEADER]), false);
    loop {
        work.items(1)?;
        let Some((name, mut data)) = chunk(&mut rest) else { return Ok(None) };
        if name == b"IEND" {
            chunks.retain(|(name, _)| moves || !is_of(name, MOVES));
            return Ok(Some((header, chunks)));
        }
        if name == PALETTE && !seen.contains(name) {
            let Some(palette) = header.palette(data) else { continue };
            data = palette;
        }
        let needed = NEEDED.iter().any(|(needed, most)| name == *needed && data.len() <= *most)
            && header.allows(name, data);
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

/// Compressed pixels, as far as the rows reach.
#[derive(Default)]
struct PngPixels {
    /// The same packed anew, where they held more than the rows.
    anew: Option<Vec<u8>>,
    /// How many bytes of them are still to come.
    left: usize,
}

impl PngPixels {
    /// What takes the place of the next chunk of them.
    fn next<'f>(&mut self, data: &'f [u8]) -> Cow<'f, [u8]> {
        match &mut self.anew {
            Some(anew) => Cow::Owned(std::mem::take(anew)),
            None => {
                let data = data.get(..self.left).unwrap_or(data);
                self.left = self.left.saturating_sub(data.len());
                Cow::Borrowed(data)
            }
        }
    }
}

/// Reads pixels as far as to know where they end, and which colours of a palette they choose.
struct PngReader {
    header: PngHeader,
    /// How much more may be unpacked, in bytes.
    room: usize,
    used: [bool; COLOURS],
}

impl PngReader {
    /// The pixels of the later frames; `None` if they cannot be unpacked.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`] if that is too much.
    fn frames(&mut self, chunks: &[Chunk<'_>]) -> Result<Option<VecDeque<PngPixels>>, Rejection> {
        let (mut frames, mut sides) = (VecDeque::new(), self.header.sides);
        for group in chunks.chunk_by(|(name, _), (next, _)| *name == FRAME && name == next) {
            let Some((name, data)) = group.first() else { continue };
            if *name == CONTROL {
                let said = data.get(4..).and_then(|data| PngSides::of(&mut ByteReader::new(data)));
                sides = said.unwrap_or(sides);
            }
            if *name != FRAME {
                continue;
            }
            let frame: Vec<&[u8]> = group.iter().filter_map(|(_, data)| data.get(4..)).collect();
            let Some(pixels) = self.pixels(&frame.concat(), sides)? else { return Ok(None) };
            frames.push_back(pixels);
        }
        Ok(Some(frames))
    }

    /// Compressed pixels up to their end, if they can be unpacked; what lies behind that, and behind the last row, is none of them.
    /// What they unfold to is taken from the room.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`] if that is too much.
    fn pixels(&mut self, packed: &[u8], sides: PngSides) -> Result<Option<PngPixels>, Rejection> {
        if packed.is_empty() {
            return Ok(Some(PngPixels::default()));
        }
        let wanted = self.header.length(sides);
        // One of more is not decoded, either.
        let reads = self.header.has_palette() && wanted as u64 <= MEMORY;
        let mut zlib = Decompress::new(true);
        let (mut scratch, mut rows) = (vec![0; 64 << 10], Vec::new());
        loop {
            let (read, made) = (zlib.total_in(), zlib.total_out());
            if usize::try_from(made).unwrap_or(usize::MAX) > self.room {
                return Err(Rejection::OverLimit);
            }
            let rest = usize::try_from(read).ok().and_then(|read| packed.get(read..)).unwrap_or_default();
            let Ok(status) = zlib.decompress(rest, &mut scratch, FlushDecompress::None) else {
                return Ok(None);
            };
            let new = usize::try_from(zlib.total_out().saturating_sub(made)).unwrap_or_default();
            if reads && rows.len() < wanted {
                rows.extend(scratch.get(..new).unwrap_or_default());
            }
            // A picture that breaks off is for the decoder to judge.
            let stuck = zlib.total_in() == read && new == 0;
            if status == Status::StreamEnd || stuck {
                break;
            }
        }
        let made = usize::try_from(zlib.total_out()).unwrap_or(usize::MAX);
        self.room = self.room.saturating_sub(made);
        if reads && rows.len() >= wanted {
            self.header.mark(&rows, sides, &mut self.used);
        } else {
            self.used.fill(true);
        }
        let anew = if made > wanted { packed_anew(packed, wanted) } else { None };
        Ok(Some(PngPixels { anew, left: usize::try_from(zlib.total_in()).unwrap_or(usize::MAX) }))
    }

    /// What is said of colours, so many bytes of each, without what is said of those that no pixel has.
    fn used_only(&self, data: &[u8], bytes: usize) -> Vec<u8> {
        let mut data = data.to_vec();
        for (said, used) in data.chunks_mut(bytes).zip(self.used) {
            if !used {
                said.fill(0);
            }
        }
        data
    }
}

/// So many bytes of what was packed, packed anew.
fn packed_anew(packed: &[u8], wanted: usize) -> Option<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    io::copy(&mut ZlibDecoder::new(packed).take(wanted as u64), &mut encoder).ok()?;
    encoder.finish().ok()
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
