//! Google's Gemini Live (reference of `v1beta`, "Live API"), also as Vertex AI has it: messages of a WebSocket, of which the
//! server's are JSON in binary frames. Its clients write names in both ways, `serverContent` and `server_content`; the
//! server answers in the first.

use crate::gateway::error::ErrorShape;
use crate::gateway::llm::protocol::TokenCount::{Input, Reasoning, VisibleOutput};
use crate::gateway::llm::protocol::{
    ChannelRule, CloseRule, DeltaRule, ModelNaming, Nested, Protocol, StreamProtocol,
};
use crate::stream::json::Treatment::{Text, Typed};
use crate::stream::json::Type::{Id, Name, Opaque};

/// What the model thinks is told from what it says.
const PARTS: &[ChannelRule] = &[ChannelRule::Mark("serverContent.modelTurn.parts[*].thought")];

const fn delta(at: &'static str, key: &'static [ChannelRule]) -> DeltaRule {
    DeltaRule { at, treatment: Text, when: None, key }
}

/// Everything ends: there is one turn at a time.
const fn close(at: &'static str, is: Option<&'static str>) -> CloseRule {
    CloseRule { at, is, key: &[] }
}

/// `…BidiGenerateContent` and `…BidiGenerateContentConstrained`.
pub(super) static LIVE: Protocol = Protocol {
    name: "gemini_live",
    paths: &[
        "/*.BidiGenerateContent",
        "/*.BidiGenerateContentConstrained",
        "/*/BidiGenerateContent",
        "/*/BidiGenerateContentConstrained",
    ],
    shape: ErrorShape::Gemini,
    request: &[
        ("setup.model", Typed(Name)),
        ("setup.sessionResumption.handle", Typed(Opaque)),
        ("setup.session_resumption.handle", Typed(Opaque)),
        ("realtimeInput.audio.data", Typed(Opaque)),
        ("realtimeInput.video.data", Typed(Opaque)),
        ("realtimeInput.mediaChunks[*].data", Typed(Opaque)),
        ("realtime_input.audio.data", Typed(Opaque)),
        ("realtime_input.video.data", Typed(Opaque)),
        ("realtime_input.media_chunks[*].data", Typed(Opaque)),
        ("clientContent.turns[*].parts[*].inlineData.data", Typed(Opaque)),
        ("clientContent.turns[*].parts[*].thoughtSignature", Typed(Opaque)),
        ("clientContent.turns[*].parts[*].functionCall.id", Typed(Id)),
        ("client_content.turns[*].parts[*].inline_data.data", Typed(Opaque)),
        ("client_content.turns[*].parts[*].inlineData.data", Typed(Opaque)),
        ("client_content.turns[*].parts[*].thought_signature", Typed(Opaque)),
        ("client_content.turns[*].parts[*].function_call.id", Typed(Id)),
        ("toolResponse.functionResponses[*].id", Typed(Id)),
        ("tool_response.function_responses[*].id", Typed(Id)),
    ],
    answer: &[
        ("setupComplete.sessionId", Typed(Id)),
        ("sessionResumptionUpdate.newHandle", Typed(Opaque)),
        ("serverContent.modelTurn.parts[*].inlineData.data", Typed(Opaque)),
        ("serverContent.modelTurn.parts[*].thoughtSignature", Typed(Opaque)),
        ("serverContent.modelTurn.parts[*].functionCall.id", Typed(Id)),
        ("toolCall.functionCalls[*].id", Typed(Id)),
        ("toolCallCancellation.ids[*]", Typed(Id)),
    ],
    nested: Nested::NONE,
    stream: StreamProtocol {
        deltas: &[
            delta("serverContent.modelTurn.parts[*].text", PARTS),
            delta("serverContent.outputTranscription.text", &[]),
            delta("serverContent.inputTranscription.text", &[]),
        ],
        closes: &[
            // What is heard and what is spoken is written down at its own pace, until the turn is over.
            CloseRule { at: "serverContent.generationComplete", is: None, key: PARTS },
            // What it thought is marked as that is: `true`.
            CloseRule {
                at: "serverContent.generationComplete",
                is: Some("true"),
                key: &[ChannelRule::Mark("serverContent.generationComplete")],
            },
            close("serverContent.turnComplete", None),
            close("serverContent.interrupted", None),
            close("toolCall", None),
            close("goAway", None),
        ],
        free_form: &["toolCall.functionCalls[*].args", "**.functionCall.args"],
        ..StreamProtocol::NONE
    },
    model: ModelNaming::NONE,
    usage: &[
        ("usageMetadata.promptTokenCount", Input),
        ("usageMetadata.responseTokenCount", VisibleOutput),
        ("usageMetadata.thoughtsTokenCount", Reasoning),
    ],
};
