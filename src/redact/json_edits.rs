//! Edits of the strings and numbers of a document, as its bytes spell them.

use std::ops::Range;

use crate::edit::{Edit, spliced};
use crate::stream::json::{Decoded, digits_of, with_digits};

/// The edits of a string that is spelled so at `span`, as `see` has them of its text, each written as `spell` says beside what
/// spells its place.
pub(super) fn string(
    spelled: &[u8],
    span: Range<usize>,
    spell: fn(&str, &str) -> String,
    see: impl FnOnce(&str) -> Vec<Edit>,
) -> impl Iterator<Item = Edit> {
    let decoded = Decoded::of(spelled);
    let edits: Vec<Edit> = see(decoded.text())
        .into_iter()
        .map(|edit| {
            let there = spelled.get(decoded.encoded(edit.range.clone())).unwrap_or_default();
            let there = std::str::from_utf8(there).unwrap_or_default();
            edit.through(decoded.map(), |with| spell(there, &with)).behind(span.start)
        })
        .collect();
    edits.into_iter()
}

/// The edit of one number; what is no number any more becomes a string.
pub(super) fn number(
    spelled: &[u8],
    span: Range<usize>,
    see: impl FnOnce(&str) -> Vec<Edit>,
) -> Option<Edit> {
    let text = std::str::from_utf8(spelled).unwrap_or_default();
    let digits = digits_of(text);
    let edits = see(digits);
    let edited = spliced(digits.as_bytes(), &edits);
    let with = || with_digits(text, &String::from_utf8_lossy(&edited));
    (!edits.is_empty()).then(|| Edit { range: span, with: with() })
}
