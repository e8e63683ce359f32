//! Boxes, of which pictures in HEIF and AVIF (ISO/IEC 14496-12, 4.2) and JPEG 2000 (ISO/IEC 15444-1, annex I) consist.

use std::ops::Range;

use crate::base::reader::ByteReader;

/// A box, by where it lies in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BoxPlace {
    pub(super) kind: [u8; 4],
    /// All of it.
    pub(super) whole: Range<usize>,
    /// What it holds.
    pub(super) content: Range<usize>,
    /// Whether it says no length, and so reaches to the end.
    pub(super) open: bool,
}

/// The boxes that lie one behind the other in a part of a file, up to the first that does not fit.
pub(super) fn boxes(file: &[u8], within: Range<usize>) -> Vec<BoxPlace> {
    let mut all = Vec::new();
    let mut rest = within;
    while let Some(place) = first(file, &rest) {
        rest.start = place.whole.end;
        all.push(place);
    }
    all
}

/// The same, if they fill the part, and each says its length.
pub(super) fn all_boxes(file: &[u8], within: Range<usize>) -> Option<Vec<BoxPlace>> {
    let all = boxes(file, within.clone());
    let end = all.last().map_or(within.start, |last| last.whole.end);
    (end == within.end && all.iter().all(|place| !place.open)).then_some(all)
}

/// The box that a part of a file begins with.
pub(super) fn first(file: &[u8], within: &Range<usize>) -> Option<BoxPlace> {
    let mut rest = ByteReader::new(file.get(within.clone())?);
    let (said, kind) = (rest.u32()?, rest.array()?);
    let length = match said {
        0 => within.len(),
        1 => usize::try_from(rest.u64()?).ok()?,
        said => usize::try_from(said).ok()?,
    };
    let head = within.len().checked_sub(rest.rest().len())?;
    let fits = (head..=within.len()).contains(&length);
    let end = within.start.checked_add(length).filter(|_| fits)?;
    let content = within.start.checked_add(head)?..end;
    Some(BoxPlace { kind, whole: within.start..end, content, open: said == 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_lie_one_behind_the_other() {
        let file = b"\0\0\0\x0aabcdxx\0\0\0\x01wide\0\0\0\0\0\0\0\x12yy\0\0\0\0lastzzz";
        let found = boxes(file, 0..file.len());
        let places: Vec<_> =
            found.iter().map(|place| (&place.kind, place.content.clone(), place.open)).collect();
        assert_eq!(places, [(b"abcd", 8..10, false), (b"wide", 26..28, false), (b"last", 36..39, true)]);
        assert_eq!(all_boxes(file, 0..28).map(|all| all.len()), Some(2));
        assert_eq!(all_boxes(file, 0..0), Some(Vec::new()));
        assert_eq!(all_boxes(file, 0..file.len()), None);
        // Too long, too short, and cut off.
        for (bytes, count) in
            [(&b"\0\0\0\x0babcdxx"[..], 0), (b"\0\0\0\x07abcdxx", 0), (b"\0\0\0\x08abcd\0\0\0", 1)]
        {
            assert_eq!(boxes(bytes, 0..bytes.len()).len(), count);
            assert_eq!(all_boxes(bytes, 0..bytes.len()), None);
        }
        assert!(boxes(b"\0\0\0\x01wide\xff\xff\xff\xff\xff\xff\xff\xff", 0..16).is_empty());
    }
}
