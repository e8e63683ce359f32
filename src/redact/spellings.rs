//! One value in several spellings: each has the surrogate in its own spelling, whether a rule has found it so or not.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use crate::redact::encrypt::{are_names, in_plain_letters};
use crate::redact::index::{CaseComparison, Index, whole_words};
use crate::redact::issued::{IssuedSurrogate, SurrogateIdentity};
use crate::redact::name_form::{has_initial, is_joined};
use crate::redact::redactor::Redactor;
use crate::redact::small_letters::is_name_in_small_letters;
use crate::redact::surrogate_map::SurrogateMap;
use crate::redact::unescaped::read;
use crate::redact::value::{FoundValue, Hit, Reversed, ValueSite};
use crate::redact::values::Values;
use crate::redact::written::with_letter_of;

/// The longest text in which names are looked for by their words, in bytes: a longer one is nobody's name.
const LONGEST_NAME: usize = 256;

/// The words of a text, in small letters, and where they stand.
fn words(text: &str) -> Vec<(Range<usize>, String)> {
    let mut at = 0;
    let parts = text.split_inclusive(|c: char| !c.is_alphanumeric()).map(|part| {
        let word = part.trim_end_matches(|c: char| !c.is_alphanumeric());
        let range = at..at + word.len();
        at += part.len();
        (range, word.to_lowercase())
    });
    parts.filter(|(_, word)| !word.is_empty()).collect()
}

/// The same, where each part of a word that begins with a capital is one; nothing where there is no such word.
fn words_at_capitals(text: &str) -> Vec<(Range<usize>, String)> {
    let mut parts = Vec::new();
    let whole = words(text);
    for (range, _) in &whole {
        let word = text.get(range.clone()).unwrap_or_default();
        let mut from = 0;
        let pairs = word.char_indices().zip(word.char_indices().skip(1));
        let begins = pairs.filter(|((_, before), (_, next))| before.is_lowercase() && next.is_uppercase());
        let ends = begins.map(|(_, (at, _))| at).chain([word.len()]);
        for end in ends {
            let part = word.get(from..end).unwrap_or_default().to_lowercase();
            parts.push((range.start + from..range.start + end, part));
            from = end;
        }
    }
    if parts.len() > whole.len() { parts } else { Vec::new() }
}

/// The names among the values, by their words with blanks between them, also with the surname first.
#[derive(Debug, Default)]
pub(super) struct NamesByWords {
    /// Of so many values.
    of: usize,
    /// The numbers of the first value that has these words, and of the last.
    names: HashMap<String, (u32, u32)>,
    /// The same of the first word of a person's name and of the last, which are that person's where they are all that is there.
    alone: HashMap<String, (u32, u32)>,
    /// The most words of one.
    most: usize,
}

/// Names of persons by which languages, programs and packages are called, too.
const SOFTWARE: &[&str] = &[
    "ada",
    "alma",
    "angie",
    "astro",
    "cassandra",
    "chef",
    "clara",
    "crystal",
    "elm",
    "eloquent",
    "flask",
    "gatsby",
    "jasmine",
    "jenkins",
    "julia",
    "kafka",
    "keras",
    "lena",
    "lucy",
    "mina",
    "nim",
    "pascal",
    "pearl",
    "puppet",
    "ruby",
    "salt",
    "sally",
    "scala",
    "stella",
    "swift",
    "travis",
    "turing",
    "vera",
    "vincent",
    "wagner",
];

impl NamesByWords {
    /// Adds the names of the values that came since.
    fn follow(&mut self, values: &Values<'_>) {
        let new = values.list.iter().zip(0..).skip(self.of);
        for (value, number) in new.filter(|(value, _)| values.spelling(value).is_name()) {
            let mut name: Vec<String> = words(&value.original).into_iter().map(|(_, word)| word).collect();
            let person = values.spelling(value) == SurrogateIdentity::Person;
            // What is an ordinary word would be replaced wherever it stands.
            let is_name = |word: &&String| {
                person && is_name_in_small_letters(word) && !SOFTWARE.contains(&word.as_str())
            };
            for word in [name.first(), name.last()].into_iter().flatten().filter(is_name) {
                self.alone.entry(word.clone()).or_insert((number, number)).1 = number;
            }
            if name.len() < 2 {
                continue;
            }
            self.most = self.most.max(name.len());
            self.names.entry(name.join(" ")).or_insert((number, number)).1 = number;
            // A surname may have several words, and a name several before it.
            name.rotate_left(1);
            self.names.entry(name.join(" ")).or_insert((number, number)).1 = number;
            let before = name.len() - 2;
            name.rotate_left(before);
            self.names.entry(name.join(" ")).or_insert((number, number)).1 = number;
        }
        self.of = values.list.len();
    }

    /// Where names stand in a text, each with the number of the last value that has its words: in the order in which the first
    /// values with those were found.
    fn within(&self, text: &str) -> Vec<(Range<usize>, u32)> {
        if text.len() > LONGEST_NAME || self.names.is_empty() && self.alone.is_empty() {
            return Vec::new();
        }
        let (own, mut found) = (words(text), Vec::new());
        if let [(range, word)] = own.as_slice()
            && let Some((first, last)) = self.alone.get(word)
        {
            found.push((*first, range.clone(), *last));
        }
        for own in [own, words_at_capitals(text)] {
            for (at, (begin, word)) in own.iter().enumerate() {
                let mut name = word.clone();
                for (end, word) in own.iter().take(at + self.most).skip(at + 1) {
                    name.push(' ');
                    name.push_str(word);
                    if let Some((first, last)) = self.names.get(&name) {
                        // A surrogate is known again between words only.
                        let mut range = begin.start..end.end;
                        whole_words(text.as_bytes(), false, &mut range);
                        found.push((*first, range, *last));
                    }
                }
            }
        }
        found.sort_by_key(|(first, range, _)| (*first, range.start));
        found.into_iter().map(|(_, range, last)| (range, last)).collect()
    }
}

impl Values<'_> {
    /// What other than letter case and escapes may differ in the value's surrogate.
    pub(super) fn spelling(&self, value: &FoundValue) -> SurrogateIdentity {
        let redactor = self.redactors.get(value.place.redactor);
        redactor.map_or(SurrogateIdentity::Exact, |Redactor { detector, plan, .. }| {
            SurrogateIdentity::made(plan.method(value.rule), detector.rule(value.rule))
        })
    }

    /// Gives what is another spelling of a value before it that value's surrogate in this spelling: a model that was
    /// shown one wrote the other.
    pub(super) fn align(&mut self, whole: &[u8]) {
        if !self.has_new() {
            return;
        }
        let mut known = HashSet::new();
        let reused = |number: usize| self.list.get(number).is_some_and(|value| value.reused);
        let mut issued: Vec<_> = self.issued(|value| !value.is_number()).collect();
        // Of phone numbers those first that tell more: how the others are dialled follows from them.
        let told = |text: &str| match text.chars().find(|c| *c == '+' || c.is_ascii_digit()) {
            Some('+') => 0,
            Some('0') => 1,
            _ => 2,
        };
        issued.sort_by_key(|(number, issued)| (!reused(*number), told(&issued.original)));
        let (bases, others): (Vec<_>, Vec<_>) = issued.into_iter().partition(|(number, issued)| {
            let original = read(&issued.original);
            // An initial is that of a name which is written out, if there is one, and so is a name that is one word.
            let short = issued.spelling == SurrogateIdentity::Person
                && (has_initial(&issued.original) || is_joined(&issued.original));
            let plain = reused(*number) || !short && original == issued.original.as_str();
            plain && (known.insert(issued.spelling.folded(&original)) || reused(*number))
        });
        // What an earlier pass has written stays.
        let others: Vec<_> = others.into_iter().filter(|(number, _)| *number >= self.settled).collect();
        if others.is_empty() {
            return;
        }
        let given: HashSet<String> = bases.iter().map(|(_, issued)| issued.surrogate.clone()).collect();
        let undo = SurrogateMap::of(bases.into_iter().map(|(_, issued)| issued.reversed()).collect());
        let spelled = others.into_iter().filter_map(|(number, issued)| {
            let with = with_letter_of(&issued.original, undo.stands_for(&issued.original)?);
            let value = self.list.get(number)?;
            let with = if value.is_plain() { in_plain_letters(&with).into_owned() } else { with };
            if !value.admits(&with) {
                return None;
            }
            // Where the change leaves the surrogate as it is, it would come back in the other spelling.
            (with != *issued.original && !given.contains(&with)).then_some((number, with))
        });
        let mut spelled: Vec<(usize, String)> = spelled.collect();
        let index = Index::new(spelled.iter().zip(0..).map(|((_, with), at)| (with.as_bytes().into(), at)));
        index.all(whole, CaseComparison::Exact, &mut |_, at| {
            // It stands there already: its own surrogate does not.
            if let Some((_, with)) = spelled.get_mut(at as usize) {
                with.clear();
            }
        });
        for (number, with) in spelled.into_iter().filter(|(_, with)| !with.is_empty()) {
            if let Some(value) = self.list.get_mut(number) {
                (value.with, value.permuted) = (with, None);
            }
        }
    }

    /// These hits in `text` stand where a value in ASCII must stay so, whatever stands for it elsewhere: there it is a value of
    /// its own, also where signs stand between the words of a name that have blanks elsewhere. `names` are those of these values.
    pub(super) fn keep_plain(&mut self, text: &str, hits: &mut Vec<Hit>, names: &mut NamesByWords) {
        names.follow(self);
        for (range, value) in names.within(text) {
            let apart = |hit: &Hit| hit.range.end <= range.start || range.end <= hit.range.start;
            let within = |hit: &Hit| range.start <= hit.range.start && hit.range.end <= range.end;
            if hits.iter().all(|hit| apart(hit) || within(hit)) {
                hits.retain(apart);
                hits.push(Hit { range, value });
            }
        }
        hits.sort_by_key(|hit| hit.range.start);
        for hit in hits {
            let (place, found) = (self.place(hit.value), text.get(hit.range.clone()).unwrap_or_default());
            if !place.plain && found.is_ascii() && self.is_reversible(hit.value) {
                let rule = self.rule(hit.value);
                hit.value = self.add(ValueSite { plain: true, ..place }, rule, found);
            }
        }
    }

    /// What was encrypted, to be found in other spellings: each original with what stands for it, and the value's number.
    /// Single words are left out, but for names that are nothing else: they may be other words as well.
    pub(super) fn reversed(&mut self) -> Reversed {
        let of = self.list.len();
        if let Some(known) = self.reversed.clone().filter(|known| known.of == of && !self.narrowed) {
            return known;
        }
        // What is written in ASCII in one place only is known by what it is elsewhere.
        let letters = |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).collect() };
        let elsewhere = self.list.iter().filter(|value| !value.place.plain);
        let elsewhere: HashSet<String> = match self.list.iter().any(|value| value.place.plain) {
            true => elsewhere.map(|value| letters(&value.original).to_lowercase()).collect(),
            false => HashSet::new(),
        };
        let alone = |value: &FoundValue| {
            !value.place.plain || !elsewhere.contains(&letters(&value.original).to_lowercase())
        };
        let reversed = self.issued(alone).map(|(number, issued)| {
            let parts = match issued.spelling {
                SurrogateIdentity::Words | SurrogateIdentity::Folded => false,
                SurrogateIdentity::Name => issued.parts && is_name_in_small_letters(&issued.original),
                SurrogateIdentity::Person => issued.parts && are_names(&issued.original),
                _ => issued.parts,
            };
            (number as u32, IssuedSurrogate { parts, ..issued.reversed() })
        });
        let (numbers, issued): (Vec<u32>, Vec<IssuedSurrogate>) = reversed.unzip();
        let reversed = Reversed { of, numbers: numbers.into(), undo: Arc::new(SurrogateMap::hiding(issued)) };
        self.reversed = Some(reversed.clone());
        reversed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::Method;
    use crate::redact::fixture::{document, keys, redactor, restored};
    use crate::redact::pass::{RedactionPass, ReplaceScope};
    use crate::redact::plain::BodyText;
    use crate::redact::recall::Recall;
    use crate::redact::values::PassValues;
    use crate::stream::json::PathSet;

    /// Messages of a session may be many and short, and its values many: those cost nothing where none is new.
    #[test]
    fn values_are_made_ready_once() {
        let (redactor, keys) = (redactor(Method::Encrypt), keys());
        let after = |known, text: &str| {
            let pass = RedactionPass::by(&redactor, &keys, ReplaceScope::Everywhere);
            pass.run_after(known, &mut BodyText(text.as_bytes())).unwrap().values.keep()
        };
        let ready = |known: &PassValues| Arc::as_ptr(&known.reversed.as_ref().unwrap().undo);
        let first = after(PassValues::default(), "mail jo@ab.de");
        let made = ready(&first);
        let second = after(first, "nothing here but jo@ab.de");
        assert_eq!(ready(&second), made);
        let third = after(second, "mail mo@ab.de");
        assert_ne!(ready(&third), made);
        assert_eq!(third.len(), 2);
    }

    /// What of a text is found by the words of names, which are in the order in which they were found.
    #[test]
    fn names_are_found_by_their_words_where_letters_stay_plain() {
        let redactors = [redactor(Method::Encrypt)];
        let rule = redactors[0].rule("PERSON").unwrap();
        let long = format!("anna-keller{}", " x".repeat(LONGEST_NAME / 2));
        let cases: &[(&[&str], &str, &[&str])] = &[
            (&["Anna Keller"], "Anna Keller", &["Anna Keller"]),
            (&["Anna Keller"], "anna-keller", &["anna-keller"]),
            (&["Anna Keller"], "u_ANNA_Keller_2", &["ANNA_Keller"]),
            (&["Anna Keller"], "anna keller, anna.keller", &["anna keller", "anna.keller"]),
            (&["Anna Keller", "ANNA KELLER"], "anna-keller", &["anna-keller"]),
            (&["Anna Keller", "Keller Ruiz"], "anna-keller-ruiz", &["anna-keller"]),
            (&["Keller Ruiz", "Anna Keller"], "anna-keller-ruiz", &["keller-ruiz"]),
            (&["Keller Ruiz", "Anna Keller Ruiz"], "anna-keller-ruiz", &["anna-keller-ruiz"]),
            (&["Anna Keller Ruiz", "Keller Ruiz"], "anna-keller-ruiz", &["anna-keller-ruiz"]),
            (&["Anna Anna"], "anna-anna-anna", &["anna-anna"]),
            (&["Anna"], "anna-keller", &[]),
            (&["Anna Keller"], "keller-anna", &["keller-anna"]),
            (&["Anna Keller"], "u_keller_anna_2", &["keller_anna"]),
            (&["Anna Keller Ruiz"], "keller.ruiz.anna", &["keller.ruiz.anna"]),
            (&["Anna Eva Keller"], "keller.anna.eva", &["keller.anna.eva"]),
            (&["Anna Keller"], "AnnaKeller", &["AnnaKeller"]),
            (&["Anna Keller"], "getKellerAnna", &["getKellerAnna"]),
            (&["Anna Keller"], "annakeller", &[]),
            (&["Rebecca Lopez"], "rebecca", &["rebecca"]),
            (&["Rebecca Lopez"], "lopez", &["lopez"]),
            (&["Rebecca Lopez"], "<rebecca>", &["rebecca"]),
            (&["Rebecca"], "rebecca", &["rebecca"]),
            // Words that are names as well.
            (&["Mark Walker"], "mark", &[]),
            (&["Mark Walker"], "walker", &[]),
            (&["Mark Walker"], "walker_mark", &["walker_mark"]),
            (&["R. Lopez"], "r", &[]),
            (&["Rebecca Lopez"], "rebecca bot", &[]),
            (&["Anna Keller"], "anna bot", &[]),
            (&["Anna Keller"], "annabot", &[]),
            (&[], "anna-keller", &[]),
            // What is so long is found as elsewhere.
            (&["Anna Keller"], long.as_str(), &[]),
        ];
        for (known, text, expected) in cases {
            let mut values = Values::after(&redactors, PassValues::default(), Recall::default());
            let mut names = NamesByWords::default();
            // Also of those that come while texts are looked through.
            for name in *known {
                values.add(ValueSite::default(), rule, name);
                names.follow(&values);
            }
            let mut hits = Vec::new();
            values.keep_plain(text, &mut hits, &mut names);
            let found: Vec<&str> = hits.iter().filter_map(|hit| text.get(hit.range.clone())).collect();
            assert_eq!(found, *expected, "{known:?} in {text}");
            assert!(hits.iter().all(|hit| values.place(hit.value).plain), "{known:?} in {text}");
        }
    }

    /// Letter case is kept by those surrogates that it shows in; by another where it does not.
    #[test]
    fn spellings_that_differ_in_case_come_back_as_they_were() {
        for n in 0..200 {
            let (small, capital) = (format!("petra_{n}@acme-mail.com"), format!("Petra_{n}@acme-mail.com"));
            let text = format!("{small}, {capital}; {} {capital}", small.to_uppercase());
            let (shown, _, undo) = document(&format!(r#"["{text}"]"#), &PathSet::everything());
            assert!(!shown.to_lowercase().contains("petra"), "{shown}");
            assert_eq!(restored(&shown, undo), format!(r#"["{text}"]"#), "{shown}");
        }
    }
}
