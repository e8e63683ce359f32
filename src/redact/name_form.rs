//! Other ways to write a person's name: with an initial, with the surname first, without what stands between, as one word.

use crate::detect::is_common_word;
use crate::redact::dictionary::Dictionary;

/// How a name of several words is written. What is a blank here may be `_`, `.`, `-` or `+` as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameForm {
    /// `E. Ruiz`
    Initial,
    /// `E Ruiz`, `e.ruiz`
    BareInitial,
    /// `Ruiz, Elena`
    SurnameFirst,
    /// `Ruiz, E.`
    SurnameInitial,
    /// `Elena Ruiz` of `Elena Marta Ruiz`
    WithoutMiddle,
    /// `Ruiz Elena`, `ruiz_elena`
    SurnameGiven,
    /// `Elena R`, `elena.r`
    GivenInitial,
    /// `Ruiz E`, `ruiz.e`
    SurnameBareInitial,
    /// `ElenaRuiz`
    Joined,
    /// `RuizElena`
    JoinedSurnameFirst,
    /// `eruiz`
    JoinedInitial,
}

/// Initials that are words of some language.
const WORDS: &[char] = &['a', 'e', 'i', 'o', 'u', 'y'];

/// Those that are numbers behind a name, of kings and volumes.
const NUMERALS: &[char] = &['v', 'x'];

/// The shortest name that is known as one word, in characters.
const SHORTEST_JOINED: usize = 5;

impl NameForm {
    pub(super) const ALL: [Self; 11] = [
        Self::Initial,
        Self::BareInitial,
        Self::SurnameFirst,
        Self::SurnameInitial,
        Self::WithoutMiddle,
        Self::SurnameGiven,
        Self::GivenInitial,
        Self::SurnameBareInitial,
        Self::Joined,
        Self::JoinedSurnameFirst,
        Self::JoinedInitial,
    ];

    /// The name in this form; `None` where it has none. Where both parts are one word, a blank stands between them.
    pub(super) fn of(self, name: &str) -> Option<String> {
        let words: Vec<&str> = name.split(' ').collect();
        let (given, behind) = words.split_first().filter(|(given, _)| is_written_out(given))?;
        // A surname begins with its particles, which are in small letters.
        let small = |word: &&&str| word.chars().next().is_some_and(char::is_lowercase);
        let last = behind.len().checked_sub(1)?;
        let particles = behind.get(..last)?.iter().rev().take_while(small).count();
        let surname = behind.get(last - particles..)?;
        let own = surname.last().filter(|word| is_written_out(word) && !name.contains(','))?;
        let (surname, initial) = (surname.join(" "), given.chars().next()?);
        match self {
            Self::Initial => Some(format!("{initial}. {surname}")),
            Self::BareInitial => Some(format!("{initial} {surname}")),
            Self::SurnameFirst => Some(format!("{surname}, {given}")),
            Self::SurnameInitial => Some(format!("{surname}, {initial}.")),
            Self::WithoutMiddle if last > particles => Some(format!("{given} {surname}")),
            Self::WithoutMiddle => None,
            Self::SurnameGiven => Some(format!("{surname} {given}")),
            Self::GivenInitial => Some(format!("{given} {}", own.chars().next()?)),
            Self::SurnameBareInitial => Some(format!("{surname} {initial}")),
            Self::Joined => Some(format!("{} {}", letters(given), letters(&surname))),
            Self::JoinedSurnameFirst => Some(format!("{} {}", letters(&surname), letters(given))),
            Self::JoinedInitial => Some(format!("{initial} {}", letters(&surname))),
        }
    }

    /// Whether nothing stands between its parts.
    pub(super) const fn is_joined(self) -> bool {
        matches!(self, Self::Joined | Self::JoinedSurnameFirst | Self::JoinedInitial)
    }

    /// Whether a name that is `written` in this form may be something else, so that it is not known by it.
    pub(super) fn is_ambiguous(self, written: &str) -> bool {
        match self {
            Self::GivenInitial | Self::SurnameBareInitial => {
                let lower = written.to_lowercase();
                lower.split(' ').all(|word| is_letter(word) || is_common_word(word))
            }
            Self::Joined | Self::JoinedSurnameFirst | Self::JoinedInitial => {
                let lower = written.to_lowercase().replace(' ', "");
                let lists = [Dictionary::persons(), Dictionary::towns()];
                lower.chars().count() < SHORTEST_JOINED
                    || is_common_word(&lower)
                    || lists.iter().any(|list| list.knows(&lower))
            }
            _ => false,
        }
    }

    /// Whether a name that is `written` in this form may be other words where blanks stand in it, and not where signs do.
    pub(super) fn needs_sign(self, written: &str) -> bool {
        let has = |list: &[char]| {
            let initial =
                written.split(' ').find(|word| is_letter(word)).and_then(|word| word.chars().next());
            initial.is_some_and(|initial| list.contains(&initial.to_ascii_lowercase()))
        };
        match self {
            Self::BareInitial => has(WORDS),
            Self::GivenInitial | Self::SurnameBareInitial => has(WORDS) || has(NUMERALS),
            Self::SurnameGiven => written.to_lowercase().split(' ').all(is_common_word),
            _ => false,
        }
    }

    /// Whether `written` may be this form; `signed` is whether it needs a sign. An initial behind a blank is a capital.
    pub(super) fn admits(self, signed: bool, written: &str) -> bool {
        match self {
            Self::BareInitial | Self::SurnameGiven => !signed || !written.contains(char::is_whitespace),
            Self::GivenInitial | Self::SurnameBareInitial => {
                let mut back = written.chars().rev();
                match (back.next(), back.next().filter(|sign| sign.is_whitespace())) {
                    (Some(initial), Some(blank)) => !signed && !blank.is_control() && initial.is_uppercase(),
                    _ => true,
                }
            }
            _ => true,
        }
    }
}

/// The letters of a part of a name, which is one word then.
fn letters(part: &str) -> String {
    part.chars().filter(|c| c.is_alphabetic()).collect()
}

fn is_letter(word: &str) -> bool {
    word.chars().count() == 1
}

fn is_written_out(word: &str) -> bool {
    word.chars().filter(|c| c.is_alphabetic()).count() > 1
        && word.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '’' | '-'))
}

/// Whether a word of a name is one letter.
pub(super) fn has_initial(name: &str) -> bool {
    let letters = |word: &str| word.chars().filter(|c| c.is_alphabetic()).count();
    name.contains([' ', '.', '_']) && name.split([' ', '.', '_']).any(|word| letters(word) == 1)
}

/// Whether a name is written as one word, of which each part begins with a capital.
pub(super) fn is_joined(name: &str) -> bool {
    let mut pairs = name.chars().zip(name.chars().skip(1));
    name.chars().all(char::is_alphabetic)
        && pairs.any(|(before, next)| before.is_lowercase() && next.is_uppercase())
}

#[cfg(test)]
#[path = "name_form_tests.rs"]
mod tests;
