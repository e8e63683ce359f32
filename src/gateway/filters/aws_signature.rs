//! [`SignedRequest`]: a request that its caller signed as AWS has it (Signature Version 4) with the keys of a token of ours.
//! What it covers is checked as it came: method, path, query, the fields that it names, and the body, which must be there whole.

use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, HeaderName};
use pingora::http::RequestHeader;

use crate::base::clock::Timestamp;
use crate::base::id::TokenId;
use crate::base::path::percent_decoded;
use crate::base::secret::Secret;
use crate::crypto::sigv4::{Canonical, Signature, content_sha256};
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::filters::bearer::only;
use crate::gateway::upstream::{AMZ_DATE, AMZ_DIGEST, AMZ_TOKEN, AWS_SERVICES, digesting};

/// How signatures of this method begin.
const METHOD: &str = "AWS4-HMAC-SHA256 ";

/// What clocks may differ by, to either side.
const SKEW: Duration = Duration::from_secs(5 * 60);

/// Families of fields that change what is asked, and so must be signed where they are.
const FAMILIES: [&str; 3] = ["x-amz-", "x-amzn-bedrock-", "x-amzn-sagemaker-"];

const TWO: &str = "the request has two headers `authorization`";
const FORM: &str = "`authorization` is no signature as Signature Version 4 has it";
const PRESIGNED: &str = "a presigned URL is not taken: sign the request in its `authorization`";
const TEMPORARY: &str = "keys of this gateway go without a session token: leave `x-amz-security-token` out";
const OTHER_SERVICE: &str =
    "the signature must be for one of the services `bedrock`, `bedrock-agentcore` and `sagemaker`";
const SIGNED: &str = "the signature must cover `host`, `x-amz-date` and every `x-amz-*`, `x-amzn-bedrock-*` and \
                      `x-amzn-sagemaker-*` header";
const DATED: &str =
    "the request needs one `x-amz-date` such as 20150830T123600Z, of the day that its credential names";
const TIME: &str =
    "the signature is not of now: the clocks of the client and of this gateway differ by more than 5 minutes";
const UNSIGNED: &str =
    "the body must be signed: `x-amz-content-sha256` is the SHA-256 of the body, or is left out";
const CODED: &str = "send a signed body without a content coding";
const OTHER: &str = "the signature is not that of this request: check the secret access key, and that nothing between the client \
                     and this gateway changes the host, the path, the query, signed headers or the body";

/// A request that says who signed it. Nothing of that is proved.
pub(super) struct SignedRequest {
    /// Whose keys it says that they are.
    pub(super) id: TokenId,
    authorization: String,
    at: String,
    method: String,
    path: String,
    query: String,
    fields: Vec<(String, Vec<u8>)>,
}

impl SignedRequest {
    /// What a request's head says; `None` where it is not signed with keys of a token of ours.
    ///
    /// # Errors
    /// It says so, and not as it must.
    pub(super) fn of(x: &Exchange) -> Result<Option<Self>, GatewayError> {
        let head = x.head();
        let wrong = |why| Err(GatewayError::WrongSignature(why));
        if is_presigned(head) {
            return wrong(PRESIGNED);
        }
        let mut named =
            head.headers.get_all(AUTHORIZATION).iter().filter(|value| token_named(value).is_some());
        let Some(first) = named.next() else { return Ok(None) };
        let Some(authorization) = only(&head.headers, &AUTHORIZATION) else { return wrong(TWO) };
        let Some(signature) = Signature::parse(authorization) else { return wrong(FORM) };
        let Some(id) = token_named(first) else { return wrong(FORM) };
        if !AWS_SERVICES.contains(&signature.service) {
            return wrong(OTHER_SERVICE);
        }
        if head.headers.contains_key(&AMZ_TOKEN) {
            return wrong(TEMPORARY);
        }
        let is_digest =
            |value: &HeaderValue| value.len() == 64 && value.as_bytes().iter().all(u8::is_ascii_hexdigit);
        if !head.headers.get_all(&AMZ_DIGEST).iter().all(is_digest) {
            return wrong(UNSIGNED);
        }
        if head.headers.contains_key(CONTENT_ENCODING) {
            return wrong(CODED);
        }
        let needed = head.headers.keys().map(HeaderName::as_str);
        let needed = needed.filter(|name| FAMILIES.iter().any(|family| name.starts_with(family)));
        if !needed.chain(["host", "x-amz-date"]).all(|name| signature.signed.contains(&name)) {
            return wrong(SIGNED);
        }
        let Some(at) = only(&head.headers, &AMZ_DATE).filter(|at| at.get(..8) == Some(signature.day)) else {
            return wrong(DATED);
        };
        let Some(time) = time(at) else { return wrong(DATED) };
        let now = x.clock().now();
        if time > now.plus(SKEW) || now > time.plus(SKEW) {
            return wrong(TIME);
        }
        let values = |name: &&str| {
            let values = head.headers.get_all(*name).iter();
            values.map(|value| ((*name).to_owned(), value.as_bytes().to_vec())).collect::<Vec<_>>()
        };
        let fields = signature.signed.iter().flat_map(values).collect();
        Ok(Some(Self {
            id,
            at: at.to_owned(),
            method: head.method.as_str().to_owned(),
            // As it came, before the route puts anything in the place of its beginning.
            path: x.path().sent().to_owned(),
            query: head.uri.query().unwrap_or_default().to_owned(),
            fields,
            authorization: authorization.to_owned(),
        }))
    }

    /// Whether the body is what was signed, as far as the head says.
    ///
    /// # Errors
    /// It is not, or was not signed.
    pub(super) fn check_body(&self, body: &Bytes) -> Result<(), GatewayError> {
        let mut said = self.fields.iter().filter(|(name, _)| *name == AMZ_DIGEST.as_str());
        let digest = || digesting(body, || content_sha256(body));
        match (said.next(), said.next()) {
            (None, _) => Ok(()),
            (Some((_, value)), None) if *value == digest().into_bytes() => Ok(()),
            _ => Err(GatewayError::WrongSignature(UNSIGNED)),
        }
    }

    /// Whether it was signed with this secret.
    pub(super) fn is_of(&self, body: &Bytes, secret: &Secret<String>) -> bool {
        let Some(signature) = Signature::parse(&self.authorization) else { return false };
        let fields: Vec<(&str, &[u8])> =
            self.fields.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect();
        let request =
            Canonical { method: &self.method, path: &self.path, query: &self.query, fields: &fields, body };
        digesting(body, || signature.is_of(&request, &self.at, secret))
    }

    /// Nobody's secret fits.
    pub(super) fn refused() -> GatewayError {
        GatewayError::WrongSignature(OTHER)
    }

    /// Leaves of the signature what says which region it was for: the gateway signs anew, and nobody else has use for it.
    ///
    /// # Errors
    /// A head that cannot be written, which cannot be.
    pub(super) fn take_off(&self, head: &mut RequestHeader) -> Result<(), GatewayError> {
        let signature = Signature::parse(&self.authorization);
        let Some(Signature { day, region, service, .. }) = signature else { return Err(Self::refused()) };
        let left = format!("{METHOD}Credential=caller/{day}/{region}/{service}/aws4_request");
        head.remove_header(&AUTHORIZATION);
        head.insert_header(AUTHORIZATION, left).map_err(|_| Self::refused())
    }
}

/// The token that a value of `Authorization` names as its access key.
fn token_named(value: &HeaderValue) -> Option<TokenId> {
    let text = value.to_str().ok()?.trim_start();
    let text = text.get(..4).filter(|start| start.eq_ignore_ascii_case("aws4")).and(Some(text))?;
    let (_, credential) = text.split_once("Credential=")?;
    TokenId::parse(credential.split('/').next()?)
}

/// Whether the query has a signature with keys of a token of ours.
fn is_presigned(head: &RequestHeader) -> bool {
    let query = head.uri.query().unwrap_or_default();
    query.split('&').any(|parameter| {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let id = percent_decoded(value.as_bytes());
        let id = id.split(|byte| *byte == b'/').next().and_then(|id| std::str::from_utf8(id).ok());
        percent_decoded(name.as_bytes()).eq_ignore_ascii_case(b"x-amz-credential")
            && id.and_then(TokenId::parse).is_some()
    })
}

/// `20150830T123600Z`.
fn time(text: &str) -> Option<Timestamp> {
    let sound = text.len() == 16
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 => byte == b'T',
            15 => byte == b'Z',
            _ => byte.is_ascii_digit(),
        });
    let part = |from: usize, to: usize| text.get(from..to);
    let (year, month, day) = (part(0, 4)?, part(4, 6)?, part(6, 8)?);
    let (hour, minute, second) = (part(9, 11)?, part(11, 13)?, part(13, 15)?);
    let iso = format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z");
    sound.then(|| Timestamp::parse_iso8601(&iso)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_as_aws_writes_it() {
        let at = time("20150830T123600Z").unwrap();
        assert_eq!(at.iso8601(), "2015-08-30T12:36:00.000Z");
        assert_eq!(at.iso8601_basic(), "20150830T123600Z");
        for text in
            ["", "20150830", "20150830T123600", "20150830t123600Z", "20151330T123600Z", "20150830T12360éZ"]
        {
            assert!(time(text).is_none(), "{text}");
        }
    }

    #[test]
    fn only_keys_of_tokens_are_judged() {
        let id = "pti_".to_owned() + &"a".repeat(32);
        let named = |text: String| token_named(&HeaderValue::from_str(&text).unwrap()).is_some();
        assert!(named(format!(
            "AWS4-HMAC-SHA256 Credential={id}/20150830/us-east-1/bedrock/aws4_request, Sig"
        )));
        assert!(named(format!("AWS4-ECDSA-P256-SHA256 Credential={id}/20150830/bedrock/aws4_request")));
        assert!(!named(
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/bedrock/aws4_request".to_owned()
        ));
        assert!(!named(format!("Bearer {id}")));
        let head = |target: String| RequestHeader::build("GET", target.as_bytes(), None).unwrap();
        assert!(is_presigned(&head(format!("/m?a=b&X-Amz-Credential={id}%2F20150830%2Fx"))));
        assert!(is_presigned(&head(format!("/m?x-amz-credentia%6c={id}/20150830"))));
        assert!(!is_presigned(&head("/m?X-Amz-Credential=AKIDEXAMPLE%2F20150830".to_owned())));
    }
}
