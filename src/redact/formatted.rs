//! A collected body that is a table or markup: its texts, each under its name. What was found in one is replaced in all.

use std::borrow::Cow;

use crate::edit::spliced;
use crate::redact::carrier::{Carrier, TextVisitor};
use crate::redact::document::JsonTexts;
use crate::redact::error::RedactError;
use crate::redact::surrogate_map::FindingLimits;
use crate::stream::formatted::{TextFormat, edits};

/// A table, or markup.
pub(super) struct FormattedCarrier<'b> {
    format: TextFormat,
    body: &'b [u8],
    texts: JsonTexts<'static>,
}

impl<'b> FormattedCarrier<'b> {
    pub(super) fn new(format: TextFormat, body: &'b [u8], limits: FindingLimits) -> Self {
        Self { format, body, texts: JsonTexts::everything(limits) }
    }
}

impl Carrier for FormattedCarrier<'_> {
    type Written = Vec<u8>;

    fn prepare(&mut self, labels: bool) {
        self.texts.prepare(labels);
    }

    fn visit(&mut self, see: TextVisitor<'_>) -> Result<Vec<u8>, RedactError> {
        let texts = &mut self.texts;
        let edits = edits(self.format, self.body, &mut |path, text| texts.text(path, text, see));
        self.texts.opened().map(|()| spliced(self.body, &edits))
    }

    fn bytes(&self) -> Cow<'_, [u8]> {
        self.body.into()
    }
}

#[cfg(test)]
#[path = "formatted_tests.rs"]
mod tests;
