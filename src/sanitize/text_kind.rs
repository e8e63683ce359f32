//! Which kind a file of text is, by how it begins and, where that leaves it open, by its name.

use crate::sanitize::format::{charset, json};
use crate::sanitize::{FileKind, name, script};

/// How much of a file is looked at, in bytes.
const HEAD: usize = 4096;

/// What a browser takes for HTML if a file begins so (MIME Sniffing Standard, section 7.1), and a few more.
const TAGS: &[&str] = &[
    "!doctype html",
    "html",
    "head",
    "script",
    "iframe",
    "h1",
    "div",
    "font",
    "table",
    "a",
    "style",
    "title",
    "b",
    "body",
    "br",
    "p",
    "meta",
    "base",
    "form",
    "img",
    "object",
    "embed",
    "link",
    "span",
    "center",
];

/// Names' endings that say what bytes leave open.
const ENDINGS: &[(&[&str], FileKind)] = &[
    (&["html", "htm", "xhtml", "xht", "shtml", "hta"], FileKind::Html),
    (&["svg"], FileKind::Svg),
    (&["csv", "tsv", "tab"], FileKind::Csv),
    (&["md", "markdown", "mdown", "mkd", "mkdn", "mdx"], FileKind::Markdown),
];

/// The kind of a file of text; `None` if it is none.
pub(super) fn of(file: &[u8], called: &str) -> Option<FileKind> {
    let ending = name::ending(called).map(|(_, ending)| ending).unwrap_or_default();
    let named = ENDINGS.iter().find(|(endings, _)| endings.contains(&ending.as_str())).map(|(_, kind)| *kind);
    let Some(text) = charset::text_of(file) else {
        // Browsers read past zeros.
        let page = named == Some(FileKind::Html) && file.trim_ascii_start().starts_with(b"<");
        return page.then_some(FileKind::Html);
    };
    let head = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}' || c == '\0');
    if head.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("{\\rtf")) || head.starts_with("{\\rt") {
        return Some(FileKind::Rtf);
    }
    if script::is_ending(&ending) {
        return Some(FileKind::Script);
    }
    if named == Some(FileKind::Html) {
        return named;
    }
    if ["begin:vcalendar", "begin:vcard"]
        .iter()
        .any(|begin| head.get(..begin.len()).is_some_and(|start| start.eq_ignore_ascii_case(begin)))
    {
        return Some(FileKind::Calendar);
    }
    if script::begins(head) || root(head).is_some_and(|root| script::acts(&root, head)) {
        return Some(FileKind::Script);
    }
    if named == Some(FileKind::Markdown) {
        return Some(if !name::is_source(called) && script::consists(head) {
            FileKind::Script
        } else {
            FileKind::Markdown
        });
    }
    let kind = match head.strip_prefix('<') {
        Some(tag) => of_markup(tag, head, named == Some(FileKind::Svg) || ending == "xml"),
        None if head.starts_with(['{', '[', '"']) && named.is_none() && json::is_json(&text) => {
            Some(FileKind::Json)
        }
        None => None,
    };
    let named = named.filter(|kind| *kind != FileKind::Svg).unwrap_or(FileKind::Text);
    kind.or_else(|| {
        Some(if !name::is_source(called) && script::consists(head) { FileKind::Script } else { named })
    })
}

fn of_markup(tag: &str, head: &str, xml: bool) -> Option<FileKind> {
    // Only XML has namespaces of its own.
    let own = tag.split('>').next().is_some_and(|tag| tag.contains("xmlns:") || tag.contains("xmlns="));
    let declared = tag.starts_with("?xml") || own && !tag.starts_with(['!', '?']);
    match root(head) {
        Some(root) if root == "svg" => return Some(FileKind::Svg),
        Some(root) if root == "html" => return Some(FileKind::Html),
        Some(_) if declared || xml => return Some(FileKind::Xml),
        _ => {}
    }
    let lower = tag.get(..tag.floor_char_boundary(16)).unwrap_or(tag).to_ascii_lowercase();
    let begins = |name: &&&str| {
        let rest = lower.strip_prefix(**name);
        rest.is_some_and(|rest| {
            rest.starts_with([' ', '>', '/', '\t', '\n', '\r', '\u{c}']) || rest.is_empty()
        })
    };
    if TAGS.iter().find(begins).is_some() || lower.starts_with("!--") {
        return Some(FileKind::Html);
    }
    declared.then_some(FileKind::Xml)
}

/// The name of the first element, without prefix, in lower case.
fn root(head: &str) -> Option<String> {
    let mut rest = head.get(..head.floor_char_boundary(HEAD)).unwrap_or(head);
    loop {
        rest = rest.trim_start();
        let end = if rest.starts_with("<?") {
            rest.find("?>")?.saturating_add(2)
        } else if rest.starts_with("<!--") {
            rest.find("-->")?.saturating_add(3)
        } else if rest.starts_with("<!") {
            let subset = rest.find('[').filter(|at| rest.find('>').is_none_or(|end| *at < end));
            let from = subset.and_then(|_| rest.find("]")).unwrap_or(0);
            from.saturating_add(rest.get(from..)?.find('>')?).saturating_add(1)
        } else {
            break;
        };
        rest = rest.get(end..)?;
    }
    let name = rest.strip_prefix('<')?;
    let name = name.get(..name.find([' ', '>', '/', '\t', '\n', '\r'])?)?;
    Some(name.rsplit(':').next().unwrap_or(name).to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_decide_and_names_help() {
        for (file, name, want) in [
            ("<!DOCTYPE html><p>", "x", FileKind::Html),
            ("  <script>x</script>", "x.txt", FileKind::Html),
            ("x <script>", "x.txt", FileKind::Text),
            ("x <script>", "x.HTM", FileKind::Html),
            ("<?xml version='1.0'?><!-- c --><svg/>", "x", FileKind::Svg),
            ("<!DOCTYPE svg PUBLIC \"a\" \"b\" [<!ENTITY a \"b\">]><s:svg >", "x.xml", FileKind::Svg),
            ("<svg onload=x>", "x.txt", FileKind::Svg),
            ("<?xml version='1.0'?><html xmlns='x'>", "x", FileKind::Html),
            ("<?xml version='1.0'?><a/>", "x", FileKind::Xml),
            ("<a><b/></a>", "x.xml", FileKind::Xml),
            ("<a><b/></a>", "x", FileKind::Html),
            ("{\"a\":1}\n{\"b\":2}", "x", FileKind::Json),
            ("{not json}", "x.json", FileKind::Text),
            ("[1,2]\n", "x.csv", FileKind::Csv),
            ("{\\rtf1 x}", "x.doc", FileKind::Rtf),
            ("a,b", "x.tsv", FileKind::Csv),
            ("a,b", "x", FileKind::Text),
            ("<h1>a</h1>", "README.md", FileKind::Markdown),
            ("# a", "x.MARKDOWN", FileKind::Markdown),
            ("<jane@example.com> wrote", "x", FileKind::Text),
            ("", "", FileKind::Text),
        ] {
            assert_eq!(of(file.as_bytes(), name), Some(want), "{file} {name}");
        }
        let utf16: Vec<u8> = "\u{feff}<svg/>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(of(&utf16, ""), Some(FileKind::Svg));
        assert_eq!(of(b"a\xe9b", ""), Some(FileKind::Text));
        assert_eq!(of(b"\x7fELF\x01\x01\0\0", ""), None);
        assert_eq!(of(b"<\0script>", "x.html"), Some(FileKind::Html));
        assert_eq!(of(b"MZ\x90\0\x03\0\0\0", "x.html"), None);
    }
}
