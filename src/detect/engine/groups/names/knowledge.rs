//! What the lexicon knows of a word by itself, for the names model beside it.

use super::lexicon::look_up_name;
use super::roles::{NameList, roles};
use super::streets;
use crate::detect::naming;

/// What is known of a word, in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WordKnowledge {
    pub(crate) is_given: bool,
    /// A given name or a surname, and no common word.
    pub(crate) is_person: bool,
    /// A place, and neither a person nor a common word.
    pub(crate) is_place: bool,
    /// A word of grammar, a month or a day, and nobody's name.
    pub(crate) is_grammar: bool,
}

impl WordKnowledge {
    pub(crate) fn of(word: &str) -> Self {
        let lower = naming::lower(word);
        let classes = look_up_name(&lower);
        let other = classes.is_common() || classes.is_function() || roles(&lower).has(NameList::Month);
        Self {
            is_given: classes.is_given(),
            is_person: classes.is_person() && !classes.is_common(),
            is_place: classes.is_place() && !classes.is_person() && !other,
            is_grammar: other && !classes.is_person(),
        }
    }
}

/// How long a room, a flat or a box and its number are that a text begins with.
pub(crate) fn room(text: &str) -> Option<usize> {
    streets::room(text)
}

/// Whether the names of newspapers and magazines end with a word, in any case.
pub(crate) fn is_publication_word(word: &str) -> bool {
    roles(word).has(NameList::Publication)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_known_in_any_case() {
        let known = WordKnowledge::of;
        assert!(known("Rodrigo").is_given && known("rodrigo").is_person && known("SALAS").is_person);
        assert!(known("Oslo").is_place && !known("oslo").is_person);
        assert!(known("maybe").is_grammar && known("Lunes").is_grammar && !known("maria").is_grammar);
        assert_eq!(known("qwxzv"), known(""));
        assert!(room("Suite 7") == Some(7) && room("Street 7").is_none() && is_publication_word("WEEKLY"));
    }
}
