//! Workbooks (ECMA-376 part 1, 18): formulas that reach out of the file, names of macros, connections, and what counts
//! the sheets that are gone.

use std::collections::HashMap;

use crate::sanitize::format::ooxml::target;
use crate::sanitize::format::xml_editor::XmlEditor;
use crate::sanitize::format::xml_tree::Tree;

/// Functions that fetch or call something, without the prefixes that files write before them.
const REACHING: &[&str] = &[
    "WEBSERVICE",
    "DDE",
    "RTD",
    "IMAGE",
    "CALL",
    "REGISTER",
    "REGISTER.ID",
    "EXEC",
    "EVALUATE",
    "SQL.REQUEST",
    "SQL.OPEN",
    "FOPEN",
    "URLDOWNLOADTOFILE",
];

/// What a condition or a rule is, of which a formula is a part.
const RULES: &[&str] =
    &["cfRule", "dataValidation", "sparkline", "calculatedColumnFormula", "totalsRowFormula"];

/// Takes out what acts in a workbook's part: how many things that were.
pub(super) fn disarm(tree: &Tree, editor: &mut XmlEditor<'_>, shared: &mut SharedFormulas) -> u64 {
    let count = match tree.name(0) {
        "workbook" => disarm_names(tree, editor),
        "connections" => disarm_connections(tree, editor),
        _ => 0,
    };
    let formula =
        |name: &str| matches!(name, "f" | "formula" | "formula1" | "formula2") || RULES.contains(&name);
    // A chart without the formula of its figures is broken; its formulas are not calculated.
    if tree.name(0) == "chartSpace" {
        return count;
    }
    let mut count = count;
    for at in (0..tree.len()).filter(|at| formula(tree.name(*at))) {
        if editor.is_gone(at) || tree.children(at).next().is_some() {
            continue;
        }
        let text = tree.text(at);
        let acts = acts(&text);
        if acts || refers_outside(&text) {
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

/// The pieces of a formula that are neither a string nor a quoted name.
fn code(formula: &str) -> impl Iterator<Item = &str> {
    let mut rest = formula;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(['"', '\'']).unwrap_or(rest.len());
        let (code, quoted) = rest.split_at(end);
        let quote = quoted.chars().next().unwrap_or(' ');
        let inner = quoted.get(quote.len_utf8()..).unwrap_or_default();
        rest = inner.split_once(quote).map_or("", |(_, behind)| behind);
        Some(code)
    })
}

/// Whether calculating a formula does more than calculate: DDE (`server|topic!item`), functions that fetch, links
/// that act.
pub(super) fn acts(formula: &str) -> bool {
    code(formula).any(|code| code.contains('|')) || calls(formula)
}

/// Whether a formula calls a function that fetches or calls something, or shows a link that acts.
pub(in crate::sanitize::format) fn calls(formula: &str) -> bool {
    let upper = formula.to_ascii_uppercase();
    let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
    let calls = upper.match_indices('(').filter_map(|(at, _)| {
        let before = upper.get(..at)?.trim_end();
        let start = before.rfind(|c: char| !name(c)).and_then(|at| before.get(at..)).unwrap_or(before);
        Some(start.trim_start_matches(|c: char| !name(c)))
    });
    let mut calls = calls.map(|name| {
        let name = name.trim_start_matches("_XLFN.").trim_start_matches("_XLWS.");
        name.trim_start_matches("_XLUDF.").to_owned()
    });
    let mut link = false;
    let reaches = calls.any(|name| {
        link |= name == "HYPERLINK";
        REACHING.contains(&name.as_str()) || name.starts_with("_XLL")
    });
    reaches || (link && formula.split('"').skip(1).step_by(2).any(target::acts))
}

/// Whether a formula refers to another workbook, by its number: `[1]Sheet1!A1`. Columns of tables are in brackets
/// too, behind a name.
pub(super) fn refers_outside(formula: &str) -> bool {
    let mut before = ' ';
    let mut rest = formula;
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        if c == '"' {
            rest = rest.split_once('"').map_or("", |(_, behind)| behind);
        }
        if c == '[' && !before.is_alphanumeric() && !matches!(before, '_' | '.' | '[' | ']' | ',' | ':') {
            let inner = rest.split(']').next().unwrap_or_default();
            if !inner.is_empty() && inner.chars().all(|c| c.is_ascii_digit()) && inner != "0" {
                return true;
            }
        }
        before = c;
    }
    false
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
        let acts = is("xlm") || is("vbProcedure") || is("function") || acts(&text) || {
            opens.iter().any(|open| name.trim_start_matches("_xlnm.").starts_with(open))
        };
        let sheet = tree.attributes(at).find(|attribute| attribute.name == "localSheetId");
        let number = sheet.and_then(|sheet| sheet.value().trim().parse::<usize>().ok());
        let of_gone = number.is_some_and(|number| sheets.get(number).copied().unwrap_or(false));
        if acts || of_gone || refers_outside(&text) {
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
                match attribute.name {
                    "connection" => editor.set_attribute(&attribute, ""),
                    "command" | "serverCommand" | "url" | "post" | "editPage" | "sourceFile" | "odcFile"
                    | "refreshOnLoad" | "interval" => editor.drop_attribute(at, &attribute),
                    _ => continue,
                }
                changed = true;
            }
        }
        count = count.saturating_add(u64::from(changed));
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_that_act() {
        for formula in [
            "cmd|'/C calc'!A0",
            "1+_xlfn.WEBSERVICE(\"http://a\")",
            "hyperlink(\"\\\\h\\s\",\"x\")",
            "IF(A1,RTD (\"a\"))",
        ] {
            assert!(acts(formula), "{formula}");
        }
        for formula in ["SUM(A1:B2)", "\"a|b\"", "'a|b'!A1", "HYPERLINK(\"http://a\")", "RTDX(1)", ""] {
            assert!(!acts(formula), "{formula}");
        }
    }

    #[test]
    fn formulas_that_refer_outside() {
        for formula in ["[1]Sheet1!A1", "SUM('[12]A b'!A1)", "1+[2]!name"] {
            assert!(refers_outside(formula), "{formula}");
        }
        for formula in ["Table1[2020]", "T[[2020]:[2021]]", "\"[1]\"", "A1"] {
            assert!(!refers_outside(formula), "{formula}");
        }
    }
}
