//! Which items a list shows, in which order, and how many at a time. Source: the vendor's OpenAPI schema of `/v2/list`;
//! the form of `last` is this project's.

use std::collections::{BTreeMap, HashMap};

use crate::base::clock::Timestamp;
use crate::base::id::ItemId;
use crate::base::listing::{Order, TimeBounds};
use crate::vault::VaultError;
use crate::vault::items::algorithm::ItemKind;
use crate::vault::items::folder::Path;
use crate::vault::items::object::{Item, KeyFacts, Label, Rotation};
use crate::vault::items::opened::RotationTime;
use crate::vault::items::state::VersionState;
use crate::vault::items::store::{FOLDERS, ITEMS, Items};

/// What a caller wants to see.
#[derive(Clone, Debug)]
pub struct ListItemsRequest {
    /// Which items.
    pub filter: ItemFilter,
    /// The place and the id behind which the page begins.
    pub after: Option<(String, String)>,
    /// Which way.
    pub order: Order,
    /// By what; equal ones are ordered by id.
    pub order_by: OrderBy,
    /// How many at the most.
    pub size: usize,
}

/// What a list is ordered by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the schema's")]
pub enum OrderBy {
    Id,
    #[default]
    CreatedAt,
    DestroyedAt,
    DisabledAt,
    LastRotated,
    NextRotation,
    Kind,
    Purpose,
    Name,
    Folder,
    Versions,
}

/// Which items are listed: those for which all that is set holds.
#[derive(Clone, Debug, Default)]
pub struct ItemFilter {
    /// What its texts have to be, by the names that [`ItemFilter::TEXTS`] has.
    pub texts: Vec<(&'static str, TextFilter)>,
    /// Where its times have to lie, by the names that [`ItemFilter::TIMES`] has. An item without the time is not listed.
    pub times: Vec<(&'static str, TimeBounds)>,
    /// It has all of these tags.
    pub tags: Vec<String>,
    /// It has these notes.
    pub metadata: BTreeMap<String, String>,
}

/// What a text has to be.
#[derive(Clone, Debug, Default)]
pub struct TextFilter {
    /// This.
    pub equal: Option<String>,
    /// Each of these is in it.
    pub contains: Vec<String>,
    /// One of these.
    pub within: Option<Vec<String>>,
}

/// One page of a list.
#[derive(Debug)]
pub struct Page {
    /// The items on it.
    pub items: Vec<ListedItem>,
    /// What [`ListItemsRequest::after`] has to be for the next page: the place and id of the last item, if there is one.
    pub last: Option<(String, String)>,
}

/// An item as a list shows it.
#[derive(Debug)]
#[expect(missing_docs, reason = "as in `Item` and `Opened`")]
pub struct ListedItem {
    pub id: ItemId,
    pub kind: ItemKind,
    pub label: Label,
    pub created_at: Timestamp,
    pub key: Option<KeyFacts>,
    pub settled: RotationTime,
    pub last_rotated: Option<Timestamp>,
    pub next_rotation: Option<Timestamp>,
    /// Of the newest version.
    pub state: Option<VersionState>,
    pub versions: usize,
    destroyed_at: Option<Timestamp>,
}

impl TextFilter {
    fn takes(&self, text: &str) -> bool {
        self.equal.as_ref().is_none_or(|wanted| wanted == text)
            && self.contains.iter().all(|part| text.contains(part.as_str()))
            && self.within.as_ref().is_none_or(|any| any.iter().any(|wanted| wanted == text))
    }
}

impl ItemFilter {
    /// The texts of an item that can be filtered by.
    pub const TEXTS: [&'static str; 6] = ["id", "name", "folder", "type", "algorithm", "purpose"];

    /// The times of an item that can be filtered by.
    pub const TIMES: [&'static str; 4] = ["created_at", "disabled_at", "last_rotated", "next_rotation"];

    fn takes(&self, item: &ListedItem) -> bool {
        self.texts.iter().all(|(name, wanted)| wanted.takes(&item.text(name)))
            && self.times.iter().all(|(name, wanted)| item.time(name).is_some_and(|time| wanted.takes(time)))
            && self.tags.iter().all(|tag| item.label.tags.contains(tag))
            && self.metadata.iter().all(|(name, value)| item.label.metadata.get(name) == Some(value))
    }
}

impl ListedItem {
    fn new(item: Item, settled: RotationTime) -> Self {
        Self {
            next_rotation: settled.next_rotation(&item),
            last_rotated: item.last_rotated(),
            destroyed_at: item.versions.iter().rev().find_map(|version| version.destroyed_at),
            state: item.versions.last().map(|version| version.state),
            versions: item.versions.len(),
            id: item.id,
            kind: item.kind,
            label: item.label,
            created_at: item.created_at,
            key: item.key,
            settled,
        }
    }

    /// Whether it is on at this time.
    pub fn is_enabled(&self, now: Timestamp) -> bool {
        self.label.is_enabled(now)
    }

    fn text(&self, name: &str) -> String {
        match name {
            "id" => self.id.to_string(),
            "name" => self.label.name.clone(),
            "folder" => self.label.folder.to_string(),
            "type" => self.kind.name().to_owned(),
            "algorithm" => self.key.map_or("", |key| key.algorithm.name()).to_owned(),
            "purpose" => self.key.map_or("", |key| key.purpose.name()).to_owned(),
            _ => String::new(),
        }
    }

    fn time(&self, name: &str) -> Option<Timestamp> {
        match name {
            "created_at" => Some(self.created_at),
            "disabled_at" => self.label.disabled_at,
            "last_rotated" => self.last_rotated,
            "next_rotation" => self.next_rotation,
            _ => None,
        }
    }

    fn place(&self, by: OrderBy) -> String {
        let number = |number: u64| format!("{number:020}");
        let time = |time: Option<Timestamp>| time.map(|time| number(time.as_millis())).unwrap_or_default();
        match by {
            OrderBy::Id => String::new(),
            OrderBy::CreatedAt => time(Some(self.created_at)),
            OrderBy::DestroyedAt => time(self.destroyed_at),
            OrderBy::DisabledAt => time(self.label.disabled_at),
            OrderBy::LastRotated => time(self.last_rotated),
            OrderBy::NextRotation => time(self.next_rotation),
            OrderBy::Kind => self.text("type"),
            OrderBy::Purpose => self.text("purpose"),
            OrderBy::Name => self.label.name.clone(),
            OrderBy::Folder => self.text("folder"),
            OrderBy::Versions => number(self.versions as u64),
        }
    }
}

impl From<ListedItem> for Item {
    /// The item without its versions.
    fn from(listed: ListedItem) -> Self {
        let ListedItem { id, kind, label, created_at, key, .. } = listed;
        Self { id, kind, label, created_at, key, versions: Vec::new() }
    }
}

impl Items {
    /// One page of the items and folders that the filter takes, in order.
    ///
    /// # Errors
    /// What the store says.
    pub async fn list(&self, ask: &ListItemsRequest) -> Result<Page, VaultError> {
        let mut folders: HashMap<Path, Rotation> = HashMap::new();
        // Only what fits on the page is kept, however many there are.
        let mut kept: BTreeMap<(String, String), ListedItem> = BTreeMap::new();
        let mut keep = |item: ListedItem| {
            let place = (item.place(ask.order_by), item.id.to_string());
            if ask.order.is_behind(&place, ask.after.as_ref()) && ask.filter.takes(&item) {
                kept.insert(place, item);
                if kept.len() > ask.size {
                    match ask.order {
                        Order::Ascending => kept.pop_last(),
                        Order::Descending => kept.pop_first(),
                    };
                }
            }
        };
        self.scan(FOLDERS, |_, item| {
            if let Some(path) = item.label.folder.join(&item.label.name) {
                folders.insert(path, item.label.rotation.clone());
            }
            let settled = RotationTime::of(&item, |_| None);
            keep(ListedItem::new(item, settled));
        })
        .await?;
        self.scan(ITEMS, |_, item| {
            let settled = RotationTime::of(&item, |path| folders.get(path));
            keep(ListedItem::new(item, settled));
        })
        .await?;
        let (places, mut items): (Vec<_>, Vec<_>) = kept.into_iter().unzip();
        let last = match ask.order {
            Order::Ascending => places.into_iter().next_back(),
            Order::Descending => {
                items.reverse();
                places.into_iter().next()
            }
        };
        Ok(Page { items, last })
    }
}
