//! [`FormSearch`]: a walk through the forms of surrogates along a text, and what it comes to.

use crate::redact::index::IndexWalk;
use crate::redact::units::{NextUnit, TextUnit, TextUnits};

/// Units in a row that a value does not have: characters that nobody reads, marks of Markdown, or more blanks.
const EXTRA: u8 = 4;

/// Separators in a row within a number.
const SEPARATORS: u8 = 3;

/// What a look for forms said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Matched {
    No,
    /// A form of so many bytes: its number.
    Found {
        len: usize,
        form: u32,
    },
    Wait,
}

impl Matched {
    /// The longer of both, and the other of two that are as long.
    pub(super) fn or_longer(self, other: Self) -> Self {
        match (self, other) {
            (Self::Wait, _) | (_, Self::Wait) => Self::Wait,
            (Self::Found { len, .. }, Self::Found { len: known, .. }) if known >= len => other,
            (Self::No, other) => other,
            (found, _) => found,
        }
    }
}

/// A form that has been read whole: how long it is, and its number.
#[derive(Clone, Copy)]
pub(super) struct Complete {
    pub(super) len: usize,
    pub(super) form: u32,
}

impl From<Complete> for Matched {
    fn from(Complete { len, form }: Complete) -> Self {
        Self::Found { len, form }
    }
}

/// A walk through an index along the units of a text.
pub(super) struct FormSearch<'f> {
    walk: IndexWalk<'f>,
    pub(super) best: Matched,
    /// What is complete if the next character does not go on with its word: where it ends, and its number.
    pub(super) pending: Option<Complete>,
    /// What was complete before the letter that was read last goes on with its word.
    pub(super) owner: Option<Complete>,
    pub(super) last: char,
    extra: u8,
}

impl<'f> FormSearch<'f> {
    /// Nothing has been read.
    pub(super) fn new(walk: IndexWalk<'f>) -> Self {
        Self { walk, best: Matched::No, pending: None, owner: None, last: ' ', extra: 0 }
    }

    /// Whether a character has been read.
    pub(super) fn begun(&self) -> bool {
        self.walk.has_begun()
    }

    /// Whether one more unit may stand here that the value does not have.
    pub(super) fn extra(&mut self) -> bool {
        self.extra += 1;
        self.begun() && self.extra <= EXTRA
    }

    /// The next character that is read, and what spells it; what was matched where there is none, or too much between
    /// that is not read.
    pub(super) fn next(&mut self, units: &mut TextUnits<'_>) -> Result<(char, TextUnit), Matched> {
        loop {
            let unit = match units.step() {
                NextUnit::Unit(unit) => unit,
                NextUnit::Cut => return Err(self.cut()),
                NextUnit::End => return Err(self.ended()),
            };
            match unit.read {
                Some(c) => {
                    self.boundary(c);
                    return Ok((c, unit));
                }
                None if self.extra() => {}
                None => return Err(self.ended()),
            }
        }
    }

    /// `next` follows what is complete.
    fn boundary(&mut self, next: char) {
        self.owner = None;
        if let Some(found) = self.pending.take() {
            if self.last.is_ascii_alphanumeric() && next.is_ascii_alphanumeric() {
                self.owner = Some(found);
            } else {
                self.best = found.into();
            }
        }
    }

    /// What is complete, if the letter behind it ends the word.
    pub(super) fn inflected(&self, owner: Complete, units: &mut TextUnits<'_>) -> Matched {
        match units.step() {
            NextUnit::Cut => Matched::Wait,
            NextUnit::Unit(unit) if unit.read.is_none_or(char::is_alphanumeric) => self.best,
            NextUnit::Unit(_) | NextUnit::End => owner.into(),
        }
    }

    /// Whether a key goes on by these characters.
    pub(super) fn goes_on(&self, run: &[u8]) -> bool {
        let mut walk = self.walk.clone();
        run.iter().all(|&byte| walk.step(byte))
    }

    /// Goes on by one character, if a key does.
    pub(super) fn step(&mut self, c: char) -> bool {
        let mut walk = self.walk.clone();
        let mut bytes = [0; 4];
        let goes_on = c.encode_utf8(&mut bytes).bytes().all(|byte| walk.step(byte));
        if goes_on {
            self.walk = walk;
        }
        goes_on
    }

    /// `unit`, which reads `c`, was one of the value.
    pub(super) fn took(&mut self, c: char, unit: &TextUnit) {
        (self.last, self.extra) = (c, 0);
        self.pending = self.walk.complete().map(|form| Complete { len: unit.start + unit.len, form });
    }

    /// There is no more text yet.
    fn cut(&mut self) -> Matched {
        let joins = self.pending.is_some() && self.last.is_ascii_alphanumeric();
        if joins || self.walk.longer() { Matched::Wait } else { self.ended() }
    }

    /// There is no more text.
    fn ended(&mut self) -> Matched {
        self.boundary(' ');
        self.best
    }
}

/// What stands between two groups of a number.
#[derive(Default)]
pub(super) struct Gap {
    /// Separators in a row.
    pub(super) count: u8,
    /// Whether a parenthesis is open.
    pub(super) open: bool,
    /// Whether a `+` stands in front of all.
    pub(super) plus: bool,
}

impl Gap {
    /// Whether `c` may stand here.
    pub(super) fn take(&mut self, c: char, begun: bool) -> bool {
        match c {
            '+' if !begun && !self.plus && !self.open => self.plus = true,
            '(' if !self.open => self.open = true,
            ')' if self.open && begun => self.open = false,
            ' ' | '-' | '.' | '/' | '+' if begun => {
                self.count += 1;
                return self.count <= SEPARATORS;
            }
            _ => return false,
        }
        true
    }
}
