//! Event streams and forms: what changes, what stays, and that it comes back.

use std::sync::{Arc, OnceLock};

use super::*;
use crate::base::secret::Secret;
use crate::crypto::fpe::FpeKey;
use crate::detect::{Catalogue, Choice, Detector};
use crate::redact::{Answering, Method, Plan};
use crate::stream::form::FormBody;
use crate::stream::{Editor, GenericEvents};

const MAIL: &str = "jane.doe@harbour-post.com";

fn keys() -> Keys {
    let key = FpeKey::new(Secret::new(vec![7; 32])).unwrap();
    Keys { fpe: Some(Arc::new(key)), tenant: "acme".into(), ..Keys::default() }
}

fn redactor(method: Method) -> Redactor {
    static BUILT: OnceLock<Detector> = OnceLock::new();
    let build = || {
        let catalogue = Catalogue::builtin().unwrap();
        Detector::new(&catalogue, &Choice::defaults(&catalogue)).unwrap()
    };
    Redactor::new(BUILT.get_or_init(build).clone(), Plan::all(method))
}

fn replaced() -> Redactor {
    redactor(Method::Text(Arc::from("#")))
}

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
        let (redacted, _) = replaced().events(body.as_bytes(), &keys(), Limits::default()).unwrap();
        assert_eq!(text(redacted), expected, "{body}");
    }
}

#[test]
fn names_of_a_form_are_context_and_what_stays_keeps_its_spelling() {
    let rows = [
        ("q=a%20b&r=%e9&&s", "q=a%20b&r=%e9&&s"),
        ("to=jane.doe%40harbour-post.com&%61=b", "to=%23&%61=b"),
        ("pass%77ord=hunter2!&x=a+b", "pass%77ord=%23&x=a+b"),
        ("jane.doe%40harbour-post.com", "%23"),
        ("payload=%7B%22password%22%3A%22hunter2!%22%7D", "payload=%7B%22password%22%3A%22%23%22%7D"),
        ("a=%22%5C&b=jane.doe%40harbour-post.com", "a=%22%5C&b=%23"),
        ("", ""),
    ];
    for (body, expected) in rows {
        let (redacted, _) = replaced().form(body.as_bytes(), &keys(), Limits::default()).unwrap();
        assert_eq!(text(redacted), expected, "{body}");
    }
}

#[test]
fn what_was_encrypted_comes_back() {
    let redactor = redactor(Method::Encrypt);
    let stream = format!("id: {MAIL}\ndata: {{\"a\":\"{MAIL}\"}}\n\ndata: to {MAIL}\n\n");
    let form = "to=jane.doe%40harbour-post.com&card=4012+8888+8888+1881";
    let editor = |undo| -> Box<dyn Editor> { Box::new(redactor.answer(Answering::Restore(Arc::new(undo)))) };
    let back = |mut rewriter: Box<dyn Rewriter>, body: &str| {
        let mut out = BytesMut::new();
        rewriter.write(body.as_bytes(), &mut out).unwrap();
        rewriter.finish(&mut out).unwrap();
        String::from_utf8(out.to_vec()).unwrap()
    };
    let budget = Budget::unlimited();

    let (redacted, undo) = redactor.events(stream.as_bytes(), &keys(), Limits::default()).unwrap();
    let sent = text(redacted);
    assert!(!sent.contains(MAIL), "{sent}");
    let events = Sse::new(GenericEvents::new(editor(undo)), 1 << 20, &budget);
    assert_eq!(back(Box::new(events), &sent), stream);

    let (redacted, undo) = redactor.form(form.as_bytes(), &keys(), Limits::default()).unwrap();
    let sent = text(redacted);
    assert!(!sent.contains("jane") && !sent.contains("8888"), "{sent}");
    assert_eq!(back(Box::new(FormBody::new(editor(undo), &budget)), &sent), form);
}
