//! [`CallKind`]: what a call becomes by its arguments, and [`is_function`]: whether a formula becomes a function.

use crate::sanitize::format::formula::functions::{last_name, plain_names, without_brackets};
use crate::sanitize::format::formula::pieces::{FormulaDialect, FormulaPiece, pieces};

/// What a call becomes by its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallKind {
    /// `HYPERLINK`.
    Link,
    /// One of them, from this one on: `IF`, `VLOOKUP`, and what stands in parentheses.
    One(usize),
    /// One of every second: `IFS`.
    OneOfPairs,
    /// All, one behind the other: `CONCATENATE`.
    All,
    /// All from the third on, with the first between them: `TEXTJOIN`.
    Between,
    /// Something that is made of the first and begins as it does: `LOWER`.
    First,
    /// What the first begins with, or nothing: `LEFT`.
    Front,
    /// Any part of the first, or the first with something else in it: `MID`, `REPLACE`.
    Cut,
    /// The first, with the third in place of the second: `SUBSTITUTE`.
    Substituted,
    /// The first, written as the second says: `TEXT`.
    Formatted,
    /// Characters by their numbers: `CHAR`.
    Numbered,
    /// Nothing of them: `MATCH`.
    Nothing,
    /// The last; names and what they stand for are before it: `LET`.
    Let,
    /// A function that becomes the last; the names of what it is given are before it: `LAMBDA`.
    Lambda,
    /// Anything else.
    Other,
}

impl CallKind {
    /// By the name of the function, in capitals; empty for parentheses.
    pub(super) fn of(name: &str) -> Self {
        let known = |name: &str| match name {
            "HYPERLINK" => Some(Self::Link),
            "" | "IFERROR" | "IFNA" | "INDEX" => Some(Self::One(0)),
            "IF" | "CHOOSE" | "SWITCH" | "LOOKUP" | "HLOOKUP" | "VLOOKUP" | "XLOOKUP" => Some(Self::One(1)),
            "IFS" => Some(Self::OneOfPairs),
            "CONCATENATE" | "CONCAT" => Some(Self::All),
            "TEXTJOIN" => Some(Self::Between),
            "T" | "TRIM" | "CLEAN" | "LOWER" | "UPPER" | "PROPER" => Some(Self::First),
            "LEFT" | "LEFTB" | "TEXTBEFORE" | "REPT" => Some(Self::Front),
            "MID" | "MIDB" | "RIGHT" | "RIGHTB" | "REPLACE" | "REPLACEB" | "TEXTAFTER" | "TEXTSPLIT"
            | "REGEX" | "REGEXEXTRACT" | "REGEXREPLACE" | "ASC" | "DBCS" | "JIS" | "ROT13" | "GETROT13" => {
                Some(Self::Cut)
            }
            "SUBSTITUTE" => Some(Self::Substituted),
            "TEXT" => Some(Self::Formatted),
            "CHAR" | "UNICHAR" | "BASE" => Some(Self::Numbered),
            "CELL" | "INFO" | "ADDRESS" | "MATCH" | "XMATCH" | "FIND" | "FINDB" | "SEARCH" | "SEARCHB"
            | "LEN" | "LENB" | "EXACT" | "VALUE" | "CODE" | "UNICODE" | "ROW" | "COLUMN" | "COUNTIF" => {
                Some(Self::Nothing)
            }
            "LET" => Some(Self::Let),
            "LAMBDA" => Some(Self::Lambda),
            _ => None,
        };
        plain_names(name).find_map(known).unwrap_or(Self::Other)
    }

    /// Whether it may become another text than those that it is given, which stands in none of them.
    pub(super) fn makes_other(self) -> bool {
        matches!(self, Self::Front | Self::Cut | Self::Substituted | Self::Numbered)
    }

    /// Whether it may become this argument, as it is.
    fn becomes(self, argument: usize) -> bool {
        match self {
            Self::One(first) => argument >= first,
            Self::OneOfPairs => argument % 2 == 1,
            Self::Let => argument.is_multiple_of(2),
            _ => false,
        }
    }
}

/// A call whose end was not seen yet.
struct CallFrame {
    kind: CallKind,
    argument: usize,
    /// Whether the formula may become what it becomes.
    is_result: bool,
}

/// Whether a formula, in capitals, becomes a function, which other formulas call by its name: `LAMBDA(A,HYPERLINK(A))`. One that
/// is called in the formula itself is none.
pub(super) fn is_function(formula: &str, dialect: FormulaDialect) -> bool {
    let mut calls: Vec<CallFrame> = Vec::new();
    for piece in pieces(formula, dialect) {
        let FormulaPiece::Code(code) = piece else { continue };
        let code = without_brackets(code);
        for (at, sign) in code.match_indices(['(', ')', ',', ';']) {
            let (before, rest) = code.split_at_checked(at).unwrap_or_default();
            match sign {
                "(" => {
                    let around = calls.last();
                    let is_result =
                        around.is_none_or(|call| call.is_result && call.kind.becomes(call.argument));
                    let kind = CallKind::of(last_name(before));
                    calls.push(CallFrame { kind, argument: 0, is_result });
                }
                ")" => {
                    let called = rest.get(1..).unwrap_or_default().trim_start().starts_with('(');
                    let is_result = |call: CallFrame| call.kind == CallKind::Lambda && call.is_result;
                    if calls.pop().is_some_and(is_result) && !called {
                        return true;
                    }
                }
                _ => {
                    if let Some(call) = calls.last_mut() {
                        call.argument = call.argument.saturating_add(1);
                    }
                }
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_known_by_any_of_their_names() {
        for (name, kind) in [
            ("HYPERLINK", CallKind::Link),
            ("", CallKind::One(0)),
            ("_XLFN.TEXTAFTER", CallKind::Cut),
            ("COM.SUN.STAR.SHEET.ADDIN.DATEFUNCTIONS.GETROT13", CallKind::Cut),
            ("_XLFN.UNICHAR", CallKind::Numbered),
            ("RATES.MID", CallKind::Other),
            ("_XLFN.LET", CallKind::Let),
        ] {
            assert_eq!(CallKind::of(name), kind, "{name}");
        }
    }

    #[test]
    fn formulas_that_become_functions() {
        for formula in [
            "_XLFN.LAMBDA(A,A&\")\")",
            "IF(A1,LAMBDA(A,A),1)",
            "LET(A,1,LAMBDA(B,A&B))",
            "(LAMBDA(A,T[(]&A))",
        ] {
            assert!(is_function(formula, FormulaDialect::Excel), "{formula}");
        }
        for formula in [
            "LAMBDA(A,A)(1)",
            "LAMBDA(A,A) (1)",
            "MAP(B1:B3,LAMBDA(A,A))",
            "LET(F,LAMBDA(A,A),F(1))",
            "\"LAMBDA(A,A)\"",
            "SUM(A1)",
            ")",
        ] {
            assert!(!is_function(formula, FormulaDialect::Excel), "{formula}");
        }
        for piece in ["LAMBDA(", "(", ")", ",", "LET(A,"] {
            is_function(&piece.repeat(100_000), FormulaDialect::Excel);
        }
    }
}
