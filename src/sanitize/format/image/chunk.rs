//! [`ChunkPacking`]: how the strips or tiles of a TIFF's page are packed (TIFF 6.0, sections 9 to 14 and 22), and the rows that
//! they hold.

use std::borrow::Cow;
use std::io::Read;
use std::iter::repeat_n;

use flate2::read::ZlibDecoder;
use weezl::decode::Configuration;
use weezl::{BitOrder, LzwStatus};

use crate::base::reader::ByteReader;
use crate::sanitize::Rejection;
use crate::sanitize::format::image::fax::{self, FaxCoding};
use crate::sanitize::format::image::strip_jpeg::{self, StripSize};

/// How bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TiffCompression {
    /// They are as they are.
    Nothing,
    Fax(FaxCoding),
    Lzw,
    Jpeg,
    Deflate,
    PackBits,
}

impl TiffCompression {
    /// By the number of tag 259, and what tag 292 says of Group 3; `None` for others.
    pub(super) fn of(number: u64, options: u64) -> Option<Self> {
        Some(match number {
            1 => Self::Nothing,
            2 => Self::Fax(FaxCoding::Bytewise),
            3 if options & 1 == 1 => Self::Fax(FaxCoding::Group3Differences),
            3 => Self::Fax(FaxCoding::Group3),
            4 => Self::Fax(FaxCoding::Group4),
            5 => Self::Lzw,
            7 => Self::Jpeg,
            8 | 32_946 => Self::Deflate,
            32_773 => Self::PackBits,
            _ => return None,
        })
    }

    /// Whether samples may have been told by how they differ from those before.
    pub(super) fn predicts(self) -> bool {
        matches!(self, Self::Lzw | Self::Deflate)
    }
}

/// How samples are told by those before them (tag 317).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TiffPredictor {
    /// They are as they are.
    Nothing,
    /// By how they differ from those before (TIFF 6.0, section 14).
    Horizontal,
    /// The same with numbers of floating point, byte by byte (TIFF Technical Note 3), for which it is alone.
    Float,
}

impl TiffPredictor {
    /// By the number of tag 317; `None` for others.
    pub(super) fn of(number: u64) -> Option<Self> {
        Some(match number {
            1 => Self::Nothing,
            2 => Self::Horizontal,
            3 => Self::Float,
            _ => return None,
        })
    }
}

/// How strips or tiles are packed.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkPacking<'f> {
    pub(super) compression: TiffCompression,
    /// How many bits a sample has.
    pub(super) bits: u32,
    /// How many samples of a pixel stand together.
    pub(super) samples: usize,
    /// How samples are told; nothing, if they are packed in a way for which tag 317 has no meaning.
    pub(super) predictor: TiffPredictor,
    /// Whether the first dot is the last bit of its byte (tag 266).
    pub(super) reversed: bool,
    /// Whether the first byte of a number is its most.
    pub(super) big: bool,
    /// What comes before each strip that is a JPEG.
    pub(super) tables: &'f [u8],
}

/// How much a strip or tile holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkSize {
    /// How many pixels a row has.
    pub(super) width: u32,
    pub(super) rows: u32,
    /// How many rows another of the page has.
    pub(super) most: u32,
}

impl ChunkPacking<'_> {
    /// Whether it is one that is read here, of whole numbers.
    pub(super) fn is_known(&self) -> bool {
        match (self.compression, self.predictor) {
            (TiffCompression::Fax(_), _) => self.bits == 1 && self.samples == 1,
            (TiffCompression::Jpeg, _) => self.bits == 8,
            (_, TiffPredictor::Nothing) => (1..=16).contains(&self.bits),
            (_, TiffPredictor::Horizontal) => matches!(self.bits, 8 | 16),
            (_, TiffPredictor::Float) => false,
        }
    }

    /// How many bytes a row of so many pixels has.
    pub(super) fn row(&self, width: u32) -> usize {
        let samples = (width as usize).saturating_mul(self.samples);
        samples.saturating_mul(self.bits as usize).div_ceil(8)
    }

    /// The rows of a strip or tile, each from a byte on.
    ///
    /// # Errors
    /// [`Rejection::Malformed`]; [`Rejection::Unsupported`] for ways to pack that nobody here reads.
    pub(super) fn unpacked(&self, packed: &[u8], size: ChunkSize) -> Result<Vec<u8>, Rejection> {
        let length = self.row(size.width).saturating_mul(size.rows as usize);
        let turned = self.reversed && self.compression != TiffCompression::Jpeg;
        let packed: Cow<'_, [u8]> = if turned {
            Cow::Owned(packed.iter().map(|byte| byte.reverse_bits()).collect())
        } else {
            Cow::Borrowed(packed)
        };
        let rows = match self.compression {
            TiffCompression::Nothing => packed.get(..length).map(<[u8]>::to_vec),
            TiffCompression::Fax(coding) => fax::rows(&packed, coding, size.width, size.rows),
            // As some programs packed before there was a standard.
            TiffCompression::Lzw if matches!(*packed, [0, second, ..] if second & 1 == 1) => {
                return Err(Rejection::Unsupported);
            }
            TiffCompression::Lzw => lzw(&packed, length),
            TiffCompression::Jpeg => return self.of_jpeg(&packed, size),
            TiffCompression::Deflate => inflated(&packed, length),
            TiffCompression::PackBits => repeated(&packed, length),
        };
        let mut rows = rows.ok_or(Rejection::Malformed)?;
        if self.predictor == TiffPredictor::Horizontal {
            rows.chunks_mut(self.row(size.width).max(1)).for_each(|row| self.add_up(row));
        }
        Ok(rows)
    }

    fn of_jpeg(&self, packed: &[u8], size: ChunkSize) -> Result<Vec<u8>, Rejection> {
        let size = StripSize {
            width: size.width as usize,
            rows: size.rows as usize,
            most: size.most as usize,
            samples: self.samples,
        };
        strip_jpeg::rows(packed, self.tables, size)
    }

    /// Adds to each sample of a row the one before it (section 14).
    fn add_up(&self, row: &mut [u8]) {
        let samples = self.samples.max(1);
        if self.bits == 8 {
            let mut before = vec![0_u8; samples];
            for pixel in row.chunks_exact_mut(samples) {
                for (sample, before) in pixel.iter_mut().zip(&mut before) {
                    *sample = sample.wrapping_add(*before);
                    *before = *sample;
                }
            }
        } else {
            let mut before = vec![0_u16; samples];
            for pixel in row.chunks_exact_mut(samples.saturating_mul(2)) {
                for (sample, before) in pixel.chunks_exact_mut(2).zip(&mut before) {
                    if let [first, second] = sample {
                        let bytes = [*first, *second];
                        let number =
                            if self.big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) };
                        *before = number.wrapping_add(*before);
                        let bytes = if self.big { before.to_be_bytes() } else { before.to_le_bytes() };
                        [*first, *second] = bytes;
                    }
                }
            }
        }
    }
}

/// So many bytes, packed by LZW (section 13).
fn lzw(packed: &[u8], length: usize) -> Option<Vec<u8>> {
    let configuration = Configuration::with_tiff_size_switch(BitOrder::Msb, 8);
    let mut decoder = configuration.with_yield_on_full_buffer(true).build();
    let mut out = vec![0; length];
    let (mut read, mut made) = (0_usize, 0_usize);
    while made < length {
        let done = decoder.decode_bytes(packed.get(read..)?, out.get_mut(made..)?);
        read = read.saturating_add(done.consumed_in);
        made = made.saturating_add(done.consumed_out);
        let stuck = done.consumed_in == 0 && done.consumed_out == 0;
        if stuck || !matches!(done.status, Ok(LzwStatus::Ok)) {
            break;
        }
    }
    (made >= length).then_some(out)
}

/// So many bytes, packed by Deflate.
fn inflated(packed: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut out = vec![0; length];
    ZlibDecoder::new(packed).read_exact(&mut out).ok()?;
    Some(out)
}

/// So many bytes, of which those that repeat are told once (section 9).
fn repeated(packed: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut rest = ByteReader::new(packed);
    let mut out = Vec::with_capacity(length);
    while out.len() < length {
        match rest.byte()? {
            count @ 0..=127 => out.extend(rest.take(usize::from(count).saturating_add(1))?),
            128 => {}
            count => out.extend(repeat_n(rest.byte()?, 257_usize.saturating_sub(usize::from(count)))),
        }
    }
    out.truncate(length);
    Some(out)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    fn packing(compression: TiffCompression, bits: u32, samples: usize) -> ChunkPacking<'static> {
        ChunkPacking {
            compression,
            bits,
            samples,
            predictor: TiffPredictor::Nothing,
            reversed: false,
            big: false,
            tables: b"",
        }
    }

    fn size(width: u32, rows: u32) -> ChunkSize {
        ChunkSize { width, rows, most: rows }
    }

    fn deflated(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("packed")
    }

    #[test]
    fn rows_are_unpacked() {
        let rows: Vec<u8> = (0..48).map(|n| n / 5).collect();
        let lzw =
            weezl::encode::Encoder::with_tiff_size_switch(BitOrder::Msb, 8).encode(&rows).expect("packed");
        let runs: Vec<u8> = rows.chunks(5).flat_map(|run| [(257 - run.len()) as u8, run[0]]).collect();
        let plain: Vec<u8> = [&[128, 47][..], &rows].concat();
        for (compression, packed) in [
            (TiffCompression::Nothing, rows.clone()),
            (TiffCompression::Lzw, lzw),
            (TiffCompression::Deflate, deflated(&rows)),
            (TiffCompression::PackBits, runs),
            (TiffCompression::PackBits, plain),
        ] {
            let trailed = [packed.as_slice(), b"SECRET"].concat();
            let packing = packing(compression, 8, 3);
            assert_eq!(packing.unpacked(&packed, size(8, 2)), Ok(rows.clone()), "{compression:?}");
            assert_eq!(packing.unpacked(&trailed, size(8, 2)), Ok(rows.clone()), "{compression:?}");
            let cut = &packed[..packed.len() / 2];
            assert_eq!(packing.unpacked(cut, size(8, 2)), Err(Rejection::Malformed), "{compression:?}");
            // The first dot in the last bit.
            let turned: Vec<u8> = packed.iter().map(|byte| byte.reverse_bits()).collect();
            let packing = ChunkPacking { reversed: true, ..packing };
            assert_eq!(packing.unpacked(&turned, size(8, 2)), Ok(rows.clone()), "{compression:?}");
        }
        let old = packing(TiffCompression::Lzw, 8, 3).unpacked(&[0, 1, 2, 3], size(8, 2));
        assert_eq!(old, Err(Rejection::Unsupported));
    }

    #[test]
    fn samples_are_added_up() {
        let predictor = TiffPredictor::Horizontal;
        let packing = ChunkPacking { predictor, ..packing(TiffCompression::Deflate, 8, 2) };
        let told = deflated(&[1, 10, 2, 20, 3, 250, 7, 7, 0, 1, 255, 0]);
        assert_eq!(packing.unpacked(&told, size(3, 2)), Ok(vec![1, 10, 3, 30, 6, 24, 7, 7, 7, 8, 6, 8]));
        for (big, told, want) in [
            (false, [0xff, 0, 1, 0, 0xff, 0xff], [0xff, 0, 0, 1, 0xff, 0]),
            (true, [0, 0xff, 0, 1, 0xff, 0xff], [0, 0xff, 1, 0, 0, 0xff]),
        ] {
            let packing = ChunkPacking { bits: 16, samples: 1, big, ..packing };
            assert_eq!(packing.unpacked(&deflated(&told), size(3, 1)), Ok(want.to_vec()));
        }
    }

    #[test]
    fn what_is_read_is_known() {
        let fax = TiffCompression::of(3, 5).expect("a way to pack");
        assert_eq!(fax, TiffCompression::Fax(FaxCoding::Group3Differences));
        assert!(packing(fax, 1, 1).is_known() && !packing(fax, 8, 1).is_known());
        assert!(
            packing(TiffCompression::Jpeg, 8, 3).is_known()
                && !packing(TiffCompression::Jpeg, 16, 3).is_known()
        );
        assert!(
            packing(TiffCompression::Lzw, 12, 1).is_known()
                && !packing(TiffCompression::Lzw, 32, 1).is_known()
        );
        for (predictor, bits, known) in [
            (TiffPredictor::Horizontal, 4, false),
            (TiffPredictor::Horizontal, 16, true),
            (TiffPredictor::Float, 16, false),
        ] {
            let predicted = ChunkPacking { predictor, ..packing(TiffCompression::Lzw, bits, 1) };
            assert_eq!(predicted.is_known(), known, "{predictor:?} {bits}");
        }
        assert_eq!([0, 4, 34_894].map(TiffPredictor::of), [None; 3]);
        // JPEG as it was at first, JBIG, LZMA, Zstandard.
        assert!([6, 34_661, 34_925, 50_000].iter().all(|number| TiffCompression::of(*number, 0).is_none()));
    }
}
