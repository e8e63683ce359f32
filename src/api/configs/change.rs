//! [`changed`]: what a config becomes by the members of an update.

use serde_json::{Map, Value};

use crate::api::configs::config::ConfigSettings;

/// The settings `before` with what `sent` says in their place, as a body that says all of it. Objects of fixed members
/// ([`ConfigSettings::PARTS`]) change member by member; maps and lists are replaced, or nothing could be taken out of
/// them.
///
/// # Errors
/// Settings that cannot be written as JSON.
pub(super) fn changed<S: ConfigSettings>(before: &S, sent: &Map<String, Value>) -> serde_json::Result<Value> {
    let mut whole = serde_json::to_value(before)?;
    if let Value::Object(members) = &mut whole {
        merge::<S>(members, sent);
    }
    Ok(whole)
}

fn merge<S: ConfigSettings>(members: &mut Map<String, Value>, sent: &Map<String, Value>) {
    for (name, value) in sent {
        match (value, members.get_mut(name)) {
            (Value::Null, _) if S::OPTIONAL.contains(&name.as_str()) => {
                members.remove(name);
            }
            (Value::Null, _) => {}
            (Value::Object(sent), Some(Value::Object(part))) if S::PARTS.contains(&name.as_str()) => {
                merge::<S>(part, sent);
            }
            _ => {
                members.insert(name.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::sanitize::SanitizeSettings;

    fn by(before: &Value, sent: &Value) -> Value {
        let before: SanitizeSettings = serde_json::from_value(before.clone()).unwrap();
        let whole = changed(&before, sent.as_object().unwrap()).unwrap();
        serde_json::to_value(serde_json::from_value::<SanitizeSettings>(whole).unwrap()).unwrap()
    }

    #[test]
    fn what_is_not_sent_stays() {
        let before = json!({
            "name": "a", "defang": {"enabled": true, "url_intel": true, "risk_threshold": 7},
            "sos": {"enabled": true, "retention_days": 3},
        });
        let whole = by(&before, &json!({}));
        let rows = [
            (json!({"name": "b"}), "/name", json!("b")),
            (json!({"defang": {"enabled": false}}), "/defang/enabled", json!(false)),
            (json!({"defang": {"risk_threshold": 9}}), "/defang/risk_threshold", json!(9)),
            (
                json!({"name": null, "cdr": null, "sos": {"enabled": null, "retention_days": 4}}),
                "/sos/retention_days",
                json!(4),
            ),
        ];
        for (sent, at, value) in rows {
            let mut want = whole.clone();
            *want.pointer_mut(at).unwrap() = value;
            assert_eq!(by(&before, &sent), want, "{sent}");
        }
        let mut want = whole.clone();
        want["sos"].as_object_mut().unwrap().remove("retention_days");
        assert_eq!(by(&before, &json!({"sos": {"retention_days": null}})), want);
    }
}
