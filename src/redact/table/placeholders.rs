//! Places for values in a statement of SQL: `SET password = $1, ssn = ?`, `INSERT INTO users (ssn) VALUES (?)`. The values come
//! beside it, by their places.

use std::borrow::Cow;
use std::ops::Range;

use crate::redact::table::row::CELLS;
use crate::redact::table::sql_lists::{List, comment, is_of, list, space};

/// The longest statement that is read, in bytes.
const STATEMENT: usize = 32 << 10;
/// The longest name of a place, and of a table, in bytes.
const PLACE: usize = 64;
const TABLE: usize = 256;
/// How much is read before a place for the name of its column, in bytes, and out of how many brackets.
const BEFORE: usize = 128;
const OUT: usize = 4;
/// What statements begin with that may have such places: of SQL, GraphQL and Cypher.
const BEGINNINGS: [&str; 20] = [
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
    "alter",
    "explain",
    "begin",
    "unwind",
    "optional",
    "query",
    "mutation",
    "subscription",
];
/// Words between the name of a column and the place for its value.
const BETWEEN: [&str; 13] = [
    "like", "ilike", "rlike", "regexp", "in", "any", "all", "some", "not", "lower", "upper", "is", "between",
];
/// Those before a list of values.
const LISTS: [&str; 4] = ["in", "any", "all", "some"];
/// What statements fill a table with.
const FILLS: [&str; 3] = ["insert", "replace", "upsert"];
/// The name of a column that has passwords.
const PASSWORD: &str = "password";

/// The columns whose values come beside a statement.
#[derive(Debug, Default)]
pub(in crate::redact) struct PlacedColumns {
    /// By the numbers of their places.
    pub(in crate::redact) numbered: Vec<Option<String>>,
    /// By the names of their places.
    pub(in crate::redact) named: Vec<(String, String)>,
    /// The numbers of places that a list of values may be for.
    pub(in crate::redact) lists: Vec<usize>,
}

impl PlacedColumns {
    /// Those of a text, if it is a statement.
    pub(in crate::redact) fn of(text: &str) -> Self {
        let mut columns = Self::default();
        if text.len() > STATEMENT || !text.contains(['%', '?', '$', ':', '@']) {
            return columns;
        }
        let text = without_comments(text);
        let text: &str = &text;
        let places = if is_statement(text) { places(text) } else { Vec::new() };
        let inserted = if places.is_empty() { Vec::new() } else { inserted(text) };
        let said = |at: Range<usize>| text.get(at).unwrap_or_default().to_owned();
        let mut next = 0;
        for (at, place) in places {
            let value = inserted.partition_point(|(value, _)| value.end <= at.start);
            let of_list = inserted.get(value).filter(|(value, _)| value.start <= at.start);
            let found = match of_list {
                Some((_, name)) => Some((said(name.clone()), false)),
                None => compared(text, at.start).or_else(|| Some((compared_behind(text, at.end)?, false))),
            };
            let (column, listed) = found.map_or((None, false), |(column, listed)| (Some(column), listed));
            let number = match place {
                ValuePlace::Named(name) => {
                    columns.named.extend(column.map(|column| (said(name), column)));
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
                columns.lists.extend(listed.then_some(number));
            }
        }
        columns
    }
}

/// A statement with blanks in place of its comments.
fn without_comments(text: &str) -> Cow<'_, str> {
    let (mut out, mut kept, mut quote, mut at) = (String::new(), 0, None, 0);
    while let Some(&byte) = text.as_bytes().get(at) {
        match (quote, byte) {
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"' | b'`') => quote = Some(byte),
            (None, b'-' | b'/' | b'#') => {
                if let Some(end) = comment(text, at) {
                    out.push_str(text.get(kept..at).unwrap_or_default());
                    out.extend(std::iter::repeat_n(' ', end - at));
                    (kept, at) = (end, end);
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    if kept == 0 {
        return text.into();
    }
    out.push_str(text.get(kept..).unwrap_or_default());
    out.into()
}

/// Whether a statement begins somewhere in a text: with it, or behind another.
fn is_statement(text: &str) -> bool {
    let begins = |piece: &str| {
        let piece = piece.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
        let first = piece.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        is_of(&BEGINNINGS, first)
    };
    text.trim_start().starts_with('{') || text.split([';', '}', '\n']).any(begins)
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

/// The places of a text outside of quotes, and where each begins and ends.
fn places(text: &str) -> Vec<(Range<usize>, ValuePlace)> {
    let bytes = text.as_bytes();
    let (mut places, mut quote, mut at) = (Vec::new(), None, 0);
    while let Some(&byte) = bytes.get(at) {
        match (quote, byte) {
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"' | b'`') => quote = Some(byte),
            (None, b'%' | b'?' | b'$' | b':' | b'@') => {
                if let Some((place, end)) = place(bytes, at) {
                    places.push((at..end, place));
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

/// The values that statements fill a table with, each with the name of its column, in order: lists behind `VALUES`, and what is
/// selected.
fn inserted(text: &str) -> Vec<(Range<usize>, Range<usize>)> {
    let lower = text.to_ascii_lowercase();
    let ends = |word: &'static str| lower.match_indices(word).map(move |(at, _)| at + word.len());
    let mut starts: Vec<usize> = FILLS.into_iter().flat_map(ends).collect();
    starts.sort_unstable();
    let (mut all, mut heads, mut row, mut known) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for start in starts {
        let table = lower.as_bytes().get(start..).unwrap_or_default();
        let open = table.iter().take(TABLE).position(|byte| matches!(byte, b'(' | b';'));
        let Some(open) = open.map(|open| start + open).filter(|_| start >= known) else { continue };
        let List { end, closed, .. } = list(text, open, &mut heads);
        known = end;
        if !closed {
            continue;
        }
        let behind = space(text, end);
        let rest = lower.get(behind..).unwrap_or_default();
        if let Some(items) = rest.strip_prefix("select") {
            known = selected(&lower, lower.len() - items.len(), &mut row);
            all.extend(row.iter().cloned().zip(heads.iter().cloned()));
        } else if rest.starts_with("values") {
            let mut at = space(text, behind + "values".len());
            loop {
                let List { end, closed, .. } = list(text, at, &mut row);
                known = end;
                if !closed {
                    break;
                }
                all.extend(row.iter().cloned().zip(heads.iter().cloned()));
                at = space(text, end);
                if text.as_bytes().get(at) != Some(&b',') {
                    break;
                }
                at = space(text, at + 1);
            }
        }
    }
    all
}

/// Puts what is selected from `at` on into `row`, and tells where that ends.
fn selected(lower: &str, at: usize, row: &mut Vec<Range<usize>>) -> usize {
    row.clear();
    let bytes = lower.as_bytes();
    let (mut start, mut depth, mut quote) = (at, 0usize, None);
    for here in at..bytes.len() {
        let ends = || {
            lower.get(here..).is_some_and(|rest| rest.starts_with(" from ") || rest.starts_with("\nfrom "))
        };
        match (quote, bytes.get(here).copied().unwrap_or_default()) {
            (Some(open), byte) if byte == open => quote = None,
            (None, byte @ (b'\'' | b'"' | b'`')) => quote = Some(byte),
            (None, b'(') => depth += 1,
            (None, b')') if depth > 0 => depth -= 1,
            (None, b',') if depth == 0 && row.len() < CELLS => {
                row.push(start..here);
                start = here + 1;
            }
            (None, b';' | b')') => {
                row.push(start..here);
                return here;
            }
            (None, b' ' | b'\n') if depth == 0 && ends() => {
                row.push(start..here);
                return here;
            }
            _ => {}
        }
    }
    row.push(start..bytes.len());
    bytes.len()
}

/// The name of the column that the value at a place is compared to, or set, and whether it may be a list: out of the brackets of
/// functions and lists that the place stands in.
fn compared(text: &str, place: usize) -> Option<(String, bool)> {
    let from = text.ceil_char_boundary(place.saturating_sub(BEFORE));
    let (mut at, mut listed) = (place, false);
    for _ in 0..OUT {
        let before = text.get(from..at)?;
        if let Some((column, word)) = left_of(before) {
            return Some((column.to_owned(), listed || word.is_some_and(|word| is_of(&LISTS, word))));
        }
        let open = from + opened(before)?;
        let head = text.get(from..open)?.trim_end();
        let outer = head.trim_end_matches(is_named);
        let word = head.get(outer.len()..)?;
        listed |= is_of(&LISTS, word);
        at = if word.is_empty() || is_of(&BETWEEN, word) { open } else { from + outer.len() };
    }
    None
}

/// What names of columns are made of.
fn is_named(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.')
}

/// The name of the column that is compared to what follows, or set to it, and the word that is nearest to that.
fn left_of(before: &str) -> Option<(&str, Option<&str>)> {
    let (mut rest, mut sign, mut nearest) = (before, false, None);
    loop {
        let head = rest.trim_end_matches(|c: char| c.is_whitespace() || "=<>!~*:".contains(c));
        sign |= rest.get(head.len()..)?.contains(['=', '<', '>', '~', ':']);
        let quoted = head.trim_end_matches(['"', '`', ']', ')']);
        let before = quoted.trim_end_matches(is_named);
        let word = quoted.get(before.len()..).filter(|word| !word.is_empty())?;
        if is_of(&BETWEEN, word) {
            nearest = nearest.or(Some(word));
            (rest, sign) = (before, true);
            continue;
        }
        if sign {
            return Some((word, nearest));
        }
        // `BETWEEN $1 AND $2`, `WITH PASSWORD $1`, `IDENTIFIED BY ?`.
        if word.eq_ignore_ascii_case("and") {
            let low = before.trim_end().rsplit_once(char::is_whitespace)?.0.trim_end();
            let outer = low.trim_end_matches(is_named);
            if !low.get(outer.len()..)?.eq_ignore_ascii_case("between") {
                return None;
            }
            (rest, sign) = (outer, true);
            continue;
        }
        let identified = || before.to_ascii_lowercase().contains("identified");
        if word.eq_ignore_ascii_case(PASSWORD) || word.eq_ignore_ascii_case("by") && identified() {
            return Some((PASSWORD, None));
        }
        return None;
    }
}

/// Where the bracket opens that is open at the end of a text.
fn opened(before: &str) -> Option<usize> {
    let (mut depth, mut quoted) = (0usize, false);
    for (at, byte) in before.bytes().enumerate().rev() {
        match byte {
            b'\'' => quoted = !quoted,
            _ if quoted => {}
            b';' => return None,
            b')' => depth += 1,
            b'(' if depth == 0 => return Some(at),
            b'(' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The name of the column that the value at a place which ends at `end` is compared to: `? = password`.
fn compared_behind(text: &str, end: usize) -> Option<String> {
    let rest = text.get(end..)?.trim_start();
    let mut behind = rest.trim_start_matches(['=', '<', '>', '!']);
    if behind.len() == rest.len() {
        return None;
    }
    for _ in 0..OUT {
        let name = behind.trim_start().trim_start_matches(['"', '`', '[', '(']);
        let length = name.find(|c: char| !is_named(c)).unwrap_or(name.len());
        let (word, after) = name.split_at_checked(length)?;
        match after.strip_prefix('(') {
            Some(inner) => behind = inner,
            None => return word.starts_with(char::is_alphabetic).then(|| word.to_owned()),
        }
    }
    None
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
            ("SELECT * FROM u WHERE ssn IN ($1, $2)", &[Some("ssn"), Some("ssn")]),
            ("SELECT * FROM u WHERE ssn = ANY($1) AND id IN (?)", &[Some("ssn"), Some("id")]),
            // Behind comments, brackets and other statements.
            ("/*route=/login*/ SELECT 1 FROM u WHERE ssn = $1", &[Some("ssn")]),
            ("-- name: One :one\nSELECT 1 FROM u WHERE ssn = $1", &[Some("ssn")]),
            ("SELECT 1 -- don't cache ?\nFROM u WHERE ssn = ?", &[Some("ssn")]),
            ("(SELECT 1 FROM u WHERE ssn = $1)", &[Some("ssn")]),
            ("EXPLAIN SELECT 1 FROM u WHERE ssn = $1", &[Some("ssn")]),
            ("BEGIN; UPDATE u SET ssn = $1; COMMIT", &[Some("ssn")]),
            // In functions, on the other side, and behind words.
            ("SELECT 1 FROM u WHERE password = crypt($1, password)", &[Some("password")]),
            ("UPDATE u SET password = SHA2(?, 256), ssn = TRIM(?)", &[Some("password"), Some("ssn")]),
            ("UPDATE u SET ssn = COALESCE($1, ssn), a = CAST($2 AS text)", &[Some("ssn"), Some("a")]),
            ("SELECT 1 FROM u WHERE ssn LIKE concat('%', ?, '%')", &[Some("ssn")]),
            ("SELECT 1 FROM u WHERE ssn BETWEEN $1 AND $2", &[Some("ssn"), Some("ssn")]),
            ("SELECT 1 FROM u WHERE ? = ssn AND ? = lower(a)", &[Some("ssn"), Some("a")]),
            ("ALTER USER u WITH PASSWORD $1", &[Some("password")]),
            ("CREATE USER u IDENTIFIED BY ?", &[Some("password")]),
            ("INSERT INTO u (a, ssn) SELECT ?, ? FROM t WHERE b = ?", &[Some("a"), Some("ssn"), Some("b")]),
            (
                "MERGE INTO u USING t ON (u.id = t.id) WHEN NOT MATCHED THEN INSERT (a, ssn) VALUES (?, ?)",
                &[Some("a"), Some("ssn")],
            ),
            ("SELECT f($1) FROM u LIMIT $2", &[None, None]),
            ("SELECT 1 FROM u WHERE a = 1 AND f(?)", &[None]),
            ("INSERT INTO u VALUES (?)", &[None]),
            ("SELECT '?' FROM u WHERE a = '$1' AND ssn = ?", &[Some("ssn")]),
            ("SELECT 1", &[]),
            ("What is your SSN = ?", &[]),
            ("SELECT a::text FROM t LIMIT ?", &[None]),
        ];
        for (text, expected) in rows {
            let columns = PlacedColumns::of(text).numbered;
            let columns: Vec<_> = columns.iter().map(Option::as_deref).collect();
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
            ("# login's\nmutation M($p: String!) { login(password: $p) { id } }", &[("p", "password")]),
            (
                "fragment F on U { id }\nmutation M($p: String!) { login(password: $p) { ...F } }",
                &[("p", "password")],
            ),
            ("SELECT a, :b", &[]),
        ];
        for (text, expected) in rows {
            let named = PlacedColumns::of(text).named;
            let named: Vec<_> = named.iter().map(|(place, name)| (place.as_str(), name.as_str())).collect();
            assert_eq!(named, *expected, "{text}");
        }
    }

    #[test]
    fn lists_of_values_are_for_one_place() {
        let lists = |text: &str| PlacedColumns::of(text).lists;
        assert_eq!(lists("SELECT 1 FROM u WHERE a = ? AND ssn IN (?)"), [1]);
        assert_eq!(lists("SELECT 1 FROM u WHERE ssn = ANY($1::text[])"), [0]);
        assert_eq!(lists("SELECT 1 FROM u WHERE ssn IN ?"), [0]);
        assert_eq!(lists("UPDATE u SET ssn = lower(?)"), [0usize; 0]);
    }
}
