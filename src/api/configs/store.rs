//! [`Configs`]: a service's configs as rows of the store.

use std::marker::PhantomData;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::api::configs::config::{Config, ConfigSettings};
use crate::api::configs::list::{ConfigFilter, ListConfigsRequest, ListedConfig, Page};
use crate::api::error::ApiError;
use crate::base::clock::{SharedClock, Timestamp};
use crate::base::id::ConfigId;
use crate::crypto::random::{self, RandomError};
use crate::store::{Change, Key, NewRow, Pages, Precondition, Records, Row, StoreError, update};

/// The most configs in one store. Several processes that make configs at the same moment may pass it by a few.
pub const MAX_CONFIGS: usize = 1000;

/// The most bytes of one config, as it is stored.
pub const MAX_BYTES: usize = 1 << 20;

/// Rows read at one time: with their largest size they should not fill the memory.
const PAGE: u32 = 16;

/// Bytes of configs that one page of a list holds before it ends early.
const PAGE_BYTES: usize = 8 << 20;

/// Why a config could not be had or written.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// No config has this id.
    #[error("there is no such config")]
    Unknown,
    /// The config of this id is another service's.
    #[error("the config is another service's")]
    Elsewhere,
    /// The config was written since the caller read it.
    #[error("the config was changed by somebody else")]
    Stale,
    /// There are [`MAX_CONFIGS`] already.
    #[error("there are {MAX_CONFIGS} configs already")]
    Many,
    /// It takes more than [`MAX_BYTES`].
    #[error("a config takes at most {MAX_BYTES} bytes")]
    Large,
    /// A row that cannot be read.
    #[error("a config's row cannot be read; it may be from a later version of this program")]
    Row,
    /// No randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ConfigError {
    /// How it is answered where it is no fault of the call.
    pub(crate) fn unread(&self) -> ApiError {
        match self {
            Self::Store(error) => ApiError::store(error, "configs"),
            _ => ApiError::Internal("configs"),
        }
    }
}

/// One service's configs in one store. Cheap to clone.
pub struct Configs<S> {
    records: Arc<dyn Records>,
    clock: SharedClock,
    settings: PhantomData<fn() -> S>,
}

impl<S> Clone for Configs<S> {
    fn clone(&self) -> Self {
        Self { records: Arc::clone(&self.records), clock: Arc::clone(&self.clock), settings: PhantomData }
    }
}

/// A row's JSON; times are milliseconds since the epoch. The id is the row's, and so is the version.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredConfig<S> {
    created_at: u64,
    updated_at: u64,
    settings: S,
}

/// What of a row a list needs to choose and to order.
#[derive(Deserialize)]
struct Times {
    created_at: u64,
    updated_at: u64,
}

impl<S: ConfigSettings> Configs<S> {
    /// The configs in this store.
    pub fn new(records: Arc<dyn Records>, clock: SharedClock) -> Self {
        Self { records, clock, settings: PhantomData }
    }

    /// Makes a config.
    ///
    /// # Errors
    /// [`ConfigError::Many`], [`ConfigError::Large`], or what the store says.
    pub async fn create(&self, settings: S) -> Result<Config<S>, ConfigError> {
        self.create_below(MAX_CONFIGS, settings).await
    }

    async fn create_below(&self, most: usize, settings: S) -> Result<Config<S>, ConfigError> {
        if self.listed(&ConfigFilter::default()).await?.len() >= most {
            return Err(ConfigError::Many);
        }
        let now = self.clock.now();
        let id = ConfigId::from_random(random::bytes()?);
        let config = Config { id, version: 1, created_at: now, updated_at: now, settings };
        self.records.put_if(&key::<S>(&config.id), Precondition::Absent, entry(&config)?).await?;
        Ok(config)
    }

    /// The config of this id.
    ///
    /// # Errors
    /// [`ConfigError::Unknown`], or what the store says.
    pub async fn get(&self, id: &ConfigId) -> Result<Config<S>, ConfigError> {
        self.row(id).await.map(|(_, config)| config)
    }

    /// Puts other settings in place of those that were read at `updated_at`.
    ///
    /// # Errors
    /// [`ConfigError::Unknown`], [`ConfigError::Stale`], [`ConfigError::Large`], or what the store says.
    pub async fn update(
        &self,
        id: &ConfigId,
        updated_at: Timestamp,
        settings: S,
    ) -> Result<Config<S>, ConfigError> {
        let (row, config) = self.row(id).await?;
        if config.updated_at != updated_at {
            return Err(ConfigError::Stale);
        }
        let expected = Precondition::Version(row.version);
        // The time tells versions apart, so no two share a millisecond, be the clock set back or not.
        let later = Timestamp::from_millis(config.updated_at.as_millis().saturating_add(1));
        let updated_at = self.clock.now().max(later);
        let config = Config { version: expected.next(), updated_at, settings, ..config };
        match self.records.put_if(&row.key, expected, entry(&config)?).await {
            Ok(_) => Ok(config),
            Err(StoreError::Conflict) => Err(ConfigError::Stale),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a config, whatever its version, and returns it as it last was.
    ///
    /// # Errors
    /// [`ConfigError::Unknown`], or what the store says.
    pub async fn delete(&self, id: &ConfigId) -> Result<Config<S>, ConfigError> {
        let key = key::<S>(id);
        let removed = update::<_, ConfigError>(self.records.as_ref(), &key, |row| match row {
            Some(row) => Ok(Change::Remove(Some(read::<S>(id, &row)?))),
            None => Ok(Change::Leave(None)),
        });
        match removed.await? {
            Some(config) => Ok(config),
            None => Err(self.unknown(id).await),
        }
    }

    /// One page of the configs that the filter takes, in order.
    ///
    /// # Errors
    /// What the store says.
    pub async fn list(&self, request: &ListConfigsRequest) -> Result<Page<S>, ConfigError> {
        let listed = self.listed(&request.filter).await?;
        let count = listed.len();
        let mut rest = request.after(listed).into_iter().peekable();
        let mut page = Page { count, items: Vec::new(), last: String::new() };
        let mut bytes = 0;
        while let Some(next) = rest.next() {
            match self.row(&next.id).await {
                Ok((row, config)) => {
                    bytes += row.entry.value.len();
                    page.items.push(config);
                }
                // Removed since it was listed.
                Err(ConfigError::Unknown) => {}
                Err(error) => return Err(error),
            }
            if (page.items.len() >= request.size() || bytes >= PAGE_BYTES) && rest.peek().is_some() {
                page.last = request.cursor(&next);
                break;
            }
        }
        Ok(page)
    }

    async fn listed(&self, filter: &ConfigFilter) -> Result<Vec<ListedConfig>, ConfigError> {
        let mut all = Vec::new();
        let mut pages = Pages::all(self.records.as_ref(), S::ROWS).of(PAGE);
        while let Some(page) = pages.next().await? {
            for row in &page {
                let times: Times = serde_json::from_slice(&row.entry.value).map_err(|_| ConfigError::Row)?;
                let listed = ListedConfig {
                    id: ConfigId::parse(row.key.id()).ok_or(ConfigError::Row)?,
                    created_at: Timestamp::from_millis(times.created_at),
                    updated_at: Timestamp::from_millis(times.updated_at),
                };
                if filter.takes(&listed) {
                    all.push(listed);
                }
            }
        }
        Ok(all)
    }

    async fn row(&self, id: &ConfigId) -> Result<(Row, Config<S>), ConfigError> {
        let Some(row) = self.records.get(&key::<S>(id)).await? else { return Err(self.unknown(id).await) };
        let config = read(id, &row)?;
        Ok((row, config))
    }
}

/// The kinds of rows of all services.
const ROWS: [&str; 2] = ["redact_config", "sanitize_config"];

impl<S: ConfigSettings> Configs<S> {
    /// What there is to say of an id that no config of this service has.
    async fn unknown(&self, id: &ConfigId) -> ConfigError {
        for rows in ROWS.into_iter().filter(|rows| *rows != S::ROWS) {
            match self.records.get(&Key::new(rows, id.to_string())).await {
                Ok(Some(_)) => return ConfigError::Elsewhere,
                Ok(None) => {}
                Err(error) => return error.into(),
            }
        }
        ConfigError::Unknown
    }
}

impl<S> std::fmt::Debug for Configs<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Configs(..)")
    }
}

fn key<S: ConfigSettings>(id: &ConfigId) -> Key {
    Key::new(S::ROWS, id.to_string())
}

fn read<S: ConfigSettings>(id: &ConfigId, row: &Row) -> Result<Config<S>, ConfigError> {
    let stored: StoredConfig<S> = serde_json::from_slice(&row.entry.value).map_err(|_| ConfigError::Row)?;
    Ok(Config {
        id: id.clone(),
        version: row.version,
        created_at: Timestamp::from_millis(stored.created_at),
        updated_at: Timestamp::from_millis(stored.updated_at),
        settings: stored.settings,
    })
}

fn entry<S: ConfigSettings>(config: &Config<S>) -> Result<NewRow, ConfigError> {
    let stored = StoredConfig {
        created_at: config.created_at.as_millis(),
        updated_at: config.updated_at.as_millis(),
        settings: config.settings.clone(),
    };
    let bytes = serde_json::to_vec(&stored).map_err(|_| ConfigError::Row)?;
    if bytes.len() > MAX_BYTES {
        return Err(ConfigError::Large);
    }
    Ok(NewRow::lasting(bytes))
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
