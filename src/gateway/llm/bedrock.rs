//! Amazon Bedrock (API reference, "Amazon Bedrock Runtime"): one form for all models, and each model's own.
//!
//! Events are named in the headers of their messages; a document has that name around it, see
//! [`AmazonDeltas`](super::AmazonDeltas).

use crate::gateway::error::ErrorShape;
use crate::gateway::llm::anthropic;
use crate::gateway::llm::protocol::TokenCount::{CacheWrite, CachedInput, FreshInput, Output};
use crate::gateway::llm::protocol::{
    ChannelRule, CloseRule, DeltaRule, EchoRule, ModelNaming, Nested, Protocol, SignedRule, SignedScope,
    StreamProtocol,
};
use crate::stream::json::Treatment::{self, Embedded, Text, Typed};
use crate::stream::json::Type::{Id, Name, Number, Opaque};

/// Blocks of a message are told apart by their number.
const BLOCK: &[ChannelRule] = &[ChannelRule::Value("contentBlockDelta.contentBlockIndex")];

/// The same of Anthropic's own events.
const OF_CLAUDE: &[ChannelRule] = anthropic::BLOCK;

/// Choices by theirs, in OpenAI's form.
const CHOICE: &[ChannelRule] = &[ChannelRule::Value("choices[*].index")];

/// Their tool calls.
const TOOL_CALL: &[ChannelRule] =
    &[ChannelRule::Value("choices[*].index"), ChannelRule::Value("choices[*].delta.tool_calls[*].index")];

/// Thoughts are signed, in events and in whole answers.
const SIGNED: &[SignedRule] = &[IN_EVENTS, IN_ANSWER];

const IN_EVENTS: SignedRule = SignedRule {
    at: "contentBlockDelta.delta.reasoningContent.signature",
    covers: SignedScope::Channel {
        delta: "contentBlockDelta.delta.reasoningContent.text",
        key: BLOCK,
        member: "text",
    },
};

const IN_ANSWER: SignedRule = SignedRule {
    at: "output.message.content[*].reasoningContent.reasoningText.signature",
    covers: SignedScope::Beside(&["output.message.content[*].reasoningContent.reasoningText.text"]),
};

/// A model stands in the path: its id, or a name of a resource in which separators are encoded.
const MODEL: ModelNaming = ModelNaming {
    idle: &["/guardrail/*/version/*/apply"],
    free: &["/model/*/count-tokens"],
    ..ModelNaming::NONE
};

const fn delta(at: &'static str, treatment: Treatment, key: &'static [ChannelRule]) -> DeltaRule {
    DeltaRule { at, treatment, when: None, key }
}

const fn closes(at: &'static str, key: &'static [ChannelRule]) -> CloseRule {
    CloseRule { at, is: None, key }
}

/// `Converse`, `ConverseStream`, `CountTokens`, `ApplyGuardrail` and `StartAsyncInvoke`.
pub(super) static CONVERSE: Protocol = Protocol {
    name: "bedrock",
    paths: &[
        "/model/*/converse",
        "/model/*/converse-stream",
        "/model/*/count-tokens",
        "/guardrail/*/version/*/apply",
        "/async-invoke",
        "/async-invoke/*",
    ],
    shape: ErrorShape::Bedrock,
    request: &[
        ("messages[*].content[*].toolUse.toolUseId", Typed(Id)),
        ("messages[*].content[*].toolResult.toolUseId", Typed(Id)),
        ("messages[*].content[*].reasoningContent.reasoningText.signature", Typed(Opaque)),
        ("messages[*].content[*].reasoningContent.redactedContent", Typed(Opaque)),
        ("messages[*].role", Typed(Name)),
        ("toolConfig.tools[*].toolSpec.name", Typed(Name)),
        ("toolConfig.toolChoice.tool.name", Typed(Name)),
        ("inferenceConfig.*", Typed(Number)),
        ("guardrailConfig.guardrailVersion", Typed(Number)),
    ],
    answer: &[
        ("output.message.content[*].toolUse.toolUseId", Typed(Id)),
        ("output.message.content[*].toolResult.toolUseId", Typed(Id)),
        ("output.message.content[*].reasoningContent.reasoningText.signature", Typed(Opaque)),
        ("output.message.content[*].reasoningContent.redactedContent", Typed(Opaque)),
        ("output.message.role", Typed(Name)),
        ("stopReason", Typed(Name)),
        ("usage.*", Typed(Number)),
        ("metrics.*", Typed(Number)),
        ("inputTokens", Typed(Number)),
        ("contentBlockStart.start.toolUse.toolUseId", Typed(Id)),
        ("contentBlockStart.start.toolUse.name", Typed(Name)),
        ("contentBlockStart.start.toolResult.toolUseId", Typed(Id)),
        ("contentBlockDelta.delta.reasoningContent.signature", Typed(Opaque)),
        ("contentBlockDelta.delta.reasoningContent.redactedContent", Typed(Opaque)),
        ("messageStop.stopReason", Typed(Name)),
        ("metadata.usage.*", Typed(Number)),
        ("metadata.metrics.*", Typed(Number)),
        // Padding, which hides how long the text of an event is.
        ("*.p", Typed(Name)),
    ],
    // `CountTokens` has a request of `Converse` in it.
    nested: Nested { requests: &["input.converse"], answers: &[] },
    stream: StreamProtocol {
        deltas: &[
            delta("contentBlockDelta.delta.text", Text, BLOCK),
            delta("contentBlockDelta.delta.reasoningContent.text", Text, BLOCK),
            delta("contentBlockDelta.delta.toolUse.input", Embedded, BLOCK),
            delta("contentBlockDelta.delta.toolResult[*].text", Text, BLOCK),
        ],
        closes: &[
            closes("contentBlockStop", &[ChannelRule::Value("contentBlockStop.contentBlockIndex")]),
            // What is signed is complete.
            closes("contentBlockDelta.delta.reasoningContent.signature", BLOCK),
            closes("messageStop", &[]),
            closes("metadata", &[]),
        ],
        free_form: &["**.toolUse.input", "**.toolResult.content[*].json", "**.toolResult[*].json"],
        signed: SIGNED,
        ..StreamProtocol::NONE
    },
    model: MODEL,
    // What the cache gave and took is counted beside the input (user guide, "Prompt caching").
    usage: &[
        ("usage.inputTokens", FreshInput),
        ("usage.cacheReadInputTokens", CachedInput),
        ("usage.cacheWriteInputTokens", CacheWrite),
        ("usage.outputTokens", Output),
        ("metadata.usage.inputTokens", FreshInput),
        ("metadata.usage.cacheReadInputTokens", CachedInput),
        ("metadata.usage.cacheWriteInputTokens", CacheWrite),
        ("metadata.usage.outputTokens", Output),
    ],
};

/// `InvokeModel` and `InvokeModelWithResponseStream`: what a model takes and says is its maker's own. Which model it is, the
/// path does not say where it names an ARN, so all of their forms are known here: they are told apart by their members.
pub(super) static INVOKE: Protocol = Protocol {
    name: "bedrock_invoke",
    paths: &["/model/*/invoke", "/model/*/invoke-with-response-stream"],
    shape: ErrorShape::Bedrock,
    request: &[
        ("anthropic_version", Typed(Name)),
        ("messages[*].role", Typed(Name)),
        ("messages[*].content[*].id", Typed(Id)),
        ("messages[*].content[*].tool_use_id", Typed(Id)),
        ("messages[*].content[*].signature", Typed(Opaque)),
        ("messages[*].content[*].data", Typed(Opaque)),
        ("messages[*].content[*].toolUse.toolUseId", Typed(Id)),
        ("messages[*].content[*].toolResult.toolUseId", Typed(Id)),
        ("messages[*].content[*].reasoningContent.reasoningText.signature", Typed(Opaque)),
        ("messages[*].tool_calls[*].function.arguments", Embedded),
        ("messages[*].tool_calls[*].id", Typed(Id)),
        ("messages[*].tool_call_id", Typed(Id)),
        ("max_tokens", Typed(Number)),
        ("max_tokens_to_sample", Typed(Number)),
        ("max_gen_len", Typed(Number)),
        ("seed", Typed(Number)),
        ("textGenerationConfig.*", Typed(Number)),
        ("inferenceConfig.*", Typed(Number)),
    ],
    answer: &[
        // Anthropic.
        ("id", Typed(Id)),
        ("type", Typed(Name)),
        ("model", Typed(Name)),
        ("content[*].id", Typed(Id)),
        ("content[*].tool_use_id", Typed(Id)),
        ("content[*].signature", Typed(Opaque)),
        ("content[*].data", Typed(Opaque)),
        ("message.id", Typed(Id)),
        ("message.model", Typed(Name)),
        ("content_block.id", Typed(Id)),
        ("content_block.tool_use_id", Typed(Id)),
        ("content_block.data", Typed(Opaque)),
        ("delta.type", Typed(Name)),
        ("delta.signature", Typed(Opaque)),
        // Amazon's own models.
        ("output.message.content[*].toolUse.toolUseId", Typed(Id)),
        ("output.message.content[*].reasoningContent.reasoningText.signature", Typed(Opaque)),
        ("contentBlockStart.start.toolUse.toolUseId", Typed(Id)),
        ("contentBlockDelta.delta.reasoningContent.signature", Typed(Opaque)),
        // OpenAI's form: DeepSeek, Mistral, Qwen, AI21, and OpenAI's models.
        ("object", Typed(Name)),
        ("created", Typed(Number)),
        ("system_fingerprint", Typed(Id)),
        ("choices[*].message.tool_calls[*].function.arguments", Embedded),
        ("choices[*].message.tool_calls[*].id", Typed(Id)),
        ("choices[*].delta.tool_calls[*].id", Typed(Id)),
        ("amazon-bedrock-invocationMetrics.*", Typed(Number)),
        ("*.p", Typed(Name)),
    ],
    nested: Nested::NONE,
    stream: StreamProtocol {
        deltas: &[
            // Anthropic, messages and completions.
            delta("delta.text", Text, OF_CLAUDE),
            delta("delta.thinking", Text, OF_CLAUDE),
            delta("delta.partial_json", Embedded, OF_CLAUDE),
            delta("delta.content", Text, OF_CLAUDE),
            delta("completion", Text, &[]),
            // Amazon Nova and Titan.
            delta("contentBlockDelta.delta.text", Text, BLOCK),
            delta("contentBlockDelta.delta.reasoningContent.text", Text, BLOCK),
            delta("contentBlockDelta.delta.reasoningContent.reasoningText.text", Text, BLOCK),
            delta("contentBlockDelta.delta.toolUse.input", Embedded, BLOCK),
            delta("outputText", Text, OF_CLAUDE),
            // Meta, Mistral's completions, Cohere.
            delta("generation", Text, &[]),
            delta("outputs[*].text", Text, &[ChannelRule::Value("outputs[*].index")]),
            delta("generations[*].text", Text, &[ChannelRule::Value("generations[*].id")]),
            delta("text", Text, &[]),
            delta("delta.message.content.text", Text, OF_CLAUDE),
            delta("delta.message.content.thinking", Text, OF_CLAUDE),
            delta("delta.message.tool_plan", Text, &[]),
            delta("delta.message.tool_calls.function.arguments", Embedded, OF_CLAUDE),
            // OpenAI's form; Mistral says `message` in streams too.
            delta("choices[*].delta.content", Text, CHOICE),
            delta("choices[*].delta.reasoning_content", Text, CHOICE),
            delta("choices[*].delta.reasoning", Text, CHOICE),
            delta("choices[*].delta.refusal", Text, CHOICE),
            delta("choices[*].delta.tool_calls[*].function.arguments", Embedded, TOOL_CALL),
            delta("choices[*].message.content", Text, CHOICE),
            delta("choices[*].text", Text, CHOICE),
        ],
        closes: &[
            CloseRule { at: "type", is: Some("content_block_stop"), key: OF_CLAUDE },
            // What is signed is complete.
            closes("delta.signature", OF_CLAUDE),
            closes("contentBlockDelta.delta.reasoningContent.signature", BLOCK),
            closes("contentBlockDelta.delta.reasoningContent.reasoningText.signature", BLOCK),
            CloseRule { at: "type", is: Some("message_delta"), key: &[] },
            CloseRule { at: "type", is: Some("message_stop"), key: &[] },
            CloseRule { at: "type", is: Some("content-end"), key: OF_CLAUDE },
            CloseRule { at: "type", is: Some("tool-call-end"), key: OF_CLAUDE },
            CloseRule { at: "type", is: Some("message-end"), key: &[] },
            closes("contentBlockStop", &[ChannelRule::Value("contentBlockStop.contentBlockIndex")]),
            closes("messageStop", &[]),
            closes("stop_reason", &[]),
            closes("completionReason", OF_CLAUDE),
            closes("outputs[*].stop_reason", &[ChannelRule::Value("outputs[*].index")]),
            closes("finish_reason", &[]),
            closes("choices[*].finish_reason", CHOICE),
            closes("choices[*].stop_reason", CHOICE),
            closes("error", &[]),
            // The last event of every stream has it.
            closes("amazon-bedrock-invocationMetrics", &[]),
        ],
        echoes: &[
            EchoRule { at: "choices[*].logprobs", with: "null" },
            // Cohere's.
            EchoRule { at: "generations[*].token_likelihoods", with: "[]" },
            EchoRule { at: "token_likelihoods", with: "[]" },
        ],
        free_form: &["**.input", "**.function.arguments"],
        signed: &[
            SignedRule {
                at: "delta.signature",
                covers: SignedScope::Channel { delta: "delta.thinking", key: OF_CLAUDE, member: "thinking" },
            },
            SignedRule { at: "content[*].signature", covers: SignedScope::Beside(&["content[*].thinking"]) },
            IN_EVENTS,
            IN_ANSWER,
        ],
        ..StreamProtocol::NONE
    },
    model: MODEL,
    // Anthropic's, Nova's and Llama's, and what Bedrock itself adds to the last event of a stream.
    usage: &[
        ("usage.input_tokens", FreshInput),
        ("usage.cache_read_input_tokens", CachedInput),
        ("usage.cache_creation_input_tokens", CacheWrite),
        ("usage.output_tokens", Output),
        ("message.usage.input_tokens", FreshInput),
        ("message.usage.cache_read_input_tokens", CachedInput),
        ("message.usage.cache_creation_input_tokens", CacheWrite),
        ("message.usage.output_tokens", Output),
        ("usage.inputTokens", FreshInput),
        ("usage.outputTokens", Output),
        ("metadata.usage.inputTokens", FreshInput),
        ("metadata.usage.outputTokens", Output),
        ("prompt_token_count", FreshInput),
        ("generation_token_count", Output),
        ("amazon-bedrock-invocationMetrics.inputTokenCount", FreshInput),
        ("amazon-bedrock-invocationMetrics.outputTokenCount", Output),
    ],
};
