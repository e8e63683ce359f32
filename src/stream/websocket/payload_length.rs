//! [`PayloadLength`]: how long a frame says that its payload is (RFC 6455 section 5.2).

/// What a head says of the length of its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PayloadLength {
    /// In bytes.
    pub(super) bytes: u64,
    /// Where in the frame the bytes end that say it.
    pub(super) end: usize,
    /// Whether they are as few as could be.
    pub(super) is_shortest: bool,
}

impl PayloadLength {
    /// Reads that of the frame that `bytes` begin with; `None` while it is not whole.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.get(2..)?;
        let (bytes, end, least) = match bytes.get(1)? & 0x7F {
            126 => (u64::from(u16::from_be_bytes(*rest.first_chunk()?)), 4, 126),
            127 => (u64::from_be_bytes(*rest.first_chunk()?), 10, 0x1_0000),
            short => (u64::from(short), 2, 0),
        };
        Some(Self { bytes, end, is_shortest: bytes >= least })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_read_once_it_is_whole() {
        let rows: [(&[u8], u64, bool); 7] = [
            (&[0x81, 0], 0, true),
            (&[0x81, 0xFD], 125, true),
            (&[0x81, 126, 0, 126], 126, true),
            (&[0x81, 126, 0, 125], 125, false),
            (&[0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0], 0x1_0000, true),
            (&[0x81, 127, 0, 0, 0, 0, 0, 0, 255, 255], 0xFFFF, false),
            (&[0x81, 127, 255, 255, 255, 255, 255, 255, 255, 255], u64::MAX, true),
        ];
        for (head, bytes, is_shortest) in rows {
            let end = head.len();
            assert_eq!(PayloadLength::parse(head), Some(PayloadLength { bytes, end, is_shortest }));
            assert!((0..end).all(|cut| PayloadLength::parse(&head[..cut]).is_none()));
        }
    }
}
