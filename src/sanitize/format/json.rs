//! JSON, also documents one after another: the texts of its strings, keys and long numbers.

use std::ops::Range;

use crate::edit::spliced_text;
use crate::redact::called;
use crate::sanitize::format::charset;
use crate::sanitize::format::patch::Patches;
use crate::sanitize::format::text::{self, written};
use crate::sanitize::{NamedText, Rejection, Work};
use crate::stream::json::{self, Decoded, JsonToken};

/// Cleans a document. What is not JSON after all is text.
///
/// # Errors
/// The host's; [`Rejection::OverLimit`].
pub(super) fn clean(file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let decoded = charset::of_text(file);
    let doc = decoded.text.as_bytes();
    let Some(leaves) = leaves(&decoded.text) else { return text::clean(file, work) };
    work.items(leaves.len())?;
    let raw = |leaf: &Leaf| doc.get(leaf.span.clone()).unwrap_or_default();
    let read: Vec<Decoded<'_>> = leaves.iter().map(|leaf| Decoded::of(raw(leaf))).collect();
    let texts = leaves.iter().zip(&read);
    let looked =
        |leaf: &Leaf, text| if leaf.token == JsonToken::Number { json::digits_of(text) } else { text };
    let texts: Vec<NamedText<&str>> = texts
        .map(|(leaf, read)| NamedText { name: leaf.name.as_str(), text: looked(leaf, read.text()) })
        .collect();
    let mut patches = Patches::default();
    for ((Leaf { span, token, .. }, read), edits) in leaves.iter().zip(&read).zip(work.named(&texts)?) {
        edits.iter().for_each(|edit| work.applied(edit));
        if *token == JsonToken::Number {
            if !edits.is_empty() {
                let digits = spliced_text(json::digits_of(read.text()), &edits);
                patches.put(span.clone(), json::with_digits(read.text(), &digits));
            }
            continue;
        }
        for edit in edits {
            let within = read.encoded(edit.range);
            let range = span.start.saturating_add(within.start)..span.start.saturating_add(within.end);
            patches.put(range, json::encoded(&edit.with.text));
        }
    }
    Ok(written(file, &decoded, patches))
}

/// Whether a text is JSON, one document or one a line.
pub(in crate::sanitize) fn is_json(text: &str) -> bool {
    leaves(text).is_some()
}

/// A string, a key or a long number.
struct Leaf {
    span: Range<usize>,
    token: JsonToken,
    /// What it is called, if it is a value.
    name: String,
}

fn leaves(text: &str) -> Option<Vec<Leaf>> {
    let mut leaves = Vec::new();
    if walked(text, 0, &mut leaves) {
        return Some(leaves);
    }
    leaves.clear();
    let mut at = 0;
    let mut some = false;
    for line in text.split_inclusive('\n') {
        if !line.trim().is_empty() {
            some = true;
            if !walked(line, at, &mut leaves) {
                return None;
            }
        }
        at = at.saturating_add(line.len());
    }
    some.then_some(leaves)
}

fn walked(doc: &str, at: usize, leaves: &mut Vec<Leaf>) -> bool {
    let see = &mut |path: &json::Path<'_>, leaf: json::Leaf| {
        let span = at.saturating_add(leaf.span.start)..at.saturating_add(leaf.span.end);
        let name = if leaf.token.is_value() { called(path) } else { String::new() };
        leaves.push(Leaf { span, token: leaf.token, name });
    };
    json::walk(doc.as_bytes(), see).is_ok()
}

#[cfg(test)]
mod tests {
    use crate::sanitize::FileKind;
    use crate::sanitize::bench::Bench;

    #[test]
    fn strings_change_and_nothing_else() {
        let mut bench = Bench::redacting("Jane");
        for (json, want) in [
            (
                "{ \"a\" : \"J\\u0061ne\\n\", \"Jane\":[1.0e5,\"http:\\/\\/a.example\\/x\"] }\n",
                "{ \"a\" : \"<N>\\n\", \"<N>\":[1.0e5,\"hxxp://a[.]example\\/x\"] }\n",
            ),
            ("{\"a\":\"x\"}\n\n{\"a\":\"Jane\"}\n", "{\"a\":\"x\"}\n\n{\"a\":\"<N>\"}\n"),
            ("\"Jane\"", "\"<N>\""),
            ("{'a': 'Jane'}", "{'a': '<N>'}"),
            (
                "[1234567,true,null,\"\\ud83d\\ude00\",\"\\ud83d\"]",
                "[1234567,true,null,\"\\ud83d\\ude00\",\"\\ud83d\"]",
            ),
        ] {
            assert_eq!(bench.text(FileKind::Json, json), want, "{json}");
        }
        assert_eq!(Bench::redacting("234").text(FileKind::Json, "[-1234567]"), "[\"-1<N>567\"]");
    }
}
