//! Names that name nobody: countries and large cities, and persons of history (`public_names.txt`). To replace them hides
//! nothing, and a model answers worse.

use std::collections::HashSet;
use std::sync::OnceLock;

use crate::detect::{RuleId, as_read};

const LIST: &str = include_str!("public_names.txt");

/// Which rules' findings pass that are such names: places by one rule, persons by another.
#[derive(Clone, Copy, Debug, Default)]
pub struct PublicNameRules {
    /// Finds places: countries, states, and cities with a million people pass, also several with commas between them
    /// (`Paris, France`).
    pub places: Option<RuleId>,
    /// Finds persons: those of history pass by their whole names.
    pub persons: Option<RuleId>,
}

impl PublicNameRules {
    /// Whether what a rule found passes.
    pub(super) fn has(self, rule: RuleId, value: &str) -> bool {
        match Some(rule) {
            rule if rule == self.places => is_place(&as_read(value)),
            rule if rule == self.persons => persons().contains(&as_read(value).to_lowercase()),
            _ => false,
        }
    }
}

fn is_place(value: &str) -> bool {
    let has = |part: &str| places().contains(&part.trim().to_lowercase());
    has(value) || value.contains(',') && value.split(',').all(has)
}

/// In lower case.
fn places() -> &'static HashSet<String> {
    static PLACES: OnceLock<HashSet<String>> = OnceLock::new();
    PLACES.get_or_init(|| read("LOCATION"))
}

/// In lower case.
fn persons() -> &'static HashSet<String> {
    static PERSONS: OnceLock<HashSet<String>> = OnceLock::new();
    PERSONS.get_or_init(|| read("PERSON"))
}

/// The names of all sections of a rule.
fn read(rule: &str) -> HashSet<String> {
    let sections = LIST.split("\n[").skip(1).filter_map(|section| section.split_once("]\n"));
    let ours = sections.filter(|(title, _)| title.split(' ').next() == Some(rule));
    // A name ends at a comma and may go on in the next line.
    let names = ours.flat_map(|(_, names)| names.split(','));
    let spaced = |name: &str| name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    names.map(spaced).filter(|name| !name.is_empty()).collect()
}

/// All of them, in lower case.
#[cfg(test)]
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    places().iter().chain(persons()).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_names_are_public_and_parts_are_not() {
        let rule = RuleId::new;
        let names = PublicNameRules { places: Some(rule(1)), persons: Some(rule(2)) };
        let cases = [
            (1, "Germany", true),
            (1, "SÃO PAULO", true),
            (1, "paris, France", true),
            (1, "New York, NY", false),
            (1, "Paris, Gisborne", false),
            (1, "12 Paris", false),
            (1, "York", false),
            (1, ",", false),
            (1, "", false),
            (1, "Marie Curie", false),
            (2, "Marie Curie", true),
            (2, "Curie", false),
            (2, "Marie Curie, Max Planck", false),
            (2, "Paris", false),
            (3, "Paris", false),
        ];
        for (by, value, public) in cases {
            assert_eq!(names.has(rule(by), value), public, "{by} {value}");
            assert!(!PublicNameRules::default().has(rule(by), value));
        }
        assert!(places().len() > 700 && persons().len() > 90);
        assert!(persons().iter().all(|name| name.contains(' ')), "one word may be anybody");
    }
}
