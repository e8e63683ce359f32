//! What is done with items of every type: `POST /v2/get`, `/v2/update`, `/v2/delete`, `/v2/state/change` and
//! `/v2/folder/create`.

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::Serialize;

use crate::api::endpoint::{ApiCaller, Endpoint, Success};
use crate::api::error::{ApiError, Code};
use crate::api::fields::{ObjectFields, invalid};
use crate::api::token::Service;
use crate::api::vault::request::{Labels, common, failed, item_id, selector, single};
use crate::api::vault::response::{ItemResponse, Secrets};
use crate::vault::VaultError;
use crate::vault::items::frequency::span;
use crate::vault::items::{ItemChanges, Items, Label, OpenItem, Selector, VersionState};

/// `POST /v2/get`: an item.
pub struct GetItem(pub Items);

/// `POST /v2/update`: changes an item's name, folder, notes, rotation and so on.
pub struct UpdateItem(pub Items);

/// `POST /v2/delete`: removes an item.
pub struct DeleteItem(pub Items);

/// `POST /v2/state/change`: puts a version into another state.
pub struct ChangeState(pub Items);

/// `POST /v2/folder/create`: makes a folder.
pub struct CreateFolder(pub Items);

/// An item and some of its versions.
pub struct GetRequest(String, Selector);

/// An item to remove.
pub struct DeleteRequest(String, bool);

/// What is to be changed.
pub struct UpdateItemRequest {
    id: String,
    labels: Labels,
    enabled: Option<bool>,
}

/// What a version is to become.
pub struct StateRequest {
    id: String,
    selector: Selector,
    state: VersionState,
    destroy_after: Option<Duration>,
}

/// The id of what was removed.
#[derive(Serialize)]
pub struct DeleteResponse {
    id: String,
}

fn shown(items: &Items, opened: &OpenItem, summary: &str) -> Result<Success<ItemResponse>, ApiError> {
    let result = ItemResponse::new(items, opened, Selector::Current, Secrets::Hidden).map_err(failed)?;
    Ok(Success { summary: summary.to_owned(), result })
}

impl Endpoint for GetItem {
    const PATH: &'static str = "/v2/get";
    const SERVICE: Service = Service::Vault;
    type Request = GetRequest;
    type Response = ItemResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<GetRequest, ApiError> {
        common(&mut fields);
        let id = fields.required_text("id").to_owned();
        let selector = selector(&mut fields);
        fields.close()?;
        Ok(GetRequest(id, selector))
    }

    fn call<'a>(
        &'a self,
        _: ApiCaller<'a>,
        GetRequest(id, selector): GetRequest,
    ) -> BoxFuture<'a, Result<Success<ItemResponse>, ApiError>> {
        Box::pin(async move {
            let opened = self.0.get(&item_id(&id)?).await.map_err(failed)?;
            let result = ItemResponse::new(&self.0, &opened, selector, Secrets::Shown).map_err(failed)?;
            Ok(Success { summary: "Item found".to_owned(), result })
        })
    }
}

impl Endpoint for UpdateItem {
    const PATH: &'static str = "/v2/update";
    const SERVICE: Service = Service::Vault;
    type Request = UpdateItemRequest;
    type Response = ItemResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<UpdateItemRequest, ApiError> {
        common(&mut fields);
        let id = fields.required_text("id").to_owned();
        let labels = Labels::of(&mut fields).with_rotation(&mut fields);
        let enabled = fields.flag("enabled");
        fields.close()?;
        Ok(UpdateItemRequest { id, labels, enabled })
    }

    fn call<'a>(
        &'a self,
        _: ApiCaller<'a>,
        request: UpdateItemRequest,
    ) -> BoxFuture<'a, Result<Success<ItemResponse>, ApiError>> {
        Box::pin(async move {
            let UpdateItemRequest { id, labels, enabled } = request;
            let now = self.0.now();
            let changes: ItemChanges = Box::new(move |label| {
                labels.put(enabled, label);
                // Who switches it on again means it.
                let past = labels.disabled_at.is_none() && label.disabled_at.is_some_and(|at| at <= now);
                if enabled == Some(true) && past {
                    label.disabled_at = None;
                }
            });
            let opened = self.0.update(&item_id(&id)?, &changes).await.map_err(failed)?;
            shown(&self.0, &opened, "Item updated")
        })
    }
}

impl Labels {
    /// Changes what the call says.
    fn put(&self, enabled: Option<bool>, label: &mut Label) {
        fn put<T: Clone>(wanted: Option<&T>, place: &mut T) {
            if let Some(wanted) = wanted {
                place.clone_from(wanted);
            }
        }
        put(self.name.as_ref(), &mut label.name);
        put(self.folder.as_ref(), &mut label.folder);
        put(self.metadata.as_ref(), &mut label.metadata);
        put(self.tags.as_ref(), &mut label.tags);
        put(self.frequency.as_ref(), &mut label.rotation.frequency);
        put(self.state.as_ref(), &mut label.rotation.state);
        label.disabled_at = self.disabled_at.or(label.disabled_at);
        label.off = enabled.map_or(label.off, |enabled| !enabled);
    }
}

impl Endpoint for DeleteItem {
    const PATH: &'static str = "/v2/delete";
    const SERVICE: Service = Service::Vault;
    type Request = DeleteRequest;
    type Response = DeleteResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<DeleteRequest, ApiError> {
        common(&mut fields);
        let id = fields.required_text("id").to_owned();
        let recursive = fields.flag("recursive").unwrap_or(false);
        fields.close()?;
        Ok(DeleteRequest(id, recursive))
    }

    fn call<'a>(
        &'a self,
        _: ApiCaller<'a>,
        DeleteRequest(id, recursive): DeleteRequest,
    ) -> BoxFuture<'a, Result<Success<DeleteResponse>, ApiError>> {
        Box::pin(async move {
            self.0.delete(&item_id(&id)?, recursive).await.map_err(failed)?;
            Ok(Success { summary: "Item deleted".to_owned(), result: DeleteResponse { id } })
        })
    }
}

impl Endpoint for ChangeState {
    const PATH: &'static str = "/v2/state/change";
    const SERVICE: Service = Service::Vault;
    type Request = StateRequest;
    type Response = ItemResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<StateRequest, ApiError> {
        common(&mut fields);
        let id = fields.required_text("id").to_owned();
        let states = VersionState::ALL.map(|state| (state.name(), state));
        fields.required("state");
        let state = fields.one_of("state", &states);
        let selector = single(&mut fields);
        let destroy_after = match fields.text("destroy_period").map(span) {
            Some(None) => {
                let detail = "must be a time such as 10d, 2M or 44h";
                fields.fault(Code::BadFormatPangeaDuration, fields.at("destroy_period"), detail);
                None
            }
            period => period.flatten(),
        };
        if destroy_after.is_some() && state.is_some_and(|state| state != VersionState::Compromised) {
            let detail = "goes with the state compromised only";
            fields.fault(Code::IsDependentOn, fields.at("destroy_period"), detail);
        }
        fields.close()?;
        // Without a state there was a fault.
        let state = state.ok_or(ApiError::Internal("vault"))?;
        Ok(StateRequest { id, selector, state, destroy_after })
    }

    fn call<'a>(
        &'a self,
        _: ApiCaller<'a>,
        request: StateRequest,
    ) -> BoxFuture<'a, Result<Success<ItemResponse>, ApiError>> {
        Box::pin(async move {
            let StateRequest { id, selector, state, destroy_after } = request;
            let changed = self.0.change_state(&item_id(&id)?, selector, state, destroy_after).await;
            let opened = changed.map_err(failed)?;
            shown(&self.0, &opened, "State changed")
        })
    }
}

impl Endpoint for CreateFolder {
    const PATH: &'static str = "/v2/folder/create";
    const SERVICE: Service = Service::Vault;
    type Request = Label;
    type Response = ItemResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<Label, ApiError> {
        common(&mut fields);
        fields.required("name");
        fields.required("folder");
        let label = Labels::of(&mut fields).with_rotation(&mut fields).label();
        fields.close()?;
        Ok(label)
    }

    fn call<'a>(
        &'a self,
        _: ApiCaller<'a>,
        request: Label,
    ) -> BoxFuture<'a, Result<Success<ItemResponse>, ApiError>> {
        Box::pin(async move {
            let opened = self.0.create_folder(request).await.map_err(|error| match error {
                VaultError::Unfit(why) => invalid(Code::DoesNotMatchPattern, "name", why),
                other => failed(other),
            })?;
            shown(&self.0, &opened, "Folder created")
        })
    }
}
