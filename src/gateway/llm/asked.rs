//! [`Asked`]: what a request asks a provider for, as far as it matters who pays: which models, whether in a stream, and how
//! long an answer.
//!
//! Servers differ in which of two members of one name counts, and in whether letters' case does. So every model that any of
//! them could take counts as named.

use std::ops::Range;

use bytes::Bytes;
use serde_json::value::RawValue;

use crate::base::path::{RequestPath, percent_decoded};
use crate::edit::{Edit, spliced};
use crate::gateway::llm::place::{Member, Members};
use crate::gateway::llm::protocol::{ModelNaming, Protocol, path_ends};
use crate::stream::json::{Decoded, Leaf, Segment, Token, encoded, walk};
use crate::stream::multipart::{Boundary, PartHead, split};
use crate::usage::ModelPattern;

/// How paths end at which nothing is asked of a model, whatever is spoken: files, and ends of what was begun.
const IDLE: [&str; 13] = [
    "/files",
    "/files/*",
    "/uploads",
    "/uploads/*",
    "/uploads/*/parts",
    "/uploads/*/complete",
    "/uploads/*/cancel",
    "/responses/*/cancel",
    "/messages/batches/*/cancel",
    "/batches/*/cancel",
    "/tokenize",
    "/detokenize",
    "/api/show",
];

/// Members that bound the length of an answer, in tokens, wherever a protocol has them; in small letters.
const MOST_OUTPUT: [&str; 8] = [
    "max_completion_tokens",
    "max_tokens",
    "max_output_tokens",
    "max_tokens_to_sample",
    "generationconfig.maxoutputtokens",
    "inferenceconfig.maxtokens",
    "options.num_predict",
    "max_gen_len",
];

/// Members that say how many answers there are to be.
const ANSWERS: [&str; 2] = ["n", "generationconfig.candidatecount"];

/// More models than this in one request are no request of a client's.
const MOST_MODELS: usize = 10_000;

/// What a request asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Every model that it names, as it is spelled, each once.
    pub models: Vec<String>,
    /// Whether the answer is to come in a stream.
    pub streams: bool,
    /// Whether a stream is to say in its end what it took.
    pub includes_usage: bool,
    /// The most tokens that the answer may have, if it says so.
    pub most_output: Option<u64>,
}

/// Why it is not known what a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the body is not what this path takes, so it cannot be told which model it asks")]
pub struct UnreadRequest;

/// What a request is read from.
#[derive(Clone)]
pub struct AskedRequest {
    /// What is spoken.
    pub protocol: Option<&'static Protocol>,
    /// Its path.
    pub path: RequestPath,
    /// The query of its target, as it is written.
    pub query: String,
    /// What `Content-Type` says.
    pub content_type: String,
    /// Its body, out of its content coding.
    pub body: Bytes,
}

impl Asked {
    /// Reads a request.
    ///
    /// # Errors
    /// A body that is neither JSON nor a form of parts, where one is expected.
    pub fn of(request: &AskedRequest) -> Result<Self, UnreadRequest> {
        let mut asked = Self::default();
        let naming = request.protocol.map_or(&ModelNaming::MEMBER, |protocol| &protocol.model);
        if let Some(model) = in_path(&request.path, naming) {
            asked.add(&model);
        }
        if let Some(name) = naming.parameter {
            in_query(&request.query, name).iter().for_each(|model| asked.add(model));
        }
        if request
            .content_type
            .trim_start()
            .get(..10)
            .is_some_and(|kind| kind.eq_ignore_ascii_case("multipart/"))
        {
            return asked.read_parts(request).map(|()| asked);
        }
        if request.body.trim_ascii().is_empty() {
            return Ok(asked);
        }
        let document: Members<'_> = serde_json::from_slice(&request.body).map_err(|_| UnreadRequest)?;
        asked.read(&document.0, naming).map(|()| asked)
    }

    fn read(&mut self, document: &[Member<'_>], naming: &ModelNaming) -> Result<(), UnreadRequest> {
        for place in naming.members {
            for value in values(document, place) {
                if let Ok(model) = serde_json::from_str::<String>(value.get()) {
                    self.add(&model);
                }
            }
        }
        let is_true = |place| values(document, place).iter().any(|value| value.get() == "true");
        (self.streams, self.includes_usage) = (is_true("stream"), is_true("stream_options.include_usage"));
        let largest = |places: &[&'static str]| {
            let numbers = places.iter().flat_map(|place| values(document, place));
            numbers.filter_map(|value| value.get().parse::<u64>().ok()).max()
        };
        let answers = largest(&ANSWERS).unwrap_or(1).max(1);
        self.most_output = largest(&MOST_OUTPUT).map(|most| most.saturating_mul(answers));
        if self.models.len() > MOST_MODELS { Err(UnreadRequest) } else { Ok(()) }
    }

    fn read_parts(&mut self, request: &AskedRequest) -> Result<(), UnreadRequest> {
        let boundary = Boundary::of(&request.content_type).map_err(|_| UnreadRequest)?;
        for span in split(&request.body, &boundary).map_err(|_| UnreadRequest)? {
            let head = request.body.get(span.head).unwrap_or_default();
            let head = PartHead::parse(head).map_err(|_| UnreadRequest)?;
            let name = head.name.as_deref().unwrap_or_default();
            let body = request.body.get(span.body).unwrap_or_default();
            if name.eq_ignore_ascii_case("model") {
                self.add(&String::from_utf8_lossy(body));
            }
            self.streams |= name == "stream" && body.trim_ascii() == b"true";
        }
        Ok(())
    }

    fn add(&mut self, model: &str) {
        // As Google spells names of resources.
        let model = model.trim();
        let model = model.strip_prefix("models/").unwrap_or(model);
        if !model.is_empty()
            && self.models.len() <= MOST_MODELS
            && !self.models.iter().any(|one| one == model)
        {
            self.models.push(model.to_owned());
        }
    }

    /// The model that the answer is taken to be from: the first that is named.
    pub fn model(&self) -> Option<&str> {
        self.models.first().map(String::as_str)
    }

    /// Whether it names only such models, and at least one.
    pub fn is_within(&self, models: &[ModelPattern]) -> bool {
        let allowed = |model: &String| models.iter().any(|pattern| pattern.takes(model));
        !self.models.is_empty() && self.models.iter().all(allowed)
    }
}

/// The member of a document that says which model is asked, where there is no doubt.
pub struct ModelMember {
    /// The model.
    pub name: String,
    /// Between its quotes, in bytes.
    pub span: Range<usize>,
}

/// Reads it: the one member `model` at the top, in whatever letters.
pub fn model_member(document: &[u8]) -> Option<ModelMember> {
    let (mut found, mut names) = (None, 0);
    walk(document, &mut |path, Leaf { span, token }| match token {
        Token::Key if path.is_empty() => {
            let name = Decoded::of(document.get(span).unwrap_or_default());
            names += usize::from(name.text().eq_ignore_ascii_case("model"));
        }
        Token::Text if path.len() == 1 && path.segment(0) == Some(Segment::Key("model")) => {
            let name = Decoded::of(document.get(span.clone()).unwrap_or_default()).text().to_owned();
            found = Some(ModelMember { name, span });
        }
        _ => {}
    })
    .ok()?;
    found.filter(|_| names == 1)
}

/// The document with this model in place of its own.
pub fn with_model(document: &Bytes, model: &str) -> Bytes {
    let Some(ModelMember { span, .. }) = model_member(document) else { return document.clone() };
    Bytes::from(spliced(document, &[Edit { range: span, with: encoded(model) }]))
}

/// Whether a request to this path asks nothing of a model.
pub fn is_idle(protocol: Option<&Protocol>, path: &RequestPath) -> bool {
    let of_protocol = protocol.map_or(&[][..], |protocol| protocol.model.idle);
    ends(path, IDLE.iter().chain(of_protocol))
}

/// Whether a request to this path names a model, and takes nothing of it.
pub fn is_free(protocol: Option<&Protocol>, path: &RequestPath) -> bool {
    protocol.is_some_and(|protocol| ends(path, protocol.model.free.iter()))
}

fn ends<'a>(path: &RequestPath, mut all: impl Iterator<Item = &'a &'static str>) -> bool {
    let path = path.compared().trim_end_matches('/');
    all.any(|end| path_ends(path, end))
}

/// The values at a place (`a.b`, `a[*].b`), whatever the case of its letters; of several members of one name, all.
fn values<'a>(document: &[Member<'a>], place: &str) -> Vec<&'a RawValue> {
    let (first, rest) = place.split_once('.').map_or((place, None), |(first, rest)| (first, Some(rest)));
    let (name, each) = first.strip_suffix("[*]").map_or((first, false), |name| (name, true));
    let named = document.iter().filter(|(own, _)| own.is_like(name)).map(|(_, value)| *value);
    let found: Vec<&RawValue> = match each {
        false => named.collect(),
        true => {
            named.filter_map(|value| serde_json::from_str::<Vec<_>>(value.get()).ok()).flatten().collect()
        }
    };
    let Some(rest) = rest else { return found };
    let objects = found.into_iter().filter(|value| value.get().starts_with('{'));
    let objects = objects.filter_map(|value| serde_json::from_str::<Members<'a>>(value.get()).ok());
    objects.flat_map(|members| values(&members.0, rest)).collect()
}

/// The model that a path names: behind one of these segments, up to a colon, out of its escapes.
fn in_path(path: &RequestPath, naming: &ModelNaming) -> Option<String> {
    let mut segments = path.compared().split('/');
    segments.find(|segment| naming.behind.contains(segment))?;
    let segment = segments.next()?;
    // A colon that is encoded belongs to the name of a resource.
    let name =
        segment.rsplit_once(':').filter(|(_, verb)| verb.bytes().all(|byte| byte.is_ascii_alphabetic()));
    let name = name.map_or(segment, |(name, _)| name);
    Some(decoded(name)).filter(|name| !name.is_empty())
}

/// The values of a parameter.
fn in_query(query: &str, name: &str) -> Vec<String> {
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.filter(|(own, _)| decoded(own) == name).map(|(_, value)| decoded(value)).collect()
}

fn decoded(text: &str) -> String {
    String::from_utf8_lossy(&percent_decoded(text.as_bytes())).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::llm::{ProtocolChoice, Provider};

    fn asked(target: &str, content_type: &str, body: &str) -> Result<Asked, UnreadRequest> {
        let (path, query) =
            target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
        let path = RequestPath::parse(path).unwrap();
        let protocol = ProtocolChoice::Auto.of(&path);
        let (query, content_type) = (query.unwrap_or_default().to_owned(), content_type.to_owned());
        Asked::of(&AskedRequest {
            protocol,
            path,
            query,
            content_type,
            body: body.as_bytes().to_vec().into(),
        })
    }

    #[test]
    fn every_model_that_a_server_could_take_is_named() {
        let rows: [(&str, &str, &[&str]); 22] = [
            ("/v1/chat/completions", r#"{"model":"a"}"#, &["a"]),
            ("/v1/chat/completions", r#"{"model":"a","model":"b"}"#, &["a", "b"]),
            ("/v1/chat/completions", r#"{"mod\u0065l":"a","MODEL":"b","Model":"c"}"#, &["a", "b", "c"]),
            (
                "/v1/chat/completions",
                r#"{"model":"a","models":["b","c"],"fallbacks":["d",{"model":"e"}]}"#,
                &["a", "b", "c", "d", "e"],
            ),
            (
                "/v1/chat/completions",
                r#"{"messages":[{"content":"{\"model\":\"x\"}","model":"y"}],"model":" a "}"#,
                &["a"],
            ),
            ("/v1/chat/completions", r#"{"tools":[{"model":"x"}]}"#, &[]),
            ("/openai/deployments/d/chat/completions", r#"{"model":"a"}"#, &["d", "a"]),
            ("/openai/deployments/d%65p/chat/completions", "{}", &["dep"]),
            (
                "/v1/messages/batches",
                r#"{"requests":[{"params":{"model":"a"}},{"params":{"model":"b"}}]}"#,
                &["a", "b"],
            ),
            ("/v1beta/models/gemini-3:generateContent", "{}", &["gemini-3"]),
            ("/v1beta/models/gemini-3%3AgenerateContent", "{}", &["gemini-3"]),
            (
                "/v1/projects/p/locations/l/publishers/google/models/gemini-3:streamGenerateContent",
                "{}",
                &["gemini-3"],
            ),
            (
                "/v1/projects/p/locations/l/publishers/anthropic/models/claude-x:rawPredict",
                "{}",
                &["claude-x"],
            ),
            (
                "/v1beta/models/e:batchEmbedContents",
                r#"{"requests":[{"model":"models/e"},{"model":"models/f"}]}"#,
                &["e", "f"],
            ),
            ("/model/us.anthropic.claude-v1:0/converse", "{}", &["us.anthropic.claude-v1:0"]),
            (
                "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fx/invoke",
                "{}",
                &["arn:aws:bedrock:us-east-1:1:inference-profile/x"],
            ),
            ("/async-invoke", r#"{"modelId":"a"}"#, &["a"]),
            ("/api/chat", r#"{"Model":"a"}"#, &["a"]),
            ("/v1/realtime?model=gpt-realtime&x=1", "", &["gpt-realtime"]),
            ("/v1/chat/completions", "", &[]),
            ("/v1/other", r#"{"model":"a"}"#, &["a"]),
            ("/v1/chat/completions", r#"{"model":["a"],"model":null}"#, &[]),
        ];
        for (target, body, want) in rows {
            assert_eq!(asked(target, "application/json", body).unwrap().models, want, "{target} {body}");
        }
        assert_eq!(asked("/v1/chat/completions", "", "{\"model\":"), Err(UnreadRequest));
        let parts = "--x\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nwhisper\r\n\
                     --x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n{\"model\":1}\r\n--x--\r\n";
        let found = asked("/v1/audio/transcriptions", "multipart/form-data; boundary=x", parts).unwrap();
        assert_eq!(found.models, ["whisper"]);
    }

    #[test]
    fn a_stream_and_the_length_of_an_answer_are_read() {
        let chat = |body| asked("/v1/chat/completions", "", body).unwrap();
        let found = chat(r#"{"stream":true,"stream_options":{"include_usage":true},"max_tokens":10,"n":3}"#);
        assert_eq!((found.streams, found.includes_usage, found.most_output), (true, true, Some(30)));
        let found = chat(r#"{"stream":false,"stream_options":{}}"#);
        assert_eq!((found.streams, found.includes_usage, found.most_output), (false, false, None));
        let gemini = asked(
            "/v1beta/models/g:generateContent",
            "",
            r#"{"generationConfig":{"maxOutputTokens":20,"candidateCount":2}}"#,
        );
        assert_eq!(gemini.unwrap().most_output, Some(40));
    }

    #[test]
    fn another_model_takes_the_place_of_one_that_is_in_no_doubt() {
        for (document, want) in [
            (
                r#"{"a":1, "model" : "fast","b":[{"model":"x"}]}"#,
                r#"{"a":1, "model" : "m\"1","b":[{"model":"x"}]}"#,
            ),
            (r#"{"mod\u0065l":"f\u0061st"}"#, r#"{"mod\u0065l":"m\"1"}"#),
            (r#"{"model":"fast","model":"fast"}"#, r#"{"model":"fast","model":"fast"}"#),
            (r#"{"model":"fast","MODEL":"x"}"#, r#"{"model":"fast","MODEL":"x"}"#),
            (r#"{"model":["fast"]}"#, r#"{"model":["fast"]}"#),
            ("{\"model\":", "{\"model\":"),
        ] {
            let changed = with_model(&Bytes::from_static(document.as_bytes()), "m\"1");
            assert_eq!(std::str::from_utf8(&changed).unwrap(), want);
        }
        assert_eq!(model_member(br#"{"mod\u0065l":"f\u0061st"}"#).unwrap().name, "fast");
    }

    #[test]
    fn only_models_that_all_are_allowed_are_within() {
        let allowed = [ModelPattern::parse("gpt-4o*").unwrap()];
        let within = |models: &[&str]| {
            let models = models.iter().map(|model| (*model).to_owned()).collect();
            Asked { models, ..Asked::default() }.is_within(&allowed)
        };
        assert!(within(&["gpt-4o-mini", "GPT-4o"]));
        assert!(!within(&[]) && !within(&["gpt-4o", "o3"]));
    }

    #[test]
    fn some_paths_ask_no_model_and_some_take_nothing_of_it() {
        let rows = [
            ("/v1/files", true, false),
            ("/v1/batches", false, false),
            ("/v1/batches/b/cancel", true, false),
            ("/v1/chat/completions", false, false),
            ("/v1/images/edits", false, false),
            // Mistral's run one.
            ("/v1/conversations", false, false),
            ("/v1/messages/count_tokens", false, true),
            ("/v1/responses/input_tokens", false, true),
            ("/v1beta/models/g:countTokens", false, true),
            ("/model/m/count-tokens", false, true),
            ("/v1/moderations", false, true),
        ];
        for (path, idle, free) in rows {
            let path = RequestPath::parse(path).unwrap();
            let protocol = ProtocolChoice::Auto.of(&path);
            assert_eq!((is_idle(protocol, &path), is_free(protocol, &path)), (idle, free), "{path:?}");
        }
        let path = RequestPath::parse("/v1/conversations").unwrap();
        let openai = Provider::named("openai").map(ProtocolChoice::Of).unwrap().of(&path);
        assert!(is_idle(openai, &path));
    }
}
