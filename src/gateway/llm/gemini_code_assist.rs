//! What Gemini CLI speaks where its user has logged in (`code_assist` in its source): Gemini's requests and answers, each within
//! another document.

use crate::gateway::error::ErrorShape;
use crate::gateway::llm::gemini::{ANSWER, FREE_FORM, REQUEST};
use crate::gateway::llm::protocol::TokenCount::{CachedInput, Input, OtherInput, Reasoning, VisibleOutput};
use crate::gateway::llm::protocol::{
    Close, Covers, Delta, Echo, Key, ModelNaming, Nested, Protocol, Signed, StreamProtocol,
};
use crate::stream::json::Treatment::{Argument, Text};

/// As [`Gemini's`](super::gemini).
const PARTS: &[Key] = &[
    Key::Value("response.candidates[*].index"),
    Key::Mark("response.candidates[*].content.parts[*].thought"),
];

const CANDIDATE: &[Key] = &[Key::Value("response.candidates[*].index")];

const ARGUMENT: &[Key] = &[
    Key::Value("response.candidates[*].index"),
    Key::Mark("response.candidates[*].content.parts[*].functionCall.partialArgs[*].jsonPath"),
];

const fn closes(at: &'static str, key: &'static [Key]) -> Close {
    Close { at, is: None, key }
}

/// `POST /v1internal:generateContent` and what belongs to it.
pub(super) static CODE_ASSIST: Protocol = Protocol {
    name: "gemini_code_assist",
    paths: &["/v1internal:generateContent", "/v1internal:streamGenerateContent", "/v1internal:countTokens"],
    shape: ErrorShape::Gemini,
    request: REQUEST,
    answer: ANSWER,
    nested: Nested { requests: &["request"], answers: &["response"] },
    stream: StreamProtocol {
        deltas: &[
            Delta {
                at: "response.candidates[*].content.parts[*].text",
                treatment: Text,
                when: None,
                key: PARTS,
            },
            Delta {
                at: "response.candidates[*].content.parts[*].functionCall.partialArgs[*].stringValue",
                treatment: Argument,
                when: None,
                key: ARGUMENT,
            },
        ],
        closes: &[
            closes("response.candidates[*].content.parts[*].functionCall.name", CANDIDATE),
            closes("response.candidates[*].content.parts[*].executableCode", CANDIDATE),
            closes("response.candidates[*].content.parts[*].codeExecutionResult", CANDIDATE),
            closes("response.candidates[*].finishReason", CANDIDATE),
            closes("response.promptFeedback.blockReason", &[]),
            closes("error", &[]),
        ],
        echoes: &[Echo { at: "response.candidates[*].logprobsResult", with: "null" }],
        free_form: FREE_FORM,
        signed: &[Signed {
            at: "response.candidates[*].content.parts[*].thoughtSignature",
            covers: Covers::Beside(&[
                "response.candidates[*].content.parts[*].functionCall",
                "response.candidates[*].content.parts[*].text",
            ]),
        }],
        in_turn: &["response.candidates[*].content.parts[*].text"],
        in_array: true,
        final_events: &[b"\"finishReason\":"],
        ..StreamProtocol::NONE
    },
    model: ModelNaming {
        free: &["/v1internal:countTokens"],
        bounds: &["request.generationconfig.maxoutputtokens"],
        ..ModelNaming::MEMBER
    },
    usage: &[
        ("response.usageMetadata.promptTokenCount", Input),
        ("response.usageMetadata.toolUsePromptTokenCount", OtherInput),
        ("response.usageMetadata.cachedContentTokenCount", CachedInput),
        ("response.usageMetadata.candidatesTokenCount", VisibleOutput),
        ("response.usageMetadata.thoughtsTokenCount", Reasoning),
    ],
};
