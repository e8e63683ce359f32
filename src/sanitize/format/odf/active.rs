//! Elements that act, or that refer to what is elsewhere or gone.

use std::collections::HashSet;

use crate::sanitize::format::formula::{self, FormulaDialect};
use crate::sanitize::format::link_target;
use crate::sanitize::format::xml_editor::XmlEditor;
use crate::sanitize::format::xml_tree::{Tree, TreeAttribute};
use crate::sanitize::{ChangedObject, ObjectAction, ObjectKind, Rejection, Work};

/// Elements that act by what they are.
const ACTIVE: &[&str] = &[
    "event-listener",
    "script",
    "plugin",
    "applet",
    "floating-frame",
    "control",
    "dde-connection-decl",
    "dde-link",
    "dde-source",
    "auto-reload",
    "table-source",
    "cell-range-source",
    "database-source-sql",
    "database-source-query",
    "database-source-table",
    "alphabetical-index-auto-mark-file",
];

/// Elements that say nothing when they are empty, or may not be.
const HOLDERS: &[&str] =
    &["event-listeners", "frame", "dde-connection-decls", "dde-links", "scripts", "font-face-src", "form"];

/// Parts of conditional formats, each with a condition or a formula as its value.
const CONDITIONS: &[&str] = &["condition", "color-scale-entry", "formatting-entry"];

/// What the prefixes of formulas stand for that are written as in workbooks of Office.
const EXCEL: &str = "http://schemas.microsoft.com/office/excel/formula";

/// What becomes of a document's links: elements and the targets that they get.
type Links = Vec<(usize, String)>;

/// Takes an element out: how many that were.
fn cut(editor: &mut XmlEditor<'_>, at: usize) -> u64 {
    u64::from(editor.cut(at))
}

/// Takes out what held nothing but what is gone.
fn tidy(tree: &Tree, editor: &mut XmlEditor<'_>) {
    // Inner elements come behind outer ones.
    for at in (0..tree.len()).rev().filter(|at| HOLDERS.contains(&tree.name(*at))) {
        let mut within = tree.within(at);
        if !editor.is_gone(at) && !within.is_empty() && within.all(|inner| editor.is_gone(inner)) {
            editor.cut(at);
        }
    }
}

/// Takes out what acts, and counts it.
pub(super) fn disarm(tree: &Tree, editor: &mut XmlEditor<'_>, gone: &HashSet<String>, work: &mut Work<'_>) {
    let (mut acting, mut objects) = (0_u64, 0_u64);
    let (options, mut excel) = (work.options(), HashSet::new());
    for at in 0..tree.len() {
        if editor.is_gone(at) {
            continue;
        }
        let name = tree.name(at);
        if refers_to_gone(tree, at, gone) {
            // The object is counted where it lies.
            objects = objects.saturating_add(cut(editor, at));
        } else if options.interactive && name == "dde-connection" {
            acting = acting.saturating_add(u64::from(editor.unwrap(at)));
        } else if options.interactive && ACTIVE.contains(&name) && !is_navigation(tree, at) {
            acting = acting.saturating_add(cut(editor, at));
        } else if options.interactive {
            acting = acting.saturating_add(disarm_attributes(tree, editor, at, &mut excel));
        }
    }
    if options.interactive {
        // What is left of forms are names and places to send them to.
        for at in
            (0..tree.len()).filter(|at| tree.name(*at) == "forms" && tree.children(*at).next().is_some())
        {
            acting = acting.saturating_add(cut(editor, at));
        }
        for span in tree.remarks() {
            if tree.slice(*span).starts_with("<?xml-stylesheet") {
                editor.set_markup(*span, String::new());
                acting = acting.saturating_add(1);
            }
        }
    }
    tidy(tree, editor);
    work.acting(ChangedObject::new(ObjectKind::Action, ObjectAction::Removed, acting));
}

/// Whether an element shows an entry that is gone.
fn refers_to_gone(tree: &Tree, at: usize, gone: &HashSet<String>) -> bool {
    !gone.is_empty()
        && tree.name(at) != "a"
        && tree.attribute(at, "href").is_some_and(|href| {
            let path = href.trim_start_matches("./").trim_end_matches('/');
            !path.is_empty() && gone.contains(path)
        })
}

/// Whether a listener only turns pages (ODF part 3, 19.361).
fn is_navigation(tree: &Tree, at: usize) -> bool {
    const TURNS: &[&str] =
        &["none", "previous-page", "next-page", "first-page", "last-page", "hide", "stop", "fade-out"];
    let within = || tree.attribute(at, "href").is_some_and(|href| href.starts_with('#'));
    tree.attribute(at, "action")
        .is_some_and(|action| TURNS.contains(&action.as_str()) || (action == "show" && within()))
}

/// Takes out what attributes of an element do. `excel` has the prefixes, of all elements so far, of formulas that are written as
/// in workbooks of Office.
fn disarm_attributes(tree: &Tree, editor: &mut XmlEditor<'_>, at: usize, excel: &mut HashSet<String>) -> u64 {
    let declares =
        |attribute: &TreeAttribute<'_>| attribute.prefix == "xmlns" && attribute.value().trim() == EXCEL;
    excel.extend(tree.attributes(at).filter(declares).map(|attribute| attribute.name.to_owned()));
    let mut count = 0_u64;
    for attribute in tree.attributes(at) {
        let value = attribute.value();
        match attribute.name {
            // Followed by a click.
            "href" if tree.name(at) == "a" && link_target::acts(&value) => {
                return u64::from(editor.unwrap(at));
            }
            "href" if tree.name(at) == "a" => {}
            // Followed on opening: inside of the package or not at all (ODF part 2, 3.7).
            "href" if link_target::leads_out_of_package(&value) => return cut(editor, at),
            "formula" | "condition" | "expression" if acts(&value, excel) => {
                editor.drop_attribute(at, &attribute);
                count = count.saturating_add(1);
            }
            "value" if CONDITIONS.contains(&tree.name(at)) && acts(&value, excel) => {
                let format = tree.ancestors(at).find(|around| tree.name(*around) == "conditional-format");
                return count.saturating_add(cut(editor, format.unwrap_or(at)));
            }
            _ => {}
        }
    }
    count
}

/// Whether calculating a formula does more than calculate: functions that fetch, links that act, other documents.
fn acts(formula: &str, excel: &HashSet<String>) -> bool {
    let prefix = formula.trim_start().split_once(':').map(|(prefix, _)| prefix);
    formula::refers_to_document(formula)
        || formula::calls(formula, FormulaDialect::OpenFormula)
        || (prefix.is_some_and(|prefix| excel.contains(prefix)) && formula::acts(formula))
}

/// Has the targets of links judged, and writes what they become.
///
/// # Errors
/// The host's.
pub(super) fn defang(tree: &Tree, editor: &mut XmlEditor<'_>, work: &mut Work<'_>) -> Result<(), Rejection> {
    let mut asked: Links = Vec::new();
    for at in (0..tree.len()).filter(|at| tree.name(*at) == "a" && !editor.is_gone(*at)) {
        asked.extend(tree.attribute(at, "href").map(|href| (at, href)));
    }
    let targets: Vec<&str> = asked.iter().map(|(_, target)| target.as_str()).collect();
    let changed = work.targets(&targets)?;
    for ((at, _), target) in asked.iter().zip(changed) {
        let Some(target) = target else { continue };
        let href = tree.attributes(*at).find(|attribute| attribute.name == "href");
        href.iter().for_each(|href| editor.set_attribute(href, &link_target::written(&target)));
    }
    Ok(())
}
