//! Names that stand beside their values: `{"name": "DB_PASSWORD", "value": "…"}`, as lists of settings, of headers, of form
//! fields and of identifiers have them.

use std::ops::Range;

use crate::stream::json::Decoded;

/// How much of a document is read before a value and behind it, in bytes, and how many members.
const REACH: usize = 1024;
const MEMBERS: usize = 6;

/// What members are called that hold a name, the ones that say the most first: without signs, in lower case.
const NAMES: &[&str] = &[
    "name",
    "key",
    "label",
    "field",
    "fieldname",
    "attribute",
    "attributename",
    "parameter",
    "parameterkey",
    "parametername",
    "param",
    "property",
    "propertyname",
    "variable",
    "header",
    "question",
    "title",
    // JSON Patch (RFC 6902), SCIM.
    "path",
    "type",
    "kind",
    "code",
    "system",
    "id",
];

/// Whether a member that is called so may hold the value of what is named beside it.
pub(super) fn is_value(name: &str) -> bool {
    let name = plain(name);
    name.starts_with("value") || name.ends_with("value") || matches!(name.as_str(), "val" | "answer")
}

/// What the value at `span` of a document is called by a member beside it, quotes not counted. Members that are lists or
/// objects end the look.
pub(super) fn named_beside(doc: &[u8], span: Range<usize>) -> Option<String> {
    let (start, end) = (span.start.saturating_sub(REACH), doc.len().min(span.end.saturating_add(REACH)));
    let mut beside = Vec::new();
    let mut before = BackwardMembers(doc.get(start..span.start)?);
    before.quote();
    // The value's own name.
    if before.skip(b':').is_some() && before.string().is_some() {
        while beside.len() < MEMBERS && before.skip(b',').is_some() {
            let value = before.scalar();
            let (Some(value), Some(())) = (value, before.skip(b':')) else { break };
            let Some(name) = before.string() else { break };
            beside.push((name, value));
        }
    }
    let mut behind = ForwardMembers(doc.get(span.end..end)?);
    behind.quote();
    for _ in 0..MEMBERS {
        let name = behind.skip(b',').and_then(|()| behind.string());
        let (Some(name), Some(())) = (name, behind.skip(b':')) else { break };
        let Some(value) = behind.scalar() else { break };
        beside.push((name, value));
    }
    let rank = |name: &[u8]| {
        let name = plain(Decoded::of(name).text());
        NAMES.iter().position(|known| *known == name)
    };
    let named = beside.into_iter().filter_map(|(name, value)| Some((rank(name)?, value)));
    let said = named.map(|(rank, value)| (rank, Decoded::of(value).text().to_owned()));
    said.filter(|(_, name)| name.chars().any(char::is_alphabetic))
        .min_by_key(|(rank, _)| *rank)
        .map(|(_, name)| name)
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Reads members of an object towards its end.
struct ForwardMembers<'d>(&'d [u8]);

impl<'d> ForwardMembers<'d> {
    /// The quote in which a value ends.
    fn quote(&mut self) {
        if let [b'"', rest @ ..] = self.0 {
            self.0 = rest;
        }
    }

    fn space(&mut self) {
        let spaces = self.0.iter().take_while(|&&byte| is_space(byte)).count();
        self.0 = self.0.get(spaces..).unwrap_or_default();
    }

    fn skip(&mut self, sign: u8) -> Option<()> {
        self.space();
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        (*first == sign).then(|| self.space())
    }

    /// What stands between the quotes of a string.
    fn string(&mut self) -> Option<&'d [u8]> {
        let [b'"', rest @ ..] = self.0 else { return None };
        let mut escaped = false;
        let end = rest.iter().position(|&byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        })?;
        let (text, rest) = (rest.get(..end)?, rest.get(end + 1..)?);
        self.0 = rest;
        Some(text)
    }

    /// A string, a number or a word.
    fn scalar(&mut self) -> Option<&'d [u8]> {
        if let Some(text) = self.string() {
            return Some(text);
        }
        let length = self.0.iter().take_while(|&&byte| is_word(byte)).count();
        let (text, rest) = self.0.split_at_checked(length).filter(|_| length > 0)?;
        self.0 = rest;
        Some(text)
    }
}

/// The same towards its beginning.
struct BackwardMembers<'d>(&'d [u8]);

impl<'d> BackwardMembers<'d> {
    /// The quote in which a value begins.
    fn quote(&mut self) {
        if let [rest @ .., b'"'] = self.0 {
            self.0 = rest;
        }
    }

    fn space(&mut self) {
        let spaces = self.0.iter().rev().take_while(|&&byte| is_space(byte)).count();
        self.0 = self.0.get(..self.0.len() - spaces).unwrap_or_default();
    }

    fn skip(&mut self, sign: u8) -> Option<()> {
        self.space();
        let (last, rest) = self.0.split_last()?;
        self.0 = rest;
        (*last == sign).then(|| self.space())
    }

    fn string(&mut self) -> Option<&'d [u8]> {
        let [rest @ .., b'"'] = self.0 else { return None };
        let begins = |at: &usize| {
            let head = rest.get(..*at).unwrap_or_default();
            let escapes = head.iter().rev().take_while(|&&byte| byte == b'\\').count();
            rest.get(*at) == Some(&b'"') && escapes % 2 == 0
        };
        let start = (0..rest.len()).rev().find(begins)?;
        self.0 = rest.get(..start)?;
        rest.get(start + 1..)
    }

    fn scalar(&mut self) -> Option<&'d [u8]> {
        if let Some(text) = self.string() {
            return Some(text);
        }
        let length = self.0.iter().rev().take_while(|&&byte| is_word(byte)).count();
        let (rest, text) = self.0.split_at_checked(self.0.len() - length).filter(|_| length > 0)?;
        self.0 = rest;
        Some(text)
    }
}

/// Whether numbers and the words of JSON are made of it.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_called_by_what_stands_beside_them() {
        let cases = [
            (r#"{"name":"DB_PASSWORD","value":"V"}"#, Some("DB_PASSWORD")),
            (r#"{ "value" : "V" , "name" : "DB_PASSWORD" }"#, Some("DB_PASSWORD")),
            (r#"{"ParameterKey":"DBPassword","ParameterValue":"V"}"#, Some("DBPassword")),
            ("{\n  \"key\": \"api_key\",\n  \"enabled\": true,\n  \"value\": \"V\"\n}", Some("api_key")),
            (r#"{"type":"default","key":"token","value":"V"}"#, Some("token")),
            (
                r#"{"use":"official","system":"https://fhir.nhs.uk/Id/nhs-number","value":"V"}"#,
                Some("https://fhir.nhs.uk/Id/nhs-number"),
            ),
            (r#"{"question":"Your \"SSN\"?","answer":"V"}"#, Some("Your \"SSN\"?")),
            (r#"{"label":"a\\","value":"V"}"#, Some("a\\")),
            (r#"{"name":{"en":"ssn"},"value":"V"}"#, None),
            (r#"{"name":"ssn","of":[1],"value":"V"}"#, None),
            (r#"{"value":"V"}"#, None),
            (r#"[{"name":"ssn"},{"value":"V"}]"#, None),
            (r#"{"id":12,"value":"V"}"#, None),
            (r#"["name","ssn","value","V"]"#, None),
        ];
        for (doc, name) in cases {
            let at = doc.find("\"V\"").unwrap() + 1;
            for span in [at..at + 1, at - 1..at + 2] {
                assert_eq!(named_beside(doc.as_bytes(), span).as_deref(), name, "{doc}");
            }
        }
        assert!(
            is_value("ParameterValue") && is_value("value_string") && is_value("Val") && !is_value("content")
        );
    }

    #[test]
    fn a_look_is_bounded() {
        let doc = format!(r#"{{"name":"ssn",{}"value":"V"}}"#, r#""a":1,"#.repeat(MEMBERS));
        let at = doc.find("\"V\"").unwrap();
        assert_eq!(named_beside(doc.as_bytes(), at..at + 3), None);
        let long = format!(r#"{{"name":"{}","value":"V"}}"#, "a".repeat(REACH));
        let at = long.find("\"V\"").unwrap();
        assert_eq!(named_beside(long.as_bytes(), at..at + 3), None);
    }
}
