//! `POST /v1/put`: a file, as a part of a form, by a granted upload, or from a URL. Source: the public clients' `PutRequest`.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use data_encoding::{BASE64, HEXLOWER_PERMISSIVE};
use futures_util::future::BoxFuture;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::api::call::{ApiAnswer, ApiCall, Handler};
use crate::api::envelope::{DialectChoice, Stamp};
use crate::api::error::{ApiError, Code};
use crate::api::fields::{Faults, ObjectFields, invalid};
use crate::api::grant::Grants;
use crate::api::incoming::{IncomingForm, stored};
use crate::api::json;
use crate::api::pending::{
    AcceptedAnswer, AwaitedUpload, Job, JobHandler, JobOutcome, JobStage, Jobs, target,
};
use crate::api::share::change::ObjectResponse;
use crate::api::share::fetched::Fetcher;
use crate::api::share::folder::{Folder, is_name};
use crate::api::share::object::Object;
use crate::api::share::request;
use crate::api::share::rows::{NewObject, Parent, Shares};
use crate::api::share::store::StoredFile;
use crate::base::pointer::Pointer;
use crate::crypto::hash::{Digester, FileHash};
use crate::store::blobs::WholeBlob;
use crate::store::{Area, Blob, BlobDigests};

/// How the bytes come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UploadMethod {
    Part,
    Form,
    Raw,
    Url,
}

/// What a call says of a file; kept while its upload is awaited.
#[derive(Debug, Default, Serialize, Deserialize)]
struct PutRequest {
    tenant: String,
    name: Option<String>,
    parent: Parent,
    metadata: BTreeMap<String, String>,
    tags: Vec<String>,
    ttl: Option<String>,
    size: Option<u64>,
    crc32c: Option<u32>,
    /// Digests in lower-case hexadecimal.
    sha256: Option<String>,
    others: Vec<(String, String)>,
    /// Where the file is, if it is to be fetched.
    #[serde(default)]
    source_url: Option<String>,
}

/// Takes files once they are there.
pub struct PutWork {
    shares: Shares,
}

/// `POST /v1/put`.
pub struct PutShare {
    work: Arc<PutWork>,
    jobs: Jobs,
    grants: Arc<Grants>,
    dialect: DialectChoice,
    limit: u64,
    fetcher: Fetcher,
}

/// The longest URL, in characters.
const URL: RangeInclusive<usize> = 1..=2048;

/// What clients call the part with the file where the caller gave it no name.
const NO_NAMES: [&str; 6] = ["", "filename", "file", "file.exe", "upload", "blob"];

const OTHERS: [(&str, FileHash, usize); 3] =
    [("md5", FileHash::Md5, 32), ("sha1", FileHash::Sha1, 40), ("sha512", FileHash::Sha512, 128)];

impl PutRequest {
    fn read(
        mut fields: ObjectFields<'_>,
        tenant: &str,
        ways: &[(&str, UploadMethod)],
    ) -> Result<(Option<UploadMethod>, Self), ApiError> {
        request::common(&mut fields);
        let way = fields.one_of("transfer_method", ways);
        if fields.member("mimetype").is_some() {
            let detail = "a file's type is not checked here; leave it out";
            fields.fault(Code::ProviderDisabled, fields.at("mimetype"), detail);
        }
        let request = Self {
            tenant: tenant.to_owned(),
            name: request::name(&mut fields),
            parent: request::parent(&mut fields).unwrap_or_default(),
            metadata: request::metadata(&mut fields, "metadata").unwrap_or_default(),
            tags: request::tags(&mut fields, "tags").unwrap_or_default(),
            ttl: request::ttl(&mut fields),
            size: fields.integer("size", 0).map(u64::from),
            crc32c: crc32c(&mut fields),
            sha256: digest(&mut fields, "sha256", 64),
            others: OTHERS
                .into_iter()
                .filter_map(|(name, _, length)| Some((name.to_owned(), digest(&mut fields, name, length)?)))
                .collect(),
            source_url: fields.text_within("source_url", URL).map(str::to_owned),
        };
        if way == Some(UploadMethod::Url) && request.source_url.is_none() {
            fields.fault(
                Code::FieldRequired,
                fields.at("source_url"),
                "`source_url` is required for this method",
            );
        }
        if request.source_url.is_some() && way != Some(UploadMethod::Url) {
            let detail = "is only read where `transfer_method` is source-url";
            fields.fault(Code::MutuallyExclusive, fields.at("source_url"), detail);
        }
        fields.close()?;
        Ok((way, request))
    }

    /// Takes the name that the file came with, where the call gives it none and a path does not say it better.
    fn name_after(&mut self, file: String) {
        let by_path = self.parent.folder.is_some() && NO_NAMES.contains(&file.as_str());
        let named = || Some(file).filter(|name| is_name(name) && !by_path);
        self.name = self.name.take().or_else(named);
    }
}

fn digest(fields: &mut ObjectFields<'_>, name: &'static str, length: usize) -> Option<String> {
    let text = fields.text(name)?;
    if text.len() != length || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let detail = format!("must be {length} hexadecimal digits");
        fields.fault(Code::DoesNotMatchPattern, fields.at(name), detail);
    }
    Some(text.to_ascii_lowercase())
}

/// Eight hexadecimal digits, as clients write it, or base64 of four bytes.
fn crc32c(fields: &mut ObjectFields<'_>) -> Option<u32> {
    let text = fields.text("crc32c")?;
    let hex = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok().filter(|bytes| bytes.len() == 4);
    let bytes = hex.or_else(|| BASE64.decode(text.as_bytes()).ok());
    let read = bytes.and_then(|bytes| <[u8; 4]>::try_from(bytes).ok()).map(u32::from_be_bytes);
    if read.is_none() {
        fields.fault(Code::DoesNotMatchPattern, fields.at("crc32c"), "must be 8 hexadecimal digits");
    }
    read
}

impl PutWork {
    /// Takes files into `shares`.
    pub fn new(shares: Shares) -> Self {
        Self { shares }
    }

    async fn take(&self, request: PutRequest, blob: &Blob, facts: &BlobDigests) -> Result<Object, ApiError> {
        self.judge(&request, blob, facts).await?;
        let PutRequest { tenant, name, mut parent, metadata, tags, ttl, .. } = request;
        let name = match name {
            Some(name) => name,
            None => self.last_name(&tenant, &mut parent).await?,
        };
        let new = NewObject { name, metadata, tags, ttl };
        self.shares.put_as(&tenant, &parent, new, StoredFile { blob, facts }).await.map_err(request::failed)
    }

    /// The name of a file that has none: the last of its path, which then is that of the file and not of its folder,
    /// unless there is such a folder or the path ends as that of one. Clients send a path and nothing else.
    async fn last_name(&self, tenant: &str, parent: &mut Parent) -> Result<String, ApiError> {
        let path = parent.folder.as_deref().filter(|path| !path.ends_with('/'));
        let Some(path) = path.and_then(Folder::parse) else { return Ok(String::new()) };
        let Some((outer, last)) = path.split() else { return Ok(String::new()) };
        if self.shares.is_folder(tenant, &path).await.map_err(request::failed)? {
            return Ok(String::new());
        }
        parent.folder = Some(outer.as_str().to_owned());
        Ok(last.to_owned())
    }

    /// Whether the bytes are those that were promised.
    async fn judge(&self, request: &PutRequest, blob: &Blob, facts: &BlobDigests) -> Result<(), ApiError> {
        let mut faults = Faults::default();
        let mut say = |name: &str, same: bool| {
            if !same {
                let detail = "is not that of the bytes that came";
                faults.add(Code::BadState, Pointer::root().key(name), detail);
            }
        };
        say("size", request.size.is_none_or(|size| size == facts.size));
        say("crc32c", request.crc32c.is_none_or(|crc| crc == facts.crc32c));
        let sha256 = HEXLOWER_PERMISSIVE.encode(&facts.sha256);
        say("sha256", request.sha256.as_ref().is_none_or(|wanted| *wanted == sha256));
        if !request.others.is_empty() {
            let wanted = |(name, _, _): &(&str, FileHash, usize)| {
                request.others.iter().any(|(other, _)| other == name)
            };
            let mut running: Vec<_> = OTHERS
                .iter()
                .filter(|row| wanted(row))
                .map(|(name, hash, _)| (*name, Digester::new(*hash)))
                .collect();
            let opened = self.shares.blobs().get(blob).await.map_err(|error| stored(&error))?;
            let mut bytes = opened.ok_or(ApiError::Internal("files"))?.bytes;
            while let Some(piece) = bytes.next().await.map_err(|error| stored(&error))? {
                running.iter_mut().for_each(|(_, digester)| digester.update(&piece));
            }
            for (name, digester) in running {
                let found = HEXLOWER_PERMISSIVE.encode(&digester.finish());
                say(name, request.others.iter().any(|(other, wanted)| other == name && *wanted == found));
            }
        }
        faults.close()
    }
}

impl JobHandler for PutWork {
    fn takes(&self, order: &Value) -> bool {
        order.get(ORDER).is_some()
    }

    fn run<'a>(
        &'a self,
        job: &'a Job,
        blob: &'a Blob,
        facts: Option<&'a BlobDigests>,
    ) -> BoxFuture<'a, JobOutcome> {
        Box::pin(async move {
            let request = job.order.get(ORDER).cloned().unwrap_or_default();
            let Ok(request) = serde_json::from_value(request) else {
                return ApiError::Internal("job").into();
            };
            let Some(facts) = facts else { return ApiError::Internal("upload").into() };
            match self.take(request, blob, facts).await {
                Ok(object) => {
                    let result = serde_json::to_value(ObjectResponse::new(object.into()));
                    JobOutcome::success(TAKEN.to_owned(), result.unwrap_or_default())
                }
                Err(error) => error.into(),
            }
        })
    }
}

/// What a job's order holds, if it is one of this service's.
const ORDER: &str = "share_put";

const TAKEN: &str = "File stored";

impl PutShare {
    /// Its path, below the service's name.
    pub const PATH: &'static str = "/v1/put";

    /// Takes files as large as `fetcher` does.
    pub fn new(
        work: Arc<PutWork>,
        jobs: Jobs,
        grants: Arc<Grants>,
        dialect: DialectChoice,
        fetcher: Fetcher,
    ) -> Self {
        let limit = fetcher.limits.size;
        Self { work, jobs, grants, dialect, limit, fetcher }
    }

    async fn run(&self, call: &mut ApiCall<'_>) -> Result<ApiAnswer, ApiError> {
        let who = request::caller(call)?;
        if IncomingForm::is_one(&call.head.headers) {
            let blob = Blob::fresh(Area::Passing).map_err(|_| ApiError::Internal("random"))?;
            let outcome = self.form(call, who.tenant(), &blob).await;
            let object = self.settled(&blob, outcome).await?;
            return Ok(self.taken(call, object));
        }
        let body = request::body(call).await?;
        let ways = [
            ("post-url", UploadMethod::Form),
            ("put-url", UploadMethod::Raw),
            ("source-url", UploadMethod::Url),
        ];
        let (way, request) = PutRequest::read(ObjectFields::of(&body)?, who.tenant(), &ways)?;
        let required =
            || invalid(Code::FieldRequired, "transfer_method", "must be post-url, put-url or source-url");
        let way = way.ok_or_else(required)?;
        if request.size.is_some_and(|size| size > self.limit) {
            return Err(invalid(Code::IsTooBig, "size", &format!("must be at most {}", self.limit)));
        }
        if way == UploadMethod::Url {
            let blob = Blob::fresh(Area::Passing).map_err(|_| ApiError::Internal("random"))?;
            let mut charge = call.budget.charge();
            charge.set(self.work.shares.blobs().holds())?;
            let outcome = self.fetched(request, &blob).await;
            let object = self.settled(&blob, outcome).await?;
            return Ok(self.taken(call, object));
        }
        // There is nothing to wait for.
        if request.size == Some(0) {
            let blob = Blob::fresh(Area::Passing).map_err(|_| ApiError::Internal("random"))?;
            let put = self.work.shares.blobs().put(&blob, &mut WholeBlob::new(""), 0).await;
            let facts = put.map_err(|error| stored(&error))?;
            let object = self.work.take(request, &blob, &facts).await?;
            return Ok(self.taken(call, object));
        }
        let name = request.name.clone().unwrap_or_default();
        let form = way == UploadMethod::Form;
        let upload = AwaitedUpload { call: call.id, by: who.id(), form, name: &name, limit: self.limit };
        let target = target(&self.grants, upload);
        let request = serde_json::to_value(&request).map_err(|_| ApiError::Internal("share"))?;
        let job = Job {
            owner: who.id().to_string(),
            tenant: who.tenant().to_string(),
            received: call.received.as_millis(),
            order: json!({ ORDER: request }),
            stage: JobStage::Upload { target },
            tries: 0,
        };
        self.jobs.create(call.id, &job).await?;
        let stamp = Stamp::of(call);
        let dialect = self.dialect.of(&call.head.headers);
        let minutes = self.jobs.kept().answer.as_secs() / 60;
        Ok(AcceptedAnswer { stamp, dialect, base: self.grants.public(), minutes, polls: 0 }.answer(&job))
    }

    /// Removes the bytes of what was not taken.
    async fn settled(&self, blob: &Blob, outcome: Result<Object, ApiError>) -> Result<Object, ApiError> {
        if outcome.is_err() {
            drop(self.work.shares.blobs().remove(blob).await);
        }
        outcome
    }

    fn taken(&self, call: &ApiCall<'_>, object: Object) -> ApiAnswer {
        let stamp = Stamp::of(call);
        let status = self.dialect.of(&call.head.headers).success();
        stamp.answer(StatusCode::OK, status, TAKEN, Some(ObjectResponse::new(object.into())))
    }

    /// What is at a URL, under the last name of its path where the call gives it none.
    async fn fetched(&self, mut request: PutRequest, blob: &Blob) -> Result<Object, ApiError> {
        let url = request.source_url.take().unwrap_or_default();
        let mut pieces = self.fetcher.fetch(&url).await?;
        request.name_after(pieces.name());
        let put = self.work.shares.blobs().put(blob, &mut pieces, self.limit).await;
        let fault = |error| match pieces.why() {
            Some(why) => self.fetcher.fault(&why),
            None => stored(&error),
        };
        let facts = put.map_err(fault)?;
        self.work.take(request, blob, &facts).await
    }

    /// The parts `request` and `upload`, in any order; clients call the file as they like.
    async fn form(&self, call: &mut ApiCall<'_>, tenant: &str, blob: &Blob) -> Result<Object, ApiError> {
        let blobs = self.work.shares.blobs();
        let mut charge = call.budget.charge();
        charge.set(blobs.holds())?;
        let mut form = IncomingForm::read(&call.head.headers, call.body)?;
        let (mut request, mut file): (Option<PutRequest>, Option<(BlobDigests, String)>) = (None, None);
        while let Some(mut part) = form.part().await? {
            if part.name() == "request" && request.is_none() {
                let text = part.whole(request::BODY).await?;
                let body = json::parse(&text).map_err(|fault| ApiError::Validation(vec![fault]))?;
                request = Some(
                    PutRequest::read(ObjectFields::of(&body)?, tenant, &[("multipart", UploadMethod::Part)])?
                        .1,
                );
            } else if file.is_none() {
                let name = part.file_name().unwrap_or_default().into_owned();
                let put = blobs.put(blob, &mut part, self.limit).await;
                file = Some((put.map_err(|error| part.fault(&error))?, name));
            } else {
                drop(part.whole(request::BODY).await?);
            }
        }
        let mut request = request
            .ok_or_else(|| invalid(Code::FieldRequired, "request", "the form has no part `request`"))?;
        let (facts, name) =
            file.ok_or_else(|| invalid(Code::FieldRequired, "upload", "the form has no part `upload`"))?;
        request.name_after(name);
        self.work.take(request, blob, &facts).await
    }
}

impl Handler for PutShare {
    fn call<'a>(&'a self, mut call: ApiCall<'a>) -> BoxFuture<'a, ApiAnswer> {
        Box::pin(async move {
            let outcome = self.run(&mut call).await;
            outcome.unwrap_or_else(|error| error.answer(&Stamp::of(&call)))
        })
    }
}
