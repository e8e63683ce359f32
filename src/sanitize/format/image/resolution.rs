//! [`TiffResolution`]: how large a page of a TIFF is (TIFF 6.0, section 8), without which a fax is squashed.

use std::ops::RangeInclusive;

use crate::sanitize::format::image::directory::TiffDirectory;

/// In how many parts a pixel to a unit of length is told.
const PARTS: u64 = 10_000;

/// The fewest and the most pixels to a unit of length, in those parts: a hundredth of one, and a hundred thousand.
const SANE: RangeInclusive<u64> = 100..=100_000 * PARTS;

/// How many pixels there are to a unit of length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TiffResolution {
    /// From left to right: what is above the line of a fraction, and what is below.
    pub(super) across: [u32; 2],
    /// From top to bottom.
    pub(super) down: [u32; 2],
    /// The unit: 1 is none, 2 an inch, 3 a centimetre.
    pub(super) unit: u16,
}

impl Default for TiffResolution {
    /// As wide as high, of no unit.
    fn default() -> Self {
        Self { across: [1, 1], down: [1, 1], unit: 1 }
    }
}

impl TiffResolution {
    /// What a directory says of it, as far as that is sane.
    pub(super) fn of(directory: &TiffDirectory<'_>) -> Self {
        let side = |tag: u16| directory.ratio(tag).and_then(sane);
        let unit = directory.first(296).unwrap_or(2);
        match (side(282), side(283), u16::try_from(unit)) {
            (Some(across), Some(down), Ok(unit @ 1..=3)) => Self { across, down, unit },
            _ => Self::default(),
        }
    }

    /// The same of a page that is turned on its side.
    pub(super) fn sideways(self) -> Self {
        Self { across: self.down, down: self.across, unit: self.unit }
    }
}

/// A fraction, rounded, if it is one that pictures have.
fn sane(ratio: [u32; 2]) -> Option<[u32; 2]> {
    let [above, below] = ratio.map(u64::from);
    let parts = above.saturating_mul(PARTS).saturating_add(below / 2).checked_div(below)?;
    if !SANE.contains(&parts) {
        return None;
    }
    let [above, below] = if parts.is_multiple_of(PARTS) { [parts / PARTS, 1] } else { [parts, PARTS] };
    Some([u32::try_from(above).ok()?, u32::try_from(below).ok()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_rounded_and_bounded() {
        for (ratio, want) in [
            ([300, 1], Some([300, 1])),
            ([72_000_000, 1_000_000], Some([72, 1])),
            ([2032, 10], Some([2_032_000, 10_000])),
            ([2_032_000, 10_000], Some([2_032_000, 10_000])),
            ([1, 3], Some([3333, 10_000])),
            ([1, 0], None),
            ([0, 1], None),
            ([u32::MAX, 1], None),
            ([1, u32::MAX], None),
        ] {
            assert_eq!(sane(ratio), want, "{ratio:?}");
        }
    }
}
