//! [`Work`]: one file's way through the formats, with all that they share: orders, judge, budget, tally.

use crate::sanitize::budget::Left;
use crate::sanitize::format;
use crate::sanitize::{Bounds, Edit, Judge, Kind, Orders, Part, Redaction, Refusal, Tally};

/// What a format works with. One for a file and all files within it.
pub struct Work<'j> {
    orders: Orders,
    judge: &'j mut dyn Judge,
    left: Left,
    tally: Tally,
}

impl<'j> Work<'j> {
    /// Begins on a file.
    pub fn new(orders: Orders, bounds: Bounds, judge: &'j mut dyn Judge) -> Self {
        Self { orders, judge, left: Left::new(bounds), tally: Tally::default() }
    }

    /// What is to be done.
    pub fn orders(&self) -> Orders {
        self.orders
    }

    /// What was done so far.
    pub fn tally(&mut self) -> &mut Tally {
        &mut self.tally
    }

    /// What was done, at the end.
    pub fn into_tally(self) -> Tally {
        self.tally
    }

    /// The bytes that may still be unpacked: the cap for the next decoder.
    pub fn room(&self) -> usize {
        usize::try_from(self.left.bytes()).unwrap_or(usize::MAX)
    }

    /// Takes bytes that were unpacked out of the budget.
    ///
    /// # Errors
    /// [`Refusal::OverLimit`].
    pub fn unpacked(&mut self, bytes: usize) -> Result<(), Refusal> {
        self.left.spend(1, bytes as u64)
    }

    /// Takes objects, members or elements out of the budget.
    ///
    /// # Errors
    /// [`Refusal::OverLimit`].
    pub fn items(&mut self, items: usize) -> Result<(), Refusal> {
        self.left.spend(items as u64, 0)
    }

    /// Has a part looked at that was unpacked; call before anything else is done with it, also if it will be
    /// dropped. Its bytes are in the budget already (see [`unpacked`](Self::unpacked)).
    ///
    /// # Errors
    /// The judge's.
    pub fn part(&mut self, name: &str, bytes: &[u8]) -> Result<(), Refusal> {
        self.judge.part(Part { name, bytes })
    }

    /// Cleans a file within a file: looked at, told apart, and rewritten by its own format.
    ///
    /// # Errors
    /// The format's; [`Refusal::OverLimit`] too deep within files.
    pub fn file(&mut self, name: &str, bytes: &[u8]) -> Result<Vec<u8>, Refusal> {
        self.left.descend()?;
        self.part(name, bytes)?;
        let clean = format::clean(Kind::of(bytes, name), bytes, self);
        self.left.ascend();
        clean
    }

    /// What is to change in each of these texts, in the order of reading: redactions and links, sorted, apart from
    /// each other. Whoever makes the change tells [`applied`](Self::applied).
    ///
    /// # Errors
    /// The judge's.
    pub fn edits(&mut self, texts: &[&str]) -> Result<Vec<Vec<Edit>>, Refusal> {
        if self.orders.redaction == Redaction::Off || texts.is_empty() {
            return Ok(texts.iter().map(|_| Vec::new()).collect());
        }
        let edits = self.judge.texts(texts)?;
        if edits.len() == texts.len() { Ok(edits) } else { Err(Refusal::Provider) }
    }

    /// Counts an edit that was made.
    pub fn applied(&mut self, edit: &Edit) {
        let count = match &edit.rule {
            Some(rule) => self.tally.redacted.entry(rule.clone()).or_default(),
            None => &mut self.tally.defanged,
        };
        *count = count.saturating_add(1);
    }

    /// What each of these texts becomes; `None` where nothing changes. Counted as applied.
    ///
    /// # Errors
    /// The judge's.
    pub fn texts(&mut self, texts: &[&str]) -> Result<Vec<Option<String>>, Refusal> {
        let edits = self.edits(texts)?;
        let mut out = Vec::with_capacity(texts.len());
        for (text, edits) in texts.iter().zip(edits) {
            edits.iter().for_each(|edit| self.applied(edit));
            out.push((!edits.is_empty()).then(|| rewritten(text, &edits)));
        }
        Ok(out)
    }
}

/// The text with its edits made. Edits that lie outside of it, or over one another, are left out.
pub(super) fn rewritten(text: &str, edits: &[Edit]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for edit in edits {
        let Some(before) = text.get(done..edit.range.start) else { continue };
        out.push_str(before);
        out.push_str(&edit.with);
        done = edit.range.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}
