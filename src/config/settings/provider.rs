//! Whose API a route leads to.

use serde::Deserialize;

use crate::config::settings::Peer;

/// Whose API a route leads to: where the words are in its bodies, and how its clients expect an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// By the path of each request; the log says once per route and protocol what it was taken for.
    #[default]
    Auto,
    /// Nobody's: every string of JSON or NDJSON, every word of text; errors in the envelope of our own API.
    Generic,
    /// OpenAI, and whoever serves its API: vLLM, Groq, OpenRouter, DeepSeek.
    OpenAi,
    /// Azure OpenAI.
    Azure,
    /// Anthropic.
    Anthropic,
    /// Google's Gemini API.
    Gemini,
    /// Google Cloud's Vertex AI.
    Vertex,
    /// Amazon Bedrock.
    Bedrock,
    /// Ollama.
    Ollama,
    /// Mistral.
    Mistral,
    /// Cohere.
    Cohere,
    /// A server of the Model Context Protocol, on any path.
    Mcp,
}

/// Hosts of providers: whole names, and ends of names that begin with a dot or a hyphen.
const HOSTS: [(&str, Provider); 16] = [
    ("api.openai.com", Provider::OpenAi),
    ("api.groq.com", Provider::OpenAi),
    ("openrouter.ai", Provider::OpenAi),
    ("api.deepseek.com", Provider::OpenAi),
    ("api.together.xyz", Provider::OpenAi),
    (".openai.azure.com", Provider::Azure),
    (".cognitiveservices.azure.com", Provider::Azure),
    (".services.ai.azure.com", Provider::Azure),
    ("api.anthropic.com", Provider::Anthropic),
    ("generativelanguage.googleapis.com", Provider::Gemini),
    ("aiplatform.googleapis.com", Provider::Vertex),
    ("-aiplatform.googleapis.com", Provider::Vertex),
    ("api.mistral.ai", Provider::Mistral),
    ("codestral.mistral.ai", Provider::Mistral),
    ("api.cohere.com", Provider::Cohere),
    ("api.cohere.ai", Provider::Cohere),
];

/// Where Ollama listens unless it is told otherwise.
const OLLAMA: u16 = 11434;

impl Provider {
    /// As a file names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Generic => "generic",
            Self::OpenAi => "openai",
            Self::Azure => "azure",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Vertex => "vertex",
            Self::Bedrock => "bedrock",
            Self::Ollama => "ollama",
            Self::Mistral => "mistral",
            Self::Cohere => "cohere",
            Self::Mcp => "mcp",
        }
    }

    /// As people name it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Auto | Self::Generic => "nobody",
            Self::OpenAi => "OpenAI's API",
            Self::Azure => "Azure OpenAI",
            Self::Anthropic => "Anthropic",
            Self::Gemini => "the Gemini API",
            Self::Vertex => "Vertex AI",
            Self::Bedrock => "Amazon Bedrock",
            Self::Ollama => "Ollama",
            Self::Mistral => "Mistral",
            Self::Cohere => "Cohere",
            Self::Mcp => "an MCP server",
        }
    }

    /// Whose API is at a peer, as far as its address shows it.
    pub fn at(peer: &Peer) -> Option<Self> {
        let host = peer.host().trim_end_matches('.');
        let fits = |name: &str| match name.starts_with(['.', '-']) {
            true => host.len() > name.len() && host.ends_with(name),
            false => host == name,
        };
        let listed = HOSTS.iter().find(|(name, _)| fits(name)).map(|(_, provider)| *provider);
        // bedrock-runtime.REGION.amazonaws.com, also bedrock-runtime-fips and China's amazonaws.com.cn.
        let amazon = host.ends_with(".amazonaws.com") || host.ends_with(".amazonaws.com.cn");
        let bedrock = (amazon && host.starts_with("bedrock-")).then_some(Self::Bedrock);
        listed.or(bedrock).or((peer.port() == OLLAMA).then_some(Self::Ollama))
    }
}

#[cfg(test)]
mod tests {
    use super::Provider;
    use crate::config::settings::Peer;

    #[test]
    fn addresses_show_whose_api_is_there() {
        let rows = [
            ("https://api.openai.com", Some(Provider::OpenAi)),
            ("https://API.OpenAI.com.", Some(Provider::OpenAi)),
            ("https://acme.openai.azure.com", Some(Provider::Azure)),
            ("https://api.anthropic.com", Some(Provider::Anthropic)),
            ("https://generativelanguage.googleapis.com", Some(Provider::Gemini)),
            ("https://europe-west4-aiplatform.googleapis.com", Some(Provider::Vertex)),
            ("https://bedrock-runtime.eu-central-1.amazonaws.com", Some(Provider::Bedrock)),
            ("https://bedrock-runtime-fips.us-east-1.amazonaws.com", Some(Provider::Bedrock)),
            ("https://api.mistral.ai", Some(Provider::Mistral)),
            ("https://api.cohere.com", Some(Provider::Cohere)),
            ("http://localhost:11434", Some(Provider::Ollama)),
            ("http://10.1.2.3:11434", Some(Provider::Ollama)),
            ("https://openai.azure.com", None),
            ("https://s3.eu-central-1.amazonaws.com", None),
            ("https://bedrock-runtime.example.com", None),
            ("https://notapi.openai.com.example.com", None),
            ("http://localhost:8000", None),
        ];
        for (url, provider) in rows {
            assert_eq!(Provider::at(&Peer::parse(url).unwrap()), provider, "{url}");
        }
    }
}
