//! What the values of a document are called: the names of members on the way to them are context.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::detect::{Label, as_read};
use crate::redact::associated_names::AssociatedNames;
use crate::redact::document_value::DocumentValue;
use crate::redact::opaque::PathHint;
use crate::redact::questions::Dialogue;
use crate::redact::secret_objects::{KeyLines, SECRET, SecretObjects};
use crate::stream::json::{JsonToken, Path, Segment, walk};

/// Names of a schema's own members: what is under them describes a value and is none.
const ABOUT: &[&str] = &[
    "type",
    "description",
    "title",
    "format",
    "pattern",
    "enum",
    "const",
    "required",
    "items",
    "properties",
    "default",
    "example",
    "examples",
    "$ref",
    "$schema",
    "$id",
    "comment",
    "$comment",
];

/// The most names that are remembered.
const MANY: usize = 1024;

/// What the value at `path` is called: the name of its member, or of its array's, behind the name above and a dot.
/// Empty where there is no name.
pub fn called(path: &Path<'_>) -> String {
    MemberNames::of(path).within("")
}

/// Members that say only how a value is written, and those that may stand around and in them.
const WRAPPERS: &[&str] = &[
    "plain_text",
    "rich_text",
    "#text",
    "#cdata-section",
    "_text",
    "_",
    "$t",
    "$binary",
    "$numberLong",
    "$numberInt",
    "$numberDecimal",
];
const CARRIED: &[&str] = &["text", "content", "title", "base64"];

/// The names of members on the first `length` segments of a way, the last first.
fn keys<'p>(path: &Path<'p>, length: usize) -> impl Iterator<Item = &'p str> + use<'p> {
    let path = *path;
    (0..length).rev().filter_map(move |at| match path.segment(at) {
        Some(Segment::Key(key)) => Some(key),
        _ => None,
    })
}

/// The names of the members that a value lies in.
struct MemberNames<'p> {
    /// That of its own member, or of its array's.
    own: &'p str,
    above: &'p str,
}

impl<'p> MemberNames<'p> {
    fn of(path: &Path<'p>) -> Self {
        let names = || keys(path, path.len());
        let wrapped = names().take_while(|key| CARRIED.contains(key) || WRAPPERS.contains(key)).count();
        let wraps = names().take(wrapped).any(|key| WRAPPERS.contains(&key));
        // Notion has a text's words in an object called so.
        let written = || names().take(2).eq(["content", "text"]);
        let skipped = if wraps || wrapped >= 2 && written() { wrapped } else { 0 };
        let mut left = names().skip(skipped);
        match left.next() {
            Some(own) => Self { own, above: left.next().unwrap_or_default() },
            None => Self { own: names().next().unwrap_or_default(), above: "" },
        }
    }

    /// Both, with a dot between them; `outer` is the name of what the document lies in.
    fn within(&self, outer: &str) -> String {
        let above = if self.above.is_empty() { outer } else { self.above };
        match (above, self.own) {
            (above, "") => above.to_owned(),
            ("", own) => own.to_owned(),
            (_, own) if ABOUT.contains(&own) => own.to_owned(),
            (above, own) => format!("{above}.{own}"),
        }
    }
}

/// What the members are called that hold what is said in a conversation, or a part of it.
const SAID: [&str; 3] = ["content", "text", "message"];

/// Whether a text of a conversation stands at `path`.
fn is_said(path: &Path<'_>) -> bool {
    SAID.contains(&MemberNames::of(path).own)
}

/// What a thing is called whose name is in a member called so.
const NAME: &str = "name";
const THING: &str = "product";

/// Members that only things have, and members of somebody; without what stands between their words.
const OF_THINGS: &[&str] =
    &["apiversion", "hex", "mimetype", "packagename", "parentspanid", "rgb", "sku", "spanid", "traceid"];
const OF_PERSONS: &[&str] = &[
    "age",
    "avatar",
    "birthdate",
    "birthday",
    "dateofbirth",
    "department",
    "dob",
    "email",
    "firstname",
    "gender",
    "lastname",
    "mail",
    "mobile",
    "phone",
    "surname",
    "username",
];

/// What members are called that hold persons, whatever is said of each.
const PEOPLE: &[&str] = &[
    "assignee",
    "assignees",
    "attendees",
    "author",
    "authors",
    "client",
    "clients",
    "contact",
    "contacts",
    "customer",
    "customers",
    "employee",
    "employees",
    "guests",
    "members",
    "owner",
    "owners",
    "participants",
    "patient",
    "patients",
    "people",
    "person",
    "persons",
    "student",
    "students",
    "user",
    "users",
];

/// What things are of, where a member says of which type they are.
const TYPES: [&str; 2] = ["type", "kind"];
const THING_TYPES: &[&str] = &[
    "app",
    "application",
    "array",
    "boolean",
    "browser",
    "class",
    "color",
    "colour",
    "database",
    "file",
    "folder",
    "font",
    "framework",
    "function",
    "integer",
    "language",
    "library",
    "number",
    "object",
    "package",
    "plugin",
    "server",
    "service",
    "software",
    "span",
    "string",
    "tool",
];

/// The longest member of those lists, in bytes, as it may be spelled; and the most objects that are remembered.
const LONGEST: usize = 16;
const MANY_OBJECTS: usize = 10_000;

/// The objects of a document that say that they are things, by the ways there; `None` while nobody has asked.
#[derive(Debug, Default)]
struct ThingObjects(Option<HashSet<u64>>);

impl ThingObjects {
    /// Another document begins.
    fn clear(&mut self) {
        self.0 = None;
    }

    /// Whether a value is a thing's name.
    fn named(&mut self, at: DocumentValue<'_>) -> bool {
        let Some(object) = at.path.len().checked_sub(1).filter(|_| !at.doc.is_empty()) else { return false };
        let own =
            matches!(at.path.segment(object), Some(Segment::Key(key)) if key.eq_ignore_ascii_case(NAME));
        let of_people = |key: &str| PEOPLE.contains(&member_of(key.as_bytes()).as_str());
        let people = at.path.segments().any(|segment| matches!(segment, Segment::Key(key) if of_people(key)));
        own && !people && self.0.get_or_insert_with(|| things(at.doc)).contains(&at.path.fingerprint(object))
    }
}

/// The objects of a document that are things.
fn things(doc: &[u8]) -> HashSet<u64> {
    let (mut things, mut persons) = (HashSet::new(), HashSet::new());
    // Its faults are told by whoever reads all of it.
    let _faults = walk(doc, &mut |path, leaf| {
        let spelled = doc.get(leaf.span).unwrap_or_default();
        if things.len() + persons.len() >= MANY_OBJECTS {
            return;
        }
        match (leaf.token, path.last()) {
            (JsonToken::Key, _) if spelled.len() <= LONGEST => {
                let member = member_of(spelled);
                let of = |members: &[&str]| members.contains(&member.as_str());
                if of(OF_PERSONS) {
                    persons.insert(path.fingerprint(path.len()));
                } else if of(OF_THINGS) {
                    things.insert(path.fingerprint(path.len()));
                }
            }
            (JsonToken::Text, Some(Segment::Key(key))) if is_of_thing(key, spelled) => {
                things.insert(path.fingerprint(path.len() - 1));
            }
            _ => {}
        }
    });
    things.retain(|object| !persons.contains(object));
    things
}

/// A member's name as the lists have it: in small letters, without what stands between its words.
fn member_of(spelled: &[u8]) -> String {
    let letters = spelled.iter().filter(|byte| byte.is_ascii_alphanumeric());
    letters.map(|byte| char::from(byte.to_ascii_lowercase())).collect()
}

/// Whether a member and its text, as it is spelled, say that the object is a thing: a version, a colour, a type of things.
fn is_of_thing(key: &str, spelled: &[u8]) -> bool {
    let text = std::str::from_utf8(spelled).unwrap_or_default();
    let hex = |digits: &str| {
        matches!(digits.len(), 3 | 4 | 6 | 8) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let colour = || text.strip_prefix('#').is_some_and(hex) || text.starts_with("rgb(");
    let numbered = || text.bytes().any(|byte| byte.is_ascii_digit());
    match key {
        "version" => numbered(),
        "value" | "code" => colour(),
        key => TYPES.contains(&key) && THING_TYPES.contains(&text.to_ascii_lowercase().as_str()),
    }
}

/// The labels of a document's values, each made once.
#[derive(Debug, Default)]
pub(super) struct Labels {
    /// By what [`Labels::ask`] writes.
    known: HashMap<Box<[u8]>, Option<Label>>,
    /// The name of the member that the document is the value of.
    outer: String,
    /// What was asked for last.
    asked: Vec<u8>,
    associated: AssociatedNames,
    secrets: SecretObjects,
    key_lines: KeyLines,
    things: ThingObjects,
    dialogue: Dialogue,
    /// What the elements of a document are called that is an array.
    heads: Arc<[String]>,
}

impl Labels {
    /// The labels of a document that lies in a string there.
    pub(super) fn within(&mut self, at: DocumentValue<'_>) -> Self {
        let associated = self.associated.of(at);
        let own = associated.as_ref().map_or(MemberNames::of(at.path).own, |known| known.name.as_str());
        let outer: &str = if own.is_empty() { &self.outer } else { own };
        let (outer, associated) = (outer.to_owned(), self.associated.within(at));
        Self { outer, associated, ..Self::default() }
    }

    /// Another document begins. It may go on with what the one before has said: messages may be one a line.
    pub(super) fn begin(&mut self) {
        self.associated.clear();
        self.secrets.clear();
        self.key_lines.clear();
        self.things.clear();
    }

    /// The documents to come are rows under these heads, if they are arrays.
    pub(super) fn under(&mut self, heads: Arc<[String]>) {
        self.heads = heads;
    }

    /// The head that a value stands under.
    fn head(&self, path: &Path<'_>) -> Option<&str> {
        let Some(Segment::Index(column)) = path.last().filter(|_| path.len() == 1) else { return None };
        self.heads.get(column).map(String::as_str)
    }

    /// Shows the next text of the document, at its path.
    pub(super) fn follow(&mut self, path: &Path<'_>, text: &str) {
        self.key_lines.follow(path, text);
        if is_said(path) {
            self.dialogue.follow(text);
        }
    }

    /// The label of a value.
    pub(super) fn of(&mut self, at: DocumentValue<'_>) -> Option<&Label> {
        let path = at.path;
        let associated = self.associated.of(at);
        let said = self.dialogue.asked().filter(|_| is_said(path));
        let asked = said.or_else(|| self.head(path)).map(str::to_owned);
        let mut names = MemberNames::of(path);
        if let Some(known) = &associated {
            names.own = &known.name;
            names.above = keys(path, known.within).next().unwrap_or_default();
        } else if let Some(asked) = &asked {
            names.own = asked;
        }
        if associated.is_none() && asked.is_none() && self.things.named(at) {
            names.above = THING;
        }
        if self.secrets.hold(at) || self.key_lines.hold(path) {
            names.own = SECRET;
        }
        self.ask(&names, path.before());
        if !self.known.contains_key(self.asked.as_slice()) {
            if self.known.len() >= MANY {
                self.known.clear();
            }
            let label = Label::of([names.within(&self.outer).as_str()]);
            let label = match path.before() {
                "" => label,
                before => Label::behind(&as_read(before), label),
            };
            self.known.insert(self.asked.as_slice().into(), label);
        }
        self.known.get(self.asked.as_slice())?.as_ref()
    }

    /// Writes down what a label follows from: both names and the text before the value, with a byte between them that no
    /// text has. Values are many and their names few, so asking takes no memory.
    fn ask(&mut self, names: &MemberNames<'_>, before: &str) {
        self.asked.clear();
        for (n, text) in [names.own, names.above, before].into_iter().enumerate() {
            if n > 0 {
                self.asked.push(0xff);
            }
            self.asked.extend_from_slice(text.as_bytes());
        }
    }

    /// What the names on the way to a value say of a string there.
    pub(super) fn named(&mut self, at: DocumentValue<'_>) -> PathHint {
        PathHint::of(at.path, || self.of(at).is_some_and(Label::is_secret))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::fixture::masked;

    /// The label of the value `V1` of a document.
    fn label(doc: &str) -> Option<String> {
        let (mut labels, mut found) = (Labels::default(), None);
        walk(doc.as_bytes(), &mut |path, leaf| {
            if leaf.token == JsonToken::Text && doc.get(leaf.span.clone()) == Some("V1") {
                let at = DocumentValue::new(doc.as_bytes(), path, &leaf.span);
                found = labels.of(at).map(|label| label.text().to_owned());
            }
        })
        .unwrap();
        found
    }

    #[test]
    fn names_of_things_are_told_by_what_stands_beside_them() {
        for doc in [
            r#"{"name":"V1","version":"17.2"}"#,
            r##"{"name":"V1","value":"#8F00FF"}"##,
            r#"{"type":"service","name":"V1"}"#,
            r#"{"spans":[{"Name":"V1","spanId":"a1"}]}"#,
            r#"{"name":"V1","span_id":"a1","kind":3}"#,
            r#"{"items":[{"sku":"A-1","name":"V1"}]}"#,
        ] {
            assert_eq!(label(doc).as_deref(), Some("product_name:\n"), "{doc}");
        }
        for doc in [
            r#"{"name":"V1"}"#,
            r#"{"name":"V1","version":3}"#,
            r#"{"name":"V1","version":"17.2","email":"a@b.example"}"#,
            r#"{"name":"V1","type":"person"}"#,
            r#"{"name":"V1","value":"red"}"#,
            r#"{"name":"V1","of":{"version":"17.2"}}"#,
            r##"{"name":"V1","color":"#8F00FF"}"##,
        ] {
            assert_eq!(label(doc).as_deref(), Some("name:\n"), "{doc}");
        }
        for doc in [r#"{"customers":[{"name":"V1","version":"3"}]}"#, r#"{"user":{"name":"V1","sku":"x"}}"#] {
            assert_ne!(label(doc).as_deref(), Some("product_name:\n"), "{doc}");
        }
    }

    #[test]
    fn labels_count_against_what_a_value_looks_like() {
        for doc in [
            r#"{"version":"3.0.0.0"}"#,
            r#"{"AssemblyVersion":"13.0.0.0"}"#,
            r#"{"name":"Newtonsoft.Json","version":"13.0.3.1"}"#,
            r#"{"name":"webpages:Version","value":"3.0.0.0"}"#,
            r#"{"build":"1.2.3.4"}"#,
            r#"{"label":"Boarding pass","value":"Group2"}"#,
            r#"{"low_pass":"200Hz"}"#,
            r#"{"password":"min:8|max:64"}"#,
            r#"{"password":"8–16 Zeichen"}"#,
            r#"{"password":"Passwort*"}"#,
            r##"{"name":"Violet","value":"#8F00FF"}"##,
        ] {
            assert_eq!(masked(doc), doc);
        }
        for doc in [
            r#"{"ip":"34.117.59.81"}"#,
            r#"{"version":{"ip":"34.117.59.81"}}"#,
            r#"{"acme_pass":"hunter2Zq9"}"#,
            r#"{"name":"Violet"}"#,
        ] {
            assert_ne!(masked(doc), doc);
        }
    }
}
