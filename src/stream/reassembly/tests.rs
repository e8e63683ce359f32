//! Streams that cut what is replaced, in the shapes of many APIs.

use bytes::BytesMut;

use super::*;
use crate::edit::spliced_text;
use crate::stream::amazon::{AmazonEventStream, EventStreamMessage, write_header, write_message};
use crate::stream::reassembly::{LineKind, ReassembledEvents, ReassembledLines, ReassembledMessages};
use crate::stream::sse::Sse;
use crate::stream::{GenericEvents, GenericMessages, Pipeline, Rewriter, TextBody};

#[path = "shapes.rs"]
mod shapes;
#[path = "waiting_tests.rs"]
mod waiting;

use shapes::{Frame, SHAPES};

/// What is issued, and what stands for it.
const ISSUED: [(&str, &str); 2] = [("Yesenia Juárez", "Maria \"Lopez\""), ("4012 8888", "1234 5678")];
/// The same where what is put back needs no escapes.
const PLAIN: [(&str, &str); 2] = [("Yesenia Juárez", "Maria Lopez"), ("4012 8888", "1234 5678")];
/// What the model says.
const SAID: &str = "Dear Yesenia Juárez: card 4012 8888, not 4012 77. Yes, Yesenia Juárez";

/// Puts originals back; without anything issued, looks for nothing.
#[derive(Clone, Copy)]
struct Restoring(&'static [(&'static str, &'static str)]);

struct RestoredText {
    issued: &'static [(&'static str, &'static str)],
    held: String,
    at: usize,
}

impl RestoredText {
    fn settle(&mut self, more: bool, edits: &mut Vec<Edit>) -> usize {
        let mut from = 0;
        while let Some(rest) = self.held.get(from..).filter(|rest| !rest.is_empty()) {
            if let Some((surrogate, original)) =
                self.issued.iter().find(|(surrogate, _)| rest.starts_with(surrogate))
            {
                let range = self.at + from..self.at + from + surrogate.len();
                edits.push(Edit { range, with: (*original).to_owned() });
                from += surrogate.len();
            } else if more && self.issued.iter().any(|(surrogate, _)| surrogate.starts_with(rest)) {
                break;
            } else {
                from += rest.chars().next().unwrap().len_utf8();
            }
        }
        self.held.drain(..from);
        self.at += from;
        self.at
    }
}

impl Editor for RestoredText {
    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        self.held.push_str(piece);
        Ok(self.settle(true, edits))
    }

    fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.settle(false, edits);
        self.at = 0;
        Ok(())
    }
}

impl Restoring {
    fn text(self) -> RestoredText {
        RestoredText { issued: self.0, held: String::new(), at: 0 }
    }
}

/// An editor of a layer: it is made once, and asked for others.
struct LayerEditor(Restoring, RestoredText);

impl Editor for LayerEditor {
    fn restorer(&self) -> Option<Box<dyn Editor>> {
        (!self.0.0.is_empty()).then(|| Box::new(self.0.text()) as _)
    }

    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        self.1.feed(piece, edits)
    }

    fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.1.end(edits)
    }
}

fn editor(issued: Restoring) -> Box<dyn Editor> {
    Box::new(LayerEditor(issued, issued.text()))
}

fn restored(text: &str) -> String {
    let mut edits = Vec::new();
    Restoring(&PLAIN).text().last(text, &mut edits).unwrap();
    spliced_text(text, &edits)
}

fn pipeline(frame: Frame, issued: Restoring, budget: &MemoryBudget) -> Pipeline {
    let mut pipeline = Pipeline::default();
    let own = || editor(issued);
    if let Some(by) = Reassembler::new(own(), None, budget) {
        pipeline.push(match frame {
            Frame::Events => Box::new(Sse::new(ReassembledEvents::new(by), 1 << 20, budget).data_only()),
            Frame::Lines => Box::new(ReassembledLines::new(by, LineKind::Document, budget)),
            Frame::Labelled => Box::new(ReassembledLines::new(by, LineKind::Labelled, budget)),
            Frame::Messages => {
                Box::new(AmazonEventStream::new(ReassembledMessages::new(by), 1 << 20, budget))
            }
        });
    }
    pipeline.push(match frame {
        Frame::Events => Box::new(Sse::new(GenericEvents::new(own()), 1 << 20, budget).data_only()),
        Frame::Lines => {
            let slots =
                crate::stream::json::EditorSlots::new(own(), crate::stream::json::PathSet::everything());
            Box::new(crate::stream::json::JsonSlots::new(slots, budget))
        }
        Frame::Labelled => Box::new(TextBody::new(own(), budget).pausing()),
        Frame::Messages => Box::new(AmazonEventStream::new(GenericMessages::new(own()), 1 << 20, budget)),
    });
    pipeline
}

fn passed(frame: Frame, issued: Restoring, pieces: &mut dyn Iterator<Item = &[u8]>) -> Vec<u8> {
    let budget = MemoryBudget::process(1 << 22);
    let mut pipeline = pipeline(frame, issued, &budget);
    let mut out = BytesMut::new();
    for piece in pieces {
        pipeline.write(piece, &mut out).unwrap();
        assert!(budget.used() <= 8 << 10, "{} bytes wait", budget.used());
    }
    pipeline.finish(&mut out).unwrap();
    drop(pipeline);
    assert_eq!(budget.used(), 0);
    out.to_vec()
}

fn json(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// The units of a stream of this shape, in pieces of so many characters.
fn stream(frame: Frame, shape: &str, width: usize) -> Vec<Vec<u8>> {
    let chars: Vec<char> = SAID.chars().collect();
    let mut so_far = String::new();
    let mut units = Vec::new();
    for (number, piece) in chars.chunks(width).enumerate() {
        let piece: String = piece.iter().collect();
        so_far.push_str(&piece);
        let base64 = format!("\"{}\"", data_encoding::BASE64.encode(piece.as_bytes()));
        let event = shape.replace('#', &(number + 1).to_string()).replace('%', &json(&piece));
        let event = event.replace('^', &json(&so_far)).replace('$', &piece).replace('@', &base64);
        units.push(match (frame, event.split_once('|')) {
            (Frame::Events, _) => format!("{event}\n\n").into_bytes(),
            (Frame::Messages, Some((name, payload))) => {
                let (mut headers, mut out) = (Vec::new(), BytesMut::new());
                write_header(":event-type", name, &mut headers);
                write_header(":message-type", "event", &mut headers);
                write_message(&headers, payload.as_bytes(), &mut out).unwrap();
                out.to_vec()
            }
            _ => format!("{event}\n").into_bytes(),
        });
    }
    units
}

/// The documents of what left.
fn documents(frame: Frame, out: &[u8]) -> Vec<String> {
    let mut documents = Vec::new();
    if frame == Frame::Messages {
        let mut rest = out;
        while let Some(length) = rest.first_chunk::<4>() {
            let (one, more) = rest.split_at(u32::from_be_bytes(*length) as usize);
            let payload = EventStreamMessage::parse(one).unwrap().payload();
            documents.push(String::from_utf8(payload.trim_ascii().to_vec()).unwrap());
            rest = more;
        }
        documents.iter_mut().for_each(|one| *one = one.trim_start_matches("data: ").to_owned());
        return documents;
    }
    let text = std::str::from_utf8(out).unwrap();
    for line in text.lines() {
        let data = match frame {
            Frame::Events => line.strip_prefix("data:").map(|data| data.strip_prefix(' ').unwrap_or(data)),
            Frame::Labelled => line.strip_prefix("0:"),
            _ => Some(line),
        };
        documents.extend(data.map(str::to_owned));
    }
    documents
}

/// The text in a document, at the place that the shape has one.
fn text_in(shape: &str, document: &str) -> String {
    if shape.contains('$') {
        return document.to_owned();
    }
    let (before, _) = shape.split_once(['%', '^', '@']).unwrap();
    let before = before.rsplit('"').nth(1).unwrap_or_default().to_owned();
    fn find(value: &serde_json::Value, name: &str) -> Option<String> {
        use serde_json::Value;
        match value {
            Value::Object(all) => all.iter().find_map(|(key, value)| match value {
                Value::String(text) if key == name => Some(text.clone()),
                value => find(value, name),
            }),
            Value::Array(all) => all.iter().find_map(|value| find(value, name)),
            Value::String(text) if name.is_empty() => Some(text.clone()),
            _ => None,
        }
    }
    let value = serde_json::from_str(document).unwrap_or_else(|error| panic!("{error}: {document}"));
    let text = find(&value, &before).unwrap_or_else(|| panic!("{before} in {document}"));
    match shape.contains('@') {
        true => String::from_utf8(data_encoding::BASE64.decode(text.as_bytes()).unwrap()).unwrap(),
        false => text,
    }
}

#[test]
fn what_streams_cut_comes_back_in_every_shape() {
    for (name, frame, shape) in SHAPES {
        for width in [1, 2, 3, 5, 7, 12, 30, 100] {
            let units = stream(frame, shape, width);
            let out = passed(frame, Restoring(&PLAIN), &mut units.iter().map(Vec::as_slice));
            let texts: Vec<String> =
                documents(frame, &out).iter().map(|document| text_in(shape, document)).collect();
            assert_eq!(texts.len(), units.len(), "{name} in {width}");
            let want = restored(SAID);
            if shape.contains('^') {
                assert_eq!(texts.last(), Some(&want), "{name} in {width}");
                for text in texts {
                    assert!(want.starts_with(&text), "{name} in {width}: {text}");
                }
            } else {
                assert_eq!(texts.concat(), want, "{name} in {width}");
            }
        }
    }
}

#[test]
fn any_chunking_of_the_bytes_gives_the_same() {
    for (name, frame, shape) in SHAPES {
        for width in [1, 4, 9] {
            let bytes = stream(frame, shape, width).concat();
            let whole = passed(frame, Restoring(&PLAIN), &mut [bytes.as_slice()].into_iter());
            assert_ne!(whole, bytes, "{name}");
            for step in [1, 3, 17, 64] {
                let cut = passed(frame, Restoring(&PLAIN), &mut bytes.chunks(step));
                assert!(cut == whole, "{name} in {width}, chunks of {step}");
            }
        }
    }
}

#[test]
fn where_nothing_comes_of_it_nothing_changes_and_nothing_waits() {
    static OTHERS: [(&str, &str); 1] = [("Yesterday", "x")];
    for (name, frame, shape) in SHAPES {
        for width in [1, 3, 8] {
            let units = stream(frame, shape, width);
            for issued in [Restoring(&[]), Restoring(&OTHERS)] {
                let budget = MemoryBudget::process(1 << 22);
                let mut pipeline = pipeline(frame, issued, &budget);
                let mut out = BytesMut::new();
                let mut came = 0;
                for unit in &units {
                    pipeline.write(unit, &mut out).unwrap();
                    came += unit.len();
                    assert!(!issued.0.is_empty() || out.len() == came, "{name} waits");
                }
                pipeline.finish(&mut out).unwrap();
                if !shape.contains('^') || issued.0.is_empty() {
                    assert!(out[..] == units.concat()[..], "{name} in {width}");
                }
            }
        }
    }
}

/// What becomes of events.
fn events(body: &str) -> String {
    let out = passed(Frame::Events, Restoring(&ISSUED), &mut body.as_bytes().chunks(3));
    String::from_utf8(out).unwrap()
}

#[test]
fn texts_of_their_own_are_read_by_themselves() {
    let rows = [
        // Records: nothing goes on.
        (
            "data: {\"n\":1,\"name\":\"Yesenia Juárez\"}\n\ndata: {\"n\":2,\"name\":\"Yesenia Juárez\"}\n\n",
            "data: {\"n\":1,\"name\":\"Maria \\\"Lopez\\\"\"}\n\ndata: {\"n\":2,\"name\":\"Maria \\\"Lopez\\\"\"}\n\n",
        ),
        // Two texts by turns.
        (
            "data: {\"c\":[{\"index\":0,\"t\":\"4012\"}]}\n\ndata: {\"c\":[{\"index\":1,\"t\":\"Yes\"}]}\n\ndata: {\"c\":[{\"index\":0,\"t\":\" 8888\"}]}\n\ndata: {\"c\":[{\"index\":1,\"t\":\"!\"}]}\n\n",
            "data: {\"c\":[{\"index\":0,\"t\":\"1234 5678\"}]}\n\ndata: {\"c\":[{\"index\":1,\"t\":\"Yes\"}]}\n\ndata: {\"c\":[{\"index\":0,\"t\":\"\"}]}\n\ndata: {\"c\":[{\"index\":1,\"t\":\"!\"}]}\n\n",
        ),
        // One kind ends before another.
        (
            "data: {\"type\":\"a\",\"d\":\"4012\"}\n\ndata: {\"type\":\"b\",\"d\":\" 8888\"}\n\n",
            "data: {\"type\":\"a\",\"d\":\"4012\"}\n\ndata: {\"type\":\"b\",\"d\":\" 8888\"}\n\n",
        ),
        // What only a name follows, a comment, no end, other line ends.
        ("data: \"4012\"\n\n: ping\n\nevent: end\n\n", ": ping\n\ndata: \"4012\"\n\nevent: end\n\n"),
        (
            "data: \"4012\"\n\n:\n\n:\n\ndata: \" 8888\"\n\n",
            ":\n\ndata: \"4012\"\n\n:\n\ndata: \" 8888\"\n\n",
        ),
        (
            "data: \"4012\"\n\nevent: x\n\ndata: \" 8888\"\n\n",
            "data: \"1234 5678\"\n\nevent: x\n\ndata: \"\"\n\n",
        ),
        ("data: \"4012\"\r\n\r\ndata: \" 8888\"\r\n\r\n", "data: \"1234 5678\"\r\n\r\ndata: \"\"\r\n\r\n"),
        ("data: \"4012\"\r\rdata: \" 8888\"\r\r", "data: \"1234 5678\"\r\rdata: \"\"\r\r"),
        ("data: \"4012\"\n\ndata: \" 88", "data: \"4012\"\n\ndata: \" 88"),
        ("data: \"4012\"\n\ndata: [DONE]\n\n", "data: \"4012\"\n\ndata: [DONE]\n\n"),
        // A text that each repeats, which ends with what is none.
        (
            "data: \"so we said 40\"\n\ndata: \"so we said 401\"\n\n",
            "data: \"so we said 40\"\n\ndata: \"so we said 401\"\n\n",
        ),
        // A piece that is equal to the one before.
        (
            "data: \"ha\"\n\ndata: \"ha\"\n\ndata: \"ha!\"\n\n",
            "data: \"ha\"\n\ndata: \"ha\"\n\ndata: \"ha!\"\n\n",
        ),
    ];
    for (body, want) in rows {
        assert_eq!(events(body), want);
    }
}

#[test]
fn a_later_message_takes_nothing_from_an_earlier_one() {
    let rows = [
        // All of it is there, a part of it, a part that the next one shows to be none.
        (
            "Calling Yesenia Juárez",
            "Calling Yesenia Juárez again",
            ["Calling Maria Lopez", "Calling Maria Lopez again"],
        ),
        (
            "the card is 4012 8888",
            "the card is 4012 8888, thanks",
            ["the card is 1234 5678", "the card is 1234 5678, thanks"],
        ),
        (
            "the card is now 4012",
            "the card is now 4012 8888",
            ["the card is now ", "the card is now 1234 5678"],
        ),
        (
            "the card is now 4012",
            "the card is now 4012 99",
            ["the card is now 4012", "the card is now 4012 99"],
        ),
    ];
    for (first, second, want) in rows {
        let body = format!("data: {{\"msg\":\"{first}\"}}\n\ndata: {{\"msg\":\"{second}\"}}\n\n");
        let out = passed(Frame::Events, Restoring(&PLAIN), &mut body.as_bytes().chunks(3));
        let texts: Vec<String> =
            documents(Frame::Events, &out).iter().map(|one| text_in("\"msg\":%", one)).collect();
        assert_eq!(texts, want, "{body}");
    }
}

#[test]
fn rows_that_begin_alike_lose_nothing() {
    let rows = [
        ["Purchase order no. 40", "Purchase order no. 401", "Purchase order no. 5"],
        ["Purchase order no. 4", "Purchase order no. 40", "Purchase order no. 401"],
        ["Vitamin supplement Yes", "Vitamin supplement Yese", "Vitamin supplement B"],
        ["Vitamin supplement Yes", "Vitamin supplement Yes", "Vitamin supplement Yesenia"],
    ];
    for texts in rows {
        for end in ["", "data: [DONE]\n\n"] {
            let body: String = texts
                .iter()
                .map(|text| format!("data: {{\"n\":\"{text}\"}}\n\n"))
                .chain([end.to_owned()])
                .collect();
            assert_eq!(events(&body), body);
        }
    }
}

#[test]
fn a_body_that_is_no_lines_passes_as_it_is() {
    let rows = [
        (
            Frame::Labelled,
            "0 plain text with 4012 8888\n0:\"4012\"\n",
            "0 plain text with 1234 5678\n0:\"4012\"\n",
        ),
        (Frame::Labelled, "g:\"4012\"\ng:\" 8888\"\nd:{}\n", "g:\"1234 5678\"\ng:\"\"\nd:{}\n"),
        (Frame::Lines, "{\n \"a\": \"4012\"\n}\n", "{\n \"a\": \"4012\"\n}\n"),
        (Frame::Lines, "{\"a\":\"4012\"}", "{\"a\":\"4012\"}"),
        (Frame::Lines, "\n{\"a\":\"4012\"}\r\n{\"a\":\" 8888\"}", "\n{\"a\":\"1234 5678\"}\r\n{\"a\":\"\"}"),
        (Frame::Lines, "[{\"a\":\"4012\"},\n{\"a\":\" 8888\"}]", "[{\"a\":\"4012\"},\n{\"a\":\" 8888\"}]"),
    ];
    for (frame, body, want) in rows {
        for step in [1, 2, 100] {
            let out = passed(frame, Restoring(&ISSUED), &mut body.as_bytes().chunks(step));
            assert_eq!(String::from_utf8(out).unwrap(), want, "{body}");
        }
    }
    let mut pipeline = pipeline(Frame::Labelled, Restoring(&ISSUED), &MemoryBudget::process(1 << 20));
    let mut out = BytesMut::new();
    pipeline.write(b"Text", &mut out).unwrap();
    assert_eq!(&out[..], b"Text", "text is not held for its line");
}
