//! [`Needles`]: values that have to be gone, found however they are spaced: a gap between letters can be read as a
//! blank, and a blank as a gap. All are looked for in one way through a text.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use aho_corasick::AhoCorasick;

use crate::edit::SourceMap;
use crate::sanitize::{Edit, Rejection, Values};

/// From how many letters on a value is looked for within words as well.
const WITHIN: usize = 6;

/// Below how many letters a value is not looked for elsewhere at all.
const SHORTEST: usize = 2;

/// A value without its blanks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Needle {
    pub(super) text: String,
    /// Whether it is looked for within words as well.
    pub(super) within: bool,
    /// How it was found first.
    edit: Edit,
}

/// Values, looked for all at once.
#[derive(Debug)]
pub(super) struct Needles {
    all: Vec<Needle>,
    search: Option<AhoCorasick>,
}

/// A text without its blanks, and where that was.
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
pub(super) fn automaton<P: AsRef<[u8]>>(patterns: &[P]) -> Result<Option<AhoCorasick>, Rejection> {
    if patterns.is_empty() {
        return Ok(None);
    }
    AhoCorasick::new(patterns).map(Some).map_err(|_| Rejection::OverLimit)
}

impl Needles {
    /// Looks for these values, but for those that are too short to mean the same elsewhere.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`] if they are too many.
    pub(super) fn new(values: &Values) -> Result<Self, Rejection> {
        let (mut all, mut seen) = (Vec::new(), BTreeSet::new());
        for (value, edit) in values {
            let text: String = value.chars().filter(|c| !c.is_whitespace()).collect();
            let letters = text.chars().count();
            if letters >= SHORTEST && seen.insert(text.clone()) {
                all.push(Needle { text, within: letters >= WITHIN, edit: edit.clone() });
            }
        }
        let texts: Vec<&str> = all.iter().map(|needle| needle.text.as_str()).collect();
        let search = automaton(&texts)?;
        Ok(Self { all, search })
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Each of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Needle> {
        self.all.iter()
    }

    /// Where values stand in a text, and the edits that found them first: in order, the longest of those that begin
    /// at one place first. They can lie over one another.
    pub(super) fn find(&self, text: &str) -> Vec<(Range<usize>, &Edit)> {
        let Some(search) = &self.search else { return Vec::new() };
        let tight = Tight::new(text);
        let found = search.find_overlapping_iter(&tight.text).filter_map(|found| {
            let needle = self.all.get(found.pattern().as_usize())?;
            let range = tight.map.range(found.range());
            (needle.within || tight.is_word(&range)).then_some((range, &needle.edit))
        });
        let mut found: Vec<_> = found.collect();
        found.sort_by_key(|(range, _)| (range.start, Reverse(range.end)));
        found
    }

    /// Whether a text holds any.
    pub(super) fn stand_in(&self, text: &str) -> bool {
        !self.find(text).is_empty()
    }

    /// Whether one of those that are looked for within words stands in these bytes, which have no blanks.
    pub(super) fn stand_within(&self, bytes: &[u8]) -> bool {
        let Some(search) = &self.search else { return false };
        let mut found = search.find_overlapping_iter(bytes);
        found.any(|found| self.all.get(found.pattern().as_usize()).is_some_and(|needle| needle.within))
    }
}

impl<'t> Tight<'t> {
    fn new(whole: &'t str) -> Self {
        let (mut text, mut map) = (String::with_capacity(whole.len()), SourceMap::default());
        for c in whole.chars() {
            if c.is_whitespace() {
                map.spelled(0, c.len_utf8());
            } else {
                map.plain(c.len_utf8());
                text.push(c);
            }
        }
        Self { whole, text, map }
    }

    fn is_word(&self, range: &Range<usize>) -> bool {
        let before = self.whole.get(..range.start).and_then(|text| text.chars().next_back());
        let after = self.whole.get(range.end..).and_then(|text| text.chars().next());
        let inner = self.whole.get(range.clone()).unwrap_or_default();
        let joins = |outer: Option<char>, inner: Option<char>| {
            outer.is_some_and(char::is_alphanumeric) && inner.is_some_and(char::is_alphanumeric)
        };
        !joins(before, inner.chars().next()) && !joins(after, inner.chars().next_back())
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

    #[test]
    fn all_values_are_found_also_within_each_other() {
        let text = "Jane Doe, Janet, Doe Jane";
        assert_eq!(found(text, &["Jane", "Doe", "Jane Doe"]), ["Jane Doe", "Jane", "Doe", "Doe", "Jane"]);
        // The longer one that is no word by itself does not hide the shorter one that is.
        assert_eq!(found("ab cdx", &["ab cd", "ab"]), ["ab"]);
    }
}
