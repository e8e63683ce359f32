//! How much packed bytes may unfold to: beyond [`FREE`] no more than [`RATIO`] times what was read of them so far.
//!
//! A bomb is known by what it does while it unfolds, since the sizes that a file states are its maker's. Deflate
//! reaches 1,032 to 1; text reaches 20, logs 50, blank pages that were scanned more than 200, but those are small.

use std::cell::Cell;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::rc::Rc;

use flate2::read::ZlibDecoder;

use crate::sanitize::budget::{FREE, RATIO};
use crate::sanitize::{Rejection, Work};

/// Bytes that are unfolded between two looks.
const STEP: u64 = 1 << 20;

fn too_much(unfolded: u64, read: u64) -> bool {
    unfolded > FREE && unfolded > read.saturating_mul(RATIO)
}

/// Appends to `out` all that a decoder gives, and takes it out of the budget. `read` tells how many packed bytes the
/// decoder has read.
///
/// # Errors
/// [`Rejection::Malformed`] where the decoder fails, [`Rejection::OverLimit`].
pub(super) fn all<R: Read>(
    mut decoder: R,
    read: impl Fn(&R) -> u64,
    out: &mut Vec<u8>,
    work: &mut Work<'_>,
) -> Result<(), Rejection> {
    let before = out.len();
    loop {
        let step = (&mut decoder).take(STEP).read_to_end(out).map_err(|_| Rejection::Malformed)?;
        let unfolded = out.len().saturating_sub(before);
        if unfolded > work.room() || too_much(unfolded as u64, read(&decoder)) {
            return Err(Rejection::OverLimit);
        }
        if (step as u64) < STEP {
            return work.unpacked(unfolded);
        }
    }
}

/// Whether a zlib stream (RFC 1950) unfolds to too much. One that is broken before that does not.
pub(super) fn is_bomb(packed: &[u8]) -> bool {
    let mut decoder = ZlibDecoder::new(packed);
    let mut scratch = vec![0; 1 << 16];
    let mut unfolded = 0_u64;
    while let Ok(more) = decoder.read(&mut scratch)
        && more > 0
    {
        unfolded = unfolded.saturating_add(more as u64);
        if too_much(unfolded, decoder.total_in()) {
            return true;
        }
    }
    false
}

/// A file that is read, and a count of the bytes read of it, which others may look at.
pub(super) struct CountingReader<'f> {
    file: Cursor<&'f [u8]>,
    count: ByteCount,
}

/// The count of a [`CountingReader`].
#[derive(Clone, Default)]
pub(super) struct ByteCount(Rc<Cell<u64>>);

impl ByteCount {
    /// Bytes read so far, also those that were read again.
    pub(super) fn get(&self) -> u64 {
        self.0.get()
    }
}

impl<'f> CountingReader<'f> {
    /// Begins at the beginning.
    pub(super) fn new(file: &'f [u8], count: ByteCount) -> Self {
        Self { file: Cursor::new(file), count }
    }
}

impl Read for CountingReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(out)?;
        self.count.0.set(self.count.get().saturating_add(read as u64));
        Ok(read)
    }
}

impl Seek for CountingReader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;
    use crate::sanitize::bench::Bench;

    const MIB: usize = 1 << 20;

    fn packed(content: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    /// The length of what came out.
    fn unfolded(packed: &[u8]) -> Result<usize, Rejection> {
        let (mut bench, mut out) = (Bench::disarming(), Vec::new());
        let read = |decoder: &ZlibDecoder<&[u8]>| decoder.total_in();
        all(ZlibDecoder::new(packed), read, &mut out, &mut bench.work()).map(|()| out.len())
    }

    #[test]
    fn what_is_nearly_nothing_may_unfold_to_little() {
        let blank = packed(&vec![0; 26 * MIB]);
        assert_eq!((unfolded(&blank), is_bomb(&blank)), (Ok(26 * MIB), false));
        let bomb = packed(&vec![0; 40 * MIB]);
        assert_eq!((unfolded(&bomb), is_bomb(&bomb)), (Err(Rejection::OverLimit), true));
        assert!(unfolded(&bomb[..bomb.len() / 2]).is_err() && !is_bomb(&bomb[..bomb.len() / 2]));
    }

    #[test]
    fn what_says_something_may_unfold_to_much() {
        let mut x = 1_u32;
        let mut content = vec![b' '; 40 * MIB];
        for line in content.chunks_mut(256) {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            line[..4].copy_from_slice(&x.to_le_bytes());
        }
        let packed = packed(&content);
        assert!(packed.len() * 200 > content.len(), "{}", packed.len());
        assert_eq!((unfolded(&packed), is_bomb(&packed)), (Ok(40 * MIB), false));
    }
}
