//! What the core must be told to open a folder. Reading flags and environment is the callers' work.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use crate::{
    clock::{Clock, SystemClock},
    ids::{IdSource, RandomIds},
    limits,
};

/// How a commit reaches the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// An acknowledged write survives a power cut.
    #[default]
    Full,
    /// An acknowledged write survives a crash of the process, but a power cut may take the last
    /// ones back. The database stays sound either way.
    Normal,
}

/// When opening a data folder makes a database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NewDatabase {
    /// A missing database is an error.
    Never,
    /// Unless the folder holds data of a database that is missing or has 0 bytes.
    #[default]
    InNewFolder,
    /// Also beside data of another database, which then belongs to nothing.
    Always,
}

/// Where uploaded files are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MediaStorage {
    /// In the data folder.
    #[default]
    Folder,
    /// In S3-compatible storage.
    S3(Bucket),
}

/// A place in S3-compatible storage that nothing but one data folder uses.
#[derive(Clone, PartialEq, Eq)]
pub struct Bucket {
    pub name: String,
    /// Begins all keys; may be empty.
    pub prefix: String,
    /// None means the one of Amazon for the region.
    pub endpoint: Option<String>,
    pub region: String,
    pub access_key_id: String,
    pub secret_access_key: String,
}

/// As an operator writes it.
impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}", self.name)?;
        if !self.prefix.is_empty() {
            write!(f, "/{}", self.prefix)?;
        }
        match &self.endpoint {
            Some(endpoint) => write!(f, " at {endpoint}"),
            None => Ok(()),
        }
    }
}

/// Without the secret.
impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, prefix, endpoint, region, .. } = self;
        f.debug_struct("Bucket")
            .field("name", name)
            .field("prefix", prefix)
            .field("endpoint", endpoint)
            .field("region", region)
            .finish_non_exhaustive()
    }
}

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
}
