//! Providers: what is spoken at the addresses of one, and how it spells errors. A provider is data.

use crate::base::path::RequestPath;
use crate::gateway::error::ErrorShape;
use crate::gateway::llm::protocol::{Protocol, at};
use crate::gateway::llm::{
    anthropic, bedrock, cohere, gemini, gemini_code_assist, gemini_interactions, gemini_live, hugging_face,
    mcp, mistral, ollama, openai, realtime, responses,
};

/// OpenAI's own, and what others that serve its API speak.
static OPENAI: [&Protocol; 7] = [
    &openai::CHAT,
    &openai::COMPLETIONS,
    &responses::RESPONSES,
    &openai::SINGLE,
    &openai::TRANSCRIPTIONS,
    &realtime::REALTIME,
    &hugging_face::GENERATE,
];

/// One provider of models, or a kind of server that many run.
#[derive(Debug)]
pub struct Provider {
    /// As a configuration and the log name it.
    pub name: &'static str,
    /// How it spells errors, whatever is asked for.
    pub shape: ErrorShape,
    /// What it speaks on paths that none of its protocols names; `None`: documents of no protocol.
    pub otherwise: Option<&'static Protocol>,
    /// Its own, which go before others' at a path that both have.
    pub(super) speaks: &'static [&'static Protocol],
    /// Paths that only its API has, so that an error there is its own on a route that names no provider: whole segments
    /// one behind the other, or, from a colon on, how a path ends.
    paths: &'static [&'static str],
    /// Paths, written so too, at which it speaks another's API, with its errors.
    borrows: &'static [(&'static str, ErrorShape)],
}

/// Every provider known.
static ALL: [Provider; 10] = [
    Provider {
        name: "openai",
        shape: ErrorShape::OpenAi,
        otherwise: None,
        speaks: &OPENAI,
        paths: &[
            "chat/completions",
            "v1/completions",
            "v1/embeddings",
            "v1/moderations",
            "v1/responses",
            "v1/conversations",
            "v1/fine_tuning",
            "v1/vector_stores",
            "v1/audio",
            "v1/images",
            "v1/realtime",
        ],
        borrows: &[("v1/responses", ErrorShape::Responses)],
    },
    Provider {
        name: "azure",
        shape: ErrorShape::OpenAi,
        otherwise: None,
        speaks: &OPENAI,
        paths: &["openai/deployments", "openai/responses", "openai/v1"],
        borrows: &[
            ("openai/responses", ErrorShape::Responses),
            ("openai/v1/responses", ErrorShape::Responses),
        ],
    },
    Provider {
        name: "anthropic",
        shape: ErrorShape::Anthropic,
        otherwise: None,
        speaks: &[&anthropic::MESSAGES, &openai::CHAT],
        paths: &["v1/messages", "v1/complete", ":rawPredict", ":streamRawPredict"],
        borrows: &[
            ("v1/chat/completions", ErrorShape::OpenAi),
            ("publishers/mistralai/models", ErrorShape::OpenAi),
        ],
    },
    Provider {
        name: "gemini",
        shape: ErrorShape::Gemini,
        otherwise: None,
        speaks: &[
            &gemini::GENERATE,
            &gemini::STREAM,
            &gemini_interactions::INTERACTIONS,
            &gemini_code_assist::CODE_ASSIST,
            &gemini_live::LIVE,
            &openai::CHAT,
        ],
        paths: &[
            "v1beta",
            "v1alpha",
            "v1beta1",
            ":generateContent",
            ":streamGenerateContent",
            ":countTokens",
        ],
        borrows: &[("v1beta/openai", ErrorShape::OpenAi), ("interactions", ErrorShape::Interactions)],
    },
    Provider {
        name: "vertex",
        shape: ErrorShape::Gemini,
        otherwise: None,
        speaks: &[
            &gemini::GENERATE,
            &gemini::STREAM,
            &gemini_interactions::INTERACTIONS,
            &gemini_live::LIVE,
            &anthropic::MESSAGES,
            &openai::CHAT,
        ],
        paths: &["publishers/google/models"],
        borrows: &[
            ("publishers/mistralai/models", ErrorShape::OpenAi),
            (":rawPredict", ErrorShape::Anthropic),
            (":streamRawPredict", ErrorShape::Anthropic),
            ("endpoints/openapi", ErrorShape::OpenAi),
            ("interactions", ErrorShape::Interactions),
        ],
    },
    Provider {
        name: "bedrock",
        shape: ErrorShape::Bedrock,
        otherwise: None,
        speaks: &[&bedrock::CONVERSE, &bedrock::INVOKE, &openai::CHAT],
        paths: &[],
        borrows: &[("v1/chat/completions", ErrorShape::OpenAi)],
    },
    Provider {
        name: "ollama",
        shape: ErrorShape::Ollama,
        otherwise: None,
        speaks: &[
            &ollama::OLLAMA,
            &anthropic::MESSAGES,
            &openai::CHAT,
            &openai::COMPLETIONS,
            &openai::SINGLE,
            &responses::RESPONSES,
        ],
        paths: &[
            "api/chat",
            "api/generate",
            "api/embed",
            "api/embeddings",
            "api/tags",
            "api/show",
            "api/pull",
        ],
        borrows: &[
            ("v1/chat/completions", ErrorShape::OpenAi),
            ("v1/completions", ErrorShape::OpenAi),
            ("v1/embeddings", ErrorShape::OpenAi),
            ("v1/models", ErrorShape::OpenAi),
            ("v1/responses", ErrorShape::Responses),
            ("v1/messages", ErrorShape::Anthropic),
        ],
    },
    Provider {
        name: "mistral",
        shape: ErrorShape::Mistral,
        otherwise: None,
        speaks: &[
            &mistral::CONVERSATIONS,
            &openai::CHAT,
            &openai::COMPLETIONS,
            &openai::SINGLE,
            &openai::TRANSCRIPTIONS,
        ],
        paths: &["fim/completions", "v1/agents/completions", "v1/ocr"],
        borrows: &[],
    },
    Provider {
        name: "cohere",
        shape: ErrorShape::Cohere,
        otherwise: None,
        speaks: &[&cohere::V2, &cohere::V1, &openai::CHAT],
        paths: &["v2/chat", "v2/embed", "v2/rerank", "v1/chat", "v1/rerank"],
        borrows: &[("compatibility/v1", ErrorShape::OpenAi)],
    },
    Provider {
        name: "mcp",
        shape: ErrorShape::JsonRpc,
        otherwise: Some(&mcp::MCP),
        speaks: &[&mcp::MCP],
        paths: &[],
        borrows: &[],
    },
];

impl Provider {
    /// The provider of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|provider| provider.name == name)
    }

    /// Every one.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        ALL.iter()
    }

    /// What it speaks at `path` of its own.
    pub(super) fn protocol(&self, path: &RequestPath) -> Option<&'static Protocol> {
        at(self.speaks, path).or(self.otherwise)
    }

    /// How it spells errors at `path`.
    pub(super) fn shape(&self, path: &RequestPath) -> ErrorShape {
        let borrowed = self.borrows.iter().find(|(place, _)| is_at(path, place));
        borrowed.map_or(self.shape, |(_, shape)| *shape)
    }

    /// How errors are spelled at `path`, if only one provider's API has it.
    pub(super) fn shape_by_path(path: &RequestPath) -> Option<ErrorShape> {
        let owner = ALL.iter().find(|provider| provider.paths.iter().any(|place| is_at(path, place)));
        owner.map(|provider| provider.shape(path))
    }
}

/// Whether `path` has these segments one behind the other or, for what begins with a colon, ends so.
fn is_at(path: &RequestPath, place: &str) -> bool {
    let path = path.compared().trim_end_matches('/');
    match place.strip_prefix(':') {
        Some(_) => path.ends_with(place),
        None => path.split('/').enumerate().any(|(at, _)| {
            let mut segments = path.split('/').skip(at);
            place.split('/').all(|wanted| segments.next() == Some(wanted))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_spelled_by_path_where_nothing_else_is_said() {
        use ErrorShape as S;
        let rows = [
            ("/v1/chat/completions", Some(S::OpenAi)),
            ("/openai/deployments/d/chat/completions", Some(S::OpenAi)),
            ("/openai/deployments/d/unknown", Some(S::OpenAi)),
            ("/v1/embeddings/", Some(S::OpenAi)),
            ("/v1/responses", Some(S::Responses)),
            ("/v1/responses/resp_1", Some(S::Responses)),
            ("/openai/v1/responses", Some(S::Responses)),
            ("/v1/messages", Some(S::Anthropic)),
            ("/anthropic/v1/messages/count_tokens", Some(S::Anthropic)),
            ("/v1/projects/p/locations/l/publishers/anthropic/models/m:rawPredict", Some(S::Anthropic)),
            ("/v1/projects/p/locations/l/publishers/mistralai/models/m:rawPredict", Some(S::OpenAi)),
            ("/v1/projects/p/locations/l/publishers/google/models/m:predict", Some(S::Gemini)),
            ("/v1beta/models", Some(S::Gemini)),
            ("/v1beta/openai/chat/completions", Some(S::OpenAi)),
            ("/v1/models/m:generateContent", Some(S::Gemini)),
            ("/v1beta/interactions/int_1", Some(S::Interactions)),
            ("/api/chat", Some(S::Ollama)),
            ("/v1/fim/completions", Some(S::Mistral)),
            ("/v2/chat", Some(S::Cohere)),
            ("/v1/messagesx", None),
            ("/v1/models", None),
            ("/v1/redact", None),
            ("/api/chats", None),
            ("/", None),
        ];
        for (path, shape) in rows {
            let path = RequestPath::parse(path).unwrap();
            assert_eq!(Provider::shape_by_path(&path), shape, "{path:?}");
        }
    }

    #[test]
    fn a_named_provider_spells_errors_its_own_way_on_any_path() {
        let rows = [
            ("anthropic", "/v1/models", ErrorShape::Anthropic),
            ("anthropic", "/never/heard/of", ErrorShape::Anthropic),
            ("mistral", "/v1/chat/completions", ErrorShape::Mistral),
            ("ollama", "/api/ps", ErrorShape::Ollama),
            ("ollama", "/v1/chat/completions", ErrorShape::OpenAi),
            ("vertex", "/v1/projects/p/x:streamRawPredict", ErrorShape::Anthropic),
            ("vertex", "/v1/projects/p/publishers/mistralai/models/x:streamRawPredict", ErrorShape::OpenAi),
            ("mcp", "/mcp", ErrorShape::JsonRpc),
            ("bedrock", "/model/m/converse", ErrorShape::Bedrock),
            ("bedrock", "/v1/chat/completions", ErrorShape::OpenAi),
        ];
        for (name, path, shape) in rows {
            let path = RequestPath::parse(path).unwrap();
            assert_eq!(Provider::named(name).unwrap().shape(&path), shape, "{name} {path:?}");
        }
        assert!(Provider::named("auto").is_none());
    }
}
