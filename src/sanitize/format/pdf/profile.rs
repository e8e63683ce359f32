//! [`strip`]: colour profiles (ISO 15076-1) lose their texts, such as who made them, and keep their colours.

use std::collections::BTreeSet;
use std::ops::Range;

use lopdf::{Document, Object, ObjectId};

use crate::base::reader::ByteReader;
use crate::sanitize::format::pdf::{graph, parts};
use crate::sanitize::{Rejection, Work};

/// How long the header is (7.2), and an entry of the table of tags behind it (7.3).
const HEADER: usize = 128;
const ENTRY: usize = 12;

/// Where a header says that it is one.
const MARK: Range<usize> = 36..40;

/// What else it says than colours: which module prefers it, when it was made, on which device, by whom, and what is reserved.
const SAID: &[Range<usize>] = &[4..8, 24..36, 40..64, 80..HEADER];

/// Tags of texts that every profile has (8.2), of which the place stays.
const TEXTS: &[&[u8; 4]] = &[b"desc", b"cprt"];

/// Tags of colours (9.2).
const COLOURS: &[&[u8; 4]] = &[
    b"A2B0", b"A2B1", b"A2B2", b"B2A0", b"B2A1", b"B2A2", b"B2D0", b"B2D1", b"B2D2", b"B2D3", b"D2B0",
    b"D2B1", b"D2B2", b"D2B3", b"bTRC", b"bXYZ", b"bkpt", b"chad", b"cicp", b"gTRC", b"gXYZ", b"gamt",
    b"kTRC", b"lumi", b"rTRC", b"rXYZ", b"wtpt",
];

/// Takes the texts out of all of them.
///
/// # Errors
/// [`Rejection::OverLimit`].
pub(super) fn strip(doc: &mut Document, work: &mut Work<'_>) -> Result<(), Rejection> {
    let mut profiles = BTreeSet::new();
    for object in doc.objects.values() {
        find(doc, object, graph::DEPTH, &mut profiles);
    }
    for id in profiles {
        let Some(Object::Stream(stream)) = doc.objects.get(&id) else { continue };
        let unpacked = parts::unfold(stream, work)?;
        if unpacked.is_none() && stream.dict.has(b"Filter") {
            continue;
        }
        let profile = unpacked.as_ref().unwrap_or(&stream.content);
        // Without one, readers go by how many components its colours have.
        let clean = written(profile).unwrap_or_default();
        if clean == *profile {
            continue;
        }
        if let Some(Object::Stream(stream)) = doc.objects.get_mut(&id) {
            stream.set_plain_content(clean);
        }
    }
    Ok(())
}

/// The profiles that an object refers to: of a space of colours (ISO 32000-1, 8.6.5.5), and of what a document is to be printed on
/// (14.11.5).
fn find(doc: &Document, object: &Object, depth: usize, found: &mut BTreeSet<ObjectId>) {
    match object {
        Object::Array(items) if depth > 0 => {
            if let [first, profile, ..] = items.as_slice()
                && matches!(graph::resolve(doc, first), Object::Name(name) if name == b"ICCBased")
            {
                found.extend(graph::target(doc, profile));
            }
            items.iter().for_each(|item| find(doc, item, depth - 1, found));
        }
        object if depth > 0 => {
            for (key, value) in graph::dict(object).into_iter().flatten() {
                if key == b"DestOutputProfile" {
                    found.extend(graph::target(doc, value));
                }
                find(doc, value, depth - 1, found);
            }
        }
        _ => {}
    }
}

/// The profile without texts; `None` for what is none.
fn written(profile: &[u8]) -> Option<Vec<u8>> {
    let length = usize::try_from(ByteReader::new(profile).u32()?).ok()?;
    // Some say less than they have.
    let profile = if length < HEADER { profile } else { profile.get(..length).unwrap_or(profile) };
    (profile.get(MARK)? == b"acsp").then_some(())?;
    let mut out = vec![0; profile.len()];
    copy(&mut out, profile, 0..HEADER)?;
    out.get_mut(..4)?.copy_from_slice(&u32::try_from(profile.len()).ok()?.to_be_bytes());
    for said in SAID {
        out.get_mut(said.clone())?.fill(0);
    }
    let mut rest = ByteReader::new(profile.get(HEADER..)?);
    let count = usize::try_from(rest.u32()?).ok()?;
    let begin = HEADER.checked_add(4)?.checked_add(count.checked_mul(ENTRY)?)?;
    let (mut entries, mut seen): (Vec<u8>, BTreeSet<[u8; 4]>) = (Vec::new(), BTreeSet::new());
    for _ in 0..count {
        let entry = rest.take(ENTRY)?;
        let mut entry_rest = ByteReader::new(entry);
        let name: [u8; 4] = entry_rest.array()?;
        let start = usize::try_from(entry_rest.u32()?).ok()?;
        let end = start.checked_add(usize::try_from(entry_rest.u32()?).ok()?)?;
        // Of two that are called the same, and of what is not there, nobody reads anything.
        let end = end.min(profile.len());
        if start < begin || start > end || !seen.insert(name) {
            continue;
        }
        if COLOURS.contains(&&name) {
            let length = meant(profile.get(start..end)?);
            copy(&mut out, profile, start..start.checked_add(length)?)?;
        } else if TEXTS.contains(&&name) {
            let text = empty(profile.get(start..end)?);
            out.get_mut(start..end)?.iter_mut().zip(text).for_each(|(byte, new)| *byte = *new);
        } else {
            continue;
        }
        entries.extend(entry);
    }
    let kept = u32::try_from(entries.len() / ENTRY).ok()?;
    let table = [&kept.to_be_bytes()[..], &entries].concat();
    out.get_mut(HEADER..HEADER.checked_add(table.len())?)?.copy_from_slice(&table);
    Some(out)
}

fn copy(out: &mut [u8], from: &[u8], place: Range<usize>) -> Option<()> {
    out.get_mut(place.clone())?.copy_from_slice(from.get(place)?);
    Some(())
}

/// How many bytes of a tag its type knows (10): curves, points and matrices say it, or have as many each.
fn meant(tag: &[u8]) -> usize {
    let mut rest = ByteReader::new(tag.get(8..).unwrap_or_default());
    let length = match tag.get(..4) {
        Some(b"curv") => rest.u32().map_or(8, |count| (count as usize).saturating_mul(2).saturating_add(12)),
        Some(b"para") => match rest.u16() {
            Some(0) => 16,
            Some(1) => 24,
            Some(2) => 28,
            Some(3) => 32,
            _ => 40,
        },
        Some(b"XYZ ") => 20,
        Some(b"sf32") => 44,
        Some(b"cicp") => 12,
        Some(b"mft1" | b"mft2" | b"mAB " | b"mBA " | b"mpet") => tag.len(),
        // Of a type that has no colours.
        _ => 0,
    };
    length.min(tag.len())
}

/// How a text of the same type begins that says nothing (10.15, 10.24; ICC.1:2001, 6.5.17): one of no languages, or of no letters.
fn empty(tag: &[u8]) -> &'static [u8] {
    match tag.get(..4) {
        Some(b"mluc") => b"mluc\0\0\0\0\0\0\0\0\0\0\0\x0c",
        Some(b"desc") => b"desc\0\0\0\0\0\0\0\x01",
        _ => b"text",
    }
}

#[cfg(test)]
mod tests {
    use lopdf::{Stream, dictionary};

    use super::*;
    use crate::sanitize::bench::Bench;

    /// A profile of these tags, one behind the other.
    fn profile(said: &[u8; 4], tags: &[(&[u8; 4], &[u8])], more: &[u8]) -> Vec<u8> {
        let mut header = vec![0; HEADER];
        header[12..24].copy_from_slice(b"mntrRGB XYZ ");
        header[MARK].copy_from_slice(b"acsp");
        SAID.iter().for_each(|place| header[place.clone()].fill(said[0]));
        let (mut table, mut data) = ((tags.len() as u32).to_be_bytes().to_vec(), Vec::<u8>::new());
        for (name, tag) in tags {
            let start = HEADER + 4 + tags.len() * ENTRY + data.len();
            table.extend(*name);
            table.extend((start as u32).to_be_bytes());
            table.extend((tag.len() as u32).to_be_bytes());
            data.extend(*tag);
        }
        let mut whole = [header, table, data, more.to_vec()].concat();
        let length = whole.len() as u32;
        whole[..4].copy_from_slice(&length.to_be_bytes());
        whole
    }

    #[test]
    fn texts_go_and_colours_stay() {
        let point = b"XYZ \0\0\0\0\0\0\xf6\xd6\0\x01\0\0\0\0\xd3\x2d";
        let trailed = [&point[..], b"SECRET"].concat();
        let curve = b"curv\0\0\0\0\0\0\0\x01\x02\x33";
        let told = profile(
            b"SSSS",
            &[
                (b"desc", b"desc\0\0\0\0\0\0\0\x07SECRET\0"),
                (b"cprt", b"text\0\0\0\0SECRET\0"),
                (b"wtpt", &trailed),
                (b"rTRC", curve),
                (b"bTRC", b"text\0\0\0\0SECRET\0"),
            ],
            b"SECRET",
        );
        let blank = [&point[..], &[0; 6]].concat();
        let want = profile(
            b"\0\0\0\0",
            &[
                (b"desc", b"desc\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0"),
                (b"cprt", b"text\0\0\0\0\0\0\0\0\0\0\0"),
                (b"wtpt", &blank),
                (b"rTRC", curve),
                (b"bTRC", &[0; 15]),
            ],
            &[0; 6],
        );
        assert_eq!(written(&told), Some(want.clone()));
        assert_eq!(written(&want), Some(want.clone()));
        // With a tag of somebody's own.
        let own =
            written(&profile(b"\0\0\0\0", &[(b"SECR", b"curv\0\0\0\0\0\0\0\0"), (b"rTRC", curve)], b""));
        let own = own.expect("a profile");
        assert_eq!(own.get(HEADER..HEADER + 8), Some(&b"\0\0\0\x01rTRC"[..]));
        assert!(memchr::memmem::find(&own, b"SECR").is_none() && own.ends_with(curve));
        assert_eq!(written(b"SECRET"), None);
        assert_eq!(written(&[0; 200]), None);
    }

    #[test]
    fn profiles_are_found_where_they_are_used() {
        let told = profile(b"\0\0\0\0", &[(b"cprt", b"text\0\0\0\0SECRET\0")], b"");
        let mut doc = Document::with_version("1.7");
        let ids: Vec<ObjectId> = [told.clone(), told.clone(), told, b"SECRET".to_vec()]
            .into_iter()
            .map(|content| doc.add_object(Stream::new(dictionary! { "N" => 3 }, content)))
            .collect();
        let space = |id: ObjectId| vec![Object::Name(b"ICCBased".to_vec()), id.into()];
        doc.add_object(dictionary! { "CS" => space(ids[0]), "X" => dictionary! { "CS" => space(ids[3]) } });
        doc.add_object(dictionary! { "DestOutputProfile" => ids[1] });
        strip(&mut doc, &mut Bench::disarming().work()).expect("no limit is met");
        let left = ids.iter().map(|id| {
            let stream = doc.get_object(*id).and_then(Object::as_stream).expect("a stream");
            memchr::memmem::find(&stream.content, b"SECRET").is_some()
        });
        assert_eq!(left.collect::<Vec<_>>(), [false, false, true, false]);
    }
}
