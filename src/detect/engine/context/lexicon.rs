//! The context words of all rules, found by one look at a word.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, MatchKind};

use super::super::group_id::GroupId;
use super::words::WindowWord;
use crate::detect::finding::RuleId;
use crate::detect::naming::{self, is_mark};
use crate::detect::rules::RuleRef;
use crate::detect::selection::RuleSelection;

/// No context word is longer, in bytes.
pub(super) const LONGEST: usize = 32;

/// Bits of the filter that most words of a text end at, as a power of two.
const FILTER: u32 = 16;

/// Bytes of a word that its key holds.
const KEPT: usize = 8;

/// From this character on scripts are written without spaces between words.
const UNSPACED: char = '\u{0E00}';

/// What a phrase says of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    /// For the value that follows.
    Before,
    /// For the value it follows.
    After,
    /// Against the value that follows.
    Against,
}

/// Whose values a phrase concerns, and how.
#[derive(Clone, Copy)]
struct PhraseEffect {
    rule: RuleId,
    side: Side,
    /// The groups that the rule is in, a bit for each.
    groups: u16,
}

/// Which phrase of which entry.
#[derive(Clone, Copy)]
struct PhrasePlace {
    entry: u32,
    number: usize,
}

/// How a phrase goes on behind its first word, and which rules' values it supports or contradicts.
pub(super) struct Phrase {
    /// The words behind the first.
    pub(super) rest: Box<[Box<str>]>,
    /// The byte that those begin with, if there are any.
    first: Option<u8>,
    /// Whom it concerns, sorted.
    rules: Vec<(RuleId, Side)>,
    /// The groups with a rule that it supports from before, and from behind: a bit for each.
    before: u16,
    after: u16,
    /// Those rules, as places of [`Lexicon::sets`].
    sets: [u32; 2],
}

impl Phrase {
    /// Whether it says `side` of values of `rule`.
    pub(super) fn says(&self, rule: RuleId, side: Side) -> bool {
        self.rules.binary_search(&(rule, side)).is_ok()
    }

    /// Whether it may go on where this follows its first word.
    #[inline]
    pub(super) fn may_follow(&self, next: FollowingWords) -> bool {
        self.first.is_none_or(|first| match first {
            b'0'..=b'9' => next.byte == Some(first),
            // Where a character that is not ASCII begins, its lower case may be any.
            _ => next.letter.is_some_and(|letter| letter >= 0x80 || letter.to_ascii_lowercase() == first),
        })
    }

    /// Whether it supports values of any rule of `group` that it stands on `side` of.
    pub(super) fn concerns(&self, group: GroupId, side: Side) -> bool {
        let groups = if side == Side::Before { self.before } else { self.after };
        groups & group.bit() != 0
    }
}

/// What stands behind a word.
#[derive(Clone, Copy)]
pub(super) struct FollowingWords {
    /// The next byte.
    pub(super) byte: Option<u8>,
    /// The byte that the next word begins with, if that is near.
    pub(super) letter: Option<u8>,
}

/// A word that is ASCII, where it is looked up.
#[derive(Clone, Copy)]
struct LexiconSlot {
    key: u64,
    /// `None` where there is no word.
    entry: Option<u32>,
}

/// The words.
pub(crate) struct Lexicon {
    entries: HashMap<Box<str>, u32>,
    /// The words that are ASCII by their keys, open addressing; some two places for each.
    slots: Vec<LexiconSlot>,
    /// The word of each entry.
    texts: Vec<Box<str>>,
    phrases: Vec<Vec<Phrase>>,
    /// Sets of rules that phrases support: many phrases support the same.
    sets: Vec<RuleSelection>,
    /// The groups that the phrases of each entry concern, from before and from behind.
    groups: Vec<(u16, u16)>,
    filter: Vec<u64>,
    /// Whether a word that is not ASCII is known: the filter does not tell of those.
    non_ascii: bool,
    /// Words of scripts without spaces, which are looked for within a run, and the entry of each.
    infix: Option<(AhoCorasick, Vec<u32>)>,
    /// Rules that have words that support a value they follow.
    after: RuleSelection,
}

/// The word `start..end` of `text` as a number: its first eight bytes, ASCII in lower case, and its length. Letters of
/// ASCII that are eight at most have the same only where they are the same word.
#[inline]
fn key(text: &[u8], start: usize, end: usize) -> u64 {
    let length = end - start;
    let rest = text.get(start..).unwrap_or_default();
    let bytes = match rest.first_chunk::<KEPT>() {
        Some(first) => u64::from_le_bytes(*first),
        None => rest.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)),
    };
    let kept = bytes & (u64::MAX >> (8 * KEPT.saturating_sub(length)).min(63));
    (kept | 0x2020_2020_2020_2020) ^ (length as u64) << 56
}

/// One of two to the power of `bits` places for a key.
#[inline]
const fn place(key: u64, bits: u32) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - bits)) as usize
}

impl Lexicon {
    /// The words of `rules`.
    pub(crate) fn new<'r>(rules: impl IntoIterator<Item = RuleRef<'r>>) -> Self {
        let mut lexicon = Self {
            entries: HashMap::new(),
            slots: Vec::new(),
            texts: Vec::new(),
            phrases: Vec::new(),
            sets: Vec::new(),
            groups: Vec::new(),
            filter: vec![0; 1 << (FILTER - 6)],
            non_ascii: false,
            infix: None,
            after: RuleSelection::default(),
        };
        // Most phrases are those of many rules: each is cut into words once.
        let mut known: HashMap<&str, Vec<PhrasePlace>> = HashMap::new();
        for RuleRef { id, rule } in rules {
            let groups = GroupId::of(rule.anchor).iter().fold(0, |all, group| all | group.bit());
            for words in rule.context.values() {
                let sides = [
                    (Side::Before, &words.before),
                    (Side::After, &words.after),
                    (Side::Against, &words.negative),
                ];
                for (side, phrases) in sides {
                    for phrase in phrases {
                        for place in known.entry(phrase).or_insert_with(|| lexicon.add(phrase)) {
                            lexicon.concern(*place, PhraseEffect { rule: id, side, groups });
                        }
                    }
                }
            }
            if rule.context.values().any(|words| !words.after.is_empty()) {
                lexicon.after.insert(id);
            }
        }
        lexicon.share_sets();
        lexicon.place_words();
        let unspaced = |word: &&str| word.chars().all(|letter| letter >= UNSPACED);
        let infix: Vec<&str> = lexicon.entries.keys().map(AsRef::as_ref).filter(unspaced).collect();
        let entries = infix.iter().filter_map(|word| lexicon.entries.get(*word).copied()).collect();
        let texts = infix.iter().map(|word| word.as_bytes());
        let search = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(texts);
        lexicon.infix = search.ok().filter(|_| !infix.is_empty()).map(|search| (search, entries));
        lexicon
    }

    /// Gives the words that are ASCII their places.
    fn place_words(&mut self) {
        let ascii = self.texts.iter().zip(0..).filter(|(text, _)| text.is_ascii());
        let words: Vec<(u64, u32)> =
            ascii.map(|(text, entry)| (key(text.as_bytes(), 0, text.len()), entry)).collect();
        self.slots = vec![LexiconSlot { key: 0, entry: None }; (words.len() * 2).next_power_of_two().max(2)];
        for (key, entry) in words {
            let first = place(key, self.slots.len().trailing_zeros());
            let mut places = (first..self.slots.len()).chain(0..first);
            let free = places.find(|&n| self.slots.get(n).is_some_and(|slot| slot.entry.is_none()));
            if let Some(slot) = free.and_then(|n| self.slots.get_mut(n)) {
                *slot = LexiconSlot { key, entry: Some(entry) };
            }
        }
    }

    /// Makes a set of the rules that each phrase supports from each side, equal ones once.
    fn share_sets(&mut self) {
        let mut places: HashMap<Vec<RuleId>, u32> = HashMap::new();
        for phrase in self.phrases.iter_mut().flatten() {
            phrase.sets = [Side::Before, Side::After].map(|side| {
                let ours = phrase.rules.iter().filter(|(_, said)| *said == side);
                let rules: Vec<RuleId> = ours.map(|&(rule, _)| rule).collect();
                let next = u32::try_from(places.len()).unwrap_or(u32::MAX);
                *places.entry(rules).or_insert_with_key(|rules| {
                    self.sets.push(rules.iter().copied().collect());
                    next
                })
            });
        }
    }

    /// Takes a phrase's words in, and those of its spelling without spaces.
    fn add(&mut self, phrase: &str) -> Vec<PhrasePlace> {
        let words: Vec<Box<str>> = phrase
            .split(|letter: char| !letter.is_alphanumeric() && !is_mark(letter))
            .flat_map(|word| {
                // `auth0` is a word and what must follow it at once.
                let digit = word.find(|letter: char| letter.is_ascii_digit()).unwrap_or(word.len());
                let (letters, rest) = word.split_at_checked(digit).unwrap_or((word, ""));
                [letters, rest]
            })
            .filter(|word| !word.is_empty())
            .map(|word| word.to_lowercase().into_boxed_str())
            .collect();
        let Some((first, rest)) = words.split_first() else { return Vec::new() };
        let mut places = vec![self.insert(first, rest)];
        if !rest.is_empty()
            && words.iter().all(|word| !word.starts_with(|letter: char| letter.is_ascii_digit()))
        {
            // `accountnumber` is an account number too.
            places.push(self.insert(&words.concat(), &[]));
        }
        places
    }

    fn insert(&mut self, word: &str, rest: &[Box<str>]) -> PhrasePlace {
        let next = u32::try_from(self.phrases.len()).unwrap_or(u32::MAX);
        let entry = *self.entries.entry(word.into()).or_insert(next);
        if entry == next {
            self.phrases.push(Vec::new());
            self.groups.push((0, 0));
            self.texts.push(word.into());
            let place = place(key(word.as_bytes(), 0, word.len()), FILTER);
            if let Some(bits) = self.filter.get_mut(place / 64) {
                *bits |= 1 << (place % 64);
            }
            self.non_ascii |= !word.is_ascii();
        }
        let Some(phrases) = self.phrases.get_mut(entry as usize) else {
            return PhrasePlace { entry, number: 0 };
        };
        let number = phrases.iter().position(|phrase| *phrase.rest == *rest).unwrap_or(phrases.len());
        if number == phrases.len() {
            let first = rest.first().and_then(|word| word.bytes().next());
            phrases.push(Phrase {
                rest: rest.into(),
                first,
                rules: Vec::new(),
                before: 0,
                after: 0,
                sets: [0; 2],
            });
        }
        PhrasePlace { entry, number }
    }

    /// Lets a phrase concern a rule's values.
    fn concern(&mut self, place: PhrasePlace, PhraseEffect { rule, side, groups }: PhraseEffect) {
        let entry = place.entry as usize;
        let phrases = self.phrases.get_mut(entry);
        let Some(phrase) = phrases.and_then(|phrases| phrases.get_mut(place.number)) else { return };
        let said = (rule, side);
        if let Err(at) = phrase.rules.binary_search(&said) {
            phrase.rules.insert(at, said);
        }
        match side {
            Side::Before => phrase.before |= groups,
            Side::After => phrase.after |= groups,
            Side::Against => {}
        }
        if let Some((before, after)) = self.groups.get_mut(entry) {
            *before |= phrase.before;
            *after |= phrase.after;
        }
    }

    /// The entry of a word of `text`, if it has one.
    #[inline]
    pub(super) fn entry(&self, text: &[u8], word: WindowWord) -> Option<u32> {
        let WindowWord { start, end, non_ascii, .. } = word;
        if non_ascii {
            return if self.non_ascii { self.look_up(text.get(start..end)?) } else { None };
        }
        let key = key(text, start, end);
        let place = place(key, FILTER);
        let known = self.filter.get(place / 64).is_some_and(|bits| bits >> (place % 64) & 1 == 1);
        if known { self.ascii(text.get(start..end)?, key) } else { None }
    }

    fn ascii(&self, word: &[u8], key: u64) -> Option<u32> {
        let first = place(key, self.slots.len().trailing_zeros());
        for n in (first..self.slots.len()).chain(0..first) {
            let slot = self.slots.get(n)?;
            let entry = slot.entry?;
            if slot.key == key && (word.len() <= KEPT || self.is(entry, word)) {
                return Some(entry);
            }
        }
        None
    }

    /// Whether an entry's word is this one.
    fn is(&self, entry: u32, word: &[u8]) -> bool {
        self.texts.get(entry as usize).is_some_and(|text| text.as_bytes().eq_ignore_ascii_case(word))
    }

    #[cold]
    fn look_up(&self, word: &[u8]) -> Option<u32> {
        let buffer = &mut [0; LONGEST];
        let lowered = lower(word, buffer)?;
        self.entries.get(lowered.as_ref()).copied()
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

    /// Whether a phrase of the entry supports values of any rule of `group` that it stands on `side` of.
    #[inline]
    pub(super) fn concerns(&self, entry: u32, group: GroupId, side: Side) -> bool {
        let (before, after) = self.groups.get(entry as usize).copied().unwrap_or_default();
        (if side == Side::Before { before } else { after }) & group.bit() != 0
    }

    /// The rules whose values `phrase` supports from before.
    pub(super) fn supported_before(&self, phrase: &Phrase) -> &RuleSelection {
        self.set(phrase.sets[0])
    }

    /// The rules whose values `phrase` supports from behind.
    pub(super) fn supported_after(&self, phrase: &Phrase) -> &RuleSelection {
        self.set(phrase.sets[1])
    }

    fn set(&self, place: u32) -> &RuleSelection {
        self.sets.get(place as usize).unwrap_or(const { &RuleSelection::NONE })
    }

    /// What an entry means to rules.
    pub(super) fn phrases(&self, entry: u32) -> &[Phrase] {
        self.phrases.get(entry as usize).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether words that follow a value can support it.
    pub(crate) fn looks_ahead(&self, rule: RuleId) -> bool {
        self.after.has(rule)
    }
}

/// A word in lower case, if it is text and not too long for a context word.
pub(super) fn lower<'b>(bytes: &[u8], buffer: &'b mut [u8; LONGEST]) -> Option<std::borrow::Cow<'b, str>> {
    let place = buffer.get_mut(..bytes.len())?;
    place.copy_from_slice(bytes);
    place.make_ascii_lowercase();
    let text = std::str::from_utf8(place).ok()?;
    Some(if text.bytes().any(begins_cased) { naming::lower(text).into() } else { text.into() })
}

/// Whether a byte may begin a character beyond ASCII that has a lower case: those of Hebrew, Arabic, the scripts of India and of
/// East Asia (U+0580 to U+0FFF, U+3000 to U+9FFF, U+AC00 to U+D7FF) have none.
const fn begins_cased(byte: u8) -> bool {
    matches!(byte, 0xC2..=0xD5 | 0xE1 | 0xE2 | 0xEA | 0xEE..=0xFF)
}

#[cfg(test)]
mod tests {
    use super::begins_cased;

    #[test]
    fn what_has_a_lower_case_begins_so() {
        for c in ('\u{80}'..=char::MAX).filter(|c| !c.to_lowercase().eq([*c])) {
            assert!(c.to_string().bytes().next().is_some_and(begins_cased), "{c}");
        }
    }
}
