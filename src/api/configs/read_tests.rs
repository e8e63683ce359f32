use serde_json::{Value, json};

use super::*;

fn read(body: &Value) -> Result<Settings, Vec<(Code, String)>> {
    let catalogue = Catalogue::builtin().unwrap();
    match ConfigDraft::read(ObjectFields::of(body).unwrap(), &catalogue, Extent::Whole).check() {
        Ok(settings) => Ok(settings),
        Err(ApiError::Validation(list)) => {
            Err(list.into_iter().map(|fault| (fault.code, fault.source.to_string())).collect())
        }
        Err(other) => panic!("{other}"),
    }
}

fn full() -> Value {
    json!({
        "name": "all of it",
        "enabled_rules": ["EMAIL_ADDRESS", "STAFF_ID", "STAFF", "secrets"],
        "enforce_enabled_rules": true,
        "redactions": {
            "STAFF_ID": {"redaction_type": "replacement"},
            "STAFF": {"redaction_type": "mask"},
            "EMAIL_ADDRESS": {"redaction_type": "fpe", "fpe_alphabet": "alphanumericlower"},
        },
        "salt_vault_secret_id": format!("pvi_{}", "b".repeat(32)),
        "fpe_vault_secret_id": format!("pvi_{}", "c".repeat(32)),
        "rules": {
            "STAFF_ID": {
                "entity_name": "Staff number",
                "matchers": [
                    {"match_type": "regex", "match_value": "HP-[0-9]{6}", "match_score": 0.9},
                    {"match_type": "starts_with", "match_value": "HPX", "match_score": 0.1},
                ],
                "match_threshold": 0.5,
                "context_values": ["staff"],
                "negative_context_values": ["invoice"],
                "name": "Staff",
                "description": "Numbers of our staff.",
            },
            "STAFF_MAIL": {"entity_name": "Mail", "matchers": "EMAIL_ADDRESS"},
        },
        "rulesets": {"STAFF": {"name": "Staff", "description": "All about it.", "rules": ["STAFF_ID", "PERSON"]}},
        "supported_languages": ["en"],
        "allow_list": ["info@harbour-post.com", {"regex": "^test-[0-9]+$"}],
    })
}

#[test]
fn what_is_set_is_stored_as_it_was_written() {
    let settings = read(&full()).unwrap();
    assert_eq!(serde_json::to_value(&settings).unwrap(), full());
    assert_eq!(serde_json::from_value::<Settings>(full()).unwrap(), settings);
    assert!(!format!("{settings:?}").contains("harbour-post.com"));
}

#[test]
fn what_is_not_set_has_its_default() {
    let bare = read(&json!({"name": "bare"})).unwrap();
    let shown = json!({
        "name": "bare", "enabled_rules": ["DEFAULT"], "enforce_enabled_rules": false, "redactions": {}, "rules": {},
        "rulesets": {}, "supported_languages": ["en"],
    });
    assert_eq!(serde_json::to_value(&bare).unwrap(), shown);
    // As the clients write what was not set; times are the service's.
    let nulls = json!({
        "name": "bare", "version": null, "enabled_rules": null, "redactions": null, "fpe_vault_secret_id": null,
        "created_at": 7, "config_id": null,
    });
    assert_eq!(read(&nulls).unwrap(), bare);
    assert_eq!(read(&json!({"name": "bare", "version": "2.0.0"})).unwrap(), bare);
}

#[test]
fn all_faults_are_found_at_once() {
    use Code::*;
    let mut body = full();
    body["name"] = json!("");
    body["version"] = json!(3);
    body["enabled_rules"] = json!(["EMAIL_ADDRESS", "NOBODYS_RULE", "EMAIL_ADDRESS", 4]);
    body["redactions"]["NO/RULE"] = json!({"redaction_type": "mask"});
    body["salt_vault_secret_id"] = json!("pvi_short");
    body["rules"]["STAFF_ID"]["matchers"][0]["match_value"] = json!("(");
    body["rules"]["STAFF_ID"]["matchers"][1]["match_score"] = json!(0.05);
    body["rules"]["STAFF_MAIL"]["matchers"] = json!("NOBODYS_RULE");
    body["rules"]["lower case"] = json!({"entity_name": "x", "matchers": []});
    body["vault_service_config_id"] = json!(format!("pci_{}", "a".repeat(32)));
    body["rules"]["PERSON"] = json!({"entity_name": "x", "matchers": "PERSON"});
    body["rulesets"]["STAFF"]["rules"] = json!(["STAFF_ID", "STAFF"]);
    body["supported_languages"] = json!(["xx"]);
    body["allow_list"] = json!(["", {"regex": "a)|(b"}, {"regex": "a", "b": 1}, 5]);
    body["strange"] = json!(1);
    let want = [
        (BelowMinLength, "/allow_list/0"),
        (BadFormatRegex, "/allow_list/1/regex"),
        (UnexpectedProperty, "/allow_list/2/b"),
        (InvalidObject, "/allow_list/3"),
        (DoesNotExist, "/enabled_rules/1"),
        (ItemNotUnique, "/enabled_rules/2"),
        (InvalidString, "/enabled_rules/3"),
        (BelowMinLength, "/name"),
        (DoesNotExist, "/redactions/NO~1RULE"),
        (InvalidPropertyName, "/rules/PERSON"),
        (BadFormatRegex, "/rules/STAFF_ID/matchers/0/match_value"),
        (NotWithinRange, "/rules/STAFF_ID/matchers/1/match_score"),
        (DoesNotExist, "/rules/STAFF_MAIL/matchers"),
        (InvalidPropertyName, "/rules/lower case"),
        (BelowMinItems, "/rules/lower case/matchers"),
        (DoesNotExist, "/rulesets/STAFF/rules/1"),
        (DoesNotMatchPattern, "/salt_vault_secret_id"),
        (UnexpectedProperty, "/strange"),
        (NotEnumMember, "/supported_languages/0"),
        (ConfigNotExist, "/vault_service_config_id"),
        (IsReadOnly, "/version"),
    ];
    let want: Vec<_> = want.map(|(code, at)| (code, at.to_owned())).into();
    assert_eq!(read(&body).unwrap_err(), want);
}

#[test]
fn required_members_are_missed_by_name() {
    use Code::*;
    let body = json!({
        "name": null,
        "rules": {"A_RULE": {"matchers": [{}, 5]}, "B_RULE": {"entity_name": "b"}},
        "rulesets": {"A_RULE": {}, "EU": {}},
    });
    let want = [
        (InvalidNull, "/name"),
        (FieldRequired, "/rules/A_RULE/entity_name"),
        (FieldRequired, "/rules/A_RULE/matchers/0/match_score"),
        (FieldRequired, "/rules/A_RULE/matchers/0/match_type"),
        (FieldRequired, "/rules/A_RULE/matchers/0/match_value"),
        (InvalidObject, "/rules/A_RULE/matchers/1"),
        (FieldRequired, "/rules/B_RULE/matchers"),
        (InvalidPropertyName, "/rulesets/A_RULE"),
        (InvalidPropertyName, "/rulesets/EU"),
    ];
    let want: Vec<_> = want.map(|(code, at)| (code, at.to_owned())).into();
    assert_eq!(read(&body).unwrap_err(), want);
}

#[test]
fn who_changes_a_config_sends_back_what_was_read() {
    let mut body = full();
    body["version"] = json!(3);
    body["created_at"] = json!("2027-01-31T12:00:00.000Z");
    let draft =
        ConfigDraft::read(ObjectFields::of(&body).unwrap(), &Catalogue::builtin().unwrap(), Extent::Change);
    assert_eq!(serde_json::to_value(draft.check().unwrap()).unwrap(), full());
}

#[test]
fn names_of_rules_are_in_letters_of_either_case() {
    let rule = || json!({"entity_name": "x", "matchers": "PERSON"});
    let faults =
        |name: &str| read(&json!({"name": "x", "rules": {name: rule()}, "enabled_rules": [name]})).err();
    for good in ["my-rule", "STAFF_ID", "staffId", "a1", "FIN/own-x"] {
        assert_eq!(faults(good), None, "{good}");
    }
    let long = "x".repeat(65);
    for bad in ["a", "-a", "1a", "a b", "a.b", "\u{e9}t\u{e9}", "PERSON", &long] {
        assert_eq!(faults(bad), Some(vec![(Code::InvalidPropertyName, format!("/rules/{bad}"))]), "{bad}");
    }
}

#[test]
fn patterns_are_bounded_in_number() {
    let many: Vec<Value> = (0..=PATTERNS).map(|n| json!({"regex": format!("a{n}")})).collect();
    let body = json!({"name": "many", "allow_list": many});
    assert_eq!(read(&body).unwrap_err(), [(Code::AboveMaxItems, String::new())]);
}

#[test]
fn patterns_are_those_that_the_detector_takes() {
    let faults = |regex: &str| {
        let matcher = json!({"match_type": "regex", "match_value": regex, "match_score": 0.5});
        let good = json!({"match_type": "regex", "match_value": "a+", "match_score": 0.5});
        let rule = json!({"entity_name": "x", "matchers": [good, matcher]});
        read(&json!({"name": "x", "rules": {"OWN_RULE": rule}})).err()
    };
    let at = "/rules/OWN_RULE/matchers/1/match_value".to_owned();
    for bad in ["a*", "(?=a)", "a)|(b", "["] {
        assert_eq!(faults(bad), Some(vec![(Code::BadFormatRegex, at.clone())]), "{bad}");
    }
    for costly in [r"\w{1000}{1000}", "(x{0,500}){0,100}y", "(?:a|b)*a(?:a|b){20}"] {
        assert_eq!(faults(costly), Some(vec![(Code::IsTooBig, at.clone())]), "{costly}");
    }
    assert_eq!(faults(r"\bHP\d{6}\b"), None);
}

#[test]
fn names_stand_for_rules() {
    let catalogue = Catalogue::builtin().unwrap();
    let settings = read(&full()).unwrap();
    let enabled = settings.enabled(&catalogue);
    for name in ["EMAIL_ADDRESS", "STAFF_ID", "PERSON", "JWT_TOKEN"] {
        assert!(enabled.contains(name), "{name}");
    }
    assert!(!enabled.contains("PHONE_NUMBER") && !enabled.contains("STAFF"));
    let methods = settings.methods(&catalogue);
    assert_eq!(methods.get("STAFF_ID"), Some(&&MethodSpec::Replacement { redaction_value: None }));
    assert_eq!(methods.get("PERSON"), Some(&&MethodSpec::Mask));
    assert_eq!(methods.len(), 3);
}
