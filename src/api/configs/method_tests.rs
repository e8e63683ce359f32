use serde_json::{Value, json};

use super::*;
use crate::api::error::ApiError;

fn read(value: &Value, written: MethodPlace) -> Result<MethodSpec, Vec<(Code, String)>> {
    let mut faults = Faults::default();
    let spec = MethodSpec::read(value, &Pointer::root().key("m"), &mut faults, written);
    match faults.close() {
        Ok(()) => Ok(spec.expect("a method without a fault is one")),
        Err(ApiError::Validation(list)) => {
            Err(list.into_iter().map(|fault| (fault.code, fault.source.to_string())).collect())
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn methods_are_read_stored_and_read_again() {
    let rows = [
        (json!({"redaction_type": "mask"}), json!({"redaction_type": "mask"})),
        (
            json!({"redaction_type": "mask", "redaction_value": "x", "hash": null}),
            json!({"redaction_type": "mask"}),
        ),
        (
            json!({"redaction_type": "replacement", "redaction_value": ""}),
            json!({"redaction_type": "replacement", "redaction_value": ""}),
        ),
        (
            json!({"redaction_type": "partial_masking", "partial_masking": {
                "masking_char": ["#"], "unmasked_from_right": 4.0, "unmasked_from_left": 0, "chars_to_ignore": ["-", "é"]
            }}),
            json!({"redaction_type": "partial_masking", "partial_masking": {
                "masking_type": "unmask", "masking_char": "#", "unmasked_from_right": 4, "chars_to_ignore": ["-", "é"]
            }}),
        ),
        (
            json!({"redaction_type": "hash"}),
            json!({"redaction_type": "hash", "hash": {"hash_type": "sha256"}}),
        ),
        (
            json!({"redaction_type": "hash", "hash": {"hash_type": "md5"}}),
            json!({"redaction_type": "hash", "hash": {"hash_type": "md5"}}),
        ),
        (
            json!({"redaction_type": "fpe", "fpe_alphabet": null, "fpe_tweak": "abc1234"}),
            json!({"redaction_type": "fpe", "fpe_alphabet": "alphanumeric", "fpe_tweak": "abc1234"}),
        ),
        (
            json!({"redaction_type": "fpe", "fpe_alphabet": "alphaupper", "fpe_tweak_vault_secret_id": "pvi_x"}),
            json!({"redaction_type": "fpe", "fpe_alphabet": "alphaupper", "fpe_tweak_vault_secret_id": "pvi_x"}),
        ),
    ];
    for (given, stored) in rows {
        let spec =
            read(&given, MethodPlace::InRequest).unwrap_or_else(|faults| panic!("{given}: {faults:?}"));
        assert_eq!(serde_json::to_value(&spec).unwrap(), stored);
        assert_eq!(serde_json::from_value::<MethodSpec>(stored).unwrap(), spec);
    }
}

#[test]
fn faults_have_their_places() {
    use Code::*;
    let partial = |fields: Value| json!({"redaction_type": "partial_masking", "partial_masking": fields});
    let rows: &[(Value, &[(Code, &str)])] = &[
        (json!("mask"), &[(InvalidObject, "/m")]),
        (json!(null), &[(InvalidNull, "/m")]),
        (json!({}), &[(FieldRequired, "/m/redaction_type")]),
        (json!({"redaction_type": null}), &[(InvalidNull, "/m/redaction_type")]),
        (json!({"redaction_type": 1}), &[(InvalidString, "/m/redaction_type")]),
        (json!({"redaction_type": "erase"}), &[(NotEnumMember, "/m/redaction_type")]),
        (json!({"redaction_type": "mask", "a/b": 1}), &[(UnexpectedProperty, "/m/a~1b")]),
        (json!({"redaction_type": "replacement"}), &[(FieldRequired, "/m/redaction_value")]),
        (
            json!({"redaction_type": "replacement", "redaction_value": 1}),
            &[(InvalidString, "/m/redaction_value")],
        ),
        (json!({"redaction_type": "partial_masking"}), &[(FieldRequired, "/m/partial_masking")]),
        (json!({"redaction_type": "mask", "partial_masking": 1}), &[(InvalidObject, "/m/partial_masking")]),
        (
            partial(
                json!({"masked_from_left": -1, "masked_from_right": 1.5, "unmasked_from_left": 1e300, "masking_char": ""}),
            ),
            &[
                (IsTooSmall, "/m/partial_masking/masked_from_left"),
                (InvalidInteger, "/m/partial_masking/masked_from_right"),
                (BelowMinLength, "/m/partial_masking/masking_char"),
                (IsTooBig, "/m/partial_masking/unmasked_from_left"),
            ],
        ),
        (
            partial(json!({"masking_char": ["#", "*"], "chars_to_ignore": ["ab", 1]})),
            &[
                (AboveMaxLength, "/m/partial_masking/chars_to_ignore/0"),
                (InvalidString, "/m/partial_masking/chars_to_ignore/1"),
                (AboveMaxItems, "/m/partial_masking/masking_char"),
            ],
        ),
        (partial(json!({"masking_char": []})), &[(BelowMinItems, "/m/partial_masking/masking_char")]),
        (
            json!({"redaction_type": "hash", "hash": {"hash_type": "sha1"}}),
            &[(NotEnumMember, "/m/hash/hash_type")],
        ),
        (json!({"redaction_type": "fpe", "fpe_tweak": "abc12345!"}), &[(BadFormatBase64, "/m/fpe_tweak")]),
        (json!({"redaction_type": "fpe", "fpe_tweak": ""}), &[(BadFormatBase64, "/m/fpe_tweak")]),
    ];
    for (value, want) in rows {
        let want: Vec<_> = want.iter().map(|(code, at)| (*code, (*at).to_owned())).collect();
        assert_eq!(read(value, MethodPlace::InRequest).expect_err("faults"), want, "{value}");
    }
}

#[test]
fn a_stored_replacement_may_leave_the_text_to_the_rule() {
    let spec = read(&json!({"redaction_type": "replacement"}), MethodPlace::InConfig).unwrap();
    assert_eq!(spec, MethodSpec::Replacement { redaction_value: None });
}

#[test]
fn tweaks_are_letters_or_base64() {
    let bytes = |text: &str| FpeTweak::parse(text).map(|tweak| tweak.bytes());
    assert_eq!(bytes("abc1234"), Some(b"abc1234".to_vec()));
    assert_eq!(bytes("AAEC"), Some(vec![0, 1, 2]));
    assert_eq!(bytes(&BASE64.encode(&[7; 32])), Some(vec![7; 32]));
    assert_eq!(bytes(&BASE64.encode(&[7; 33])), None);
    assert_eq!(bytes("abc-234"), None);
    assert_eq!(format!("{:?}", FpeTweak::parse("abc1234")), "Some(FpeTweak(..))");
}
