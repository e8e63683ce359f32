//! What answers of every protocol say of tokens, however they are cut.

use super::*;
use crate::base::path::RequestPath;
use crate::gateway::llm::ProtocolChoice;
use crate::gateway::llm::registry::every;
use crate::stream::amazon::{write_header, write_message};

fn protocol(path: &str) -> &'static Protocol {
    ProtocolChoice::Auto.of(&RequestPath::parse(path).unwrap()).unwrap()
}

fn read(protocol: &'static Protocol, body: &[u8], size: usize, binary: bool) -> Option<TokenUsage> {
    let mut reader = UsageReader::new(protocol, binary, &MemoryBudget::unlimited());
    body.chunks(size).for_each(|piece| reader.read(piece, false));
    reader.read(b"", true);
    reader.reported()
}

fn tokens(input: u64, cached_input: u64, cache_write: u64, output: u64, reasoning: u64) -> TokenUsage {
    TokenUsage { input, cached_input, cache_write, output, reasoning }
}

/// Path, answer, tokens.
type Said = (&'static str, &'static str, Option<TokenUsage>);

fn answers() -> Vec<Said> {
    vec![
        (
            "/v1/chat/completions",
            r#"{"choices":[{"message":{"content":"\"usage\":{\"prompt_tokens\":9}","tool_calls":[]}}],
               "usage":{"prompt_tokens":40,"completion_tokens":30,"total_tokens":70,
               "prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":10}}}"#,
            Some(tokens(40, 8, 0, 30, 10)),
        ),
        (
            "/v1/chat/completions",
            "data: {\"choices\":[{\"delta\":{\"content\":\"tokens\"}}],\"usage\":null}\n\n\
             : keep\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":40,\"completion_tokens\":30}}\r\n\r\n\
             data: [DONE]\n\n",
            Some(tokens(40, 0, 0, 30, 0)),
        ),
        ("/v1/chat/completions", "data: {\"choices\":[]}\n\ndata: [DONE]\n\n", None),
        ("/v1/chat/completions", r#"{"choices":[],"usage":null}"#, None),
        // What a tool is asked with is nobody's report.
        (
            "/v1/messages",
            r#"{"content":[{"type":"tool_use","input":{"usage":{"input_tokens":7}}}],
               "usage":{"input_tokens":10,"cache_read_input_tokens":25,"cache_creation_input_tokens":5,"output_tokens":30}}"#,
            Some(tokens(40, 25, 5, 30, 0)),
        ),
        (
            "/v1/messages",
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":40,\"output_tokens\":1}}}\n\n\
             event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":30}}\n\n",
            Some(tokens(40, 0, 0, 30, 0)),
        ),
        (
            "/v1/responses",
            "event: response.created\ndata: {\"response\":{\"usage\":null}}\n\nevent: response.completed\n\
             data: {\"response\":{\"usage\":{\"input_tokens\":40,\"input_tokens_details\":{\"cached_tokens\":4},\
             \"output_tokens\":30,\"output_tokens_details\":{\"reasoning_tokens\":3}}}}\n\n",
            Some(tokens(40, 4, 0, 30, 3)),
        ),
        (
            "/v1beta/models/gemini-3:streamGenerateContent",
            r#"[{"usageMetadata":{"promptTokenCount":40,"candidatesTokenCount":3}},
               {"usageMetadata":{"promptTokenCount":40,"cachedContentTokenCount":6,"candidatesTokenCount":20,"thoughtsTokenCount":10}}]"#,
            Some(tokens(40, 6, 0, 30, 10)),
        ),
        (
            "/v1beta/models/gemini-3:generateContent",
            r#"{"usageMetadata":{"promptTokenCount":40,"toolUsePromptTokenCount":2,"candidatesTokenCount":30}}"#,
            Some(tokens(42, 0, 0, 30, 0)),
        ),
        (
            "/api/chat",
            "{\"message\":{\"content\":\"a\"},\"done\":false}\n{\"done\":true,\"prompt_eval_count\":40,\"eval_count\":30}\n",
            Some(tokens(40, 0, 0, 30, 0)),
        ),
        (
            "/v2/chat",
            r#"{"usage":{"billed_units":{"input_tokens":40.0,"output_tokens":30.0},"tokens":{"input_tokens":400}}}"#,
            Some(tokens(40, 0, 0, 30, 0)),
        ),
        (
            "/model/m/converse",
            r#"{"usage":{"inputTokens":10,"cacheReadInputTokens":20,"cacheWriteInputTokens":10,"outputTokens":30,"totalTokens":70}}"#,
            Some(tokens(40, 20, 10, 30, 0)),
        ),
        (
            "/v1/embeddings",
            r#"{"data":[{"embedding":[0.1,2]}],"usage":{"prompt_tokens":8,"total_tokens":8}}"#,
            Some(tokens(8, 0, 0, 0, 0)),
        ),
        ("/v1/rerank", r#"{"usage":{"total_tokens":8}}"#, Some(tokens(8, 0, 0, 0, 0))),
        ("/v1/chat/completions", "not JSON", None),
        ("/v1/chat/completions", "", None),
        ("/v1/chat/completions", r#"{"usage":{"prompt_tokens":-1,"completion_tokens":1.5}}"#, None),
        (
            "/v1/chat/completions",
            r#"{"usage":{"prompt_tokens":1,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":99}}}"#,
            Some(tokens(1, 1, 0, 2, 0)),
        ),
    ]
}

#[test]
fn tokens_are_read_however_an_answer_is_cut() {
    for (path, body, want) in answers() {
        for size in [1, 2, 3, 7, 64, body.len().max(1)] {
            assert_eq!(read(protocol(path), body.as_bytes(), size, false), want, "{path} {body} in {size}");
        }
    }
}

#[test]
fn tokens_are_read_in_binary_messages() {
    let mut body = BytesMut::new();
    let mut message = |event: &str, payload: &str| {
        let mut headers = Vec::new();
        write_header(":event-type", event, &mut headers);
        write_header(":message-type", "event", &mut headers);
        write_message(&headers, payload.as_bytes(), &mut body).unwrap();
    };
    message("contentBlockDelta", r#"{"delta":{"text":"tokens"}}"#);
    message("metadata", r#"{"usage":{"inputTokens":40,"outputTokens":30}}"#);
    for size in [1, 5, body.len()] {
        let found = read(protocol("/model/m/converse-stream"), &body, size, true);
        assert_eq!(found, Some(tokens(40, 0, 0, 30, 0)), "{size}");
    }
    // A damaged message ends the reading, not the answer.
    let last = body.len() - 1;
    body[last] ^= 1;
    assert_eq!(read(protocol("/model/m/converse-stream"), &body, 64, true), None);
}

#[test]
fn every_place_of_an_event_has_the_mark() {
    for protocol in every() {
        let has_mark = |place: &str| place.contains(std::str::from_utf8(MARK).unwrap());
        // Or what is said beside it has.
        let beside = |place: &str| {
            let (parent, _) = place.rsplit_once('.').unwrap_or_default();
            protocol.usage.iter().any(|(other, _)| other.starts_with(parent) && has_mark(other))
        };
        let marked =
            |(place, _): &(&str, TokenCount)| has_mark(place) || place.contains('.') && beside(place);
        // One document a line is read whole.
        assert!(protocol.usage.iter().all(marked) || protocol.name == "ollama", "{}", protocol.name);
    }
}

#[test]
fn the_beginning_of_a_stream_does_not_say_what_it_took() {
    let begun = "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":25,\"output_tokens\":1}}}\n\n";
    let stream = begun.to_owned() + &"data: {\"type\":\"content_block_delta\"}\n\n".repeat(200);
    let mut reader = UsageReader::new(protocol("/v1/messages"), false, &MemoryBudget::unlimited());
    reader.read(stream.as_bytes(), false);
    let most = tokens(99, 0, 0, 99, 0);
    let (used, estimated) = reader.taken().usage(most, false);
    assert_eq!((used.input, used.output, estimated), (25, 201, true));
    assert_eq!(reader.taken().usage(most, true).0.output, 1, "its client has had what it says at its end");
    reader.read(b"data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":300}}\n\n", false);
    assert_eq!(reader.taken().usage(most, false), (tokens(25, 0, 0, 300, 0), false));
}

#[test]
fn an_answer_of_an_unknown_kind_is_read_where_all_have_it() {
    let whole =
        br#"{"usage":{"prompt_tokens":40,"completion_tokens":30},"text":{"usage":{"prompt_tokens":9}}}"#;
    assert_eq!(read(&UNKNOWN, whole, 7, false), Some(tokens(40, 0, 0, 30, 0)));
    assert_eq!(read(&UNKNOWN, br#"{"usage":{"prompt_tokens":18446744073709551615}}"#, 64, false), None);
}

#[test]
fn what_is_not_said_is_estimated() {
    let estimate = |body: &str| {
        let mut reader =
            UsageReader::new(protocol("/v1/chat/completions"), false, &MemoryBudget::unlimited());
        reader.read(body.as_bytes(), true);
        reader.estimated_output()
    };
    assert_eq!(estimate(&"data: {\"choices\":[]}\n\n".repeat(20)), 20);
    // A token an event, or as many as its text has; an id, a name and a signature are none.
    let event = |text: &str| {
        format!("data: {{\"id\":\"chatcmpl-{}\",\"delta\":{{\"content\":\"{text}\"}}}}\n\n", "9".repeat(40))
    };
    let long = "many more words ".repeat(25);
    let texts =
        [(" word", 2), (long.as_str(), 100), (r"\u4e2d\u6587\u4e2d\u6587", 6), ("\u{4e2d}\u{6587}", 2)];
    for (text, tokens) in
        texts.into_iter().chain([(r#"said \"no\" \\"#, 4), (&*"QUJD".repeat(99), 1), ("", 1)])
    {
        assert_eq!(estimate(&event(text).repeat(3)), 3 * tokens, "{text}");
    }
    assert_eq!(estimate(&format!("{{\"x\":\"{}\"}}", "a".repeat(392))), 100);
}
