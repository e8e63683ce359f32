//! The characters of a TrueType font program's glyphs (OpenType, `cmap`), for fonts that come without a map to text.

use std::collections::BTreeMap;

use lopdf::{Dictionary, Document};

use crate::sanitize::format::pdf::{graph, parts};
use crate::sanitize::{Rejection, Work};

/// How many subtables are read, and how many codes of each.
const TABLES: usize = 8;
const CODES: usize = 200_000;

/// The characters of a composite font's codes, where its program tells them.
///
/// # Errors
/// [`Rejection::OverLimit`] if the program unfolds to too much.
pub(super) fn characters(
    doc: &Document,
    font: &Dictionary,
    work: &mut Work<'_>,
) -> Result<BTreeMap<u32, char>, Rejection> {
    let Some(descriptor) = graph::sub(doc, font, b"FontDescriptor") else { return Ok(BTreeMap::new()) };
    let program = match parts::entry(doc, descriptor, b"FontFile2", work)? {
        Some(program) => Some(program),
        None => parts::entry(doc, descriptor, b"FontFile3", work)?,
    };
    let glyphs = program.and_then(|program| glyphs(&program)).unwrap_or_default();
    let Some(map) = parts::entry(doc, font, b"CIDToGIDMap", work)? else { return Ok(glyphs) };
    let codes = (0_u32..).zip(map.chunks_exact(2).map(|pair| be16(pair, 0).unwrap_or(0)));
    Ok(codes.filter_map(|(code, glyph)| Some((code, *glyphs.get(&glyph)?))).collect())
}

fn be16(bytes: &[u8], at: usize) -> Option<u32> {
    let pair = bytes.get(at..at.checked_add(2)?)?;
    Some(u32::from(u16::from_be_bytes(pair.try_into().ok()?)))
}

fn be32(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    usize::try_from(u32::from_be_bytes(four.try_into().ok()?)).ok()
}

/// The character of each glyph, the lowest where there are several.
fn glyphs(program: &[u8]) -> Option<BTreeMap<u32, char>> {
    let tables = be16(program, 4)? as usize;
    let entry =
        (0..tables).map(|n| 12 + n * 16).find(|at| program.get(*at..*at + 4) == Some(b"cmap".as_slice()))?;
    let cmap = program.get(be32(program, entry.checked_add(8)?)?..)?;
    let mut out = BTreeMap::new();
    for n in 0..TABLES.min(be16(cmap, 2)? as usize) {
        let at = 4 + n * 8;
        let (Some(platform), Some(kind), Some(offset)) =
            (be16(cmap, at), be16(cmap, at + 2), be32(cmap, at + 4))
        else {
            break;
        };
        // Unicode, or Windows' Unicode; others are not of characters.
        if platform == 0 || (platform == 3 && (kind == 1 || kind == 10)) {
            subtable(cmap.get(offset..).unwrap_or_default(), &mut out);
        }
    }
    Some(out)
}

fn subtable(table: &[u8], out: &mut BTreeMap<u32, char>) {
    let mut put = |glyph: u32, code: u32| {
        if let Some(c) = char::from_u32(code).filter(|_| glyph != 0) {
            out.entry(glyph).or_insert(c);
        }
    };
    match be16(table, 0) {
        Some(4) => {
            segments(table, &mut put);
        }
        Some(6) => {
            let (first, count) = (be16(table, 6).unwrap_or(0), be16(table, 8).unwrap_or(0));
            for n in 0..count {
                put(be16(table, 10 + n as usize * 2).unwrap_or(0), first.saturating_add(n));
            }
        }
        Some(12) => {
            let mut room = CODES;
            for n in 0..be32(table, 12).unwrap_or(0).min(0x1_0000) {
                let at = 16 + n * 12;
                let (Some(first), Some(last), Some(glyph)) =
                    (be32(table, at), be32(table, at + 4), be32(table, at + 8))
                else {
                    break;
                };
                for code in (first..=last.min(0x10_ffff)).take(room) {
                    room -= 1;
                    put(glyph.saturating_add(code - first) as u32, code as u32);
                }
            }
        }
        _ => {}
    }
}

/// Format 4: segments with a difference, or a place among the glyphs.
fn segments(table: &[u8], put: &mut dyn FnMut(u32, u32)) -> Option<()> {
    let double = be16(table, 6)? as usize;
    let (ends, starts) = (14, 16 + double);
    let (deltas, offsets) = (starts + double, starts + double * 2);
    let mut room = CODES;
    for at in (0..double).step_by(2) {
        let (end, start) = (be16(table, ends + at)?, be16(table, starts + at)?);
        let (delta, offset) = (be16(table, deltas + at)?, be16(table, offsets + at)?);
        for code in (start..=end).take(room) {
            room -= 1;
            let glyph = match offset {
                0 => code,
                offset => {
                    let place = offsets + at + offset as usize + (code - start) as usize * 2;
                    match be16(table, place) {
                        Some(0) | None => continue,
                        Some(glyph) => glyph,
                    }
                }
            };
            put(glyph.wrapping_add(delta) & 0xffff, code);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_reversed() {
        let mut table = Vec::new();
        for unit in [4_u16, 32, 0, 4, 0, 0, 0, 0x43, 0xffff, 0, 0x41, 0xffff, 0xffc2, 1, 0, 0] {
            table.extend(unit.to_be_bytes());
        }
        let mut out = BTreeMap::new();
        subtable(&table, &mut out);
        assert_eq!(out.into_iter().take(3).collect::<Vec<_>>(), [(3, 'A'), (4, 'B'), (5, 'C')]);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300)) {
            let mut program = b"\0\x01\0\0\0\x01\0\0\0\0\0\0cmap\0\0\0\0\0\0\0\x1c\0\0\0\0\0\0\0\x01\0\0\0\x03\0\0\0\x0c\0".to_vec();
            program.extend(bytes);
            glyphs(&program);
            subtable(&program, &mut BTreeMap::new());
        }
    }
}
