//! [`identify`]: what a file really is. Its bytes decide; a name only helps where bytes leave it open (CSV or text).

use crate::sanitize::format::{image, mail};
use crate::sanitize::{FileKind, text_kind, zip_kind};

/// How far into a file its header may begin, in bytes (ISO 32000-1, annex H.3, note 13).
const JUNK: usize = 1024;

/// The kind of a file, which its owner calls `name`.
///
/// Where a file is two at once, it is the one whose format writes all of it anew: an archive rather than a PDF that
/// lies in it, a PDF rather than the image or the text around it.
pub fn identify(file: &[u8], name: &str) -> FileKind {
    if file.starts_with(&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]) {
        return FileKind::Ole2;
    }
    if [b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"].iter().any(|magic| file.starts_with(*magic)) {
        return zip_kind::of(file);
    }
    if file.starts_with(b"\x1f\x8b\x08") {
        return FileKind::Gzip;
    }
    if is_tar(file) {
        return FileKind::Tar;
    }
    if is_pdf(file) {
        return FileKind::Pdf;
    }
    if image::format(file).is_some() {
        return FileKind::Image;
    }
    mail::kind_of(file, name).or_else(|| text_kind::of(file, name)).unwrap_or(FileKind::Unknown)
}

/// A header by itself is an example in some text; objects follow it in a file.
fn is_pdf(file: &[u8]) -> bool {
    let head = file.get(..JUNK).unwrap_or(file);
    let within = |word: &[u8]| memchr::memmem::find(file, word).is_some();
    match memchr::memmem::find(head, b"%PDF-") {
        Some(0) => true,
        Some(_) => within(b"endobj") || within(b"startxref"),
        None => false,
    }
}

/// A header whose checksum fits (POSIX.1-2017 pax, ustar interchange format): old archives have no magic.
fn is_tar(file: &[u8]) -> bool {
    let Some(header) = file.get(..512) else { return false };
    let Some((head, tail)) = header.split_at_checked(148) else { return false };
    let Some((stored, tail)) = tail.split_at_checked(8) else { return false };
    let sum: u32 = head.iter().chain(tail).map(|b| u32::from(*b)).sum::<u32>().saturating_add(8 * 0x20);
    let digits = String::from_utf8_lossy(stored);
    let digits = digits.trim_matches(|c: char| c == ' ' || c == '\0');
    !head.starts_with(&[0]) && u32::from_str_radix(digits, 8) == Ok(sum)
}

#[cfg(test)]
mod tests;
