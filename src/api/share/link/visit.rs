//! [`Visit`]: what somebody who came in by a link does there. It is bounded by the link's targets and by what it is for,
//! both as they are now.

use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};

use crate::api::blob::{charged, file_answer};
use crate::api::call::{ApiAnswer, ApiCall};
use crate::api::error::ApiError;
use crate::api::incoming::{FormPart, stored};
use crate::api::share::archive::{self, ArchiveEntry, ArchiveFormat};
use crate::api::share::folder::is_name;
use crate::api::share::link::object::Link;
use crate::api::share::link::page;
use crate::api::share::link::parts::LinkParts;
use crate::api::share::object::{Object, ShareObjectKind};
use crate::api::share::request;
use crate::api::share::rows::{NewObject, Parent, ShareError};
use crate::api::share::store::{ObjectChange, StoredFile};
use crate::base::id::ShareId;
use crate::base::rate::Rate;
use crate::store::{Area, Blob};

/// How many files may be put by one link, and archives made: those who follow it are no token's holders.
const WRITES: Rate = Rate { times: 100, per: Duration::from_secs(3600) };

/// What a form says beside its file.
#[derive(Debug, Default)]
pub(super) struct UploadFields {
    pub(super) action: String,
    pub(super) object: String,
    pub(super) name: String,
    pub(super) folder: String,
}

/// Somebody who came in.
pub(super) struct Visit<'a> {
    pub(super) parts: &'a LinkParts,
    pub(super) link: &'a Link,
}

type FormRefusal = Option<ApiAnswer>;

impl Visit<'_> {
    /// What is read.
    pub(super) async fn get(
        &self,
        call: &mut ApiCall<'_>,
        query: Option<&str>,
    ) -> Result<ApiAnswer, ApiError> {
        match query.map(|query| query.split_once('=').unwrap_or((query, ""))) {
            None => self.look().await,
            Some(("file", id)) => self.file(call, id).await,
            Some(("archive", "zip")) => self.archive(call, ArchiveFormat::Zip).await,
            Some(("archive", "tar")) => self.archive(call, ArchiveFormat::Tar).await,
            Some(_) => Err(ApiError::NotFound),
        }
    }

    async fn look(&self) -> Result<ApiAnswer, ApiError> {
        let link_type = self.link.terms().link_type;
        let entries = self.entries().await?;
        let is_target = |entry: &ArchiveEntry| self.link.targets().any(|id| id == entry.object.id);
        // Who may only put files sees nothing of what is in the folders, not even other folders.
        let open = |entry: &&ArchiveEntry| {
            entry.object.kind == ShareObjectKind::Dir && (link_type.reads() || is_target(entry))
        };
        let named = |entry: &ArchiveEntry| (entry.object.id.to_string(), entry.path.clone());
        let folders: Vec<(String, String)> = entries.iter().filter(open).map(named).collect();
        Ok(page::inside(self.link, &entries, &folders))
    }

    /// The targets that are still there, with all that is in them.
    async fn entries(&self) -> Result<Vec<ArchiveEntry>, ApiError> {
        let all = self.parts.shares.all(self.link.tenant()).await.map_err(request::failed)?;
        let find = |id: ShareId| all.iter().find(|object| object.id == id).cloned();
        let chosen: Vec<Object> = self.link.targets().filter_map(find).collect();
        Ok(archive::entries(&chosen, &all))
    }

    /// The object of this id, if it is a target or lies in one.
    async fn object(&self, id: &str) -> Result<Object, ApiError> {
        let (shares, tenant) = (&self.parts.shares, self.link.tenant());
        let id = ShareId::parse(id).ok_or(ApiError::NotFound)?;
        let object = shares.get(tenant, &id).await.map_err(request::failed)?;
        if self.link.targets().any(|target| target == id) {
            return Ok(object);
        }
        for target in self.link.targets() {
            match shares.get(tenant, &target).await {
                Ok(target) if target.path().is_some_and(|path| path.holds(&object.folder)) => {
                    return Ok(object);
                }
                Ok(_) | Err(ShareError::Unknown) => {}
                Err(error) => return Err(request::failed(error)),
            }
        }
        Err(ApiError::NotFound)
    }

    async fn file(&self, call: &mut ApiCall<'_>, id: &str) -> Result<ApiAnswer, ApiError> {
        if !self.link.terms().link_type.reads() {
            return Err(ApiError::NotFound);
        }
        let object = self.object(id).await?;
        if object.kind == ShareObjectKind::Dir {
            return Err(ApiError::NotFound);
        }
        self.sent(call, &object.blob(), &object.name).await
    }

    async fn archive(&self, call: &mut ApiCall<'_>, form: ArchiveFormat) -> Result<ApiAnswer, ApiError> {
        if !self.link.terms().link_type.reads() {
            return Err(ApiError::NotFound);
        }
        let entries = self.entries().await?;
        if archive::bounded(&entries).is_err() {
            let why = "There is more than one archive can hold. Get the files one by one.";
            return Ok(page::notice(StatusCode::PAYLOAD_TOO_LARGE, "Too much for one archive", why));
        }
        if let Some(refused) = self.too_often() {
            return Ok(refused);
        }
        let mut charge = call.budget.charge();
        charge.set(self.parts.shares.blobs().holds())?;
        let blob = archive::packed(self.parts.shares.blobs(), form, entries).await?;
        drop(charge);
        self.sent(call, &blob, form.file_name()).await
    }

    async fn sent(&self, call: &mut ApiCall<'_>, blob: &Blob, name: &str) -> Result<ApiAnswer, ApiError> {
        let blobs = self.parts.shares.blobs();
        let mut charge = call.budget.charge();
        charge.set(blobs.holds())?;
        let file = blobs.get(blob).await.map_err(|error| stored(&error))?;
        Ok(file_answer(call.id, name, charged(file.ok_or(ApiError::NotFound)?, charge)))
    }

    /// Puts a file into a folder; says why not.
    pub(super) async fn upload(
        &self,
        said: &UploadFields,
        mut part: FormPart<'_>,
    ) -> Result<FormRefusal, ApiError> {
        if !self.link.terms().link_type.adds() {
            return Err(ApiError::NotFound);
        }
        let Some(name) = part.file_name().filter(|name| is_name(name)).map(|name| name.into_owned()) else {
            let why = "Choose a file, and one whose name has no control characters.";
            return Ok(Some(page::notice(StatusCode::BAD_REQUEST, "Nothing was uploaded", why)));
        };
        let folder = self.folder(&said.folder).await?;
        if let Some(refused) = self.too_often() {
            return Ok(Some(refused));
        }
        let shares = &self.parts.shares;
        let blob = Blob::fresh(Area::Passing).map_err(|_| ApiError::Internal("random"))?;
        let facts = match shares.blobs().put(&blob, &mut part, self.parts.limit).await {
            Ok(facts) => facts,
            Err(error) => return Err(part.fault(&error)),
        };
        let parent = Parent { folder: None, id: Some(folder.to_string()) };
        let new = NewObject { name, ..NewObject::default() };
        let put =
            shares.put_as(self.link.tenant(), &parent, new, StoredFile { blob: &blob, facts: &facts }).await;
        if put.is_err() {
            drop(shares.blobs().remove(&blob).await);
        }
        put.map(|_| None).map_err(request::failed)
    }

    /// The folder that is named, or the only target.
    async fn folder(&self, id: &str) -> Result<ShareId, ApiError> {
        let only = || self.link.targets().next().filter(|_| self.link.targets().nth(1).is_none());
        let id = match id {
            "" => only().ok_or(ApiError::NotFound)?.to_string(),
            id => id.to_owned(),
        };
        let object = self.object(&id).await?;
        let seen = self.link.terms().link_type.reads() || self.link.targets().any(|id| id == object.id);
        if object.kind == ShareObjectKind::Dir && seen { Ok(object.id) } else { Err(ApiError::NotFound) }
    }

    /// Renames or deletes something; says why not.
    pub(super) async fn change(&self, said: UploadFields) -> Result<FormRefusal, ApiError> {
        if !self.link.terms().link_type.changes() {
            return Err(ApiError::NotFound);
        }
        let (shares, tenant) = (&self.parts.shares, self.link.tenant());
        let object = self.object(&said.object).await?;
        let refused = |status, why: &str| Ok(Some(page::notice(status, "Nothing was changed", why)));
        let done = match said.action.as_str() {
            "delete" => shares.delete(tenant, &object.id, true).await.map(drop),
            "rename" if !is_name(&said.name) => {
                let why = "A name has 1 to 255 characters, no slash among them and no control character.";
                return refused(StatusCode::BAD_REQUEST, why);
            }
            "rename" => {
                let change = ObjectChange { name: Some(said.name), ..ObjectChange::default() };
                shares.update(tenant, &object.id, change).await.map(drop)
            }
            _ => return Err(ApiError::NotFound),
        };
        match done {
            Ok(()) => Ok(None),
            Err(ShareError::NotEmpty) => refused(StatusCode::CONFLICT, "The folder is not empty."),
            Err(ShareError::Taken) => {
                refused(StatusCode::CONFLICT, "There is a folder of this name already.")
            }
            Err(ShareError::Stale) => refused(StatusCode::CONFLICT, "Somebody else changed it meanwhile."),
            Err(ShareError::Path) => refused(StatusCode::BAD_REQUEST, "The path would be too long."),
            Err(error) => Err(request::failed(error)),
        }
    }

    fn too_often(&self) -> FormRefusal {
        let taken = self.parts.rates.writes.take(self.link.id.clone(), WRITES, self.parts.clock.instant());
        let wait = taken.err()?;
        let why = "Wait a little, then try again.";
        let mut answer = page::notice(StatusCode::TOO_MANY_REQUESTS, "Too much at once", why);
        answer.headers.insert(RETRY_AFTER, HeaderValue::from(wait.as_secs() + 1));
        Some(answer)
    }
}
