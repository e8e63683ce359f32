//! `POST /v2/jwt/sign`, `/v2/jwt/verify` and `/v2/jwk/get` (specification, group C).

use futures_util::future::BoxFuture;
use serde::Serialize;

use crate::api::endpoint::{ApiCaller, Endpoint, Success};
use crate::api::error::{ApiError, Code};
use crate::api::fields::{ObjectFields, invalid};
use crate::api::json;
use crate::api::token::Service;
use crate::api::vault::request::{common, failed, item_id, selector};
use crate::base::pointer::Pointer;
use crate::vault::VaultError;
use crate::vault::items::{Items, Selector};
use crate::vault::jwt::{CLAIMS_DEPTH, JwkSet, JwtError};

/// `POST /v2/jwt/sign`: signs a payload.
pub struct SignJwt(pub Items);

/// `POST /v2/jwt/verify`: whether a token's signature is one of the vault's. It says nothing of its claims.
pub struct VerifyJwt(pub Items);

/// `POST /v2/jwk/get`: public keys.
pub struct GetJwk(pub Items);

/// A key and what it is to sign.
pub struct SignRequest {
    id: String,
    payload: String,
}

/// A token.
#[derive(Serialize)]
pub struct SignResponse {
    jws: String,
}

/// Whether a token's signature is valid.
#[derive(Serialize)]
pub struct VerifyResponse {
    valid_signature: bool,
}

/// A key and some of its versions.
pub struct JwkRequest(String, Selector);

impl Endpoint for SignJwt {
    const PATH: &'static str = "/v2/jwt/sign";
    const SERVICE: Service = Service::Vault;
    type Request = SignRequest;
    type Response = SignResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<SignRequest, ApiError> {
        common(&mut fields);
        let id = fields.required_text("id").to_owned();
        let payload = fields.required_text("payload").to_owned();
        fields.close()?;
        Ok(SignRequest { id, payload })
    }

    fn call<'a>(
        &'a self,
        _: ApiCaller<'a>,
        request: SignRequest,
    ) -> BoxFuture<'a, Result<Success<SignResponse>, ApiError>> {
        Box::pin(async move {
            let signed = self.0.sign_jwt(&item_id(&request.id)?, &request.payload).await;
            let jws = signed.map_err(|error| match error {
                VaultError::Token(JwtError::Payload) => unsignable(&request.payload),
                VaultError::Token(JwtError::NotObject) => {
                    invalid(Code::InvalidObject, "payload", "must be the text of a JSON object")
                }
                other => failed(other),
            })?;
            Ok(Success { summary: "Token signed".to_owned(), result: SignResponse { jws } })
        })
    }
}

/// What is wrong with a payload that is no JSON for tokens. The place within it is in words: in the body it is one text.
fn unsignable(payload: &str) -> ApiError {
    if payload.trim_ascii().is_empty() {
        return invalid(Code::BadFormat, "payload", "must be the text of a JSON object; it is empty");
    }
    let Err(fault) = json::parse(payload.as_bytes()) else {
        let detail = format!("must not be nested deeper than {CLAIMS_DEPTH} levels");
        return invalid(Code::BadFormat, "payload", &detail);
    };
    let mut detail = fault.detail.replacen("the body", "the payload", 1);
    if fault.source != Pointer::root() {
        detail = format!("{detail}; at {} in the payload", fault.source);
    }
    invalid(fault.code, "payload", &detail)
}

impl Endpoint for VerifyJwt {
    const PATH: &'static str = "/v2/jwt/verify";
    const SERVICE: Service = Service::Vault;
    type Request = String;
    type Response = VerifyResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<String, ApiError> {
        common(&mut fields);
        let jws = fields.required_text("jws").to_owned();
        fields.close()?;
        Ok(jws)
    }

    fn call<'a>(
        &'a self,
        _: ApiCaller<'a>,
        jws: String,
    ) -> BoxFuture<'a, Result<Success<VerifyResponse>, ApiError>> {
        Box::pin(async move {
            let verified = self.0.verify_jwt(&jws).await.map_err(|error| match error {
                VaultError::Token(_) => invalid(Code::BadFormat, "jws", "must be a compact JWS"),
                other => failed(other),
            })?;
            let valid_signature = verified.is_some();
            let summary =
                if valid_signature { "The signature is valid" } else { "The signature is not valid" };
            Ok(Success { summary: summary.to_owned(), result: VerifyResponse { valid_signature } })
        })
    }
}

impl Endpoint for GetJwk {
    const PATH: &'static str = "/v2/jwk/get";
    const SERVICE: Service = Service::Vault;
    type Request = JwkRequest;
    type Response = JwkSet;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<JwkRequest, ApiError> {
        common(&mut fields);
        let id = fields.required_text("id").to_owned();
        let selector = selector(&mut fields);
        fields.close()?;
        Ok(JwkRequest(id, selector))
    }

    fn call<'a>(
        &'a self,
        _: ApiCaller<'a>,
        JwkRequest(id, selector): JwkRequest,
    ) -> BoxFuture<'a, Result<Success<JwkSet>, ApiError>> {
        Box::pin(async move {
            let keys = self.0.public_keys(&item_id(&id)?, selector).await.map_err(failed)?;
            let summary = format!("Found {} keys", keys.len());
            Ok(Success { summary, result: JwkSet { keys } })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_payload_is_said_and_where() {
        let deep = |levels: usize| format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
        let (deep, deeper) = (deep(CLAIMS_DEPTH + 1), deep(200));
        let rows = [
            ("", "BadFormat", "must be the text of a JSON object; it is empty"),
            ("{\"a\":1,}", "BadFormat", "the payload is not JSON (line 1, column 8)"),
            (r#"{"a":{"b":1,"b":2}}"#, "BadFormat", "the same member twice; at /a/b in the payload"),
            (
                r#"{"a":[1e400]}"#,
                "NotWithinRange",
                "a number must lie within those of 64 bits (IEEE 754), up to 1.8e308; at /a/0 in the payload",
            ),
            (
                r#"{"a":"\ud800"}"#,
                "BadFormat",
                "half of a surrogate pair (\\ud800 to \\udfff) is no character; send both halves; at /a in the payload",
            ),
            (&deep, "BadFormat", "must not be nested deeper than 64 levels"),
            (&deeper, "BadFormat", "nested deeper than 128 levels"),
        ];
        for (payload, code, detail) in rows {
            let ApiError::Validation(faults) = unsignable(payload) else { panic!("{payload}") };
            let [fault] = faults.as_slice() else { panic!("{payload}") };
            assert_eq!(format!("{:?}", fault.code), code, "{payload}");
            assert_eq!(fault.source.to_string(), "/payload");
            assert!(fault.detail.starts_with(detail), "{}", fault.detail);
        }
    }
}
