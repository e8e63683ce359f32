//! Formulas of OpenDocument that refer to other documents (ODF part 4, 5.8).

use crate::sanitize::format::formula::pieces::{FormulaDialect, FormulaPiece, pieces};
use crate::sanitize::format::link_target::leads_out_of_package;

/// Errors, which begin with the sign that stands behind the address of a document.
const ERRORS: &[&str] = &["REF!", "N/A", "DIV/0!", "VALUE!", "NAME?", "NUM!", "NULL!"];

/// Whether a formula refers to another document, wherever that is, or makes such a reference up.
pub(in crate::sanitize::format) fn refers_to_document(formula: &str) -> bool {
    if names_document(formula) {
        return true;
    }
    let made = |text: &str| text.contains("'#") || text.contains("#$") || names_document(text);
    formula.to_ascii_uppercase().contains("INDIRECT")
        && pieces(formula, FormulaDialect::OpenFormula)
            .any(|piece| matches!(piece, FormulaPiece::Text(text) if made(text)))
}

/// Whether a formula names a document: an address, in quotes or without, and a sign behind it. Nothing before the sign means this
/// document.
fn names_document(formula: &str) -> bool {
    let mut named = false;
    pieces(formula, FormulaDialect::OpenFormula).any(|piece| match piece {
        FormulaPiece::Name(name) => {
            // Quotes that are doubled part a name.
            named |= !name.trim().is_empty();
            leads_out_of_package(name)
        }
        FormulaPiece::Code(code) => {
            let behind = std::mem::take(&mut named) && code.trim_start().starts_with('#');
            behind || has_address(code)
        }
        FormulaPiece::Text(_) => {
            named = false;
            false
        }
    })
}

/// Whether an address without quotes stands in code: `[file:///x.ods#$S.A1]`.
fn has_address(code: &str) -> bool {
    code.match_indices('#').any(|(at, _)| {
        let before = code.get(..at).unwrap_or_default().trim_end().chars().next_back();
        let behind = code.get(at.saturating_add(1)..).unwrap_or_default();
        let begins =
            |error: &&str| behind.get(..error.len()).is_some_and(|start| start.eq_ignore_ascii_case(error));
        before.is_some_and(|c| !"[({|;,=#".contains(c)) && !ERRORS.iter().any(begins)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_documents_are_known_however_they_are_named() {
        for formula in [
            "of:=['file:///x'#$S.A1]",
            "of:=['FILE:///x'#$S.A1]",
            "of:=[' file:///x.ods' #$S.A1]",
            "of:=['x.ods'#$S.A1]",
            "of:=['../x.ods'#$S.A1]",
            "of:=['\\\\h\\x.ods'#$S.A1]",
            "of:=['vnd.sun.star.webdav://h/x'#$S.A1]",
            "of:=['file:///it''s'#$S.A1]",
            "of:=['it'''#$S.A1]",
            "of:='HTTP://h/x.ods'#name",
            "of:=SUM([.A1];[file:///x.ods#$S.A1])",
            "of:=[$S.A1:x.ods#$S.A1]",
            "of:='http://h/x.ods'.A1",
            "of:=INDIRECT(\"'x.ods'#$S.A1\")",
            "of:=INDIRECT(\"'\"&[.A1]&\"'#$S.A1\")",
            "of:=COM.X.INDIRECT(\"x.ods#S.A1\")",
        ] {
            assert!(refers_to_document(formula), "{formula}");
        }
    }

    #[test]
    fn this_document_is_no_other() {
        for formula in [
            "of:=SUM([.A1:.B2])&\"file:///x#y\"",
            "of:=[$'My Sheet'.A1]+['it''s #1'.A1]",
            "of:=[#$S.A1]+[''#$S.A1]",
            "of:=[.A#REF!]+[$#REF!.A1]+#N/A",
            "of:=IF([.A1]=#n/a;{1;2|#DIV/0!;#NUM!};\"#\")",
            "of:=HYPERLINK(\"#\"&[.A1];\"x\")&'a'",
            "of:=INDIRECT(\"'My Sheet'.A1\")",
            "of:cell-content-is-in-list(\"a#b\";\"'x'\")",
            "ooow:<Table1.A1>+3",
            "",
        ] {
            assert!(!refers_to_document(formula), "{formula}");
        }
    }

    #[test]
    fn a_formula_takes_time_by_its_length() {
        for piece in ["#", "'", "['", "a #", "'#", "\"a#", "INDIRECT(\"'"] {
            refers_to_document(&piece.repeat(100_000));
        }
    }
}
