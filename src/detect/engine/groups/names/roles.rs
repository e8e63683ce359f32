//! What a word has a part in, beside what the lexicon knows of it: all word lists in one table, so that a word is looked
//! up once whatever is asked about it.

use std::sync::OnceLock;

use super::english::{ACTS, HOMONYMS};
use super::forms::{FORM_WORDS, FRONT_WORDS, MONTHS, NAME_PARTS, NAMED_PERSONS, PLACEHOLDERS, WHICH_NAMES};
use super::lexicon::{fingerprint, places};
use super::models::{KINDS, MAKERS, MODELS, NAMESAKES, OF_SOMEBODY};
use super::peoples::GROUPS;
use super::places::{
    LARGE_PLACES, MEASURES, ROOMS, STREETS, STREETS_BEFORE, STREETS_BEHIND, TO_ADDRESSES, TO_PLACE_SURELY,
    TO_PLACES,
};
use super::things::{BRANDS, EPONYMS, FIRMS, PRODUCTS, PUBLICATIONS, SURE_THINGS, TECHNICAL, THINGS};
use super::words::{
    ADJECTIVES, COMPANIES, DECLARATIONS, LOWER_TITLES, PARTICLES, TO_PERSON_SURELY, TO_PERSONS, TO_SOMEBODY,
    TOOLS,
};

/// A list that a word may be on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameList {
    /// What persons do.
    Act,
    Adjective,
    /// Makes programs and services.
    Brand,
    Company,
    /// Stands before the name of a type.
    Declaration,
    /// A name that is also of things.
    Eponym,
    /// Begins what a company is called that is called as a person.
    Firm,
    /// A label of a form, or of a law.
    Form,
    /// Stands before a name.
    Front,
    Group,
    /// A given name that is a word, too.
    Homonym,
    LargePlace,
    LowerTitle,
    /// Who makes models.
    Maker,
    /// Of what numbers are.
    Measure,
    /// A language model; what follows its name.
    Model,
    ModelKind,
    Month,
    NamePart,
    NamedPerson,
    /// A person that a model is called as.
    Namesake,
    /// Says what something is called.
    Naming,
    /// Stands before what is somebody's name though a model has it, too.
    OfSomebody,
    Particle,
    /// What makers of programs and services make.
    Product,
    /// Stands where a name is to be.
    Placeholder,
    /// Ends what a newspaper or a magazine is called.
    Publication,
    /// A room, a flat, a box for letters.
    Room,
    Street,
    /// What streets are called before their names, and behind them in words of their own.
    StreetBefore,
    StreetBehind,
    /// What eponyms are of; surely.
    Thing,
    SureThing,
    /// A program or a unit that is nobody's name.
    Technical,
    ToAddress,
    ToPerson,
    ToPersonSurely,
    ToPlace,
    ToPlaceSurely,
    ToSomebody,
    Tool,
    WhichName,
}

const LISTS: [(NameList, &[&str]); 41] = [
    (NameList::Act, ACTS),
    (NameList::Adjective, ADJECTIVES),
    (NameList::Brand, BRANDS),
    (NameList::Company, COMPANIES),
    (NameList::Declaration, DECLARATIONS),
    (NameList::Eponym, EPONYMS),
    (NameList::Form, FORM_WORDS),
    (NameList::Front, FRONT_WORDS),
    (NameList::Group, GROUPS),
    (NameList::Homonym, HOMONYMS),
    (NameList::LargePlace, LARGE_PLACES),
    (NameList::LowerTitle, LOWER_TITLES),
    (NameList::Maker, MAKERS),
    (NameList::Measure, MEASURES),
    (NameList::Model, MODELS),
    (NameList::ModelKind, KINDS),
    (NameList::Month, MONTHS),
    (NameList::NamePart, NAME_PARTS),
    (NameList::NamedPerson, NAMED_PERSONS),
    (NameList::Namesake, NAMESAKES),
    (NameList::Naming, &["name", "is"]),
    (NameList::OfSomebody, OF_SOMEBODY),
    (NameList::Particle, PARTICLES),
    (NameList::Placeholder, PLACEHOLDERS),
    (NameList::Product, PRODUCTS),
    (NameList::Publication, PUBLICATIONS),
    (NameList::Room, ROOMS),
    (NameList::Street, STREETS),
    (NameList::StreetBefore, STREETS_BEFORE),
    (NameList::StreetBehind, STREETS_BEHIND),
    (NameList::Thing, THINGS),
    (NameList::SureThing, SURE_THINGS),
    (NameList::Technical, TECHNICAL),
    (NameList::ToAddress, TO_ADDRESSES),
    (NameList::ToPerson, TO_PERSONS),
    (NameList::ToPersonSurely, TO_PERSON_SURELY),
    (NameList::ToPlace, TO_PLACES),
    (NameList::ToPlaceSurely, TO_PLACE_SURELY),
    (NameList::ToSomebody, TO_SOMEBODY),
    (NameList::Tool, TOOLS),
    (NameList::WhichName, WHICH_NAMES),
];

/// The lists that a word is on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Roles(u64);

impl Roles {
    pub(super) const fn has(self, role: NameList) -> bool {
        self.0 & 1 << role as u64 != 0
    }
}

/// Places of the table, as a power of two: twice the words and more.
const SIZE: u32 = 12;

/// A word by its fingerprint, and its lists; an empty place has none.
#[derive(Clone, Copy, Default)]
struct FingerprintSlot {
    print: u64,
    roles: Roles,
}

fn table() -> &'static [FingerprintSlot] {
    static TABLE: OnceLock<Vec<FingerprintSlot>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = vec![FingerprintSlot::default(); 1 << SIZE];
        let firms = FIRMS.iter().filter_map(|firm| firm.split(' ').next()).map(|word| (NameList::Firm, word));
        let lists = LISTS.into_iter().flat_map(|(role, words)| words.iter().map(move |word| (role, *word)));
        for (role, word) in lists.chain(firms) {
            let print = fingerprint(word.bytes());
            let ours = |slot: &FingerprintSlot| slot.roles == Roles::default() || slot.print == print;
            let place = places(print, SIZE).find(|&place| table.get(place).is_some_and(ours));
            if let Some(slot) = place.and_then(|place| table.get_mut(place)) {
                *slot = FingerprintSlot { print, roles: Roles(slot.roles.0 | 1 << role as u64) };
            }
        }
        table
    })
}

/// The lists that a word is on, whatever the case of its letters of ASCII.
pub(super) fn roles(word: &str) -> Roles {
    let print = fingerprint(word.bytes().map(|byte| byte.to_ascii_lowercase()));
    let mut slots = places(print, SIZE).filter_map(|place| table().get(place));
    let slot = slots.find(|slot| slot.print == print || slot.roles == Roles::default());
    slot.map(|slot| slot.roles).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_on_its_lists_and_on_no_other() {
        let words: Vec<&str> = LISTS.iter().flat_map(|(_, words)| words.iter().copied()).collect();
        assert!(words.len() * 2 < 1 << SIZE);
        for word in words.into_iter().chain(["", "x", "nam", "names", "süd"]) {
            for (role, list) in LISTS {
                assert_eq!(roles(word).has(role), list.contains(&word), "{word} {role:?}");
            }
        }
        assert!(roles("Street").has(NameList::Street) && roles("SEñOR").has(NameList::LowerTitle));
    }
}
