//! Words within names that stay as they are, since they identify nobody: in lower case, by kind.

use crate::detect::{STREET_ENDINGS, STREET_WORDS};

/// Before and behind names.
pub(super) const TITLES: &[&str] = &[
    "mr", "mrs", "ms", "miss", "mx", "dr", "prof", "sir", "jr", "sr", "ii", "iii", "iv", "phd", "md", "esq",
    "herr", "herrn", "frau", "señor", "señora", "sra", "srta", "monsieur", "madame", "mme", "mlle", "signor",
    "signora", "and", "und", "et",
];

/// Between the words of a name, in small letters.
pub(super) const PARTICLES: &[&str] = &[
    "van", "von", "vom", "zu", "zur", "zum", "de", "der", "den", "des", "del", "della", "degli", "di", "da",
    "das", "do", "dos", "du", "la", "le", "las", "los", "ter", "ten", "te", "op", "af", "av", "bin", "ibn",
    "bint", "ben", "al", "el", "ul", "y", "e", "i", "abu",
];

/// Of those, the ones that begin a surname with a capital; all others with one may be a name.
pub(super) const CAPITAL_PARTICLES: &[&str] =
    &["van", "von", "de", "der", "den", "del", "della", "di", "du", "ter", "ten"];

/// Before an apostrophe, with which they belong to the name behind it.
pub(super) const ELIDED: &[&str] = &["all", "dall", "degl", "dell", "nell", "sant", "sull"];

/// What streets are called beside their names, beyond what tells them from other names where they are found.
const MORE_STREETS: &[&str] = &[
    "floor", "rue", "quai", "chemin", "allée", "impasse", "cours", "calle", "avenida", "paseo", "carrer",
    "rua", "praça", "via", "viale", "corso", "piazza", "vicolo", "straße", "strasse", "str", "weg", "platz",
    "allee", "gasse", "ring", "ulica", "ul", "aleja", "plein", "laan", "gracht",
];

/// What places are called beside their names.
pub(super) const PLACE_WORDS: &[&str] = &[
    "city", "county", "state", "province", "district", "region", "village", "town", "of", "the", "and", "in",
    "on", "at", "upon", "under", "near", "new", "old", "north", "south", "east", "west", "northern",
    "southern", "eastern", "western", "n", "s", "e", "w", "ne", "nw", "se", "sw", "upper", "lower", "great",
    "greater", "little", "saint", "st", "ste", "san", "santa", "santo", "são", "los", "las", "la", "le",
    "les", "el", "il", "lo", "de", "del", "della", "di", "do", "da", "dos", "das", "du", "des", "der", "den",
    "am", "an", "im", "bei", "ob", "bad", "groß", "klein", "alt", "neu", "sur", "sous", "en", "et", "y",
    "lake", "mount", "river", "bay", "beach", "island", "islands", "valley", "port", "fort", "heights",
    "hills", "park", "springs", "th", "nd", "rd", "bis", "ter", "po", "und", "aan", "op", "van",
];

/// What companies are called beside their names.
pub(super) const COMPANIES: &[&str] = &[
    "inc",
    "incorporated",
    "corp",
    "corporation",
    "ltd",
    "limited",
    "llc",
    "llp",
    "lp",
    "plc",
    "co",
    "company",
    "gmbh",
    "mbh",
    "ag",
    "kg",
    "kgaa",
    "ohg",
    "gbr",
    "ug",
    "ev",
    "se",
    "sa",
    "sas",
    "sarl",
    "srl",
    "spa",
    "sl",
    "bv",
    "nv",
    "oy",
    "oyj",
    "ab",
    "as",
    "asa",
    "aps",
    "a",
    "s",
    "pty",
    "pvt",
    "pte",
    "kk",
    "sp",
    "z",
    "o",
    "oo",
    "ltda",
    "group",
    "bank",
    "holding",
    "holdings",
    "partners",
    "industries",
    "systems",
    "technologies",
    "technology",
    "solutions",
    "services",
    "associates",
    "university",
    "institute",
    "foundation",
    "association",
    "airlines",
    "pharmaceuticals",
    "hospital",
    "clinic",
    "college",
    "school",
    "ministry",
    "department",
    "agency",
    "office",
    "club",
    "sons",
    "brothers",
    "enterprises",
    "insurance",
    "motors",
    "media",
    "labs",
    "laboratories",
    "consulting",
    "capital",
    "trust",
    "fund",
    "society",
    "union",
    "council",
    "committee",
    "center",
    "centre",
    "museum",
    "church",
    "international",
    "national",
    "global",
    "of",
    "the",
    "and",
    "for",
    "de",
    "del",
    "der",
    "des",
    "und",
    "et",
    "y",
    "e",
    "von",
    "van",
    "für",
    "株式会社",
    "有限公司",
];

/// Whether a word, in lower case, is what a street is called. `St` is not: it is a saint's as well.
pub(super) fn is_street(word: &str) -> bool {
    word != "st" && STREET_WORDS.contains(&word) || MORE_STREETS.contains(&word)
}

/// Ends of a street's name that is one word.
pub(super) fn street_endings() -> impl Iterator<Item = &'static str> {
    STREET_ENDINGS.iter().copied()
}

/// Whether a word, in lower case, is one of these.
pub(super) fn is_kept(list: &[&str], word: &str) -> bool {
    list.contains(&word)
}

/// Whether a word is the sign of a state or a country: `TX`.
pub(super) fn is_state(word: &str) -> bool {
    word.len() == 2 && word.bytes().all(|byte| byte.is_ascii_uppercase())
}
