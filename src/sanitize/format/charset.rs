//! Which encoding a text file is in (Encoding Standard), and how it is written back.

use std::borrow::Cow;

use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// UTF-8's byte order mark.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// How far a declaration is looked for, in bytes (HTML Standard, "prescan a byte stream").
const PRESCAN: usize = 1024;

/// A file's text.
#[derive(Debug)]
pub(super) struct Decoded<'f> {
    /// Without the byte order mark.
    pub(super) text: Cow<'f, str>,
    pub(super) encoding: &'static Encoding,
    /// Whether there was a byte order mark.
    pub(super) bom: bool,
}

/// Reads HTML: by its byte order mark, by what it declares, as UTF-8 if it is that, else as Windows-1252.
pub(super) fn of_html(file: &[u8]) -> Decoded<'_> {
    let head = file.get(..PRESCAN).unwrap_or(file);
    let declared =
        declared(head, b"charset").map(|encoding| if is_utf16(encoding) { UTF_8 } else { encoding });
    decoded(file, declared)
}

/// Reads XML: by its byte order mark, by its declaration, as UTF-8.
pub(super) fn of_xml(file: &[u8]) -> Decoded<'_> {
    let head = file.get(..PRESCAN).unwrap_or(file);
    let head = if head.starts_with(b"<?xml") { head } else { b"" };
    let head = head.get(..memchr::memmem::find(head, b"?>").unwrap_or(0)).unwrap_or_default();
    decoded(file, declared(head, b"encoding"))
}

/// Reads text: by its byte order mark, as UTF-8 if it is that, else as Windows-1252.
pub(super) fn of_text(file: &[u8]) -> Decoded<'_> {
    decoded(file, None)
}

/// A file's text without its byte order mark; `None` if no text begins so.
pub(in crate::sanitize) fn text_of(file: &[u8]) -> Option<Cow<'_, str>> {
    let Decoded { text, encoding, .. } = of_text(file);
    // The beginning shows it: what is no text has such bytes early.
    let head = text.get(..text.floor_char_boundary(PRESCAN)).unwrap_or(&text);
    let odd = |c: char| c < ' ' && !matches!(c, '\t' | '\n' | '\r' | '\u{c}' | '\u{1b}');
    let known = encoding != WINDOWS_1252 || !head.contains(odd);
    (known && !head.contains('\0')).then_some(text)
}

fn decoded<'f>(file: &'f [u8], declared: Option<&'static Encoding>) -> Decoded<'f> {
    let (encoding, mark) = match Encoding::for_bom(file) {
        Some((encoding, mark)) => (encoding, mark),
        None => (declared.unwrap_or_else(|| guessed(file)), 0),
    };
    let (text, _) = encoding.decode_without_bom_handling(file.get(mark..).unwrap_or_default());
    Decoded { text, encoding, bom: mark > 0 }
}

fn guessed(file: &[u8]) -> &'static Encoding {
    let utf8 = std::str::from_utf8(file).is_ok();
    // UTF-16 without its mark: every other byte of what begins a file is zero.
    let zero = |at: usize| file.iter().take(64).skip(at).step_by(2).all(|b| *b == 0) && file.len() > 3;
    match file {
        [_, 0, ..] if zero(1) => UTF_16LE,
        [0, ..] if zero(0) => UTF_16BE,
        _ if utf8 => UTF_8,
        _ => WINDOWS_1252,
    }
}

fn is_utf16(encoding: &Encoding) -> bool {
    [UTF_16LE, UTF_16BE].contains(&encoding)
}

/// The encoding behind `name=` in a head.
fn declared(head: &[u8], name: &[u8]) -> Option<&'static Encoding> {
    let lower = head.to_ascii_lowercase();
    memchr::memmem::find_iter(&lower, name).find_map(|at| {
        let rest = lower.get(at.saturating_add(name.len())..)?.trim_ascii_start();
        let label = rest.strip_prefix(b"=")?.trim_ascii_start();
        let label = label.strip_prefix(b"\"").or_else(|| label.strip_prefix(b"'")).unwrap_or(label);
        let end = label
            .iter()
            .position(|b| !(b.is_ascii_alphanumeric() || b"-_:.".contains(b)))
            .unwrap_or(label.len());
        Encoding::for_label_no_replacement(label.get(..end)?)
    })
}

/// Text in this encoding, with its mark if it had one; `None` if the encoding cannot spell it.
pub(super) fn encoded(text: &str, encoding: &'static Encoding, bom: bool) -> Option<Vec<u8>> {
    if is_utf16(encoding) {
        let units = text.encode_utf16();
        let mark = bom.then_some(0xfeff_u16);
        let bytes = |unit: u16| if encoding == UTF_16LE { unit.to_le_bytes() } else { unit.to_be_bytes() };
        return Some(mark.into_iter().chain(units).flat_map(bytes).collect());
    }
    let mut out = if bom { BOM.to_vec() } else { Vec::new() };
    let (bytes, _, lost) = encoding.encode(text);
    out.extend_from_slice(&bytes);
    (!lost && encoding != ISO_2022_JP).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_in_their_encoding_and_written_back() {
        for (file, text, encoding) in [
            (&b"\xef\xbb\xbfa\xc3\xa9"[..], "aé", UTF_8),
            (b"a\xe9", "aé", WINDOWS_1252),
            (b"\xff\xfea\0\xe9\0", "aé", UTF_16LE),
            (b"\xfe\xff\0a\0\xe9", "aé", UTF_16BE),
            (b"a\0b\0", "ab", UTF_16LE),
        ] {
            let read = of_text(file);
            assert_eq!((&*read.text, read.encoding), (text, encoding));
            assert_eq!(encoded(&read.text, read.encoding, read.bom).as_deref(), Some(file));
        }
        assert_eq!(of_html(b"<meta charset='koi8-r'>\xc1").text, "<meta charset='koi8-r'>а");
        assert_eq!(
            of_xml(b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>")
                .text
                .chars()
                .filter(|c| *c == 'é')
                .count(),
            1
        );
        assert_eq!(encoded("€а", WINDOWS_1252, false), None);
    }
}
