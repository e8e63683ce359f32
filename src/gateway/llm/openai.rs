//! OpenAI's chat completions (API reference, "Chat"), and what others that speak it add: `reasoning_content`
//! (DeepSeek), `reasoning` (OpenRouter), Azure's filter results.

use crate::gateway::error::ErrorShape;
use crate::gateway::llm::protocol::{Close, ConversationNaming, Delta, Echo, Key, Protocol, StreamProtocol};
use crate::stream::json::Take::{self, Embedded, Text, Typed};
use crate::stream::json::Type::{Id, Name, Number};

/// Choices are told apart by their own number.
const CHOICE: &[Key] = &[Key::Value("choices[*].index")];

/// Tool calls by theirs within a choice.
const TOOL_CALL: &[Key] =
    &[Key::Value("choices[*].index"), Key::Value("choices[*].delta.tool_calls[*].index")];

const fn delta(at: &'static str, treatment: Take, key: &'static [Key]) -> Delta {
    Delta { at, treatment, when: None, key }
}

/// `POST …/chat/completions`.
pub(super) static CHAT: Protocol = Protocol {
    name: "openai_chat",
    paths: &["/chat/completions"],
    shape: ErrorShape::OpenAi,
    request: &[
        ("messages[*].tool_calls[*].function.arguments", Embedded),
        ("messages[*].function_call.arguments", Embedded),
        ("messages[*].tool_calls[*].id", Typed(Id)),
        ("messages[*].tool_call_id", Typed(Id)),
        // Numbers that steer the model, and names that are a token's id.
        ("seed", Typed(Number)),
        ("max_tokens", Typed(Number)),
        ("max_completion_tokens", Typed(Number)),
        ("logit_bias", Typed(Number)),
        ("logit_bias.*", Typed(Number)),
    ],
    answer: &[
        ("choices[*].message.tool_calls[*].function.arguments", Embedded),
        ("choices[*].message.function_call.arguments", Embedded),
        // Names that the upstream gives, and times.
        ("id", Typed(Id)),
        ("object", Typed(Name)),
        ("model", Typed(Name)),
        ("created", Typed(Number)),
        ("system_fingerprint", Typed(Id)),
        ("obfuscation", Typed(Id)),
        ("choices[*].message.tool_calls[*].id", Typed(Id)),
        ("choices[*].delta.tool_calls[*].id", Typed(Id)),
    ],
    stream: StreamProtocol {
        deltas: &[
            delta("choices[*].delta.content", Text, CHOICE),
            delta("choices[*].delta.refusal", Text, CHOICE),
            delta("choices[*].delta.reasoning_content", Text, CHOICE),
            delta("choices[*].delta.reasoning", Text, CHOICE),
            delta("choices[*].delta.audio.transcript", Text, CHOICE),
            delta("choices[*].delta.tool_calls[*].function.arguments", Embedded, TOOL_CALL),
            delta("choices[*].delta.function_call.arguments", Embedded, CHOICE),
            // Legacy completions carry their text one level higher.
            delta("choices[*].text", Text, CHOICE),
        ],
        closes: &[
            Close { at: "choices[*].finish_reason", is: None, key: CHOICE },
            Close { at: "error", is: None, key: &[] },
        ],
        echoes: &[Echo { at: "choices[*].logprobs", with: "null" }],
        numbered: false,
        end_data: b"[DONE]",
        final_event: b"data:[DONE]",
    },
};

/// Conversations of the Responses API (API reference, "Responses" and "Conversations").
pub(super) static CONVERSATIONS: ConversationNaming = ConversationNaming {
    body_paths: &["/responses", "/responses/compact", "/responses/input_tokens"],
    member: "conversation",
    collection: "conversations",
    items: "items",
};
