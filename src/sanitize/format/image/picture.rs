//! [`picture`]: an image within a document, cleaned as if it came alone; what is none does not stay. [`shown`]: the same for one
//! that may be a drawing.

use crate::sanitize::format::image::clean::{clean, format};
use crate::sanitize::format::image::other::OtherFormat;
use crate::sanitize::{ChangedObject, FileKind, Note, ObjectKind, RedactionMode, Rejection, Work};

/// Stands where a picture was that cannot be shown: a transparent pixel (PNG).
const NOTHING: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\x0b\
IDAT\x78\x9c\x63\x60\0\x02\0\0\x05\0\x01\x7a\x5e\xab\x3f\0\0\0\0IEND\xae\x42\x60\x82";

/// Whether something is an image, as far as its beginning says.
pub(in crate::sanitize::format) fn is_picture(bytes: &[u8]) -> bool {
    format(bytes).is_some() || OtherFormat::of(bytes).is_some()
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
    if work.is_again() || bytes.is_empty() {
        return Ok(None);
    }
    let left_out = match cleaned(bytes, work) {
        Ok(clean) => return Ok((clean != bytes).then_some(clean)),
        Err(Rejection::Malformed) => ChangedObject::left_out(ObjectKind::Picture),
        // It is one, which nobody here can clean.
        Err(Rejection::Unsupported) => {
            ChangedObject::left_out(ObjectKind::Picture).because(Rejection::Unsupported)
        }
        Err(rejection) => return Err(rejection),
    };
    work.leave_out(left_out);
    Ok(Some(NOTHING.to_vec()))
}

fn cleaned(bytes: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    if format(bytes).is_some() {
        return clean(bytes, work);
    }
    let clean = match OtherFormat::of(bytes).ok_or(Rejection::Malformed)?.written(bytes, work) {
        Err(Rejection::Unsupported) => work.pass(bytes)?,
        clean => clean?,
    };
    if work.options().redaction != RedactionMode::Off {
        work.stats().note(Note::Images, 1);
    }
    Ok(clean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitize::bench::Bench;
    use crate::sanitize::{ChangedObjects, ReleasePolicy};

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
        assert_eq!(of(b""), None);
    }

    /// What is left out of a picture, and why.
    fn left_out(bytes: &[u8], policy: ReleasePolicy) -> Vec<Option<Rejection>> {
        let mut bench = Bench::disarming();
        bench.options.policy = policy;
        let mut work = bench.work();
        picture(bytes, &mut work).expect("no limit is met");
        let ChangedObjects { list, .. } = work.into_stats().objects;
        list.into_iter().map(|object| object.reason).collect()
    }

    #[test]
    fn a_picture_that_cannot_be_cleaned_is_told_from_what_is_none() {
        // TIFFs of a pixel: without a sign, and of floating point.
        let tiff = |format: u8| {
            let entry =
                |tag: u16, value: u8| [&tag.to_le_bytes()[..], &[3, 0, 1, 0, 0, 0, value, 0, 0, 0]].concat();
            let said = [
                (256, 1),
                (257, 1),
                (258, 32),
                (259, 1),
                (262, 1),
                (273, 8),
                (278, 1),
                (279, 4),
                (339, format),
            ];
            let entries: Vec<u8> = said.iter().flat_map(|(tag, value)| entry(*tag, *value)).collect();
            [b"II*\0\x08\0\0\0\x09\0".as_slice(), &entries, &[0; 4]].concat()
        };
        // A film that says that it is a picture, too.
        let film = b"\0\0\0\x18ftypavis\0\0\0\0avifmif1\0\0\0\x0cmetaSECR\0\0\0\x0cmoovSECR".to_vec();
        let policy = ReleasePolicy::default();
        for file in [tiff(1), tiff(3), film] {
            assert_eq!(left_out(&file, policy), [Some(Rejection::Unsupported)]);
            assert!(left_out(&file, ReleasePolicy { pass_unknown: true, ..policy }).is_empty());
        }
        assert_eq!(left_out(b"II*\0\x08\0\0\0\0\0\0\0\0\0", policy), [None]);
        assert_eq!(left_out(b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom", policy), [None]);
    }
}
