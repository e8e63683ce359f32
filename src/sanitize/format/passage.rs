//! [`Passage`]: text that is read as one and stands in pieces: the runs of paragraphs. Its edits are made on the pieces,
//! which keep their formatting: what is written in place of a finding stands where the finding began.

use std::collections::HashMap;
use std::hash::Hash;

use crate::edit::spliced_text;
use crate::sanitize::column::head;
use crate::sanitize::format::xml_editor::XmlEditor;
use crate::sanitize::format::xml_tree::{ByteSpan, Tree, TreeAttribute};
use crate::sanitize::{Edit, NamedText, Rejection, Work};

/// How much text is asked about at once, in bytes.
const BATCH: usize = 4 << 20;

/// How many pieces of text run on from one paragraph to the next.
const PIECES: usize = 1 << 14;

/// Where a piece stands, and with that, how it is changed.
#[derive(Clone, Copy, Debug)]
pub(super) enum PiecePlace<'t> {
    /// The characters of an element.
    Chars(usize, ByteSpan),
    /// An attribute.
    Value(TreeAttribute<'t>),
    /// An element that reads as these characters, and that goes with a finding around it: a tab, a line break.
    Mark(usize),
    /// The end of a line that no element says: between paragraphs.
    Break,
    /// An element that can hold nothing else, and goes with what is found in it: a date, a number. Also a comment.
    Whole(usize),
    /// A comment or an instruction.
    Remark(ByteSpan),
    /// Something that only its format can change.
    Own(usize, ByteSpan),
}

/// A piece of text.
#[derive(Debug)]
pub(super) struct TextPiece<'t> {
    /// Where it stands.
    pub(super) place: PiecePlace<'t>,
    /// What it reads as.
    pub(super) text: String,
}

/// A text in pieces.
#[derive(Debug, Default)]
pub(super) struct Passage<'t> {
    /// In the order of reading.
    pub(super) pieces: Vec<TextPiece<'t>>,
    /// What the column is called that it stands in, if it is a table's cell.
    pub(super) head: String,
}

impl<'t> Passage<'t> {
    /// A text in one piece.
    pub(super) fn one(place: PiecePlace<'t>, text: String) -> Self {
        Self { pieces: vec![TextPiece { place, text }], head: String::new() }
    }

    /// Adds a piece.
    pub(super) fn push(&mut self, place: PiecePlace<'t>, text: impl Into<String>) {
        self.pieces.push(TextPiece { place, text: text.into() });
    }

    /// Another paragraph begins: the text goes on in another line.
    fn end_line(&mut self) {
        if self.pieces.last().is_some_and(|last| !last.text.ends_with('\n')) {
            self.push(PiecePlace::Break, "\n");
        }
    }

    fn text(&self) -> String {
        self.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }

    fn is_blank(&self) -> bool {
        self.pieces.iter().all(|piece| piece.text.trim().is_empty())
    }
}

/// Texts that run on from one paragraph to the next, each told apart from the others by where its paragraphs are.
#[derive(Debug)]
pub(super) struct Flows<'t, K> {
    passages: Vec<Passage<'t>>,
    /// Of each text its last passage, and the last paragraph in it.
    last: HashMap<K, (usize, usize)>,
}

impl<'t, K: Eq + Hash> Flows<'t, K> {
    /// No text.
    pub(super) fn new() -> Self {
        Self { passages: Vec::new(), last: HashMap::new() }
    }

    /// A piece of a paragraph comes next in a text. Another paragraph than before goes on in another line.
    pub(super) fn push(
        &mut self,
        text: K,
        paragraph: usize,
        place: PiecePlace<'t>,
        reads: impl Into<String>,
    ) {
        let next = self.passages.len();
        let (passage, before) = self.last.entry(text).or_insert((next, paragraph));
        let begins = std::mem::replace(before, paragraph) != paragraph;
        match self.passages.get_mut(*passage).filter(|known| !(begins && known.pieces.len() >= PIECES)) {
            Some(known) => {
                if begins {
                    known.end_line();
                }
                known.push(place, reads);
            }
            None => {
                *passage = next;
                self.passages.push(Passage::one(place, reads.into()));
            }
        }
    }

    /// All passages, in the order in which they begin.
    pub(super) fn passages(self) -> Vec<Passage<'t>> {
        self.passages
    }
}

/// What holds the paragraphs that are read one after the other: a text's body, a cell, a shape. Elements called as in
/// `through` part none.
pub(super) fn around(tree: &Tree, paragraph: usize, through: &[&str]) -> usize {
    tree.ancestors(paragraph).find(|around| !through.contains(&tree.name(*around))).unwrap_or(paragraph)
}

/// A piece and what is to change in its text.
#[derive(Debug)]
pub(super) struct PassageChange<'p, 't> {
    /// The piece.
    pub(super) piece: &'p TextPiece<'t>,
    /// In order, apart from each other.
    pub(super) edits: Vec<crate::edit::Edit>,
}

impl PassageChange<'_, '_> {
    /// The piece's text with its edits made.
    pub(super) fn text(&self) -> String {
        spliced_text(&self.piece.text, &self.edits)
    }
}

/// Has the passages looked at, and makes the edits; those of [`PiecePlace::Own`] by `own`.
///
/// # Errors
/// The host's.
pub(super) fn redact<'t>(
    passages: &[Passage<'t>],
    tree: &'t Tree,
    editor: &mut XmlEditor<'t>,
    work: &mut Work<'_>,
    mut own: impl FnMut(&PassageChange<'_, 't>, &mut XmlEditor<'t>),
) -> Result<(), Rejection> {
    let mut rest = passages;
    while !rest.is_empty() {
        let mut size = 0_usize;
        let fits = |passage: &&Passage<'_>| {
            size = passage.pieces.iter().fold(size, |size, piece| size.saturating_add(piece.text.len()));
            size < BATCH
        };
        let count = rest.iter().take_while(fits).count().max(1);
        let (batch, more) = rest.split_at(count.min(rest.len()));
        rest = more;
        let batch: Vec<&Passage<'_>> = batch.iter().filter(|passage| !passage.is_blank()).collect();
        let texts: Vec<String> = batch.iter().map(|passage| passage.text()).collect();
        let named = batch.iter().zip(&texts);
        let named = named.map(|(passage, text)| NamedText { name: head(&passage.head), text: text.as_str() });
        let edits = work.named(&named.collect::<Vec<_>>())?;
        for (passage, edits) in batch.into_iter().zip(edits) {
            edits.iter().for_each(|edit| work.applied(edit));
            for change in changes(passage, &edits) {
                make(&change, tree, editor, &mut own);
            }
        }
    }
    Ok(())
}

/// The edits of a passage as changes to its pieces.
fn changes<'p, 't>(passage: &'p Passage<'t>, edits: &[Edit]) -> Vec<PassageChange<'p, 't>> {
    if edits.is_empty() {
        return Vec::new();
    }
    let mut written = vec![false; edits.len()];
    let (mut from, mut out) = (0_usize, Vec::new());
    for piece in &passage.pieces {
        let to = from.saturating_add(piece.text.len());
        let mark = matches!(piece.place, PiecePlace::Mark(_) | PiecePlace::Break);
        let mut own = Vec::new();
        let first = edits.partition_point(|edit| edit.range.end <= from);
        for (edit, written) in edits.iter().zip(&mut written).skip(first) {
            let (start, end) = (edit.range.start.max(from), edit.range.end.min(to));
            if edit.range.start >= to {
                break;
            }
            if start >= end {
                continue;
            }
            let fresh = !mark && !std::mem::replace(written, *written || !mark);
            let with = if fresh { edit.with.text.clone() } else { String::new() };
            let range = start.saturating_sub(from)..end.saturating_sub(from);
            own.push(crate::edit::Edit { range, with });
        }
        if !own.is_empty() {
            out.push(PassageChange { piece, edits: own });
        }
        from = to;
    }
    out
}

fn make<'t>(
    change: &PassageChange<'_, 't>,
    tree: &'t Tree,
    editor: &mut XmlEditor<'t>,
    own: &mut impl FnMut(&PassageChange<'_, 't>, &mut XmlEditor<'t>),
) {
    match change.piece.place {
        PiecePlace::Chars(at, span) => {
            let text = change.text();
            editor.set_text(span, &text);
            // Blanks at the ends of these are dropped without it (ECMA-376 part 1, 22.9.2.19 and 17.3.3.31).
            let blanks = matches!(tree.name(at), "t" | "delText" | "instrText" | "delInstrText")
                && text.trim() != text
                && tree.attribute(at, "space").is_none();
            if blanks {
                editor.add_attribute(at, "xml:space", "preserve");
            }
        }
        PiecePlace::Value(attribute) => editor.set_attribute(&attribute, &change.text()),
        PiecePlace::Mark(at) | PiecePlace::Whole(at) => {
            editor.cut(at);
        }
        PiecePlace::Remark(span) => editor.set_markup(span, String::new()),
        PiecePlace::Break => {}
        PiecePlace::Own(..) => own(change, editor),
    }
}

/// Whether anything can be found in a text: a word, or a number of some length.
pub(super) fn is_worth(text: &str) -> bool {
    let (mut letters, mut digits) = (0_usize, 0_usize);
    for c in text.chars() {
        letters = letters.saturating_add(usize::from(c.is_alphabetic() || c == '@'));
        digits = digits.saturating_add(usize::from(c.is_ascii_digit()));
    }
    letters >= 2 || digits >= 5
}

/// Comments and instructions.
pub(super) fn remarks<'t>(tree: &'t Tree) -> Vec<Passage<'t>> {
    let worth = |span: &&ByteSpan| is_worth(tree.slice(**span));
    let passage = |span: &ByteSpan| Passage::one(PiecePlace::Remark(*span), tree.slice(*span).to_owned());
    tree.remarks().iter().filter(worth).map(passage).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(flows: Flows<'_, u8>) -> Vec<String> {
        flows.passages().iter().map(Passage::text).collect()
    }

    #[test]
    fn text_runs_on_in_its_own_paragraphs() {
        let mut flows = Flows::new();
        for (text, paragraph, piece) in
            [(0, 1, "a"), (1, 2, "in"), (0, 1, "b"), (0, 3, "c\n"), (1, 4, "side"), (0, 5, "d")]
        {
            flows.push(text, paragraph, PiecePlace::Break, piece);
        }
        assert_eq!(read(flows), ["ab\nc\nd", "in\nside"]);
    }

    #[test]
    fn no_passage_grows_without_bound() {
        let mut flows = Flows::new();
        for paragraph in 0..PIECES {
            flows.push(0, paragraph, PiecePlace::Break, "x");
        }
        let read = read(flows);
        assert_eq!(read.iter().map(|text| text.matches('x').count()).sum::<usize>(), PIECES);
        assert_eq!(read.len(), 2);
    }

    #[test]
    fn what_is_found_across_a_break_is_written_once() {
        let passage = Passage {
            pieces: [("12", PiecePlace::Whole(1)), ("\n", PiecePlace::Break)]
                .into_iter()
                .chain([("34 x", PiecePlace::Whole(2))])
                .map(|(text, place)| TextPiece { place, text: text.to_owned() })
                .collect(),
            head: String::new(),
        };
        let with = crate::sanitize::NewText { text: "N".to_owned(), ..Default::default() };
        let changes = changes(&passage, &[Edit { range: 0..5, with }]);
        let texts: Vec<String> = changes.iter().map(PassageChange::text).collect();
        assert_eq!(texts, ["N", "", " x"]);
    }
}
