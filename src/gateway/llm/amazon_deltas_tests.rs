use super::*;
use crate::gateway::llm::bedrock;
use crate::gateway::llm::protocol::Protocol;
use crate::gateway::testing::Hide;
use crate::stream::Rewriter;
use crate::stream::amazon::{AmazonEventStream, write_header};

fn message(kind: &str, name: &str, payload: &[u8]) -> Vec<u8> {
    let mut headers = Vec::new();
    let label = if kind == "exception" { ":exception-type" } else { ":event-type" };
    for (name, text) in [(label, name), (":content-type", "application/json"), (":message-type", kind)] {
        write_header(name, text, &mut headers);
    }
    let mut out = BytesMut::new();
    write_message(&headers, payload, &mut out).unwrap();
    out.to_vec()
}

fn event(name: &str, payload: &str) -> Vec<u8> {
    message("event", name, payload.as_bytes())
}

fn chunk(document: &str) -> Vec<u8> {
    event(
        "chunk",
        &format!("{{\"bytes\":\"{}\",\"p\":\"abcdABCD0123\"}}", BASE64.encode(document.as_bytes())),
    )
}

/// What comes of a stream that is written in these pieces.
fn rewritten(protocol: &'static Protocol, pieces: &[&[u8]]) -> Vec<u8> {
    let protocol = Arc::new(CompiledProtocol::new(protocol).unwrap());
    let editor: EditorFactory = Arc::new(|| Box::new(Hide::default()));
    let budget = MemoryBudget::process(1 << 20);
    let deltas = AmazonDeltas::new(protocol, editor, &budget);
    let mut stream = AmazonEventStream::new(deltas, 1 << 20, &budget);
    let mut out = BytesMut::new();
    for piece in pieces {
        stream.write(piece, &mut out).unwrap();
    }
    stream.finish(&mut out).unwrap();
    drop(stream);
    assert_eq!(budget.used(), 0);
    out.to_vec()
}

/// The same, cut everywhere.
fn always(protocol: &'static Protocol, messages: &[Vec<u8>], wanted: &[Vec<u8>]) {
    let (whole, wanted) = (messages.concat(), wanted.concat());
    let show = |bytes: &[u8]| bytes.escape_ascii().to_string();
    assert_eq!(show(&rewritten(protocol, &[&whole])), show(&wanted));
    for at in 0..whole.len() {
        let (head, tail) = whole.split_at(at);
        assert_eq!(rewritten(protocol, &[head, tail]), wanted, "cut at {at}");
    }
    let bytes: Vec<&[u8]> = whole.chunks(1).collect();
    assert_eq!(rewritten(protocol, &bytes), wanted, "byte by byte");
}

/// A block's delta: its number, and what is in it.
fn block(index: usize, delta: &str) -> Vec<u8> {
    event(
        "contentBlockDelta",
        &format!("{{\"contentBlockIndex\":{index},\"delta\":{{{delta}}},\"p\":\"abc\"}}"),
    )
}

fn stop(index: usize) -> Vec<u8> {
    event("contentBlockStop", &format!("{{\"contentBlockIndex\":{index},\"p\":\"abcd\"}}"))
}

#[test]
fn blocks_are_followed_and_everything_else_stays() {
    let start = event("messageStart", r#"{"p":"ab","role":"assistant"}"#);
    let tool = event(
        "contentBlockStart",
        r#"{"contentBlockIndex":1,"start":{"toolUse":{"name":"t","toolUseId":"tooluse_1aB2c3D4"}}}"#,
    );
    let signed = block(2, r#""reasoningContent":{"signature":"SECRETabcdef0123456789"}"#);
    let end = event("messageStop", r#"{"stopReason":"end_turn"}"#);
    let messages = [
        start.clone(),
        block(0, r#""text":"a SEC""#),
        tool.clone(),
        block(1, r#""toolUse":{"input":"{\"to\":\"SECR"}"#),
        block(0, r#""text":"RET b SE""#),
        stop(0),
        block(1, r#""toolUse":{"input":"ET\"}"}"#),
        stop(1),
        block(2, r#""reasoningContent":{"text":"SECRET S"}"#),
        signed.clone(),
        stop(2),
        block(3, r#""toolResult":[{"text":"SEC"}]"#),
        block(3, r#""toolResult":[{"text":"RET"},{"json":{"a":"SECRET"}}]"#),
        block(4, r#""citation":{"title":"SECRET","location":{"web":{"url":"x"}}}"#),
        block(5, r#""text":"S""#),
        end.clone(),
        event("metadata", r#"{"usage":{"inputTokens":1},"trace":{"guardrail":{"modelOutput":["SECRET"]}}}"#),
    ];
    let wanted = [
        start,
        block(0, r#""text":"a ""#),
        tool,
        block(1, r#""toolUse":{"input":"{\"to\":\""}"#),
        block(0, r#""text":"<\"> b ""#),
        // What it held leaves before it ends.
        block(0, r#""text":"SE""#),
        stop(0),
        block(1, r#""toolUse":{"input":"<\\\">\"}"}"#),
        stop(1),
        block(2, r#""reasoningContent":{"text":"<\"> "}"#),
        block(2, r#""reasoningContent":{"text":"S"}"#),
        signed,
        stop(2),
        block(3, r#""toolResult":[{"text":""}]"#),
        block(3, r#""toolResult":[{"text":"<\">"},{"json":{"a":"<\">"}}]"#),
        block(4, r#""citation":{"title":"<\">","location":{"web":{"url":"x"}}}"#),
        block(5, r#""text":"""#),
        block(5, r#""text":"S""#),
        end,
        event("metadata", r#"{"usage":{"inputTokens":1},"trace":{"guardrail":{"modelOutput":["<\">"]}}}"#),
    ];
    always(&bedrock::CONVERSE, &messages, &wanted);
}

#[test]
fn what_is_held_leaves_before_an_exception_whose_message_is_text() {
    for name in ["modelStreamErrorException", "throttlingException", "oneOfTomorrowException"] {
        let error = |text: &str| {
            let payload = format!("{{\"message\":\"{text}\",\"originalStatusCode\":424}}");
            message("exception", name, payload.as_bytes())
        };
        let messages = [block(0, r#""text":"a SEC""#), error("say SECRET")];
        let wanted = [block(0, r#""text":"a ""#), block(0, r#""text":"SEC""#), error("say <\\\">")];
        always(&bedrock::CONVERSE, &messages, &wanted);
    }
}

#[test]
fn what_is_held_leaves_at_the_end_and_when_a_stream_breaks_off() {
    let text = block(0, r#""text":"a SEC""#);
    let wanted = [block(0, r#""text":"a ""#), block(0, r#""text":"SEC""#)];
    always(&bedrock::CONVERSE, std::slice::from_ref(&text), &wanted);
    let protocol = Arc::new(CompiledProtocol::new(&bedrock::CONVERSE).unwrap());
    let editor: EditorFactory = Arc::new(|| Box::new(Hide::default()));
    let budget = MemoryBudget::process(1 << 20);
    let mut stream = AmazonEventStream::new(AmazonDeltas::new(protocol, editor, &budget), 1 << 20, &budget);
    let mut out = BytesMut::new();
    stream.write(&[&text[..], &text[..50]].concat(), &mut out).unwrap();
    assert_eq!(stream.finish(&mut out), Err(StreamError::BrokenOff));
    assert_eq!(out, wanted.concat());
}

/// Models' own events, in which a text is `SEC` and `RET`: with a place for it each, and what ends it.
#[test]
fn models_own_events_are_followed_in_base64() {
    let rows: [(&str, &str); 12] = [
        (
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
        ),
        (
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"%"}}"#,
            r#"{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":1}}"#,
        ),
        (
            r#"{"contentBlockDelta":{"delta":{"text":"%"},"contentBlockIndex":0}}"#,
            r#"{"contentBlockStop":{"contentBlockIndex":0}}"#,
        ),
        (r#"{"generation":"%","stop_reason":null}"#, r#"{"generation":"","stop_reason":"stop"}"#),
        (
            r#"{"outputText":"%","index":0,"completionReason":null}"#,
            r#"{"outputText":"","index":0,"completionReason":"FINISH"}"#,
        ),
        (
            r#"{"outputs":[{"text":"%","stop_reason":null}]}"#,
            r#"{"outputs":[{"text":"","stop_reason":"stop"}]}"#,
        ),
        (r#"{"completion":"%","stop_reason":null}"#, r#"{"completion":"","stop_reason":"stop_sequence"}"#),
        (r#"{"text":"%","is_finished":false}"#, r#"{"is_finished":true,"finish_reason":"COMPLETE"}"#),
        (
            r#"{"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"%"}}}}"#,
            r#"{"type":"content-end","index":0}"#,
        ),
        (
            r#"{"choices":[{"index":0,"delta":{"content":"%"},"finish_reason":null}]}"#,
            r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
        ),
        (
            r#"{"choices":[{"index":0,"message":{"role":"assistant","content":"%"},"stop_reason":null}]}"#,
            r#"{"choices":[{"index":0,"message":{"content":""},"stop_reason":"stop"}]}"#,
        ),
        (
            r#"{"choices":[{"index":0,"text":"%","finish_reason":null}]}"#,
            r#"{"choices":[{"index":0,"text":"","finish_reason":"stop"}]}"#,
        ),
    ];
    for (text, end) in rows {
        let say = |said: &str| chunk(&text.replace('%', said));
        let messages = [say("a SEC"), say("RET b SE"), chunk(end)];
        let got = rewritten(&bedrock::INVOKE, &[&messages.concat()]);
        let wanted = [say("a "), say("<\\\"> b ")].concat();
        assert!(got.starts_with(&wanted), "{text}: {}", got.escape_ascii());
        let rest = &got[wanted.len()..];
        let own = [say("SE"), chunk(end)].concat();
        // In the event that ends it, if that has a place for it.
        let within = chunk(&end.replacen("\"\"", "\"SE\"", 1));
        assert!(rest == own || rest == within, "{text}: {}", rest.escape_ascii());
        let bytes = messages.concat();
        let pieces: Vec<&[u8]> = bytes.chunks(7).collect();
        assert_eq!(rewritten(&bedrock::INVOKE, &pieces), got, "{text}");
    }
}

#[test]
fn a_payload_that_is_no_document_is_text_or_stays() {
    let rows: [(&str, &str); 8] = [
        // Base64 of a text and nothing else is a text; of bytes, it stays.
        (
            &format!("{{\"bytes\":\"{}\"}}", BASE64.encode(b"a SECRET")),
            &format!("{{\"bytes\":\"{}\"}}", BASE64.encode(b"a <\">")),
        ),
        (
            &format!("{{\"bytes\":\"{}\"}}", BASE64.encode(b"SECRET\xff")),
            &format!("{{\"bytes\":\"{}\"}}", BASE64.encode(b"SECRET\xff")),
        ),
        // With other members, all are strings of a document.
        (r#"{"bytes":"U0VDUkVU","note":"SECRET"}"#, r#"{"bytes":"U0VDUkVU","note":"<\">"}"#),
        (r#"{"bytes":"U0VDUkVU","p":"SECRET 1"}"#, r#"{"bytes":"U0VDUkVU","p":"<\"> 1"}"#),
        (r#"{"bytes":"SECRET"}"#, r#"{"bytes":"<\">"}"#),
        ("SECRET", "<\">"),
        (r#"{"a":"SECRET"#, r#"{"a":"<\">"#),
        ("[\"SECRET\"]", "[\"<\\\">\"]"),
    ];
    for (payload, wanted) in rows {
        let got = rewritten(&bedrock::INVOKE, &[&event("chunk", payload)]);
        let show = |bytes: &[u8]| bytes.escape_ascii().to_string();
        assert_eq!(show(&got), show(&event("chunk", wanted)), "{payload}");
    }
    for name in ["", "no name", "\"", &"x".repeat(65)] {
        assert_eq!(
            rewritten(&bedrock::CONVERSE, &[&event(name, r#"{"a":"SECRET"}"#)]),
            event(name, r#"{"a":"<\">"}"#),
            "{name}"
        );
    }
    let empty = event("ping", "");
    assert_eq!(rewritten(&bedrock::CONVERSE, &[&empty]), empty);
}
