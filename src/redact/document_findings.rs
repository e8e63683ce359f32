//! What is found in the values of a document of JSON, each under the names that it has there.

use crate::base::checkpoint::Stopped;
use crate::detect::{Cache, Detector, Finding, Span};
use crate::redact::document_value::DocumentValue;
use crate::redact::names::Labels;
use crate::redact::opaque::opaque_from;
use crate::stream::json::{Decoded, JsonToken, Leaf, walk};

/// What is found in a document.
pub(super) struct DocumentFindings {
    pub(super) found: Vec<Finding>,
    /// Where bytes stand, in which nothing stands but by chance.
    pub(super) bytes: Vec<Span>,
}

impl DocumentFindings {
    /// What is found in the values of `doc` that `reads` takes, in order; `None` if it is no document.
    ///
    /// # Errors
    /// The detector's checkpoint said so.
    pub(super) fn of(
        detector: &Detector,
        cache: &mut Cache,
        doc: &str,
        reads: impl Fn(JsonToken, &str) -> bool,
    ) -> Result<Option<Self>, Stopped> {
        let (mut labels, mut outcome) = (Labels::default(), Ok(()));
        let mut all = Self { found: Vec::new(), bytes: Vec::new() };
        let walked = walk(doc.as_bytes(), &mut |path, Leaf { span, token }| {
            let held = doc.get(span.clone()).unwrap_or_default();
            let at = DocumentValue::new(doc.as_bytes(), path, &span);
            let from = if token == JsonToken::Text { opaque_from(held, || labels.named(at)) } else { None };
            if let Some(from) = from {
                all.bytes.push(Span::new(span.start + from, span.end));
                return;
            }
            let Some(label) = labels.of(at).filter(|_| reads(token, held)) else { return };
            let decoded = Decoded::of(held.as_bytes());
            let within = outcome.and_then(|()| detector.try_find_with(cache, Some(label), decoded.text()));
            outcome = within.as_ref().map(|_| ()).map_err(|stopped| *stopped);
            all.found.extend(within.unwrap_or_default().into_iter().map(|one| {
                let range = decoded.encoded(one.span.start..one.span.end);
                let span = Span::new(span.start + range.start, span.start + range.end);
                Finding { span, near: None, ..one }
            }));
        });
        outcome.map(|()| walked.is_ok().then_some(all))
    }
}

/// Both in order: of `more`, what overlaps nothing that was `found`.
pub(super) fn with_more(mut found: Vec<Finding>, mut more: Vec<Finding>) -> Vec<Finding> {
    more.retain(|one| {
        let first = found.partition_point(|known| known.span.end <= one.span.start);
        !found.get(first).is_some_and(|known| known.span.overlaps(one.span))
    });
    if !more.is_empty() {
        found.extend(more);
        found.sort_by_key(|one| one.span.start);
    }
    found
}
