//! Whether a word is a common one, for who replaces names by others.

use super::lexicon::look_up_name;
use super::roles::{NameList, roles};

/// Whether a word in small letters is a common word, one of grammar, a month or a day; a name as well or none.
pub(crate) fn is_common_word(lower: &str) -> bool {
    let classes = look_up_name(lower);
    classes.is_common() || classes.is_function() || roles(lower).has(NameList::Month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_words_are_no_names_alone() {
        assert!(is_common_word("maybe") && is_common_word("monday"));
        assert!(!is_common_word("rodrigo") && !is_common_word("honiton") && !is_common_word(""));
    }
}
