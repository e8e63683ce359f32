//! Which kind a zip file is, by its directory (PKWARE APPNOTE 6.3, 4.3.12 and 4.3.16), of which nothing is kept.

use crate::sanitize::FileKind;

/// The end of the directory lies behind all else but a comment, which has at most 64 KiB.
const TAIL: usize = 22 + 65_535;

/// An office package is told by the part that lists its parts (ECMA-376-2, 7.2.3; ODF 1.3 part 2, 3.2 and 3.3).
pub(super) fn of(file: &[u8]) -> FileKind {
    let (mut types, mut manifest, mut content) = (false, false, false);
    for name in DirectoryNames(directory(file).unwrap_or_default()) {
        types |= name.eq_ignore_ascii_case(b"[Content_Types].xml");
        manifest |= name.eq_ignore_ascii_case(b"META-INF/manifest.xml");
        content |= name.eq_ignore_ascii_case(b"content.xml");
    }
    if types {
        FileKind::Ooxml
    } else if manifest && content {
        FileKind::Odf
    } else {
        FileKind::Zip
    }
}

/// The directory, wherever its file begins.
fn directory(file: &[u8]) -> Option<&[u8]> {
    let from = file.len().saturating_sub(TAIL);
    let end = from.checked_add(memchr::memmem::rfind(file.get(from..)?, b"PK\x05\x06")?)?;
    let size = u32::from_le_bytes(file.get(end.checked_add(12)?..end.checked_add(16)?)?.try_into().ok()?);
    // With zip64 its size is elsewhere: then all is looked at that looks like it.
    match end.checked_sub(usize::try_from(size).ok()?) {
        Some(start) => file.get(start..end),
        None => file.get(memchr::memmem::find(file, b"PK\x01\x02")?..end),
    }
}

/// The names in a directory.
struct DirectoryNames<'f>(&'f [u8]);

impl<'f> Iterator for DirectoryNames<'f> {
    type Item = &'f [u8];

    fn next(&mut self) -> Option<&'f [u8]> {
        let header = self.0.strip_prefix(b"PK\x01\x02")?;
        let length = |at: usize| {
            let bytes = header.get(at..at.saturating_add(2))?.try_into().ok()?;
            Some(usize::from(u16::from_le_bytes(bytes)))
        };
        let (name, extra, comment) = (length(24)?, length(26)?, length(28)?);
        let rest = header.get(42..)?;
        let (name, rest) = rest.split_at_checked(name)?;
        self.0 = rest.get(extra.checked_add(comment)?..)?;
        Some(name)
    }
}
