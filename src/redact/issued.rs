//! One surrogate and what it stands for, and how it may be spelled and still be known.

use std::collections::{HashMap, HashSet};

use zeroize::Zeroizing;

use crate::detect::{Family, Format, Rule};
use crate::redact::dialled::DialledNumber;
use crate::redact::method::Method;
use crate::redact::style::Style;
use crate::redact::unescaped::read;

/// How two surrogates are told apart, and what other than letter case and escapes a model may change in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SurrogateIdentity {
    /// Nothing.
    Exact,
    /// Letter case, in which no two differ.
    Folded,
    /// The separators of a number, of which the last four digits may stand alone.
    Grouped,
    /// The same, and what is dialled before it.
    Dialled,
    /// Words that may stand alone.
    Words,
    /// A person's name: the same, and its initials, and its surname first.
    Person,
    /// The name of anything else, which may be another one's too.
    Name,
    /// Line breaks, blanks and quotes: how a key is laid out where it stands.
    Lines,
}

impl SurrogateIdentity {
    /// All, in the order of their numbers in a file.
    pub(super) const ALL: [Self; 8] = [
        Self::Exact,
        Self::Folded,
        Self::Grouped,
        Self::Dialled,
        Self::Words,
        Self::Person,
        Self::Name,
        Self::Lines,
    ];

    pub(super) fn of(format: Format) -> Self {
        match format {
            Format::Email => Self::Folded,
            Format::Card | Format::Ssn | Format::Itin | Format::Iban | Format::Digits => Self::Grouped,
            Format::Phone => Self::Dialled,
            Format::Text => Self::Words,
            Format::Pem => Self::Lines,
            Format::Ip | Format::Url | Format::Key => Self::Exact,
        }
    }

    /// That of what a method makes of a rule's values.
    pub(super) fn made(method: &Method, rule: &Rule) -> Self {
        match (Style::of(method).names(rule), rule.family()) {
            (true, Family::Person) => Self::Person,
            (true, _) => Self::Name,
            (false, _) => Self::of(rule.format()),
        }
    }

    /// Whether it is words that may stand alone.
    pub(super) fn is_words(self) -> bool {
        matches!(self, Self::Words | Self::Person | Self::Name)
    }

    /// Whether surrogates are names themselves, each of which may be somebody's.
    pub(super) fn is_name(self) -> bool {
        matches!(self, Self::Person | Self::Name)
    }

    /// Whether it is a number with separators.
    pub(super) fn is_number(self) -> bool {
        matches!(self, Self::Grouped | Self::Dialled)
    }

    /// The form in which no two surrogates are equal.
    pub(super) fn canonical(self, text: &str) -> Vec<u8> {
        match self {
            Self::Exact | Self::Lines | Self::Words | Self::Person | Self::Name => text.as_bytes().to_vec(),
            Self::Folded => text.to_ascii_lowercase().into_bytes(),
            Self::Grouped | Self::Dialled => text.bytes().filter(u8::is_ascii_alphanumeric).collect(),
        }
    }

    /// The form in which other spellings of one value are mostly equal.
    pub(super) fn folded(self, text: &str) -> Vec<u8> {
        let mut folded = self.canonical(text).to_ascii_lowercase();
        // What is dialled before a number does not tell it apart.
        if self == Self::Dialled
            && let Ok(digits) = std::str::from_utf8(&folded)
        {
            let before = DialledNumber::of(text.starts_with('+'), digits).national.min(digits.len());
            folded.drain(..before);
        }
        folded
    }

    /// What an original is known by among those that surrogates were issued for. Two that differ in separators only
    /// may share a surrogate, since its own separators tell them apart; one that does not read as it is written may
    /// not, since its surrogate is made of what it reads.
    pub(super) fn owner(self, original: &str) -> Vec<u8> {
        if read(original) == original { self.canonical(original) } else { original.as_bytes().to_vec() }
    }
}

/// One surrogate on its way into an [`SurrogateMap`](crate::redact::SurrogateMap).
pub(super) struct IssuedSurrogate {
    pub(super) surrogate: String,
    pub(super) original: Zeroizing<String>,
    pub(super) spelling: SurrogateIdentity,
    /// Whether a part of it (its last four digits, a word) may stand for that part of the original: only where the
    /// caller's text is known and has nothing that is spelled so.
    pub(super) parts: bool,
}

impl IssuedSurrogate {
    /// The other way: the original stands for the surrogate.
    pub(super) fn reversed(self) -> Self {
        let Self { surrogate, original, spelling, parts } = self;
        Self { surrogate: original.as_str().to_owned(), original: Zeroizing::new(surrogate), spelling, parts }
    }
}

/// Surrogates given out so far, by canonical form, with the canonical form of what each stands for. Two spellings
/// of one value may share one.
#[derive(Default)]
pub(super) struct IssuedSurrogates {
    owners: HashMap<Vec<u8>, Vec<u8>>,
    present: HashSet<Vec<u8>>,
}

impl IssuedSurrogates {
    /// The surrogate stands for `owner`.
    pub(super) fn insert(&mut self, surrogate: Vec<u8>, owner: Vec<u8>) {
        self.owners.insert(surrogate, owner);
    }

    /// The surrogate is somewhere already.
    pub(super) fn avoid(&mut self, surrogate: Vec<u8>) {
        self.present.insert(surrogate);
    }

    pub(super) fn refuses(&self, surrogate: Vec<u8>, owner: &[u8]) -> bool {
        self.owners.get(&surrogate).is_some_and(|known| known != owner) || self.present.contains(&surrogate)
    }
}
