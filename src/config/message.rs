//! What serde says about a file, in the file's own words and without the values that it likes to quote.

use toml::de::Error;

use crate::config::similar;

/// A deserializer's error, understood.
pub(crate) struct SerdeMessage {
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// The key whose absence is the error.
    pub(crate) missing: Option<String>,
    /// The key that was probably meant by one that is unknown.
    pub(crate) meant: Option<String>,
}

impl SerdeMessage {
    fn new(message: impl Into<String>, hint: Option<String>) -> Self {
        Self { message: message.into(), hint, missing: None, meant: None }
    }
}

/// What serde calls what it found (the quoted value follows) and what TOML calls it.
const FOUND: &[(&str, &str)] = &[
    ("string", "a string"),
    ("integer", "an integer"),
    ("floating point", "a float"),
    ("boolean", "a boolean"),
    ("sequence", "an array"),
    ("map", "a table"),
];

/// What serde calls what it expected and what the file's reader calls it.
const EXPECTED: &[(&str, &str)] = &[
    ("struct ", "a table"),
    ("a map", "a table"),
    ("a sequence", "an array"),
    ("socket address", "an address such as \"127.0.0.1:8080\""),
    ("path string", "a path"),
    ("a nonzero u32", "a whole number from 1 to 4294967295"),
    ("u16", "a whole number from 0 to 65535"),
    ("string or table", "a string"),
];

/// Whole messages that say too little here.
const PLAIN: &[(&str, &str)] = &[
    (
        "invalid socket address syntax",
        "not an address, write IP and port such as \"127.0.0.1:8080\" or \"[::1]:8080\"",
    ),
    ("wanted string or table", "expected a string"),
    ("wanted exactly 1 element", "expected a string, found a table"),
];

type MessageParser = fn(&str) -> SerdeMessage;

/// How serde's messages begin, and what reads the rest.
const READERS: &[(&str, MessageParser)] = &[
    ("missing field ", missing),
    ("unknown field ", unknown_key),
    ("unknown variant ", unknown_value),
    ("invalid type: ", unexpected),
    ("invalid value: ", unexpected),
];

/// Reads what the deserializer says.
pub(crate) fn said(error: &Error) -> SerdeMessage {
    let message = error.message();
    let known = READERS.iter().find_map(|(start, read)| message.strip_prefix(start).map(read));
    known.unwrap_or_else(|| {
        let plain = PLAIN.iter().find(|(start, _)| message.starts_with(start));
        SerdeMessage::new(plain.map_or(message, |(_, instead)| instead), None)
    })
}

/// The words between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn missing(rest: &str) -> SerdeMessage {
    let key = quoted(rest).next().unwrap_or_default();
    SerdeMessage { missing: Some(key.to_owned()), ..SerdeMessage::new(format!("`{key}` is missing"), None) }
}

fn unknown_key(rest: &str) -> SerdeMessage {
    let (key, known) = rest.rsplit_once(", expected ").unwrap_or((rest, ""));
    let key = key.trim_matches('`');
    let known: Vec<&str> = quoted(known).collect();
    let meant = similar::closest(key, known.iter().copied()).map(str::to_owned);
    let hint = match &meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("known here: {}", known.join(", ")),
    };
    SerdeMessage { meant, ..SerdeMessage::new(format!("unknown key `{key}`"), Some(hint)) }
}

fn unknown_value(rest: &str) -> SerdeMessage {
    let (value, known) = rest.rsplit_once(", expected ").unwrap_or((rest, ""));
    let value = value.trim_matches('`');
    let known: Vec<&str> = quoted(known).collect();
    let hint = similar::did_you_mean(value, known.iter().copied());
    SerdeMessage::new(format!("expected {}", alternatives(&known)), hint)
}

/// `"a"`, `"a" or "b"`, `"a", "b" or "c"`.
fn alternatives(words: &[&str]) -> String {
    let mut words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    let last = words.pop().unwrap_or_default();
    if words.is_empty() { last } else { format!("{} or {last}", words.join(", ")) }
}

fn unexpected(rest: &str) -> SerdeMessage {
    // From the right: what was found may quote anything.
    let (found, expected) = rest.rsplit_once(", expected ").unwrap_or(("", rest));
    let expected =
        EXPECTED.iter().find(|(theirs, _)| expected.starts_with(theirs)).map_or(expected, |(_, ours)| ours);
    let found = FOUND.iter().find(|(theirs, _)| found.starts_with(theirs));
    SerdeMessage::new(
        match found {
            Some((_, found)) => format!("expected {expected}, found {found}"),
            None => format!("expected {expected}"),
        },
        None,
    )
}
