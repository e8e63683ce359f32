//! The Model Context Protocol (specifications of 2025-11-25 and 2026-07-28): JSON-RPC over HTTP, in documents or events.
//!
//! A message is whole, so no text goes on in another event. What a request says of itself in its head (`Mcp-Name`,
//! `Mcp-Param-…`) repeats values of its body and must agree with it.

use data_encoding::BASE64;
use http::{HeaderMap, HeaderName, HeaderValue};
use pingora::http::RequestHeader;

use crate::gateway::error::{ErrorShape, GatewayError};
use crate::gateway::llm::protocol::{ModelNaming, Nested, Protocol, StreamProtocol};
use crate::stream::json::Treatment::Typed;
use crate::stream::json::Type::{Id, Opaque};
use crate::stream::json::{Decoded, JsonToken, Leaf, Path, Segment, walk_numbers};

/// JSON-RPC to a server of tools, prompts and resources.
pub(super) static MCP: Protocol = Protocol {
    name: "mcp",
    paths: &["/mcp", "/mcp/*"],
    shape: ErrorShape::JsonRpc,
    request: &[
        ("id", Typed(Id)),
        ("params._meta.progressToken", Typed(Id)),
        ("params.taskId", Typed(Id)),
        ("params.taskIds[*]", Typed(Id)),
        ("params._meta.*.taskId", Typed(Id)),
        ("params.cursor", Typed(Opaque)),
        ("params.requestState", Typed(Opaque)),
        ("params.content.data", Typed(Opaque)),
        ("params.inputResponses.*.content.data", Typed(Opaque)),
        ("result.content.data", Typed(Opaque)),
    ],
    answer: &[
        ("id", Typed(Id)),
        ("params.progressToken", Typed(Id)),
        ("params.taskId", Typed(Id)),
        ("params._meta.*.taskId", Typed(Id)),
        ("result.taskId", Typed(Id)),
        ("result._meta.*.taskId", Typed(Id)),
        ("result.task.taskId", Typed(Id)),
        ("result.tasks[*].taskId", Typed(Id)),
        ("result.nextCursor", Typed(Opaque)),
        ("result.requestState", Typed(Opaque)),
        ("result.content[*].data", Typed(Opaque)),
        ("result.content[*].resource.blob", Typed(Opaque)),
        ("result.contents[*].blob", Typed(Opaque)),
        ("result.messages[*].content.data", Typed(Opaque)),
        ("params.messages[*].content.data", Typed(Opaque)),
        // A task that is done has its result in it.
        ("result.result.content[*].data", Typed(Opaque)),
        ("result.result.content[*].resource.blob", Typed(Opaque)),
        ("params.result.content[*].data", Typed(Opaque)),
        ("params.result.content[*].resource.blob", Typed(Opaque)),
    ],
    // What a server asks its client for, and gets with the next request; in a notification, of a task.
    nested: Nested { requests: &[], answers: &["result.inputRequests.*", "params.inputRequests.*"] },
    stream: StreamProtocol {
        free_form: &[
            "result.structuredContent",
            "result.messages[*].content.input",
            "params.messages[*].content.input",
            "result.inputRequests.*.params.messages[*].content.input",
            "params.inputRequests.*.params.messages[*].content.input",
            "result.result.structuredContent",
            "result.error.data",
            "params.result.structuredContent",
            "params.error.data",
            "params.data",
            "error.data",
        ],
        final_events: &[b"\"result\":", b"\"error\":{"],
        ..StreamProtocol::NONE
    },
    // A tool answers, not a model.
    model: ModelNaming::NONE,
    usage: &[],
};

/// Whether a protocol is this one.
pub fn is_mcp(protocol: &Protocol) -> bool {
    std::ptr::eq(protocol, &MCP)
}

/// A redacted request's head: its body before and after.
pub struct Repeats<'b> {
    /// As the caller sent it.
    pub original: &'b [u8],
    /// As it goes to the upstream.
    pub rewritten: &'b [u8],
}

impl Repeats<'_> {
    /// Makes the headers that repeat values of the body say what it says now. They are never looked at by themselves: what
    /// is found in a header alone would be another value than in the body, and servers compare them.
    ///
    /// # Errors
    /// A header that repeats nothing, and could hold anything.
    pub fn agree(&self, head: &mut RequestHeader) -> Result<(), GatewayError> {
        let names: Vec<_> = head.headers.keys().filter(|name| repeats(name)).cloned().collect();
        if names.is_empty() {
            return Ok(());
        }
        let (before, after) = (values(self.original), values(self.rewritten));
        for name in names {
            let Some(header) = head.headers.get(&name).and_then(read) else { return Err(DIFFERS) };
            if ["true", "false", "null"].contains(&header.text.as_str()) {
                continue;
            }
            let at = before.iter().position(|value| *value == header.text).ok_or(DIFFERS)?;
            let Some(now) = after.get(at) else { return Err(DIFFERS) };
            if *now != header.text {
                drop(head.insert_header(name, written(now, header.encoded).ok_or(DIFFERS)?));
            }
        }
        Ok(())
    }
}

/// Whether a header of this name repeats a value of the body.
fn repeats(name: &HeaderName) -> bool {
    name == "mcp-name" || name.as_str().starts_with("mcp-param-")
}

/// Whether a head repeats values of the body, so that it is not known before that.
pub fn repeats_body(headers: &HeaderMap) -> bool {
    headers.keys().any(repeats)
}

const DIFFERS: GatewayError = GatewayError::BadBody(
    "an Mcp-Name or Mcp-Param header repeats no value of the body, so it cannot be redacted as the body is",
);

/// The values of a request that its head may repeat, in order: redaction keeps that.
fn values(body: &[u8]) -> Vec<String> {
    let mut values = Vec::new();
    // A body that went through redaction is one document.
    let walked = walk_numbers(body, &|_| true, &mut |path, Leaf { span, token }| {
        if !repeated(path) {
            return;
        }
        let spelled = body.get(span).unwrap_or_default();
        match token {
            JsonToken::Text => values.push(Decoded::of(spelled).text().to_owned()),
            JsonToken::Number => values.push(String::from_utf8_lossy(spelled).into_owned()),
            JsonToken::Key | JsonToken::Rest => {}
        }
    });
    debug_assert!(walked.is_ok(), "it was redacted as a document");
    values
}

/// Whether a head may repeat the value there: a name, an address, an argument.
fn repeated(path: &Path<'_>) -> bool {
    path.segment(0) == Some(Segment::Key("params"))
        && match path.segment(1) {
            // The last is of tasks.
            Some(Segment::Key("name" | "uri" | "taskId")) => path.len() == 2,
            Some(Segment::Key("arguments")) => path.len() > 2,
            _ => false,
        }
}

struct McpHeader {
    text: String,
    encoded: bool,
}

fn read(value: &HeaderValue) -> Option<McpHeader> {
    let text = value.to_str().ok()?;
    let inner = text.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    Some(match inner {
        None => McpHeader { text: text.to_owned(), encoded: false },
        Some(inner) => {
            McpHeader { text: String::from_utf8(BASE64.decode(inner.as_bytes()).ok()?).ok()?, encoded: true }
        }
    })
}

/// As a header; in base64 where it has to be.
fn written(text: &str, encoded: bool) -> Option<HeaderValue> {
    let plain = |b: u8| (b' '..=b'~').contains(&b);
    if !encoded && text.bytes().all(plain) && text.trim() == text && !text.starts_with("=?base64?") {
        return HeaderValue::from_str(text).ok();
    }
    HeaderValue::from_str(&format!("=?base64?{}?=", BASE64.encode(text.as_bytes()))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_says_what_its_body_says() {
        let original = br#"{"id":1,"method":"tools/call","params":{"name":"send","taskId":"task-786a","arguments":{"to":"jane@x.example","n":12345678,"who":"J\u00e9"}}}"#;
        let rewritten = br#"{"id":1,"method":"tools/call","params":{"name":"send","taskId":"task-786a","arguments":{"to":"abcd@y.example","n":87654321,"who":"K\u00e9"}}}"#;
        let rows = [
            ("mcp-name", "send", Some("send")),
            ("mcp-param-to", "jane@x.example", Some("abcd@y.example")),
            ("mcp-param-to", "=?base64?amFuZUB4LmV4YW1wbGU=?=", Some("=?base64?YWJjZEB5LmV4YW1wbGU=?=")),
            ("mcp-param-n", "12345678", Some("87654321")),
            ("mcp-param-who", "=?base64?SsOp?=", Some("=?base64?S8Op?=")),
            ("mcp-name", "task-786a", Some("task-786a")),
            ("mcp-param-flag", "true", Some("true")),
            ("mcp-param-x", "joe@x.example", None),
            ("mcp-param-x", "=?base64?!?=", None),
            ("x-other", "jane@x.example", Some("jane@x.example")),
        ];
        for (name, value, want) in rows {
            let mut head = RequestHeader::build("POST", b"/mcp", None).unwrap();
            head.insert_header(name, value).unwrap();
            let agreed = Repeats { original, rewritten }.agree(&mut head);
            assert_eq!(agreed.is_ok(), want.is_some(), "{name}: {value}");
            if let Some(want) = want {
                assert_eq!(head.headers[name], want, "{name}: {value}");
            }
        }
    }
}
