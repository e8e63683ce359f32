//! The items of which a picture in HEIF or AVIF consists: what they are, which of them make the picture, and where they lie
//! (ISO/IEC 14496-12, 8.11).

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::base::reader::ByteReader;
use crate::sanitize::format::image::boxes::{BoxPlace, all_boxes};

/// An item.
#[derive(Debug)]
pub(super) struct HeifItem {
    pub(super) id: u64,
    pub(super) kind: [u8; 4],
    /// Where its name stands, and what else is said of it; right behind its kind.
    pub(super) words: Range<usize>,
}

/// All items; `None` if they cannot be told, or are protected.
pub(super) fn items(file: &[u8], part: &BoxPlace) -> Option<Vec<HeifItem>> {
    let mut rest = ByteReader::new(file.get(part.content.clone())?);
    let version = rest.byte()?;
    rest.take(3)?;
    let count = number(&mut rest, if version == 0 { 2 } else { 4 })?;
    let start = part.content.end.checked_sub(rest.rest().len())?;
    let entries = all_boxes(file, start..part.content.end)?;
    (entries.len() as u64 == count).then_some(())?;
    entries.iter().map(|entry| item(file, entry)).collect()
}

fn item(file: &[u8], entry: &BoxPlace) -> Option<HeifItem> {
    let mut rest = ByteReader::new(file.get(entry.content.clone())?);
    let version = rest.byte()?;
    rest.take(3)?;
    let width = match version {
        2 => 2,
        3 => 4,
        _ => return None,
    };
    let (id, protection) = (number(&mut rest, width)?, number(&mut rest, 2)?);
    let kind = rest.array()?;
    (entry.kind == *b"infe" && protection == 0).then_some(())?;
    let words = entry.content.end.checked_sub(rest.rest().len())?..entry.content.end;
    Some(HeifItem { id, kind, words })
}

/// The items that make the picture: the main one, those that it is put together from, and those that say how much of them is
/// seen, how far away it is and the like. Smaller copies do not, nor what is said of it.
pub(super) fn reached(file: &[u8], main: &BoxPlace, references: Option<&BoxPlace>) -> Option<HashSet<u64>> {
    let mut rest = ByteReader::new(file.get(main.content.clone())?);
    let version = rest.byte()?;
    rest.take(3)?;
    let main = number(&mut rest, if version == 0 { 2 } else { 4 })?;
    rest.is_empty().then_some(())?;
    let needed = references.map_or_else(|| Some(HashMap::new()), |references| needs(file, references))?;
    let (mut reached, mut open) = (HashSet::from([main]), vec![main]);
    while let Some(item) = open.pop() {
        let more = needed.get(&item).into_iter().flatten();
        open.extend(more.filter(|more| reached.insert(**more)));
    }
    Some(reached)
}

/// Which items an item needs.
fn needs(file: &[u8], part: &BoxPlace) -> Option<HashMap<u64, Vec<u64>>> {
    let width = if *file.get(part.content.start)? == 0 { 2 } else { 4 };
    let mut needs: HashMap<u64, Vec<u64>> = HashMap::new();
    for reference in all_boxes(file, part.content.start.checked_add(4)?..part.content.end)? {
        let mut rest = ByteReader::new(file.get(reference.content.clone())?);
        let (from, count) = (number(&mut rest, width)?, number(&mut rest, 2)?);
        for _ in 0..count {
            let to = number(&mut rest, width)?;
            match &reference.kind {
                b"dimg" => needs.entry(from).or_default().push(to),
                b"auxl" => needs.entry(to).or_default().push(from),
                _ => {}
            }
        }
        rest.is_empty().then_some(())?;
    }
    Some(needs)
}

/// Where items lie.
#[derive(Debug, Default)]
pub(super) struct HeifPlaces {
    /// In the file.
    pub(super) outer: Vec<Range<usize>>,
    /// In the box beside those that say what there is (`idat`), from where its content begins.
    pub(super) inner: Vec<Range<usize>>,
}

/// Where the items that are kept lie; `None` if that cannot be told, or is elsewhere.
pub(super) fn places(file: &[u8], part: &BoxPlace, kept: &HashSet<u64>) -> Option<HeifPlaces> {
    let mut rest = ByteReader::new(file.get(part.content.clone())?);
    let version = rest.byte()?;
    rest.take(3)?;
    let [sizes, more] = rest.array::<2>()?;
    let [offset, length, base] = [sizes >> 4, sizes & 15, more >> 4].map(usize::from);
    let index = if version == 0 { 0 } else { usize::from(more & 15) };
    let width = if version < 2 { 2 } else { 4 };
    // Without a length, an item is all of the file.
    (length > 0).then_some(())?;
    let mut places = HeifPlaces::default();
    for _ in 0..number(&mut rest, width)? {
        let id = number(&mut rest, width)?;
        let method = if version == 0 { 0 } else { number(&mut rest, 2)? & 15 };
        let elsewhere = number(&mut rest, 2)? != 0;
        let base = number(&mut rest, base)?;
        for _ in 0..number(&mut rest, 2)? {
            number(&mut rest, index)?;
            let start = base.checked_add(number(&mut rest, offset)?)?;
            let end = start.checked_add(number(&mut rest, length)?)?;
            if !kept.contains(&id) {
                continue;
            }
            let place = usize::try_from(start).ok()?..usize::try_from(end).ok()?;
            match method {
                0 if !elsewhere && !place.is_empty() => places.outer.push(place),
                1 if !elsewhere && !place.is_empty() => places.inner.push(place),
                _ => return None,
            }
        }
    }
    rest.is_empty().then_some(places)
}

/// A number of so many bytes, big-endian.
fn number(rest: &mut ByteReader<'_>, width: usize) -> Option<u64> {
    match width {
        0 => Some(0),
        2 => rest.array().map(u16::from_be_bytes).map(u64::from),
        4 => rest.u32().map(u64::from),
        8 => rest.u64(),
        _ => None,
    }
}
