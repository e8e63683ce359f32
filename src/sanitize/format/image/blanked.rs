//! [`BlankedFile`]: a file in boxes of which parts become zero, while nothing moves that is not said to.

use std::ops::Range;

use crate::sanitize::format::image::boxes::BoxPlace;

/// A box of free space with nothing in it.
const FREE: usize = 8;

/// A file of which parts become zero.
pub(super) struct BlankedFile {
    pub(super) bytes: Vec<u8>,
}

impl BlankedFile {
    pub(super) fn zero(&mut self, range: Range<usize>) {
        if let Some(bytes) = self.bytes.get_mut(range) {
            bytes.fill(0);
        }
    }

    pub(super) fn write(&mut self, at: usize, written: &[u8]) {
        if let Some(bytes) = self.bytes.get_mut(at..at.saturating_add(written.len())) {
            bytes.copy_from_slice(written);
        }
    }

    /// Makes a box one of free space.
    pub(super) fn free(&mut self, place: &BoxPlace) {
        self.write(place.whole.start.saturating_add(4), b"free");
        self.zero(place.content.clone());
    }

    /// Leaves only these places of a part; `None` if one of them lies outside of it.
    pub(super) fn keep(&mut self, within: Range<usize>, wanted: &[Range<usize>]) -> Option<()> {
        let mut wanted = wanted.to_vec();
        wanted.sort_by_key(|place| place.start);
        let mut from = within.start;
        for place in wanted {
            if place.start < within.start || place.end > within.end {
                return None;
            }
            self.zero(from..place.start.max(from));
            from = from.max(place.end);
        }
        self.zero(from..within.end);
        Some(())
    }

    /// Takes these places, which come in order, out of a box: what follows them in it moves up, and behind it comes a box of
    /// free space. `None` if there is no room for that, or they do not lie in it.
    pub(super) fn cut(&mut self, place: &BoxPlace, gone: &[Range<usize>]) -> Option<()> {
        let content = self.bytes.get(place.content.clone())?.to_vec();
        let (mut left, mut from) = (Vec::with_capacity(content.len()), place.content.start);
        let within = |at: usize| at.checked_sub(place.content.start);
        for gone in gone {
            left.extend(content.get(within(from)?..within(gone.start)?)?);
            from = gone.end;
        }
        left.extend(content.get(within(from)?..)?);
        let room = content.len().checked_sub(left.len())?;
        if room == 0 {
            return Some(());
        }
        (room >= FREE).then_some(())?;
        let length = place.whole.len().checked_sub(room)?;
        // A long length stands behind the kind.
        let head = place.content.start.checked_sub(place.whole.start)?;
        if head > FREE {
            self.write(place.whole.start.checked_add(FREE)?, &u64::try_from(length).ok()?.to_be_bytes());
        } else {
            self.write(place.whole.start, &u32::try_from(length).ok()?.to_be_bytes());
        }
        left.extend(u32::try_from(room).ok()?.to_be_bytes());
        left.extend(b"free");
        left.resize(content.len(), 0);
        self.write(place.content.start, &left);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitize::format::image::boxes::boxes;

    #[test]
    fn what_is_cut_out_of_a_box_becomes_free_space() {
        for (head, short) in [
            (&b"\0\0\0\x14abcd"[..], &b"\0\0\0\x0cabcd"[..]),
            (b"\0\0\0\x01abcd\0\0\0\0\0\0\0\x1c", b"\0\0\0\x01abcd\0\0\0\0\0\0\0\x14"),
        ] {
            let bytes = [head, b"12SECRET34SE", b"\0\0\0\x08last"].concat();
            let place = boxes(&bytes, 0..bytes.len()).swap_remove(0);
            let at = |from: usize, to: usize| head.len() + from..head.len() + to;
            let mut out = BlankedFile { bytes: bytes.clone() };
            assert_eq!(out.cut(&place, &[at(2, 8), at(10, 12)]), Some(()));
            assert_eq!(out.bytes, [short, b"1234", b"\0\0\0\x08free", b"\0\0\0\x08last"].concat());
            let mut out = BlankedFile { bytes: bytes.clone() };
            assert_eq!(out.cut(&place, &[]), Some(()));
            // No room for a box, and places that do not lie in this one.
            for gone in [vec![at(2, 8)], vec![at(2, 20)], vec![at(8, 12), at(2, 8)], vec![0..8, at(2, 8)]] {
                assert_eq!(out.cut(&place, &gone), None, "{gone:?}");
            }
            assert_eq!(out.bytes, bytes);
        }
    }
}
