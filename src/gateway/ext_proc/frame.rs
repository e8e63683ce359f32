//! Messages of a gRPC stream (gRPC over HTTP/2, "Length-Prefixed-Message"): each is one byte that says whether it is
//! compressed, its length in four, and its bytes.

use bytes::{Buf, BufMut, Bytes, BytesMut};

/// Bytes before a message.
const PREFIX: usize = 5;

/// Why a stream's bytes are no messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum FrameError {
    /// It is compressed, and no compression was offered.
    #[error("a message is compressed, which was not offered")]
    Compressed,
    /// It is longer than this, in bytes.
    #[error("a message is larger than {0} bytes")]
    TooLarge(usize),
}

/// Bytes that came, split into messages.
#[derive(Debug)]
pub(super) struct FrameReader {
    bytes: BytesMut,
    limit: usize,
}

impl FrameReader {
    /// Takes messages of at most `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self { bytes: BytesMut::new(), limit }
    }

    /// More bytes came.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Bytes that are held.
    pub(super) fn held(&self) -> usize {
        self.bytes.len()
    }

    /// The next message, if it has come to its end.
    ///
    /// # Errors
    /// One that is not taken. Nothing that follows can be read.
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, FrameError> {
        let Some((&[compressed, a, b, c, d], rest)) = self.bytes.split_first_chunk::<PREFIX>() else {
            return Ok(None);
        };
        if compressed != 0 {
            return Err(FrameError::Compressed);
        }
        let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).unwrap_or(usize::MAX);
        if length > self.limit {
            return Err(FrameError::TooLarge(self.limit));
        }
        if rest.len() < length {
            return Ok(None);
        }
        self.bytes.advance(PREFIX);
        Ok(Some(self.bytes.split_to(length).freeze()))
    }
}

/// A message as it is sent.
pub(super) fn framed(message: &impl prost::Message) -> Bytes {
    let length = message.encoded_len();
    let mut bytes = BytesMut::with_capacity(PREFIX + length);
    bytes.put_u8(0);
    bytes.put_u32(u32::try_from(length).unwrap_or(u32::MAX));
    message.encode_raw(&mut bytes);
    bytes.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(message: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0];
        bytes.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
        bytes.extend(message);
        bytes
    }

    #[test]
    fn messages_are_split_wherever_bytes_are() {
        let all = [frame(b"one"), frame(b""), frame(&[7; 300])].concat();
        for size in 1..all.len() {
            let mut reader = FrameReader::new(300);
            let mut read = Vec::new();
            for piece in all.chunks(size) {
                reader.push(piece);
                while let Some(message) = reader.next().unwrap() {
                    read.push(message.len());
                }
            }
            assert_eq!((read, reader.held()), (vec![3, 0, 300], 0), "{size}");
        }
    }

    #[test]
    fn what_is_too_long_is_refused_before_it_comes() {
        let mut reader = FrameReader::new(10);
        reader.push(&[0, 0, 0, 0]);
        assert_eq!(reader.next(), Ok(None));
        reader.push(&[11]);
        assert_eq!(reader.next(), Err(FrameError::TooLarge(10)));
        let mut reader = FrameReader::new(10);
        reader.push(&[0, 0xff, 0xff, 0xff, 0xff]);
        assert_eq!(reader.next(), Err(FrameError::TooLarge(10)));
        let mut reader = FrameReader::new(10);
        reader.push(&[1, 0, 0, 0, 1, 0]);
        assert_eq!(reader.next(), Err(FrameError::Compressed));
    }
}
