//! Stored files, as they were uploaded: in the data directory, or in S3-compatible storage.
//!
//! **The file of a media object never changes**: it is stored once, read, and removed with the
//! object. So data derived from it can be cached as long as the object exists.
//!
//! `object_store` is asynchronous, and the public functions of this module block until it has finished:
//! call them only from threads that may block. In the core, only this module, `storage` and cms-cluster
//! contain asynchronous code. This module knows no media types and no pixels.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Read, Seek, Write},
    ops::Range,
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use cms_model::{
    clock::Timestamp,
    error::{Error, Result, path_error},
    ids::IdSource,
    media::{
        fingerprint::{Fingerprint, Fingerprinter},
        id::FileId,
    },
    settings::{Durability, MediaStorage, S3Bucket},
};
use cms_system::{folder, lock};
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::{ObjectStoreExt, PutMode, WriteMultipart, path::Path as Key};
use parking_lot::Mutex;

use super::{incoming::Incoming, s3, storage::Storage};

/// The location of files, within the data directory and within a bucket.
const FILES: &str = "media";
/// The location of incomplete uploads, within the data directory.
const INCOMING: &str = "incoming";
/// The object in a bucket that names the space which owns it.
const OWNER: &str = "cms-space";
/// Locked while a backup reads files, so that they are not removed.
const BACKUP_LOCK: &str = "backup.lock";
/// Locked while files are removed; shared by uploads whose file may exist already.
const REMOVAL_LOCK: &str = "removal.lock";
/// Bytes of a file per request to S3, and per read of a file that is copied or compared.
const CHUNK_BYTES: u64 = 5 * 1024 * 1024;
/// Maximum wait of a backup for running removals of files.
const MAX_LOCK_WAIT: Duration = Duration::from_secs(2);

/// Settings of the file storage.
#[derive(Clone)]
pub struct FileSettings {
    /// The data directory.
    pub folder: PathBuf,
    pub storage: MediaStorage,
    pub durability: Durability,
    /// Maximum size of an uploaded file, in bytes.
    pub limit: u64,
    pub ids: Arc<dyn IdSource>,
}

pub struct Files {
    settings: FileSettings,
    /// The id of the space that owns the files.
    space: String,
    /// Opened on first use: commands without media need no storage.
    open: OnceLock<Storage>,
    /// Whether `OWNER` was created by this instance.
    is_claimed: AtomicBool,
    /// The last error of the storage check.
    last_error: Mutex<Option<String>>,
}

/// A stored file.
pub struct StoredFile {
    pub id: FileId,
    /// Bytes.
    pub size: u64,
    pub stored_at: Timestamp,
}

impl Files {
    pub fn new(settings: FileSettings, space: String) -> Self {
        let (open, is_claimed) = (OnceLock::new(), AtomicBool::new(false));
        Self { settings, space, open, is_claimed, last_error: Mutex::default() }
    }

    /// Opens the storage, which otherwise happens on first use.
    ///
    /// # Errors
    /// [`Error::Busy`] when it does not respond, [`Error::Conflict`] when it belongs to another
    /// data directory, [`Error::Internal`] when it denies access.
    pub fn connect(&self) -> Result<()> {
        self.open().map(drop)
    }

    /// Checks whether S3 storage responds, for [`Self::last_error`].
    pub fn check_storage(&self) -> Result<()> {
        if self.settings.storage == MediaStorage::DataDirectory {
            return Ok(());
        }
        let response = self
            .open()
            .and_then(|storage| storage.found(storage.wait(storage.store.head(&Key::from(OWNER)))));
        *self.last_error.lock() = response.as_ref().err().map(|error| match error {
            Error::Internal(cause) => cause.to_string(),
            error => error.to_string(),
        });
        response.map(drop)
    }

    /// Returns the last known error of the storage, without a request.
    pub fn last_error(&self) -> Option<String> {
        if self.settings.storage == MediaStorage::DataDirectory {
            let usable = fs::create_dir_all(self.settings.folder.join(FILES));
            return usable.err().map(|error| error.to_string());
        }
        self.last_error.lock().clone()
    }

    /// Begins to receive a file.
    pub fn receive(&self) -> Result<Incoming> {
        Incoming::new(&self.incoming(), &*self.settings.ids, self.settings.limit)
    }

    /// Begins to receive a copy of a stored file, of any size.
    pub fn receive_copy(&self) -> Result<Incoming> {
        Incoming::new(&self.incoming(), &*self.settings.ids, u64::MAX)
    }

    /// The directory of incomplete uploads: on the disk of the data directory, also with S3
    /// storage.
    pub fn incoming(&self) -> PathBuf {
        self.settings.folder.join(INCOMING)
    }

    /// Stores a file under a new id. On return the file is durable, and no incomplete file is ever
    /// visible. Returns false if another upload has already stored the id.
    pub fn store(&self, id: &FileId, incoming: &mut Incoming) -> Result<bool> {
        let storage = self.open()?;
        if self.settings.storage != MediaStorage::DataDirectory {
            return storage.wait(send(storage, &key(id), incoming, PutMode::Create));
        }
        let from = self.complete(incoming)?;
        match storage.wait(storage.store.rename_if_not_exists(&from, &key(id))) {
            Ok(()) => Ok(true),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
            Err(error) => Err(Error::from_storage(error)),
        }
    }

    /// Replaces a damaged file by its original bytes, as [`Self::store`] stores a new one.
    pub fn repair(&self, id: &FileId, incoming: &mut Incoming) -> Result<()> {
        let storage = self.open()?;
        if self.settings.storage != MediaStorage::DataDirectory {
            return storage.wait(send(storage, &key(id), incoming, PutMode::Overwrite)).map(drop);
        }
        let from = self.complete(incoming)?;
        storage.wait(storage.store.rename(&from, &key(id))).map_err(Error::from_storage)
    }

    /// Makes a received file durable; returns its key in the data directory.
    fn complete(&self, incoming: &Incoming) -> Result<Key> {
        if self.settings.durability == Durability::Full {
            incoming.file().sync_all().map_err(Error::from_storage)?;
        }
        Ok(Key::from_iter([INCOMING, &name(incoming.path())]))
    }

    /// Returns the size of a file in bytes, if it exists.
    pub fn size(&self, id: &FileId) -> Result<Option<u64>> {
        let storage = self.open()?;
        let meta = storage.found(storage.wait(storage.store.head(&key(id))))?;
        Ok(meta.map(|meta| meta.size))
    }

    /// Reads a range of a file.
    pub fn read(&self, id: &FileId, range: Range<u64>) -> Result<Option<Bytes>> {
        let wanted = range.end - range.start;
        if wanted == 0 {
            return Ok(Some(Bytes::new()));
        }
        let storage = self.open()?;
        let read = storage.found(storage.wait(storage.store.get_range(&key(id), range)))?;
        match read {
            Some(bytes) if bytes.len() as u64 != wanted => {
                Err(Error::internal(format!("the file {id} is shorter than it was")))
            }
            read => Ok(read),
        }
    }

    /// Copies a file of this size.
    pub fn copy(&self, id: &FileId, size: u64, output: &mut impl Write) -> Result<()> {
        for chunk in chunks(size) {
            let part = self.read(id, chunk)?;
            let part = part.ok_or_else(|| Error::internal(format!("the file {id} is missing")))?;
            output.write_all(&part).map_err(Error::from_storage)?;
        }
        Ok(())
    }

    /// Reads a complete file and returns its size and SHA-256, if it exists; or the error of
    /// `ensure_running`, which is called before each chunk.
    pub fn fingerprint(
        &self,
        id: &FileId,
        ensure_running: &dyn Fn() -> Result<()>,
    ) -> Result<Option<Fingerprint>> {
        let Some(size) = self.size(id)? else { return Ok(None) };
        let mut fingerprinter = Fingerprinter::default();
        for chunk in chunks(size) {
            ensure_running()?;
            let Some(part) = self.read(id, chunk)? else { return Ok(None) };
            fingerprinter.write_all(&part).map_err(Error::from_storage)?;
        }
        Ok(Some(fingerprinter.finish()))
    }

    /// Prevents the removal of files while the lock is held, for a backup. Files that a process would remove during
    /// this time stay until the clean-up removes them.
    ///
    /// # Errors
    /// [`Error::Busy`] while another backup holds the lock.
    pub fn lock_for_backup(&self) -> Result<File> {
        let lock = self.open_backup_lock()?;
        // A removal holds the lock briefly, a backup holds it for long.
        if lock::wait(MAX_LOCK_WAIT, || lock.try_lock()).map_err(Error::from_io)? {
            Ok(lock)
        } else {
            Err(Error::Busy("another backup is running".to_owned()))
        }
    }

    fn open_backup_lock(&self) -> Result<File> {
        lock::open(&self.settings.folder.join(BACKUP_LOCK))
    }

    /// Prevents the removal of files by any process while it is held: [`Self::lock_for_removal`] waits.
    pub fn lock_for_upload(&self) -> Result<File> {
        self.lock_removal(File::lock_shared)
    }

    /// Waits until no process holds the lock of [`Self::lock_for_upload`]. No process gets that lock while the returned
    /// lock is held. Callers of [`Self::remove`] hold it.
    pub fn lock_for_removal(&self) -> Result<File> {
        self.lock_removal(File::lock)
    }

    fn lock_removal(&self, take: fn(&File) -> io::Result<()>) -> Result<File> {
        let path = self.settings.folder.join(REMOVAL_LOCK);
        let lock = lock::open(&path)?;
        take(&lock).map_err(|error| path_error(&path, &error))?;
        Ok(lock)
    }

    /// Removes files, unless a backup holds its lock; missing files count as removed. Returns whether they were
    /// removed. The caller holds [`Self::lock_for_removal`], unless nothing else uses the data directory.
    pub fn remove(&self, ids: &[FileId]) -> Result<bool> {
        let lock = self.open_backup_lock()?;
        if !lock::wait(Duration::ZERO, || lock.try_lock_shared()).map_err(Error::from_io)? {
            return Ok(false);
        }
        let storage = self.open()?;
        let keys: Vec<_> = ids.iter().map(|id| Ok(key(id))).collect();
        storage.wait(async {
            let mut removed = storage.store.delete_stream(stream::iter(keys).boxed());
            while let Some(outcome) = removed.next().await {
                storage.found(outcome)?;
            }
            Ok(true)
        })
    }

    /// Removes `OWNER` if it was created by this instance, so that another space can use the bucket.
    pub fn release(&self) -> Result<()> {
        if !self.is_claimed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let storage = self.open()?;
        storage.found(storage.wait(storage.store.delete(&Key::from(OWNER)))).map(drop)
    }

    /// Returns all files, in no particular order, or the error of `ensure_running`, which is called
    /// before each. Other entries are ignored.
    pub fn list(&self, ensure_running: &dyn Fn() -> Result<()>) -> Result<Vec<StoredFile>> {
        if self.settings.storage == MediaStorage::DataDirectory {
            return list_folder(&self.settings.folder.join(FILES), ensure_running);
        }
        let storage = self.open()?;
        let listed = storage.store.list(Some(&Key::from(FILES)));
        let stored =
            listed.map_err(|error| storage.failure(error)).try_filter_map(|meta| async move {
                ensure_running()?;
                let id = meta.location.filename().and_then(FileId::parse);
                let stored_at = Timestamp(meta.last_modified.timestamp_micros());
                let is_ours = |id: &FileId| key(id) == meta.location;
                Ok(id.filter(is_ours).map(|id| StoredFile { id, size: meta.size, stored_at }))
            });
        storage.wait(stored.try_collect())
    }

    /// Removes uploads that began before a point in time and were never completed.
    pub fn remove_unfinished(&self, before: Timestamp) -> Result<()> {
        let before = before.system_time();
        for path in entries(&self.incoming())? {
            let modified = fs::metadata(&path).and_then(|meta| meta.modified());
            if modified.is_ok_and(|modified| modified < before) {
                fs::remove_file(path).ok();
            }
        }
        Ok(())
    }

    fn open(&self) -> Result<&Storage> {
        if let Some(storage) = self.open.get() {
            return Ok(storage);
        }
        let storage = match &self.settings.storage {
            MediaStorage::DataDirectory => {
                Storage::folder(&self.settings.folder, self.settings.durability)?
            }
            MediaStorage::S3(bucket) => {
                let storage = Storage::bucket(bucket)?;
                storage.wait(self.claim(&storage, bucket))?;
                storage
            }
        };
        Ok(self.open.get_or_init(|| storage))
    }

    /// Rejects a bucket that another space uses: each space would remove the files of the other as
    /// orphans.
    async fn claim(&self, storage: &Storage, bucket: &S3Bucket) -> Result<()> {
        let key = Key::from(OWNER);
        let owner = async { storage.store.get(&key).await?.bytes().await };
        match storage.found(owner.await)? {
            Some(owner) if owner == self.space => Ok(()),
            Some(owner) => Err(Error::Conflict(format!(
                "{bucket} keeps the files of another data directory: the object {OWNER} there names the \
                 space {}, this folder is the space {}",
                String::from_utf8_lossy(&owner).chars().take(36).collect::<String>(),
                self.space
            ))),
            None => {
                let put = storage.store.put(&key, self.space.clone().into()).await;
                put.map_err(|error| storage.failure(error))?;
                self.is_claimed.store(true, Ordering::Relaxed);
                Ok(())
            }
        }
    }
}

/// Sends a file, a large one in parts; returns false if a file with this id is already stored.
/// Parts of a failed upload are removed.
///
/// First checks whether the file exists. A small file is also sent with the condition that it does
/// not exist, if the service supports conditions. Without it, and with large files, uploads that store
/// the same id at the same time may both succeed: the caller makes sure that they have the same content.
async fn send(
    storage: &Storage,
    key: &Key,
    incoming: &mut Incoming,
    mode: PutMode,
) -> Result<bool> {
    let (store, failure) = (&storage.store, |error| storage.failure(error));
    if mode == PutMode::Create && storage.found(store.head(key).await)?.is_some() {
        return Ok(false);
    }
    incoming.file().rewind().map_err(Error::from_storage)?;
    if incoming.size() <= CHUNK_BYTES {
        let content = next_part(incoming)?;
        return match store.put_opts(key, content.clone().into(), mode.into()).await {
            Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
            Err(error) if s3::lacks_conditions(&error) => {
                store.put(key, content.into()).await.map(|_| true).map_err(failure)
            }
            stored => stored.map(|_| true).map_err(failure),
        };
    }
    let mut upload = WriteMultipart::new(store.put_multipart(key).await.map_err(failure)?);
    let sent = async {
        loop {
            let part = next_part(incoming)?;
            if part.is_empty() {
                return Ok(true);
            }
            upload.wait_for_capacity(1).await.map_err(failure)?;
            upload.put(part);
        }
    };
    match sent.await {
        Ok(is_new) => upload.finish().await.map(|_| is_new).map_err(failure),
        Err(error) => {
            upload.abort().await.ok();
            Err(error)
        }
    }
}

/// Returns the files of a directory, which may not exist yet.
fn list_folder(folder: &Path, ensure_running: &dyn Fn() -> Result<()>) -> Result<Vec<StoredFile>> {
    let mut files = Vec::new();
    for path in entries(folder)? {
        ensure_running()?;
        let name = name(&path);
        let Some(id) = FileId::parse(&name).filter(|id| id.to_string() == name) else { continue };
        match fs::metadata(&path) {
            Ok(meta) if meta.is_file() => {
                let modified = meta.modified().map_err(Error::from_storage)?;
                // A copy keeps the modification time of its source, although it is new here.
                let since = meta.created().map_or(modified, |created| created.max(modified));
                files.push(StoredFile { id, size: meta.len(), stored_at: Timestamp::of(since) });
            }
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(path_error(&path, &error)),
        }
    }
    Ok(files)
}

/// Returns the entries of a directory, which may not exist yet.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    folder::entries(folder).map_err(|error| path_error(folder, &error))
}

/// Reads the data of one request; empty at the end of the file.
fn next_part(incoming: &Incoming) -> Result<Bytes> {
    let mut part = Vec::new();
    incoming.file().take(CHUNK_BYTES).read_to_end(&mut part).map_err(Error::from_storage)?;
    Ok(part.into())
}

/// The ranges in which a file of this size is read.
fn chunks(size: u64) -> impl Iterator<Item = Range<u64>> {
    let starts = (0..size.div_ceil(CHUNK_BYTES)).map(|number| number * CHUNK_BYTES);
    starts.map(move |start| start..size.min(start + CHUNK_BYTES))
}

fn key(id: &FileId) -> Key {
    Key::from_iter([FILES, &id.to_string()])
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
