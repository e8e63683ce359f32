//! A chunked body (RFC 9112 section 7.1), taken apart and put together again: what goes on has no extensions, no
//! trailers and no second way to be read.

use bytes::{BufMut, Bytes, BytesMut};
use memchr::memchr;

use crate::gateway::listen::head::{HeadRefusal, field};

/// The longest line of a chunk's size and its extensions, in bytes; browsers and SDKs send none.
const SIZE_LINE: usize = 1 << 10;

/// All trailers together, in bytes.
const TRAILERS: usize = 16 << 10;

/// What is put out at once, in bytes.
const PIECE: usize = 64 << 10;

/// Reads one chunked body.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    state: ChunkState,
    trailers: usize,
}

#[derive(Debug, Default)]
enum ChunkState {
    /// A line with the size of the next chunk.
    #[default]
    Size,
    /// So many bytes of a chunk.
    Data(u64),
    /// The line break after a chunk.
    Break,
    /// Trailers, which are dropped: nobody behind us asked for them (RFC 9110 section 6.5.1).
    Trailers,
    Over,
}

impl Chunks {
    /// Whether the body has ended.
    pub(super) fn over(&self) -> bool {
        matches!(self.state, ChunkState::Over)
    }

    /// How many bytes may come that need not be looked at.
    pub(super) fn plain(&self) -> u64 {
        if let ChunkState::Data(left) = self.state { left } else { 0 }
    }

    /// So many bytes have passed unseen.
    pub(super) fn passed(&mut self, bytes: usize) {
        if let ChunkState::Data(left) = &mut self.state {
            *left = left.saturating_sub(bytes as u64);
            if *left == 0 {
                self.state = ChunkState::Break;
            }
        }
    }

    /// Moves what is complete from `raw` to `out`, until there is a piece of it or `raw` says no more.
    pub(super) fn read(&mut self, raw: &mut BytesMut, out: &mut BytesMut) -> Result<(), HeadRefusal> {
        while out.len() < PIECE {
            match &mut self.state {
                ChunkState::Size => {
                    let Some(line) = line(raw, SIZE_LINE)? else { return Ok(()) };
                    let size = size(&line)?;
                    if size == 0 {
                        self.state = ChunkState::Trailers;
                    } else {
                        out.extend_from_slice(format!("{size:x}\r\n").as_bytes());
                        self.state = ChunkState::Data(size);
                    }
                }
                ChunkState::Data(left) => {
                    let here = usize::try_from(*left).unwrap_or(usize::MAX).min(raw.len());
                    if here == 0 {
                        return Ok(());
                    }
                    out.put(raw.split_to(here));
                    self.passed(here);
                }
                ChunkState::Break => match raw.get(..2) {
                    Some(b"\r\n") => {
                        drop(raw.split_to(2));
                        out.extend_from_slice(b"\r\n");
                        self.state = ChunkState::Size;
                    }
                    Some(_) => return Err(HeadRefusal::Malformed("a chunk is not as long as it says")),
                    None if raw.first().is_some_and(|byte| *byte != b'\r') => {
                        return Err(HeadRefusal::Malformed("a chunk is not as long as it says"));
                    }
                    None => return Ok(()),
                },
                ChunkState::Trailers => {
                    let Some(line) = line(raw, TRAILERS - self.trailers)? else { return Ok(()) };
                    if line.is_empty() {
                        out.extend_from_slice(b"0\r\n\r\n");
                        self.state = ChunkState::Over;
                        return Ok(());
                    }
                    field(&line)?;
                    self.trailers = (self.trailers + line.len() + 2).min(TRAILERS);
                }
                ChunkState::Over => return Ok(()),
            }
        }
        Ok(())
    }
}

/// A whole line without its end, taken out of `raw`.
fn line(raw: &mut BytesMut, most: usize) -> Result<Option<Bytes>, HeadRefusal> {
    let end = memchr(b'\n', raw);
    if end.unwrap_or(raw.len()) > most {
        return Err(HeadRefusal::Malformed("a line between chunks is too long"));
    }
    let Some(end) = end else { return Ok(None) };
    let line = raw.split_to(end + 1).freeze();
    match line.strip_suffix(b"\r\n") {
        Some(text) if !text.contains(&b'\r') => Ok(Some(line.slice(..text.len()))),
        _ => Err(HeadRefusal::Malformed("a line between chunks does not end with CR LF")),
    }
}

/// Hexadecimal digits, then perhaps extensions, of which nothing is known and nothing goes on.
fn size(line: &[u8]) -> Result<u64, HeadRefusal> {
    const BAD: HeadRefusal = HeadRefusal::Malformed("the size of a chunk is not a hexadecimal number");
    let end = line.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(line.len());
    let (digits, rest) = line.split_at_checked(end).ok_or(BAD)?;
    let extended = rest.is_empty()
        || rest.first() == Some(&b';')
            && rest.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~' | 0x80..));
    // Fifteen digits: no sum of sizes and overheads overflows anywhere.
    if !(1..=15).contains(&digits.len()) || !extended {
        return Err(BAD);
    }
    let digits = std::str::from_utf8(digits).map_err(|_| BAD)?;
    u64::from_str_radix(digits, 16).map_err(|_| BAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What goes on of a body that comes in two pieces, and what is left of it.
    fn passed(body: &[u8], cut: usize) -> Result<(Vec<u8>, Vec<u8>), HeadRefusal> {
        let (mut chunks, mut raw, mut out) = (Chunks::default(), BytesMut::new(), BytesMut::new());
        for piece in [&body[..cut], &body[cut..]] {
            raw.extend_from_slice(piece);
            chunks.read(&mut raw, &mut out)?;
        }
        assert_eq!(chunks.over(), out.ends_with(b"0\r\n\r\n"));
        Ok((out.to_vec(), raw.to_vec()))
    }

    #[test]
    fn a_body_has_one_form_however_it_is_cut() {
        let body =
            b"5;a=\"b\"\r\nhello\r\n0B\r\n, worldwide\r\n000\r\nX: y\r\nContent-Length: 3\r\n\r\nGET /next";
        for cut in 0..=body.len() {
            let (out, left) = passed(body, cut).unwrap();
            assert_eq!(out, b"5\r\nhello\r\nb\r\n, worldwide\r\n0\r\n\r\n", "{cut}");
            assert_eq!(left, b"GET /next", "{cut}");
        }
    }

    #[test]
    fn what_is_no_chunk_is_refused_however_it_is_cut() {
        let bodies: [&[u8]; 12] = [
            b"\r\n",
            b"0x5\r\nhello\r\n",
            b"+5\r\nhello\r\n",
            b"5 \r\nhello\r\n",
            b"5\nhello\n",
            b"5\rhello\r\n",
            b"5\r\nhello!!0\r\n",
            b"5\r\nhello\n0\r\n",
            b"5;a=\"\n\"\r\nhello\r\n",
            b"1000000000000000\r\n",
            b"0000000000000005\r\nhello\r\n",
            b"0\r\nno trailer\r\n\r\n",
        ];
        for body in bodies {
            for cut in 0..=body.len() {
                assert!(passed(body, cut).is_err(), "{:?} {cut}", String::from_utf8_lossy(body));
            }
        }
    }

    #[test]
    fn lines_between_chunks_are_bounded() {
        let mut raw = BytesMut::from(&vec![b'a'; SIZE_LINE + 1][..]);
        assert!(Chunks::default().read(&mut raw, &mut BytesMut::new()).is_err());
        let trailers = [b"0\r\n".to_vec(), b"x: y\r\n".repeat(TRAILERS)].concat();
        assert!(passed(&trailers, 0).is_err());
    }
}
