//! What the columns of a table are called whose rows are lines of JSON: `["id", "ssn"]` or `{"columns": ["id", "ssn"]}`, and below
//! it `["7", "…"]`.

use std::sync::Arc;

use crate::redact::heads::is_member;
use crate::redact::table::{CELLS, FirstRow, is_head};
use crate::stream::json::{Decoded, JsonToken, Segment, walk};

/// The heads that a line holds; none where it holds anything else.
pub(super) fn line_heads(line: &[u8]) -> Arc<[String]> {
    let (mut heads, mut odd) = (Vec::new(), false);
    let walked = walk(line, &mut |path, leaf| {
        // Of an object nothing else than its array of heads counts.
        let depth = match path.segment(0) {
            Some(Segment::Index(_)) => 0,
            Some(Segment::Key(member)) if is_member(member, true) => 1,
            _ => return,
        };
        let decoded = Decoded::of(line.get(leaf.span).unwrap_or_default());
        let next = path.len() == depth + 1 && path.last() == Some(Segment::Index(heads.len()));
        odd |= leaf.token != JsonToken::Text || !next || heads.len() >= CELLS || !is_head(decoded.text());
        if !odd {
            heads.push(decoded.text().to_owned());
        }
    });
    // Whoever calls them heads may have any two.
    let named = line.trim_ascii_start().starts_with(b"{");
    let is_pair =
        !named && matches!(heads.as_slice(), [first, second] if !FirstRow::of(first, second).are_labels());
    if walked.is_ok() && !odd && heads.len() >= 2 && !is_pair { heads.into() } else { Arc::default() }
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
        for heads in [r#"{"columns":["id","ssn"]}"#, r#"{"type":"head","header":["id","ssn"],"n":[1]}"#] {
            let body = format!("{heads}\n[\"7\",\"536228741\"]\n");
            assert_eq!(masked(&body), body.replace("536228741", "<US_SSN>"));
        }
        for body in [
            "{\"columns\":[{\"name\":\"id\"},\"ssn\"]}\n[\"7\",\"536228741\"]\n",
            "{\"tags\":[\"id\",\"ssn\"]}\n[\"7\",\"536228741\"]\n",
            "[\"id\",\"order\"]\n[\"7\",\"536228741\"]\n",
            "[\"7\",\"ssn\"]\n[\"8\",\"536228741\"]\n",
            "[\"id\",7,\"ssn\"]\n[\"7\",\"8\",\"536228741\"]\n",
            "[\"id\",[\"ssn\"]]\n[\"7\",\"536228741\"]\n",
            "[\"id\",\"ssn\"]\n[[\"7\",\"536228741\"]]\n",
            "[\"last_name\",\"password\"]\n",
            "[\"password\",\"reset\"]\n[\"Zk3Jx91Lm\",\"home\"]\n",
        ] {
            assert_eq!(masked(body), body);
        }
    }
}
