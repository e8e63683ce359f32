//! How words are spelt: acronyms and mixed capitals are mostly no names.

use super::letters::is_letter;
use super::words::{ELISIONS, is};
use crate::detect::naming::is_upper;

/// How a word's letters are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// `Jane`, `O'Brien`, `McKay`, `Anne-Marie`.
    Name,
    /// Two letters and more, all of them capitals.
    Capitals,
    /// Capitals within, as in `NotFound`, `KiB` or `IBANs`.
    Mixed,
}

impl Spelling {
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
        if word.split(['-', '\'', '\u{2019}']).any(strange) { Self::Mixed } else { Self::Name }
    }
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
            ("Jane", Spelling::Name),
            ("O'Brien", Spelling::Name),
            ("McKay", Spelling::Name),
            ("DeVito", Spelling::Name),
            ("Anne-Marie", Spelling::Name),
            ("A", Spelling::Name),
            ("SMITH", Spelling::Capitals),
            ("Élan", Spelling::Name),
            ("ÉLAN", Spelling::Capitals),
            ("KiB", Spelling::Mixed),
            ("NotFound", Spelling::Mixed),
            ("IBANs", Spelling::Mixed),
        ] {
            assert_eq!(Spelling::of(word), spelling, "{word}");
        }
    }
}
