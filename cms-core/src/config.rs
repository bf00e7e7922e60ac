//! What the core must be told to open a folder. Reading flags and environment is the callers' work.

use std::{path::PathBuf, sync::Arc, time::Duration};

use cms_model::{
    clock::Clock,
    ids::IdSource,
    limits,
    settings::{Durability, MediaStorage, NewDatabase},
};
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
            batch_limit: limits::DEFAULT_BATCH_LIMIT,
            max_types: None,
            max_objects: None,
            lenient_readonly: false,
            search_wait: limits::DEFAULT_SEARCH_WAIT,
            media: MediaStorage::default(),
            media_file_limit: limits::DEFAULT_MAX_UPLOAD_BYTES,
            render_cache: limits::DEFAULT_RENDER_CACHE_BYTES,
            http_webhooks: false,
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
        }
    }
}
