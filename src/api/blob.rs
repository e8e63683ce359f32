//! The receiving end of [`Grants`]: uploads and downloads by URLs that need no token. What is not a good grant is not
//! found, whatever the reason.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, Method, StatusCode};

use crate::api::call::{ApiAnswer, ApiCall, Handler};
use crate::api::envelope::{DialectChoice, REQUEST_ID, Stamp};
use crate::api::error::{ApiError, Code, Invalid};
use crate::api::grant::{ArrivalObserver, Grant, Grants, Verb, safe_name};
use crate::api::incoming::{Incoming, IncomingForm, stored};
use crate::api::token::Tokens;
use crate::api::token_fault::unread;
use crate::base::budget::MemoryCharge;
use crate::base::id::RequestId;
use crate::store::blobs::{ByteStream, NextChunk};
use crate::store::{BlobDigests, Blobs, OpenBlob};

/// What a form may say before its file, in bytes for each field.
const FIELD: usize = 64 << 10;

/// What is said of an upload that nobody waits for any more.
const OVER: &str = "the call that waited for this file has failed, and its answer says why: make it anew";

/// Serves granted URLs.
pub struct BlobPort {
    grants: Arc<Grants>,
    tokens: Arc<Tokens>,
    blobs: Arc<dyn Blobs>,
    arrivals: Arc<dyn ArrivalObserver>,
    dialect: DialectChoice,
}

impl BlobPort {
    /// Serves what `grants` grants of `blobs` to `tokens` that were not revoked; `arrivals` are told of uploads.
    pub fn new(
        grants: Arc<Grants>,
        tokens: Arc<Tokens>,
        blobs: Arc<dyn Blobs>,
        arrivals: Arc<dyn ArrivalObserver>,
        dialect: DialectChoice,
    ) -> Self {
        Self { grants, tokens, blobs, arrivals, dialect }
    }

    async fn serve(&self, call: &mut ApiCall<'_>) -> Result<ApiAnswer, ApiError> {
        let asked = call.head.uri.path_and_query().map(|path| path.as_str()).unwrap_or_default();
        // Whoever is in front of us may have taken a path of its own off, but nothing is put on.
        let grant = self.grants.recognise(asked).ok_or(ApiError::NotFound)?;
        if let Some(by) = &grant.by
            && self.tokens.is_revoked(by).await.map_err(|error| unread(&error))?
        {
            return Err(ApiError::NotFound);
        }
        match (&call.head.method, grant.verb) {
            (&Method::GET | &Method::HEAD, Verb::Download) => self.download(call, &grant).await,
            (&Method::PUT, Verb::Put) | (&Method::POST, Verb::Post) => {
                if self.arrivals.is_over(&grant.blob).await {
                    let fault = Invalid::body(Code::BadState, OVER);
                    return Err(ApiError::Validation(vec![fault]));
                }
                let mut charge = call.budget.charge();
                charge.set(self.blobs.holds())?;
                let facts = self.upload(call, &grant).await?;
                self.arrivals.arrived(&grant.blob, facts).await;
                let stamp = Stamp::of(call);
                let status = self.dialect.of(&call.head.headers).success();
                Ok(stamp.answer(StatusCode::OK, status, "The file is there", None::<()>))
            }
            _ => Err(ApiError::NotFound),
        }
    }

    async fn upload(&self, call: &mut ApiCall<'_>, grant: &Grant) -> Result<BlobDigests, ApiError> {
        if grant.verb == Verb::Put {
            let mut incoming = Incoming::new(call.body);
            let put = self.blobs.put(&grant.blob, &mut incoming, grant.limit).await;
            return put.map_err(|error| incoming.fault(&error));
        }
        let mut form = IncomingForm::read(&call.head.headers, call.body)?;
        while let Some(mut part) = form.part().await? {
            if part.name() != "file" && part.file_name().is_none() {
                drop(part.whole(FIELD).await?);
                continue;
            }
            let put = self.blobs.put(&grant.blob, &mut part, grant.limit).await;
            let facts = put.map_err(|error| part.fault(&error))?;
            // What follows is read so that the connection can be used again; nothing depends on it.
            while let Ok(Some(part)) = form.part().await {
                drop(part.whole(FIELD).await);
            }
            return Ok(facts);
        }
        Err(ApiError::BadRequest("the form has no part `file`"))
    }

    async fn download(&self, call: &mut ApiCall<'_>, grant: &Grant) -> Result<ApiAnswer, ApiError> {
        let found = self.blobs.get(&grant.blob).await.map_err(|error| stored(&error))?;
        let mut charge = call.budget.charge();
        charge.set(self.blobs.holds())?;
        let file = charged(found.ok_or(ApiError::NotFound)?, charge);
        Ok(file_answer(call.id, &grant.name, file))
    }
}

impl Handler for BlobPort {
    fn call<'a>(&'a self, mut call: ApiCall<'a>) -> BoxFuture<'a, ApiAnswer> {
        Box::pin(async move {
            let outcome = self.serve(&mut call).await;
            outcome.unwrap_or_else(|error| error.answer(&Stamp::of(&call)))
        })
    }
}

/// A file as a download that no browser takes for a page.
pub(super) fn file_answer(id: &RequestId, name: &str, file: OpenBlob) -> ApiAnswer {
    let mut answer = ApiAnswer::stream(HeaderValue::from_static("application/octet-stream"), file);
    let headers = &mut answer.headers;
    let named = HeaderValue::from_str(&attachment(name));
    headers.insert(CONTENT_DISPOSITION, named.unwrap_or(HeaderValue::from_static("attachment")));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Ok(id) = HeaderValue::from_str(&id.to_string()) {
        headers.insert(&REQUEST_ID, id);
    }
    answer
}

/// A file's name as `Content-Disposition` of a download (RFC 6266): in ASCII, and as it is if that is another.
pub fn attachment(name: &str) -> String {
    use std::fmt::Write;
    let safe = safe_name(name);
    let mut text = format!("attachment; filename=\"{safe}\"");
    if safe != name {
        text.push_str("; filename*=UTF-8''");
        for byte in name.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => text.push(char::from(byte)),
                // Writing to a string cannot fail.
                _ => drop(write!(text, "%{byte:02X}")),
            }
        }
    }
    text
}

/// A file's name as `Content-Disposition` of a form's part `file` (RFC 7578 section 4.2): as it is, in UTF-8, but for what
/// would end it.
pub fn form_data(name: &str) -> String {
    let escaped = |c: char| match c {
        '"' => "%22".to_owned(),
        c if c.is_control() => "_".to_owned(),
        c => c.to_string(),
    };
    let name: String = name.chars().map(escaped).collect();
    // Behind the file's name: a public client takes whatever follows the first `name=` for that.
    format!("form-data; filename=\"{name}\"; name=\"file\"")
}

/// The file, with what it holds of a budget while it is read.
pub fn charged(file: OpenBlob, charge: MemoryCharge) -> OpenBlob {
    OpenBlob { size: file.size, bytes: Box::new(Charged { bytes: file.bytes, _charge: charge }) }
}

struct Charged {
    bytes: Box<dyn ByteStream>,
    _charge: MemoryCharge,
}

impl ByteStream for Charged {
    fn next(&mut self) -> NextChunk<'_> {
        self.bytes.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_headers_are_ascii_and_exact() {
        let rows = [
            ("a.pdf", "attachment; filename=\"a.pdf\""),
            ("a b\".pdf", "attachment; filename=\"a_b_.pdf\"; filename*=UTF-8''a%20b%22.pdf"),
            ("é", "attachment; filename=\"_\"; filename*=UTF-8''%C3%A9"),
        ];
        for (name, text) in rows {
            assert_eq!(attachment(name), text);
        }
        let rows = [("é b.txt", "é b.txt"), ("a\"\r\nb", "a%22__b")];
        for (name, text) in rows {
            assert_eq!(form_data(name), format!("form-data; filename=\"{text}\"; name=\"file\""));
        }
    }
}
