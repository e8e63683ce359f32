//! `POST /v1/get`: an object, and its bytes by a granted URL or as the second part of a form; `POST /v1/get_archive`: several
//! as one archive. Source: the public clients' `GetRequest`, `GetResult`, `GetArchiveRequest` and `GetArchiveResult`.

use std::sync::Arc;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use futures_util::future::BoxFuture;
use http::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, StatusCode};
use serde::Serialize;

use crate::api::blob::{attachment, charged, form_data};
use crate::api::call::{ApiAnswer, ApiCall, Handler};
use crate::api::envelope::{DialectChoice, REQUEST_ID, Stamp};
use crate::api::error::{ApiError, Code};
use crate::api::fields::{ObjectFields, invalid};
use crate::api::grant::Grants;
use crate::api::incoming::stored;
use crate::api::share::archive::{self, ArchiveEntry, ArchiveFormat};
use crate::api::share::object::{Object, ObjectView, ShareObjectKind};
use crate::api::share::request;
use crate::api::share::rows::Shares;
use crate::base::id::ShareId;
use crate::crypto::random;
use crate::store::blobs::{ByteStream, NextChunk};
use crate::store::{Blob, OpenBlob};

/// The most ids of one call.
const IDS: usize = 1000;

/// How the bytes go.
#[derive(Clone, Copy)]
enum DownloadMethod {
    Url,
    Form,
}

/// What a call gets.
enum DownloadRequest {
    /// The object of this id; `None` for what cannot be one.
    Object(Option<ShareId>),
    /// An archive of these.
    Archive(Vec<Option<ShareId>>, ArchiveFormat),
}

/// What was found, as callers see it.
#[derive(Serialize)]
#[serde(untagged)]
enum FoundObject {
    Object { object: Box<ObjectView> },
    Archive { count: usize, objects: Vec<ObjectView> },
}

#[derive(Serialize)]
struct GetResponse {
    #[serde(flatten)]
    found: FoundObject,
    #[serde(skip_serializing_if = "Option::is_none")]
    dest_url: Option<String>,
}

/// What was found, the summary of it, and the file and its name, if there are bytes.
struct ReadObject {
    found: FoundObject,
    summary: &'static str,
    file: Option<(Blob, String)>,
}

/// Which of the two calls.
#[derive(Clone, Copy)]
enum Contents {
    Object,
    Archive,
}

/// What [`GetShare`] is made from.
#[derive(Clone)]
pub struct GetParts {
    /// Where the objects are.
    pub shares: Shares,
    /// Makes the URLs.
    pub grants: Arc<Grants>,
    /// How success is spelt.
    pub dialect: DialectChoice,
}

/// `POST /v1/get` and `POST /v1/get_archive`.
pub struct GetShare {
    parts: GetParts,
    what: Contents,
}

impl GetShare {
    /// The path that gets an object, below the service's name.
    pub const OBJECT: &'static str = "/v1/get";

    /// The path that gets an archive, below the service's name.
    pub const ARCHIVE: &'static str = "/v1/get_archive";

    /// Gets objects.
    pub fn object(parts: GetParts) -> Self {
        Self { parts, what: Contents::Object }
    }

    /// Gets several objects as one archive.
    pub fn archive(parts: GetParts) -> Self {
        Self { parts, what: Contents::Archive }
    }

    async fn run(&self, call: &mut ApiCall<'_>) -> Result<ApiAnswer, ApiError> {
        let who = request::caller(call)?;
        let body = request::body(call).await?;
        let (asked, way) = self.what.read(ObjectFields::of(&body)?)?;
        let blobs = self.parts.shares.blobs();
        let mut charge = call.budget.charge();
        charge.set(blobs.holds())?;
        let ReadObject { found, summary, file } = match asked {
            DownloadRequest::Object(id) => self.one(who.tenant(), id).await?,
            DownloadRequest::Archive(ids, form) => self.several(who.tenant(), ids, form).await?,
        };
        let envelope = |found, dest_url| {
            let stamp = Stamp { id: call.id, received: call.received, answered: call.clock.now() };
            let status = self.parts.dialect.of(&call.head.headers).success();
            stamp.answer(StatusCode::OK, status, summary, Some(GetResponse { found, dest_url }))
        };
        match (file, way) {
            (None, _) => Ok(envelope(found, None)),
            (Some((blob, name)), DownloadMethod::Form) => {
                let file = blobs.get(&blob).await.map_err(|error| stored(&error))?;
                let file = charged(file.ok_or(ApiError::NotFound)?, charge);
                form(call, &envelope(found, None), &name, file)
            }
            (Some((blob, name)), DownloadMethod::Url) => {
                let life = self.parts.grants.life();
                let link = blobs.link(&blob, &attachment(&name), life).await;
                let link = link.map_err(|error| stored(&error))?;
                let url = link.unwrap_or_else(|| self.parts.grants.download(&blob, &name, who.id()));
                Ok(envelope(found, Some(url)))
            }
        }
    }

    async fn one(&self, tenant: &str, id: Option<ShareId>) -> Result<ReadObject, ApiError> {
        let id = id.ok_or(ApiError::NotFound)?;
        let object = self.parts.shares.get(tenant, &id).await.map_err(request::failed)?;
        let file = (object.kind == ShareObjectKind::File).then(|| (object.blob(), object.name.clone()));
        Ok(ReadObject {
            found: FoundObject::Object { object: Box::new(object.into()) },
            summary: "Object found",
            file,
        })
    }

    async fn several(
        &self,
        tenant: &str,
        ids: Vec<Option<ShareId>>,
        form: ArchiveFormat,
    ) -> Result<ReadObject, ApiError> {
        let all = self.parts.shares.all(tenant).await.map_err(request::failed)?;
        let find = |id: Option<ShareId>| all.iter().find(|object| Some(&object.id) == id.as_ref()).cloned();
        let chosen = ids.into_iter().map(find).collect::<Option<Vec<Object>>>();
        let entries = archive::entries(&chosen.ok_or(ApiError::NotFound)?, &all);
        archive::bounded(&entries).map_err(|why| invalid(Code::IsTooBig, "ids", &why))?;
        let shown = |entry: &ArchiveEntry| entry.object.clone().into();
        let objects: Vec<ObjectView> = entries.iter().map(shown).collect();
        let blob = archive::packed(self.parts.shares.blobs(), form, entries).await?;
        let found = FoundObject::Archive { count: objects.len(), objects };
        Ok(ReadObject { found, summary: "Archive made", file: Some((blob, form.file_name().to_owned())) })
    }
}

impl Contents {
    fn read(self, mut fields: ObjectFields<'_>) -> Result<(DownloadRequest, DownloadMethod), ApiError> {
        let asked = match self {
            Self::Object => {
                request::common(&mut fields);
                DownloadRequest::Object(request::id(&mut fields))
            }
            Self::Archive => {
                request::common_beside(&mut fields, &["format"]);
                fields.required("ids");
                let id =
                    fields.array("ids", IDS, |value, at, faults| faults.text(value, at).map(ShareId::parse));
                let forms = [("zip", ArchiveFormat::Zip), ("tar", ArchiveFormat::Tar)];
                let form = fields.one_of("format", &forms).unwrap_or(ArchiveFormat::Zip);
                DownloadRequest::Archive(id.unwrap_or_default(), form)
            }
        };
        let ways = [("dest-url", DownloadMethod::Url), ("multipart", DownloadMethod::Form)];
        let way = fields.one_of("transfer_method", &ways).unwrap_or(DownloadMethod::Url);
        fields.close()?;
        Ok((asked, way))
    }
}

impl Handler for GetShare {
    fn call<'a>(&'a self, mut call: ApiCall<'a>) -> BoxFuture<'a, ApiAnswer> {
        Box::pin(async move {
            let outcome = self.run(&mut call).await;
            outcome.unwrap_or_else(|error| error.answer(&Stamp::of(&call)))
        })
    }
}

/// The envelope, then the bytes.
fn form(call: &ApiCall<'_>, envelope: &ApiAnswer, name: &str, file: OpenBlob) -> Result<ApiAnswer, ApiError> {
    let boundary = random::bytes::<16>().map_err(|_| ApiError::Internal("random"))?;
    let boundary = HEXLOWER.encode(&boundary);
    let named = form_data(name);
    let mut head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"response\"\r\nContent-Type: application/json\r\n\r\n"
    )
    .into_bytes();
    head.extend_from_slice(envelope.bytes());
    head.extend_from_slice(
        format!(
            "\r\n--{boundary}\r\nContent-Disposition: {named}\r\nContent-Type: application/octet-stream\r\n\r\n"
        )
        .as_bytes(),
    );
    let tail = format!("\r\n--{boundary}--\r\n");
    let size = file.size.saturating_add((head.len() + tail.len()) as u64);
    let bytes = FramedFile { head: Some(head.into()), file: Some(file.bytes), tail: Some(tail.into()) };
    let media_type = HeaderValue::from_str(&format!("multipart/form-data; boundary={boundary}"))
        .map_err(|_| ApiError::Internal("form"))?;
    let mut answer = ApiAnswer::stream(media_type, OpenBlob { size, bytes: Box::new(bytes) });
    answer.headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer.headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Ok(id) = HeaderValue::from_str(&call.id.to_string()) {
        answer.headers.insert(&REQUEST_ID, id);
    }
    Ok(answer)
}

/// A file with something before and after it.
struct FramedFile {
    head: Option<Bytes>,
    file: Option<Box<dyn ByteStream>>,
    tail: Option<Bytes>,
}

impl ByteStream for FramedFile {
    fn next(&mut self) -> NextChunk<'_> {
        Box::pin(async move {
            if let Some(head) = self.head.take() {
                return Ok(Some(head));
            }
            if let Some(file) = &mut self.file {
                match file.next().await? {
                    None => self.file = None,
                    piece => return Ok(piece),
                }
            }
            Ok(self.tail.take())
        })
    }
}
