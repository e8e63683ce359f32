//! The bytes of a channel that are not decided yet, and how edits are applied to those that are.

use std::ops::Range;

use crate::base::budget::{MemoryBudget, MemoryCharge};
use crate::edit::{Edit, Pieces, splice};
use crate::stream::StreamError;

/// Holds back what an editor has not decided, and charges a budget for it.
pub(crate) struct Window {
    /// Where the held bytes begin, counted from the first that came.
    start: usize,
    held: Vec<u8>,
    charge: MemoryCharge,
}

impl Window {
    pub(crate) fn new(budget: &MemoryBudget) -> Self {
        Self { start: 0, held: Vec::new(), charge: budget.charge() }
    }

    pub(crate) fn held(&self) -> usize {
        self.held.len()
    }

    /// Takes `chunk` in and gives out, with `edits` applied, what lies before `decided`; the rest is held.
    pub(crate) fn advance(
        &mut self,
        chunk: &[u8],
        decided: usize,
        edits: &mut Vec<Edit>,
        put: &mut dyn FnMut(&[u8]),
    ) -> Result<(), StreamError> {
        let bytes = Joined { start: self.start, head: &self.held, tail: chunk };
        let end = decided.clamp(self.start, bytes.end());
        splice(&bytes, self.start..end, edits, put);
        let given = end - self.start;
        self.charge.set(self.held.len() + chunk.len() - given)?;
        match given.checked_sub(self.held.len()) {
            Some(behind) => {
                self.held.clear();
                self.held.extend_from_slice(chunk.get(behind..).unwrap_or_default());
            }
            None => {
                self.held.drain(..given);
                self.held.extend_from_slice(chunk);
            }
        }
        self.start = end;
        edits.clear();
        Ok(())
    }

    /// Gives out all that is held and starts to count from 0 again.
    pub(crate) fn finish(
        &mut self,
        edits: &mut Vec<Edit>,
        put: &mut dyn FnMut(&[u8]),
    ) -> Result<(), StreamError> {
        self.advance(&[], usize::MAX, edits, put)?;
        self.start = 0;
        Ok(())
    }
}

/// Two slices that follow each other, which spares copying a chunk behind a few held bytes.
struct Joined<'a> {
    start: usize,
    head: &'a [u8],
    tail: &'a [u8],
}

impl Joined<'_> {
    fn end(&self) -> usize {
        self.start + self.head.len() + self.tail.len()
    }
}

impl Pieces for Joined<'_> {
    fn copy(&self, range: Range<usize>, put: &mut dyn FnMut(&[u8])) {
        let (from, to) = (range.start.saturating_sub(self.start), range.end.saturating_sub(self.start));
        let seam = self.head.len();
        self.head.copy(from.min(seam)..to.min(seam), put);
        self.tail.copy(from.saturating_sub(seam)..to.saturating_sub(seam), put);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(range: Range<usize>, with: &str) -> Edit {
        Edit { range, with: with.to_owned() }
    }

    #[test]
    fn what_is_decided_leaves_edited_and_the_rest_is_held() {
        let budget = MemoryBudget::process(100);
        let mut window = Window::new(&budget);
        let mut out = Vec::new();
        let steps: &[(&str, usize, &[Edit], &str, usize)] = &[
            ("abcdef", 2, &[], "ab", 4),
            ("ghi", 2, &[], "ab", 7),
            ("jkl", 8, &[edit(3..7, "<>")], "abc<>h", 4),
            ("", 12, &[edit(8..8, "+"), edit(11..12, "")], "abc<>h+ijk", 0),
        ];
        for (chunk, decided, edits, expected, held) in steps {
            let put = &mut |piece: &[u8]| out.extend_from_slice(piece);
            window.advance(chunk.as_bytes(), *decided, &mut edits.to_vec(), put).unwrap();
            assert_eq!((out.escape_ascii().to_string().as_str(), window.held()), (*expected, *held));
            assert_eq!(budget.used(), *held);
        }
    }

    #[test]
    fn a_full_budget_refuses_to_hold_more() {
        let mut window = Window::new(&MemoryBudget::process(3));
        let put = &mut |_: &[u8]| {};
        assert!(window.advance(b"abc", 0, &mut Vec::new(), put).is_ok());
        assert!(matches!(window.advance(b"d", 0, &mut Vec::new(), put), Err(StreamError::Exhausted(_))));
    }
}
