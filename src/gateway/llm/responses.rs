//! OpenAI's Responses (API reference, "Responses"; events under "Streaming events"), also as Azure has them.

use crate::gateway::error::ErrorShape;
use crate::gateway::llm::offsets::{OffsetUnit, Offsets};
use crate::gateway::llm::protocol::TokenCount::{CachedInput, Input, Output, Reasoning};
use crate::gateway::llm::protocol::{
    ChannelRule, CloseRule, DeltaRule, EchoRule, EventCondition, ModelNaming, Nested, Protocol,
    StreamProtocol,
};
use crate::stream::json::Treatment::{self, Argument, Embedded, Text, Typed};
use crate::stream::json::Type::{Id, Name, Number, Opaque};

/// An item, by its place in the output: some servers give it another id in every event.
pub(super) const PLACE: ChannelRule = ChannelRule::Either("output_index", "item_id");

/// A part of an item's content.
const CONTENT: &[ChannelRule] = &[PLACE, ChannelRule::Value("content_index")];

/// A part of its summary.
const SUMMARY: &[ChannelRule] = &[PLACE, ChannelRule::Value("summary_index")];

/// An item.
const ITEM: &[ChannelRule] = &[PLACE];

/// A command of a shell call, which is known by its place in the output.
const COMMAND: &[ChannelRule] = &[ChannelRule::Value("output_index"), ChannelRule::Value("command_index")];

/// What a command of one wrote.
const OUTPUT: &[ChannelRule] = &[PLACE, ChannelRule::Value("command_index")];

/// A text that goes on in events of this type.
pub(super) const fn delta(
    event: &'static str,
    treatment: Treatment,
    key: &'static [ChannelRule],
) -> DeltaRule {
    DeltaRule { at: "delta", treatment, when: Some(EventCondition { at: "type", is: event }), key }
}

/// Events of this type end texts.
pub(super) const fn close(event: &'static str, key: &'static [ChannelRule]) -> CloseRule {
    CloseRule { at: "type", is: Some(event), key }
}

/// Of annotations, into the text beside them.
const fn pointed(of: &'static str, starts: &'static str, ends: &'static str) -> Offsets {
    Offsets { of, part: None, unless: None, unit: OffsetUnit::Character, starts, ends }
}

/// `POST …/responses` and what belongs to it.
pub(super) static RESPONSES: Protocol = Protocol {
    name: "openai_responses",
    paths: &[
        "/responses",
        "/responses/compact",
        "/responses/input_tokens",
        "/responses/*",
        "/responses/*/input_items",
        "/conversations",
        "/conversations/*",
        "/conversations/*/items",
        "/conversations/*/items/*",
    ],
    shape: ErrorShape::Responses,
    request: &[
        ("model", Typed(Name)),
        ("previous_response_id", Typed(Id)),
        ("conversation", Typed(Id)),
        ("conversation.id", Typed(Id)),
        ("max_output_tokens", Typed(Number)),
        ("input[*].arguments", Embedded),
        ("input[*].output", Embedded),
        ("input[*].id", Typed(Id)),
        ("input[*].call_id", Typed(Id)),
        ("input[*].encrypted_content", Typed(Opaque)),
        ("items[*].encrypted_content", Typed(Opaque)),
        ("items[*].arguments", Embedded),
        ("items[*].output", Embedded),
        ("items[*].id", Typed(Id)),
        ("items[*].call_id", Typed(Id)),
    ],
    answer: &[
        ("id", Typed(Id)),
        ("object", Typed(Name)),
        ("model", Typed(Name)),
        ("item_id", Typed(Id)),
        ("obfuscation", Typed(Id)),
        ("previous_response_id", Typed(Id)),
        ("arguments", Embedded),
        ("input", Argument),
        ("code", Argument),
        ("diff", Argument),
        ("command", Argument),
        ("item.arguments", Embedded),
        ("item.input", Argument),
        ("item.code", Argument),
        ("item.operation.diff", Argument),
        ("item.action.**", Argument),
        ("item.output", Embedded),
        ("item.id", Typed(Id)),
        ("item.call_id", Typed(Id)),
        ("item.encrypted_content", Typed(Opaque)),
        ("item.fingerprint", Typed(Opaque)),
        ("output[*].encrypted_content", Typed(Opaque)),
        ("output[*].fingerprint", Typed(Opaque)),
        ("response.output[*].encrypted_content", Typed(Opaque)),
        ("response.output[*].fingerprint", Typed(Opaque)),
        ("data[*].encrypted_content", Typed(Opaque)),
        ("output[*].arguments", Embedded),
        ("output[*].input", Argument),
        ("output[*].code", Argument),
        ("output[*].operation.diff", Argument),
        ("output[*].action.**", Argument),
        ("output[*].output", Embedded),
        ("output[*].id", Typed(Id)),
        ("output[*].call_id", Typed(Id)),
        ("data[*].arguments", Embedded),
        ("data[*].input", Argument),
        ("data[*].code", Argument),
        ("data[*].operation.diff", Argument),
        ("data[*].action.**", Argument),
        ("data[*].output", Embedded),
        ("data[*].id", Typed(Id)),
        ("data[*].call_id", Typed(Id)),
        ("first_id", Typed(Id)),
        ("last_id", Typed(Id)),
        ("response.id", Typed(Id)),
        ("response.model", Typed(Name)),
        ("response.previous_response_id", Typed(Id)),
        ("response.output[*].arguments", Embedded),
        ("response.output[*].input", Argument),
        ("response.output[*].code", Argument),
        ("response.output[*].operation.diff", Argument),
        ("response.output[*].action.**", Argument),
        ("response.output[*].output", Embedded),
        ("response.output[*].id", Typed(Id)),
        ("response.output[*].call_id", Typed(Id)),
    ],
    nested: Nested::NONE,
    stream: StreamProtocol {
        deltas: &[
            delta("response.output_text.delta", Text, CONTENT),
            delta("response.refusal.delta", Text, CONTENT),
            delta("response.reasoning_text.delta", Text, CONTENT),
            delta("response.reasoning_summary_text.delta", Text, SUMMARY),
            delta("response.function_call_arguments.delta", Embedded, ITEM),
            delta("response.mcp_call_arguments.delta", Embedded, ITEM),
            // As it was called before.
            delta("response.mcp_call.arguments.delta", Embedded, ITEM),
            delta("response.code_interpreter_call_code.delta", Argument, ITEM),
            delta("response.custom_tool_call_input.delta", Argument, ITEM),
            delta("response.apply_patch_call_operation_diff.delta", Argument, ITEM),
            delta("response.shell_call_command.delta", Argument, COMMAND),
            DeltaRule {
                at: "delta.stdout",
                treatment: Text,
                when: Some(EventCondition { at: "type", is: "response.shell_call_output_content.delta" }),
                key: OUTPUT,
            },
            DeltaRule {
                at: "delta.stderr",
                treatment: Text,
                when: Some(EventCondition { at: "type", is: "response.shell_call_output_content.delta" }),
                key: OUTPUT,
            },
            delta("response.audio.transcript.delta", Text, &[]),
            delta("response.audio.delta", Typed(Opaque), &[]),
        ],
        closes: &[
            close("response.output_text.done", CONTENT),
            close("response.refusal.done", CONTENT),
            close("response.reasoning_text.done", CONTENT),
            close("response.content_part.done", CONTENT),
            close("response.reasoning_summary_text.done", SUMMARY),
            close("response.reasoning_summary_part.done", SUMMARY),
            close("response.function_call_arguments.done", ITEM),
            close("response.mcp_call_arguments.done", ITEM),
            close("response.code_interpreter_call_code.done", ITEM),
            close("response.custom_tool_call_input.done", ITEM),
            close("response.apply_patch_call_operation_diff.done", ITEM),
            close("response.shell_call_command.done", COMMAND),
            close("response.mcp_call.arguments.done", ITEM),
            close("response.shell_call_output_content.done", OUTPUT),
            close("response.output_item.done", &[ChannelRule::Either("output_index", "item.id")]),
            // Where one of both events has no place in the output.
            close("response.output_item.done", &[ChannelRule::Mark("item.id")]),
            close("response.audio.transcript.done", &[]),
            close("response.completed", &[]),
            close("response.incomplete", &[]),
            close("response.failed", &[]),
            close("error", &[]),
            CloseRule { at: "error", is: None, key: &[] },
        ],
        echoes: &[
            EchoRule { at: "logprobs", with: "[]" },
            EchoRule { at: "part.logprobs", with: "[]" },
            EchoRule { at: "item.content[*].logprobs", with: "[]" },
            EchoRule { at: "output[*].content[*].logprobs", with: "[]" },
            EchoRule { at: "response.output[*].content[*].logprobs", with: "[]" },
        ],
        offsets: &[
            pointed(
                "output[*].content[*].text",
                "output[*].content[*].annotations[*].start_index",
                "output[*].content[*].annotations[*].end_index",
            ),
            pointed(
                "response.output[*].content[*].text",
                "response.output[*].content[*].annotations[*].start_index",
                "response.output[*].content[*].annotations[*].end_index",
            ),
            pointed(
                "item.content[*].text",
                "item.content[*].annotations[*].start_index",
                "item.content[*].annotations[*].end_index",
            ),
            pointed("part.text", "part.annotations[*].start_index", "part.annotations[*].end_index"),
        ],
        numbered: true,
        end_data: b"[DONE]",
        final_events: &[
            b"\"type\":\"response.completed\"",
            b"\"type\":\"response.incomplete\"",
            b"\"type\":\"response.failed\"",
        ],
        ..StreamProtocol::NONE
    },
    model: ModelNaming {
        idle: &["/conversations", "/conversations/*", "/conversations/*/items", "/conversations/*/items/*"],
        free: &["/responses/input_tokens"],
        ..ModelNaming::MEMBER
    },
    usage: &[
        ("usage.input_tokens", Input),
        ("usage.input_tokens_details.cached_tokens", CachedInput),
        ("usage.output_tokens", Output),
        ("usage.output_tokens_details.reasoning_tokens", Reasoning),
        // Of the last event.
        ("response.usage.input_tokens", Input),
        ("response.usage.input_tokens_details.cached_tokens", CachedInput),
        ("response.usage.output_tokens", Output),
        ("response.usage.output_tokens_details.reasoning_tokens", Reasoning),
    ],
};
