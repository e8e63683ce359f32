//! LiteLLM's generic guardrail (LiteLLM 1.108, "Generic Guardrail API", `generic_guardrail_api`): its proxy asks about each
//! request before the model sees it, and about each answer before the client does; of a stream, again and again about all of
//! it so far.
//!
//! What is issued in a request is known by the id that the proxy gives the call, and by the key that its client has there.
//!
//! Anything but 200 makes the proxy refuse, but for 502, 503 and 504, which it takes for a guardrail that is not there: errors
//! of ours are none of these. What errors say may be read by its clients.

use std::sync::{Arc, LazyLock};

use futures_util::future::BoxFuture;
use http::{Method, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::api::call::{ApiAnswer, ApiCall, Handler};
use crate::api::error::{ApiError, Code};
use crate::api::fields::{Faults, ObjectFields};
use crate::api::guardrail::answer::{shown, text_of, told};
use crate::api::guardrail::traffic::{AnsweredText, RequestTexts, TextOutcome, Traffic};
use crate::base::pointer::Pointer;
use crate::stream::json::{PathSet, Treatment, Type};

/// What the proxy puts behind the URL that it is given.
const OPERATION: &str = "beta/litellm_basic_guardrail_api";

/// The most elements of one list.
const MOST: usize = 100_000;

/// Which strings of what is asked are texts, and what the others are.
static TEXTS: LazyLock<Option<Arc<PathSet>>> = LazyLock::new(|| {
    let patterns = [
        ("structured_messages[*].tool_calls[*].function.arguments", Treatment::Embedded),
        ("structured_messages[*].function_call.arguments", Treatment::Embedded),
        ("structured_messages[*].tool_calls[*].id", Treatment::Typed(Type::Id)),
        ("structured_messages[*].tool_call_id", Treatment::Typed(Type::Id)),
        ("structured_messages[*].content[*].signature", Treatment::Typed(Type::Opaque)),
        ("tool_calls[*].function.arguments", Treatment::Embedded),
        ("tool_calls[*].id", Treatment::Typed(Type::Id)),
    ];
    PathSet::new(&patterns, Treatment::Text).ok().map(Arc::new)
});

/// The API at the end of a route.
pub struct LiteLlm(pub Traffic);

/// What is asked.
struct GuardrailRequest {
    /// Whether it is about an answer.
    answer: bool,
    /// What names the call of the model.
    name: Option<String>,
    texts: Vec<String>,
    images: bool,
    /// The members that hold texts, as they are written.
    members: Vec<u8>,
}

/// The members that hold texts.
#[derive(Deserialize, Serialize)]
struct TextMembers<'m> {
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    texts: Option<&'m RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    structured_messages: Option<&'m RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    tools: Option<&'m RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    tool_calls: Option<&'m RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    images: Option<&'m RawValue>,
}

/// What is answered.
#[derive(Serialize)]
struct Action<'a> {
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    texts: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_messages: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a RawValue>,
}

impl Handler for LiteLlm {
    fn call<'a>(&'a self, mut call: ApiCall<'a>) -> BoxFuture<'a, ApiAnswer> {
        Box::pin(async move {
            let done = self.answer(&mut call).await;
            done.unwrap_or_else(|error| refused(error, &call))
        })
    }
}

/// An error: never one that the proxy may take for a guardrail that is not there.
fn refused(error: ApiError, call: &ApiCall<'_>) -> ApiAnswer {
    let body = json!({ "error": text_of(&error) }).to_string();
    let mut answer = told(error, call, "application/json", body);
    if matches!(answer.status.as_u16(), 502..=504) {
        answer.status = StatusCode::INTERNAL_SERVER_ERROR;
    }
    answer
}

impl LiteLlm {
    async fn answer(&self, call: &mut ApiCall<'_>) -> Result<ApiAnswer, ApiError> {
        if self.0.guardrail().operation(call) != OPERATION {
            return Err(ApiError::NotFound);
        }
        if call.head.method != Method::POST {
            return Err(ApiError::MethodNotAllowed("POST".to_owned()));
        }
        let asked = self.0.guardrail().written(call, parse).await?;
        if asked.answer { self.of_answer(call, asked).await } else { self.of_request(call, asked).await }
    }

    async fn of_request(
        &self,
        call: &mut ApiCall<'_>,
        asked: GuardrailRequest,
    ) -> Result<ApiAnswer, ApiError> {
        let GuardrailRequest { name, members, images, .. } = asked;
        if images && self.0.refuses_media() {
            return blocked("it holds what may not pass here: an image, sound or a film, which nobody reads");
        }
        let which = TEXTS.clone().ok_or(ApiError::Internal("litellm: patterns"))?;
        let texts = RequestTexts { document: members.clone(), which, name };
        match self.0.request(call, texts).await? {
            TextOutcome::Blocked(why) => blocked(&why),
            TextOutcome::Passes(redacted) => rewritten(&members, &redacted),
        }
    }

    async fn of_answer(
        &self,
        call: &mut ApiCall<'_>,
        asked: GuardrailRequest,
    ) -> Result<ApiAnswer, ApiError> {
        match self.0.answer(call, asked.texts, asked.name.as_deref()).await? {
            TextOutcome::Blocked(why) => blocked(&why),
            TextOutcome::Passes(texts) => {
                let action = if texts.iter().any(|text| text.changed) { CHANGED } else { NONE };
                let undecided: Vec<usize> = texts.iter().map(|text| text.undecided).collect();
                let texts: Vec<String> = texts.into_iter().map(|AnsweredText { text, .. }| text).collect();
                shown(&json!({ "action": action, "texts": texts, "stream_holdback_chars": undecided }))
            }
        }
    }
}

const NONE: &str = "NONE";
const CHANGED: &str = "GUARDRAIL_INTERVENED";

fn blocked(why: &str) -> Result<ApiAnswer, ApiError> {
    shown(&json!({ "action": "BLOCKED", "blocked_reason": why }))
}

/// The answer about a request, of which `before` was what it held and `after` is what it may hold.
fn rewritten(before: &[u8], after: &[u8]) -> Result<ApiAnswer, ApiError> {
    let read = |members| serde_json::from_slice::<TextMembers<'_>>(members);
    let (Ok(before), Ok(after)) = (read(before), read(after)) else {
        return Err(ApiError::Internal("litellm: members"));
    };
    let texts = changed(before.texts, after.texts);
    let messages = changed(before.structured_messages, after.structured_messages);
    let tools = changed(before.tools, after.tools);
    // They stand in the messages too, where alone they can be changed.
    if before.structured_messages.is_none() && changed(before.tool_calls, after.tool_calls).is_some() {
        return blocked(
            "arguments of a tool hold values, and there are no messages in which they could be replaced",
        );
    }
    if before.structured_messages.is_none() && changed(before.images, after.images).is_some() {
        return blocked(
            "the address of an image holds values, and there are no messages in which they could be replaced",
        );
    }
    // The proxy takes messages in place of texts, and leaves out of them what it does not know.
    let structured_messages = match (before.structured_messages, messages) {
        (Some(was), Some(is)) if texts.is_none() || differ_beyond_texts(was, is)? => Some(is),
        _ => None,
    };
    let any = texts.or(structured_messages).or(tools).is_some();
    shown(&Action { action: if any { CHANGED } else { NONE }, texts, structured_messages, tools })
}

fn changed<'r>(was: Option<&RawValue>, is: Option<&'r RawValue>) -> Option<&'r RawValue> {
    is.filter(|is| was.is_none_or(|was| was.get() != is.get()))
}

/// Whether messages differ in anything but what the proxy also shows as texts.
fn differ_beyond_texts(was: &RawValue, is: &RawValue) -> Result<bool, ApiError> {
    let rest = |messages: &RawValue| {
        let mut messages: Value = serde_json::from_str(messages.get()).ok()?;
        for message in messages.as_array_mut()? {
            match message.get_mut("content") {
                Some(content @ Value::String(_)) => *content = Value::Null,
                Some(Value::Array(parts)) => {
                    for text in parts.iter_mut().filter_map(|part| part.get_mut("text")) {
                        *text = Value::Null;
                    }
                }
                _ => {}
            }
        }
        Some(messages)
    };
    match (rest(was), rest(is)) {
        (Some(was), Some(is)) => Ok(was != is),
        _ => Err(ApiError::Internal("litellm: messages")),
    }
}

/// Reads what is asked. Members that are not known here pass: the proxy adds some now and then, and sends none of them on.
fn parse(body: &[u8], value: &Value) -> Result<GuardrailRequest, ApiError> {
    let mut fields = ObjectFields::of(value)?;
    fields.nulls_are_absent();
    fields.required("input_type");
    let answer = fields.one_of("input_type", &[("request", false), ("response", true)]).unwrap_or_default();
    let call = fields.text("litellm_call_id").filter(|id| !id.is_empty()).map(str::to_owned);
    let text = |value, at, faults: &mut Faults| faults.text(value, at).map(str::to_owned);
    let texts = fields.array("texts", MOST, text).unwrap_or_default();
    let images = fields.array("images", MOST, text).is_some_and(|images| !images.is_empty());
    for name in ["structured_messages", "tools", "tool_calls"] {
        fields.array(name, MOST, object);
    }
    // Of two clients of the proxy with one id, each has what was issued to itself.
    let client = fields.member("request_data").and_then(|data| data.get("user_api_key_hash"));
    let client = client.and_then(Value::as_str).unwrap_or_default();
    let name = call.map(|call| json!(["litellm", client, call]).to_string());
    std::mem::take(fields.faults()).close()?;
    let members =
        serde_json::from_slice::<TextMembers<'_>>(body).and_then(|members| serde_json::to_vec(&members));
    let members = members.map_err(|_| ApiError::Internal("litellm: members"))?;
    Ok(GuardrailRequest { answer, name, texts, images, members })
}

fn object(value: &Value, at: Pointer, faults: &mut Faults) -> Option<()> {
    if !value.is_object() {
        faults.wrong(value, at, Code::InvalidObject, "must be an object");
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &Value) -> Result<GuardrailRequest, Vec<String>> {
        parse(body.to_string().as_bytes(), body).map_err(|error| match error {
            ApiError::Validation(faults) => faults.iter().map(|fault| fault.source.to_string()).collect(),
            error => vec![error.to_string()],
        })
    }

    #[test]
    fn what_the_proxy_asks_is_read_and_what_is_wrong_has_a_place() {
        let asked = read(&json!({
            "input_type": "response", "litellm_call_id": "c1", "texts": ["a", "b"], "images": null, "tools": null,
            "request_data": { "user_api_key_hash": "k" }, "tool_calls": null, "of_later": { "x": [] },
        }));
        let asked = asked.unwrap_or_else(|places| panic!("{places:?}"));
        assert!(asked.answer && !asked.images && asked.texts == ["a", "b"]);
        assert_eq!(asked.name.as_deref(), Some(r#"["litellm","k","c1"]"#));
        assert_eq!(asked.members, br#"{"texts":["a","b"]}"#);
        for (body, places) in [
            (json!({}), vec!["/input_type"]),
            (json!({ "input_type": "both" }), vec!["/input_type"]),
            (json!({ "input_type": null }), vec!["/input_type"]),
            (json!({ "input_type": "request", "texts": "a" }), vec!["/texts"]),
            (json!({ "input_type": "request", "texts": ["a", null, 5] }), vec!["/texts/1", "/texts/2"]),
            (json!({ "input_type": "request", "litellm_call_id": 5 }), vec!["/litellm_call_id"]),
            (
                json!({ "input_type": "request", "structured_messages": ["hi"] }),
                vec!["/structured_messages/0"],
            ),
            (json!({ "input_type": "request", "tools": {} }), vec!["/tools"]),
        ] {
            assert_eq!(read(&body).err(), Some(places.iter().map(ToString::to_string).collect()), "{body}");
        }
    }

    #[test]
    fn clients_of_the_proxy_do_not_share_names() {
        let name = |client: &str, call: &str| {
            let data = json!({ "user_api_key_hash": client });
            let body = json!({ "input_type": "request", "litellm_call_id": call, "request_data": data });
            read(&body).ok().and_then(|asked| asked.name)
        };
        assert_eq!(name("a", "b"), name("a", "b"));
        assert_ne!(name("a", "b"), name("", "b"));
        assert_ne!(name("a", "b"), name("a\",\"b", ""));
        assert!(name("a", "").is_none());
    }

    fn answered(before: Value, after: Value) -> Value {
        let answer = rewritten(before.to_string().as_bytes(), after.to_string().as_bytes());
        serde_json::from_slice(answer.unwrap_or_else(|error| panic!("{error}")).bytes()).unwrap()
    }

    #[test]
    fn messages_are_sent_back_where_texts_do_not_tell_all() {
        let body = |text: &str, argument: &str, tool: &str| {
            json!({
                "texts": [text],
                "structured_messages": [
                    { "role": "user", "content": [{ "type": "text", "text": text }] },
                    { "role": "assistant", "content": null, "tool_calls": [{ "function": { "arguments": argument } }] },
                ],
                "tools": [{ "type": "function", "function": { "description": tool } }],
            })
        };
        let names = |answer: &Value| -> Vec<String> {
            answer.as_object().unwrap().keys().filter(|name| *name != "action").cloned().collect()
        };
        for (after, action, want) in [
            (body("a", "b", "c"), NONE, vec![]),
            (body("A", "b", "c"), CHANGED, vec!["texts"]),
            (body("A", "B", "c"), CHANGED, vec!["structured_messages", "texts"]),
            (body("a", "B", "c"), CHANGED, vec!["structured_messages"]),
            (body("a", "b", "C"), CHANGED, vec!["tools"]),
        ] {
            let answer = answered(body("a", "b", "c"), after.clone());
            assert_eq!(
                (answer["action"].as_str(), names(&answer)),
                (Some(action), want.iter().map(ToString::to_string).collect())
            );
            for name in want {
                assert_eq!(answer[name], after[name]);
            }
        }
    }

    #[test]
    fn arguments_that_cannot_be_changed_do_not_pass() {
        let body = |argument: &str| json!({ "texts": [], "tool_calls": [{ "function": { "arguments": argument } }] });
        assert_eq!(answered(body("a"), body("a"))["action"], NONE);
        assert_eq!(answered(body("a"), body("b"))["action"], "BLOCKED");
    }
}
