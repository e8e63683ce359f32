//! Parse, don't validate: reads the members of a JSON object into typed values and collects *all* faults, each with
//! its JSON Pointer. One fault for each place: a wrong type ends the checks there.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::api::error::{ApiError, Code, Invalid, MAX_FAULTS};
use crate::base::pointer::Pointer;

/// Reads one object's members.
pub struct Fields<'a> {
    members: &'a Map<String, Value>,
    known: Vec<&'static str>,
    faults: Vec<Invalid>,
}

impl<'a> Fields<'a> {
    /// Reads `body`, which must be an object.
    ///
    /// # Errors
    /// [`Code::InvalidObject`] at the whole body.
    pub fn of(body: &'a Value) -> Result<Self, ApiError> {
        match body {
            Value::Object(members) => Ok(Self { members, known: Vec::new(), faults: Vec::new() }),
            _ => Err(ApiError::Validation(vec![Invalid::body(
                Code::InvalidObject,
                "the body must be a JSON object",
            )])),
        }
    }

    /// A string that must be there. The value returned on a fault is never used: [`Fields::close`] fails.
    pub fn required_text(&mut self, name: &'static str) -> &'a str {
        let present = self.members.contains_key(name);
        if !present {
            let at = Pointer::root().key(name);
            self.fault(Code::FieldRequired, at, format!("`{name}` is required"));
        }
        self.text(name).unwrap_or_default()
    }

    /// A string that may be absent.
    pub fn text(&mut self, name: &'static str) -> Option<&'a str> {
        let value = self.member(name)?;
        let text = value.as_str();
        if text.is_none() {
            self.wrong(value, Pointer::root().key(name), Code::InvalidString, "must be a string");
        }
        text
    }

    /// A boolean that may be absent.
    pub fn flag(&mut self, name: &'static str) -> Option<bool> {
        let value = self.member(name)?;
        let flag = value.as_bool();
        if flag.is_none() {
            self.wrong(value, Pointer::root().key(name), Code::InvalidBool, "must be true or false");
        }
        flag
    }

    /// An array of strings without repetition that may be absent. The index is each string's place in the body.
    pub fn names(&mut self, name: &'static str) -> Option<Vec<(usize, &'a str)>> {
        let value = self.member(name)?;
        let at = Pointer::root().key(name);
        let Value::Array(items) = value else {
            self.wrong(value, at, Code::InvalidArray, "must be an array of strings");
            return None;
        };
        let mut seen = HashSet::new();
        let mut names = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match item.as_str() {
                None => self.wrong(item, at.index(index), Code::InvalidString, "must be a string"),
                Some(text) if !seen.insert(text) => {
                    self.fault(Code::ItemNotUnique, at.index(index), "the same item twice");
                }
                Some(text) => names.push((index, text)),
            }
        }
        Some(names)
    }

    /// Adds a fault that only the caller can see.
    pub fn fault(&mut self, code: Code, at: Pointer, detail: impl Into<String>) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(Invalid::new(code, at, detail));
        }
    }

    /// Ends the reading: members that nobody asked for are faults too.
    ///
    /// # Errors
    /// All faults, in the order of their places.
    pub fn close(mut self) -> Result<(), ApiError> {
        let members = self.members;
        for key in members
            .keys()
            .filter(|key| !self.known.contains(&key.as_str()))
            .take(MAX_FAULTS)
            .collect::<Vec<_>>()
        {
            self.fault(Code::UnexpectedProperty, Pointer::root().key(key), "there is no such property");
        }
        if self.faults.is_empty() {
            return Ok(());
        }
        self.faults.sort_by(|a, b| a.source.cmp(&b.source));
        Err(ApiError::Validation(self.faults))
    }

    fn member(&mut self, name: &'static str) -> Option<&'a Value> {
        self.known.push(name);
        self.members.get(name)
    }

    fn wrong(&mut self, value: &Value, at: Pointer, code: Code, detail: &str) {
        match value {
            Value::Null => self.fault(Code::InvalidNull, at, format!("must not be null; {detail}")),
            _ => self.fault(code, at, detail),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn faults(body: &Value) -> Vec<(Code, String)> {
        let mut fields = Fields::of(body).unwrap();
        fields.required_text("text");
        fields.flag("debug");
        fields.names("rules");
        match fields.close() {
            Err(ApiError::Validation(list)) => {
                list.into_iter().map(|f| (f.code, f.source.to_string())).collect()
            }
            Err(other) => panic!("{other}"),
            Ok(()) => Vec::new(),
        }
    }

    #[test]
    fn every_fault_is_reported_once() {
        let rows: &[(Value, &[(Code, &str)])] = &[
            (json!({"text": ""}), &[]),
            (json!({}), &[(Code::FieldRequired, "/text")]),
            (json!({"text": {"a": 1}}), &[(Code::InvalidString, "/text")]),
            (json!({"text": null}), &[(Code::InvalidNull, "/text")]),
            (
                json!({"text": 1, "debug": "x", "rules": ["A", 2, "A"], "zz~": 0}),
                &[
                    (Code::InvalidBool, "/debug"),
                    (Code::InvalidString, "/rules/1"),
                    (Code::ItemNotUnique, "/rules/2"),
                    (Code::InvalidString, "/text"),
                    (Code::UnexpectedProperty, "/zz~0"),
                ],
            ),
        ];
        for (body, expected) in rows {
            let expected: Vec<_> = expected.iter().map(|(code, at)| (*code, (*at).to_owned())).collect();
            assert_eq!(faults(body), expected, "{body}");
        }
    }

    #[test]
    fn a_body_of_nothing_but_faults_is_cut_short() {
        let body = Value::Object((0..1000).map(|n| (format!("k{n}"), Value::Null)).collect());
        assert_eq!(faults(&body).len(), MAX_FAULTS);
    }
}
