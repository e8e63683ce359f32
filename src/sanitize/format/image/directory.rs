//! [`TiffPages`]: where the pages of a TIFF are (TIFF 6.0, section 2): image file directories, each of which says where the
//! next is.

use std::collections::HashSet;

use crate::sanitize::Rejection;

/// More pages than any scan has.
const PAGES: usize = 10_000;

/// Among how many entries of a directory, which come by their tags, the first one is looked for.
const FIRST: usize = 16;

/// The tag that says what a directory is of (section 8): a page unless its bits tell a smaller copy of one, or a mask.
const KIND: u16 = 254;
const NO_PAGE: u32 = 0b101;

/// The directories of a TIFF.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TiffPages {
    /// Where those of its pages begin, in order.
    pub(super) shown: Vec<u32>,
    /// How many others there are: of smaller copies, of masks, and one that lies beyond the end.
    pub(super) others: u64,
}

impl TiffPages {
    /// Finds them. A file of nothing but smaller copies has the first of them for a page.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`] for more than any scan has.
    pub(super) fn of(file: &[u8]) -> Result<Self, Rejection> {
        let numbers = TiffNumbers { file, big: file.starts_with(b"MM") };
        let (mut pages, mut copies, mut seen) = (Self::default(), Vec::new(), HashSet::new());
        let mut next = numbers.long(4);
        while let Some(at) = next.filter(|at| *at > 0) {
            // A way back is the end.
            if !seen.insert(at) {
                break;
            }
            if seen.len() > PAGES {
                return Err(Rejection::OverLimit);
            }
            let place = usize::try_from(at).unwrap_or(usize::MAX);
            let Some(entries) = numbers.short(place) else {
                pages.others = pages.others.saturating_add(1);
                break;
            };
            if numbers.kind(place, entries) & NO_PAGE == 0 {
                pages.shown.push(at);
            } else {
                copies.push(at);
            }
            let length = usize::from(entries).saturating_mul(12).saturating_add(2);
            next = place.checked_add(length).and_then(|end| numbers.long(end));
        }
        let mut copies = copies.into_iter();
        if pages.shown.is_empty() {
            pages.shown.extend(copies.next());
        }
        pages.others = pages.others.saturating_add(copies.len() as u64);
        Ok(pages)
    }
}

/// Has a file begin with this directory, for decoders that read the first.
pub(super) fn begin_with(file: &mut [u8], directory: u32) {
    let bytes = if file.starts_with(b"MM") { directory.to_be_bytes() } else { directory.to_le_bytes() };
    if let Some(first) = file.get_mut(4..8) {
        first.copy_from_slice(&bytes);
    }
}

/// Numbers in the order of bytes that the file has.
struct TiffNumbers<'f> {
    file: &'f [u8],
    big: bool,
}

impl TiffNumbers<'_> {
    fn short(&self, at: usize) -> Option<u16> {
        let bytes = self.file.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if self.big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    fn long(&self, at: usize) -> Option<u32> {
        let bytes = self.file.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if self.big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    /// What the directory at a place is of; 0, a page, if it does not say.
    fn kind(&self, place: usize, entries: u16) -> u32 {
        let mut all = (0..usize::from(entries).min(FIRST))
            .map(|n| place.saturating_add(2).saturating_add(n.saturating_mul(12)));
        let kind = all.find(|at| self.short(*at) == Some(KIND)).and_then(|at| {
            let value = at.checked_add(8)?;
            // Some write a short number where a long one belongs.
            match self.short(at.checked_add(2)?)? {
                3 => self.short(value).map(u32::from),
                _ => self.long(value),
            }
        });
        kind.unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of directories, each of these kinds; the last leads to `end`.
    fn directories(big: bool, kinds: &[(u16, u32)], end: u32) -> Vec<u8> {
        let short = |n: u16| if big { n.to_be_bytes() } else { n.to_le_bytes() };
        let long = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
        let mut file = if big { b"MM\0*".to_vec() } else { b"II*\0".to_vec() };
        file.extend(long(8));
        for (n, (kind, value)) in kinds.iter().enumerate() {
            file.extend(short(1));
            file.extend(short(KIND));
            file.extend(short(*kind));
            file.extend(long(1));
            match kind {
                3 => [short(*value as u16), [0; 2]].into_iter().for_each(|half| file.extend(half)),
                _ => file.extend(long(*value)),
            }
            let next = file.len() as u32 + 4;
            file.extend(long(if n + 1 == kinds.len() { end } else { next }));
        }
        file
    }

    #[test]
    fn pages_are_told_from_copies_and_masks() {
        for big in [false, true] {
            for (kinds, end, shown, others) in [
                (&[(4, 0)][..], 0, &[8][..], 0),
                (&[(4, 0), (3, 2), (4, 2)], 0, &[8, 26, 44], 0),
                // A copy, a mask, and a copy that is one of several pages.
                (&[(4, 0), (4, 1), (3, 4), (4, 3), (4, 2)], 0, &[8, 80], 3),
                (&[(4, 1), (4, 0)], 0, &[26], 1),
                (&[(4, 1), (4, 1)], 0, &[8], 1),
                // In a circle, and beyond the end.
                (&[(4, 0), (4, 0)], 8, &[8, 26], 0),
                (&[(4, 0), (4, 0)], 4000, &[8, 26], 1),
            ] {
                let want = TiffPages { shown: shown.to_vec(), others };
                assert_eq!(TiffPages::of(&directories(big, kinds, end)), Ok(want), "{kinds:?} {big}");
            }
        }
        for none in [&b""[..], b"II*\0", b"II*\0\0\0\0\0", b"MM\0*\0\0"] {
            assert_eq!(TiffPages::of(none), Ok(TiffPages::default()));
        }
        let many = directories(false, &vec![(4, 0); PAGES + 1], 0);
        assert_eq!(TiffPages::of(&many), Err(Rejection::OverLimit));
    }

    #[test]
    fn a_file_begins_with_any_of_its_directories() {
        for big in [false, true] {
            let mut file = directories(big, &[(4, 0), (4, 0), (4, 0)], 0);
            begin_with(&mut file, 44);
            assert_eq!(TiffPages::of(&file).map(|pages| pages.shown), Ok(vec![44]));
        }
        begin_with(&mut [0; 3], 8);
    }
}
