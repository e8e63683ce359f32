//! [`written`]: a picture in HEIF or AVIF (ISO/IEC 23008-12), in which all that does not make the picture is zero. Nothing in it
//! moves: its places are told from its beginning.

use std::collections::HashSet;
use std::ops::Range;

use crate::base::reader::ByteReader;
use crate::sanitize::Rejection;
use crate::sanitize::format::image::blanked::BlankedFile;
use crate::sanitize::format::image::boxes::{self, BoxPlace, all_boxes};
use crate::sanitize::format::image::heif_items::{self, HeifIds, HeifItem, number, position};

/// What files of one picture say that they are (ISO/IEC 23008-12, annex B; AV1 Image File Format, 6).
const BRANDS: &[&[u8; 4]] = &[
    b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"mif2", b"msf1", b"miaf", b"avif",
    b"avis", b"avci", b"avcs",
];

/// What else they say that they are: profiles of them.
const PROFILES: &[&[u8; 4]] =
    &[b"MA1A", b"MA1B", b"MiHA", b"MiHB", b"MiHE", b"MiPr", b"1pic", b"geo1", b"unif", b"tmap", b"iso8"];

/// What a second picture is for (ISO/IEC 23008-12, 6.5.8): how much of the first is seen, how far away what it shows is, and what
/// telephones add.
const AUXILIARIES: &[&[u8]] = &[
    b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha",
    b"urn:mpeg:mpegB:cicp:systems:auxiliary:depth",
    b"urn:mpeg:hevc:2015:auxid:1",
    b"urn:mpeg:hevc:2015:auxid:2",
    b"urn:mpeg:avc:2015:auxid:1",
    b"urn:com:apple:photo:2018:aux:portraiteffectsmatte",
    b"urn:com:apple:photo:2019:aux:semantichairmatte",
    b"urn:com:apple:photo:2019:aux:semanticskinmatte",
    b"urn:com:apple:photo:2019:aux:semanticteethmatte",
    b"urn:com:apple:photo:2020:aux:hdrgainmap",
];

/// The longest list of what a file says that it is, in bytes.
const BEGINNING: usize = 256;

/// Boxes of what moves, and of another way to write pictures.
const OTHERS: &[&[u8; 4]] = &[b"moov", b"moof", b"mini"];

/// Boxes that say what there is, each of which is there once.
const PARTS: &[&[u8; 4]] = &[b"hdlr", b"pitm", b"iinf", b"iloc", b"iref", b"iprp", b"idat"];

/// Kinds of items that make a picture, and hold no words.
const PICTURES: &[&[u8; 4]] =
    &[b"hvc1", b"hev1", b"lhv1", b"av01", b"avc1", b"vvc1", b"grid", b"iovl", b"iden", b"tmap"];

/// Properties that say how a picture is shown, with the most bytes that they hold. Others are names, times, and colours of
/// anybody's.
const PROPERTIES: &[(&[u8; 4], usize)] = &[
    (b"ispe", 12),
    (b"pixi", 20),
    (b"hvcC", 1 << 16),
    (b"lhvC", 1 << 16),
    (b"av1C", 1 << 16),
    (b"avcC", 1 << 16),
    (b"vvcC", 1 << 16),
    // What a second picture is for.
    (b"auxC", 128),
    (b"irot", 1),
    (b"imir", 1),
    (b"clap", 32),
    (b"pasp", 8),
    (b"lsel", 2),
    (b"a1op", 1),
    (b"a1lx", 13),
    (b"clli", 4),
    (b"mdcv", 24),
    (b"cclv", 64),
    (b"amve", 8),
    (b"rloc", 12),
];

/// More properties than can be told apart.
const MANY: usize = 0x8000;

/// Says that all of the picture is in this file.
const HERE: &[u8] = b"\0\0\0\x1cdref\0\0\0\0\0\0\0\x01\0\0\0\x0curl \0\0\0\x01";

/// Whether a file says that it is such a picture.
pub(super) fn is_heif(file: &[u8]) -> bool {
    let begin = boxes::first(file, &(0..file.len())).filter(|begin| begin.kind == *b"ftyp");
    let brands = begin.and_then(|begin| file.get(begin.content)).unwrap_or_default();
    let mut brands = brands.chunks(4).take(BEGINNING / 4);
    brands.any(|brand| BRANDS.iter().any(|known| brand == *known))
}

/// The picture.
///
/// # Errors
/// [`Rejection::Malformed`] if there is none; [`Rejection::Unsupported`] for what cannot be told from it.
pub(super) fn written(file: &[u8]) -> Result<Vec<u8>, Rejection> {
    let all = boxes::boxes(file, 0..file.len());
    if all.iter().any(|place| place.kind == *b"meta") {
        cleaned(file, &all).ok_or(Rejection::Unsupported)
    } else {
        Err(Rejection::Malformed)
    }
}

fn cleaned(file: &[u8], all: &[BoxPlace]) -> Option<Vec<u8>> {
    let (begin, meta) = (all.first()?, only(all, b"meta")?);
    let other = all.iter().any(|place| OTHERS.contains(&&place.kind));
    if other || begin.kind != *b"ftyp" || begin.content.len() > BEGINNING {
        return None;
    }
    let parts = all_boxes(file, meta.content.start.checked_add(4)?..meta.content.end)?;
    if PARTS.iter().any(|kind| parts.iter().filter(|part| part.kind == **kind).count() > 1) {
        return None;
    }
    let items = heif_items::items(file, only(&parts, b"iinf")?)?;
    let references = parts.iter().find(|part| part.kind == *b"iref");
    let ids = HeifIds::of(file, &items, only(&parts, b"pitm")?, references)?;
    let places = heif_items::places(file, only(&parts, b"iloc")?, &ids)?;
    if places.outer.is_empty() && places.inner.is_empty() {
        return None;
    }
    only(&parts, b"iprp")?;
    let mut out = BlankedFile { bytes: file.to_vec() };
    brands(file, begin, &mut out);
    handler(file, only(&parts, b"hdlr")?, &mut out)?;
    for part in &parts {
        match &part.kind {
            b"iinf" => items.iter().try_for_each(|item| named(item, &ids.kept, &mut out))?,
            b"iprp" => properties(file, part, &ids, &mut out)?,
            b"idat" => {
                let start = part.content.start;
                let within = |place: &Range<usize>| {
                    Some(start.checked_add(place.start)?..start.checked_add(place.end)?)
                };
                let inner: Option<Vec<_>> = places.inner.iter().map(within).collect();
                out.keep(part.content.clone(), &inner?)?;
            }
            b"iloc" => {
                places.unused.iter().for_each(|number| out.zero(number.clone()));
                out.write(places.counted, &places.count);
                out.cut(part, &places.gone)?;
            }
            b"iref" => out.cut(part, &heif_items::needless(file, part, &ids)?)?,
            b"hdlr" | b"pitm" => {}
            b"dinf" if file.get(part.content.clone()) == Some(HERE) => {}
            _ => out.free(part),
        }
    }
    let end = data(&mut out, all, places.outer)?;
    out.bytes.truncate(end.max(begin.whole.end).max(meta.whole.end));
    Some(out.bytes)
}

/// Blanks what a file says that it is beyond what is known, and of which version.
fn brands(file: &[u8], begin: &BoxPlace, out: &mut BlankedFile) {
    let content = file.get(begin.content.clone()).unwrap_or_default();
    for (n, brand) in content.chunks(4).enumerate() {
        let at = begin.content.start.saturating_add(n.saturating_mul(4));
        let known = BRANDS.iter().chain(PROFILES).any(|known| brand == *known);
        if n == 0 && !known {
            // Some other of them says that it is one.
            out.write(at, b"mif1");
        } else if n == 1 || !known {
            out.zero(at..at.saturating_add(brand.len()));
        }
    }
}

/// The box of a kind, if there is one.
fn only<'p>(all: &'p [BoxPlace], kind: &[u8; 4]) -> Option<&'p BoxPlace> {
    let mut found = all.iter().filter(|place| place.kind == *kind);
    found.next().filter(|_| found.next().is_none())
}

/// Blanks what of the data makes no picture. Where that ends which does.
fn data(out: &mut BlankedFile, all: &[BoxPlace], mut wanted: Vec<Range<usize>>) -> Option<usize> {
    wanted.sort_by_key(|place| place.start);
    let mut wanted = wanted.into_iter().peekable();
    let mut end = 0;
    for place in all.iter().skip(1).filter(|place| place.kind != *b"meta") {
        let mut mine = Vec::new();
        let holds = |wanted: &Range<usize>| place.kind == *b"mdat" && place.content.contains(&wanted.start);
        while let Some(wanted) = wanted.next_if(holds) {
            mine.push(wanted);
        }
        match mine.iter().map(|wanted| wanted.end).max() {
            Some(last) => {
                out.keep(place.content.clone(), &mine)?;
                end = if place.open { last } else { place.whole.end };
            }
            None => out.free(place),
        }
    }
    // Nothing of it lies elsewhere.
    wanted.next().is_none().then_some(end)
}

/// Blanks what a file calls itself; `None` if it is of no pictures.
fn handler(file: &[u8], part: &BoxPlace, out: &mut BlankedFile) -> Option<()> {
    let start = part.content.start;
    let at = |n: usize| start.saturating_add(n);
    (file.get(at(8)..at(12)) == Some(b"pict")).then_some(())?;
    out.zero(at(4)..at(8));
    out.zero(at(12)..part.content.end);
    Some(())
}

/// Blanks an item's name; one that makes no picture is of no kind. `None` if the picture is of one that nobody knows.
fn named(item: &HeifItem, kept: &HashSet<u64>, out: &mut BlankedFile) -> Option<()> {
    out.zero(item.words.clone());
    if !kept.contains(&item.id) {
        out.write(item.words.start.saturating_sub(4), b"free");
        return Some(());
    }
    PICTURES.contains(&&item.kind).then_some(())
}

/// Blanks properties that are not needed, and that items have them.
fn properties(file: &[u8], part: &BoxPlace, ids: &HeifIds, out: &mut BlankedFile) -> Option<()> {
    let parts = all_boxes(file, part.content.clone())?;
    let all = all_boxes(file, only(&parts, b"ipco")?.content.clone())?;
    (all.len() < MANY).then_some(())?;
    let mut left = HashSet::new();
    // They are counted from 1.
    for (n, property) in (1_u16..).zip(&all) {
        if is_needed(file, property) {
            left.insert(n);
            if property.kind == *b"auxC" {
                // More of it is for those who made it.
                let end = auxiliary(file.get(property.content.clone())?)?;
                out.zero(property.content.start.checked_add(end)?..property.content.end);
            }
        } else {
            out.free(property);
        }
    }
    for part in &parts {
        match &part.kind {
            b"ipco" => {}
            b"ipma" => associations(file, part, ids, &left, out)?,
            _ => out.free(part),
        }
    }
    Some(())
}

fn is_needed(file: &[u8], property: &BoxPlace) -> bool {
    let content = file.get(property.content.clone()).unwrap_or_default();
    // A profile is anybody's.
    let colours = property.kind == *b"colr" && content.len() == 11 && content.starts_with(b"nclx");
    let known = |(kind, most): &(&[u8; 4], usize)| property.kind == **kind && content.len() <= *most;
    let said = property.kind != *b"auxC" || auxiliary(content).is_some();
    colours || said && PROPERTIES.iter().any(known)
}

/// Where what a second picture is for ends, if it is known.
fn auxiliary(content: &[u8]) -> Option<usize> {
    let name = content.strip_prefix(&[0; 4])?;
    let known = AUXILIARIES
        .iter()
        .find(|known| name.strip_prefix(**known).is_some_and(|rest| rest.first() == Some(&0)))?;
    known.len().checked_add(5)
}

/// Which item has which properties (ISO/IEC 23008-12, 9.3): items of the picture those that are left, others none, and what
/// is no item is not there.
fn associations(
    file: &[u8],
    part: &BoxPlace,
    ids: &HeifIds,
    left: &HashSet<u16>,
    out: &mut BlankedFile,
) -> Option<()> {
    let mut rest = ByteReader::new(file.get(part.content.clone())?);
    let (version, [_, _, flags]) = (rest.byte()?, rest.array::<3>()?);
    let (id_width, width) = (if version == 0 { 2 } else { 4 }, if flags & 1 == 1 { 2 } else { 1 });
    let counted = position(part, &rest)?;
    let (mut count, mut gone) = (0_u32, Vec::new());
    for _ in 0..rest.u32()? {
        let begin = position(part, &rest)?;
        let id = number(&mut rest, id_width)?;
        for _ in 0..rest.byte()? {
            let at = position(part, &rest)?;
            // The first bit says whether it has to be known.
            let property = match rest.take(width)? {
                [first, second] => u16::from_be_bytes([first & 0x7f, *second]),
                [first] => u16::from(first & 0x7f),
                _ => return None,
            };
            if !ids.kept.contains(&id) || !left.contains(&property) {
                out.zero(at..at.checked_add(width)?);
            }
        }
        if ids.named.contains(&id) {
            count = count.checked_add(1)?;
        } else {
            gone.push(begin..position(part, &rest)?);
        }
    }
    rest.is_empty().then_some(())?;
    out.write(counted, &count.to_be_bytes());
    out.cut(part, &gone)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxed(kind: &[u8; 4], content: &[u8]) -> Vec<u8> {
        [&(content.len() as u32 + 8).to_be_bytes()[..], kind, content].concat()
    }

    fn item(id: u8, kind: &[u8; 4], words: &[u8]) -> Vec<u8> {
        boxed(b"infe", &[&[2, 0, 0, 0, 0, id, 0, 0][..], kind, words].concat())
    }

    fn reference(kind: &[u8; 4], from: u8, to: u8) -> Vec<u8> {
        boxed(kind, &[0, from, 0, 1, 0, to])
    }

    /// What the items hold: a picture, what is said of it, a smaller copy, and how much of it is seen.
    const DATA: [&[u8]; 5] = [b"PICTURE", b"SECRET Exif", b"SECRET XMP", b"SECRET copy", b"ALPHA"];

    /// What is said of items whose data begin at a place.
    fn meta(start: usize) -> Vec<u8> {
        let items = [
            item(1, b"hvc1", b"SECRET\0"),
            item(2, b"Exif", b"\0"),
            item(3, b"mime", b"\0SECRET\0"),
            item(4, b"hvc1", b"\0"),
            item(5, b"hvc1", b"\0"),
        ];
        let references = [
            reference(b"cdsc", 2, 1),
            reference(b"cdsc", 3, 1),
            reference(b"thmb", 4, 1),
            reference(b"auxl", 5, 1),
        ];
        let (mut places, mut at) = (vec![0_u8, 0, 0, 0, 0x44, 0, 0, 5], start as u32);
        for (n, data) in (1..).zip(DATA) {
            places.extend([0, n, 0, 0, 0, 1]);
            places.extend([at.to_be_bytes(), (data.len() as u32).to_be_bytes()].concat());
            at += data.len() as u32;
        }
        let properties = [
            boxed(b"ispe", &[7; 12]),
            boxed(b"colr", b"profSECRET"),
            boxed(b"irot", &[1]),
            boxed(b"udes", b"SECRET"),
        ];
        let properties = [
            boxed(b"ipco", &properties.concat()),
            boxed(b"ipma", &[0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 4, 0x81, 0x82, 3, 4]),
        ];
        let parts = [
            vec![0; 4],
            boxed(b"hdlr", b"\0\0\0\0SECRpictSECRETSECRETSECRET\0"),
            boxed(b"pitm", &[0, 0, 0, 0, 0, 1]),
            boxed(b"iinf", &[&[0_u8, 0, 0, 0, 0, 5][..], &items.concat()].concat()),
            boxed(b"iref", &[&[0_u8; 4][..], &references.concat()].concat()),
            boxed(b"iprp", &properties.concat()),
            boxed(b"iloc", &places),
            boxed(b"dinf", HERE),
            boxed(b"xml ", b"SECRET"),
        ];
        boxed(b"meta", &parts.concat())
    }

    /// A file of these boxes between its beginning and its data.
    fn file(more: &[Vec<u8>]) -> Vec<u8> {
        let (begin, more) = (boxed(b"ftyp", b"heic\0\0\0\0mif1heic"), more.concat());
        let start = begin.len() + meta(0).len() + more.len() + 8;
        let data = [DATA.concat(), b"SECRET".to_vec()].concat();
        [begin, meta(start), more, boxed(b"mdat", &data)].concat()
    }

    fn has(bytes: &[u8], word: &[u8]) -> bool {
        memchr::memmem::find(bytes, word).is_some()
    }

    #[test]
    fn all_but_the_picture_is_zero() {
        let plain = file(&[boxed(b"uuid", b"SECRET")]);
        let told = [plain.as_slice(), &boxed(b"mpvd", b"SECRET"), b"SECRET"].concat();
        assert!(is_heif(&told));
        let clean = written(&told).expect("a picture");
        assert_eq!(clean.len(), plain.len());
        assert!(!has(&clean, b"SECR") && !has(&clean, b"Exif") && !has(&clean, b"mime"));
        for word in [&b"PICTURE"[..], b"ALPHA", b"irot\x01", b"heic\0\0\0\0mif1heic", HERE] {
            let place = |bytes: &[u8]| memchr::memmem::find(bytes, word);
            assert!(place(&clean).is_some() && place(&clean) == place(&plain), "{word:?}");
        }
        // What it has no longer, nothing has.
        assert!(has(&clean, &[0, 1, 4, 0x81, 0, 3, 0]));
        assert_eq!(written(&clean), Ok(clean.clone()));
        // Data that reach to the end of the file.
        let mut open = plain.clone();
        let at = memchr::memmem::find(&open, b"mdat").expect("data");
        open[at - 4..at].fill(0);
        let end = written(&open).expect("a picture");
        assert!(end.ends_with(b"ALPHA") && end.len() == plain.len() - 6);
        assert_eq!(written(&end), Ok(end.clone()));
    }

    #[test]
    fn what_no_item_of_the_picture_is_goes() {
        let whole = file(&[]);
        let found = |file: &[u8], bytes: &[u8]| memchr::memmem::find(file, bytes).expect("a place");
        let changed = |from: &[u8], to: &[u8]| {
            let (mut file, at) = (whole.clone(), found(&whole, from));
            file[at..at + to.len()].copy_from_slice(to);
            file
        };
        let start = (found(&whole, b"PICTURE") as u32).to_be_bytes();
        let exif = [(found(&whole, b"SECRET Exif") as u32).to_be_bytes(), [0, 0, 0, 11]].concat();
        // Items and the places of them are those of the picture: the first and the fifth.
        let clean = written(&whole).expect("a picture");
        let head = [&b"\0\0\0\x2ciloc\0\0\0\0\x44\0\0\x02\0\x01\0\0\0\x01"[..], &start].concat();
        assert!(has(&clean, &head) && !has(&clean, &exif) && !has(&clean, b"cdsc") && has(&clean, b"auxl"));
        // Words in place of numbers, and of properties that are not there.
        for (from, to) in
            [(exif, b"SECRETSS".to_vec()), (vec![1, 4, 0x81, 0x82, 3, 4], b"\x01\x04SECR".to_vec())]
        {
            let clean = written(&changed(&from, &to)).expect("a picture");
            assert!(!has(&clean, b"SECR") && has(&clean, b"PICTURE"), "{from:?}");
            assert_eq!(written(&clean), Ok(clean.clone()));
        }
        // An item that is not named, but is said to tell how much is seen; its entry goes, too.
        let unnamed = changed(&item(5, b"hvc1", b"\0")[8..], &[2, 0, 0, 0, 0, 9]);
        let clean = written(&unnamed).expect("a picture");
        assert!(!has(&clean, b"ALPHA") && has(&clean, b"PICTURE") && !has(&clean, b"auxl"));
        assert!(has(&clean, b"iloc\0\0\0\0\x44\0\0\x01\0\x01"));
        assert_eq!(written(&clean), Ok(clean.clone()));
        // The picture itself, and properties of what is no item.
        let main = changed(&item(1, b"hvc1", b"SECRET\0")[8..], &[2, 0, 0, 0, 0, 9]);
        let properties = changed(&[0, 1, 4, 0x81], &[0, 9, 4]);
        for file in [main, properties] {
            assert_eq!(written(&file), Err(Rejection::Unsupported));
        }
    }

    #[test]
    fn what_cannot_be_told_apart_is_not_released() {
        let whole = file(&[]);
        let changed = |from: &[u8], to: &[u8]| {
            let mut file = whole.clone();
            let at = memchr::memmem::find(&file, from).expect("a place");
            file[at..at + to.len()].copy_from_slice(to);
            file
        };
        assert!(written(&whole).is_ok());
        for (name, file) in [
            ("a film", file(&[boxed(b"moov", b"x")])),
            ("twice", [whole.as_slice(), &meta(0)].concat()),
            ("cut off", whole[..whole.len() - 20].to_vec()),
            ("of no pictures", changed(b"pict", b"vide")),
            ("of another kind", changed(b"hvc1", b"jpeg")),
            ("protected", changed(b"\0\x01\0\0hvc1", b"\0\x01\0\x07")),
            ("of no length", changed(&[0x44, 0, 0, 5], &[0x40, 0, 0, 5])),
            ("elsewhere", changed(&[0, 1, 0, 0, 0, 1, 0, 0], &[0, 1, 0, 1])),
        ] {
            assert_eq!(written(&file), Err(Rejection::Unsupported), "{name}");
        }
        assert_eq!(written(&boxed(b"ftyp", b"heic\0\0\0\0mif1heic")), Err(Rejection::Malformed));
        assert!(!is_heif(&boxed(b"ftyp", b"mp42\0\0\0\0mp42isom")) && !is_heif(b"heic"));
    }

    #[test]
    fn no_byte_breaks_it() {
        let whole = file(&[boxed(b"uuid", b"SECRET")]);
        for at in 0..whole.len() {
            assert!(written(&whole[..at]).is_err());
            for byte in [0, 1, 0x7f, 0xff] {
                let mut file = whole.clone();
                file[at] = byte;
                if let Ok(clean) = written(&file) {
                    assert_eq!(written(&clean), Ok(clean.clone()), "{byte} at {at}");
                }
            }
        }
    }
    #[test]
    fn words_are_no_brands_and_no_purposes() {
        let told = boxed(b"ftyp", b"SECRETSEmif1SECRMA1Bheic");
        let mut out = BlankedFile { bytes: told.clone() };
        brands(&told, &boxes::boxes(&told, 0..told.len()).swap_remove(0), &mut out);
        assert_eq!(out.bytes, boxed(b"ftyp", b"mif1\0\0\0\0mif1\0\0\0\0MA1Bheic"));
        let alpha = b"\0\0\0\0urn:mpeg:hevc:2015:auxid:1\0";
        for (purpose, want) in [
            (alpha.to_vec(), Some(alpha.len())),
            ([&alpha[..], b"SECRET"].concat(), Some(alpha.len())),
            (b"\0\0\0\0urn:mpeg:hevc:2015:auxid:1SECRET\0".to_vec(), None),
            (b"\0\0\0\0SECRET\0".to_vec(), None),
            (b"SECRurn:mpeg:hevc:2015:auxid:1\0".to_vec(), None),
        ] {
            assert_eq!(auxiliary(&purpose), want, "{purpose:?}");
        }
    }
}
