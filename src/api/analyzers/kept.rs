//! [`Kept`]: what an analyzer said of texts, until it is too old. Texts are known by a digest under a key of this process.
//! Bounded: of two generations the older one goes when the younger is full, so what was asked for lately stays.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use crate::detect::Finding;

/// What stands for a text.
pub(super) type TextDigest = [u8; 32];

/// The most bytes that a generation is charged for.
const GENERATION: usize = 4 << 20;

/// What an entry takes besides its findings, about, in bytes.
const ENTRY: usize = 128;

#[derive(Clone)]
struct Entry {
    findings: Arc<[Finding]>,
    until: Instant,
    charge: usize,
}

/// Findings by text.
#[derive(Default)]
pub(super) struct Kept {
    young: HashMap<TextDigest, Entry>,
    old: HashMap<TextDigest, Entry>,
    charged: usize,
}

impl Kept {
    /// What is known of a text now.
    pub(super) fn get(&mut self, digest: &TextDigest, now: Instant) -> Option<Arc<[Finding]>> {
        let known = self.young.get(digest).or_else(|| self.old.get(digest));
        let entry = known.filter(|entry| entry.until > now)?.clone();
        let findings = Arc::clone(&entry.findings);
        if !self.young.contains_key(digest) {
            self.keep(*digest, entry);
        }
        Some(findings)
    }

    /// Keeps what was said of a text.
    pub(super) fn put(&mut self, digest: TextDigest, findings: Arc<[Finding]>, until: Instant) {
        let charge = ENTRY + std::mem::size_of_val::<[Finding]>(&findings);
        self.keep(digest, Entry { findings, until, charge });
    }

    fn keep(&mut self, digest: TextDigest, entry: Entry) {
        if self.charged + entry.charge > GENERATION {
            self.old = std::mem::take(&mut self.young);
            self.charged = 0;
        }
        self.charged += entry.charge;
        if let Some(before) = self.young.insert(digest, entry) {
            self.charged -= before.charge;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::base::clock::{Clock, SystemClock};

    fn digest(n: usize) -> TextDigest {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&n.to_le_bytes());
        digest
    }

    #[test]
    fn what_is_asked_for_stays_until_its_time_and_memory_has_its_bound() {
        let now = SystemClock.instant();
        let later = now + Duration::from_secs(9);
        let mut kept = Kept::default();
        let most = GENERATION / ENTRY;
        for n in 0..3 * most {
            kept.put(digest(n), Arc::from([]), later);
            assert!(kept.get(&digest(0), now).is_some(), "{n}");
        }
        assert!(kept.young.len() + kept.old.len() <= 2 * most);
        assert_eq!(kept.charged, kept.young.values().map(|entry| entry.charge).sum::<usize>());
        assert!(kept.get(&digest(1), now).is_none() && kept.get(&digest(0), later).is_none());
    }
}
