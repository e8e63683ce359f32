//! Names that programs give: to styles, layouts, shapes. What looks for places and persons takes `Medium List 1 Accent`
//! for one, and a style whose name changes is another style.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::sanitize::format::xml_tree::Tree;

/// The words of built-in styles (ECMA-376 part 1, 17.7.4.5), and of layouts and shapes.
static WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    " 3d acronym accent address and annotation arrow authorities background balloon bibliography blank block body book \
    bottom bullet button caption cell char chart citation cite classic closing code colorful columns comment comparison \
    connector contemporary content continue contract curved custom dark data date default definition design details \
    diagram document e effects elegant ellipse emphasis endnote envelope explicit figures first followed \
    followedhyperlink font footer footnote form frame freeform good graphic grid group handout hashtag header heading \
    horizontal html hyperlink icon image indent index intense keyboard label layout light line link linked list macro \
    map master mail medium mention message model neutral no normal note notes number object of oval outline page \
    paragraph percent picture placeholder plain preformatted professional quote rectangle reference return revision \
    right rounded salutation sample section shading shape sheet signature simple slide smart spacing spreadsheet \
    straight strong subject subtitle subtle table tables text textbox theme title to toa toc top total triangle two \
    typewriter unresolved variable vertical warning web with worksheet box bad calculation check explanatory input \
    output currency comma only the "
        .split_ascii_whitespace()
        .collect()
});

/// The longest number that a program gives.
const DIGITS: usize = 3;

/// Whether a name is made of such words and short numbers only.
pub(super) fn is_given(name: &str) -> bool {
    let mut parts = name.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.all(|part| {
        let digits = part.len() <= DIGITS && part.bytes().all(|byte| byte.is_ascii_digit());
        digits || WORDS.contains(part.to_lowercase().as_str())
    })
}

/// Whether an attribute of this name names a font.
pub(super) fn is_font(tree: &Tree, at: usize, attribute: &str) -> bool {
    let parent = || tree.parent(at).map(|parent| tree.name(parent)).unwrap_or_default();
    match (tree.name(at), attribute) {
        ("font", "name") | ("altName" | "mathFont" | "rFont", "val") => true,
        ("name", "val") => parent() == "font",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_programs_and_of_people() {
        for name in
            ["Medium List 1 Accent 1", "Title and Vertical Text", "heading 9 Char", "Grid Table 5 Dark"]
        {
            assert!(is_given(name), "{name}");
        }
        for name in ["Letter to Jane", "Table 4111111111111111", "SSN 536-22-8726", "a@b.example"] {
            assert!(!is_given(name), "{name}");
        }
    }
}
