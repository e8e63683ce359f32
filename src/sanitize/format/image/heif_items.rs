//! The items of which a picture in HEIF or AVIF consists: what they are, which of them make the picture, and where they lie
//! (ISO/IEC 14496-12, 8.11).

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::base::reader::ByteReader;
use crate::sanitize::format::image::boxes::{BoxPlace, all_boxes};

/// References of the picture: of what it is put together, of what something says how much is seen, and whether its colours were
/// multiplied by that (ISO/IEC 23008-12, 6.4 and 6.6).
const NEEDED: &[&[u8; 4]] = &[b"dimg", b"auxl", b"prem"];

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
    let entries = all_boxes(file, position(part, &rest)?..part.content.end)?;
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
    let words = position(entry, &rest)?..entry.content.end;
    Some(HeifItem { id, kind, words })
}

/// The ids of items.
#[derive(Debug)]
pub(super) struct HeifIds {
    /// Of all items that the file names.
    pub(super) named: HashSet<u64>,
    /// Of those that make the picture: the main one, those that it is put together from, and those that say how much of
    /// them is seen, how far away it is and the like. Smaller copies do not, nor what is said of it.
    pub(super) kept: HashSet<u64>,
}

impl HeifIds {
    /// Follows references from the main item on; `None` if that leads to an item that the file does not name.
    pub(super) fn of(
        file: &[u8],
        items: &[HeifItem],
        main: &BoxPlace,
        references: Option<&BoxPlace>,
    ) -> Option<Self> {
        let mut rest = ByteReader::new(file.get(main.content.clone())?);
        let version = rest.byte()?;
        rest.take(3)?;
        let main = number(&mut rest, if version == 0 { 2 } else { 4 })?;
        rest.is_empty().then_some(())?;
        let named: HashSet<u64> = items.iter().map(|item| item.id).collect();
        let references = references.map_or_else(|| Some(Vec::new()), |part| all_references(file, part))?;
        let mut needed: HashMap<u64, Vec<u64>> = HashMap::new();
        for HeifReference { kind, from, to, .. } in &references {
            match kind {
                b"dimg" => needed.entry(*from).or_default().extend(to),
                b"auxl" if named.contains(from) => {
                    to.iter().for_each(|to| needed.entry(*to).or_default().push(*from));
                }
                _ => {}
            }
        }
        let (mut kept, mut open) = (HashSet::from([main]), vec![main]);
        while let Some(item) = open.pop() {
            let more = needed.get(&item).into_iter().flatten();
            open.extend(more.filter(|more| kept.insert(**more)));
        }
        kept.is_subset(&named).then_some(Self { named, kept })
    }
}

/// What an item says of others.
struct HeifReference {
    kind: [u8; 4],
    from: u64,
    to: Vec<u64>,
    /// Where it stands.
    whole: Range<usize>,
}

fn all_references(file: &[u8], part: &BoxPlace) -> Option<Vec<HeifReference>> {
    let width = if *file.get(part.content.start)? == 0 { 2 } else { 4 };
    let mut references = Vec::new();
    for BoxPlace { kind, whole, content, .. } in
        all_boxes(file, part.content.start.checked_add(4)?..part.content.end)?
    {
        let mut rest = ByteReader::new(file.get(content)?);
        let (from, count) = (number(&mut rest, width)?, number(&mut rest, 2)?);
        let to: Option<Vec<u64>> = (0..count).map(|_| number(&mut rest, width)).collect();
        rest.is_empty().then_some(())?;
        references.push(HeifReference { kind, from, to: to?, whole });
    }
    Some(references)
}

/// Where references stand that the picture does not need; `None` if one of its own leads to an item that the file does not
/// name.
pub(super) fn needless(file: &[u8], part: &BoxPlace, ids: &HeifIds) -> Option<Vec<Range<usize>>> {
    let mut needless = Vec::new();
    for reference in all_references(file, part)? {
        if !NEEDED.contains(&&reference.kind) || !ids.kept.contains(&reference.from) {
            needless.push(reference.whole);
        } else if !reference.to.iter().all(|to| ids.named.contains(to)) {
            return None;
        }
    }
    Some(needless)
}

/// Where items lie, and what is said of that.
#[derive(Debug, Default)]
pub(super) struct HeifPlaces {
    /// In the file.
    pub(super) outer: Vec<Range<usize>>,
    /// In the box beside those that say what there is (`idat`), from where its content begins.
    pub(super) inner: Vec<Range<usize>>,
    /// Where it is said how many entries there are, and that number without those that go.
    pub(super) counted: usize,
    pub(super) count: Vec<u8>,
    /// Entries of items that make no picture, in order.
    pub(super) gone: Vec<Range<usize>>,
    /// Numbers that mean nothing where items lie in this file.
    pub(super) unused: Vec<Range<usize>>,
}

/// Where the items that are kept lie; `None` if that cannot be told, or is elsewhere.
pub(super) fn places(file: &[u8], part: &BoxPlace, ids: &HeifIds) -> Option<HeifPlaces> {
    let mut rest = ByteReader::new(file.get(part.content.clone())?);
    let version = rest.byte()?;
    rest.take(3)?;
    let [sizes, more] = rest.array::<2>()?;
    let [offset, length, base] = [sizes >> 4, sizes & 15, more >> 4].map(usize::from);
    let index = if version == 0 { 0 } else { usize::from(more & 15) };
    let width = if version < 2 { 2 } else { 4 };
    // Without a length, an item is all of the file.
    (length > 0).then_some(())?;
    let mut places = HeifPlaces { counted: position(part, &rest)?, ..HeifPlaces::default() };
    let mut count = 0_u32;
    for _ in 0..number(&mut rest, width)? {
        let begin = position(part, &rest)?;
        let id = number(&mut rest, width)?;
        let method = if version == 0 { 0 } else { number(&mut rest, 2)? & 15 };
        let elsewhere = number(&mut rest, 2)? != 0;
        let base = number(&mut rest, base)?;
        let extents = number(&mut rest, 2)?;
        let kept = ids.kept.contains(&id);
        for _ in 0..extents {
            let at = position(part, &rest)?;
            number(&mut rest, index)?;
            let start = base.checked_add(number(&mut rest, offset)?)?;
            let end = start.checked_add(number(&mut rest, length)?)?;
            if !kept {
                continue;
            }
            places.unused.push(at..at.checked_add(index)?);
            let place = usize::try_from(start).ok()?..usize::try_from(end).ok()?;
            match method {
                0 if !elsewhere && !place.is_empty() => places.outer.push(place),
                1 if !elsewhere && !place.is_empty() => places.inner.push(place),
                _ => return None,
            }
        }
        // One that says nothing may be too short to leave room for something else.
        let silent = ids.named.contains(&id) && extents == 0 && base == 0 && !elsewhere;
        if kept || silent {
            count = count.checked_add(1)?;
        } else {
            places.gone.push(begin..position(part, &rest)?);
        }
    }
    let count = count.to_be_bytes();
    places.count = count.get(count.len().checked_sub(width)?..)?.to_vec();
    rest.is_empty().then_some(places)
}

/// Where the next byte of a box stands in the file.
pub(super) fn position(part: &BoxPlace, rest: &ByteReader<'_>) -> Option<usize> {
    part.content.end.checked_sub(rest.rest().len())
}

/// A number of so many bytes, big-endian.
pub(super) fn number(rest: &mut ByteReader<'_>, width: usize) -> Option<u64> {
    match width {
        0 => Some(0),
        2 => rest.u16().map(u64::from),
        4 => rest.u32().map(u64::from),
        8 => rest.u64(),
        _ => None,
    }
}
