//! A collected multipart body: the texts of the heads of its parts, and what each part holds as if it were a body. What
//! was found in one part is replaced in all.

use std::borrow::Cow;

use crate::edit::{Edit, spliced};
use crate::redact::carrier::{BodyCarrier, Carrier, CarrierText, TextVisitor, plain};
use crate::redact::document::JsonTexts;
use crate::redact::error::RedactError;
use crate::redact::opaque::{ScanMode, StringPart};
use crate::redact::surrogate_map::FindingLimits;
use crate::stream::json::{Decoded, JsonToken, encoded, walk};
use crate::stream::multipart::{HeadText, PartHead, PartSpan, SaidLength};

/// A multipart body.
pub(super) struct MultipartCarrier<'b> {
    body: &'b [u8],
    parts: Vec<PartCarrier<'b>>,
}

/// One part of it.
pub(super) struct PartCarrier<'b> {
    span: &'b PartSpan,
    head: Vec<HeadText>,
    length: Option<SaidLength>,
    content: BodyCarrier<'b>,
}

impl<'b> PartCarrier<'b> {
    /// The part of a body at `span`, which holds this.
    pub(super) fn new(
        body: &[u8],
        span: &'b PartSpan,
        content: BodyCarrier<'b>,
    ) -> Result<Self, RedactError> {
        let lines = body.get(span.head.clone()).unwrap_or_default();
        let PartHead { texts: head, length, .. } =
            PartHead::parse(lines).map_err(|_| RedactError::Multipart)?;
        Ok(Self { span, head, length, content })
    }
}

impl<'b> MultipartCarrier<'b> {
    pub(super) fn new(body: &'b [u8], parts: Vec<PartCarrier<'b>>) -> Self {
        Self { body, parts }
    }
}

impl Carrier for MultipartCarrier<'_> {
    type Written = Vec<u8>;

    fn prepare(&mut self, labels: bool) {
        self.parts.iter_mut().for_each(|part| part.content.prepare(labels));
    }

    fn visit(&mut self, see: TextVisitor<'_>) -> Result<Vec<u8>, RedactError> {
        let (mut out, mut at) = (Vec::with_capacity(self.body.len()), 0);
        for PartCarrier { span, head, length, content } in &mut self.parts {
            out.extend_from_slice(self.body.get(at..span.head.start).unwrap_or_default());
            let mut edits: Vec<Edit> = Vec::new();
            for text in head.iter() {
                let inner = plain(see(CarrierText::of(StringPart::text(&text.text))));
                edits.extend(inner.into_iter().map(|edit| text.in_source(edit)));
            }
            let content = content.visit(see)?;
            if let Some(SaidLength { digits, bytes }) = length
                && content.len() != *bytes
            {
                let at = edits.partition_point(|edit| edit.range.start < digits.start);
                edits.insert(at, Edit { range: digits.clone(), with: content.len().to_string() });
            }
            out.extend_from_slice(&spliced(self.body.get(span.head.clone()).unwrap_or_default(), &edits));
            out.extend_from_slice(self.body.get(span.head.end..span.body.start).unwrap_or_default());
            out.extend_from_slice(&content);
            at = span.body.end;
        }
        out.extend_from_slice(self.body.get(at..).unwrap_or_default());
        Ok(out)
    }

    fn bytes(&self) -> Cow<'_, [u8]> {
        let mut bytes = Vec::with_capacity(self.body.len());
        for PartCarrier { head, content, .. } in &self.parts {
            for text in head {
                bytes.extend_from_slice(text.text.as_bytes());
                bytes.push(b'\n');
            }
            bytes.extend_from_slice(&content.bytes());
            bytes.push(b'\n');
        }
        bytes.into()
    }
}

/// The value of a field, which is called as that.
pub(super) struct FormField<'b> {
    body: &'b [u8],
    /// The value as the member of a document, if it is text.
    document: Option<Vec<u8>>,
    texts: JsonTexts<'static>,
}

impl<'b> FormField<'b> {
    pub(super) fn new(name: &str, body: &'b [u8], limits: FindingLimits) -> Self {
        let member = |value: &str| format!("{{\"{}\":\"{}\"}}", encoded(name), encoded(value)).into_bytes();
        let document = std::str::from_utf8(body).ok().map(member);
        Self { body, document, texts: JsonTexts::everything(limits) }
    }
}

impl Carrier for FormField<'_> {
    type Written = Vec<u8>;

    fn prepare(&mut self, labels: bool) {
        self.texts.prepare(labels);
    }

    fn visit(&mut self, see: TextVisitor<'_>) -> Result<Vec<u8>, RedactError> {
        let Some(document) = &self.document else {
            return crate::redact::plain::BodyText(self.body).visit(see);
        };
        // The name is looked at where it stands.
        let edits = self.texts.visit(document, see)?;
        self.texts.opened()?;
        if edits.is_empty() {
            return Ok(self.body.to_vec());
        }
        let (document, mut value) = (spliced(document, &edits), Vec::new());
        let walked = walk(&document, &mut |_, leaf| {
            if leaf.token == JsonToken::Text {
                value = Decoded::of(document.get(leaf.span).unwrap_or_default()).text().as_bytes().to_vec();
            }
        });
        debug_assert_eq!(walked, Ok(()), "edits of a document leave one");
        Ok(value)
    }

    fn bytes(&self) -> Cow<'_, [u8]> {
        self.body.into()
    }
}

/// Bytes that are not read.
pub(super) struct UnreadBytes<'b>(pub(super) &'b [u8]);

impl Carrier for UnreadBytes<'_> {
    type Written = Vec<u8>;

    fn visit(&mut self, see: TextVisitor<'_>) -> Result<Vec<u8>, RedactError> {
        see(CarrierText::of(StringPart::unread("", ScanMode::Not)));
        Ok(self.0.to_vec())
    }

    fn bytes(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&[])
    }
}
