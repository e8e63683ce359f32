//! [`picture`]: the pixels of a TIFF's page, in colours that every format has.

use std::slice::Iter;

use image::{DynamicImage, ImageBuffer};

use crate::sanitize::format::image::check::{DecodedPicture, MEMORY};
use crate::sanitize::format::image::chunk::ChunkPacking;
use crate::sanitize::format::image::page::{TiffColour, TiffPage};
use crate::sanitize::{Rejection, Work};

/// Decodes a page. Packed bytes are taken from `left`.
///
/// # Errors
/// [`Rejection::Malformed`], [`Rejection::Unsupported`], [`Rejection::OverLimit`].
pub(super) fn picture(
    page: &TiffPage<'_>,
    left: &mut usize,
    work: &mut Work<'_>,
) -> Result<DecodedPicture, Rejection> {
    let (width, height, channels) = (page.width, page.height, page.channels());
    let sample: u64 = if page.is_deep() { 2 } else { 1 };
    let size = u64::from(width).saturating_mul(u64::from(height));
    let size = size.saturating_mul(channels as u64).saturating_mul(sample);
    if size.max(page.unpacked_length()) > MEMORY {
        return Err(Rejection::OverLimit);
    }
    // What it unfolds to is what a file of it takes: faxes of many pages are nearly nothing but white.
    let unfolded = page.unpacked_length().max(if page.is_bilevel() { size / 8 } else { size });
    work.unpacked(usize::try_from(unfolded).unwrap_or(usize::MAX))?;
    let picture = if page.is_deep() {
        let samples = shown(page, left, |sample| sample)?;
        match channels {
            1 => ImageBuffer::from_raw(width, height, samples).map(DynamicImage::ImageLuma16),
            3 => ImageBuffer::from_raw(width, height, samples).map(DynamicImage::ImageRgb16),
            _ => ImageBuffer::from_raw(width, height, samples).map(DynamicImage::ImageRgba16),
        }
    } else {
        let samples = shown(page, left, |sample| u8::try_from(sample).unwrap_or(u8::MAX))?;
        match channels {
            1 => ImageBuffer::from_raw(width, height, samples).map(DynamicImage::ImageLuma8),
            3 => ImageBuffer::from_raw(width, height, samples).map(DynamicImage::ImageRgb8),
            _ => ImageBuffer::from_raw(width, height, samples).map(DynamicImage::ImageRgba8),
        }
    };
    Ok(DecodedPicture {
        picture: picture.ok_or(Rejection::Malformed)?,
        turn: page.turn,
        bilevel: page.is_bilevel(),
        associated: page.alpha.is_some_and(|alpha| alpha.associated),
        resolution: page.resolution,
    })
}

/// The samples of all pixels, row by row.
fn shown<T: Copy + Default>(
    page: &TiffPage<'_>,
    left: &mut usize,
    narrow: fn(u16) -> T,
) -> Result<Vec<T>, Rejection> {
    let (width, height) = (page.width as usize, page.height as usize);
    let (wide, high) = (page.chunk_width as usize, page.chunk_height as usize);
    let (channels, samples) = (page.channels(), page.samples.max(1));
    let (places, pixels) = (page.places()?, PixelReader::of(page));
    let mut out = vec![T::default(); width.saturating_mul(height).saturating_mul(channels)];
    let mut row = vec![0_u16; wide.saturating_mul(samples)];
    for (n, [from, top]) in page.corners().enumerate() {
        let planes = page.planes(n, &places, left)?;
        let seen = wide.min(width.saturating_sub(from)).saturating_mul(channels);
        for y in 0..high.min(height.saturating_sub(top)) {
            read_row(page, &planes, y, &mut row);
            let start =
                top.saturating_add(y).saturating_mul(width).saturating_add(from).saturating_mul(channels);
            let line = out.get_mut(start..start.saturating_add(seen)).unwrap_or_default();
            for (pixel, shown) in row.chunks_exact(samples).zip(line.chunks_exact_mut(channels)) {
                for (sample, shown) in pixels.read(pixel).into_iter().zip(shown) {
                    *shown = narrow(sample);
                }
            }
        }
    }
    Ok(out)
}

/// The samples of a row of a strip or tile, pixel by pixel.
fn read_row(page: &TiffPage<'_>, planes: &[Vec<u8>], y: usize, row: &mut [u16]) {
    let length = page.packing.row(page.chunk_width).max(1);
    for (n, plane) in planes.iter().enumerate() {
        let bytes = plane.chunks(length).nth(y).unwrap_or_default();
        let places = row.iter_mut().skip(n).step_by(planes.len());
        for (place, sample) in places.zip(SampleReader::of(bytes, &page.packing)) {
            *place = sample;
        }
    }
}

/// Reads samples of any number of bits.
struct SampleReader<'b> {
    bytes: Iter<'b, u8>,
    bits: u32,
    /// Whether they are of two bytes of which the first is the least.
    little: bool,
    /// Bits of bytes that were begun, and how many these are.
    held: u32,
    count: u32,
}

impl<'b> SampleReader<'b> {
    fn of(bytes: &'b [u8], packing: &ChunkPacking<'_>) -> Self {
        let little = packing.bits == 16 && !packing.big;
        Self { bytes: bytes.iter(), bits: packing.bits.min(16), little, held: 0, count: 0 }
    }
}

impl Iterator for SampleReader<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        while self.count < self.bits {
            self.held = (self.held << 8) | u32::from(*self.bytes.next()?);
            self.count = self.count.saturating_add(8);
        }
        self.count = self.count.saturating_sub(self.bits);
        let sample = u16::try_from(self.held >> self.count).unwrap_or(u16::MAX);
        self.held &= (1 << self.count) - 1;
        Some(if self.little { sample.swap_bytes() } else { sample })
    }
}

/// Reads the colours of pixels.
struct PixelReader<'p> {
    colour: &'p TiffColour,
    /// Which sample says how much of a pixel is seen.
    alpha: Option<usize>,
    /// The most that a sample is in the file, and where it is shown.
    full: u32,
    most: u32,
}

impl<'p> PixelReader<'p> {
    fn of(page: &'p TiffPage<'_>) -> Self {
        Self {
            colour: &page.colour,
            alpha: page.alpha.map(|alpha| alpha.sample),
            full: (1 << page.packing.bits.min(16)) - 1,
            most: if page.is_deep() { 0xffff } else { 0xff },
        }
    }

    /// Red, green, blue, and how much is seen; of a picture in grey, the first of them is it.
    fn read(&self, samples: &[u16]) -> [u16; 4] {
        let alpha = self.alpha.and_then(|at| samples.get(at)).map_or(self.most, |alpha| self.scaled(*alpha));
        let [red, green, blue] = match (self.colour, samples) {
            (TiffColour::Grey { dark }, [grey, ..]) => {
                let grey = self.scaled(*grey);
                [if *dark { self.most.saturating_sub(grey) } else { grey }; 3]
            }
            (TiffColour::Rgb, [red, green, blue, ..]) => {
                [red, green, blue].map(|sample| self.scaled(*sample))
            }
            (TiffColour::Cmyk, [cyan, magenta, yellow, black, ..]) => {
                [cyan, magenta, yellow].map(|ink| self.unprinted(*ink, *black))
            }
            (TiffColour::YCbCr, [light, blue, red, ..]) => {
                lit([light, blue, red].map(|sample| i32::from(*sample)))
            }
            (TiffColour::Palette(colours), [at, ..]) => {
                colours.get(usize::from(*at)).copied().unwrap_or_default().map(u32::from)
            }
            _ => [0; 3],
        };
        [red, green, blue, alpha].map(|sample| u16::try_from(sample).unwrap_or(u16::MAX))
    }

    fn scaled(&self, sample: u16) -> u32 {
        let sample = u32::from(sample);
        if self.full == self.most {
            return sample;
        }
        let half = self.full / 2;
        sample.saturating_mul(self.most).saturating_add(half).checked_div(self.full).unwrap_or(0)
    }

    /// What an ink and black leave of the paper's light.
    fn unprinted(&self, ink: u16, black: u16) -> u32 {
        let paper = self.most.saturating_sub(self.scaled(black));
        let taken = self.scaled(ink).saturating_mul(paper).saturating_add(self.most / 2);
        paper.saturating_sub(taken.checked_div(self.most).unwrap_or(0))
    }
}

/// Red, green and blue of light and two differences (ITU-T T.871, section 7), in fractions of 65,536.
fn lit(samples: [i32; 3]) -> [u32; 3] {
    let [light, blue, red] = samples;
    let (blue, red) = (blue.saturating_sub(128), red.saturating_sub(128));
    let of = |parts: i32| {
        let value = light.saturating_add(parts.saturating_add(32_768) >> 16);
        u32::try_from(value.clamp(0, 255)).unwrap_or(0)
    };
    let green = blue.saturating_mul(-22_554).saturating_sub(red.saturating_mul(46_802));
    [of(red.saturating_mul(91_881)), of(green), of(blue.saturating_mul(116_130))]
}
