//! Answers that are rewritten must be whole, and in a coding that can be taken off.

use http::header::{ACCEPT_ENCODING, HeaderValue, IF_RANGE, RANGE};
use pingora::http::RequestHeader;

/// Codings that we can take off and put on again.
const CODINGS: [&str; 5] = ["gzip", "x-gzip", "deflate", "br", "zstd"];

/// Asks the upstream for a whole answer in a coding that we can take off.
pub(super) fn readable_answer(head: &mut RequestHeader) {
    head.remove_header(&RANGE);
    head.remove_header(&IF_RANGE);
    let wanted: Vec<String> = head
        .headers
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|list| list.split(','))
        .map(|item| item.trim().to_owned())
        .filter(|item| {
            let coding = item.split(';').next().unwrap_or_default().trim();
            CODINGS.iter().any(|known| coding.eq_ignore_ascii_case(known))
        })
        .collect();
    let value = HeaderValue::from_str(&wanted.join(", ")).ok().filter(|value| !value.is_empty());
    drop(head.insert_header(ACCEPT_ENCODING, value.unwrap_or(HeaderValue::from_static("identity"))));
}
