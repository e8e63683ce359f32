//! [`Needle`]: a value that has to be gone, found however it is spaced: a gap between letters can be read as a blank,
//! and a blank as a gap.

use std::ops::Range;

/// From how many letters on a value is looked for within words as well.
const WITHIN: usize = 6;

/// Below how many letters a value is not looked for elsewhere at all.
const SHORTEST: usize = 2;

/// A value without its blanks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::sanitize::format::pdf) struct Needle {
    pub(super) text: String,
    /// Whether it is looked for within words as well.
    pub(super) within: bool,
}

/// A text without its blanks, and where each byte of that was.
#[derive(Debug)]
pub(in crate::sanitize::format::pdf) struct Tight<'t> {
    whole: &'t str,
    text: String,
    places: Vec<usize>,
}

impl Needle {
    /// Looks for a value; nothing for one that is too short to mean the same elsewhere.
    pub(in crate::sanitize::format::pdf) fn new(value: &str) -> Option<Self> {
        let text: String = value.chars().filter(|c| !c.is_whitespace()).collect();
        let letters = text.chars().count();
        (letters >= SHORTEST).then_some(Self { text, within: letters >= WITHIN })
    }
}

impl<'t> Tight<'t> {
    /// A text without its blanks.
    pub(in crate::sanitize::format::pdf) fn new(whole: &'t str) -> Self {
        let (mut text, mut places) = (String::with_capacity(whole.len()), Vec::with_capacity(whole.len()));
        for (at, c) in whole.char_indices().filter(|(_, c)| !c.is_whitespace()) {
            text.push(c);
            places.extend(at..at + c.len_utf8());
        }
        Self { whole, text, places }
    }

    /// Where the value stands in the whole text.
    pub(in crate::sanitize::format::pdf) fn find<'s>(
        &'s self,
        needle: &'s Needle,
    ) -> impl Iterator<Item = Range<usize>> + 's {
        let place = |at: usize| self.places.get(at).copied();
        let found = memchr::memmem::find_iter(self.text.as_bytes(), needle.text.as_bytes());
        let range = move |at: usize| {
            let last = at.checked_add(needle.text.len())?.checked_sub(1)?;
            Some(place(at)?..place(last)?.checked_add(1)?)
        };
        found.filter_map(range).filter(|range| needle.within || self.is_word(range))
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

    #[test]
    fn blanks_do_not_matter_and_words_do_for_short_values() {
        let find = |text: &str, value: &str| {
            let needle = Needle::new(value).unwrap();
            Tight::new(text)
                .find(&needle)
                .map(|range| text.get(range).unwrap_or_default().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(find("so J a\nne, Janes JaneX", "Jane"), ["J a\nne"]);
        assert_eq!(find("xJane Doex", "Jane  Doe"), ["Jane Doe"]);
        assert_eq!(find("Zoë's", "Zoë"), ["Zoë"]);
        assert_eq!(Needle::new(" 7 "), None);
    }
}
