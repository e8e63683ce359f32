//! [`with_inline_documents`]: what is found in the values of JSON that stands within a text, each under its name: in a sentence, a fence of
//! Markdown, a line of a log. Not for a text that is a document itself, which is read as one.

use std::ops::Range;

use memchr::memchr2;

use crate::base::checkpoint::Stopped;
use crate::detect::{Cache, Detector, Finding, Span};
use crate::redact::document_findings::{DocumentFindings, with_more};
use crate::stream::json::{JsonToken, walk};

/// The longest document that is looked for, and the longest value of it, in bytes.
const LONGEST: usize = 64 << 10;
const VALUE: usize = 1 << 10;
/// How much is read for all documents of a text: so many times its bytes, and so much at least.
const SHARE: usize = 2;
const LEAST: usize = 4 << 10;
/// The most blanks behind the bracket that opens one, in bytes.
const BLANKS: usize = 64;

/// What was `found` in a text, with what is found in the documents that stand in it.
///
/// # Errors
/// The detector's checkpoint said so.
pub(super) fn with_inline_documents(
    detector: &Detector,
    cache: &mut Cache,
    text: &str,
    found: Vec<Finding>,
) -> Result<Vec<Finding>, Stopped> {
    let mut more = Vec::new();
    for range in InlineDocuments::of(text) {
        let doc = text.get(range.clone()).unwrap_or_default();
        let reads = |token, held: &str| token == JsonToken::Text && !held.is_empty() && held.len() <= VALUE;
        let within = DocumentFindings::of(detector, cache, doc, reads)?.map(|within| within.found);
        more.extend(within.unwrap_or_default().into_iter().map(|one| {
            let span = Span::new(range.start + one.span.start, range.start + one.span.end);
            Finding { span, ..one }
        }));
    }
    Ok(with_more(found, more))
}

/// The documents in a text, one behind the other.
struct InlineDocuments<'t> {
    text: &'t str,
    /// Where to look on.
    at: usize,
    /// How much more may be read.
    left: usize,
}

impl<'t> InlineDocuments<'t> {
    const fn of(text: &'t str) -> Self {
        Self { text, at: 0, left: text.len().saturating_mul(SHARE).saturating_add(LEAST) }
    }

    /// Where the document ends that begins at `start`, if its brackets close.
    fn end(&mut self, start: usize) -> Option<usize> {
        let bytes = self.text.as_bytes().get(start..)?;
        let most = bytes.len().min(LONGEST).min(self.left);
        let (mut depth, mut quoted, mut at) = (0_usize, false, 0);
        while at < most {
            match (bytes.get(at)?, quoted) {
                (b'\\', true) => at += 1,
                (b'"', _) => quoted = !quoted,
                (b'\n', true) => break,
                (b'{' | b'[', false) => depth += 1,
                (b'}' | b']', false) => depth = depth.saturating_sub(1),
                _ => {}
            }
            at += 1;
            if depth == 0 {
                self.left -= at.min(self.left);
                return Some(start + at);
            }
        }
        self.left -= at.min(self.left);
        None
    }
}

impl Iterator for InlineDocuments<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        loop {
            let rest = self.text.as_bytes().get(self.at..)?;
            let start = self.at + memchr2(b'{', b'[', rest)?;
            self.at = start + 1;
            if !opens(self.text, start) {
                continue;
            }
            let Some(end) = self.end(start) else { continue };
            let doc = self.text.get(start..end)?;
            if is_document(doc) {
                self.at = end;
                return Some(start..end);
            }
        }
    }
}

/// Whether all of a text is an object or a list in JSON.
pub(super) fn is_document(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && walk(text.as_bytes(), &mut |_, _| {}).is_ok()
}

/// Whether a document with names may begin with the bracket at `start`: a name, or a list, stands behind it.
fn opens(text: &str, start: usize) -> bool {
    let bytes = text.as_bytes().get(start..).unwrap_or_default();
    let behind = bytes.iter().skip(1).take(BLANKS).find(|byte| !byte.is_ascii_whitespace());
    match bytes.first() {
        Some(b'{') => behind == Some(&b'"'),
        _ => matches!(behind, Some(b'"' | b'{' | b'[')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::fixture;

    fn found(text: &str) -> Vec<String> {
        let detector = fixture::detector();
        let (mut cache, known) = (detector.cache(), detector.find(text));
        let found = with_inline_documents(&detector, &mut cache, text, known).unwrap();
        let value = |one: &Finding| text.get(one.span.start..one.span.end).unwrap().to_owned();
        found.iter().map(value).collect()
    }

    #[test]
    fn values_of_documents_within_a_text_are_read_under_their_names() {
        for (text, values) in [
            (r#"Config: {"pw":"Xk9!mQ7zLw2p"} thanks"#, vec!["Xk9!mQ7zLw2p"]),
            ("See\n```json\n{\"pw\":\n \"Xk9!mQ7zLw2p\"}\n```\n", vec!["Xk9!mQ7zLw2p"]),
            (r#"put {"Name":"/prod/db/password","Value":"Xk9!mQ7zLw2p"} there"#, vec!["Xk9!mQ7zLw2p"]),
            (
                r#"patch [{"op":"replace","path":"/users/1/password","value":"Xk9!mQ7zLw2p"}] it"#,
                vec!["Xk9!mQ7zLw2p"],
            ),
            (
                r#"the rows {"columns":["id","ssn"],"rows":[["7","536228741"],["8","536228742"]]} are"#,
                vec!["536228741", "536228742"],
            ),
            (
                "{\"ts\":1,\"pw\":\"Xk9!mQ7zLw2p\"}\n{\"ts\":2,\"pw\":\"Hq8?mmrtX2\"}\n",
                vec!["Xk9!mQ7zLw2p", "Hq8?mmrtX2"],
            ),
            ("if (x) { return {\"pw\":\"Xk9!mQ7zLw2p\"}; }", vec!["Xk9!mQ7zLw2p"]),
            (r#"Config: {"pw":"none","x":["a"]} thanks"#, vec![]),
            (r#"Config: {"pw":"Xk9!mQ7zLw2p" thanks"#, vec![]),
            (r#"Config: {"label":"Xk9!mQ7zLw2p"} thanks"#, vec![]),
        ] {
            assert_eq!(found(text), values, "{text}");
        }
    }

    #[test]
    fn the_look_for_documents_is_bounded() {
        let text = "{\"a\":".repeat(50_000);
        let mut documents = InlineDocuments::of(&text);
        assert!(documents.next().is_none() && documents.left == 0);
    }
}
