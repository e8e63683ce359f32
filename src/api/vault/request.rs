//! What several of the vault's calls say in the same way.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::api::error::{ApiError, Code};
use crate::api::fields::{ObjectFields, invalid};
use crate::base::id::ItemId;
use crate::vault::VaultError;
use crate::vault::items::{Frequency, Label, Path, Rotation, Selector, VersionState};

/// The most notes of an item, and the longest name and text of one, in characters.
const METADATA: (usize, usize, usize) = (100, 128, 4096);

/// The most tags of an item, and the longest, in characters.
const TAGS: (usize, usize) = (100, 128);

/// The longest name, in characters.
const NAME: usize = 256;

/// The item that a call names. What cannot be an id is one that no item has.
pub(super) fn item_id(text: &str) -> Result<ItemId, ApiError> {
    ItemId::parse(text).ok_or(ApiError::VaultItemNotFound)
}

/// A call's own members are read; the rest of what clients send with every call.
pub(super) fn common(fields: &mut ObjectFields<'_>) {
    fields.nulls_are_absent();
    // Clients that have a config send it to whatever service.
    fields.text("config_id");
}

/// The versions that `version` selects; the newest if it is absent.
pub(super) fn selector(fields: &mut ObjectFields<'_>) -> Selector {
    let Some(value) = fields.member("version") else { return Selector::Current };
    let at = fields.at("version");
    let selector = match value {
        Value::String(text) => Selector::parse(text),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Selector::of_integer(number),
            // Too large for any version that there is.
            None if number.is_u64() => Some(Selector::Number(u32::MAX)),
            None => {
                fields.fault(Code::InvalidInteger, at, "must be a whole number or a string");
                return Selector::Current;
            }
        },
        other => {
            fields.faults().wrong(other, at, Code::InvalidString, "must be a string or a whole number");
            return Selector::Current;
        }
    };
    if selector.is_none() {
        let detail =
            "must be `all`, a version from 1, `-n` for the nth from the end, or `-n:` for the last n";
        fields.fault(Code::DoesNotMatchPattern, at, detail);
    }
    selector.unwrap_or_default()
}

/// The one version that `version` selects.
pub(super) fn single(fields: &mut ObjectFields<'_>) -> Selector {
    let selector = selector(fields);
    if !selector.is_single() {
        fields.fault(Code::DoesNotMatchPattern, fields.at("version"), "must name one version");
    }
    selector
}

/// What a call says about an item's label; what it does not say is `None`.
#[derive(Default)]
pub(super) struct Labels {
    pub(super) name: Option<String>,
    pub(super) folder: Option<Path>,
    pub(super) metadata: Option<BTreeMap<String, String>>,
    pub(super) tags: Option<Vec<String>>,
    pub(super) disabled_at: Option<crate::base::clock::Timestamp>,
    /// The inner `None`: as the folder says.
    pub(super) frequency: Option<Option<Frequency>>,
    pub(super) state: Option<Option<VersionState>>,
}

impl Labels {
    /// Reads name, folder, metadata, tags and `disabled_at`.
    pub(super) fn of(fields: &mut ObjectFields<'_>) -> Self {
        let name = fields.text_within("name", 1..=NAME).map(str::to_owned);
        if name.as_ref().is_some_and(|name| name.chars().any(char::is_control)) {
            fields.fault(Code::DoesNotMatchPattern, fields.at("name"), "must not have control characters");
        }
        Self {
            name,
            folder: folder(fields),
            metadata: metadata(fields),
            tags: tags(fields),
            disabled_at: fields.time("disabled_at"),
            ..Self::default()
        }
    }

    /// Reads `rotation_frequency` and `rotation_state` too.
    pub(super) fn with_rotation(mut self, fields: &mut ObjectFields<'_>) -> Self {
        if let Some(text) = fields.text("rotation_frequency") {
            self.frequency = Some(Frequency::parse(text).filter(|_| text != INHERITED));
            if text != INHERITED && self.frequency == Some(None) {
                let detail = "must be `never`, `inherited`, or a time such as 10d, 2M or 44h";
                fields.fault(Code::BadFormatPangeaDuration, fields.at("rotation_frequency"), detail);
            }
        }
        let states = [
            (VersionState::Deactivated.name(), Some(VersionState::Deactivated)),
            (VersionState::Destroyed.name(), Some(VersionState::Destroyed)),
            (INHERITED, None),
        ];
        self.state = fields.one_of("rotation_state", &states);
        self
    }

    /// The label of a new item; an empty name is to be made up.
    pub(super) fn label(self) -> Label {
        Label {
            name: self.name.unwrap_or_default(),
            folder: self.folder.unwrap_or_else(Path::root),
            metadata: self.metadata.unwrap_or_default(),
            tags: self.tags.unwrap_or_default(),
            off: false,
            disabled_at: self.disabled_at,
            rotation: Rotation { frequency: self.frequency.flatten(), state: self.state.flatten() },
        }
    }
}

const INHERITED: &str = "inherited";

fn folder(fields: &mut ObjectFields<'_>) -> Option<Path> {
    let path = Path::parse(fields.text("folder")?);
    if path.is_none() {
        let detail = "must be names of letters, digits, spaces and _.- with slashes between them";
        fields.fault(Code::DoesNotMatchPattern, fields.at("folder"), detail);
    }
    path
}

fn metadata(fields: &mut ObjectFields<'_>) -> Option<BTreeMap<String, String>> {
    let (most, longest, text) = METADATA;
    fields.map("metadata", most, |name, value, at, faults| {
        if name.chars().count() > longest {
            faults.add(Code::InvalidPropertyName, at, format!("must have at most {longest} characters"));
            return None;
        }
        let value = faults.text(value, at.clone())?;
        faults.length(value, at, &(0..=text)).then(|| value.to_owned())
    })
}

fn tags(fields: &mut ObjectFields<'_>) -> Option<Vec<String>> {
    let (most, longest) = TAGS;
    let at = fields.at("tags");
    let tags = fields.names("tags")?;
    if tags.len() > most {
        fields.fault(Code::AboveMaxItems, at, format!("must have at most {most} items"));
        return None;
    }
    let whole = |(index, tag): (usize, &str)| {
        let fits = fields.faults().length(tag, at.index(index), &(1..=longest));
        fits.then(|| tag.to_owned())
    };
    Some(tags.into_iter().filter_map(whole).collect())
}

/// What a rotation by hand makes of the version before; `None`: as the item says.
pub(super) fn manual_rotation(fields: &mut ObjectFields<'_>) -> Option<VersionState> {
    let states = [VersionState::Deactivated, VersionState::Suspended, VersionState::Destroyed];
    let named = states.map(|state| (state.name(), Some(state)));
    let words: Vec<_> = named.into_iter().chain([(INHERITED, None)]).collect();
    fields.one_of("rotation_state", &words).flatten()
}

/// How a failure of the vault is answered.
pub(super) fn failed(error: VaultError) -> ApiError {
    match error {
        VaultError::Unknown => ApiError::VaultItemNotFound,
        VaultError::Forbidden(why) => ApiError::ForbiddenVaultOperation(why),
        VaultError::Taken => invalid(Code::BadState, "name", "there is a folder of this name already"),
        VaultError::Unfit(why) => invalid(Code::BadFormat, "key", why),
        other => ApiError::vault(&other),
    }
}
