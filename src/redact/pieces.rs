//! The texts of one file, which somebody else takes apart and puts together: told what is to change in each. As in a
//! document, what was found in one text is replaced in every other.

use std::borrow::Cow;

use crate::detect::Label;
use crate::redact::carrier::{Carrier, CarrierText, TextChanges, TextVisitor};
use crate::redact::error::RedactError;
use crate::redact::keys::Keys;
use crate::redact::opaque::StringPart;
use crate::redact::pass::{Detail, RedactionPass, ReplaceScope};
use crate::redact::redactor::Redactor;
use crate::redact::report::Report;

/// A text of a file.
#[derive(Clone, Copy)]
pub struct FileText<'t> {
    /// What it is called there: the head of its column, the name of its element or member.
    pub label: Option<&'t Label>,
    /// All of it.
    pub text: &'t str,
}

impl Redactor {
    /// What is to change in each of the texts: sorted, apart from each other; and what was found. The report tells
    /// findings in detail, in code points of the text that each is in.
    ///
    /// # Errors
    /// A plan that encrypts, without a key.
    pub fn pieces(
        &self,
        texts: &[FileText<'_>],
        keys: &Keys,
    ) -> Result<(Vec<TextChanges>, Report), RedactError> {
        let pass = RedactionPass {
            detail: Detail::Places,
            ..RedactionPass::by(self, keys, ReplaceScope::Everywhere)
        };
        let redacted = pass.run(&mut FileTexts(texts))?.redacted;
        let report = redacted.report().clone();
        Ok((redacted.into_value(), report))
    }
}

/// The texts of a file.
struct FileTexts<'p>(&'p [FileText<'p>]);

impl Carrier for FileTexts<'_> {
    type Written = Vec<TextChanges>;

    fn visit(&mut self, see: TextVisitor<'_>) -> Result<Vec<TextChanges>, RedactError> {
        let shown = |text: &FileText<'_>| {
            see(CarrierText { label: text.label, ..CarrierText::of(StringPart::text(text.text)) })
        };
        Ok(self.0.iter().map(shown).collect())
    }

    fn bytes(&self) -> Cow<'_, [u8]> {
        self.0.iter().map(|text| text.text).collect::<Vec<_>>().join("\n").into_bytes().into()
    }
}

impl std::fmt::Debug for FileText<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Text({} bytes)", self.text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::Method;
    use crate::redact::fixture::redactor;

    #[test]
    fn what_is_found_in_one_text_changes_in_all() {
        let redactor = redactor(Method::Replace);
        let texts = ["Account number: 12345678 is closed", "ref 12345678", "nothing"];
        let texts = texts.map(|text| FileText { label: None, text });
        let (changes, report) = redactor.pieces(&texts, &Keys::default()).unwrap();
        assert_eq!(changes.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 0]);
        assert_eq!(report.count(), 2);
        for (text, changes) in texts.iter().zip(&changes) {
            assert!(changes.iter().all(|change| text.text.get(change.range.clone()) == Some("12345678")));
        }
    }
}
