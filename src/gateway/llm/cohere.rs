//! Cohere's chat, embed, rerank and batches (API reference, version 2), and the chat of version 1.

use crate::gateway::error::ErrorShape;
use crate::gateway::llm::offsets::{OffsetUnit, Offsets};
use crate::gateway::llm::protocol::TokenCount::{CachedInput, Input, Output};
use crate::gateway::llm::protocol::{
    ChannelRule, CloseRule, DeltaRule, EchoRule, EventCondition, ModelNaming, Nested, Protocol,
    StreamProtocol,
};
use crate::stream::json::Treatment::{self, Embedded, Text, Typed};
use crate::stream::json::Type::{Id, Name, Number};

/// Contents and tool calls are told apart by their number.
const INDEX: &[ChannelRule] = &[ChannelRule::Value("index")];

const fn delta(at: &'static str, treatment: Treatment, key: &'static [ChannelRule]) -> DeltaRule {
    DeltaRule { at, treatment, when: None, key }
}

const fn close(event: &'static str, key: &'static [ChannelRule]) -> CloseRule {
    CloseRule { at: "type", is: Some(event), key }
}

/// Of citations, into a content.
const fn cited(of: &'static str) -> Offsets {
    Offsets {
        of,
        part: Some("message.citations[*].content_index"),
        unless: Some(("message.citations[*].type", "PLAN")),
        unit: OffsetUnit::Character,
        starts: "message.citations[*].start",
        ends: "message.citations[*].end",
    }
}

/// `POST /v2/chat` and what belongs to it.
pub(super) static V2: Protocol = Protocol {
    name: "cohere",
    paths: &["/v2/chat", "/v2/embed", "/v2/rerank", "/v2/parse", "/v2/batches", "/v2/batches/*"],
    shape: ErrorShape::Cohere,
    request: &[
        ("model", Typed(Name)),
        ("seed", Typed(Number)),
        ("messages[*].tool_calls[*].function.arguments", Embedded),
        ("messages[*].tool_calls[*].id", Typed(Id)),
        ("messages[*].tool_call_id", Typed(Id)),
        ("input_dataset_id", Typed(Id)),
    ],
    answer: &[
        ("id", Typed(Id)),
        ("batch.id", Typed(Id)),
        ("batch.model", Typed(Name)),
        ("batch.input_dataset_id", Typed(Id)),
        ("batch.output_dataset_id", Typed(Id)),
        ("batches[*].id", Typed(Id)),
        ("batches[*].model", Typed(Name)),
        ("batches[*].input_dataset_id", Typed(Id)),
        ("batches[*].output_dataset_id", Typed(Id)),
        ("message.tool_calls[*].id", Typed(Id)),
        ("message.tool_calls[*].function.arguments", Embedded),
        ("delta.message.tool_calls.id", Typed(Id)),
    ],
    nested: Nested::NONE,
    stream: StreamProtocol {
        deltas: &[
            delta("delta.message.content.text", Text, INDEX),
            delta("delta.message.content.thinking", Text, INDEX),
            delta("delta.message.tool_plan", Text, &[]),
            delta("delta.message.tool_calls.function.arguments", Embedded, INDEX),
        ],
        closes: &[
            close("content-end", INDEX),
            close("tool-call-end", INDEX),
            // The plan is complete where the first call begins.
            close("tool-call-start", &[]),
            close("message-end", &[]),
        ],
        echoes: &[EchoRule { at: "logprobs", with: "null" }],
        offsets: &[cited("message.content[*].text"), cited("message.content[*].thinking")],
        free_form: &["**.document", "**.tool_output"],
        end_data: b"[DONE]",
        final_events: &[b"data:[DONE]", b"\"type\":\"message-end\""],
        ..StreamProtocol::NONE
    },
    // What is in a batch stands in a dataset.
    model: ModelNaming { blind: &["/v2/batches"], idle: &["/v2/batches/*"], ..ModelNaming::MEMBER },
    usage: &[
        ("usage.billed_units.input_tokens", Input),
        ("usage.billed_units.output_tokens", Output),
        ("usage.cached_tokens", CachedInput),
        ("delta.usage.cached_tokens", CachedInput),
        ("delta.usage.billed_units.input_tokens", Input),
        ("delta.usage.billed_units.output_tokens", Output),
        ("meta.billed_units.input_tokens", Input),
    ],
};

/// `POST /v1/chat`: documents one a line, or events.
pub(super) static V1: Protocol = Protocol {
    name: "cohere_v1",
    paths: &["/v1/chat"],
    shape: ErrorShape::Cohere,
    request: &[("model", Typed(Name)), ("seed", Typed(Number))],
    answer: &[("generation_id", Typed(Id)), ("response_id", Typed(Id))],
    nested: Nested::NONE,
    stream: StreamProtocol {
        deltas: &[
            DeltaRule {
                at: "text",
                treatment: Text,
                when: Some(EventCondition { at: "event_type", is: "text-generation" }),
                key: &[],
            },
            DeltaRule {
                at: "text",
                treatment: Text,
                when: Some(EventCondition { at: "event_type", is: "tool-calls-chunk" }),
                key: &[],
            },
            DeltaRule {
                at: "tool_call_delta.parameters",
                treatment: Embedded,
                when: Some(EventCondition { at: "event_type", is: "tool-calls-chunk" }),
                key: &[ChannelRule::Value("tool_call_delta.index")],
            },
        ],
        closes: &[CloseRule { at: "event_type", is: Some("stream-end"), key: &[] }],
        offsets: &[
            Offsets {
                of: "text",
                part: None,
                unless: None,
                unit: OffsetUnit::Character,
                starts: "citations[*].start",
                ends: "citations[*].end",
            },
            // What a stream ends with says all again.
            Offsets {
                of: "response.text",
                part: None,
                unless: None,
                unit: OffsetUnit::Character,
                starts: "response.citations[*].start",
                ends: "response.citations[*].end",
            },
        ],
        free_form: &["**.parameters", "**.documents", "**.outputs"],
        final_events: &[b"\"is_finished\":true"],
        ..StreamProtocol::NONE
    },
    model: ModelNaming::MEMBER,
    usage: &[
        ("meta.billed_units.input_tokens", Input),
        ("meta.billed_units.output_tokens", Output),
        ("response.meta.billed_units.input_tokens", Input),
        ("response.meta.billed_units.output_tokens", Output),
    ],
};
