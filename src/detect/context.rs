//! Words near a value that speak for or against it. Looked up from the value's side, as whole words, so their
//! number costs nothing where no value is: before it within [`BEFORE`] bytes, after it within [`AFTER`] bytes of
//! the same clause. The nearest word decides.

use std::collections::HashMap;

use super::engine::view::View;
use super::finding::{Near, RuleId, Span};
use super::rule::Rule;

/// How far before a value a word counts, in bytes.
pub(crate) const BEFORE: usize = 50;
/// How far after a value a word counts, in bytes.
pub(crate) const AFTER: usize = 32;
/// Among how many words before a value one that speaks against it counts.
const AGAINST: u8 = 3;
/// What each word that stands between takes off an augment.
const STEP: f32 = 0.01;
/// No context word is longer, in bytes.
const LONGEST: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Before,
    After,
    Against,
}

struct Phrase {
    rule: RuleId,
    side: Side,
    /// The words behind the first.
    rest: Box<[Box<str>]>,
}

/// The context words of all rules.
#[derive(Default)]
pub(crate) struct Lexicon {
    phrases: HashMap<Box<str>, Vec<Phrase>>,
    /// For each first byte, the lengths of words that begin with it: most words of a text end here.
    lengths: Vec<u64>,
}

/// What the words after a value say.
pub(crate) enum After {
    Word(Near),
    Nothing,
    /// Text that has not arrived could say something.
    NotYet,
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

impl Lexicon {
    pub(crate) fn new(rules: &[Rule]) -> Self {
        let mut lexicon = Self { lengths: vec![0; 256], ..Self::default() };
        for (n, rule) in rules.iter().enumerate() {
            let Ok(n) = u16::try_from(n) else { break };
            for words in rule.context.values() {
                lexicon.add(RuleId::new(n), Side::Before, &words.before);
                lexicon.add(RuleId::new(n), Side::After, &words.after);
                lexicon.add(RuleId::new(n), Side::Against, &words.negative);
            }
        }
        lexicon
    }

    fn add(&mut self, rule: RuleId, side: Side, phrases: &[String]) {
        for phrase in phrases {
            let mut words = phrase.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            let Some(first) = words.next().map(str::to_lowercase) else { continue };
            let rest = words.map(|word| word.to_lowercase().into_boxed_str()).collect();
            for byte in [first.as_bytes().first(), first.to_uppercase().as_bytes().first()] {
                let Some(lengths) = byte.and_then(|&byte| self.lengths.get_mut(usize::from(byte))) else {
                    continue;
                };
                // Case can change the length of what is not ASCII.
                *lengths |= if first.is_ascii() { 1 << first.len().min(63) } else { u64::MAX };
            }
            self.phrases.entry(first.into()).or_default().push(Phrase { rule, side, rest });
        }
    }

    /// The nearest word before the value at `start` that speaks for or against `rule`.
    pub(crate) fn before(&self, view: &View<'_>, start: usize, rule: &Rule, id: RuleId) -> Option<Near> {
        if rule.context.is_empty() {
            return None;
        }
        let from = start.saturating_sub(BEFORE);
        let mut end = start;
        let mut distance = 0u8;
        loop {
            let word = last_word(view, from, end)?;
            end = word.start;
            // Numbers don't stand between: they are mostly the value's own.
            if view.slice(word.start, word.end).iter().all(u8::is_ascii_digit) {
                continue;
            }
            let wanted = |phrase: &Phrase| {
                let counts =
                    phrase.side == Side::Before || phrase.side == Side::Against && distance < AGAINST;
                phrase.rule == id && counts
            };
            if let Some((phrase, last)) = self.phrase(view, word, start, wanted) {
                let behind = f32::from(distance.saturating_sub(last.words));
                let augment = match phrase.side {
                    Side::Against => -rule.against,
                    _ => STEP.mul_add(-behind, rule.augment),
                };
                let span = Span::new(view.base + word.start, view.base + last.end);
                return Some(Near { span, augment });
            }
            distance = distance.saturating_add(1);
        }
    }

    /// The nearest word after the value that ends at `end`, within its clause, that speaks for `rule`.
    pub(crate) fn after(&self, view: &View<'_>, end: usize, rule: &Rule, id: RuleId) -> After {
        if rule.context.values().all(|words| words.after.is_empty()) {
            return After::Nothing;
        }
        let near = view.slice(end, end + AFTER + 1);
        let clause = near.iter().position(|&byte| is_clause_end(byte));
        let arrived = clause.is_some() || near.len() > AFTER || view.complete;
        let limit = end + clause.unwrap_or(near.len()).min(AFTER);
        let mut at = end;
        while let Some(gap) = view.slice(at, limit).iter().position(|&byte| is_word(byte)) {
            let start = at + gap;
            let stop =
                start + view.slice(start, end + AFTER + 1).iter().take_while(|&&byte| is_word(byte)).count();
            let word = Span::new(start, stop);
            if !arrived && (stop == view.len() || self.may_begin(view, word, id)) {
                return After::NotYet;
            }
            if stop > limit {
                return After::Nothing;
            }
            if let Some((_, last)) =
                self.phrase(view, word, limit, |phrase| phrase.rule == id && phrase.side == Side::After)
            {
                let span = Span::new(view.base + start, view.base + last.end);
                return After::Word(Near { span, augment: rule.augment });
            }
            at = stop;
        }
        if arrived { After::Nothing } else { After::NotYet }
    }

    /// Whether `word` begins a phrase of several words for `id` after a value.
    fn may_begin(&self, view: &View<'_>, word: Span, id: RuleId) -> bool {
        let known = self.look_up(view, word).unwrap_or_default();
        known.iter().any(|phrase| phrase.rule == id && phrase.side == Side::After && !phrase.rest.is_empty())
    }

    fn look_up(&self, view: &View<'_>, word: Span) -> Option<&[Phrase]> {
        let bytes = view.slice(word.start, word.end);
        let lengths = self.lengths.get(usize::from(*bytes.first()?)).copied().unwrap_or(0);
        if bytes.len() > LONGEST || lengths >> bytes.len() & 1 == 0 {
            return None;
        }
        self.phrases.get(lower(bytes, &mut [0; LONGEST])?.as_ref()).map(Vec::as_slice)
    }

    /// The longest of the phrases wanted that begins with `word` and ends before `limit`.
    fn phrase(
        &self,
        view: &View<'_>,
        word: Span,
        limit: usize,
        wanted: impl Fn(&Phrase) -> bool,
    ) -> Option<(&Phrase, Last)> {
        let ours = self.look_up(view, word)?.iter().filter(|phrase| wanted(phrase));
        ours.filter_map(|phrase| Some((phrase, follow(view, word, &phrase.rest, limit)?)))
            .max_by_key(|(_, last)| last.end)
    }
}

/// Where a phrase ends, and its words behind the first.
#[derive(Clone, Copy)]
struct Last {
    end: usize,
    words: u8,
}

const fn is_clause_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\\' | b'.' | b',' | b';' | b'"' | b'{' | b'}' | b'[' | b']' | b'|')
}

/// The last whole word that lies in `from..end`.
fn last_word(view: &View<'_>, from: usize, end: usize) -> Option<Span> {
    let bytes = view.slice(from, end);
    let stop = bytes.iter().rposition(|&byte| is_word(byte))? + 1;
    let start = bytes.get(..stop)?.iter().rposition(|&byte| !is_word(byte)).map_or(0, |at| at + 1);
    // A word that begins before the window of words is not whole.
    let cut = start == 0 && view.before(from, 1).is_some_and(is_word);
    (!cut).then(|| after_letter(view, Span::new(from + start, from + stop)))
}

/// The word without the letter of an escape of JSON-in-text.
fn after_letter(view: &View<'_>, word: Span) -> Span {
    let start = view.after_escape(word.start).unwrap_or(word.start);
    if start < word.end { Span::new(start, word.end) } else { word }
}

/// Follows the words of a phrase; separators of one or two bytes may stand between them.
fn follow(view: &View<'_>, first: Span, rest: &[Box<str>], limit: usize) -> Option<Last> {
    let (mut end, mut words) = (first.end, 0);
    for expected in rest {
        let gap = view.slice(end, end + 2).iter().take_while(|&&byte| !is_word(byte)).count();
        let start = end + gap;
        let len = view.slice(start, limit).iter().take_while(|&&byte| is_word(byte)).count();
        if gap == 0 || lower(view.slice(start, start + len), &mut [0; LONGEST])?.as_ref() != expected.as_ref()
        {
            return None;
        }
        end = start + len;
        words += 1;
    }
    Some(Last { end, words })
}

fn lower<'b>(bytes: &[u8], buffer: &'b mut [u8; LONGEST]) -> Option<std::borrow::Cow<'b, str>> {
    let place = buffer.get_mut(..bytes.len())?;
    place.copy_from_slice(bytes);
    place.make_ascii_lowercase();
    let text = std::str::from_utf8(place).ok()?;
    Some(if text.is_ascii() { text.into() } else { text.to_lowercase().into() })
}

#[cfg(test)]
mod tests {
    use super::super::rule::Words;
    use super::*;

    fn rule() -> Rule {
        let mut rule: Rule = toml::from_str("name = 'X'").unwrap();
        let words = |list: &[&str]| list.iter().map(|&word| word.to_owned()).collect();
        let english = Words {
            before: words(&["account", "account number", "téléphone"]),
            after: words(&["account", "account number"]),
            negative: words(&["created"]),
        };
        rule.context.insert("en".to_owned(), english);
        rule
    }

    fn before(text: &str) -> Option<(&str, bool)> {
        let (rule, view) = (rule(), View { text: text.as_bytes(), base: 0, complete: true });
        let near =
            Lexicon::new(std::slice::from_ref(&rule)).before(&view, text.len(), &rule, RuleId::new(0))?;
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
        let after = |text: &str, complete| {
            let view = View { text: text.as_bytes(), base: 0, complete };
            match lexicon.after(&view, 0, &rule, RuleId::new(0)) {
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
            assert_eq!(after(text, complete), expected, "{text}");
        }
    }
}
