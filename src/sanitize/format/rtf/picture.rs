//! [`picture`]: an image within a file, which spells it in hexadecimal.

use crate::base::path::hex_digit;
use crate::sanitize::format::image;
use crate::sanitize::{ChangedObject, Note, ObjectKind, RedactionMode, Rejection, Work};

/// What becomes of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Cleaned {
    /// It stays as it is.
    Same,
    /// It has other bytes, in hexadecimal.
    Changed(String),
    /// It is none, and does not stay.
    Gone,
}

/// Cleans an image as if it came alone. `bitmap`: it has no header such as files of it have.
///
/// # Errors
/// The host's; [`Rejection::OverLimit`].
pub(super) fn picture(digits: &[u8], bitmap: bool, work: &mut Work<'_>) -> Result<Cleaned, Rejection> {
    let bytes = unhexed(digits);
    work.unpacked(bytes.len())?;
    work.part("picture", &bytes)?;
    // Its own header says how long that is (DIB); nothing else in it is no picture.
    let header = bytes.get(..4).and_then(|length| length.try_into().ok()).map(u32::from_le_bytes);
    if bitmap && matches!(header, Some(12 | 40 | 52 | 56 | 64 | 108 | 124)) {
        let unread = work.options().redaction != RedactionMode::Off;
        work.stats().note(Note::Images, u64::from(unread));
        Ok(Cleaned::Same)
    } else if bytes.is_empty() {
        Ok(Cleaned::Same)
    } else if !image::is_picture(&bytes) {
        work.leave_out(ChangedObject::left_out(ObjectKind::Picture));
        Ok(Cleaned::Gone)
    } else {
        let clean = image::picture(&bytes, work)?;
        Ok(clean.map_or(Cleaned::Same, |clean| Cleaned::Changed(hexed(&clean))))
    }
}

/// Bytes from hexadecimal, whatever stands between the digits.
pub(super) fn unhexed(text: &[u8]) -> Vec<u8> {
    let digits: Vec<u8> = text.iter().filter_map(|b| hex_digit(*b)).collect();
    let byte = |pair: &[u8]| pair.iter().fold(0_u8, |byte, digit| byte << 4 | digit);
    digits.chunks_exact(2).map(byte).collect()
}

/// Bytes in hexadecimal.
pub(super) fn hexed(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}
