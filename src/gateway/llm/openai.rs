//! OpenAI's chat completions (API reference, "Chat"), and what others that speak it add: `reasoning_content`
//! (DeepSeek), `reasoning` (OpenRouter), Azure's filter results.

use crate::gateway::fault::Shape;
use crate::gateway::llm::Protocol;
use crate::stream::json::Take::{Embedded, Skip, Text};

/// `POST …/chat/completions`.
pub(super) static CHAT: Protocol = Protocol {
    name: "openai_chat",
    path: "/chat/completions",
    shape: Shape::OpenAi,
    ask: &[
        ("messages[*].tool_calls[*].function.arguments", Embedded),
        ("messages[*].function_call.arguments", Embedded),
        // Bare base64 sound: it has no words, and a chance match would spoil it.
        ("messages[*].content[*].input_audio.data", Skip),
        // Numbers that steer the model.
        ("seed", Skip),
        ("max_tokens", Skip),
        ("max_completion_tokens", Skip),
        ("logit_bias.*", Skip),
    ],
    reply: &[
        ("choices[*].message.tool_calls[*].function.arguments", Embedded),
        ("choices[*].message.function_call.arguments", Embedded),
        ("choices[*].message.audio.data", Skip),
        ("choices[*].delta.audio.data", Skip),
        // Names that the upstream gives, and times.
        ("id", Skip),
        ("object", Skip),
        ("model", Skip),
        ("created", Skip),
        ("system_fingerprint", Skip),
        ("obfuscation", Skip),
        ("choices[*].message.tool_calls[*].id", Skip),
        ("choices[*].delta.tool_calls[*].id", Skip),
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
