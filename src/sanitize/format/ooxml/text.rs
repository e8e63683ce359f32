//! Everything that is written in a part: paragraphs over runs, cells, formulas, notes, properties, attributes, headers and
//! footers, remarks.

use std::collections::HashSet;

use crate::edit::{Edit, spliced_text};
use crate::sanitize::format::formula::are_within_strings;
use crate::sanitize::format::ooxml::attributes::{AttributeTexts, TextPart, TypedValues};
use crate::sanitize::format::ooxml::escapes::{decoded, encoded};
use crate::sanitize::format::ooxml::heads::{Heads, SheetHeads};
use crate::sanitize::format::ooxml::sheets::{self, SharedFormulas};
use crate::sanitize::format::ooxml::{headers, labels};
use crate::sanitize::format::passage::{
    Flows, Passage, PassageChange, PiecePlace, around, is_worth, redact, remarks,
};
use crate::sanitize::format::xml_editor::XmlEditor;
use crate::sanitize::format::xml_tree::{ByteSpan, Chars, Tree, plain};
use crate::sanitize::{RedactionMode, Rejection, Work};

/// What makes a text of its own of the runs within it.
const BLOCKS: &[&str] = &["p", "si", "is", "rPh", "text", "rt", "rubyBase", "comment"];

/// What may stand around paragraphs without parting them from those beside.
const AROUND: &[&str] = &["sdt", "sdtContent", "customXml", "ins", "del", "moveFrom", "moveTo", "smartTag"];

/// Elements that hold numbers only, in lists that look like those of phones.
const FIGURES: &[&str] = &["Anchor", "posOffset", "Row", "Column", "f_", "pctWidth", "pctHeight", "idx"];

/// Values of a type that no replacement has: they go whole (ECMA-376 part 2, 8.3; part 1, 22.2 and 22.4).
const TYPED: &[&str] = &[
    "created",
    "modified",
    "lastPrinted",
    "revision",
    "TotalTime",
    "Pages",
    "Words",
    "Characters",
    "Lines",
    "Paragraphs",
    "Slides",
    "Notes",
    "filetime",
    "date",
    "i1",
    "i2",
    "i4",
    "i8",
    "int",
    "ui1",
    "ui2",
    "ui4",
    "ui8",
    "uint",
    "r4",
    "r8",
    "decimal",
    "bool",
    "cy",
    "clsid",
    "CharactersWithSpaces",
];

/// What the texts of a package's parts have in common.
pub(super) struct PackageTexts {
    heads: Heads,
    typed: TypedValues,
}

impl PackageTexts {
    /// Begins with what the columns of sheets are called.
    pub(super) fn new(heads: Heads) -> Self {
        Self { heads, typed: TypedValues::default() }
    }

    /// Shows the typed values that were found elsewhere, once all parts are read.
    ///
    /// # Errors
    /// The host's.
    pub(super) fn show_typed(&self, work: &mut Work<'_>) -> Result<(), Rejection> {
        self.typed.show(work)
    }
}

/// Has all of a part's texts looked at, and makes the edits.
///
/// # Errors
/// The host's.
pub(super) fn edit<'t>(
    part: TextPart<'t>,
    editor: &mut XmlEditor<'t>,
    shared: &mut SharedFormulas,
    texts: &mut PackageTexts,
    work: &mut Work<'_>,
) -> Result<(), Rejection> {
    let tree = part.tree;
    if work.options().redaction == RedactionMode::Apply {
        drop_copies(tree, editor);
    }
    let columns = texts.heads.sheet(tree);
    let mut passages = runs(tree, editor);
    texts.heads.name(tree, &columns, &mut passages);
    passages.extend(loose(part, editor, &columns));
    let mut attributes = AttributeTexts::of(part, editor, &mut texts.typed, work.is_again());
    passages.extend(attributes.passages());
    passages.extend(remarks(tree));
    redact(&passages, tree, editor, work, |change, editor| own(tree, change, editor, shared))?;
    if !part.data {
        headers::edit(tree, editor, work)?;
    }
    attributes.redact_words(tree, editor, work)
}

/// Takes out copies of shapes, text and all, in a coding that is not read here (`o:gfxdata`).
fn drop_copies(tree: &Tree, editor: &mut XmlEditor<'_>) {
    for at in (0..tree.len()).filter(|at| !editor.is_gone(*at)).collect::<Vec<_>>() {
        for copy in tree.attributes(at).filter(|attribute| attribute.name == "gfxdata") {
            editor.drop_attribute(at, &copy);
        }
    }
}

/// Runs of text, by what their paragraphs stand in. Deleted text and the codes of fields are read by themselves: nobody sees them with the
/// rest. So are [`other_branches`].
fn runs<'t>(tree: &'t Tree, editor: &XmlEditor<'_>) -> Vec<Passage<'t>> {
    let mut flows = Flows::new();
    let coded = matches!(tree.name(0), "sst" | "worksheet" | "comments" | "ThreadedComments");
    let others = other_branches(tree);
    for at in (0..tree.len()).filter(|at| !editor.is_gone(*at)) {
        let (class, mark) = match tree.name(at) {
            "t" => (0, None),
            "delText" => (1, None),
            "instrText" | "delInstrText" => (2, None),
            "tab" => (0, Some("\t")),
            "br" | "cr" => (0, Some("\n")),
            "noBreakHyphen" => (0, Some("-")),
            _ => continue,
        };
        if mark.is_some() && !tree.parent(at).is_some_and(|parent| matches!(tree.name(parent), "r" | "p")) {
            continue;
        }
        let block = tree.ancestors(at).find(|around| BLOCKS.contains(&tree.name(*around))).unwrap_or(0);
        let (place, text) = match (mark, tree.inner(at)) {
            (Some(mark), _) => (PiecePlace::Mark(at), mark.to_owned()),
            (None, Some(span)) if coded => (PiecePlace::Own(at, span), decoded(&plain(tree.slice(span)))),
            (None, Some(span)) => (PiecePlace::Chars(at, span), plain(tree.slice(span))),
            (None, None) => continue,
        };
        let branch = tree.ancestors(at).find(|around| others.contains(around));
        flows.push((text_around(tree, block), class, branch), block, place, text);
    }
    flows.passages()
}

/// The branches of alternatives (ECMA-376 part 3, 7.6) that are read by themselves: those behind the first that has text, which is
/// read with what stands around it. Each reader shows one of them.
fn other_branches(tree: &Tree) -> HashSet<usize> {
    let has_text = |branch: &usize| {
        let mut within = tree.within(*branch);
        within.any(|inner| matches!(tree.name(inner), "t" | "delText" | "instrText" | "delInstrText"))
    };
    let mut others = HashSet::new();
    for at in (0..tree.len()).filter(|at| tree.name(*at) == "AlternateContent") {
        let first = tree.children(at).find(has_text);
        others.extend(tree.children(at).skip_while(|branch| Some(*branch) != first).skip(1));
    }
    others
}

/// What a block is read with: a paragraph with those beside it.
fn text_around(tree: &Tree, block: usize) -> usize {
    if tree.name(block) == "p" { around(tree, block, AROUND) } else { block }
}

/// Characters anywhere else: cells, formulas, properties, figures of charts, pages in VML.
fn loose<'t>(part: TextPart<'t>, editor: &XmlEditor<'_>, columns: &SheetHeads) -> Vec<Passage<'t>> {
    let tree = part.tree;
    let mut passages = Vec::new();
    let sheet = matches!(tree.name(0), "worksheet" | "chartsheet" | "dialogsheet" | "externalLink");
    for chars in tree.chars() {
        let (at, name) = (chars.parent, tree.name(chars.parent));
        let run = matches!(name, "t" | "delText" | "instrText" | "delInstrText");
        let apart = !part.data && (FIGURES.contains(&name) || headers::is_one(name));
        if run || apart || editor.is_gone(at) {
            continue;
        }
        let text = plain(tree.slice(chars.span));
        if part.data && is_worth(&text) {
            let head = labels::of_text(tree, at);
            passages.push(Passage { head, ..Passage::one(PiecePlace::Chars(at, chars.span), text) });
        } else if sheet && name == "v" {
            let cell = cell(tree, at, chars.span, &text);
            passages.extend(cell.map(|cell| Passage { head: columns.of(tree, at), ..cell }));
        } else if !is_worth(&text) {
            continue;
        } else if matches!(name, "f" | "formula" | "formula1" | "formula2" | "definedName") {
            passages.push(Passage::one(PiecePlace::Own(at, chars.span), text));
        } else if TYPED.contains(&name) {
            let around = tree.ancestors(at).find(|around| tree.name(*around) == "property");
            passages.push(Passage::one(PiecePlace::Whole(around.unwrap_or(at)), text));
        } else {
            passages.push(Passage::one(PiecePlace::Chars(at, chars.span), text));
        }
    }
    passages
}

/// A cell's value: what is written, or a number as long as an account's.
fn cell<'t>(tree: &'t Tree, at: usize, span: ByteSpan, text: &str) -> Option<Passage<'t>> {
    let kind = tree.parent(at).and_then(|cell| tree.attribute(cell, "t")).unwrap_or_default();
    let text = match kind.as_str() {
        "s" | "b" | "e" => return None,
        "str" | "inlineStr" | "d" => decoded(text),
        _ => number(text)?,
    };
    is_worth(&text).then(|| Passage::one(PiecePlace::Own(at, span), text))
}

/// A number as it is read: large ones are written with an exponent.
fn number(text: &str) -> Option<String> {
    let text = text.trim();
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite())?;
    let written = text.contains(['e', 'E']) && value.abs() < 1e20 && value.fract() == 0.0;
    Some(if written { format!("{value:.0}") } else { text.to_owned() })
}

/// Changes to what is more than its characters.
fn own<'t>(
    tree: &'t Tree,
    change: &PassageChange<'_, 't>,
    editor: &mut XmlEditor<'t>,
    shared: &mut SharedFormulas,
) {
    let PiecePlace::Own(at, span) = change.piece.place else { return };
    match tree.name(at) {
        "v" => set_cell(tree, editor, shared, Chars { span, parent: at }, &change.text()),
        "t" => {
            let text = change.text();
            editor.set_text(span, &encoded(&text));
            if text.trim() != text && tree.attribute(at, "space").is_none() {
                editor.add_attribute(at, "xml:space", "preserve");
            }
        }
        // At most 31 characters, and none that formulas need.
        "sheet" => {
            let reserved = |c: char| ":\\/?*[]'".contains(c);
            let name =
                change.text().chars().take(31).map(|c| if reserved(c) { '_' } else { c }).collect::<String>();
            editor.set_text(span, &name);
        }
        "n" | "d" => {
            let prefix =
                tree.qualified(at).rsplit_once(':').map_or(String::new(), |(prefix, _)| format!("{prefix}:"));
            let text = change.text();
            editor.set_markup(
                tree.whole(at),
                format!(r#"<{prefix}s v="{}"/>"#, quick_xml::escape::escape(&text)),
            );
        }
        _ => set_formula(tree, editor, shared, change, Chars { span, parent: at }),
    }
}

/// A cell that holds other text now: no formula brings the old one back, and what was a number may be none any more.
fn set_cell<'t>(
    tree: &'t Tree,
    editor: &mut XmlEditor<'t>,
    shared: &mut SharedFormulas,
    chars: Chars,
    text: &str,
) {
    let Some(cell) = tree.parent(chars.parent) else { return };
    editor.set_text(chars.span, &encoded(text));
    if let Some(formula) = tree.children(cell).find(|child| tree.name(*child) == "f") {
        sheets::drop_formula(tree, editor, shared, formula);
    }
    // More digits than these are rounded (IEEE 754 binary64).
    let is_number = text.len() <= 15 && !text.starts_with('0') && text.chars().all(|c| c.is_ascii_digit());
    let kind = tree.attributes(cell).find(|attribute| attribute.name == "t");
    match kind {
        Some(kind) if kind.raw == "n" && is_number => {}
        Some(kind) if kind.raw == "str" => {}
        Some(kind) => editor.set_attribute(&kind, "str"),
        None if is_number => {}
        None => editor.add_attribute(cell, "t", "str"),
    }
}

/// A formula keeps changes within its strings; changed anywhere else it would be none.
fn set_formula<'t>(
    tree: &'t Tree,
    editor: &mut XmlEditor<'t>,
    shared: &mut SharedFormulas,
    change: &PassageChange<'_, 't>,
    chars: Chars,
) {
    let text = &change.piece.text;
    if are_within_strings(text, &change.edits) || tree.name(0) == "chartSpace" {
        let doubled = |edit: &Edit| Edit { with: edit.with.replace('"', "\"\""), ..edit.clone() };
        let edits: Vec<Edit> = change.edits.iter().map(doubled).collect();
        editor.set_text(chars.span, &spliced_text(text, &edits));
    } else {
        sheets::drop_formula(tree, editor, shared, chars.parent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_full() {
        assert_eq!(number("4.111111111111111E+15").as_deref(), Some("4111111111111111"));
        assert_eq!(number("0.5").as_deref(), Some("0.5"));
        assert_eq!(number("x"), None);
    }
}
