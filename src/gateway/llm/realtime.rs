//! OpenAI's Realtime (API reference, "Realtime": client and server events), also as Azure has it: messages of a WebSocket.
//! Those of the client are redacted one by one; those of the server are the documents of one stream.

use crate::gateway::error::ErrorShape;
use crate::gateway::llm::protocol::TokenCount::{CachedInput, Input, Output};
use crate::gateway::llm::protocol::{
    ChannelRule, CloseRule, EchoRule, ModelNaming, Nested, Protocol, StreamProtocol,
};
use crate::gateway::llm::responses::{PLACE, close, delta};
use crate::stream::json::Treatment::{Embedded, Text, Typed};
use crate::stream::json::Type::{Id, Name, Number, Opaque};

/// A part of what an item of a response says. Arguments of calls have no number of a part.
const PART: &[ChannelRule] = &[ChannelRule::Value("response_id"), PLACE, ChannelRule::Value("content_index")];

/// An item of a response.
const ITEM: &[ChannelRule] = &[ChannelRule::Value("response_id"), PLACE];

/// A part of what the caller has said, written down.
const HEARD: &[ChannelRule] = &[ChannelRule::Value("item_id"), ChannelRule::Value("content_index")];

/// `…/realtime`, `…/realtime/translations`, and what makes sessions for them.
pub(super) static REALTIME: Protocol = Protocol {
    name: "openai_realtime",
    paths: &[
        "/realtime",
        "/realtime/translations",
        "/live/sessions",
        "/live/sessions/*/attach",
        "/live/sessions/*/fork",
        "/realtime/client_secrets",
        "/realtime/translations/client_secrets",
        "/realtime/sessions",
        "/realtime/transcription_sessions",
    ],
    shape: ErrorShape::OpenAi,
    request: &[
        ("type", Typed(Name)),
        ("event_id", Typed(Id)),
        ("item_id", Typed(Id)),
        ("response_id", Typed(Id)),
        ("previous_item_id", Typed(Id)),
        ("audio", Typed(Opaque)),
        ("session.model", Typed(Name)),
        ("item.id", Typed(Id)),
        ("item.call_id", Typed(Id)),
        ("item.approval_request_id", Typed(Id)),
        ("item.arguments", Embedded),
        ("item.output", Embedded),
        ("item.content[*].audio", Typed(Opaque)),
        ("response.input[*].id", Typed(Id)),
        ("response.input[*].call_id", Typed(Id)),
        ("response.input[*].arguments", Embedded),
        ("response.input[*].output", Embedded),
        ("response.input[*].content[*].audio", Typed(Opaque)),
    ],
    answer: &[
        ("type", Typed(Name)),
        ("event_id", Typed(Id)),
        ("item_id", Typed(Id)),
        ("response_id", Typed(Id)),
        ("previous_item_id", Typed(Id)),
        ("call_id", Typed(Id)),
        ("obfuscation", Typed(Id)),
        ("arguments", Embedded),
        ("item.id", Typed(Id)),
        ("item.call_id", Typed(Id)),
        ("item.arguments", Embedded),
        ("item.output", Embedded),
        ("item.content[*].audio", Typed(Opaque)),
        ("part.audio", Typed(Opaque)),
        ("session.id", Typed(Id)),
        ("session.object", Typed(Name)),
        ("session.model", Typed(Name)),
        ("session.client_secret.value", Typed(Id)),
        ("client_secret.value", Typed(Id)),
        ("value", Typed(Id)),
        ("error.event_id", Typed(Id)),
        ("response.id", Typed(Id)),
        ("response.object", Typed(Name)),
        ("response.conversation_id", Typed(Id)),
        ("response.output[*].id", Typed(Id)),
        ("response.output[*].call_id", Typed(Id)),
        ("response.output[*].arguments", Embedded),
        ("response.output[*].output", Embedded),
        ("response.output[*].content[*].audio", Typed(Opaque)),
        ("rate_limits[*].limit", Typed(Number)),
        ("rate_limits[*].remaining", Typed(Number)),
    ],
    nested: Nested::NONE,
    stream: StreamProtocol {
        deltas: &[
            delta("response.output_text.delta", Text, PART),
            delta("response.output_audio_transcript.delta", Text, PART),
            delta("response.function_call_arguments.delta", Embedded, PART),
            delta("response.mcp_call_arguments.delta", Embedded, PART),
            // As they were called before.
            delta("response.text.delta", Text, PART),
            delta("response.audio_transcript.delta", Text, PART),
            delta("conversation.item.input_audio_transcription.delta", Text, HEARD),
            // Translations are one text, as long as the session.
            delta("session.input_transcript.delta", Text, &[]),
            delta("session.output_transcript.delta", Text, &[]),
            delta("response.output_audio.delta", Typed(Opaque), PART),
            delta("response.audio.delta", Typed(Opaque), PART),
            delta("session.output_audio.delta", Typed(Opaque), &[]),
        ],
        closes: &[
            close("response.output_text.done", PART),
            close("response.output_audio_transcript.done", PART),
            close("response.function_call_arguments.done", PART),
            close("response.mcp_call_arguments.done", PART),
            close("response.text.done", PART),
            close("response.audio_transcript.done", PART),
            close("response.content_part.done", PART),
            close(
                "response.output_item.done",
                &[ChannelRule::Value("response_id"), ChannelRule::Either("output_index", "item.id")],
            ),
            // Where one of both events has no place in the output.
            close(
                "response.output_item.done",
                &[ChannelRule::Value("response_id"), ChannelRule::Mark("item.id")],
            ),
            close("response.mcp_call.completed", ITEM),
            close("response.mcp_call.failed", ITEM),
            close("response.done", &[ChannelRule::Value("response.id")]),
            close("conversation.item.input_audio_transcription.completed", HEARD),
            close("conversation.item.input_audio_transcription.failed", HEARD),
            close("session.closed", &[]),
            // Errors of single events leave the rest of the session as it is.
            CloseRule { at: "error.type", is: Some("server_error"), key: &[] },
        ],
        echoes: &[EchoRule { at: "logprobs", with: "[]" }],
        ..StreamProtocol::NONE
    },
    // Sessions are spoken elsewhere, past whoever counts.
    model: ModelNaming {
        blind: &[
            "/realtime/client_secrets",
            "/realtime/translations/client_secrets",
            "/realtime/sessions",
            "/realtime/transcription_sessions",
            "/live/sessions",
        ],
        ..ModelNaming::MEMBER
    },
    usage: &[
        ("response.usage.input_tokens", Input),
        ("response.usage.input_token_details.cached_tokens", CachedInput),
        ("response.usage.output_tokens", Output),
    ],
};
