//! The report of tokens at the end of a stream, where a provider makes one only if asked (OpenAI API reference, "Chat",
//! `stream_options`): the request is made to ask, and what the caller did not ask for is taken out of the answer again.

use std::collections::BTreeMap;
use std::ops::Range;

use bytes::BytesMut;
use serde_json::value::RawValue;

use crate::base::budget::MemoryBudget;
use crate::edit::{Edit, spliced};
use crate::stream::json::{Decoded, JsonToken, Path, walk};
use crate::stream::sse::{Event, EventAction, Events, Sse};
use crate::stream::{Rewriter, StreamError};

/// The largest event that is looked at, in bytes.
const MAX_EVENT: usize = 16 << 20;

/// What a stream is to have beside its text.
const OPTIONS: &str = "stream_options";
/// The one of these that asks.
const REPORT: &str = "include_usage";

/// The document with the question in it, whatever it said of the report; `None` where it asks already, and where it is no object
/// with members.
pub(super) fn asked_for(document: &[u8]) -> Option<Vec<u8>> {
    let members = Members::of(document, OPTIONS)?;
    let asks = format!("{{\"{REPORT}\":true}}");
    if members.values.is_empty() {
        let with = format!("\"{OPTIONS}\":{asks}{}", if members.any { "," } else { "" });
        return members.any.then(|| spliced(document, &[Edit { range: members.open..members.open, with }]));
    }
    let mut edits = Vec::new();
    // Of two members of one name some servers take the first.
    for options in members.values {
        let text = document.get(options.clone()).unwrap_or_default();
        let Some(inner) = Members::of(text, REPORT) else {
            edits.push(Edit { range: options, with: asks.clone() });
            continue;
        };
        let at = options.start;
        if inner.values.is_empty() {
            let with = format!("\"{REPORT}\":true{}", if inner.any { "," } else { "" });
            edits.push(Edit { range: at + inner.open..at + inner.open, with });
        }
        let others = inner.values.into_iter().filter(|value| text.get(value.clone()) != Some(b"true"));
        edits.extend(others.map(|value| {
            let range = at + value.start..at + value.end;
            Edit { range, with: "true".to_owned() }
        }));
    }
    (!edits.is_empty()).then(|| spliced(document, &edits))
}

/// The members of one name of an object, in whatever letters.
struct Members {
    /// Behind the bracket that opens the object.
    open: usize,
    /// Where their values stand.
    values: Vec<Range<usize>>,
    /// Whether the object has any members.
    any: bool,
}

impl Members {
    /// Those of an object; `None` where it is none.
    fn of(document: &[u8], name: &str) -> Option<Self> {
        let open = document.iter().position(|byte| !byte.is_ascii_whitespace())?;
        if document.get(open) != Some(&b'{') {
            return None;
        }
        let (mut names, mut any) = (Vec::new(), false);
        walk(document, &mut |path: &Path<'_>, leaf| {
            if leaf.token == JsonToken::Key && path.is_empty() {
                let own = Decoded::of(document.get(leaf.span.clone()).unwrap_or_default());
                any = true;
                if own.text().eq_ignore_ascii_case(name) {
                    names.push(leaf.span);
                }
            }
        })
        .ok()?;
        let values = names.into_iter().map(|name| value_of(document, &name)).collect::<Option<Vec<_>>>()?;
        Some(Self { open: open + 1, values, any })
    }
}

/// Where the value stands of the member that is called what stands at `name`, between its quotes.
fn value_of(document: &[u8], name: &Range<usize>) -> Option<Range<usize>> {
    let behind = document.get(name.end + 1..)?.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let start = document.len() - behind.len();
    let mut values = serde_json::Deserializer::from_slice(behind).into_iter::<&RawValue>();
    values.next()?.ok()?;
    Some(start..start + values.byte_offset())
}

/// Takes the report out of a stream.
pub(super) fn taken_out(budget: &MemoryBudget) -> Box<dyn Rewriter> {
    Box::new(Sse::new(ReportedUsage, MAX_EVENT, budget).data_only())
}

/// Sees events: drops the one that is the report, and the member that says in all others that there is none.
struct ReportedUsage;

/// Members of the event that is a report and nothing else.
const OF_REPORT: [&str; 9] = [
    "id",
    "object",
    "created",
    "model",
    "system_fingerprint",
    "service_tier",
    "choices",
    "usage",
    "obfuscation",
];

impl ReportedUsage {
    /// What becomes of an event's data.
    fn judge(data: &[u8]) -> EventAction {
        if memchr::memmem::find(data, b"\"usage\"").is_none() {
            return EventAction::Keep;
        }
        let Ok(event) = serde_json::from_slice::<BTreeMap<String, &RawValue>>(data) else {
            return EventAction::Keep;
        };
        let member = |name: &str| event.get(name).map(|value| value.get());
        let no_choices = member("choices").is_some_and(|choices| {
            choices
                .strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'))
                .is_some_and(|rest| rest.trim().is_empty())
        });
        match member("usage") {
            Some("null") => without_usage(data).map_or(EventAction::Keep, EventAction::Data),
            Some(_) if !no_choices => EventAction::Keep,
            Some(_) if event.keys().all(|name| OF_REPORT.contains(&name.as_str())) => EventAction::Drop,
            // What else stands in it is the caller's to see.
            Some(_) => without_usage(data).map_or(EventAction::Keep, EventAction::Data),
            None => EventAction::Keep,
        }
    }
}

/// The document without its member `usage`.
fn without_usage(data: &[u8]) -> Option<Vec<u8>> {
    let mut name = None;
    walk(data, &mut |path: &Path<'_>, leaf| {
        if leaf.token == JsonToken::Key && path.is_empty() && data.get(leaf.span.clone()) == Some(b"usage") {
            name = Some(leaf.span);
        }
    })
    .ok()?;
    let name = name?;
    let end = value_of(data, &name)?.end;
    let (before, behind) = (data.get(..name.start - 1)?, data.get(end..)?);
    let kept = before.trim_ascii_end();
    let range = match kept.last()? {
        // Of two commas one goes.
        b',' => kept.len() - 1..end,
        _ => {
            let rest = behind.trim_ascii_start();
            let rest = rest.strip_prefix(b",").unwrap_or(rest);
            before.len()..data.len() - rest.trim_ascii_start().len()
        }
    };
    Some(spliced(data, &[Edit { range, with: String::new() }]))
}

impl Events for ReportedUsage {
    fn event(&mut self, event: &Event<'_>, _: &mut BytesMut) -> Result<EventAction, StreamError> {
        Ok(Self::judge(event.data()))
    }

    fn line(&mut self, _: &[u8]) -> Result<Option<Vec<u8>>, StreamError> {
        Ok(None)
    }

    fn end(&mut self, rest: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        out.extend_from_slice(rest);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_asks_once_and_stays_otherwise_as_it_is() {
        let rows = [
            (
                r#" {"model":"a","stream":true}"#,
                Some(r#" {"stream_options":{"include_usage":true},"model":"a","stream":true}"#),
            ),
            (r#"{"stream_options":{"include_usage":true},"stream":true}"#, None),
            (
                r#"{"stream_options": {"include_usage": false },"stream":true}"#,
                Some(r#"{"stream_options": {"include_usage": true },"stream":true}"#),
            ),
            (
                r#"{"stream_options":null,"stream":true}"#,
                Some(r#"{"stream_options":{"include_usage":true},"stream":true}"#),
            ),
            (
                r#"{"stream_option\u0073":{ },"stream":true}"#,
                Some(r#"{"stream_option\u0073":{"include_usage":true },"stream":true}"#),
            ),
            (
                r#"{"stream_options":{"include_obfuscation":false},"Stream_Options":[1]}"#,
                Some(
                    r#"{"stream_options":{"include_usage":true,"include_obfuscation":false},"Stream_Options":{"include_usage":true}}"#,
                ),
            ),
            (
                r#"{"stream_options":{"Include_Usage":1,"include_usage":true}}"#,
                Some(r#"{"stream_options":{"Include_Usage":true,"include_usage":true}}"#),
            ),
            ("{}", None),
            ("[1]", None),
            ("{\"a\":", None),
        ];
        for (document, want) in rows {
            let asked = asked_for(document.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap());
            assert_eq!(asked.as_deref(), want, "{document}");
        }
    }

    #[test]
    fn what_the_caller_did_not_ask_for_is_taken_out_wherever_the_stream_is_cut() {
        let stream = "data: {\"choices\":[{\"delta\":{\"content\":\"\\\"usage\\\":null\"}}],\"usage\":null}\n\n\
                      data: {\"usage\": null , \"choices\":[{\"delta\":{}}]}\r\n\r\n\
                      data: {\"choices\":[{\"delta\":{}}], \"usage\":null, \"id\":1}\n\n\
                      data: {\"choices\":[ ],\"usage\":{\"prompt_tokens\":4}}\n\n\
                      : keep\n\ndata: [DONE]\n\n";
        let want = "data: {\"choices\":[{\"delta\":{\"content\":\"\\\"usage\\\":null\"}}]}\n\n\
                    data: {\"choices\":[{\"delta\":{}}]}\r\n\r\n\
                    data: {\"choices\":[{\"delta\":{}}], \"id\":1}\n\n\
                    : keep\n\ndata: [DONE]\n\n";
        for size in 1..=stream.len() {
            let (mut stage, mut out) = (taken_out(&MemoryBudget::unlimited()), BytesMut::new());
            for piece in stream.as_bytes().chunks(size) {
                stage.write(piece, &mut out).unwrap();
            }
            stage.finish(&mut out).unwrap();
            assert_eq!(std::str::from_utf8(&out).unwrap(), want, "in pieces of {size}");
        }
    }

    #[test]
    fn a_report_beside_choices_stays() {
        // Mistral and others put it into the last chunk, asked or not.
        let data = br#"{"choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":4}}"#;
        assert!(ReportedUsage::judge(data) == EventAction::Keep);
        // So does whatever else stands in the last event.
        let data = br#"{"choices":[],"usage":{"prompt_tokens":[4,{}]},"citations":["u"]}"#;
        assert!(
            ReportedUsage::judge(data) == EventAction::Data(br#"{"choices":[],"citations":["u"]}"#.to_vec())
        );
    }
}
