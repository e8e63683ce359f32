//! [`Values`] that go from a file, [`Needles`], which look for them wherever else they stand, and [`Said`]: what was asked
//! about, and whether any is left in it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use aho_corasick::AhoCorasick;

use crate::detect::surname;
use crate::edit::{SourceMap, spliced_text};
use crate::sanitize::{Edit, Rejection};

/// Values that go from a file, each with the edit that found it first.
pub type Values = BTreeMap<String, Edit>;

/// From how many letters on a value is looked for within words as well, where gaps are read as blanks.
const WITHIN: usize = 6;

/// Below how many letters a value is not looked for elsewhere at all.
const SHORTEST: usize = 2;

/// How many digits of a value without letters are looked for elsewhere: fewer mean something else there.
const DIGITS: usize = 5;

/// How much of values is looked for in other parts of a file, in bytes: names first, since what has a form of its own is
/// found in each part.
const MOST: usize = 4 << 20;

/// How much text is kept to be looked through, in bytes; of a file with more, all is read once more.
const KEPT: usize = 32 << 20;

/// The rule that finds persons.
const PERSON: &str = "PERSON";

/// A value without its blanks, or with single ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sanitize) struct Needle {
    pub(in crate::sanitize) text: String,
    /// Whether it is looked for within words as well.
    pub(in crate::sanitize) within: bool,
    /// How it was found first.
    edit: Edit,
}

/// What blanks mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blanks {
    /// Nothing: a gap between letters can be read as a blank, and a blank as a gap.
    Nothing,
    /// That a word ends, however many there are.
    End,
}

/// Values, looked for all at once.
#[derive(Debug)]
pub(in crate::sanitize) struct Needles {
    all: Vec<Needle>,
    search: Option<AhoCorasick>,
    blanks: Blanks,
}

/// A text with no blanks, or single ones, and where that was.
#[derive(Debug)]
struct Tight<'t> {
    whole: &'t str,
    text: String,
    map: SourceMap,
}

/// An automaton over these; none if there are none.
///
/// # Errors
/// [`Rejection::OverLimit`] if there are too many.
pub(in crate::sanitize) fn automaton<P: AsRef<[u8]>>(
    patterns: &[P],
) -> Result<Option<AhoCorasick>, Rejection> {
    if patterns.is_empty() {
        return Ok(None);
    }
    AhoCorasick::new(patterns).map(Some).map_err(|_| Rejection::OverLimit)
}

impl Needles {
    /// Looks for these values however they are spaced, but for those that are too short to mean the same elsewhere.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`] if they are too many.
    pub(in crate::sanitize) fn new(values: &Values) -> Result<Self, Rejection> {
        let (mut all, mut seen) = (Vec::new(), BTreeSet::new());
        for (value, edit) in values {
            let text: String = value.chars().filter(|c| !c.is_whitespace()).collect();
            let letters = text.chars().count();
            if letters >= SHORTEST && seen.insert(text.clone()) {
                all.push(Needle { text, within: letters >= WITHIN, edit: edit.clone() });
            }
        }
        Self::of(all, Blanks::Nothing)
    }

    /// Looks for these values as words, and for persons by their surnames and with those first, in texts of which nobody has to
    /// guess the blanks.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`] if they are too many.
    pub(in crate::sanitize) fn words(values: &Values) -> Result<Self, Rejection> {
        let (mut all, mut seen, mut size) = (Vec::new(), BTreeSet::new(), 0_usize);
        let is_name = |value: &str| !value.contains(|c: char| c == '@' || c.is_numeric());
        let (names, others): (Vec<_>, Vec<_>) = values.iter().partition(|(value, _)| is_name(value));
        for (value, edit) in names.into_iter().chain(others) {
            let person = edit.with.rule.as_deref() == Some(PERSON);
            let more = if person { [surname(value).map(str::to_owned), turned(value)] } else { [None, None] };
            let texts = std::iter::once(value.clone()).chain(more.into_iter().flatten());
            for text in texts.filter(|text| is_known_by(text)) {
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                size = size.saturating_add(text.len());
                if size <= MOST && seen.insert(text.clone()) {
                    all.push(Needle { text, within: false, edit: edit.clone() });
                }
            }
        }
        Self::of(all, Blanks::End)
    }

    fn of(all: Vec<Needle>, blanks: Blanks) -> Result<Self, Rejection> {
        let texts: Vec<&str> = all.iter().map(|needle| needle.text.as_str()).collect();
        let search = automaton(&texts)?;
        Ok(Self { all, search, blanks })
    }

    /// Whether there are none.
    pub(in crate::sanitize) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Each of them.
    pub(in crate::sanitize) fn iter(&self) -> impl Iterator<Item = &Needle> {
        self.all.iter()
    }

    /// Where values stand in a text, and the edits that found them first: in order, the longest of those that begin
    /// at one place first. They can lie over one another.
    pub(in crate::sanitize) fn find(&self, text: &str) -> Vec<(Range<usize>, &Edit)> {
        let Some(search) = &self.search else { return Vec::new() };
        let tight = Tight::new(text, self.blanks);
        let found = search.find_overlapping_iter(&tight.text).filter_map(|found| {
            let needle = self.all.get(found.pattern().as_usize())?;
            let range = tight.map.range(found.range());
            (needle.within || tight.is_word(&range)).then_some((range, &needle.edit))
        });
        let mut found: Vec<_> = found.collect();
        found.sort_by_key(|(range, _)| (range.start, Reverse(range.end)));
        found
    }

    /// What is to change in a text: sorted, apart from each other. Of values that lie over one another, the first takes what
    /// all of them cover.
    pub(in crate::sanitize) fn edits(&self, text: &str) -> Vec<Edit> {
        let mut edits: Vec<Edit> = Vec::new();
        for (range, edit) in self.find(text) {
            match edits.last_mut() {
                Some(last) if range.start < last.range.end => last.range.end = last.range.end.max(range.end),
                _ => edits.push(Edit { range, with: edit.with.clone() }),
            }
        }
        edits
    }

    /// Whether a text holds any.
    pub(in crate::sanitize) fn stand_in(&self, text: &str) -> bool {
        let Some(search) = &self.search else { return false };
        let tight = Tight::new(text, self.blanks);
        search.find_overlapping_iter(&tight.text).any(|found| {
            let needle = self.all.get(found.pattern().as_usize());
            needle.is_some_and(|needle| needle.within || tight.is_word(&tight.map.range(found.range())))
        })
    }

    /// Whether one of those that are looked for within words stands in these bytes, which have no blanks.
    pub(in crate::sanitize) fn stand_within(&self, bytes: &[u8]) -> bool {
        let Some(search) = &self.search else { return false };
        let mut found = search.find_overlapping_iter(bytes);
        found.any(|found| self.all.get(found.pattern().as_usize()).is_some_and(|needle| needle.within))
    }
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

impl<'t> Tight<'t> {
    fn new(whole: &'t str, blanks: Blanks) -> Self {
        let (mut text, mut map) = (String::with_capacity(whole.len()), SourceMap::default());
        let mut after = false;
        for c in whole.chars() {
            let blank = c.is_whitespace();
            if !blank {
                map.plain(c.len_utf8());
                text.push(c);
            } else if after || blanks == Blanks::Nothing {
                map.spelled(0, c.len_utf8());
            } else {
                map.spelled(1, c.len_utf8());
                text.push(' ');
            }
            after = blank;
        }
        Self { whole, text, map }
    }

    fn is_word(&self, range: &Range<usize>) -> bool {
        let before = self.whole.get(..range.start).and_then(|text| text.chars().next_back());
        let after = self.whole.get(range.end..).and_then(|text| text.chars().next());
        let inner = self.whole.get(range.clone()).unwrap_or_default();
        let joins = |outer: Option<char>, inner: Option<char>| {
            outer.is_some_and(is_of_word) && inner.is_some_and(is_of_word)
        };
        !joins(before, inner.chars().next()) && !joins(after, inner.chars().next_back())
    }
}

/// Whether a character goes on with the word beside it. Scripts without blanks between words (Thai, Chinese, Japanese, …) and
/// those that put endings to names (Korean) say nothing of that.
fn is_of_word(c: char) -> bool {
    let runs_on = matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
        || matches!(c, '\u{2e80}'..='\u{fdff}' | '\u{20000}'..='\u{3ffff}');
    c.is_alphanumeric() && !runs_on
}

/// Texts that were asked about, as they are to become.
#[derive(Debug, Default)]
pub(in crate::sanitize) struct Said {
    texts: Vec<String>,
    size: usize,
}

impl Said {
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
        let edit = Edit { range: 0..0, with: NewText { text: String::new(), rule: None } };
        let values = values.iter().map(|value| ((*value).to_owned(), edit.clone())).collect();
        let needles = Needles::new(&values).unwrap();
        needles.find(text).into_iter().map(|(range, _)| text.get(range).unwrap().to_owned()).collect()
    }

    #[test]
    fn blanks_do_not_matter_and_words_do_for_short_values() {
        assert_eq!(found("so J a\nne, Janes JaneX", &["Jane"]), ["J a\nne"]);
        assert_eq!(found("xJane Doex", &["Jane  Doe"]), ["Jane Doe"]);
        assert_eq!(found("Zoë's", &["Zoë"]), ["Zoë"]);
        assert!(found("7 7", &[" 7 "]).is_empty());
    }

    fn words(text: &str, values: &[&str]) -> String {
        let with =
            |rule: &str| crate::sanitize::NewText { text: "<N>".to_owned(), rule: Some(rule.to_owned()) };
        let edit = |rule: &str| Edit { range: 0..0, with: with(rule) };
        let values = values.iter().map(|value| ((*value).to_owned(), edit("PERSON"))).collect();
        spliced_text(text, &Needles::words(&values).unwrap().edits(text))
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
        let edit =
            |range| Edit { range, with: crate::sanitize::NewText { text: "<N>".to_owned(), rule: None } };
        let needles = Needles::words(&[("Jane".to_owned(), edit(0..0))].into()).unwrap();
        let mut said = Said::default();
        said.keep("Jane is here", &[edit(0..4)]);
        assert!(!said.holds(&needles));
        said.keep("so is Jane", &[]);
        assert!(said.holds(&needles) && !said.holds(&Needles::words(&Values::new()).unwrap()));
        let mut long = Said::default();
        long.keep(&" ".repeat(KEPT + 1), &[]);
        assert!(long.holds(&needles));
    }

    #[test]
    fn all_values_are_found_also_within_each_other() {
        let text = "Jane Doe, Janet, Doe Jane";
        assert_eq!(found(text, &["Jane", "Doe", "Jane Doe"]), ["Jane Doe", "Jane", "Doe", "Doe", "Jane"]);
        // The longer one that is no word by itself does not hide the shorter one that is.
        assert_eq!(found("ab cdx", &["ab cd", "ab"]), ["ab"]);
    }
}
