//! Fonts that come with a document: whether a part is what it is called.

use crate::sanitize::Work;
use crate::sanitize::format::content::FileContent;

/// How content types of fonts begin or end, in lower case.
const TYPES: &[&str] = &["font/", "application/x-font", "application/vnd.ms-opentype"];

/// Word's (ECMA-376, part 1, 17.8.1): the first 32 bytes are another font's, by a key.
const OBFUSCATED: &str = ".obfuscatedfont";

/// How other files begin that programs run or open, which no hidden font is but once in thousands.
const OTHERS: &[&[u8]] =
    &[b"MZ", b"\x7fELF", b"PK\x03\x04", b"#!", b"%PDF", b"<", b"\xd0\xcf\x11\xe0", b"{\\rtf"];

/// Where the third entry of a font's table is: the first that no key hides (OpenType 1.9, Table Directory).
const ENTRY: usize = 12 + 2 * 16;

/// Whether a content type says that a part is a font.
pub(super) fn is_called(kind: &str) -> bool {
    TYPES.iter().any(|font| kind.starts_with(font)) || kind.ends_with(OBFUSCATED)
}

/// Whether a part that is called a font is one.
pub(super) fn is_one(name: &str, kind: &str, bytes: &[u8], work: &Work<'_>) -> bool {
    match FileContent::of(name, bytes, work) {
        FileContent::Empty | FileContent::Font => true,
        FileContent::Other if is_embedded_open_type(bytes) => true,
        _ => kind.ends_with(OBFUSCATED) && is_hidden(bytes),
    }
}

/// PowerPoint's: what it holds begins behind its size and a magic number (Embedded OpenType, W3C submission, section 4.1).
fn is_embedded_open_type(bytes: &[u8]) -> bool {
    let size = bytes.get(..4).and_then(|size| size.try_into().ok()).map(u32::from_le_bytes);
    let whole = size.and_then(|size| usize::try_from(size).ok()) == Some(bytes.len());
    whole && bytes.get(34..36) == Some(b"LP")
}

/// Whether what no key hides is a font's: an entry of its table, which has a name and lies in the file.
fn is_hidden(bytes: &[u8]) -> bool {
    let number = |at: usize| {
        let bytes = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        usize::try_from(u32::from_be_bytes(bytes)).ok()
    };
    let named = bytes.get(ENTRY..ENTRY + 4).is_some_and(|name| name.iter().all(|b| matches!(b, b' '..=b'~')));
    let place = number(ENTRY + 8).zip(number(ENTRY + 12));
    let inside = place.is_some_and(|(from, length)| {
        from >= ENTRY && from.checked_add(length).is_some_and(|end| end <= bytes.len())
    });
    named && inside && !OTHERS.iter().any(|other| bytes.starts_with(other))
}
