//! Stored files, as they were uploaded: in the data folder, or in S3-compatible storage.
//!
//! **The file of an id never changes**: it is stored once, read, and removed. So whatever is made of
//! it can be kept without asking whether it still is what it was made of.
//!
//! `object_store` is asynchronous and nothing else of the core is; this is the one place that waits
//! for it. Knows no media types and no pixels.

use std::{
    fs,
    io::{ErrorKind, Read, Seek},
    ops::Range,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::{
    ObjectStore, ObjectStoreExt, WriteMultipart, local::LocalFileSystem, path::Path as Key,
};
use tokio::runtime::Runtime;

use super::{id::FileId, incoming::Incoming};
use crate::{
    CoreConfig,
    clock::Timestamp,
    config::{Durability, MediaStorage},
    error::{Error, Result},
};

/// Where files are, within the data folder and within a bucket.
const FILES: &str = "media";
/// Where files are received, within the data folder.
const INCOMING: &str = "incoming";
/// Bytes of a file that are held in memory on their way to S3.
const PART: usize = 5 * 1024 * 1024;

pub(crate) struct Files {
    config: CoreConfig,
    open: OnceLock<Open>,
}

/// Storage in use. A command that has nothing to do with media opens none.
struct Open {
    store: Arc<dyn ObjectStore>,
    runtime: Runtime,
}

/// A file that is stored.
pub(crate) struct StoredFile {
    pub(crate) id: FileId,
    pub(crate) stored_at: Timestamp,
}

impl Files {
    pub(crate) fn new(config: &CoreConfig) -> Self {
        Self { config: config.clone(), open: OnceLock::new() }
    }

    /// Begins to receive a file.
    pub(crate) fn receive(&self) -> Result<Incoming> {
        Incoming::new(&self.incoming(), &*self.config.ids, self.config.media_file_limit)
    }

    /// Where files are received: on the disk of the data folder, wherever they are stored.
    pub(crate) fn incoming(&self) -> PathBuf {
        self.config.folder.join(INCOMING)
    }

    /// Stores a file under an id that has none; it is on disk when this returns.
    pub(crate) fn store(&self, id: &FileId, incoming: &mut Incoming) -> Result<()> {
        let Open { store, runtime } = self.open()?;
        if self.config.media == MediaStorage::Folder {
            if self.config.durability == Durability::Full {
                incoming.file().sync_all().map_err(internal)?;
            }
            let from = Key::from_iter([INCOMING, &name(incoming.path())]);
            return runtime.block_on(store.rename(&from, &key(id))).map_err(internal);
        }
        incoming.file().rewind().map_err(internal)?;
        runtime.block_on(async {
            let mut upload =
                WriteMultipart::new(store.put_multipart(&key(id)).await.map_err(internal)?);
            let mut part = vec![0; PART];
            loop {
                let read = incoming.file().read(&mut part).map_err(internal)?;
                if read == 0 {
                    break;
                }
                upload.wait_for_capacity(1).await.map_err(internal)?;
                upload.write(&part[..read]);
            }
            upload.finish().await.map_err(internal).map(drop)
        })
    }

    /// Returns the size of a file in bytes, if there is one.
    pub(crate) fn size(&self, id: &FileId) -> Result<Option<u64>> {
        let Open { store, runtime } = self.open()?;
        found(runtime.block_on(store.head(&key(id)))).map(|meta| meta.map(|meta| meta.size))
    }

    /// Reads a part of a file that lies within it.
    pub(crate) fn read(&self, id: &FileId, range: Range<u64>) -> Result<Option<Bytes>> {
        let Open { store, runtime } = self.open()?;
        found(runtime.block_on(store.get_range(&key(id), range)))
    }

    /// Removes files; those that are not there count as removed.
    pub(crate) fn remove(&self, ids: &[FileId]) -> Result<()> {
        let Open { store, runtime } = self.open()?;
        let keys: Vec<_> = ids.iter().map(|id| Ok(key(id))).collect();
        runtime.block_on(async {
            let mut removed = store.delete_stream(stream::iter(keys).boxed());
            while let Some(outcome) = removed.next().await {
                found(outcome)?;
            }
            Ok(())
        })
    }

    /// Returns all files, in no order. What else lies beside them is left out.
    pub(crate) fn list(&self) -> Result<Vec<StoredFile>> {
        let Open { store, runtime } = self.open()?;
        let stored = store.list(Some(&Key::from(FILES))).try_filter_map(|meta| async move {
            let id = meta.location.filename().and_then(FileId::parse);
            let stored_at = Timestamp(meta.last_modified.timestamp_micros());
            Ok(id.map(|id| StoredFile { id, stored_at }))
        });
        runtime.block_on(stored.try_collect()).map_err(internal)
    }

    /// Removes what was begun to be received before a point in time and never finished.
    pub(crate) fn remove_unfinished(&self, before: Timestamp) -> Result<()> {
        let entries = match fs::read_dir(self.incoming()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(internal(error)),
        };
        let before = before.system_time();
        for entry in entries {
            let path = entry.map_err(internal)?.path();
            let is_old = fs::metadata(&path).and_then(|meta| meta.modified());
            if is_old.is_ok_and(|modified| modified < before) {
                fs::remove_file(path).ok();
            }
        }
        Ok(())
    }

    fn open(&self) -> Result<&Open> {
        if let Some(open) = self.open.get() {
            return Ok(open);
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("media")
            .enable_all()
            .build()
            .map_err(internal)?;
        let store: Arc<dyn ObjectStore> = match &self.config.media {
            MediaStorage::Folder => {
                let folder = LocalFileSystem::new_with_prefix(&self.config.folder);
                let is_durable = self.config.durability == Durability::Full;
                Arc::new(folder.map_err(internal)?.with_fsync(is_durable))
            }
            MediaStorage::S3(bucket) => super::s3::open(bucket)?,
        };
        Ok(self.open.get_or_init(|| Open { store, runtime }))
    }
}

fn key(id: &FileId) -> Key {
    Key::from_iter([FILES, &id.to_string()])
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// None for what is not there.
fn found<T>(outcome: object_store::Result<T>) -> Result<Option<T>> {
    match outcome {
        Ok(found) => Ok(Some(found)),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(internal(error)),
    }
}

fn internal(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Internal(error.into())
}
