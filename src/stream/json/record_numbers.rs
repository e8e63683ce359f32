//! Numbers by which programs tell records apart: long ones look like card numbers, one in thirty by chance, and who gets
//! another number finds another record, or none.

use crate::stream::path::{Path, Segment};

/// The fewest digits of one: cards have fewer, but for few, and nobody writes those as numbers.
const LEAST: usize = 17;

/// Last words of the names of members that hold such numbers.
const NUMBERED: [&str; 15] = [
    "id",
    "ids",
    "offset",
    "version",
    "revision",
    "rev",
    "hash",
    "seed",
    "cursor",
    "seq",
    "sequence",
    "snowflake",
    "timestamp",
    "ns",
    "at",
];

/// Parts of names under which cards are, in small letters, and whole words.
const OF_CARDS: [&str; 12] = [
    "card",
    "kart",
    "tarjeta",
    "carte",
    "cartao",
    "credit",
    "debit",
    "payment",
    "卡",
    "カード",
    "카드",
    "карт",
];
const CARD_WORDS: [&str; 3] = ["pan", "cc", "iin"];

/// Whether the number at `path`, spelled so, is one, by the name of its member or of its array's. Where cards are spoken of
/// on the way there it is not.
pub(crate) fn numbers_record(path: &Path<'_>, spelled: &[u8]) -> bool {
    if spelled.iter().filter(|byte| byte.is_ascii_digit()).count() < LEAST {
        return false;
    }
    let keys = || {
        path.segments().filter_map(|segment| match segment {
            Segment::Key(key) => Some(key),
            Segment::Index(_) => None,
        })
    };
    let named = |word: &str| NUMBERED.iter().any(|known| word.eq_ignore_ascii_case(known));
    keys().last().is_some_and(|name| named(last_word(name))) && !keys().any(is_of_card)
}

/// Whether a name speaks of cards.
fn is_of_card(name: &str) -> bool {
    let name = name.to_lowercase();
    OF_CARDS.iter().any(|part| name.contains(part))
        || name.split(|c: char| !c.is_alphanumeric()).any(|word| CARD_WORDS.contains(&word))
        || CARD_WORDS.iter().any(|word| name.strip_prefix(word) == Some("id"))
}

/// The last word of a name, which signs or a capital begin.
fn last_word(name: &str) -> &str {
    let behind = name.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let bytes = behind.as_bytes();
    let begins = |at: &usize| {
        bytes.get(at - 1..=*at).is_some_and(|pair| matches!(pair, [before, first] if first.is_ascii_uppercase() && !before.is_ascii_uppercase()))
    };
    let at = (1..bytes.len()).rev().find(begins).unwrap_or(0);
    behind.get(at..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_of_a_name_says_what_it_numbers() {
        for (name, word) in [
            ("id", "id"),
            ("point_id", "id"),
            ("pointId", "Id"),
            ("userID", "ID"),
            ("created_at", "at"),
            ("paid", "paid"),
            ("next-page-offset", "offset"),
            ("", ""),
        ] {
            assert_eq!(last_word(name), word, "{name}");
        }
    }
}
