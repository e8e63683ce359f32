//! What tells the places of a stream apart: the way to a string, and the members beside it that say which text it is of.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// So many values of a member are remembered.
const VALUES: usize = 4;
/// So many members are remembered of one stream.
const MOST_MEMBERS: usize = 1024;

/// A number for anything, the same for the same.
pub(super) fn hashed(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A member that may say which text a string is of, or may count events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TellingMember {
    /// Where it is.
    pub(super) at: u64,
    /// What it says.
    pub(super) value: u64,
    /// Whether it is a number.
    pub(super) ordinal: bool,
}

/// Where a string is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StreamPlace {
    /// The way to it, and what kinds of documents have it.
    pub(super) way: u64,
    /// What may tell it apart besides, in order of where it is.
    pub(super) members: Arc<[TellingMember]>,
}

/// What has been seen of one member.
#[derive(Default)]
struct MemberHistory {
    seen: usize,
    /// The last values.
    values: Vec<u64>,
    /// Whether one has come twice: it is not the number of an event.
    repeats: bool,
}

/// What members have said so far, by which those that count events are known.
#[derive(Default)]
pub(super) struct MemberHistories(HashMap<u64, MemberHistory>);

impl MemberHistories {
    /// Sees the members of one document.
    pub(super) fn see(&mut self, members: impl Iterator<Item = TellingMember>) {
        for member in members {
            if self.0.len() >= MOST_MEMBERS && !self.0.contains_key(&member.at) {
                self.0.clear();
            }
            let history = self.0.entry(member.at).or_default();
            history.seen += 1;
            history.repeats |= history.values.contains(&member.value);
            if history.values.len() == VALUES {
                history.values.remove(0);
            }
            history.values.push(member.value);
        }
    }

    /// Whether a member tells texts apart. A number that never comes twice counts events, and an id that has not come
    /// twice in three documents does.
    fn tells(&self, member: &TellingMember) -> bool {
        self.0.get(&member.at).is_none_or(|history| history.repeats || (!member.ordinal && history.seen < 3))
    }

    /// Whether a string of a document is of the text that another was of. Both have their members in order.
    pub(super) fn same(&self, one: &[TellingMember], other: &[TellingMember]) -> bool {
        let mut others = other.iter().peekable();
        one.iter().all(|member| {
            while others.next_if(|before| before.at < member.at).is_some() {}
            let before = others.peek().filter(|before| before.at == member.at);
            before.is_none_or(|before| before.value == member.value || !self.tells(member))
        })
    }

    /// How much memory they take, in bytes.
    pub(super) fn size(&self) -> usize {
        self.0.len() * (size_of::<(u64, MemberHistory)>() + VALUES * size_of::<u64>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_events_tells_nothing_apart() {
        let member = |value, ordinal| TellingMember { at: 7, value, ordinal };
        let rows: [(&[u64], bool, bool); 6] = [
            (&[1, 2], true, true),
            (&[0, 0, 1], true, false),
            (&[0, 1, 0, 1], true, false),
            (&[1, 2], false, false),
            (&[1, 2, 3], false, true),
            (&[1, 1, 2], false, false),
        ];
        for (values, ordinal, same) in rows {
            let mut histories = MemberHistories::default();
            values.iter().for_each(|value| histories.see([member(*value, ordinal)].into_iter()));
            let last = &values[values.len() - 2..];
            let same_now = histories.same(&[member(last[1], ordinal)], &[member(last[0], ordinal)]);
            assert_eq!(same_now, same, "{values:?}");
        }
    }
}
