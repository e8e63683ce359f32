//! [`SymbolReader`]: a text as the [`Symbol`]s that values are looked for by, letters or words.

use std::collections::HashMap;
use std::ops::Range;

/// How a text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SymbolUnit {
    /// Letter by letter, without blanks: a gap between letters can be read as a blank, and a blank as a gap.
    Letter,
    /// Word by word, and between words sign by sign; however many blanks there are, they are one.
    Word,
    /// The same, whatever case the letters have.
    WordInAnyCase,
}

/// A letter or a word, and where it stands.
#[derive(Debug)]
pub(super) struct Symbol {
    /// Nothing: it is in no text that was learned.
    pub(super) code: Option<u32>,
    pub(super) range: Range<usize>,
}

/// Reads texts.
#[derive(Debug)]
pub(super) struct SymbolReader {
    pub(super) unit: SymbolUnit,
    /// The words that were learned.
    words: HashMap<Box<str>, u32>,
}

impl SymbolReader {
    pub(super) fn by(unit: SymbolUnit) -> Self {
        Self { unit, words: HashMap::new() }
    }

    /// The codes of a text, whose words are known from now on.
    pub(super) fn learn(&mut self, text: &str) -> Vec<u32> {
        let mut codes = Vec::new();
        for token in tokens(text, self.unit) {
            let key = self.key(text.get(token).unwrap_or_default());
            let next = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
            codes.push(match key {
                TokenKey::Code(code) => code,
                TokenKey::Word(word) => *self.words.entry(word.into()).or_insert(next),
                TokenKey::Folded(word) => *self.words.entry(word.into()).or_insert(next),
            });
        }
        codes
    }

    /// A text, symbol by symbol.
    pub(super) fn read<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Symbol> + 't {
        tokens(text, self.unit).map(|range| {
            let code = match self.key(text.get(range.clone()).unwrap_or_default()) {
                TokenKey::Code(code) => Some(code),
                TokenKey::Word(word) => self.words.get(word).copied(),
                TokenKey::Folded(word) => self.words.get(word.as_str()).copied(),
            };
            Symbol { code, range }
        })
    }

    fn key<'t>(&self, token: &'t str) -> TokenKey<'t> {
        match self.unit {
            SymbolUnit::Letter => TokenKey::Code(token.chars().next().map_or(0, u32::from)),
            _ if token.starts_with(char::is_whitespace) => TokenKey::Word(" "),
            SymbolUnit::Word => TokenKey::Word(token),
            SymbolUnit::WordInAnyCase => TokenKey::Folded(folded(token)),
        }
    }
}

/// What a token goes by.
enum TokenKey<'t> {
    Code(u32),
    Word(&'t str),
    Folded(String),
}

/// Where the tokens of a text lie.
fn tokens(text: &str, unit: SymbolUnit) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let blank = |rest: &str| rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
        if unit == SymbolUnit::Letter {
            from += blank(text.get(from..)?);
        }
        let rest = text.get(from..)?;
        let first = rest.chars().next()?;
        let length = match unit {
            SymbolUnit::Letter => first.len_utf8(),
            _ if first.is_whitespace() => blank(rest),
            _ if is_of_word(first) => rest.find(|c| !is_of_word(c)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        from += length;
        Some(from - length..from)
    })
}

/// A word without the case of its letters: `Straße` and `STRASSE`, `İ` and `i` are one.
fn folded(word: &str) -> String {
    let upper = word.chars().flat_map(char::to_uppercase);
    upper.flat_map(char::to_lowercase).filter(|c| *c != '\u{307}').collect()
}

/// Whether nothing goes on with a word at either end of a part of a text.
pub(super) fn is_word(text: &str, range: &Range<usize>) -> bool {
    let before = text.get(..range.start).and_then(|text| text.chars().next_back());
    let after = text.get(range.end..).and_then(|text| text.chars().next());
    let inner = text.get(range.clone()).unwrap_or_default();
    let joins = |outer: Option<char>, inner: Option<char>| {
        outer.is_some_and(is_of_word) && inner.is_some_and(is_of_word)
    };
    !joins(before, inner.chars().next()) && !joins(after, inner.chars().next_back())
}

/// Whether a character goes on with the word beside it. Scripts without blanks between words (Thai, Chinese, Japanese, …) and
/// those that put endings to names (Korean) say nothing of that.
fn is_of_word(c: char) -> bool {
    let runs_on = matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
        || matches!(c, '\u{2e80}'..='\u{fdff}' | '\u{20000}'..='\u{3ffff}');
    c.is_alphanumeric() && !runs_on
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, unit: SymbolUnit) -> Vec<&str> {
        tokens(text, unit).map(|range| text.get(range).unwrap()).collect()
    }

    #[test]
    fn texts_are_read_by_letters_and_by_words() {
        assert_eq!(read(" J\na ne", SymbolUnit::Letter), ["J", "a", "n", "e"]);
        let words = ["Jane", "-", "Zoë", " \n ", "a1", "@", "王", "伟", "."];
        assert_eq!(read(&words.concat(), SymbolUnit::Word), words);
    }

    #[test]
    fn a_word_is_known_in_any_case_where_that_is_asked_for() {
        for (unit, text, known) in [
            (SymbolUnit::Word, "Jane", [true, false]),
            (SymbolUnit::WordInAnyCase, "Jane", [true, true]),
            (SymbolUnit::WordInAnyCase, "Straße", [true, true]),
            (SymbolUnit::WordInAnyCase, "İbrahim", [true, true]),
            (SymbolUnit::WordInAnyCase, "Σωκράτης", [true, true]),
        ] {
            let mut reading = SymbolReader::by(unit);
            let codes = reading.learn(text);
            let upper = text.to_uppercase();
            let is_known =
                |text: &str| reading.read(text).map(|symbol| symbol.code).eq(codes.iter().copied().map(Some));
            assert_eq!([is_known(text), is_known(&upper)], known, "{text} in {unit:?}");
            assert!(!is_known("other"));
        }
    }
}
