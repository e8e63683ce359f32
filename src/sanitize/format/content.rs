//! [`FileContent`]: what a part of a package is by its bytes. What the package says of it is chosen by who writes the file.

use crate::sanitize::format::image;
use crate::sanitize::{FileKind, Work};

/// What a part that is no XML shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileContent {
    /// It has none.
    Empty,
    /// An image of pixels, or a metafile.
    Picture,
    /// An image in SVG.
    Drawing,
    /// A program's letters.
    Font,
    /// Sound or film.
    Media,
    /// Where pages broke when the document was laid out last.
    Layout,
    /// None of these.
    Other,
}

/// How programs of letters begin: TrueType, OpenType, collections, WOFF.
const FONTS: &[&[u8]] = &[b"\0\x01\0\0", b"OTTO", b"true", b"ttcf", b"wOFF", b"wOF2"];

/// How sound and film begin: RIFF, MP3, Ogg, FLAC, Matroska, MIDI, AIFF, Sun, AAC, ASF, MPEG, Flash's film, AMR.
const MEDIA: &[&[u8]] = &[
    b"RIFF",
    b"ID3",
    b"OggS",
    b"fLaC",
    b"\x1aE\xdf\xa3",
    b"MThd",
    b"FORM",
    b".snd",
    b"\xff\xfb",
    b"\xff\xfa",
    b"\xff\xf3",
    b"\xff\xf2",
    b"\xff\xf1",
    b"\xff\xf9",
    b"\x30\x26\xb2\x75\x8e\x66\xcf\x11",
    b"\0\0\x01\xba",
    b"\0\0\x01\xb3",
    b"FLV\x01",
    b"#!AMR\n",
    b"#!AMR-WB\n",
];

/// The boxes that films begin with behind their length (ISO/IEC 14496-12), and QuickTime's.
const BOXES: &[&[u8]] = &[b"ftyp", b"moov", b"mdat", b"wide"];

impl FileContent {
    /// By its bytes; XML is not looked at.
    pub(super) fn of(name: &str, bytes: &[u8], work: &Work<'_>) -> Self {
        let begins = |all: &[&[u8]]| all.iter().any(|begin| bytes.starts_with(begin));
        if bytes.is_empty() {
            Self::Empty
        } else if image::is_picture(bytes) {
            Self::Picture
        } else if begins(FONTS) {
            Self::Font
        } else if begins(MEDIA) || bytes.get(4..8).is_some_and(|kind| BOXES.contains(&kind)) {
            Self::Media
        } else if is_layout(bytes) {
            Self::Layout
        } else if !name.ends_with(".xml") && work.identify("", bytes) == FileKind::Svg {
            Self::Drawing
        } else {
            Self::Other
        }
    }
}

/// LibreOffice's: a version, and one record that reaches to the end and says so.
fn is_layout(bytes: &[u8]) -> bool {
    let Some(head) = bytes.get(4..8).and_then(|head| <[u8; 4]>::try_from(head).ok()) else { return false };
    let length = usize::try_from(u32::from_le_bytes(head) >> 8).ok();
    bytes.starts_with(b"\x01\0") && head.first() == Some(&b'p') && length == bytes.len().checked_sub(4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitize::bench::Bench;

    #[test]
    fn bytes_decide() {
        let mut bench = Bench::disarming();
        let work = bench.work();
        for (bytes, want) in [
            (&b""[..], FileContent::Empty),
            (b"GIF89a\x01\0\x01\0\0\0\0;", FileContent::Picture),
            (b"VCLMTF\x01\0", FileContent::Picture),
            (b"\0\x01\0\0\0\x0c", FileContent::Font),
            (b"OggS\0\x02", FileContent::Media),
            (b"\0\0\0\x18moov", FileContent::Media),
            (b"\x01\0\x01\0p\x06\0\0ab", FileContent::Layout),
            (b"\x01\0\x01\0p\x06\0\0abMZ", FileContent::Other),
            (b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>", FileContent::Drawing),
            (b"MZ\x90\0", FileContent::Other),
            (b"PK\x03\x04", FileContent::Other),
            (b"#!/bin/sh\n", FileContent::Other),
        ] {
            assert_eq!(FileContent::of("Pictures/a", bytes, &work), want, "{bytes:?}");
        }
    }
}
