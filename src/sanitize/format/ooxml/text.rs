//! Everything that is written in a part: paragraphs over runs, cells, formulas, notes, properties, attributes that
//! readers show, remarks.

use crate::edit::{Edit, spliced_text};
use crate::sanitize::format::ooxml::heads::{Heads, SheetHeads};
use crate::sanitize::format::ooxml::names;
use crate::sanitize::format::ooxml::sheets::{self, SharedFormulas};
use crate::sanitize::format::passage::{
    Flows, Passage, PassageChange, PiecePlace, around, is_worth, redact, remarks,
};
use crate::sanitize::format::xml_editor::XmlEditor;
use crate::sanitize::format::xml_tree::{ByteSpan, Chars, Tree, TreeAttribute, plain};
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

/// Attributes that are shown, or name people, whatever they hold.
const SHOWN: &[&str] = &[
    "descr",
    "title",
    "alt",
    "tooltip",
    "author",
    "initials",
    "userId",
    "display",
    "prompt",
    "promptTitle",
    "error",
    "errorTitle",
    "comment",
    "description",
    "displayText",
    "caption",
    "string",
    "userName",
    "lastModifiedBy",
    "providerId",
    "v",
    "password_",
    "screenTip",
    "location",
];

/// Attributes with blanks or addresses in them that are none of anybody's words.
const SILENT: &[&str] = &[
    "style",
    "path",
    "d",
    "formulas",
    "Requires",
    "Ignorable",
    "ProcessContent",
    "MustUnderstand",
    "uri",
    "schemaLocation",
    "prefixMappings",
    "xpath",
    "namespace",
    "namespaceuri",
    "typeface",
    "panose",
    "adj",
    "points",
    "coordsize",
    "coordorigin",
    "ref",
    "sqref",
    "spans",
    "gfxdata",
    "minVer",
    "uniqueId",
    "loTypeId",
    "qsTypeId",
    "csTypeId",
    "stroke",
    "fillcolor",
    "strokecolor",
    "connectlocs",
    "textboxrect",
    "ascii",
    "hAnsi",
    "cs",
    "eastAsia",
    "from",
    "to",
    "spid",
    "Type",
    "Target",
    "values",
    "keyTimes",
    "fmla",
    "activeCell",
    "action",
];

/// Elements whose `val` is shown.
const VALUED: &[&str] = &[
    "alias",
    "tag",
    "docVar",
    "default",
    "listEntry",
    "statusText",
    "helpText",
    "placeholder",
    "lid_",
    "caption",
];

/// Has all of a part's texts looked at, and makes the edits.
///
/// # Errors
/// The host's.
pub(super) fn edit<'t>(
    tree: &'t Tree,
    editor: &mut XmlEditor<'t>,
    shared: &mut SharedFormulas,
    heads: &mut Heads,
    work: &mut Work<'_>,
) -> Result<(), Rejection> {
    if work.options().redaction == RedactionMode::Apply {
        drop_copies(tree, editor);
    }
    let columns = heads.sheet(tree);
    let mut passages = runs(tree, editor);
    heads.name(tree, &columns, &mut passages);
    passages.extend(loose(tree, editor, &columns));
    passages.extend(attributes(tree, editor));
    passages.extend(remarks(tree));
    redact(&passages, tree, editor, work, |change, editor| own(tree, change, editor, shared))
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
/// rest.
fn runs<'t>(tree: &'t Tree, editor: &XmlEditor<'_>) -> Vec<Passage<'t>> {
    let mut flows = Flows::new();
    let coded = matches!(tree.name(0), "sst" | "worksheet" | "comments" | "ThreadedComments");
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
        flows.push((text_around(tree, block), class), block, place, text);
    }
    flows.passages()
}

/// What a block is read with: a paragraph with those beside it.
fn text_around(tree: &Tree, block: usize) -> usize {
    if tree.name(block) == "p" { around(tree, block, AROUND) } else { block }
}

/// Characters anywhere else: cells, formulas, properties, figures of charts, pages in VML.
fn loose<'t>(tree: &'t Tree, editor: &XmlEditor<'_>, columns: &SheetHeads) -> Vec<Passage<'t>> {
    let mut passages = Vec::new();
    let sheet = matches!(tree.name(0), "worksheet" | "chartsheet" | "dialogsheet" | "externalLink");
    for chars in tree.chars() {
        let (at, name) = (chars.parent, tree.name(chars.parent));
        let run = matches!(name, "t" | "delText" | "instrText" | "delInstrText");
        if run || editor.is_gone(at) || FIGURES.contains(&name) {
            continue;
        }
        let text = plain(tree.slice(chars.span));
        if sheet && name == "v" {
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

/// Attributes that hold words.
fn attributes<'t>(tree: &'t Tree, editor: &XmlEditor<'_>) -> Vec<Passage<'t>> {
    let mut passages = Vec::new();
    for at in (0..tree.len()).filter(|at| !editor.is_gone(*at)) {
        for attribute in tree.attributes(at).filter(|attribute| is_word(tree, at, attribute)) {
            let text = attribute.value();
            let named = names::is_given(&text) && matches!(attribute.name, "name" | "val");
            if !is_worth(&text) || named || names::is_font(tree, at, attribute.name) {
                continue;
            }
            // Numbers and dates of a pivot table's cache, which become words; names of sheets.
            let typed = (attribute.name == "v" && matches!(tree.name(at), "n" | "d"))
                || (attribute.name == "name" && tree.name(at) == "sheet");
            let place =
                if typed { PiecePlace::Own(at, attribute.span) } else { PiecePlace::Value(attribute) };
            passages.push(Passage::one(place, text));
        }
    }
    passages
}

fn is_word(tree: &Tree, at: usize, attribute: &TreeAttribute<'_>) -> bool {
    let name = attribute.name;
    if attribute.prefix == "xmlns" || name == "xmlns" || attribute.raw.len() < 2 || SILENT.contains(&name) {
        return false;
    }
    let element = tree.name(at);
    let shown = SHOWN.contains(&name)
        || (name == "val" && VALUED.contains(&element))
        || (name == "name"
            && matches!(
                element,
                "docPr" | "cNvPr" | "cmAuthor" | "sheet" | "tableColumn" | "docVar" | "cacheField"
            ));
    let namespace = ["http://schemas.", "urn:", "http://purl.org/", "http://www.w3.org/"];
    let address =
        attribute.raw.contains([' ', '@']) || attribute.raw.contains("://") || attribute.raw.contains("www.");
    shown || (address && !namespace.iter().any(|start| attribute.raw.trim_start().starts_with(start)))
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
    let within = |edit: &Edit| {
        let quotes = text.get(..edit.range.start).unwrap_or_default().matches('"').count();
        let inner = text.get(edit.range.clone()).unwrap_or_default();
        quotes % 2 == 1 && !inner.contains('"')
    };
    if change.edits.iter().all(within) || tree.name(0) == "chartSpace" {
        let doubled = |edit: &Edit| Edit { with: edit.with.replace('"', "\"\""), ..edit.clone() };
        let edits: Vec<Edit> = change.edits.iter().map(doubled).collect();
        editor.set_text(chars.span, &spliced_text(text, &edits));
    } else {
        sheets::drop_formula(tree, editor, shared, chars.parent);
    }
}

/// Text without the escapes that sheets have for characters (`_x0041_`: ECMA-376 part 1, 22.9.2.19).
fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("_x") {
        out.push_str(before);
        let code = behind.get(..4).filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let code = code.filter(|_| behind.get(4..5) == Some("_"));
        let c = code.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
        if let Some(c) = c {
            out.push(c);
            rest = behind.get(5..).unwrap_or_default();
        } else {
            out.push_str("_x");
            rest = behind;
        }
    }
    out.push_str(rest);
    out
}

/// Text in which nothing reads as an escape, and control characters are one.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let behind = rest.get(c.len_utf8()..).unwrap_or_default();
        let hex = |code: &str| code.bytes().all(|byte| byte.is_ascii_hexdigit());
        let reads = c == '_' && behind.starts_with('x') && behind.get(5..6) == Some("_");
        if reads && behind.get(1..5).is_some_and(hex) {
            out.push_str("_x005F_");
        } else if c.is_control() && !matches!(c, '\t' | '\n') {
            out.push_str(&format!("_x{:04X}_", u32::from(c)));
        } else {
            out.push(c);
        }
        rest = behind;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_sheets() {
        assert_eq!(decoded("a_x0040_b_x000D_ _xZZZZ_ _x005F_x0041_"), "a@b\r _xZZZZ_ _x0041_");
        assert_eq!(encoded("_x0041_ \r_x"), "_x005F_x0041_ _x000D__x");
    }

    #[test]
    fn numbers_are_read_in_full() {
        assert_eq!(number("4.111111111111111E+15").as_deref(), Some("4111111111111111"));
        assert_eq!(number("0.5").as_deref(), Some("0.5"));
        assert_eq!(number("x"), None);
    }
}
