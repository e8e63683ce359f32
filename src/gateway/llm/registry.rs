//! Every protocol known, and how a route chooses one.

use std::sync::Arc;

use crate::base::path::RequestPath;
use crate::gateway::error::ErrorShape;
use crate::gateway::llm::protocol::{CompiledProtocol, ConversationNaming, Protocol, ProtocolError, at};
use crate::gateway::llm::provider::Provider;
use crate::gateway::llm::{
    anthropic, bedrock, cohere, gemini, gemini_code_assist, gemini_interactions, gemini_live, hugging_face,
    mcp, mistral, ollama, openai, realtime, responses,
};

/// Every protocol known. Where two have a path, the one that names more of it counts, else the first.
static ALL: [&Protocol; 20] = [
    &openai::CHAT,
    &openai::COMPLETIONS,
    &responses::RESPONSES,
    &openai::SINGLE,
    &openai::TRANSCRIPTIONS,
    &anthropic::MESSAGES,
    &bedrock::CONVERSE,
    &bedrock::INVOKE,
    &gemini::GENERATE,
    &gemini::STREAM,
    &gemini_interactions::INTERACTIONS,
    &gemini_code_assist::CODE_ASSIST,
    &ollama::OLLAMA,
    &cohere::V2,
    &cohere::V1,
    &mistral::CONVERSATIONS,
    &hugging_face::GENERATE,
    &mcp::MCP,
    &realtime::REALTIME,
    &gemini_live::LIVE,
];

/// Every protocol known.
#[cfg(test)]
pub(super) fn every() -> impl Iterator<Item = &'static Protocol> {
    ALL.into_iter()
}

/// How requests name conversations that the provider has given an id.
pub(super) static CONVERSATIONS: [&ConversationNaming; 1] = [&openai::CONVERSATIONS];

/// Whether a line of a stream, spaces left out, says that its clients need nothing more of it. Within a text quotes have
/// backslashes, so that no text says so.
pub fn is_final_line(protocol: Option<&Protocol>, line: &[u8]) -> bool {
    let says = |protocol: &Protocol| {
        let mut events = protocol.stream.final_events.iter();
        events.any(|event| memchr::memmem::find(line, event).is_some())
    };
    protocol.map_or_else(|| ALL.iter().any(|protocol| says(protocol)), says)
}

impl CompiledProtocol {
    /// Compiles every protocol.
    ///
    /// # Errors
    /// As [`CompiledProtocol::new`].
    pub fn all() -> Result<Vec<Arc<Self>>, ProtocolError> {
        ALL.iter().map(|protocol| Self::new(protocol).map(Arc::new)).collect()
    }
}

/// Which protocols are spoken on a route.
#[derive(Clone, Copy, Default)]
pub enum ProtocolChoice {
    /// By the path of each request.
    #[default]
    Auto,
    /// This one on every path.
    Always(&'static Protocol),
    /// Those of a provider, by the path of each request; where it has none at a path, whatever is spoken there elsewhere.
    Of(&'static Provider),
    /// None.
    Generic,
}

impl ProtocolChoice {
    /// OpenAI's chat completions on every path.
    pub const OPENAI: Self = Self::Always(&openai::CHAT);

    /// The protocol of a request to `path`.
    pub fn of(self, path: &RequestPath) -> Option<&'static Protocol> {
        match self {
            Self::Auto => at(&ALL, path),
            Self::Always(protocol) => Some(protocol),
            Self::Of(provider) => provider.protocol(path).or_else(|| at(&ALL, path)),
            Self::Generic => None,
        }
    }

    /// Whether the path alone says what is spoken there: no provider is named that has a protocol for it.
    pub fn is_guess(self, path: &RequestPath) -> bool {
        match self {
            Self::Auto => true,
            Self::Of(provider) => provider.protocol(path).is_none(),
            Self::Always(_) | Self::Generic => false,
        }
    }

    /// How an error is spelled to the caller of `path`, whether a protocol is known there or not.
    pub fn error_shape(self, path: &RequestPath) -> ErrorShape {
        match self {
            Self::Of(provider) => {
                let borrowed = self.of(path).filter(|_| self.is_guess(path));
                borrowed.map_or_else(|| provider.shape(path), |protocol| protocol.shape)
            }
            Self::Always(protocol) => protocol.shape,
            Self::Auto => {
                let protocol = || self.of(path).map(|protocol| protocol.shape);
                Provider::shape_by_path(path).or_else(protocol).unwrap_or_default()
            }
            Self::Generic => ErrorShape::Envelope,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_protocols_patterns_compile() {
        assert_eq!(CompiledProtocol::all().unwrap().len(), ALL.len());
    }

    #[test]
    fn every_protocol_is_some_providers() {
        for protocol in ALL {
            let speaks = |provider: &Provider| provider.speaks.iter().any(|one| one.name == protocol.name);
            assert!(Provider::all().any(speaks), "{}", protocol.name);
        }
    }

    #[test]
    fn a_path_says_its_protocol() {
        let name = |path: &str| {
            let path = RequestPath::parse(path).unwrap();
            ProtocolChoice::Auto.of(&path).map(|protocol| protocol.name)
        };
        assert_eq!(name("/v1/chat/completions"), Some("openai_chat"));
        assert_eq!(name("/openai/deployments/d/chat/completions"), Some("openai_chat"));
        assert_eq!(name("/v1/chat/x/../%63ompletions//"), Some("openai_chat"));
        assert_eq!(name("/v1/embeddings"), Some("openai"));
        assert_eq!(name("/v1/completions"), Some("openai_completions"));
        assert_eq!(name("/v1/responses/resp_1"), Some("openai_responses"));
        assert_eq!(name("/anthropic/v1/messages"), Some("anthropic"));
        assert_eq!(name("/v1beta/models/gemini-3:streamGenerateContent"), Some("gemini_stream"));
        assert_eq!(name("/v1internal:streamGenerateContent"), Some("gemini_code_assist"));
        assert_eq!(name("/v1/interactions/int_1/cancel"), Some("gemini_interactions"));
        assert_eq!(name("/api/interactions"), None);
        assert_eq!(name("/v1beta/interactions"), Some("gemini_interactions"));
        assert_eq!(name("/v1beta1/projects/p/locations/l/interactions/int_1"), Some("gemini_interactions"));
        assert_eq!(name("/api/chat"), Some("ollama"));
        assert_eq!(name("/api/generate"), Some("ollama"));
        assert_eq!(name("/generate_stream"), Some("text_generation"));
        assert_eq!(name("/completion"), Some("openai_completions"));
        assert_eq!(name("/v1/messages/batches"), Some("anthropic"));
        assert_eq!(name("/v1/batches"), Some("openai"));
        assert_eq!(name("/v1/models"), None);
        let arn =
            "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.anthropic.claude-v1%3A0";
        for (end, of) in [
            ("/converse", Some("bedrock")),
            ("/converse-stream", Some("bedrock")),
            ("/count-tokens", Some("bedrock")),
            ("/invoke", Some("bedrock_invoke")),
            ("/invoke-with-response-stream", Some("bedrock_invoke")),
            ("/invoke-with-bidirectional-stream", None),
        ] {
            let path = format!("{arn}{end}");
            assert_eq!(name(&path), of, "{end}");
        }
        assert_eq!(name("/guardrail/abc/version/1/apply"), Some("bedrock"));
        assert_eq!(name("/async-invoke"), Some("bedrock"));
        assert_eq!(name("/openai/v1/realtime"), Some("openai_realtime"));
        let live = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";
        assert_eq!(name(live), Some("gemini_live"));
        let vertex = "/ws/google.cloud.aiplatform.v1.LlmBidiService/BidiGenerateContent";
        assert_eq!(name(vertex), Some("gemini_live"));
    }
    #[test]
    fn a_named_provider_takes_no_protocol_away() {
        use ErrorShape as S;
        let rows = [
            ("azure", "/anthropic/v1/messages", "anthropic", S::Anthropic),
            ("azure", "/openai/deployments/d/chat/completions", "openai_chat", S::OpenAi),
            ("bedrock", "/anthropic/v1/messages", "anthropic", S::Anthropic),
            ("bedrock", "/openai/v1/responses", "openai_responses", S::Responses),
            ("bedrock", "/v1/completions", "openai_completions", S::OpenAi),
            ("bedrock", "/model/m/converse", "bedrock", S::Bedrock),
            ("openai", "/v1/messages", "anthropic", S::Anthropic),
            ("openai", "/api/v1/messages", "anthropic", S::Anthropic),
            ("mistral", "/v1/audio/transcriptions", "openai_audio", S::Mistral),
            ("mistral", "/v1/responses", "openai_responses", S::Responses),
            ("gemini", "/v1beta/openai/responses", "openai_responses", S::Responses),
            ("gemini", "/v1beta/openai/completions", "openai_completions", S::OpenAi),
            (
                "vertex",
                "/v1/projects/p/locations/l/endpoints/openapi/completions",
                "openai_completions",
                S::OpenAi,
            ),
            ("cohere", "/compatibility/v1/completions", "openai_completions", S::OpenAi),
            ("ollama", "/v1/audio/transcriptions", "openai_audio", S::OpenAi),
            // Where two have a path, the provider's own goes first.
            ("mistral", "/v1/conversations", "mistral_conversations", S::Mistral),
            ("openai", "/v1/conversations", "openai_responses", S::OpenAi),
            ("mcp", "/v1/messages", "mcp", S::JsonRpc),
        ];
        for (provider, path, protocol, shape) in rows {
            let choice = Provider::named(provider).map(ProtocolChoice::Of).unwrap();
            let at = RequestPath::parse(path).unwrap();
            let found = choice.of(&at).map(|protocol| protocol.name);
            assert_eq!((found, choice.error_shape(&at)), (Some(protocol), shape), "{provider} {path}");
        }
        let openai = Provider::named("openai").map(ProtocolChoice::Of).unwrap();
        let guessed = |path: &str| openai.is_guess(&RequestPath::parse(path).unwrap());
        assert!(guessed("/mcp") && guessed("/v1/messages") && !guessed("/v1/chat/completions"));
        assert_eq!(openai.of(&RequestPath::parse("/v1/models").unwrap()).map(|protocol| protocol.name), None);
    }
}
