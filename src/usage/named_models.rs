//! [`NamedModels`]: which models have sums of their own. Where a server takes any name, whoever may call can make up as many as
//! there are requests, and each would be a row that stays for a year.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Mutex, PoisonError};

/// Models of one token on one route that have sums of their own in a day; what others used is added up under [`OTHER`].
const MOST: usize = 200;

/// What stands for all models beyond those.
pub(super) const OTHER: &str = "other";

/// The names of one day.
#[derive(Default)]
pub(super) struct NamedModels {
    hasher: RandomState,
    seen: Mutex<DayNames>,
}

#[derive(Default)]
struct DayNames {
    day: String,
    /// By token and route, and as numbers: names are as long as callers make them.
    of: HashMap<u64, HashSet<u64>>,
}

impl NamedModels {
    /// Whether a model that `owner`, a token on a route, has asked on a day has sums of its own.
    pub(super) fn admits(&self, day: &str, owner: impl Hash, model: &str) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.day != day {
            day.clone_into(&mut seen.day);
            seen.of.clear();
        }
        let names = seen.of.entry(self.hasher.hash_one(owner)).or_default();
        let name = self.hasher.hash_one(model);
        names.contains(&name) || names.len() < MOST && names.insert(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_models_of_a_token_have_sums_of_their_own() {
        let names = NamedModels::default();
        let admits = |day: &str, token: &str, model: &str| names.admits(day, (token, "chat"), model);
        assert!((0..MOST).all(|n| admits("2026-11-25", "a", &format!("gpt-{n}"))));
        assert!(!admits("2026-11-25", "a", "gpt-x"));
        assert!(admits("2026-11-25", "a", "gpt-7"), "it has its own");
        assert!(admits("2026-11-25", "b", "gpt-x"), "another token has as many");
        assert!(admits("2026-11-26", "a", "gpt-x"), "and so has another day");
    }
}
