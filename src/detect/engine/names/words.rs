//! Words with a part in names: titles, particles, what companies and streets are called.

/// Stand before a person's name and are no part of it.
pub(super) const TITLES: &[&str] = &[
    "mr",
    "mrs",
    "ms",
    "miss",
    "mx",
    "dr",
    "prof",
    "professor",
    "sir",
    "madam",
    "madame",
    "lady",
    "lord",
    "rev",
    "father",
    "sister",
    "brother",
    "aunt",
    "uncle",
    "captain",
    "judge",
    "senator",
    "governor",
    "herr",
    "frau",
    "señor",
    "señora",
    "sr",
    "sra",
    "monsieur",
    "mme",
    "mlle",
    "signor",
    "signora",
    "doctor",
    "producer",
    "coach",
];

/// Stand between the parts of a name, in lower case.
pub(super) const PARTICLES: &[&str] = &[
    "van", "von", "de", "der", "den", "da", "di", "del", "della", "dos", "du", "la", "le", "al", "el", "bin",
    "ibn", "ter", "ten", "af", "zu", "y", "e",
];

/// End a company's name.
pub(super) const COMPANIES: &[&str] = &[
    "inc",
    "ltd",
    "llc",
    "llp",
    "gmbh",
    "corp",
    "corporation",
    "company",
    "co",
    "plc",
    "ag",
    "sa",
    "spa",
    "bv",
    "nv",
    "oy",
    "ab",
    "limited",
    "group",
    "bank",
    "holdings",
    "partners",
    "industries",
    "systems",
    "technologies",
    "solutions",
    "associates",
    "university",
    "institute",
    "foundation",
    "association",
    "airlines",
    "pharmaceuticals",
    "hospital",
    "college",
    "ministry",
    "department",
    "agency",
    "club",
    "sons",
    "enterprises",
    "insurance",
    "motors",
];

/// What streets are called, behind their names.
pub(super) const STREETS: &[&str] = &[
    "street",
    "st",
    "avenue",
    "ave",
    "road",
    "rd",
    "boulevard",
    "blvd",
    "lane",
    "ln",
    "drive",
    "court",
    "ct",
    "place",
    "pl",
    "square",
    "sq",
    "terrace",
    "way",
    "parkway",
    "pkwy",
    "highway",
    "hwy",
    "loop",
    "circle",
    "close",
    "crescent",
    "gardens",
    "row",
    "alley",
    "trail",
    "plaza",
    "apt",
    "suite",
    "unit",
    "box",
];

/// Endings of street names that are one word.
pub(super) const STREET_ENDINGS: &[&str] = &[
    "straße", "strasse", "gasse", "weg", "platz", "allee", "straat", "laan", "gatan", "vägen", "vej", "gade",
    "gata", "veien", "katu", "tie",
];

/// Stand before places.
pub(super) const TO_PLACES: &[&str] = &[
    "in", "from", "at", "to", "near", "to the", "of", "around", "visit", "visiting", "via", "leaving",
    "reach", "where", "is", "city", "country",
];

/// Stand before names of persons.
pub(super) const TO_PERSONS: &[&str] = &[
    "name", "named", "called", "is", "dear", "hi", "hello", "by", "under", "for", "with", "am", "met",
    "with", "and", "add", "call", "contact", "tell", "ask", "me", "him", "her", "user",
];

pub(super) fn is(word: &str, of: &[&str]) -> bool {
    of.contains(&word)
}
