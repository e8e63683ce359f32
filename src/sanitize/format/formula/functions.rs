//! What functions are called in formulas, and which of them fetch or call something.

/// Functions that fetch or call something, without the prefixes that files write before them. Other programs that open
/// workbooks know the last seven.
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
    "GOOGLEFINANCE",
    "GOOGLETRANSLATE",
];

/// What functions of add-ins begin with: of libraries, and of scripts.
const ADDED: &[&str] = &["_XLL", "_XLDUDF"];

/// What files write before functions that came later than the format.
const PREFIXES: &[&str] = &["_XLFN.", "_XLWS.", "_XLUDF.", "_XLETA."];

/// What files write before names that formulas give: to values, and to those that a caller may leave out.
const GIVEN: &[&str] = &["_XLPM.", "_XLOP."];

/// What the names of a vendor's functions begin with (ODF part 4, 6.1): `COM.MICROSOFT.WEBSERVICE`. Dots of other names mean
/// nothing: `CHISQ.DIST`.
const VENDORS: &[&str] = &["COM.", "ORG.", "NET."];

/// Functions that are given functions, and call them.
const CALLING: &[&str] = &["MAP", "REDUCE", "SCAN", "BYROW", "BYCOL", "MAKEARRAY", "GROUPBY", "PIVOTBY"];

/// What a function of this name, in capitals, may be: the name without what files write before it, and what stands behind each
/// dot of a vendor's.
pub(super) fn plain_names(name: &str) -> impl Iterator<Item = &str> {
    let mut name = name;
    while let Some(behind) = PREFIXES.iter().find_map(|prefix| name.strip_prefix(*prefix)) {
        name = behind;
    }
    let of_vendor = VENDORS.iter().any(|vendor| name.starts_with(*vendor));
    let dots = name.match_indices('.').filter(move |_| of_vendor);
    std::iter::once(name).chain(dots.filter_map(move |(at, _)| name.get(at.saturating_add(1)..)))
}

/// Whether a function of this name, in capitals, is one that is called so.
pub(super) fn is_called(name: &str, plain: &str) -> bool {
    plain_names(name).any(|name| name == plain)
}

/// Whether a function of this name, in capitals, fetches or calls something.
pub(super) fn reaches(name: &str) -> bool {
    plain_names(name)
        .any(|name| REACHING.contains(&name) || ADDED.iter().any(|prefix| name.starts_with(*prefix)))
}

/// A name that a formula gives, in capitals, without what files write before it.
pub(super) fn given_name(name: &str) -> &str {
    GIVEN.iter().find_map(|prefix| name.strip_prefix(*prefix)).unwrap_or(name)
}

/// Whether a function of this name, in capitals, calls others that it is given.
pub(super) fn calls_others(name: &str) -> bool {
    plain_names(name).any(|name| CALLING.contains(&name))
}

/// Whether a name of a function may have this in it.
pub(super) fn in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_')
}

/// The name with which code ends, blanks behind it aside; empty if it ends with none.
pub(super) fn last_name(code: &str) -> &str {
    let code = code.trim_end();
    code.get(code.trim_end_matches(in_name).len()..).unwrap_or_default()
}

/// Whether code in capitals names a function that reaches out, which another one may call: `MAP(A1,_xleta.WEBSERVICE)`. A
/// sheet and a column may be called so.
pub(super) fn names_reaching(code: &str) -> bool {
    let mut before = ' ';
    code.split_inclusive(|c: char| !in_name(c)).any(|word| {
        let name = word.trim_end_matches(|c: char| !in_name(c));
        let behind = word.chars().next_back().filter(|c| !in_name(*c)).unwrap_or(' ');
        let column = matches!(std::mem::replace(&mut before, behind), '[' | '@' | '!');
        !column && behind != '!' && reaches(name)
    })
}

/// Code without what stands in brackets, which are left: columns of tables, and in workbooks whatever stands behind an apostrophe
/// there.
pub(super) fn without_brackets(code: &str) -> String {
    let (mut depth, mut meant) = (0_usize, false);
    let mut out = String::with_capacity(code.len());
    for c in code.chars() {
        match c {
            _ if meant => meant = false,
            '\'' if depth > 0 => meant = true,
            '[' => {
                depth = depth.saturating_add(1);
                out.push(c);
            }
            ']' => {
                depth = depth.saturating_sub(1);
                out.push(c);
            }
            _ if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}

/// Whether code in capitals has a function of this name as a value, which is called elsewhere: it is an argument, or all there is.
/// Columns, sheets and ranges may be called so.
pub(super) fn is_value(code: &str, plain: &str) -> bool {
    let code = without_brackets(code);
    code.match_indices(plain).any(|(at, _)| {
        let (front, rest) = code.split_at_checked(at).unwrap_or_default();
        let behind = rest.get(plain.len()..).unwrap_or_default();
        if behind.starts_with(in_name) || !begins_apart(behind) {
            return false;
        }
        let before = front.trim_end_matches(in_name);
        let name = code.get(before.len()..at.saturating_add(plain.len())).unwrap_or_default();
        is_called(name, plain) && ends_apart(before)
    })
}

/// Whether an argument, or a formula, ends before this.
fn begins_apart(behind: &str) -> bool {
    behind.trim_start().chars().next().is_none_or(|c| matches!(c, ')' | '}' | ',' | ';'))
}

/// Whether an argument, or a formula, begins behind this.
fn ends_apart(before: &str) -> bool {
    let before = before.trim_end();
    // What a formula begins with: `of:=`.
    let sign = before.strip_suffix('=').is_some_and(|before| before.is_empty() || before.ends_with(':'));
    sign || before.chars().next_back().is_none_or(|c| matches!(c, '(' | '{' | ',' | ';'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_are_values_are_told_from_columns_and_calls() {
        for code in [
            "HYPERLINK",
            "of:=HYPERLINK",
            "IF(1,HYPERLINK)(A1)",
            "LET(F, _XLFN._XLETA.HYPERLINK ,F(A1))",
            "MAP(A1;HYPERLINK)",
            "T['[]&LET(F,HYPERLINK,F(A1))",
        ] {
            assert!(is_value(code, "HYPERLINK"), "{code}");
        }
        for code in [
            "HYPERLINK(A1)",
            "HYPERLINK (A1)",
            "SUM(T[HYPERLINK])",
            "SUM(T[[#THIS ROW],[HYPERLINK]])",
            "SUM(HYPERLINK!A1,S!HYPERLINK)",
            "SUM(HYPERLINK[A])",
            "IF(HYPERLINK=A1,1)",
            "A1&HYPERLINK",
            "SUM(HYPERLINKS)",
            "SUM(MY.HYPERLINK)",
        ] {
            assert!(!is_value(code, "HYPERLINK"), "{code}");
        }
        for piece in ["HYPERLINK", "HYPERLINK ", "HYPERLINK,", ",HYPERLINK!", "["] {
            is_value(&piece.repeat(100_000), "HYPERLINK");
        }
    }

    #[test]
    fn functions_are_known_by_any_of_their_names() {
        for name in [
            "WEBSERVICE",
            "_XLFN.WEBSERVICE",
            "_XLFN._XLWS.PY",
            "COM.MICROSOFT.WEBSERVICE",
            "_XLFN.COM.MICROSOFT.REGISTER.ID",
            "ORG.LIBREOFFICE.IMAGE",
            "_XLDUDF_A",
        ] {
            assert!(reaches(name), "{name}");
        }
        for name in [
            "",
            "CHISQ.DIST",
            "NORM.S.INV",
            "COM.MICROSOFT.FILTERXML",
            "RATES.IMAGE",
            "COM.IMAGES",
            "IMAGE.X",
        ] {
            assert!(!reaches(name), "{name}");
        }
        assert!(is_called("COM.X.HYPERLINK", "HYPERLINK") && !is_called("X.HYPERLINK", "HYPERLINK"));
        assert_eq!(last_name("A1+RTD \u{a0}"), "RTD");
    }
}
