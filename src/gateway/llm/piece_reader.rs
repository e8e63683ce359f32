//! [`PieceReader`]: which strings of a document are text, and what becomes of those that are complete.

use std::sync::Arc;

use crate::edit::{Edit, spliced};
use crate::gateway::llm::piece::{DeltaPiece, Piece, PieceKind, delta, signature};
use crate::gateway::llm::place::EventDocument;
use crate::gateway::llm::protocol::CompiledProtocol;
use crate::redact::encodes_text;
use crate::stream::json::{
    Decoded, Embedded, JsonToken, Leaf, Path, Treatment, Type, digits_of, is_id, numbers_record, walk,
    with_digits,
};
use crate::stream::{Editor, StreamError, TextUse};

/// Makes a fresh editor for each channel.
pub type EditorFactory = Arc<dyn Fn() -> Box<dyn Editor> + Send + Sync>;

/// Reads the documents of an answer.
pub(super) struct PieceReader {
    protocol: Arc<CompiledProtocol>,
    editor: EditorFactory,
    edits: Vec<Edit>,
}

impl PieceReader {
    /// Reads those of one protocol.
    pub(super) fn new(protocol: Arc<CompiledProtocol>, editor: EditorFactory) -> Self {
        Self { protocol, editor, edits: Vec::new() }
    }

    /// What it reads.
    pub(super) fn protocol(&self) -> &Arc<CompiledProtocol> {
        &self.protocol
    }

    /// The strings of a document that are text; `None` if it is not one document.
    pub(super) fn pieces(
        &mut self,
        data: &[u8],
        document: &EventDocument<'_>,
    ) -> Result<Option<Vec<Piece>>, StreamError> {
        let protocol = Arc::clone(&self.protocol);
        let stream = &protocol.stream;
        let (mut pieces, mut failed) = (Vec::new(), Ok(()));
        let walked = walk(data, &mut |path, leaf| {
            if stream.echoes.iter().any(|echo| echo.at.holds(path)) {
                return;
            }
            if leaf.token != JsonToken::Text {
                match self.name_or_number(path, &leaf, data) {
                    Ok(None) => {}
                    Ok(Some(kind)) => {
                        let (elements, edits) = (Vec::new(), Vec::new());
                        pieces.push(Piece { span: leaf.span, token: leaf.token, elements, kind, edits });
                    }
                    Err(error) => failed = Err(error),
                }
                return;
            }
            let named = delta(stream, path, document).or_else(|| signature(stream, path));
            let typed = match &named {
                Some(PieceKind::Delta(DeltaPiece { treatment: typed @ Treatment::Typed(_), .. })) => {
                    Some(*typed)
                }
                _ => None,
            };
            self.edits.clear();
            let kind = match named.filter(|_| typed.is_none()) {
                Some(kind) => kind,
                None => {
                    let decoded = Decoded::of(data.get(leaf.span.clone()).unwrap_or_default());
                    let taken = typed.unwrap_or_else(|| protocol.answer.take(path));
                    let treatment = match taken {
                        Treatment::Typed(_) if encodes_text(decoded.text()) => Treatment::Text,
                        treatment => treatment.of(leaf.token, decoded.text()),
                    };
                    // One that is a number stays as its server made it, unless the caller's stands in it.
                    let id = taken == Treatment::Typed(Type::Id) && is_id(decoded.text());
                    let treatment = if id && treatment == Treatment::Text { taken } else { treatment };
                    if treatment == Treatment::Skip {
                        if taken == Treatment::Typed(Type::Opaque) {
                            (self.editor)().unread();
                        }
                        return;
                    }
                    match self.complete(Some(path), decoded.text(), treatment) {
                        Ok(PieceKind::Whole(None)) => return,
                        Ok(kind) => kind,
                        Err(error) => {
                            failed = Err(error);
                            return;
                        }
                    }
                }
            };
            let elements = stream.echoes.iter().map(|echo| echo.at.element(path)).collect();
            let pointed = stream.offsets.iter().any(|offsets| offsets.of.positions(path).is_some());
            let edits = if pointed { self.take_edits() } else { Vec::new() };
            pieces.push(Piece { span: leaf.span, token: leaf.token, elements, kind, edits });
        });
        failed.map(|()| walked.is_ok().then_some(pieces))
    }

    /// What becomes of a member's name or a long number where nothing is known of the value around it. A number stays one.
    fn name_or_number(
        &mut self,
        path: &Path<'_>,
        leaf: &Leaf,
        data: &[u8],
    ) -> Result<Option<PieceKind>, StreamError> {
        let protocol = Arc::clone(&self.protocol);
        if protocol.stream.free_form.take(path) == Treatment::Skip {
            return Ok(None);
        }
        let spelled = Decoded::of(data.get(leaf.span.clone()).unwrap_or_default());
        let spelled = spelled.text();
        let text = if leaf.token == JsonToken::Number { digits_of(spelled) } else { spelled };
        let number = |edited: String| match with_digits(spelled, &edited) {
            quoted if quoted.starts_with('"') => "0".to_owned(),
            number => number,
        };
        let numeric = |edited| if leaf.token == JsonToken::Number { number(edited) } else { edited };
        let used_as = if leaf.token == JsonToken::Number && numbers_record(path, text.as_bytes()) {
            TextUse::Record
        } else {
            TextUse::Argument
        };
        Ok(match self.complete_as(Some(path), text, Treatment::Text, used_as)? {
            PieceKind::Whole(Some(edited)) => Some(PieceKind::Whole(Some(numeric(edited)))),
            PieceKind::Whole(None) | PieceKind::Delta(_) | PieceKind::Signature(..) => None,
        })
    }

    /// Data that is not JSON is text. What is nested too deep, or goes wrong late, is read as far as it is JSON.
    pub(super) fn unknown(&mut self, data: &[u8]) -> Result<Option<Vec<u8>>, StreamError> {
        let edited = self.complete(None, &String::from_utf8_lossy(data), Treatment::Embedded)?;
        Ok(edited.into_edited().map(String::into_bytes))
    }

    /// What becomes of a text that is complete, if it is edited.
    pub(super) fn complete(
        &mut self,
        path: Option<&Path<'_>>,
        text: &str,
        treatment: Treatment,
    ) -> Result<PieceKind, StreamError> {
        let given = path.is_some_and(|path| self.protocol.stream.free_form.take(path) != Treatment::Skip);
        let used_as = if given { TextUse::Argument } else { TextUse::of(treatment, path) };
        self.complete_as(path, text, treatment, used_as)
    }

    /// The same, of a text that is for this.
    fn complete_as(
        &mut self,
        path: Option<&Path<'_>>,
        text: &str,
        treatment: Treatment,
        used_as: TextUse,
    ) -> Result<PieceKind, StreamError> {
        let mut editor = self.editor(treatment, used_as);
        self.edits.clear();
        editor.under(path);
        editor.last(text, &mut self.edits)?;
        if self.edits.is_empty() {
            return Ok(PieceKind::Whole(None));
        }
        // Edits begin and end between characters.
        let edited = String::from_utf8(spliced(text.as_bytes(), &self.edits));
        let edited = edited.map_err(|_| StreamError::Replace("edit"))?;
        Ok(PieceKind::Whole((edited != text).then_some(edited)))
    }

    /// What changed in the text that was completed last.
    pub(super) fn take_edits(&mut self) -> Vec<Edit> {
        std::mem::take(&mut self.edits)
    }

    /// An editor for a text that is treated so, and is for this.
    pub(super) fn editor(&self, treatment: Treatment, used_as: TextUse) -> Box<dyn Editor> {
        let mut editor = (self.editor)();
        editor.used_as(used_as);
        match treatment {
            Treatment::Embedded => Box::new(Embedded::new(editor)),
            Treatment::Text | Treatment::Argument | Treatment::Typed(_) | Treatment::Skip => editor,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::budget::MemoryBudget;
    use crate::gateway::llm::delta::Deltas;
    use crate::gateway::llm::{gemini, responses};
    use crate::redact::fixture::redactor;
    use crate::redact::{AnswerTreatment, Keys, Method, RedactionCounts};

    #[test]
    fn what_calls_are_called_by_is_nobodys_number() {
        let redactor = redactor(Method::Mask);
        let editor: EditorFactory = Arc::new(move || {
            let counts = Arc::new(RedactionCounts::new(redactor.detector().rule_count()));
            Box::new(redactor.answer(AnswerTreatment::Mask { keys: Keys::default(), counts }))
        });
        let call = |id: &str| format!(r#"{{"output":[{{"type":"function_call","call_id":"{id}"}}]}}"#);
        let part = |id: &str| {
            format!(r#"{{"candidates":[{{"content":{{"parts":[{{"functionCall":{{"id":"{id}"}}}}]}}}}]}}"#)
        };
        for (id, stays) in [
            ("365174485", true),
            ("call_-4532015112830366", true),
            ("call_8d", true),
            ("jane.doe@harbour-post.com", false),
            ("call +1 415 867 5309", false),
        ] {
            for (protocol, data) in [(&responses::RESPONSES, call(id)), (&gemini::GENERATE, part(id))] {
                let protocol = Arc::new(CompiledProtocol::new(protocol).unwrap());
                let mut deltas = Deltas::new(protocol, Arc::clone(&editor), &MemoryBudget::process(1 << 20));
                assert_eq!(deltas.whole(data.as_bytes()).unwrap().is_none(), stays, "{data}");
            }
        }
    }
}
