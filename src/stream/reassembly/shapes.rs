//! The shapes of many APIs' streams.

/// How documents become a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    Events,
    Lines,
    Labelled,
    Messages,
}

/// Shapes of streams: `%` is a piece of what is said, `#` the number of the event, and `^` all that was said so far.
pub(super) const SHAPES: [(&str, Frame, &str); 33] = [
    (
        "text generation inference",
        Frame::Events,
        r#"data:{"index":#,"token":{"id":10#,"text":%,"special":false},"generated_text":null}"#,
    ),
    (
        "watsonx",
        Frame::Events,
        "id: #\nevent: message\ndata: {\"model_id\":\"m\",\"results\":[{\"generated_text\":%,\"stop_reason\":\"not_finished\"}]}",
    ),
    (
        "threads",
        Frame::Events,
        "event: thread.message.delta\ndata: {\"id\":\"msg_1\",\"object\":\"thread.message.delta\",\"delta\":{\"content\":[{\"index\":0,\"type\":\"text\",\"text\":{\"value\":%}}]}}",
    ),
    (
        "sessions",
        Frame::Events,
        r#"data: {"type":"event_delta","event_id":"e#","delta":{"type":"content_delta","index":0,"content":{"type":"text","text":%}}}"#,
    ),
    (
        "agents",
        Frame::Events,
        r#"data: {"type":"agent.session.turn.output_text.delta","event_id":"evt_#","item_id":"i1","delta":%}"#,
    ),
    (
        "graphs",
        Frame::Events,
        "event: messages\ndata: [{\"content\":%,\"type\":\"AIMessageChunk\",\"id\":\"run-1\"},{\"step\":1}]",
    ),
    (
        "graphs, partial",
        Frame::Events,
        "event: messages/partial\ndata: [{\"content\":^,\"type\":\"ai\",\"id\":\"run-1\"}]",
    ),
    ("kobold", Frame::Events, "event: message\ndata: {\"token\": %, \"finish_reason\": null}"),
    ("triton", Frame::Events, r#"data: {"model_name":"m","model_version":"1","text_output":%}"#),
    ("sglang", Frame::Events, r#"data: {"text":^,"meta_info":{"id":"a","completion_tokens":#}}"#),
    (
        "sglang, incremental",
        Frame::Events,
        r#"data: {"text":%,"meta_info":{"id":"a","completion_tokens":#}}"#,
    ),
    ("lm studio", Frame::Events, "event: message.delta\ndata: {\"type\":\"message.delta\",\"content\":%}"),
    ("databricks", Frame::Events, r#"data: {"type":"response.output_text.delta","item_id":"i","delta":%}"#),
    (
        "snowflake",
        Frame::Events,
        r#"data: {"id":"a","choices":[{"delta":{"type":"text","content":%,"content_list":[]}}],"usage":{}}"#,
    ),
    ("cloudflare", Frame::Events, r#"data: {"response":%,"p":"ab"}"#),
    ("replicate", Frame::Events, "event: output\nid: 1:#\ndata: $"),
    ("plain", Frame::Events, "data: $"),
    ("aleph alpha", Frame::Events, r#"data: {"type":"stream_chunk","index":0,"completion":%}"#),
    ("elastic", Frame::Events, "event: message\ndata: {\"completion\":[{\"delta\":%}]}"),
    ("langserve", Frame::Events, "event: data\ndata: {\"content\":%,\"type\":\"AIMessageChunk\"}"),
    ("langserve, strings", Frame::Events, "event: data\ndata: %"),
    ("dify", Frame::Events, r#"data: {"event":"message","message_id":"m","answer":%,"created_at":17#}"#),
    (
        "anything",
        Frame::Events,
        r#"data: {"uuid":"u","type":"textResponseChunk","textResponse":%,"close":false}"#,
    ),
    ("flowise", Frame::Events, "message:\ndata:{\"event\":\"token\",\"data\":%}"),
    ("ui messages", Frame::Events, r#"data: {"type":"text-delta","id":"0","delta":%}"#),
    ("ag-ui", Frame::Events, r#"data: {"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":%}"#),
    (
        "a2a",
        Frame::Events,
        r#"data: {"jsonrpc":"2.0","id":1,"result":{"kind":"artifact-update","append":true,"artifact":{"artifactId":"a","parts":[{"kind":"text","text":%}]}}}"#,
    ),
    (
        "acp",
        Frame::Lines,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%}}}}"#,
    ),
    ("n8n", Frame::Lines, r#"{"type":"item","content":%,"metadata":{"nodeId":"n","runIndex":0}}"#),
    ("data stream", Frame::Labelled, "0:%"),
    ("retrieve", Frame::Messages, r#"output|{"text":%}"#),
    ("sagemaker", Frame::Messages, "PayloadPart|data: {\"token\":{\"id\":#,\"text\":%}}\n\n"),
    ("bedrock agent", Frame::Messages, r#"chunk|{"bytes":@}"#),
];
