//! Stored files, as they were uploaded: in the data folder, or in S3-compatible storage.
//!
//! **The file of an id never changes**: it is stored once, read, and removed. So whatever is made of
//! it can be kept without asking whether it still is what it was made of.
//!
//! `object_store` is asynchronous and nothing else of the core is; what waits for it must be called
//! from threads that may block. Knows no media types and no pixels.

use std::{
    fs::{self, File, TryLockError},
    io::{ErrorKind, Read, Seek, Write},
    ops::Range,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    thread::sleep,
    time::{Duration, Instant},
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
use cms_system::lock;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::{ObjectStore, ObjectStoreExt, WriteMultipart, path::Path as Key};

use super::{incoming::Incoming, s3, storage::Storage};

/// Where files are, within the data folder and within a bucket.
const FILES: &str = "media";
/// Where files are received, within the data folder.
const INCOMING: &str = "incoming";
/// Says within a bucket which space keeps its files there.
const OWNER: &str = "cms-space";
/// Keeps files from being removed while a backup reads them.
const KEEPING: &str = "backup.lock";
/// Bytes of a file that are sent to S3, or read at a time.
const PART: u64 = 5 * 1024 * 1024;
/// How long a backup waits for others to finish removing files.
const REMOVING: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(10);

/// Where and how files are kept.
#[derive(Clone)]
pub struct FileSettings {
    /// The data folder.
    pub folder: PathBuf,
    pub storage: MediaStorage,
    pub durability: Durability,
    /// Largest file that may be uploaded, in bytes.
    pub limit: u64,
    pub ids: Arc<dyn IdSource>,
}

pub struct Files {
    settings: FileSettings,
    /// The id of the space whose files these are.
    space: String,
    /// A command that has nothing to do with media opens none.
    open: OnceLock<Storage>,
    /// Why the storage did not answer when it was looked at last.
    fault: Mutex<Option<String>>,
}

/// A file that is stored.
pub struct StoredFile {
    pub id: FileId,
    /// Bytes.
    pub size: u64,
    pub stored_at: Timestamp,
}

impl Files {
    pub fn new(settings: FileSettings, space: String) -> Self {
        Self { settings, space, open: OnceLock::new(), fault: Mutex::default() }
    }

    /// Reaches for the storage, which otherwise happens when it is needed first.
    ///
    /// # Errors
    /// [`Error::Busy`] when it does not answer, [`Error::Conflict`] when it belongs to another data
    /// folder, [`Error::Internal`] when it refuses us.
    pub fn connect(&self) -> Result<()> {
        self.open().map(drop)
    }

    /// Looks whether storage outside the folder answers, for [`Self::fault`].
    pub fn watch(&self) -> Result<()> {
        if self.settings.storage == MediaStorage::Folder {
            return Ok(());
        }
        let looked =
            self.open().and_then(|open| self.found(open.wait(open.store.head(&Key::from(OWNER)))));
        *self.lock_fault() = looked.as_ref().err().map(|error| match error {
            Error::Internal(cause) => cause.to_string(),
            error => error.to_string(),
        });
        looked.map(drop)
    }

    /// Says why files cannot be had, as far as that is known without asking for one.
    pub fn fault(&self) -> Option<String> {
        if self.settings.storage == MediaStorage::Folder {
            let usable = fs::create_dir_all(self.settings.folder.join(FILES));
            return usable.err().map(|error| error.to_string());
        }
        self.lock_fault().clone()
    }

    fn lock_fault(&self) -> MutexGuard<'_, Option<String>> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to receive a file.
    pub fn receive(&self) -> Result<Incoming> {
        Incoming::new(&self.incoming(), &*self.settings.ids, self.settings.limit)
    }

    /// Where files are received: on the disk of the data folder, wherever they are stored.
    pub fn incoming(&self) -> PathBuf {
        self.settings.folder.join(INCOMING)
    }

    /// Stores a file under an id that has none; it is on disk when this returns, and before that
    /// nothing of it is there. Returns false when somebody else was quicker.
    pub fn store(&self, id: &FileId, incoming: &mut Incoming) -> Result<bool> {
        let open = self.open()?;
        if self.settings.storage != MediaStorage::Folder {
            open.wait(self.send(&*open.store, &key(id), incoming))?;
            return Ok(true);
        }
        if self.settings.durability == Durability::Full {
            incoming.file().sync_all().map_err(Error::from_storage)?;
        }
        let from = Key::from_iter([INCOMING, &name(incoming.path())]);
        match open.wait(open.store.rename_if_not_exists(&from, &key(id))) {
            Ok(()) => Ok(true),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
            Err(error) => Err(Error::from_storage(error)),
        }
    }

    /// Sends a file, a larger one in parts. Parts that do not become a file are taken back.
    async fn send(
        &self,
        store: &dyn ObjectStore,
        key: &Key,
        incoming: &mut Incoming,
    ) -> Result<()> {
        let failure = |error| self.failure(error);
        incoming.file().rewind().map_err(Error::from_storage)?;
        if incoming.size() <= PART {
            let whole = next_part(incoming)?;
            return store.put(key, whole.into()).await.map(drop).map_err(failure);
        }
        let mut upload = WriteMultipart::new(store.put_multipart(key).await.map_err(failure)?);
        let sent = async {
            loop {
                let part = next_part(incoming)?;
                if part.is_empty() {
                    return Ok(());
                }
                upload.wait_for_capacity(1).await.map_err(failure)?;
                upload.put(part);
            }
        };
        match sent.await {
            Ok(()) => upload.finish().await.map(drop).map_err(failure),
            Err(error) => {
                upload.abort().await.ok();
                Err(error)
            }
        }
    }

    /// Returns the size of a file in bytes, if there is one.
    pub fn size(&self, id: &FileId) -> Result<Option<u64>> {
        let open = self.open()?;
        let meta = self.found(open.wait(open.store.head(&key(id))))?;
        Ok(meta.map(|meta| meta.size))
    }

    /// Reads a part of a file that lies within it.
    pub fn read(&self, id: &FileId, range: Range<u64>) -> Result<Option<Bytes>> {
        let wanted = range.end - range.start;
        if wanted == 0 {
            return Ok(Some(Bytes::new()));
        }
        let open = self.open()?;
        let read = self.found(open.wait(open.store.get_range(&key(id), range)))?;
        match read {
            Some(bytes) if bytes.len() as u64 != wanted => {
                Err(Error::internal(format!("the file {id} is shorter than it was")))
            }
            read => Ok(read),
        }
    }

    /// Reads a whole file and returns its size and SHA-256, if there is one.
    pub fn fingerprint(&self, id: &FileId) -> Result<Option<Fingerprint>> {
        let Some(size) = self.size(id)? else { return Ok(None) };
        let mut fingerprinter = Fingerprinter::default();
        let mut start = 0;
        while start < size {
            let end = size.min(start + PART);
            let Some(part) = self.read(id, start..end)? else { return Ok(None) };
            fingerprinter.write_all(&part).map_err(Error::from_storage)?;
            start = end;
        }
        Ok(Some(fingerprinter.finish()))
    }

    /// Keeps all files for as long as the lock lives, for a backup: what is to be removed meanwhile
    /// is left to a sweep, in every process.
    ///
    /// # Errors
    /// [`Error::Busy`] when somebody else does so.
    pub fn keep(&self) -> Result<File> {
        let lock = self.keeping()?;
        let begun = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                // Whoever removes a file has the lock for a moment, a backup has it for long.
                Err(TryLockError::WouldBlock) if begun.elapsed() < REMOVING => sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::Busy("another backup is being made".to_owned()));
                }
                Err(TryLockError::Error(error)) => return Err(Error::from_io(error)),
            }
        }
    }

    fn keeping(&self) -> Result<File> {
        lock::open(&self.settings.folder.join(KEEPING))
    }

    /// Removes files, unless somebody keeps them; those that are not there count as removed. Tells
    /// whether they were removed.
    pub fn remove(&self, ids: &[FileId]) -> Result<bool> {
        let lock = self.keeping()?;
        match lock.try_lock_shared() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) => return Err(Error::from_io(error)),
        }
        let open = self.open()?;
        let keys: Vec<_> = ids.iter().map(|id| Ok(key(id))).collect();
        open.wait(async {
            let mut removed = open.store.delete_stream(stream::iter(keys).boxed());
            while let Some(outcome) = removed.next().await {
                self.found(outcome)?;
            }
            Ok(true)
        })
    }

    /// Returns all files, in no order. What else lies beside them is left out.
    pub fn list(&self) -> Result<Vec<StoredFile>> {
        if self.settings.storage == MediaStorage::Folder {
            return list_folder(&self.settings.folder.join(FILES));
        }
        let open = self.open()?;
        let stored = open.store.list(Some(&Key::from(FILES))).try_filter_map(|meta| async move {
            let id = meta.location.filename().and_then(FileId::parse);
            let stored_at = Timestamp(meta.last_modified.timestamp_micros());
            let is_ours = |id: &FileId| key(id) == meta.location;
            Ok(id.filter(is_ours).map(|id| StoredFile { id, size: meta.size, stored_at }))
        });
        open.wait(stored.try_collect()).map_err(|error| self.failure(error))
    }

    /// Removes what was begun to be received before a point in time and never finished.
    pub fn remove_unfinished(&self, before: Timestamp) -> Result<()> {
        let before = before.system_time();
        for path in entries(&self.incoming())? {
            let is_old = fs::metadata(&path).and_then(|meta| meta.modified());
            if is_old.is_ok_and(|modified| modified < before) {
                fs::remove_file(path).ok();
            }
        }
        Ok(())
    }

    fn open(&self) -> Result<&Storage> {
        if let Some(open) = self.open.get() {
            return Ok(open);
        }
        let open = match &self.settings.storage {
            MediaStorage::Folder => {
                Storage::folder(&self.settings.folder, self.settings.durability)?
            }
            MediaStorage::S3(bucket) => Storage::bucket(bucket)?,
        };
        if let MediaStorage::S3(bucket) = &self.settings.storage {
            open.wait(self.claim(&*open.store, bucket))?;
        }
        Ok(self.open.get_or_init(|| open))
    }

    /// Makes sure that no other space keeps its files in a bucket: each of them would sweep up what
    /// belongs to the other.
    async fn claim(&self, store: &dyn ObjectStore, bucket: &S3Bucket) -> Result<()> {
        let key = Key::from(OWNER);
        let owner = async { store.get(&key).await?.bytes().await };
        match self.found(owner.await)? {
            Some(owner) if owner == self.space => Ok(()),
            Some(owner) => Err(Error::Conflict(format!(
                "{bucket} keeps the files of another data folder: the object {OWNER} there names the \
                 space {}, this folder is the space {}",
                String::from_utf8_lossy(&owner).chars().take(36).collect::<String>(),
                self.space
            ))),
            None => {
                let put = store.put(&key, self.space.clone().into()).await;
                put.map(drop).map_err(|error| self.failure(error))
            }
        }
    }

    /// None for what is not there.
    fn found<T>(&self, outcome: object_store::Result<T>) -> Result<Option<T>> {
        match outcome {
            Ok(found) => Ok(Some(found)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.failure(error)),
        }
    }

    fn failure(&self, error: object_store::Error) -> Error {
        match &self.settings.storage {
            MediaStorage::Folder => Error::from_storage(error),
            MediaStorage::S3(bucket) => s3::failure(bucket, &error),
        }
    }
}

/// Returns the files of a folder, which may not be there yet.
fn list_folder(folder: &Path) -> Result<Vec<StoredFile>> {
    let mut files = Vec::new();
    for path in entries(folder)? {
        let name = name(&path);
        let Some(id) = FileId::parse(&name).filter(|id| id.to_string() == name) else { continue };
        match fs::metadata(&path) {
            Ok(meta) if meta.is_file() => {
                let modified = meta.modified().map_err(Error::from_storage)?;
                // A copy keeps the time of the first one; it is new here all the same.
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

/// Returns what lies in a folder, which may not be there yet.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let paths = fs::read_dir(folder).and_then(|entries| {
        entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()
    });
    match paths {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        paths => paths.map_err(|error| path_error(folder, &error)),
    }
}

/// Reads what goes with one request; nothing at the end of the file.
fn next_part(incoming: &Incoming) -> Result<Bytes> {
    let mut part = Vec::new();
    incoming.file().take(PART).read_to_end(&mut part).map_err(Error::from_storage)?;
    Ok(part.into())
}

fn key(id: &FileId) -> Key {
    Key::from_iter([FILES, &id.to_string()])
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
