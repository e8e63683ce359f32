//! Names that are names in small letters too: `rebecca`, which no language has as a word.

use crate::redact::dictionary::{Dictionary, is_ordinary};

/// Whether a word, in any case, is the name of a person or a town that both have and stand for, and no ordinary word: in small letters
/// it is that name as well.
pub(super) fn is_name_in_small_letters(word: &str) -> bool {
    let lower = word.to_lowercase();
    let listed = [Dictionary::persons(), Dictionary::towns()].iter().any(|list| list.is_name_only(&lower));
    listed && !is_ordinary(&lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_words() {
        for name in ["rebecca", "Damian", "lopez", "honiton", "Monmouth"] {
            assert!(is_name_in_small_letters(name), "{name}");
        }
        for word in ["rugby", "Orange", "street", "mark", "walker", "ann", "rebecca fenwick", "qwxz", ""] {
            assert!(!is_name_in_small_letters(word), "{word}");
        }
    }
}
