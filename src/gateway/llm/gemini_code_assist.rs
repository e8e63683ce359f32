//! What Gemini CLI speaks where its user has logged in (`code_assist` in its source): Gemini's requests and answers, each within
//! another document.

use crate::gateway::llm::gemini::{EVENTS, GENERATE};
use crate::gateway::llm::protocol::{ModelNaming, Nested, Protocol, StreamProtocol};

/// `POST /v1internal:generateContent` and what belongs to it.
pub(super) static CODE_ASSIST: Protocol = Protocol {
    name: "gemini_code_assist",
    paths: &["/v1internal:generateContent", "/v1internal:streamGenerateContent", "/v1internal:countTokens"],
    shape: GENERATE.shape,
    request: GENERATE.request,
    answer: GENERATE.answer,
    nested: Nested { requests: &["request"], answers: &["response"] },
    // What stands beside an answer is in each event: none says nothing.
    stream: StreamProtocol { within: "response", in_array: true, repeated: &[], ..EVENTS },
    model: ModelNaming {
        free: &["/v1internal:countTokens"],
        bounds: &["request.generationconfig.maxoutputtokens"],
        ..ModelNaming::MEMBER
    },
    usage: GENERATE.usage,
};
