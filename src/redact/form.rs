//! A collected form: its values, each under its name, and its names.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::edit::Edit;
use crate::redact::carrier::{Carrier, TextVisitor};
use crate::redact::document::JsonTexts;
use crate::redact::error::RedactError;
use crate::redact::keys::Keys;
use crate::redact::members::{Holder, NameRank};
use crate::redact::pass::{RedactionPass, ReplaceScope};
use crate::redact::redactor::Redactor;
use crate::redact::report::Redacted;
use crate::redact::surrogate_map::{FindingLimits, SurrogateMap};
use crate::stream::form;
use crate::stream::json::{Decoded, encoded, walk};

impl Redactor {
    /// Redacts a form, and tells how to undo it. What was found in one field is replaced in all.
    ///
    /// # Errors
    /// As of [`Redactor::document`].
    pub fn form(
        &self,
        body: &[u8],
        keys: &Keys,
        limits: FindingLimits,
    ) -> Result<(Redacted<Vec<u8>>, SurrogateMap), RedactError> {
        let mut form = FormCarrier::new(body, limits);
        RedactionPass::by(self, keys, ReplaceScope::Everywhere).run(&mut form)?.undo(limits)
    }
}

/// The longest name that a field says of another, in bytes.
const NAME: usize = 256;

/// What fields say that the values of others are called: `name=…&value=…`, `fields[0][name]=…&fields[0][value]=…`.
#[derive(Debug, Default)]
pub(super) struct FieldNames {
    /// The last name that has no value yet, by what stands before its member.
    said: HashMap<String, String>,
}

impl FieldNames {
    /// Shows the next field; what its value is called by one before it.
    pub(super) fn of(&mut self, name: &str, value: Option<&str>) -> Option<String> {
        let (within, own) = member(name);
        if let Some(said) = value.filter(|_| NameRank::of(own).is_some_and(NameRank::is_name)) {
            if said.len() <= NAME {
                self.said.insert(within.to_owned(), said.to_owned());
            }
            return None;
        }
        if Holder::of(own) == Some(Holder::Value) { self.said.remove(within) } else { None }
    }
}

/// A name of a field in parts: its last member, and what stands before that.
fn member(name: &str) -> (&str, &str) {
    let in_brackets = name.strip_suffix(']').and_then(|name| name.rsplit_once('['));
    in_brackets.or_else(|| name.rsplit_once('.')).unwrap_or(("", name))
}

/// A field as a document.
struct FieldDocument {
    /// An object of one member, or a name without a value; under heads, an array of both.
    document: Vec<u8>,
    /// What its elements are called, if another field says so.
    heads: Option<Arc<[String]>>,
}

impl FieldDocument {
    fn of(field: &[u8], names: &mut FieldNames) -> Self {
        let (name, value) = form::read(field);
        let said = names.of(&name, value.as_deref());
        let name = encoded(&name);
        let document = match (value.as_deref().map(encoded), &said) {
            (Some(value), None) => format!("{{\"{name}\":\"{value}\"}}"),
            (Some(value), Some(_)) => format!("[\"{name}\",\"{value}\"]"),
            (None, _) => format!("\"{name}\""),
        };
        let heads = said.map(|said| Arc::from([String::new(), said]));
        Self { document: document.into_bytes(), heads }
    }
}

/// A form.
pub(super) struct FormCarrier<'b> {
    body: &'b [u8],
    fields: Vec<FieldDocument>,
    texts: JsonTexts<'static>,
}

impl<'b> FormCarrier<'b> {
    pub(super) fn new(body: &'b [u8], limits: FindingLimits) -> Self {
        let mut names = FieldNames::default();
        let fields = body.split(|b| *b == b'&').map(|field| FieldDocument::of(field, &mut names)).collect();
        Self { body, fields, texts: JsonTexts::everything(limits) }
    }
}

impl Carrier for FormCarrier<'_> {
    type Written = Vec<u8>;

    fn prepare(&mut self, labels: bool) {
        self.texts.prepare(labels);
    }

    fn visit(&mut self, see: TextVisitor<'_>) -> Result<Vec<u8>, RedactError> {
        let mut out = Vec::with_capacity(self.body.len());
        let fields = self.body.split(|b| *b == b'&').zip(&self.fields);
        for (at, (field, FieldDocument { document, heads })) in fields.enumerate() {
            if at > 0 {
                out.push(b'&');
            }
            self.texts.under(heads.clone().unwrap_or_default());
            let edits = self.texts.visit(document, see)?;
            if edits.is_empty() {
                out.extend_from_slice(field);
            } else {
                out.extend_from_slice(&respelled(field, document, &edits));
            }
        }
        self.texts.opened().map(|()| out)
    }

    /// Without its escapes.
    fn bytes(&self) -> Cow<'_, [u8]> {
        let documents: Vec<&[u8]> = self.fields.iter().map(|field| field.document.as_slice()).collect();
        documents.join(&b'&').into()
    }
}

/// A field with the changes that were made to its document. What they do not touch keeps its bytes, also those that are no
/// UTF-8.
fn respelled(field: &[u8], document: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut leaves = Vec::with_capacity(2);
    let texts = walk(document, &mut |_, leaf| leaves.push(leaf.span));
    debug_assert_eq!(texts, Ok(()), "a field is a document");
    let said = |spelled: Option<&[u8]>| Decoded::of(spelled.unwrap_or_default()).text().to_owned();
    let (mut all, mut edits) = (Vec::with_capacity(edits.len()), edits.iter().peekable());
    for (at, leaf) in leaves.iter().enumerate() {
        // What the leaf says before `read`, which goes on with each edit: they are in order.
        let (mut read, mut length) = (leaf.start, 0);
        while let Some(edit) = edits.next_if(|edit| edit.range.start <= leaf.end) {
            let start = length + said(document.get(read..edit.range.start)).len();
            length = start + said(document.get(edit.range.clone())).len();
            read = edit.range.end;
            all.push((at, Edit { range: start..length, with: said(Some(edit.with.as_bytes())) }));
        }
    }
    form::with_edits(field, &all)
}

#[cfg(test)]
#[path = "form_tests.rs"]
mod tests;
