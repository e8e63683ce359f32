//! OpenAI's chat completions (API reference, "Chat"), and what others that speak it add: `reasoning_content`
//! (DeepSeek), `reasoning` (OpenRouter), Azure's filter results.

use crate::gateway::error::ErrorShape;
use crate::gateway::llm::protocol::Protocol;
use crate::stream::json::Take::{Embedded, Text, Typed};
use crate::stream::json::Type::{Id, Name, Number};

/// `POST …/chat/completions`.
pub(super) static CHAT: Protocol = Protocol {
    name: "openai_chat",
    path: "/chat/completions",
    shape: ErrorShape::OpenAi,
    final_event: b"data:[DONE]",
    ask: &[
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
    reply: &[
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
    delta: &[
        ("choices[*].delta.content", Text),
        ("choices[*].delta.refusal", Text),
        ("choices[*].delta.reasoning_content", Text),
        ("choices[*].delta.reasoning", Text),
        ("choices[*].delta.audio.transcript", Text),
        ("choices[*].delta.tool_calls[*].function.arguments", Embedded),
        ("choices[*].delta.function_call.arguments", Embedded),
        // Legacy completions carry their text one level higher.
        ("choices[*].text", Text),
    ],
};
