//! What providers keep of one request for later ones, and the ids by which it is named: in paths, in requests, and in
//! answers, where most of them are learned. Data by provider; which of them an upstream is need not be known, since an id
//! that nobody has learned names nothing. Of servers of which nothing is known, any id that looks like one counts.

use crate::base::path::RequestPath;
pub use crate::gateway::llm::resources_any::IdShape;
use crate::gateway::llm::resources_any::{self, IdInRequest};
use crate::gateway::llm::resources_data::{ALL, Collection};
pub use crate::gateway::llm::resources_data::{KeepRule, ResourceRole};
use crate::stream::json::{Decoded, JsonToken, Leaf, Path, Segment, walk};

/// The longest id that is taken for one, in bytes.
const LONGEST: usize = 512;

/// The most ids of one request that are looked up.
const MOST: usize = 32;

/// Something that a request names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceReference {
    /// Its id: of an address or a name of several segments the last.
    pub id: String,
    /// What the request has to do with it.
    pub role: ResourceRole,
}

/// Which ids count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdScope {
    /// None.
    #[default]
    None,
    /// Those that a known provider gives.
    Known,
    /// Those too that look like ids where any server would have them.
    Any,
}

/// What a request's path says of what is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathNames {
    /// What it names.
    pub named: Vec<ResourceReference>,
    /// The last of those in which what one request says shows in the open streams of others.
    pub shared: Option<ResourceReference>,
    /// When what the request makes is kept; `None`: never, unless the body names something.
    pub kept: Option<KeepRule>,
}

/// What a request's body says of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BodyNames {
    /// What it names.
    pub named: Vec<ResourceReference>,
    /// What it says under `store`.
    pub store: Option<bool>,
}

fn collection(segment: &str) -> Option<&'static Collection> {
    ALL.iter().flat_map(|naming| naming.collections).find(|collection| collection.name == segment)
}

/// Where Azure has the names of models, behind which all that is asked of one stands: `/openai/deployments/{name}/…`.
const MODELS: [&str; 2] = ["openai", "deployments"];

/// Segments of paths whose answers are fetched later.
const LATER: [&str; 2] = ["async", "queue"];

/// Chats whose server keeps them under an id that it gives: of Cohere, version 1, and of LM Studio.
const KEPT_CHAT: [&str; 2] = ["v1", "chat"];

/// Segments that stand behind a collection and are no id.
const ACTIONS: [&str; 4] = ["compact", "input_tokens", "search", "upload"];

/// A segment without the verb behind it, such as `:download`.
fn bare(segment: &str) -> &str {
    match segment.rsplit_once(':') {
        Some((before, verb)) if verb.bytes().all(|byte| byte.is_ascii_alphabetic()) => before,
        _ => segment,
    }
}

/// What a path says, of which these ids count.
pub fn in_path(path: &RequestPath, scope: IdScope) -> PathNames {
    let segments: Vec<&str> = path.compared().split('/').filter(|segment| !segment.is_empty()).collect();
    let mut names = PathNames::default();
    for (at, segment) in segments.iter().enumerate() {
        let Some(collection) = collection(segment) else { continue };
        if segments.get(..=at).is_some_and(|segments| segments.ends_with(&MODELS)) {
            continue;
        }
        match segments.get(at + 1).map(|next| bare(next)) {
            None => names.kept = Some(collection.kept),
            Some(next) if collection_of_own(next) => {}
            Some(next) if ACTIONS.contains(&next) => names.kept = Some(collection.kept),
            Some(next) => {
                // What an answer says of something that is kept is kept too.
                names.kept = Some(KeepRule::Always);
                names.named.extend(named(next, collection.role));
            }
        }
    }
    if segments.last().is_some_and(|last| BATCH_VERBS.iter().any(|verb| last.ends_with(verb))) {
        names.kept = Some(KeepRule::Always);
    }
    if segments.iter().any(|segment| LATER.contains(segment)) || segments.ends_with(&KEPT_CHAT) {
        names.kept = Some(KeepRule::Always);
    }
    if scope == IdScope::Any {
        for (id, role) in resources_any::in_segments(&segments) {
            if names.named.iter().all(|named| named.id != id) {
                names.named.push(ResourceReference { id: id.to_owned(), role });
            }
        }
    }
    names.shared = shared(&segments, &names.named);
    names
}

/// What the query of a request names, whatever its server speaks.
pub fn in_query(query: &str) -> Vec<ResourceReference> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let named = pairs.filter_map(|(name, value)| {
        let role = resources_any::in_query(name, value)?;
        Some(ResourceReference { id: value.to_owned(), role })
    });
    named.take(MOST).collect()
}

/// What an answer's `Location` or `Operation-Location` names.
pub fn in_location(url: &str) -> Option<&str> {
    resources_any::in_location(url)
}

/// Which of what a path names other requests are at work in while its answer passes: rather what they go on with than what is
/// only read.
fn shared(segments: &[&str], named: &[ResourceReference]) -> Option<ResourceReference> {
    let pairs = segments.windows(2).rev().filter_map(|pair| match pair {
        [word, id] if resources_any::is_shared_behind(word) => {
            named.iter().find(|named| named.id == bare(id))
        }
        _ => None,
    });
    let all: Vec<&ResourceReference> = pairs.collect();
    let grows = all.iter().find(|named| named.role != ResourceRole::Reads);
    grows.or(all.first()).map(|named| (*named).clone())
}

/// Verbs of Gemini's that make a batch, or an operation that takes long.
const BATCH_VERBS: [&str; 3] = [":batchGenerateContent", ":asyncBatchEmbedContent", ":predictLongRunning"];

fn collection_of_own(segment: &str) -> bool {
    collection(segment).is_some()
}

fn named(id: &str, role: ResourceRole) -> Option<ResourceReference> {
    Some(ResourceReference { id: last_segment(id)?.to_owned(), role })
}

/// What of an id counts, which may be an address or a name of several segments.
pub fn last_segment(id: &str) -> Option<&str> {
    let last = id.trim().trim_end_matches('/').rsplit('/').next()?;
    (!last.is_empty() && last.len() <= LONGEST).then_some(last)
}

/// What a body says, of which these ids count; nothing if it is no JSON document.
pub fn in_body(body: &[u8], scope: IdScope) -> BodyNames {
    let (mut names, mut deferred) = (BodyNames::default(), false);
    let walked = walk(body, &mut |path, Leaf { span, token }| {
        if token == JsonToken::Key {
            let flag = || flag_behind(body.get(span.end..).unwrap_or_default());
            match body.get(span.clone()).filter(|_| path.is_empty()) {
                Some(b"store") => names.store = flag(),
                // As xAI has it: the answer is read later.
                Some(b"deferred") => deferred = flag() == Some(true),
                _ => {}
            }
            return;
        }
        if token != JsonToken::Text || names.named.len() >= MOST {
            return;
        }
        let known = role_of(path);
        let any = if known.is_none() && scope == IdScope::Any { IdInRequest::at(path) } else { None };
        if known.is_none() && any.is_none() {
            return;
        }
        let decoded = Decoded::of(body.get(span).unwrap_or_default());
        let role = known.or_else(|| any?.role(decoded.text()));
        let named = role.and_then(|role| named(decoded.text(), role));
        names.named.extend(named.filter(|named| !names.named.contains(named)));
    });
    if deferred {
        names.store = Some(true);
    }
    if walked.is_ok() { names } else { BodyNames::default() }
}

/// What stands behind a key and its quotation mark.
fn flag_behind(bytes: &[u8]) -> Option<bool> {
    let value = bytes.strip_prefix(b"\"")?.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    match value {
        _ if value.starts_with(b"true") => Some(true),
        _ if value.starts_with(b"false") => Some(false),
        _ => None,
    }
}

/// What the value at a path of a request names, if it names anything.
fn role_of(path: &Path<'_>) -> Option<ResourceRole> {
    let last = path.len().checked_sub(1)?;
    let member = match path.segment(last)? {
        Segment::Index(_) => path.segment(last.checked_sub(1)?)?,
        Segment::Key("id") if last > 0 => path.segment(last - 1)?,
        key => key,
    };
    let Segment::Key(member) = member else { return None };
    let known = ALL.iter().flat_map(|naming| naming.request).find(|(name, _)| match name.split_once('.') {
        None => *name == member,
        Some((root, name)) => {
            [root, name].iter().enumerate().all(|(at, name)| path.segment(at) == Some(Segment::Key(name)))
        }
    });
    known.map(|(_, role)| *role)
}

/// By what the messages are known that go where an `endpoint` event says (MCP, specification of 2024-11-05): what is there of
/// each session only, a query or else a path's last segment. What stands before it the gateway and its caller call otherwise.
pub fn of_endpoint(target: &str) -> Option<String> {
    let target = target.split('#').next().unwrap_or_default().trim();
    let id = match target.split_once('?') {
        Some((_, query)) if !query.is_empty() => query,
        _ => last_segment(target.trim_end_matches('?'))?,
    };
    (id.len() <= LONGEST).then(|| format!("endpoint {id}"))
}

/// How the value at a path of an answer, or of one of its events, looks if it is an id that any server gives; `None` where none
/// is.
pub fn any_id_in_answer(path: &Path<'_>) -> Option<IdShape> {
    resources_any::in_answer(path)
}

/// Whether the value at a path of an answer, or of one of its events, is an id.
pub fn is_id_in_answer(path: &Path<'_>) -> bool {
    // A stream may be one array.
    let from = usize::from(matches!(path.segment(0), Some(Segment::Index(_))));
    let fits = |names: &&&[&str]| {
        names.len() + from == path.len()
            && names.iter().enumerate().all(|(at, name)| path.segment(at + from) == Some(Segment::Key(name)))
    };
    ALL.iter().flat_map(|naming| naming.answer).any(|names| fits(&names))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(named: &[ResourceReference]) -> Vec<(&str, bool)> {
        named.iter().map(|named| (named.id.as_str(), named.role == ResourceRole::Continues)).collect()
    }

    #[test]
    fn paths_name_what_is_kept() {
        use KeepRule::{Always, IfTold, UnlessToldNot};
        type Case = (&'static str, Option<KeepRule>, &'static [(&'static str, bool)]);
        let cases: [Case; 40] = [
            ("/async/chat/completions", Some(Always), &[]),
            ("/async/chat/completions/3f9c1a2b", Some(Always), &[("3f9c1a2b", false)]),
            ("/api/v1/chat", Some(Always), &[]),
            ("/api/chat", None, &[]),
            ("/v1/responses", Some(UnlessToldNot), &[]),
            ("/openai/v1/responses/", Some(UnlessToldNot), &[]),
            ("/v1/responses/compact", Some(UnlessToldNot), &[]),
            ("/v1/responses/resp_1", Some(Always), &[("resp_1", false)]),
            ("/v1/responses/resp%5F1/input_items", Some(Always), &[("resp_1", false)]),
            ("/v1/conversations", Some(Always), &[]),
            ("/v1/conversations/conv_1/items", Some(Always), &[("conv_1", true)]),
            ("/v1/chat/completions", Some(IfTold), &[]),
            ("/v1/chat/completions/chatcmpl-1/messages", Some(Always), &[("chatcmpl-1", false)]),
            ("/v1/threads/runs", Some(Always), &[]),
            ("/v1/threads/t_1/runs/r_1/steps", Some(Always), &[("t_1", true), ("r_1", false)]),
            ("/v1/files", Some(Always), &[]),
            ("/v1/files/file-1/content", Some(Always), &[("file-1", false)]),
            ("/v1/batches", Some(Always), &[]),
            ("/v1/batches/batch_1/cancel", Some(Always), &[("batch_1", false)]),
            ("/v1/vector_stores/vs_1/search", Some(Always), &[("vs_1", true)]),
            ("/v1/messages", None, &[]),
            ("/v1/messages/batches", Some(Always), &[]),
            ("/v1/messages/batches/msgbatch_1/results", Some(Always), &[("msgbatch_1", false)]),
            ("/v1beta/models/g:generateContent", None, &[]),
            ("/v1beta/models/g:batchGenerateContent", Some(Always), &[]),
            ("/v1beta/batches/b1", Some(Always), &[("b1", false)]),
            ("/v1beta/files/abc:download", Some(Always), &[("abc", false)]),
            ("/v1beta/interactions/i_1", Some(Always), &[("i_1", true)]),
            ("/v1beta/cachedContents/c1", Some(Always), &[("c1", false)]),
            ("/v1/batch/jobs/j1", Some(Always), &[("j1", false)]),
            ("/v1/chat/deferred-completion/r_1", Some(Always), &[("r_1", false)]),
            ("/v1/videos/video_1/remix", Some(Always), &[("video_1", false)]),
            ("/openai/assistants/asst_1", Some(Always), &[("asst_1", true)]),
            ("/v1beta/fileSearchStores/s:uploadToFileSearchStore", Some(Always), &[("s", true)]),
            ("/v1beta/models/veo/operations/op_1", Some(Always), &[("op_1", false)]),
            ("/v1/agents/completions", Some(IfTold), &[]),
            ("/v1/datasets", Some(Always), &[]),
            ("/v1/datasets/ds-1", Some(Always), &[("ds-1", false)]),
            ("/v1/embed-jobs/job-1/cancel", Some(Always), &[("job-1", false)]),
            ("/mcp", None, &[]),
        ];
        for (path, kept, want) in cases {
            let names = in_path(&RequestPath::parse(path).unwrap(), IdScope::Known);
            assert_eq!((names.kept, ids(&names.named).as_slice()), (kept, want), "{path}");
        }
    }

    #[test]
    fn paths_of_any_server_name_it_too_and_say_what_is_shared() {
        for (path, scope, want, shared) in [
            ("/v1/predictions/gm3qorzdhgbf", IdScope::Known, &[] as &[(&str, bool)], None),
            ("/v1/predictions/gm3qorzdhgbf", IdScope::Any, &[("gm3qorzdhgbf", false)], None),
            ("/v1/sessions/sesn_17/events/stream", IdScope::Known, &[("sesn_17", true)], Some("sesn_17")),
            ("/threads/t_1/runs/r_1/stream", IdScope::Known, &[("t_1", true), ("r_1", false)], Some("t_1")),
            ("/threads/t_1/state", IdScope::Known, &[("t_1", true)], Some("t_1")),
            ("/v1/sessions", IdScope::Any, &[], None),
            ("/openai/deployments/d/chat/completions", IdScope::Known, &[], None),
            ("/v1/deployments/depl_1/runs", IdScope::Known, &[("depl_1", true)], None),
            ("/task/5e1b27c2-691f/stream", IdScope::Any, &[("5e1b27c2-691f", true)], Some("5e1b27c2-691f")),
            ("/v1/files/file-1/content", IdScope::Any, &[("file-1", false)], None),
        ] {
            let names = in_path(&RequestPath::parse(path).unwrap(), scope);
            let is_shared = names.shared.as_ref().map(|named| named.id.as_str());
            assert_eq!((ids(&names.named).as_slice(), is_shared), (want, shared), "{path}");
        }
    }

    #[test]
    fn bodies_name_it_wherever_it_stands() {
        type Case = (&'static str, &'static [(&'static str, bool)], Option<bool>);
        let cases: [Case; 22] = [
            (r#"{"deferred":true,"store":false}"#, &[], Some(true)),
            (r#"{"store":false,"deferred":true}"#, &[], Some(true)),
            (r#"{"deferred":true}"#, &[], Some(true)),
            (r#"{"deferred":false,"agent_id":"ag_1"}"#, &[("ag_1", false)], None),
            (r#"{"previous_response_id":"resp_1","store":false}"#, &[("resp_1", true)], Some(false)),
            (r#"{"previous_response_id":null,"store" : true}"#, &[], Some(true)),
            (r#"{"conversation":"conv_1"}"#, &[("conv_1", true)], None),
            (r#"{"conversation":{"id":"conv_1"}}"#, &[("conv_1", true)], None),
            (r#"{"previous_interaction_id":"i1"}"#, &[("i1", true)], None),
            (r#"{"input_file_id":"file-1","metadata":{"store":true}}"#, &[("file-1", false)], None),
            (
                r#"{"input":[{"content":[{"file_id":"f1"},{"file_id":"f2"},{"file_id":"f1"}]}]}"#,
                &[("f1", false), ("f2", false)],
                None,
            ),
            (r#"{"tools":[{"vector_store_ids":["v1","v2"]}]}"#, &[("v1", false), ("v2", false)], None),
            (
                r#"{"contents":[{"parts":[{"fileData":{"fileUri":"https://g.example/v1beta/files/abc"}}]}]}"#,
                &[("abc", false)],
                None,
            ),
            (r#"{"cachedContent":"cachedContents/c1"}"#, &[("c1", false)], None),
            (r#"{"container":"cont_1"}"#, &[("cont_1", true)], None),
            (r#"{"method":"tasks/get","params":{"taskId":"t-1"}}"#, &[("t-1", true)], None),
            (r#"{"params":{"taskIds":["t-1","t-2"]}}"#, &[("t-1", false), ("t-2", false)], None),
            (r#"{"params":{"arguments":{"taskId":"no"},"task":{"ttl":1}}}"#, &[], None),
            (r#"{"taskId":"no","messages":[{"taskId":"no"}]}"#, &[], None),
            (r#"{"id":"no","messages":[{"id":"no"}],"file_id":7}"#, &[], None),
            (r#"{"file_id":"x""#, &[], None),
            ("", &[], None),
        ];
        for (body, want, store) in cases {
            let names = in_body(body.as_bytes(), IdScope::Known);
            assert_eq!((ids(&names.named).as_slice(), names.store), (want, store), "{body}");
        }
        let flowise = br#"{"question":"hi","overrideConfig":{"sessionId":"s-1a2b3c4d"},"chatId":"a name"}"#;
        assert_eq!(ids(&in_body(flowise, IdScope::Any).named), [("s-1a2b3c4d", true)]);
        assert_eq!(in_body(flowise, IdScope::Known), BodyNames::default());
        let long = format!(r#"{{"file_id":"{}"}}"#, "x".repeat(LONGEST + 1));
        assert_eq!(in_body(long.as_bytes(), IdScope::Any), BodyNames::default());
        let many: Vec<String> = (0..100).map(|n| format!(r#""f{n}""#)).collect();
        assert_eq!(
            in_body(format!(r#"{{"file_ids":[{}]}}"#, many.join(",")).as_bytes(), IdScope::Known).named.len(),
            MOST
        );
    }

    #[test]
    fn an_endpoint_is_known_by_what_only_its_session_has() {
        for (target, want) in [
            ("/messages/?session_id=a1", Some("session_id=a1")),
            ("https://x.example/team/messages/?session_id=a1#top", Some("session_id=a1")),
            ("/mcp/messages/a1/", Some("a1")),
            ("message?", Some("message")),
            ("?sid=7", Some("sid=7")),
            ("/", None),
            ("", None),
        ] {
            let want = want.map(|id| format!("endpoint {id}"));
            assert_eq!(of_endpoint(target), want, "{target}");
        }
        assert_eq!(of_endpoint(&format!("/m?{}", "x".repeat(LONGEST + 1))), None);
    }

    #[test]
    fn answers_name_it_in_known_places() {
        let cases: [(&str, &[&str]); 11] = [
            (r#"{"id":1,"result":{"task":{"taskId":"t-1"}}}"#, &["t-1"]),
            (r#"{"id":1,"result":{"resultType":"task","taskId":"t-2"}}"#, &["t-2"]),
            (r#"{"request_id":"r_1"}"#, &["r_1"]),
            (r#"{"id":"resp_1","output":[{"id":"msg_1"}]}"#, &["resp_1"]),
            (
                r#"{"type":"response.created","response":{"id":"resp_1","conversation":{"id":"conv_1"}}}"#,
                &["resp_1", "conv_1"],
            ),
            (
                r#"{"id":"b","output_file_id":"f1","error_file_id":"f2","input_file_id":"no"}"#,
                &["b", "f1", "f2"],
            ),
            (r#"{"interaction":{"id":"i1"}}"#, &["i1"]),
            (r#"{"name":"batches/1","response":{"responsesFile":"files/2"}}"#, &["batches/1", "files/2"]),
            (r#"[{"name":"batches/1"}]"#, &["batches/1"]),
            (r#"{"conversation_id":"c"}"#, &["c"]),
            (r#"{"message":{"id":"no"},"data":[{"id":"no"}]}"#, &[]),
        ];
        for (body, want) in cases {
            let mut seen = Vec::new();
            walk(body.as_bytes(), &mut |path, Leaf { span, token }| {
                if token == JsonToken::Text && is_id_in_answer(path) {
                    seen.push(body.get(span).unwrap());
                }
            })
            .unwrap();
            assert_eq!(seen, want, "{body}");
        }
    }
}
