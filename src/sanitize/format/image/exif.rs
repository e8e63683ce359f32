//! How a picture is turned, by its EXIF: all that stays of that.

use crate::base::reader::ByteReader;

/// What stands before EXIF in a JPEG, and in WebP of some programs.
pub(super) const MARK: &[u8] = b"Exif\0\0";

/// How the picture is turned (Exif 2.32, 4.6.4, tag 274), if it is.
pub(super) fn orientation(exif: &[u8]) -> Option<u8> {
    let tiff = exif.strip_prefix(MARK).unwrap_or(exif);
    let big = tiff.starts_with(b"MM\0*");
    if !big && !tiff.starts_with(b"II*\0") {
        return None;
    }
    let short = |bytes: [u8; 2]| if big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) };
    let mut rest = ByteReader::new(tiff.get(4..)?);
    let at: [u8; 4] = rest.array()?;
    let at = if big { u32::from_be_bytes(at) } else { u32::from_le_bytes(at) };
    let mut rest = ByteReader::new(tiff.get(usize::try_from(at).ok()?..)?);
    for _ in 0..short(rest.array()?) {
        let (tag, kind) = (short(rest.array()?), short(rest.array()?));
        let (_count, value) = (rest.take(4)?, short(rest.array()?));
        rest.take(2)?;
        if (tag, kind) == (274, 3) {
            return u8::try_from(value).ok().filter(|turn| (2..=8).contains(turn));
        }
    }
    None
}

/// EXIF that says this and nothing else.
pub(super) fn turning(turn: u8) -> Vec<u8> {
    let entry = [1, 0x12, 0, 3, 0, 0, 0, 1, 0, turn, 0, 0];
    [&b"MM\0*\0\0\0\x08\0\x01"[..], &entry, &[0; 4]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_read_as_it_is_written() {
        for turn in 2..=8 {
            let exif = turning(turn);
            assert_eq!(orientation(&exif), Some(turn));
            assert_eq!(orientation(&[MARK, exif.as_slice()].concat()), Some(turn));
            assert!((1..exif.len() - 4).all(|end| end > 21 || orientation(&exif[..end]).is_none()));
        }
        // Upright, beyond what there is, not there, and none at all.
        for exif in [turning(1), turning(9), b"MM\0*\0\0\0\x08\0\0".to_vec(), b"SECRET".to_vec()] {
            assert_eq!(orientation(&exif), None);
        }
        let little = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0";
        assert_eq!(orientation(little), Some(6));
    }
}
