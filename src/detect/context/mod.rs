//! Words near a value that speak for or against it. Looked up from the value's side, as whole words, so their
//! number costs nothing where no value is: before it within [`BEFORE`] bytes, after it within [`AFTER`] bytes of
//! the same clause. The nearest word decides.
//!
//! [`words`] cuts text into words, [`lexicon`] knows those that matter; here is what they say of a value.

mod lexicon;
mod words;

use super::engine::judge::Rules;
use super::engine::mask::{BLOCK, Class, Masks};
use super::engine::view::View;
use super::finding::{Near, RuleId, Span};
use super::rule::Rule;
pub(crate) use lexicon::Lexicon;
use lexicon::{LONGEST, Phrase, Side, lower};
use words::{Word, words};

/// How far before a value a word counts, in bytes.
pub(crate) const BEFORE: usize = 50;
/// How far after a value a word counts, in bytes.
pub(crate) const AFTER: usize = 32;
/// Among how many words before a value one that speaks against it counts.
const AGAINST: u8 = 3;
/// What each word that stands between takes off an augment.
const STEP: f32 = 0.01;

/// A window and its bits.
type In<'a> = (&'a View<'a>, &'a Masks);

/// What the words after a value say.
pub(crate) enum After {
    Word(Near),
    Nothing,
    /// Text that has not arrived could say something.
    NotYet,
}

/// A word that the lexicon has.
#[derive(Clone, Copy)]
struct Known {
    word: Word,
    entry: u32,
    /// How many words stand before it in the stretch.
    place: usize,
}

/// The words of the part of a window that was last asked about: values follow each other, and each byte is cut
/// into words once, a stretch ahead.
#[derive(Default)]
pub(crate) struct Memo {
    from: usize,
    upto: usize,
    known: Vec<Known>,
    /// Where each word ends.
    ends: Vec<usize>,
    /// The run that the last word is of, and how many words stand before that run.
    run: usize,
    before_run: usize,
}

impl Memo {
    /// Sees to it that the words of `start - BEFORE..end` are known.
    #[inline]
    fn reach(&mut self, lexicon: &Lexicon, text: In<'_>, start: usize, end: usize) {
        let floor = start.saturating_sub(BEFORE);
        if floor < self.from || floor > self.upto {
            self.known.clear();
            self.ends.clear();
            (self.from, self.upto, self.run, self.before_run) = (floor, floor, floor, 0);
        }
        if end > self.upto && self.upto < text.0.len() {
            self.go_on(lexicon, text, end);
        }
    }

    fn go_on(&mut self, lexicon: &Lexicon, (view, masks): In<'_>, end: usize) {
        // What ended the stretch may go on now.
        let cut =
            self.upto > self.from && view.before(self.upto, 1).is_some_and(|byte| Class::Letter.has(byte));
        let from = if cut { self.run } else { self.upto };
        if cut {
            self.ends.truncate(self.before_run);
            while self.known.pop_if(|known| known.word.run >= from).is_some() {}
        }
        let to = (end / BLOCK * BLOCK + BLOCK).min(view.len());
        words(view, masks, from, to, |run| {
            (self.run, self.before_run) = (run.run, self.ends.len());
            match lexicon.entry(view.text, run) {
                // What is known as a whole is one word: `DoD`, `PayPal`.
                None if run.cased => run.parts(view, &mut |word| self.add(lexicon, view, word)),
                entry => self.push(lexicon, view, run, entry),
            }
        });
        self.upto = to;
    }

    fn add(&mut self, lexicon: &Lexicon, view: &View<'_>, word: Word) {
        self.push(lexicon, view, word, lexicon.entry(view.text, word));
    }

    #[inline]
    fn push(&mut self, lexicon: &Lexicon, view: &View<'_>, word: Word, entry: Option<u32>) {
        match entry {
            Some(entry) => self.known.push(Known { word, entry, place: self.ends.len() }),
            None if word.wide => self.unspaced(lexicon, view, word),
            None => {}
        }
        self.ends.push(word.end);
    }

    #[cold]
    fn unspaced(&mut self, lexicon: &Lexicon, view: &View<'_>, word: Word) {
        lexicon.within(view.slice(word.start, word.end), |start, end, entry| {
            let part = Word { start: word.start + start, end: word.start + end, ..word };
            self.known.push(Known { word: part, entry, place: self.ends.len() });
        });
    }

    /// The known words that lie whole in `start - BEFORE..start`, the nearest first.
    fn near(&self, start: usize) -> impl Iterator<Item = Known> {
        let floor = start.saturating_sub(BEFORE);
        let count = self.known.partition_point(|known| known.word.start < start);
        let before = self.known.get(..count).unwrap_or_default().iter().rev().copied();
        let before = before.filter(move |known| known.word.end <= start);
        before.take_while(move |known| known.word.run >= floor)
    }

    /// Adds to `spoken_for` the rules of `group` that a word before `start` speaks for.
    pub(crate) fn before_of(
        &mut self,
        lexicon: &Lexicon,
        text: In<'_>,
        start: usize,
        (group, spoken_for): (usize, &mut Rules),
    ) {
        self.reach(lexicon, text, start, start);
        for known in self.near(start).filter(|known| lexicon.concerns(known.entry, group, Side::Before)) {
            for phrase in lexicon.phrases(known.entry) {
                if phrase.concerns(group, Side::Before) && follow(text.0, known.word, phrase, start).is_some()
                {
                    phrase.rules(Side::Before).for_each(|rule| spoken_for.insert(rule));
                }
            }
        }
    }

    /// Adds to `spoken_for` the rules of `group` that a word behind a value may speak for that ends from `first` to
    /// `last`. Whether the text in which that word would stand has arrived.
    pub(crate) fn after_of(
        &mut self,
        lexicon: &Lexicon,
        text: In<'_>,
        (first, last): (usize, usize),
        (group, spoken_for): (usize, &mut Rules),
    ) -> bool {
        let view = text.0;
        if !view.complete && last + AFTER >= view.len() {
            return false;
        }
        self.reach(lexicon, text, first, last + AFTER + 1);
        let first = self.known.partition_point(|known| known.word.start < first);
        let behind = self.known.get(first..).unwrap_or_default().iter();
        let behind = behind.take_while(|known| known.word.end <= last + AFTER);
        for known in behind.filter(|known| lexicon.concerns(known.entry, group, Side::After)) {
            for phrase in lexicon.phrases(known.entry) {
                if phrase.concerns(group, Side::After) {
                    phrase.rules(Side::After).for_each(|rule| spoken_for.insert(rule));
                }
            }
        }
        true
    }

    /// The nearest word before the value at `start` that speaks for or against `rule`.
    pub(crate) fn before(
        &mut self,
        lexicon: &Lexicon,
        text: In<'_>,
        start: usize,
        (rule, id): (&Rule, RuleId),
    ) -> Option<Near> {
        if rule.context.is_empty() {
            return None;
        }
        self.reach(lexicon, text, start, start);
        let count = self.ends.partition_point(|&end| end <= start);
        self.near(start).find_map(|known| {
            let distance = u8::try_from(count.saturating_sub(known.place + 1)).unwrap_or(u8::MAX);
            let said = |phrase: &Phrase| {
                let against = distance < AGAINST && phrase.says(id, Side::Against);
                let speaks = phrase.says(id, Side::Before);
                (speaks || against).then_some(if speaks { Side::Before } else { Side::Against })
            };
            let ours = lexicon.phrases(known.entry).iter().filter_map(|phrase| Some((phrase, said(phrase)?)));
            let whole = |(phrase, side)| Some((side, follow(text.0, known.word, phrase, start)?));
            let (side, (end, more)) = ours.filter_map(whole).max_by_key(|(_, (end, _))| *end)?;
            let behind = f32::from(distance.saturating_sub(more));
            let augment = match side {
                Side::Against => -rule.against,
                _ => STEP.mul_add(-behind, rule.augment),
            };
            Some(Near { span: Span::new(text.0.base + known.word.start, text.0.base + end), augment })
        })
    }

    /// The nearest word behind the value that ends at `end`, within its clause, that speaks for `rule`.
    pub(crate) fn after(
        &mut self,
        lexicon: &Lexicon,
        text: In<'_>,
        end: usize,
        (rule, id): (&Rule, RuleId),
    ) -> After {
        if !lexicon.looks_ahead(id) {
            return After::Nothing;
        }
        let view = text.0;
        let near = view.slice(end, end + AFTER + 1);
        let clause = near.iter().position(|&byte| is_clause_end(byte));
        if clause.is_none() && near.len() <= AFTER && !view.complete {
            return After::NotYet;
        }
        let limit = end + clause.unwrap_or(near.len()).min(AFTER);
        self.reach(lexicon, text, end, limit + 1);
        let first = self.known.partition_point(|known| known.word.start < end);
        let behind = self.known.get(first..).unwrap_or_default().iter();
        let mut speaking = behind.take_while(|known| known.word.end <= limit).filter_map(|known| {
            let ours = lexicon.phrases(known.entry).iter().filter(|phrase| phrase.says(id, Side::After));
            let last = ours
                .filter_map(|phrase| follow(view, known.word, phrase, limit))
                .map(|(end, _)| end)
                .max()?;
            Some(Span::new(view.base + known.word.start, view.base + last))
        });
        speaking.next().map_or(After::Nothing, |span| After::Word(Near { span, augment: rule.augment }))
    }
}

const fn is_clause_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\\' | b'.' | b',' | b';' | b'"' | b'{' | b'}' | b'[' | b']' | b'|')
}

/// Where the phrase ends that begins with `first`, before `limit`, and how many words it has behind that one. At
/// most two bytes stand between its words; where the case changes, none need to.
fn follow(view: &View<'_>, first: Word, phrase: &Phrase, limit: usize) -> Option<(usize, u8)> {
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
        let gap = view.slice(end, end + 2).iter().take_while(|&&byte| !Class::Letter.has(byte)).count();
        let start = end + gap;
        let bytes = view.slice(start, start + LONGEST);
        let letters = bytes.iter().take_while(|&&byte| Class::Letter.has(byte)).count();
        let upper = |at: usize| view.get(start + at).is_some_and(|byte| byte.is_ascii_uppercase());
        let cased =
            (1..letters).find(|&at| upper(at) && (!upper(at - 1) || at + 1 < letters && !upper(at + 1)));
        let same = |length: usize| {
            let word = bytes
                .get(..length)
                .and_then(|word| Some(lower(word, &mut [0; LONGEST])?.as_ref() == expected.as_ref()));
            word == Some(true)
        };
        let length = [Some(letters), cased].into_iter().flatten().find(|&length| same(length))?;
        end = start + length;
        more += 1;
    }
    (end <= limit).then_some((end, more))
}

#[cfg(test)]
mod tests {
    use super::super::rule::Words;
    use super::*;

    fn rule() -> Rule {
        let mut rule: Rule = toml::from_str("name = 'X'").unwrap();
        let words = |list: &[&str]| list.iter().map(|&word| word.to_owned()).collect();
        let english = Words {
            before: words(&["account", "account number", "téléphone", "帳戶號碼", "auth0"]),
            after: words(&["account", "account number"]),
            negative: words(&["created"]),
        };
        rule.context.insert("en".to_owned(), english);
        rule
    }

    fn masks(text: &str) -> Masks {
        let mut masks = Masks::default();
        masks.cover(text.as_bytes());
        masks
    }

    fn before(text: &str) -> Option<(&str, bool)> {
        let (rule, view) = (rule(), View { text: text.as_bytes(), base: 0, complete: true });
        let lexicon = Lexicon::new([(RuleId::new(0), &rule)], |_| &[0]);
        let near =
            Memo::default().before(&lexicon, (&view, &masks(text)), text.len(), (&rule, RuleId::new(0)))?;
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
        let lexicon = Lexicon::new([(RuleId::new(0), &rule)], |_| &[0]);
        let said = |text: &str, complete| {
            let view = View { text: text.as_bytes(), base: 0, complete };
            match Memo::default().after(&lexicon, (&view, &masks(text)), 0, (&rule, RuleId::new(0))) {
                After::Word(near) => text.get(near.span.start..near.span.end).unwrap_or("?").to_owned(),
                After::Nothing => "nothing".to_owned(),
                After::NotYet => "not yet".to_owned(),
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
