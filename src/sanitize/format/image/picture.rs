//! [`picture`]: an image within a document, cleaned as if it came alone; what is none does not stay. [`shown`]: the same for one
//! that may be a drawing.

use crate::sanitize::format::image::clean::{clean, format};
use crate::sanitize::{ChangedObject, FileKind, Note, ObjectKind, RedactionMode, Rejection, Work};

/// Stands where a picture was that cannot be shown: a transparent pixel (PNG).
const NOTHING: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\x0b\
IDAT\x78\x9c\x63\x60\0\x02\0\0\x05\0\x01\x7a\x5e\xab\x3f\0\0\0\0IEND\xae\x42\x60\x82";

/// How files of other formats begin that documents show: icons, JPEG 2000, JPEG XR, StarView's metafiles. HEIF and AVIF have a
/// length before that. QuickDraw's pictures have no beginning of their own, and go.
const BEGINNINGS: &[&[u8]] = &[b"\0\0\x01\0", b"\0\0\0\x0cjP  ", b"\xff\x4f\xff\x51", b"II\xbc", b"VCLMTF"];

/// Whether something is an image, as far as its beginning says.
pub(in crate::sanitize::format) fn is_picture(bytes: &[u8]) -> bool {
    format(bytes).is_some() || other(bytes).is_some()
}

/// What an image becomes that may also be a drawing (SVG), whatever it is said to be; `None`: it stays as it is.
///
/// # Errors
/// [`Rejection::OverLimit`]; those of SVG.
pub(in crate::sanitize::format) fn shown(
    name: &str,
    bytes: &[u8],
    work: &mut Work<'_>,
) -> Result<Option<Vec<u8>>, Rejection> {
    let kind = if is_picture(bytes) { FileKind::Image } else { work.identify(name, bytes) };
    if kind == FileKind::Svg { work.attachment(name, bytes) } else { picture(bytes, work) }
}

/// What a picture becomes; `None`: it stays as it is.
///
/// # Errors
/// [`Rejection::OverLimit`].
pub(in crate::sanitize::format) fn picture(
    bytes: &[u8],
    work: &mut Work<'_>,
) -> Result<Option<Vec<u8>>, Rejection> {
    if work.is_again() {
        return Ok(None);
    }
    let whole = match format(bytes) {
        Some(_) => match clean(bytes, work) {
            Ok(clean) => return Ok((clean != bytes).then_some(clean)),
            Err(Rejection::Malformed | Rejection::Unsupported) => None,
            Err(rejection) => return Err(rejection),
        },
        None => other(bytes),
    };
    match whole {
        Some(whole) => {
            if work.options().redaction != RedactionMode::Off {
                work.stats().note(Note::Images, 1);
            }
            Ok((whole.len() < bytes.len()).then(|| whole.to_vec()))
        }
        None if bytes.is_empty() => Ok(None),
        None => {
            work.leave_out(ChangedObject::left_out(ObjectKind::Picture));
            Ok(Some(NOTHING.to_vec()))
        }
    }
}

/// A file of another format, without what trails it; `None` if it is none.
fn other(bytes: &[u8]) -> Option<&[u8]> {
    let number = |at: usize| {
        let bytes = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(bytes)).ok()
    };
    // Enhanced metafiles say how long they are ([MS-EMF] 2.3.4.2), others behind a placeable header or without one, in words
    // of two bytes ([MS-WMF] 2.3.2.2).
    let length = if bytes.starts_with(b"\x01\0\0\0") && bytes.get(40..44) == Some(b" EMF") {
        number(48)?
    } else if bytes.starts_with(b"\xd7\xcd\xc6\x9a") {
        number(28)?.checked_mul(2)?.checked_add(22)?
    } else if bytes.starts_with(b"\x01\0\x09\0") || bytes.starts_with(b"\x02\0\x09\0") {
        number(6)?.checked_mul(2)?
    } else {
        let boxed = bytes.get(4..8) == Some(b"ftyp");
        return (boxed || BEGINNINGS.iter().any(|begin| bytes.starts_with(begin))).then_some(bytes);
    };
    // Some programs write another length than they have.
    Some(bytes.get(..length).filter(|whole| whole.len() > 64).unwrap_or(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitize::bench::Bench;

    fn of(bytes: &[u8]) -> Option<Vec<u8>> {
        let mut bench = Bench::disarming();
        picture(bytes, &mut bench.work()).expect("no limit is met")
    }

    #[test]
    fn what_is_no_picture_goes() {
        assert_eq!(of(NOTHING), None);
        for bytes in [&b"MZ\x90\0\x03"[..], b"#!/bin/sh", b"PK\x03\x04", b"\x89PNG\r\n\x1a\nbroken"] {
            assert_eq!(of(bytes).as_deref(), Some(NOTHING));
        }
        let trailed = [NOTHING, b"PK\x03\x04"].concat();
        assert_eq!(of(&trailed).as_deref(), Some(NOTHING));
    }

    #[test]
    fn metafiles_end_where_they_say() {
        let mut file = vec![0_u8; 120];
        file.splice(..4, *b"\x01\0\0\0");
        file.splice(40..44, *b" EMF");
        file.splice(48..52, 120_u32.to_le_bytes());
        assert_eq!(of(&file), None);
        assert_eq!(of(&[file.as_slice(), b"MZ"].concat()), Some(file.clone()));
        let mut words = vec![0_u8; 100];
        words.splice(..4, *b"\x01\0\x09\0");
        words.splice(6..10, 50_u32.to_le_bytes());
        assert_eq!(of(&[words.as_slice(), b"MZ"].concat()), Some(words));
    }
}
