//! [`AwsSigner`]: signs what goes to AWS with keys of the gateway's. A caller's own signature covers the body, the path
//! and `Host`, of which at least the last is another one behind a gateway.

use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderName, HeaderValue};
use pingora::Error;
use pingora::http::RequestHeader;

use crate::api::block_in_place;
use crate::base::clock::Timestamp;
use crate::crypto::sigv4::{Canonical, Scope, authorization, content_sha256};
use crate::gateway::upstream::credentials::AwsKey;
use crate::gateway::upstream::headers::origin_form;

/// When a request was signed.
pub(in crate::gateway) const AMZ_DATE: HeaderName = HeaderName::from_static("x-amz-date");
/// The digest of its body.
pub(in crate::gateway) const AMZ_DIGEST: HeaderName = HeaderName::from_static("x-amz-content-sha256");
/// The token of a session, beside its access key.
pub(in crate::gateway) const AMZ_TOKEN: HeaderName = HeaderName::from_static("x-amz-security-token");
const REGIONS: HeaderName = HeaderName::from_static("x-amz-region-set");

/// Parameters of a query that belong to a signature.
const PARAMETERS: [&str; 8] = [
    "x-amz-algorithm",
    "x-amz-credential",
    "x-amz-date",
    "x-amz-expires",
    "x-amz-signedheaders",
    "x-amz-signature",
    "x-amz-security-token",
    "x-amz-region-set",
];

/// What every signature's method begins with.
const METHOD: &str = "AWS4-";

/// Digests of longer bodies may take more than a millisecond, in bytes.
const LONG: usize = 256 << 10;

/// Does work that digests a body; of a long one beside what else the thread has to do.
pub(in crate::gateway) fn digesting<T>(body: &[u8], work: impl FnOnce() -> T) -> T {
    if body.len() > LONG { block_in_place(work) } else { work() }
}

/// Services of models and agents, by the names that clients sign for: what one of them has signed for keeps its service.
/// Which of them is asked only the upstream's host decides, and a signature for another is worth nothing there.
pub const AWS_SERVICES: [&str; 3] = ["bedrock", "bedrock-agentcore", "sagemaker"];

/// What a signer is made from.
pub struct AwsSignerParts {
    /// The service that signatures are for, unless the caller has signed for another [of models](AWS_SERVICES).
    pub service: String,
    /// Its region; `None`: the one that the caller has signed for.
    pub region: Option<String>,
    /// Whether also requests are signed that callers have not signed.
    pub unsigned: bool,
    /// The largest body that is collected in order to be signed, in bytes.
    pub collected: usize,
}

/// Signs requests anew.
pub struct AwsSigner {
    parts: AwsSignerParts,
}

/// What a signature is good for.
#[derive(Debug, PartialEq, Eq)]
struct Signed {
    region: String,
    service: String,
}

/// What a request proves its caller with.
enum CallerProof {
    /// Nothing that AWS knows.
    None,
    /// A signature; what it is for, where that can be read.
    Signature(Option<Signed>),
    /// Something else, which is not ours to replace: a bearer token, or a signature that goes on in the body.
    Other,
}

impl AwsSigner {
    /// A signer.
    pub fn new(parts: AwsSignerParts) -> Self {
        Self { parts }
    }

    /// What a request with this head is signed for; `None` if it is not signed here.
    fn scope(&self, head: &RequestHeader) -> Option<Signed> {
        let AwsSignerParts { service, region, unsigned, .. } = &self.parts;
        let own = || Some(Signed { region: region.clone()?, service: service.clone() });
        match proof(head) {
            CallerProof::None => own().filter(|_| *unsigned),
            CallerProof::Signature(signed) => {
                let signed = signed.filter(|signed| *unsigned || signed.service == *service);
                if !unsigned && signed.is_none() {
                    return None;
                }
                let known = |signed: &&Signed| AWS_SERVICES.contains(&signed.service.as_str());
                let service = signed.as_ref().filter(known).map_or(service, |signed| &signed.service).clone();
                let region = region.clone().or_else(|| signed.map(|signed| signed.region))?;
                Some(Signed { region, service })
            }
            CallerProof::Other => None,
        }
    }

    /// Whether a request with this head is signed: then all of its body must be there, of at most so many bytes.
    pub fn signs(&self, head: &RequestHeader) -> Option<usize> {
        self.scope(head).map(|_| self.parts.collected)
    }

    /// Signs a request as it is about to leave, in place of its caller's signature. Does nothing to one that
    /// [is not signed](Self::signs).
    ///
    /// # Errors
    /// Pingora's, for a head that cannot be written.
    pub(super) fn sign(
        &self,
        head: &mut RequestHeader,
        body: &[u8],
        by: &AwsKey,
        now: Timestamp,
    ) -> Result<(), Box<Error>> {
        let Some(Signed { region, service }) = self.scope(head) else { return Ok(()) };
        let at = now.iso8601_basic();
        let digest = digesting(body, || content_sha256(body));
        for name in [&AUTHORIZATION, &AMZ_TOKEN, &REGIONS] {
            head.remove_header(name);
        }
        head.insert_header(AMZ_DATE, at.as_str())?;
        head.insert_header(AMZ_DIGEST, digest)?;
        if let Some(token) = &by.session_token {
            head.insert_header(AMZ_TOKEN, token.clone())?;
        }
        let target = String::from_utf8_lossy(&origin_form(head)).into_owned();
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let kept: Vec<&str> = query.split('&').filter(|parameter| !is_of_signature(parameter)).collect();
        let query = kept.join("&");
        let between = if query.is_empty() { "" } else { "?" };
        let request = Canonical {
            method: head.method.as_str(),
            path,
            query: &query,
            fields: &fields(&head.headers),
            body,
        };
        let scope = Scope { at: &at, region: &region, service: &service };
        let signature = authorization(&request, &scope, &by.key);
        let target = format!("{path}{between}{query}");
        head.set_raw_path(target.as_bytes())?;
        head.insert_header(AUTHORIZATION, signature)
    }
}

/// The fields that are signed: those that say what is asked for, and none that others on the way may change.
fn fields(headers: &HeaderMap) -> Vec<(&str, &[u8])> {
    let signed = |name: &HeaderName| {
        let text = name.as_str();
        *name == HOST
            || *name == CONTENT_TYPE
            || text.starts_with("x-amz-")
            || text.starts_with("x-amzn-bedrock-")
            || text.starts_with("x-amzn-sagemaker-")
    };
    let signed = headers.iter().filter(|(name, _)| signed(name));
    signed.map(|(name, value)| (name.as_str(), value.as_bytes())).collect()
}

/// What a head proves its caller with, in `Authorization` or in the query.
fn proof(head: &RequestHeader) -> CallerProof {
    let digest = head.headers.get(&AMZ_DIGEST).map(HeaderValue::as_bytes).unwrap_or_default();
    if digest.starts_with(b"STREAMING-") {
        return CallerProof::Other;
    }
    let mut values = head.headers.get_all(AUTHORIZATION).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => match value.to_str() {
            Ok(text) if text.trim_start().starts_with(METHOD) => {
                let credential = text.split_once("Credential=").map_or("", |(_, rest)| rest);
                let credential = credential.split(',').next().unwrap_or_default().trim();
                CallerProof::Signature(Signed::of(credential))
            }
            _ => CallerProof::Other,
        },
        (Some(_), Some(_)) => CallerProof::Other,
        (None, _) => {
            let mut parameters = head.uri.query().unwrap_or_default().split('&');
            let named = |parameter: &str| parameter.to_ascii_lowercase().starts_with("x-amz-credential=");
            match parameters.find(|parameter| named(parameter)) {
                Some(parameter) => {
                    let credential = parameter.split_once('=').map_or("", |(_, value)| value);
                    let credential = credential.replace("%2F", "/").replace("%2f", "/");
                    CallerProof::Signature(Signed::of(&credential))
                }
                None => CallerProof::None,
            }
        }
    }
}

impl Signed {
    /// Reads `KEY/20150830/us-east-1/bedrock/aws4_request`.
    fn of(credential: &str) -> Option<Self> {
        let mut parts = credential.rsplit('/');
        let (end, service, region, day) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let is_name =
            |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        let is_day = day.len() == 8 && day.bytes().all(|b| b.is_ascii_digit());
        (end == "aws4_request" && is_day && is_name(region) && is_name(service))
            .then(|| Self { region: region.to_owned(), service: service.to_owned() })
    }
}

/// Whether a parameter of a query belongs to a signature there.
fn is_of_signature(parameter: &str) -> bool {
    let name = parameter.split('=').next().unwrap_or_default().to_ascii_lowercase();
    PARAMETERS.contains(&name.as_str())
}

#[cfg(test)]
#[path = "signer_tests.rs"]
mod tests;
