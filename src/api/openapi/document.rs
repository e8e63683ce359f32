//! The document, put together from the table of endpoints and their descriptions.

use std::collections::{BTreeMap, HashSet};
use std::sync::OnceLock;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::api::call::{ApiAnswer, ApiCall, Handler};
use crate::api::endpoint::Mount;
use crate::api::openapi::described::{DescriptionError, FILES, Operation, SCHEMAS, read};

/// Where it is served.
pub const OPENAPI_PATH: &str = "/openapi.json";

/// Statuses of errors, and when they come.
const ERRORS: [(&str, &str); 12] = [
    ("400", "The request is not valid; `result.errors` has every fault with its place."),
    ("401", "No token, or none of this gateway's."),
    (
        "403",
        "The token does not cover the service, the config, or an item or file that the call names; or the item does not allow it.",
    ),
    ("404", "Nothing is there."),
    ("408", "The request did not arrive in time."),
    ("413", "The body is too large."),
    ("415", "The body's media type or content coding is not taken."),
    ("429", "Too many requests, or different values to encrypt or hash; see `Retry-After`."),
    ("431", "The request's head is too large."),
    ("500", "A fault of the gateway's; quote the request's id."),
    (
        "503",
        "The gateway holds as much as it may, or its store or audit log cannot be used now; see `Retry-After`.",
    ),
    ("507", "There is no room to store anything."),
];

/// All descriptions, by method and path as served.
pub struct Descriptions(BTreeMap<String, (&'static str, Operation)>);

impl Descriptions {
    /// Reads them.
    ///
    /// # Errors
    /// One that cannot be read.
    pub fn read() -> Result<Self, DescriptionError> {
        let mut all = BTreeMap::new();
        for (tag, text) in FILES {
            let operations = read(tag, text)?;
            all.extend(operations.into_iter().map(|(key, operation)| (key, (tag, operation))));
        }
        Ok(Self(all))
    }

    /// The name of what is behind a mount: method, and the path with its service's name where that is needed.
    pub fn name(mount: &Mount) -> String {
        match mount.bare {
            true => format!("{} {}", mount.method, mount.path),
            false => format!("{} /{}{}", mount.method, mount.service.as_str(), mount.path),
        }
    }

    /// The operations, by name.
    pub fn operations(&self) -> impl Iterator<Item = (&str, &Operation)> {
        self.0.iter().map(|(name, (_, operation))| (name.as_str(), operation))
    }
}

/// The document of the operations for whose names `is_served` holds.
///
/// # Errors
/// A description that cannot be read, which would be a bug in it.
pub fn document(is_served: impl Fn(&str) -> bool) -> Result<Value, DescriptionError> {
    let mut paths: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for (name, (tag, operation)) in &Descriptions::read()?.0 {
        let Some((method, path)) = name.split_once(' ').filter(|_| is_served(name)) else { continue };
        let item = paths.entry(format!("{path}{}", operation.below)).or_default();
        item.insert(method.to_ascii_lowercase(), described(name, tag, operation));
    }
    let schemas: Value = serde_json::from_str(SCHEMAS).map_err(|error| DescriptionError("schemas", error))?;
    let headers = json!({
        "RequestId": { "description": "The request's id.", "schema": { "type": "string" } },
        "Challenge": { "description": "How to come in (RFC 6750).", "schema": { "type": "string" } },
        "RetryAfter": { "description": "Seconds to wait.", "schema": { "type": "integer" } },
    });
    let mut responses = Map::new();
    for (status, why) in ERRORS {
        let mut told = json!({ "X-Request-Id": { "$ref": "#/components/headers/RequestId" } });
        if let ("429" | "503", Value::Object(told)) = (status, &mut told) {
            told.insert("Retry-After".to_owned(), json!({ "$ref": "#/components/headers/RetryAfter" }));
        }
        if let ("401", Value::Object(told)) = (status, &mut told) {
            told.insert("WWW-Authenticate".to_owned(), json!({ "$ref": "#/components/headers/Challenge" }));
        }
        let content = json!({ "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } });
        let response = json!({ "description": why, "headers": told, "content": content });
        responses.insert(format!("E{status}"), response);
    }
    Ok(json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Portcullis",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "A gateway that keeps secrets in.",
            "description": "Paths may have the name of their service before them (`/redact/v1/redact`), or the host's first label may be it. Members that are not described here are refused.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "security": [{ "token": [] }],
        "tags": FILES.map(|(tag, _)| json!({ "name": tag })),
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": responses,
            "headers": headers,
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token that `portcullis tokens create` made.",
                },
            },
        },
    }))
}

fn described(name: &str, tag: &str, operation: &Operation) -> Value {
    let mut described = Map::new();
    let id: Vec<&str> = name.split(['/', ' ', '.', '-', '_']).filter(|part| !part.is_empty()).collect();
    described.insert("operationId".to_owned(), json!(id.join("_").to_ascii_lowercase()));
    described.insert("tags".to_owned(), json!([tag]));
    described.insert("summary".to_owned(), json!(operation.summary));
    if let Some(description) = &operation.description {
        described.insert("description".to_owned(), json!(description));
    }
    if !operation.parameters.is_empty() {
        described.insert("parameters".to_owned(), json!(operation.parameters));
    }
    if let Some(body) = body(operation) {
        described.insert("requestBody".to_owned(), json!({ "required": true, "content": body }));
    }
    if operation.open {
        described.insert("security".to_owned(), json!([]));
    }
    described.insert("responses".to_owned(), responses(operation, name.starts_with("HEAD ")));
    Value::Object(described)
}

fn body(operation: &Operation) -> Option<Value> {
    let binary = json!({ "type": "string", "contentMediaType": "application/octet-stream" });
    if operation.bytes_body {
        return Some(json!({ "application/octet-stream": {} }));
    }
    if operation.file_body {
        let form = json!({ "type": "object", "properties": { "file": binary }, "required": ["file"] });
        return Some(json!({ "multipart/form-data": { "schema": form } }));
    }
    if let Some(form) = &operation.page_form {
        return Some(json!({ "multipart/form-data": { "schema": form } }));
    }
    let schema = operation.request.as_ref()?;
    let mut body = Map::new();
    let mut whole = json!({ "schema": schema });
    if let (Value::Object(whole), Some(example)) = (&mut whole, &operation.example) {
        whole.insert("example".to_owned(), example.clone());
    }
    body.insert("application/json".to_owned(), whole);
    if operation.form {
        let form = json!({
            "type": "object",
            "properties": {
                "request": { "type": "object", "description": "The same, without `transfer_method` or with `multipart`." },
                "upload": binary,
            },
            "required": ["request", "upload"],
        });
        let encoding = json!({ "request": { "contentType": "application/json" } });
        body.insert("multipart/form-data".to_owned(), json!({ "schema": form, "encoding": encoding }));
    }
    Some(Value::Object(body))
}

fn responses(operation: &Operation, head: bool) -> Value {
    let mut responses = Map::new();
    let told = json!({ "X-Request-Id": { "$ref": "#/components/headers/RequestId" } });
    let framed = |result: &Value| json!({ "allOf": [{ "$ref": "#/components/schemas/Envelope" }, { "properties": { "result": result } }] });
    let mut content = Map::new();
    match (&operation.raw, &operation.result) {
        (Some(raw), _) => {
            content.insert("application/json".to_owned(), json!({ "schema": raw }));
        }
        (None, Some(result)) => {
            content.insert("application/json".to_owned(), json!({ "schema": framed(result) }));
        }
        (None, None) => {}
    }
    if operation.form_answer {
        content.insert("multipart/form-data".to_owned(), json!({}));
    }
    if operation.page && !head {
        content.insert("text/html".to_owned(), json!({}));
    }
    if operation.bytes_answer && !head {
        content.insert("application/octet-stream".to_owned(), json!({}));
    }
    let mut success = json!({ "description": "Done." });
    if let Value::Object(success) = &mut success {
        if operation.raw.is_none() {
            success.insert("headers".to_owned(), told.clone());
        }
        if !content.is_empty() {
            success.insert("content".to_owned(), Value::Object(content));
        }
    }
    responses.insert("200".to_owned(), success);
    if operation.accepted {
        let schema = framed(&json!({ "$ref": "#/components/schemas/Accepted" }));
        let accepted = json!({
            "description": "It will be answered later, at `result.location`.",
            "headers": told,
            "content": { "application/json": { "schema": schema } },
        });
        responses.insert("202".to_owned(), accepted);
    }
    if operation.page_form.is_some() {
        responses.insert("303".to_owned(), json!({ "description": "It is done; look at the link again." }));
    }
    let conflict = operation.page_form.as_ref().map(|_| ("409", "It cannot be changed so."));
    for (status, why) in ERRORS.into_iter().chain(conflict) {
        let framed = json!({ "schema": { "$ref": "#/components/schemas/Error" } });
        let error = match (head, operation.page) {
            // RFC 9110 section 9.3.2.
            (true, _) => json!({ "description": why }),
            (false, true) => {
                let content = json!({ "application/json": framed, "text/html": {} });
                json!({ "description": why, "content": content })
            }
            (false, false) => json!({ "$ref": format!("#/components/responses/E{status}") }),
        };
        responses.insert(status.to_owned(), error);
    }
    Value::Object(responses)
}

/// `GET /openapi.json`: written when it is first asked for.
pub struct ServeDocument {
    served: HashSet<String>,
    /// `None` where it cannot be written, which would be a bug in a description.
    written: OnceLock<Option<Bytes>>,
}

impl ServeDocument {
    /// Serves the document of the operations of these names.
    pub fn new(served: HashSet<String>) -> Self {
        Self { served, written: OnceLock::new() }
    }

    fn text(&self) -> Option<Bytes> {
        let write = || Some(document(|name| self.served.contains(name)).ok()?.to_string().into());
        self.written.get_or_init(write).clone()
    }
}

impl Handler for ServeDocument {
    fn call<'a>(&'a self, _: ApiCall<'a>) -> BoxFuture<'a, ApiAnswer> {
        Box::pin(async {
            match self.text() {
                Some(text) => ApiAnswer::json(StatusCode::OK, text),
                None => ApiAnswer::json(StatusCode::INTERNAL_SERVER_ERROR, r#"{"status":"error"}"#),
            }
        })
    }
}
