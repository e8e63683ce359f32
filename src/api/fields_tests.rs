//! What is read of a body, and every fault of it at its place.

use serde_json::json;

use super::*;

fn faults(body: &Value) -> Vec<(Code, String)> {
    let mut fields = ObjectFields::of(body).unwrap();
    fields.required_text("text");
    fields.flag("debug");
    fields.names("rules");
    match fields.close() {
        Err(ApiError::Validation(list)) => list.into_iter().map(|f| (f.code, f.source.to_string())).collect(),
        Err(other) => panic!("{other}"),
        Ok(()) => Vec::new(),
    }
}

#[test]
fn every_fault_is_reported_once() {
    let rows: &[(Value, &[(Code, &str)])] = &[
        (json!({"text": ""}), &[]),
        (json!({}), &[(Code::FieldRequired, "/text")]),
        (json!({"text": {"a": 1}}), &[(Code::InvalidString, "/text")]),
        (json!({"text": null}), &[(Code::InvalidNull, "/text")]),
        (
            json!({"text": 1, "debug": "x", "rules": ["A", 2, "A"], "zz~": 0}),
            &[
                (Code::InvalidBool, "/debug"),
                (Code::InvalidString, "/rules/1"),
                (Code::ItemNotUnique, "/rules/2"),
                (Code::InvalidString, "/text"),
                (Code::UnexpectedProperty, "/zz~0"),
            ],
        ),
    ];
    for (body, expected) in rows {
        let expected: Vec<_> = expected.iter().map(|(code, at)| (*code, (*at).to_owned())).collect();
        assert_eq!(faults(body), expected, "{body}");
    }
}

#[test]
fn a_body_of_nothing_but_faults_is_cut_short() {
    let body = Value::Object((0..1000).map(|n| (format!("k{n}"), Value::Null)).collect());
    assert_eq!(faults(&body).len(), MAX_FAULTS);
}
