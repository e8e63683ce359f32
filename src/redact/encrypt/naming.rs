//! Surrogates of names: of persons, places, streets and organisations, word by word, so that a part of a name stands for
//! the same part wherever it is said. What is no name in one (a title, a particle, `Street`, `GmbH`) stays.

use crate::crypto::fpe::FpeKey;
use crate::redact::dictionary::{Dictionary, Permutations};
use crate::redact::style::NameKind;

use super::invented;
use super::kept::{
    CAPITAL_PARTICLES, COMPANIES, ELIDED, PARTICLES, PLACE_WORDS, TITLES, is_kept, is_state, is_street,
    street_endings,
};

/// A key under one tweak, and what was worked out under it.
pub(super) struct Naming<'k> {
    pub(super) key: &'k FpeKey,
    pub(super) tweak: [u8; 16],
    pub(super) permutations: &'k mut Permutations,
}

/// Whether all words of a person's name are known as names and as nothing else, so that one of them alone means the
/// person.
pub(in crate::redact) fn are_names(name: &str) -> bool {
    let mut words = words(name).filter(|piece| piece.letters).map(|piece| piece.text.to_lowercase());
    words.all(|word| Dictionary::persons().is_name_only(&word) || is_kept(PARTICLES, &word))
}

/// A run of letters, or of anything else.
struct LetterRun<'t> {
    text: &'t str,
    letters: bool,
}

/// The pieces of a text in order. An apostrophe between letters is one of them.
fn words(text: &str) -> impl Iterator<Item = LetterRun<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let letters = first.is_alphabetic();
        let ends = |(at, c): (usize, char)| {
            let next = rest.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
            let joins = c.is_alphabetic()
                || letters && matches!(c, '\u{300}'..='\u{36f}')
                || letters && matches!(c, '\'' | '’') && next.is_some_and(char::is_alphabetic);
            (joins != letters).then_some(at)
        };
        let end = rest.char_indices().find_map(ends).unwrap_or(rest.len());
        let (text, other) = rest.split_at_checked(end)?;
        rest = other;
        Some(LetterRun { text, letters })
    })
}

/// `surrogate`, which begins with a capital, in the letter case of `original`.
fn cased(original: &str, surrogate: &str) -> String {
    let mut letters = original.chars().filter(|c| c.is_alphabetic());
    let first_is_small = original.chars().next().is_some_and(char::is_lowercase);
    if first_is_small {
        surrogate.to_lowercase()
    } else if original.chars().nth(1).is_some() && letters.all(|c| !c.is_lowercase() && c.is_uppercase()) {
        surrogate.to_uppercase()
    } else {
        surrogate.to_owned()
    }
}

impl Naming<'_> {
    /// What stands for a name; `None` where it has no word that is one.
    pub(super) fn surrogate(&mut self, kind: NameKind, name: &str) -> Option<String> {
        let pieces: Vec<LetterRun<'_>> = words(name).collect();
        let is_address = pieces.iter().any(|piece| !piece.letters && has_digit(piece.text))
            || pieces.iter().any(|piece| is_street(&piece.text.to_lowercase()));
        let in_street =
            kind == NameKind::Place && pieces.iter().any(|piece| piece.letters && is_of_street(piece.text));
        let last = pieces.iter().rposition(|piece| piece.letters);
        let stays = |at: usize, piece: &LetterRun<'_>| match kind {
            NameKind::Person => {
                let lower = piece.text.to_lowercase();
                // al-Hassan, Al-Hassan.
                let joined = pieces.get(at + 1).is_some_and(|next| next.text == "-") && piece.text.len() == 2;
                let particles = match piece.text.chars().next().is_some_and(char::is_lowercase) || joined {
                    true => PARTICLES,
                    false => CAPITAL_PARTICLES,
                };
                is_kept(TITLES, &lower) || Some(at) != last && is_kept(particles, &lower)
            }
            NameKind::Place => {
                let lower = piece.text.to_lowercase();
                // `12a`.
                let of_house = piece.text.len() == 1
                    && at.checked_sub(1).and_then(|before| pieces.get(before)).is_some_and(|number| {
                        in_street && number.text.ends_with(|c: char| c.is_ascii_digit())
                    });
                of_house || is_street(&lower) || is_kept(PLACE_WORDS, &lower) || is_state(piece.text)
            }
            NameKind::Organization => is_kept(COMPANIES, &piece.text.to_lowercase()),
        };
        // Where all are words that stay, they are the name.
        let all_stay = pieces.iter().enumerate().all(|(at, piece)| !piece.letters || stays(at, piece));
        let mut out = String::with_capacity(name.len() + 8);
        let mut changed = false;
        for (at, piece) in pieces.iter().enumerate() {
            if !piece.letters {
                let kept = if in_street { house(piece.text, at == 0) } else { 0 };
                let (house, rest) = piece.text.split_at(kept);
                out.push_str(house);
                changed |= has_digit(rest);
                self.digits(rest, &mut out);
            } else if stays(at, piece) && !all_stay {
                out.push_str(piece.text);
            } else {
                changed = true;
                self.word(kind, is_address, piece.text, &mut out);
            }
        }
        changed.then_some(out)
    }

    /// Adds what stands for one word.
    fn word(&mut self, kind: NameKind, is_address: bool, word: &str, out: &mut String) {
        for possessive in ["'s", "’s", "'S", "’S"] {
            if let Some(owner) = word.strip_suffix(possessive).filter(|owner| !owner.is_empty()) {
                self.word(kind, is_address, owner, out);
                out.push_str(possessive);
                return;
            }
        }
        let lower = word.to_lowercase();
        // The lists have the apostrophe of a typewriter.
        if let Some(known) = self.known(kind, is_address, &lower.replace('’', "'")) {
            let known = cased(word, known);
            out.push_str(&match word.contains('’') {
                true => known.replace('\'', "’"),
                false => known,
            });
            return;
        }
        // O'Shea, D'Souza, L'Oréal, Dell'Arte; of all other names both sides of the sign are words: Sha'Quille.
        if let Some((front, rest)) = word.split_once(['\'', '’']) {
            if front.len() <= 2 || is_kept(ELIDED, &front.to_lowercase()) {
                out.push_str(front);
            } else {
                self.word(kind, is_address, front, out);
            }
            out.extend(word.get(front.len()..word.len() - rest.len()));
            self.word(kind, is_address, rest, out);
            return;
        }
        let acronym = kind == NameKind::Organization && word.chars().all(|c| c.is_ascii_uppercase());
        if word.is_ascii() && (word.len() == 1 || acronym && word.len() <= 5) {
            self.letters(word, out);
            return;
        }
        if kind == NameKind::Place
            && let Some((stem, end)) = street_endings().find_map(|end| {
                let stem = lower.strip_suffix(end).filter(|stem| stem.chars().count() > 2)?;
                Some((stem, end))
            })
        {
            let streets = self.permuted(Dictionary::streets(), stem).map(str::to_owned);
            let stem =
                streets.unwrap_or_else(|| invented::word(self.key, self.tweak, NameKind::Person, stem));
            out.push_str(&cased(word, &format!("{stem}{end}")));
            return;
        }
        out.push_str(&cased(word, &invented::word(self.key, self.tweak, kind, &lower)));
    }

    fn known(&mut self, kind: NameKind, is_address: bool, lower: &str) -> Option<&'static str> {
        match kind {
            NameKind::Person => self.permuted(Dictionary::persons(), lower),
            NameKind::Place if is_address => self
                .permuted(Dictionary::streets(), lower)
                .or_else(|| self.permuted(Dictionary::towns(), lower)),
            NameKind::Place => self.permuted(Dictionary::towns(), lower),
            NameKind::Organization => None,
        }
    }

    fn permuted(&mut self, dictionary: &'static Dictionary, lower: &str) -> Option<&'static str> {
        self.permutations.surrogate(dictionary, self.key, self.tweak, lower)
    }

    /// Initials and acronyms: each letter by one permutation.
    fn letters(&mut self, word: &str, out: &mut String) {
        let place = word.len() as u8;
        for (at, letter) in word.bytes().enumerate() {
            let mut stream = self.key.keystream(&[&self.tweak, b"letters", &[place, at as u8]]);
            let mut order: Vec<u8> = (b'A'..=b'Z').collect();
            for at in (1..order.len()).rev() {
                order.swap(at, (stream.block() % at as u128) as usize);
            }
            let rank = usize::from(letter.to_ascii_uppercase() - b'A');
            let other = order.get(rank).copied().unwrap_or(b'A');
            out.push(char::from(if letter.is_ascii_lowercase() {
                other.to_ascii_lowercase()
            } else {
                other
            }));
        }
    }

    /// The numbers of post and of what else has one: as many digits, of which the first stays zero or none.
    fn digits(&self, text: &str, out: &mut String) {
        if !has_digit(text) {
            out.push_str(text);
            return;
        }
        let mut stream = self.key.keystream(&[&self.tweak, b"digits", text.as_bytes()]);
        let mut before = false;
        for c in text.chars() {
            let first = c.is_ascii_digit() && !std::mem::replace(&mut before, c.is_ascii_digit());
            out.push(match c {
                '0' if first => c,
                '0'..='9' if first => char::from(b'1' + (stream.block() % 9) as u8),
                '0'..='9' => char::from(b'0' + (stream.block() % 10) as u8),
                c => c,
            });
            before = c.is_ascii_digit();
        }
    }
}

/// The longest number of a house, in digits, and of one that stands behind its street: longer ones are postcodes there.
const HOUSE: usize = 4;
const BEHIND: usize = 3;

/// How much of the signs and numbers between two words are a house's number, which stays: alone it says nothing, and a model writes
/// street and number in other orders and members, where the number of another house beside the true street would pass for an
/// address. `begins` where an address begins with it.
fn house(text: &str, begins: bool) -> usize {
    let most = if begins { HOUSE } else { BEHIND };
    let (mut kept, mut at) = (0, 0);
    while let Some(start) = text.get(at..).and_then(|rest| rest.find(|c: char| c.is_ascii_digit())) {
        let digits = text.bytes().skip(at + start).take_while(u8::is_ascii_digit).count();
        if digits > most {
            break;
        }
        at += start + digits;
        kept = at;
    }
    kept
}

/// Whether a word is what a street is called, or ends like one.
fn is_of_street(word: &str) -> bool {
    let lower = word.to_lowercase();
    is_street(&lower) || street_endings().any(|end| lower.len() > end.len() + 2 && lower.ends_with(end))
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
#[path = "naming_tests.rs"]
mod tests;
