//! Elements that act, or that refer to what is elsewhere or gone.

use std::collections::HashSet;

use crate::sanitize::format::ooxml::{formula_calls, target};
use crate::sanitize::format::xml_editor::XmlEditor;
use crate::sanitize::format::xml_tree::Tree;
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

/// What becomes of a document's links: elements and the targets that they get.
type Links = Vec<(usize, String)>;

/// Takes an element out, and those around it that hold nothing else.
fn cut(tree: &Tree, editor: &mut XmlEditor<'_>, at: usize) -> u64 {
    let was_there = editor.cut(at);
    let mut at = at;
    while let Some(parent) = tree.parent(at) {
        if !HOLDERS.contains(&tree.name(parent)) || !tree.children(parent).all(|child| editor.is_gone(child))
        {
            break;
        }
        editor.cut(parent);
        at = parent;
    }
    u64::from(was_there)
}

/// Takes out what acts, and counts it.
pub(super) fn disarm(tree: &Tree, editor: &mut XmlEditor<'_>, gone: &HashSet<String>, work: &mut Work<'_>) {
    let (mut acting, mut objects) = (0_u64, 0_u64);
    let options = work.options();
    for at in 0..tree.len() {
        if editor.is_gone(at) {
            continue;
        }
        let name = tree.name(at);
        if refers_to_gone(tree, at, gone) {
            // The object is counted where it lies.
            objects = objects.saturating_add(cut(tree, editor, at));
        } else if options.interactive && name == "dde-connection" {
            acting = acting.saturating_add(u64::from(editor.unwrap(at)));
        } else if options.interactive && ACTIVE.contains(&name) && !is_navigation(tree, at) {
            acting = acting.saturating_add(cut(tree, editor, at));
        } else if options.interactive {
            acting = acting.saturating_add(disarm_attributes(tree, editor, at));
        }
    }
    if options.interactive {
        // What is left of forms are names and places to send them to.
        for at in
            (0..tree.len()).filter(|at| tree.name(*at) == "forms" && tree.children(*at).next().is_some())
        {
            acting = acting.saturating_add(cut(tree, editor, at));
        }
        for span in tree.remarks() {
            if tree.slice(*span).starts_with("<?xml-stylesheet") {
                editor.set_markup(*span, String::new());
                acting = acting.saturating_add(1);
            }
        }
    }
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

fn disarm_attributes(tree: &Tree, editor: &mut XmlEditor<'_>, at: usize) -> u64 {
    let mut count = 0_u64;
    for attribute in tree.attributes(at) {
        let value = attribute.value();
        match attribute.name {
            // Followed by a click.
            "href" if tree.name(at) == "a" && target::acts(&value) => return u64::from(editor.unwrap(at)),
            "href" if tree.name(at) == "a" => {}
            // Followed on opening: inside of the package or not at all (ODF part 2, 3.7).
            "href" if leads_out(&value) => return cut(tree, editor, at),
            "formula" | "condition" | "expression" if acts(&value) => {
                editor.drop_attribute(at, &attribute);
                count = count.saturating_add(1);
            }
            _ => {}
        }
    }
    count
}

fn leads_out(href: &str) -> bool {
    let href = href.trim();
    let outside = href.starts_with("../") || href.starts_with(['/', '\\']) || href.contains("/../");
    outside
        || (!href.starts_with('#') && href.split(['/', '#', '?']).next().unwrap_or_default().contains(':'))
}

fn acts(formula: &str) -> bool {
    let outside = formula.contains("'file:") || formula.contains("'http") || formula.contains("'//");
    outside || formula_calls(formula)
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
        href.iter().for_each(|href| editor.set_attribute(href, &target::written(&target)));
    }
    Ok(())
}
