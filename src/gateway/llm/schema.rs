//! JSON Schemas in requests and lists of tools: what a model must be given as it is, since it answers in these names and
//! values and the caller's program compares them. Descriptions, titles, defaults and examples are text.

use std::sync::OnceLock;

use memchr::memmem;

use crate::stream::json::{Decoded, JsonToken, PathSet, PatternError, Segment, Treatment, Type, walk};

/// Where schemas stand, in any protocol: below these.
const ROOTS: [&str; 19] = [
    // OpenAI, Anthropic, Gemini, Ollama, Cohere, Mistral.
    "tools[*]",
    "functions[*]",
    "response_format",
    "text.format",
    "format",
    "output_format",
    "output_config",
    "generationConfig",
    "generation_config",
    "guided_json",
    // Bedrock, Realtime, Live.
    "toolConfig",
    "session.tools[*]",
    "response.tools[*]",
    "setup.tools[*]",
    // The Model Context Protocol.
    "result.tools[*]",
    // Lists of a server's tools, as the Responses API has them in what goes on and comes back.
    "input[*].tools[*]",
    "output[*].tools[*]",
    "item.tools[*]",
    "params.requestedSchema",
];

/// Members whose strings, or whose names, are the program's (JSON Schema 2020-12, Core and Validation).
const KEYWORDS: [&str; 19] = [
    "enum[*]",
    "const",
    "required[*]",
    "properties",
    "patternProperties",
    "dependentRequired",
    "dependentRequired.*[*]",
    "$defs",
    "definitions",
    "pattern",
    "format",
    "type",
    "type[*]",
    "$ref",
    "$id",
    "$anchor",
    "$schema",
    "propertyOrdering[*]",
    "property_ordering[*]",
];

/// Members that hold any value, in which those names mean nothing, unless they are themselves names of properties.
const VALUES: [&str; 3] = ["default", "examples", "example"];

/// What a tool has beside its schema that may hold anything: examples of calls, headers for a server.
const BESIDE: [&str; 6] = [
    "tools[*].input_examples",
    "tools[*].headers",
    "tools[*].function.input_examples",
    "functions[*].input_examples",
    "session.tools[*].headers",
    "response.tools[*].headers",
];

/// What a provider is given to reach servers of tools with, or agents to tell somebody of a task with: it is of use to nobody if
/// it is changed.
const CREDENTIALS: [&str; 17] = [
    "mcp_servers[*].authorization_token",
    "tools[*].authorization",
    "tools[*].authorization.value",
    "session.tools[*].authorization",
    // For hosts that a shell or a container calls.
    "tools[*].environment.network_policy.domain_secrets[*].value",
    "tools[*].container.network_policy.domain_secrets[*].value",
    // To search with, and of Gemini's tools.
    "tools[*].exa_ai_search_config.api_key",
    "tools[*].parallel_ai_search_config.api_key",
    "tools[*].googleMaps.authConfig.apiKeyConfig.apiKeyString",
    "tools[*].google_maps.auth_config.api_key_config.api_key_string",
    "tools[*].retrieval.externalApi.authConfig.apiKeyConfig.apiKeyString",
    "tools[*].retrieval.external_api.auth_config.api_key_config.api_key_string",
    "tools[*].retrieval.externalApi.apiAuth.apiKeyConfig.apiKeyString",
    // The Agent2Agent Protocol.
    "**.pushNotificationConfig.token",
    "**.pushNotificationConfig.authentication.credentials",
    "**.push_notification_config.token",
    "**.push_notification_config.authentication.credentials",
];

/// The same of what only a request to a model has: stores of documents (Azure OpenAI, "On Your Data"), and the key with which a
/// gateway behind this one calls the provider.
const MODEL_CREDENTIALS: [&str; 14] = [
    "data_sources[*].parameters.**.key",
    "data_sources[*].parameters.**.api_key",
    "data_sources[*].parameters.**.encoded_api_key",
    "data_sources[*].parameters.**.connection_string",
    "data_sources[*].parameters.**.access_token",
    "data_sources[*].parameters.**.password",
    "dataSources[*].parameters.**.key",
    "dataSources[*].parameters.**.apiKey",
    "dataSources[*].parameters.**.encodedApiKey",
    "dataSources[*].parameters.**.connectionString",
    "dataSources[*].parameters.**.accessToken",
    "dataSources[*].parameters.**.password",
    "api_key",
    "litellm_params.api_key",
];

/// URLs that somebody else calls, and so needs the credentials in them: of servers of tools, and of whom it tells of its work.
const CREDENTIAL_URLS: [&str; 17] = [
    "mcp_servers[*].url",
    "tools[*].server_url",
    "session.tools[*].server_url",
    "response.tools[*].server_url",
    "tools[*].mcpServers[*].streamableHttpTransport.url",
    "tools[*].mcp_servers[*].streamable_http_transport.url",
    "tool_resources.mcp[*].server_url",
    "**.pushNotificationConfig.url",
    "**.push_notification_config.url",
    "webhook",
    "webhook.url",
    "webhook_url",
    "webhookUrl",
    "callback_url",
    "callbackUrl",
    "callback.url",
    "notification_url",
];

/// By what a server knows a request again that is sent twice (AWS, idempotency).
const REQUEST_IDS: [&str; 3] = ["clientRequestToken", "client_request_token", "clientToken"];

/// Headers for such a server that hold the same, among others that are text.
const CREDENTIAL_HEADERS: [&str; 8] = [
    "Authorization",
    "authorization",
    "X-API-Key",
    "X-Api-Key",
    "x-api-key",
    "Api-Key",
    "api-key",
    "X-Goog-Api-Key",
];

/// Where such headers stand beside those of tools.
const HEADERS: [&str; 7] = [
    "tools[*].extra_headers",
    "session.tools[*].extra_headers",
    "response.tools[*].extra_headers",
    "mcp_servers[*].headers",
    "tool_resources.mcp[*].headers",
    "tools[*].mcpServers[*].streamableHttpTransport.headers",
    "tools[*].mcp_servers[*].streamable_http_transport.headers",
];

/// Members whose names are those of tools.
const NAMED_BY_TOOLS: [&str; 1] = ["tools[*].configs"];

/// Names of those who speak, which must be words in ASCII (OpenAI API reference, "Chat").
const SPEAKERS: [&str; 1] = ["messages[*].name"];

/// Names that a program gives its tools and a provider its voices, by which each knows them again; countries, which are two letters.
const NAMES: [&str; 110] = [
    // What a request has.
    "tools[*].name",
    "tools[*].function.name",
    "tools[*].functionDeclarations[*].name",
    "tools[*].function_declarations[*].name",
    "functions[*].name",
    "session.tools[*].name",
    "toolConfig.tools[*].toolSpec.name",
    "tool_choice.name",
    "tool_choice.function.name",
    "function_call.name",
    "response_format.json_schema.name",
    "text.format.name",
    "messages[*].tool_calls[*].function.name",
    "messages[*].function_call.name",
    "messages[*].content[*].name",
    "input[*].name",
    "contents[*].parts[*].functionCall.name",
    "contents[*].parts[*].functionResponse.name",
    "voice",
    "audio.voice",
    "session.voice",
    "session.audio.output.voice",
    "response.voice",
    "response.audio.output.voice",
    "generationConfig.speechConfig.voiceConfig.prebuiltVoiceConfig.voiceName",
    "generation_config.speech_config.voice_config.prebuilt_voice_config.voice_name",
    "generationConfig.speechConfig.multiSpeakerVoiceConfig.speakerVoiceConfigs[*].voiceConfig.prebuiltVoiceConfig.voiceName",
    "generation_config.speech_config.voice",
    "generation_config.speech_config[*].voice",
    "setup.generationConfig.speechConfig.voiceConfig.prebuiltVoiceConfig.voiceName",
    "tools[*].user_location.country",
    "web_search_options.user_location.country",
    "web_search_options.user_location.approximate.country",
    "search_parameters.sources[*].country",
    "provider.order[*]",
    "provider.only[*]",
    "messages[*].content[*].toolUse.name",
    "toolConfig.toolChoice.tool.name",
    "toolConfig.functionCallingConfig.allowedFunctionNames[*]",
    "tool_config.function_calling_config.allowed_function_names[*]",
    "tool_choice.tools[*].name",
    "tool_choice.tools[*].server_label",
    "tools[*].server_label",
    "tools[*].allowed_tools[*]",
    "tools[*].allowed_tools.tool_names[*]",
    "tools[*].allowed_tools[*].tools[*]",
    "generation_config.tool_choice.allowed_tools.tools[*]",
    "tools[*].require_approval.*.tool_names[*]",
    "input[*].server_label",
    "input[*].server_name",
    "input[*].content[*].name",
    "input[*].tools[*].name",
    "tools[*].custom.name",
    "tool_choice.custom.name",
    "tool_choice.allowed_tools.tools[*].name",
    "tool_choice.allowed_tools.tools[*].function.name",
    "tool_choice.allowed_tools.tools[*].custom.name",
    "messages[*].tool_calls[*].custom.name",
    "mcp_servers[*].name",
    "mcp_servers[*].tool_configuration.allowed_tools[*]",
    "tools[*].mcp_server_name",
    "messages[*].content[*].server_name",
    "messages[*].content[*].tool_name",
    "messages[*].content[*].content[*].tool_name",
    "messages[*].content[*].content.tool_references[*].tool_name",
    "messages[*].tool_name",
    "session.tools[*].server_label",
    "session.tool_choice.name",
    "setup.tools[*].functionDeclarations[*].name",
    "setup.tools[*].function_declarations[*].name",
    "toolResponse.functionResponses[*].name",
    // What an answer has.
    "choices[*].message.tool_calls[*].function.name",
    "choices[*].delta.tool_calls[*].function.name",
    "content[*].name",
    "content_block.name",
    "output[*].name",
    "item.name",
    "response.output[*].name",
    "candidates[*].content.parts[*].functionCall.name",
    "choices[*].message.tool_calls[*].custom.name",
    "choices[*].delta.tool_calls[*].custom.name",
    "choices[*].message.function_call.name",
    "output.message.content[*].toolUse.name",
    "contentBlockStart.start.toolUse.name",
    "message.tool_calls[*].function.name",
    "delta.message.tool_calls.function.name",
    "output[*].server_label",
    "output[*].tools[*].name",
    "item.server_label",
    "item.tools[*].name",
    "response.output[*].server_label",
    "response.output[*].tools[*].name",
    "content[*].server_name",
    "content[*].tool_name",
    "content[*].content.tool_references[*].tool_name",
    "content_block.server_name",
    "content_block.content.tool_references[*].tool_name",
    "toolCall.functionCalls[*].name",
    "response.tools[*].name",
    "response.tools[*].server_label",
    "response.tool_choice.name",
    "tool_calls[*].name",
    "steps[*].name",
    "steps[*].server_name",
    "step.name",
    "step.server_name",
    "outputs[*].name",
    "content.name",
    "delta.name",
    "delta.server_name",
];

/// URLs that a provider fetches, or lets the caller fetch.
const URLS: [&str; 15] = [
    "messages[*].content[*].image_url",
    "messages[*].content[*].image_url.url",
    "messages[*].content[*].video_url.url",
    "messages[*].content[*].audio_url.url",
    "messages[*].content[*].document_url",
    "messages[*].content[*].source.url",
    "messages[*].content[*].content[*].source.url",
    "input[*].content[*].image_url",
    "input[*].content[*].file_url",
    "contents[*].parts[*].fileData.fileUri",
    "contents[*].parts[*].file_data.file_uri",
    "document.document_url",
    "document.image_url",
    // Of images that were made.
    "data[*].url",
    "output[*].url",
];

/// The patterns of a protocol, behind those of schemas, and of names and URLs that all have.
///
/// # Errors
/// A pattern that is wrong.
pub(super) fn with_schemas(patterns: &[(&'static str, Treatment)]) -> Result<PathSet, PatternError> {
    static SCHEMAS: OnceLock<Result<PathSet, PatternError>> = OnceLock::new();
    SCHEMAS.get_or_init(schemas).as_ref().map_err(|error| *error)?.then(patterns)
}

/// What of a request stays where nothing is known of its server: credentials that it or somebody else is to call a third with.
///
/// # Errors
/// A pattern that is wrong, which would be a bug in the data.
pub fn of_any_server() -> Result<PathSet, PatternError> {
    Ok(compiled(&credentials())?.of_any_document())
}

/// Gives the values that a request's schemas allow (`enum`, `const`), which go to the model as they are: an answer that has one of them
/// has it from the caller. `fields` is what the request's protocol is read by; nothing where a request has none.
pub fn enumerated(body: &[u8], fields: &PathSet, take: &mut dyn FnMut(&str)) {
    if !WORDS.iter().any(|word| memmem::find(body, word).is_some()) {
        return;
    }
    let mut values = 0;
    // What is no document has been refused, or has no schemas.
    let _ = walk(body, &mut |path, leaf| {
        let last = |back: usize| path.len().checked_sub(back).and_then(|at| path.segment(at));
        let is_value = matches!(last(1), Some(Segment::Key("const")))
            || matches!((last(2), last(1)), (Some(Segment::Key("enum")), Some(Segment::Index(_))));
        if is_value
            && leaf.token == JsonToken::Text
            && values < MOST_VALUES
            && fields.take(path) == Treatment::Skip
        {
            let spelled = body.get(leaf.span.clone()).unwrap_or_default();
            if (1..=LONGEST_VALUE).contains(&spelled.len()) {
                values += 1;
                take(Decoded::of(spelled).text());
            }
        }
    });
}

/// What a request has that has such values.
const WORDS: [&[u8]; 2] = [b"\"enum\"", b"\"const\""];

/// The most values that are looked at, and the longest, in bytes as JSON spells them.
const MOST_VALUES: usize = 2000;
const LONGEST_VALUE: usize = 256;

/// The places of credentials that are for somebody else.
fn credentials() -> Vec<(String, Treatment)> {
    let mut places: Vec<(String, Treatment)> = Vec::new();
    places.extend(CREDENTIALS.map(|place| (place.to_owned(), Treatment::Skip)));
    for place in BESIDE.into_iter().filter(|place| place.ends_with(".headers")).chain(HEADERS) {
        places.extend(CREDENTIAL_HEADERS.map(|name| (format!("{place}.{name}"), Treatment::Skip)));
        places.push((format!("{place}.*"), Treatment::Typed(Type::Credential)));
    }
    places.extend(CREDENTIAL_URLS.map(|url| (url.to_owned(), Treatment::Typed(Type::CredentialUrl))));
    places.extend(REQUEST_IDS.map(|id| (id.to_owned(), Treatment::Typed(Type::Id))));
    places
}

fn compiled(patterns: &[(String, Treatment)]) -> Result<PathSet, PatternError> {
    let patterns: Vec<_> = patterns.iter().map(|(pattern, take)| (pattern.as_str(), *take)).collect();
    PathSet::new(&patterns, Treatment::Text)
}

fn schemas() -> Result<PathSet, PatternError> {
    let mut schemas = credentials();
    schemas.extend(MODEL_CREDENTIALS.map(|place| (place.to_owned(), Treatment::Skip)));
    schemas.extend(SPEAKERS.map(|name| (name.to_owned(), Treatment::Typed(Type::PlainName))));
    schemas.extend(BESIDE.map(|place| (format!("{place}.**"), Treatment::Text)));
    for root in ROOTS {
        for value in VALUES {
            let named = |keyword| (format!("{root}.**.properties.{value}.**.{keyword}"), Treatment::Skip);
            schemas.extend(KEYWORDS.map(named));
        }
        schemas.extend(VALUES.map(|value| (format!("{root}.**.properties.{value}.**"), Treatment::Text)));
        schemas.extend(VALUES.map(|value| (format!("{root}.**.{value}.**"), Treatment::Text)));
        schemas.extend(KEYWORDS.map(|keyword| (format!("{root}.**.{keyword}"), Treatment::Skip)));
    }
    schemas.extend(NAMED_BY_TOOLS.map(|place| (place.to_owned(), Treatment::Skip)));
    schemas.extend(NAMES.map(|name| (name.to_owned(), Treatment::Typed(Type::Word))));
    schemas.extend(URLS.map(|url| (url.to_owned(), Treatment::Typed(Type::SignedUrl))));
    compiled(&schemas)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_of_schemas_are_not_text_and_descriptions_are() {
        let document = br#"{"messages":[{"content":"TEXT","enum":["TEXT"],"properties":{"TEXT":"TEXT"}}],
            "tools":[{"function":{"name":"Paris","description":"TEXT","parameters":{"type":"KEEP","properties":
            {"KEEP":{"type":"KEEP","description":"TEXT","enum":["KEEP"],"default":"TEXT","examples":["TEXT"]},
            "default":{"description":"TEXT","enum":["KEEP"]},"pattern":{"title":"TEXT","pattern":"KEEP"}},
            "required":["KEEP"],"$defs":{"KEEP":{"const":"KEEP","format":"KEEP","default":{"enum":["TEXT"],"TEXT":"TEXT"}}}}}}],
            "functions":[{"input_examples":[{"pattern":"TEXT","enum":["TEXT"]}]}],
            "response_format":{"json_schema":{"name":"Jordan","schema":{"properties":{"KEEP":{"enum":["KEEP"]}}}}},
            "generationConfig":{"responseSchema":{"propertyOrdering":["KEEP"]}}}"#;
        let set = with_schemas(&[]).unwrap();
        let mut seen = 0;
        walk(document, &mut |path, leaf| {
            let text = &document[leaf.span.clone()];
            let want = match text.trim_ascii() {
                text if text.ends_with(b"TEXT") || text == b"\"TEXT\"" => Treatment::Text,
                text if text == b"KEEP" || text == b"\"KEEP\"" => Treatment::Skip,
                _ => return,
            };
            seen += 1;
            assert_eq!(set.take(path), want, "{path}");
        })
        .unwrap();
        assert_eq!(seen, 28);
    }

    #[test]
    fn what_a_provider_gets_into_servers_with_is_not_text() {
        let document = br#"{"mcp_servers":[{"authorization_token":"KEEP","name":"x"}],
            "tools":[{"authorization":{"type":"api_key","value":"KEEP"}},
            {"mcpServers":[{"streamableHttpTransport":{"headers":{"Authorization":"KEEP"}}}]},
            {"environment":{"network_policy":{"domain_secrets":[{"domain":"TEXT","value":"KEEP"}]}}}],
            "data_sources":[{"parameters":{"authentication":{"type":"api_key","key":"KEEP","connection_string":"KEEP"},
            "embedding_dependency":{"authentication":{"api_key":"KEEP"}},"role_information":"TEXT"}}],
            "tool_resources":{"mcp":[{"headers":{"Authorization":"KEEP"}}]},"api_key":"KEEP",
            "params":{"configuration":{"pushNotificationConfig":{"token":"KEEP","authentication":{"credentials":"KEEP"}}}},
            "messages":[{"content":[{"input":{"access_token":"TEXT","authorization_token":"TEXT","api_key":"TEXT"}}]}]}"#;
        let set = with_schemas(&[]).unwrap();
        let mut seen = 0;
        walk(document, &mut |path, leaf| {
            let want = match &document[leaf.span.clone()] {
                b"TEXT" => Treatment::Text,
                b"KEEP" => Treatment::Skip,
                _ => return,
            };
            seen += 1;
            assert_eq!(set.take(path), want, "{path}");
        })
        .unwrap();
        assert_eq!(seen, 16);
    }

    #[test]
    fn urls_that_others_call_keep_their_credentials_and_headers_theirs() {
        let document = br#"{"mcp_servers":[{"url":"URL"}],"tools":[{"server_url":"URL","headers":{"X-Any":"CREDENTIAL"},
            "extra_headers":{"X-Any":"CREDENTIAL"}}],"tool_resources":{"mcp":[{"headers":{"X-Any":"CREDENTIAL"}}]},
            "webhook":"URL","params":{"pushNotificationConfig":{"url":"URL"}},"clientRequestToken":"ID",
            "messages":[{"webhook":"TEXT","clientRequestToken":"TEXT"}]}"#;
        for set in [with_schemas(&[]).unwrap(), of_any_server().unwrap()] {
            let mut seen = 0;
            walk(document, &mut |path, leaf| {
                let want = match &document[leaf.span.clone()] {
                    b"URL" => Treatment::Typed(Type::CredentialUrl),
                    b"CREDENTIAL" => Treatment::Typed(Type::Credential),
                    b"ID" => Treatment::Typed(Type::Id),
                    b"TEXT" => Treatment::Text,
                    _ => return,
                };
                seen += 1;
                assert_eq!(set.take(path), want, "{path}");
            })
            .unwrap();
            assert_eq!(seen, 10);
        }
        assert!(!of_any_server().unwrap().is_of_protocol() && with_schemas(&[]).unwrap().is_of_protocol());
    }

    #[test]
    fn values_of_schemas_are_the_callers_own() {
        let fields = with_schemas(&[]).unwrap();
        let body = r#"{"tools":[{"function":{"parameters":{"properties":{"to":{"enum":["jo@harbour-post.com","a\u0062@harbour-post.com"]},
            "default":{"const":"me@harbour-post.com"}},"examples":[{"enum":["no@harbour-post.com"]}]}}}],
            "messages":[{"enum":["nor@harbour-post.com"]}]}"#;
        let own = ["jo@harbour-post.com", "ab@harbour-post.com", "me@harbour-post.com"];
        let values = |body: &str| {
            let mut values: Vec<String> = Vec::new();
            enumerated(body.as_bytes(), &fields, &mut |value| values.push(value.to_owned()));
            values
        };
        assert_eq!(values(body), own);
        assert!(values("{}").is_empty());
    }
}
