//! What stands around words that the model takes for names: code, mail addresses, sentences; and what belongs to an address
//! behind it.

use super::word::ModelWord;
use crate::detect::Span;
use crate::detect::engine::{WordKnowledge, is_publication_word, room as room_length};

/// How far the beginning of a sentence is looked for, in bytes.
const SENTENCE: usize = 256;

/// Whether a word of small letters stands in a sentence that begins with a capital. A handle
/// (`@jdoe`) is written small everywhere.
pub(super) fn is_small_in_sentence(text: &str, word: &ModelWord) -> bool {
    let (front, written) = (text.get(..word.start), text.get(word.start..word.end));
    let (Some(front), Some(written)) = (front, written) else { return false };
    if written.contains(char::is_uppercase) || front.trim_end().ends_with('@') {
        return false;
    }
    let near =
        front.get(front.floor_char_boundary(front.len().saturating_sub(SENTENCE))..).unwrap_or_default();
    let begins = near.rfind(['.', '!', '?', '\n']).map(|at| at + 1);
    let sentence = match begins {
        Some(at) => near.get(at..),
        None => (near.len() == front.len()).then_some(near),
    };
    sentence.and_then(|sentence| sentence.chars().find(|c| c.is_alphabetic())).is_some_and(char::is_uppercase)
}

/// How far from a word the sign of a mail address may stand, in bytes: the longest domain.
const DOMAIN: usize = 255;

/// Whether a word is of the local part or of the domain of a mail address, which has a rule of its own.
pub(super) fn in_mail_address(text: &str, word: &ModelWord) -> bool {
    let within = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '+');
    let (from, to) = (word.start.saturating_sub(DOMAIN), (word.end + DOMAIN).min(text.len()));
    let front = text.get(text.floor_char_boundary(from)..word.start).unwrap_or_default();
    let behind = text.get(word.end..text.floor_char_boundary(to)).unwrap_or_default();
    let domain =
        || front.trim_end_matches(within).strip_suffix('@').is_some_and(|local| local.ends_with(within));
    let local =
        || behind.trim_start_matches(within).strip_prefix('@').is_some_and(|host| host.starts_with(within));
    domain() || local()
}

/// Whether a name is that of a newspaper or a magazine: `Entertainment Weekly`.
pub(super) fn is_publication(text: &str, name: Span) -> bool {
    let written = text.get(name.start..name.end).unwrap_or_default();
    let ends = written.split_once(char::is_whitespace).zip(written.rsplit_once(char::is_whitespace));
    ends.is_some_and(|((first, _), (_, last))| {
        is_publication_word(last) && !WordKnowledge::of(first).is_given
    })
}

/// What parts a room from the address before it, and the most of them: a comma, the end of a line, a sign of a quote.
const BETWEEN: usize = 6;

/// Where a room or a flat with its number ends that stands behind an address: `, Suite 12`, `Apt. 4b`.
pub(super) fn room_end(text: &str, address: usize) -> Option<usize> {
    let behind = text.get(address..)?;
    let gap = |c: char| c.is_whitespace() || matches!(c, ',' | '>' | '?' | '|' | ';');
    let room = behind.trim_start_matches(gap);
    let parted = behind.len() - room.len();
    let length = room_length(room).filter(|_| (1..=BETWEEN).contains(&parted))?;
    Some(text.len() - room.len() + length)
}

/// Whether a word is part of an identifier, a call or a path of code.
pub(super) fn in_identifier(text: &str, word: &ModelWord) -> bool {
    let before = text.get(..word.start).unwrap_or_default();
    let behind = text.get(word.end..).unwrap_or_default();
    before.ends_with(['_', '$', '`'])
        || before.ends_with("::")
        || behind.starts_with(['_', '(', '[', '=', '`'])
        || behind.starts_with("::")
}

/// The code fences (```` ``` ````) of a text, passed in order.
pub(super) struct Fences<'a> {
    text: &'a str,
    /// How far it has been looked for fences, and whether that is inside of one.
    at: usize,
    inside: bool,
}

impl<'a> Fences<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, at: 0, inside: false }
    }

    /// Whether `offset`, no less than any before, lies inside.
    pub(super) fn is_code(&mut self, offset: usize) -> bool {
        while let Some(next) = self.text.get(self.at..offset).and_then(|passed| passed.find("```")) {
            self.at += next + 3;
            self.inside = !self.inside;
        }
        // A fence that is only begun is looked at again.
        self.at = self.text.floor_char_boundary(offset.saturating_sub(2).max(self.at));
        self.inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str, part: &str) -> ModelWord {
        let start = text.find(part).unwrap();
        ModelWord { start, end: start + part.len(), person: 0.6, place: 0.0 }
    }

    #[test]
    fn small_words_of_sentences_are_told_from_names() {
        for (text, part, wanted) in [
            ("They sang about satanic felines", "satanic", true),
            ("It is so. and you smash it", "smash", false),
            ("Hey! You smash it", "smash", true),
            ("they sang about satanic felines", "satanic", false),
            ("We asked Satanic again", "Satanic", false),
            ("Ask @ jzaffos now", "jzaffos", false),
            ("Ask @jzaffos now", "jzaffos", false),
            ("\u{ab}Once more with smash", "smash", true),
            ("smash", "smash", false),
        ] {
            assert_eq!(is_small_in_sentence(text, &word(text, part)), wanted, "{text}");
        }
        // Where the sentence begins farther away nobody knows.
        let far = format!("A{}", " b".repeat(SENTENCE) + " smash");
        assert!(!is_small_in_sentence(&far, &word(&far, "smash")));
    }

    #[test]
    fn mail_addresses_are_told_by_their_sign() {
        for (text, part, wanted) in [
            ("to jane.doe@example.com", "jane", true),
            ("to jane.doe@example.com", "example", true),
            ("to Jane @ work", "Jane", false),
            ("@jane is", "jane", false),
            ("jane, x@y.org", "jane", false),
        ] {
            assert_eq!(in_mail_address(text, &word(text, part)), wanted, "{text} {part}");
        }
    }

    #[test]
    fn a_room_belongs_to_the_address_before_it() {
        for (text, wanted) in [
            ("12 Oak St, Suite 12, Rye", Some(", Suite 12")),
            ("12 Oak St\n>Apt. 4b\n>Rye", Some("\n>Apt. 4b")),
            ("12 Oak St ??? Suite 951 ??? Rye", Some(" ??? Suite 951")),
            ("12 Oak St Unit #7", Some(" Unit #7")),
            ("12 Oak St, suite 7", Some(", suite 7")),
            ("12 Oak St, Suite of 7", None),
            ("12 Oak St, Suite 123456", None),
            ("12 Oak St, Suite 12th", None),
            ("12 Oak St. Then Suite 12", None),
            ("12 Oak St", None),
        ] {
            let address = "12 Oak St".len();
            assert_eq!(room_end(text, address).and_then(|end| text.get(address..end)), wanted, "{text}");
        }
    }

    #[test]
    fn publications_are_nobody() {
        for (text, wanted) in [
            ("Entertainment Weekly", true),
            ("Evening Gazette", true),
            ("Maria Weekly", false),
            ("Weekly", false),
            ("", false),
        ] {
            assert_eq!(is_publication(text, Span::new(0, text.len())), wanted, "{text}");
        }
    }
}
