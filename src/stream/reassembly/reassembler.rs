//! [`Reassembler`]: the units of a stream (events, messages, lines), those that wait and why.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::base::budget::{Exhausted, MemoryBudget, MemoryCharge};
use crate::edit::spliced;
use crate::stream::reassembly::cut_text::{ComingPiece, CutOutcome, CutText, PieceEdit, WaitingPiece};
use crate::stream::reassembly::document::{Followed, SpelledString, UnitString, UnitTexts};
use crate::stream::reassembly::place::MemberHistories;
use crate::stream::{Edit, Editor, StreamError};

/// The most texts that are followed at once in one stream. Others are read by themselves.
const MOST_TEXTS: usize = 256;
/// The most memory that what waits may take, in bytes; then all leaves as it is.
const MOST_WAITING: usize = 1 << 20;
/// So many units without a text that has come more than once are waited for, or of one that has come once.
const PATIENCE: usize = 16;
const FIRST_PATIENCE: usize = 1;

/// A unit that leaves.
pub(super) struct LeavingUnit {
    /// What stands around it.
    pub(super) envelope: Vec<u8>,
    /// What it says.
    pub(super) data: Vec<u8>,
    /// Whether that changed.
    pub(super) changed: bool,
}

/// A unit that has come.
struct WaitingUnit {
    envelope: Vec<u8>,
    data: Vec<u8>,
    /// Its strings that wait or change, with what changes in them.
    strings: Vec<(SpelledString, Vec<Edit>)>,
    /// How many of them wait.
    open: usize,
    /// How much memory it takes with what texts keep of it, in bytes.
    size: usize,
}

/// Puts together what a stream of units cuts.
pub struct Reassembler {
    /// Makes the editors of texts, which replace what is looked for and nothing else.
    editor: Box<dyn Editor>,
    followed: Option<Arc<dyn Followed>>,
    texts: Vec<CutText>,
    /// The unit for whose other strings there is no room.
    full: Option<u64>,
    /// Which of the texts are at a place.
    by_way: HashMap<u64, Vec<usize>>,
    histories: MemberHistories,
    /// What the last unit said of itself, if that was that texts end with it.
    ends: Option<u64>,
    waiting: VecDeque<WaitingUnit>,
    /// The number of the first unit that waits.
    first: u64,
    /// How much memory those that wait take, in bytes.
    size: usize,
    /// Their bytes as they came.
    held: usize,
    charge: MemoryCharge,
}

impl Reassembler {
    /// Looks for what `editor` restores, in strings that are not `followed`; what waits is charged to `budget`. `None` if it
    /// restores nothing.
    pub fn new(
        editor: Box<dyn Editor>,
        followed: Option<Arc<dyn Followed>>,
        budget: &MemoryBudget,
    ) -> Option<Self> {
        editor.restorer()?;
        Some(Self {
            editor,
            followed,
            texts: Vec::new(),
            full: None,
            by_way: HashMap::new(),
            histories: MemberHistories::default(),
            ends: None,
            waiting: VecDeque::new(),
            first: 0,
            size: 0,
            held: 0,
            charge: budget.charge(),
        })
    }

    /// Whether units wait.
    pub(super) fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Bytes of units that wait.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// Takes the next unit in, which is called `label`; those that leave are appended, this one as the last of them unless it waits.
    pub(super) fn push(
        &mut self,
        envelope: &[u8],
        data: &[u8],
        label: &[u8],
        out: &mut Vec<LeavingUnit>,
    ) -> Result<(), StreamError> {
        let texts = UnitTexts::of(data, label, self.followed.as_deref());
        self.histories.see(texts.members.into_iter());
        let number = self.first + self.waiting.len() as u64;
        let unit = WaitingUnit::new(envelope, data);
        self.size += unit.size;
        self.held += unit.length();
        self.waiting.push_back(unit);
        for string in texts.strings {
            self.string(number, string)?;
        }
        for at in 0..self.texts.len() {
            let Some(text) = self.texts.get_mut(at).filter(|text| !text.waiting.is_empty()) else { continue };
            let touched = text.used == number;
            text.missed += usize::from(!touched);
            let patience = if text.strings > 1 { PATIENCE } else { FIRST_PATIENCE };
            if text.missed > patience {
                self.end_text(at)?;
            }
        }
        // What all say of themselves ends nothing.
        let ends = texts.ends.is_some() && texts.ends != std::mem::replace(&mut self.ends, texts.ends);
        if ends || self.size > MOST_WAITING {
            self.end_texts()?;
        }
        self.leave(out);
        if self.charge().is_err() {
            self.end(out)?;
        }
        Ok(())
    }

    /// Bytes that say nothing follow the unit that waits last, and leave with it.
    pub(super) fn trail(&mut self, bytes: &[u8], out: &mut Vec<LeavingUnit>) -> Result<(), StreamError> {
        if let Some(unit) = self.waiting.back_mut() {
            let before = unit.length();
            unit.data.extend_from_slice(bytes);
            unit.size += bytes.len();
            self.size += bytes.len();
            self.held += unit.length() - before;
        }
        if self.size > MOST_WAITING || self.charge().is_err() {
            self.end(out)?;
        }
        Ok(())
    }

    /// Nothing follows, or nothing for a while: all that waits leaves.
    pub(super) fn end(&mut self, out: &mut Vec<LeavingUnit>) -> Result<(), StreamError> {
        self.end_texts()?;
        self.leave(out);
        if self.charge().is_err() {
            // What there is no room for is not followed.
            self.texts.clear();
            self.by_way.clear();
            self.histories = MemberHistories::default();
            self.charge()?;
        }
        Ok(())
    }

    /// Charges all that is kept.
    fn charge(&mut self) -> Result<(), Exhausted> {
        let texts: usize = self.texts.iter().map(CutText::size).sum();
        self.charge.set(self.size + texts + self.histories.size())
    }

    /// Takes a string of a unit in.
    fn string(&mut self, unit: u64, string: UnitString) -> Result<(), StreamError> {
        let Some(at) = self.text_of(unit, &string) else { return Ok(()) };
        let Self { texts, editor, followed, .. } = self;
        let Some(text) = texts.get_mut(at) else { return Ok(()) };
        // In a known protocol most strings are whole: one waits if it is said to be a piece, or was one before.
        let may_wait = followed.is_none() || string.is_piece || text.strings > 0;
        let mut outcome = CutOutcome::default();
        let index = self.waiting.back().map_or(0, |unit| unit.strings.len());
        let fresh = || editor.restorer();
        text.used = unit;
        text.is_encoded = string.spelled.is_encoded();
        let piece = ComingPiece { unit, string: index, text: &string.text, may_wait };
        let waits = text.push(&piece, &fresh, &mut outcome)?;
        let edited = outcome.edits.iter().any(|edit| edit.unit == unit);
        if let Some(back) = self.waiting.back_mut().filter(|_| waits || edited) {
            let size = size_of::<(SpelledString, Vec<Edit>)>() + WaitingPiece::size_of(&string.text);
            back.strings.push((string.spelled, Vec::new()));
            back.open += usize::from(waits);
            back.size += size;
            self.size += size;
        }
        self.settle(outcome);
        Ok(())
    }

    /// The text that a string goes on with; a new one if there is none. `None` if there is no room for it.
    fn text_of(&mut self, unit: u64, string: &UnitString) -> Option<usize> {
        let Self { texts, by_way, histories, .. } = self;
        let place = &string.place;
        let there = by_way.get(&place.way).map(Vec::as_slice).unwrap_or_default();
        let same =
            |at: &&usize| texts.get(**at).is_some_and(|text| histories.same(&place.members, &text.members));
        let latest = there.iter().filter(same).max_by_key(|at| texts.get(**at).map(|text| text.used));
        if let Some(at) = latest.copied() {
            if let Some(text) = texts.get_mut(at) {
                text.members = Arc::clone(&place.members);
            }
            return Some(at);
        }
        if self.full == Some(unit) {
            return None;
        }
        let text = CutText::new(place.way, Arc::clone(&place.members), self.editor.restorer()?);
        let at = if texts.len() < MOST_TEXTS {
            texts.push(text);
            texts.len() - 1
        } else {
            let idle = texts.iter_mut().enumerate().filter(|(_, text)| text.waiting.is_empty());
            let oldest = idle.min_by_key(|(_, text)| text.used).filter(|(_, text)| text.used < unit);
            let Some((at, old)) = oldest else {
                self.full = Some(unit);
                return None;
            };
            let old = std::mem::replace(old, text);
            if let Some(there) = by_way.get_mut(&old.way) {
                there.retain(|one| *one != at);
                if there.is_empty() {
                    by_way.remove(&old.way);
                }
            }
            at
        };
        by_way.entry(place.way).or_default().push(at);
        Some(at)
    }

    fn end_text(&mut self, at: usize) -> Result<(), StreamError> {
        let Self { texts, editor, .. } = self;
        let mut outcome = CutOutcome::default();
        if let Some(text) = texts.get_mut(at) {
            text.end(&|| editor.restorer(), &mut outcome)?;
        }
        self.settle(outcome);
        Ok(())
    }

    fn end_texts(&mut self) -> Result<(), StreamError> {
        (0..self.texts.len()).try_for_each(|at| self.end_text(at))
    }

    /// Notes what changes, and what waits no more.
    fn settle(&mut self, outcome: CutOutcome) {
        for PieceEdit { unit, string, edit } in outcome.edits {
            let unit = self.unit(unit).and_then(|unit| unit.strings.get_mut(string));
            unit.into_iter().for_each(|(_, edits)| edits.push(edit.clone()));
        }
        for unit in outcome.decided {
            self.unit(unit).into_iter().for_each(|unit| unit.open -= 1);
        }
    }

    fn unit(&mut self, number: u64) -> Option<&mut WaitingUnit> {
        let at = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.waiting.get_mut(at)
    }

    /// Lets those leave before which nothing waits.
    fn leave(&mut self, out: &mut Vec<LeavingUnit>) {
        while let Some(unit) = self.waiting.pop_front_if(|unit| unit.open == 0) {
            self.first += 1;
            self.size -= unit.size;
            self.held -= unit.length();
            out.push(unit.leaves());
        }
    }
}

impl WaitingUnit {
    fn new(envelope: &[u8], data: &[u8]) -> Self {
        let size = size_of::<Self>() + envelope.len() + data.len();
        Self { envelope: envelope.to_vec(), data: data.to_vec(), strings: Vec::new(), open: 0, size }
    }

    /// How many bytes of the stream it is.
    fn length(&self) -> usize {
        if self.envelope.is_empty() { self.data.len() } else { self.envelope.len() }
    }

    fn leaves(self) -> LeavingUnit {
        let Self { envelope, data, strings, .. } = self;
        let mut all = Vec::new();
        for (string, mut edits) in strings {
            edits.sort_by_key(|edit| edit.range.start);
            if !edits.is_empty() {
                string.in_unit(&data, edits, &mut all);
            }
        }
        if all.is_empty() {
            return LeavingUnit { envelope, data, changed: false };
        }
        all.sort_by_key(|edit| edit.range.start);
        LeavingUnit { envelope, data: spliced(&data, &all), changed: true }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
