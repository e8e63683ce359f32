//! Texts given literally, as patterns. A word's edge is asked for only where the text has one: `\b` before `#` would
//! want a letter or digit there.

/// The pattern of this text between words.
pub(super) fn whole(text: &str) -> String {
    let after = edge(text.chars().next_back());
    format!("{}{after}", beginning(text))
}

/// The pattern of the word that begins with this text: it, and all up to white space.
pub fn starting_with(text: &str) -> String {
    format!(r"{}\S*", beginning(text))
}

/// The pattern of this text where a word begins.
fn beginning(text: &str) -> String {
    format!("{}{}", edge(text.chars().next()), regex::escape(text))
}

/// What asks for a word's edge beside this letter of a text.
fn edge(letter: Option<char>) -> &'static str {
    if letter.is_some_and(|letter| letter.is_ascii_alphanumeric()) { r"\b" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_words_edge_is_asked_for_where_there_is_one() {
        let rows = [
            ("Acme", r"\bAcme\b", r"\bAcme\S*"),
            ("#Acme", r"\#Acme\b", r"\#Acme\S*"),
            ("C++", r"\bC\+\+", r"\bC\+\+\S*"),
            ("élan", r"élan\b", r"élan\S*"),
        ];
        for (text, as_whole, as_start) in rows {
            assert_eq!((whole(text).as_str(), starting_with(text).as_str()), (as_whole, as_start), "{text}");
        }
    }
}
