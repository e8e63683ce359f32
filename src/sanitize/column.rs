//! [`head`]: what the column of a table is called.

/// The longest head of a column, in bytes.
const HEAD: usize = 60;

/// What a column is called, if its first cell is a name: what holds digits or an address is data. Empty otherwise.
pub(super) fn head(first: &str) -> &str {
    let word = |c: char| c.is_alphabetic() || matches!(c, ' ' | '_' | '-' | '.' | '/' | '(' | ')' | '#');
    let head = first.trim();
    let letters = head.chars().filter(|c| c.is_alphabetic()).count();
    let wide = head.chars().any(|c| c.is_alphabetic() && !c.is_ascii());
    let names = (letters >= 2 || wide) && head.len() <= HEAD && head.chars().all(word);
    if names { head } else { "" }
}
