//! [`Patches`] on a file's bytes, and [`SpelledText`]: decoded text with the way back to the bytes that spell it. What
//! no patch covers leaves as it came.

use std::ops::Range;

use crate::edit::{self, SourceMap};
use crate::sanitize::Edit;

/// Changes to a file's bytes.
#[derive(Debug, Default)]
pub(super) struct Patches(Vec<edit::Edit>);

impl Patches {
    /// Writes `with` in place of these bytes.
    pub(super) fn put(&mut self, range: Range<usize>, with: impl Into<String>) {
        self.0.push(edit::Edit { range, with: with.into() });
    }

    /// Takes these bytes out.
    pub(super) fn cut(&mut self, range: Range<usize>) {
        self.put(range, "");
    }

    /// Whether nothing changes.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts an edit of a text where the text is spelled; `spell` writes the file's way.
    pub(super) fn edit(&mut self, text: &SpelledText, edit: &Edit, spell: impl Fn(&str) -> String) {
        let mut with = spell(&edit.with.text);
        for range in text.map.pieces(edit.range.clone()) {
            self.put(range, std::mem::take(&mut with));
        }
    }

    /// The same, where what is taken out has to leave something, too.
    pub(super) fn edit_each(&mut self, text: &SpelledText, edit: &Edit, spell: impl Fn(&str) -> String) {
        let mut with = edit.with.text.as_str();
        for range in text.map.pieces(edit.range.clone()) {
            self.put(range, spell(with));
            with = "";
        }
    }

    /// The bytes with all changes made. Where two touch the same bytes, the one that begins first stands, and all
    /// that either covers is gone.
    pub(super) fn apply(self, file: &[u8]) -> Vec<u8> {
        edit::spliced(file, &edit::settled(self.0))
    }
}

/// How much text runs on from one paragraph to the next, in bytes.
const FLOW: usize = 1 << 20;

/// Text as it reads, and where the file spells it. Pieces come in the order of the file.
#[derive(Debug, Default)]
pub(super) struct SpelledText {
    text: String,
    map: SourceMap,
}

impl SpelledText {
    /// A piece that stands in the file as it reads.
    pub(super) fn plain(&mut self, raw: usize, piece: &str) {
        if !piece.is_empty() {
            self.leave_out(raw);
            self.map.plain(piece.len());
            self.text.push_str(piece);
        }
    }

    /// A piece that the file spells in another way.
    pub(super) fn escape(&mut self, raw: Range<usize>, decoded: &str) {
        if !decoded.is_empty() {
            self.leave_out(raw.start);
            self.map.spelled(decoded.len(), raw.end.saturating_sub(raw.start));
            self.text.push_str(decoded);
        }
    }

    /// A line ends at `raw` for whoever reads it, which no byte of the file says.
    pub(super) fn end_line(&mut self, raw: usize) {
        if !(self.text.is_empty() || self.text.ends_with('\n')) {
            self.escape(raw..raw, "\n");
        }
    }

    /// Whether it is as long as text may run on: the next paragraph is another text.
    pub(super) fn is_full(&self) -> bool {
        self.text.len() >= FLOW
    }

    /// What it reads.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Where the file spells what begins at `at`.
    pub(super) fn place(&self, at: usize) -> usize {
        self.map.floor(at)
    }

    /// What lies between the pieces is no part of the text.
    fn leave_out(&mut self, raw: usize) {
        debug_assert!(raw >= self.map.source_end(), "pieces come in the order of the file");
        let between = raw.saturating_sub(self.map.source_end());
        if between > 0 {
            self.map.spelled(0, between);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitize::NewText;

    #[test]
    fn an_edit_reaches_all_bytes_that_spell_it() {
        // `Ja&#110;<b>e D</b>oe`
        let file = b"Ja&#110;<b>e D</b>oe";
        let mut text = SpelledText::default();
        text.plain(0, "Ja");
        text.escape(2..8, "n");
        text.plain(11, "e D");
        text.plain(18, "oe");
        assert_eq!(text.text(), "Jane Doe");
        let edit = |range| Edit { range, with: NewText { text: "X".to_owned(), ..NewText::default() } };
        for (range, want) in [
            (0..4, "X<b> D</b>oe"),
            (0..8, "X<b></b>"),
            (2..3, "JaX<b>e D</b>oe"),
            (4..5, "Ja&#110;<b>eXD</b>oe"),
            (6..8, "Ja&#110;<b>e D</b>X"),
            (5..7, "Ja&#110;<b>e X</b>e"),
        ] {
            let mut patches = Patches::default();
            patches.edit(&text, &edit(range), str::to_owned);
            assert_eq!(String::from_utf8(patches.apply(file)).expect("text"), want);
        }
    }
}
