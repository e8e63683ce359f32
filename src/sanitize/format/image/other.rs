//! [`OtherFormat`]: pictures that documents show and that are not decoded here. What does not make the picture is taken out of
//! them; one that cannot be told apart does not stay.

use crate::base::reader::ByteReader;
use crate::sanitize::format::image::{heif, icon, jpeg_xr, jpeg2000};
use crate::sanitize::{Rejection, Work};

/// A format, known by how files of it begin. QuickDraw's pictures have no beginning of their own, and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OtherFormat {
    /// Windows's metafiles, of both kinds.
    Metafile,
    /// StarView's metafiles.
    StarView,
    /// Windows's icons.
    Icon,
    Jpeg2000,
    JpegXr,
    /// HEIF and AVIF.
    Heif,
}

/// How StarView's metafiles begin.
const STAR_VIEW: &[u8] = b"VCLMTF";

impl OtherFormat {
    /// What a file is; `None` if it is none of them.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        if length(bytes).is_some() {
            Some(Self::Metafile)
        } else if bytes.starts_with(STAR_VIEW) {
            Some(Self::StarView)
        } else if jpeg2000::is_jpeg2000(bytes) {
            Some(Self::Jpeg2000)
        } else if jpeg_xr::is_jpeg_xr(bytes) {
            Some(Self::JpegXr)
        } else if heif::is_heif(bytes) {
            Some(Self::Heif)
        } else {
            icon::is_icon(bytes).then_some(Self::Icon)
        }
    }

    /// The picture, and nothing besides.
    ///
    /// # Errors
    /// [`Rejection::Malformed`] if it is none; [`Rejection::Unsupported`] if it cannot be told from what is said of it;
    /// [`Rejection::OverLimit`].
    pub(super) fn written(self, bytes: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
        match self {
            // Some programs write another length than they have.
            Self::Metafile => {
                let whole = length(bytes).and_then(|length| bytes.get(..length));
                Ok(whole.filter(|whole| whole.len() > 64).unwrap_or(bytes).to_vec())
            }
            Self::StarView => star_view(bytes).map(<[u8]>::to_vec).ok_or(Rejection::Malformed),
            Self::Icon => icon::written(bytes, work),
            Self::Jpeg2000 => jpeg2000::written(bytes),
            Self::JpegXr => jpeg_xr::written(bytes).ok_or(Rejection::Malformed),
            Self::Heif => heif::written(bytes),
        }
    }
}

/// How long one of Windows's metafiles says that it is; `None` if it is none.
fn length(bytes: &[u8]) -> Option<usize> {
    let number = |at: usize| {
        let bytes = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(bytes)).ok()
    };
    // Enhanced ones say it in bytes ([MS-EMF] 2.3.4.2), others behind a placeable header or without one, in words of two
    // bytes ([MS-WMF] 2.3.2.2).
    if bytes.starts_with(b"\x01\0\0\0") && bytes.get(40..44) == Some(b" EMF") {
        number(48)
    } else if bytes.starts_with(b"\xd7\xcd\xc6\x9a") {
        number(28)?.checked_mul(2)?.checked_add(22)
    } else if bytes.starts_with(b"\x01\0\x09\0") || bytes.starts_with(b"\x02\0\x09\0") {
        number(6)?.checked_mul(2)
    } else {
        None
    }
}

/// One of StarView's metafiles, up to the last of its actions: a header, which ends in how many there are, and actions, each
/// of a kind, a version and a length.
fn star_view(bytes: &[u8]) -> Option<&[u8]> {
    let mut rest = ByteReader::new(bytes.strip_prefix(STAR_VIEW)?);
    let header = sized(&mut rest)?;
    let count = header.last_chunk().copied().map(u32::from_le_bytes)?;
    for _ in 0..count {
        // Nothing follows the kind of one that does nothing.
        if rest.u16_le()? != 0 {
            sized(&mut rest)?;
        }
    }
    bytes.get(..bytes.len().checked_sub(rest.rest().len())?)
}

/// What follows a version and its length.
fn sized<'f>(rest: &mut ByteReader<'f>) -> Option<&'f [u8]> {
    rest.take(2)?;
    let length = rest.u32_le()?;
    rest.take(usize::try_from(length).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitize::bench::Bench;

    fn clean(bytes: &[u8]) -> Option<Result<Vec<u8>, Rejection>> {
        OtherFormat::of(bytes).map(|format| format.written(bytes, &mut Bench::disarming().work()))
    }

    #[test]
    fn metafiles_end_where_they_say() {
        let mut file = vec![0_u8; 120];
        file.splice(..4, *b"\x01\0\0\0");
        file.splice(40..44, *b" EMF");
        file.splice(48..52, 120_u32.to_le_bytes());
        assert_eq!(clean(&file), Some(Ok(file.clone())));
        assert_eq!(clean(&[file.as_slice(), b"MZ"].concat()), Some(Ok(file.clone())));
        let mut words = vec![0_u8; 100];
        words.splice(..4, *b"\x01\0\x09\0");
        words.splice(6..10, 50_u32.to_le_bytes());
        assert_eq!(clean(&[words.as_slice(), b"MZ"].concat()), Some(Ok(words)));
    }

    #[test]
    fn a_metafile_of_star_view_ends_with_its_actions() {
        let header = b"\x01\0\x08\0\0\0\0\0\0\0\x03\0\0\0";
        let actions = b"\x66\0\x01\0\x02\0\0\0ab\0\0\x67\0\x01\0\0\0\0\0";
        let file = [STAR_VIEW, header, actions].concat();
        assert_eq!(clean(&file), Some(Ok(file.clone())));
        assert_eq!(clean(&[file.as_slice(), b"SECRET"].concat()), Some(Ok(file.clone())));
        for end in STAR_VIEW.len()..file.len() {
            assert_eq!(clean(&file[..end]), Some(Err(Rejection::Malformed)), "{end}");
        }
    }

    #[test]
    fn what_only_begins_like_a_picture_is_none() {
        let film = b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom\0\0\0\x0emdatSECRET";
        let raw = b"\0\0\0\x14ftypcrx \0\0\0\x01crx ";
        for bytes in [
            &film[..],
            raw,
            b"\0\0\x01\0\0\0",
            b"\0\0\0\x0cjP  SECRET",
            b"II\xbc\x07",
            b"",
            b"\0\0\0\x18ftyp",
        ] {
            assert_eq!(OtherFormat::of(bytes), None, "{bytes:?}");
        }
        let picture = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic\0\0\0\x0emdatSECRET";
        assert_eq!(clean(picture), Some(Err(Rejection::Malformed)));
        assert_eq!(clean(b"II\xbc\x01\x08\0\0\0SECRET"), Some(Err(Rejection::Malformed)));
        assert_eq!(clean(b"\0\0\0\x0cjP  \r\n\x87\nSECRET"), Some(Err(Rejection::Malformed)));
    }
}
