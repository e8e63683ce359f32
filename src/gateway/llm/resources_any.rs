//! Ids of servers whose API nobody has described here: known by the name of what they are of, and by how they look. An id that
//! names nothing does no harm, so that these are words that many use, and no list of servers.

use ResourceRole::{Continues, ContinuesIfKnown, Reads};

use crate::gateway::llm::resources_data::ResourceRole;
use crate::stream::json::{Path, Segment, is_id};

/// What is kept from one request to the next, as members and segments of paths call it: `session_id`, `chatSessionId`,
/// `/sessions/{id}`.
struct ResourceKind {
    /// What one is called.
    name: &'static str,
    /// What a request has to do with it that names it.
    role: ResourceRole,
    /// Whether several requests are at work in one at a time.
    shared: bool,
}

const fn kind(name: &'static str, role: ResourceRole, shared: bool) -> ResourceKind {
    ResourceKind { name, role, shared }
}

const KINDS: [ResourceKind; 19] = [
    kind("session", Continues, true),
    kind("thread", Continues, true),
    kind("conversation", Continues, true),
    kind("chat", Continues, false),
    kind("context", Continues, false),
    kind("task", Continues, true),
    kind("response", Continues, false),
    kind("interaction", Continues, true),
    kind("request", Reads, false),
    kind("job", Reads, false),
    kind("run", Reads, true),
    kind("prediction", Reads, false),
    kind("operation", Reads, false),
    kind("execution", Reads, false),
    kind("invocation", Reads, false),
    kind("generation", Reads, false),
    kind("transcript", Reads, false),
    kind("batch", Reads, false),
    kind("event", Reads, false),
];

/// Of those what is named by the member itself: `"session": "s-1a2b3c"`. A member `task` says mostly what is to be done.
const NAMED: [&str; 3] = ["session", "thread", "conversation"];

/// Segments of paths that ask how far something is, by the id behind them.
const ASKING: [&str; 7] = ["status", "result", "results", "poll", "progress", "history", "completions"];

/// Members of an answer in which the ids of what it is about may stand, besides those that are called by what it is.
const AROUND_ANSWERS: [&str; 6] = ["result", "output", "data", "message", "statusUpdate", "artifactUpdate"];

/// The same of a request.
const AROUND_REQUESTS: [&str; 12] = [
    "params",
    "message",
    "input",
    "inputs",
    "data",
    "body",
    "request",
    "config",
    "configurable",
    "options",
    "overrideConfig",
    "session",
];

/// The deepest that an id stands: members on the way to it, with its own.
const DEPTH: usize = 3;

/// The shortest id and the longest, in bytes, and the shortest that may be the last segment of any path.
const SHORTEST: usize = 6;
const LONGEST: usize = 128;
const SHORTEST_LAST: usize = 8;

/// The fewest digits of an id that nobody has chosen; and how long a word of it is, alone, or with digits among its letters.
const FEWEST_DIGITS: usize = 3;
const LONG_WORD: usize = 12;
const MIXED_WORD: usize = 6;

/// How a value looks that is an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdShape {
    /// Like what is called so: one word that has a digit.
    Word,
    /// Like what a program makes. Words that a caller chooses for many requests, such as `txt2img` or `prod-2024`, do not.
    Generated,
}

impl IdShape {
    /// Whether a text looks so.
    pub fn fits(self, text: &str) -> bool {
        match self {
            Self::Word => looks_like_id(text),
            Self::Generated => is_generated(text),
        }
    }
}

/// Whether a text looks like what a server calls something by: one word that has a digit.
fn looks_like_id(text: &str) -> bool {
    (SHORTEST..=LONGEST).contains(&text.len())
        && is_id(text)
        && text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Whether such a text is one that a program makes: a UUID is, and whatever has a word of letters and digits mixed, or a long one
/// with some digits.
fn is_generated(text: &str) -> bool {
    looks_like_id(text) && text.split(|c: char| !c.is_ascii_alphanumeric()).any(is_mixed)
}

fn is_mixed(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let kinds = word.as_bytes().windows(2);
    let changes =
        kinds.filter(|pair| matches!(pair, [a, b] if a.is_ascii_digit() != b.is_ascii_digit())).count();
    digits >= FEWEST_DIGITS && (word.len() >= LONG_WORD || word.len() >= MIXED_WORD && changes > 1)
}

/// What a request has to do with an id that stands where words of other kinds stand too.
fn unless_chosen(role: ResourceRole, id: &str) -> ResourceRole {
    if role == Continues && !is_generated(id) { ContinuesIfKnown } else { role }
}

/// What a member is the id of, by its name, and how that looks.
fn role_of_member(name: &str) -> Option<(ResourceRole, IdShape)> {
    let words: String = name.chars().filter(|c| !matches!(c, '_' | '-')).collect();
    let words = words.to_ascii_lowercase();
    let (kind, shape) = match words.strip_suffix("id") {
        Some(kind) => (KINDS.iter().find(|known| kind.ends_with(known.name)), IdShape::Word),
        None => {
            let named = |known: &&ResourceKind| known.name == words && NAMED.contains(&known.name);
            (KINDS.iter().find(named), IdShape::Generated)
        }
    };
    kind.map(|kind| (kind.role, shape))
}

/// The names of members on the way to a value, and the last of them; `None` where it stands in a list, or too deep.
fn names<'p>(path: &Path<'p>, from: usize) -> Option<(Vec<&'p str>, &'p str)> {
    if path.len() > from + DEPTH {
        return None;
    }
    let segments = (from..path.len()).map(|at| match path.segment(at) {
        Some(Segment::Key(name)) => Some(name),
        _ => None,
    });
    let mut names: Vec<&str> = segments.collect::<Option<_>>()?;
    let last = names.pop()?;
    Some((names, last))
}

/// How the value at a path of an answer, or of one of its events, looks if it is such an id; `None` where none is.
pub(super) fn in_answer(path: &Path<'_>) -> Option<IdShape> {
    // A stream may be one array.
    let from = usize::from(matches!(path.segment(0), Some(Segment::Index(_))));
    let (around, name) = names(path, from)?;
    // What a message is called by names no more than itself.
    let own = matches!(name, "id" | "uuid") && around.last() != Some(&"message");
    let shape = if own { Some(IdShape::Word) } else { role_of_member(name).map(|(_, shape)| shape) };
    let within =
        |member: &&str| AROUND_ANSWERS.contains(member) || KINDS.iter().any(|kind| kind.name == *member);
    shape.filter(|_| around.iter().all(within))
}

/// What a pair of a query names: `?conversation_id=…`; of `?id=…` what is only read.
pub(super) fn in_query(name: &str, value: &str) -> Option<ResourceRole> {
    let (role, shape) = if name == "id" { (Reads, IdShape::Generated) } else { role_of_member(name)? };
    shape.fits(value).then_some(role)
}

/// What a URL names that an answer gives for what it has begun: the last segment of its path.
pub(super) fn in_location(url: &str) -> Option<&str> {
    let path = url.split(['?', '#']).next()?;
    let last = path.trim_end_matches('/').rsplit('/').next()?;
    is_generated(last).then_some(last)
}

/// The place of an id in a request.
pub(super) struct IdInRequest {
    role: ResourceRole,
    shape: IdShape,
}

impl IdInRequest {
    /// That at a path, if it is one.
    pub(super) fn at(path: &Path<'_>) -> Option<Self> {
        let (around, name) = names(path, 0)?;
        // A task, as the Agent2Agent Protocol asks for one: `{"method": "tasks/get", "params": {"id": "…"}}`.
        let own = name == "id" && around == ["params"];
        let (role, shape) = if own { (Continues, IdShape::Word) } else { role_of_member(name)? };
        let within = around.iter().all(|member| AROUND_REQUESTS.contains(member));
        within.then_some(Self { role, shape })
    }

    /// What the text there names; `None` where it does not look like an id.
    pub(super) fn role(&self, text: &str) -> Option<ResourceRole> {
        let role = if self.shape == IdShape::Generated { unless_chosen(self.role, text) } else { self.role };
        looks_like_id(text).then_some(role)
    }
}

/// Of what the id behind a segment of a path is.
fn kind_behind(segment: &str) -> Option<&'static ResourceKind> {
    let is = |kind: &&ResourceKind| {
        let rest = segment.strip_prefix(kind.name);
        rest.is_some_and(|rest| matches!(rest, "" | "s" | "es"))
    };
    KINDS.iter().find(is)
}

/// Whether several requests are at work at a time in what the id behind a segment is of.
pub(super) fn is_shared_behind(segment: &str) -> bool {
    kind_behind(segment).is_some_and(|kind| kind.shared)
}

/// What the segments of a path name: behind what says so, and the last of all.
pub(super) fn in_segments<'s>(segments: &[&'s str]) -> Vec<(&'s str, ResourceRole)> {
    let behind = segments.windows(2).filter_map(|pair| {
        let [word, id] = pair else { return None };
        let role = kind_behind(word).map(|kind| unless_chosen(kind.role, id));
        let role = role.or_else(|| ASKING.contains(word).then_some(Reads))?;
        looks_like_id(id).then_some((*id, role))
    });
    let mut named: Vec<(&str, ResourceRole)> = behind.collect();
    let last = segments.last().filter(|last| last.len() >= SHORTEST_LAST && looks_like_id(last));
    if let Some(last) = last.filter(|last| named.iter().all(|(id, _)| id != *last)) {
        named.push((last, Reads));
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::json::{JsonToken, walk};

    fn values(document: &str) -> Vec<String> {
        let mut seen = Vec::new();
        walk(document.as_bytes(), &mut |path, leaf| {
            let text = document.get(leaf.span.clone()).unwrap();
            if leaf.token == JsonToken::Text && in_answer(path).is_some_and(|shape| shape.fits(text)) {
                seen.push(text.to_owned());
            }
        })
        .unwrap();
        seen
    }

    #[test]
    fn queries_and_locations_name_it_too() {
        for (name, value, role) in [
            ("conversation_id", "5e1b27c2-691f", Some(Continues)),
            ("task_id", "5e1b27c2-691f", Some(Continues)),
            ("id", "80e732af-660e", Some(Reads)),
            ("id", "gpt-4o", None),
            ("session", "prod-2024", None),
            ("api-version", "2024-10-21", None),
            ("limit", "100000", None),
        ] {
            assert_eq!(in_query(name, value), role, "{name}={value}");
        }
        for (url, id) in [
            ("https://a.example/operations/80e732af-660e?api-version=2024-10-21", Some("80e732af-660e")),
            ("/v1/jobs/gm3q0rz7hg1f/", Some("gm3q0rz7hg1f")),
            ("/login", None),
            ("https://a.example/v1/models/gpt-4o", None),
            ("", None),
        ] {
            assert_eq!(in_location(url), id, "{url}");
        }
    }

    #[test]
    fn answers_of_any_server_name_what_was_issued() {
        let cases: [(&str, &[&str]); 15] = [
            (r#"{"id":"gm3qorzdhgbf","status":"starting"}"#, &["gm3qorzdhgbf"]),
            (r#"{"request_id":"80e732af-660e","status":"IN_QUEUE"}"#, &["80e732af-660e"]),
            (r#"{"output":{"task_id":"13b1848b-5493"}}"#, &["13b1848b-5493"]),
            (r#"{"result":{"status":"queued","request_id":"768f15b7"}}"#, &["768f15b7"]),
            (
                r#"{"result":{"id":"363422be","contextId":"c295ea44","status":{"id":"x12345678"}}}"#,
                &["363422be", "c295ea44"],
            ),
            (r#"{"result":{"message":{"id":"m12345","contextId":"c295ea44"}}}"#, &["c295ea44"]),
            (r#"{"text":"ok","sessionId":"s-1a2b3c4d","chatMessageId":"no123456"}"#, &["s-1a2b3c4d"]),
            (r#"{"session":"s-1a2b3c4d"}"#, &["s-1a2b3c4d"]),
            (r#"{"session":"prod-2024","task":"txt2img","thread":"gpt4-turbo"}"#, &[]),
            (r#"[{"conversation_id":"45701982"}]"#, &["45701982"]),
            (r#"{"user_id":"u12345678","model_id":"m12345678","agentId":"a12345678"}"#, &[]),
            (r#"{"data":[{"id":"no12345678"}],"items":{"id":"no12345678"}}"#, &[]),
            (r#"{"id":"a b c 1 2 3","task":"write a summary of 12 pages"}"#, &[]),
            (r#"{"id":"short","session_id":"words-only"}"#, &[]),
            (r#"{"tool_call_id":"call_123456","paid":"yes123456"}"#, &[]),
        ];
        for (answer, want) in cases {
            assert_eq!(values(answer), want, "{answer}");
        }
    }

    #[test]
    fn requests_to_any_server_name_what_they_go_on_with() {
        let cases: [(&str, &[(&str, ResourceRole)]); 13] = [
            (r#"{"conversation_id":"45701982-8118"}"#, &[("45701982-8118", Continues)]),
            (r#"{"overrideConfig":{"sessionId":"s-1a2b3c4d"}}"#, &[("s-1a2b3c4d", Continues)]),
            (r#"{"input":{"message":"hi","session_id":"sess-1a2b"}}"#, &[("sess-1a2b", Continues)]),
            (r#"{"previous_response_id":"resp_02b2"}"#, &[("resp_02b2", Continues)]),
            (r#"{"request_id":"768f15b7"}"#, &[("768f15b7", Reads)]),
            (r#"{"id":2,"method":"tasks/get","params":{"id":"363422be"}}"#, &[("363422be", Continues)]),
            (r#"{"params":{"message":{"contextId":"c295ea44"}}}"#, &[("c295ea44", Continues)]),
            (r#"{"id":"req-001","messages":[{"session_id":"no123456"}]}"#, &[]),
            (r#"{"user_id":"u_123456","metadata":{"session_id":"no123456"}}"#, &[]),
            // Words that a caller chooses for many requests.
            (r#"{"task":"txt2img"}"#, &[]),
            (r#"{"task":"text2text-generation","task_id":"13b1848b"}"#, &[("13b1848b", Continues)]),
            (r#"{"session":"prod-2024"}"#, &[("prod-2024", ContinuesIfKnown)]),
            (
                r#"{"session":"5e1b27c2-691f-4d2e-8f3a-0123456789ab"}"#,
                &[("5e1b27c2-691f-4d2e-8f3a-0123456789ab", Continues)],
            ),
        ];
        for (request, want) in cases {
            let mut seen = Vec::new();
            walk(request.as_bytes(), &mut |path, leaf| {
                let text = request.get(leaf.span.clone()).unwrap();
                let at = IdInRequest::at(path).filter(|_| leaf.token == JsonToken::Text);
                seen.extend(at.and_then(|at| at.role(text)).map(|role| (text, role)));
            })
            .unwrap();
            assert_eq!(seen, want, "{request}");
        }
    }

    #[test]
    fn paths_of_any_server_name_it_behind_a_word_or_at_their_end() {
        let cases: [(&str, &[(&str, ResourceRole)]); 12] = [
            ("v1/predictions/gm3qorzdhgbf", &[("gm3qorzdhgbf", Reads)]),
            ("fal-ai/any-llm/requests/80e732af/status", &[("80e732af", Reads)]),
            ("v2/ep/status/eaebd6e7-6a92", &[("eaebd6e7-6a92", Reads)]),
            ("api/v1/tasks/13b1848b", &[("13b1848b", Continues)]),
            ("api/v1/workspace/w/thread/t-1a2b3c/chat", &[("t-1a2b3c", Continues)]),
            ("lemur/v3/5e1b27c2-691f", &[("5e1b27c2-691f", Reads)]),
            ("v1/history/ja9xsmfG", &[("ja9xsmfG", Reads)]),
            ("tasks/text2sql", &[("text2sql", ContinuesIfKnown)]),
            ("chat/gpt-4o-2024/stream", &[("gpt-4o-2024", ContinuesIfKnown)]),
            ("session/20240115123456", &[("20240115123456", Continues)]),
            ("v2/ep/run", &[]),
            ("v1/status/v2", &[]),
        ];
        for (path, want) in cases {
            let segments: Vec<&str> = path.split('/').collect();
            assert_eq!(in_segments(&segments), want, "{path}");
        }
    }
}
