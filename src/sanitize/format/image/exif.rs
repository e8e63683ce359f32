//! How a picture is turned, by its EXIF: all that stays of that.

use crate::sanitize::format::image::directory::TiffNumbers;

/// What stands before EXIF in a JPEG, and in WebP of some programs.
pub(super) const MARK: &[u8] = b"Exif\0\0";

/// The tag that says how a picture is turned.
const TURN: u16 = 274;

/// How the picture is turned (Exif 2.32, 4.6.4), if it is.
pub(super) fn orientation(exif: &[u8]) -> Option<u8> {
    let tiff = exif.strip_prefix(MARK).unwrap_or(exif);
    let turn = TiffNumbers::of(tiff).first_short(TURN)?;
    u8::try_from(turn).ok().filter(|turn| (2..=8).contains(turn))
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
        // Behind an entry of another type, and in a directory that says more than it has.
        let more =
            b"MM\0*\0\0\0\x08\0\x09\x01\x12\0\x04\0\0\0\x01\0\0\0\x03\x01\x12\0\x03\0\0\0\x01\0\x06\0\0";
        assert_eq!(orientation(more), Some(6));
        assert_eq!(orientation(&more[..more.len() - 1]), None);
    }
}
