//! [`Values`] that go from a file, [`Needles`], which look for them wherever else they stand, and [`ReplacedTexts`]: what was asked
//! about, and whether any is left in it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

use crate::detect::surname;
use crate::edit::spliced_text;
use crate::sanitize::automaton::Automaton;
use crate::sanitize::symbols::{SymbolReader, SymbolUnit, is_word};
use crate::sanitize::{Edit, Rejection};

/// Values that go from a file, each with the edit that found it first.
pub type Values = BTreeMap<String, Edit>;

/// From how many letters on a value is looked for within words as well, where gaps are read as blanks.
const WITHIN: usize = 6;

/// Below how many letters a value is not looked for elsewhere at all.
const SHORTEST: usize = 2;

/// From how many letters on a single name is looked for in capitals, too.
const CAPITALS: usize = 3;

/// How many digits of a value without letters are looked for elsewhere: fewer mean something else there.
const DIGITS: usize = 5;

/// How much of values is looked for in other parts of a file, in bytes: names first, since what has a form of its own is
/// found in each part.
const MOST: usize = 4 << 20;

/// How much text is kept to be looked through, in bytes; of a file with more, all is read once more.
const KEPT: usize = 32 << 20;

/// The rule that finds persons.
const PERSON: &str = "PERSON";

/// What is looked for.
#[derive(Clone, Debug)]
struct Needle {
    text: String,
    /// Whether it is looked for within words as well.
    within: bool,
    /// How it was found first.
    edit: Edit,
}

impl Needle {
    /// Whether it is no other data by chance.
    fn has_form(&self) -> bool {
        self.within && self.text.contains(char::is_alphabetic)
    }
}

/// Values that are looked for in one reading of a text.
#[derive(Debug)]
struct ValueSearch {
    all: Vec<Needle>,
    /// How many symbols each has.
    lengths: Vec<usize>,
    reading: SymbolReader,
    automaton: Automaton,
}

/// Values, looked for all at once.
#[derive(Debug)]
pub(in crate::sanitize) struct Needles(Vec<ValueSearch>);

impl Needles {
    /// Looks for these values however they are spaced, but for those that are too short to mean the same elsewhere; and as
    /// words in any letter case, where that means nothing.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`] if they are too many.
    pub(in crate::sanitize) fn new(values: &Values) -> Result<Self, Rejection> {
        let (mut all, mut seen, mut in_any_case) = (Vec::new(), BTreeSet::new(), Vec::new());
        for (value, edit) in values {
            let text: String = value.chars().filter(|c| !c.is_whitespace()).collect();
            let letters = text.chars().count();
            if letters < SHORTEST {
                continue;
            }
            if is_in_any_case(value, edit) {
                in_any_case.push(Needle { text: value.clone(), within: false, edit: edit.clone() });
            }
            if seen.insert(text.clone()) {
                all.push(Needle { text, within: letters >= WITHIN, edit: edit.clone() });
            }
        }
        Self::of([(SymbolUnit::Letter, all), (SymbolUnit::WordInAnyCase, in_any_case)])
    }

    /// Looks for these values as words, and for persons by their surnames and with those first, in texts of which nobody has to
    /// guess the blanks; in any letter case, where that means nothing.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`] if they are too many.
    pub(in crate::sanitize) fn words(values: &Values) -> Result<Self, Rejection> {
        let (mut exact, mut in_any_case) = (Vec::new(), Vec::new());
        let (mut seen, mut size) = (BTreeSet::new(), 0_usize);
        let is_name = |value: &str| !value.contains(|c: char| c == '@' || c.is_numeric());
        let (names, others): (Vec<_>, Vec<_>) = values.iter().partition(|(value, _)| is_name(value));
        for (value, edit) in names.into_iter().chain(others) {
            let more = if is_person(edit) { of_person(value) } else { Vec::new() };
            let texts = std::iter::once(value.clone()).chain(more);
            for text in texts.filter(|text| is_known_by(text)) {
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                size = size.saturating_add(text.len());
                if size <= MOST && seen.insert(text.clone()) {
                    let all = if is_in_any_case(&text, edit) { &mut in_any_case } else { &mut exact };
                    all.push(Needle { text, within: false, edit: edit.clone() });
                }
            }
        }
        Self::of([(SymbolUnit::Word, exact), (SymbolUnit::WordInAnyCase, in_any_case)])
    }

    fn of(all: [(SymbolUnit, Vec<Needle>); 2]) -> Result<Self, Rejection> {
        let searches = all.into_iter().filter(|(_, all)| !all.is_empty());
        searches.map(|(unit, all)| ValueSearch::new(unit, all)).collect::<Result<_, _>>().map(Self)
    }

    /// Whether there are none.
    pub(in crate::sanitize) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those with letters that are looked for within words, without their blanks, but for those in which another lies: where
    /// that does not stand, they do not.
    pub(in crate::sanitize) fn shortest_within(&self) -> impl Iterator<Item = &str> {
        self.letters().flat_map(ValueSearch::shortest_within)
    }

    fn letters(&self) -> impl Iterator<Item = &ValueSearch> {
        self.0.iter().filter(|search| search.reading.unit == SymbolUnit::Letter)
    }

    /// What is to change in a text: sorted, apart from each other. Of values that lie over one another, the first takes what
    /// all of them cover.
    pub(in crate::sanitize) fn edits(&self, text: &str) -> Vec<Edit> {
        let mut found: Vec<LocatedValue<'_>> =
            self.0.iter().flat_map(|search| search.covered(text)).collect();
        found.sort_by_key(|found| (found.range.start, Reverse(found.range.end)));
        let mut edits: Vec<Edit> = Vec::new();
        for LocatedValue { range, needle } in found {
            match edits.last_mut() {
                Some(last) if range.start < last.range.end => last.range.end = last.range.end.max(range.end),
                _ => edits.push(Edit { range, with: needle.edit.with.clone() }),
            }
        }
        edits
    }

    /// Whether a text holds any.
    pub(in crate::sanitize) fn stand_in(&self, text: &str) -> bool {
        self.0.iter().any(|search| search.found(text).next().is_some())
    }

    /// Whether one of those that are looked for within words stands in this text.
    pub(in crate::sanitize) fn stand_within(&self, text: &str) -> bool {
        self.letters().any(|search| search.found(text).any(|found| found.needle.within))
    }
}

/// A value, and where it stands.
struct LocatedValue<'n> {
    range: Range<usize>,
    needle: &'n Needle,
}

impl ValueSearch {
    fn new(unit: SymbolUnit, all: Vec<Needle>) -> Result<Self, Rejection> {
        let mut reading = SymbolReader::by(unit);
        let sequences: Vec<Vec<u32>> = all.iter().map(|needle| reading.learn(&needle.text)).collect();
        let automaton = Automaton::new(&sequences)?;
        Ok(Self { all, lengths: sequences.iter().map(Vec::len).collect(), reading, automaton })
    }

    /// The longest value that ends at each place, in order: at most one a symbol. All others lie in these.
    fn found<'t>(&'t self, text: &'t str) -> impl Iterator<Item = LocatedValue<'t>> + 't {
        let mut walk = self.automaton.walk();
        // Where the last symbols begin.
        let mut starts = VecDeque::new();
        self.reading.read(text).filter_map(move |symbol| {
            starts.push_back(symbol.range.start);
            if starts.len() > self.automaton.deepest() {
                starts.pop_front();
            }
            // Of letters, only those of less than WITHIN have to be words: no more than so many are tried.
            walk.step(symbol.code).find_map(|n| {
                let needle = self.all.get(n)?;
                let length = self.lengths.get(n)?;
                let start = *starts.get(starts.len().checked_sub(*length)?)?;
                let range = start..symbol.range.end;
                let stands =
                    needle.within || self.reading.unit != SymbolUnit::Letter || is_word(text, &range);
                stands.then_some(LocatedValue { range, needle })
            })
        })
    }

    /// What values cover: apart from each other, each with the longest of those that begin first.
    fn covered<'t>(&'t self, text: &'t str) -> Vec<LocatedValue<'t>> {
        let mut all: Vec<LocatedValue<'t>> = Vec::new();
        for mut found in self.found(text) {
            // It ends behind all others: it takes those that end in it, once each.
            while let Some(last) = all.pop_if(|last| found.range.start < last.range.end) {
                if last.range.start < found.range.start {
                    found = LocatedValue { range: last.range.start..found.range.end, needle: last.needle };
                }
            }
            all.push(found);
        }
        all
    }

    /// See [`Needles::shortest_within`].
    fn shortest_within(&self) -> impl Iterator<Item = &str> {
        let shortest = self.all.iter().enumerate().filter(|(this, needle)| {
            let mut walk = self.automaton.walk();
            let mut symbols = self.reading.read(&needle.text);
            let is_other = |n: usize| n != *this && self.all.get(n).is_some_and(Needle::has_form);
            // The first is the longest, which may be this one; the second has letters if any behind it has.
            needle.has_form() && !symbols.any(|symbol| walk.step(symbol.code).take(2).any(is_other))
        });
        shortest.map(|(_, needle)| needle.text.as_str())
    }
}

fn is_person(edit: &Edit) -> bool {
    edit.with.rule.as_deref() == Some(PERSON)
}

/// Whether a value is the same in another letter case. Single names are not: `Rose` is a person, and `rose` is none; nor
/// names of anything but persons, which are words of the language more often.
fn is_in_any_case(value: &str, edit: &Edit) -> bool {
    let has_form = value.contains(|c: char| c == '@' || c.is_numeric());
    let names = is_person(edit) && value.contains(char::is_whitespace);
    edit.with.any_case && (has_form || names) && value.contains(char::is_alphabetic)
}

/// What else a person is called by: the surname, the names the other way round, and a single name in capitals.
fn of_person(name: &str) -> Vec<String> {
    let mut all: Vec<String> = surname(name).map(str::to_owned).into_iter().chain(turned(name)).collect();
    let single: Vec<String> = std::iter::once(name).chain(surname(name)).map(str::to_owned).collect();
    let long = |name: &&String| !name.contains(char::is_whitespace) && name.chars().count() >= CAPITALS;
    all.extend(single.iter().filter(long).map(|name| name.to_uppercase()));
    all
}

/// A whole name with its surname first, or last again.
fn turned(name: &str) -> Option<String> {
    match name.split_once(", ") {
        Some((last, front)) => Some(format!("{front} {last}")),
        None => name.rsplit_once(' ').map(|(front, last)| format!("{last}, {front}")),
    }
}

/// Whether a value is known by this text wherever it stands.
fn is_known_by(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let digits = text.chars().filter(char::is_ascii_digit).count();
    letters >= SHORTEST || digits >= DIGITS
}

/// Adds what is found in a text to the values that go.
pub(in crate::sanitize) fn add_values(values: &mut Values, text: &str, edits: &[Edit]) {
    for edit in edits {
        let value = text.get(edit.range.clone()).map(str::trim).unwrap_or_default();
        if !value.is_empty() && !values.contains_key(value) {
            values.insert(value.to_owned(), edit.clone());
        }
    }
}

/// Takes the values that go out of names; of names in which nobody can look for them, nothing is left.
pub(in crate::sanitize) fn without_values<'n>(values: &Values, names: impl Iterator<Item = &'n mut String>) {
    let mut names = names.filter(|name| !name.is_empty()).peekable();
    if values.is_empty() || names.peek().is_none() {
        return;
    }
    let needles = Needles::words(values).ok();
    for name in names {
        *name = needles.as_ref().map(|needles| spliced_text(name, &needles.edits(name))).unwrap_or_default();
    }
}

/// Texts that were asked about, as they are to become.
#[derive(Debug, Default)]
pub(in crate::sanitize) struct ReplacedTexts {
    texts: Vec<String>,
    size: usize,
}

impl ReplacedTexts {
    /// Keeps a text.
    pub(in crate::sanitize) fn keep(&mut self, text: &str, edits: &[Edit]) {
        self.size = self.size.saturating_add(text.len());
        if self.size <= KEPT {
            self.texts.push(spliced_text(text, edits));
        }
    }

    /// Whether any of these stands in a text, as far as anybody knows.
    pub(in crate::sanitize) fn holds(&self, needles: &Needles) -> bool {
        !needles.is_empty() && (self.size > KEPT || self.texts.iter().any(|text| needles.stand_in(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitize::NewText;

    /// What of a text is found of these values.
    fn found(text: &str, values: &[&str]) -> Vec<String> {
        let edit = Edit { range: 0..0, with: NewText::default() };
        let values = values.iter().map(|value| ((*value).to_owned(), edit.clone())).collect();
        let needles = Needles::new(&values).unwrap();
        let edits = needles.edits(text).into_iter();
        edits.map(|edit| text.get(edit.range).unwrap().to_owned()).collect()
    }

    #[test]
    fn blanks_do_not_matter_and_words_do_for_short_values() {
        assert_eq!(found("so J a\nne, Janes JaneX", &["Jane"]), ["J a\nne"]);
        assert_eq!(found("xJane Doex", &["Jane  Doe"]), ["Jane Doe"]);
        assert_eq!(found("Zoë's", &["Zoë"]), ["Zoë"]);
        assert!(found("7 7", &[" 7 "]).is_empty());
    }

    fn edit(rule: &str) -> Edit {
        let rule = Some(rule.to_owned());
        Edit {
            range: 0..0,
            with: NewText { text: "<N>".to_owned(), any_case: rule != Some("KEY".to_owned()), rule },
        }
    }

    /// A text without these values of persons.
    fn words(text: &str, values: &[&str]) -> String {
        spelled(text, &values.iter().map(|value| (PERSON, *value)).collect::<Vec<_>>())
    }

    /// A text without these values of rules, whether it is one of many or of a PDF.
    fn spelled(text: &str, values: &[(&str, &str)]) -> String {
        let values = values.iter().map(|(rule, value)| ((*value).to_owned(), edit(rule))).collect();
        spliced_text(text, &Needles::words(&values).unwrap().edits(text))
    }

    #[test]
    fn a_value_is_found_in_another_case_where_that_means_nothing() {
        for (text, rule, value, want) in [
            ("JANE.ROE@X.EXAMPLE", "EMAIL_ADDRESS", "Jane.Roe@x.example", "<N>"),
            ("de89 3704 0044", "IBAN_CODE", "DE89 3704 0044", "<N>"),
            ("JANE ROE; jane\nroe; ROE, JANE and roes", PERSON, "Jane Roe", "<N>; <N>; <N> and roes"),
            ("Straße 1, STRASSE 1", "LOCATION", "Straße 1", "<N>, <N>"),
            ("ABERNATHY and abernathy", PERSON, "Rosalyn Abernathy", "<N> and abernathy"),
            ("ROSE, Rose, a rose", PERSON, "Rose", "<N>, <N>, a rose"),
            ("new york, New York", "LOCATION", "New York", "new york, <N>"),
            ("aB3xY9 ab3xy9 AB3XY9", "KEY", "aB3xY9", "<N> ab3xy9 AB3XY9"),
        ] {
            assert_eq!(spelled(text, &[(rule, value)]), want);
        }
        let values = [("Jane Roe".to_owned(), edit(PERSON)), ("aB3xY9k".to_owned(), edit("KEY"))].into();
        let needles = Needles::new(&values).unwrap();
        assert_eq!(
            spliced_text(
                "JANE ROE's jaNe RoEs aB3x Y9k ab3xy9k",
                &needles.edits("JANE ROE's jaNe RoEs aB3x Y9k ab3xy9k")
            ),
            "<N>'s jaNe RoEs <N> ab3xy9k"
        );
    }

    #[test]
    fn work_is_bounded_by_the_text_whatever_lies_in_one_another() {
        let values: Values = (6..500).map(|length| ("a".repeat(length), edit("KEY"))).collect();
        let text = "a".repeat(50_000);
        let needles = Needles::new(&values).unwrap();
        let [search] = needles.0.as_slice() else { panic!("one reading") };
        assert_eq!(search.found(&text).count(), text.len() - 5, "one match a letter");
        assert_eq!(needles.edits(&text).len(), 1);
        assert_eq!(needles.shortest_within().collect::<Vec<_>>(), ["aaaaaa"]);
        let values: Values = (1..500).map(|length| ("Xy ".repeat(length), edit("KEY"))).collect();
        let needles = Needles::words(&values).unwrap();
        let text = "Xy ".repeat(20_000);
        assert_eq!(needles.0.iter().map(|search| search.found(&text).count()).sum::<usize>(), 20_000);
        assert_eq!(needles.edits(&text).len(), 1);
    }

    #[test]
    fn words_are_found_whole() {
        for (text, values, want) in [
            ("to Jane\n  Roe, JaneRoe and Jane Roes", &["Jane Roe"][..], "to <N>, JaneRoe and Jane Roes"),
            ("Is a bird, Isabel, Isa", &["Isa"], "Is a bird, Isabel, <N>"),
            ("no. 12345 of 4711 x 47", &["12345", "4711", "47"], "no. <N> of 4711 x 47"),
            ("mail Roe-Marten or Abernathy", &["Rosalyn Abernathy"], "mail Roe-Marten or <N>"),
            ("Roe, Jane and Jo Doe", &["Jane Roe", "Doe, Jo"], "<N> and <N>"),
            ("王伟说 김철수는", &["王伟", "김철수"], "<N>说 <N>는"),
            ("Jane Roe Doe", &["Jane Roe", "Roe Doe"], "<N>"),
        ] {
            assert_eq!(words(text, values), want);
        }
    }

    #[test]
    fn what_is_left_is_known() {
        let edit = |range| Edit { range, ..edit("KEY") };
        let needles = Needles::words(&[("Jane".to_owned(), edit(0..0))].into()).unwrap();
        let mut said = ReplacedTexts::default();
        said.keep("Jane is here", &[edit(0..4)]);
        assert!(!said.holds(&needles));
        said.keep("so is Jane", &[]);
        assert!(said.holds(&needles) && !said.holds(&Needles::words(&Values::new()).unwrap()));
        let mut long = ReplacedTexts::default();
        long.keep(&" ".repeat(KEPT + 1), &[]);
        assert!(long.holds(&needles));
    }

    #[test]
    fn all_values_are_found_also_within_each_other() {
        let text = "Jane Doe, Janet, Doe Jane";
        assert_eq!(found(text, &["Jane", "Doe", "Jane Doe"]), ["Jane Doe", "Doe", "Jane"]);
        // The longer one that is no word by itself does not hide the shorter one that is.
        assert_eq!(found("ab cdx", &["ab cd", "ab"]), ["ab"]);
        assert_eq!(found("xcd", &["cd", "xcdef", "d"]), Vec::<String>::new());
        assert_eq!(
            found("abcdef-ghijkl mno", &["abcdef-g", "f-ghijkl", "hijkl mno", "mno"]),
            ["abcdef-ghijkl mno"]
        );
    }
}
