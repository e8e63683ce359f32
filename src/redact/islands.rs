//! [`with_islands`]: what is found in the values of JSON that stands within a text, each under its name: in a sentence, a fence of
//! Markdown, a line of a log. A text that is a document itself is read as one elsewhere.

use std::ops::Range;

use memchr::memchr2;

use crate::base::checkpoint::Stopped;
use crate::detect::{Cache, Detector, Finding, Span};
use crate::redact::document_value::DocumentValue;
use crate::redact::names::Labels;
use crate::redact::opaque::opaque_from;
use crate::stream::json::{Decoded, JsonToken, Leaf, walk};

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
pub(super) fn with_islands(
    detector: &Detector,
    cache: &mut Cache,
    text: &str,
    mut found: Vec<Finding>,
) -> Result<Vec<Finding>, Stopped> {
    let mut more = Vec::new();
    if is_document(text) {
        return Ok(found);
    }
    for island in Islands::of(text) {
        let doc = text.get(island.clone()).unwrap_or_default();
        let within = in_document(detector, cache, doc)?;
        more.extend(within.into_iter().map(|one| {
            let span = Span::new(island.start + one.span.start, island.start + one.span.end);
            Finding { span, ..one }
        }));
    }
    // Both are in order, and what is found in all of the text stands.
    more.retain(|one| {
        let first = found.partition_point(|known| known.span.end <= one.span.start);
        !found.get(first).is_some_and(|known| known.span.overlaps(one.span))
    });
    if !more.is_empty() {
        found.extend(more);
        found.sort_by_key(|one| one.span.start);
    }
    Ok(found)
}

/// What is found in the values of a document, each under its name.
fn in_document(detector: &Detector, cache: &mut Cache, doc: &str) -> Result<Vec<Finding>, Stopped> {
    let (mut labels, mut more, mut outcome) = (Labels::default(), Vec::new(), Ok(()));
    // It has been walked through before.
    let _faults = walk(doc.as_bytes(), &mut |path, Leaf { span, token }| {
        let held = doc.get(span.clone()).unwrap_or_default();
        if token != JsonToken::Text || held.is_empty() || held.len() > VALUE {
            return;
        }
        let at = DocumentValue::new(doc.as_bytes(), path, &span);
        if opaque_from(held, || labels.named(at)).is_some() {
            return;
        }
        let Some(label) = labels.of(at) else { return };
        let decoded = Decoded::of(held.as_bytes());
        let within = outcome.and_then(|()| detector.try_find_with(cache, Some(label), decoded.text()));
        outcome = within.as_ref().map(|_| ()).map_err(|stopped| *stopped);
        more.extend(within.unwrap_or_default().into_iter().map(|one| {
            let range = decoded.encoded(one.span.start..one.span.end);
            let span = Span::new(span.start + range.start, span.start + range.end);
            Finding { span, near: None, ..one }
        }));
    });
    outcome.map(|()| more)
}

/// The documents in a text, one behind the other.
struct Islands<'t> {
    text: &'t str,
    /// Where to look on.
    at: usize,
    /// How much more may be read.
    left: usize,
}

impl<'t> Islands<'t> {
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

impl Iterator for Islands<'_> {
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
fn is_document(text: &str) -> bool {
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
        let found = with_islands(&detector, &mut cache, text, known).unwrap();
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
            // All of it is one, which is read elsewhere.
            (r#"{"pw":"Xk9!mQ7zLw2p"}"#, vec![]),
        ] {
            assert_eq!(found(text), values, "{text}");
        }
    }

    #[test]
    fn the_look_for_documents_is_bounded() {
        let text = "{\"a\":".repeat(50_000);
        let mut islands = Islands::of(&text);
        assert!(islands.next().is_none() && islands.left == 0);
    }
}
