//! Whether places cover all that a document of a stream says.

use serde_json::Value;

/// Whether all that a document says stands at one of `places`, or below. A place is members' names, with dots between, and `[*]` for
/// each element of an array.
pub(super) fn says_only(data: &[u8], places: &[&str]) -> bool {
    let document = serde_json::from_slice(data);
    document.is_ok_and(|document| lies_within(&document, &mut String::new(), places))
}

fn lies_within(value: &Value, at: &mut String, places: &[&str]) -> bool {
    if places.contains(&at.as_str()) {
        return true;
    }
    let length = at.len();
    let mut within = |step: [&str; 2], below: &Value| {
        step.iter().for_each(|part| at.push_str(part));
        let within = lies_within(below, at, places);
        at.truncate(length);
        within
    };
    match value {
        Value::Object(members) => {
            let dot = if length > 0 { "." } else { "" };
            members.iter().all(|(name, below)| within([dot, name], below))
        }
        Value::Array(elements) => elements.iter().all(|below| within(["[*]", ""], below)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_says_what_stands_at_its_places() {
        let places = ["usage", "candidates[*].content.parts[*].text", "candidates[*].index"];
        let says = |document: &str| says_only(document.as_bytes(), &places);
        assert!(says(
            r#"{"candidates":[{"content":{"parts":[{"text":""}]},"index":0}],"usage":{"total":3}}"#
        ));
        assert!(says("{}") && says(r#"{"candidates":[]}"#));
        assert!(!says(r#"{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"A"}]}}]}"#));
        assert!(!says(r#"{"candidates":[{"groundingMetadata":{"a":1}}]}"#));
        assert!(!says(r#"{"candidates.text":1}"#) && !says("3") && !says(""));
    }
}
