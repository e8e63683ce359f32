//! UTF-8 (RFC 3629): its byte order mark, and where bytes may be cut without cutting a sequence.

/// The byte order mark.
pub(crate) const BOM: &[u8] = "\u{feff}".as_bytes();

/// How many of the bytes stand on their own: all, or all but a last sequence that what follows may complete (at
/// most 3 bytes).
pub(crate) fn complete(bytes: &[u8]) -> usize {
    let tail = bytes.iter().rev().take(3).position(|b| b & 0xC0 != 0x80);
    let Some(behind) = tail else { return bytes.len() };
    let lead = bytes.len() - behind - 1;
    let length = match bytes.get(lead) {
        Some(0xC2..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        Some(0xF0..=0xF4) => 4,
        _ => 1,
    };
    if behind + 1 < length { lead } else { bytes.len() }
}

#[cfg(test)]
mod tests {
    use super::complete;

    #[test]
    fn holds_back_only_a_sequence_that_may_still_be_completed() {
        let cases: &[(&[u8], usize)] = &[
            (b"", 0),
            (b"abc", 3),
            ("é".as_bytes(), 2),
            (b"a\xC3", 1),
            (b"a\xE2\x82", 1),
            (b"a\xE2\x82\xAC", 4),
            (b"\xF0\x9F\x98", 0),
            (b"\xF0\x9F\x98\x80", 4),
            (b"\x80\x80\x80", 3),
            (b"a\xFF", 2),
            (b"\xC3\xC3", 1),
        ];
        for (bytes, length) in cases {
            assert_eq!(complete(bytes), *length, "{bytes:02x?}");
        }
    }
}
