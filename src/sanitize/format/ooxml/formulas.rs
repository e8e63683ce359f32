//! Formulas (ECMA-376 part 1, 18.17): those that fetch or start something, and those that refer to another book.

use crate::sanitize::format::ooxml::target;

/// Functions that fetch or call something, without the prefixes that files write before them. Other programs that open
/// workbooks know the last five.
const REACHING: &[&str] = &[
    "WEBSERVICE",
    "DDE",
    "RTD",
    "IMAGE",
    "PY",
    "CALL",
    "REGISTER",
    "REGISTER.ID",
    "EXEC",
    "EVALUATE",
    "SQL.REQUEST",
    "SQL.OPEN",
    "FOPEN",
    "URLDOWNLOADTOFILE",
    "STOCKHISTORY",
    "TRANSLATE",
    "DETECTLANGUAGE",
    "COPILOT",
    "LABS.GENERATIVEAI",
    "IMPORTTEXT",
    "IMPORTCSV",
    "IMPORTXML",
    "IMPORTHTML",
    "IMPORTDATA",
    "IMPORTFEED",
    "IMPORTRANGE",
];

/// What functions of add-ins begin with: of libraries, and of scripts.
const ADDED: &[&str] = &["_XLL", "_XLDUDF"];

/// What files write before functions that came later than the format.
const PREFIXES: &[&str] = &["_XLFN.", "_XLWS.", "_XLUDF.", "_XLETA."];

/// Functions that are given functions, and call them.
const CALLING: &[&str] =
    &["LAMBDA", "LET", "MAP", "REDUCE", "SCAN", "BYROW", "BYCOL", "MAKEARRAY", "GROUPBY", "PIVOTBY"];

/// The longest name of another book that is looked for, in bytes: longer ones are quoted.
const BOOK: usize = 260;

/// A piece of a formula.
#[derive(Debug, PartialEq, Eq)]
enum FormulaPiece<'f> {
    /// Operators, cells, names, columns of tables in brackets.
    Code(&'f str),
    /// A string, without its quotes. One that is doubled ends a string, and begins another.
    Text(&'f str),
    /// The name of a sheet, and of the book that it is in, without its quotes.
    Name(&'f str),
}

/// A formula in pieces.
fn pieces(formula: &str) -> impl Iterator<Item = FormulaPiece<'_>> {
    let mut rest = formula;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        if !matches!(first, '"' | '\'') {
            let (code, behind) = rest.split_at_checked(code_end(rest)).unwrap_or((rest, ""));
            rest = behind;
            return Some(FormulaPiece::Code(code));
        }
        let inner = rest.get(1..).unwrap_or_default();
        let (inner, behind) = inner.split_once(first).unwrap_or((inner, ""));
        rest = behind;
        Some(if first == '"' { FormulaPiece::Text(inner) } else { FormulaPiece::Name(inner) })
    })
}

/// Where the code ends that a text begins with. In brackets, a quote begins nothing: it may be a part of a column's name,
/// as any character behind an apostrophe is.
fn code_end(text: &str) -> usize {
    let (mut depth, mut meant) = (0_usize, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if meant => meant = false,
            '[' => depth = depth.saturating_add(1),
            ']' => depth = depth.saturating_sub(1),
            '\'' if depth > 0 => meant = true,
            '"' | '\'' if depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

/// Whether calculating a formula does more than calculate: DDE (`server|topic!item`), functions that fetch, links
/// that act, cells of another book that it names.
pub(super) fn acts(formula: &str) -> bool {
    let outside = |piece: FormulaPiece<'_>| match piece {
        FormulaPiece::Code(code) => code.contains('|') || names_book(code),
        // No sheet has a slash in its name; one with a bar is rarer than what starts programs.
        FormulaPiece::Name(name) => name.contains(['|', '\\', '/']) || is_in_book(name) || is_book(name),
        FormulaPiece::Text(_) => false,
    };
    pieces(formula).any(outside) || calls(formula)
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

/// Whether this is the file of a book or an add-in.
fn is_book(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    ending.is_some_and(|ending| ending.starts_with("xl") && matches!(ending.len(), 3 | 4))
}

/// Whether a formula calls a function that fetches or calls something, shows a link that acts, or makes up a reference to
/// another book.
pub(in crate::sanitize::format) fn calls(formula: &str) -> bool {
    let upper = formula.to_ascii_uppercase();
    let (mut links, mut refers, mut passes) = (false, false, upper.contains("_XLETA."));
    for (at, _) in upper.match_indices('(') {
        let before = upper.get(..at).unwrap_or_default().trim_end();
        let name = plain_name(before.get(before.trim_end_matches(in_name).len()..).unwrap_or_default());
        if reaches(name) {
            return true;
        }
        links |= name == "HYPERLINK";
        refers |= name == "INDIRECT";
        passes |= CALLING.contains(&name);
    }
    let text = |piece: FormulaPiece<'_>| {
        if let FormulaPiece::Text(text) = piece { text.to_owned() } else { String::new() }
    };
    let texts = || pieces(formula).map(text);
    let passed = passes
        && pieces(&upper).any(|piece| matches!(piece, FormulaPiece::Code(code) if names_reaching(code)));
    passed
        || (links && (texts().any(|text| target::acts(&text)) || target::acts(&texts().collect::<String>())))
        || (refers && refers_to_book(&texts().collect::<Vec<_>>()))
}

fn in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_')
}

/// A function's name in capitals, without what files write before it.
fn plain_name(name: &str) -> &str {
    let mut name = name;
    while let Some(behind) = PREFIXES.iter().find_map(|prefix| name.strip_prefix(*prefix)) {
        name = behind;
    }
    name
}

fn reaches(name: &str) -> bool {
    REACHING.contains(&name) || ADDED.iter().any(|prefix| name.starts_with(*prefix))
}

/// Whether code in capitals names a function that reaches out, which another one may call: `MAP(A1,_xleta.WEBSERVICE)`. A
/// sheet and a column may be called so.
fn names_reaching(code: &str) -> bool {
    let mut before = ' ';
    code.split_inclusive(|c: char| !in_name(c)).any(|word| {
        let name = word.trim_end_matches(|c: char| !in_name(c));
        let behind = word.chars().next_back().filter(|c| !in_name(*c)).unwrap_or(' ');
        let column = matches!(std::mem::replace(&mut before, behind), '[' | '@' | '!');
        !column && behind != '!' && reaches(plain_name(name))
    })
}

/// Whether texts that become a reference name another book.
fn refers_to_book(texts: &[String]) -> bool {
    let opens = |text: &str| {
        let mut before = ' ';
        text.chars().any(|c| {
            let column = before.is_alphanumeric() || matches!(before, '_' | '.' | '[' | ']' | ',' | ':');
            before = c;
            c == '[' && !column
        })
    };
    // Names of tables and columns are made up, too: `INDIRECT(A1&"[Sum]")`.
    let sheet = texts.iter().any(|text| text.contains('!'));
    texts.iter().any(|text| {
        let outside = text.contains('|') || text.contains("\\\\") || text.contains("//");
        outside || (sheet && opens(text.as_str()))
    })
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
            "MAP(A1,_xleta.WEBSERVICE)",
            "_xlfn.MAP(A1:A2,_xlfn._xleta.WEBSERVICE)",
            "_xlfn._xleta.WEBSERVICE",
            "_xlfn.LAMBDA(_xlpm.f,_xlpm.f(\"http://a\"))(WEBSERVICE)",
            "LET(f,WEBSERVICE,f(A1))",
            "IMPORTXML(\"http://a\",\"b\")",
        ] {
            assert!(acts(formula), "{formula}");
        }
        for formula in [
            "SUM(A1:B2)",
            "\"a|b\"",
            "'a b'!A1",
            "HYPERLINK(\"http://a\")",
            "HYPERLINK(\"#\"&A1&\"!B2\",\"x\")",
            "RTDX(1)",
            "MAP(Image!A1,T[Call],LAMBDA(x,x+T[@Image]))",
            "Call-Put",
            "_xlfn.XLOOKUP(A1,B:B,C:C)",
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
            "INDIRECT(\"R[-1]C\",FALSE)&S!A1",
            "INDIRECT(\"'\"&A1&\"'!B2\")",
        ] {
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

    #[test]
    fn a_formula_takes_time_by_its_length() {
        for piece in ["a]!", "[", "(", "'", "A("] {
            let formula = piece.repeat(100_000);
            assert!(!calls(&formula) && !names_book(&formula), "{piece}");
        }
    }
}
