//! Words with a part in names of places.

/// What streets are called, behind their names.
pub(crate) const STREETS: &[&str] = &[
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
pub(crate) const STREET_ENDINGS: &[&str] = &[
    "straße", "strasse", "gasse", "weg", "platz", "allee", "straat", "laan", "gatan", "vägen", "vej", "gade",
    "gata", "veien", "katu", "tie",
];

/// Places so large that their names, alone, are rarely a person's.
pub(super) const LARGE_PLACES: &[&str] = &[
    "africa",
    "america",
    "argentina",
    "asia",
    "china",
    "cuba",
    "europe",
    "france",
    "dominica",
    "india",
    "ireland",
    "oman",
    "alabama",
    "arizona",
    "atlanta",
    "berlin",
    "boston",
    "florida",
    "louisiana",
    "london",
    "manila",
    "maryland",
    "melbourne",
    "missouri",
    "paris",
    "rome",
    "roma",
    "tennessee",
    "texas",
    "tijuana",
];

/// Stand before places.
pub(super) const TO_PLACES: &[&str] = &[
    "in", "from", "at", "to", "near", "of", "around", "visit", "visiting", "via", "leaving", "reach",
    "where", "is", "city", "country", "à", "em", "aus", "nach", "uit", "naar", "desde", "hasta", "w",
];

/// Of those, the ones that stand before places even in capitals.
pub(super) const TO_PLACE_SURELY: &[&str] =
    &["in", "from", "near", "around", "visit", "visiting", "leaving", "city", "country"];
