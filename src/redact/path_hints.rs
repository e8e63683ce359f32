//! [`PathHints`]: what the names on the way to the strings of a carrier say of them. A carrier shows its texts in the same order
//! each time, so its first visit alone asks for labels.

use crate::redact::opaque::PathHint;

/// Hints of strings, in the order in which they are asked for.
#[derive(Debug, Default)]
pub(super) struct PathHints {
    hints: Vec<PathHint>,
    /// The number of the next one, where they are known from the visit before.
    known: Option<usize>,
}

impl PathHints {
    /// Another visit begins, in which labels are wanted or not. Without them, hints are those of the visit before.
    pub(super) fn begin(&mut self, labels: bool) {
        if labels {
            self.hints.clear();
        }
        self.known = (!labels).then_some(0);
    }

    /// Whether labels are wanted in this visit.
    pub(super) fn want_labels(&self) -> bool {
        self.known.is_none()
    }

    /// The hint of the next string, which follows from its labels.
    pub(super) fn of(&mut self, labelled: impl FnOnce() -> PathHint) -> PathHint {
        if let Some(next) = &mut self.known {
            let hint = self.hints.get(*next).copied().unwrap_or_default();
            *next += 1;
            return hint;
        }
        let hint = labelled();
        self.hints.push(hint);
        hint
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::redact::carrier::{Carrier, TextChanges};
    use crate::redact::opaque::ScanMode;
    use crate::redact::{Content, FindingLimits};
    use crate::stream::json::PathSet;

    /// The smallest picture.
    const PICTURE: &str =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

    /// A text as a visit shows it, how it is looked through, and whether it has a label.
    type ShownText = (String, ScanMode, bool);

    fn shown(carrier: &mut dyn Carrier<Written = Vec<u8>>, labels: bool) -> Vec<ShownText> {
        let mut shown = Vec::new();
        carrier.prepare(labels);
        let visited = carrier.visit(&mut |text| {
            shown.push((text.part.text.to_owned(), text.part.look, text.label.is_some()));
            TextChanges::new()
        });
        visited.unwrap();
        shown
    }

    #[test]
    fn labels_are_asked_for_in_the_first_visit_and_texts_are_the_same_in_all() {
        let inner = serde_json::json!({"env": [{"name": "API_TOKEN", "value": PICTURE}], "b": PICTURE});
        let inner = inner.to_string();
        let document = serde_json::json!({
            "a": PICTURE,
            "env": [{"name": "DB_PASSWORD", "value": PICTURE}, {"name": "ssn", "value": "536228741"}],
            "in": inner,
            "ssn": 536_228_741,
        });
        let document = document.to_string();
        let everything = || Arc::new(PathSet::everything());
        for (content, body) in [
            (Content::Document(everything()), document.clone()),
            (Content::Lines(everything()), format!("{document}\n{document}\n")),
            (Content::Events, format!("data: {document}\n\ndata: {document}\n\n")),
            (Content::Form, format!("a={PICTURE}&password={PICTURE}&in={inner}").replace('+', "%2B")),
        ] {
            let mut carrier = content.carrier(body.as_bytes(), FindingLimits::default()).unwrap();
            let first = shown(&mut carrier, true);
            for look in [ScanMode::Not, ScanMode::Text] {
                assert!(first.iter().any(|(text, own, _)| text == PICTURE && *own == look), "{content:?}");
            }
            assert!(first.iter().any(|(_, _, labelled)| *labelled), "{content:?}");
            let first = first.into_iter().map(|(text, look, _)| (text, look, false));
            let unlabelled: Vec<ShownText> = first.collect();
            for _ in 0..2 {
                assert_eq!(shown(&mut carrier, false), unlabelled, "{content:?}");
            }
        }
    }
}
