//! Everything that is written in a document: paragraphs over spans, notes, properties, values and formulas of cells,
//! attributes that readers show, remarks.

use crate::sanitize::format::formula::are_within_strings;
use crate::sanitize::format::passage::{
    Flows, Passage, PassageChange, PiecePlace, around, is_worth, redact, remarks,
};
use crate::sanitize::format::xml_editor::XmlEditor;
use crate::sanitize::format::xml_tree::{Chars, Tree, TreeAttribute, plain};
use crate::sanitize::{Rejection, Work};

/// What makes a text of its own of all that is within it.
const BLOCKS: &[&str] = &["p", "h", "annotation", "note-citation", "ruby-text", "ruby-base"];

/// What may stand around paragraphs without parting them from those beside.
const AROUND: &[&str] = &["section", "soft-page-break", "numbered-paragraph"];

/// Values of a type that no replacement has: they go whole (ODF part 3, 4.3).
const TYPED: &[&str] = &[
    "date",
    "creation-date",
    "print-date",
    "editing-duration",
    "editing-cycles",
    "date-string",
    "generator",
    "binary-data",
];

/// Attributes that are shown, or name people, whatever they hold.
const SHOWN: &[&str] = &[
    "string-value",
    "title",
    "desc",
    "author",
    "creator",
    "value",
    "current-value",
    "name",
    "display-name",
    "label",
    "description",
    "input-help",
    "formula",
    "cell-content",
    "target-frame-name",
];

/// Prefixes of attributes that say how things look.
const LOOKS: &[&str] =
    &["fo", "style", "svg", "number", "anim", "smil", "config", "xmlns", "manifest", "presentation"];

/// Attributes with blanks or addresses in them that are none of anybody's words.
const SILENT: &[&str] = &[
    "href",
    "style-name",
    "points",
    "enhanced-path",
    "transform",
    "viewBox",
    "modifiers",
    "glue-points",
    "font-name",
    "condition",
    "cell-range-address",
    "base-cell-address",
    "schemaLocation",
    "version",
    "target-range-address",
    "start-cell-address",
    "end-cell-address",
    "value-type",
    "d",
    "text-areas",
    "print-ranges",
    "class",
];

/// Has all texts looked at, and makes the edits.
///
/// # Errors
/// The host's.
pub(super) fn edit<'t>(
    tree: &'t Tree,
    editor: &mut XmlEditor<'t>,
    work: &mut Work<'_>,
) -> Result<(), Rejection> {
    let mut passages = paragraphs(tree, editor);
    for at in (0..tree.len()).filter(|at| !editor.is_gone(*at)) {
        for attribute in tree.attributes(at).filter(is_word) {
            let text = attribute.value();
            // What is more than a word of its own: a formula, a cell's value.
            let own = matches!(attribute.name, "formula" | "value" | "date-value" | "time-value")
                && attribute.prefix != "form";
            let place = if own { PiecePlace::Own(at, attribute.span) } else { PiecePlace::Value(attribute) };
            if is_worth(&text) {
                passages.push(Passage::one(place, text));
            }
        }
    }
    passages.extend(remarks(tree));
    redact(&passages, tree, editor, work, |change, editor| own(tree, change, editor))
}

/// Characters, by the paragraph they are in.
fn paragraphs<'t>(tree: &'t Tree, editor: &XmlEditor<'_>) -> Vec<Passage<'t>> {
    let mut flows = Flows::new();
    let mut loose = Vec::new();
    let mut chars = tree.chars().iter().peekable();
    for at in 0..=tree.len() {
        let start = if at < tree.len() { tree.whole(at).start } else { u32::MAX };
        while let Some(next) = chars.next_if(|next| next.span.start < start) {
            if !editor.is_gone(next.parent) {
                place(tree, &mut flows, &mut loose, next);
            }
        }
        let mark = match tree.name(at) {
            "s" => " ".repeat(spaces(tree, at)),
            "tab" => "\t".to_owned(),
            "line-break" => "\n".to_owned(),
            _ => continue,
        };
        let block = tree.ancestors(at).find(|around| BLOCKS.contains(&tree.name(*around)));
        if let Some(block) = block.filter(|_| !editor.is_gone(at)) {
            flows.push(text_around(tree, block), block, PiecePlace::Mark(at), mark);
        }
    }
    let mut passages = flows.passages();
    passages.append(&mut loose);
    passages
}

fn place<'t>(tree: &'t Tree, flows: &mut Flows<'t, usize>, loose: &mut Vec<Passage<'t>>, chars: &Chars) {
    let text = plain(tree.slice(chars.span));
    let at = chars.parent;
    let block =
        std::iter::once(at).chain(tree.ancestors(at)).find(|around| BLOCKS.contains(&tree.name(*around)));
    let typed = TYPED.contains(&tree.name(at));
    match block.filter(|_| !typed) {
        Some(block) if tree.name(block) != "annotation" => {
            flows.push(text_around(tree, block), block, PiecePlace::Chars(at, chars.span), text);
        }
        _ if !is_worth(&text) => {}
        _ if typed => loose.push(Passage::one(PiecePlace::Whole(at), text)),
        _ => loose.push(Passage::one(PiecePlace::Chars(at, chars.span), text)),
    }
}

/// What a block is read with: a paragraph with those beside it.
fn text_around(tree: &Tree, block: usize) -> usize {
    if matches!(tree.name(block), "p" | "h") { around(tree, block, AROUND) } else { block }
}

/// How many blanks an element stands for.
fn spaces(tree: &Tree, at: usize) -> usize {
    tree.attribute(at, "c").and_then(|count| count.parse().ok()).unwrap_or(1).min(100)
}

fn is_word(attribute: &TreeAttribute<'_>) -> bool {
    let (prefix, name, raw) = (attribute.prefix, attribute.name, attribute.raw);
    if name == "xmlns" || prefix == "xmlns" || SILENT.contains(&name) || raw.len() < 2 {
        return false;
    }
    let namespace = [
        "http://schemas.",
        "urn:",
        "http://purl.org/",
        "http://www.w3.org/",
        "http://openoffice.org/",
        "http://docs.oasis-open.org/",
    ];
    let address = raw.contains([' ', '@']) || raw.contains("://") || raw.contains("www.");
    (SHOWN.contains(&name) || address)
        && !LOOKS.contains(&prefix)
        && !namespace.iter().any(|start| raw.starts_with(start))
}

/// Values and formulas of cells.
fn own<'t>(tree: &'t Tree, change: &PassageChange<'_, 't>, editor: &mut XmlEditor<'t>) {
    let PiecePlace::Own(at, span) = change.piece.place else { return };
    let Some(attribute) = tree.attributes(at).find(|attribute| attribute.span == span) else { return };
    if attribute.name != "formula" {
        // What the cell shows stands in its paragraphs; a number that is gone makes it a text.
        editor.drop_attribute(at, &attribute);
        for kind in tree.attributes(at).filter(|attribute| attribute.name == "value-type") {
            editor.set_attribute(&kind, "string");
        }
        if let Some(formula) = tree.attributes(at).find(|attribute| attribute.name == "formula") {
            editor.drop_attribute(at, &formula);
        }
        return;
    }
    if are_within_strings(&change.piece.text, &change.edits) {
        editor.set_attribute(&attribute, &change.text());
    } else {
        editor.drop_attribute(at, &attribute);
    }
}
