//! The context words of all rules, found by one look at a word.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, MatchKind};

use super::super::finding::RuleId;
use super::super::rule::Rule;

/// No context word is longer, in bytes.
pub(super) const LONGEST: usize = 32;

/// Bits of the filter that most words of a text end at, as a power of two.
const FILTER: u32 = 16;

/// From this character on scripts are written without spaces between words.
const UNSPACED: char = '\u{0E00}';

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    After,
    Against,
}

/// A word or several, and what they mean to one rule.
pub(super) struct Phrase {
    pub(super) rule: RuleId,
    pub(super) side: Side,
    /// The words behind the first.
    pub(super) rest: Box<[Box<str>]>,
}

/// The words.
pub(crate) struct Lexicon {
    entries: HashMap<Box<str>, u32>,
    phrases: Vec<Vec<Phrase>>,
    filter: Vec<u64>,
    /// Whether a word that is not ASCII is known: the filter does not tell of those.
    wide: bool,
    /// Words of scripts without spaces, which are looked for within a run, and the entry of each.
    infix: Option<(AhoCorasick, Vec<u32>)>,
    /// Rules that have words that speak for a value they follow.
    after: Vec<bool>,
}

/// The place of a word in the filter: of its first eight bytes, ASCII in lower case, and its length.
#[inline]
fn place(word: &[u8]) -> usize {
    const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
    let bytes = match word.first_chunk::<8>() {
        Some(first) => u64::from_le_bytes(*first),
        None => word.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)),
    };
    let folded = (bytes | 0x2020_2020_2020_2020) ^ (word.len() as u64) << 56;
    (folded.wrapping_mul(SPREAD) >> (64 - FILTER)) as usize
}

impl Lexicon {
    pub(crate) fn new(rules: &[Rule]) -> Self {
        let mut lexicon = Self {
            entries: HashMap::new(),
            phrases: Vec::new(),
            filter: vec![0; 1 << (FILTER - 6)],
            wide: false,
            infix: None,
            after: Vec::new(),
        };
        for (n, rule) in rules.iter().enumerate() {
            let Ok(n) = u16::try_from(n) else { break };
            for words in rule.context.values() {
                lexicon.add(RuleId::new(n), Side::Before, &words.before);
                lexicon.add(RuleId::new(n), Side::After, &words.after);
                lexicon.add(RuleId::new(n), Side::Against, &words.negative);
            }
            lexicon.after.push(rule.context.values().any(|words| !words.after.is_empty()));
        }
        let unspaced = |word: &&Box<str>| word.chars().all(|letter| letter >= UNSPACED);
        let infix: Vec<&Box<str>> = lexicon.entries.keys().filter(unspaced).collect();
        let entries = infix.iter().filter_map(|&word| lexicon.entries.get(word).copied()).collect();
        let texts = infix.iter().map(|word| word.as_bytes());
        let search = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(texts);
        lexicon.infix = search.ok().filter(|_| !infix.is_empty()).map(|search| (search, entries));
        lexicon
    }

    fn add(&mut self, rule: RuleId, side: Side, phrases: &[String]) {
        for phrase in phrases {
            let words: Vec<Box<str>> = phrase
                .split(|letter: char| !letter.is_alphabetic())
                .filter(|word| !word.is_empty())
                .map(|word| word.to_lowercase().into_boxed_str())
                .collect();
            let Some((first, rest)) = words.split_first() else { continue };
            self.insert(first, Phrase { rule, side, rest: rest.into() });
            if !rest.is_empty() {
                // `accountnumber` is an account number too.
                self.insert(&words.concat(), Phrase { rule, side, rest: Box::default() });
            }
        }
    }

    fn insert(&mut self, word: &str, phrase: Phrase) {
        let next = u32::try_from(self.phrases.len()).unwrap_or(u32::MAX);
        let entry = *self.entries.entry(word.into()).or_insert(next);
        if entry == next {
            self.phrases.push(Vec::new());
        }
        if let Some(phrases) = self.phrases.get_mut(entry as usize) {
            phrases.push(phrase);
        }
        let place = place(word.as_bytes());
        if let Some(bits) = self.filter.get_mut(place / 64) {
            *bits |= 1 << (place % 64);
        }
        self.wide |= !word.is_ascii();
    }

    /// The entry of a word, if it has one.
    #[inline]
    pub(super) fn entry(&self, word: &[u8]) -> Option<u32> {
        let place = place(word);
        let known = self.filter.get(place / 64).is_some_and(|bits| bits >> (place % 64) & 1 == 1);
        if known || self.wide && word.first().is_some_and(|&byte| byte >= 0x80 || word.len() > 1) && !word.is_ascii() {
            self.look_up(word)
        } else {
            None
        }
    }

    #[cold]
    fn look_up(&self, word: &[u8]) -> Option<u32> {
        let lowered = lower(word, &mut [0; LONGEST])?.into_owned();
        self.entries.get(lowered.as_str()).copied()
    }

    /// The words of scripts without spaces that lie in `run`: where each begins and ends in it, and its entry.
    pub(super) fn within(&self, run: &[u8], mut sink: impl FnMut(usize, usize, u32)) {
        let Some((search, entries)) = &self.infix else { return };
        for hit in search.find_iter(run) {
            if let Some(&entry) = entries.get(hit.pattern().as_usize()) {
                sink(hit.start(), hit.end(), entry);
            }
        }
    }

    /// What an entry means to rules.
    pub(super) fn phrases(&self, entry: u32) -> &[Phrase] {
        self.phrases.get(entry as usize).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether words that follow a value can speak for it.
    pub(crate) fn looks_ahead(&self, rule: RuleId) -> bool {
        self.after.get(rule.index()).copied().unwrap_or(false)
    }
}

/// A word in lower case, if it is text and not too long for a context word.
pub(super) fn lower<'b>(bytes: &[u8], buffer: &'b mut [u8; LONGEST]) -> Option<std::borrow::Cow<'b, str>> {
    let place = buffer.get_mut(..bytes.len())?;
    place.copy_from_slice(bytes);
    place.make_ascii_lowercase();
    let text = std::str::from_utf8(place).ok()?;
    Some(if text.is_ascii() { text.into() } else { text.to_lowercase().into() })
}
