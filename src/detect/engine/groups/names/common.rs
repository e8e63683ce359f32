//! Whether a word is a common one, for who replaces names by others.

use super::super::super::view::View;
use super::letters::is_letter;
use super::lexicon::look_up_name;
use super::roles::{NameList, roles};
use super::surroundings::{NameLabel, before};
use crate::detect::naming;

/// Whether a word in small letters is a common word, one of grammar, a month or a day; a name as well or none.
pub(crate) fn is_common_word(lower: &str) -> bool {
    let classes = look_up_name(lower);
    classes.is_common() || classes.is_function() || roles(lower).has(NameList::Month)
}

/// Whether a word is taken for somebody's name only by its label, which is `name` and may be a thing's: it is no given name.
pub(crate) fn is_name_by_label(label: &str, word: &str) -> bool {
    let view = View { text: label.as_bytes(), base: 0, complete: true };
    before(&view, view.len()).named != NameLabel::Other
        && word.chars().all(is_letter)
        && !look_up_name(&naming::lower(word)).is_given()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_words_are_no_names_alone() {
        assert!(is_common_word("maybe") && is_common_word("monday"));
        assert!(!is_common_word("rodrigo") && !is_common_word("honiton") && !is_common_word(""));
    }

    #[test]
    fn a_surname_under_a_name_may_be_a_things() {
        for (label, word, by_label) in [
            ("name:\n", "Jenkins", true),
            ("spans_name:\n", "Jenkins", true),
            ("customer_name:\n", "Jenkins", false),
            ("user_users_name:\n", "Jenkins", false),
            ("last_name:\n", "Jenkins", false),
            ("owner:\n", "Jenkins", false),
            ("name:\n", "Maria", false),
            ("name:\n", "Maria Jenkins", false),
            ("", "Jenkins", false),
        ] {
            assert_eq!(is_name_by_label(label, word), by_label, "{label}{word}");
        }
    }
}
