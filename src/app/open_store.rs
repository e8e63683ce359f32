//! [`OpenStore`]: the store, as the configuration says where it is, and the runtime that waits for it.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use tokio::runtime::Runtime;

use crate::api::token::Tokens;
use crate::app::error::AppError;
use crate::app::master;
use crate::base::clock::{SharedClock, SystemClock};
use crate::config::Config;
use crate::config::settings::{Settings, Store};
use crate::store::postgres::Database;
use crate::store::{
    Blobs, EmbeddedRecords, LogLines, Objects, PostgresRecords, Records, S3, StoreError, TimedRecords,
    private,
};
use crate::telemetry::Metrics;
use crate::vault::{Vault, VaultError};

/// The embedded store's file, in the data folder.
const EMBEDDED: &str = "portcullis.sqlite";

/// The store and what lies in it.
pub struct OpenStore {
    /// For everything of ours that waits; outlives the server.
    pub io: Runtime,
    /// Reads time.
    pub clock: SharedClock,
    /// Rows.
    pub records: Arc<dyn Records>,
    /// Lines of logs.
    pub lines: Arc<dyn LogLines>,
    /// API tokens.
    pub tokens: Arc<Tokens>,
    /// Metrics.
    pub metrics: Arc<Metrics>,
}

impl OpenStore {
    /// Opens the store: the configured database, or the file in the data folder. The folder is made if it is not
    /// there.
    ///
    /// # Errors
    /// A folder, a file or a database that cannot be used.
    pub fn at(settings: &Settings) -> Result<Self, AppError> {
        let clock: SharedClock = Arc::new(SystemClock);
        let io = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("io")
            .enable_all()
            .build();
        let io = io.map_err(|error| AppError::Io(format!("the runtime: {error}")))?;
        let data: &Path = &settings.data;
        let at = |path: &Path| {
            let path = path.to_owned();
            move |error| AppError::Store { path, error }
        };
        private::folder(data).map_err(at(data))?;
        let (records, lines): (Arc<dyn Records>, Arc<dyn LogLines>) = match database(&settings.store) {
            Some(database) => {
                let opened = io.block_on(PostgresRecords::open(&database, Arc::clone(&clock)));
                both(opened.map_err(AppError::Database)?)
            }
            None => {
                let path = data.join(EMBEDDED);
                not_lost(settings, &path)?;
                let opened = io.block_on(EmbeddedRecords::open(&path, Arc::clone(&clock)));
                both(opened.map_err(at(&path))?)
            }
        };
        let metrics = Arc::new(Metrics::new()?);
        let records: Arc<dyn Records> =
            Arc::new(TimedRecords::new(records, metrics.work.clone(), Arc::clone(&clock)));
        let tokens = Arc::new(Tokens::new(Arc::clone(&records), Arc::clone(&clock)));
        Ok(Self { io, clock, records, lines, tokens, metrics })
    }

    /// Opens a store that is there: for whoever looks at what is in it, a new one would only hide that its place is
    /// mistyped.
    ///
    /// # Errors
    /// As [`OpenStore::at`]; also if there is none yet.
    pub fn existing(settings: &Settings) -> Result<Self, AppError> {
        let path = settings.data.join(EMBEDDED);
        if settings.store.url.is_none() {
            match path.try_exists() {
                Ok(true) => {}
                // It may well be there, and be another user's.
                Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                    return Err(AppError::Store { error: StoreError::io(&path, &error), path });
                }
                _ => return Err(AppError::NoStore(settings.data.to_path_buf())),
            }
        }
        Self::at(settings)
    }

    /// Opens the vault that lies in the store.
    ///
    /// # Errors
    /// A master key that is missing, unreadable, or another store's.
    pub fn vault(&self, config: &Config) -> Result<Vault, AppError> {
        let records = Arc::clone(&self.records);
        let clock = Arc::clone(&self.clock);
        let opened = match master::is_own(config) {
            true => self.io.block_on(Vault::open_with_file(records, &master::file(config), clock)),
            false => self.io.block_on(async {
                let keys = master::keys(records.as_ref(), config).await?;
                Vault::open_with_any(records, &keys, clock).await
            }),
        };
        // What SQLite has beside its file would be taken for a part of the one that is put there instead.
        Ok(opened.inspect_err(|_| self.io.block_on(self.records.close()))?)
    }

    /// Opens the file store: the configured bucket, or the folder in the data folder.
    ///
    /// # Errors
    /// A folder or bucket that cannot be used.
    pub(super) fn files(&self, settings: &Settings) -> Result<Arc<dyn Blobs>, AppError> {
        let folder = settings.data.join("blobs");
        let Some(s3) = &settings.blobs.s3 else {
            let opened = Objects::local(&folder);
            return Ok(Arc::new(opened.map_err(|error| AppError::Store { path: folder, error })?));
        };
        let keys = s3.access_key.as_ref().zip(s3.secret_key.as_ref());
        let opened = Objects::s3(&S3 {
            bucket: s3.bucket.clone(),
            endpoint: s3.endpoint.as_deref().cloned(),
            region: s3.region.clone(),
            keys: keys.map(|(access, secret)| (access.value().clone(), secret.value().clone())),
            presigned: s3.presigned,
        });
        let unusable = |error| AppError::Bucket { bucket: s3.bucket.clone(), error };
        let opened = opened.map_err(unusable)?;
        self.io.block_on(opened.try_out()).map_err(unusable)?;
        Ok(Arc::new(opened))
    }
}

/// Looks, before a store is made, whether one was there: then the vault's own key is.
fn not_lost(settings: &Settings, path: &Path) -> Result<(), AppError> {
    let is_there = std::fs::metadata(path)
        .map_or_else(|error| error.kind() != ErrorKind::NotFound, |found| found.len() > 0);
    let key = master::file(settings);
    match !is_there && master::is_own(settings) && key.exists() {
        true => Err(VaultError::StoreMissing(key).into()),
        false => Ok(()),
    }
}

/// One store for rows and for lines.
fn both<S: Records + LogLines>(store: S) -> (Arc<dyn Records>, Arc<dyn LogLines>) {
    let store = Arc::new(store);
    (Arc::clone(&store) as Arc<dyn Records>, store)
}

/// The database that the settings name, if they name one.
fn database(store: &Store) -> Option<Database> {
    store.url.as_ref().map(|url| Database {
        url: url.value().clone(),
        tls: store.tls,
        ca: store.ca.as_deref().cloned(),
        connections: store.connections.get(),
        timeout: store.timeout.get(),
    })
}
