//! The surname of a full name, by which somebody is called further on.

use super::lexicon::look_up;
use super::roles::{NameList, roles};
use super::spelling::WordCase;
use crate::detect::naming;

/// Letters of the shortest surname that is told from other words by itself.
const SHORTEST: usize = 4;

/// The last word of a name of two words and more, where the first is a given name that is known and the last is neither
/// another word of the language nor a place: `Abernathy` of `Rosalyn Abernathy`.
pub(crate) fn surname(name: &str) -> Option<&str> {
    let (front, last) = name.trim_end().rsplit_once(' ')?;
    let given = look_up(&naming::lower(front.split([' ', '-']).next()?)).is_given();
    let lower = naming::lower(last);
    let classes = look_up(&lower);
    let word = last.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '\u{2019}'));
    let long = last.chars().count() >= SHORTEST;
    let other = classes.is_common() || classes.is_title() || roles(&lower).has(NameList::Thing);
    let other = other || classes.is_place() && !classes.is_surname();
    (given
        && word
        && long
        && !other
        && WordCase::of(last) == WordCase::Name
        && last.starts_with(char::is_uppercase))
    .then_some(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_surname_is_the_last_word_behind_a_given_name() {
        let rows = [
            ("Rosalyn Abernathy", Some("Abernathy")),
            ("Rosalyn M. Abernathy", Some("Abernathy")),
            ("Babatunde", None),
            ("Visual Studio", None),
            ("Jennifer Will", None),
            ("ROSALYN ABERNATHY", None),
            ("Maria The", None),
        ];
        for (name, expected) in rows {
            assert_eq!(surname(name), expected, "{name}");
        }
    }
}
