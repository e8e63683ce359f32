//! [`redact`]: what programs of fonts say of their makers: remarks and strings of Type 1, and names of TrueType and OpenType. What
//! holds something becomes blanks, so that nothing moves.

use std::collections::BTreeSet;
use std::ops::Range;

use lopdf::{Document, Object, ObjectId};

use crate::base::reader::ByteReader;
use crate::sanitize::format::passage::is_worth;
use crate::sanitize::format::pdf::text::tokens::{TokenStream, texts_within};
use crate::sanitize::format::pdf::{graph, parts};
use crate::sanitize::{Rejection, Work};

/// Entries that lead to programs of fonts (ISO 32000-2, 9.9).
const PROGRAMS: &[&[u8]] = &[b"FontFile", b"FontFile2", b"FontFile3"];

/// How a program of Type 1 begins, and what readers look at of that; what follows the word at the end is encrypted.
const TYPE_1: &[u8] = b"%!";
const BEGINNING: usize = 18;
const ENCRYPTED: &[u8] = b"eexec";

/// Has all of them looked at.
///
/// # Errors
/// The host's; [`Rejection::OverLimit`].
pub(super) fn redact(doc: &mut Document, work: &mut Work<'_>) -> Result<(), Rejection> {
    for id in programs(doc) {
        let Some(Object::Stream(stream)) = doc.objects.get(&id) else { continue };
        let mut bytes = match parts::unfold(stream, work)? {
            None if stream.dict.has(b"Filter") => continue,
            None => stream.content.clone(),
            Some(bytes) => bytes,
        };
        let changed = if bytes.starts_with(TYPE_1) {
            blank_remarks(&mut bytes, work)?
        } else {
            blank_names(&mut bytes, work)?
        };
        if let Some(Object::Stream(stream)) = doc.objects.get_mut(&id).filter(|_| changed) {
            stream.set_plain_content(bytes);
        }
    }
    Ok(())
}

fn programs(doc: &Document) -> BTreeSet<ObjectId> {
    let mut programs = BTreeSet::new();
    for object in doc.objects.values() {
        graph::each(object, b"", graph::DEPTH, &mut |_, dict| {
            let found = PROGRAMS.iter().filter_map(|key| dict.get(key).ok());
            programs.extend(found.filter_map(|program| graph::target(doc, program)));
        });
    }
    programs
}

/// Blanks remarks and strings of a program of Type 1 that hold something. Whether there are any.
fn blank_remarks(bytes: &mut [u8], work: &mut Work<'_>) -> Result<bool, Rejection> {
    let clear = memchr::memmem::find(bytes, ENCRYPTED).unwrap_or(bytes.len());
    if memchr::memchr(b'@', bytes.get(..clear).unwrap_or_default()).is_none() {
        return Ok(false);
    }
    let read = TokenStream { bytes: bytes.get(..clear).unwrap_or_default().to_vec(), program: true };
    let edits = texts_within(&read, work)?;
    for edit in &edits {
        let Range { start, end } = edit.range;
        let inner = if edit.with == "()" {
            start.saturating_add(1)..end.saturating_sub(1)
        } else {
            start.max(BEGINNING)..end
        };
        if let Some(bytes) = bytes.get_mut(inner) {
            bytes.fill(b' ');
            // The first line ends where the remark does.
            if let Some(first) = bytes.first_mut().filter(|_| start < BEGINNING) {
                *first = b'\n';
            }
        }
    }
    Ok(!edits.is_empty())
}

/// From how many digits on a text may hold a number of somebody's.
const DIGITS: usize = 7;

/// A name in a font.
struct FontName {
    place: Range<usize>,
    text: String,
    /// Whether it is of letters of two bytes.
    wide: bool,
}

/// Blanks names of a font in tables that hold something. Whether there are any.
fn blank_names(bytes: &mut [u8], work: &mut Work<'_>) -> Result<bool, Rejection> {
    let names = names(bytes).unwrap_or_default();
    if names.is_empty() {
        return Ok(false);
    }
    let found = work.edits(&names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>())?;
    let mut changed = false;
    for (name, found) in names.into_iter().zip(found).filter(|(_, found)| !found.is_empty()) {
        found.iter().for_each(|edit| work.applied(edit));
        changed = true;
        for (n, byte) in bytes.get_mut(name.place).into_iter().flatten().enumerate() {
            *byte = if name.wide && n.is_multiple_of(2) { 0 } else { b' ' };
        }
    }
    Ok(changed)
}

/// Whether a text of a font may hold more than the names of typefaces and of who made them, which look like those of persons.
fn is_of_somebody(text: &str) -> bool {
    text.contains('@') || text.bytes().filter(u8::is_ascii_digit).count() >= DIGITS
}

/// The names of a font (OpenType, `name`); `None` if it has no such table.
fn names(bytes: &[u8]) -> Option<Vec<FontName>> {
    let mut rest = ByteReader::new(bytes.get(4..)?);
    let tables = rest.u16()?;
    rest.take(6)?;
    let mut start = None;
    for _ in 0..tables {
        let [tag, _sum, place, _length] = [rest.u32()?, rest.u32()?, rest.u32()?, rest.u32()?];
        if tag.to_be_bytes() == *b"name" {
            start = usize::try_from(place).ok();
        }
    }
    let start = start?;
    let mut rest = ByteReader::new(bytes.get(start..)?);
    let [_format, count, strings] = [rest.u16()?, rest.u16()?, rest.u16()?];
    let strings = start.checked_add(usize::from(strings))?;
    // Names share their places, but no font has more letters in them than bytes.
    let (mut names, mut seen, mut read) = (Vec::new(), BTreeSet::new(), 0_usize);
    for _ in 0..count {
        let [platform, _encoding, _language, _name] = [rest.u16()?, rest.u16()?, rest.u16()?, rest.u16()?];
        let [length, place] = [rest.u16()?, rest.u16()?];
        let begin = strings.checked_add(usize::from(place))?;
        let place = begin..begin.checked_add(usize::from(length))?;
        let Some(told) = bytes.get(place.clone()).filter(|_| seen.insert((place.start, place.end))) else {
            continue;
        };
        read = read.saturating_add(told.len());
        if read > bytes.len() {
            return None;
        }
        // All but those of Macintosh are in UTF-16.
        let wide = platform != 1;
        let text = if wide {
            let units = told.chunks_exact(2).filter_map(|pair| pair.try_into().ok().map(u16::from_be_bytes));
            String::from_utf16_lossy(&units.collect::<Vec<u16>>())
        } else {
            told.iter().map(|byte| char::from(*byte)).collect()
        };
        if is_worth(&text) && is_of_somebody(&text) {
            names.push(FontName { place, text, wide });
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use lopdf::{Stream, dictionary};

    use super::*;
    use crate::sanitize::bench::Bench;

    /// What becomes of a program.
    fn redacted(key: &str, program: &[u8]) -> Vec<u8> {
        let mut doc = Document::with_version("1.7");
        let id = doc.add_object(Stream::new(dictionary! { "Length1" => 9 }, program.to_vec()));
        doc.add_object(dictionary! { key => id });
        redact(&mut doc, &mut Bench::redacting("Marlowe").work()).expect("no limit is met");
        doc.get_object(id).and_then(Object::as_stream).expect("a stream").content.clone()
    }

    #[test]
    fn remarks_and_strings_of_type_1_become_blanks() {
        let (first, rest) = ("%!PS-AdobeFont-1.0", "/FontName /Foo def\n/Notice (");
        let told = format!("{first}: Foo\n%%Creator: Marlowe@a\n{rest}by Marlowe@a) def\neexecMarlowe");
        let remark = " ".repeat(": Foo\n%%Creator: Marlowe@a\n".len() - 1);
        let want = format!("{first}\n{remark}{rest}            ) def\neexecMarlowe");
        assert_eq!(String::from_utf8_lossy(&redacted("FontFile", told.as_bytes())), want);
        let plain = b"%!PS-AdobeFont-1.0: Foo\n/Notice (by Jane) def\neexecMarlowe";
        assert_eq!(redacted("FontFile", plain), plain);
    }

    #[test]
    fn names_of_fonts_become_blanks() {
        let wide = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
        let font = |first: &[u8], second: &[u8]| {
            let table = |tag: &[u8], place: u8| [tag, &[0, 0, 0, 0, 0, 0, 0, place, 0, 0, 0, 99]].concat();
            let head =
                [&b"\0\x01\0\0\0\x02\0\0\0\0\0\0"[..], &table(b"glyf", 44), &table(b"name", 44)].concat();
            let record = |platform: u8, length: usize, place: usize| {
                [[0, platform, 0, 0, 0, 0, 0, 0], [0, length as u8, 0, place as u8, 0, 0, 0, 0]].concat()
                    [..12]
                    .to_vec()
            };
            let records = [record(3, first.len(), 0), record(1, second.len(), first.len())].concat();
            [&head[..], &[0, 0, 0, 2, 0, 30], &records, first, second].concat()
        };
        let told = font(&wide("by Marlowe@a"), b"Marlowe (555 0123456)");
        assert_eq!(redacted("FontFile2", &told), font(&wide("            "), b"                     "));
        // Typefaces are called like persons.
        for plain in [font(&wide("by Jane@a"), b"Jane (Kent)"), font(&wide("Marlowe Sans"), b"by Marlowe")] {
            assert_eq!(redacted("FontFile2", &plain), plain);
        }
        for end in 0..told.len() {
            assert_eq!(redacted("FontFile2", &told[..end]).len(), end);
        }
    }
}
