//! Signatures of requests to AWS ("Create a signed AWS API request", Signature Version 4), for services other than S3:
//! their paths are encoded a second time. What is signed and where the signature goes is the caller's business.

use data_encoding::HEXLOWER;

use crate::base::secret::Secret;
use crate::crypto::hash::{hmac_sha256, sha256};

/// The name of the method, with which its signatures begin.
const METHOD: &str = "AWS4-HMAC-SHA256";

/// Who signs.
#[derive(Clone, Debug)]
pub struct SigningKey {
    /// The access key's id, which is no secret.
    pub id: String,
    /// The access key's secret.
    pub secret: Secret<String>,
}

/// What a signature is good for.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// When it is made: `20150830T123600Z`, as in `x-amz-date`.
    pub at: &'a str,
    /// Such as `us-east-1`.
    pub region: &'a str,
    /// Such as `bedrock`.
    pub service: &'a str,
}

/// What is signed of a request.
#[derive(Clone, Copy, Debug)]
pub struct Canonical<'a> {
    /// `POST`.
    pub method: &'a str,
    /// The path as it is sent: absolute, encoded once, without dot segments and doubled slashes.
    pub path: &'a str,
    /// The query as it is sent; empty where there is none.
    pub query: &'a str,
    /// The fields that are signed, in any order: names in lower case, values as they are sent.
    pub fields: &'a [(&'a str, &'a [u8])],
    /// The body.
    pub body: &'a [u8],
}

/// The digest of a body as `x-amz-content-sha256` has it: 64 hexadecimal digits.
pub fn content_sha256(body: &[u8]) -> String {
    HEXLOWER.encode(&sha256(body))
}

/// What a caller has signed with, as `Authorization` says it. Nothing of it is proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature<'a> {
    /// The access key's id.
    pub id: &'a str,
    /// Of which day the signature is: `20150830`.
    pub day: &'a str,
    /// Such as `us-east-1`.
    pub region: &'a str,
    /// Such as `bedrock`.
    pub service: &'a str,
    /// The fields that are signed, by their names in small letters, in order, each once.
    pub signed: Vec<&'a str>,
    /// The signature itself.
    pub signature: [u8; 32],
}

impl<'a> Signature<'a> {
    /// Reads the value of `Authorization`; `None` if it does not have exactly this method's form.
    pub fn parse(value: &'a str) -> Option<Self> {
        let members = value.strip_prefix(METHOD)?.strip_prefix(' ')?;
        let (mut credential, mut signed, mut signature) = (None, None, None);
        for member in members.split(',') {
            let (name, value) = member.trim_matches(' ').split_once('=')?;
            let place = match name {
                "Credential" => &mut credential,
                "SignedHeaders" => &mut signed,
                "Signature" => &mut signature,
                _ => return None,
            };
            if place.replace(value).is_some() {
                return None;
            }
        }
        let mut parts = credential?.rsplitn(5, '/');
        let (end, service, region) = (parts.next()?, parts.next()?, parts.next()?);
        let (day, id) = (parts.next()?, parts.next()?);
        let signed: Vec<&str> = signed?.split(';').collect();
        let is_name =
            |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        let fits = end == "aws4_request"
            && day.len() == 8
            && day.bytes().all(|b| b.is_ascii_digit())
            && !id.is_empty()
            && is_name(region)
            && is_name(service)
            && signed.is_sorted_by(|one, next| one < next);
        let signature = HEXLOWER.decode(signature?.as_bytes()).ok()?.try_into().ok()?;
        fits.then_some(Self { id, day, region, service, signed, signature })
    }

    /// Whether a request was signed so with this secret, at a time of that day.
    pub fn is_of(&self, request: &Canonical<'_>, at: &str, secret: &Secret<String>) -> bool {
        let scope = Scope { at, region: self.region, service: self.service };
        let fields = fields(request.fields);
        let names = fields.iter().map(|(name, _)| *name).eq(self.signed.iter().copied());
        let made = Secret::new(signature(request, &fields, &scope, secret));
        names && at.get(..8) == Some(self.day) && made == Secret::new(self.signature.to_vec())
    }
}

/// The value of `Authorization`.
pub fn authorization(request: &Canonical<'_>, scope: &Scope<'_>, key: &SigningKey) -> String {
    let fields = fields(request.fields);
    let signature = HEXLOWER.encode(&signature(request, &fields, scope, &key.secret));
    let (within, names) = (within(scope), names(&fields));
    format!("{METHOD} Credential={}/{within}, SignedHeaders={names}, Signature={signature}", key.id)
}

/// What a signature is good for, as it is written.
fn within(scope: &Scope<'_>) -> String {
    let Scope { at, region, service } = *scope;
    format!("{}/{region}/{service}/aws4_request", at.get(..8).unwrap_or(at))
}

fn names(fields: &[(&str, Vec<u8>)]) -> String {
    fields.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";")
}

fn signature(
    request: &Canonical<'_>,
    fields: &[(&str, Vec<u8>)],
    scope: &Scope<'_>,
    secret: &Secret<String>,
) -> Vec<u8> {
    let Scope { at, region, service } = *scope;
    let day = at.get(..8).unwrap_or(at);
    let digest = content_sha256(&canonical(request, fields, &names(fields)));
    let signed = format!("{METHOD}\n{at}\n{}\n{digest}", within(scope));
    let secret = Secret::new(format!("AWS4{}", secret.expose()).into_bytes());
    let derived = [day, region, service, "aws4_request"]
        .into_iter()
        .fold(secret, |key, part| Secret::new(hmac_sha256(key.expose(), part.as_bytes())));
    hmac_sha256(derived.expose(), signed.as_bytes())
}

/// Fields by name, those of one name joined.
fn fields<'a>(sent: &[(&'a str, &[u8])]) -> Vec<(&'a str, Vec<u8>)> {
    let mut sorted = sent.to_vec();
    sorted.sort_by_key(|(name, _)| *name);
    let mut fields: Vec<(&str, Vec<u8>)> = Vec::new();
    for (name, value) in sorted {
        match fields.last_mut().filter(|(last, _)| *last == name) {
            Some((_, values)) => {
                values.push(b',');
                values.extend(collapsed(value));
            }
            None => fields.push((name, collapsed(value))),
        }
    }
    fields
}

/// A value without spaces around it, and one for each run of them within.
fn collapsed(value: &[u8]) -> Vec<u8> {
    let words = value.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(&b' ')
}

/// The request in the one form of which both sides make the digest.
fn canonical(request: &Canonical<'_>, fields: &[(&str, Vec<u8>)], names: &str) -> Vec<u8> {
    let mut path = String::with_capacity(request.path.len());
    encode(request.path.as_bytes(), b"/", &mut path);
    let mut out = format!("{}\n{path}\n{}\n", request.method, query(request.query)).into_bytes();
    for (name, value) in fields {
        for part in [name.as_bytes(), b":", value, b"\n"] {
            out.extend_from_slice(part);
        }
    }
    // The value that a request gives for its body is the one that counts.
    let given = fields.iter().find(|(name, _)| *name == "x-amz-content-sha256");
    let digest = given.map_or_else(|| content_sha256(request.body).into_bytes(), |(_, value)| value.clone());
    for part in [b"\n", names.as_bytes(), b"\n", &digest] {
        out.extend_from_slice(part);
    }
    out
}

/// A query's parameters encoded in one way, and sorted.
fn query(sent: &str) -> String {
    let parameters = sent.split('&').filter(|parameter| !parameter.is_empty());
    let mut sorted: Vec<(String, String)> = parameters
        .map(|parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            (recoded(name), recoded(value))
        })
        .collect();
    sorted.sort();
    let written: Vec<String> = sorted.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    written.join("&")
}

/// A part of a query with its escapes as they should be.
fn recoded(part: &str) -> String {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        match after.first_chunk::<2>().filter(|_| *byte == b'%').and_then(|code| escaped(*code)) {
            Some(decoded) => {
                bytes.push(decoded);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    let mut out = String::with_capacity(part.len());
    encode(&bytes, b"", &mut out);
    out
}

/// The byte that two hexadecimal digits say.
fn escaped(code: [u8; 2]) -> Option<u8> {
    let [high, low] = code.map(|digit| char::from(digit).to_digit(16));
    u8::try_from(high? * 16 + low?).ok()
}

/// Percent-encodes all but unreserved characters (RFC 3986 section 2.3) and those of `kept`.
fn encode(bytes: &[u8], kept: &[u8], out: &mut String) {
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) || kept.contains(byte) {
            out.push(char::from(*byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
}

#[cfg(test)]
#[path = "sigv4_tests.rs"]
mod tests;
