//! [`written`]: a TIFF with the pages of another (TIFF 6.0), each encoded anew, upright: in strips, packed by Deflate, with no
//! word besides. The encoder of the library writes one page, and that unpacked.

use std::borrow::Cow;
use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use image::metadata::Orientation;
use image::{ColorType, ImageFormat};

use crate::sanitize::format::image::check::{self, DecodedPicture};
use crate::sanitize::format::image::directory::{self, TiffPages};
use crate::sanitize::format::image::page::{TiffColour, TiffPage};
use crate::sanitize::format::image::pixels;
use crate::sanitize::{ChangedObject, ObjectAction, ObjectKind, Rejection, Work};

/// How a file begins: it has the order of bytes in which pictures are held.
const BEGINNING: &[u8; 4] = if cfg!(target_endian = "big") { b"MM\0*" } else { b"II*\0" };

/// About how much of a picture is one strip, in bytes.
const STRIP: usize = 256 << 10;

/// How often all bytes of a file may be unpacked, for pages and strips that share them.
const SHARED: usize = 16;

/// Types of values (section 2).
const SHORT: u16 = 3;
const LONG: u16 = 4;
const RATIONAL: u16 = 5;

/// All pages of a TIFF, in a file of their own. Smaller copies of pages, and masks, are left out, which is noted.
///
/// # Errors
/// [`Rejection::Malformed`] if one cannot be shown; [`Rejection::Unsupported`] for pixels that nobody here reads;
/// [`Rejection::OverLimit`].
pub(super) fn written(file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let mut out = TiffWriter::new();
    let others = read(file, work, &mut |page| out.page(page))?;
    work.leave_out(ChangedObject::new(ObjectKind::Picture, ObjectAction::LeftOut, others));
    Ok(out.file)
}

/// Decodes a TIFF page by page. How many directories are of no page.
fn read(
    file: &[u8],
    work: &mut Work<'_>,
    see: &mut dyn FnMut(DecodedPicture) -> Result<(), Rejection>,
) -> Result<u64, Rejection> {
    let TiffPages { shown, others } = TiffPages::of(file)?;
    work.items(shown.len())?;
    if shown.is_empty() {
        return Err(Rejection::Malformed);
    }
    let (mut left, mut turned) = (file.len().saturating_mul(SHARED), None);
    for place in shown {
        let page = TiffPage::of(file, place)?;
        if page.colour != TiffColour::Float {
            see(pixels::picture(&page, &mut left, work)?)?;
        } else if page.is_sparing() {
            // The library reads the page that a file begins with.
            let file = turned.get_or_insert_with(|| file.to_vec());
            directory::begin_with(file, place);
            let picture = check::decoded(file, ImageFormat::Tiff, work)?;
            let associated = page.alpha.is_some_and(|alpha| alpha.associated);
            see(DecodedPicture { associated, resolution: page.resolution, ..picture })?;
        } else {
            return Err(Rejection::Malformed);
        }
    }
    Ok(others)
}

/// An entry of a directory.
struct TiffEntry {
    tag: u16,
    kind: u16,
    count: usize,
    /// Its values, one behind the other.
    bytes: Vec<u8>,
}

impl TiffEntry {
    fn shorts(tag: u16, values: &[u16]) -> Self {
        let bytes = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        Self { tag, kind: SHORT, count: values.len(), bytes }
    }

    fn longs(tag: u16, values: &[u32]) -> Self {
        let bytes = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        Self { tag, kind: LONG, count: values.len(), bytes }
    }

    /// A fraction: what is above its line, and what is below.
    fn ratio(tag: u16, value: [u32; 2]) -> Self {
        Self { kind: RATIONAL, count: 1, ..Self::longs(tag, &value) }
    }
}

/// A file in the making.
struct TiffWriter {
    file: Vec<u8>,
    /// Where the place of the next directory is to be written.
    link: usize,
}

impl TiffWriter {
    fn new() -> Self {
        let mut file = BEGINNING.to_vec();
        file.extend([0_u8; 4]);
        Self { file, link: BEGINNING.len() }
    }

    /// Appends a page.
    fn page(&mut self, page: DecodedPicture) -> Result<(), Rejection> {
        let (bilevel, associated) = (page.bilevel, page.associated);
        let resolution = if on_its_side(page.turn) { page.resolution.sideways() } else { page.resolution };
        let picture = page.upright();
        let (width, height, colour) = (picture.width(), picture.height(), picture.color());
        let samples = u16::from(colour.channel_count()).max(1);
        let (bits, dots): (u16, Cow<'_, [u8]>) = if bilevel {
            (1, Cow::Owned(packed(picture.as_bytes(), width)))
        } else {
            (colour.bits_per_pixel() / samples, Cow::Borrowed(picture.as_bytes()))
        };
        let row = dots.len().checked_div(height as usize).unwrap_or(0).max(1);
        let rows = (STRIP / row).max(1);
        let (mut places, mut lengths) = (Vec::new(), Vec::new());
        for strip in dots.chunks(rows.saturating_mul(row)) {
            let strip = deflated(strip)?;
            places.push(self.place()?);
            lengths.push(u32::try_from(strip.len()).map_err(|_| Rejection::OverLimit)?);
            self.file.extend(strip);
        }
        let float = matches!(colour, ColorType::Rgb32F | ColorType::Rgba32F);
        let each = |value: u16| vec![value; usize::from(samples)];
        let mut entries = vec![
            TiffEntry::longs(256, &[width]),
            TiffEntry::longs(257, &[height]),
            TiffEntry::shorts(258, &each(bits)),
            // Deflate.
            TiffEntry::shorts(259, &[8]),
            // Light from 0 on, or red, green and blue.
            TiffEntry::shorts(262, &[if colour.has_color() { 2 } else { 1 }]),
            TiffEntry::longs(273, &places),
            TiffEntry::shorts(277, &[samples]),
            TiffEntry::longs(278, &[u32::try_from(rows).unwrap_or(u32::MAX).min(height)]),
            TiffEntry::longs(279, &lengths),
            TiffEntry::ratio(282, resolution.across),
            TiffEntry::ratio(283, resolution.down),
            TiffEntry::shorts(296, &[resolution.unit]),
        ];
        if colour.has_alpha() {
            entries.push(TiffEntry::shorts(338, &[if associated { 1 } else { 2 }]));
        }
        entries.push(TiffEntry::shorts(339, &each(if float { 3 } else { 1 })));
        self.directory(entries)
    }

    /// Appends a directory, to which the one before leads; its entries come by their tags.
    fn directory(&mut self, entries: Vec<TiffEntry>) -> Result<(), Rejection> {
        let many = |count: usize| u32::try_from(count).map_err(|_| Rejection::OverLimit);
        let count = u16::try_from(entries.len()).map_err(|_| Rejection::OverLimit)?;
        let mut lines = Vec::new();
        for entry in entries {
            let mut value = entry.bytes;
            // What does not fit stands elsewhere.
            if value.len() > 4 {
                let at = self.place()?;
                self.file.append(&mut value);
                value.extend(at.to_ne_bytes());
            }
            value.resize(4, 0);
            lines.extend(entry.tag.to_ne_bytes());
            lines.extend(entry.kind.to_ne_bytes());
            lines.extend(many(entry.count)?.to_ne_bytes());
            lines.append(&mut value);
        }
        let at = self.place()?.to_ne_bytes();
        let link = self.link..self.link.saturating_add(at.len());
        if let Some(link) = self.file.get_mut(link) {
            link.copy_from_slice(&at);
        }
        self.file.extend(count.to_ne_bytes());
        self.file.append(&mut lines);
        self.link = self.file.len();
        self.file.extend([0_u8; 4]);
        Ok(())
    }

    /// Where the next thing is put: on a word of two bytes.
    fn place(&mut self) -> Result<u32, Rejection> {
        if self.file.len() % 2 == 1 {
            self.file.push(0);
        }
        u32::try_from(self.file.len()).map_err(|_| Rejection::OverLimit)
    }
}

/// Whether a picture that is put upright is as wide as it was high.
fn on_its_side(turn: Orientation) -> bool {
    matches!(
        turn,
        Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH
    )
}

fn deflated(strip: &[u8]) -> Result<Vec<u8>, Rejection> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let done = encoder.write_all(strip).and_then(|()| encoder.finish());
    done.map_err(|_| Rejection::OverLimit)
}

/// Dots of black and white, of a byte each, in bits: each row begins with a byte.
fn packed(dots: &[u8], width: u32) -> Vec<u8> {
    let rows = dots.chunks((width as usize).max(1));
    rows.flat_map(|row| row.chunks(8).map(byte)).collect()
}

fn byte(dots: &[u8]) -> u8 {
    let bits: [u8; 8] = [0x80, 0x40, 0x20, 0x10, 8, 4, 2, 1];
    let light = dots.iter().zip(bits).filter(|(dot, _)| **dot >= 0x80);
    light.fold(0, |byte, (_, bit)| byte | bit)
}

#[cfg(test)]
mod tests {
    use image::{DynamicImage, GrayImage, ImageBuffer, Luma, Rgb, Rgba, RgbaImage};

    use super::*;
    use crate::sanitize::bench::Bench;
    use crate::sanitize::format::image::resolution::TiffResolution;
    use crate::sanitize::{FileKind, Note};

    fn page(picture: DynamicImage, bilevel: bool) -> DecodedPicture {
        let resolution = TiffResolution::default();
        DecodedPicture { picture, turn: Orientation::NoTransforms, bilevel, associated: false, resolution }
    }

    /// Pages of every kind of colours, of sides that fill no byte and no strip.
    fn kinds() -> Vec<(DynamicImage, bool)> {
        let grey = GrayImage::from_fn(700, 901, |x, y| Luma([(x ^ y) as u8]));
        let black = GrayImage::from_fn(37, 21, |x, y| Luma([if (x ^ y) & 3 == 0 { 255 } else { 0 }]));
        let colours = RgbaImage::from_fn(300, 401, |x, y| Rgba([x as u8, y as u8, 9, (x * y) as u8]));
        let float = ImageBuffer::from_fn(9, 5, |x, y| Rgb([x as f32 / 9.0, y as f32 / 5.0, 0.5_f32]));
        let colours = DynamicImage::ImageRgba8(colours);
        vec![
            (DynamicImage::ImageLuma8(grey.clone()), false),
            (DynamicImage::ImageLuma8(black), true),
            (DynamicImage::ImageRgb8(colours.to_rgb8()), false),
            (DynamicImage::ImageLuma16(DynamicImage::ImageLuma8(grey).to_luma16()), false),
            (DynamicImage::ImageRgb16(colours.to_rgb16()), false),
            (DynamicImage::ImageRgba16(colours.to_rgba16()), false),
            (colours, false),
            (DynamicImage::ImageRgb32F(float), false),
        ]
    }

    fn pages(file: &[u8]) -> Vec<(DynamicImage, bool)> {
        let (mut bench, mut pages) = (Bench::disarming(), Vec::new());
        let others = read(file, &mut bench.work(), &mut |page| {
            pages.push((page.picture, page.bilevel));
            Ok(())
        });
        assert_eq!(others, Ok(0));
        pages
    }

    #[test]
    fn all_pages_stay_as_they_are() {
        let mut out = TiffWriter::new();
        for (picture, bilevel) in kinds() {
            out.page(page(picture, bilevel)).expect("a page");
        }
        assert!(pages(&out.file) == kinds());
        let file = [out.file.as_slice(), b"SECRET"].concat();
        let mut bench = Bench::disarming();
        let (clean, stats) = bench.clean(FileKind::Image, &file).expect("a clean file");
        assert!(clean == out.file, "{} bytes of {}", clean.len(), out.file.len());
        assert_eq!(stats.notes.get(&Note::Dropped), None);
    }

    #[test]
    fn what_decoders_of_one_page_read_is_the_first() {
        let mut out = TiffWriter::new();
        for (picture, bilevel) in kinds() {
            out.page(page(picture, bilevel)).expect("a page");
        }
        let first = image::load_from_memory_with_format(&out.file, ImageFormat::Tiff).expect("a picture");
        assert!(kinds().first().is_some_and(|(picture, _)| *picture == first));
    }

    #[test]
    fn a_page_that_cannot_be_shown_is_not_lost() {
        let mut out = TiffWriter::new();
        for _ in 0..3 {
            out.page(page(DynamicImage::new_luma8(8, 8), false)).expect("a page");
        }
        let strip = read(&out.file, &mut Bench::disarming().work(), &mut |_| Ok(()));
        assert_eq!(strip, Ok(0));
        // Of the last page, the strip.
        let last = memchr::memmem::rfind(&out.file, b"\x78\x9c").expect("a strip");
        out.file.get_mut(last..last + 6).expect("its beginning").fill(0xff);
        assert_eq!(Bench::disarming().clean(FileKind::Image, &out.file).err(), Some(Rejection::Malformed));
    }

    #[test]
    fn dots_are_packed_row_by_row() {
        assert_eq!(packed(&[255, 0, 255, 0, 0, 0, 0, 0, 255, 0, 200], 9), [0b1010_0000, 0b1000_0000, 0x40]);
        assert!(packed(&[], 0).is_empty());
    }
}
