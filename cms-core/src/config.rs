//! What the core must be told to open a folder. Reading flags and environment is the callers' work.

use std::{path::PathBuf, sync::Arc, time::Duration};

use cms_media::files::FileSettings;
use cms_model::{
    clock::Clock,
    error::Result,
    ids::IdSource,
    limits,
    settings::{Durability, MediaStorage, NewDatabase},
};
use cms_store::Store;
use cms_system::{clock::SystemClock, ids::RandomIds};

/// Settings of one data folder.
#[derive(Clone)]
pub struct CoreConfig {
    /// The data folder; it is made when missing.
    pub folder: PathBuf,
    pub new_database: NewDatabase,
    pub durability: Durability,
    /// Elements of one batch create, patch or delete.
    pub batch_limit: usize,
    /// Most content types, built-in ones included; none means no quota.
    pub max_types: Option<u64>,
    /// Most live objects of all types; none means no quota.
    pub max_objects: Option<u64>,
    /// `readonly` binds editors of forms only, not the API (contract 3.6, the lenient reading).
    pub lenient_readonly: bool,
    /// How long a search waits for the index to show what was written before (contract 6.4).
    pub search_wait: Duration,
    pub media: MediaStorage,
    /// Largest file that may be uploaded, in bytes (contract 1.12).
    pub media_file_limit: u64,
    /// Most disk space for rendered pictures, in bytes.
    pub render_cache: u64,
    /// Webhooks may have `http://` addresses (contract 11.1).
    pub http_webhooks: bool,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn IdSource>,
}

impl CoreConfig {
    /// The defaults for a folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            new_database: NewDatabase::default(),
            durability: Durability::default(),
            batch_limit: limits::BATCH_DEFAULT,
            max_types: None,
            max_objects: None,
            lenient_readonly: false,
            search_wait: limits::SEARCH_WAIT,
            media: MediaStorage::default(),
            media_file_limit: limits::FILE_BYTES,
            render_cache: limits::RENDER_CACHE,
            http_webhooks: false,
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
        }
    }

    /// Opens the database of the folder.
    pub(crate) fn open_store(&self) -> Result<Store> {
        Store::open(&self.folder, self.new_database, self.durability)
    }

    /// What the storage of files has to know.
    pub(crate) fn files(&self) -> FileSettings {
        FileSettings {
            folder: self.folder.clone(),
            storage: self.media.clone(),
            durability: self.durability,
            limit: self.media_file_limit,
            ids: Arc::clone(&self.ids),
        }
    }
}
