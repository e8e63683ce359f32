//! Event streams: what changes, what stays, and that it comes back.

use std::sync::Arc;

use super::*;
use crate::redact::fixture::{keys, passed, redactor};
use crate::redact::{AnswerTreatment, Method};
use crate::stream::GenericEvents;

const MAIL: &str = "jane.doe@harbour-post.com";

fn text(redacted: Redacted<Vec<u8>>) -> String {
    String::from_utf8(redacted.into_value()).unwrap()
}

#[test]
fn all_lines_of_a_stream_are_looked_at() {
    let rows = [
        ("data: no one\n\n", "data: no one\n\n"),
        ("data: {\"a\":\"jane.doe\\u0040harbour-post.com\"}\n\n", "data: {\"a\":\"#\"}\n\n"),
        ("data: {\"a\":\ndata: \"M\"}\n\n", "data: {\"a\":\ndata: \"#\"}\n\n"),
        ("data:  to M \r\n\r\ndata: x\r\n\r\n", "data:  to # \r\n\r\ndata: x\r\n\r\n"),
        (": M\nid: M\nevent: M\n\nM\n\n", ": #\nid: #\nevent: #\n\n#\n\n"),
        (": {\"password\":\"hunter2!\"}\n\ndata: x", ": {\"password\":\"#\"}\n\ndata: x"),
        ("data: 1],[\"M\"\n\ndata: 1,2\n\n", "data: 1],[\"#\"\n\ndata: 1,2\n\n"),
        ("data: x\n\ndata: cut M", "data: x\n\ndata: cut #"),
        ("\u{feff}data: M\n\n\n", "\u{feff}data: #\n\n\n"),
        ("data: account no. 12345678\n\ndata: 12345678?\n\n", "data: account no. #\n\ndata: #?\n\n"),
        ("", ""),
    ];
    for (body, expected) in rows {
        let body = body.replace('M', MAIL);
        let (redacted, _) = redactor(Method::Text("#".into()))
            .events(body.as_bytes(), &keys(), FindingLimits::default())
            .unwrap();
        assert_eq!(text(redacted), expected, "{body}");
    }
}

#[test]
fn what_was_encrypted_comes_back() {
    let redactor = redactor(Method::Encrypt);
    let stream = format!("id: {MAIL}\ndata: {{\"a\":\"{MAIL}\"}}\n\ndata: to {MAIL}\n\n");
    let (redacted, undo) = redactor.events(stream.as_bytes(), &keys(), FindingLimits::default()).unwrap();
    let sent = text(redacted);
    assert!(!sent.contains(MAIL), "{sent}");
    let answer = Box::new(redactor.answer(AnswerTreatment::Restore(Arc::new(undo))));
    let mut events = Sse::new(GenericEvents::new(answer), 1 << 20, &MemoryBudget::unlimited());
    assert_eq!(passed(&mut events, &sent), stream);
}
