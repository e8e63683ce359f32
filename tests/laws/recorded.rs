//! The laws over recorded answers, where `PORTCULLIS_CORPORA` names a folder of them, or one that has them in `llm`: its
//! `expected.json` says what each channel comes to once the values in it are masked.

use portcullis::base::budget::MemoryBudget;
use portcullis::gateway::content_coding::encode;
use portcullis::gateway::media_type::ContentFormat;
use portcullis::stream::codec::Coding;
use serde_json::Value;

use crate::protocols::{Done, Passing, cuts};

/// The path on which a recorded answer came, by the beginning of its file's name.
const PATHS: [(&str, &str); 6] = [
    ("openai_chat", "/v1/chat/completions"),
    ("openai_completions", "/v1/completions"),
    ("openai_responses", "/v1/responses"),
    ("anthropic_messages", "/v1/messages"),
    ("gemini_stream", "/v1beta/models/m:streamGenerateContent"),
    ("openai_embeddings.", "/v1/embeddings"),
];

/// One recorded answer.
struct Recorded {
    name: String,
    path: &'static str,
    body: Vec<u8>,
    /// Channels by their names, once masked.
    channels: Vec<(String, String)>,
    values: Vec<String>,
}

impl Recorded {
    /// Those of the folder; `None` where there is none. Requests are no answers.
    fn all() -> Option<Vec<Self>> {
        let folder = std::path::PathBuf::from(std::env::var_os("PORTCULLIS_CORPORA")?);
        let folder = Some(folder.join("llm")).filter(|within| within.is_dir()).unwrap_or(folder);
        let expected = std::fs::read(folder.join("expected.json")).ok()?;
        let expected: Value = serde_json::from_slice(&expected).unwrap();
        let labels = expected["values"].as_object().unwrap();
        let mut all = Vec::new();
        for (name, fixture) in expected["fixtures"].as_object().unwrap() {
            let Some((_, path)) = PATHS.iter().find(|(begins, _)| name.starts_with(begins)) else { continue };
            if name.contains("request") {
                continue;
            }
            let masked = |text: &str| {
                labels.iter().fold(text.to_owned(), |text, (label, value)| {
                    text.replace(&format!("[{label}]"), &"*".repeat(value.as_str().unwrap().len()))
                })
            };
            let channels = fixture["after_redaction_mask"].as_object().into_iter().flatten();
            let texts =
                channels.filter_map(|(channel, text)| Some((channel.clone(), masked(text.as_str()?))));
            all.push(Self {
                name: name.clone(),
                path,
                body: std::fs::read(folder.join(name)).unwrap(),
                channels: texts.filter(|(channel, _)| channel != "repeats").collect(),
                values: labels.values().map(|value| value.as_str().unwrap().to_owned()).collect(),
            });
        }
        Some(all)
    }

    fn passing(&self, coding: Option<Coding>) -> Passing<'_> {
        let declared = if self.name.ends_with(".sse") { ContentFormat::Events } else { ContentFormat::Json };
        Passing { path: self.path, declared, lines: false, coding }
    }

    fn documents(&self, body: &[u8]) -> Vec<Value> {
        let body = std::str::from_utf8(body).unwrap();
        if !self.name.ends_with(".sse") {
            return match serde_json::from_str(body).unwrap() {
                Value::Array(rows) => rows,
                one => vec![one],
            };
        }
        let (mut documents, mut data) = (Vec::new(), String::new());
        for line in body.lines().chain([""]) {
            match line.strip_prefix("data:") {
                Some(text) => data.push_str(text),
                None if line.is_empty() && !data.is_empty() => {
                    documents.extend(serde_json::from_str(&std::mem::take(&mut data)))
                }
                None => {}
            }
        }
        documents
    }

    /// Holds what came out against what was to come.
    fn check(&self, body: &[u8]) {
        let documents = self.documents(body);
        for (channel, want) in &self.channels {
            let there: String = documents.iter().flat_map(|one| texts(one, channel)).collect();
            match serde_json::from_str::<Value>(want) {
                Ok(want) => assert_eq!(
                    serde_json::from_str(&there).ok(),
                    Some(want),
                    "{}: {channel}: {there}",
                    self.name
                ),
                Err(_) => assert_eq!(&there, want, "{}: {channel}", self.name),
            }
        }
        // Also in every copy of a text.
        let mut leaves = Vec::new();
        documents.iter().for_each(|one| strings(one, &mut leaves));
        for value in &self.values {
            assert!(
                !leaves.iter().any(|leaf| leaf.contains(value.as_str())),
                "{}: a value is left",
                self.name
            );
        }
        // All else stays, in order; what was added is like what came.
        let bare = |documents: &[Value]| -> Vec<Value> { documents.iter().map(blank).collect() };
        let (sent, there) = (bare(&self.documents(&self.body)), bare(&documents));
        let mut rest = there.iter();
        assert!(sent.iter().all(|one| rest.any(|there| there == one)), "{}: all else stays", self.name);
        assert!(there.iter().all(|one| sent.contains(one)), "{}: nobody sent it", self.name);
    }
}

/// All strings of a document.
fn strings(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
        Value::Object(members) => members.values().for_each(|item| strings(item, out)),
        _ => {}
    }
}

/// A document without texts, which may be regrouped over events.
fn blank(value: &Value) -> Value {
    const TEXTS: [&str; 10] = [
        "content",
        "reasoning_content",
        "text",
        "thinking",
        "partial_json",
        "arguments",
        "delta",
        "message",
        "args",
        "input",
    ];
    match value {
        Value::Array(items) => items.iter().map(blank).collect(),
        Value::Object(members) => {
            let each = members.iter().filter(|(key, _)| *key != "sequence_number").map(|(key, item)| {
                let text =
                    TEXTS.contains(&key.as_str()) && (item.is_string() || key == "args" || key == "input");
                (key.clone(), if text { Value::from("") } else { blank(item) })
            });
            each.collect::<serde_json::Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

/// The pieces of a channel in one document: `choice0.content`, `block1.text`, `output0.arguments`, …
fn texts(document: &Value, channel: &str) -> Vec<String> {
    let (element, rest) = channel.split_once('.').unwrap();
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Object(_) => Some(value.to_string()),
        _ => None,
    };
    let element = element.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let number = channel
        .get(element.len()..)
        .and_then(|rest| rest.chars().next())
        .and_then(|digit| digit.to_digit(10))
        .unwrap_or(0);
    let is_it = |value: &&Value, key: &str| value[key].as_u64().unwrap_or(0) == u64::from(number);
    let pointers: Vec<String> = match (element, rest) {
        ("error", rest) => vec![format!("/error/{rest}")],
        ("choice", rest) => {
            let rest = rest.replace("tool0.arguments", "tool_calls/0/function/arguments");
            let at =
                document["choices"].as_array().into_iter().flatten().position(|one| is_it(&one, "index"));
            let kinds = ["delta/", "message/", ""];
            at.into_iter().flat_map(|at| kinds.map(|kind| format!("/choices/{at}/{kind}{rest}"))).collect()
        }
        ("candidate", "text") => {
            (0..4).map(|part| format!("/candidates/{number}/content/parts/{part}/text")).collect()
        }
        ("candidate", _) => (0..4)
            .map(|part| format!("/candidates/{number}/content/parts/{part}/functionCall/args"))
            .collect(),
        ("block", rest) if document["type"] == "content_block_delta" => {
            vec![format!("/delta/{rest}")].into_iter().filter(|_| is_it(&document, "index")).collect()
        }
        ("block", rest) => vec![format!("/content/{number}/{rest}")],
        ("output", rest) => {
            let kind = document["type"].as_str().unwrap_or_default();
            let event = if rest == "text" { "output_text.delta" } else { "arguments.delta" };
            match kind.ends_with(event) && is_it(&document, "output_index") {
                true => vec!["/delta".to_owned()],
                false if rest == "text" => vec![format!("/output/{number}/content/0/text")],
                false => vec![format!("/output/{number}/{rest}")],
            }
        }
        _ => Vec::new(),
    };
    pointers.iter().filter_map(|pointer| document.pointer(pointer).and_then(text)).collect()
}

#[expect(clippy::print_stderr, reason = "whoever runs the tests should know what was not run")]
fn every(mut check: impl FnMut(&Recorded)) {
    match Recorded::all() {
        Some(all) => all.iter().for_each(&mut check),
        None => eprintln!("skipped: PORTCULLIS_CORPORA names no folder with an expected.json"),
    }
}

#[test]
fn recorded_answers_are_masked_as_expected_in_pieces_and_codings() {
    let budget = MemoryBudget::unlimited();
    every(|recorded| {
        for step in [1, 61, 1 << 20] {
            let pieces: Vec<&[u8]> = recorded.body.chunks(step).collect();
            recorded.check(&recorded.passing(None).pass(Done::RestoredAndMasked, &pieces));
        }
        for coding in [Coding::Gzip, Coding::Br, Coding::Zstd] {
            let coded = encode(&recorded.body, &[coding], &budget).unwrap();
            let pieces: Vec<&[u8]> = coded.chunks(97).collect();
            recorded.check(&recorded.passing(Some(coding)).pass(Done::RestoredAndMasked, &pieces));
        }
    });
}

#[test]
fn every_cut_in_two_of_a_recorded_answer_gives_the_same() {
    every(|recorded| {
        let passing = recorded.passing(None);
        let whole = passing.pass(Done::Restored, &[&recorded.body]);
        for at in cuts(recorded.body.len()) {
            let (head, tail) = recorded.body.split_at(at);
            let out = passing.pass(Done::Restored, &[head, tail]);
            assert!(out == whole, "{} cut at {at}", recorded.name);
        }
    });
}
