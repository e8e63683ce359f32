//! What the columns of a table are called whose rows are lines of JSON: `["id", "ssn"]`, and below it `["7", "…"]`.

use std::sync::Arc;

use crate::redact::table::{CELLS, is_head};
use crate::stream::json::{Decoded, JsonToken, Segment, walk};

/// The heads that a line holds; none where it holds anything else.
pub(super) fn line_heads(line: &[u8]) -> Arc<[String]> {
    let (mut heads, mut odd) = (Vec::new(), false);
    let walked = walk(line, &mut |path, leaf| {
        let decoded = Decoded::of(line.get(leaf.span).unwrap_or_default());
        let next = path.len() == 1 && path.last() == Some(Segment::Index(heads.len()));
        odd |= leaf.token != JsonToken::Text || !next || heads.len() >= CELLS || !is_head(decoded.text());
        if !odd {
            heads.push(decoded.text().to_owned());
        }
    });
    if walked.is_ok() && !odd && heads.len() >= 2 { heads.into() } else { Arc::default() }
}

#[cfg(test)]
mod tests {
    use crate::redact::fixture::redactor;
    use crate::redact::{FindingLimits, Keys, Method};
    use crate::stream::json::PathSet;

    fn masked(body: &str) -> String {
        let (which, keys) = (PathSet::everything(), Keys::default());
        let done = redactor(Method::Replace).lines(body.as_bytes(), &which, &keys, FindingLimits::default());
        String::from_utf8(done.unwrap().0.into_value()).unwrap()
    }

    #[test]
    fn cells_in_lines_are_called_by_the_first_line() {
        let body = "[\"id\",\"ssn\"]\n[\"7\",\"536228741\"]\n\n[\"8\",\"536228742\"]\n";
        assert_eq!(masked(body), "[\"id\",\"ssn\"]\n[\"7\",\"<US_SSN>\"]\n\n[\"8\",\"<US_SSN>\"]\n");
        for body in [
            "[\"id\",\"order\"]\n[\"7\",\"536228741\"]\n",
            "[\"7\",\"ssn\"]\n[\"8\",\"536228741\"]\n",
            "[\"id\",7,\"ssn\"]\n[\"7\",\"8\",\"536228741\"]\n",
            "[\"id\",[\"ssn\"]]\n[\"7\",\"536228741\"]\n",
            "[\"id\",\"ssn\"]\n[[\"7\",\"536228741\"]]\n",
            "[\"last_name\",\"password\"]\n",
        ] {
            assert_eq!(masked(body), body);
        }
    }
}
