//! Letter case: how a text was changed, and the same change to another text.

/// What programs and models do to the case of a whole value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LetterCase {
    /// Nothing.
    Kept,
    /// All letters are capitals.
    Upper,
    /// The first letter is a capital, as at the beginning of a sentence.
    First,
    /// Each run of letters begins with a capital.
    Title,
    /// The first letter is a capital and no other.
    Sentence,
    /// No letter is a capital.
    Lower,
}

impl LetterCase {
    /// In the order in which they are tried.
    const ALL: [Self; 6] = [Self::Kept, Self::Upper, Self::First, Self::Title, Self::Sentence, Self::Lower];

    /// Whether a capital stays one.
    pub(super) fn keeps_capitals(self) -> bool {
        !matches!(self, Self::Lower | Self::Sentence | Self::Title)
    }

    /// The change that makes `to` of `from`, if it is one of these.
    pub(super) fn between(from: &[char], to: &[char]) -> Option<Self> {
        Self::ALL.into_iter().find(|case| case.changed(from) == to)
    }

    /// `other` after the change that makes `to` of `from`: of the whole, or of each word by itself.
    pub(super) fn transferred(from: &[char], to: &[char], other: &[char]) -> Option<Vec<char>> {
        if let Some(case) = Self::between(from, to) {
            return Some(case.changed(other));
        }
        let words = |text: &[char]| text.split(|c| *c == ' ').map(<[char]>::to_vec).collect::<Vec<_>>();
        let (from, to, other) = (words(from), words(to), words(other));
        if from.len() < 2 || from.len() != to.len() || from.len() != other.len() {
            return None;
        }
        let pairs = from.iter().zip(&to).zip(&other);
        let words: Option<Vec<Vec<char>>> =
            pairs.map(|((from, to), other)| Some(Self::between(from, to)?.changed(other))).collect();
        Some(words?.join(&' '))
    }

    /// `text` after the change.
    pub(super) fn changed(self, text: &[char]) -> Vec<char> {
        let first = text.iter().position(|c| c.is_alphabetic());
        let mut before = false;
        let change = |(at, &c): (usize, &char)| {
            let begins = !std::mem::replace(&mut before, c.is_alphabetic());
            match self {
                Self::Kept => c,
                Self::Upper => upper(c),
                Self::Lower => lower(c),
                Self::First if Some(at) == first => upper(c),
                Self::First => c,
                Self::Sentence if Some(at) == first => upper(c),
                Self::Title if begins => upper(c),
                Self::Sentence | Self::Title => lower(c),
            }
        };
        text.iter().enumerate().map(change).collect()
    }
}

/// The letter's small form, where that is one letter.
pub(super) fn lower(c: char) -> char {
    if c.is_ascii() { c.to_ascii_lowercase() } else { one(c, c.to_lowercase()) }
}

/// A text in small letters, each as [`lower`] has it.
pub(super) fn lowered(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { text.chars().map(lower).collect() }
}

fn upper(c: char) -> char {
    if c.is_ascii() { c.to_ascii_uppercase() } else { one(c, c.to_uppercase()) }
}

fn one(c: char, mut other: impl Iterator<Item = char>) -> char {
    other.next().filter(|_| other.next().is_none()).unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_seen_and_made_elsewhere() {
        let cases = [
            ("Jo@ab.de", "JO@AB.DE", "Émil@x", Some("ÉMIL@X")),
            ("Jo@ab.de", "jo@ab.de", "Émil@x", Some("émil@x")),
            ("jo@ab.de", "jo@ab.de", "Émil@x", Some("Émil@x")),
            ("jo@ab.de", "Jo@ab.de", "mIl@x", Some("MIl@x")),
            ("jO@ab.de", "Jo@Ab.De", "émiL@x", Some("Émil@X")),
            ("jO@ab.de", "Jo@ab.de", "émiL@x", Some("Émil@x")),
            ("Ab Cd", "Ab CD", "Éa Fg", Some("Éa FG")),
            ("Ab Cd", "aB CD", "Éa Fg", None),
            ("Ab Cd", "Ab CD", "Éa", None),
            ("jo@ab.de", "jO@ab.de", "émil@x", None),
        ];
        let chars = |text: &str| text.chars().collect::<Vec<char>>();
        for (from, to, other, expected) in cases {
            let changed = LetterCase::transferred(&chars(from), &chars(to), &chars(other));
            let changed = changed.map(|changed| changed.into_iter().collect::<String>());
            assert_eq!(changed.as_deref(), expected, "{from} {to}");
        }
    }
}
