//! [`TiffPage`]: what a page of a TIFF says of its pixels (TIFF 6.0): how many there are, what their samples mean, and where the
//! strips or tiles are that hold them.

use image::metadata::Orientation;

use crate::sanitize::Rejection;
use crate::sanitize::format::image::check::SIDE;
use crate::sanitize::format::image::chunk::{ChunkPacking, ChunkSize, TiffCompression, TiffPredictor};
use crate::sanitize::format::image::directory::{TiffDirectory, TiffNumbers};
use crate::sanitize::format::image::resolution::TiffResolution;

/// More samples than a pixel of any picture has.
const SAMPLES: usize = 64;

/// More strips and tiles than a page has.
const CHUNKS: usize = 1 << 20;

/// What the samples of a pixel mean (tag 262).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TiffColour {
    /// How light it is, or how dark.
    Grey {
        /// Whether 0 is white.
        dark: bool,
    },
    Rgb,
    Cmyk,
    YCbCr,
    /// Which of these colours it has.
    Palette(Vec<[u8; 3]>),
    /// Red, green and blue, each a number of floating point.
    Float,
}

impl TiffColour {
    /// How many samples tell it.
    fn samples(&self) -> usize {
        match self {
            Self::Grey { .. } | Self::Palette(_) => 1,
            Self::Rgb | Self::YCbCr | Self::Float => 3,
            Self::Cmyk => 4,
        }
    }
}

/// The sample that says how much of a pixel is seen (tag 338).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TiffAlpha {
    /// Which of them it is.
    pub(super) sample: usize,
    /// Whether the colours were multiplied by it.
    pub(super) associated: bool,
}

/// A page, as its directory tells it.
#[derive(Debug)]
pub(super) struct TiffPage<'f> {
    file: &'f [u8],
    directory: TiffDirectory<'f>,
    pub(super) width: u32,
    pub(super) height: u32,
    /// How many samples a pixel has.
    pub(super) samples: usize,
    pub(super) colour: TiffColour,
    pub(super) alpha: Option<TiffAlpha>,
    /// Whether each strip or tile holds one sample of its pixels only.
    pub(super) planar: bool,
    /// Whether it consists of tiles, not of strips.
    tiled: bool,
    /// How many pixels a strip or tile has from left to right, and from top to bottom.
    pub(super) chunk_width: u32,
    pub(super) chunk_height: u32,
    pub(super) packing: ChunkPacking<'f>,
    pub(super) resolution: TiffResolution,
    pub(super) turn: Orientation,
}

impl<'f> TiffPage<'f> {
    /// The page whose directory is at this place.
    ///
    /// # Errors
    /// [`Rejection::Malformed`]; [`Rejection::Unsupported`] for colours and ways to pack that nobody here reads;
    /// [`Rejection::OverLimit`].
    pub(super) fn of(file: &'f [u8], place: u64) -> Result<Self, Rejection> {
        let numbers = TiffNumbers::of(file);
        let directory = TiffDirectory::of(numbers, place).ok_or(Rejection::Malformed)?;
        let number = |tag: u16, default: u64| directory.first(tag).unwrap_or(default);
        let (width, height) = (side(number(256, 0))?, side(number(257, 0))?);
        let samples = usize::try_from(number(277, 1)).unwrap_or(usize::MAX);
        if !(1..=SAMPLES).contains(&samples) {
            return Err(Rejection::Malformed);
        }
        let compression = TiffCompression::of(number(259, 1), number(292, 0));
        let compression = compression.ok_or(Rejection::Unsupported)?;
        let bits = u32::try_from(same(&directory, 258, samples)?).map_err(|_| Rejection::Unsupported)?;
        let planar = samples > 1 && number(284, 1) == 2;
        // What is packed otherwise says nothing by that tag (section 14).
        let predictor = if compression.predicts() { number(317, 1) } else { 1 };
        let is_jpeg = compression == TiffCompression::Jpeg;
        let packing = ChunkPacking {
            compression,
            bits,
            samples: if planar { 1 } else { samples },
            predictor: TiffPredictor::of(predictor).ok_or(Rejection::Unsupported)?,
            reversed: number(266, 1) == 2,
            big: numbers.big,
            tables: directory.bytes(347).filter(|_| is_jpeg).unwrap_or_default(),
        };
        let colour = colour(&directory, &packing, samples)?;
        if samples < colour.samples() {
            return Err(Rejection::Malformed);
        }
        let tiled = directory.count(322) > 0;
        let (chunk_width, chunk_height) = if tiled {
            (side(number(322, 0))?, side(number(323, 0))?)
        } else {
            let rows = u32::try_from(number(278, 0)).unwrap_or(u32::MAX);
            (width, if rows == 0 { height } else { rows.min(height) })
        };
        let turn = u8::try_from(number(274, 1)).ok().and_then(Orientation::from_exif);
        Ok(Self {
            file,
            width,
            height,
            samples,
            alpha: alpha(&directory, &colour, samples),
            colour,
            planar,
            tiled,
            chunk_width,
            chunk_height,
            packing,
            resolution: TiffResolution::of(&directory),
            turn: turn.unwrap_or(Orientation::NoTransforms),
            directory,
        })
    }

    /// Whether it is of black and white.
    pub(super) fn is_bilevel(&self) -> bool {
        self.packing.bits == 1 && self.alpha.is_none() && matches!(self.colour, TiffColour::Grey { .. })
    }

    /// Whether its samples need more than a byte.
    pub(super) fn is_deep(&self) -> bool {
        self.packing.bits > 8
    }

    /// How many samples a pixel has where it is shown.
    pub(super) fn channels(&self) -> usize {
        match (&self.colour, self.alpha) {
            (_, Some(_)) => 4,
            (TiffColour::Grey { .. }, None) => 1,
            _ => 3,
        }
    }

    /// How many strips or tiles lie side by side, and one above the other.
    fn grid(&self) -> [usize; 2] {
        let across = self.width.div_ceil(self.chunk_width.max(1));
        let down = self.height.div_ceil(self.chunk_height.max(1));
        [across as usize, down as usize]
    }

    /// Where the strips or tiles of the first sample begin in the picture: from the left and from the top.
    pub(super) fn corners(&self) -> impl Iterator<Item = [usize; 2]> {
        let [across, down] = self.grid();
        let (width, height) = (self.chunk_width as usize, self.chunk_height as usize);
        let row =
            move |y: usize| (0..across).map(move |x| [x.saturating_mul(width), y.saturating_mul(height)]);
        (0..down).flat_map(row)
    }

    /// How many strips or tiles hold one sample, and how many all.
    fn counts(&self) -> [usize; 2] {
        let [across, down] = self.grid();
        let plane = across.saturating_mul(down);
        [plane, if self.planar { plane.saturating_mul(self.samples) } else { plane }]
    }

    /// How many bytes all of them have when they are unpacked.
    pub(super) fn unpacked_length(&self) -> u64 {
        let [across, down] = self.grid();
        let rows = if self.tiled {
            u64::from(self.chunk_height).saturating_mul(down as u64)
        } else {
            u64::from(self.height)
        };
        let planes = if self.planar { self.samples } else { 1 };
        let row = self.packing.row(self.chunk_width).saturating_mul(across).saturating_mul(planes);
        rows.saturating_mul(row as u64)
    }

    /// Where its strips or tiles are.
    ///
    /// # Errors
    /// [`Rejection::Malformed`] if there are fewer than it needs; [`Rejection::OverLimit`] if it needs more than any has.
    pub(super) fn places(&self) -> Result<TiffPlaces, Rejection> {
        let (starts, lengths) =
            if self.tiled && self.directory.count(324) > 0 { (324, 325) } else { (273, 279) };
        let [_, count] = self.counts();
        if count > CHUNKS {
            return Err(Rejection::OverLimit);
        }
        let starts = self.directory.all(starts, count);
        if starts.len() < count {
            return Err(Rejection::Malformed);
        }
        Ok(TiffPlaces { starts, lengths: self.directory.all(lengths, count) })
    }

    /// Whether there is no more of anything than the page needs: for who reads all that is there.
    pub(super) fn is_sparing(&self) -> bool {
        let [_, count] = self.counts();
        let count = count.min(CHUNKS);
        let few = [258, 338, 339].iter().all(|tag| self.directory.count(*tag) <= SAMPLES as u64);
        few && [273, 279, 324, 325].iter().all(|tag| self.directory.count(*tag) <= count as u64)
    }

    /// The rows of a strip or tile, of each of its samples apart if the page has them so. Packed bytes are taken from `left`.
    ///
    /// # Errors
    /// [`Rejection::Malformed`], [`Rejection::Unsupported`]; [`Rejection::OverLimit`] if nothing is left.
    pub(super) fn planes(
        &self,
        n: usize,
        places: &TiffPlaces,
        left: &mut usize,
    ) -> Result<Vec<Vec<u8>>, Rejection> {
        let [plane, all] = self.counts();
        let [across, _] = self.grid();
        let above = (self.chunk_height as usize).saturating_mul(n.checked_div(across).unwrap_or(0));
        let rows = if self.tiled {
            self.chunk_height
        } else {
            self.chunk_height.min(self.height.saturating_sub(u32::try_from(above).unwrap_or(u32::MAX)))
        };
        let size = ChunkSize { width: self.chunk_width, rows, most: self.chunk_height };
        (n..all).step_by(plane.max(1)).map(|n| self.unpacked(n, places, size, left)).collect()
    }

    fn unpacked(
        &self,
        n: usize,
        places: &TiffPlaces,
        size: ChunkSize,
        left: &mut usize,
    ) -> Result<Vec<u8>, Rejection> {
        let start = places.starts.get(n).and_then(|start| usize::try_from(*start).ok());
        let rest = start.and_then(|start| self.file.get(start..)).ok_or(Rejection::Malformed)?;
        let length = match places.lengths.get(n) {
            None | Some(0) => rest.len(),
            Some(length) => usize::try_from(*length).unwrap_or(usize::MAX),
        };
        let length = match self.packing.compression {
            // Some programs say more than there is.
            TiffCompression::Nothing => {
                length.min(self.packing.row(size.width).saturating_mul(size.rows as usize))
            }
            _ => length,
        };
        let packed = rest.get(..length).unwrap_or(rest);
        let read = packed.len().saturating_add(self.packing.tables.len());
        *left = left.checked_sub(read).ok_or(Rejection::OverLimit)?;
        self.packing.unpacked(packed, size)
    }
}

/// Where the strips or tiles of a page are in the file.
#[derive(Debug)]
pub(super) struct TiffPlaces {
    starts: Vec<u64>,
    lengths: Vec<u64>,
}

/// How wide or high something is.
fn side(number: u64) -> Result<u32, Rejection> {
    match u32::try_from(number) {
        Ok(0) => Err(Rejection::Malformed),
        Ok(side) if side <= SIDE => Ok(side),
        _ => Err(Rejection::OverLimit),
    }
}

/// What a tag says of all samples alike; 1, if it is not there.
fn same(directory: &TiffDirectory<'_>, tag: u16, samples: usize) -> Result<u64, Rejection> {
    let all = directory.all(tag, samples);
    let first = all.first().copied().unwrap_or(1);
    if all.iter().all(|one| *one == first) { Ok(first) } else { Err(Rejection::Unsupported) }
}

/// What its samples mean.
fn colour(
    directory: &TiffDirectory<'_>,
    packing: &ChunkPacking<'_>,
    samples: usize,
) -> Result<TiffColour, Rejection> {
    let fax = matches!(packing.compression, TiffCompression::Fax(_));
    let kind = directory.first(262).unwrap_or(if samples >= 3 { 2 } else { u64::from(!fax) });
    let format = same(directory, 339, samples)?;
    if format == 3 {
        // Others hold that the tag has a meaning however samples are packed.
        let told = packing.compression.predicts() || directory.first(317).unwrap_or(1) == 1;
        let plain = !fax && packing.compression != TiffCompression::Jpeg && !packing.reversed && told;
        let known = plain && kind == 2 && packing.bits == 32;
        return if known { Ok(TiffColour::Float) } else { Err(Rejection::Unsupported) };
    }
    // Whole numbers without a sign, also where nobody says what they are.
    if !matches!(format, 1 | 4) || !packing.is_known() {
        return Err(Rejection::Unsupported);
    }
    match kind {
        0 | 1 => Ok(TiffColour::Grey { dark: kind == 0 }),
        2 => Ok(TiffColour::Rgb),
        3 if packing.bits <= 8 => palette(directory, packing.bits),
        // Other inks have no colours that all readers know.
        5 if directory.first(332).unwrap_or(1) == 1 => Ok(TiffColour::Cmyk),
        // Only within a JPEG pixels share their colours.
        6 if packing.compression == TiffCompression::Jpeg => Ok(TiffColour::YCbCr),
        6 if packing.bits == 8 && directory.all(530, 2) == [1, 1] => Ok(TiffColour::YCbCr),
        _ => Err(Rejection::Unsupported),
    }
}

/// Colours that samples of so many bits choose from (tag 320): all reds, all greens, all blues.
fn palette(directory: &TiffDirectory<'_>, bits: u32) -> Result<TiffColour, Rejection> {
    let colours = 1_usize << bits.min(8);
    let map = directory.all(320, colours.saturating_mul(3));
    let mut parts = map.chunks_exact(colours);
    let (Some(reds), Some(greens), Some(blues)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(Rejection::Malformed);
    };
    // Some programs write bytes where numbers of two belong.
    let shift = if map.iter().any(|value| *value > 255) { 8 } else { 0 };
    let byte = |value: &u64| u8::try_from(value >> shift).unwrap_or(u8::MAX);
    let all = reds.iter().zip(greens).zip(blues);
    Ok(TiffColour::Palette(all.map(|((red, green), blue)| [byte(red), byte(green), byte(blue)]).collect()))
}

/// Which sample says how much of a pixel is seen.
fn alpha(directory: &TiffDirectory<'_>, colour: &TiffColour, samples: usize) -> Option<TiffAlpha> {
    let own = colour.samples();
    let extra = directory.all(338, samples.saturating_sub(own));
    match extra.iter().position(|kind| matches!(kind, 1 | 2)) {
        Some(at) => Some(TiffAlpha { sample: own.saturating_add(at), associated: extra.get(at) == Some(&1) }),
        // Some programs do not say what a fourth sample is.
        None => {
            let fourth = extra.is_empty() && own == 3 && samples == 4;
            fourth.then_some(TiffAlpha { sample: own, associated: false })
        }
    }
}
