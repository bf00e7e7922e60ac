//! Settings of a data directory. The callers of this crate read flags and environment.

use std::{path::PathBuf, sync::Arc, time::Duration};

use cms_media::files::FileSettings;
use cms_model::{
    clock::Clock,
    context::Caller,
    error::{Error, Result},
    ids::IdSource,
    limits,
    settings::{Durability, MediaStorage, NewDatabase},
};
use cms_store::{Schemas, Store, cluster::database::SharedDatabase};
use cms_system::{clock::SystemClock, ids::RandomIds};

use crate::cluster;

/// A node of a cluster.
#[derive(Clone)]
pub struct ClusterConfig {
    /// The database that all nodes share.
    pub database: Arc<dyn SharedDatabase>,
    /// Name of the node, for operators.
    pub name: String,
    /// URL at which other nodes reach this one, if they do.
    pub address: Option<String>,
    /// Whether this node keeps the cluster from moving to a newer database schema.
    pub holds_upgrade: bool,
    /// Maximum staleness of reads of content; zero if they are strict, see
    /// docs/reference/cluster.md#read-consistency.
    pub read_bound: Duration,
    /// The database schemas of this program.
    pub schemas: Schemas,
}

impl ClusterConfig {
    pub fn new(database: Arc<dyn SharedDatabase>, name: impl Into<String>) -> Self {
        Self {
            database,
            name: name.into(),
            address: None,
            holds_upgrade: false,
            read_bound: Duration::ZERO,
            schemas: Schemas::default(),
        }
    }
}

/// Settings of one data directory.
#[derive(Clone)]
pub struct CoreConfig {
    /// The data directory.
    pub folder: PathBuf,
    pub new_database: NewDatabase,
    pub durability: Durability,
    /// The cluster of which the data directory is a node; none for a standalone one.
    pub cluster: Option<ClusterConfig>,
    /// Maximum elements of one batch create, patch or delete.
    pub batch_limit: usize,
    /// Maximum number of content types, built-in ones included; none means no quota.
    pub max_types: Option<u64>,
    /// Maximum number of live objects of all types; none means no quota.
    pub max_objects: Option<u64>,
    /// `readonly` applies to forms only, not to the API (see
    /// docs/reference/objects.md#read-only-properties).
    pub lenient_readonly: bool,
    /// Sessions cannot change content types: the team keeps them in files (see
    /// docs/reference/content-types.md#types-in-files).
    pub types_readonly: bool,
    /// Days for which the journal keeps changes (see docs/reference/activity.md).
    pub activity_days: i64,
    /// Maximum time that a search waits for earlier writes to be indexed (see
    /// docs/reference/search.md#the-search-index).
    pub search_wait: Duration,
    /// Maximum memory for rendered link targets, in bytes; 0 disables this cache.
    pub linked_object_cache: usize,
    pub media: MediaStorage,
    /// Maximum size of an uploaded file, in bytes.
    pub media_file_limit: u64,
    /// Maximum disk space for rendered images, in bytes.
    pub render_cache: u64,
    /// Webhooks may have `http://` URLs (see docs/reference/webhooks.md#network).
    pub http_webhooks: bool,
    /// Origins of front ends whose previews the admin page may show (see
    /// docs/reference/preview.md#preview-url).
    pub preview_origins: Vec<String>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn IdSource>,
}

impl CoreConfig {
    /// The defaults for a data directory.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            new_database: NewDatabase::default(),
            durability: Durability::default(),
            cluster: None,
            batch_limit: limits::DEFAULT_BATCH_LIMIT,
            max_types: None,
            max_objects: None,
            lenient_readonly: false,
            types_readonly: false,
            activity_days: limits::DEFAULT_ACTIVITY_DAYS,
            search_wait: limits::DEFAULT_SEARCH_WAIT,
            linked_object_cache: limits::DEFAULT_LINKED_OBJECT_CACHE_BYTES,
            media: MediaStorage::default(),
            media_file_limit: limits::DEFAULT_MEDIA_FILE_LIMIT_BYTES,
            render_cache: limits::DEFAULT_RENDER_CACHE_BYTES,
            http_webhooks: false,
            preview_origins: Vec::new(),
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
        }
    }

    /// Rejects callers that may not change content types.
    pub(crate) fn require_type_change(&self, caller: &Caller) -> Result<()> {
        caller.require_type_admin()?;
        if self.types_readonly && caller.has_session() { Err(Error::Forbidden) } else { Ok(()) }
    }

    /// Opens the database of the data directory, or the replica of a node.
    pub(crate) fn open_store(&self) -> Result<Store> {
        match &self.cluster {
            None => Store::open(&self.folder, self.new_database, self.durability),
            Some(cluster) => cluster::open_replica(self, cluster),
        }
    }

    /// The settings of the file storage.
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
