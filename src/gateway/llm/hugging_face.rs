//! Hugging Face's Text Generation Inference (its OpenAPI description: "generate", "generate_stream").

use crate::gateway::error::ErrorShape;
use crate::gateway::llm::protocol::TokenCount::{Input, Output};
use crate::gateway::llm::protocol::{
    CloseRule, DeltaRule, EchoRule, ModelNaming, Nested, Protocol, StreamProtocol,
};
use crate::stream::json::Treatment::{Text, Typed};
use crate::stream::json::Type::{Name, Number};

/// `POST /generate` and `/generate_stream`. Each event has a token; the last has the whole text once more.
pub(super) static GENERATE: Protocol = Protocol {
    name: "text_generation",
    paths: &["/generate", "/generate_stream"],
    // An `error` that is a text, too.
    shape: ErrorShape::Ollama,
    request: &[("parameters.seed", Typed(Number)), ("parameters.max_new_tokens", Typed(Number))],
    answer: &[("details.finish_reason", Typed(Name))],
    nested: Nested::NONE,
    stream: StreamProtocol {
        deltas: &[DeltaRule { at: "token.text", treatment: Text, when: None, key: &[] }],
        closes: &[
            CloseRule { at: "generated_text", is: None, key: &[] },
            CloseRule { at: "error", is: None, key: &[] },
        ],
        echoes: &[
            // The number of the text's token, which spells it too.
            EchoRule { at: "token.id", with: "0" },
            EchoRule { at: "top_tokens", with: "[]" },
            EchoRule { at: "details.tokens", with: "[]" },
            EchoRule { at: "details.top_tokens", with: "[]" },
            EchoRule { at: "details.best_of_sequences[*].tokens", with: "[]" },
            EchoRule { at: "details.best_of_sequences[*].top_tokens", with: "[]" },
        ],
        final_events: &[b"\"generated_text\":\""],
        ..StreamProtocol::NONE
    },
    model: ModelNaming { bounds: &["parameters.max_new_tokens"], ..ModelNaming::NONE },
    usage: &[("details.input_length", Input), ("details.generated_tokens", Output)],
};
