//! `POST /v1/get`: an object, and its bytes by a granted URL or as the second part of a form; `POST /v1/get_archive`: several
//! as one archive. Source: the public clients' `GetRequest`, `GetResult`, `GetArchiveRequest` and `GetArchiveResult`.

use std::sync::Arc;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use http::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, StatusCode};
use serde::Serialize;

use crate::api::blob::{attachment, charged, form_data};
use crate::api::call::{Answer, BoxFuture, Call, Handler};
use crate::api::envelope::{DialectChoice, REQUEST_ID, Stamp};
use crate::api::error::{ApiError, Code};
use crate::api::fields::Fields;
use crate::api::grant::Grants;
use crate::api::incoming::stored;
use crate::api::share::archive::{Archive, Form, MOST_BYTES, MOST_ENTRIES, entries};
use crate::api::share::ask;
use crate::api::share::object::{Kind, Object, Shown};
use crate::api::share::store::{ShareError, Shares};
use crate::base::id::ShareId;
use crate::crypto::random;
use crate::store::blobs::{Piece, Pieces};
use crate::store::{Area, Blob, Opened};

#[derive(Clone, Copy)]
enum Way {
    Url,
    Form,
}

#[derive(Serialize)]
struct Reply {
    object: Shown,
    #[serde(skip_serializing_if = "Option::is_none")]
    dest_url: Option<String>,
}

/// `POST /v1/get`.
pub struct GetShare {
    shares: Shares,
    grants: Arc<Grants>,
    dialect: DialectChoice,
}

impl GetShare {
    /// Its path, below the service's name.
    pub const PATH: &'static str = "/v1/get";

    /// Gets what is in `shares`, by URLs of `grants`.
    pub fn new(shares: Shares, grants: Arc<Grants>, dialect: DialectChoice) -> Self {
        Self { shares, grants, dialect }
    }

    async fn run(&self, call: &mut Call<'_>) -> Result<Answer, ApiError> {
        let tenant = ask::caller(call)?.tenant();
        let body = ask::body(call).await?;
        let mut fields = Fields::of(&body)?;
        ask::common(&mut fields);
        let id = ask::id(&mut fields);
        let ways = [("dest-url", Way::Url), ("multipart", Way::Form)];
        let way = fields.one_of("transfer_method", &ways).unwrap_or(Way::Url);
        fields.close()?;
        let id = id.ok_or(ApiError::NotFound)?;
        let object = self.shares.get(tenant, &id).await.map_err(ask::failed)?;
        match (object.kind, way) {
            (Kind::File, Way::Form) => {
                let (object, opened) = self.shares.open(tenant, &id).await.map_err(ask::failed)?;
                let mut charge = call.budget.charge();
                charge.set(self.shares.blobs().holds())?;
                let name = object.name.clone();
                form(call, &self.envelope(call, object, None), &name, charged(opened, charge))
            }
            (kind, _) => {
                let url = match kind {
                    Kind::File => Some(self.url(&object).await.map_err(ask::failed)?),
                    Kind::Dir => None,
                };
                Ok(self.envelope(call, object, url))
            }
        }
    }

    async fn url(&self, object: &Object) -> Result<String, ShareError> {
        let (blob, named) = (object.blob(), attachment(&object.name));
        let direct = self.shares.blobs().link(&blob, &named, self.grants.life()).await?;
        Ok(direct.unwrap_or_else(|| self.grants.download(&blob, &object.name)))
    }

    fn envelope(&self, call: &Call<'_>, object: Object, dest_url: Option<String>) -> Answer {
        let stamp = Stamp { id: call.id, received: call.received, answered: call.clock.now() };
        let status = self.dialect.of(&call.head.headers).success();
        stamp.answer(StatusCode::OK, status, "Object found", Some(Reply { object: object.into(), dest_url }))
    }
}

impl Handler for GetShare {
    fn call<'a>(&'a self, mut call: Call<'a>) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let outcome = self.run(&mut call).await;
            outcome.unwrap_or_else(|error| {
                error.answer(&Stamp { id: call.id, received: call.received, answered: call.clock.now() })
            })
        })
    }
}

/// The envelope, then the bytes.
fn form(call: &Call<'_>, envelope: &Answer, name: &str, file: Opened) -> Result<Answer, ApiError> {
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
    let bytes = Framed { head: Some(head.into()), file: Some(file.bytes), tail: Some(tail.into()) };
    let media_type = HeaderValue::from_str(&format!("multipart/form-data; boundary={boundary}"))
        .map_err(|_| ApiError::Internal("form"))?;
    let mut answer = Answer::stream(media_type, Opened { size, bytes: Box::new(bytes) });
    answer.headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer.headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Ok(id) = HeaderValue::from_str(&call.id.to_string()) {
        answer.headers.insert(&REQUEST_ID, id);
    }
    Ok(answer)
}

/// What an archive is made of, and where it is.
#[derive(Serialize)]
struct ArchiveReply {
    count: usize,
    objects: Vec<Shown>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dest_url: Option<String>,
}

/// `POST /v1/get_archive`.
pub struct GetArchive {
    shares: Shares,
    grants: Arc<Grants>,
    dialect: DialectChoice,
}

/// The most ids of one call.
const IDS: usize = 1000;

impl GetArchive {
    /// Its path, below the service's name.
    pub const PATH: &'static str = "/v1/get_archive";

    /// Makes archives of what is in `shares`, at URLs of `grants`.
    pub fn new(shares: Shares, grants: Arc<Grants>, dialect: DialectChoice) -> Self {
        Self { shares, grants, dialect }
    }

    async fn run(&self, call: &mut Call<'_>) -> Result<Answer, ApiError> {
        let tenant = ask::caller(call)?.tenant();
        let body = ask::body(call).await?;
        let mut fields = Fields::of(&body)?;
        ask::common_beside(&mut fields, &["format"]);
        fields.required("ids");
        let ids = fields.array("ids", IDS, |value, at, faults| faults.text(value, at).map(ShareId::parse));
        let form = fields.one_of("format", &[("zip", Form::Zip), ("tar", Form::Tar)]).unwrap_or(Form::Zip);
        let ways = [("dest-url", Way::Url), ("multipart", Way::Form)];
        let way = fields.one_of("transfer_method", &ways).unwrap_or(Way::Url);
        fields.close()?;
        let ids = ids.unwrap_or_default().into_iter().collect::<Option<Vec<ShareId>>>();
        let all = self.shares.all(tenant).await.map_err(ask::failed)?;
        let find = |id: ShareId| all.iter().find(|object| object.id == id).cloned();
        let chosen = ids.and_then(|ids| ids.into_iter().map(find).collect::<Option<Vec<Object>>>());
        let entries = entries(&chosen.ok_or(ApiError::NotFound)?, &all);
        let bytes: u64 = entries.iter().map(|entry| entry.object.size).sum();
        if entries.len() > MOST_ENTRIES || bytes > MOST_BYTES {
            let detail = format!("an archive has at most {MOST_ENTRIES} objects and {MOST_BYTES} bytes");
            return Err(ask::invalid(Code::IsTooBig, "ids", &detail));
        }
        let objects: Vec<Shown> = entries.iter().map(|entry| entry.object.clone().into()).collect();
        let mut charge = call.budget.charge();
        charge.set(self.shares.blobs().holds())?;
        let name = if form == Form::Zip { "archive.zip" } else { "archive.tar" };
        let mut archive = Archive::new(Arc::clone(self.shares.blobs()), form, entries);
        let blob = Blob::fresh(Area::Passing).map_err(|_| ApiError::Internal("random"))?;
        let blobs = self.shares.blobs();
        let put = blobs.put(&blob, &mut archive, 2 * MOST_BYTES).await;
        put.map_err(|error| stored(&error))?;
        let reply = |dest_url| ArchiveReply { count: objects.len(), objects, dest_url };
        match way {
            Way::Form => {
                let file = blobs.get(&blob).await.map_err(|error| stored(&error))?;
                let file = file.ok_or(ApiError::Internal("files"))?;
                self::form(call, &self.envelope(call, reply(None)), name, charged(file, charge))
            }
            Way::Url => {
                let link = blobs.link(&blob, &attachment(name), self.grants.life()).await;
                let link = link.map_err(|error| stored(&error))?;
                let url = link.unwrap_or_else(|| self.grants.download(&blob, name));
                Ok(self.envelope(call, reply(Some(url))))
            }
        }
    }

    fn envelope(&self, call: &Call<'_>, reply: ArchiveReply) -> Answer {
        let stamp = Stamp { id: call.id, received: call.received, answered: call.clock.now() };
        let status = self.dialect.of(&call.head.headers).success();
        stamp.answer(StatusCode::OK, status, "Archive made", Some(reply))
    }
}

impl Handler for GetArchive {
    fn call<'a>(&'a self, mut call: Call<'a>) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let outcome = self.run(&mut call).await;
            outcome.unwrap_or_else(|error| {
                error.answer(&Stamp { id: call.id, received: call.received, answered: call.clock.now() })
            })
        })
    }
}

/// A file with something before and after it.
struct Framed {
    head: Option<Bytes>,
    file: Option<Box<dyn Pieces>>,
    tail: Option<Bytes>,
}

impl Pieces for Framed {
    fn next(&mut self) -> Piece<'_> {
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
