//! [`FrameEdge`]: where frames end in bytes that pass as they are, so that one of ours may stand behind them.

use crate::stream::websocket::payload_length::PayloadLength;

/// How far the frames of one side have come.
#[derive(Debug, Default)]
pub struct FrameEdge {
    /// Of a frame whose head is not whole.
    head: Vec<u8>,
    /// Bytes of its payload that are to come.
    left: u64,
}

impl FrameEdge {
    /// These bytes follow.
    pub fn push(&mut self, mut bytes: &[u8]) {
        while let Some((first, rest)) = bytes.split_first() {
            if self.left > 0 {
                let passed = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
                self.left -= passed as u64;
                bytes = bytes.get(passed..).unwrap_or_default();
                continue;
            }
            self.head.push(*first);
            bytes = rest;
            if let Some(length) = payload_behind(&self.head) {
                self.left = length;
                self.head.clear();
            }
        }
    }

    /// Whether the last frame has come whole.
    pub fn is_between(&self) -> bool {
        self.head.is_empty() && self.left == 0
    }
}

/// How long the payload is behind a head that is whole.
fn payload_behind(head: &[u8]) -> Option<u64> {
    let length = PayloadLength::parse(head)?;
    let mask = if head.get(1)? & 0x80 == 0 { 0 } else { 4 };
    (head.len() >= length.end + mask).then_some(length.bytes)
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;

    use super::*;
    use crate::stream::websocket::{ControlKind, MessageKind, Opcode, write_frame};

    #[test]
    fn frames_end_where_they_end_however_they_come() {
        let mut frames = Vec::new();
        let of = [(0, None), (5, Some([1, 2, 3, 4])), (125, None), (126, Some([0; 4])), (70_000, None)];
        for (length, mask) in of {
            let mut frame = BytesMut::new();
            write_frame(Opcode::Begin(MessageKind::Text), &vec![b'x'; length], mask, &mut frame);
            frames.push(frame);
        }
        let mut close = BytesMut::new();
        write_frame(Opcode::Control(ControlKind::Close), &[3, 232], None, &mut close);
        frames.push(close);
        let whole: Vec<u8> = frames.iter().flat_map(|frame| frame.to_vec()).collect();
        let ends: Vec<usize> = frames
            .iter()
            .scan(0, |end, frame| {
                *end += frame.len();
                Some(*end)
            })
            .collect();
        for size in [1, 2, 3, 7, 1000, whole.len()] {
            let (mut edge, mut at) = (FrameEdge::default(), 0);
            assert!(edge.is_between());
            for piece in whole.chunks(size) {
                edge.push(piece);
                at += piece.len();
                assert_eq!(edge.is_between(), ends.contains(&at), "{at} in pieces of {size}");
            }
        }
    }
}
