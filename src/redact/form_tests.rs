//! Forms: what changes, what stays, and that it comes back.

use std::sync::Arc;

use super::*;
use crate::base::budget::MemoryBudget;
use crate::redact::fixture::{keys, passed, redactor};
use crate::redact::{AnswerTreatment, Method};
use crate::stream::form::FormBody;

fn text(redacted: Redacted<Vec<u8>>) -> String {
    String::from_utf8(redacted.into_value()).unwrap()
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
        ("n=Caf%e9+jane.doe%40harbour-post.com+x/y%zz", "n=Caf%e9+%23+x/y%zz"),
        ("sid=\"jane.doe@harbour-post.com\"|a:b", "sid=\"%23\"|a:b"),
        ("a=jane.doe@harbour-post.com;b=%e9/jane.doe%40harbour-post.com", "a=%23;b=%e9/%23"),
        ("", ""),
        ("m=%22k1@qx.de,%22k2@qx.de,%22a", "m=%22%23,%22%23,%22a"),
    ];
    for (body, expected) in rows {
        let (redacted, _) = redactor(Method::Text("#".into()))
            .form(body.as_bytes(), &keys(), FindingLimits::default())
            .unwrap();
        assert_eq!(text(redacted), expected, "{body}");
    }
}

#[test]
fn values_are_called_by_the_field_before_them() {
    let rows = [
        (
            "name=password&value=hunter2Zq9&key=ssn&value=536228741",
            "name=password&value=%23&key=ssn&value=%23",
        ),
        (
            "fields%5B0%5D%5Bname%5D=password&a=b&fields%5B0%5D%5Bvalue%5D=hunter2Zq9",
            "fields%5B0%5D%5Bname%5D=password&a=b&fields%5B0%5D%5Bvalue%5D=%23",
        ),
        ("x.name=password&x.value=hunter2Zq9", "x.name=password&x.value=%23"),
        ("fields[0][name]=password&fields[1][value]=hunter2Zq9", ""),
        ("name=password&value=&value=hunter2Zq9", ""),
        ("name=order&value=536228741&id=password&value=hunter2Zq9", ""),
    ];
    for (body, expected) in rows {
        let redactor = redactor(Method::Text("#".into()));
        let (redacted, _) = redactor.form(body.as_bytes(), &keys(), FindingLimits::default()).unwrap();
        let expected = if expected.is_empty() { body } else { expected };
        assert_eq!(text(redacted), expected, "{body}");
    }
}

#[test]
fn what_was_encrypted_comes_back() {
    let redactor = redactor(Method::Encrypt);
    let form = "to=jane.doe%40harbour-post.com&card=4012+8888+8888+1881";
    let (redacted, undo) = redactor.form(form.as_bytes(), &keys(), FindingLimits::default()).unwrap();
    let sent = text(redacted);
    assert!(!sent.contains("jane") && !sent.contains("8888"), "{sent}");
    let answer = Box::new(redactor.answer(AnswerTreatment::Restore(Arc::new(undo))));
    let mut body = FormBody::new(answer, &MemoryBudget::unlimited());
    assert_eq!(passed(&mut body, &sent), form);
}
