//! Other ways to write a person's name: with an initial, with the surname first, without what stands between.

/// How a name of several words is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameForm {
    /// `E. Ruiz`
    Initial,
    /// `E Ruiz`
    BareInitial,
    /// `Ruiz, Elena`
    SurnameFirst,
    /// `Ruiz, E.`
    SurnameInitial,
    /// `Elena Ruiz` of `Elena Marta Ruiz`
    WithoutMiddle,
}

/// Initials that are words of some language.
const WORDS: &[char] = &['a', 'e', 'i', 'o', 'u', 'y'];

impl NameForm {
    pub(super) const ALL: [Self; 5] =
        [Self::Initial, Self::BareInitial, Self::SurnameFirst, Self::SurnameInitial, Self::WithoutMiddle];

    /// The name in this form; `None` where it has none.
    pub(super) fn of(self, name: &str) -> Option<String> {
        let words: Vec<&str> = name.split(' ').collect();
        let (given, behind) = words.split_first().filter(|(given, _)| is_written_out(given))?;
        // A surname begins with its particles, which are in small letters.
        let small = |word: &&&str| word.chars().next().is_some_and(char::is_lowercase);
        let last = behind.len().checked_sub(1)?;
        let particles = behind.get(..last)?.iter().rev().take_while(small).count();
        let surname = behind.get(last - particles..)?;
        if !surname.last().is_some_and(|word| is_written_out(word)) || name.contains(',') {
            return None;
        }
        let (surname, initial) = (surname.join(" "), given.chars().next()?);
        match self {
            Self::Initial => Some(format!("{initial}. {surname}")),
            Self::BareInitial if WORDS.contains(&initial.to_ascii_lowercase()) => None,
            Self::BareInitial => Some(format!("{initial} {surname}")),
            Self::SurnameFirst => Some(format!("{surname}, {given}")),
            Self::SurnameInitial => Some(format!("{surname}, {initial}.")),
            Self::WithoutMiddle if last > particles => Some(format!("{given} {surname}")),
            Self::WithoutMiddle => None,
        }
    }
}

fn is_written_out(word: &str) -> bool {
    word.chars().filter(|c| c.is_alphabetic()).count() > 1
        && word.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '’' | '-'))
}

/// Whether a word of a name is one letter.
pub(super) fn has_initial(name: &str) -> bool {
    let letters = |word: &str| word.chars().filter(|c| c.is_alphabetic()).count();
    name.contains(' ') && name.split([' ', '.']).any(|word| letters(word) == 1)
}

#[cfg(test)]
#[path = "name_form_tests.rs"]
mod tests;
