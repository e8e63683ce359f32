//! The reference page of the rules, as Markdown.

use std::fmt::Write;

use crate::detect::{Catalogue, RuleSet};

/// The page of all rules of a catalogue: by category, in the catalogue's order.
pub(super) fn markdown(catalogue: &Catalogue) -> String {
    let mut out = String::from(HEAD);
    // Writing to a string cannot fail.
    let mut say = |line: String| {
        let _ = writeln!(out, "{line}");
    };
    say("| set | rules | |\n|---|---|---|".to_owned());
    for set in RuleSet::all() {
        let count = catalogue.rules().filter(|rule| set.has(rule)).count();
        say(format!("| `{}` | {count} | {} |", set.name(), set.description()));
    }
    let mut categories: Vec<_> = Vec::new();
    for rule in catalogue.rules() {
        if !categories.contains(&rule.category()) {
            categories.push(rule.category());
        }
    }
    for category in categories {
        say(format!(
            "\n## {}\n\n| rule | family | in | severity | default | finds |\n|---|---|---|---|---|---|",
            category.name()
        ));
        for rule in catalogue.rules().filter(|rule| rule.category() == category) {
            let on = if rule.default_on() { "on" } else { "" };
            // What a table or HTML would take for its own.
            let finds = rule.description().replace('|', "\\|").replace('<', "&lt;");
            let (name, family, region) = (rule.name(), rule.family().name(), rule.region());
            say(format!("| `{name}` | {family} | {region} | {} | {on} | {finds} |", rule.severity().name()));
        }
    }
    out
}

const HEAD: &str = "\
# Rules

<!-- Made by `portcullis rules page`; a test compares. -->

All built-in rules. `portcullis rules show NAME` prints all that one says: patterns, checks, context words, examples
and the document it goes by. A family is the coarser name in metrics; a rule without a region under \"in\" looks
everywhere.

## Sets

";

#[cfg(test)]
mod tests {
    use super::*;

    // By lines, so that a failure shows a row and not both pages.
    #[test]
    fn the_page_beside_the_rules_is_theirs() {
        let made = markdown(&Catalogue::builtin().unwrap());
        let kept = include_str!("../detect/rules/README.md");
        let other = made.lines().zip(kept.lines()).find(|(made, kept)| made != kept);
        assert!(
            other.is_none() && made.len() == kept.len(),
            "stale from {:?} on: cargo run -- rules page >page.md && mv page.md src/detect/rules/README.md",
            other.map(|(made, _)| made)
        );
    }
}
