//! Anthropic's Messages (API reference, "Messages", "Streaming messages"), also on Vertex AI.

use crate::gateway::error::ErrorShape;
use crate::gateway::llm::protocol::TokenCount::{CacheWrite, CachedInput, FreshInput, Output};
use crate::gateway::llm::protocol::{
    ChannelRule, CloseRule, DeltaRule, ModelNaming, Nested, Protocol, SignedRule, SignedScope, StreamProtocol,
};
use crate::stream::json::Treatment::{self, Embedded, Text, Typed};
use crate::stream::json::Type::{Id, Name, Number, Opaque};

/// Blocks are told apart by their number.
pub(super) const BLOCK: &[ChannelRule] = &[ChannelRule::Value("index")];

const fn delta(at: &'static str, treatment: Treatment) -> DeltaRule {
    DeltaRule { at, treatment, when: None, key: BLOCK }
}

/// How texts go on over events, wherever Anthropic's are.
pub(super) const EVENTS: StreamProtocol = StreamProtocol {
    deltas: &[
        delta("delta.text", Text),
        delta("delta.thinking", Text),
        // Compacted context.
        delta("delta.content", Text),
        delta("delta.partial_json", Embedded),
        // Of the interface before messages.
        delta("completion", Text),
    ],
    closes: &[
        CloseRule { at: "type", is: Some("content_block_stop"), key: BLOCK },
        // What is signed is complete.
        CloseRule { at: "delta.signature", is: None, key: BLOCK },
        CloseRule { at: "type", is: Some("message_delta"), key: &[] },
        CloseRule { at: "type", is: Some("message_stop"), key: &[] },
        CloseRule { at: "error", is: None, key: &[] },
    ],
    free_form: &["**.input"],
    signed: &[
        SignedRule {
            at: "delta.signature",
            covers: SignedScope::Channel { delta: "delta.thinking", key: BLOCK, member: "thinking" },
        },
        SignedRule { at: "content[*].signature", covers: SignedScope::Beside(&["content[*].thinking"]) },
        SignedRule {
            at: "result.message.content[*].signature",
            covers: SignedScope::Beside(&["result.message.content[*].thinking"]),
        },
    ],
    final_events: &[b"\"type\":\"message_stop\""],
    ..StreamProtocol::NONE
};

/// `POST …/v1/messages` and what belongs to it.
pub(super) static MESSAGES: Protocol = Protocol {
    name: "anthropic",
    paths: &[
        "/v1/messages",
        "/v1/messages/count_tokens",
        "/v1/messages/batches",
        "/v1/messages/batches/*",
        "/v1/messages/batches/*/results",
        "/v1/complete",
        "/publishers/anthropic/models/*:rawPredict",
        "/publishers/anthropic/models/*:streamRawPredict",
    ],
    shape: ErrorShape::Anthropic,
    request: &[
        ("model", Typed(Name)),
        ("max_tokens", Typed(Number)),
        ("messages[*].content[*].id", Typed(Id)),
        ("messages[*].content[*].tool_use_id", Typed(Id)),
        ("messages[*].content[*].signature", Typed(Opaque)),
        ("messages[*].content[*].encrypted_content", Typed(Opaque)),
        ("messages[*].content[*].encrypted_index", Typed(Opaque)),
        ("messages[*].content[*].encrypted_stdout", Typed(Opaque)),
        ("messages[*].content[*].content[*].encrypted_content", Typed(Opaque)),
        ("messages[*].content[*].content.encrypted_content", Typed(Opaque)),
        ("messages[*].content[*].citations[*].encrypted_index", Typed(Opaque)),
        ("messages[*].content[*].data", Typed(Opaque)),
        ("messages[*].content[*].content[*].citations[*].encrypted_index", Typed(Opaque)),
    ],
    answer: &[
        ("id", Typed(Id)),
        ("model", Typed(Name)),
        ("request_id", Typed(Id)),
        ("message.id", Typed(Id)),
        ("message.model", Typed(Name)),
        ("content[*].id", Typed(Id)),
        ("content[*].tool_use_id", Typed(Id)),
        ("content[*].signature", Typed(Opaque)),
        ("content[*].encrypted_content", Typed(Opaque)),
        ("content[*].encrypted_index", Typed(Opaque)),
        ("content[*].encrypted_stdout", Typed(Opaque)),
        ("content[*].content[*].encrypted_content", Typed(Opaque)),
        ("content[*].content.encrypted_content", Typed(Opaque)),
        ("content[*].citations[*].encrypted_index", Typed(Opaque)),
        ("content[*].data", Typed(Opaque)),
        ("content_block.id", Typed(Id)),
        ("content_block.signature", Typed(Opaque)),
        ("content_block.encrypted_content", Typed(Opaque)),
        ("content_block.encrypted_index", Typed(Opaque)),
        ("content_block.encrypted_stdout", Typed(Opaque)),
        ("content_block.content[*].encrypted_content", Typed(Opaque)),
        ("content_block.content.encrypted_content", Typed(Opaque)),
        ("content_block.citations[*].encrypted_index", Typed(Opaque)),
        ("content_block.data", Typed(Opaque)),
        ("delta.signature", Typed(Opaque)),
        ("delta.encrypted_content", Typed(Opaque)),
        ("delta.citation.encrypted_index", Typed(Opaque)),
        ("content_block.tool_use_id", Typed(Id)),
        ("data[*].id", Typed(Id)),
        ("first_id", Typed(Id)),
        ("last_id", Typed(Id)),
    ],
    // Of a batch; its answers come one a line.
    nested: Nested { requests: &["requests[*].params"], answers: &["result.message"] },
    stream: EVENTS,
    model: ModelNaming { free: &["/messages/count_tokens"], ..ModelNaming::MEMBER },
    usage: &[
        ("usage.input_tokens", FreshInput),
        ("usage.cache_read_input_tokens", CachedInput),
        ("usage.cache_creation_input_tokens", CacheWrite),
        ("usage.output_tokens", Output),
        // Of the first event; the last one has all that was written.
        ("message.usage.input_tokens", FreshInput),
        ("message.usage.cache_read_input_tokens", CachedInput),
        ("message.usage.cache_creation_input_tokens", CacheWrite),
        ("message.usage.output_tokens", Output),
    ],
};
