//! What the path of a request says of models: which it names, and whether it asks one at all.

use crate::base::path::{RequestPath, percent_decoded};
use crate::gateway::llm::protocol::{Protocol, path_ends};

/// Segments behind which a model stands, in small letters; whether a colon and a verb follow its name.
const BEHIND: [(&str, bool); 5] =
    [("models", true), ("tunedmodels", true), ("endpoints", true), ("model", false), ("deployments", false)];

/// What stands there and is no model: the other API of Vertex AI.
const NO_MODEL: &str = "openapi";

/// Paths at which nothing is asked of a model, whatever is spoken: files, and ends of what was begun.
const IDLE: [&str; 17] = [
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
    "/vector_stores",
    "/vector_stores/*/search",
    "/containers",
    "/conversations/*/items",
    "/tokenize",
    "/detokenize",
    "/api/show",
];

/// Paths at which something is begun that takes tokens later, and tells of it in another answer; in small letters.
const UNCOUNTED: [&str; 15] = [
    "/batches",
    "/batch/jobs",
    "/model-invocation-job",
    "/models/*:batchgeneratecontent",
    "/models/*:asyncbatchembedcontent",
    "/models/*:predictlongrunning",
    "/batchpredictionjobs",
    "/embed-jobs",
    "/fine_tuning/jobs",
    "/finetuning/finetuned-models",
    "/evals/*/runs",
    "/threads/*/runs",
    "/threads/runs",
    "/async-invoke",
    "/videos",
];

/// Segments that may stand before those: of versions, and of APIs beside others.
const BEFORE: [&str; 8] = ["v1", "v2", "v1alpha", "v1beta", "v1beta1", "openai", "upload", "api"];

/// The models that a path names, in whatever letters, out of their escapes.
pub(super) fn models_in_path(path: &RequestPath) -> Vec<String> {
    let segments: Vec<&str> = path.compared().split('/').collect();
    let named = segments.windows(2).enumerate().filter_map(|(at, pair)| {
        let [word, segment] = pair else { return None };
        let word = decoded(word.split(';').next().unwrap_or_default());
        let (_, has_verb) = BEHIND.iter().find(|(behind, _)| behind.eq_ignore_ascii_case(&word))?;
        // A colon that is encoded belongs to the name of a resource.
        let verb = |(_, verb): &(&str, &str)| verb.bytes().all(|byte| byte.is_ascii_alphabetic());
        let name = segment.rsplit_once(':').filter(|split| *has_verb && verb(split));
        let name = decoded(name.map_or(*segment, |(name, _)| name));
        let other_api = name == NO_MODEL && segments.len() > at + 2;
        (!name.is_empty() && !other_api).then_some(name)
    });
    named.collect()
}

/// Whether servers may read a path in several ways: it has parameters, or separators in its escapes elsewhere than in the
/// name of a resource of Amazon's.
pub fn is_ambiguous(path: &RequestPath) -> bool {
    let mut before = "";
    path.compared().split('/').any(|segment| {
        let escaped = ["%2f", "%5c"].iter().any(|escape| segment.to_ascii_lowercase().contains(escape));
        let in_name = before == "model";
        before = segment;
        segment.contains(';') || escaped && !in_name
    })
}

/// Whether a request to this path asks nothing of a model. `strip` segments at its beginning are the route's.
pub fn is_idle(protocol: Option<&Protocol>, path: &RequestPath, strip: usize) -> bool {
    let own = path.compared().trim_end_matches('/').splitn(strip + 2, '/').nth(strip + 1).unwrap_or_default();
    let of_protocol = protocol.map_or(&[][..], |protocol| protocol.model.idle);
    let is = |end: &&str| {
        let depth = end.matches('/').count();
        let count = own.split('/').count();
        let before = count.checked_sub(depth).map(|before| own.split('/').take(before));
        path_ends(own, end) && before.is_some_and(|mut all| all.all(|segment| BEFORE.contains(&segment)))
    };
    !is_ambiguous(path) && IDLE.iter().chain(of_protocol).any(is)
}

/// Whether a request to this path names a model, and takes nothing of it.
pub fn is_free(protocol: Option<&Protocol>, path: &RequestPath) -> bool {
    protocol.is_some_and(|protocol| ends(path, protocol.model.free))
}

/// Whether what a request to this path asks, and of which models, stands elsewhere: in a file, or in what comes later.
pub fn is_blind(protocol: Option<&Protocol>, path: &RequestPath) -> bool {
    protocol.is_some_and(|protocol| ends(path, protocol.model.blind))
}

/// Whether what a request to this path takes is not told in its answer.
pub fn is_uncounted(protocol: Option<&Protocol>, path: &RequestPath) -> bool {
    let own = path.compared().trim_end_matches('/').to_ascii_lowercase();
    is_blind(protocol, path) || UNCOUNTED.iter().any(|end| path_ends(&own, end))
}

fn ends(path: &RequestPath, all: &[&str]) -> bool {
    let path = path.compared().trim_end_matches('/');
    all.iter().any(|end| path_ends(path, end))
}

/// Out of percent escapes.
pub(super) fn decoded(text: &str) -> String {
    String::from_utf8_lossy(&percent_decoded(text.as_bytes())).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::llm::{ProtocolChoice, Provider};

    fn of(path: &str) -> (RequestPath, Option<&'static Protocol>) {
        let path = RequestPath::parse(path).unwrap();
        let protocol = ProtocolChoice::Auto.of(&path);
        (path, protocol)
    }

    #[test]
    fn models_stand_in_paths_wherever_some_server_would_see_them() {
        let rows: [(&str, &[&str]); 13] = [
            ("/openai/deployments/d%65p/chat/completions", &["dep"]),
            ("/openai/Deployments/d/chat/completions", &["d"]),
            ("/openai/deployments;x/d/chat/completions", &["d"]),
            ("/openai/deployments/a/deployments/b/chat/completions", &["a", "b"]),
            ("/v1beta/models/gemini-3:generateContent", &["gemini-3"]),
            ("/v1beta/models/gemini-3%3AgenerateContent", &["gemini-3"]),
            ("/v1beta/Models/g:predictLongRunning", &["g"]),
            ("/v1/projects/p/locations/l/publishers/anthropic/models/claude-x:rawPredict", &["claude-x"]),
            ("/v1/projects/p/locations/l/endpoints/openapi/chat/completions", &[]),
            ("/v1/projects/p/locations/l/endpoints/123:predict", &["123"]),
            ("/model/us.anthropic.claude-v1:0/converse", &["us.anthropic.claude-v1:0"]),
            ("/model/ok:bad/invoke", &["ok:bad"]),
            (
                "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fx/invoke",
                &["arn:aws:bedrock:us-east-1:1:inference-profile/x"],
            ),
        ];
        for (path, want) in rows {
            assert_eq!(models_in_path(&RequestPath::parse(path).unwrap()), want, "{path}");
        }
    }

    #[test]
    fn some_paths_ask_no_model_and_some_take_nothing_of_it() {
        let rows = [
            ("/v1/files", true, false),
            ("/openai/v1/files/f/", true, false),
            ("/upload/v1beta/files", true, false),
            ("/v1/batches", false, false),
            ("/v1/batches/b/cancel", true, false),
            ("/v1/chat/completions", false, false),
            ("/v1/chat/completions/files/x", false, false),
            ("/openai/deployments/d/tokenize", false, false),
            ("/v1/chat/completions;/files", false, false),
            ("/v1/files/x%2Fchat%2Fcompletions", false, false),
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
            let (path, protocol) = of(path);
            assert_eq!((is_idle(protocol, &path, 0), is_free(protocol, &path)), (idle, free), "{path:?}");
        }
        let path = RequestPath::parse("/openai/v1/conversations").unwrap();
        let openai = Provider::named("openai").map(ProtocolChoice::Of).unwrap().of(&path);
        assert!(is_idle(openai, &path, 0) && is_idle(openai, &path, 1));
        let path = RequestPath::parse("/chat/completions/v1/files").unwrap();
        assert!(!is_idle(None, &path, 0) && is_idle(None, &path, 2), "two segments are the route's");
    }

    #[test]
    fn what_a_request_asks_may_stand_elsewhere() {
        for (path, blind) in [
            ("/v1/batches", true),
            ("/v1/messages/batches", false),
            ("/api/create", true),
            ("/v1beta/models/g:batchGenerateContent", true),
            ("/v1/realtime/client_secrets", true),
            ("/v1/chat/completions", false),
        ] {
            let (path, protocol) = of(path);
            assert_eq!(is_blind(protocol, &path), blind, "{path:?}");
        }
    }
}
