//! [`Sanitize`]: `POST /v1/sanitize`, as JSON or as a form with the file in it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::api::call::{ApiAnswer, ApiCall, BufferedBody, Handler};
use crate::api::endpoint::acceptable;
use crate::api::envelope::{DialectChoice, Stamp};
use crate::api::error::{ApiError, Code, Invalid};
use crate::api::grant::safe_name;
use crate::api::incoming::IncomingForm;
use crate::api::json;
use crate::api::pending::{AcceptedAnswer, AwaitedUpload, JobStage, Uploads, awaited, target};
use crate::api::redact::Owner;
use crate::api::sanitize::order::Order;
use crate::api::sanitize::request::{Encoding, FileSource, SanitizeRequest};
use crate::api::sanitize::service::Sanitizer;
use crate::api::sanitize::settings::Resolved;
use crate::base::pointer::Pointer;
use crate::store::blobs::BlobDigests;

/// The largest JSON body, or `request` part, in bytes.
const REQUEST: usize = 1 << 20;

/// How long a call waits for its answer before it is told to come back.
const TIMEOUT: Duration = Duration::from_secs(20);

/// `POST /v1/sanitize`.
pub struct Sanitize {
    /// Does it.
    pub sanitizer: Sanitizer,
    /// Begins with jobs.
    pub uploads: Arc<Uploads>,
    /// How answers are worded.
    pub dialect: DialectChoice,
}

/// A body as read: what is asked, and the file if it came along.
struct SanitizeBody {
    request: SanitizeRequest,
    facts: Option<BlobDigests>,
    file_name: Option<String>,
}

impl Sanitize {
    async fn run(&self, call: &mut ApiCall<'_>) -> Result<ApiAnswer, ApiError> {
        let who = call.who.ok_or(ApiError::Unauthorized)?;
        let body = match IncomingForm::is_one(&call.head.headers) {
            true => self.form(call).await?,
            false => self.json(call).await?,
        };
        let settings = self.sanitizer.settings(who, body.request.config.as_deref()).await?;
        let mut parameters = body.request.parameters;
        let policy = self.sanitizer.parts().policy;
        let resolved = Resolved::of(&body.request.chosen, &settings, policy, &mut parameters)?;
        if resolved.folder.is_some() || matches!(body.request.source, FileSource::Share(_)) {
            who.may_use_share()?;
        }
        // All names are looked up now: a fault is the call's, not the job's.
        self.sanitizer.providers(&Owner::of(who), &resolved).await?;
        if let FileSource::Share(id) = &body.request.source {
            self.sanitizer.shared(who.tenant(), id).await?;
        }
        let most = self.sanitizer.parts().max_upload;
        if body.request.proof.size.is_some_and(|size| size > most) {
            let at = Pointer::root().key("size");
            let fault = Invalid::new(Code::IsTooBig, at, format!("must be at most {most} bytes"));
            return Err(ApiError::Validation(vec![fault]));
        }
        let form = matches!(body.request.source, FileSource::Post);
        let awaited = form || matches!(body.request.source, FileSource::Put);
        let order = Order {
            source: body.request.source,
            name: body.request.name.or(body.file_name),
            proof: body.request.proof,
            resolved,
            parameters,
        };
        let parts = self.sanitizer.parts();
        let stage = if awaited {
            let name = safe_name(order.name.as_deref().unwrap_or_default());
            // Whatever comes is taken: clients do not expect an upload to fail. Its size is proved before it is read.
            let upload = AwaitedUpload { call: call.id, by: who.id(), form, name: &name, limit: most };
            JobStage::Upload { target: target(&parts.grants, upload) }
        } else {
            JobStage::Ready
        };
        let job = Sanitizer::job(who, call.received.as_millis(), &order, stage)?;
        let dialect = self.dialect.of(&call.head.headers);
        let ended = if awaited {
            parts.jobs.create(call.id, &job).await?;
            None
        } else {
            self.uploads.start(call.id, &job, body.facts, TIMEOUT).await?
        };
        let stamp = Stamp::of(call);
        if let Some(ended) = ended {
            return Ok(ended.answer(&stamp, dialect));
        }
        let minutes = parts.jobs.kept().answer.as_secs() / 60;
        Ok(AcceptedAnswer { stamp, dialect, base: parts.grants.public(), minutes, polls: 0 }.answer(&job))
    }

    async fn json(&self, call: &mut ApiCall<'_>) -> Result<SanitizeBody, ApiError> {
        acceptable(&call.head.headers)?;
        let body = BufferedBody::read(call.body, REQUEST, call.budget).await?;
        let value = parsed(&body.bytes)?;
        let request = SanitizeRequest::read(&value, Encoding::Json)?;
        Ok(SanitizeBody { request, facts: None, file_name: None })
    }

    /// The parts come in any order, and clients disagree about the file's name: whatever is not `request` is the file.
    async fn form(&self, call: &mut ApiCall<'_>) -> Result<SanitizeBody, ApiError> {
        let parts = self.sanitizer.parts();
        let mut form = IncomingForm::read(&call.head.headers, call.body)?;
        let (mut request, mut facts, mut file_name, mut is_file) = (None, None, None, false);
        while let Some(mut part) = form.part().await? {
            if part.name() == "request" && request.is_none() {
                let value = parsed(&part.whole(REQUEST).await?)?;
                // Before the file is taken: a fault is told at once.
                request = Some(SanitizeRequest::read(&value, Encoding::Multipart)?);
                continue;
            }
            if part.name() == "request" || facts.is_some() {
                return Err(surplus(part.name(), part.is_file() && is_file));
            }
            is_file = part.is_file();
            file_name = part.file_name().map(|name| name.into_owned());
            match parts.blobs.put(&awaited(call.id), &mut part, parts.max_upload).await {
                Ok(learned) => facts = Some(learned),
                Err(error) => return Err(part.fault(&error)),
            }
        }
        let missing =
            |name: &str, detail: &str| Invalid::new(Code::FieldRequired, Pointer::root().key(name), detail);
        match (request, facts) {
            (Some(request), Some(facts)) => Ok(SanitizeBody { request, facts: Some(facts), file_name }),
            (None, _) => Err(ApiError::Validation(vec![missing(
                "request",
                "a part `request` with the parameters as JSON",
            )])),
            (_, None) => Err(ApiError::Validation(vec![missing("upload", "a part `upload` with the file")])),
        }
    }
}

/// A part too many. Any other than `request` is the file, so of two of which one is none nobody knows which was meant.
fn surplus(name: &str, files: bool) -> ApiError {
    let (at, detail) = match (name, files) {
        ("request", _) => ("request", "send one part `request`"),
        (_, true) => ("upload", "send one file"),
        (_, false) => (
            "upload",
            "the form has two parts beside `request`, and one of them is no file: send `request` and the file alone",
        ),
    };
    ApiError::Validation(vec![Invalid::new(Code::AboveMaxItems, Pointer::root().key(at), detail)])
}

fn parsed(text: &[u8]) -> Result<Value, ApiError> {
    json::parse(text).map_err(|fault| ApiError::Validation(vec![fault]))
}

impl Handler for Sanitize {
    fn call<'a>(&'a self, mut call: ApiCall<'a>) -> BoxFuture<'a, ApiAnswer> {
        Box::pin(async move {
            let outcome = self.run(&mut call).await;
            outcome.unwrap_or_else(|error| error.answer(&Stamp::of(&call)))
        })
    }
}
