//! `POST /v1/update`, `/v1/delete` and `/v1/folder/create`. Source: the public clients' `UpdateObjectRequest`,
//! `DeleteRequest` and `FolderCreateRequest`.

use futures_util::future::BoxFuture;
use serde::Serialize;

use crate::api::endpoint::{ApiCaller, Endpoint, Success};
use crate::api::error::{ApiError, Code};
use crate::api::fields::ObjectFields;
use crate::api::share::folder::Folder;
use crate::api::share::object::ObjectView;
use crate::api::share::request;
use crate::api::share::rows::{NewObject, Parent, Shares};
use crate::api::share::store::ObjectChange;
use crate::api::token::Service;
use crate::base::id::ShareId;

/// An object.
#[derive(Serialize)]
pub struct ObjectResponse {
    object: ObjectView,
}

/// How many objects were removed.
#[derive(Serialize)]
pub struct CountResponse {
    count: u64,
}

/// `POST /v1/update`.
pub struct UpdateShare(pub Shares);

/// `POST /v1/delete`.
pub struct DeleteShare(pub Shares);

/// `POST /v1/folder/create`.
pub struct CreateShareFolder(pub Shares);

/// What changes of which object.
pub struct UpdateObjectRequest {
    id: Option<ShareId>,
    change: ObjectChange,
}

/// Which object goes.
pub struct DeleteRequest {
    id: Option<ShareId>,
    /// With all that lies in it.
    all: bool,
}

/// A folder, and where.
pub struct FolderRequest {
    parent: Parent,
    new: NewObject,
}

type ChangeResult<'a, R> = BoxFuture<'a, Result<Success<R>, ApiError>>;

impl Endpoint for UpdateShare {
    const PATH: &'static str = "/v1/update";
    const SERVICE: Service = Service::Share;
    const BARE: bool = false;
    type Request = UpdateObjectRequest;
    type Response = ObjectResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<Self::Request, ApiError> {
        request::common(&mut fields);
        let id = request::id(&mut fields);
        let change = ObjectChange {
            updated_at: fields.time("updated_at"),
            name: request::name(&mut fields),
            parent: request::parent(&mut fields),
            ttl: request::ttl(&mut fields),
            metadata: ["metadata", "add_metadata", "remove_metadata"]
                .map(|name| request::metadata(&mut fields, name)),
            tags: ["tags", "add_tags", "remove_tags"].map(|name| request::tags(&mut fields, name)),
        };
        fields.close()?;
        Ok(UpdateObjectRequest { id, change })
    }

    fn call<'a>(
        &'a self,
        caller: ApiCaller<'a>,
        request: UpdateObjectRequest,
    ) -> ChangeResult<'a, ObjectResponse> {
        Box::pin(async move {
            let UpdateObjectRequest { id, change } = request;
            let id = id.ok_or(ApiError::NotFound)?;
            let object = self.0.update(caller.who.tenant(), &id, change).await.map_err(request::failed)?;
            Ok(Success {
                summary: "Object updated".to_owned(),
                result: ObjectResponse { object: object.into() },
            })
        })
    }
}

impl Endpoint for DeleteShare {
    const PATH: &'static str = "/v1/delete";
    const SERVICE: Service = Service::Share;
    const BARE: bool = false;
    type Request = DeleteRequest;
    type Response = CountResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<Self::Request, ApiError> {
        request::common(&mut fields);
        let id = request::id(&mut fields);
        let all = fields.flag("force").unwrap_or(false);
        fields.close()?;
        Ok(DeleteRequest { id, all })
    }

    fn call<'a>(&'a self, caller: ApiCaller<'a>, request: DeleteRequest) -> ChangeResult<'a, CountResponse> {
        Box::pin(async move {
            let DeleteRequest { id, all } = request;
            let id = id.ok_or(ApiError::NotFound)?;
            let count = self.0.delete(caller.who.tenant(), &id, all).await.map_err(request::failed)?;
            Ok(Success { summary: format!("Deleted {count} objects"), result: CountResponse { count } })
        })
    }
}

impl Endpoint for CreateShareFolder {
    const PATH: &'static str = "/v1/folder/create";
    const SERVICE: Service = Service::Share;
    const BARE: bool = false;
    type Request = FolderRequest;
    type Response = ObjectResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<Self::Request, ApiError> {
        request::common(&mut fields);
        let mut parent = request::parent(&mut fields).unwrap_or_default();
        let mut name = request::name(&mut fields).unwrap_or_default();
        let new = |name| NewObject { name, ..NewObject::default() };
        let path = fields.text("path");
        if path.is_some_and(|path| Folder::parse(path).is_none()) {
            let detail = "must be names with slashes between them, at most 1024 bytes";
            fields.fault(Code::DoesNotMatchPattern, fields.at("path"), detail);
        }
        if path.is_some() && !(name.is_empty() && parent.folder.is_none()) {
            let detail = "says what `name` and `folder` say; send it or them";
            fields.fault(Code::MutuallyExclusive, fields.at("path"), detail);
        }
        // A path alone names the new folder, not the one that it lies in.
        if name.is_empty() {
            let path = path.map(str::to_owned).or_else(|| parent.folder.take());
            let path = path.and_then(|path| Folder::parse(&path)).unwrap_or_default();
            match path.split() {
                Some((outer, last)) => {
                    parent.folder = Some(outer.as_str().to_owned()).filter(|_| !outer.is_root());
                    last.clone_into(&mut name);
                }
                None => {
                    let detail = "a folder needs a `name`, or a path in `path` or `folder`";
                    fields.fault(Code::MustProvideOne, fields.at("name"), detail);
                }
            }
        }
        let mut new = new(name);
        new.metadata = request::metadata(&mut fields, "metadata").unwrap_or_default();
        new.tags = request::tags(&mut fields, "tags").unwrap_or_default();
        new.ttl = request::ttl(&mut fields);
        fields.close()?;
        Ok(FolderRequest { parent, new })
    }

    fn call<'a>(&'a self, caller: ApiCaller<'a>, request: FolderRequest) -> ChangeResult<'a, ObjectResponse> {
        Box::pin(async move {
            let FolderRequest { parent, new } = request;
            let made =
                self.0.make_folder(caller.who.tenant(), &parent, new).await.map_err(request::failed)?;
            Ok(Success {
                summary: "Folder created".to_owned(),
                result: ObjectResponse { object: made.into() },
            })
        })
    }
}

impl ObjectResponse {
    pub(super) fn new(object: ObjectView) -> Self {
        Self { object }
    }
}
