//! What the words near a value say of it, each stretch of text cut into words once.

use std::ops::RangeInclusive;

use super::super::group_id::GroupId;
use super::super::mask::{BLOCK, Class, Masks};
use super::super::view::View;
use super::lexicon::{FollowingWords, LONGEST, Lexicon, Phrase, Side, lower};
use super::supported::SparseSelection;
use super::words::{WindowWord, words};
use crate::detect::finding::{ContextWord, Span};
use crate::detect::rules::RuleRef;

/// How far before a value a word counts, in bytes.
pub(crate) const BEFORE: usize = 50;
/// How far after a value a word counts, in bytes.
pub(crate) const AFTER: usize = 32;
/// Among how many words before a value one that contradicts it counts.
const AGAINST: u8 = 3;
/// What each word that stands between takes off an augment.
const STEP: f32 = 0.01;

/// A window, its bits, and the words to look for in it.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    pub(crate) view: &'a View<'a>,
    pub(crate) masks: &'a Masks,
    pub(crate) lexicon: &'a Lexicon,
}

/// What the words after a value say.
pub(crate) enum WordsAfter {
    Word(ContextWord),
    Nothing,
    /// Text that has not arrived could say something.
    NeedMore,
}

/// A word that the lexicon has.
#[derive(Clone, Copy)]
struct KnownWord {
    word: WindowWord,
    entry: u32,
    /// How many words stand before it in the stretch.
    place: usize,
    /// Where in [`Memo::whole`] its phrases begin that stand there whole.
    whole: usize,
}

/// A phrase that stands whole in the text.
#[derive(Clone, Copy)]
struct WholePhrase {
    /// Its place among those of its first word's entry.
    phrase: usize,
    /// Where it ends, and how many words it has behind the first.
    end: usize,
    more: u8,
}

/// The words of the part of a window that was last asked about: values follow each other, and each byte is cut
/// into words once, a stretch ahead.
#[derive(Default)]
pub(crate) struct Memo {
    from: usize,
    upto: usize,
    known: Vec<KnownWord>,
    /// The phrases that begin with those words, in their order: followed once, however often they are asked about.
    whole: Vec<WholePhrase>,
    /// Where each word ends.
    ends: Vec<usize>,
    /// Where the run begins that may go on behind those words, and how many words end before it.
    open: Option<usize>,
    before_open: usize,
    /// Phrases that were asked about so far.
    pub(crate) asked: usize,
    /// How many known words began, and how many words ended, before the place last asked about. Only where to begin looking.
    begun: usize,
    ended: usize,
}

/// Whether a word's only phrase is the one that was added last: the same words stand near a value again and again.
fn is_again(added: Option<(u32, WholePhrase)>, known: &KnownWord, whole: &[WholePhrase]) -> bool {
    matches!((whole, added), ([one], Some((entry, last))) if entry == known.entry && one.phrase == last.phrase)
}

/// How many of `items`, which are in order, are before something, looked for from `near` on at growing distances: values
/// follow each other.
fn count_before<T>(items: &[T], near: usize, is_before: impl Fn(&T) -> bool) -> usize {
    let before = |at: usize| items.get(at).is_some_and(&is_before);
    let (mut low, mut high, mut step) = (near.min(items.len()), near.min(items.len()), 1);
    if before(low) {
        while before(high) {
            low = high + 1;
            high = low + step;
            step *= 2;
        }
    } else {
        while low > 0 && !before(low - 1) {
            high = low - 1;
            low = high.saturating_sub(step);
            step *= 2;
        }
    }
    low + items.get(low..high.min(items.len())).unwrap_or_default().partition_point(is_before)
}

impl Memo {
    /// Sees to it that the words of `start - BEFORE..end` are known.
    #[inline]
    fn reach(&mut self, near: Surroundings<'_>, start: usize, end: usize) {
        let floor = start.saturating_sub(BEFORE);
        if floor < self.from || floor > self.upto {
            self.known.clear();
            self.whole.clear();
            self.ends.clear();
            (self.from, self.upto, self.open, self.before_open) = (floor, floor, None, 0);
        }
        if end > self.upto && self.upto < near.view.len() {
            self.go_on(near, end);
        }
    }

    /// Sees to it that the words before a value at `start` are known, and counts them.
    #[inline]
    fn at(&mut self, near: Surroundings<'_>, start: usize) {
        self.reach(near, start, start);
        self.begun = count_before(&self.known, self.begun, |known| known.word.start < start);
    }

    fn go_on(&mut self, Surroundings { view, masks, lexicon }: Surroundings<'_>, end: usize) {
        // What ended the stretch may go on now.
        let from = self.open.unwrap_or(self.upto);
        if self.open.is_some() {
            self.ends.truncate(self.before_open);
            while let Some(known) = self.known.pop_if(|known| known.word.run >= from) {
                self.whole.truncate(known.whole);
            }
        }
        let to = (end / BLOCK * BLOCK + BLOCK).min(view.len());
        let mut last = (None, 0);
        self.open = words(view, masks, from, to, |run| {
            last = (Some(run.run), self.ends.len());
            match lexicon.entry(view.text, run) {
                // What is known as a whole is one word: `DoD`, `PayPal`.
                None if run.cased => run.parts(view, &mut |word| self.add(lexicon, view, word)),
                entry => self.push(lexicon, view, run, entry),
            }
        });
        self.before_open = if self.open == last.0 { last.1 } else { self.ends.len() };
        self.upto = to;
    }

    fn add(&mut self, lexicon: &Lexicon, view: &View<'_>, word: WindowWord) {
        self.push(lexicon, view, word, lexicon.entry(view.text, word));
    }

    #[inline]
    fn push(&mut self, lexicon: &Lexicon, view: &View<'_>, word: WindowWord, entry: Option<u32>) {
        match entry {
            Some(entry) => self.know(lexicon, view, word, entry),
            None if word.non_ascii => self.unspaced(lexicon, view, word),
            None => {}
        }
        self.ends.push(word.end);
    }

    #[cold]
    fn unspaced(&mut self, lexicon: &Lexicon, view: &View<'_>, word: WindowWord) {
        lexicon.within(view.slice(word.start, word.end), |start, end, entry| {
            let part = WindowWord { start: word.start + start, end: word.start + end, ..word };
            self.know(lexicon, view, part, entry);
        });
    }

    /// Keeps a word with its phrases that stand there whole.
    fn know(&mut self, lexicon: &Lexicon, view: &View<'_>, word: WindowWord, entry: u32) {
        let whole = self.whole.len();
        let next = following(view, word.end);
        let phrases = lexicon.phrases(entry).iter().enumerate();
        for (phrase, said) in phrases.filter(|(_, said)| said.may_follow(next)) {
            if let Some((end, more)) = follow(view, word, said) {
                self.whole.push(WholePhrase { phrase, end, more });
            }
        }
        if self.whole.len() > whole {
            self.known.push(KnownWord { word, entry, place: self.ends.len(), whole });
        }
    }

    /// What stands whole at the `n`-th known word.
    fn whole_at(&self, n: usize, known: &KnownWord) -> &[WholePhrase] {
        let to = self.known.get(n + 1).map_or(self.whole.len(), |next| next.whole);
        self.whole.get(known.whole..to).unwrap_or_default()
    }

    /// The same, with the phrases.
    fn phrases<'l>(&self, lexicon: &'l Lexicon, n: usize) -> impl Iterator<Item = (&'l Phrase, WholePhrase)> {
        let known = self.known.get(n);
        let all = lexicon.phrases(known.map_or(u32::MAX, |known| known.entry));
        let ours = known.map(|known| self.whole_at(n, known)).unwrap_or_default().iter();
        ours.filter_map(|&whole| Some((all.get(whole.phrase)?, whole)))
    }

    /// The known words that lie whole in `start - BEFORE..start`, the nearest first; the memo has been [`at`](Self::at)
    /// `start`.
    fn near(&self, start: usize) -> impl Iterator<Item = (usize, KnownWord)> {
        let floor = start.saturating_sub(BEFORE);
        let before = self.known.get(..self.begun).unwrap_or_default().iter().copied().enumerate().rev();
        let before = before.filter(move |(_, known)| known.word.end <= start);
        before.take_while(move |(_, known)| known.word.run >= floor)
    }

    /// Adds to `supported` the rules of `group` that a word before `start` supports.
    pub(crate) fn before_of(
        &mut self,
        near: Surroundings<'_>,
        start: usize,
        group: GroupId,
        supported: &mut SparseSelection,
    ) {
        let lexicon = near.lexicon;
        self.at(near, start);
        let mut asked = 0;
        let mut added: Option<(u32, WholePhrase)> = None;
        for (n, known) in self.near(start) {
            asked += 1;
            if !lexicon.concerns(known.entry, group, Side::Before) {
                continue;
            }
            let whole = self.whole_at(n, &known);
            if is_again(added, &known, whole) {
                continue;
            }
            for one in whole.iter().filter(|one| one.end <= start) {
                asked += 1;
                let phrase = lexicon.phrases(known.entry).get(one.phrase);
                if let Some(phrase) = phrase.filter(|phrase| phrase.concerns(group, Side::Before)) {
                    supported.add(lexicon.supported_before(phrase));
                }
                added = Some((known.entry, *one));
            }
        }
        self.asked += asked;
    }

    /// Adds to `supported` the rules of `group` that a word behind a value may support which has one of these `ends`.
    /// Whether the text in which that word would stand has arrived.
    pub(crate) fn after_of(
        &mut self,
        near: Surroundings<'_>,
        ends: RangeInclusive<usize>,
        group: GroupId,
        supported: &mut SparseSelection,
    ) -> bool {
        let (lexicon, view) = (near.lexicon, near.view);
        let (first, last) = ends.into_inner();
        let Some(settled) = settled(view, last + AFTER) else { return false };
        self.reach(near, first, settled + 1);
        self.begun = count_before(&self.known, self.begun, |known| known.word.start < first);
        let behind = self.known.iter().enumerate().skip(self.begun);
        let mut added: Option<(u32, WholePhrase)> = None;
        for (n, known) in behind.take_while(|(_, known)| known.word.end <= last + AFTER) {
            if !lexicon.concerns(known.entry, group, Side::After) {
                continue;
            }
            let whole = self.whole_at(n, known);
            if is_again(added, known, whole) {
                continue;
            }
            for one in whole.iter().filter(|one| one.end <= last + AFTER) {
                let phrase = lexicon.phrases(known.entry).get(one.phrase);
                if let Some(phrase) = phrase.filter(|phrase| phrase.concerns(group, Side::After)) {
                    supported.add(lexicon.supported_after(phrase));
                }
                added = Some((known.entry, *one));
            }
        }
        true
    }

    /// The nearest word before the value at `start` that supports or contradicts `rule`.
    pub(crate) fn before(
        &mut self,
        surroundings: Surroundings<'_>,
        start: usize,
        RuleRef { id, rule }: RuleRef<'_>,
    ) -> Option<ContextWord> {
        if rule.context.is_empty() {
            return None;
        }
        let (lexicon, view) = (surroundings.lexicon, surroundings.view);
        self.at(surroundings, start);
        self.ended = count_before(&self.ends, self.ended, |&end| end <= start);
        let count = self.ended;
        let mut asked = 0;
        let near = self.near(start).find_map(|(n, known)| {
            asked += 1;
            let distance = u8::try_from(count.saturating_sub(known.place + 1)).unwrap_or(u8::MAX);
            let said = |phrase: &Phrase| {
                let against = distance < AGAINST && phrase.says(id, Side::Against);
                let supports = phrase.says(id, Side::Before);
                (supports || against).then_some(if supports { Side::Before } else { Side::Against })
            };
            let ours = self.phrases(lexicon, n).filter(|(_, whole)| whole.end <= start);
            let ours = ours.filter_map(|(phrase, whole)| Some((said(phrase)?, whole)));
            let (side, WholePhrase { end, more, .. }) = ours.max_by_key(|(_, whole)| whole.end)?;
            let behind = f32::from(distance.saturating_sub(more));
            let augment = match side {
                Side::Against => -rule.against,
                _ => STEP.mul_add(-behind, rule.augment),
            };
            Some(ContextWord { span: Span::new(view.base + known.word.start, view.base + end), augment })
        });
        self.asked += asked;
        near
    }

    /// The nearest word behind the value that ends at `end`, within its clause, that supports `rule`.
    pub(crate) fn after(
        &mut self,
        surroundings: Surroundings<'_>,
        end: usize,
        RuleRef { id, rule }: RuleRef<'_>,
    ) -> WordsAfter {
        let (lexicon, view) = (surroundings.lexicon, surroundings.view);
        if !lexicon.looks_ahead(id) {
            return WordsAfter::Nothing;
        }
        let near = view.slice(end, end + AFTER + 1);
        let clause = near.iter().position(|&byte| is_clause_end(byte));
        let limit = end + clause.unwrap_or(near.len()).min(AFTER);
        let Some(settled) = settled(view, limit) else { return WordsAfter::NeedMore };
        self.reach(surroundings, end, settled + 1);
        let first = self.known.partition_point(|known| known.word.start < end);
        let behind = self.known.iter().enumerate().skip(first);
        let mut supporting =
            behind.take_while(|(_, known)| known.word.end <= limit).filter_map(|(n, known)| {
                let ours = self.phrases(lexicon, n).filter(|(phrase, _)| phrase.says(id, Side::After));
                let last = ours.map(|(_, whole)| whole.end).filter(|&end| end <= limit).max()?;
                Some(Span::new(view.base + known.word.start, view.base + last))
            });
        supporting
            .next()
            .map_or(WordsAfter::Nothing, |span| WordsAfter::Word(ContextWord { span, augment: rule.augment }))
    }
}

/// How far a text must be cut into words so that those up to `limit` are settled: what becomes of a run of letters that goes
/// on there depends on all of it (`YOA` is one word, `YOAa` begins with `YO`). `None`: more of the text must arrive.
fn settled(view: &View<'_>, limit: usize) -> Option<usize> {
    let letters =
        view.slice(limit, limit + LONGEST).iter().take_while(|&&byte| Class::Letter.has(byte)).count();
    let end = limit + letters;
    (view.complete || letters == LONGEST || end < view.len()).then_some(end)
}

const fn is_clause_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\\' | b'.' | b',' | b';' | b'"' | b'{' | b'}' | b'[' | b']' | b'|')
}

/// What stands behind the word that ends at `end`, as [`follow`] goes on.
fn following(view: &View<'_>, end: usize) -> FollowingWords {
    let letter = view.get(next_word(view, end)).filter(|&byte| Class::Letter.has(byte));
    FollowingWords { byte: view.get(end), letter }
}

/// Where the word of a phrase begins that follows what ends at `end`.
fn next_word(view: &View<'_>, end: usize) -> usize {
    end + view.slice(end, end + 2).iter().take_while(|&&byte| !Class::Letter.has(byte)).count()
}

/// Where the phrase ends that begins with `first`, and how many words it has behind that one. At most two bytes stand
/// between its words; where the case changes, none need to.
fn follow(view: &View<'_>, first: WindowWord, phrase: &Phrase) -> Option<(usize, u8)> {
    let (mut end, mut more) = (first.end, 0);
    for expected in &phrase.rest {
        if expected.starts_with(|letter: char| letter.is_ascii_digit()) {
            let tail = view.slice(end, end + expected.len());
            end += expected.len();
            let joined = view.get(end).is_some_and(|byte| byte.is_ascii_alphanumeric());
            if !tail.eq_ignore_ascii_case(expected.as_bytes()) || joined {
                return None;
            }
            continue;
        }
        let start = next_word(view, end);
        let bytes = view.slice(start, start + LONGEST);
        let letters = bytes.iter().take_while(|&&byte| Class::Letter.has(byte)).count();
        let upper = |at: usize| view.get(start + at).is_some_and(|byte| byte.is_ascii_uppercase());
        let cased =
            (1..letters).find(|&at| upper(at) && (!upper(at - 1) || at + 1 < letters && !upper(at + 1)));
        let same = |length: usize| {
            let Some(word) = bytes.get(..length) else { return false };
            word.eq_ignore_ascii_case(expected.as_bytes())
                || !word.is_ascii() && lower(word, &mut [0; LONGEST]).is_some_and(|word| *word == **expected)
        };
        let length = [Some(letters), cased].into_iter().flatten().find(|&length| same(length))?;
        end = start + length;
        more += 1;
    }
    Some((end, more))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::finding::RuleId;
    use crate::detect::rules::{ContextWords, Rule};

    fn rule() -> Rule {
        let mut rule: Rule = toml::from_str("name = 'X'").unwrap();
        let words = |list: &[&str]| list.iter().map(|&word| word.to_owned()).collect();
        let english = ContextWords {
            before: words(&["account", "account number", "téléphone", "帳戶號碼", "auth0"]),
            after: words(&["account", "account number"]),
            negative: words(&["created"]),
        };
        rule.context.insert("en".to_owned(), english);
        rule
    }

    fn of(rule: &Rule) -> RuleRef<'_> {
        RuleRef { id: RuleId::new(0), rule }
    }

    fn masks(text: &str) -> Masks {
        let mut masks = Masks::default();
        masks.cover(text.as_bytes());
        masks
    }

    fn before(text: &str) -> Option<(&str, bool)> {
        let (rule, view) = (rule(), View { text: text.as_bytes(), base: 0, complete: true });
        let lexicon = Lexicon::new([of(&rule)]);
        let near = Memo::default().before(
            Surroundings { view: &view, masks: &masks(text), lexicon: &lexicon },
            text.len(),
            of(&rule),
        )?;
        Some((text.get(near.span.start..near.span.end)?, near.augment > 0.0))
    }

    #[test]
    fn the_nearest_whole_word_before_decides() {
        let far = format!("account {}", "x ".repeat(25));
        let cases = [
            ("account: ", Some(("account", true))),
            ("ACCOUNT_Number=", Some(("ACCOUNT_Number", true))),
            ("accounts accountant ", None),
            ("account created ", Some(("created", false))),
            ("created by one of us ", None),
            ("created account ", Some(("account", true))),
            ("Téléphone ", Some(("Téléphone", true))),
            ("accountNumber=", Some(("accountNumber", true))),
            ("accountnumber=", Some(("accountnumber", true))),
            ("auth0 key ", Some(("auth0", true))),
            ("auth1 key ", None),
            ("authkey ", None),
            ("我的帳戶號碼是", Some(("帳戶號碼", true))),
            (r"x\naccount ", Some(("account", true))),
            (far.as_str(), None),
        ];
        for (text, near) in cases {
            assert_eq!(before(text), near, "{text}");
        }
    }

    #[test]
    fn what_follows_counts_within_its_clause() {
        let rule = rule();
        let lexicon = Lexicon::new([of(&rule)]);
        let said = |text: &str, complete| {
            let view = View { text: text.as_bytes(), base: 0, complete };
            match Memo::default().after(
                Surroundings { view: &view, masks: &masks(text), lexicon: &lexicon },
                0,
                of(&rule),
            ) {
                WordsAfter::Word(near) => text.get(near.span.start..near.span.end).unwrap_or("?").to_owned(),
                WordsAfter::Nothing => "nothing".to_owned(),
                WordsAfter::NeedMore => "not yet".to_owned(),
            }
        };
        let cases = [
            (" (account number)", true, "account number"),
            (" is my account", true, "account"),
            (" is my account", false, "not yet"),
            (" is my account ", false, "not yet"),
            (" is my account, number", false, "account"),
            (", account", false, "nothing"),
            (" and more", false, "not yet"),
            (" and more text than a word may be away account", false, "nothing"),
        ];
        for (text, complete, expected) in cases {
            assert_eq!(said(text, complete), expected, "{text}");
        }
    }
}
