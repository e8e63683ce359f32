//! What a head says that its answer depends on (RFC 9110 section 12.5.5).

use http::header::VARY;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::gateway::head_fields::HeadFields;

/// Has the head say that its answer depends on this field of requests, if it does not say so already.
pub(super) fn add_vary(head: &mut impl HeadFields, name: &HeaderName, shown: &'static str) {
    if !varies_by(head.fields(), name) {
        head.add(&VARY, HeaderValue::from_static(shown));
    }
}

fn varies_by(headers: &HeaderMap, field: &HeaderName) -> bool {
    let lines = headers.get_all(VARY).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|name| {
        let name = name.trim();
        name == "*" || name.eq_ignore_ascii_case(field.as_str())
    })
}

#[cfg(test)]
mod tests {
    use http::header::ORIGIN;

    use super::*;

    #[test]
    fn a_field_is_named_once() {
        let rows: [(&[&str], &[&str]); 6] = [
            (&[], &["Origin"]),
            (&["Accept-Encoding"], &["Accept-Encoding", "Origin"]),
            (&["Accept-Encoding, origin"], &["Accept-Encoding, origin"]),
            (&["Accept", "ORIGIN"], &["Accept", "ORIGIN"]),
            (&["*"], &["*"]),
            (&["X-Origin"], &["X-Origin", "Origin"]),
        ];
        for (before, after) in rows {
            let mut headers = HeaderMap::new();
            for value in before {
                headers.append(VARY, value.parse().unwrap());
            }
            add_vary(&mut headers, &ORIGIN, "Origin");
            assert_eq!(headers.get_all(VARY).iter().collect::<Vec<_>>(), after, "{before:?}");
        }
    }
}
