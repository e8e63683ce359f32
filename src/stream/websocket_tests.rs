use super::*;

const KEY: [u8; 4] = [0x37, 0xFA, 0x21, 0x3D];

fn reader(sender: Sender, limit: usize) -> FrameReader {
    FrameReader::new(sender, limit, &MemoryBudget::process(1 << 20))
}

/// All that comes of these bytes, in words, and how it ends.
fn said(reader: &mut FrameReader, bytes: &[u8]) -> (Vec<String>, Option<u16>) {
    let mut all = Vec::new();
    reader.push(bytes).unwrap();
    loop {
        match reader.read() {
            Ok(Some(Incoming::Message(WebSocketMessage { kind, payload, .. }))) => {
                all.push(format!("{kind:?} {}", payload.escape_ascii()));
            }
            Ok(Some(Incoming::Control(ControlFrame { kind, payload, .. }))) => {
                all.push(format!("{kind:?} {}", payload.escape_ascii()));
            }
            Ok(None) => return (all, None),
            Err(violation) => return (all, Some(violation.code())),
        }
    }
}

#[test]
fn the_examples_of_the_standard_are_read_and_written() {
    // RFC 6455 section 5.7.
    let rows: [(Sender, &[u8], &str); 6] = [
        (Sender::Server, b"\x81\x05Hello", "Text Hello"),
        (Sender::Client, b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", "Text Hello"),
        (Sender::Server, b"\x01\x03Hel\x80\x02lo", "Text Hello"),
        (Sender::Server, b"\x89\x05Hello", "Ping Hello"),
        (Sender::Client, b"\x8a\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", "Pong Hello"),
        (Sender::Server, b"\x88\x05\x03\xe8bye", "Close \\x03\\xe8bye"),
    ];
    for (sender, bytes, want) in rows {
        assert_eq!(said(&mut reader(sender, 5), bytes), (vec![want.to_owned()], None));
    }
    let mut out = BytesMut::new();
    write_frame(Opcode::Begin(MessageKind::Text), b"Hello", Some(KEY), &mut out);
    assert_eq!(&out[..], b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58");
}

#[test]
fn what_is_written_reads_back_whatever_its_length() {
    for length in [0, 1, 125, 126, 65_535, 65_536, 70_000] {
        let payload: Vec<u8> = (0..length).map(|at| at as u8).collect();
        for (sender, mask) in [(Sender::Client, Some(KEY)), (Sender::Server, None)] {
            let mut out = BytesMut::new();
            write_frame(Opcode::Begin(MessageKind::Binary), &payload, mask, &mut out);
            let mut reader = reader(sender, 70_000);
            reader.push(&out).unwrap();
            let Ok(Some(Incoming::Message(message))) = reader.read() else { panic!("{length}") };
            assert!(message.kind == MessageKind::Binary && message.payload == payload && message.raw == out);
            assert!(reader.held() == 0 && reader.read().unwrap().is_none());
        }
    }
}

#[test]
fn a_ping_between_fragments_leaves_first() {
    let bytes = b"\x01\x03caf\x89\x01p\x80\x02\xc3\xa9\x82\x01\xff";
    let want = ["Ping p", "Text caf\\xc3\\xa9", "Binary \\xff"].map(str::to_owned).to_vec();
    assert_eq!(said(&mut reader(Sender::Server, 5), bytes), (want, None));
}

#[test]
fn what_is_wrong_closes_with_its_code() {
    let rows: [(Sender, &[u8], u16); 22] = [
        (Sender::Server, b"\xc1\x00", 1002),
        (Sender::Server, b"\xa1\x00", 1002),
        (Sender::Server, b"\x91\x00", 1002),
        (Sender::Server, b"\x83\x00", 1002),
        (Sender::Server, b"\x8b\x00", 1002),
        (Sender::Server, b"\x81\x80abcd", 1002),
        (Sender::Client, b"\x81\x00", 1002),
        (Sender::Server, b"\x80\x00", 1002),
        (Sender::Server, b"\x01\x00\x81\x00", 1002),
        (Sender::Server, b"\x09\x00", 1002),
        (Sender::Server, b"\x89\x7e\x00\x7e", 1002),
        (Sender::Server, b"\x81\x7e\x00\x7d", 1002),
        (Sender::Server, b"\x81\x7f\0\0\0\0\0\0\xff\xff", 1002),
        (Sender::Server, b"\x82\x7f\x80\0\0\0\0\0\0\0", 1002),
        (Sender::Server, b"\x88\x01\x03", 1002),
        (Sender::Server, b"\x88\x02\x03\xed", 1002),
        (Sender::Server, b"\x88\x02\x00\x00", 1002),
        (Sender::Server, b"\x88\x03\x03\xe8\xff", 1007),
        (Sender::Server, b"\x81\x02\xc3\x28", 1007),
        (Sender::Server, b"\x01\x02\xe2\x82\x80\x01x", 1007),
        (Sender::Server, b"\x81\x06", 1009),
        (Sender::Server, b"\x01\x03abc\x80\x03", 1009),
    ];
    for (sender, bytes, code) in rows {
        let mut reader = reader(sender, 5);
        assert_eq!(said(&mut reader, bytes), (Vec::new(), Some(code)), "{}", bytes.escape_ascii());
        assert!(reader.is_closed() && reader.held() == 0);
        assert_eq!(said(&mut reader, b"\x81\x01a"), (Vec::new(), None), "nothing follows");
    }
    let empty = [&b"\x01\x00"[..], &b"\x00\x00".repeat(40)].concat();
    assert_eq!(said(&mut reader(Sender::Server, 5), &empty).1, Some(1009), "heads count");
    let mut poor = FrameReader::new(Sender::Server, 1 << 20, &MemoryBudget::process(8));
    assert_eq!(poor.push(&[0; 9]).unwrap_err().code(), 1013);
}

#[test]
fn nothing_follows_a_close() {
    let mut reader = reader(Sender::Server, 100);
    let (all, code) = said(&mut reader, b"\x01\x01a\x88\x00\x80\x01b\x81\x01c");
    assert_eq!((all, code), (vec!["Close ".to_owned()], None));
    assert!(reader.is_closed() && reader.held() == 0);
}

#[test]
fn a_reason_is_cut_between_characters() {
    let payload = close_payload(1008, &"\u{e9}".repeat(100));
    assert_eq!(payload.len(), 124);
    assert!(check_close(&payload).is_ok());
}
