//! Edits applied. What no edit covers stays as it is.

use std::ops::Range;

use super::change::Edit;

/// Bytes that need not lie together.
pub trait Pieces {
    /// Gives the bytes of `range` to `put`, in order.
    fn copy(&self, range: Range<usize>, put: &mut dyn FnMut(&[u8]));
}

impl Pieces for [u8] {
    fn copy(&self, range: Range<usize>, put: &mut dyn FnMut(&[u8])) {
        if let Some(piece) = self.get(range).filter(|piece| !piece.is_empty()) {
            put(piece);
        }
    }
}

/// Gives `range` to `put` with `edits`, which are in order, applied. Where two overlap, the second begins where the
/// first ends.
pub fn splice<T: AsRef<str>>(
    bytes: &(impl Pieces + ?Sized),
    range: Range<usize>,
    edits: &[Edit<T>],
    put: &mut dyn FnMut(&[u8]),
) {
    let (mut at, to) = (range.start, range.end);
    for edit in edits {
        bytes.copy(at..edit.range.start.clamp(at, to), put);
        put(edit.with.as_ref().as_bytes());
        at = at.max(edit.range.end.min(to));
    }
    bytes.copy(at..to, put);
}

/// All of `bytes` with `edits` applied.
pub fn spliced<T: AsRef<str>>(bytes: &[u8], edits: &[Edit<T>]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    splice(bytes, 0..bytes.len(), edits, &mut |piece| out.extend_from_slice(piece));
    out
}

/// All of `text` with `edits` applied.
pub fn spliced_text<T: AsRef<str>>(text: &str, edits: &[Edit<T>]) -> String {
    let bytes = spliced(text.as_bytes(), edits);
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Edits that came in any order, in order and apart from each other. Of those that touch the same bytes the one that
/// begins first stands (of two that begin together, the longer), and all that any of them covers is gone.
pub fn settled<T>(mut edits: Vec<Edit<T>>) -> Vec<Edit<T>> {
    edits.sort_by_key(|edit| (edit.range.start, std::cmp::Reverse(edit.range.end)));
    edits.dedup_by(|edit, before| {
        let touches = edit.range.start < before.range.end;
        if touches {
            before.range.end = before.range.end.max(edit.range.end);
        }
        touches
    });
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_replace_their_ranges_and_nothing_else() {
        let edit = |range, with: &str| Edit { range, with: with.to_owned() };
        let cases: [(&[Edit], &str); 4] = [
            (&[], "abcdef"),
            (&[edit(1..3, "<>"), edit(3..3, "+"), edit(5..6, "")], "a<>+de"),
            (&[edit(0..9, "x")], "x"),
            (&[edit(1..4, "1"), edit(2..5, "2")], "a12f"),
        ];
        for (edits, expected) in cases {
            assert_eq!(spliced(b"abcdef", edits).escape_ascii().to_string(), expected);
            assert_eq!(spliced_text("abcdef", edits), expected);
        }
    }

    #[test]
    fn what_is_covered_twice_is_gone_once() {
        let edit = |range, with: &str| Edit { range, with: with.to_owned() };
        let cases: [(&[Edit], &str); 4] = [
            (&[edit(2..5, "b"), edit(0..3, "a"), edit(4..6, ""), edit(6..6, "c")], "ac6789"),
            (&[edit(1..2, "in"), edit(0..4, "all")], "all456789"),
            (&[edit(3..3, "x"), edit(3..3, "y"), edit(1..3, "-")], "0-xy3456789"),
            (&[edit(0..4, "a"), edit(1..2, "b"), edit(3..5, "c")], "a56789"),
        ];
        for (edits, expected) in cases {
            assert_eq!(spliced_text("0123456789", &settled(edits.to_vec())), expected);
        }
    }
}
