//! [`Containers`]: the objects and arrays of a document that its strings are in, and what their members tell of those.

use std::collections::HashMap;
use std::sync::Arc;

use crate::stream::json::Path;
use crate::stream::reassembly::place::{TellingMember, hashed};

/// So many members of one object tell texts apart, of either kind.
const MOST_OF_OBJECT: usize = 8;
/// So many members of all that a string is in do.
const MOST_OF_PLACE: usize = 32;
/// So many objects and arrays of a document are known; strings in others are read by themselves.
const MOST_CONTAINERS: usize = 8192;

/// A member that tells texts apart.
pub(super) struct FoundMember {
    pub(super) member: TellingMember,
    /// Whether it does whatever others say.
    pub(super) always: bool,
}

/// An object or an array.
struct Container {
    /// The number of the one that it is in.
    above: Option<usize>,
    members: Vec<FoundMember>,
}

/// The objects and arrays of a document, each behind the one that it is in.
#[derive(Default)]
pub(super) struct Containers {
    all: Vec<Container>,
    by_way: HashMap<u64, usize>,
}

/// What members tell of the strings in one container.
#[derive(Clone)]
pub(super) struct ContainerMembers {
    /// A number for what those say that always tell texts apart.
    pub(super) kinds: u64,
    /// The others, in order of where they are. Strings of one object share them.
    pub(super) members: Arc<[TellingMember]>,
}

impl Containers {
    /// The number of what a value is in; `None` where there are too many.
    pub(super) fn around(&mut self, path: &Path<'_>) -> Option<usize> {
        self.number(path, path.len().saturating_sub(1))
    }

    /// The number of the container that the first `length` segments lead to.
    fn number(&mut self, path: &Path<'_>, length: usize) -> Option<usize> {
        let way = path.fingerprint(length);
        if let Some(known) = self.by_way.get(&way) {
            return Some(*known);
        }
        let above = match length.checked_sub(1) {
            Some(above) => Some(self.number(path, above)?),
            None => None,
        };
        let number = self.all.len();
        if number == MOST_CONTAINERS {
            return None;
        }
        self.all.push(Container { above, members: Vec::new() });
        self.by_way.insert(way, number);
        Some(number)
    }

    /// Notes a member of a container. Of two that are called the same the last one counts.
    pub(super) fn tell(&mut self, container: usize, found: FoundMember) {
        let Some(Container { members, .. }) = self.all.get_mut(container) else { return };
        if let Some(known) = members.iter_mut().find(|known| known.member.at == found.member.at) {
            *known = found;
        } else if members.iter().filter(|known| known.always == found.always).count() < MOST_OF_OBJECT {
            members.push(found);
        }
    }

    /// What the members of each, and of all that it is in, tell of its strings, by its number.
    pub(super) fn told(&self) -> Vec<ContainerMembers> {
        let mut told: Vec<ContainerMembers> = Vec::with_capacity(self.all.len());
        for Container { above, members } in &self.all {
            let above = above.and_then(|above| told.get(above)).cloned();
            let mut here = above.unwrap_or_else(|| ContainerMembers { kinds: 0, members: Arc::new([]) });
            if !members.is_empty() {
                let mut apart = here.members.to_vec();
                for FoundMember { member, always } in members {
                    if *always {
                        here.kinds = hashed((here.kinds, member.at, member.value));
                    } else if apart.len() < MOST_OF_PLACE {
                        apart.push(*member);
                    }
                }
                apart.sort_unstable_by_key(|member| member.at);
                here.members = apart.into();
            }
            told.push(here);
        }
        told
    }

    /// All members that may tell texts apart.
    pub(super) fn into_members(self) -> impl Iterator<Item = TellingMember> {
        let found = self.all.into_iter().flat_map(|container| container.members);
        found.filter(|found| !found.always).map(|found| found.member)
    }
}
