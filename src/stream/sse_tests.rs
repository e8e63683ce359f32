use super::*;

/// Replaces data that says `old`, drops `gone`, puts an event before `news`, and names the rest at the end. Of
/// other lines it hides `jane`.
struct Script;

impl Events for Script {
    fn event(&mut self, event: &Event<'_>, before: &mut BytesMut) -> Result<EventAction, StreamError> {
        Ok(match event.data() {
            b"old" => EventAction::Data(b"new".to_vec()),
            b"lines\nof old" => EventAction::Data(b"a\nb\n".to_vec()),
            b"gone" => EventAction::Drop,
            b"news" => {
                write_event("extra", b"x", before);
                EventAction::Keep
            }
            _ => EventAction::Keep,
        })
    }

    fn line(&mut self, text: &[u8]) -> Result<Option<Vec<u8>>, StreamError> {
        let text = String::from_utf8_lossy(text);
        Ok(text.contains("jane").then(|| text.replace("jane", "\n*").into_bytes()))
    }

    fn end(&mut self, rest: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        if !rest.is_empty() {
            Event::parse(rest).write(&EventAction::Data(b"cut".to_vec()), out);
        }
        Ok(())
    }
}

fn pass(text: &str, step: usize) -> String {
    let budget = MemoryBudget::process(1000);
    let mut sse = Sse::new(Script, 500, &budget);
    let mut out = BytesMut::new();
    for piece in text.as_bytes().chunks(step) {
        sse.write(piece, &mut out).unwrap();
        assert_eq!(sse.held(), budget.used());
    }
    sse.finish(&mut out).unwrap();
    assert_eq!(budget.used(), 0);
    String::from_utf8(out.to_vec()).unwrap()
}

#[test]
fn events_are_kept_replaced_dropped_and_preceded() {
    let same = [
        "",
        "data: [DONE]\n\n",
        ": hi\r\nevent: e\r\ndata: {\r\ndata: }\r\nid: 7\r\n\r\nretry: 3\r\n\r\n",
        "data: x\r\rdata: y\r\r",
        "\u{feff}data: x\n\n\n\n:\n",
        "data\n\ndata:\r\n\r\n",
    ];
    let changed = [
        ("data: old\n\n", "data: new\n\n"),
        ("data:old\r\n\r\ndata: x\r\n\r\n", "data:new\r\n\r\ndata: x\r\n\r\n"),
        ("data: gone\r\n\r\ndata: x\r\n\r\n", "data: x\r\n\r\n"),
        ("data: gone\n\n\ndata: gone\r\r\ndata: x\n\n", "\ndata: x\n\n"),
        (": c\nid: 1\ndata: old\nodd\n\n", ": c\nid: 1\ndata: new\nodd\n\n"),
        ("data: lines\rid: 1\rdata: of old\r\r", "data: a\rdata: b\rdata: \rid: 1\r\r"),
        ("data: gone\r\n\r\ndata: x\n\n", "data: x\n\n"),
        ("data: news\n\n", "event: extra\ndata: x\n\ndata: news\n\n"),
        ("data: x\n\nid: 1\ndata: y", "data: x\n\nid: 1\ndata: cut"),
        ("\u{feff}data: old\n\n", "\u{feff}data: new\n\n"),
        (": jane\n\n:jane\r\n\r\n", ":  *\n\n: *\r\n\r\n"),
        ("id:jane\rdata: x\r:  jane\r\r", "id: *\rdata: x\r:   *\r\r"),
        ("event: a jane b\nid: 1\n\n", "event: a  * b\nid: 1\n\n"),
        ("jane: jane\njane\ndata: jane\n\n", " *:  *\n *\ndata: jane\n\n"),
        (": jane\nevent: jane\ndata: old\n\n", ":  *\nevent:  *\ndata: new\n\n"),
        ("retry: jane\n\n\n: jane", "retry:  *\n\n\n:  *"),
    ];
    let cases = same.iter().map(|text| (*text, *text)).chain(changed);
    for (text, expected) in cases {
        for step in 1..=text.len().max(1) {
            assert_eq!(pass(text, step), expected, "{text:?} by {step}");
        }
    }
}

#[test]
fn an_event_leaves_with_the_first_byte_that_ends_it() {
    let mut sse = Sse::new(Script, 500, &MemoryBudget::unlimited());
    for (text, held) in [("data: a\r\n\r", 0), ("\n", 0), (": ping\n", 0), ("id: 1\n", 6), ("\n", 0)] {
        sse.write(text.as_bytes(), &mut BytesMut::new()).unwrap();
        assert_eq!(sse.held(), held, "{text:?}");
    }
}

#[test]
fn names_and_values_are_read_as_the_standard_says() {
    let event = Event::parse(b"event: e\ndata:  two\ndata\ndata:x:y\nevents: no\n\n");
    assert_eq!((event.name(), event.data()), (&b"e"[..], &b" two\n\nx:y"[..]));
}

#[test]
fn data_is_read_back_as_it_was_written() {
    for data in ["", "x", " x", "a\nb", "a\n", "\n", "\n\n"] {
        for like in ["data:old\n\n", "data: old\r\n\r\n", "data\n\n"] {
            let mut out = BytesMut::new();
            Event::parse(like.as_bytes()).write(&EventAction::Data(data.as_bytes().to_vec()), &mut out);
            assert_eq!(Event::parse(&out).data(), data.as_bytes(), "{data:?} like {like:?}");
        }
        let mut out = BytesMut::new();
        write_event("n", data.as_bytes(), &mut out);
        assert_eq!(Event::parse(&out).data(), data.as_bytes());
    }
}

#[test]
fn another_event_has_its_name_and_its_line_ends() {
    for (like, want) in [
        ("id: 7\nevent: n\ndata:old\n\n", "event: n\ndata: new\n\n"),
        ("data: old\r\n\r\n", "data: new\r\n\r\n"),
        ("event: n\r\ndata: old\r\n\r", "event: n\r\ndata: new\r\n\r\n"),
        ("data:old\r\r", "data: new\r\r"),
    ] {
        let mut out = BytesMut::new();
        Event::parse(like.as_bytes()).write_another(b"new", &mut out);
        assert_eq!(
            out.escape_ascii().to_string(),
            want.as_bytes().escape_ascii().to_string(),
            "like {like:?}"
        );
    }
}

#[test]
fn an_event_may_not_be_larger_than_its_limit() {
    for text in ["data: 12345\n\n", "data: 12345"] {
        let mut sse = Sse::new(Script, 10, &MemoryBudget::unlimited());
        let refused = sse.write(text.as_bytes(), &mut BytesMut::new());
        assert_eq!(refused, Err(StreamError::TooLarge { unit: "event", limit: 10 }));
    }
}
