//! How far a scan has come in a window, and what it carries over to the next.

use super::automaton::AutomatonWalk;
use super::budget::{BudgetState, ScanBudget};
use super::group_id::GroupId;
use super::view::LOOKBACK;
use crate::detect::finding::RuleId;
use crate::detect::naming::{LabelMeaning, Meaning};

/// A value that is longer than its rule's reach, and goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overlong {
    pub(super) rule: RuleId,
    /// Where the piece that is not reported yet begins.
    pub(super) piece: usize,
    /// Where the last match ended.
    pub(super) last: usize,
    pub(super) reach: usize,
}

impl Overlong {
    pub(crate) fn new(rule: RuleId, start: usize, reach: usize) -> Self {
        Self { rule, piece: start, last: start, reach }
    }

    /// The window has lost its first `by` bytes.
    pub(crate) fn shift(&mut self, by: usize) {
        self.piece = self.piece.saturating_sub(by);
        self.last = self.last.saturating_sub(by);
    }
}

/// A list whose items are secrets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SecretList {
    pub(crate) meaning: Meaning,
    /// Whether its name is a plural, so that its items are secrets and not rules for one.
    pub(crate) plural: bool,
    pub(crate) layout: ListLayout,
}

/// How the items of a list stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListLayout {
    /// In brackets, behind commas, or with blanks between those in quotes.
    Commas,
    /// In brackets within brackets, `[["bob", "…"], ["al", "…"]]`.
    Nested,
    /// In brackets, with blanks between, `(a b)`.
    Spaced,
    /// In no brackets, on one line.
    Inline,
    /// Each on a line, with so many blanks before its bullet.
    Lines(usize),
    /// The same without bullets.
    Plain(usize),
    /// Each behind a name, `{"bob": "…"}`.
    Members,
    /// The same on lines, with so many blanks before the name.
    Names(usize),
    /// Cookies of a header, behind semicolons.
    Cookies(CookieEnd),
    /// Cookies of an object, `{"session": "…"}`.
    CookieMembers,
}

/// What a header of cookies ends with, beside the end of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CookieEnd {
    /// Nothing else.
    Line,
    /// The first quote, or what is escaped.
    Any,
    /// The quote that opened it, behind so many backslashes.
    Quote { byte: u8, escapes: usize },
}

/// Where a list goes on, as an offset of the window.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ListPlace {
    /// Behind the item that ends here, or behind what the list begins with.
    Behind(usize),
    /// With the item that begins here.
    At(usize),
}

impl ListPlace {
    pub(crate) const fn offset(self) -> usize {
        match self {
            Self::Behind(at) | Self::At(at) => at,
        }
    }

    /// The window has lost its first `by` bytes.
    fn shift(&mut self, by: usize) {
        match self {
            Self::Behind(at) | Self::At(at) => *at = at.saturating_sub(by),
        }
    }
}

/// A list within which the scan is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenList {
    pub(crate) list: SecretList,
    pub(crate) place: ListPlace,
}

/// The value of a command's option that is longer than one piece. What stands before it is still to be looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LongOption {
    pub(crate) rest: LongRest,
    /// Where the value begins, and where its first piece ends; offsets of the window.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// How a value ends that is longer than one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RestEnd {
    /// With a blank, a quote or what parts settings.
    Word,
    /// With its line.
    Line,
    /// With this quote, before which so many backslashes stand.
    Quote(u8, usize),
}

/// A value that is longer than one piece, of which more follows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LongRest {
    pub(crate) rule: RuleId,
    pub(crate) end: RestEnd,
}

/// What the group of assignments carries over.
#[derive(Clone, Copy, Default)]
pub(crate) struct Assignment {
    /// The value that is longer than one piece and goes on.
    pub(crate) rest: Option<LongRest>,
    /// The long value of an option to which the scan has not come.
    pub(crate) option: Option<LongOption>,
    /// Which secret is in the value that the text is, if a label says so.
    pub(crate) labelled: Option<LabelMeaning>,
    /// The list whose next item may follow.
    pub(crate) list: Option<OpenList>,
    /// The list of which that is an item.
    outer: Option<OpenList>,
}

impl Assignment {
    /// A list begins, within the one that is open.
    pub(crate) fn open(&mut self, list: OpenList) {
        self.outer = self.list.replace(list);
    }

    /// The list has ended, and the one around it goes on.
    pub(crate) fn close(&mut self) {
        self.list = self.outer.take();
    }

    /// Whether nothing is carried over.
    const fn is_empty(&self) -> bool {
        self.rest.is_none()
            && self.option.is_none()
            && self.labelled.is_none()
            && self.list.is_none()
            && self.outer.is_none()
    }

    /// The scan has come to `at`: what is carried over goes on there at the earliest.
    pub(crate) fn reach(&mut self, at: usize) {
        if let Some(option) = &mut self.option {
            option.end = option.end.max(at);
        }
        for open in [&mut self.list, &mut self.outer].into_iter().flatten() {
            if open.place.offset() < at {
                open.place = ListPlace::Behind(at);
            }
        }
    }

    /// The window has lost its first `by` bytes.
    fn shift(&mut self, by: usize) {
        if let Some(option) = &mut self.option {
            option.start = option.start.saturating_sub(by);
            option.end = option.end.saturating_sub(by);
        }
        for open in [&mut self.list, &mut self.outer].into_iter().flatten() {
            open.place.shift(by);
        }
    }
}

/// How far one group has come.
#[derive(Default)]
pub(crate) struct Track {
    /// All that begins before here is known; an offset of the window.
    pub(crate) at: usize,
    pub(crate) walk: AutomatonWalk,
    pub(crate) budget: ScanBudget,
    pub(crate) overlong: Option<Overlong>,
    pub(crate) assignment: Assignment,
}

/// How far a group has come, wherever the text begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TrackState {
    /// So many bytes before the window's end.
    back: usize,
    budget: BudgetState,
}

impl Track {
    /// In a window that ends at `end`; `None` where a value or a list is under way that has begun before what is kept. A walk
    /// is left out: from where it began another leads to the same end.
    fn state(&self, end: usize) -> Option<TrackState> {
        if self.overlong.is_some() || !self.assignment.is_empty() {
            return None;
        }
        let budget = self.budget.state(self.at.saturating_sub(LOOKBACK), end);
        Some(TrackState { back: end.saturating_sub(self.at), budget })
    }
}

/// How far a scan has come.
#[derive(Default)]
pub(crate) struct Tracks(pub(super) [Track; GroupId::COUNT]);

impl Tracks {
    /// All candidates that begin before this offset of the window are known.
    pub(crate) fn frontier(&self) -> usize {
        self.0.iter().map(|track| track.at).min().unwrap_or(0)
    }

    /// How far all groups have come in a window that ends at `end`; `None` where one of them is in the middle of something.
    pub(crate) fn state(&self, end: usize) -> Option<Vec<TrackState>> {
        self.0.iter().map(|track| track.state(end)).collect()
    }

    /// Begins with a value at `at` of the window, behind the label that says what it is.
    pub(crate) fn begin(&mut self, at: usize, meaning: Option<LabelMeaning>) {
        for track in &mut self.0 {
            track.at = at;
        }
        if let Some(track) = self.0.get_mut(GroupId::Assignments as usize) {
            track.assignment = Assignment { labelled: meaning, ..Assignment::default() };
        }
    }

    /// The window has lost its first `by` bytes.
    pub(crate) fn shift(&mut self, by: usize) {
        for track in &mut self.0 {
            track.at = track.at.saturating_sub(by);
            track.walk.shift(by);
            track.budget.shift(by);
            track.assignment.shift(by);
            if let Some(overlong) = &mut track.overlong {
                overlong.shift(by);
            }
        }
    }

    /// Begins anew; what was allocated stays.
    pub(crate) fn reset(&mut self) {
        for track in &mut self.0 {
            track.at = 0;
            track.walk.live = false;
            track.budget = ScanBudget::default();
            track.overlong = None;
            track.assignment = Assignment::default();
        }
    }
}
