//! [`FollowedTexts`]: the strings of a stream whose texts its protocol follows, or which are no texts. All others may go on
//! in later documents, though no protocol says so.

use std::sync::Arc;

use crate::gateway::llm::piece::{delta, signature};
use crate::gateway::llm::place::EventDocument;
use crate::gateway::llm::protocol::CompiledProtocol;
use crate::stream::json::{Path, Treatment};
use crate::stream::reassembly::Followed;

/// Those of one protocol.
pub struct FollowedTexts(Arc<CompiledProtocol>);

impl FollowedTexts {
    /// Of a protocol's streams; `None` where the documents are not of one text: of a tool's server each is whole.
    pub fn of(protocol: &Arc<CompiledProtocol>) -> Option<Self> {
        protocol.protocol.is_of_model().then(|| Self(Arc::clone(protocol)))
    }
}

impl Followed for FollowedTexts {
    fn paths<'d>(&'d self, document: &'d [u8]) -> Box<dyn Fn(&Path<'_>) -> bool + 'd> {
        let (stream, document) = (&self.0.stream, EventDocument::new(document));
        Box::new(move |path| {
            let is_text = !matches!(self.0.answer.take(path), Treatment::Skip | Treatment::Typed(_));
            let echo = stream.echoes.iter().any(|echo| echo.at.holds(path));
            !is_text || echo || delta(stream, path, &document).is_some() || signature(stream, path).is_some()
        })
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;

    use super::*;
    use crate::base::budget::MemoryBudget;
    use crate::gateway::llm::framer::SseDeltas;
    use crate::gateway::llm::{anthropic, gemini, mcp, openai, responses};
    use crate::gateway::testing::Hide;
    use crate::stream::reassembly::{ReassembledEvents, Reassembler};
    use crate::stream::sse::Sse;
    use crate::stream::{Edit, Editor, Pipeline, Rewriter, StreamError};

    /// Hides secrets, and has others hide them.
    #[derive(Default)]
    struct Hiding(Hide);

    impl Editor for Hiding {
        fn restorer(&self) -> Option<Box<dyn Editor>> {
            Some(Box::<Hide>::default())
        }

        fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
            self.0.feed(piece, edits)
        }

        fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
            self.0.end(edits)
        }
    }

    fn passed(protocol: &Arc<CompiledProtocol>, body: &str, step: usize) -> String {
        let budget = MemoryBudget::process(1 << 20);
        let followed: Arc<dyn Followed> = Arc::new(FollowedTexts::of(protocol).unwrap());
        let by = Reassembler::new(Box::<Hiding>::default(), Some(followed), &budget).unwrap();
        let deltas = SseDeltas::new(Arc::clone(protocol), Arc::new(|| Box::<Hiding>::default()), &budget);
        let mut pipeline = Pipeline::default();
        pipeline.push(Box::new(Sse::new(ReassembledEvents::new(by), 1 << 16, &budget).data_only()));
        pipeline.push(Box::new(Sse::new(deltas, 1 << 16, &budget).data_only()));
        let mut out = BytesMut::new();
        body.as_bytes().chunks(step).for_each(|chunk| pipeline.write(chunk, &mut out).unwrap());
        pipeline.finish(&mut out).unwrap();
        drop(pipeline);
        assert_eq!(budget.used(), 0);
        String::from_utf8(out.to_vec()).unwrap()
    }

    #[test]
    fn members_that_no_protocol_names_go_on_too() {
        let chat = |delta: &str| {
            format!(r#"{{"id":"c","object":"chat.completion.chunk","choices":[{{"index":0,{delta}}}]}}"#)
        };
        let rows = [
            (&openai::CHAT, chat(r#""delta":{"executed_tools":[{"index":0,"output":"%"}]}"#)),
            (&openai::CHAT, chat(r#""delta":{"executed_tools":[{"index":0,"arguments":"%"}]}"#)),
            (&openai::CHAT, chat(r#""delta":{"reasoning_details":[{"type":"x","index":0,"content":"%"}]}"#)),
            (&openai::CHAT, chat(r#""delta":{"content":"%"},"text":"%""#)),
            (&openai::CHAT, chat(r#""messages":[{"delta":{"role":"tool","content":"%"}}]"#)),
            (&responses::RESPONSES, r#"{"type":"response.reasoning.delta","item_id":"m","delta":"%"}"#.to_owned()),
            (
                &responses::RESPONSES,
                r#"{"type":"response.reasoning_summary.delta","item_id":"m","delta":{"text":"%"}}"#.to_owned(),
            ),
            (
                &responses::RESPONSES,
                r#"{"type":"response.code_interpreter_call.code.delta","item_id":"m","delta":"%"}"#.to_owned(),
            ),
            (
                &responses::RESPONSES,
                r#"{"type":"response.output_audio_transcript.delta","item_id":"m","delta":"%"}"#.to_owned(),
            ),
            (
                &anthropic::MESSAGES,
                r#"{"type":"event_delta","event_id":"e","delta":{"type":"content_delta","index":0,"content":{"text":"%"}}}"#
                    .to_owned(),
            ),
        ];
        for (protocol, shape) in rows {
            let protocol = Arc::new(CompiledProtocol::new(protocol).unwrap());
            for step in [1, 1000] {
                let body: String = ["a ", "SE", "CR", "ET", " b", "SEC"]
                    .iter()
                    .map(|piece| format!("data: {}\n\n", shape.replace('%', piece)))
                    .collect();
                let out = passed(&protocol, &body, step);
                assert!(out.contains("<\\\">"), "{shape}: {out}");
                assert!(!out.contains("\"SE\"") && !out.contains("\"CR\""), "{shape}: {out}");
                assert!(out.contains("SEC"), "what becomes nothing is not lost");
            }
        }
    }

    #[test]
    fn what_is_whole_waits_for_nothing() {
        let rows = [
            (&responses::RESPONSES, r#"{"type":"response.output_text.done","item_id":"m","note":"SE"}"#),
            (
                &gemini::GENERATE,
                r#"{"candidates":[{"content":{"parts":[{"functionCall":{"args":{"a":"SE"}}}]}}]}"#,
            ),
            (
                &anthropic::MESSAGES,
                r#"{"type":"content_block_start","index":0,"content_block":{"note":"SE"}}"#,
            ),
        ];
        for (protocol, event) in rows {
            let protocol = Arc::new(CompiledProtocol::new(protocol).unwrap());
            let budget = MemoryBudget::process(1 << 20);
            let followed: Arc<dyn Followed> = Arc::new(FollowedTexts::of(&protocol).unwrap());
            let by = Reassembler::new(Box::<Hiding>::default(), Some(followed), &budget).unwrap();
            let mut events = Sse::new(ReassembledEvents::new(by), 1 << 16, &budget);
            let (mut out, event) = (BytesMut::new(), format!("data: {event}\n\n"));
            events.write(event.as_bytes(), &mut out).unwrap();
            assert_eq!(&out[..], event.as_bytes());
        }
        assert!(FollowedTexts::of(&Arc::new(CompiledProtocol::new(&mcp::MCP).unwrap())).is_none());
    }
}
