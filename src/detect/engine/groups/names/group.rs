//! The scan for names.

use super::super::super::group::Group;
use super::super::super::mask::{BLOCK, Class};
use super::super::super::pass::{Candidates, Evaluation, WindowPass};
use super::super::super::pattern::CompiledPattern;
use super::super::super::track::Track;
use super::addresses;
use super::gather::{self, AtCapital, gather};
use super::labels::{self, Labelled};
use super::letters::is_capital;
use super::lexicon;
use super::records::recorded;
use super::streets;
use super::tagger::tag;
use super::word::{NameLook, Sequence, Tagged};
use crate::detect::rules::{NameTag, RuleRef};

/// What a sequence costs beside its bytes, in steps.
const SEQUENCE: usize = 32;

/// A rule, and what its names are of.
struct NameRule {
    tag: NameTag,
    pattern: CompiledPattern,
}

/// The rules that take names.
pub(crate) struct NameRules(Vec<NameRule>);

impl NameRules {
    /// `None` without rules. `compiled` are those of `rules`, in order.
    pub(crate) fn new(rules: &[RuleRef<'_>], compiled: &[CompiledPattern]) -> Option<Self> {
        let takers = rules.iter().zip(compiled);
        let takers = takers.filter_map(|(one, &pattern)| Some(NameRule { tag: one.rule.tag?, pattern }));
        let takers: Vec<NameRule> = takers.collect();
        (!takers.is_empty()).then_some(Self(takers))
    }

    pub(super) fn offer(&self, pass: &WindowPass<'_>, tagged: Tagged, found: &mut Candidates) {
        for taker in self.0.iter().filter(|taker| taker.tag == tagged.tag) {
            let pattern = CompiledPattern { score: tagged.score, ..taker.pattern };
            // These rules have open edges and no words, so their answer never waits for more text.
            if let Evaluation::Accepted(finding) = pass.evaluate(&pattern, tagged.start, tagged.end) {
                found.push(finding);
            }
        }
    }
}

/// The rules that find names by their capitals.
pub(crate) struct NamesGroup(NameRules);

impl NamesGroup {
    /// Offers what it finds to these.
    pub(crate) const fn new(takers: NameRules) -> Self {
        Self(takers)
    }
}

impl Group for NamesGroup {
    fn memory(&self) -> usize {
        lexicon::memory()
    }

    fn scan(&self, pass: &WindowPass<'_>, track: &mut Track, found: &mut Candidates) {
        let view = &pass.view;
        let mut at = track.at;
        let mut words = Sequence::default();
        while let Some(start) = capital(pass, at) {
            if labels::is_caseless(view, start) {
                let address = addresses::behind_label(view, start);
                match address.unwrap_or_else(|| labels::caseless(view, start)) {
                    NameLook::NeedMore => {
                        track.at = start;
                        return;
                    }
                    NameLook::Nobody => at = start + 1,
                    NameLook::Name(name) => {
                        at = name.end;
                        self.0.offer(pass, name, found);
                    }
                }
                continue;
            }
            match recorded(view, start) {
                NameLook::NeedMore => {
                    track.at = streets::may_begin(view, start).max(track.at.min(start));
                    return;
                }
                NameLook::Nobody => {}
                NameLook::Name(name) => {
                    at = name.end;
                    self.0.offer(pass, name, found);
                    continue;
                }
            }
            let skipped = || gather::lone_common(view, start).or_else(|| gather::lone_code(view, start));
            if let Some(end) = skipped().filter(|_| labels::label_before(view, start) != Some(Labelled::Part))
            {
                at = end;
                continue;
            }
            match gather(view, start, &mut words) {
                AtCapital::NeedMore => {
                    track.at = streets::may_begin(view, start).max(track.at.min(start));
                    return;
                }
                AtCapital::Nothing(end) => at = end,
                AtCapital::Words(end) => {
                    pass.step(end - start + SEQUENCE);
                    at = end;
                    for tagged in tag(view, &words) {
                        self.0.offer(pass, tagged, found);
                    }
                }
            }
        }
        track.at = at.max(view.len());
        if !view.complete {
            // A number may be that of a street, and small words what it is called.
            track.at = streets::may_begin_at_end(view);
        }
    }
}

/// The next word at or after `from` that begins with a capital.
fn capital(pass: &WindowPass<'_>, from: usize) -> Option<usize> {
    let mut block = from / BLOCK * BLOCK;
    let mut seen = u64::MAX << (from - block);
    while block < pass.view.len() {
        let upper = pass.masks.at(Class::Upper, block);
        let letters = pass.masks.at(Class::Letter, block);
        let non_ascii = letters & !pass.masks.at(Class::Word, block);
        if (upper | non_ascii) & seen != 0 {
            let before = block.checked_sub(BLOCK).map_or(0, |at| pass.masks.at(Class::Letter, at) >> 63);
            let digits = pass.masks.at(Class::Digit, block) << 1;
            let mut starts = (upper | non_ascii) & !(letters << 1 | before | digits) & seen;
            while starts != 0 {
                let start = block + starts.trailing_zeros() as usize;
                if is_capital(&pass.view, start)
                    || labels::may_begin(&pass.view, start) && labels::is_caseless(&pass.view, start)
                {
                    return Some(start);
                }
                starts &= starts - 1;
            }
        }
        block += BLOCK;
        seen = u64::MAX;
    }
    None
}

#[cfg(test)]
#[path = "group_tests.rs"]
mod tests;
