//! Rules compiled, group by group, and their run over a window.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use super::build::{GroupSlot, groups};
use super::context::{AFTER, Lexicon};
use super::group_id::GroupId;
use super::mask::Masks;
use super::pass::{Candidates, WindowPass};
use super::track::Tracks;
use super::view::View;
use crate::detect::finding::{RuleId, Score};
use crate::detect::resolve::{CLUSTER, KnownBy};
use crate::detect::rules::{Anchor, Family, Rule, RuleFault, RuleRef};
use crate::detect::selection::RuleSelection;

/// Rules, compiled.
pub(crate) struct Engine {
    /// All rules of the catalogue.
    pub(crate) rules: Arc<Vec<Rule>>,
    lexicon: Lexicon,
    groups: [Option<GroupSlot>; GroupId::COUNT],
}

/// A window, and what is looked for in it.
pub(crate) struct WindowScan<'a> {
    pub(crate) view: View<'a>,
    pub(crate) masks: &'a Masks,
    pub(crate) selection: &'a RuleSelection,
    /// Stands in place of the rules' thresholds.
    pub(crate) floor: Option<Score>,
}

impl Engine {
    /// Compiles those of `rules`, which have been checked one by one, that are on in `selection`; without one, all.
    pub(crate) fn new(rules: Arc<Vec<Rule>>, selection: Option<&RuleSelection>) -> Result<Self, RuleFault> {
        let all = rules.iter().enumerate().map(|(n, rule)| {
            let id = RuleId::new(u16::try_from(n).map_err(|_| RuleFault::TooMany)?);
            Ok(RuleRef { id, rule })
        });
        let mut on = all.collect::<Result<Vec<_>, RuleFault>>()?;
        on.retain(|one| selection.is_none_or(|selection| selection.has(one.id)));
        let groups = groups(&on)?;
        let lexicon = Lexicon::new(on);
        Ok(Self { lexicon, groups, rules })
    }

    /// Bytes that the groups take.
    pub(crate) fn memory(&self) -> usize {
        self.groups.iter().flatten().map(|slot| slot.group.memory()).sum()
    }

    /// What a rule knows its values by.
    pub(crate) fn known_by(&self, rule: RuleId) -> KnownBy {
        match self.rules.get(rule.index()) {
            Some(rule) if rule.gives.is_some() => KnownBy::Label,
            Some(rule) if rule.anchor == Anchor::Prefix && rule.family() == Family::Secret => KnownBy::Prefix,
            _ => KnownBy::Shape,
        }
    }

    /// The most that a stream holds back with these rules on, in bytes.
    pub(crate) fn reach(&self, selection: &RuleSelection) -> usize {
        let on = self
            .rules
            .iter()
            .enumerate()
            .filter(|(n, _)| u16::try_from(*n).is_ok_and(|n| selection.has(RuleId::new(n))));
        let right =
            |rule: &Rule| if rule.context.values().any(|words| !words.after.is_empty()) { AFTER } else { 0 };
        on.map(|(_, rule)| rule.reach() + right(rule) + 2 + CLUSTER).max().unwrap_or(0)
    }

    /// Scans on from where `tracks` stand: pushes the candidates that are decided, in no order. The steps it took.
    pub(crate) fn scan(&self, look: WindowScan<'_>, tracks: &mut Tracks, found: &mut Candidates) -> usize {
        let WindowScan { view, masks, selection, floor } = look;
        let pass = WindowPass {
            rules: &self.rules,
            lexicon: &self.lexicon,
            view,
            masks,
            selection,
            floor,
            memo: RefCell::default(),
            supported: RefCell::default(),
            cuts: RefCell::default(),
            failed: RefCell::default(),
            steps: Cell::default(),
        };
        for (slot, track) in self.groups.iter().zip(&mut tracks.0) {
            match slot {
                Some(slot) if selection.meets(&slot.rules) => slot.group.scan(&pass, track, found),
                _ => track.at = view.len(),
            }
        }
        pass.steps.get()
    }
}
