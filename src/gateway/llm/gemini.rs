//! Google's Gemini API and Vertex AI (reference of `v1beta`, "generateContent", "streamGenerateContent").

use crate::gateway::error::ErrorShape;
use crate::gateway::llm::offsets::{OffsetUnit, Offsets};
use crate::gateway::llm::protocol::TokenCount::{CachedInput, Input, OtherInput, Reasoning, VisibleOutput};
use crate::gateway::llm::protocol::{
    ChannelRule, CloseRule, DeltaRule, EchoRule, ModelNaming, Nested, Protocol, SignedRule, SignedScope,
    StreamProtocol, TokenCount,
};
use crate::gateway::llm::turn_rule::TurnRule;
use crate::stream::json::Treatment::{self, Argument, Text, Typed};
use crate::stream::json::Type::{Id, Name, Number, Opaque};

/// Candidates are told apart by their number, and in one what it thinks from what it says.
const PARTS: &[ChannelRule] =
    &[ChannelRule::Value("candidates[*].index"), ChannelRule::Mark("candidates[*].content.parts[*].thought")];

const CANDIDATE: &[ChannelRule] = &[ChannelRule::Value("candidates[*].index")];

/// An argument that comes in pieces, by its place in the arguments.
const ARGUMENT: &[ChannelRule] = &[
    ChannelRule::Value("candidates[*].index"),
    ChannelRule::Mark("candidates[*].content.parts[*].functionCall.partialArgs[*].jsonPath"),
];

/// A model stands in the path, up to a colon; the requests of a batch may stand in a file.
const MODEL: ModelNaming = ModelNaming {
    free: &["/models/*:countTokens", "/models/*:computeTokens"],
    idle: &["/batches/*"],
    blind: &["/models/*:batchGenerateContent"],
    bounds: &["generationconfig.maxoutputtokens", "generation_config.max_output_tokens"],
    ..ModelNaming::NONE
};

/// Of whole answers and of each piece, where the last one has all.
const USAGE: &[(&str, TokenCount)] = &[
    ("usageMetadata.promptTokenCount", Input),
    ("usageMetadata.toolUsePromptTokenCount", OtherInput),
    ("usageMetadata.cachedContentTokenCount", CachedInput),
    ("usageMetadata.candidatesTokenCount", VisibleOutput),
    ("usageMetadata.thoughtsTokenCount", Reasoning),
];

const fn delta(at: &'static str, key: &'static [ChannelRule]) -> DeltaRule {
    DeltaRule { at, treatment: Text, when: None, key }
}

const REQUEST: &[(&str, Treatment)] = &[
    ("model", Typed(Name)),
    ("cachedContent", Typed(Name)),
    ("cached_content", Typed(Name)),
    ("tools[*].retrieval.vertexRagStore.ragResources[*].ragCorpus", Typed(Name)),
    ("tools[*].retrieval.vertex_rag_store.rag_resources[*].rag_corpus", Typed(Name)),
    ("generationConfig.seed", Typed(Number)),
    ("generationConfig.maxOutputTokens", Typed(Number)),
    ("contents[*].parts[*].functionCall.id", Typed(Id)),
    ("contents[*].parts[*].functionResponse.id", Typed(Id)),
    ("contents[*].parts[*].thoughtSignature", Typed(Opaque)),
    ("contents[*].parts[*].thought_signature", Typed(Opaque)),
    ("contents[*].parts[*].sdkBlob", Typed(Opaque)),
];

const ANSWER: &[(&str, Treatment)] = &[
    ("responseId", Typed(Id)),
    ("modelVersion", Typed(Name)),
    ("candidates[*].content.parts[*].functionCall.id", Typed(Id)),
    ("candidates[*].content.parts[*].executableCode.code", Argument),
    ("candidates[*].content.parts[*].thoughtSignature", Typed(Opaque)),
    ("candidates[*].groundingMetadata.googleMapsWidgetContextToken", Typed(Opaque)),
    ("candidates[*].groundingMetadata.retrievalMetadata.sdkBlob", Typed(Opaque)),
    ("candidates[*].groundingMetadata.searchEntryPoint.sdkBlob", Typed(Opaque)),
    ("[*].responseId", Typed(Id)),
];

/// Counting takes a whole request; batches, and answers to them, hold many.
const NESTED: Nested = Nested {
    requests: &[
        "generateContentRequest",
        "generate_content_request",
        "batch.inputConfig.requests.requests[*].request",
        "batch.input_config.requests.requests[*].request",
    ],
    answers: INLINED,
};

/// Where a batch has its answers in it.
pub(super) const INLINED: &[&str] = &[
    "response.inlinedResponses.inlinedResponses[*].response",
    "metadata.output.inlinedResponses.inlinedResponses[*].response",
];

/// Arguments and results of calls; an argument that comes in pieces may be a number.
const FREE_FORM: &[&str] = &[
    "**.functionCall.args",
    "**.functionCall.partialArgs[*].numberValue",
    "**.functionResponse.response",
    "**.toolCall.args",
    "**.toolResponse.response",
];

/// A part is signed as a whole.
const SIGNED: &[SignedRule] = &[SignedRule {
    at: "candidates[*].content.parts[*].thoughtSignature",
    covers: SignedScope::Beside(&[
        "candidates[*].content.parts[*].functionCall",
        "candidates[*].content.parts[*].text",
    ]),
}];

/// How texts go on over events.
pub(super) const EVENTS: StreamProtocol = StreamProtocol {
    deltas: &[
        delta("candidates[*].content.parts[*].text", PARTS),
        DeltaRule {
            at: "candidates[*].content.parts[*].functionCall.partialArgs[*].stringValue",
            treatment: Argument,
            when: None,
            key: ARGUMENT,
        },
    ],
    closes: &[
        // A part of another kind: what came before it is complete, and clients keep the parts in order.
        CloseRule { at: "candidates[*].content.parts[*].functionCall.name", is: None, key: CANDIDATE },
        CloseRule { at: "candidates[*].content.parts[*].executableCode", is: None, key: CANDIDATE },
        CloseRule { at: "candidates[*].content.parts[*].codeExecutionResult", is: None, key: CANDIDATE },
        CloseRule { at: "candidates[*].finishReason", is: None, key: CANDIDATE },
        CloseRule { at: "promptFeedback.blockReason", is: None, key: &[] },
        CloseRule { at: "error", is: None, key: &[] },
    ],
    echoes: &[EchoRule { at: "candidates[*].logprobsResult", with: "null" }],
    // Of a part, in bytes ("Segment").
    offsets: &[Offsets {
        of: "candidates[*].content.parts[*].text",
        part: Some("candidates[*].groundingMetadata.groundingSupports[*].segment.partIndex"),
        unless: None,
        unit: OffsetUnit::Byte,
        starts: "candidates[*].groundingMetadata.groundingSupports[*].segment.startIndex",
        ends: "candidates[*].groundingMetadata.groundingSupports[*].segment.endIndex",
    }],
    free_form: FREE_FORM,
    signed: SIGNED,
    in_turn: &[TurnRule { of: &["candidates[*].content.parts[*].text"], by_key: true, ..TurnRule::TEXTS }],
    // To Google's agent kit an empty text is the end of one.
    repeated: &[
        "candidates[*].content.parts[*].text",
        "candidates[*].content.parts[*].thought",
        "candidates[*].content.role",
        "candidates[*].index",
        "usageMetadata",
        "modelVersion",
        "responseId",
        "createTime",
    ],
    final_events: &[b"\"finishReason\":"],
    ..StreamProtocol::NONE
};

/// Whole answers.
pub(super) static GENERATE: Protocol = Protocol {
    name: "gemini",
    paths: &[
        "/models/*:generateContent",
        "/models/*:countTokens",
        "/models/*:computeTokens",
        "/models/*:embedContent",
        "/models/*:batchEmbedContents",
        "/models/*:batchGenerateContent",
        "/models/*:predict",
        "/tunedModels/*:generateContent",
        "/endpoints/*:generateContent",
        "/cachedContents",
        "/cachedContents/*",
        // Others have batches too, at `v1`.
        "/v1beta/batches/*",
        "/v1alpha/batches/*",
        "/batches/*",
    ],
    shape: ErrorShape::Gemini,
    request: REQUEST,
    answer: ANSWER,
    nested: NESTED,
    stream: EVENTS,
    model: MODEL,
    usage: USAGE,
};

/// Answers that come in pieces: events where the caller asks for them (`alt=sse`), else one array.
pub(super) static STREAM: Protocol = Protocol {
    name: "gemini_stream",
    paths: &[
        "/models/*:streamGenerateContent",
        "/tunedModels/*:streamGenerateContent",
        "/endpoints/*:streamGenerateContent",
    ],
    shape: ErrorShape::Gemini,
    request: REQUEST,
    answer: ANSWER,
    nested: NESTED,
    stream: StreamProtocol { in_array: true, ..EVENTS },
    model: MODEL,
    usage: USAGE,
};
