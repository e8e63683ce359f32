//! Mistral's conversations and agents (API reference, "Conversations", "Agents"). Its chat is OpenAI's.

use crate::gateway::error::ErrorShape;
use crate::gateway::llm::protocol::TokenCount::{Input, Output};
use crate::gateway::llm::protocol::{
    ChannelRule, CloseRule, DeltaRule, EventCondition, ModelNaming, Nested, Protocol, StreamProtocol,
};
use crate::stream::json::Treatment::{self, Embedded, Text, Typed};
use crate::stream::json::Type::{Id, Name, Number};

/// A part of an output.
const CONTENT: &[ChannelRule] = &[ChannelRule::Value("output_index"), ChannelRule::Value("content_index")];

const OUTPUT: &[ChannelRule] = &[ChannelRule::Value("output_index")];

const fn delta(
    at: &'static str,
    event: &'static str,
    treatment: Treatment,
    key: &'static [ChannelRule],
) -> DeltaRule {
    DeltaRule { at, treatment, when: Some(EventCondition { at: "type", is: event }), key }
}

/// `POST /v1/conversations` and what belongs to it.
pub(super) static CONVERSATIONS: Protocol = Protocol {
    name: "mistral_conversations",
    paths: &["/v1/conversations", "/v1/conversations/*", "/v1/conversations/*/*", "/v1/ocr"],
    shape: ErrorShape::Mistral,
    request: &[
        ("model", Typed(Name)),
        ("agent_id", Typed(Id)),
        ("completion_args.random_seed", Typed(Number)),
        ("inputs[*].arguments", Embedded),
        ("inputs[*].result", Embedded),
        ("inputs[*].tool_call_id", Typed(Id)),
        // OpenAI has conversations at the same paths.
        ("items[*].arguments", Embedded),
        ("items[*].output", Embedded),
        ("items[*].id", Typed(Id)),
        ("items[*].call_id", Typed(Id)),
    ],
    answer: &[
        ("conversation_id", Typed(Id)),
        ("outputs[*].id", Typed(Id)),
        ("outputs[*].tool_call_id", Typed(Id)),
        ("outputs[*].arguments", Embedded),
        ("id", Typed(Id)),
        ("tool_call_id", Typed(Id)),
        ("model", Typed(Name)),
        ("data[*].id", Typed(Id)),
        ("data[*].call_id", Typed(Id)),
    ],
    nested: Nested::NONE,
    stream: StreamProtocol {
        deltas: &[
            delta("content", "message.output.delta", Text, CONTENT),
            delta("content.text", "message.output.delta", Text, CONTENT),
            delta("content.thinking[*].text", "message.output.delta", Text, CONTENT),
            delta("arguments", "function.call.delta", Embedded, OUTPUT),
            delta("arguments", "tool.execution.delta", Embedded, OUTPUT),
        ],
        closes: &[
            CloseRule { at: "type", is: Some("tool.execution.done"), key: OUTPUT },
            CloseRule { at: "type", is: Some("conversation.response.done"), key: &[] },
            CloseRule { at: "type", is: Some("conversation.response.error"), key: &[] },
        ],
        free_form: &["**.arguments"],
        end_data: b"[DONE]",
        final_events: &[
            b"data:[DONE]",
            b"\"type\":\"conversation.response.done\"",
            b"\"type\":\"conversation.response.error\"",
        ],
        ..StreamProtocol::NONE
    },
    model: ModelNaming::MEMBER,
    usage: &[("usage.prompt_tokens", Input), ("usage.completion_tokens", Output)],
};
