//! A text in windows, as the model reads it: whole sentences packed to [`WINDOW`] pieces. Short windows cost less and
//! find more than long ones.

use super::wordpiece::Subword;

/// Pieces of a window, without the two that begin and end it.
pub(super) const WINDOW: usize = 64;

/// Pieces that two windows of one over-long sentence share.
const OVERLAP: usize = 16;

/// A window, as a range of the text's pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PieceWindow {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Pieces at its start that the window before tells of.
    pub(super) told: usize,
}

/// The windows of a text. Together they tell of each piece.
pub(super) fn windows(text: &str, pieces: &[Subword]) -> Vec<PieceWindow> {
    let mut packed = Vec::new();
    // Where the open window begins, and where its last whole sentence ends.
    let (mut start, mut last) = (0, 0);
    for (n, pair) in pieces.windows(2).enumerate() {
        let [a, b] = pair else { continue };
        let gap = text.get(a.span.end..b.span.start).unwrap_or_default();
        let paragraph = gap.bytes().filter(|&c| c == b'\n').count() > 1;
        let ends = matches!(text.get(a.span.start..a.span.end), Some("." | "!" | "?" | "。"));
        if !(paragraph || ends && !gap.is_empty()) {
            continue;
        }
        if n + 1 - start > WINDOW && last > start {
            cut(start, last, &mut packed);
            start = last;
        }
        last = n + 1;
        if paragraph {
            cut(start, last, &mut packed);
            start = last;
        }
    }
    if pieces.len() - start > WINDOW && last > start {
        cut(start, last, &mut packed);
        start = last;
    }
    cut(start, pieces.len(), &mut packed);
    packed
}

/// Adds what lies between as one window, or as more that overlap.
fn cut(mut from: usize, to: usize, packed: &mut Vec<PieceWindow>) {
    let mut told = 0;
    while to - from > WINDOW {
        packed.push(PieceWindow { from, to: from + WINDOW, told });
        from += WINDOW - OVERLAP;
        told = OVERLAP / 2;
    }
    if to > from {
        packed.push(PieceWindow { from, to, told });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::wordpiece::WordPiece;
    use super::*;

    proptest! {
        #[test]
        fn windows_tell_of_each_piece_in_order_and_are_no_longer_than_they_may_be(
            text in "([a-c]{1,4}([.!?]|)( |\n\n|\n|)){0,300}"
        ) {
            let vocabulary = WordPiece::read("[UNK]\na\nb\nc\n##a\n##b\n##c\n.\n!\n?\n").unwrap();
            let pieces = vocabulary.pieces(&text);
            let mut told = 0;
            for window in windows(&text, &pieces) {
                prop_assert!(window.to - window.from <= WINDOW && window.from + window.told <= told);
                prop_assert!(window.to > told, "a window tells of something new");
                told = window.to;
            }
            prop_assert_eq!(told, pieces.len());
        }
    }

    #[test]
    fn sentences_are_not_cut_and_paragraphs_part_windows() {
        let vocabulary = WordPiece::read("[UNK]\na\n.\n").unwrap();
        let sentence = format!("{}. ", ["a"; 39].join(" "));
        let text = format!("{sentence}{sentence}a.\n\na");
        let pieces = vocabulary.pieces(&text);
        let ranges: Vec<_> = windows(&text, &pieces).iter().map(|one| (one.from, one.to, one.told)).collect();
        assert_eq!(ranges, [(0, 40, 0), (40, 82, 0), (82, 83, 0)]);
    }
}
