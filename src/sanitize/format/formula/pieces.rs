//! Formulas in pieces: code, strings, names in quotes.

use crate::edit::Edit;

/// How a formula is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sanitize::format) enum FormulaDialect {
    /// As in workbooks of Office (ECMA-376 part 1, 18.17). In brackets, an apostrophe stands before a character that is meant
    /// as it is.
    Excel,
    /// As in OpenDocument (ODF part 4, 5). In brackets as elsewhere, apostrophes stand around names.
    OpenFormula,
}

/// A piece of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sanitize::format) enum FormulaPiece<'f> {
    /// Operators, cells, names, columns of tables in brackets.
    Code(&'f str),
    /// A string, without its quotes. One that is doubled ends a string, and begins another.
    Text(&'f str),
    /// The name of a sheet, and of the book that it is in, without its quotes.
    Name(&'f str),
}

/// A formula in pieces.
pub(in crate::sanitize::format) fn pieces(
    formula: &str,
    dialect: FormulaDialect,
) -> impl Iterator<Item = FormulaPiece<'_>> {
    let mut rest = formula;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        if !matches!(first, '"' | '\'') {
            let (code, behind) = rest.split_at_checked(code_end(rest, dialect)).unwrap_or((rest, ""));
            rest = behind;
            return Some(FormulaPiece::Code(code));
        }
        let inner = rest.get(1..).unwrap_or_default();
        let (inner, behind) = inner.split_once(first).unwrap_or((inner, ""));
        rest = behind;
        Some(if first == '"' { FormulaPiece::Text(inner) } else { FormulaPiece::Name(inner) })
    })
}

/// Where the code ends that a text begins with. In brackets of a workbook, a quote begins nothing: it may be a part of a
/// column's name, as any character behind an apostrophe is.
fn code_end(text: &str, dialect: FormulaDialect) -> usize {
    let (mut depth, mut meant) = (0_usize, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if meant => meant = false,
            '[' if dialect == FormulaDialect::Excel => depth = depth.saturating_add(1),
            ']' => depth = depth.saturating_sub(1),
            '\'' if depth > 0 => meant = true,
            '"' | '\'' if depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

/// Whether edits of a formula, in order, all lie within its strings: anywhere else they would leave none.
pub(in crate::sanitize::format) fn are_within_strings(formula: &str, edits: &[Edit]) -> bool {
    let (mut at, mut quotes) = (0, 0_usize);
    edits.iter().all(|edit| {
        let before = formula.get(at..edit.range.start).unwrap_or_default();
        quotes = quotes.saturating_add(before.matches('"').count());
        at = edit.range.start;
        quotes % 2 == 1 && !formula.get(edit.range.clone()).unwrap_or_default().contains('"')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_in_brackets_are_read_as_each_dialect_has_them() {
        use FormulaPiece::{Code, Name, Text};
        for (dialect, formula, want) in [
            (FormulaDialect::Excel, "T['#\"x]&\"y\"", vec![Code("T['#\"x]&"), Text("y")]),
            (FormulaDialect::Excel, "'a\"b'!A1", vec![Name("a\"b"), Code("!A1")]),
            (
                FormulaDialect::OpenFormula,
                "['a]\"b'#$S.A1]&\"y\"",
                vec![Code("["), Name("a]\"b"), Code("#$S.A1]&"), Text("y")],
            ),
            (FormulaDialect::OpenFormula, "'it''s", vec![Name("it"), Name("s")]),
        ] {
            assert_eq!(pieces(formula, dialect).collect::<Vec<_>>(), want, "{formula}");
        }
    }

    #[test]
    fn edits_of_strings_are_told_from_edits_of_code() {
        let edit = |range| Edit { range, with: String::new() };
        let formula = "\"ab\"&A1&\"cd\"";
        assert!(are_within_strings(formula, &[edit(1..3), edit(9..10), edit(10..11)]));
        assert!(!are_within_strings(formula, &[edit(1..3), edit(5..7)]));
        assert!(!are_within_strings(formula, &[edit(2..10)]));
        // As many as there may be of a long formula.
        let long = "\"a\"&".repeat(100_000);
        let edits: Vec<Edit> = (0..100_000).map(|n| edit(n * 4 + 1..n * 4 + 2)).collect();
        assert!(are_within_strings(&long, &edits));
    }
}
