//! `GET /.well-known/jwks.json`: public keys for whoever verifies our tokens (RFC 7517 section 5), without a token.

use std::time::{Duration, Instant};

use bytes::Bytes;
use data_encoding::BASE64URL_NOPAD;
use futures_util::future::BoxFuture;
use http::header::{CACHE_CONTROL, ETAG, HeaderValue, IF_NONE_MATCH};
use http::{HeaderMap, StatusCode};
use tokio::sync::Mutex;

use crate::api::call::{ApiAnswer, ApiCall, Body, Handler};
use crate::api::envelope::{REQUEST_ID, Stamp};
use crate::api::error::ApiError;
use crate::base::clock::SharedClock;
use crate::base::id::ItemId;
use crate::crypto::hash;
use crate::vault::VaultError;
use crate::vault::items::{Items, Selector};
use crate::vault::jwt::JwkSet;

/// Where it is. Source: the common place; no RFC has registered it.
pub const JWKS_PATH: &str = "/.well-known/jwks.json";

/// For this time the last answer is given while the store cannot be read: whoever verifies should not stop with it.
const STALE: Duration = Duration::from_secs(3600);

/// The public keys of some items. Every answer is of a moment after its request had come: no token names a version
/// that is not shown yet.
pub struct Jwks {
    items: Items,
    ids: Vec<ItemId>,
    cached: HeaderValue,
    /// The last answer. Whoever waits here takes it, if it was begun after they came: a crowd is one reading.
    built: Mutex<Option<Built>>,
}

#[derive(Clone)]
struct Built {
    begun: Instant,
    body: Bytes,
    tag: HeaderValue,
    /// Items that have no public keys, or are not there.
    missing: usize,
}

impl Jwks {
    /// Shows the public keys of these items; answers may be kept for `max_age`.
    pub fn new(items: Items, ids: Vec<ItemId>, max_age: Duration) -> Self {
        let cached = format!("public, max-age={}", max_age.as_secs());
        let cached = HeaderValue::try_from(cached).unwrap_or(HeaderValue::from_static("no-cache"));
        Self { items, ids, cached, built: Mutex::new(None) }
    }

    async fn built(&self, clock: &SharedClock) -> Result<Built, VaultError> {
        let asked = clock.instant();
        let mut last = self.built.lock().await;
        if let Some(built) = last.as_ref().filter(|built| built.begun > asked) {
            return Ok(built.clone());
        }
        let begun = clock.instant();
        match self.build(begun).await {
            Ok(built) => {
                let before = last.as_ref().map_or(0, |last| last.missing);
                if built.missing != before {
                    let missing = built.missing;
                    tracing::warn!(target: "portcullis::jwks", missing, "items have no public keys to show");
                }
                Ok(last.insert(built).clone())
            }
            Err(error) => match last.as_ref() {
                Some(built) if begun.saturating_duration_since(built.begun) < STALE => {
                    tracing::warn!(target: "portcullis::jwks", %error, "public keys are shown as they were");
                    Ok(built.clone())
                }
                _ => Err(error),
            },
        }
    }

    async fn build(&self, begun: Instant) -> Result<Built, VaultError> {
        let (mut set, mut missing) = (JwkSet::default(), 0);
        for id in &self.ids {
            match self.items.public_keys(id, Selector::All).await {
                Ok(mut keys) => set.keys.append(&mut keys),
                Err(VaultError::Unknown | VaultError::Forbidden(_)) => missing += 1,
                Err(error) => return Err(error),
            }
        }
        // Our own type: nothing in it can fail to serialize.
        let body = serde_json::to_vec(&set).unwrap_or_else(|_| br#"{"keys":[]}"#.to_vec());
        let tag = format!("\"{}\"", BASE64URL_NOPAD.encode(&hash::sha256(&body)));
        let tag = HeaderValue::try_from(tag).unwrap_or(HeaderValue::from_static("\"\""));
        Ok(Built { begun, body: body.into(), tag, missing })
    }

    fn answer(&self, built: Built, asked: &HeaderMap) -> ApiAnswer {
        let mut answer = if has(asked, &built.tag) {
            ApiAnswer {
                status: StatusCode::NOT_MODIFIED,
                headers: HeaderMap::new(),
                body: Body::Whole(Bytes::new()),
            }
        } else {
            ApiAnswer::json(StatusCode::OK, built.body)
        };
        answer.headers.insert(CACHE_CONTROL, self.cached.clone());
        answer.headers.insert(ETAG, built.tag);
        answer
    }
}

/// Whether the caller has this form already (RFC 9110 section 13.1.2).
fn has(asked: &HeaderMap, tag: &HeaderValue) -> bool {
    let Ok(tag) = tag.to_str() else { return false };
    let listed = asked.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut listed = listed.flat_map(|list| list.split(',')).map(str::trim);
    listed.any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag)
}

impl Handler for Jwks {
    fn call<'a>(&'a self, call: ApiCall<'a>) -> BoxFuture<'a, ApiAnswer> {
        Box::pin(async move {
            match self.built(call.clock).await {
                Ok(built) => {
                    let mut answer = self.answer(built, &call.head.headers);
                    if let Ok(id) = HeaderValue::from_str(&call.id.to_string()) {
                        answer.headers.insert(&REQUEST_ID, id);
                    }
                    answer
                }
                Err(error) => {
                    tracing::error!(target: "portcullis::jwks", %error, "public keys cannot be shown");
                    ApiError::Internal("jwks").answer(&Stamp::of(&call))
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_known_by_its_tag_in_a_list() {
        let tag = HeaderValue::from_static("\"abc\"");
        let rows = [
            ("\"abc\"", true),
            ("W/\"abc\"", true),
            ("\"x\", \"abc\"", true),
            ("*", true),
            ("\"ab\"", false),
            ("abc", false),
            ("", false),
        ];
        for (listed, known) in rows {
            let mut headers = HeaderMap::new();
            headers.insert(IF_NONE_MATCH, HeaderValue::from_static(listed));
            assert_eq!(has(&headers, &tag), known, "{listed}");
        }
        assert!(!has(&HeaderMap::new(), &tag));
    }
}
