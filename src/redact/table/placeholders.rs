//! Places for values in a statement of SQL: `SET password = $1, ssn = ?`, `INSERT INTO users (ssn) VALUES (?)`. The values come
//! beside it, by their places.

use std::ops::Range;

use crate::redact::table::row::{CELLS, trimmed};
use crate::redact::table::sql::{List, filled, list};

/// The longest statement that is read, in bytes.
const STATEMENT: usize = 32 << 10;
/// The longest name of a place, in bytes.
const PLACE: usize = 64;
/// How much is read before a place for the name of its column, in bytes.
const BEFORE: usize = 128;
/// What statements begin with that may have such places: of SQL, GraphQL and Cypher.
const BEGINNINGS: [&str; 17] = [
    "select",
    "insert",
    "update",
    "delete",
    "with",
    "merge",
    "replace",
    "upsert",
    "call",
    "exec",
    "match",
    "create",
    "unwind",
    "optional",
    "query",
    "mutation",
    "subscription",
];
/// Words between the name of a column and the place for its value.
const BETWEEN: [&str; 8] = ["like", "ilike", "in", "any", "not", "lower", "upper", "is"];

/// The columns whose values come beside a statement; each where its name stands.
#[derive(Debug, Default)]
pub(in crate::redact) struct PlacedColumns {
    /// By the numbers of their places.
    pub(in crate::redact) numbered: Vec<Option<Range<usize>>>,
    /// By the names of their places.
    pub(in crate::redact) named: Vec<(Range<usize>, Range<usize>)>,
}

impl PlacedColumns {
    /// Those of a text, if it is a statement.
    pub(in crate::redact) fn of(text: &str) -> Self {
        let begins = text.trim_start();
        let first = begins.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        let known = begins.starts_with('{') || BEGINNINGS.iter().any(|word| word.eq_ignore_ascii_case(first));
        let places = if known && text.len() <= STATEMENT { places(text) } else { Vec::new() };
        let inserted = if places.is_empty() { Vec::new() } else { inserted(text) };
        let (mut columns, mut next) = (Self::default(), 0);
        for (start, place) in places {
            let at = inserted.partition_point(|(value, _)| value.end <= start);
            let of_list = inserted.get(at).filter(|(value, _)| value.start <= start);
            let column = of_list.map(|(_, name)| name.clone()).or_else(|| compared(text, start));
            let number = match place {
                ValuePlace::Named(name) => {
                    columns.named.extend(column.map(|column| (name, column)));
                    continue;
                }
                ValuePlace::Next => next,
                ValuePlace::Numbered(number) => number,
            };
            next += 1;
            if number < CELLS && columns.numbered.len() <= number {
                columns.numbered.resize(number + 1, None);
            }
            if let Some(known) = columns.numbered.get_mut(number).filter(|known| known.is_none()) {
                *known = column;
            }
        }
        columns
    }
}

/// A place for a value.
enum ValuePlace {
    /// That of the next one.
    Next,
    /// That of the one with this number.
    Numbered(usize),
    /// That of the one with the name that stands there.
    Named(Range<usize>),
}

/// The places of a text outside of quotes, and where each begins.
fn places(text: &str) -> Vec<(usize, ValuePlace)> {
    let bytes = text.as_bytes();
    let (mut places, mut quote, mut at) = (Vec::new(), None, 0);
    while let Some(&byte) = bytes.get(at) {
        match (quote, byte) {
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"' | b'`') => quote = Some(byte),
            (None, b'%' | b'?' | b'$' | b':' | b'@') => {
                if let Some((place, end)) = place(bytes, at) {
                    places.push((at, place));
                    at = end;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    places
}

/// The place that begins at `start`, and where it ends.
fn place(bytes: &[u8], start: usize) -> Option<(ValuePlace, usize)> {
    let at = |at: usize| bytes.get(at).copied().unwrap_or_default();
    let word = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        from + rest
            .iter()
            .take(PLACE)
            .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
            .count()
    };
    let sign = at(start);
    if sign == b'%' {
        return match at(start + 1) {
            b's' => Some((ValuePlace::Next, start + 2)),
            b'(' => Some((ValuePlace::Named(start + 2..word(start + 2)), word(start + 2))),
            _ => None,
        };
    }
    // A cast to a type has two of them.
    if sign == b':'
        && (at(start + 1) == b':' || start.checked_sub(1).is_some_and(|before| at(before) == b':'))
    {
        return None;
    }
    let (from, end) = (start + 1, word(start + 1));
    let digits = if sign == b'@' && at(from).eq_ignore_ascii_case(&b'p') { from + 1 } else { from };
    let number =
        std::str::from_utf8(bytes.get(digits..end)?).ok().and_then(|text| text.parse::<usize>().ok());
    match (number.and_then(|number| number.checked_sub(1)), sign) {
        (Some(number), _) => Some((ValuePlace::Numbered(number), end)),
        (None, b'?') => Some((ValuePlace::Next, from)),
        // What a variable's type follows is where it is declared.
        _ if end == from || at(end) == b':' => None,
        _ => Some((ValuePlace::Named(from..end), end)),
    }
}

/// The values of the lists behind `VALUES`, each with the name of its column, in order.
fn inserted(text: &str) -> Vec<(Range<usize>, Range<usize>)> {
    let mut all = Vec::new();
    let (mut row, mut known) = (Vec::new(), 0);
    for (heads, mut at) in filled(text) {
        while at >= known {
            let List { end, closed } = list(text, at, &mut row);
            known = end;
            if !closed {
                break;
            }
            all.extend(row.iter().cloned().zip(heads.iter().cloned()));
            let Some(more) = text.get(end..).and_then(|rest| rest.trim_start().strip_prefix(',')) else {
                break;
            };
            at = text.len() - more.trim_start().len();
        }
    }
    all
}

/// The name of the column that the value at a place is compared to, or set.
fn compared(text: &str, place: usize) -> Option<Range<usize>> {
    let from = text.ceil_char_boundary(place.saturating_sub(BEFORE));
    let mut rest = text.get(from..place)?;
    let mut sign = false;
    loop {
        let head = rest.trim_end_matches(|c: char| c.is_whitespace() || "=<>!(~*,:".contains(c));
        sign |= rest.get(head.len()..)?.contains(['=', '<', '>', '(', '~', ':']);
        let quoted = head.trim_end_matches(['"', '`', ']', ')']);
        let before = quoted.trim_end_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.'));
        let word = quoted.get(before.len()..).filter(|word| !word.is_empty())?;
        if BETWEEN.iter().any(|known| known.eq_ignore_ascii_case(word)) {
            (rest, sign) = (before, true);
            continue;
        }
        let start = from + before.len();
        return sign.then(|| trimmed(text, start..start + word.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_beside_a_statement_belong_to_its_columns() {
        let rows: &[(&str, &[Option<&str>])] = &[
            ("UPDATE users SET password = $1, ssn = $2 WHERE id = 1", &[Some("password"), Some("ssn")]),
            (
                "UPDATE users SET password=?, \"ssn\"=? WHERE id=?",
                &[Some("password"), Some("ssn"), Some("id")],
            ),
            ("update users set ssn = :2, `password` = :1", &[Some("password"), Some("ssn")]),
            ("INSERT INTO users (password, ssn) VALUES (?, ?)", &[Some("password"), Some("ssn")]),
            ("INSERT INTO users (id, ssn) VALUES (1, %s), (2, %s)", &[Some("ssn"), Some("ssn")]),
            (
                "SELECT * FROM u WHERE u.ssn = @p1 AND lower(last_name) LIKE lower(@p2)",
                &[Some("u.ssn"), Some("last_name")],
            ),
            ("SELECT * FROM u WHERE ssn IN ($1, $2)", &[Some("ssn"), None]),
            ("SELECT '?' FROM u WHERE a = '$1' AND ssn = ?", &[Some("ssn")]),
            ("SELECT 1", &[]),
            ("What is your SSN = ?", &[]),
            ("SELECT a::text FROM t LIMIT ?", &[None]),
        ];
        for (text, expected) in rows {
            let columns = PlacedColumns::of(text).numbered;
            let columns: Vec<_> =
                columns.into_iter().map(|column| column.and_then(|at| text.get(at))).collect();
            assert_eq!(columns, *expected, "{text}");
        }
    }

    #[test]
    fn places_have_names() {
        let rows: &[(&str, &[(&str, &str)])] = &[
            (
                "UPDATE users SET password = :p, ssn = %(s)s WHERE a::text = 'b'",
                &[("p", "password"), ("s", "ssn")],
            ),
            ("INSERT INTO users (password, ssn) VALUES (@pass, @s)", &[("pass", "password"), ("s", "ssn")]),
            ("mutation($p: String!) { login(password: $p) { id } }", &[("p", "password")]),
            ("MATCH (n {ssn: $s}) SET n.password = $p", &[("s", "ssn"), ("p", "n.password")]),
            ("SELECT a, :b", &[]),
        ];
        for (text, expected) in rows {
            let named = PlacedColumns::of(text).named;
            let named: Vec<_> = named
                .into_iter()
                .map(|(place, name)| (text.get(place).unwrap(), text.get(name).unwrap()))
                .collect();
            assert_eq!(named, *expected, "{text}");
        }
    }
}
