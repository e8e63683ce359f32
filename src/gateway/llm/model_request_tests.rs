//! What requests ask for, however they spell it.

use super::*;
use crate::gateway::llm::ANY_BOUND;

fn asked(target: &str, content_type: &str, body: &str) -> Result<ModelRequest, UnreadRequest> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = RequestPath::parse(path).unwrap();
    let (query, content_type) = (query.to_owned(), content_type.to_owned());
    ModelRequest::of(&ModelRequestSource {
        bounds: ANY_BOUND,
        path,
        query,
        content_type,
        body: body.as_bytes().to_vec().into(),
    })
}

/// A target, a body, and the models that they name.
type Row<'a> = (&'a str, &'a str, &'a [&'a str]);

fn name_these(rows: &[Row<'_>]) {
    for (target, body, want) in rows {
        assert_eq!(&asked(target, "application/json", body).unwrap().models, want, "{target} {body}");
    }
}

#[test]
fn every_model_that_a_server_could_take_is_named() {
    let chat = "/v1/chat/completions";
    let rows: &[Row<'_>] = &[
        (chat, r#"{"model":"a"}"#, &["a"]),
        (chat, r#"{"model":"a","model":"b"}"#, &["a", "b"]),
        (chat, r#"{"mod\u0065l":"a","MODEL":"b","Model":"c"}"#, &["a", "b", "c"]),
        (
            chat,
            r#"{"model":"a","models":["b","c"],"fallbacks":["d",{"model":"e"}]}"#,
            &["a", "b", "c", "d", "e"],
        ),
        (chat, r#"{"model":"a","models":"b","fallbacks":[{"a":["c"]}]}"#, &["a", "b", "c"]),
        (
            chat,
            r#"{"model":"a","context_window_fallbacks":[{"x":["b"]}],"preset":"p"}"#,
            &["a", "x", "b", "p"],
        ),
        (chat, r#"{"model":"a,b , c"}"#, &["a", "b", "c"]),
        (chat, r#"{"model":{"name":"a"}}"#, &["name", "a"]),
        (chat, r#"{"model":["a"],"model":null}"#, &["a"]),
        (chat, r#"{"model":"a\ud800"}"#, &["a\u{fffd}"]),
        (
            chat,
            r#"{"tools":[{"type":"image_generation","model":"x"}],"plugins":[{"model":"y"}]}"#,
            &["x", "y"],
        ),
        // What is said, what tools take and what is noted names nothing.
        (chat, r#"{"messages":[{"content":"{\"model\":\"x\"}","model":"y"}],"model":" a "}"#, &["a"]),
        (
            chat,
            r#"{"model":"a","tools":[{"function":{"parameters":{"properties":{"model":{"enum":["x"]}}}}}]}"#,
            &["a"],
        ),
        (chat, r#"{"model":"a","metadata":{"model":"x"},"input":[{"arguments":{"model":"y"}}]}"#, &["a"]),
        (
            chat,
            r#"{"model":"a","tools":[{"type":"openrouter:advisor","parameters":{"model":"x"}}]}"#,
            &["a", "x"],
        ),
        (chat, r#"{"model":"a","plugins":[{"id":"fusion","analysis_models":["x"]}]}"#, &["a", "x"]),
        (
            chat,
            r#"{"model":"a","data_sources":[{"embedding_dependency":{"deployment_name":"x"}}]}"#,
            &["a", "x"],
        ),
        (chat, r#"{"model":"a","draft_model":"x","agent_id":"ag:1"}"#, &["a", "x", "ag:1"]),
        (chat, r#"{"model":"a","format":{"properties":{"model":{"type":"string","enum":["x"]}}}}"#, &["a"]),
        (chat, r#"{"model":"a","output_format":{"schema":{"properties":{"model":{"const":"x"}}}}}"#, &["a"]),
    ];
    name_these(rows);
}

#[test]
fn models_are_named_wherever_a_path_and_its_protocol_have_them() {
    let chat = "/v1/chat/completions";
    let rows: &[Row<'_>] = &[
        ("/v1/responses", r#"{"model":"a","response":{"model":"b"}}"#, &["a", "b"]),
        (
            "/v1/realtime/client_secrets",
            r#"{"session":{"audio":{"input":{"transcription":{"model":"x"}}}}}"#,
            &["x"],
        ),
        ("/openai/deployments/d/chat/completions", r#"{"model":"a"}"#, &["d", "a"]),
        (
            "/v1/messages/batches",
            r#"{"requests":[{"params":{"model":"a"}},{"params":{"model":"b"}}]}"#,
            &["a", "b"],
        ),
        ("/v1beta/models/gemini-3:generateContent", "{}", &["gemini-3"]),
        (
            "/v1beta/models/e:batchEmbedContents",
            r#"{"requests":[{"model":"models/e"},{"model":"models/f"}]}"#,
            &["e", "f"],
        ),
        ("/async-invoke", r#"{"modelId":"a"}"#, &["a"]),
        ("/retrieveAndGenerate", r#"{"x":{"modelArn":"a"}}"#, &["a"]),
        ("/api/chat", r#"{"Model":"a"}"#, &["a"]),
        ("/v1/realtime?model=gpt-realtime&x=1", "", &["gpt-realtime"]),
        ("/v1/realtime?model=a&MODEL=b&mod%65l=c", "", &["a", "b", "c"]),
        (chat, "", &[]),
        (chat, "{}", &[]),
        ("/v1/other", r#"{"model":"a"}"#, &["a"]),
        ("/v1/chat/completions?model=x", r#"{"model":"a"}"#, &["x", "a"]),
        (chat, r#"{"model":7,"models":[true]}"#, &[]),
        (chat, r#"{"a":{"b":{"model":"x"}}}"#, &["x"]),
        (chat, r#"{"prompt":{"id":"p"},"model":"a"}"#, &["a"]),
        (chat, r#"{"model_name":"a","base_model":"b"}"#, &["a", "b"]),
        (chat, r#"{"user":{"model":"x"},"model":"a"}"#, &["a"]),
        (chat, r#"{"models":{"a":1}}"#, &["a"]),
    ];
    name_these(rows);
}

#[test]
fn what_no_server_of_models_reads_and_what_names_too_many_is_not_read() {
    let chat = "/v1/chat/completions";
    for body in ["{\"model\":", "{\"a\":NaN}", "\u{feff}{}", "{} {}", "model=a"] {
        assert_eq!(asked(chat, "", body), Err(UnreadRequest), "{body}");
    }
    let many = |count: usize| {
        let names: Vec<String> = (0..count).map(|n| format!("\"m{n}\"")).collect();
        asked(chat, "", &format!("{{\"models\":[{}]}}", names.join(",")))
    };
    assert!(many(64).is_ok() && many(65).is_err());
}

#[test]
fn a_part_of_a_form_names_models_however_its_name_is_spelled() {
    let part = |name: &str, body: &str| {
        let head = "Content-Disposition: form-data; name=";
        let parts = format!(
            "--x\r\n{head}\"{name}\"\r\n\r\n{body}\r\n--x\r\n{head}\"file\"; filename=\"a\"\r\n\r\n{{\"model\":1}}\r\n--x--\r\n"
        );
        asked("/v1/audio/transcriptions", "multipart/form-data; boundary=x", &parts).map(|asked| asked.models)
    };
    for (name, body) in [("model", "a"), ("MODEL", "a"), ("model[]", "a"), ("session", "{\"model\":\"a\"}")] {
        assert_eq!(part(name, body).unwrap(), ["a"], "{name}");
    }
}

#[test]
fn a_stream_and_the_length_of_an_answer_are_read() {
    let chat = |body: &str| asked("/v1/chat/completions", "", body).unwrap();
    let found = chat(r#"{"stream":true,"stream_options":{"include_usage":true},"max_tokens":10,"n":3}"#);
    assert_eq!((found.streams, found.includes_usage, found.most_output), (true, true, Some(10)));
    assert_eq!(found.answers, Some(3));
    let found = chat(r#"{"stream":false,"stream_options":{}}"#);
    assert_eq!((found.streams, found.includes_usage, found.most_output), (false, false, None));
    for yes in ["1", "\"true\"", "\"1\"", "\"on\"", "{}"] {
        assert!(chat(&format!("{{\"stream\":{yes}}}")).streams, "{yes}");
    }
    for no in ["0", "null", "\"False\"", "\"\""] {
        assert!(!chat(&format!("{{\"stream\":{no}}}")).streams, "{no}");
    }
    for most in ["100", "100.0", "1e2", "\"100\"", "99.5"] {
        assert_eq!(chat(&format!("{{\"max_tokens\":{most}}}")).most_output, Some(100), "{most}");
    }
    for most in ["null", "-1", "\"x\"", "true"] {
        assert_eq!(chat(&format!("{{\"max_tokens\":{most}}}")).most_output, None, "{most}");
    }
    for (asked, most, answers) in [
        (r#"{"max_tokens":1e300}"#, u64::MAX, None),
        (r#"{"max_tokens":1e300,"n":1e300}"#, u64::MAX, Some(128)),
        (r#"{"max_tokens":100,"best_of":20}"#, 100, Some(20)),
        (r#"{"max_tokens":100,"best_of":2,"n":3}"#, 100, Some(3)),
    ] {
        let found = chat(asked);
        assert_eq!((found.most_output, found.answers), (Some(most), answers), "{asked}");
    }
    let gemini = asked(
        "/v1beta/models/g:generateContent",
        "",
        r#"{"generationConfig":{"maxOutputTokens":20,"candidateCount":2}}"#,
    );
    let gemini = gemini.unwrap();
    assert_eq!((gemini.most_output, gemini.answers), (Some(20), Some(2)));
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
        ModelRequest { models, ..ModelRequest::default() }.is_within(&allowed)
    };
    assert!(within(&["gpt-4o-mini", "GPT-4o"]));
    assert!(!within(&[]) && !within(&["gpt-4o", "o3"]));
}
