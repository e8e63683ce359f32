//! The reference page of the rules, as Markdown.

use std::fmt::Write;

use crate::cli::rules::severity;
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
            "\n## {}\n\n| rule | in | severity | default | finds |\n|---|---|---|---|---|",
            category.name()
        ));
        for rule in catalogue.rules().filter(|rule| rule.category() == category) {
            let on = if rule.default_on() { "on" } else { "" };
            let finds = rule.description().replace('|', "\\|");
            say(format!("| `{}` | {} | {} | {on} | {finds} |", rule.name(), rule.region(), severity(rule)));
        }
    }
    out
}

const HEAD: &str = "\
# Rules

All built-in rules. `portcullis rules show NAME` prints all that one says: patterns, checks, context words, examples
and the document it goes by. Made by `portcullis rules page`.

## Sets

";
