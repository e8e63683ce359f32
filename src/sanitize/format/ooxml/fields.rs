//! Fields of a text document (ECMA-376 part 1, 17.16): those that fetch, start or embed go, and the text that they
//! last showed stays. A field's code may be split over runs, and may be made by other fields.

use crate::sanitize::format::link_target;
use crate::sanitize::format::xml_editor::XmlEditor;
use crate::sanitize::format::xml_tree::Tree;

/// What fields that act are called.
const ACTIVE: &[&str] = &[
    "DDE",
    "DDEAUTO",
    "LINK",
    "EMBED",
    "INCLUDE",
    "INCLUDETEXT",
    "INCLUDEPICTURE",
    "IMPORT",
    "DATABASE",
    "MACROBUTTON",
    "RD",
    "PRINT",
    "CONTROL",
    "HTMLCONTROL",
    "ADDIN",
];

/// A field whose end was not seen yet.
#[derive(Default)]
struct WordField {
    // Everything but what it shows.
    elements: Vec<usize>,
    code: String,
    shows: bool,
    // Its name comes from a field within its code.
    computed: bool,
}

impl WordField {
    fn acts(&self) -> bool {
        self.computed || acts(&self.code)
    }
}

/// Takes out the fields that act: how many.
pub(super) fn disarm(tree: &Tree, editor: &mut XmlEditor<'_>) -> u64 {
    let mut count = 0_u64;
    let mut open: Vec<WordField> = Vec::new();
    let mut loose = WordField::default();
    for at in 0..tree.len() {
        if editor.is_gone(at) {
            continue;
        }
        match tree.name(at) {
            "p" if open.is_empty() => {
                count = count.saturating_add(settle(std::mem::take(&mut loose), editor))
            }
            "fldSimple" if tree.attribute(at, "instr").is_some_and(|code| acts(&code)) => {
                count = count.saturating_add(u64::from(editor.unwrap(at)));
            }
            "fldChar" => {
                count = count.saturating_add(mark(tree, editor, &mut open, at));
            }
            "instrText" | "delInstrText" => {
                let field = open.last_mut().unwrap_or(&mut loose);
                field.code.push_str(&tree.text(at));
                field.elements.push(at);
            }
            // Word reads any text in a code as code.
            "t" | "delText" => {
                if let Some(field) = open.last_mut().filter(|field| !field.shows) {
                    field.code.push_str(&tree.text(at));
                    field.elements.push(at);
                }
            }
            _ => {}
        }
    }
    open.push(loose);
    open.into_iter().fold(count, |count, field| count.saturating_add(settle(field, editor)))
}

/// The beginning, the middle or the end of a field.
fn mark(tree: &Tree, editor: &mut XmlEditor<'_>, open: &mut Vec<WordField>, at: usize) -> u64 {
    match tree.attribute(at, "fldCharType").unwrap_or_default().as_str() {
        "begin" => {
            if let Some(around) = open.last_mut().filter(|around| !around.shows) {
                let code = around.code.trim_start();
                around.computed |= !code.starts_with('=') && !code.contains(char::is_whitespace);
            }
            open.push(WordField { elements: vec![at], ..WordField::default() });
            0
        }
        "separate" => {
            if let Some(field) = open.last_mut() {
                field.elements.push(at);
                field.shows = true;
            }
            0
        }
        _ => {
            let Some(mut field) = open.pop() else { return 0 };
            field.elements.push(at);
            if field.acts() {
                return settle(field, editor);
            }
            if let Some(around) = open.last_mut().filter(|around| !around.shows) {
                around.elements.append(&mut field.elements);
            }
            0
        }
    }
}

/// Takes a field out if it acts.
fn settle(field: WordField, editor: &mut XmlEditor<'_>) -> u64 {
    if !field.acts() {
        return 0;
    }
    let cut = field.elements.into_iter().filter(|at| editor.cut(*at)).count();
    u64::from(cut > 0)
}

/// Whether a field with this code acts.
fn acts(code: &str) -> bool {
    let code = code.trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = code.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(code.len());
    let (name, rest) = code.split_at(end);
    let name = name.to_ascii_uppercase();
    ACTIVE.contains(&name.as_str()) || (name == "HYPERLINK" && leads_on(rest))
}

/// Whether one of a link's arguments is a target that acts. Those behind switches are names and hints.
fn leads_on(arguments: &str) -> bool {
    let mut switch = false;
    let mut rest = arguments.trim_start();
    while !rest.is_empty() {
        let (word, quoted, more) = match rest.strip_prefix(['"', '\u{201c}', '\u{201d}']) {
            Some(inner) => {
                let (word, more) = inner.split_once(['"', '\u{201c}', '\u{201d}']).unwrap_or((inner, ""));
                (word, true, more)
            }
            None => {
                let end = rest.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(rest.len());
                let (word, more) = rest.split_at(end);
                (word, false, more)
            }
        };
        rest = more.trim_start();
        let is_switch = !quoted && word.len() == 2 && word.starts_with('\\') && !word.ends_with('\\');
        if !is_switch && !switch && link_target::acts(&word.replace("\\\\", "\\")) {
            return true;
        }
        // `\n` and `\m` have no argument.
        switch = is_switch && !word.ends_with(['n', 'm']);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_that_act() {
        for code in [
            " DDEAUTO c:\\\\cmd.exe",
            "dde\"x\"",
            "IncludePicture \"http://x/y.png\" \\d",
            "HYPERLINK \"file:///c:/x.exe\"",
            "HYPERLINK \\\\\\\\host\\\\share",
            "HYPERLINK \\o \"hint\" \"javascript:x\"",
        ] {
            assert!(acts(code), "{code}");
        }
        for code in [
            "PAGE",
            "HYPERLINK \"http://a.example\" \\l \"c:x\"",
            "HYPERLINK \\l \"_Toc:1\"",
            "= 1+1",
            "DATE \\@ \"d\"",
            "",
        ] {
            assert!(!acts(code), "{code}");
        }
    }
}
