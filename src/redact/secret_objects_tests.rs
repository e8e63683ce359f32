use crate::redact::fixture::{document, restored as restore};
use crate::redact::{Report, SurrogateMap};
use crate::stream::json::PathSet;

fn redact(doc: &str) -> (String, Report, SurrogateMap) {
    document(doc, &PathSet::everything())
}

#[test]
fn what_a_manifest_of_a_secret_holds_is_secret_whatever_it_is_called() {
    let rows = [
        (r#"{"kind":"Secret","apiVersion":"v1","stringData":{"foo":"Hunter2Zx!9q"}}"#, 1),
        (r#"{"apiVersion":"v1","data":{"foo":"SHVudGVyMlp4ITlx"},"kind":"Secret"}"#, 1),
        (
            r#"{"kind":"List","items":[{"data":{"a":"SHVudGVyMlp4ITlx"},"kind":"Secret"},{"data":{"a":"b c"},"kind":"ConfigMap"}]}"#,
            1,
        ),
        (r#"{"kind":"SecretList","items":[{"data":{"a":"SHVudGVyMlp4ITlx"}}]}"#, 1),
        (r#"{"kind":"ConfigMap","data":{"foo":"Hunter2Zx!9q"}}"#, 0),
        (r#"{"kind":"SecretList","data":{"foo":"Hunter2Zx!9q"}}"#, 0),
    ];
    // However deep in a document it lies.
    let deep = format!("{}{}{}", r#"{"a":["#.repeat(20), rows[0].0, "]}".repeat(20));
    for (doc, count) in rows.into_iter().chain([(deep.as_str(), 1)]) {
        let (sent, report, undo) = redact(doc);
        assert_eq!(report.count(), count, "{doc}: {sent}");
        assert!(count == 0 || !sent.contains("Hunter2") && !sent.contains("SHVudGVy"), "{sent}");
        assert_eq!(restore(&sent, undo), doc);
    }
}

#[test]
fn the_lines_of_a_key_may_be_items_of_an_array() {
    let doc = r#"{"cells":[{"source":["key = \"\"\"\n","-----BEGIN RSA PRIVATE KEY-----\n",
        "MIIBOgIBAAJBAKj34GkxFhD90vcNLYLInFEX6Ppy1tPf9Cnzj4p4WGeKLs1Pt8Qu\n",
        "KUpRKfFLfRYC9AIKjbJTWit+CqvjWYzvQwECAwEAAQJAIJLixBy2qpFoS4DSmoEm\n",
        "-----END RSA PRIVATE KEY-----\n","print(1)\n"]}]}"#;
    let (sent, _, undo) = redact(doc);
    assert!(!sent.contains("MIIBOgIBAAJB") && !sent.contains("KUpRKfFLfRYC"), "{sent}");
    assert!(sent.contains("print(1)") && sent.contains("key = "), "{sent}");
    assert_eq!(restore(&sent, undo), doc);
}

#[test]
fn who_names_a_key_has_not_shown_one() {
    let doc = r#"["text.startswith('-----BEGIN PRIVATE KEY-----')\n","import os\n","print(os.getcwd())\n"]"#;
    assert_eq!(redact(doc).0, doc);
    let doc = r#"["-----BEGIN PRIVATE KEY-----","hello there","and more"]"#;
    assert_eq!(redact(doc).0, doc);
}
