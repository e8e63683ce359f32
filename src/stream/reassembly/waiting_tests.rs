//! How long what a stream cuts waits, and how much of it.

use super::*;

#[test]
fn what_ends_a_text_lets_it_leave_at_once() {
    let budget = MemoryBudget::process(1 << 20);
    let first = "data: {\"type\":\"text\",\"d\":\"card 4012\"}\n\n";
    let rows = [
        ("data: {\"type\":\"message_stop\"}\n\n", true),
        ("event: done\ndata: {}\n\n", true),
        ("data: {\"x\":1}\n\n", false),
        ("data: {\"x\":1}\n\ndata: {\"x\":2}\n\n", true),
    ];
    for (next, leaves) in rows {
        let mut pipeline = pipeline(Frame::Events, Restoring(&ISSUED), &budget);
        let mut out = BytesMut::new();
        pipeline.write(first.as_bytes(), &mut out).unwrap();
        assert!(out.is_empty());
        pipeline.write(next.as_bytes(), &mut out).unwrap();
        assert_eq!(out.len() == first.len() + next.len(), leaves, "{next}");
    }
}

#[test]
fn what_waits_for_more_leaves_when_nothing_comes() {
    let budget = MemoryBudget::process(1 << 20);
    for (frame, before, behind) in [(Frame::Events, "data: ", "\n\n"), (Frame::Lines, "", "\n")] {
        let mut pipeline = pipeline(frame, Restoring(&PLAIN), &budget);
        for text in ["Is it Yesenia", "or 4012 88", "said Yesenia Juárez and 4012"] {
            let unit = format!("{before}{{\"msg\":\"{text}\"}}{behind}");
            let mut out = BytesMut::new();
            pipeline.write(unit.as_bytes(), &mut out).unwrap();
            assert_eq!((out.len(), pipeline.held()), (0, unit.len()), "{unit}");
            pipeline.release(&mut out).unwrap();
            assert_eq!(pipeline.held(), 0, "{unit}");
            assert_eq!(text_in("\"msg\":%", &documents(frame, &out)[0]), restored(text));
        }
        let mut out = BytesMut::new();
        pipeline.finish(&mut out).unwrap();
        assert!(out.is_empty());
    }
    // A whole document without the end of its line, and half a line.
    let mut pipeline = pipeline(Frame::Lines, Restoring(&PLAIN), &budget);
    let mut out = BytesMut::new();
    pipeline.write(b"{\"a\":\"b\"}", &mut out).unwrap();
    pipeline.release(&mut out).unwrap();
    assert_eq!(&out[..], b"{\"a\":\"b\"}");
    let mut pipeline = super::pipeline(Frame::Lines, Restoring(&PLAIN), &budget);
    let mut out = BytesMut::new();
    pipeline.write(b"{\"a\":\"b\"}\n{\"a\":", &mut out).unwrap();
    pipeline.release(&mut out).unwrap();
    assert_eq!(&out[..], b"{\"a\":\"b\"}\n");
}

#[test]
fn what_an_event_tells_of_its_texts_takes_little_room() {
    let budget = MemoryBudget::process(8 << 20);
    let mut pipeline = pipeline(Frame::Events, Restoring(&ISSUED), &budget);
    let event =
        format!("data: {{{}{}\"n\":1}}\n\n", "\"id\":\"a\",".repeat(9000), "\"x\":\"4012\",".repeat(4096));
    let mut out = BytesMut::new();
    for _ in 0..3 {
        pipeline.write(event.as_bytes(), &mut out).unwrap();
    }
    pipeline.finish(&mut out).unwrap();
    assert_eq!(out.len(), 3 * event.len());
}

#[test]
fn documents_without_line_ends_are_followed_too() {
    let rows = ["{}{}{}", "\x1e{}\n\x1e{}\n\x1e{}\n", "{}\n{}\r\n{}", "\n{}\n\n{} {}", "{}\x1e{}\x1e{}\x1e"];
    for row in rows {
        let of = |texts: [&str; 3]| {
            texts
                .iter()
                .fold(row.to_owned(), |row, text| row.replacen("{}", &format!("<\"t\":\"{text}\">"), 1))
                .replace('<', "{")
                .replace('>', "}")
        };
        let body = of(["card 40", "12 88", "88."]);
        let want = of(["card 1234 5678", "", "."]);
        for step in [1, 3, 100] {
            let out = passed(Frame::Lines, Restoring(&PLAIN), &mut body.as_bytes().chunks(step));
            assert_eq!(String::from_utf8(out).unwrap(), want, "{body:?} by {step}");
        }
    }
}

#[test]
fn a_document_leaves_without_its_line_end() {
    let budget = MemoryBudget::process(1 << 20);
    for (frame, label) in [(Frame::Lines, "{\"t\":"), (Frame::Labelled, "0:")] {
        let close = if frame == Frame::Lines { "}" } else { "" };
        let mut pipeline = pipeline(frame, Restoring(&PLAIN), &budget);
        let mut out = BytesMut::new();
        pipeline.write(format!("{label}\"queued\"{close}\n").as_bytes(), &mut out).unwrap();
        let before = out.len();
        // Nothing in it may go on.
        pipeline.write(format!("{label}\"Is it fine?\"{close}").as_bytes(), &mut out).unwrap();
        assert!(out.len() > before, "{label}");
        let before = out.len();
        pipeline.write(format!("\n{label}\"Is it Yesenia\"{close}").as_bytes(), &mut out).unwrap();
        assert_eq!(out.len(), before + 1);
        pipeline.release(&mut out).unwrap();
        assert!(out.ends_with(format!("Yesenia\"{close}").as_bytes()));
    }
}

#[test]
fn a_pause_before_the_first_line_end_ends_nothing() {
    let budget = MemoryBudget::process(1 << 20);
    let rows = [
        (
            Frame::Lines,
            "{\"t\":\"queued\"}",
            "\n{\"t\":\"4012\"}\n{\"t\":\" 8888\"}\n",
            "\n{\"t\":\"1234 5678\"}\n{\"t\":\"\"}\n",
        ),
        (
            Frame::Lines,
            "{\"t\":\"Wel",
            "come\"}\n{\"t\":\"4012\"}\n{\"t\":\" 8888\"}\n",
            "come\"}\n{\"t\":\"1234 5678\"}\n{\"t\":\"\"}\n",
        ),
        (Frame::Labelled, "0", ":\"a\"\n0:\"4012\"\n0:\" 8888\"\n", ":\"a\"\n0:\"1234 5678\"\n0:\"\"\n"),
        (Frame::Labelled, "0:\"a\"", "\n0:\"4012\"\n0:\" 8888\"\n", "\n0:\"1234 5678\"\n0:\"\"\n"),
    ];
    for (frame, first, rest, want) in rows {
        let mut pipeline = pipeline(frame, Restoring(&PLAIN), &budget);
        let mut out = BytesMut::new();
        pipeline.write(first.as_bytes(), &mut out).unwrap();
        pipeline.release(&mut out).unwrap();
        pipeline.write(rest.as_bytes(), &mut out).unwrap();
        pipeline.finish(&mut out).unwrap();
        assert_eq!(std::str::from_utf8(&out).unwrap(), format!("{first}{want}"));
    }
}

#[test]
fn what_every_event_says_delays_nothing() {
    let budget = MemoryBudget::process(1 << 20);
    let mut pipeline = pipeline(Frame::Events, Restoring(&ISSUED), &budget);
    for number in 0..9 {
        let mut out = BytesMut::new();
        let event = format!("data: {{\"node\":\"server 4012\",\"text\":\"{number}, \"}}\n\n");
        pipeline.write(event.as_bytes(), &mut out).unwrap();
        assert_eq!(out.is_empty(), number == 0, "{number}");
    }
}

#[test]
fn what_waits_is_bounded() {
    let budget = MemoryBudget::process(4 << 20);
    let mut pipeline = pipeline(Frame::Events, Restoring(&ISSUED), &budget);
    let (mut came, mut out) = (0, BytesMut::new());
    for number in 0..40 {
        let other = "x".repeat(100 << 10);
        let event = format!("data: {{\"a\":\"4012\",\"b{number}\":\"{other}\"}}\n\n");
        pipeline.write(event.as_bytes(), &mut out).unwrap();
        came += event.len();
        assert!(came - out.len() <= MOST_WAITING + event.len(), "{}", came - out.len());
    }
    // Without room nothing waits, and nothing fails.
    let budget = MemoryBudget::process(100);
    let mut pipeline = super::pipeline(Frame::Events, Restoring(&ISSUED), &budget);
    let mut out = BytesMut::new();
    for event in [
        "data: \"4012\"\n\n",
        "data: \" 8888 and then some more of the text that goes on and on and on 4012\"\n\n",
    ] {
        pipeline.write(event.as_bytes(), &mut out).unwrap();
    }
    pipeline.finish(&mut out).unwrap();
    assert!(out.starts_with(b"data: \""));
}

#[test]
fn a_text_pauses_where_nothing_comes() {
    let budget = MemoryBudget::process(1 << 20);
    let mut pipeline = pipeline(Frame::Labelled, Restoring(&PLAIN), &budget);
    let mut out = BytesMut::new();
    for text in ["Is it Yesenia Juárez or Yesenia".as_bytes(), b" said she. Na\xc3", b"\xaf"] {
        pipeline.write(text, &mut out).unwrap();
        pipeline.release(&mut out).unwrap();
    }
    assert_eq!(&out[..], "Is it Maria Lopez or Yesenia said she. Naï".as_bytes());
}
