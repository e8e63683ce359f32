//! OpenAI's chat completions (API reference, "Chat"), and what others that speak it add: `reasoning_content`
//! (DeepSeek), `reasoning` and `reasoning_details` (vLLM, OpenRouter), contents that are lists (Mistral), Azure's filter
//! results. And its smaller interfaces: completions, embeddings, moderations, images, speech.

use crate::gateway::error::ErrorShape;
use crate::gateway::llm::gemini::INLINED;
use crate::gateway::llm::offsets::{OffsetUnit, Offsets};
use crate::gateway::llm::protocol::TokenCount::{CachedInput, Input, Output, Reasoning, Total};
use crate::gateway::llm::protocol::{
    ChannelRule, CloseRule, ConversationNaming, DeltaRule, EchoRule, EventCondition, ModelNaming, Nested,
    Protocol, SignedRule, SignedScope, StreamProtocol, TokenCount,
};
use crate::gateway::llm::turn_rule::TurnRule;
use crate::stream::json::Treatment::{self, Argument, Embedded, Text, Typed};
use crate::stream::json::Type::{Id, Name, Number, Opaque};

/// Of chat and completions; DeepSeek's name of what its cache gave; Groq's place in streams; llama.cpp's own.
const USAGE: &[(&str, TokenCount)] = &[
    ("usage.prompt_tokens", Input),
    ("usage.prompt_tokens_details.cached_tokens", CachedInput),
    ("usage.prompt_cache_hit_tokens", CachedInput),
    ("usage.completion_tokens", Output),
    ("usage.completion_tokens_details.reasoning_tokens", Reasoning),
    ("x_groq.usage.prompt_tokens", Input),
    ("x_groq.usage.completion_tokens", Output),
    ("tokens_evaluated", Input),
    ("tokens_predicted", Output),
];

/// Moderations are free; what is in a batch stands in a file.
const MODEL: ModelNaming = ModelNaming {
    free: &["/moderations"],
    blind: &["/batches"],
    bounds: &["max_completion_tokens", "max_tokens", "n_predict"],
    ..ModelNaming::MEMBER
};

/// Choices are told apart by their own number.
const CHOICE: &[ChannelRule] = &[ChannelRule::Value("choices[*].index")];

/// What repeats a text token by token: as text, and as vLLM's numbers and llama.cpp's lists.
const ECHOES: &[EchoRule] = &[
    EchoRule { at: "choices[*].logprobs", with: "null" },
    EchoRule { at: "choices[*].token_ids", with: "null" },
    EchoRule { at: "completion_probabilities", with: "[]" },
    EchoRule { at: "tokens", with: "[]" },
];

/// Where llama.cpp is given several prompts at once.
const PROMPT: &[ChannelRule] = &[ChannelRule::Value("index")];

/// Tool calls by theirs within a choice.
const TOOL_CALL: &[ChannelRule] =
    &[ChannelRule::Value("choices[*].index"), ChannelRule::Value("choices[*].delta.tool_calls[*].index")];

/// Parts of reasoning, by theirs.
const REASONING: &[ChannelRule] = &[
    ChannelRule::Value("choices[*].index"),
    ChannelRule::Value("choices[*].delta.reasoning_details[*].index"),
];

const fn delta(at: &'static str, treatment: Treatment, key: &'static [ChannelRule]) -> DeltaRule {
    DeltaRule { at, treatment, when: None, key }
}

/// `POST …/chat/completions`.
pub(super) static CHAT: Protocol = Protocol {
    name: "openai_chat",
    // Mistral has a second one for code.
    paths: &[
        "/chat/completions",
        "/chat/completions/*",
        "/chat/completions/*/messages",
        "/fim/completions",
        // Mistral's agents, and its models on Vertex AI.
        "/agents/completions",
        "/publishers/mistralai/models/*:rawPredict",
        "/publishers/mistralai/models/*:streamRawPredict",
    ],
    shape: ErrorShape::OpenAi,
    request: &[
        ("messages[*].tool_calls[*].function.arguments", Embedded),
        ("messages[*].function_call.arguments", Embedded),
        ("messages[*].tool_calls[*].id", Typed(Id)),
        ("messages[*].tool_call_id", Typed(Id)),
        ("model", Typed(Name)),
        // Mistral signs what it thought.
        ("messages[*].content[*].signature", Typed(Opaque)),
        ("messages[*].thinking_blocks[*].signature", Typed(Opaque)),
        ("messages[*].thinking_blocks[*].data", Typed(Opaque)),
        ("messages[*].reasoning_details[*].data", Typed(Opaque)),
        ("messages[*].reasoning_details[*].signature", Typed(Opaque)),
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
        ("choices[*].message.tool_calls[*].custom.input", Argument),
        // Names that the upstream gives, and times.
        ("id", Typed(Id)),
        ("object", Typed(Name)),
        ("model", Typed(Name)),
        ("created", Typed(Number)),
        ("system_fingerprint", Typed(Id)),
        ("obfuscation", Typed(Id)),
        ("choices[*].message.content[*].signature", Typed(Opaque)),
        ("choices[*].delta.content[*].signature", Typed(Opaque)),
        ("choices[*].message.thinking_blocks[*].signature", Typed(Opaque)),
        ("choices[*].delta.thinking_blocks[*].signature", Typed(Opaque)),
        ("choices[*].message.thinking_blocks[*].data", Typed(Opaque)),
        ("choices[*].delta.thinking_blocks[*].data", Typed(Opaque)),
        ("choices[*].message.provider_specific_fields.thinking_blocks[*].signature", Typed(Opaque)),
        ("choices[*].delta.provider_specific_fields.thinking_blocks[*].signature", Typed(Opaque)),
        ("choices[*].message.reasoning_details[*].data", Typed(Opaque)),
        ("choices[*].delta.reasoning_details[*].data", Typed(Opaque)),
        ("choices[*].message.reasoning_details[*].signature", Typed(Opaque)),
        ("choices[*].delta.reasoning_details[*].signature", Typed(Opaque)),
        ("choices[*].message.tool_calls[*].id", Typed(Id)),
        ("choices[*].delta.tool_calls[*].id", Typed(Id)),
    ],
    nested: Nested::NONE,
    stream: StreamProtocol {
        deltas: &[
            delta("choices[*].delta.content", Text, CHOICE),
            delta("choices[*].delta.refusal", Text, CHOICE),
            delta("choices[*].delta.reasoning_content", Text, CHOICE),
            delta("choices[*].delta.reasoning", Text, CHOICE),
            delta("choices[*].delta.reasoning_text", Text, CHOICE),
            delta("choices[*].delta.thinking", Text, CHOICE),
            delta("choices[*].delta.reasoning_details[*].text", Text, REASONING),
            delta("choices[*].delta.reasoning_details[*].summary", Text, REASONING),
            delta("choices[*].delta.content[*].text", Text, CHOICE),
            delta("choices[*].delta.content[*].thinking[*].text", Text, CHOICE),
            // LiteLLM's proxy, which says it up to three times; Databricks; OpenRouter's older form.
            delta("choices[*].delta.thinking_blocks[*].thinking", Text, CHOICE),
            delta("choices[*].delta.provider_specific_fields.thinking_blocks[*].thinking", Text, CHOICE),
            delta("choices[*].delta.provider_specific_fields.reasoning_content", Text, CHOICE),
            delta("choices[*].delta.content[*].summary[*].text", Text, CHOICE),
            delta("choices[*].delta.reasoning.content", Text, CHOICE),
            delta("choices[*].delta.audio.transcript", Text, CHOICE),
            delta("choices[*].delta.tool_calls[*].function.arguments", Embedded, TOOL_CALL),
            delta("choices[*].delta.tool_calls[*].custom.input", Argument, TOOL_CALL),
            delta("choices[*].delta.function_call.arguments", Embedded, CHOICE),
        ],
        closes: &[
            CloseRule { at: "choices[*].finish_reason", is: None, key: CHOICE },
            CloseRule { at: "error", is: None, key: &[] },
            // As Mistral and vLLM have it.
            CloseRule { at: "object", is: Some("error"), key: &[] },
        ],
        echoes: ECHOES,
        // Of web searches.
        offsets: &[Offsets {
            of: "choices[*].message.content",
            part: None,
            unless: None,
            unit: OffsetUnit::Character,
            starts: "choices[*].message.annotations[*].url_citation.start_index",
            ends: "choices[*].message.annotations[*].url_citation.end_index",
        }],
        // As some servers have them, that say no JSON in a string.
        free_form: &["**.function.arguments", "**.function_call.arguments"],
        signed: &[
            SignedRule {
                at: "choices[*].message.content[*].signature",
                covers: SignedScope::Beside(&["choices[*].message.content[*].thinking"]),
            },
            SignedRule {
                at: "choices[*].message.thinking_blocks[*].signature",
                covers: SignedScope::Beside(&["choices[*].message.thinking_blocks[*].thinking"]),
            },
            SignedRule {
                at: "choices[*].message.provider_specific_fields.thinking_blocks[*].signature",
                covers: SignedScope::Beside(&[
                    "choices[*].message.provider_specific_fields.thinking_blocks[*].thinking",
                ]),
            },
            SignedRule {
                at: "choices[*].delta.thinking_blocks[*].signature",
                covers: SignedScope::Channel {
                    delta: "choices[*].delta.thinking_blocks[*].thinking",
                    key: CHOICE,
                    member: "thinking",
                },
            },
            SignedRule {
                at: "choices[*].delta.provider_specific_fields.thinking_blocks[*].signature",
                covers: SignedScope::Channel {
                    delta: "choices[*].delta.provider_specific_fields.thinking_blocks[*].thinking",
                    key: CHOICE,
                    member: "thinking",
                },
            },
            SignedRule {
                at: "choices[*].message.reasoning_details[*].signature",
                covers: SignedScope::Beside(&["choices[*].message.reasoning_details[*].text"]),
            },
            SignedRule {
                at: "choices[*].delta.reasoning_details[*].signature",
                covers: SignedScope::Channel {
                    delta: "choices[*].delta.reasoning_details[*].text",
                    key: REASONING,
                    member: "text",
                },
            },
        ],
        // What is thought, what is said and what is called: clients keep the order.
        in_turn: &[
            TurnRule {
                of: &[
                    "choices[*].delta.reasoning_content",
                    "choices[*].delta.reasoning",
                    "choices[*].delta.reasoning_text",
                    "choices[*].delta.thinking",
                    "choices[*].delta.reasoning_details[*].text",
                    "choices[*].delta.reasoning_details[*].summary",
                    "choices[*].delta.content[*].thinking[*].text",
                    "choices[*].delta.thinking_blocks[*].thinking",
                    "choices[*].delta.provider_specific_fields.thinking_blocks[*].thinking",
                    "choices[*].delta.provider_specific_fields.reasoning_content",
                    "choices[*].delta.content[*].summary[*].text",
                    "choices[*].delta.reasoning.content",
                ],
                ..TurnRule::TEXTS
            },
            TurnRule {
                of: &[
                    "choices[*].delta.content",
                    "choices[*].delta.refusal",
                    "choices[*].delta.content[*].text",
                    "choices[*].delta.audio.transcript",
                ],
                ..TurnRule::TEXTS
            },
            TurnRule {
                of: &[
                    "choices[*].delta.tool_calls[*].function.arguments",
                    "choices[*].delta.tool_calls[*].custom.input",
                    "choices[*].delta.function_call.arguments",
                ],
                begins: &[
                    "choices[*].delta.tool_calls[*].id",
                    "choices[*].delta.tool_calls[*].function.name",
                    "choices[*].delta.tool_calls[*].custom.name",
                    "choices[*].delta.function_call.name",
                ],
                ..TurnRule::TEXTS
            },
        ],
        reports_if_asked: true,
        end_data: b"[DONE]",
        final_events: &[b"data:[DONE]"],
        ..StreamProtocol::NONE
    },
    model: MODEL,
    usage: USAGE,
};

/// `POST …/completions`, the older interface (API reference, "Completions"), and llama.cpp's own ("POST /completion" and
/// "POST /infill" of its server's page).
pub(super) static COMPLETIONS: Protocol = Protocol {
    name: "openai_completions",
    paths: &["/completions", "/completion", "/infill"],
    shape: ErrorShape::OpenAi,
    request: &[("model", Typed(Name)), ("seed", Typed(Number)), ("logit_bias.*", Typed(Number))],
    answer: &[
        ("id", Typed(Id)),
        ("object", Typed(Name)),
        ("model", Typed(Name)),
        ("created", Typed(Number)),
        ("system_fingerprint", Typed(Id)),
    ],
    nested: Nested::NONE,
    stream: StreamProtocol {
        // llama.cpp's own has no choices.
        deltas: &[delta("choices[*].text", Text, CHOICE), delta("content", Text, PROMPT)],
        closes: &[
            CloseRule { at: "choices[*].finish_reason", is: None, key: CHOICE },
            CloseRule { at: "stop", is: Some("true"), key: PROMPT },
            CloseRule { at: "error", is: None, key: &[] },
            // As Mistral and vLLM have it.
            CloseRule { at: "object", is: Some("error"), key: &[] },
        ],
        echoes: ECHOES,
        reports_if_asked: true,
        end_data: b"[DONE]",
        final_events: &[b"data:[DONE]", b"\"stop\":true"],
        ..StreamProtocol::NONE
    },
    model: MODEL,
    usage: USAGE,
};

/// What has one text and no stream: embeddings, moderations, images, speech, and what files and batches say of
/// themselves (API reference, under these names).
pub(super) static SINGLE: Protocol = Protocol {
    name: "openai",
    paths: &[
        "/embeddings",
        "/moderations",
        "/images/generations",
        "/audio/speech",
        "/rerank",
        "/batches",
        "/batches/*",
    ],
    shape: ErrorShape::OpenAi,
    request: &[
        ("model", Typed(Name)),
        ("input_file_id", Typed(Id)),
        // Ids of tokens.
        ("input[*]", Typed(Number)),
        ("input[*][*]", Typed(Number)),
    ],
    answer: &[
        ("id", Typed(Id)),
        ("object", Typed(Name)),
        ("model", Typed(Name)),
        ("input_file_id", Typed(Id)),
        ("output_file_id", Typed(Id)),
        ("error_file_id", Typed(Id)),
    ],
    // Gemini has batches at the same path.
    nested: Nested { requests: &[], answers: INLINED },
    stream: StreamProtocol {
        // Images come in parts, which are bytes.
        end_data: b"[DONE]",
        ..StreamProtocol::NONE
    },
    model: MODEL,
    usage: &[
        ("usage.prompt_tokens", Input),
        // Of images.
        ("usage.input_tokens", Input),
        ("usage.output_tokens", Output),
        ("usage.total_tokens", Total),
    ],
};

/// What audio is turned to: `POST …/audio/transcriptions` and `/audio/translations` (API reference, "Audio").
pub(super) static TRANSCRIPTIONS: Protocol = Protocol {
    name: "openai_audio",
    paths: &["/audio/transcriptions", "/audio/translations"],
    shape: ErrorShape::OpenAi,
    request: &[("model", Typed(Name))],
    answer: &[],
    nested: Nested::NONE,
    stream: StreamProtocol {
        deltas: &[
            DeltaRule {
                at: "delta",
                treatment: Text,
                when: Some(EventCondition { at: "type", is: "transcript.text.delta" }),
                key: &[],
            },
            DeltaRule {
                // As Mistral has it.
                at: "text",
                treatment: Text,
                when: Some(EventCondition { at: "type", is: "transcription.text.delta" }),
                key: &[],
            },
        ],
        closes: &[
            CloseRule { at: "type", is: Some("transcript.text.done"), key: &[] },
            CloseRule { at: "error", is: None, key: &[] },
        ],
        echoes: &[EchoRule { at: "logprobs", with: "[]" }],
        end_data: b"[DONE]",
        ..StreamProtocol::NONE
    },
    model: MODEL,
    usage: &[("usage.input_tokens", Input), ("usage.output_tokens", Output)],
};

/// Conversations of the Responses API (API reference, "Responses" and "Conversations").
pub(super) static CONVERSATIONS: ConversationNaming = ConversationNaming {
    body_paths: &["/responses", "/responses/compact", "/responses/input_tokens"],
    member: "conversation",
    collection: "conversations",
    items: "items",
};
