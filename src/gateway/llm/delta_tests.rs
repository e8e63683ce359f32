//! Protocols of every kind are data for [`Deltas`]: those of today and others as they come next.

use std::sync::Arc;

use super::*;
use crate::gateway::error::ErrorShape;
use crate::gateway::llm::protocol::{
    ChannelRule, CloseRule, DeltaRule, EchoRule, EventCondition, ModelNaming, Nested, Protocol,
    StreamProtocol,
};
use crate::gateway::llm::{gemini, openai, realtime, responses};
use crate::gateway::testing::Hide;

/// Blocks told apart by a number of the event, of kinds that the event names.
static BLOCKS: Protocol = Protocol {
    name: "blocks",
    paths: &["/messages"],
    shape: ErrorShape::Envelope,
    request: &[],
    answer: &[],
    nested: Nested::NONE,
    stream: StreamProtocol {
        deltas: &[
            DeltaRule {
                at: "delta.text",
                treatment: Treatment::Text,
                when: None,
                key: &[ChannelRule::Value("index")],
            },
            DeltaRule {
                at: "delta.partial_json",
                treatment: Treatment::Embedded,
                when: None,
                key: &[ChannelRule::Value("index")],
            },
        ],
        closes: &[CloseRule {
            at: "type",
            is: Some("content_block_stop"),
            key: &[ChannelRule::Value("index")],
        }],
        final_events: &[b"\"type\":\"message_stop\""],
        ..StreamProtocol::NONE
    },
    model: ModelNaming::NONE,
    usage: &[],
};

/// One member for all deltas: the event's type says which it is, an item's name and a number whose.
static ITEMS: Protocol = Protocol {
    name: "items",
    paths: &["/responses"],
    shape: ErrorShape::OpenAi,
    request: &[],
    answer: &[],
    nested: Nested::NONE,
    stream: StreamProtocol {
        deltas: &[
            DeltaRule {
                at: "delta",
                treatment: Treatment::Text,
                when: Some(EventCondition { at: "type", is: "output_text.delta" }),
                key: &[ChannelRule::Value("item_id"), ChannelRule::Value("content_index")],
            },
            DeltaRule {
                at: "delta",
                treatment: Treatment::Embedded,
                when: Some(EventCondition { at: "type", is: "function_call_arguments.delta" }),
                key: &[ChannelRule::Value("item_id")],
            },
        ],
        closes: &[
            CloseRule { at: "type", is: Some("output_item.done"), key: &[ChannelRule::Value("item_id")] },
            CloseRule { at: "error", is: None, key: &[] },
        ],
        echoes: &[EchoRule { at: "logprobs", with: "[]" }],
        ..StreamProtocol::NONE
    },
    model: ModelNaming::NONE,
    usage: &[],
};

/// What leaves when these documents come, one row each: what goes before it and itself; then what goes at the end.
fn passed(protocol: &'static Protocol, documents: &[&str]) -> Vec<String> {
    let protocol = Arc::new(CompiledProtocol::new(protocol).unwrap());
    let editor: EditorFactory = Arc::new(|| Box::new(Hide::default()));
    let budget = MemoryBudget::process(1 << 20);
    let mut deltas = Deltas::new(protocol, editor, &budget);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let earlier = |EarlierDocument { data, added, .. }: EarlierDocument| {
        format!("{}{}", if added { "+" } else { "^" }, text(data))
    };
    let mut rows = Vec::new();
    for document in documents {
        let mut before = EarlierDocuments::new();
        let outcome = deltas.document(document.as_bytes(), b"", &mut before).unwrap();
        rows.extend(before.into_iter().map(earlier));
        rows.push(match outcome {
            DocumentOutcome::Keep => "=".to_owned(),
            DocumentOutcome::Replace(data) => text(data),
            DocumentOutcome::Emptied(data) => format!("({})", text(data)),
            DocumentOutcome::Wait => "-".to_owned(),
        });
    }
    let mut before = EarlierDocuments::new();
    deltas.end(&mut before).unwrap();
    rows.extend(before.into_iter().map(earlier));
    drop(deltas);
    assert_eq!(budget.used(), 0, "nothing is held once the stream is over");
    rows
}

#[test]
fn choices_and_their_tool_calls_are_apart_whatever_their_positions() {
    let rows = passed(
        &openai::CHAT,
        &[
            r#"{"choices":[{"index":1,"delta":{"content":"a SEC"}},{"index":0,"delta":{"content":"SE"}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"e"}},{"index":1,"delta":{"content":"RET"}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"S"}}]}"#,
            r#"{"choices":[{"index":1,"delta":{},"finish_reason":"stop"},{"index":0,"delta":{},"finish_reason":null}]}"#,
            r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
        ],
    );
    let want = [
        r#"{"choices":[{"index":1,"delta":{"content":"a "}},{"index":0,"delta":{"content":""}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"SEe"}},{"index":1,"delta":{"content":"<\">"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":""}}]}"#,
        "=",
        r#"+{"choices":[{"index":0,"delta":{"content":"S"}}]}"#,
        "=",
    ];
    assert_eq!(rows, want);
}

#[test]
fn arguments_of_tool_calls_are_documents_of_their_own() {
    let call = |text: &str, reason: &str| {
        format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":3,"function":{{"arguments":"{text}"}}}}]}},"finish_reason":{reason}}}]}}"#
        )
    };
    let rows =
        passed(&openai::CHAT, &[&call(r#"{\"a\":\"SEC"#, "null"), &call(r#"RET\"}"#, r#""tool_calls""#)]);
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(rows[1].contains(r#"<\\\">"#), "{rows:?}");
    assert!(rows.iter().all(|row| !row.contains("RET")), "{rows:?}");
}

#[test]
fn what_repeats_a_changed_text_is_emptied() {
    let rows = passed(
        &openai::CHAT,
        &[
            r#"{"choices":[{"index":0,"logprobs":{"content":[{"token":"SECRET"}]},"delta":{"content":"SECRET"}}]}"#,
            r#"{"choices":[{"index":0,"logprobs":{"content":[{"token":"plain"}]},"delta":{"content":"plain"}}]}"#,
        ],
    );
    assert_eq!(rows, [r#"{"choices":[{"index":0,"logprobs":null,"delta":{"content":"<\">"}}]}"#, "="]);
}

#[test]
fn an_error_comes_after_what_was_held() {
    let rows = passed(
        &openai::CHAT,
        &[r#"{"choices":[{"delta":{"content":"SEC"}}]}"#, r#"{"error":{"message":"x"}}"#],
    );
    assert_eq!(
        rows,
        [r#"{"choices":[{"delta":{"content":""}}]}"#, r#"+{"choices":[{"delta":{"content":"SEC"}}]}"#, "="]
    );
}

#[test]
fn blocks_are_known_by_a_number_of_the_event_and_closed_by_its_type() {
    let rows = passed(
        &BLOCKS,
        &[
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"SEC"}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"SE"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"RET"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_stop","index":1}"#,
        ],
    );
    let want = [
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"<\">"}}"#,
        "=",
        r#"+{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"SE"}}"#,
        "=",
    ];
    assert_eq!(rows, want);
}

#[test]
fn one_member_is_many_texts_where_the_events_type_says_so() {
    let rows = passed(
        &ITEMS,
        &[
            r#"{"type":"output_text.delta","item_id":"a","content_index":0,"delta":"SEC"}"#,
            r#"{"type":"output_text.delta","item_id":"a","content_index":1,"delta":"RET"}"#,
            r#"{"type":"output_text.delta","item_id":"b","content_index":0,"delta":"RET"}"#,
            r#"{"type":"output_text.delta","item_id":"a","content_index":0,"delta":"RET","logprobs":[1]}"#,
            r#"{"type":"output_text.delta","item_id":"a","content_index":1,"delta":"S"}"#,
            r#"{"type":"output_item.done","item_id":"a"}"#,
            r#"{"type":"unknown.delta","item_id":"a","delta":"SECRET"}"#,
        ],
    );
    let want = [
        r#"{"type":"output_text.delta","item_id":"a","content_index":0,"delta":""}"#,
        "=",
        "=",
        r#"{"type":"output_text.delta","item_id":"a","content_index":0,"delta":"<\">","logprobs":[]}"#,
        r#"{"type":"output_text.delta","item_id":"a","content_index":1,"delta":""}"#,
        r#"+{"type":"output_text.delta","item_id":"a","content_index":1,"delta":"S"}"#,
        "=",
        r#"{"type":"unknown.delta","item_id":"a","delta":"<\">"}"#,
    ];
    assert_eq!(rows, want);
}

/// As [`ITEMS`], of whose events clients count the numbers.
static NUMBERED: Protocol = Protocol { stream: StreamProtocol { numbered: true, ..ITEMS.stream }, ..ITEMS };

#[test]
fn a_numbered_event_that_left_text_behind_waits_for_the_next() {
    let rows = passed(
        &NUMBERED,
        &[
            r#"{"n":1,"type":"output_text.delta","item_id":"a","content_index":0,"delta":"a SE"}"#,
            r#"{"n":2,"type":"output_text.delta","item_id":"a","content_index":0,"delta":"CRET SE"}"#,
            r#"{"n":3,"type":"output_item.done","item_id":"a"}"#,
            r#"{"n":4,"type":"output_text.delta","item_id":"b","content_index":0,"delta":"SEC"}"#,
        ],
    );
    let want = [
        "-",
        r#"^{"n":1,"type":"output_text.delta","item_id":"a","content_index":0,"delta":"a "}"#,
        "-",
        r#"^{"n":2,"type":"output_text.delta","item_id":"a","content_index":0,"delta":"<\"> SE"}"#,
        "=",
        "-",
        r#"^{"n":4,"type":"output_text.delta","item_id":"b","content_index":0,"delta":"SEC"}"#,
    ];
    assert_eq!(rows, want);
}

#[test]
fn numbered_events_of_other_channels_wait_behind_one_that_waits() {
    let rows = passed(
        &NUMBERED,
        &[
            r#"{"n":1,"type":"output_text.delta","item_id":"a","content_index":0,"delta":"a SE"}"#,
            r#"{"n":2,"type":"output_text.delta","item_id":"b","content_index":0,"delta":"b"}"#,
            r#"{"n":3,"type":"other"}"#,
            r#"{"n":4,"type":"output_text.delta","item_id":"b","content_index":0,"delta":"SEC"}"#,
            r#"{"n":5,"type":"output_item.done","item_id":"a"}"#,
            r#"{"n":6,"type":"output_text.delta","item_id":"b","content_index":0,"delta":"RET"}"#,
        ],
    );
    let want = [
        "-",
        "-",
        "-",
        "-",
        r#"^{"n":1,"type":"output_text.delta","item_id":"a","content_index":0,"delta":"a SE"}"#,
        r#"^{"n":2,"type":"output_text.delta","item_id":"b","content_index":0,"delta":"b"}"#,
        r#"^{"n":3,"type":"other"}"#,
        "-",
        r#"^{"n":4,"type":"output_text.delta","item_id":"b","content_index":0,"delta":""}"#,
        r#"^{"n":5,"type":"output_item.done","item_id":"a"}"#,
        r#"{"n":6,"type":"output_text.delta","item_id":"b","content_index":0,"delta":"<\">"}"#,
    ];
    assert_eq!(rows, want);
}

#[test]
fn an_item_that_ends_ends_its_own_texts_and_no_others() {
    let text = |item: &str, output: u32, delta: &str| {
        format!(
            r#"{{"type":"response.output_text.delta","item_id":"{item}","output_index":{output},"content_index":0,"delta":"{delta}"}}"#
        )
    };
    let rows = |ends: &str| {
        let documents = [text("a", 0, "SE"), text("b", 1, "SE"), ends.to_owned(), text("b", 1, "CRET")];
        passed(&responses::RESPONSES, &documents.each_ref().map(String::as_str))
    };
    for ends in [
        r#"{"type":"response.output_item.done","output_index":0,"item":{"id":"a"}}"#,
        r#"{"item":{"id":"a"},"output_index":0,"type":"response.output_item.done"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{}}"#,
    ] {
        let want = [
            "-".to_owned(),
            "-".to_owned(),
            format!("^{}", text("a", 0, "SE")),
            "-".to_owned(),
            format!("^{}", text("b", 1, "")),
            format!("^{ends}"),
            text("b", 1, r#"<\">"#),
        ];
        assert_eq!(rows(ends), want, "{ends}");
    }
    // The end of one that is not named is nobody's here.
    let other = rows(r#"{"type":"response.output_item.done","output_index":7,"item":{"id":"c"}}"#);
    assert_eq!(other.get(..4), Some(&["-"; 4].map(str::to_owned)[..]), "{other:?}");
    let output = |command: u32, text: &str| {
        format!(
            r#"{{"type":"response.shell_call_output_content.delta","item_id":"a","output_index":0,"command_index":{command},"delta":{{"stdout":"{text}"}}}}"#
        )
    };
    let done = r#"{"type":"response.shell_call_output_content.done","item_id":"a","output_index":0,"command_index":0,"output":[]}"#;
    let commands = [output(0, "SE"), output(1, "SE"), done.to_owned(), output(1, "CRET")];
    let rows = passed(&responses::RESPONSES, &commands.each_ref().map(String::as_str));
    assert_eq!(rows.last(), Some(&output(1, r#"<\">"#)), "another command goes on: {rows:?}");
}

#[test]
fn items_of_a_session_end_by_their_place_or_their_name() {
    let spoken = |place: &str, delta: &str| {
        format!(
            r#"{{"type":"response.output_audio_transcript.delta","response_id":"r",{place},"content_index":0,"delta":"{delta}"}}"#
        )
    };
    let done = |place: &str| format!(r#"{{"type":"response.output_item.done","response_id":"r",{place}}}"#);
    for (of, ends, other) in [
        (r#""item_id":"a","output_index":1"#, r#""output_index":1,"item":{"id":"a"}"#, r#""output_index":0"#),
        (r#""item_id":"a""#, r#""output_index":1,"item":{"id":"a"}"#, r#""item_id":"b""#),
        (r#""output_index":1"#, r#""output_index":1,"item":{}"#, r#""output_index":0"#),
    ] {
        let documents = [spoken(other, "SE"), spoken(of, "SE"), done(ends), spoken(other, "CRET")];
        let rows = passed(&realtime::REALTIME, &documents.each_ref().map(String::as_str));
        let want = [
            spoken(other, ""),
            spoken(of, ""),
            format!("+{}", spoken(of, "SE")),
            "=".to_owned(),
            spoken(other, r#"<\">"#),
        ];
        assert_eq!(rows, want, "{of}");
    }
}

#[test]
fn texts_that_take_turns_end_where_another_begins() {
    let rows = passed(
        &gemini::STREAM,
        &[
            r#"{"candidates":[{"index":0,"content":{"parts":[{"text":"SE","thought":true}]}}]}"#,
            r#"{"candidates":[{"index":1,"content":{"parts":[{"text":"SEC"}]}}]}"#,
            r#"{"candidates":[{"index":0,"content":{"parts":[{"text":"CRET SEC","thought":true},{"text":"RET SE"}]}}]}"#,
            r#"{"candidates":[{"index":0,"content":{"parts":[{"text":"CRET"}]}},{"index":1,"content":{"parts":[{"text":"RET"}]}}]}"#,
            r#"{"candidates":[{"index":0,"content":{"parts":[{"text":"SE"}]}}]}"#,
            r#"{"candidates":[{"index":0,"content":{"parts":[{"text":"x","thought":true}]}}]}"#,
        ],
    );
    let want = [
        r#"({"candidates":[{"index":0,"content":{"parts":[{"text":"","thought":true}]}}]})"#,
        r#"({"candidates":[{"index":1,"content":{"parts":[{"text":""}]}}]})"#,
        r#"{"candidates":[{"index":0,"content":{"parts":[{"text":"<\"> SEC","thought":true},{"text":"RET "}]}}]}"#,
        r#"{"candidates":[{"index":0,"content":{"parts":[{"text":"<\">"}]}},{"index":1,"content":{"parts":[{"text":"<\">"}]}}]}"#,
        r#"({"candidates":[{"index":0,"content":{"parts":[{"text":""}]}}]})"#,
        r#"+{"candidates":[{"index":0,"content":{"parts":[{"text":"SE"}]}}]}"#,
        "=",
    ];
    assert_eq!(rows, want);
}

/// Puts a number in place of another, and masks a third.
#[derive(Default)]
struct Numbers(usize);

impl Editor for Numbers {
    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        for (from, with) in [("4000000001", "7000000009"), ("4000000002", "**********"), ("secret", "<x>")] {
            edits.extend(
                piece
                    .find(from)
                    .map(|at| Edit { range: self.0 + at..self.0 + at + from.len(), with: with.to_owned() }),
            );
        }
        self.0 += piece.len();
        Ok(self.0)
    }

    fn end(&mut self, _: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.0 = 0;
        Ok(())
    }
}

#[test]
fn names_and_numbers_are_words_where_nothing_is_known_of_a_value() {
    let editor: EditorFactory = Arc::new(|| Box::new(Numbers::default()));
    let protocol = Arc::new(CompiledProtocol::new(&gemini::GENERATE).unwrap());
    let mut deltas = Deltas::new(protocol, editor, &MemoryBudget::process(1 << 20));
    let call = |args: &str| {
        format!(
            r#"{{"secret":4000000001,"candidates":[{{"content":{{"parts":[{{"functionCall":{{"name":"pay","args":{args}}}}}]}}}}]}}"#
        )
    };
    for (args, want) in [
        (r#"{"card":4000000001,"secret":"a"}"#, r#"{"card":7000000009,"<x>":"a"}"#),
        (r#"{"a":[-4000000001,{"secret":4000000001.5}]}"#, r#"{"a":[-7000000009,{"<x>":7000000009.5}]}"#),
        (r#"{"card":4000000002}"#, r#"{"card":0}"#),
        (r#"{"card":4000000003}"#, r#"{"card":4000000003}"#),
    ] {
        let edited = deltas.whole(call(args).as_bytes()).unwrap();
        let edited = edited.map_or(call(args), |edited| String::from_utf8(edited).unwrap());
        assert_eq!(edited, call(want), "what is known of the protocol stays");
    }
}

/// `SECRET` becomes `<">`: three characters are gone.
#[test]
fn numbers_go_with_what_they_point_at() {
    let editor: EditorFactory = Arc::new(|| Box::new(Hide::default()));
    let chat = |text: &str, start: &str, end: &str| {
        format!(
            r#"{{"choices":[{{"message":{{"content":""}}}},{{"message":{{"annotations":[{{"url_citation":{{"start_index":{start},"end_index":{end}}}}}],"content":"{text}"}}}}]}}"#
        )
    };
    // In UTF-8 `é` is two bytes and `\u00e9` is spelled with six; characters are counted.
    let (text, left) = ("aSECRETé\\u00e9SECRET.", "a<\\\">éé<\\\">.");
    let rows = [
        (("0", "1"), ("0", "1")),
        (("1", "7"), ("1", "4")),
        (("7", "9"), ("4", "6")),
        (("9", "15"), ("6", "9")),
        (("15", "16"), ("9", "10")),
        // Within a value, all of it is meant; behind the end, as far behind.
        (("3", "12"), ("1", "9")),
        (("16", "20"), ("10", "14")),
        (("-1", "7.5"), ("-1", "7.5")),
        (("null", "\"7\""), ("null", "\"7\"")),
    ];
    for ((start, end), (new_start, new_end)) in rows {
        let protocol = Arc::new(CompiledProtocol::new(&openai::CHAT).unwrap());
        let mut deltas = Deltas::new(protocol, Arc::clone(&editor), &MemoryBudget::process(1 << 20));
        let document = chat(text, start, end);
        let whole = String::from_utf8(deltas.whole(document.as_bytes()).unwrap().unwrap()).unwrap();
        assert_eq!(whole, chat(left, new_start, new_end), "{start}..{end}");
    }
    let protocol = Arc::new(CompiledProtocol::new(&gemini::GENERATE).unwrap());
    let mut deltas = Deltas::new(protocol, editor, &MemoryBudget::process(1 << 20));
    let answer = |texts: [&str; 2], segments: &str| {
        let [first, second] = texts;
        format!(
            r#"{{"candidates":[{{"content":{{"parts":[{{"text":"{first}"}},{{"text":"{second}"}}]}},"groundingMetadata":{{"groundingSupports":[{segments}]}}}}]}}"#
        )
    };
    let document = answer(
        ["SECRETa", "éSECRETa"],
        r#"{"segment":{"endIndex":7}},{"segment":{"partIndex":1,"startIndex":8,"endIndex":9}},{"segment":{"partIndex":2,"endIndex":9}}"#,
    );
    let wanted = answer(
        ["<\\\">a", "é<\\\">a"],
        r#"{"segment":{"endIndex":4}},{"segment":{"partIndex":1,"startIndex":5,"endIndex":6}},{"segment":{"partIndex":2,"endIndex":9}}"#,
    );
    let whole = String::from_utf8(deltas.whole(document.as_bytes()).unwrap().unwrap()).unwrap();
    assert_eq!(whole, wanted);
    // As an event of a stream its text goes on, and was counted from the beginning.
    let DocumentOutcome::Replace(event) =
        deltas.document(document.as_bytes(), b"", &mut EarlierDocuments::new()).unwrap()
    else {
        panic!("its texts changed")
    };
    assert!(String::from_utf8(event).unwrap().contains(r#""startIndex":8,"endIndex":9"#));
}

#[test]
fn no_stream_holds_more_texts_than_can_be_followed() {
    let protocol = Arc::new(CompiledProtocol::new(&BLOCKS).unwrap());
    let editor: EditorFactory = Arc::new(|| Box::new(Hide::default()));
    let mut deltas = Deltas::new(protocol, editor, &MemoryBudget::process(1 << 20));
    let block = |n: usize| format!(r#"{{"index":{n},"delta":{{"text":"SE"}}}}"#);
    let mut fed =
        (0..=MOST_CHANNELS).map(|n| deltas.document(block(n).as_bytes(), b"", &mut EarlierDocuments::new()));
    assert!(fed.by_ref().take(MOST_CHANNELS).all(|outcome| outcome.is_ok()));
    assert!(matches!(fed.next(), Some(Err(StreamError::TooLarge { limit: MOST_CHANNELS, .. }))));
}
