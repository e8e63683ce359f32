//! Secrets known by their prefix. Nearly all text is stepped over: a secret lies in a long run of the characters
//! that tokens and addresses are made of, and there one look at four bytes tells whether a word can begin one.
//! From each prefix a walk. A secret that outgrows its reach is certain by then, and is reported piece by piece
//! until it ends.

use std::cmp::Reverse;

use aho_corasick::{AhoCorasick, MatchKind};

use super::super::automaton::{Automaton, WalkEnd};
use super::super::group::Group;
use super::super::mask::{BLOCK, Class, Masks, Runs};
use super::super::pass::{Candidates, StartOutcome, WindowPass};
use super::super::track::{Overlong, Track};
use super::super::view::{Ternary, View};
use crate::detect::finding::RuleId;
use crate::detect::rules::{Edge, RuleRef};
use crate::detect::selection::RuleSelection;

/// Bytes of a prefix by which it is looked up.
const KEY: usize = 4;
/// The shortest run of link characters that holds a secret, in bytes.
const RUN: usize = 10;
/// Bits of the filter that most words end at, as a power of two.
const FILTER: u32 = 16;
/// Bits of the table of keys, which has some places for each.
const KEYS: u32 = 12;

/// What the search looks for: the beginning of one or more rules' prefixes.
struct Literal {
    text: Vec<u8>,
    rules: RuleSelection,
    /// Those prefixes, the longest first, each with its rule.
    whole: Vec<(Box<[u8]>, RuleId)>,
    reach: usize,
    /// Where its first word begins.
    word: usize,
}

/// The rules known by a prefix.
pub(crate) struct Prefixes {
    automaton: Automaton,
    literals: Vec<Literal>,
    filter: Vec<u64>,
    /// Literals by the first bytes of their first word, three or four, each list at the place of a hash.
    keys: Vec<Vec<usize>>,
    /// Literals that need not lie in a long run, and their places.
    odd: Option<(AhoCorasick, Vec<usize>)>,
    longest: usize,
    odd_longest: usize,
}

/// One of two to the power of `bits` places for a key.
fn place(key: [u8; KEY], bits: u32) -> usize {
    (u32::from_le_bytes(key).wrapping_mul(0x9E37_79B1) >> (32 - bits)) as usize
}

/// The beginning of a text as a key, zeros behind what is shorter.
fn key(text: &[u8]) -> [u8; KEY] {
    let mut key = [0; KEY];
    key.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
    key
}

impl Prefixes {
    /// `None` if the literals together are too large. `rules` are those of this group.
    pub(crate) fn new(automaton: Automaton, rules: &[RuleRef<'_>]) -> Option<Self> {
        let mut texts: Vec<&[u8]> =
            rules.iter().flat_map(|one| &one.rule.prefixes).map(|prefix| prefix.as_bytes()).collect();
        texts.sort_unstable();
        // What begins with another literal is found by it.
        texts.dedup_by(|text, shorter| text.starts_with(shorter));
        let literals: Vec<Literal> = texts.iter().map(|text| literal(text, rules)).collect();
        let longest = texts.iter().map(|text| text.len()).max()?;
        let (filter, keys) = (vec![0; 1 << (FILTER - 6)], vec![Vec::new(); 1 << KEYS]);
        let mut group = Self { automaton, literals, filter, keys, odd: None, longest, odd_longest: 0 };
        let odd: Vec<usize> = (0..group.literals.len()).filter(|&n| !group.add(n)).collect();
        if !odd.is_empty() {
            let texts = odd.iter().filter_map(|&n| Some(&group.literals.get(n)?.text));
            let search = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(texts).ok()?;
            let lengths = odd.iter().filter_map(|&n| Some(group.literals.get(n)?.text.len()));
            group.odd_longest = lengths.max().unwrap_or(0);
            group.odd = Some((search, odd));
        }
        Some(group)
    }

    /// Makes a literal known to the filter; not if it can begin a run that is too short for it.
    fn add(&mut self, n: usize) -> bool {
        let Some(literal) = self.literals.get(n) else { return false };
        let word = literal.text.get(literal.word..).unwrap_or_default();
        let length = word.len().min(KEY);
        let linked = |text: &[u8]| text.iter().take_while(|&&byte| Class::Link.has(byte)).count();
        let before = literal.text.get(..literal.word).unwrap_or_default();
        let whole = linked(before) == before.len();
        let run = if whole { linked(&literal.text) } else { linked(word) };
        if length < KEY - 1 || run < RUN && run < literal.text.len() {
            return false;
        }
        let key = key(word);
        let lasts = if length < KEY { 0..=255 } else { 0..=0 };
        for last in lasts {
            let whole = if length < KEY { [key[0], key[1], key[2], last] } else { key };
            let place = place(whole, FILTER);
            if let Some(bits) = self.filter.get_mut(place / 64) {
                *bits |= 1 << (place % 64);
            }
        }
        if let Some(known) = self.keys.get_mut(place(key, KEYS)) {
            known.push(n);
        }
        true
    }

    /// The literal whose first word begins at `word`, and where it begins itself.
    fn at(&self, view: &View<'_>, word: usize) -> Option<(&Literal, usize)> {
        let bytes = view.slice(word, word + KEY);
        // Where the text ends within the key only a key of three bytes can match, which the filter has for all.
        if !self.has(key(bytes)) {
            return None;
        }
        let mut fitting = self.keyed(bytes).filter_map(|literal| {
            let start = word.checked_sub(literal.word)?;
            view.slice(start, view.len()).starts_with(&literal.text).then_some((literal, start))
        });
        fitting.next()
    }

    /// The literals whose first word may begin with these bytes, those with longer keys first.
    fn keyed(&self, bytes: &[u8]) -> impl Iterator<Item = &Literal> {
        [KEY, KEY - 1].into_iter().flat_map(move |length| {
            let begin = bytes.get(..length);
            let place = begin.map(|begin| place(key(begin), KEYS));
            let known = place.and_then(|place| self.keys.get(place)).map(Vec::as_slice).unwrap_or_default();
            let known = known.iter().filter_map(|&n| self.literals.get(n));
            known.filter(move |literal| literal.key() == begin)
        })
    }

    /// Where the first literal may begin that has not arrived whole, or whose run may yet become long enough.
    fn open(&self, view: &View<'_>) -> usize {
        let tail = view.slice(view.len().saturating_sub(self.longest + RUN), view.len());
        let run = tail.iter().rev().take_while(|&&byte| Class::Link.has(byte)).count();
        let start = view.len() - run;
        let short = if run < RUN { start } else { view.len() };
        let from = view.len().saturating_sub(self.longest);
        let unknown = |&at: &usize| self.may_begin(view, at, at >= start) && view.starts(at, Edge::Word);
        let keyed = (from..view.len()).find(unknown).unwrap_or(view.len()).min(short);
        let odd = |&at: &usize| {
            let rest = view.slice(at, view.len());
            let literals =
                self.odd.iter().flat_map(|(_, places)| places).filter_map(|&n| self.literals.get(n));
            literals.into_iter().any(|literal| begins_alike(&literal.text, rest))
        };
        let from = view.len().saturating_sub(self.odd_longest);
        keyed.min((from..view.len()).find(odd).unwrap_or(view.len()))
    }

    /// Whether a literal may begin at `at` of which the end has not arrived; where not even its key has, `open`.
    fn may_begin(&self, view: &View<'_>, at: usize, open: bool) -> bool {
        let rest = view.slice(at, view.len());
        let words = rest.iter().position(u8::is_ascii_alphanumeric).unwrap_or(rest.len());
        let Some(key) = rest.get(words..).and_then(|word| word.first_chunk::<KEY>()) else { return open };
        self.has(*key)
            && self
                .keyed(key)
                .any(|literal| literal.text.len() > rest.len() && begins_alike(&literal.text, rest))
    }

    /// Whether the filter has a key.
    #[inline]
    fn has(&self, key: [u8; KEY]) -> bool {
        let place = place(key, FILTER);
        self.filter.get(place / 64).is_some_and(|bits| bits >> (place % 64) & 1 == 1)
    }

    /// The first of the literals without a long run at or after `from`.
    fn odd(&self, view: &View<'_>, from: usize) -> Option<(&Literal, usize)> {
        let (search, places) = self.odd.as_ref()?;
        let hit = search.find(aho_corasick::Input::new(view.text).range(from.min(view.len())..))?;
        Some((self.literals.get(*places.get(hit.pattern().as_usize())?)?, hit.start()))
    }
}

fn literal(text: &[u8], rules: &[RuleRef<'_>]) -> Literal {
    let ours = || {
        rules.iter().filter(|one| one.rule.prefixes.iter().any(|prefix| prefix.as_bytes().starts_with(text)))
    };
    // A match is reported one byte late, so what is bounded by the reach does not outgrow it.
    let reach = ours().map(|one| one.rule.reach()).max().unwrap_or(0) + 1;
    let word = text.iter().position(u8::is_ascii_alphanumeric).unwrap_or(text.len());
    let prefixes = ours().flat_map(|one| one.rule.prefixes.iter().map(|prefix| (prefix, one.id)));
    let prefixes = prefixes.filter(|(prefix, _)| prefix.as_bytes().starts_with(text));
    let mut whole: Vec<_> = prefixes.map(|(prefix, id)| (prefix.as_bytes().into(), id)).collect();
    whole.sort_by_key(|(prefix, id): &(Box<[u8]>, RuleId)| (Reverse(prefix.len()), *id));
    Literal { text: text.to_vec(), rules: ours().map(|one| one.id).collect(), whole, reach, word }
}

impl Literal {
    /// The bytes of its first word by which it is looked up; `None` if it has too few.
    fn key(&self) -> Option<&[u8]> {
        let word = self.text.get(self.word..)?;
        word.get(..word.len().min(KEY)).filter(|key| key.len() >= KEY - 1)
    }

    /// The rule with the longest prefix that `text` has, of those that are on.
    fn begun(&self, text: &[u8], on: &RuleSelection) -> Option<RuleId> {
        let mut on = self.whole.iter().filter(|(_, rule)| on.has(*rule));
        on.find(|(prefix, _)| text.starts_with(prefix)).map(|&(_, rule)| rule)
    }

    /// Whether what begins at `start` has the prefix of a rule that is on: another rule's may be shorter, and lead on
    /// far behind where this one's ends.
    fn begins(&self, view: &View<'_>, start: usize, on: &RuleSelection) -> Ternary {
        let text = view.slice(start, view.len());
        if self.begun(text, on).is_some() {
            return Ternary::Yes;
        }
        let mut on = self.whole.iter().filter(|(prefix, rule)| on.has(*rule) && prefix.len() > text.len());
        let open = !view.complete && on.any(|(prefix, _)| begins_alike(prefix, text));
        if open { Ternary::Unknown } else { Ternary::No }
    }
}

/// The literals of a window in order of their starts.
struct Hits<'a> {
    group: &'a Prefixes,
    view: &'a View<'a>,
    masks: &'a Masks,
    runs: Runs<'a>,
    /// The rest of the run under way.
    run: (usize, usize),
    /// Words of the block at `base` that are not looked at yet, as bits.
    base: usize,
    words: u64,
    next: Option<(&'a Literal, usize)>,
    odd: Option<(&'a Literal, usize)>,
}

impl<'a> Hits<'a> {
    fn new(group: &'a Prefixes, view: &'a View<'a>, masks: &'a Masks, from: usize) -> Self {
        let runs = Runs::new(masks, from, Class::Link, RUN as u32);
        let odd = group.odd(view, from);
        let mut hits =
            Self { group, view, masks, runs, run: (from, from), base: from, words: 0, next: None, odd };
        hits.next = hits.advance(from);
        hits
    }

    /// The next literal in a long run, at or after `from`.
    fn advance(&mut self, from: usize) -> Option<(&'a Literal, usize)> {
        loop {
            while self.words != 0 {
                let word = self.base + self.words.trailing_zeros() as usize;
                self.words &= self.words - 1;
                let word = if self.view.before(word, 1) == Some(b'\\') { word + 1 } else { word };
                if let Some((literal, start)) = self.group.at(self.view, word).filter(|hit| hit.1 >= from) {
                    return Some((literal, start));
                }
            }
            if self.run.0 >= self.run.1 {
                self.run = self.runs.next()?;
            }
            self.base = self.run.0 / BLOCK * BLOCK;
            let all = self.masks.at(Class::Word, self.base);
            let before = self.base.checked_sub(BLOCK).map_or(0, |at| self.masks.at(Class::Word, at) >> 63);
            let end = self.run.1.min(self.base + BLOCK);
            let within = u64::MAX << (self.run.0 - self.base) & u64::MAX >> (self.base + BLOCK - end);
            self.words = all & !(all << 1 | before) & within;
            self.run.0 = end;
        }
    }

    /// The next literal at or after `from`.
    fn find(&mut self, from: usize) -> Option<(&'a Literal, usize)> {
        while self.next.is_some_and(|(_, start)| start < from) {
            self.next = self.advance(from);
        }
        if self.odd.is_some_and(|(_, start)| start < from) {
            self.odd = self.group.odd(self.view, from);
        }
        match (self.next, self.odd) {
            (Some(next), Some(odd)) => Some(if odd.1 < next.1 { odd } else { next }),
            (next, odd) => next.or(odd),
        }
    }
}

impl Group for Prefixes {
    fn memory(&self) -> usize {
        let odd = self.odd.as_ref().map_or(0, |(search, _)| search.memory_usage());
        self.automaton.memory() + odd + self.filter.len() * 8
    }

    fn scan(&self, pass: &WindowPass<'_>, track: &mut Track, found: &mut Candidates) {
        let Some(mut at) = pass.go_on(&self.automaton, track, found) else { return };
        let mut hits = Hits::new(self, &pass.view, pass.masks, at);
        // What begins before here is decided; from here to `at`, only that no literal that has arrived begins a secret.
        let mut floor = at;
        while let Some((literal, start)) = hits.find(at) {
            at = start + 1;
            if !pass.selection.meets(&literal.rules) || !pass.view.starts(start, Edge::Word) {
                continue;
            }
            match literal.begins(&pass.view, start, pass.selection) {
                Ternary::Yes => {}
                Ternary::No => continue,
                Ternary::Unknown => {
                    track.at = self.hold(&pass.view, start, floor);
                    return;
                }
            }
            let begun = || literal.begun(pass.view.slice(start, pass.view.len()), pass.selection);
            let step = self.automaton.walk(&pass.view, &mut track.walk, start, literal.reach);
            pass.step(track.walk.at - start);
            match step {
                WalkEnd::NeedMore => {
                    track.at = self.hold(&pass.view, start, floor);
                    return;
                }
                WalkEnd::Dead => match pass.settle_within(&self.automaton, track, &begun, found) {
                    StartOutcome::NeedMore => {
                        track.at = self.hold(&pass.view, start, floor);
                        return;
                    }
                    StartOutcome::Nothing => {}
                    StartOutcome::UpTo(end) => (at, floor) = (end, end),
                },
                WalkEnd::Overlong => {
                    let limit = start + literal.reach;
                    let rule = match track.walk.ends.is_empty() {
                        true => begun(),
                        false => pass.overlong_rule(&self.automaton, track, limit, &begun),
                    };
                    let Some(rule) = rule else { continue };
                    track.overlong = Some(Overlong::new(rule, start, literal.reach));
                    match pass.go_on(&self.automaton, track, found) {
                        Some(end) => (at, floor) = (end, end),
                        None => return,
                    }
                }
            }
        }
        track.at = at.max(pass.view.len());
        if !pass.view.complete {
            track.at = floor.max(self.open(&pass.view)).min(track.at);
        }
    }
}

impl Prefixes {
    /// Where to go on when what begins at `start` is not decided: a longer literal may have begun before it of which
    /// the end has not arrived, though none before `floor`.
    fn hold(&self, view: &View<'_>, start: usize, floor: usize) -> usize {
        if view.complete { start } else { start.min(self.open(view).max(floor)) }
    }
}

fn begins_alike(one: &[u8], other: &[u8]) -> bool {
    one.iter().zip(other).all(|(a, b)| a == b)
}
