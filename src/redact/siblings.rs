//! [`SiblingNames`]: names that stand beside their values, `{"name": "DB_PASSWORD", "value": "…"}`, as lists of settings, of
//! headers, of form fields and of identifiers have them. Either may lie in an object of its own: `{"key": "ssn", "value":
//! {"stringValue": "…"}}`, `{"label": {"text": "Password"}, "element": {"initial_value": "…"}}`.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use memchr::memmem;

use crate::detect::Label;
use crate::redact::document_value::DocumentValue;
use crate::redact::members::{
    Holder, NameRank, inner_rank, is_credential_field, is_form, is_short_value, of_code,
};
use crate::redact::name_place::NamePlace;
use crate::redact::pairs::ends_array;
use crate::stream::json::{Decoded, Path, Segment};

/// The longest name, in bytes as it is spelled.
const NAME: usize = 256;
/// Through how many objects a value is led out to its name, and how deep a name lies in its own.
const OUT: usize = 4;
const IN: usize = 4;
/// What members are called that hold the attributes of an element of XML: what those say, the element says too.
const ATTRIBUTES: [&str; 7] = ["$", "@", "_attr", "_attributes", "@attributes", "attributes", "attrib"];
/// How many arrays a value lies in that is one of several, and a name that is the only one.
const ARRAYS: usize = 2;

/// What the system of codes has in its name whose codes stand for names (HL7 v2 table 0203), and what lists of what they name are
/// called (FHIR).
const SYSTEM: &str = "0203";
const IDENTIFIERS: [&str; 2] = ["identifier", "identifiers"];

/// What the objects of a document say of the values in them, by the ways there.
#[derive(Debug, Default)]
pub(super) struct SiblingNames {
    names: HashMap<u64, ObjectName>,
    /// By what things are found, in objects that say so.
    finders: HashMap<u64, NamePlace>,
    /// Where codes begin that may stand for names, each with the way to its object; and the objects whose system has such codes.
    codes: HashMap<usize, u64>,
    coded: HashSet<u64>,
}

/// What an object says.
#[derive(Clone, Copy, Debug, Default)]
struct ObjectName {
    /// Where the name stands that says the most.
    place: NamePlace,
    /// How much its member says; `None` where there is no name.
    rank: Option<NameRank>,
    /// How deep it lies.
    deep: u8,
    /// Whether somebody says what is in the object: then a name is the speaker's.
    spoken: bool,
    /// Whether it says by what a thing is found.
    finds: bool,
    /// Whether it is an element of XML, whose name says less than an attribute that is called so.
    element: bool,
}

/// What a value is called by a member beside it.
#[derive(Debug)]
pub(super) struct SiblingName {
    /// The name.
    pub(super) name: String,
    /// How many segments lead to the object that says it.
    pub(super) object: usize,
    /// Whether it is that value's own, and no name of a list or a kind.
    pub(super) firm: bool,
}

impl SiblingNames {
    /// Shows the next string of the document.
    pub(super) fn follow(&mut self, path: &Path<'_>, doc: &[u8], span: &Range<usize>) {
        let Some(mut last) = path.len().checked_sub(1) else { return };
        let only = ends_array(doc.get(span.end..).unwrap_or_default());
        for _ in 0..ARRAYS {
            if only && last > 0 && path.segment(last) == Some(Segment::Index(0)) {
                last -= 1;
            }
        }
        let Some(Segment::Key(own)) = path.segment(last) else { return };
        let object = path.fingerprint(last);
        let text = doc.get(span.clone()).unwrap_or_default();
        match own {
            "role" => self.at(object).spoken = true,
            "type" if text == b"element" => self.at(object).element = true,
            "by" | "using" | "strategy" => self.at(object).finds = true,
            "system" if memmem::find(text, SYSTEM.as_bytes()).is_some() => {
                self.coded.insert(object);
            }
            "value" | "selector" if self.names.get(&object).is_some_and(|object| object.finds) => {
                self.finders.extend(NamePlace::of(span).map(|place| (object, place)));
            }
            _ => {}
        }
        if text.len() > NAME || !text.iter().any(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii()) {
            return;
        }
        self.code(path, object, text, span.start);
        if let Some(rank) = NameRank::of(own).filter(|rank| rank.is_name() || !is_form(text)) {
            self.keep(object, rank.saying(text), 0, span);
            let around = last.checked_sub(1).filter(|at| is_of_attributes(path.segment(*at)));
            if let Some(element) = around.map(|at| path.fingerprint(at)) {
                let known = self.at(element);
                if known.element && rank.is_name() {
                    (known.element, known.rank) = (false, None);
                }
                self.keep(element, rank.saying(text), 1, span);
            }
        }
        let Some(inner) = inner_rank(own) else { return };
        for at in (last.saturating_sub(IN)..last).rev() {
            match path.segment(at) {
                Some(Segment::Index(0)) => {}
                Some(Segment::Key(key)) => {
                    if let Some(rank) = NameRank::of_object(key) {
                        return self.keep(path.fingerprint(at), rank.saying(text), inner + 1, span);
                    }
                    if inner_rank(key).is_none() {
                        return;
                    }
                }
                _ => return,
            }
        }
    }

    /// What a value is called by a member beside it, or beside what it lies in.
    pub(super) fn of(&self, at: DocumentValue<'_>) -> Option<SiblingName> {
        let (mut length, mut holder, mut listed) = (at.path.len(), Holder::Value, false);
        let (segment, mut kind) = (|length: usize| at.path.segment(length), None);
        for out in 0..OUT {
            for _ in 0..ARRAYS {
                if matches!(length.checked_sub(1).and_then(segment), Some(Segment::Index(_))) {
                    (length, listed) = (length - 1, true);
                }
            }
            let Some(Segment::Key(key)) = length.checked_sub(1).and_then(segment) else { break };
            // An element holds values in objects of their own.
            let held = Holder::of(key).filter(|held| *held != Holder::Element || out > 0);
            let Some(held) = held else { break };
            length -= 1;
            holder = if held == Holder::Value { holder } else { held };
            let way = at.path.fingerprint(length);
            if let Some((name, firm)) = self.said(way, at, holder, listed && out == 0) {
                let said = SiblingName { name, object: length, firm: firm && !listed };
                if firm {
                    return Some(said);
                }
                // What kind of value it is says less than a name further out.
                kind.get_or_insert(said);
            }
        }
        kind
    }

    /// Keeps a code of an object that may stand for a name, to which `path` leads.
    fn code(&mut self, path: &Path<'_>, object: u64, text: &[u8], start: usize) {
        if std::str::from_utf8(text).ok().and_then(of_code).is_none() {
            return;
        }
        self.codes.insert(start, object);
        let mut segments = path.segments();
        if segments.any(|segment| matches!(segment, Segment::Key(key) if IDENTIFIERS.contains(&key))) {
            self.coded.insert(object);
        }
    }

    /// What a name at a place stands for, if it is a code.
    fn meant(&self, place: NamePlace, name: &str) -> Option<&'static str> {
        let object = self.codes.get(&place.start())?;
        of_code(name).filter(|_| self.coded.contains(object))
    }

    fn at(&mut self, way: u64) -> &mut ObjectName {
        self.names.entry(way).or_default()
    }

    fn keep(&mut self, way: u64, rank: NameRank, deep: u8, span: &Range<usize>) {
        let Some(place) = NamePlace::of(span) else { return };
        let known = self.at(way);
        if known.rank.is_none_or(|best| (rank, deep) < (best, known.deep)) {
            *known = ObjectName { place, rank: Some(rank), deep, ..*known };
        }
    }

    /// What an object calls the value at `at` that it holds so, in a list of its own or not, and whether that is a name.
    fn said(&self, way: u64, at: DocumentValue<'_>, holder: Holder, listed: bool) -> Option<(String, bool)> {
        let object = self.names.get(&way).filter(|object| !object.spoken || holder == Holder::Value)?;
        let finder = self.finders.get(&way).filter(|_| holder != Holder::Value);
        let rank = object.rank.filter(|rank| finder.is_none() && rank.names(holder, listed));
        let place =
            finder.copied().or(rank.map(|_| object.place)).filter(|place| place.start() != at.start)?;
        let decoded = Decoded::of(place.text(at.doc)?);
        let said = match (self.meant(place, decoded.text()), rank) {
            (Some(name), _) => name,
            // A code of anything else.
            (None, Some(rank)) if !rank.is_name() && of_code(decoded.text()).is_some() => return None,
            (None, _) => decoded.text(),
        };
        let name = rank.map_or(said, |rank| rank.subject(said));
        let is_secret = |name: &str| Label::of([name]).is_some_and(|label| label.is_secret());
        let value = at.doc.get(at.start..at.end).unwrap_or_default();
        let fits =
            holder == Holder::Value || is_credential_field(name) || is_short_value(name, value, is_secret);
        fits.then(|| (name.to_owned(), rank.is_none_or(NameRank::is_name)))
    }
}

/// Whether a segment leads to the attributes of an element.
fn is_of_attributes(segment: Option<Segment<'_>>) -> bool {
    matches!(segment, Some(Segment::Key(key)) if ATTRIBUTES.contains(&key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::json::{JsonToken, walk};

    /// What the value `V1` of a document is called.
    fn named(doc: &str) -> Option<String> {
        let (mut names, mut named) = (SiblingNames::default(), None);
        for asks in [false, true] {
            walk(doc.as_bytes(), &mut |path, leaf| {
                let at = DocumentValue::new(doc.as_bytes(), path, &leaf.span);
                if asks && doc.get(leaf.span.clone()) == Some("V1") {
                    named = names.of(at).map(|said| said.name);
                } else if !asks && leaf.token == JsonToken::Text {
                    names.follow(path, doc.as_bytes(), &leaf.span);
                }
            })
            .unwrap();
        }
        named
    }

    #[test]
    fn values_are_called_by_what_stands_beside_them() {
        let cases = [
            (r#"{"name":"DB_PASSWORD","value":"V1"}"#, Some("DB_PASSWORD")),
            (r#"{ "value" : "V1" , "name" : "DB_PASSWORD" }"#, Some("DB_PASSWORD")),
            (r#"{"ParameterKey":"DBPassword","ParameterValue":"V1"}"#, Some("DBPassword")),
            ("{\n  \"key\": \"api_key\",\n  \"enabled\": true,\n  \"value\": \"V1\"\n}", Some("api_key")),
            (r#"{"type":"default","key":"token","value":"V1"}"#, Some("token")),
            (
                r#"{"system":"https://fhir.nhs.uk/Id/nhs-number","value":"V1"}"#,
                Some("https://fhir.nhs.uk/Id/nhs-number"),
            ),
            (r#"{"question":"Your \"SSN\"?","answer":"V1"}"#, Some("Your \"SSN\"?")),
            (r#"{"label":"a\\","value":"V1"}"#, Some("a\\")),
            (r#"{"name":"ssn","of":[1],"value":"V1"}"#, Some("ssn")),
            (r#"{"name":"field_7","label":"SSN","type":"text","value":"V1"}"#, Some("SSN")),
            (r#"{"name":"field_7","type":"text","value":"V1"}"#, Some("field_7")),
            // Members that may hold anything.
            (r#"{"label":"Password","text":"V1"}"#, Some("Password")),
            (r#"{"element":"Password field","ref":"e12","text":"V1"}"#, Some("Password")),
            (r##"{"selector":"#password","value":"V1"}"##, Some("#password")),
            (r#"{"by":"id","value":"password","text":"V1"}"#, Some("password")),
            (
                r#"{"field":"password","fieldtype":"custom","fromString":"x","toString":"V1"}"#,
                Some("password"),
            ),
            (r#"{"name":"ssn","datatype":"BYTES","data":["V1"]}"#, Some("ssn")),
            (r#"{"id":"ssn","values":[["V1"]]}"#, Some("ssn")),
            // Elements of XML.
            (r#"{"$":{"name":"ssn"},"_":"V1"}"#, Some("ssn")),
            (r#"{"_attributes":{"name":"ssn","value":"V1"}}"#, Some("ssn")),
            (r#"{"name":"ssn","_attributes":{"name":"x"},"_text":"V1"}"#, Some("ssn")),
            (
                r#"{"type":"element","name":"property","attributes":{"name":"ssn","type":"x"},"elements":[{"type":"text","text":"V1"}]}"#,
                Some("ssn"),
            ),
            (r#"{"tagName":"ssn","children":[{"type":"text","value":"V1"}]}"#, Some("ssn")),
            // Lists of one, and names of ids.
            (r#"{"name":["ssn"],"value":["V1"]}"#, Some("ssn")),
            (r##"{"type":"change","value":"V1","selectors":[["aria/SSN"],["#ssn"]]}"##, Some("aria/SSN")),
            (r#"{"type":"plain_text_input","action_id":"ssn","value":"V1"}"#, Some("ssn")),
            (r#"{"user_id":"x","type":"ssn","value":"V1"}"#, Some("ssn")),
            (r#"{"key":{"S":"ssn"},"value":{"S":"V1"}}"#, Some("ssn")),
            (r#"{"key":{"stringValue":"ssn"},"value":{"stringValue":"V1"}}"#, Some("ssn")),
            (r#"{"name":["x","ssn"],"value":["V1"]}"#, None),
            (r#"{"label":"ssn","children":[{"text":"V1"}]}"#, None),
            (r#"{"name":"ssn","children":"V1"}"#, None),
            (r#"{"type":"text","value":"V1"}"#, None),
            (r#"{"settings":{"name":"ssn"},"_":"V1"}"#, None),
            (r#"{"type":"text","text":"V1"}"#, None),
            (r#"{"role":"user","name":"password","content":"V1"}"#, None),
            (r#"{"name":"password","description":"V1"}"#, None),
            (r#"{"path":"/password","from":"V1"}"#, None),
            (r#"{"title":"A long title that says of a password.","text":"V1"}"#, None),
            (r#"{"name":{"en":"ssn"},"value":"V1"}"#, None),
            (r#"{"value":"V1"}"#, None),
            (r#"[{"name":"ssn"},{"value":"V1"}]"#, None),
            (r#"{"id":12,"value":"V1"}"#, None),
            (r#"["name","ssn","value","V1"]"#, None),
        ];
        for (doc, name) in cases {
            assert_eq!(named(doc).as_deref(), name, "{doc}");
        }
        let long = format!(r#"{{"name":"{}","value":"V1"}}"#, "a".repeat(NAME + 1));
        assert_eq!(named(&long), None);
    }

    #[test]
    fn values_and_their_names_stand_in_objects_of_their_own() {
        let cases = [
            (r#"{"key":"ssn","value":{"stringValue":"V1"}}"#, Some("ssn")),
            (r#"{"key":"ssn","value":{"arrayValue":{"values":[{"stringValue":"V1"}]}}}"#, Some("ssn")),
            (r##"{"Key":"Password","Value":{"#text":"V1"}}"##, Some("Password")),
            (
                r#"{"label":{"type":"plain_text","text":"Password"},"element":{"type":"plain_text_input","initial_value":"V1"}}"#,
                Some("Password"),
            ),
            (r#"{"type":{"text":"SSN"},"value":"V1"}"#, Some("SSN")),
            (
                r#"{"type":{"coding":[{"system":"http://hl7.org/v2-0203","code":"SS"}]},"value":"V1"}"#,
                Some("ssn"),
            ),
            (r#"{"type":{"coding":[{"code":"SS","system":"urn:v2-0203"}]},"value":"V1"}"#, Some("ssn")),
            (r#"{"identifier":[{"type":{"coding":[{"code":"MR"}]},"value":"V1"}]}"#, Some("mrn")),
            (r#"{"type":{"coding":[{"system":"urn:units","code":"MR"}]},"value":"V1"}"#, None),
            (r#"{"code":"DL","value":"V1"}"#, None),
            (r#"{"name":"MR","values":["V1"]}"#, Some("MR")),
            (r#"{"key":{"text":"Password:"},"value":{"text":"V1"}}"#, Some("Password:")),
            (r#"{"id":"text","column":{"title":"Password"},"text":"V1"}"#, Some("Password")),
            (r#"{"field":{"ref":"password"},"type":"text","text":"V1"}"#, Some("password")),
        ];
        for (doc, name) in cases {
            assert_eq!(named(doc).as_deref(), name, "{doc}");
        }
    }
}
