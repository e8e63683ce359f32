//! The `mod.rs` of every larger folder of `src` says of each of its modules what it is for.

use std::collections::BTreeSet;
use std::fs;

use crate::none;
use crate::source::{files, regex, shown};

/// Folders of fewer modules need no table.
const SMALLEST: usize = 8;

/// The modules that a `mod.rs` declares in files of their own, without those that are only there in tests.
fn modules(text: &str) -> Vec<String> {
    let declaration = regex(r"^(?:pub(?:\([^)]*\))? )?mod ([a-z0-9_]+);");
    let (mut found, mut tested) = (Vec::new(), false);
    for line in text.lines() {
        if let Some(declared) = declaration.captures(line)
            && !tested
            && declared[1] != *"tests"
            && !declared[1].ends_with("_tests")
        {
            found.push(declared[1].to_owned());
        }
        tested = line.starts_with("#[cfg(test)]") || (tested && line.starts_with("#["));
    }
    found
}

/// What stands in backticks in its `//!` comment, in code blocks or not; of a folder without its `/`, of an intra-doc
/// link without what disambiguates it.
fn named(text: &str) -> BTreeSet<String> {
    let span = regex(r"`(?:mod@)?([a-z0-9_]+)/?`");
    let comment = text.lines().filter_map(|line| line.strip_prefix("//!"));
    comment.flat_map(|line| span.captures_iter(line).map(|found| found[1].to_owned())).collect()
}

#[test]
fn every_module_stands_in_the_table_of_its_folder() {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for path in files("src", &["mod.rs"]) {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let (modules, named) = (modules(&text), named(&text));
        if modules.len() < SMALLEST {
            continue;
        }
        seen += modules.len();
        let missing = modules.iter().filter(|module| !named.contains(*module));
        wrong.extend(missing.map(|module| format!("{}: `{module}` is not in its table", shown(&path))));
    }
    none(&wrong);
    assert!(seen > 800, "only {seen} modules were looked at");
}

#[test]
fn modules_and_their_names_in_comments_are_seen() {
    let text = "//! Some prose, `aside`.\n//!\n//! | `a`, [`b`] | x |\n//! | `c/`, [`mod@d`] | `e::E` |\n\n\
        mod a;\npub mod b;\npub(crate) mod c;\npub(in crate::x) mod d;\n#[cfg(feature = \"f\")]\nmod e;\n\
        #[cfg(test)]\n#[path = \"g.rs\"]\nmod fixture;\nmod g_tests;\n#[cfg(test)]\nmod tests;\nmod h {}\n// `f`\n";
    assert_eq!(modules(text), ["a", "b", "c", "d", "e"]);
    assert_eq!(named(text), BTreeSet::from(["a", "aside", "b", "c", "d"].map(str::to_owned)));
}
