//! Words near a value that speak for or against it. Looked up from the value's side, as whole words, so their
//! number costs nothing where no value is: before it within [`BEFORE`] bytes, after it within [`AFTER`] bytes of
//! the same clause. The nearest word decides.
//!
//! [`words`] cuts text into words, [`lexicon`] knows those that matter; here is what they say of a value.

mod lexicon;
mod words;

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

/// What the words after a value say.
pub(crate) enum After {
    Word(Near),
    Nothing,
    /// Text that has not arrived could say something.
    NotYet,
}

/// The words of the part of a window that was last asked about: values follow each other, and each byte is cut
/// into words once.
#[derive(Default)]
pub(crate) struct Memo {
    from: usize,
    upto: usize,
    words: Vec<Word>,
    /// Places of those words that the lexicon has.
    known: Vec<usize>,
}

impl Memo {
    /// Sees to it that the words of `start - BEFORE..start` are known.
    fn reach(&mut self, lexicon: &Lexicon, view: &View<'_>, start: usize) {
        let floor = start.saturating_sub(BEFORE);
        if floor < self.from || floor > self.upto || start < self.upto.saturating_sub(2 * BEFORE) {
            self.words.clear();
            self.known.clear();
            (self.from, self.upto) = (floor, floor);
        }
        if start <= self.upto {
            return;
        }
        // What ended the stretch may go on now.
        let cut = self.words.last().filter(|word| word.end == self.upto).map(|word| word.run);
        if let Some(run) = cut {
            while self.words.pop_if(|word| word.run >= run).is_some() {}
            while self.known.pop_if(|n| *n >= self.words.len()).is_some() {}
        }
        let from = cut.unwrap_or(self.upto).max(self.from);
        words(view, from, start, |word| self.add(lexicon, view, word));
        self.upto = start;
    }

    fn add(&mut self, lexicon: &Lexicon, view: &View<'_>, mut word: Word) {
        let bytes = view.slice(word.start, word.end);
        word.entry = lexicon.entry(bytes);
        if word.entry.is_none() && bytes.first().is_some_and(|&byte| byte >= 0xE0) {
            lexicon.within(bytes, |start, end, entry| {
                let part = Word { start: word.start + start, end: word.start + end, run: word.run, entry: Some(entry) };
                self.known.push(self.words.len());
                self.words.push(part);
            });
            return;
        }
        if word.entry.is_some() {
            self.known.push(self.words.len());
        }
        self.words.push(word);
    }

    /// Whether the lexicon has any word before `start`.
    pub(crate) fn any(&mut self, lexicon: &Lexicon, view: &View<'_>, start: usize) -> bool {
        self.reach(lexicon, view, start);
        let floor = start.saturating_sub(BEFORE);
        let before = self.known.iter().rev().filter_map(|&n| self.words.get(n));
        before.skip_while(|word| word.end > start).take_while(|word| word.end > floor).next().is_some()
    }

    /// The nearest word before the value at `start` that speaks for or against `rule`.
    pub(crate) fn before(
        &mut self,
        lexicon: &Lexicon,
        view: &View<'_>,
        start: usize,
        (rule, id): (&Rule, RuleId),
    ) -> Option<Near> {
        if rule.context.is_empty() {
            return None;
        }
        self.reach(lexicon, view, start);
        let floor = start.saturating_sub(BEFORE);
        let last = self.words.iter().rposition(|word| word.end <= start)?;
        for &n in self.known.iter().rev().skip_while(|&&n| n > last) {
            let word = self.words.get(n)?;
            // A run that begins before the stretch is not whole.
            if word.run < floor {
                return None;
            }
            let distance = u8::try_from(last - n).unwrap_or(u8::MAX);
            let wanted = |phrase: &&Phrase| {
                let counts = phrase.side == Side::Before || phrase.side == Side::Against && distance < AGAINST;
                phrase.rule == id && counts
            };
            let ours = lexicon.phrases(word.entry?).iter().filter(wanted);
            let whole = |phrase| Some((phrase, follow(view, self.words.get(n..=last)?, phrase)?));
            if let Some((phrase, (end, more))) = ours.filter_map(whole).max_by_key(|(_, (end, _))| *end) {
                let behind = f32::from(distance.saturating_sub(more));
                let augment = match phrase.side {
                    Side::Against => -rule.against,
                    _ => STEP.mul_add(-behind, rule.augment),
                };
                return Some(Near { span: Span::new(view.base + word.start, view.base + end), augment });
            }
        }
        None
    }
}

/// The nearest word after the value that ends at `end`, within its clause, that speaks for `rule`.
pub(crate) fn after(lexicon: &Lexicon, view: &View<'_>, end: usize, (rule, id): (&Rule, RuleId)) -> After {
    if !lexicon.looks_ahead(id) {
        return After::Nothing;
    }
    let near = view.slice(end, end + AFTER + 1);
    let clause = near.iter().position(|&byte| is_clause_end(byte));
    let arrived = clause.is_some() || near.len() > AFTER || view.complete;
    let limit = end + clause.unwrap_or(near.len()).min(AFTER);
    let mut all: Vec<Word> = Vec::new();
    words(view, end, end + near.len(), |mut word| {
        word.entry = lexicon.entry(view.slice(word.start, word.end));
        all.push(word);
    });
    for (n, word) in all.iter().enumerate() {
        let ours = || {
            let phrases = word.entry.map(|entry| lexicon.phrases(entry)).unwrap_or_default().iter();
            phrases.filter(|phrase| phrase.rule == id && phrase.side == Side::After)
        };
        let may_begin = || ours().any(|phrase| !phrase.rest.is_empty());
        if !arrived && (word.end == view.len() || may_begin()) {
            return After::NotYet;
        }
        if word.end > limit {
            return After::Nothing;
        }
        let rest = all.get(n..).unwrap_or_default();
        let ends = ours().filter_map(|phrase| follow(view, rest, phrase)).map(|(end, _)| end);
        if let Some(last) = ends.filter(|&end| end <= limit).max() {
            let span = Span::new(view.base + word.start, view.base + last);
            return After::Word(Near { span, augment: rule.augment });
        }
    }
    if arrived { After::Nothing } else { After::NotYet }
}

const fn is_clause_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\\' | b'.' | b',' | b';' | b'"' | b'{' | b'}' | b'[' | b']' | b'|')
}

/// Where the phrase ends that begins with the first of `words`, and how many words it has behind that one. At most
/// two bytes stand between its words.
fn follow(view: &View<'_>, words: &[Word], phrase: &Phrase) -> Option<(usize, u8)> {
    let (first, following) = words.split_first()?;
    let (mut end, mut more) = (first.end, 0);
    for (expected, word) in phrase.rest.iter().zip(following) {
        let bytes = view.slice(word.start, word.end);
        if word.start > end + 2 || lower(bytes, &mut [0; LONGEST])?.as_ref() != expected.as_ref() {
            return None;
        }
        end = word.end;
        more += 1;
    }
    (usize::from(more) == phrase.rest.len()).then_some((end, more))
}

#[cfg(test)]
mod tests {
    use super::super::rule::Words;
    use super::*;

    fn rule() -> Rule {
        let mut rule: Rule = toml::from_str("name = 'X'").unwrap();
        let words = |list: &[&str]| list.iter().map(|&word| word.to_owned()).collect();
        let english = Words {
            before: words(&["account", "account number", "téléphone", "帳戶號碼"]),
            after: words(&["account", "account number"]),
            negative: words(&["created"]),
        };
        rule.context.insert("en".to_owned(), english);
        rule
    }

    fn before(text: &str) -> Option<(&str, bool)> {
        let (rule, view) = (rule(), View { text: text.as_bytes(), base: 0, complete: true });
        let lexicon = Lexicon::new(std::slice::from_ref(&rule));
        let near = Memo::default().before(&lexicon, &view, text.len(), (&rule, RuleId::new(0)))?;
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
        let lexicon = Lexicon::new(std::slice::from_ref(&rule));
        let said = |text: &str, complete| {
            let view = View { text: text.as_bytes(), base: 0, complete };
            match after(&lexicon, &view, 0, (&rule, RuleId::new(0))) {
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
