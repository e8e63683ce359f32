//! Ids of servers whose API nobody has described here: known by the name of what they are of, and by how they look. An id that
//! names nothing does no harm, so that these are words that many use, and no list of servers.

use ResourceRole::{Continues, Reads};

use crate::gateway::llm::resources_data::ResourceRole;
use crate::stream::json::{Path, Segment};

/// What is kept from one request to the next, as members and segments of paths call it: `session_id`, `chatSessionId`,
/// `/sessions/{id}`; and what a request has to do with it that names it.
const KINDS: [(&str, ResourceRole); 19] = [
    ("session", Continues),
    ("thread", Continues),
    ("conversation", Continues),
    ("chat", Continues),
    ("context", Continues),
    ("task", Continues),
    ("response", Continues),
    ("interaction", Continues),
    ("request", Reads),
    ("job", Reads),
    ("run", Reads),
    ("prediction", Reads),
    ("operation", Reads),
    ("execution", Reads),
    ("invocation", Reads),
    ("generation", Reads),
    ("transcript", Reads),
    ("batch", Reads),
    ("event", Reads),
];

/// Of those what is named by the member itself: `"session": "s-1a2b3c"`.
const NAMED: [&str; 4] = ["session", "thread", "conversation", "task"];

/// Segments of paths that ask how far something is, by the id behind them.
const ASKING: [&str; 7] = ["status", "result", "results", "poll", "progress", "history", "completions"];

/// Members of an answer in which the ids of what it is about may stand.
const AROUND_ANSWERS: [&str; 13] = [
    "result",
    "output",
    "data",
    "response",
    "message",
    "task",
    "session",
    "thread",
    "conversation",
    "run",
    "job",
    "statusUpdate",
    "artifactUpdate",
];

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

/// Whether a text looks like what a server calls something by: one word that nobody would choose, since it has a digit.
pub(super) fn looks_like_id(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':' | b'~');
    (SHORTEST..=LONGEST).contains(&text.len())
        && text.bytes().all(plain)
        && text.bytes().any(|byte| byte.is_ascii_digit())
}

/// What a member is the id of, by its name.
fn role_of_member(name: &str) -> Option<ResourceRole> {
    let words: String = name.chars().filter(|c| !matches!(c, '_' | '-')).collect();
    let words = words.to_ascii_lowercase();
    let kind = match words.strip_suffix("id") {
        Some(kind) => KINDS.iter().find(|(known, _)| kind.ends_with(known)),
        None => KINDS.iter().find(|(known, _)| *known == words && NAMED.contains(known)),
    };
    kind.map(|(_, role)| *role)
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

/// Whether the value at a path of an answer, or of one of its events, may be such an id.
pub(super) fn is_in_answer(path: &Path<'_>) -> bool {
    // A stream may be one array.
    let from = usize::from(matches!(path.segment(0), Some(Segment::Index(_))));
    let Some((around, name)) = names(path, from) else { return false };
    // What a message is called by names no more than itself.
    let own = matches!(name, "id" | "uuid") && around.last() != Some(&"message");
    around.iter().all(|member| AROUND_ANSWERS.contains(member)) && (own || role_of_member(name).is_some())
}

/// What such a value of a request names, if its path is that of one.
pub(super) fn role_in_request(path: &Path<'_>) -> Option<ResourceRole> {
    let (around, name) = names(path, 0)?;
    // A task, as the Agent2Agent Protocol asks for one: `{"method": "tasks/get", "params": {"id": "…"}}`.
    let own = name == "id" && around == ["params"];
    let role = if own { Some(Continues) } else { role_of_member(name) };
    role.filter(|_| around.iter().all(|member| AROUND_REQUESTS.contains(member)))
}

/// What the id behind a segment of a path is of.
fn role_behind(segment: &str) -> Option<ResourceRole> {
    let is = |kind: &str| {
        let rest = segment.strip_prefix(kind);
        rest.is_some_and(|rest| matches!(rest, "" | "s" | "es"))
    };
    let kind = KINDS.iter().find(|(kind, _)| is(kind)).map(|(_, role)| *role);
    kind.or_else(|| ASKING.contains(&segment).then_some(Reads))
}

/// What the segments of a path name: behind what says so, and the last of all.
pub(super) fn in_segments<'s>(segments: &[&'s str]) -> Vec<(&'s str, ResourceRole)> {
    let behind = segments.windows(2).filter_map(|pair| {
        let [word, id] = pair else { return None };
        role_behind(word).filter(|_| looks_like_id(id)).map(|role| (*id, role))
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

    fn values(document: &str, is: &dyn Fn(&Path<'_>) -> bool) -> Vec<String> {
        let mut seen = Vec::new();
        walk(document.as_bytes(), &mut |path, leaf| {
            let text = document.get(leaf.span.clone()).unwrap();
            if leaf.token == JsonToken::Text && is(path) && looks_like_id(text) {
                seen.push(text.to_owned());
            }
        })
        .unwrap();
        seen
    }

    #[test]
    fn answers_of_any_server_name_what_was_issued() {
        let cases: [(&str, &[&str]); 14] = [
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
            (r#"[{"conversation_id":"45701982"}]"#, &["45701982"]),
            (r#"{"user_id":"u12345678","model_id":"m12345678","agentId":"a12345678"}"#, &[]),
            (r#"{"data":[{"id":"no12345678"}],"items":{"id":"no12345678"}}"#, &[]),
            (r#"{"id":"a b c 1 2 3","task":"write a summary of 12 pages"}"#, &[]),
            (r#"{"id":"short","session_id":"words-only"}"#, &[]),
            (r#"{"tool_call_id":"call_123456","paid":"yes123456"}"#, &[]),
        ];
        for (answer, want) in cases {
            assert_eq!(values(answer, &is_in_answer), want, "{answer}");
        }
    }

    #[test]
    fn requests_to_any_server_name_what_they_go_on_with() {
        let cases: [(&str, &[(&str, ResourceRole)]); 9] = [
            (r#"{"conversation_id":"45701982-8118"}"#, &[("45701982-8118", Continues)]),
            (r#"{"overrideConfig":{"sessionId":"s-1a2b3c4d"}}"#, &[("s-1a2b3c4d", Continues)]),
            (r#"{"input":{"message":"hi","session_id":"sess-1a2b"}}"#, &[("sess-1a2b", Continues)]),
            (r#"{"previous_response_id":"resp_02b2"}"#, &[("resp_02b2", Continues)]),
            (r#"{"request_id":"768f15b7"}"#, &[("768f15b7", Reads)]),
            (r#"{"id":2,"method":"tasks/get","params":{"id":"363422be"}}"#, &[("363422be", Continues)]),
            (r#"{"params":{"message":{"contextId":"c295ea44"}}}"#, &[("c295ea44", Continues)]),
            (r#"{"id":"req-001","messages":[{"session_id":"no123456"}]}"#, &[]),
            (r#"{"user_id":"u_123456","metadata":{"session_id":"no123456"}}"#, &[]),
        ];
        for (request, want) in cases {
            let mut seen = Vec::new();
            walk(request.as_bytes(), &mut |path, leaf| {
                let text = request.get(leaf.span.clone()).unwrap();
                let role = role_in_request(path).filter(|_| leaf.token == JsonToken::Text);
                seen.extend(role.filter(|_| looks_like_id(text)).map(|role| (text, role)));
            })
            .unwrap();
            assert_eq!(seen, want, "{request}");
        }
    }

    #[test]
    fn paths_of_any_server_name_it_behind_a_word_or_at_their_end() {
        let cases: [(&str, &[(&str, ResourceRole)]); 9] = [
            ("v1/predictions/gm3qorzdhgbf", &[("gm3qorzdhgbf", Reads)]),
            ("fal-ai/any-llm/requests/80e732af/status", &[("80e732af", Reads)]),
            ("v2/ep/status/eaebd6e7-6a92", &[("eaebd6e7-6a92", Reads)]),
            ("api/v1/tasks/13b1848b", &[("13b1848b", Continues)]),
            ("api/v1/workspace/w/thread/t-1a2b3c/chat", &[("t-1a2b3c", Continues)]),
            ("lemur/v3/5e1b27c2-691f", &[("5e1b27c2-691f", Reads)]),
            ("v1/history/ja9xsmfG", &[("ja9xsmfG", Reads)]),
            ("v2/ep/run", &[]),
            ("v1/status/v2", &[]),
        ];
        for (path, want) in cases {
            let segments: Vec<&str> = path.split('/').collect();
            assert_eq!(in_segments(&segments), want, "{path}");
        }
    }
}
