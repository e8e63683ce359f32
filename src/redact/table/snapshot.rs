//! Fields of forms in a text, as programs that drive browsers show a page: `- textbox "Password" [ref=e12]: …`, or behind
//! `value=` on the same line.

use std::ops::Range;

use memchr::memmem;

use crate::redact::table::row::subject;

/// The roles of what one writes in (WAI-ARIA 1.2).
const ROLES: [&str; 4] = ["textbox", "searchbox", "combobox", "spinbutton"];
/// The longest name of a field, in bytes.
const NAME: usize = 64;

/// Whether a text may have such fields.
pub(super) fn may_be_in(text: &str) -> bool {
    ROLES.iter().any(|role| memmem::find(text.as_bytes(), role.as_bytes()).is_some())
}

/// Shows the fields of a text that hold something: what they are called, and where that stands.
pub(super) fn read(text: &str, show: &mut dyn FnMut(&str, Range<usize>)) {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if let Some((name, value)) = field(line.trim_end()) {
            show(subject(name), at + value.start..at + value.end);
        }
        at += line.len();
    }
}

/// The name of the field that a line is, and where in it the value stands.
fn field(line: &str) -> Option<(&str, Range<usize>)> {
    let (at, role) = ROLES.iter().find_map(|role| line.find(role).map(|at| (at, role)))?;
    if line.get(..at)?.ends_with(|c: char| !c.is_whitespace()) {
        return None;
    }
    let rest = line.get(at + role.len()..)?.strip_prefix(" \"")?;
    let end = rest.find('"').filter(|end| (1..=NAME).contains(end))?;
    let (name, rest) = (rest.get(..end)?, rest.get(end + 1..)?);
    let start = match memmem::find(rest.as_bytes(), b"value=\"") {
        Some(at) => at + 7,
        // Behind the marks in brackets.
        None => rest.rfind("]: ").map(|at| at + 3).or_else(|| rest.starts_with(": ").then_some(2))?,
    };
    let value = rest.get(start..)?;
    let inner = value.trim_matches('"');
    let inner = inner.split('"').next().unwrap_or_default();
    let skipped = value.len() - value.trim_start_matches('"').len();
    let from = line.len() - value.len() + skipped;
    (!inner.is_empty()).then(|| (name, from..from + inner.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_pages_have_names_and_values() {
        let rows: &[(&str, &[(&str, &str)])] = &[
            ("- textbox \"Password\" [ref=e12]: hunter2Zq9", &[("Password", "hunter2Zq9")]),
            (
                "- main:\n  - textbox \"SSN field\" [active] [ref=e12]: \"536228726\"\n  - textbox \"Last name\": Okonkwo\n",
                &[("SSN", "536228726"), ("Last name", "Okonkwo")],
            ),
            ("uid=1_2 textbox \"Password\" required value=\"hunter2Zq9\"", &[("Password", "hunter2Zq9")]),
            ("- textbox \"Password\" [ref=e12]", &[]),
            ("- button \"Password\" [ref=e12]: hunter2Zq9", &[]),
            ("the textbox \"Password\" is empty", &[]),
            ("mytextbox \"Password\": x", &[]),
            ("- textbox \"\": x", &[]),
        ];
        for (text, expected) in rows {
            let mut fields = Vec::new();
            read(text, &mut |name, value| {
                fields.push((name.to_owned(), text.get(value).unwrap().to_owned()))
            });
            let fields: Vec<(&str, &str)> =
                fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            assert_eq!(fields, *expected, "{text}");
        }
    }
}
