//! A collected form: its values, each under its name, and its names.

use std::borrow::Cow;

use crate::edit::Edit;
use crate::redact::carrier::{Carrier, TextVisitor};
use crate::redact::document::JsonTexts;
use crate::redact::error::RedactError;
use crate::redact::keys::Keys;
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

/// A field as a document: an object of one member, or a name without a value.
fn document(field: &[u8]) -> Vec<u8> {
    match form::read(field) {
        (name, Some(value)) => format!("{{\"{}\":\"{}\"}}", encoded(&name), encoded(&value)).into_bytes(),
        (name, None) => format!("\"{}\"", encoded(&name)).into_bytes(),
    }
}

/// A form.
pub(super) struct FormCarrier<'b> {
    body: &'b [u8],
    /// Each field as a document.
    fields: Vec<Vec<u8>>,
    texts: JsonTexts<'static>,
}

impl<'b> FormCarrier<'b> {
    pub(super) fn new(body: &'b [u8], limits: FindingLimits) -> Self {
        let fields = body.split(|b| *b == b'&').map(document).collect();
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
        for (at, (field, document)) in self.body.split(|b| *b == b'&').zip(&self.fields).enumerate() {
            if at > 0 {
                out.push(b'&');
            }
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
        self.fields.join(&b'&').into()
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
