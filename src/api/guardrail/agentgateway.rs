//! agentgateway's guardrail webhook (agentgateway 1.x, `promptGuard`, `webhook`): it asks about the messages of a request, and
//! about the choices of an answer. The messages come as roles and texts alone, or, if it is told so, as the provider has them.
//!
//! An answer is read by which members it has, and what fits nothing passes: so what is answered here has exactly the members
//! that are read, and an error is no JSON, which is no answer at all to whoever asks.
//!
//! What is issued in a request is known by its `x-request-id`, if agentgateway forwards that with both.

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
use crate::api::guardrail::traffic::{RequestTexts, TextOutcome, Traffic};
use crate::base::pointer::Pointer;
use crate::stream::json::{PathSet, Treatment, Type};

/// The header that a request and its answer have in common.
const CALL: &str = "x-request-id";

/// The longest that is taken.
const LONGEST: usize = 256;

/// The most messages or choices.
const MOST: usize = 100_000;

/// Which strings of messages are texts: contents alone.
static PLAIN: LazyLock<Option<Arc<PathSet>>> = LazyLock::new(|| {
    PathSet::new(&[("body.messages[*].content", Treatment::Text)], Treatment::Skip).ok().map(Arc::new)
});

/// The same of messages as providers have them: OpenAI's chat and Responses, Anthropic's.
static NATIVE: LazyLock<Option<Arc<PathSet>>> = LazyLock::new(|| {
    let patterns = [
        ("messages[*].tool_calls[*].function.arguments", Treatment::Embedded),
        ("messages[*].function_call.arguments", Treatment::Embedded),
        ("messages[*].arguments", Treatment::Embedded),
        ("messages[*].tool_calls[*].id", Treatment::Typed(Type::Id)),
        ("messages[*].tool_call_id", Treatment::Typed(Type::Id)),
        ("messages[*].id", Treatment::Typed(Type::Id)),
        ("messages[*].call_id", Treatment::Typed(Type::Id)),
        ("messages[*].encrypted_content", Treatment::Typed(Type::Opaque)),
        ("messages[*].content[*].id", Treatment::Typed(Type::Id)),
        ("messages[*].content[*].tool_use_id", Treatment::Typed(Type::Id)),
        ("messages[*].content[*].signature", Treatment::Typed(Type::Opaque)),
        ("messages[*].content[*].data", Treatment::Typed(Type::Opaque)),
        ("messages.**", Treatment::Text),
    ];
    PathSet::new(&patterns, Treatment::Skip).ok().map(Arc::new)
});

/// The API at the end of a route.
pub struct AgentGateway(pub Traffic);

/// The messages of a request.
struct AskedRequest {
    document: Vec<u8>,
    /// Whether they are as the provider has them.
    native: bool,
}

/// A message: nothing else may be in one.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
struct ChatMessage {
    role: String,
    content: String,
}

#[derive(Deserialize)]
struct PlainBody {
    body: PlainMessages,
}

#[derive(Deserialize)]
struct PlainMessages {
    messages: Vec<ChatMessage>,
}

#[derive(Deserialize)]
struct Native<'m> {
    #[serde(borrow)]
    messages: &'m RawValue,
}

impl Handler for AgentGateway {
    fn call<'a>(&'a self, mut call: ApiCall<'a>) -> BoxFuture<'a, ApiAnswer> {
        Box::pin(async move {
            let done = self.answer(&mut call).await;
            done.unwrap_or_else(|error| {
                let text = text_of(&error);
                told(error, &call, "text/plain; charset=utf-8", text)
            })
        })
    }
}

impl AgentGateway {
    async fn answer(&self, call: &mut ApiCall<'_>) -> Result<ApiAnswer, ApiError> {
        let operation = self.0.guardrail().operation(call);
        if !matches!(operation.as_str(), "request" | "response") {
            return Err(ApiError::NotFound);
        }
        if call.head.method != Method::POST {
            return Err(ApiError::MethodNotAllowed("POST".to_owned()));
        }
        let id = call.head.headers.get(CALL).and_then(|id| id.to_str().ok());
        let id = id.filter(|id| !id.is_empty() && id.len() <= LONGEST);
        let name = id.map(|id| json!(["agentgateway", id]).to_string());
        if operation == "request" {
            self.of_request(call, name).await
        } else {
            self.of_answer(call, name).await
        }
    }

    async fn of_request(&self, call: &mut ApiCall<'_>, name: Option<String>) -> Result<ApiAnswer, ApiError> {
        let AskedRequest { document, native } = self.0.guardrail().written(call, request).await?;
        let which = if native { NATIVE.clone() } else { PLAIN.clone() };
        let which = which.ok_or(ApiError::Internal("agentgateway: patterns"))?;
        let texts = RequestTexts { document: document.clone(), which, name };
        match self.0.request(call, texts).await? {
            TextOutcome::Blocked(why) => rejected(StatusCode::BAD_REQUEST, &why),
            TextOutcome::Passes(redacted) if redacted == document => passed(),
            TextOutcome::Passes(redacted) => masked_request(&redacted, native),
        }
    }

    async fn of_answer(&self, call: &mut ApiCall<'_>, name: Option<String>) -> Result<ApiAnswer, ApiError> {
        let mut choices = self.0.guardrail().request(call, choices).await?;
        let texts = choices.iter().map(|message| message.content.clone()).collect();
        match self.0.answer(call, texts, name.as_deref()).await? {
            TextOutcome::Blocked(why) => rejected(StatusCode::BAD_GATEWAY, &why),
            TextOutcome::Passes(texts) if texts.iter().all(|text| !text.changed) => passed(),
            TextOutcome::Passes(texts) => {
                for (message, answered) in choices.iter_mut().zip(texts) {
                    message.content = answered.text;
                }
                let choices: Vec<Value> =
                    choices.iter().map(|message| json!({ "message": message })).collect();
                acted(&json!({ "body": { "choices": choices } }))
            }
        }
    }
}

fn acted(action: &Value) -> Result<ApiAnswer, ApiError> {
    shown(&json!({ "action": action }))
}

fn passed() -> Result<ApiAnswer, ApiError> {
    acted(&json!({}))
}

/// What the client gets in place of an answer, as OpenAI has errors.
fn rejected(status: StatusCode, why: &str) -> Result<ApiAnswer, ApiError> {
    let error =
        json!({ "message": why, "type": "invalid_request_error", "param": null, "code": "content_blocked" });
    let body = json!({ "error": error }).to_string();
    acted(&json!({ "body": body, "status_code": status.as_u16(), "reason": why }))
}

/// What the model gets in place of the request.
fn masked_request(redacted: &[u8], native: bool) -> Result<ApiAnswer, ApiError> {
    #[derive(Serialize)]
    struct Masked<M> {
        action: MaskedBody<M>,
    }
    #[derive(Serialize)]
    struct MaskedBody<M> {
        body: Messages<M>,
    }
    #[derive(Serialize)]
    struct Messages<M> {
        messages: M,
    }
    fn mask<M: Serialize>(messages: M) -> Result<ApiAnswer, ApiError> {
        shown(&Masked { action: MaskedBody { body: Messages { messages } } })
    }
    let unlike = |_| ApiError::Internal("agentgateway: messages");
    if native {
        return mask(serde_json::from_slice::<Native<'_>>(redacted).map_err(unlike)?.messages);
    }
    mask(serde_json::from_slice::<PlainBody>(redacted).map_err(unlike)?.body.messages)
}

fn request(body: &[u8], value: &Value) -> Result<AskedRequest, ApiError> {
    let mut fields = ObjectFields::of(value)?;
    fields.nulls_are_absent();
    let native = fields.members().contains_key("messages") && !fields.members().contains_key("body");
    if native {
        fields.required("messages");
        fields.array("messages", MOST, |value, at, faults| {
            if !value.is_object() {
                faults.wrong(value, at, Code::InvalidObject, "must be an object");
            }
            Some(())
        });
    } else {
        fields.required("body");
        fields.object("body", |body| {
            body.required("messages");
            body.array("messages", MOST, message)
        });
    }
    fields.member("model");
    fields.close()?;
    Ok(AskedRequest { document: body.to_vec(), native })
}

fn choices(value: &Value) -> Result<Vec<ChatMessage>, ApiError> {
    let mut fields = ObjectFields::of(value)?;
    fields.nulls_are_absent();
    fields.required("body");
    let choices = fields.object("body", |body| {
        body.required("choices");
        body.array("choices", MOST, |value, at, faults| {
            ObjectFields::within(value, &at, faults, |choice| {
                choice.required("message")?;
                let at = choice.at("message");
                let value = choice.member("message")?;
                message(value, at, choice.faults())
            })
            .flatten()
        })
    });
    fields.close()?;
    Ok(choices.flatten().unwrap_or_default())
}

fn message(value: &Value, at: Pointer, faults: &mut Faults) -> Option<ChatMessage> {
    ObjectFields::within(value, &at, faults, |fields| ChatMessage {
        role: fields.required_text("role").to_owned(),
        content: fields.required_text("content").to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places<T>(read: Result<T, ApiError>) -> Vec<String> {
        match read {
            Ok(_) => Vec::new(),
            Err(ApiError::Validation(faults)) => {
                faults.iter().map(|fault| fault.source.to_string()).collect()
            }
            Err(error) => vec![error.to_string()],
        }
    }

    #[test]
    fn what_is_asked_is_read_exactly() {
        let hi = json!({ "role": "user", "content": "hi" });
        let cases = [
            (json!({ "body": { "messages": [hi] } }), vec![]),
            (json!({ "body": { "messages": [] } }), vec![]),
            (
                json!({ "messages": [{ "role": "user", "content": [{ "type": "text" }], "x": 1 }], "model": "m" }),
                vec![],
            ),
            (json!({}), vec!["/body"]),
            (json!({ "body": null }), vec!["/body"]),
            (json!({ "body": {} }), vec!["/body/messages"]),
            (json!({ "messages": ["hi"] }), vec!["/messages/0"]),
            (json!({ "messages": null }), vec!["/messages"]),
            (
                json!({ "body": { "messages": [hi, { "role": "user", "content": null }] } }),
                vec!["/body/messages/1/content"],
            ),
            (
                json!({ "body": { "messages": [{ "role": "user", "content": ["hi"] }] } }),
                vec!["/body/messages/0/content"],
            ),
            (
                json!({ "body": { "messages": [{ "content": "hi", "name": "a" }] } }),
                vec!["/body/messages/0/name", "/body/messages/0/role"],
            ),
            // Nobody could say which of them counts.
            (json!({ "body": { "messages": [] }, "messages": [hi] }), vec!["/messages"]),
        ];
        for (body, want) in cases {
            assert_eq!(places(request(body.to_string().as_bytes(), &body)), want, "{body}");
        }
        let cases = [
            (json!({ "body": { "choices": [{ "message": hi }] } }), vec![]),
            (json!({ "body": { "choices": [{ "message": "hi" }] } }), vec!["/body/choices/0/message"]),
            (json!({ "body": { "choices": [{}] } }), vec!["/body/choices/0/message"]),
            (json!({ "messages": [hi] }), vec!["/body", "/messages"]),
        ];
        for (body, want) in cases {
            assert_eq!(places(choices(&body)), want, "{body}");
        }
    }

    fn json_of(answer: Result<ApiAnswer, ApiError>) -> Value {
        serde_json::from_slice(answer.unwrap_or_else(|error| panic!("{error}")).bytes()).unwrap()
    }

    #[test]
    fn answers_have_the_members_that_are_read_and_no_others() {
        assert_eq!(json_of(passed()), json!({ "action": {} }));
        let rejected = json_of(rejected(StatusCode::BAD_REQUEST, "no"));
        assert_eq!(rejected["action"]["status_code"], 400);
        assert!(rejected["action"]["body"].as_str().is_some_and(|body| body.contains(r#""message":"no""#)));
        let plain = json!({ "body": { "messages": [{ "role": "user", "content": "x" }] } });
        let masked = json_of(masked_request(plain.to_string().as_bytes(), false));
        assert_eq!(
            masked,
            json!({ "action": { "body": { "messages": [{ "role": "user", "content": "x" }] } } })
        );
        let native =
            json!({ "messages": [{ "role": "tool", "content": [], "tool_call_id": "t1" }], "model": "m" });
        let masked = json_of(masked_request(native.to_string().as_bytes(), true));
        assert_eq!(masked["action"]["body"]["messages"], native["messages"]);
    }
}
