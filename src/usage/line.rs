//! [`AccountUsage`]: what is known of one account in one window.

use std::sync::Arc;

use dashmap::DashMap;

use crate::base::clock::Timestamp;
use crate::usage::spend::Spend;

/// The lines by the rows that have them.
pub(super) type UsageByRow = Arc<DashMap<String, AccountUsage>>;

/// What is known of a line for which nobody has asked in so many writes is old: others may have spent since.
pub(super) const OLD: u32 = 2;

/// A line that nobody has asked for in so many writes is forgotten: the store has it.
const FORGOTTEN: u32 = 60;

/// A line that nobody has asked for is asked about again after so many writes.
const ASKED_AGAIN: u32 = 4;

/// What is known of one account in one window.
#[derive(Clone, Copy, Debug)]
pub(super) struct AccountUsage {
    /// What the store had when it was last read or written: of all nodes.
    pub(super) written: Spend,
    /// What was spent here since.
    pub(super) unwritten: Spend,
    /// What requests under way here may spend yet.
    pub(super) reserved: Spend,
    /// What was spent here and written last, which other nodes may not have read yet.
    pub(super) latest: Spend,
    /// What others have spent and not written yet, as an engine that nodes share had it last.
    pub(super) elsewhere: Spend,
    /// How often an engine was told of it: what it was told later counts.
    pub(super) tellings: u64,
    /// Whether the engine knows what is not written yet, or reserved.
    pub(super) told: bool,
    /// Whether the store was read.
    pub(super) known: bool,
    /// For how many writes nobody has asked for it.
    pub(super) idle: u32,
    /// When the window ends.
    pub(super) ends: Timestamp,
}

/// What an engine that nodes share has of one account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SharedUsage {
    /// What the store has.
    pub(super) written: Spend,
    /// What other nodes have spent since.
    pub(super) elsewhere: Spend,
    /// What a node that died had spent since or reserved, which is this one's to write now.
    pub(super) taken_over: Spend,
}

impl AccountUsage {
    /// One of which nothing is known, in a window that ends then.
    pub(super) fn until(ends: Timestamp) -> Self {
        let nothing = Spend::default();
        Self {
            written: nothing,
            unwritten: nothing,
            reserved: nothing,
            latest: nothing,
            elsewhere: nothing,
            tellings: 0,
            told: true,
            known: false,
            idle: 0,
            ends,
        }
    }

    /// What was spent, as far as it is known here.
    pub(super) fn spent(&self) -> Spend {
        self.written.and(self.unwritten).and(self.elsewhere)
    }

    /// What all nodes have spent or reserved at the most, if each of `nodes` does as this one: what is known for certain, and
    /// for each other node as much as this one has that they may not know of.
    pub(super) fn taken_by(&self, nodes: u32) -> Spend {
        let own = self.unwritten.and(self.reserved);
        let unknown = own.and(self.latest).times(nodes.saturating_sub(1));
        self.written.and(own).and(unknown)
    }

    /// What the store has now that `spent` of this node's was written.
    pub(super) fn wrote(&mut self, spent: Spend, written: Spend) {
        self.unwritten = self.unwritten.without(spent);
        self.latest = spent;
        self.read(written);
        self.told &= spent.is_nothing();
    }

    /// What the store has now.
    pub(super) fn read(&mut self, written: Spend) {
        (self.written, self.known) = (written, true);
        self.elsewhere = Spend::default();
    }

    /// What the engine has.
    pub(super) fn learn(&mut self, shared: &SharedUsage) {
        // What the store has only grows, by a request at least.
        if shared.written.requests > self.written.requests {
            self.written = shared.written;
        }
        self.elsewhere = shared.elsewhere;
        if !shared.taken_over.is_nothing() {
            self.spend(shared.taken_over);
        }
    }

    /// Reserves so much more.
    pub(super) fn reserve(&mut self, most: Spend) {
        self.reserved = self.reserved.and(most);
        (self.told, self.idle) = (false, 0);
    }

    /// Gives back what was reserved, of which so much was spent.
    pub(super) fn settle(&mut self, reserved: Spend, spent: Spend) {
        self.reserved = self.reserved.without(reserved);
        self.spend(spent);
    }

    /// Counts what was spent.
    pub(super) fn spend(&mut self, spent: Spend) {
        self.unwritten = self.unwritten.and(spent);
        self.told = false;
    }

    /// Whether something here is not in the store yet, or may be spent yet.
    pub(super) fn is_under_way(&self) -> bool {
        !self.unwritten.is_nothing() || !self.reserved.is_nothing()
    }

    /// Whether the engine is to be told: of what it does not know, of what is under way, so that nobody takes this node for dead,
    /// and now and then of what is not, so that somebody takes over from those that are.
    pub(super) fn is_to_tell(&self) -> bool {
        !self.told || self.is_under_way() || self.idle % ASKED_AGAIN == ASKED_AGAIN - 1
    }

    /// Counts a write; whether the line is needed after it, on a node that `shares` an engine with others.
    pub(super) fn outlives_write(&mut self, now: Timestamp, shares: bool) -> bool {
        self.idle += 1;
        (self.ends > now && (self.idle < FORGOTTEN || (shares && !self.told))) || self.is_under_way()
    }
}
