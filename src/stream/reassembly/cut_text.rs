//! [`CutText`]: the text at one place over the documents of a stream, and where what an editor replaces is cut in it.

use std::ops::Range;
use std::sync::Arc;

use crate::stream::reassembly::place::{TellingMember, hashed};
use crate::stream::{Edit, Editor, StreamError};

/// A string that repeats so much of the one before and goes on is one that grows, in bytes; of two in a row less is enough.
const REPEATED: usize = 16;
const REPEATED_TWICE: usize = 4;
/// A string that is the one before is no piece of a text if it is so long, in bytes, or has been the same so often.
const SAME: usize = 8;
const SAME_AGAIN: usize = 16;

/// Makes an editor for a text of its own.
pub(super) type FreshEditor<'f> = &'f dyn Fn() -> Option<Box<dyn Editor>>;

/// A piece of a text that has come.
pub(super) struct ComingPiece<'p> {
    /// In which document.
    pub(super) unit: u64,
    /// In which string of it.
    pub(super) string: usize,
    pub(super) text: &'p str,
    /// Whether its document may wait for what follows.
    pub(super) may_wait: bool,
}

/// A piece of a text, in a document that has not left.
pub(super) struct WaitingPiece {
    /// Which document.
    pub(super) unit: u64,
    /// Which string of it.
    pub(super) string: usize,
    /// Where it lies in the text.
    range: Range<usize>,
    text: String,
}

/// What becomes of a piece.
pub(super) struct PieceEdit {
    pub(super) unit: u64,
    pub(super) string: usize,
    pub(super) edit: Edit,
}

/// What came of taking a piece in.
#[derive(Default)]
pub(super) struct CutOutcome {
    pub(super) edits: Vec<PieceEdit>,
    /// The documents of pieces that are decided.
    pub(super) decided: Vec<u64>,
}

/// The text at one place.
pub(super) struct CutText {
    pub(super) way: u64,
    pub(super) members: Arc<[TellingMember]>,
    /// Whether nobody else reads it, so that what is replaced must be replaced here.
    pub(super) is_encoded: bool,
    editor: Box<dyn Editor>,
    /// How much of the text has come.
    length: usize,
    pub(super) waiting: Vec<WaitingPiece>,
    /// How many strings it has come in.
    pub(super) strings: usize,
    /// Documents since the last of them.
    pub(super) missed: usize,
    /// When it was used last.
    pub(super) used: u64,
    /// The length of the last string, and a number for it.
    last: (usize, u64),
    /// How often it has come in a row.
    equal: usize,
    /// How often a string has repeated the one before.
    repeats: usize,
    /// Whether each string repeats the one before.
    grows: bool,
}

impl CutText {
    /// A text of which nothing has come, with an editor of its own.
    pub(super) fn new(way: u64, members: Arc<[TellingMember]>, editor: Box<dyn Editor>) -> Self {
        Self {
            way,
            members,
            is_encoded: false,
            editor,
            length: 0,
            waiting: Vec::new(),
            strings: 0,
            missed: 0,
            used: 0,
            last: (0, 0),
            equal: 0,
            repeats: 0,
            grows: false,
        }
    }

    /// How much memory it takes without its pieces that wait, in bytes.
    pub(super) fn size(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.members)
    }

    /// Takes the next string in; returns whether its document waits.
    pub(super) fn push(
        &mut self,
        piece: &ComingPiece<'_>,
        fresh: FreshEditor<'_>,
        out: &mut CutOutcome,
    ) -> Result<bool, StreamError> {
        let ComingPiece { unit, string, text, may_wait } = *piece;
        self.strings += 1;
        self.missed = 0;
        let now = (text.len(), hashed(text));
        self.equal = if self.last == now { self.equal + 1 } else { 0 };
        let same = self.equal >= SAME_AGAIN || (self.equal > 0 && text.len() >= SAME);
        self.follow(text, fresh, out)?;
        self.last = now;
        let piece = |range| WaitingPiece { unit, string, range, text: text.to_owned() };
        let may_wait = may_wait && !same;
        if self.grows {
            let waits = may_wait && decided(text, fresh)? < text.len();
            if waits {
                self.waiting.push(piece(0..text.len()));
            } else if same {
                self.end(fresh, out)?;
            }
            return Ok(waits);
        }
        let start = self.length;
        self.length += text.len();
        let mut edits = Vec::new();
        let end = self.editor.feed(text, &mut edits)?;
        // Whether it goes on or grows shows in the next one.
        let unsure = self.repeats > 0;
        let waits = may_wait && (end < self.length || (unsure && decided(text, fresh)? < text.len()));
        if waits || !edits.is_empty() {
            self.waiting.push(piece(start..self.length));
        }
        self.join(edits, fresh, out)?;
        if !waits {
            self.waiting.retain(|piece| (piece.unit, piece.string) != (unit, string));
        }
        if !unsure {
            let settled = self.waiting.iter().take_while(|piece| piece.range.end <= end).count();
            out.decided.extend(self.waiting.drain(..settled).map(|piece| piece.unit));
        }
        Ok(waits)
    }

    /// Sees whether a string repeats the one before and goes on. If each does, those leave that are decided by it.
    fn follow(
        &mut self,
        text: &str,
        fresh: FreshEditor<'_>,
        out: &mut CutOutcome,
    ) -> Result<(), StreamError> {
        let (length, number) = self.last;
        let repeats = length > 0 && text.get(..length).is_some_and(|begin| hashed(begin) == number);
        if !repeats {
            self.repeats = 0;
            if self.grows {
                self.end(fresh, out)?;
                self.grows = false;
            }
            return Ok(());
        }
        if text.len() > length {
            self.repeats += 1;
            let sure = length >= REPEATED || (self.repeats > 1 && length >= REPEATED_TWICE);
            if sure && !self.grows {
                self.length = 0;
                self.editor.end(&mut Vec::new())?;
                self.grows = true;
            }
        }
        if self.grows {
            self.repeated(text, fresh, out)?;
        }
        Ok(())
    }

    /// Lets those of the pieces that wait leave that are decided by `text`, which repeats them and goes on.
    fn repeated(
        &mut self,
        text: &str,
        fresh: FreshEditor<'_>,
        out: &mut CutOutcome,
    ) -> Result<(), StreamError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let (mut edits, mut end) = (Vec::new(), text.len());
        if let Some(mut editor) = fresh() {
            end = editor.feed(text, &mut edits)?;
        }
        let waits = |piece: &WaitingPiece| piece.text.len() > end && text.starts_with(&piece.text);
        let (waiting, leaving) = std::mem::take(&mut self.waiting).into_iter().partition(waits);
        self.waiting = waiting;
        out.leave_whole(leaving, text, &edits);
        Ok(())
    }

    /// The text goes on nowhere: what waits is decided.
    pub(super) fn end(&mut self, fresh: FreshEditor<'_>, out: &mut CutOutcome) -> Result<(), StreamError> {
        if self.grows {
            let waiting = std::mem::take(&mut self.waiting);
            if let Some(text) = waiting.last().map(|last| last.text.clone()) {
                let edits = replaced(&text, fresh)?;
                out.leave_whole(waiting, &text, &edits);
            }
            return Ok(());
        }
        let mut edits = Vec::new();
        self.editor.end(&mut edits)?;
        self.length = 0;
        self.join(edits, fresh, out)?;
        out.decided.extend(self.waiting.drain(..).map(|piece| piece.unit));
        Ok(())
    }

    /// Moves what is replaced, and cut, to where it begins. What is replaced in one piece only because of what came before
    /// is replaced.
    fn join(
        &self,
        edits: Vec<Edit>,
        fresh: FreshEditor<'_>,
        out: &mut CutOutcome,
    ) -> Result<(), StreamError> {
        let mut alone: Option<(usize, Vec<Edit>)> = None;
        for Edit { range, with } in edits {
            let from = self.waiting.partition_point(|piece| piece.range.end <= range.start);
            let over = self.waiting.get(from..).unwrap_or_default();
            let over: Vec<_> = over.iter().take_while(|piece| piece.range.start < range.end).collect();
            let follow =
                over.windows(2).all(|two| matches!(two, [one, next] if one.range.end == next.range.start));
            let Some((first, rest)) = over.split_first().filter(|_| follow) else { continue };
            if first.range.start > range.start {
                continue;
            }
            let begin = range.start - first.range.start;
            if rest.is_empty() {
                let own = begin..range.end - first.range.start;
                if self.is_encoded {
                    out.edits.push(first.edited(own, with));
                    continue;
                }
                let alone = match &alone {
                    Some((at, alone)) if *at == from => alone,
                    _ => &alone.insert((from, replaced(&first.text, fresh)?)).1,
                };
                if first.range.start > 0 && !overlaps(alone, &own) {
                    out.edits.push(first.edited(own, with));
                }
                continue;
            }
            let mut moved = String::new();
            for piece in rest {
                let end = range.end.min(piece.range.end) - piece.range.start;
                moved.push_str(piece.text.get(..end).unwrap_or_default());
                out.edits.push(piece.edited(0..end, String::new()));
            }
            let end = first.text.len();
            out.edits.push(match self.is_encoded {
                true => first.edited(begin..end, with),
                false => first.edited(end..end, moved),
            });
        }
        Ok(())
    }
}

impl CutOutcome {
    /// Lets pieces leave, of which `text` is the one that goes on furthest: each that ends within what is replaced in that one
    /// leaves without its beginning.
    fn leave_whole(&mut self, pieces: Vec<WaitingPiece>, text: &str, edits: &[Edit]) {
        for piece in pieces {
            let length = piece.text.len();
            let over = edits.iter().find(|edit| edit.range.start < length && length < edit.range.end);
            if let Some(edit) = over.filter(|_| text.starts_with(&piece.text)) {
                self.edits.push(piece.edited(edit.range.start..length, String::new()));
            }
            self.decided.push(piece.unit);
        }
    }
}

impl WaitingPiece {
    /// How much memory one with this text takes, with what its editor keeps of it, in bytes.
    pub(super) fn size_of(text: &str) -> usize {
        size_of::<Self>() + 2 * text.len()
    }

    fn edited(&self, range: Range<usize>, with: String) -> PieceEdit {
        PieceEdit { unit: self.unit, string: self.string, edit: Edit { range, with } }
    }
}

/// Up to where a text is decided, whatever follows.
fn decided(text: &str, fresh: FreshEditor<'_>) -> Result<usize, StreamError> {
    fresh().map_or(Ok(text.len()), |mut editor| editor.feed(text, &mut Vec::new()))
}

/// What is replaced in a text by itself.
fn replaced(text: &str, fresh: FreshEditor<'_>) -> Result<Vec<Edit>, StreamError> {
    let mut edits = Vec::new();
    if let Some(mut editor) = fresh() {
        editor.last(text, &mut edits)?;
    }
    Ok(edits)
}

/// Whether one of these edits, which are in order, is of something in a range.
fn overlaps(edits: &[Edit], range: &Range<usize>) -> bool {
    let from = edits.partition_point(|edit| edit.range.end <= range.start);
    edits.get(from).is_some_and(|edit| edit.range.start < range.end)
}
