//! What members of objects are called that hold names, and values that are called by them.

use crate::redact::table::{is_head, subject};
use crate::stream::json::Decoded;

/// What members are called that hold a name, the ones that say the most first: without signs, in lower case. Each with how much
/// it says in an object that is the head of a column, the less, the more; `None` where that is no name there.
const NAMES: &[(&str, Option<u8>)] = &[
    ("name", Some(0)),
    ("key", Some(7)),
    ("label", Some(4)),
    ("field", Some(8)),
    ("fieldname", Some(2)),
    ("attribute", None),
    ("attributename", None),
    ("attr", None),
    ("parameter", None),
    ("parameterkey", None),
    ("parametername", None),
    ("param", None),
    ("property", None),
    ("propertyname", None),
    ("prop", None),
    ("variable", None),
    ("slot", None),
    ("column", None),
    ("columnname", Some(1)),
    ("columnlabel", Some(9)),
    ("header", None),
    ("headername", Some(3)),
    ("k", None),
    ("setting", None),
    ("settingname", None),
    ("configkey", None),
    ("variablename", None),
    ("varname", None),
    ("var", None),
    ("secretname", None),
    ("optionname", None),
    ("fieldlabel", None),
    ("fieldtitle", None),
    ("term", None),
    ("caption", None),
    ("question", None),
    ("prompt", None),
    ("title", Some(6)),
    ("displayname", Some(5)),
    ("element", None),
    ("selector", None),
    ("selectors", None),
    ("locator", None),
    ("arialabel", None),
    ("placeholder", None),
    // In other languages.
    ("feld", None),
    ("champ", None),
    ("campo", None),
    ("veld", None),
    // JSON Patch (RFC 6902), SCIM.
    ("path", None),
    ("id", Some(10)),
    ("target", None),
    ("system", None),
    ("code", None),
    ("type", None),
    ("kind", None),
    ("identifier", None),
    ("uid", None),
    ("ref", None),
    ("tagname", None),
    (ANY_ID, None),
];

/// What stands for all names of ids, such as `field_id`.
const ANY_ID: &str = "anyid";

/// The first of those that name a value only if nothing else does.
const LOOSE: &str = "path";
/// The first of those that say what a value is and not what it is called.
const KINDS: &str = "code";
/// Where the name is an object, what in it says the name; the ones that say the most first.
const INNER: &[&str] =
    &["text", "plaintext", "content", "name", "title", "label", "display", "ref", "code", "coding", "str"];
/// Names that are no objects, for what is in those are values.
const PLAIN_NAMES: &[&str] = &[
    "element",
    "selector",
    "selectors",
    "locator",
    "placeholder",
    "arialabel",
    "system",
    "id",
    "target",
    "path",
    "identifier",
    "uid",
    "ref",
];
/// Names whose end may say only that one writes there.
const CONTROLS: &[&str] = &[
    "label",
    "element",
    "selector",
    "selectors",
    "locator",
    "target",
    "arialabel",
    "placeholder",
    "caption",
    "title",
];
/// Kinds that say how a value is written or shown, and nothing of it.
const FORMS: &[&str] = &[
    "plain_text_input",
    "text_input",
    "short_text",
    "long_text",
    "textbox",
    "text",
    "string",
    "input",
    "element",
];

/// What members are called that hold a value, where that says also something else.
const HOLDERS: &[&str] = &[
    "text",
    "content",
    "plaintext",
    "richtext",
    "data",
    "values",
    "cell",
    "definition",
    "response",
    "object",
    "element",
    "input",
    "string",
    "stringval",
    "s",
    "n",
    "v",
    "t",
];
/// What members are called that hold a value, in some languages.
const VALUES: &[&str] = &["val", "answer", "wert", "valeur", "valor", "valore", "waarde"];
/// What the names of members say, beside `value` or `string`, that say themselves that a secret is in them.
const SECRETS: &[&str] = &[
    "secret",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "secretkey",
    "credential",
    "credentials",
];
/// What members are called that hold the only value of an object and say its type (DynamoDB, Firestore).
const TYPED: &[&str] = &["S", "N", "stringValue", "integerValue", "doubleValue", "bytesValue", "longValue"];
/// What members are called that hold what is in an element of XML, and what names that.
const ELEMENTS: &[&str] = &["elements", "children"];
const ELEMENT: &[&str] = &["name", "tagname"];
/// What members are called that hold what a value was and what it is.
const CHANGES: &[&str] =
    &["to", "from", "tostring", "fromstring", "old", "new", "before", "after", "oldstring", "newstring"];
/// What the name beside these is called.
const CHANGED: &[&str] = &[
    "field",
    "fieldname",
    "attribute",
    "attributename",
    "property",
    "propertyname",
    "column",
    "name",
    "key",
];

/// Without signs, in lower case.
pub(super) fn plain(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    match name.is_ascii() {
        true => {
            plain.extend(name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()))
        }
        false => plain.extend(name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)),
    }
    plain
}

/// How a member holds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// It is called a value.
    Value,
    /// It may hold anything.
    Loose,
    /// It holds what a value was, or is now.
    Change,
    /// It holds what is in an element.
    Element,
}

impl Holder {
    /// That of a member that is called so; `None` where it holds no value.
    pub(super) fn of(name: &str) -> Option<Self> {
        // The text of an element of XML.
        if name == "_" {
            return Some(Self::Loose);
        }
        Self::of_plain(&plain(name))
    }

    fn of_plain(name: &str) -> Option<Self> {
        // What says itself what it holds is called by nothing beside it.
        if names_secret(name) {
            return None;
        }
        if HOLDERS.contains(&name) {
            return Some(Self::Loose);
        }
        if CHANGES.contains(&name) {
            return Some(Self::Change);
        }
        if ELEMENTS.contains(&name) {
            return Some(Self::Element);
        }
        let value = name.starts_with("value") || name.ends_with("value") || VALUES.contains(&name);
        value.then_some(Self::Value)
    }

    /// Whether a cell of a table may be held so.
    pub(super) fn is_of_cell(name: &str) -> bool {
        let plain = plain(name);
        name == "_"
            || matches!(plain.as_str(), "f" | "label" | "display" | "raw")
            || Self::of_plain(&plain).is_some()
    }

    /// Whether a cell of a first row that is held so may be a head: by a letter, or by what kind of value it is.
    pub(super) fn may_be_of_head(name: &str) -> bool {
        let name = plain(name);
        let kind = name.strip_suffix("value").is_some_and(|kind| !kind.is_empty());
        kind || matches!(name.as_str(), "f" | "v")
    }
}

/// Whether the name of a member, without signs and in lower case, says that its value is a secret: `secretstring`, `tokenvalue`.
fn names_secret(name: &str) -> bool {
    let own = name.strip_suffix("value").or_else(|| name.strip_suffix("string"));
    let own = own.or_else(|| name.strip_prefix("value")).unwrap_or_default();
    SECRETS.iter().any(|secret| own.ends_with(secret))
}

/// Whether a member of this name holds the only value of an object and says its type.
pub(super) fn is_typed(name: &str) -> bool {
    TYPED.contains(&name)
}

/// How a member names what stands beside it: the less, the more it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NameRank(u8);

/// What is added to the rank of a name that programs give, and of what names a value only if nothing else does.
const GIVEN: u8 = 64;
const LAST: u8 = 128;

impl NameRank {
    /// That of a member that is called so.
    pub(super) fn of(name: &str) -> Option<Self> {
        let place = |name: &str| NAMES.iter().position(|(known, _)| *known == name);
        let any = || place(ANY_ID).filter(|_| is_id(name));
        let rank = Self(u8::try_from(place(&plain(name)).or_else(any)?).ok()?);
        Some(if rank.is_before(LOOSE) { rank } else { Self(rank.0 + LAST) })
    }

    /// That of a name which is an object, by the member in it that says it.
    pub(super) fn of_object(name: &str) -> Option<Self> {
        Self::of(name).filter(|_| !PLAIN_NAMES.contains(&plain(name).as_str()))
    }

    /// The same where this is what the member says: numbers are of programs, and a name for people says more.
    #[must_use]
    pub(super) fn saying(self, text: &[u8]) -> Self {
        Self(self.0 + given(text))
    }

    fn is_among(self, names: &[&str]) -> bool {
        NAMES.get(usize::from(self.0 % GIVEN)).is_some_and(|(name, _)| names.contains(name))
    }

    fn is_before(self, name: &str) -> bool {
        NAMES.iter().position(|(known, _)| *known == name).is_some_and(|at| usize::from(self.0 % GIVEN) < at)
    }

    /// Whether it says what a value is called.
    pub(super) fn is_name(self) -> bool {
        self.is_before(LOOSE)
    }

    /// Whether it names what a member holds that holds values so, in a list or not.
    pub(super) fn names(self, holder: Holder, listed: bool) -> bool {
        match holder {
            Holder::Value => true,
            Holder::Change => self.is_among(CHANGED),
            Holder::Element => self.is_among(ELEMENT),
            Holder::Loose if listed => self.is_before(KINDS),
            Holder::Loose => self.is_name(),
        }
    }

    /// What a name says of the value: without words at its end for where one writes it.
    pub(super) fn subject(self, name: &str) -> &str {
        if self.is_among(CONTROLS) { subject(name) } else { name }
    }
}

/// Whether a member of this name holds an id: `field_id`, `fieldId`.
fn is_id(name: &str) -> bool {
    let camel = name.strip_suffix("Id").or_else(|| name.strip_suffix("ID"));
    camel.is_some_and(|head| head.ends_with(|c: char| c.is_ascii_lowercase()))
        || name.ends_with("_id")
        || name.ends_with("-id")
}

/// Whether this says how a value is written or shown, and nothing of it.
pub(super) fn is_form(text: &[u8]) -> bool {
    FORMS.iter().any(|form| text.eq_ignore_ascii_case(form.as_bytes()))
}

/// What is added to the rank of a name that says this.
fn given(text: &[u8]) -> u8 {
    if text.iter().any(u8::is_ascii_digit) && !text.contains(&b'/') { GIVEN } else { 0 }
}

/// How much a member of an object that is the head of a column says of its name, where this is what it says: the less, the more.
pub(super) fn head_rank(name: &str, text: &[u8]) -> Option<u8> {
    let name = plain(name);
    let (_, rank) = NAMES.iter().find(|(known, _)| *known == name)?;
    rank.map(|rank| rank + given(text))
}

/// How much a member of a name that is an object says of it: the less, the more.
pub(super) fn inner_rank(name: &str) -> Option<u8> {
    let own = plain(name);
    let held = || Holder::may_be_of_head(name) || matches!(own.as_str(), "s" | "value");
    let at = INNER.iter().position(|known| *known == own).or_else(|| held().then_some(INNER.len()))?;
    u8::try_from(at).ok()
}

/// What stands for a name in lists of codes (HL7 v2 table 0203), in words.
pub(super) fn of_code(name: &str) -> Option<&'static str> {
    Some(match name {
        "SS" => "ssn",
        "PPN" => "passport number",
        "DL" => "driver license number",
        "MR" => "mrn",
        "AN" => "account number",
        "NI" | "NNxxx" => "national id",
        "TAX" => "tax id",
        _ => return None,
    })
}

/// Fields of HTTP that hold credentials among other words.
const CREDENTIAL_FIELDS: &[&str] = &["authorization", "proxy-authorization", "cookie", "set-cookie"];

/// Whether a value is called as a field of HTTP is that holds credentials among other words, behind its attribute's other names if
/// it has such (OpenTelemetry): `http.request.header.authorization`.
pub(super) fn is_credential_field(name: &str) -> bool {
    let own = name.rsplit_once("header.").map_or(name, |(_, own)| own);
    CREDENTIAL_FIELDS.iter().any(|field| field.eq_ignore_ascii_case(own))
}

/// The longest value that is called by a name which may also be a title, in bytes, and the most words of it.
const SHORT: usize = 96;
const WORDS: usize = 6;

/// Whether a name that may also be a title is what the value at `spelled` is called: both are short. Of a secret there is one
/// word, and it is not made of letters alone.
pub(super) fn is_short_value(name: &str, spelled: &[u8], is_secret: impl FnOnce(&str) -> bool) -> bool {
    if !is_head(name) || spelled.len() > SHORT * 2 {
        return false;
    }
    let decoded = Decoded::of(spelled);
    let text = decoded.text().trim();
    let words = text.split_whitespace().count();
    if text.len() > SHORT || text.contains('\n') || words == 0 || words > WORDS {
        return false;
    }
    let lettered = || text.chars().all(|c| c.is_alphabetic() || matches!(c, '_' | '-' | '\'' | '.' | ' '));
    !is_secret(name) || words == 1 && !lettered()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_known_by_what_they_are_called() {
        for (name, holder) in [
            ("value", Some(Holder::Value)),
            ("ParameterValue", Some(Holder::Value)),
            ("value_string", Some(Holder::Value)),
            ("Val", Some(Holder::Value)),
            ("initial_value", Some(Holder::Value)),
            ("#text", Some(Holder::Loose)),
            ("content", Some(Holder::Loose)),
            ("toString", Some(Holder::Change)),
            ("_", Some(Holder::Loose)),
            ("children", Some(Holder::Element)),
            ("Wert", Some(Holder::Value)),
            ("__", None),
            // What says itself that it is a secret.
            ("SecretString", None),
            ("secret_value", None),
            ("tokenValue", None),
            ("clientSecretValue", None),
            ("valuePassword", None),
            ("name", None),
            ("description", None),
            ("placeholder", None),
            ("default", None),
        ] {
            assert_eq!(Holder::of(name), holder, "{name}");
        }
        assert!(Holder::is_of_cell("stringValue") && !Holder::is_of_cell("passwordValue"));
        let rank = |name: &str| NameRank::of(name).unwrap();
        assert!(rank("label").names(Holder::Loose, false) && !rank("type").names(Holder::Loose, true));
        assert!(!rank("id").names(Holder::Loose, false) && rank("id").names(Holder::Loose, true));
        assert!(rank("name").names(Holder::Element, false) && !rank("title").names(Holder::Element, false));
        assert!(NameRank::of("field_id").is_some() && rank("type") < rank("inputId"));
        assert!(["valid", "grid", "Android"].into_iter().all(|name| NameRank::of(name).is_none()));
        assert!(rank("field").names(Holder::Change, false) && !rank("path").names(Holder::Change, false));
        assert!(
            rank("label") < rank("name").saying(b"field_7") && rank("name").saying(b"ssn") < rank("label")
        );
    }

    #[test]
    fn heads_of_columns_say_names_in_an_order_of_their_own() {
        let rank = |name: &str| head_rank(name, b"ssn").unwrap();
        let order = ["name", "columnName", "label", "title", "key", "field", "column_label", "id"];
        assert!(order.is_sorted_by_key(|name| rank(name)), "{:?}", order.map(rank));
        assert!(head_rank("id", b"ssn") < head_rank("name", b"field_7"));
        assert!(["type", "path", "value"].iter().all(|name| head_rank(name, b"ssn").is_none()));
        assert!(["VarCharValue", "formattedValue", "v", "f"].into_iter().all(Holder::may_be_of_head));
        assert!(!["value", "text", "values", "label"].into_iter().any(Holder::may_be_of_head));
        // What is added to a rank keeps the order that it had.
        assert!(NAMES.len() < usize::from(GIVEN));
    }

    #[test]
    fn fields_of_http_may_stand_in_the_names_of_attributes() {
        for name in ["Authorization", "http.request.header.authorization", "http.response.header.set-cookie"]
        {
            assert!(is_credential_field(name), "{name}");
        }
        for name in ["prior.authorization", "authorization.url", "header.accept", ""] {
            assert!(!is_credential_field(name), "{name}");
        }
    }

    #[test]
    fn titles_name_short_values_only() {
        let secret = |name: &str| name == "password";
        for (name, value, named) in [
            ("password", "hunter2Zq9", true),
            ("password", "Required", false),
            ("password", "at least 8 characters", false),
            ("ssn", "536 22 8726", true),
            ("ssn", "one\\ntwo", false),
            ("last name", "Okonkwo-Adeyemi", true),
            ("This is a sentence.", "536228726", false),
            ("ssn", "", false),
        ] {
            assert_eq!(is_short_value(name, value.as_bytes(), secret), named, "{name} {value}");
        }
    }
}
