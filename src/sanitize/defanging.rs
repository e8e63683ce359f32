//! Edits that defang links, beside those that redact values.

use std::ops::Range;

use crate::sanitize::link;
use crate::sanitize::{Edit, NewText};

/// A target without what browsers leave out before they read it (URL Standard: basic URL parser, steps 1 to 3).
pub(super) fn as_followed(target: &str) -> String {
    let inner = target.trim_matches(|c: char| c <= ' ');
    inner.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect()
}

/// What is to change at a link's front: all of it, or what redactions leave of it.
fn defanged(text: &str, front: &Range<usize>, redactions: &[Edit]) -> Vec<Edit> {
    let mut edits = Vec::new();
    let first = redactions.partition_point(|edit| edit.range.end <= front.start);
    let over = redactions.iter().skip(first).map(|edit| &edit.range);
    let over = over.take_while(|range| range.start < front.end).cloned();
    let mut from = front.start;
    for gone in over.chain(std::iter::once(front.end..front.end)) {
        let part = from..gone.start.max(from);
        let written = text.get(part.clone()).unwrap_or_default();
        let text = link::defang_front(written);
        if text != written {
            edits.push(Edit { range: part, with: NewText { text, ..NewText::default() } });
        }
        from = gone.end;
    }
    edits
}

/// Redactions, and what is to change at links' fronts beside them, in order.
pub(super) fn with_links<'l>(
    text: &str,
    mut redactions: Vec<Edit>,
    fronts: impl Iterator<Item = &'l Range<usize>>,
) -> Vec<Edit> {
    let links: Vec<Edit> = fronts.flat_map(|front| defanged(text, front, &redactions)).collect();
    if redactions.is_empty() {
        return links;
    }
    redactions.extend(links);
    redactions.sort_by_key(|edit| edit.range.start);
    redactions
}
