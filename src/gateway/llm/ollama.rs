//! Ollama's own API (`docs/api.md` of its source): NDJSON, or one document where `stream` is false.

use crate::gateway::error::ErrorShape;
use crate::gateway::llm::protocol::TokenCount::{Input, Output};
use crate::gateway::llm::protocol::{
    CloseRule, DeltaRule, EchoRule, ModelNaming, Nested, Protocol, StreamProtocol,
};
use crate::gateway::llm::turn_rule::TurnRule;
use crate::stream::json::Treatment::{Text, Typed};
use crate::stream::json::Type::{Name, Number};

const fn delta(at: &'static str) -> DeltaRule {
    DeltaRule { at, treatment: Text, when: None, key: &[] }
}

/// `POST /api/chat`, `/api/generate`, `/api/embed` and `/api/create`.
pub(super) static OLLAMA: Protocol = Protocol {
    name: "ollama",
    paths: &["/api/chat", "/api/generate", "/api/embed", "/api/embeddings", "/api/create"],
    shape: ErrorShape::Ollama,
    request: &[
        ("model", Typed(Name)),
        ("options.seed", Typed(Number)),
        // Ids of tokens.
        ("context[*]", Typed(Number)),
    ],
    answer: &[("model", Typed(Name)), ("created_at", Typed(Name))],
    nested: Nested::NONE,
    stream: StreamProtocol {
        deltas: &[delta("message.content"), delta("message.thinking"), delta("response"), delta("thinking")],
        closes: &[
            // Calls come whole, behind what is said before them.
            CloseRule { at: "message.tool_calls[*].function.name", is: None, key: &[] },
            CloseRule { at: "done", is: Some("true"), key: &[] },
            CloseRule { at: "error", is: None, key: &[] },
        ],
        echoes: &[EchoRule { at: "logprobs", with: "[]" }],
        free_form: &["**.function.arguments"],
        in_turn: &[
            TurnRule { of: &["message.thinking", "thinking"], ..TurnRule::TEXTS },
            TurnRule { of: &["message.content", "response"], ..TurnRule::TEXTS },
        ],
        final_events: &[b"\"done\":true"],
        ..StreamProtocol::NONE
    },
    // What is made of a model stands in a text there.
    model: ModelNaming { blind: &["/api/create"], bounds: &["options.num_predict"], ..ModelNaming::MEMBER },
    usage: &[("prompt_eval_count", Input), ("eval_count", Output)],
};
