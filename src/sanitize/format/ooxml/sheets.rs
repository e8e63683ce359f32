//! Workbooks (ECMA-376 part 1, 18): where formulas that reach out of the file stand, names of macros, connections, and what
//! counts the sheets that are gone.

use std::collections::HashMap;

use crate::sanitize::format::formula;
use crate::sanitize::format::xml_editor::XmlEditor;
use crate::sanitize::format::xml_tree::Tree;

/// What a condition or a rule is, of which a formula is a part.
const RULES: &[&str] =
    &["cfRule", "dataValidation", "sparkline", "calculatedColumnFormula", "totalsRowFormula"];

/// Takes out what acts in a workbook's part: how many things that were.
pub(super) fn disarm(tree: &Tree, editor: &mut XmlEditor<'_>, shared: &mut SharedFormulas) -> u64 {
    let mut count = match tree.name(0) {
        "workbook" => disarm_names(tree, editor),
        "connections" => disarm_connections(tree, editor),
        "queryTable" => disarm_query(tree, editor),
        // A chart without the formula of its figures is broken; its formulas are not calculated.
        "chartSpace" => return 0,
        _ => 0,
    };
    let is_formula = |name: &str| {
        matches!(name, "f" | "formula" | "formula1" | "formula2" | "cfvo") || RULES.contains(&name)
    };
    for at in (0..tree.len()).filter(|at| is_formula(tree.name(*at))) {
        // A scale of colours has the formulas of its ends in attributes.
        let of_scale = if tree.name(at) == "cfvo" { tree.attribute(at, "val") } else { None };
        if editor.is_gone(at) || (of_scale.is_none() && tree.children(at).next().is_some()) {
            continue;
        }
        let text = of_scale.unwrap_or_else(|| tree.text(at));
        let acts = formula::acts(&text);
        if acts || formula::refers_to_workbook(&text) {
            drop_formula(tree, editor, shared, at);
            count = count.saturating_add(u64::from(acts));
        }
    }
    count
}

/// The cells that share a formula, by its number.
pub(super) struct SharedFormulas(HashMap<String, Vec<usize>>);

impl SharedFormulas {
    /// Looks them up.
    pub(super) fn new(tree: &Tree) -> Self {
        let mut shared: HashMap<String, Vec<usize>> = HashMap::new();
        for at in (0..tree.len()).filter(|at| tree.name(*at) == "f") {
            if let Some(group) = tree.attribute(at, "si") {
                shared.entry(group).or_default().push(at);
            }
        }
        Self(shared)
    }
}

/// Takes a formula out, and those that share it. A cell keeps the value that it had; a rule goes.
pub(super) fn drop_formula(tree: &Tree, editor: &mut XmlEditor<'_>, shared: &mut SharedFormulas, at: usize) {
    let in_cell = tree.parent(at).is_some_and(|parent| tree.name(parent) == "c");
    if !in_cell {
        let rule = std::iter::once(at).chain(tree.ancestors(at)).find(|at| RULES.contains(&tree.name(*at)));
        editor.cut(rule.unwrap_or(at));
        return;
    }
    editor.cut(at);
    let group = tree.attribute(at, "si").and_then(|group| shared.0.remove(&group));
    for other in group.into_iter().flatten() {
        editor.cut(other);
    }
}

/// Names of macros, names of other workbooks' cells, and numbers of sheets behind one that is gone.
fn disarm_names(tree: &Tree, editor: &mut XmlEditor<'_>) -> u64 {
    let mut count = 0_u64;
    let sheets: Vec<bool> =
        (0..tree.len()).filter(|at| tree.name(*at) == "sheet").map(|at| editor.is_gone(at)).collect();
    for at in (0..tree.len()).filter(|at| tree.name(*at) == "definedName") {
        let is = |name| {
            tree.attribute(at, name).is_some_and(|value| matches!(value.as_str(), "1" | "true" | "on"))
        };
        let name = tree.attribute(at, "name").unwrap_or_default().to_lowercase();
        let opens = ["auto_open", "auto_close", "auto_activate", "auto_deactivate"];
        let text = tree.text(at);
        let acts = is("xlm") || is("vbProcedure") || is("function") || formula::acts(&text) || {
            opens.iter().any(|open| name.trim_start_matches("_xlnm.").starts_with(open))
        };
        let sheet = tree.attributes(at).find(|attribute| attribute.name == "localSheetId");
        let number = sheet.and_then(|sheet| sheet.value().trim().parse::<usize>().ok());
        let of_gone = number.is_some_and(|number| sheets.get(number).copied().unwrap_or(false));
        if acts || of_gone || formula::refers_to_workbook(&text) {
            count = count.saturating_add(u64::from(editor.cut(at) && acts));
            continue;
        }
        let Some((sheet, number)) = sheet.zip(number) else { continue };
        let before = sheets.iter().take(number).filter(|gone| **gone).count();
        if before > 0 {
            editor.set_attribute(&sheet, &number.saturating_sub(before).to_string());
        }
    }
    let left = sheets.iter().filter(|gone| !**gone).count();
    for at in (0..tree.len()).filter(|at| tree.name(*at) == "workbookView" && left < sheets.len()) {
        for attribute in
            tree.attributes(at).filter(|attribute| matches!(attribute.name, "activeTab" | "firstSheet"))
        {
            editor.set_attribute(&attribute, "0");
        }
    }
    count
}

/// Where data come from: connections stay, since tables refer to them, and lead nowhere.
fn disarm_connections(tree: &Tree, editor: &mut XmlEditor<'_>) -> u64 {
    let mut count = 0_u64;
    for connection in (0..tree.len()).filter(|at| tree.name(*at) == "connection") {
        let mut changed = false;
        for at in std::iter::once(connection).chain(tree.within(connection)) {
            for attribute in tree.attributes(at).filter(|attribute| !attribute.raw.is_empty()) {
                match (tree.name(at), attribute.name) {
                    (_, "connection") | ("dbCommand", "text") => editor.set_attribute(&attribute, ""),
                    (
                        _,
                        "command" | "serverCommand" | "url" | "post" | "editPage" | "sourceFile" | "odcFile"
                        | "localConnection" | "refreshOnLoad" | "interval",
                    ) => editor.drop_attribute(at, &attribute),
                    _ => continue,
                }
                changed = true;
            }
        }
        count = count.saturating_add(u64::from(changed));
    }
    count
}

/// What a table is filled from: it is not asked for again when the book is opened.
fn disarm_query(tree: &Tree, editor: &mut XmlEditor<'_>) -> u64 {
    let is_on = |value: &str| !matches!(value, "0" | "false" | "off");
    let mut attributes = tree.attributes(0);
    let refresh =
        attributes.find(|attribute| attribute.name == "refreshOnLoad" && is_on(attribute.raw.trim()));
    refresh.iter().for_each(|refresh| editor.drop_attribute(0, refresh));
    u64::from(refresh.is_some())
}
