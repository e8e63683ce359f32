use super::*;

/// Doubles what is in braces; says `end` when the stream ends, and `before` in front of what says so.
#[derive(Default)]
struct Doubles(Vec<String>);

impl Messages for Doubles {
    fn message(
        &mut self,
        message: &EventStreamMessage<'_>,
        before: &mut BytesMut,
    ) -> Result<Option<Vec<u8>>, StreamError> {
        self.0.push(message.text(":event-type").unwrap_or("-").to_owned());
        if message.payload() == b"before" {
            write_message(message.headers(), b"{}", before)?;
        }
        Ok(message.payload().starts_with(b"{").then(|| message.payload().repeat(2)))
    }

    fn header(&mut self, text: &str) -> Result<Option<String>, StreamError> {
        Ok((text == "secret").then(|| "<S>".to_owned()))
    }

    fn end(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        write_message(b"", b"end", out)
    }
}

fn headers(rows: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    rows.iter().for_each(|(name, text)| write_header(name, text, &mut block));
    block
}

fn message(rows: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    let mut out = BytesMut::new();
    write_message(&headers(rows), payload, &mut out).unwrap();
    out.to_vec()
}

fn rewritten(pieces: &[&[u8]]) -> Result<Vec<u8>, StreamError> {
    let mut out = BytesMut::new();
    let mut stream = AmazonEventStream::new(Doubles::default(), 1 << 16, &MemoryBudget::unlimited());
    for piece in pieces {
        stream.write(piece, &mut out)?;
    }
    stream.finish(&mut out)?;
    Ok(out.to_vec())
}

/// The message of the specification's own test suite (`encoded/positive/all_headers` is of the same form): an empty one,
/// whose sums are known.
#[test]
fn sums_are_those_of_the_specification() {
    let empty = [0, 0, 0, 16, 0, 0, 0, 0, 5, 0xc2, 0x48, 0xeb, 0x7d, 0x98, 0xc8, 0xff];
    assert_eq!(message(&[], b""), empty);
    // `payload_no_headers` of the suite.
    let payload: &[u8] = b"{'foo':'bar'}";
    let known =
        [&[0, 0, 0, 0x1d, 0, 0, 0, 0, 0xfd, 0x52, 0x8c, 0x5a][..], payload, &[0xc3, 0x65, 0x39, 0x36]]
            .concat();
    assert_eq!(message(&[], payload), known);
    let read = EventStreamMessage::parse(&known).unwrap();
    assert_eq!((read.headers(), read.payload()), (&b""[..], payload));
}

#[test]
fn headers_of_every_type_are_read() {
    let block: Vec<u8> = [
        &b"\x01a\x00\x01b\x01\x01c\x02\x07\x01d\x03\x00\x07\x01e\x04\x00\x00\x00\x07"[..],
        b"\x01f\x05\0\0\0\0\0\0\0\x07\x01g\x06\x00\x02\xff\xfe\x01h\x08\0\0\0\0\0\0\0\x07",
        b"\x01i\x090123456789abcdef\x05\xc3\xa9:x\xff\x07\x00\x06secret\x01j\x07\x00\x00",
    ]
    .concat();
    let mut raw = BytesMut::new();
    write_message(&block, b"as is", &mut raw).unwrap();
    let read = EventStreamMessage::parse(&raw).unwrap();
    assert_eq!((read.text("j"), read.text("g"), read.text("z")), (Some(""), None, None));
    // A string is edited in its place, whatever its name.
    let out = rewritten(&[&raw]).unwrap();
    let edited = EventStreamMessage::parse(&out[..out.len() - message(&[], b"end").len()]).unwrap();
    assert!(edited.headers().ends_with(b"\x07\x00\x03<S>\x01j\x07\x00\x00"));
    assert!(edited.headers().starts_with(&block[..70]) && edited.payload() == b"as is");
}

#[test]
fn what_says_the_meaning_of_a_message_is_no_text() {
    let rows: Vec<(&str, &str)> =
        MEANINGS.iter().map(|name| (std::str::from_utf8(name).unwrap(), "secret")).collect();
    let raw = message(&rows, b"x");
    assert!(rewritten(&[&raw]).unwrap().starts_with(&raw));
    let error = message(&[(":message-type", "error"), (":error-message", "secret")], b"");
    let changed = message(&[(":message-type", "error"), (":error-message", "<S>")], b"");
    assert!(rewritten(&[&error]).unwrap().starts_with(&changed));
}

#[test]
fn messages_change_with_their_sums_and_others_stay() {
    let (kept, changed) = (message(&[(":event-type", "a")], b"kept"), message(&[("x", "y")], b"{1}"));
    let end = message(&[], b"end");
    let whole = [kept.clone(), changed, message(&[], b"before")].concat();
    let wanted =
        [kept, message(&[("x", "y")], b"{1}{1}"), message(&[], b"{}"), message(&[], b"before"), end].concat();
    for at in 0..=whole.len() {
        let (head, tail) = whole.split_at(at);
        assert_eq!(rewritten(&[head, tail]).unwrap(), wanted, "cut at {at}");
    }
    let bytes: Vec<&[u8]> = whole.chunks(1).collect();
    assert_eq!(rewritten(&bytes).unwrap(), wanted);
}

#[test]
fn what_is_damaged_is_an_error() {
    let good = message(&[(":event-type", "a")], b"{\"text\":\"secret\"}");
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 0x20;
        assert_eq!(rewritten(&[&bad]), Err(StreamError::Damaged), "byte {at}");
    }
    // Good sums, but headers that are none.
    for headers in
        [&b"\x05ab"[..], b"\x01a", b"\x01a\x0a", b"\x01a\x07\x00", b"\x01a\x07\x00\x05abc", b"\x01a\x04\0"]
    {
        let mut raw = BytesMut::new();
        write_message(headers, b"", &mut raw).unwrap();
        assert_eq!(rewritten(&[&raw]), Err(StreamError::Damaged), "{}", headers.escape_ascii());
    }
}

#[test]
fn lengths_are_limited_before_anything_is_held() {
    let prelude = |total: u32, headers: u32| {
        let mut raw = [total.to_be_bytes(), headers.to_be_bytes()].concat();
        let sum = crc32fast::hash(&raw);
        raw.extend_from_slice(&sum.to_be_bytes());
        raw
    };
    let rows = [
        (prelude(15, 0), StreamError::Damaged),
        (prelude(0, 0), StreamError::Damaged),
        (prelude(20, 5), StreamError::Damaged),
        (prelude(16, u32::MAX), StreamError::Damaged),
        ((prelude(u32::MAX, 0)), StreamError::TooLarge { unit: "message", limit: 1 << 16 }),
        (prelude((1 << 16) + 1, 0), StreamError::TooLarge { unit: "message", limit: 1 << 16 }),
        (prelude(1 << 20, 1 << 19), StreamError::TooLarge { unit: "headers", limit: MAX_HEADERS }),
    ];
    for (raw, why) in rows {
        assert_eq!(rewritten(&[&raw]), Err(why), "{raw:?}");
    }
    assert_eq!(rewritten(&[&prelude(1 << 16, 0)]), Err(StreamError::BrokenOff), "one that fits");
}

#[test]
fn a_stream_that_breaks_off_is_an_error_behind_what_was_whole() {
    let (one, two) = (message(&[], b"one"), message(&[], b"secret"));
    let end = message(&[], b"end");
    for length in 1..two.len() {
        let mut out = BytesMut::new();
        let mut stream = AmazonEventStream::new(Doubles::default(), 1 << 16, &MemoryBudget::unlimited());
        stream.write(&[&one, &two[..length]].concat(), &mut out).unwrap();
        assert_eq!(stream.finish(&mut out), Err(StreamError::BrokenOff));
        assert_eq!(out, [&one[..], &end].concat(), "{length} bytes");
    }
}

#[test]
fn a_header_takes_what_fits() {
    let mut block = Vec::new();
    write_header(&"é".repeat(200), &"é".repeat(40_000), &mut block);
    let mut raw = BytesMut::new();
    write_message(&block, b"", &mut raw).unwrap();
    let read = EventStreamMessage::parse(&raw).unwrap();
    assert_eq!(read.text(&"é".repeat(127)).map(str::len), Some(65_534));
}
