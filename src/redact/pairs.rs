//! [`Pairs`]: elements of arrays that are called by another: the value behind a flag (`["--password", "…"]`), the second of a pair
//! (`["X-Api-Key", "…"]`), attributes of an element one after the other, and values beside the statement of SQL that has places
//! for them.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::detect::Label;
use crate::redact::commands::Command;
use crate::redact::document_value::DocumentValue;
use crate::redact::members::{Holder, is_credential_field, is_short_value, plain};
use crate::redact::name_place::NamePlace;
use crate::redact::table::PlacedColumns;
use crate::stream::json::{Decoded, Path, Segment};

/// The longest name, in bytes as it is spelled.
const NAME: usize = 64;
/// What members are called that hold a statement, and its values.
const STATEMENTS: &[&str] =
    &["sql", "query", "statement", "text", "sqltext", "querytext", "querystring", "stmt"];
const VALUES: &[&str] = &[
    "params",
    "parameters",
    "values",
    "bindings",
    "binds",
    "args",
    "arguments",
    "bindvars",
    "vars",
    "variables",
    "queryparameters",
];
/// The most columns of statements that are kept.
const KEPT: usize = 10_000;
/// Attributes that say what is in an element.
const ATTRIBUTES: [&str; 6] = ["name", "id", "type", "autocomplete", "aria-label", "placeholder"];

/// What a command's password is called.
const PASSWORD: &str = "password";
/// The shortest statement that its values follow in an array, in bytes.
const STATEMENT: usize = 12;

/// What elements are called.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// The columns that a statement has places for, by the way to its object, or to the array that it begins: by their numbers, and
    /// by their names.
    numbered: HashMap<(u64, usize), String>,
    named: HashMap<(u64, String), String>,
    /// Those of them whose place a list of values may be for.
    lists: HashSet<(u64, usize)>,
    /// The commands whose words arrays are, by the ways there.
    commands: HashMap<u64, Command>,
    /// Where that stands which says the most of the value among attributes, by the way to their array and its number.
    values: HashMap<(u64, usize), NamePlace>,
    /// The attributes that are read.
    attributes: Attributes,
}

/// Attributes of an element, one after the other.
#[derive(Debug, Default)]
struct Attributes {
    array: u64,
    /// What was read last.
    key: String,
    /// What says the most of the element, if something does, and whether that is a secret.
    said: Option<(bool, NamePlace)>,
    /// The number of its value.
    value: Option<usize>,
}

impl Pairs {
    /// Shows the next string of the document.
    pub(super) fn follow(&mut self, path: &Path<'_>, doc: &[u8], span: &Range<usize>) {
        let Some(last) = path.len().checked_sub(1) else { return };
        let spelled = doc.get(span.clone()).unwrap_or_default();
        match path.segment(last) {
            Some(Segment::Key(own)) if STATEMENTS.contains(&plain(own).as_str()) => {
                self.statement(path.fingerprint(last), Decoded::of(spelled).text());
            }
            Some(Segment::Index(0)) if spelled.len() >= STATEMENT && may_be_statement(spelled) => {
                self.statement(path.fingerprint(last), Decoded::of(spelled).text());
            }
            Some(Segment::Index(number)) if spelled.len() <= NAME => {
                let word = if number == 0 { std::str::from_utf8(spelled).ok() } else { None };
                let first = word.and_then(Command::of);
                self.commands.extend(first.map(|command| (path.fingerprint(last), command)));
                let above = last.checked_sub(1).and_then(|at| path.segment(at));
                if matches!(above, Some(Segment::Key("attributes" | "attrs"))) {
                    self.attribute(path.fingerprint(last), number, Decoded::of(spelled).text(), span);
                }
            }
            _ => {}
        }
    }

    /// The statement of an object.
    fn statement(&mut self, object: u64, text: &str) {
        if self.is_full() {
            return;
        }
        let PlacedColumns { numbered, named, lists } = PlacedColumns::of(text);
        for (number, column) in numbered.into_iter().enumerate() {
            if let Some(column) = column.filter(|_| !self.is_full()) {
                self.numbered.insert((object, number), column);
            }
        }
        let known = lists.into_iter().map(|number| (object, number));
        self.lists.extend(known.filter(|place| self.numbered.contains_key(place)));
        for (place, column) in named {
            if !self.is_full() {
                self.named.entry((object, place)).or_insert(column);
            }
        }
    }

    /// Whether no more columns are kept.
    fn is_full(&self) -> bool {
        self.numbered.len() + self.named.len() >= KEPT
    }

    /// An attribute's name, or its value.
    fn attribute(&mut self, array: u64, number: usize, text: &str, span: &Range<usize>) {
        if self.attributes.array != array || number == 0 {
            self.attributes = Attributes { array, ..Attributes::default() };
        }
        let attributes = &mut self.attributes;
        if number.is_multiple_of(2) {
            attributes.key = text.to_ascii_lowercase();
            if attributes.key == "value" {
                attributes.value = Some(number + 1);
            }
        } else if ATTRIBUTES.contains(&attributes.key.as_str()) {
            let secret = is_secret(text);
            if attributes.said.as_ref().is_none_or(|(known, _)| secret && !known) {
                attributes.said = NamePlace::of(span).map(|place| (secret, place));
            }
        }
        if let (Some(value), Some((_, said))) = (attributes.value, attributes.said) {
            self.values.insert((array, value), said);
        }
    }

    /// What a value is called by another element, or by the statement beside it.
    pub(super) fn of(&self, at: DocumentValue<'_>) -> Option<String> {
        let last = at.path.len().checked_sub(1)?;
        let Some(Segment::Index(number)) = at.path.segment(last) else { return self.placed(at.path) };
        if let Some(said) = self.values.get(&(at.path.fingerprint(last), number)) {
            return Some(Decoded::of(said.text(at.doc)?).text().to_owned());
        }
        let above = last.checked_sub(1).and_then(|above| at.path.segment(above));
        let command = self.commands.get(&at.path.fingerprint(last)).copied();
        behind(at, number, above, command)
            .or_else(|| self.placed(at.path))
            .or_else(|| self.following(at.path))
    }

    /// The column whose place in the statement that begins an array the value is for: `["… = $1", "…"]`, `["… = $1", ["…"]]`.
    fn following(&self, path: &Path<'_>) -> Option<String> {
        let last = path.len().checked_sub(1).filter(|_| !self.numbered.is_empty())?;
        let Segment::Index(number) = path.segment(last)? else { return None };
        let own = number.checked_sub(1).and_then(|place| self.numbered.get(&(path.fingerprint(last), place)));
        let above = last.checked_sub(1).filter(|above| path.segment(*above) == Some(Segment::Index(1)));
        let listed = above.and_then(|above| self.numbered.get(&(path.fingerprint(above), number)));
        own.or(listed).cloned()
    }

    /// The column whose place in a statement the value is for.
    fn placed(&self, path: &Path<'_>) -> Option<String> {
        if self.numbered.is_empty() && self.named.is_empty() {
            return None;
        }
        let is_values = |at: usize| matches!(path.segment(at), Some(Segment::Key(key)) if holds_values(key));
        let mut last = path.len().checked_sub(1)?;
        // Of a list for one place.
        if matches!(path.segment(last), Some(Segment::Index(_)))
            && last.checked_sub(2).is_some_and(is_values)
            && matches!(path.segment(last - 1), Some(Segment::Key(_)))
        {
            last -= 1;
        }
        while let Some(Segment::Key(key)) = path.segment(last) {
            let above = last.checked_sub(1)?;
            if is_values(above) {
                let column = |length: usize| self.named.get(&(path.fingerprint(length), key.to_owned()));
                return column(above).or_else(|| column(above.checked_sub(1)?)).cloned();
            }
            if !Holder::is_of_cell(key) {
                return None;
            }
            last = above;
        }
        let Segment::Index(number) = path.segment(last)? else { return None };
        let mut above = last.checked_sub(1)?;
        let mut outer = None;
        if let Segment::Index(row) = path.segment(above)? {
            (above, outer) = (above.checked_sub(1)?, Some(row));
        }
        if !is_values(above) {
            return None;
        }
        let column = |length: usize| {
            let object = path.fingerprint(length);
            let listed = outer.filter(|row| self.lists.contains(&(object, *row)));
            self.numbered.get(&(object, listed.unwrap_or(number)))
        };
        column(above).or_else(|| column(above.checked_sub(1)?)).cloned()
    }

    /// The column whose place in a statement has this name, where the object of so many segments that says it is in a list of
    /// values: `[{"name": "p", "value": "…"}]`.
    pub(super) fn named_place(&self, path: &Path<'_>, object: usize, name: &str) -> Option<String> {
        let above = object.checked_sub(2).filter(|_| !self.named.is_empty())?;
        let listed = matches!(path.segment(above + 1), Some(Segment::Index(_)));
        let held = matches!(path.segment(above), Some(Segment::Key(key)) if holds_values(key));
        if !listed || !held {
            return None;
        }
        let name = name.trim_start_matches([':', '@', '$']);
        let column = |length: usize| self.named.get(&(path.fingerprint(length), name.to_owned()));
        column(above).or_else(|| column(above.checked_sub(1)?)).cloned()
    }

    /// The way to the object of a string that may hold all values for the statement in it, if columns are known.
    pub(super) fn object_of_values(&self, path: &Path<'_>) -> Option<u64> {
        let known = !self.numbered.is_empty() || !self.named.is_empty();
        path.len().checked_sub(1).filter(|_| known).map(|last| path.fingerprint(last))
    }

    /// The column whose place in the statement of an object a value is for, to which `path` leads in a document of those values.
    pub(super) fn placed_in(&self, object: u64, path: &Path<'_>) -> Option<String> {
        let mut last = path.len().checked_sub(1)?;
        while last > 0 && matches!(path.segment(last), Some(Segment::Key(key)) if Holder::is_of_cell(key)) {
            last -= 1;
        }
        match (path.segment(last)?, last) {
            (Segment::Key(key), 0) => self.named.get(&(object, key.to_owned())).cloned(),
            (Segment::Index(number), 0 | 1) => self.numbered.get(&(object, number)).cloned(),
            _ => None,
        }
    }
}

/// Whether a string, as it is spelled, may be a statement with places for values.
fn may_be_statement(spelled: &[u8]) -> bool {
    spelled.contains(&b' ') && spelled.iter().any(|byte| matches!(byte, b'?' | b'$' | b'%' | b':' | b'@'))
}

/// Whether a member of this name may hold the values for a statement.
pub(super) fn holds_values(name: &str) -> bool {
    VALUES.contains(&plain(name).as_str())
}

/// Whether a value may be for a place that has its member's name.
pub(super) fn may_be_placed(path: &Path<'_>) -> bool {
    let above = path.len().checked_sub(2).and_then(|at| path.segment(at));
    matches!(above, Some(Segment::Key(key)) if holds_values(key))
}

/// What the element of this number is called by the one before it: a flag, or the first of a pair.
fn behind(
    at: DocumentValue<'_>,
    number: usize,
    above: Option<Segment<'_>>,
    command: Option<Command>,
) -> Option<String> {
    let last = number.checked_sub(1)?;
    let name = Decoded::of(element_before(at.doc.get(..at.start)?)?);
    let (name, value) = (name.text(), at.doc.get(at.start..at.end)?);
    if is_flag(name) {
        return (!value.starts_with(b"-")).then(|| name.to_owned());
    }
    let ends = ends_array(at.doc.get(at.end..)?);
    if command.is_some_and(|command| command.gives_password(number, name, ends)) {
        return is_short_value(PASSWORD, value, is_secret).then(|| PASSWORD.to_owned());
    }
    let is_pair = last == 0 && ends;
    let paired = match above {
        _ if command.is_some_and(|command| command.is_value(number)) => true,
        Some(Segment::Index(_)) => is_pair,
        Some(Segment::Key(member)) => last.is_multiple_of(2) && plain(member) == "rawheaders",
        None => false,
    };
    if is_credential_field(name) {
        // In a list of names of fields the next one is of one word.
        let said =
            paired || above.is_none() && is_pair || value.iter().any(|byte| matches!(byte, b' ' | b'='));
        return said.then(|| name.to_owned());
    }
    (paired && is_secret(name) && is_short_value(name, value, is_secret)).then(|| name.to_owned())
}

/// The string that stands before a value, if that is short; both are elements of one array.
fn element_before(before: &[u8]) -> Option<&[u8]> {
    let before = before.strip_suffix(b"\"").unwrap_or(before).trim_ascii_end();
    let text = before.strip_suffix(b",")?.trim_ascii_end().strip_suffix(b"\"")?;
    let near = text.get(text.len().saturating_sub(NAME)..)?;
    let start = near.iter().rposition(|&byte| byte == b'"')?;
    near.get(start + 1..)
}

/// Whether the array ends behind the value that ends there.
pub(super) fn ends_array(behind: &[u8]) -> bool {
    let behind = behind.strip_prefix(b"\"").unwrap_or(behind);
    behind.trim_ascii_start().first() == Some(&b']')
}

/// Whether an element is a flag, whose value is the next one.
fn is_flag(text: &str) -> bool {
    let name = text.trim_start_matches('-');
    let signs = text.len() - name.len();
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let word = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    // One sign stands before a single letter.
    begins && word && (signs == 2 || signs == 1 && name.len() > 2)
}

fn is_secret(name: &str) -> bool {
    Label::of([name]).is_some_and(|label| label.is_secret())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::json::{JsonToken, walk};

    /// What the value `V1` of a document is called.
    fn named(doc: &str) -> Option<String> {
        let (mut pairs, mut named) = (Pairs::default(), None);
        for asks in [false, true] {
            walk(doc.as_bytes(), &mut |path, leaf| {
                let at = DocumentValue::new(doc.as_bytes(), path, &leaf.span);
                if asks && doc.get(leaf.span.clone()) == Some("V1") {
                    named = pairs.of(at);
                } else if !asks && leaf.token == JsonToken::Text {
                    pairs.follow(path, doc.as_bytes(), &leaf.span);
                }
            })
            .unwrap();
        }
        named
    }

    #[test]
    fn columns_of_statements_take_no_more_than_their_places() {
        let follow = |doc: &str| {
            let mut pairs = Pairs::default();
            walk(doc.as_bytes(), &mut |path, leaf| {
                if leaf.token == JsonToken::Text {
                    pairs.follow(path, doc.as_bytes(), &leaf.span);
                }
            })
            .unwrap();
            pairs
        };
        let far = follow(r#"{"sql":"SELECT 1 FROM u WHERE a = $256"}"#);
        assert_eq!(far.numbered.values().collect::<Vec<_>>(), ["a"]);
        for places in ["a = $1 OR b = $2", "a = :a OR b = :b"] {
            let statement = format!("SELECT 1 FROM u WHERE {places}");
            let object = serde_json::json!({ "sql": statement }).to_string();
            let pairs = follow(&format!("[{}]", vec![object; KEPT].join(",")));
            assert_eq!(pairs.numbered.len() + pairs.named.len(), KEPT, "{statement}");
        }
    }

    #[test]
    fn elements_are_called_by_others() {
        for (doc, name) in [
            (r#"{"args":["--user","u","--password","V1"]}"#, Some("--password")),
            (r#"["java","-password","V1"]"#, Some("-password")),
            (r#"["HSET","u1","password","V1"]"#, Some("password")),
            (r#"{"args":["redis-cli","-h","x","-a","V1"]}"#, Some("password")),
            (r#"["AUTH","default","V1"]"#, Some("password")),
            (r#"{"cmd":["ssh","-p","V1"]}"#, None),
            (r#"["HSET","password","user","V1"]"#, None),
            (r#"{"headers":[["X-Api-Key","V1"]]}"#, Some("X-Api-Key")),
            (r#"{"rawHeaders":["Host","x","X-Api-Key","V1"]}"#, Some("X-Api-Key")),
            (r#"{"headers":[["Authorization","V1"]]}"#, Some("Authorization")),
            (r#"["set-cookie","V1"]"#, Some("set-cookie")),
            (r#"{"attributes":["type","password","value","V1"]}"#, Some("password")),
            (r#"{"attributes":["type","p\u0061ssword","value","V1"]}"#, Some("password")),
            (r#"{"attributes":["value","V1","id","x","name","ssn","type","password"]}"#, Some("password")),
            (r#"{"sql":"UPDATE users SET password = $1, ssn = $2","params":["x","V1"]}"#, Some("ssn")),
            (r#"{"params":["V1"],"statement":"INSERT INTO u (ssn) VALUES (?)"}"#, Some("ssn")),
            (
                r#"{"query":"SELECT 1 FROM u WHERE ssn = ?","options":{"parameters":[{"stringValue":"V1"}]}}"#,
                Some("ssn"),
            ),
            (
                r#"{"text":"INSERT INTO u (a, ssn) VALUES (?, ?)","values":[["x","y"],["z","V1"]]}"#,
                Some("ssn"),
            ),
            (
                r#"{"query":"mutation($p: String!) { login(password: $p) }","variables":{"p":"V1"}}"#,
                Some("password"),
            ),
            (r#"{"sql":"SELECT 1 FROM u WHERE ssn = :s","params":{"s":"V1"}}"#, Some("ssn")),
            // Lists for one place, and statements that begin an array.
            (r#"{"sql":"SELECT 1 FROM u WHERE ssn = ANY($1)","params":[["x","V1"]]}"#, Some("ssn")),
            (r#"{"sql":"SELECT 1 FROM u WHERE ssn IN (:s)","params":{"s":["x","V1"]}}"#, Some("ssn")),
            (r#"{"sql":"SELECT 1 FROM u WHERE ssn = $1 LIMIT $2","params":[["x","V1"]]}"#, None),
            (r#"["UPDATE u SET password=$1, a=$2",["V1","x"]]"#, Some("password")),
            (r#"{"query":["SELECT 1 FROM u WHERE a=? AND ssn=?","x","V1"]}"#, Some("ssn")),
            (r#"["SELECT 1 FROM u WHERE ssn=$1","V1"]"#, Some("ssn")),
            (r#"["Which one = $1 of these?","V1"]"#, None),
            (r#"{"query":"{ user(id: $i) { id } }","variables":{"p":"V1"}}"#, None),
            (r#"["--password=x","V1"]"#, None),
            (r#"["-p","V1"]"#, None),
            (r#"{"allowedHeaders":["Authorization","V1"]}"#, None),
            (r#"["Authorization","V1","Accept"]"#, None),
            (r#"{"required":["password","V1"]}"#, None),
            (r#"[["password","V1","email"]]"#, None),
            (r#"[["Content-Type","V1"]]"#, None),
            (r#"{"query":"What is my SSN = ?","params":["V1"]}"#, None),
            (r#"{"sql":"SELECT 1 FROM u WHERE ssn = ?","columns":["V1"]}"#, None),
        ] {
            assert_eq!(named(doc).as_deref(), name, "{doc}");
        }
    }
}
