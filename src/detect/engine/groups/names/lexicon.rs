//! What is known of words: given names, surnames, places, common words. The list is data that a script writes
//! (`tests/detect/lexicon/generate`, which says where it is from); here it becomes a table of fingerprints, looked
//! up once for a word.

use std::sync::OnceLock;

use super::words::{FUNCTION_WORDS, TITLES};

/// Words in order, by their classes, which a line with a colon names; of each word how many characters it shares with the one
/// before (to base 36), and the rest.
const LIST: &str = include_str!("lexicon.txt");

/// Shows `see` each word of the list, and its classes.
fn words(mut see: impl FnMut(&str, Classes)) {
    let (mut classes, mut word) = (Classes::default(), String::new());
    for line in LIST.lines() {
        let mut rest = line.chars();
        match rest.next() {
            Some(':') => {
                classes = Classes::of(rest.as_str());
                word.clear();
            }
            Some(shared) => {
                let shared = shared.to_digit(36).map_or(0, |shared| shared as usize);
                let kept = word.char_indices().nth(shared).map_or(word.len(), |(at, _)| at);
                word.truncate(kept);
                word.push_str(rest.as_str());
                see(&word, classes);
            }
            None => {}
        }
    }
}

/// Places of the table, as a power of two: twice the entries and more.
const SIZE: u32 = 18;

/// The classes of a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Classes(u8);

impl Classes {
    const GIVEN: u8 = 1;
    const SURNAME: u8 = 2;
    const PLACE: u8 = 4;
    const COMMON: u8 = 8;
    const TITLE: u8 = 16;
    const FUNCTION: u8 = 32;
    const TECHNICAL: u8 = 64;

    fn of(letters: &str) -> Self {
        let bit = |letter: u8| match letter {
            b'g' => Self::GIVEN,
            b's' => Self::SURNAME,
            b'p' => Self::PLACE,
            b't' => Self::TECHNICAL,
            _ => Self::COMMON,
        };
        Self(letters.bytes().map(bit).fold(0, |all, bit| all | bit))
    }

    pub(super) const fn is_given(self) -> bool {
        self.0 & Self::GIVEN != 0
    }

    pub(super) const fn is_surname(self) -> bool {
        self.0 & Self::SURNAME != 0
    }

    /// A given name or a surname.
    pub(super) const fn is_person(self) -> bool {
        self.0 & (Self::GIVEN | Self::SURNAME) != 0
    }

    pub(super) const fn is_place(self) -> bool {
        self.0 & Self::PLACE != 0
    }

    pub(super) const fn is_common(self) -> bool {
        self.0 & Self::COMMON != 0
    }

    /// A common word, or one of technical English and nothing else. Companies are called by such, too.
    pub(super) const fn is_ordinary(self) -> bool {
        self.0 & (Self::COMMON | Self::TECHNICAL) != 0
    }

    /// Stands before a name.
    pub(super) const fn is_title(self) -> bool {
        self.0 & Self::TITLE != 0
    }

    /// Begins sentences in some language, and may be a name or a code in another.
    pub(super) const fn is_function(self) -> bool {
        self.0 & Self::FUNCTION != 0
    }

    /// The same of a word that is no name here.
    pub(super) const fn as_common(self) -> Self {
        Self(self.0 | Self::COMMON)
    }

    pub(super) const fn is_known(self) -> bool {
        self.0 & !(Self::TITLE | Self::FUNCTION) != 0
    }
}

/// FNV-1a: two words of the lists or of a text share a fingerprint, or 56 bits of one, practically never.
pub(super) fn fingerprint(word: impl Iterator<Item = u8>) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    word.fold(0xCBF2_9CE4_8422_2325, step)
}

fn table() -> &'static [u64] {
    static TABLE: OnceLock<Vec<u64>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = vec![0; 1 << SIZE];
        let mut add = |word: &str, classes: u8| {
            // The low byte gives way to the classes.
            let print = fingerprint(word.bytes()) & !0xFF;
            let ours = |slot: &u64| *slot == 0 || *slot & !0xFF == print;
            let place = places(print, SIZE).find(|&place| table.get(place).is_some_and(ours));
            if let Some(slot) = place.and_then(|place| table.get_mut(place)) {
                *slot |= print | u64::from(classes);
            }
        };
        words(|word, classes| add(word, classes.0));
        FUNCTION_WORDS.iter().for_each(|word| add(word, Classes::FUNCTION));
        TITLES.iter().for_each(|word| add(word, Classes::TITLE));
        table
    })
}

/// The places of a table of two to the power of `size` at which a fingerprint may stand, in order. The fingerprints of
/// short words lie close together: they are spread once more.
pub(super) fn places(print: u64, size: u32) -> impl Iterator<Item = usize> {
    let first = (print.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - size)) as usize;
    (0..1 << size).map(move |n| (first + n) & ((1 << size) - 1))
}

/// The classes of a word or of words with one space between, in lower case.
pub(super) fn look_up(words: &str) -> Classes {
    classes_of(fingerprint(words.bytes()))
}

/// The shortest word of which the letters count without their accents, in bytes.
const ACCENTED: usize = 5;

/// The classes of a word in lower case. One that is not known is a given name where it is one without its accents: `siobhán`.
pub(super) fn look_up_name(word: &str) -> Classes {
    let classes = look_up(word);
    if word.is_ascii() || classes.is_known() || word.len() < ACCENTED {
        return classes;
    }
    let mut buffer = [0; 4];
    let plain = word.chars().flat_map(|letter| {
        let length = plain(letter).encode_utf8(&mut buffer).len();
        buffer.into_iter().take(length)
    });
    let Classes(plain) = classes_of(fingerprint(plain));
    let given = plain & (Classes::GIVEN | Classes::PLACE | Classes::COMMON) == Classes::GIVEN;
    if given { Classes(classes.0 | Classes::GIVEN) } else { classes }
}

/// A small letter without its accent.
const fn plain(letter: char) -> char {
    match letter {
        'à'..='å' | 'ā' | 'ă' | 'ą' => 'a',
        'ç' | 'ć' | 'č' => 'c',
        'ď' | 'đ' => 'd',
        'è'..='ë' | 'ē' | 'ė' | 'ę' | 'ě' => 'e',
        'ğ' | 'ģ' => 'g',
        'ì'..='ï' | 'ī' | 'ı' => 'i',
        'ł' | 'ľ' | 'ļ' => 'l',
        'ñ' | 'ń' | 'ň' | 'ņ' => 'n',
        'ò'..='ö' | 'ø' | 'ō' | 'ő' => 'o',
        'ř' => 'r',
        'ś' | 'š' | 'ş' | 'ș' => 's',
        'ť' | 'ţ' | 'ț' => 't',
        'ù'..='ü' | 'ū' | 'ů' | 'ű' => 'u',
        'ý' | 'ÿ' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        letter => letter,
    }
}

/// The classes of several words, as if with one space between.
pub(super) fn look_up_all<'w>(words: impl Iterator<Item = &'w str>) -> Classes {
    let spaces = std::iter::once("").chain(std::iter::repeat(" "));
    classes_of(fingerprint(spaces.zip(words).flat_map(|(space, word)| space.bytes().chain(word.bytes()))))
}

fn classes_of(print: u64) -> Classes {
    let (table, print) = (table(), print & !0xFF);
    let mut slots = places(print, SIZE).filter_map(|place| table.get(place)).take_while(|slot| **slot != 0);
    Classes(slots.find(|slot| *slot & !0xFF == print).map_or(0, |slot| (*slot & 0xFF) as u8))
}

/// Bytes it takes.
pub(super) const fn memory() -> usize {
    LIST.len() + (8 << SIZE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_classes() {
        assert!(look_up("jennifer").is_given() && !look_up("jennifer").is_common());
        assert_eq!(look_up_all(["new", "york"].into_iter()), look_up("new york"));
        assert!(look_up("nguyen").is_surname() && look_up("new york").is_place());
        assert!(look_up("dr").is_title() && !look_up("the").is_title());
        assert!(look_up("the").is_common() && !look_up("qwxzv").is_known());
        assert!(look_up_name("siobhán").is_given() && !look_up_name("büro").is_known());
        assert!(look_up("snippet").is_ordinary() && !look_up("snippet").is_common());
        assert!(LIST.lines().count() * 2 < 1 << SIZE);
    }

    #[test]
    fn short_words_are_not_looked_for_far() {
        // Their fingerprints lie close together, so that the table had long runs of full places once.
        let letters = || (b'a'..=b'z').map(char::from);
        for word in letters().flat_map(|a| letters().map(move |b| format!("{a}{b}"))) {
            let slots = places(fingerprint(word.bytes()), SIZE).filter_map(|place| table().get(place));
            let full = slots.take_while(|slot| **slot != 0).count();
            assert!(full < 24, "{word}: {full}");
        }
    }
}
