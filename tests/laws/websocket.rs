//! The laws of WebSocket frames: any chunking gives the same messages, what nobody changes is the bytes that came, what is
//! written reads back, and nothing is held without a charge.

use bytes::BytesMut;
use portcullis::base::budget::MemoryBudget;
use portcullis::stream::websocket::{
    FrameReader, Incoming, MessageKind, Opcode, Sender, WebSocketError, write_frame,
};
use proptest::prelude::*;

/// A message or control frame, its bytes, and how it ends.
#[derive(Debug, Default, PartialEq)]
struct Read {
    said: Vec<(String, Vec<u8>)>,
    raw: Vec<u8>,
    fault: Option<u16>,
}

/// What a reader makes of these pieces.
fn read(sender: Sender, pieces: &[&[u8]]) -> Read {
    let budget = MemoryBudget::process(1 << 30);
    let mut reader = FrameReader::new(sender, LIMIT, &budget);
    let mut read = Read::default();
    for piece in pieces {
        reader.push(piece).unwrap();
        loop {
            match reader.read() {
                Ok(None) => break,
                Ok(Some(Incoming::Message(message))) => {
                    let (kind, raw) = (format!("{:?}", message.kind), message.raw.to_vec());
                    read.said.push((kind, message.payload.clone()));
                    read.raw.extend(raw);
                }
                Ok(Some(Incoming::Control(control))) => {
                    read.said.push((format!("{:?}", control.kind), control.payload.clone()));
                    read.raw.extend(control.raw);
                }
                Err(violation) => {
                    read.fault.get_or_insert(violation.code());
                    break;
                }
            }
        }
        assert!(budget.used() >= reader.held(), "held without a charge");
    }
    drop(reader);
    assert_eq!(budget.used(), 0, "the budget is not given back");
    read
}

const LIMIT: usize = 400;

/// A frame: its opcode's number, what stands in it, whether it is the last of its message, and its mask.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let opcode = prop_oneof![4 => Just(1u8), 3 => Just(0u8), 2 => Just(2u8), 1 => Just(9u8), 1 => Just(10u8), 1 => Just(3u8)];
    let frame = (opcode, "[a-z\u{e9}\u{20ac}]{0,150}", any::<bool>(), any::<[u8; 4]>());
    prop::collection::vec(frame, 0..8).prop_map(|frames| {
        let mut all = Vec::new();
        for (opcode, text, last, mask) in frames {
            let mut out = BytesMut::new();
            write_frame(Opcode::Begin(MessageKind::Text), text.as_bytes(), Some(mask), &mut out);
            out[0] = opcode | if last { 0x80 } else { 0 };
            all.extend_from_slice(&out);
        }
        all
    })
}

proptest! {
    #[test]
    fn any_chunking_gives_the_same_messages(bytes in frames(), cuts in prop::collection::vec(0usize..1500, 0..6)) {
        let whole = read(Sender::Client, &[&bytes]);
        let mut at: Vec<usize> = cuts.into_iter().filter(|cut| *cut < bytes.len()).collect();
        at.sort_unstable();
        let (mut from, mut pieces) = (0, Vec::new());
        for cut in at.into_iter().chain([bytes.len()]) {
            pieces.push(&bytes[from..cut]);
            from = cut;
        }
        prop_assert_eq!(&read(Sender::Client, &pieces), &whole);
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(&read(Sender::Client, &single), &whole);
        // What leaves as it came is what came, but for what was not whole and for control frames, which leave at once.
        prop_assert!(whole.raw.len() <= bytes.len());
        let mut sorted = [whole.raw.clone(), bytes[..whole.raw.len()].to_vec()];
        if whole.fault.is_none() && whole.raw.len() == bytes.len() {
            sorted.iter_mut().for_each(|bytes| bytes.sort_unstable());
            prop_assert_eq!(&sorted[0], &sorted[1]);
        }
    }

    #[test]
    fn what_is_written_reads_back(text in "\\PC{0,300}", mask in any::<[u8; 4]>()) {
        prop_assume!(text.len() <= LIMIT);
        for (sender, mask) in [(Sender::Client, Some(mask)), (Sender::Server, None)] {
            let mut out = BytesMut::new();
            write_frame(Opcode::Begin(MessageKind::Text), text.as_bytes(), mask, &mut out);
            let back = read(sender, &[&out]);
            prop_assert_eq!(back, Read { said: vec![("Text".to_owned(), text.clone().into_bytes())], raw: out.to_vec(), fault: None });
        }
    }

    #[test]
    fn no_bytes_break_a_reader(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for sender in [Sender::Client, Sender::Server] {
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            prop_assert_eq!(read(sender, &[&bytes]), read(sender, &single));
        }
    }
}

#[test]
fn a_fault_has_a_code_that_may_be_sent() {
    for violation in
        [WebSocketError::Protocol(""), WebSocketError::NotText, WebSocketError::TooLarge { limit: 1 }]
    {
        assert!(matches!(violation.code(), 1002 | 1007 | 1009));
    }
}
