//! A text, and a collected body that is text: bytes of it that are not UTF-8 stay as they are and part it.

use std::borrow::Cow;

use crate::edit::{spliced, spliced_text};
use crate::redact::carrier::{Carrier, CarrierText, TextVisitor};
use crate::redact::error::RedactError;
use crate::redact::fpe_context::FpeContext;
use crate::redact::keys::Keys;
use crate::redact::opaque::StringPart;
use crate::redact::pass::{RedactionPass, ReplaceScope};
use crate::redact::redactor::Redactor;
use crate::redact::report::Redacted;
use crate::redact::surrogate_map::{FindingLimits, SurrogateMap};

impl Redactor {
    /// Redacts a text, and tells how to undo what was encrypted. Where it is a JSON document, its values are also looked
    /// at each under its name. A value is replaced where it was found.
    ///
    /// # Errors
    /// A plan that encrypts, without a key; more values than `limits` has room for; a checkpoint that said so.
    pub fn text(
        &self,
        text: &str,
        keys: &Keys,
        limits: FindingLimits,
    ) -> Result<(Redacted<String>, FpeContext), RedactError> {
        RedactionPass::by(self, keys, ReplaceScope::Found).run(&mut WholeText(text))?.context(limits)
    }

    /// Redacts a body that is text, and tells how to undo it. What was found in one place is replaced in every other.
    ///
    /// # Errors
    /// As of [`Redactor::text`].
    pub fn plain(
        &self,
        body: &[u8],
        keys: &Keys,
        limits: FindingLimits,
    ) -> Result<(Redacted<Vec<u8>>, SurrogateMap), RedactError> {
        RedactionPass::by(self, keys, ReplaceScope::Everywhere).run(&mut BodyText(body))?.undo(limits)
    }
}

/// A text.
struct WholeText<'t>(&'t str);

impl Carrier for WholeText<'_> {
    type Written = String;

    fn visit(&mut self, see: TextVisitor<'_>) -> Result<String, RedactError> {
        let changes = see(CarrierText { opens: true, ..CarrierText::of(StringPart::text(self.0)) });
        Ok(spliced_text(self.0, &changes))
    }

    fn bytes(&self) -> Cow<'_, [u8]> {
        self.0.as_bytes().into()
    }
}

/// A body that is text.
pub(super) struct BodyText<'b>(pub(super) &'b [u8]);

impl Carrier for BodyText<'_> {
    type Written = Vec<u8>;

    fn visit(&mut self, see: TextVisitor<'_>) -> Result<Vec<u8>, RedactError> {
        let (mut at, mut edits) = (0, Vec::new());
        for chunk in self.0.utf8_chunks() {
            let changes = see(CarrierText::of(StringPart::text(chunk.valid())));
            edits.extend(changes.into_iter().map(|edit| edit.behind(at)));
            at += chunk.valid().len() + chunk.invalid().len();
        }
        Ok(spliced(self.0, &edits))
    }

    fn bytes(&self) -> Cow<'_, [u8]> {
        self.0.into()
    }
}
