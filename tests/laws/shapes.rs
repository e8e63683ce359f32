//! Answers of every protocol as `tests/protocols` has them: made from texts, and read back.
//!
//! A file is one protocol: its events in order, in which strings stand for texts. `{T}`, `{A}` and `{H}` are a text, the
//! arguments of a call (JSON) and a thought, complete; `{O}` the arguments as a value. `<T>`, `<A>` and `<H>` are a piece
//! of one: each such event is a channel, and those of one step take turns. `#` is the number of the event, and what stands
//! below `?` repeats a text and may become anything. Behind a `closing` event no text comes of channels before it.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// Where the files are.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/protocols")
}

/// How documents become a body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    Events,
    Lines,
    Array,
}

/// One event of a stream.
enum Step {
    /// As it is.
    Fixed { event: Value, closing: bool },
    /// Channels, a template each.
    Pieces(Vec<Value>),
}

/// An answer of one protocol.
pub(crate) struct Shape {
    pub(crate) name: String,
    pub(crate) path: String,
    pub(crate) framing: Framing,
    named: Option<Value>,
    end: Option<String>,
    line_end: &'static str,
    steps: Vec<Step>,
    pub(crate) whole: Option<Value>,
}

/// What the placeholders stand for.
#[derive(Clone, Debug)]
pub(crate) struct Texts {
    pub(crate) text: String,
    pub(crate) arguments: String,
    pub(crate) thought: String,
}

impl Texts {
    fn of(&self, name: &str) -> Option<&str> {
        match name {
            "T" => Some(&self.text),
            "A" => Some(&self.arguments),
            "H" => Some(&self.thought),
            _ => None,
        }
    }

    fn complete(&self, text: &str) -> Option<Value> {
        let name = text.strip_prefix('{')?.strip_suffix('}')?;
        match name {
            "O" => Some(serde_json::from_str(&self.arguments).unwrap()),
            name => self.of(name).map(Value::from),
        }
    }
}

impl Shape {
    /// All of them.
    pub(crate) fn all() -> Vec<Self> {
        let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = files.filter(|file| !file.ends_with("texts.json")).collect();
        files.sort();
        files.iter().map(|file| Self::read(file)).collect()
    }

    fn read(file: &Path) -> Self {
        let data: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let text = |name: &str| data.get(name).and_then(Value::as_str).map(str::to_owned);
        let step = |step: &Value| {
            let (kind, what) = step.as_object().unwrap().iter().next().unwrap();
            match kind.as_str() {
                "pieces" => Step::Pieces(what.as_array().unwrap().clone()),
                kind => Step::Fixed { event: what.clone(), closing: kind == "closing" },
            }
        };
        Self {
            name: file.file_stem().unwrap().to_string_lossy().into_owned(),
            path: text("path").unwrap(),
            framing: match text("frame").as_deref() {
                Some("lines") => Framing::Lines,
                Some("array") => Framing::Array,
                _ => Framing::Events,
            },
            named: data.get("named").cloned(),
            end: text("end"),
            line_end: if data.get("crlf").is_some() { "\r\n" } else { "\n" },
            steps: data.get("stream").and_then(Value::as_array).into_iter().flatten().map(step).collect(),
            whole: data.get("whole").cloned(),
        }
    }

    /// Whether it has a stream.
    pub(crate) fn streams(&self) -> bool {
        !self.steps.is_empty()
    }

    /// The stream's body, its channels in pieces of so many characters.
    pub(crate) fn body(&self, texts: &Texts, width: usize) -> Vec<u8> {
        let mut documents = Vec::new();
        for step in &self.steps {
            match step {
                Step::Fixed { event, .. } => documents.push(filled(event, texts, None, documents.len())),
                Step::Pieces(templates) => {
                    let turns = |template| pieces(texts.of(&kind(template)).unwrap(), width);
                    let mut queues: Vec<_> =
                        templates.iter().map(|one| (one, turns(one).into_iter())).collect();
                    while !queues.is_empty() {
                        queues.retain_mut(|(template, pieces)| {
                            let Some(piece) = pieces.next() else { return false };
                            documents.push(filled(template, texts, Some(&piece), documents.len()));
                            true
                        });
                    }
                }
            }
        }
        self.framed(&documents).into_bytes()
    }

    fn framed(&self, documents: &[Value]) -> String {
        let rows: Vec<String> = documents.iter().map(Value::to_string).collect();
        let end = self.line_end;
        match self.framing {
            Framing::Lines => rows.iter().map(|row| format!("{row}\n")).collect(),
            Framing::Array => format!("[{}\n]\n", rows.join(",\r\n")),
            Framing::Events => {
                let name = |document: &Value| match &self.named {
                    Some(Value::String(name)) => format!("event: {name}{end}"),
                    Some(_) => {
                        let kind = document.get("type").or_else(|| document.get("event_type"));
                        let kind = kind.and_then(Value::as_str).unwrap_or_default();
                        format!("event: {kind}{end}")
                    }
                    None => String::new(),
                };
                let event = |(document, row)| format!("{}data: {row}{end}{end}", name(document));
                let mut body: String = documents.iter().zip(&rows).map(event).collect();
                if let Some(last) = &self.end {
                    body.push_str(&format!("data: {last}{end}{end}"));
                }
                body
            }
        }
    }

    /// Holds a stream's body against what it was to become.
    pub(crate) fn check(&self, body: &[u8], sent: &Texts, want: &Texts) {
        let body = std::str::from_utf8(body).unwrap();
        let mut rows = self.rows(body);
        if self.end.is_some() {
            assert_eq!(rows.pop(), self.end.clone(), "{}: the last event", self.name);
        }
        let groups = self.steps.iter().filter_map(|step| match step {
            Step::Pieces(templates) => Some(templates),
            Step::Fixed { .. } => None,
        });
        let templates: Vec<&Value> = groups.flatten().collect();
        let mut channels = vec![String::new(); templates.len()];
        let mut begun = 0;
        let mut steps = self.steps.iter();
        for (number, row) in rows.iter().enumerate() {
            let document: Value = serde_json::from_str(row).unwrap_or_else(|error| panic!("{error}: {row}"));
            if let Some(at) = document.get("sequence_number") {
                assert_eq!(at, &Value::from(number), "{}: numbers have no gaps", self.name);
            }
            if let Some((at, text)) = channel(&templates, &document) {
                channels[at].push_str(&text);
                continue;
            }
            let (event, closing) = loop {
                match steps.next() {
                    Some(Step::Fixed { event, closing }) => break (event, *closing),
                    Some(Step::Pieces(templates)) => begun += templates.len(),
                    None => panic!("{}: nobody sent {row}", self.name),
                }
            };
            let expected = filled(event, want, None, number);
            if filled(event, sent, None, number) == expected {
                assert_eq!(row, &expected.to_string(), "{}: it stays byte for byte", self.name);
            } else {
                same(&document, &expected, &self.name);
            }
            if closing {
                self.complete(&templates, &channels[..begun], want);
            }
        }
        let left = steps.any(|step| matches!(step, Step::Fixed { .. }));
        assert!(!left, "{}: events are missing", self.name);
        self.complete(&templates, &channels, want);
    }

    fn complete(&self, templates: &[&Value], channels: &[String], want: &Texts) {
        for (template, text) in templates.iter().zip(channels) {
            let want = want.of(&kind(template)).unwrap();
            same_text(text, want, &format!("{}: {template}", self.name));
        }
    }

    /// Documents of a body, without what frames them.
    fn rows(&self, body: &str) -> Vec<String> {
        match self.framing {
            Framing::Lines => body.lines().map(str::to_owned).collect(),
            Framing::Array => {
                let rows: Vec<Box<serde_json::value::RawValue>> = serde_json::from_str(body).unwrap();
                rows.iter().map(|row| row.get().to_owned()).collect()
            }
            Framing::Events => {
                assert!(body.ends_with(&self.line_end.repeat(2)), "{}: a whole event ends it", self.name);
                let lines = body.split(self.line_end);
                lines.filter_map(|line| line.strip_prefix("data: ")).map(str::to_owned).collect()
            }
        }
    }
}

/// The kind of text of which a template takes pieces.
fn kind(template: &Value) -> String {
    match template {
        Value::String(text) => piece_of(text).map(str::to_owned).unwrap_or_default(),
        Value::Array(items) => items.iter().map(kind).find(|kind| !kind.is_empty()).unwrap_or_default(),
        Value::Object(members) => members
            .iter()
            .filter(|(_, item)| wildcard(item).is_none())
            .map(|(_, item)| kind(item))
            .find(|kind| !kind.is_empty())
            .unwrap_or_default(),
        _ => String::new(),
    }
}

fn piece_of(text: &str) -> Option<&str> {
    text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).filter(|name| name.len() == 1)
}

/// What stands below `?`.
fn wildcard(value: &Value) -> Option<&Value> {
    value.as_object().filter(|members| members.len() == 1).and_then(|members| members.get("?"))
}

fn pieces(text: &str, width: usize) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(width).map(|piece| piece.iter().collect()).collect()
}

/// A template with its texts in it.
pub(crate) fn filled(template: &Value, texts: &Texts, piece: Option<&str>, number: usize) -> Value {
    let below = |item: &Value| filled(item, texts, piece, number);
    match template {
        Value::String(text) if text == "#" => Value::from(number),
        Value::String(text) => match piece.filter(|_| piece_of(text).is_some()) {
            Some(piece) => Value::from(piece),
            None => texts.complete(text).unwrap_or_else(|| template.clone()),
        },
        Value::Array(items) => items.iter().map(below).collect(),
        Value::Object(members) => match wildcard(template) {
            Some(within) => below(within),
            None => {
                members.iter().map(|(key, item)| (key.clone(), below(item))).collect::<Map<_, _>>().into()
            }
        },
        other => other.clone(),
    }
}

/// The channel that a document brings text of, and the text: that whose template has least that it has not.
fn channel(templates: &[&Value], document: &Value) -> Option<(usize, String)> {
    let fitting = templates.iter().enumerate().filter_map(|(at, template)| {
        let mut text = None;
        let missing = fits(template, document, &mut text)?;
        Some((missing, at, text?))
    });
    fitting.min_by_key(|(missing, ..)| *missing).map(|(_, at, text)| (at, text))
}

/// How many members a document lacks of a template that it fits. A document that was added is a clone without what lay
/// beside the text.
fn fits(template: &Value, document: &Value, text: &mut Option<String>) -> Option<usize> {
    match (template, document) {
        _ if wildcard(template).is_some() => Some(0),
        (Value::String(wanted), Value::Number(_)) if wanted == "#" => Some(0),
        (Value::String(wanted), Value::String(there)) if piece_of(wanted).is_some() => {
            *text = Some(there.clone());
            Some(0)
        }
        (Value::Array(wanted), Value::Array(there)) if wanted.len() == there.len() => {
            let each = wanted.iter().zip(there).map(|(wanted, there)| fits(wanted, there, text));
            each.sum()
        }
        (Value::Object(wanted), Value::Object(there)) => {
            let each = there.iter().map(|(key, item)| fits(wanted.get(key)?, item, text));
            let missing: Option<usize> = each.sum();
            missing.map(|missing| missing + wanted.len() - there.len())
        }
        (wanted, there) => (wanted == there).then_some(0),
    }
}

/// Texts are the same, or JSON that says the same.
fn same_text(there: &str, want: &str, place: &str) {
    match serde_json::from_str::<Value>(want) {
        Ok(want) => assert_eq!(serde_json::from_str::<Value>(there).ok(), Some(want), "{place}: {there}"),
        Err(_) => assert_eq!(there, want, "{place}"),
    }
}

/// Documents are the same; texts in them as [`same_text`] says.
pub(crate) fn same(there: &Value, want: &Value, place: &str) {
    match (there, want) {
        (Value::String(there), Value::String(want)) => same_text(there, want, place),
        (Value::Array(there), Value::Array(want)) if there.len() == want.len() => {
            there.iter().zip(want).for_each(|(there, want)| same(there, want, place));
        }
        (Value::Object(there), Value::Object(want)) if there.keys().eq(want.keys()) => {
            for (key, item) in there {
                same(item, &want[key], &format!("{place}.{key}"));
            }
        }
        (there, want) => assert_eq!(there, want, "{place}"),
    }
}
