//! File storage in a directory or in a bucket, and the blocking wait for it.

use std::{
    fs::{self, File},
    future::Future,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use cms_model::{
    error::{Error, Result, path_error},
    settings::{Durability, S3Bucket},
};
use cms_system::folder;
use object_store::{
    ObjectStore, ObjectStoreExt, WriteMultipart, local::LocalFileSystem, path::Path as Key,
};
use tokio::runtime::Runtime;

use super::{chunks::ChunkReader, s3};

/// Bytes per request for a large file. S3 allows 10,000 such parts.
const PART_BYTES: usize = 16 * 1024 * 1024;

/// An open storage.
pub struct Storage {
    pub store: Arc<dyn ObjectStore>,
    backend: Backend,
    runtime: Option<Runtime>,
}

enum Backend {
    Folder(PathBuf),
    Bucket(S3Bucket),
}

impl Storage {
    /// Opens an existing directory.
    pub fn folder(folder: &Path, durability: Durability) -> Result<Self> {
        let store = LocalFileSystem::new_with_prefix(folder).map_err(Error::from_storage)?;
        Self::new(
            Arc::new(store.with_fsync(durability == Durability::Full)),
            Backend::Folder(folder.to_owned()),
        )
    }

    /// Opens a bucket. Errors are reported on first use.
    pub fn bucket(bucket: &S3Bucket) -> Result<Self> {
        Self::new(s3::open(bucket)?, Backend::Bucket(bucket.clone()))
    }

    fn new(store: Arc<dyn ObjectStore>, backend: Backend) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("media")
            .enable_all()
            .build()
            .map_err(Error::from_storage)?;
        Ok(Self { store, backend, runtime: Some(runtime) })
    }

    /// Returns the names of the files directly in the storage root.
    pub fn names(&self) -> Result<Vec<String>> {
        let listed = self.call(self.store.list_with_delimiter(None))?;
        let names = listed.objects.into_iter();
        Ok(names.filter_map(|meta| meta.location.filename().map(str::to_owned)).collect())
    }

    /// Begins a file, which becomes visible when it is finished.
    pub fn write(&self, name: &str) -> Result<LargeFileWriter<'_>> {
        let output = match &self.backend {
            Backend::Folder(folder) => {
                // `object_store` uses names of this form for incomplete files, and its lists skip them.
                let temporary = folder.join(format!("{name}#1"));
                let file = folder::create_private(&temporary);
                let file = file.map_err(|error| path_error(&temporary, &error))?;
                Output::File { file, temporary, path: folder.join(name) }
            }
            Backend::Bucket(_) => {
                let begun = self.call(self.store.put_multipart(&Key::from(name)))?;
                Output::Parts(WriteMultipart::new_with_chunk_size(begun, PART_BYTES))
            }
        };
        Ok(LargeFileWriter { storage: self, output })
    }

    /// Opens a file for reading.
    pub fn read(&self, name: &str) -> Result<impl Read> {
        let key = Key::from(name);
        let meta = self.call(self.store.head(&key))?;
        Ok(ChunkReader::new(meta.size, PART_BYTES as u64, move |range| {
            self.call(self.store.get_range(&key, range)).map_err(io::Error::other)
        }))
    }

    /// Removes a file.
    pub fn remove(&self, name: &str) -> Result<()> {
        self.call(self.store.delete(&Key::from(name)))
    }

    /// Returns none if the object does not exist.
    pub(crate) fn found<T>(&self, outcome: object_store::Result<T>) -> Result<Option<T>> {
        match outcome {
            Ok(found) => Ok(Some(found)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.failure(error)),
        }
    }

    pub(crate) fn failure(&self, error: object_store::Error) -> Error {
        match &self.backend {
            Backend::Folder(_) => Error::from_storage(error),
            Backend::Bucket(bucket) => s3::failure(bucket, &error),
        }
    }

    /// Waits for a request, and translates its error.
    fn call<T>(&self, work: impl Future<Output = object_store::Result<T>>) -> Result<T> {
        self.wait(work).map_err(|error| self.failure(error))
    }

    pub fn wait<F: Future>(&self, work: F) -> F::Output {
        self.runtime.as_ref().expect("taken only by drop").block_on(work)
    }
}

/// Does not wait for the threads of the runtime: a server may drop its storage in asynchronous code,
/// where waiting is forbidden.
impl Drop for Storage {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A large file that is being written.
pub struct LargeFileWriter<'s> {
    storage: &'s Storage,
    output: Output,
}

enum Output {
    Parts(WriteMultipart),
    /// Written under a temporary name first. `object_store` would create a world-readable file.
    File {
        file: File,
        temporary: PathBuf,
        path: PathBuf,
    },
}

impl LargeFileWriter<'_> {
    pub fn finish(self) -> Result<()> {
        match self.output {
            Output::Parts(parts) => self.storage.call(parts.finish()).map(drop),
            Output::File { file, temporary, path } => {
                let stored = file.sync_all().and_then(|()| {
                    fs::rename(&temporary, &path)?;
                    folder::sync(path.parent().unwrap_or(&path))
                });
                stored.map_err(|error| path_error(&path, &error))
            }
        }
    }

    /// Aborts the upload and ignores errors.
    pub fn abort(self) {
        match self.output {
            Output::Parts(parts) => drop(self.storage.wait(parts.abort())),
            Output::File { temporary, .. } => drop(fs::remove_file(temporary)),
        }
    }
}

impl Write for LargeFileWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let parts = match &mut self.output {
            Output::File { file, .. } => return file.write(bytes),
            Output::Parts(parts) => parts,
        };
        let sent = self.storage.call(async {
            parts.wait_for_capacity(1).await?;
            parts.write(bytes);
            Ok(bytes.len())
        });
        sent.map_err(io::Error::other)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
