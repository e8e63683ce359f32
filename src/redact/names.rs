//! What the values of a document are called: the names of members on the way to them are context.

use std::collections::HashMap;
use std::sync::Arc;

use crate::detect::{Label, as_read};
use crate::redact::associated_names::AssociatedNames;
use crate::redact::document_value::DocumentValue;
use crate::redact::opaque::PathHint;
use crate::redact::questions::Dialogue;
use crate::redact::secret_objects::{KeyLines, SECRET, SecretObjects};
use crate::stream::json::{Path, Segment};

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
