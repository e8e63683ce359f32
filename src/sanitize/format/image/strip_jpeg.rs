//! [`rows`]: rows of a strip or tile that is a JPEG (TIFF Technical Note 2), in the colours that it holds.

use zune_jpeg::JpegDecoder;
use zune_jpeg::errors::DecodeErrors;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::options::DecoderOptions;

use crate::base::reader::ByteReader;
use crate::sanitize::Rejection;
use crate::sanitize::format::image::jpeg::{self, START};

/// By how many pixels a picture may be larger than its strip: it consists of blocks.
const SLACK: usize = 64;

/// How much of a picture is wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct StripSize {
    /// How many pixels a row has.
    pub(super) width: usize,
    pub(super) rows: usize,
    /// How many rows another strip of the page has.
    pub(super) most: usize,
    /// How many samples a pixel has.
    pub(super) samples: usize,
}

/// Samples of so many rows. `tables` come before each strip of the page.
///
/// # Errors
/// [`Rejection::Malformed`]; [`Rejection::Unsupported`] for kinds of JPEG that nobody here reads.
pub(super) fn rows(packed: &[u8], tables: &[u8], size: StripSize) -> Result<Vec<u8>, Rejection> {
    let whole = whole(packed, tables).ok_or(Rejection::Malformed)?;
    let options = DecoderOptions::default()
        .set_strict_mode(false)
        .set_max_width(size.width.saturating_add(SLACK))
        .set_max_height(size.most.saturating_add(SLACK));
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(whole.as_slice()), options);
    decoder.decode_headers().map_err(rejection)?;
    let colours = decoder.input_colorspace().ok_or(Rejection::Malformed)?;
    let components = decoder.info().map_or(0, |info| usize::from(info.components));
    let (width, height) = decoder.dimensions().ok_or(Rejection::Malformed)?;
    if components != size.samples || width < size.width || height < size.rows {
        return Err(Rejection::Malformed);
    }
    if colours.num_components() != components {
        return Err(Rejection::Unsupported);
    }
    // What they mean, the page says.
    decoder.set_options(options.jpeg_set_out_colorspace(colours));
    let samples = decoder.decode().map_err(rejection)?;
    let wanted = size.width.saturating_mul(size.samples);
    let rows = samples.chunks(width.saturating_mul(size.samples).max(1)).take(size.rows);
    Ok(rows.flat_map(|row| row.get(..wanted).unwrap_or(row)).copied().collect())
}

/// One file of the tables and the strip.
fn whole(packed: &[u8], tables: &[u8]) -> Option<Vec<u8>> {
    let mut out = START.to_vec();
    if !tables.is_empty() {
        segments(tables, &mut out)?;
    }
    let scan = segments(packed, &mut out)?;
    out.extend(scan);
    Some(out)
}

/// Appends segments up to the first scan, without those that say what colours are meant, and others of applications. What
/// follows them.
fn segments<'f>(bytes: &'f [u8], out: &mut Vec<u8>) -> Option<&'f [u8]> {
    let mut rest = ByteReader::new(bytes.strip_prefix(START)?);
    loop {
        let scan = rest.rest();
        match jpeg::marker(&mut rest) {
            Some(jpeg::SCAN) => return Some(scan),
            None | Some(jpeg::END) => return Some(&[]),
            Some(marker) => {
                let length = rest.array()?;
                let content = rest.take(usize::from(u16::from_be_bytes(length)).checked_sub(2)?)?;
                if !matches!(marker, 0xe0..=0xef | 0xfe) {
                    out.extend([0xff, marker]);
                    out.extend(length);
                    out.extend(content);
                }
            }
        }
    }
}

fn rejection(error: DecodeErrors) -> Rejection {
    match error {
        DecodeErrors::Unsupported(_) => Rejection::Unsupported,
        _ => Rejection::Malformed,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use image::{DynamicImage, GrayImage, ImageFormat, Luma};

    use super::*;

    fn grey(side: u32) -> Vec<u8> {
        let picture = GrayImage::from_fn(side, side, |x, y| Luma([(x * 7 + y * 3) as u8]));
        let mut out = Cursor::new(Vec::new());
        DynamicImage::ImageLuma8(picture).write_to(&mut out, ImageFormat::Jpeg).expect("a picture");
        out.into_inner()
    }

    /// The same in two: its tables, and the rest.
    fn parted(file: &[u8]) -> [Vec<u8>; 2] {
        let mut parts = [START.to_vec(), START.to_vec()];
        let mut rest = ByteReader::new(file.strip_prefix(START).expect("a beginning"));
        loop {
            let before = rest.rest();
            let marker = jpeg::marker(&mut rest).expect("a marker");
            if marker == jpeg::SCAN {
                parts[0].extend([0xff, jpeg::END]);
                parts[1].extend(before);
                return parts;
            }
            let length = usize::from(u16::from_be_bytes(rest.array().expect("a length")));
            rest.take(length - 2).expect("a segment");
            parts[usize::from(!matches!(marker, 0xc4 | 0xdb))].extend(&before[..length + 2]);
        }
    }

    #[test]
    fn a_strip_is_read_with_its_tables() {
        let file = grey(40);
        let size = StripSize { width: 40, rows: 40, most: 40, samples: 1 };
        let want = image::load_from_memory(&file).expect("pixels").into_luma8().into_raw();
        assert_eq!(rows(&file, b"", size), Ok(want.clone()));
        let [tables, strip] = parted(&file);
        assert_eq!(rows(&strip, &tables, size), Ok(want.clone()));
        assert_eq!(rows(&strip, b"", size), Err(Rejection::Malformed));
        // Of a picture in whole blocks, what is seen.
        let part = StripSize { width: 33, rows: 35, most: 40, samples: 1 };
        let seen: Vec<u8> = want.chunks(40).take(35).flat_map(|row| &row[..33]).copied().collect();
        assert_eq!(rows(&file, b"", part), Ok(seen));
    }

    #[test]
    fn what_does_not_fill_its_strip_is_broken() {
        let file = grey(40);
        for (width, high, most, samples) in [(41, 40, 40, 1), (40, 41, 41, 1), (40, 40, 40, 3)] {
            let size = StripSize { width, rows: high, most, samples };
            assert_eq!(rows(&file, b"", size), Err(Rejection::Malformed), "{size:?}");
        }
        let small = StripSize { width: 8, rows: 8, most: 8, samples: 1 };
        assert_eq!(rows(&grey(200), b"", small), Err(Rejection::Malformed));
        assert_eq!(rows(b"\xff\xd8\xff", b"", small), Err(Rejection::Malformed));
        assert_eq!(rows(b"", b"", small), Err(Rejection::Malformed));
    }
}
