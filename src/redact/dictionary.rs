//! Names by culture and kind, and what stands for each: another of its section, by a keyed permutation that moves every
//! one. For a name that is no ordinary word stands one that is none. The lists are data (`dictionary/*.txt`, which say what
//! they are).

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use crate::base::generations::Generations;
use crate::crypto::fpe::FpeKey;
use crate::detect::is_common_word;

const PERSONS: &str = include_str!("dictionary/persons.txt");
const PLACES: &str = include_str!("dictionary/places.txt");
const ORDINARY: &str = include_str!("dictionary/ordinary.txt");

/// The shortest name that is no ordinary word, in characters.
const SHORTEST: usize = 4;

/// The fewest names of a section that may be a kind of their own: each stands for one of the others.
const FEWEST: usize = 16;

/// Whether a name, in lower case, is too short to be nothing else, or an ordinary word of a language as well.
pub(super) fn is_ordinary(name: &str) -> bool {
    static READ: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        let lines = ORDINARY.lines().filter(|line| !line.starts_with('#'));
        lines.flat_map(str::split_ascii_whitespace).collect()
    });
    name.chars().count() < SHORTEST || READ.contains(name) || is_common_word(name)
}

/// One section: as many names as surrogates.
struct Section {
    /// Its culture and kind: `en f`.
    name: &'static str,
    /// What gets a surrogate of here.
    names: Vec<&'static str>,
    /// The surrogates: mostly the same.
    surrogates: Vec<&'static str>,
    /// Which of them are names and no ordinary words, at the same places of both lists.
    names_only: Vec<bool>,
}

impl Section {
    /// The section of this name, without names.
    const fn new(name: &'static str) -> Self {
        Self { name, names: Vec::new(), surrogates: Vec::new(), names_only: Vec::new() }
    }

    /// Tells names from ordinary words, unless there are so few of one kind that one would tell the other.
    fn sort_out(&mut self) {
        let both = self.names.iter().zip(&self.surrogates);
        let only: Vec<bool> =
            both.map(|(name, surrogate)| name == surrogate && !is_ordinary(&name.to_lowercase())).collect();
        let count = only.iter().filter(|only| **only).count();
        let fits = |count: usize| count == 0 || count >= FEWEST;
        self.names_only = match fits(count) && fits(only.len() - count) {
            true => only,
            false => vec![false; only.len()],
        };
    }
}

/// The sections of a file that are of one kind of thing.
pub(super) struct Dictionary {
    /// Tells its permutations from those of another one.
    label: &'static str,
    sections: Vec<Section>,
    /// The section of a name in lower case, and its number there.
    names: HashMap<String, (u16, u16)>,
    surrogates: HashSet<String>,
}

impl Dictionary {
    /// Given names and surnames.
    pub(super) fn persons() -> &'static Self {
        static READ: OnceLock<Dictionary> = OnceLock::new();
        READ.get_or_init(|| Self::read("persons", PERSONS, |_| true))
    }

    /// Towns.
    pub(super) fn towns() -> &'static Self {
        static READ: OnceLock<Dictionary> = OnceLock::new();
        READ.get_or_init(|| Self::read("towns", PLACES, |section| section.ends_with(" p")))
    }

    /// What streets are called after.
    pub(super) fn streets() -> &'static Self {
        static READ: OnceLock<Dictionary> = OnceLock::new();
        READ.get_or_init(|| Self::read("streets", PLACES, |section| section.ends_with(" s")))
    }

    fn read(label: &'static str, text: &'static str, wanted: fn(&str) -> bool) -> Self {
        let mut read =
            Self { label, sections: Vec::new(), names: HashMap::new(), surrogates: HashSet::new() };
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                read.sections.push(Section::new(name));
                continue;
            }
            let at = read.sections.len().wrapping_sub(1) as u16;
            let Some(section) = read.sections.last_mut().filter(|section| wanted(section.name)) else {
                continue;
            };
            for word in line.split_ascii_whitespace() {
                let (name, surrogate) = match (word.strip_prefix('-'), word.strip_prefix('+')) {
                    (Some(name), _) => (Some(name), None),
                    (_, Some(surrogate)) => (None, Some(surrogate)),
                    _ => (Some(word), Some(word)),
                };
                if let Some(name) = name {
                    read.names.insert(name.to_lowercase(), (at, section.names.len() as u16));
                    section.names.push(name);
                }
                if let Some(surrogate) = surrogate {
                    read.surrogates.insert(surrogate.to_lowercase());
                    section.surrogates.push(surrogate);
                }
            }
        }
        read.sections.iter_mut().for_each(Section::sort_out);
        read
    }

    /// Whether it has this name, in lower case.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// Whether this, in lower case, stands for a name or is one.
    pub(super) fn knows(&self, word: &str) -> bool {
        self.has(word) || self.surrogates.contains(word)
    }

    /// Whether it has this name, in lower case, and it is no ordinary word as well.
    pub(super) fn is_name_only(&self, name: &str) -> bool {
        self.has(name) && self.surrogates.contains(name)
    }
}

/// The permutations of all sections that were asked for, under one key.
#[derive(Default)]
pub(super) struct Permutations {
    known: HashMap<OfSection, Arc<[u16]>>,
}

/// What a permutation is of.
#[derive(PartialEq, Eq, Hash)]
struct OfSection {
    dictionary: &'static str,
    section: u16,
    tweak: [u8; 16],
}

impl Permutations {
    /// What stands for a name, which is in lower case; `None` where the dictionary does not have it.
    pub(super) fn surrogate(
        &mut self,
        dictionary: &'static Dictionary,
        key: &FpeKey,
        tweak: [u8; 16],
        name: &str,
    ) -> Option<&'static str> {
        let &(at, rank) = dictionary.names.get(name)?;
        let section = dictionary.sections.get(usize::from(at))?;
        let order = self.known.entry(OfSection { dictionary: dictionary.label, section: at, tweak });
        let order = order.or_insert_with(|| {
            recent_cycle(
                key,
                [&tweak, dictionary.label.as_bytes(), section.name.as_bytes()],
                section.names.len(),
            )
        });
        // The permutation is one cycle: along it the next of the same kind comes, and each but once.
        let only = section.names_only.get(usize::from(rank))?;
        let mut to = usize::from(*order.get(usize::from(rank))?);
        for _ in 1..order.len() {
            if section.names_only.get(to) == Some(only) {
                break;
            }
            to = usize::from(*order.get(to)?);
        }
        section.surrogates.get(to).copied()
    }
}

/// How much is kept of the permutations that were drawn last, in bytes: twice that, of some 200 sections. The requests of a
/// conversation have the same.
const RECENT: usize = 1 << 20;

/// What an entry takes beside its numbers, about, in bytes.
const ENTRY: usize = 160;

/// By a digest under the key that they were drawn with.
static KNOWN: LazyLock<Mutex<Generations<Arc<[u16]>>>> =
    LazyLock::new(|| Mutex::new(Generations::new(RECENT)));

/// [`cycle`], drawn but once while it is asked for again and again.
fn recent_cycle(key: &FpeKey, parts: [&[u8]; 3], size: usize) -> Arc<[u16]> {
    let [tweak, dictionary, section] = parts;
    let digest = key.prf(&[b"digest of a permutation", tweak, dictionary, section]);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(order) = known().get(&digest) {
        return order;
    }
    let order = cycle(key, &parts, size);
    known().put(digest, Arc::clone(&order), ENTRY + size_of_val(&*order));
    order
}

/// A permutation of so many numbers that is one cycle, so that none stays where it is (Sattolo), drawn from the
/// keystream that `parts` decide.
fn cycle(key: &FpeKey, parts: &[&[u8]], size: usize) -> Arc<[u16]> {
    let mut stream = key.keystream(parts);
    let mut order: Vec<u16> = (0..size).map(|n| n as u16).collect();
    for at in (1..size).rev() {
        // 128 bits: the modulus is even to one part in 2^112.
        order.swap(at, (stream.block() % at as u128) as usize);
    }
    order.into()
}

#[cfg(test)]
#[path = "dictionary_tests.rs"]
mod tests;
