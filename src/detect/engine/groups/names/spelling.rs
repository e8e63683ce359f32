//! How words are spelt: acronyms and mixed capitals are mostly no names.

use super::letters::is_letter;
use super::words::{ELISIONS, is};
use crate::detect::naming::is_upper;

/// How a word's letters are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordCase {
    /// `Jane`, `O'Brien`, `McKay`, `Anne-Marie`.
    Name,
    /// Two letters and more, all of them capitals.
    Capitals,
    /// Capitals within, each with small letters behind: `NotFound`, `JoAnn`.
    Mixed,
    /// Capitals within or at the end, as in `KiB`, `IBANs` or `DoW`: nobody's name.
    Coded,
}

impl WordCase {
    pub(super) fn of(word: &str) -> Self {
        let mut bytes = word.bytes();
        if bytes.next().is_some_and(|first| first.is_ascii_uppercase())
            && bytes.all(|byte| byte.is_ascii_lowercase())
        {
            return Self::Name;
        }
        let mut letters = word.chars().filter(|&letter| is_letter(letter));
        if letters.clone().nth(1).is_some() && letters.all(is_upper) {
            return Self::Capitals;
        }
        let inner = |part: &str| part.chars().skip(1).any(is_upper);
        let strange = |part: &str| inner(part) && inner(PARTICLES.iter().fold(part, within));
        let odd = word.split(['-', '\'', '\u{2019}']).filter(|part| strange(part));
        let coded = odd.map(is_coded).reduce(|one, other| one || other);
        coded.map_or(Self::Name, |coded| if coded { Self::Coded } else { Self::Mixed })
    }
}

/// Whether a capital within a part of a word has no small letter behind, but for a name in capitals: `McDONALD`.
fn is_coded(part: &str) -> bool {
    let body = PARTICLES.iter().fold(part, within);
    if body.len() < part.len() && body.chars().all(is_upper) {
        return false;
    }
    let next = part.chars().skip(1).map(Some).chain([None]);
    part.chars().zip(next).any(|(letter, next)| is_upper(letter) && next.is_none_or(is_upper))
}

/// Particles that are written together with a name.
const PARTICLES: [&str; 8] = ["Mc", "Mac", "De", "Di", "La", "Le", "Van", "Von"];

/// `part` without the particle that is written together with it.
fn within<'p>(part: &'p str, particle: &&str) -> &'p str {
    part.strip_prefix(particle).filter(|rest| rest.starts_with(char::is_uppercase)).unwrap_or(part)
}

/// Whether a word in lower case, and as it is written, is what a sentence begins with: `L'ordine`, no `D'Angelo`.
pub(super) fn is_elided(lower: &str, written: &str) -> bool {
    let Some((front, _)) = lower.split_once(['\'', '\u{2019}']) else { return false };
    let rest = written.split_once(['\'', '\u{2019}']).map_or("", |(_, rest)| rest);
    is(front, ELISIONS) && rest.starts_with(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_by_their_capitals() {
        for (word, spelling) in [
            ("Jane", WordCase::Name),
            ("O'Brien", WordCase::Name),
            ("McKay", WordCase::Name),
            ("DeVito", WordCase::Name),
            ("Anne-Marie", WordCase::Name),
            ("A", WordCase::Name),
            ("SMITH", WordCase::Capitals),
            ("Élan", WordCase::Name),
            ("ÉLAN", WordCase::Capitals),
            ("KiB", WordCase::Coded),
            ("DoW", WordCase::Coded),
            ("IBANs", WordCase::Coded),
            ("NotFound", WordCase::Mixed),
            ("JoAnn", WordCase::Mixed),
            ("McDONALD", WordCase::Mixed),
        ] {
            assert_eq!(WordCase::of(word), spelling, "{word}");
        }
    }
}
