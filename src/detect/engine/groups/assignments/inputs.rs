//! Fields of forms that are filled in: `<input type="password" value="…">`, whatever the order of its attributes, and with any
//! quotes or none. And settings whose value stands before their name: `<add value="…" key="password"/>`.

use super::beside::GIVEN;
use super::form::ValueForm;
use super::shape::{is_code, is_marked};
use super::text::{NeedMore, WindowText, is_name};
use super::value::{self, AssignedValue, piece};
use crate::detect::naming::{self, Meaning, NAME, NameMeaning};

/// The most that is read of a field's tag, in bytes.
const TAG: usize = 400;
/// The most attributes that are read of it.
const ATTRIBUTES: usize = 24;

/// Where an attribute's value stands.
#[derive(Clone, Copy, Debug)]
struct AttributeValue {
    /// Where it begins with its quote, if it has one.
    at: usize,
    start: usize,
    end: usize,
    /// Behind its quote.
    behind: usize,
}

/// What a field's tag says of it.
#[derive(Clone, Copy, Debug, Default)]
struct FieldTag {
    kind: Option<AttributeValue>,
    name: Option<AttributeValue>,
    key: Option<AttributeValue>,
    value: Option<AttributeValue>,
}

impl WindowText<'_> {
    /// The value of the field whose tag goes on at `end`, if it is for a password.
    pub(super) fn input(&self, end: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let tag = self.field_tag(end)?;
        let Some(AttributeValue { at, start, end, .. }) = tag.value else { return Ok(None) };
        let password = Meaning { named: NameMeaning::Password, strong: true, doubtful: false };
        let meaning = match tag.kind {
            Some(kind) if self.spells(kind, "password") => Some(password),
            _ if !self.is_text_field(tag) => None,
            _ => tag.name.and_then(|name| naming::meaning(self.view.slice(name.start, name.end))),
        };
        let Some(meaning) = meaning.filter(|meaning| *meaning == password) else { return Ok(None) };
        let text = self.value_at(start, end);
        let written = start > at || is_marked(text) && !is_code(text);
        let kind = value::kind(meaning, text, GIVEN).filter(|_| written);
        Ok(kind.map(|kind| piece(kind, start, end, 0.0)))
    }

    /// The value of the setting whose tag goes on at `end`, if it stands in quotes before the name of a secret.
    pub(super) fn member(&self, end: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let tag = self.field_tag(end)?;
        let Some((given, name)) = tag.value.zip(tag.key.or(tag.name)) else { return Ok(None) };
        let named = naming::meaning(self.view.slice(name.start, name.end));
        let before = given.start > given.at && given.end <= name.at;
        let Some(meaning) = named.filter(|_| before) else { return Ok(None) };
        let kind = value::kind(meaning, self.value_at(given.start, given.end), GIVEN);
        Ok(kind.map(|kind| piece(kind, given.start, given.end, 0.0)))
    }

    /// Where the value stands of the field whose tag goes on at `end`, behind its label:
    /// `<label>Password</label><input value="…">`.
    pub(super) fn input_value(&self, end: usize) -> Result<Option<(usize, ValueForm)>, NeedMore> {
        let tag = self.field_tag(end)?;
        let secret = tag.kind.is_some_and(|kind| self.spells(kind, "password")) || self.is_text_field(tag);
        let quoted = tag.value.filter(|value| secret && value.start > value.at);
        Ok(quoted.map(|value| (value.at, GIVEN)))
    }

    /// Whether a field is for one line of text, or hidden, and no button or box.
    fn is_text_field(&self, tag: FieldTag) -> bool {
        tag.kind.is_none_or(|kind| self.spells(kind, "text") || self.spells(kind, "hidden"))
    }

    /// Whether an attribute has this value, in any case.
    fn spells(&self, value: AttributeValue, word: &str) -> bool {
        self.view.slice(value.start, value.end).eq_ignore_ascii_case(word.as_bytes())
    }

    /// What the tag says that goes on at `end`.
    fn field_tag(&self, end: usize) -> Result<FieldTag, NeedMore> {
        let mut tag = FieldTag::default();
        let mut at = end;
        for _ in 0..ATTRIBUTES {
            let start = self.space(at)?;
            let stop = self.run(start, NAME, is_attribute)?;
            if stop == start || stop > end + TAG {
                break;
            }
            let equals = self.space(stop)?;
            if !self.is(equals, b'=')? {
                at = stop;
                continue;
            }
            let from = self.space(equals + 1)?;
            let Some(value) = self.attribute_value(from, (end + TAG).saturating_sub(from))? else { break };
            match self.view.slice(start, stop).to_ascii_lowercase().as_slice() {
                b"type" => tag.kind = Some(value),
                b"name" => tag.name = Some(value),
                b"key" => tag.key = Some(value),
                b"value" => tag.value = Some(value),
                _ => {}
            }
            at = value.behind;
        }
        Ok(tag)
    }

    /// The value of an attribute at `at`, `most` bytes of it.
    fn attribute_value(&self, at: usize, most: usize) -> Result<Option<AttributeValue>, NeedMore> {
        if let Some(open) = self.quote(at)? {
            let end = self.closed(open, most)?;
            return Ok(end.map(|end| {
                let behind = end + open.escapes + 1;
                AttributeValue { at, start: open.end, end, behind }
            }));
        }
        let end =
            self.run(at, most, |byte| !byte.is_ascii_whitespace() && !matches!(byte, b'<' | b'>' | b'`'))?;
        Ok((end > at).then_some(AttributeValue { at, start: at, end, behind: end }))
    }
}

/// What names of attributes are made of, those of templates among them: `:value`, `[value]`, `@change`.
fn is_attribute(byte: u8) -> bool {
    is_name(byte) || matches!(byte, b':' | b'@' | b'#' | b'[' | b']' | b'(' | b')' | b'*')
}
