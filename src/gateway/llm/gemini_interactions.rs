//! Google's Interactions (Gemini API reference of `v1beta`, "Interactions", and its guide's "Streaming interactions"), also on
//! Vertex AI: steps of many kinds, each with a number. In an older revision contents stand in the place of steps.

use crate::gateway::error::ErrorShape;
use crate::gateway::llm::protocol::TokenCount::{CachedInput, Input, OtherInput, Reasoning, VisibleOutput};
use crate::gateway::llm::protocol::{
    ChannelRule, CloseRule, DeltaRule, ModelNaming, Nested, Protocol, SignedRule, SignedScope, StreamProtocol,
};
use crate::stream::json::Treatment::{self, Argument, Embedded, Text, Typed};
use crate::stream::json::Type::{Id, Name, Number, Opaque};

/// Steps are told apart by their number.
const STEP: &[ChannelRule] = &[ChannelRule::Value("index")];

const fn delta(at: &'static str, treatment: Treatment) -> DeltaRule {
    DeltaRule { at, treatment, when: None, key: STEP }
}

const fn close(event: &'static str, key: &'static [ChannelRule]) -> CloseRule {
    CloseRule { at: "event_type", is: Some(event), key }
}

/// What a step is signed with covers what it calls for, or got. The signature of a thought is the thought itself, of which
/// its summary, if there is any, is no part; it is kept all the same where both stand in one object.
const fn signed(at: &'static str, beside: &'static [&'static str]) -> SignedRule {
    SignedRule { at, covers: SignedScope::Beside(beside) }
}

/// `POST …/interactions` and what belongs to it.
pub(super) static INTERACTIONS: Protocol = Protocol {
    name: "gemini_interactions",
    // Others have interactions too, of people: a version or a place stands before these.
    paths: &[
        "/v1/interactions",
        "/v1/interactions/*",
        "/v1/interactions/*/cancel",
        "/v1*/interactions",
        "/v1*/interactions/*",
        "/v1*/interactions/*/cancel",
        "/locations/*/interactions",
        "/locations/*/interactions/*",
        "/locations/*/interactions/*/cancel",
    ],
    shape: ErrorShape::Interactions,
    request: &[
        ("model", Typed(Name)),
        ("agent", Typed(Name)),
        ("agent_config.model", Typed(Name)),
        ("cached_content", Typed(Name)),
        ("previous_interaction_id", Typed(Id)),
        ("environment.environment_id", Typed(Id)),
        ("continuation_token", Typed(Opaque)),
        ("generation_config.seed", Typed(Number)),
        ("generation_config.max_output_tokens", Typed(Number)),
        ("input[*].id", Typed(Id)),
        ("input[*].call_id", Typed(Id)),
        ("input[*].signature", Typed(Opaque)),
        // Of turns, as the older revision has them.
        ("input[*].content[*].id", Typed(Id)),
        ("input[*].content[*].call_id", Typed(Id)),
        ("input[*].content[*].signature", Typed(Opaque)),
    ],
    answer: &[
        ("id", Typed(Id)),
        ("object", Typed(Name)),
        ("model", Typed(Name)),
        ("agent", Typed(Name)),
        ("previous_interaction_id", Typed(Id)),
        ("environment_id", Typed(Id)),
        ("continuation_ids[*]", Typed(Id)),
        ("continuation_token", Typed(Opaque)),
        ("event_id", Typed(Id)),
        ("interaction_id", Typed(Id)),
        ("steps[*].id", Typed(Id)),
        ("steps[*].call_id", Typed(Id)),
        ("steps[*].signature", Typed(Opaque)),
        ("steps[*].arguments.code", Argument),
        ("steps[*].content[*].data", Typed(Opaque)),
        ("outputs[*].data", Typed(Opaque)),
        ("outputs[*].id", Typed(Id)),
        ("outputs[*].call_id", Typed(Id)),
        ("outputs[*].signature", Typed(Opaque)),
        ("outputs[*].arguments.code", Argument),
        // What the caller sent, which is shown again.
        ("input[*].id", Typed(Id)),
        ("input[*].call_id", Typed(Id)),
        ("input[*].signature", Typed(Opaque)),
        // Of events.
        ("step.id", Typed(Id)),
        ("step.call_id", Typed(Id)),
        ("step.signature", Typed(Opaque)),
        ("step.arguments.code", Argument),
        ("step.content[*].data", Typed(Opaque)),
        ("content.data", Typed(Opaque)),
        ("content.id", Typed(Id)),
        ("content.call_id", Typed(Id)),
        ("content.signature", Typed(Opaque)),
        ("delta.data", Typed(Opaque)),
        ("delta.id", Typed(Id)),
        ("delta.call_id", Typed(Id)),
        ("delta.signature", Typed(Opaque)),
        ("delta.arguments.code", Argument),
    ],
    // The first and the last event of a stream.
    nested: Nested { requests: &[], answers: &["interaction"] },
    stream: StreamProtocol {
        deltas: &[
            delta("delta.text", Text),
            // Of a summary of what it thinks.
            delta("delta.content.text", Text),
            delta("delta.arguments", Embedded),
            // What code wrote.
            delta("delta.result", Text),
        ],
        closes: &[
            close("step.stop", STEP),
            close("content.stop", STEP),
            close("interaction.completed", &[]),
            close("interaction.complete", &[]),
            close("error", &[]),
            CloseRule { at: "error", is: None, key: &[] },
        ],
        free_form: &[
            "steps[*].arguments",
            "steps[*].result",
            "outputs[*].arguments",
            "outputs[*].result",
            "interaction.steps[*].arguments",
            "interaction.steps[*].result",
            "interaction.outputs[*].arguments",
            "interaction.outputs[*].result",
            "step.arguments",
            "step.result",
            "content.arguments",
            "content.result",
            "delta.arguments",
            "delta.result",
        ],
        signed: &[
            signed("steps[*].signature", &["steps[*].arguments", "steps[*].result", "steps[*].summary"]),
            signed(
                "outputs[*].signature",
                &["outputs[*].arguments", "outputs[*].result", "outputs[*].summary"],
            ),
            signed(
                "interaction.steps[*].signature",
                &[
                    "interaction.steps[*].arguments",
                    "interaction.steps[*].result",
                    "interaction.steps[*].summary",
                ],
            ),
            signed("step.signature", &["step.arguments", "step.result", "step.summary"]),
            signed("delta.signature", &["delta.arguments", "delta.result"]),
        ],
        end_data: b"[DONE]",
        final_events: &[
            b"data:[DONE]",
            b"\"event_type\":\"interaction.completed\"",
            b"\"event_type\":\"interaction.complete\"",
        ],
        ..StreamProtocol::NONE
    },
    model: ModelNaming {
        idle: &["/interactions/*", "/interactions/*/cancel"],
        bounds: &["generation_config.max_output_tokens"],
        ..ModelNaming::MEMBER
    },
    usage: &[
        ("usage.total_input_tokens", Input),
        ("usage.total_tool_use_tokens", OtherInput),
        ("usage.total_cached_tokens", CachedInput),
        ("usage.total_output_tokens", VisibleOutput),
        ("usage.total_thought_tokens", Reasoning),
        ("interaction.usage.total_input_tokens", Input),
        ("interaction.usage.total_tool_use_tokens", OtherInput),
        ("interaction.usage.total_cached_tokens", CachedInput),
        ("interaction.usage.total_output_tokens", VisibleOutput),
        ("interaction.usage.total_thought_tokens", Reasoning),
    ],
};
