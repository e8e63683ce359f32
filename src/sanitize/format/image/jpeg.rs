//! A JPEG's segments (ITU-T T.81, annex B).

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::base::reader::ByteReader;
use crate::sanitize::format::image::exif;

/// Tables, frames, scans: what decoders need. Neither comments nor what applications add.
const NEEDED: &[u8] = &[
    0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf, 0xda, 0xdb,
    0xdc, 0xdd,
];

/// How a JPEG begins.
pub(super) const START: &[u8] = b"\xff\xd8";

/// Markers of the end, and of a scan.
pub(super) const END: u8 = 0xd9;
pub(super) const SCAN: u8 = 0xda;

/// Markers of tables of codes, of those of divisors, and of what arithmetic coding goes by.
const CODES: u8 = 0xc4;
const DIVISORS: u8 = 0xdb;
const CONDITIONING: u8 = 0xcc;

/// Markers of how many lines there are, and of how often a scan begins anew.
const LINES: u8 = 0xdc;
const RESTARTS: u8 = 0xdd;

/// The picture; `None` if its segments cannot be told apart. What comes before it and between its segments is passed over, as
/// readers do.
pub(in crate::sanitize::format) fn written(file: &[u8]) -> Option<Vec<u8>> {
    let file = file.get(memchr::memmem::find(file, START)?..)?;
    let used = UsedTables::of(file).places;
    let mut rest = ByteReader::new(file);
    let mut out = Vec::with_capacity(file.len());
    out.extend(rest.take(START.len())?);
    let mut turned = false;
    loop {
        let marker = next_marker(&mut rest)?;
        if marker == END {
            break;
        }
        let length = usize::from(rest.u16()?).checked_sub(2)?;
        let at = place(file, &rest);
        let content = rest.take(length)?;
        match marker {
            0xe0 => {
                if let Some(density) = content.strip_prefix(b"JFIF\0").and_then(|jfif| jfif.get(..7)) {
                    // No thumbnail: its sides are zero.
                    put(&mut out, marker, &[b"JFIF\0", density, &[0, 0]].concat());
                }
            }
            0xe1 => {
                let exif = content.strip_prefix(exif::MARK).filter(|_| !turned);
                if let Some(turn) = exif.and_then(exif::orientation) {
                    turned = true;
                    put(&mut out, marker, &[exif::MARK, &exif::turning(turn)].concat());
                }
            }
            // How the colours were converted, without which they come out wrong.
            0xee if content.starts_with(b"Adobe") => put(&mut out, marker, content.get(..12)?),
            CODES | DIVISORS => {
                let tables = tables(marker, content).into_iter();
                let used = tables.filter(|(_, within)| used.contains(&at.saturating_add(within.start)));
                let kept: Vec<&[u8]> = used.filter_map(|(_, within)| content.get(within)).collect();
                if !kept.is_empty() {
                    put(&mut out, marker, &kept.concat());
                }
            }
            CONDITIONING if !is_conditioning(content) => {}
            SCAN => {
                put(&mut out, marker, said(marker, content));
                out.extend(scan(&mut rest));
                if rest.rest().is_empty() {
                    break;
                }
            }
            marker if NEEDED.contains(&marker) => put(&mut out, marker, said(marker, content)),
            _ => {}
        }
    }
    out.extend([0xff, END]);
    Some(out)
}

/// How much of a file was read.
fn place(file: &[u8], rest: &ByteReader<'_>) -> usize {
    file.len().saturating_sub(rest.rest().len())
}

/// What a segment says by its own count (B.2.2 to B.2.5); what stands behind that nobody reads.
fn said(marker: u8, content: &[u8]) -> &[u8] {
    let count = |at: usize| content.get(at).copied().map_or(0, usize::from);
    let length = match marker {
        SCAN => count(0).saturating_mul(2).saturating_add(4),
        LINES | RESTARTS => 2,
        CONDITIONING => content.len(),
        // A frame.
        _ => count(5).saturating_mul(3).saturating_add(6),
    };
    content.get(..length).unwrap_or(content)
}

/// Whether a segment says what arithmetic coding goes by (B.2.4.3): of pairs, the first names a table.
fn is_conditioning(content: &[u8]) -> bool {
    content.chunks(2).all(|pair| matches!(pair, [0..=3 | 0x10..=0x13, _]))
}

/// A kind of tables, and a number among them.
type TableName = (u8, u8);

/// Kinds of tables: of codes for means and for the rest of a block, and of divisors.
const MEANS: u8 = 0;
const WAVES: u8 = 1;
const DIVIDING: u8 = 2;

/// The tables of a segment (B.2.4.1 and B.2.4.2), as far as they are whole, each with where it stands.
fn tables(marker: u8, content: &[u8]) -> Vec<(TableName, Range<usize>)> {
    let (mut rest, mut tables) = (ByteReader::new(content), Vec::new());
    loop {
        let start = place(content, &rest);
        let Some(first) = rest.byte() else { return tables };
        let (kind, number) = (first >> 4, first & 15);
        let (kind, length) = if marker == DIVISORS {
            (DIVIDING, if kind == 0 { 64 } else { 128 })
        } else {
            let Some(counts) = rest.array::<16>() else { return tables };
            (kind, counts.into_iter().map(usize::from).sum::<usize>())
        };
        if rest.take(length).is_none() {
            return tables;
        }
        tables.push(((kind, number), start..place(content, &rest)));
    }
}

/// The tables that scans make use of, as far as segments can be told apart.
#[derive(Default)]
struct UsedTables {
    /// Where the table of a name stands that was read last.
    last: HashMap<TableName, usize>,
    /// Components of the frame, and which divisors are theirs.
    components: HashMap<u8, u8>,
    /// Where those stand that a scan made use of.
    places: HashSet<usize>,
}

impl UsedTables {
    fn of(file: &[u8]) -> Self {
        let mut used = Self::default();
        let mut rest = ByteReader::new(file);
        rest.take(START.len());
        while let Some(marker) = next_marker(&mut rest).filter(|marker| *marker != END) {
            let Some(length) = rest.u16().and_then(|length| length.checked_sub(2)) else { break };
            let at = place(file, &rest);
            let Some(content) = rest.take(usize::from(length)) else { break };
            match marker {
                CODES | DIVISORS => {
                    for (name, within) in tables(marker, content) {
                        used.last.insert(name, at.saturating_add(within.start));
                    }
                }
                SCAN => {
                    used.scan(content);
                    scan(&mut rest);
                }
                0xc0..=0xcf if marker != CONDITIONING => used.frame(content),
                _ => {}
            }
        }
        used
    }

    /// What a frame says of its components (B.2.2).
    fn frame(&mut self, content: &[u8]) {
        for component in content.get(6..).unwrap_or_default().chunks_exact(3) {
            if let [name, _, divisors] = component {
                self.components.insert(*name, *divisors);
            }
        }
    }

    /// What a scan says of its components (B.2.3).
    fn scan(&mut self, content: &[u8]) {
        let count = content.first().copied().map_or(0, usize::from);
        for component in content.get(1..).unwrap_or_default().chunks_exact(2).take(count) {
            let [name, codes] = component else { continue };
            let mut names = vec![(MEANS, codes >> 4), (WAVES, codes & 15)];
            match self.components.get(name) {
                Some(divisors) => names.push((DIVIDING, *divisors)),
                // Which are its own is for the decoder to judge.
                None => names.extend(self.last.keys().filter(|(kind, _)| *kind == DIVIDING)),
            }
            self.places.extend(names.iter().filter_map(|name| self.last.get(name)));
        }
    }
}

/// The next marker before a segment, or of the end. What is none is passed over, and so are those that stand by themselves
/// (B.1.1.3).
fn next_marker(rest: &mut ByteReader<'_>) -> Option<u8> {
    loop {
        let before = memchr::memchr(0xff, rest.rest())?;
        rest.take(before)?;
        match marker(rest)? {
            0 | 0x01 | 0xd0..=0xd8 => {}
            marker => return Some(marker),
        }
    }
}

/// Any number of `0xff` may stand before a marker (B.1.1.2).
pub(super) fn marker(rest: &mut ByteReader<'_>) -> Option<u8> {
    (rest.byte()? == 0xff).then_some(())?;
    loop {
        match rest.byte()? {
            0xff => {}
            marker => return Some(marker),
        }
    }
}

/// Entropy-coded data, with its restart markers (B.1.1.5).
fn scan<'f>(rest: &mut ByteReader<'f>) -> &'f [u8] {
    let ends =
        |at: &usize| rest.rest().get(at.saturating_add(1)).is_none_or(|b| !matches!(b, 0 | 0xd0..=0xd7));
    let end = memchr::memchr_iter(0xff, rest.rest()).find(ends).unwrap_or(rest.rest().len());
    rest.take(end).unwrap_or_default()
}

fn put(out: &mut Vec<u8>, marker: u8, content: &[u8]) {
    let length = u16::try_from(content.len().saturating_add(2)).unwrap_or(u16::MAX);
    out.extend([0xff, marker]);
    out.extend(length.to_be_bytes());
    out.extend(content);
}
