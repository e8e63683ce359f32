//! [`Store`]: what feeds have listed, as hashes in memory.
//!
//! Each entry is eight bytes: 57 bits of a SHA-256 and a score. With a million entries, a link that is listed nowhere
//! is taken for one that is about once in 10¹⁰ look-ups.

use std::collections::HashSet;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::sanitize::intel::feed::{self, FeedError, Loaded};
use crate::sanitize::intel::{Canonical, Score};

/// Hosts so common that what is listed on them says nothing about them.
const COMMON: &str = include_str!("../../../conf/intel/common-hosts.txt");

/// The bits of an entry that are its score.
const SCORE: u64 = 0x7f;

/// Suffixes of a host that are looked up, besides the host: the shortest ones.
const SUFFIXES: usize = 5;

/// What feeds have listed; made once, then only read.
#[derive(Default)]
pub struct Store {
    /// Sorted, each key once.
    entries: Vec<u64>,
    common: HashSet<u64>,
}

/// A store in the making.
#[derive(Debug)]
pub struct StoreMaking {
    store: Store,
}

#[derive(Clone, Copy)]
enum KeyKind {
    Url = 1,
    Host,
    Common,
    Below,
}

impl Store {
    /// What is known of each of these.
    pub fn lookup(&self, links: &[Canonical]) -> Vec<Score> {
        links.iter().map(|link| self.score(link)).collect()
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The bytes that its entries take.
    pub fn size(&self) -> usize {
        size_of_val(self.entries.as_slice()) + self.common.capacity() * size_of::<u64>()
    }

    fn score(&self, link: &Canonical) -> Score {
        if self.entries.is_empty() {
            return Score::UNKNOWN;
        }
        // Hashed once for all hosts: a path may be long.
        let places: Vec<(bool, [u8; 32])> =
            link.places().map(|place| (place == "/", Sha256::digest(place.as_bytes()).into())).collect();
        let all: Vec<&str> = link.hosts().collect();
        let short = all.len().saturating_sub(SUFFIXES).max(1);
        let hosts = all.iter().enumerate().filter(|(n, _)| *n == 0 || *n >= short);
        let mut best = Score::UNKNOWN;
        for (n, host) in hosts {
            let common = self.is_common(host);
            for (m, (root, place)) in places.iter().enumerate() {
                // The root of a common host is the host.
                let listed = if common && *root { None } else { self.get(key(KeyKind::Url, host, place)) };
                let listed = listed.map(|score| if n == 0 && m == 0 { score } else { score.wider() });
                best = best.max(listed.unwrap_or_default());
            }
            if !common {
                best = best.max(self.get(key(KeyKind::Host, host, &[])).unwrap_or_default());
            }
        }
        best
    }

    fn get(&self, key: u64) -> Option<Score> {
        let at = self.entries.partition_point(|entry| entry & !SCORE < key);
        let entry = self.entries.get(at).filter(|entry| *entry & !SCORE == key)?;
        u8::try_from(entry & SCORE).ok().map(Score::new)
    }

    fn is_common(&self, host: &str) -> bool {
        let below = host.match_indices('.').filter_map(|(at, _)| host.get(at + 1..));
        self.common.contains(&key(KeyKind::Common, host, &[]))
            || below.take(SUFFIXES).any(|suffix| self.common.contains(&key(KeyKind::Below, suffix, &[])))
    }
}

impl StoreMaking {
    /// With the built-in list of common hosts.
    pub fn new() -> Self {
        let mut making = Self { store: Store::default() };
        for line in COMMON.lines() {
            making.common(line);
        }
        making
    }

    /// Reads a feed, or all feeds of a folder: `*.csv`, `*.json`, `*.txt`.
    ///
    /// # Errors
    /// [`FeedError`]; then what was read of the file before is in the store.
    pub fn load(&mut self, path: &Path) -> Result<Loaded, FeedError> {
        feed::load(path, &mut |entry| match entry {
            feed::FeedEntry::Url(url, score) => self.url(&url, score),
            feed::FeedEntry::Host(host, score) => self.host(&host, score),
        })
    }

    /// Reads a list of common hosts, one a line: `host`, or `*.host` for those below it; or a warning list of MISP's.
    ///
    /// # Errors
    /// [`FeedError`].
    pub fn warnings(&mut self, path: &Path) -> Result<Loaded, FeedError> {
        feed::warnings(path, &mut |line| self.common(line))
    }

    /// Lists a URL, and with it, less surely, its host.
    pub fn url(&mut self, url: &Canonical, score: Score) {
        let Some(place) = url.places().next() else { return };
        let place = Sha256::digest(place.as_bytes());
        self.push(key(KeyKind::Url, url.host(), &place), score);
        self.push(key(KeyKind::Host, url.host(), &[]), score.wider());
    }

    /// Lists a host, and with it all below it.
    pub fn host(&mut self, host: &Canonical, score: Score) {
        self.push(key(KeyKind::Host, host.host(), &[]), score);
    }

    fn push(&mut self, key: u64, score: Score) {
        self.store.entries.push(key | u64::from(score.get()));
    }

    /// Takes in a line of a list of common hosts; whether it is one.
    fn common(&mut self, line: &str) -> bool {
        let line = line.split('#').next().unwrap_or_default().trim();
        let (name, kind) = match line.strip_prefix("*.").or_else(|| line.strip_prefix('.')) {
            Some(name) => (name, KeyKind::Below),
            None => (line, KeyKind::Common),
        };
        let host = Canonical::domain(name);
        if let Some(host) = &host {
            self.store.common.insert(key(kind, host.host(), &[]));
        }
        host.is_some() || line.is_empty()
    }

    /// The store; of what is listed twice, the higher score holds.
    pub fn done(mut self) -> Store {
        let entries = &mut self.store.entries;
        entries.sort_unstable_by(|a, b| b.cmp(a));
        entries.dedup_by_key(|entry| *entry & !SCORE);
        entries.reverse();
        entries.shrink_to_fit();
        self.store
    }
}

impl Default for StoreMaking {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Store({} entries)", self.len())
    }
}

/// A key: the hash without the bits of the score.
fn key(kind: KeyKind, host: &str, place: &[u8]) -> u64 {
    let mut hash = Sha256::new();
    hash.update([kind as u8]);
    hash.update(place);
    // Last, and after something of one length or none: no two pairs run together alike.
    hash.update(host.as_bytes());
    let hash = hash.finalize();
    let first = hash.first_chunk::<8>().copied().unwrap_or_default();
    u64::from_be_bytes(first) & !SCORE
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
