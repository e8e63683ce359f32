//! Which configs a list shows, in which order, and how many at a time. Source: the vendor's OpenAPI schema of
//! `config/list`; what it leaves open (the default order, the form of `last`) is this project's.

use crate::api::configs::config::Config;
use crate::api::error::ApiError;
use crate::api::fields::ObjectFields;
use crate::base::clock::Timestamp;
use crate::base::id::ConfigId;
use crate::base::listing::{Order, TimeBounds};

/// The most configs on one page.
const SIZE: usize = 100;

/// The most texts of `id__contains` and of `id__in`.
const IDS: usize = 1000;

/// The members of a filter by each time.
const CREATED_AT: [&str; 5] =
    ["created_at", "created_at__gt", "created_at__gte", "created_at__lt", "created_at__lte"];
const UPDATED_AT: [&str; 5] =
    ["updated_at", "updated_at__gt", "updated_at__gte", "updated_at__lt", "updated_at__lte"];

/// What a caller wants to see.
#[derive(Clone, Debug, Default)]
pub struct ListConfigsRequest {
    /// Which configs.
    pub filter: ConfigFilter,
    /// Where the page before ended; `None` for the first page.
    pub last: Option<Cursor>,
    /// Which way.
    pub order: Order,
    /// By what.
    pub order_by: OrderBy,
    /// How many at the most; `None` for 100, which is also the limit.
    pub size: Option<usize>,
}

/// One page of a list.
#[derive(Clone, Debug)]
pub struct Page<S> {
    /// How many configs the filter takes, on all pages.
    pub count: usize,
    /// Those on this page.
    pub items: Vec<Config<S>>,
    /// What [`ListConfigsRequest::last`] has to be for the next page; empty on the last one.
    pub last: String,
}

/// What a list is ordered by. Equal times are ordered by id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OrderBy {
    /// The id.
    Id,
    /// When the config was made.
    #[default]
    Created,
    /// When it was last written.
    Updated,
}

/// Which configs are listed: those for which all that is set holds.
#[derive(Clone, Debug, Default)]
pub struct ConfigFilter {
    /// The id is this one.
    pub id: Option<String>,
    /// The id has each of these in it.
    pub id_contains: Vec<String>,
    /// The id is one of these.
    pub id_in: Option<Vec<String>>,
    /// The id is one of those that the caller's token may use; empty for all.
    pub usable: Vec<String>,
    /// The time it was made.
    pub created_at: TimeBounds,
    /// The time it was last written.
    pub updated_at: TimeBounds,
}

/// A config as far as a list has to know it.
#[derive(Clone, Debug)]
pub(super) struct ListedConfig {
    pub(super) id: ConfigId,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
}

/// A place between two configs of a list: behind the one with this time (0 where the order is by id) and id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor(Timestamp, String);

impl Cursor {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (time, id) = text.split_once('.')?;
        let time = time.parse().ok().map(Timestamp::from_millis)?;
        ConfigId::parse(id).map(|id| Self(time, id.to_string()))
    }
}

impl ConfigFilter {
    pub(super) fn takes(&self, config: &ListedConfig) -> bool {
        let id = config.id.to_string();
        self.id.as_ref().is_none_or(|wanted| *wanted == id)
            && self.id_contains.iter().all(|part| id.contains(part.as_str()))
            && self.id_in.as_ref().is_none_or(|ids| ids.contains(&id))
            && (self.usable.is_empty() || self.usable.contains(&id))
            && self.created_at.takes(config.created_at)
            && self.updated_at.takes(config.updated_at)
    }

    fn of(fields: &mut ObjectFields<'_>) -> Self {
        let texts = |fields: &mut ObjectFields<'_>, name| {
            fields.array(name, IDS, |value, at, faults| faults.text(value, at).map(str::to_owned))
        };
        Self {
            id: fields.text("id").map(str::to_owned),
            id_contains: texts(fields, "id__contains").unwrap_or_default(),
            id_in: texts(fields, "id__in"),
            usable: Vec::new(),
            created_at: fields.bounds(&CREATED_AT),
            updated_at: fields.bounds(&UPDATED_AT),
        }
    }
}

impl ListConfigsRequest {
    /// Reads the body of a call.
    ///
    /// # Errors
    /// All its faults.
    pub(super) fn read(mut fields: ObjectFields<'_>) -> Result<Self, ApiError> {
        fields.nulls_are_absent();
        fields.text("config_id");
        let filter = fields.object("filter", ConfigFilter::of).unwrap_or_default();
        let last = fields.last(Cursor::parse);
        let order = fields.order();
        let by = [("id", OrderBy::Id), ("created_at", OrderBy::Created), ("updated_at", OrderBy::Updated)];
        let order_by = fields.one_of("order_by", &by).unwrap_or_default();
        let size = fields.integer("size", 1).map(|size| usize::try_from(size).unwrap_or(SIZE));
        fields.close()?;
        Ok(Self { filter, last, order, order_by, size })
    }

    pub(super) fn size(&self) -> usize {
        self.size.unwrap_or(SIZE).min(SIZE)
    }

    /// Those behind the cursor, in order.
    pub(super) fn after(&self, mut listed: Vec<ListedConfig>) -> Vec<ListedConfig> {
        listed.sort_by_cached_key(|config| self.place(config));
        if self.order == Order::Descending {
            listed.reverse();
        }
        listed.retain(|config| self.order.is_behind(&self.place(config), self.last.as_ref()));
        listed
    }

    pub(super) fn cursor(&self, config: &ListedConfig) -> String {
        let Cursor(time, id) = self.place(config);
        format!("{}.{id}", time.as_millis())
    }

    fn place(&self, config: &ListedConfig) -> Cursor {
        let time = match self.order_by {
            OrderBy::Id => Timestamp::from_millis(0),
            OrderBy::Created => config.created_at,
            OrderBy::Updated => config.updated_at,
        };
        Cursor(time, config.id.to_string())
    }
}
