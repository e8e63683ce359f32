//! What several calls say in the same way.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::api::call::{ApiCall, BufferedBody};
use crate::api::error::{ApiError, Code};
use crate::api::fields::{ObjectFields, invalid};
use crate::api::json;
use crate::api::share::bucket::BUCKET;
use crate::api::share::folder::{Folder, is_name};
use crate::api::share::rows::{Parent, ShareError};
use crate::api::token::Principal;
use crate::base::id::ShareId;
use crate::vault::items::frequency;

/// The most notes of an object, and the longest name and text of one, in characters.
const METADATA: (usize, usize, usize) = (100, 128, 4096);

/// The most tags of an object, and the longest, in characters.
const TAGS: (usize, usize) = (100, 128);

/// The largest JSON body of a call that reads its own.
pub(super) const BODY: usize = 1 << 20;

/// Members that clients know and this service does not offer: leaving a password aside would be worse than saying so.
const NOT_OFFERED: [&str; 9] = [
    "password",
    "password_algorithm",
    "add_password",
    "add_password_algorithm",
    "remove_password",
    "tenant_id",
    "root_folder",
    "root_id",
    "format",
];

/// A call's own members are read; the rest of what clients send with every call.
pub(super) fn common(fields: &mut ObjectFields<'_>) {
    common_beside(fields, &[]);
}

/// The same for a call that has members of its own among those that others do not offer.
pub(super) fn common_beside(fields: &mut ObjectFields<'_>, own: &[&str]) {
    fields.nulls_are_absent();
    // Clients that have a config send it to whatever service.
    fields.text("config_id");
    let bucket = if own.contains(&"bucket_id") { None } else { fields.text("bucket_id") };
    if bucket.is_some_and(|bucket| bucket != BUCKET) {
        fields.fault(Code::DoesNotExist, fields.at("bucket_id"), "there is no such bucket");
    }
    for name in NOT_OFFERED.into_iter().filter(|name| !own.contains(name)) {
        if fields.member(name).is_some() {
            fields.fault(Code::ProviderDisabled, fields.at(name), "is not offered by this service");
        }
    }
}

/// The caller.
pub(super) fn caller<'c>(call: &ApiCall<'c>) -> Result<&'c Principal, ApiError> {
    call.who.ok_or(ApiError::Unauthorized)
}

/// The whole body, as JSON.
pub(super) async fn body(call: &mut ApiCall<'_>) -> Result<Value, ApiError> {
    let body = BufferedBody::read(call.body, BODY, call.budget).await?;
    json::parse(&body.bytes).map_err(|fault| ApiError::Validation(vec![fault]))
}

/// The object that a call names. What cannot be an id is one that no object has.
pub(super) fn id(fields: &mut ObjectFields<'_>) -> Option<ShareId> {
    fields.required("id")?;
    ShareId::parse(fields.text("id")?)
}

/// A name that may be absent.
pub(super) fn name(fields: &mut ObjectFields<'_>) -> Option<String> {
    let name = fields.text("name")?;
    if !is_name(name) {
        let detail = "must have 1 to 255 characters, no slash among them and no control character";
        fields.fault(Code::DoesNotMatchPattern, fields.at("name"), detail);
    }
    Some(name.to_owned())
}

/// `folder` and `parent_id`.
pub(super) fn parent(fields: &mut ObjectFields<'_>) -> Option<Parent> {
    let (folder, id) = (fields.text("folder"), fields.text("parent_id"));
    if folder.is_some_and(|path| Folder::parse(path).is_none()) {
        let detail = "must be names with slashes between them, at most 1024 bytes";
        fields.fault(Code::DoesNotMatchPattern, fields.at("folder"), detail);
    }
    let owned = |text: Option<&str>| text.map(str::to_owned);
    (folder.is_some() || id.is_some()).then(|| Parent { folder: owned(folder), id: owned(id) })
}

/// `file_ttl`: how long a file stays.
pub(super) fn ttl(fields: &mut ObjectFields<'_>) -> Option<String> {
    let text = fields.text("file_ttl").filter(|text| !text.is_empty())?;
    if frequency::span(text).is_none() {
        let detail = "must be a time such as 10d, 2M or 44h";
        fields.fault(Code::BadFormatPangeaDuration, fields.at("file_ttl"), detail);
    }
    Some(text.to_owned())
}

/// An object of notes.
pub(super) fn metadata(
    fields: &mut ObjectFields<'_>,
    name: &'static str,
) -> Option<BTreeMap<String, String>> {
    let (most, longest, text) = METADATA;
    fields.map(name, most, |key, value, at, faults| {
        if key.chars().count() > longest {
            faults.add(Code::InvalidPropertyName, at, format!("must have at most {longest} characters"));
            return None;
        }
        match value {
            Value::String(value) => faults.length(value, at, &(0..=text)).then(|| value.clone()),
            other => {
                faults.wrong(other, at, Code::InvalidString, "must be a string");
                None
            }
        }
    })
}

/// An array of tags.
pub(super) fn tags(fields: &mut ObjectFields<'_>, name: &'static str) -> Option<Vec<String>> {
    let (most, longest) = TAGS;
    fields.array(name, most, |value, at, faults| match value {
        Value::String(tag) => faults.length(tag, at, &(1..=longest)).then(|| tag.clone()),
        other => {
            faults.wrong(other, at, Code::InvalidString, "must be a string");
            None
        }
    })
}

/// How a failure is answered.
pub(super) fn failed(error: ShareError) -> ApiError {
    match error {
        ShareError::Unknown => ApiError::NotFound,
        ShareError::NoFolder => invalid(Code::DoesNotExist, "parent_id", "there is no such folder"),
        ShareError::TwoFolders => {
            invalid(Code::BadState, "folder", "`folder` and `parent_id` name two folders")
        }
        ShareError::Path => invalid(Code::AboveMaxLength, "folder", "the path is too long"),
        ShareError::Within => invalid(Code::BadState, "folder", "a folder cannot be moved into itself"),
        ShareError::NotEmpty => invalid(Code::BadState, "id", "the folder is not empty"),
        ShareError::Taken => invalid(Code::BadState, "name", "there is a folder of this name already"),
        ShareError::Stale => {
            invalid(Code::BadState, "updated_at", "the object was written since; read it again")
        }
        error @ (ShareError::Row | ShareError::Random(_) | ShareError::Store(_)) => error.unread(),
    }
}
