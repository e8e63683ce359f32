//! Whether a dictionary is an action (ISO 32000-2, 12.6), and one that may stay.

use lopdf::{Dictionary, Document, Object};

use crate::sanitize::format::pdf::graph;
use crate::sanitize::name;

/// Where a dictionary stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Slot {
    /// Anywhere.
    Other,
    /// Where an action is run when somebody asks for it: `/A`, `/PA`, `/Next`, an entry of `/AA`.
    Action,
    /// Where it is run when the file is opened.
    Open,
}

/// What is to become of a dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DictionaryAction {
    /// It is no action, or does no harm.
    Stays,
    /// It stands for an action but is none: it goes, uncounted.
    Void,
    /// It acts.
    Acts,
}

/// The types of actions that go wherever they stand.
const ACTS: &[&[u8]] = &[
    b"JavaScript",
    b"Launch",
    b"SubmitForm",
    b"ResetForm",
    b"ImportData",
    b"GoToR",
    b"GoToE",
    b"GoToDp",
    b"Thread",
    b"Sound",
    b"Movie",
    b"Hide",
    b"SetOCGState",
    b"Rendition",
    b"GoTo3DView",
    b"RichMediaExecute",
];

/// The named actions of the standard; all others are a viewer's menu, up to printing and saving.
const NAMED: &[&[u8]] = &[b"NextPage", b"PrevPage", b"FirstPage", b"LastPage"];

/// The schemes that links may have.
const SCHEMES: &[&str] = &["http", "https", "mailto", "ftp", "tel", "hxxp", "hxxps"];

/// The slot that a value has under this key.
pub(super) fn slot(key: &[u8]) -> Slot {
    match key {
        b"A" | b"PA" | b"Next" => Slot::Action,
        b"OpenAction" => Slot::Open,
        _ => Slot::Other,
    }
}

/// What is to become of a dictionary that stands there.
pub(super) fn verdict(doc: &Document, dict: &Dictionary, slot: Slot) -> DictionaryAction {
    let kind = graph::name(doc, dict, b"S");
    if dict.has(b"JS") {
        return DictionaryAction::Acts;
    }
    if kind == b"URI" && dict.has(b"URI") {
        let opens = slot == Slot::Open || !web(graph::entry(doc, dict, b"URI"));
        return if opens { DictionaryAction::Acts } else { DictionaryAction::Stays };
    }
    // A structure element may be of a type that is called like an action.
    let element = dict.has(b"P") && (dict.has(b"K") || dict.has(b"Pg"));
    match slot {
        Slot::Other if ACTS.contains(&kind) && !element => DictionaryAction::Acts,
        Slot::Other => DictionaryAction::Stays,
        // Attributes of structure elements stand under `/A` too.
        Slot::Action if kind.is_empty() && dict.has(b"O") => DictionaryAction::Stays,
        _ if kind.is_empty() && dict.has(b"D") && !dict.has(b"F") => DictionaryAction::Stays,
        _ if kind.is_empty() => DictionaryAction::Void,
        _ if kind == b"GoTo" => DictionaryAction::Stays,
        Slot::Action if kind == b"Named" && NAMED.contains(&graph::name(doc, dict, b"N")) => {
            DictionaryAction::Stays
        }
        Slot::Open | Slot::Action => DictionaryAction::Acts,
    }
}

/// Whether a link leads to the web, to a mailbox or a telephone, or has no scheme and leads to no program. Blanks and control characters are
/// skipped and case does not count, as with the readers that follow links.
pub(super) fn web(uri: &Object) -> bool {
    let Object::String(bytes, _) = uri else { return false };
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.starts_with(b"\xfe\xff") || bytes.starts_with(b"\xff\xfe") {
        return false;
    }
    let plain: String = bytes
        .iter()
        .filter(|b| (0x21..0x7f).contains(*b))
        .map(|b| char::from(b.to_ascii_lowercase()))
        .collect();
    if plain.starts_with("\\\\") || plain.starts_with("//") {
        return false;
    }
    if name::starts(&plain) {
        return false;
    }
    let Some((scheme, rest)) = plain.split_once(':') else { return true };
    let word = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let scheme_like = scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(word);
    // `host:8080/path` has no scheme, and neither has `page?at=12:30`.
    let port = rest.starts_with(|c: char| c.is_ascii_digit()) && !SCHEMES.contains(&scheme);
    !scheme_like || SCHEMES.contains(&scheme) || (port && scheme.contains('.'))
}
