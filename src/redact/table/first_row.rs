//! [`FirstRow`]: the first of rows of two cells. Those are tables under two heads, and as often pairs of anything: settings,
//! translations, edges, orders to sort by.

use crate::detect::Label;
use crate::redact::table::row::is_head;

/// Last words of what columns are called.
const LABELS: &str = "\
    account address age amount balance birth birthday birthdate city code comment comments company contact \
    country county customer date department dob email employee employer fax firstname forename fullname gender \
    iban id ip lastname licence license location member mobile mrn name nationality note notes number owner \
    passport patient person phone pin plate postcode price region role salary score sex sin ssn status street \
    surname team tel telephone total url user username vat vin zip";

/// The shortest secret that nobody writes by chance, in bytes.
const SECRET: usize = 8;

/// A first row.
#[derive(Clone, Copy, Debug)]
pub(in crate::redact) struct FirstRow {
    labels: bool,
    /// Whether the first cell says that a value is a secret, and whether the second does.
    secrets: [bool; 2],
}

impl FirstRow {
    /// The one of these cells.
    pub(in crate::redact) fn of(first: &str, second: &str) -> Self {
        let is_secret = |cell: &str| Label::of([cell]).is_some_and(|label| label.is_secret());
        let secrets = [is_secret(first), is_secret(second)];
        let [_, secret] = secrets;
        Self { labels: !first.eq_ignore_ascii_case(second) && (secret || is_label(second)), secrets }
    }

    /// Whether the second cell is what a column is called, too.
    pub(in crate::redact) fn are_labels(self) -> bool {
        self.labels
    }

    /// Whether a value of a later row may stand under the head of this column. Under a secret there is one word that is none of
    /// a language; in the first column, where pairs have their names, one that nobody writes by chance.
    pub(in crate::redact) fn may_head(self, column: usize, value: &str) -> bool {
        let [first, second] = self.secrets;
        match column {
            0 if first => is_random(value),
            0 => self.labels || !is_head(value),
            _ if second => !value.chars().all(|c| c.is_alphabetic() || matches!(c, '_' | '-' | ' ')),
            _ => self.labels || !is_head(value),
        }
    }
}

/// Whether a column is called so: by its last word, or as programs write names of several words.
fn is_label(cell: &str) -> bool {
    let word = |c: char| !c.is_alphanumeric();
    let last = cell.trim_end_matches(word).rsplit(word).next().unwrap_or_default();
    let joined = cell.contains('_') && cell.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    joined || LABELS.split(' ').any(|label| label.eq_ignore_ascii_case(last))
}

/// Whether nobody writes a word by chance: letters and digits with a sign of passwords or in turns, and in no sentence.
fn is_random(word: &str) -> bool {
    let sign = |c: char| matches!(c, '!' | '#' | '$' | '%' | '^' | '&' | '*' | '?' | '~' | '+' | '@');
    let has = |kind: fn(char) -> bool| word.contains(kind);
    let letter = |c: char| c.is_ascii_alphabetic();
    let turns = word.trim_start_matches(letter).trim_start_matches(|c: char| c.is_ascii_digit());
    word.len() >= SECRET
        && !has(char::is_whitespace)
        && has(char::is_alphabetic)
        && has(|c| c.is_ascii_digit())
        && (word.contains(sign) || turns.starts_with(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_labels_are_heads() {
        for (first, second, labels) in [
            ("id", "ssn", true),
            ("user", "Password", true),
            ("First name", "Last name", true),
            ("id", "bank_account", true),
            ("password", "asc", false),
            ("First name", "Maria", false),
            ("name", "Name", false),
        ] {
            assert_eq!(FirstRow::of(first, second).are_labels(), labels, "{first} {second}");
        }
    }

    #[test]
    fn names_of_pairs_stand_under_no_head() {
        for (first, second, column, value, heads) in [
            ("user", "password", 1, "sunflower7", true),
            ("user", "password", 1, "remember me", false),
            ("password", "user", 0, "hunter2Zq9", true),
            ("password", "user", 0, "Gx7!kkpw", true),
            ("password", "hunter2Zq9", 0, "remember", false),
            ("password", "asc", 0, "address2", false),
            ("First name", "Maria", 0, "Street", false),
            ("First name", "Last name", 0, "Kwabena", true),
            ("ssn", "comment?", 0, "536228741", true),
            ("ssn", "Okonkwo", 0, "536228741", true),
        ] {
            let row = FirstRow::of(first, second);
            assert_eq!(row.may_head(column, value), heads, "{first} {second} {value}");
        }
    }
}
