//! Tokens of ours in a request's head, wherever they stand: what goes on to somebody else must not have one. Clients of
//! providers send a key in the place of their provider; people put one into a cookie, a password, an address.

use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD};
use http::header::{AUTHORIZATION, COOKIE, HeaderName, HeaderValue};
use pingora::http::RequestHeader;

use crate::api::ApiError;
use crate::api::token::tokens_in;
use crate::base::path::percent_decoded;
use crate::base::secret::Secret;
use crate::gateway::error::GatewayError;
use crate::gateway::filters::bearer::bearer_in;
use crate::gateway::filters::cookies_and_query::{is_named, retain_cookies, retain_query, split};
use crate::gateway::upstream::origin_form;

/// The most texts in one head that may be tokens, each of which is looked up.
const MOST: usize = 8;

/// Headers that are a key and nothing else: of Anthropic's, Azure's and Google's clients.
pub(super) const KEY_HEADERS: [&str; 3] = ["x-api-key", "api-key", "x-goog-api-key"];

/// The parameter of the query that is a key: of Google's clients.
pub(super) const KEY_PARAMETER: &[u8] = b"key";

/// A text in a head that has a token's form.
pub(super) struct HeadToken {
    /// As tokens are written.
    pub(super) text: Secret<String>,
    /// Whether it stands somewhere as clients send keys: alone, and as it is written. Elsewhere it proves nothing.
    pub(super) proves: bool,
}

/// All that a head has, each once.
///
/// # Errors
/// More than anybody has a use for.
pub(super) fn tokens_in_head(head: &RequestHeader) -> Result<Vec<HeadToken>, GatewayError> {
    let mut all = Vec::new();
    for (name, value) in &head.headers {
        for text in tokens_in(name.as_str().as_bytes()) {
            add(&mut all, text, false);
        }
        for text in within(value.as_bytes()) {
            let proves = is_key(name, value, text.expose());
            add(&mut all, text, proves);
        }
    }
    let target = origin_form(head);
    let (path, parameters) = split(&target);
    for text in within(path) {
        add(&mut all, text, false);
    }
    for parameter in parameters {
        for text in within(parameter) {
            let proves = is_key_parameter(parameter, text.expose());
            add(&mut all, text, proves);
        }
    }
    match all.len() {
        ..=MOST => Ok(all),
        _ => Err(ApiError::BadRequest("the request's head has too many tokens").into()),
    }
}

/// Of more than [`MOST`] one is enough to know that there are.
fn add(all: &mut Vec<HeadToken>, text: Secret<String>, proves: bool) {
    let full = all.len() > MOST;
    match all.iter_mut().find(|one| one.text == text) {
        Some(known) => known.proves |= proves,
        None if full => {}
        None => all.push(HeadToken { text, proves }),
    }
}

/// Takes off what clients send their provider as a key, wherever they send one.
///
/// # Errors
/// A target that cannot be written without it.
pub(super) fn take_keys_off(head: &mut RequestHeader) -> Result<(), GatewayError> {
    head.remove_header(&AUTHORIZATION);
    KEY_HEADERS.iter().for_each(|name| drop(head.remove_header(*name)));
    retain_query(head, |parameter| !is_named(parameter, KEY_PARAMETER))
        .map_err(|_| GatewayError::BadBody("the request's head cannot be forwarded"))
}

/// Takes these tokens off a head: with the whole of a header, with a cookie, with a parameter of the query.
///
/// # Errors
/// One in the path, of which nothing can be left out.
pub(super) fn take_off(head: &mut RequestHeader, tokens: &[&Secret<String>]) -> Result<(), GatewayError> {
    if tokens.is_empty() {
        return Ok(());
    }
    let has = |texts: Vec<Secret<String>>| texts.iter().any(|text| tokens.contains(&text));
    let clean = |bytes: &[u8]| !has(within(bytes));
    let names: Vec<HeaderName> = head.headers.keys().filter(|name| **name != COOKIE).cloned().collect();
    for name in names {
        let values: Vec<HeaderValue> = head.headers.get_all(&name).iter().cloned().collect();
        let named = has(tokens_in(name.as_str().as_bytes()));
        if !named && values.iter().all(|value| clean(value.as_bytes())) {
            continue;
        }
        head.remove_header(&name);
        for value in values.into_iter().filter(|value| !named && clean(value.as_bytes())) {
            drop(head.append_header(name.clone(), value));
        }
    }
    retain_cookies(head, clean);
    let unwritable = |_| GatewayError::BadBody("the request's head cannot be forwarded");
    retain_query(head, clean).map_err(unwritable)?;
    let in_path = !clean(split(&origin_form(head)).0);
    match in_path {
        true => {
            Err(ApiError::BadRequest("a token of this gateway stands in the path; send it in a header")
                .into())
        }
        false => Ok(()),
    }
}

/// The tokens in a text, as it is and as whoever reads it may read it: percent-decoded (RFC 3986 section 2.1), or as
/// name and password (RFC 7617).
fn within(text: &[u8]) -> Vec<Secret<String>> {
    let mut found = tokens_in(text);
    if text.contains(&b'%') {
        found.extend(tokens_in(&percent_decoded(text)));
    }
    found.extend(basic(text).map(|decoded| tokens_in(&decoded)).unwrap_or_default());
    found
}

/// Name and password, if that is what it says.
fn basic(value: &[u8]) -> Option<Vec<u8>> {
    let (scheme, credentials) = value.trim_ascii().split_at_checked("basic".len())?;
    let encodings = [BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD];
    let credentials = credentials.trim_ascii();
    let decoded = || encodings.iter().find_map(|encoding| encoding.decode(credentials).ok());
    scheme.eq_ignore_ascii_case(b"basic").then(decoded).flatten()
}

fn is_key(name: &HeaderName, value: &HeaderValue, token: &str) -> bool {
    let Ok(value) = value.to_str() else { return false };
    match name {
        name if *name == AUTHORIZATION => bearer_in(value) == Some(token),
        name => KEY_HEADERS.contains(&name.as_str()) && value.trim() == token,
    }
}

fn is_key_parameter(parameter: &[u8], token: &str) -> bool {
    let mut parts = parameter.splitn(2, |byte| *byte == b'=');
    let (name, value) = (parts.next(), parts.next());
    name == Some(KEY_PARAMETER) && value.is_some_and(|value| percent_decoded(value) == token.as_bytes())
}

#[cfg(test)]
#[path = "head_tokens_tests.rs"]
mod tests;
