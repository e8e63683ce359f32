//! [`TiffPages`]: where the pages of a TIFF are (TIFF 6.0, section 2; in BigTIFF, with wider numbers): image file directories,
//! each of which says where the next is. [`TiffDirectory`]: what one of them says.

use std::collections::{BTreeMap, HashSet};

use crate::sanitize::Rejection;

/// More pages than any scan has.
const PAGES: usize = 10_000;

/// More entries than any directory has.
const ENTRIES: usize = 1000;

/// Among how many entries of a directory, which come by their tags, the first one is looked for.
const FIRST: usize = 16;

/// The tag that says what a directory is of (section 8): a page unless its bits tell a smaller copy of one, or a mask.
const KIND: u16 = 254;
const NO_PAGE: u32 = 0b101;

/// The type of numbers of two bytes.
const SHORT: u16 = 3;

/// How a BigTIFF begins, in both orders of bytes: its places take eight bytes each.
const BIG: [&[u8]; 2] = [b"II+\0\x08\0\0\0", b"MM\0+\0\x08\0\0"];

/// Whether a file is a TIFF with wide numbers.
pub(super) fn is_big_tiff(file: &[u8]) -> bool {
    BIG.iter().any(|begin| file.starts_with(begin))
}

/// The directories of a TIFF.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TiffPages {
    /// Where those of its pages begin, in order.
    pub(super) shown: Vec<u64>,
    /// How many others there are: of smaller copies, of masks, and one that lies beyond the end.
    pub(super) others: u64,
}

impl TiffPages {
    /// Finds them. A file of nothing but smaller copies has the first of them for a page.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`] for more than any scan has.
    pub(super) fn of(file: &[u8]) -> Result<Self, Rejection> {
        let numbers = TiffNumbers::of(file);
        let (mut pages, mut copies, mut seen) = (Self::default(), Vec::new(), HashSet::new());
        let mut next = numbers.place(if numbers.wide { 8 } else { 4 });
        while let Some(at) = next.filter(|at| *at > 0) {
            // A way back is the end.
            if !seen.insert(at) {
                break;
            }
            if seen.len() > PAGES {
                return Err(Rejection::OverLimit);
            }
            let place = usize::try_from(at).unwrap_or(usize::MAX);
            let Some(entries) = numbers.entries(place) else {
                pages.others = pages.others.saturating_add(1);
                break;
            };
            if numbers.kind(place, entries) & NO_PAGE == 0 {
                pages.shown.push(at);
            } else {
                copies.push(at);
            }
            next = numbers.place(numbers.entry(place, entries));
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
pub(super) fn begin_with(file: &mut [u8], directory: u64) {
    let numbers = TiffNumbers::of(file);
    let (big, wide) = (numbers.big, numbers.wide);
    let narrow = u32::try_from(directory).unwrap_or(u32::MAX);
    let (place, bytes) = match (wide, big) {
        (true, true) => (8..16, directory.to_be_bytes().to_vec()),
        (true, false) => (8..16, directory.to_le_bytes().to_vec()),
        (false, true) => (4..8, narrow.to_be_bytes().to_vec()),
        (false, false) => (4..8, narrow.to_le_bytes().to_vec()),
    };
    if let Some(first) = file.get_mut(place) {
        first.copy_from_slice(&bytes);
    }
}

/// Numbers in the order of bytes that the file has.
#[derive(Clone, Copy, Debug)]
pub(super) struct TiffNumbers<'f> {
    file: &'f [u8],
    /// Whether the first byte of a number is its most.
    pub(super) big: bool,
    /// Whether places take eight bytes.
    wide: bool,
}

impl<'f> TiffNumbers<'f> {
    pub(super) fn of(file: &'f [u8]) -> Self {
        Self { file, big: file.starts_with(b"MM"), wide: is_big_tiff(file) }
    }

    fn array<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.file.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    fn short(&self, at: usize) -> Option<u16> {
        let bytes = self.array(at)?;
        Some(if self.big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    fn long(&self, at: usize) -> Option<u32> {
        let bytes = self.array(at)?;
        Some(if self.big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    fn long8(&self, at: usize) -> Option<u64> {
        let bytes = self.array(at)?;
        Some(if self.big { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
    }

    /// A place in the file, or how many values there are.
    fn place(&self, at: usize) -> Option<u64> {
        if self.wide { self.long8(at) } else { self.long(at).map(u64::from) }
    }

    /// How many entries the directory at a place has.
    fn entries(&self, place: usize) -> Option<usize> {
        if self.wide { usize::try_from(self.long8(place)?).ok() } else { self.short(place).map(usize::from) }
    }

    /// Where an entry of the directory at a place begins.
    fn entry(&self, place: usize, n: usize) -> usize {
        let (head, length) = if self.wide { (8, 20) } else { (2, 12) };
        place.saturating_add(head).saturating_add(n.saturating_mul(length))
    }

    /// What the directory at a place is of; 0, a page, if it does not say.
    fn kind(&self, place: usize, entries: usize) -> u32 {
        let mut all = (0..entries.min(FIRST)).map(|n| self.entry(place, n));
        let kind = all.find(|at| self.short(*at) == Some(KIND)).and_then(|at| {
            let value = at.checked_add(if self.wide { 12 } else { 8 })?;
            // Some write a short number where a long one belongs.
            match self.short(at.checked_add(2)?)? {
                SHORT => self.short(value).map(u32::from),
                _ => self.long(value),
            }
        });
        kind.unwrap_or(0)
    }

    /// A number of two bytes that the first directory has for a tag, as far as the directory is there (TIFF 6.0, section 2);
    /// `None` in a file that does not begin as a TIFF, or has wide numbers.
    pub(super) fn first_short(&self, tag: u16) -> Option<u16> {
        let begin: [u8; 4] = self.array(0)?;
        [*b"II*\0", *b"MM\0*"].contains(&begin).then_some(())?;
        let place = usize::try_from(self.long(4)?).ok()?;
        let all = (0..self.entries(place)?).map(|n| self.entry(place, n));
        let mut whole = all.take_while(|at| self.array::<12>(*at).is_some());
        let said = |at: usize| Some((self.short(at)?, self.short(at.checked_add(2)?)?));
        let entry = whole.find(|at| said(*at) == Some((tag, SHORT)))?;
        self.short(entry.checked_add(8)?)
    }

    /// What the entry at a place says of its values; `None` if it is not all there.
    fn field(&self, entry: usize) -> Option<TiffField> {
        let kind = self.short(entry.checked_add(2)?)?;
        let count = self.place(entry.checked_add(4)?)?;
        let (value, room) = if self.wide { (entry.checked_add(12)?, 8) } else { (entry.checked_add(8)?, 4) };
        // What does not fit stands elsewhere.
        let fits = width(kind).is_none_or(|width| count.saturating_mul(width as u64) <= room);
        let at = if fits { value } else { usize::try_from(self.place(value)?).unwrap_or(usize::MAX) };
        Some(TiffField { kind, count, at })
    }
}

/// The values of an entry.
#[derive(Clone, Copy, Debug)]
struct TiffField {
    kind: u16,
    count: u64,
    /// Where they stand.
    at: usize,
}

/// How many bytes a value of this type takes (section 2; types from 16 on are BigTIFF's).
fn width(kind: u16) -> Option<usize> {
    match kind {
        1 | 2 | 6 | 7 => Some(1),
        SHORT | 8 => Some(2),
        4 | 9 | 11 | 13 => Some(4),
        5 | 10 | 12 | 16..=18 => Some(8),
        _ => None,
    }
}

/// What a directory says.
#[derive(Debug)]
pub(super) struct TiffDirectory<'f> {
    numbers: TiffNumbers<'f>,
    fields: BTreeMap<u16, TiffField>,
}

impl<'f> TiffDirectory<'f> {
    /// The directory at a place; `None` if it is not all there, or has more entries than any has.
    pub(super) fn of(numbers: TiffNumbers<'f>, place: u64) -> Option<Self> {
        let place = usize::try_from(place).ok()?;
        let entries = numbers.entries(place).filter(|entries| *entries <= ENTRIES)?;
        let mut fields = BTreeMap::new();
        for n in 0..entries {
            let entry = numbers.entry(place, n);
            let (tag, field) = (numbers.short(entry)?, numbers.field(entry)?);
            fields.entry(tag).or_insert(field);
        }
        Some(Self { numbers, fields })
    }

    /// How many values there are of a tag.
    pub(super) fn count(&self, tag: u16) -> u64 {
        self.fields.get(&tag).map_or(0, |field| field.count)
    }

    /// The whole numbers of a tag, so many at most; none if it is not there, or has values of another type.
    pub(super) fn all(&self, tag: u16, most: usize) -> Vec<u64> {
        let Some(field) = self.fields.get(&tag) else { return Vec::new() };
        let count = usize::try_from(field.count).unwrap_or(usize::MAX).min(most);
        (0..count).map_while(|n| self.value(*field, n)).collect()
    }

    /// The first of them.
    pub(super) fn first(&self, tag: u16) -> Option<u64> {
        self.fields.get(&tag).filter(|field| field.count > 0).and_then(|field| self.value(*field, 0))
    }

    fn value(&self, field: TiffField, n: usize) -> Option<u64> {
        let at = field.at.checked_add(n.checked_mul(width(field.kind)?)?)?;
        match field.kind {
            1 | 7 => self.numbers.file.get(at).map(|byte| u64::from(*byte)),
            SHORT => self.numbers.short(at).map(u64::from),
            4 | 13 => self.numbers.long(at).map(u64::from),
            16 | 18 => self.numbers.long8(at),
            _ => None,
        }
    }

    /// The fraction of a tag: what is above its line, and what is below.
    pub(super) fn ratio(&self, tag: u16) -> Option<[u32; 2]> {
        let field = self.fields.get(&tag).filter(|field| field.kind == 5 && field.count > 0)?;
        Some([self.numbers.long(field.at)?, self.numbers.long(field.at.checked_add(4)?)?])
    }

    /// The bytes of a tag.
    pub(super) fn bytes(&self, tag: u16) -> Option<&'f [u8]> {
        let field = self.fields.get(&tag).filter(|field| matches!(field.kind, 1 | 7))?;
        let end = field.at.checked_add(usize::try_from(field.count).ok()?)?;
        self.numbers.file.get(field.at..end)
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

    /// A BigTIFF with two directories of an entry each, the second a smaller copy.
    fn wide(big: bool) -> Vec<u8> {
        let short = |n: u16| if big { n.to_be_bytes() } else { n.to_le_bytes() };
        let long8 = |n: u64| if big { n.to_be_bytes() } else { n.to_le_bytes() };
        let begin = if big { BIG[1] } else { BIG[0] };
        let mut file = [begin, &long8(16)].concat();
        for (kind, next) in [(0, 52), (1, 0)] {
            file.extend(long8(1));
            file.extend([short(KIND), short(3)].concat());
            file.extend(long8(1));
            file.extend([short(kind), [0; 2], [0; 2], [0; 2]].concat());
            file.extend(long8(next));
        }
        file
    }

    #[test]
    fn wide_numbers_are_read() {
        for big in [false, true] {
            let mut file = wide(big);
            assert_eq!(TiffPages::of(&file), Ok(TiffPages { shown: vec![16], others: 1 }));
            begin_with(&mut file, 52);
            let numbers = TiffNumbers::of(&file);
            let directory = TiffDirectory::of(numbers, 52).expect("a directory");
            assert_eq!((directory.first(KIND), directory.count(KIND)), (Some(1), 1));
            assert_eq!(TiffPages::of(&file), Ok(TiffPages { shown: vec![52], others: 0 }));
        }
    }

    #[test]
    fn values_stand_in_their_entry_or_elsewhere() {
        let mut file = b"II*\0\x08\0\0\0\x04\0".to_vec();
        for (tag, kind, count, value) in
            [(1_u16, 3_u16, 2_u32, 0x0007_0005_u32), (2, 4, 2, 62), (3, 5, 1, 62), (4, 7, 3, 62)]
        {
            file.extend([tag.to_le_bytes(), kind.to_le_bytes()].concat());
            file.extend([count.to_le_bytes(), value.to_le_bytes()].concat());
        }
        file.extend([0_u8; 4]);
        file.extend([9_u32.to_le_bytes(), 8_u32.to_le_bytes()].concat());
        let directory = TiffDirectory::of(TiffNumbers::of(&file), 8).expect("a directory");
        assert_eq!((directory.all(1, 9), directory.all(2, 9)), (vec![5, 7], vec![9, 8]));
        assert_eq!((directory.all(2, 1), directory.first(5)), (vec![9], None));
        assert_eq!((directory.ratio(3), directory.ratio(2)), (Some([9, 8]), None));
        assert_eq!(directory.bytes(4), Some(&[62, 0, 0][..]));
        // Beyond the end: what is there.
        file.truncate(66);
        let directory = TiffDirectory::of(TiffNumbers::of(&file), 8).expect("a directory");
        assert_eq!((directory.all(2, 9), directory.ratio(3)), (vec![9], None));
        let many = [b"II*\0\x08\0\0\0".as_slice(), &2000_u16.to_le_bytes(), &[0; 24_000]].concat();
        assert!(TiffDirectory::of(TiffNumbers::of(&many), 8).is_none());
    }
}
