//! Caches rendered images: on disk, and recently used ones in memory.
//!
//! The cache is derived data: its directory can be deleted at any time. Each media object has its
//! own subdirectory, and each rendered image a file named after its source and its rendering. An empty
//! file means that the response is the stored file itself. A full cache evicts the least recently used
//! images.
//!
//! A failed read or write of the cache costs time but never fails a request: the image is rendered
//! again.

use std::{
    collections::hash_map::DefaultHasher,
    fs::{self, File},
    hash::{Hash, Hasher},
    io::{self, Read},
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use cms_model::{
    error::{Error, Result},
    limits,
    media::id::FileId,
};
use cms_system::folder;
use parking_lot::{Mutex, MutexGuard};
use quick_cache::{Weighter, sync::Cache};

/// Number of locks for rendering; images that share a lock are rendered one after the other.
const RENDER_LOCKS: usize = 64;
/// Minimum interval between two updates of the last use of a file.
const USE_UPDATE_INTERVAL: Duration = Duration::from_hours(1);
/// Tenths of the capacity that remain after eviction.
const KEPT_TENTHS: u64 = 9;
/// Minimum disk space that a file counts for, because there may be many small ones.
const MIN_FILE_BYTES: u64 = 4096;

/// Expected number of images in memory, at a typical size.
const EXPECTED_IMAGES: usize = 1000;

/// A rendered image.
#[derive(Debug)]
pub enum RenderedImage {
    InMemory(Bytes),
    /// A large image, read in chunks.
    OnDisk(FileChunks),
}

/// A file that is read from its beginning, and stays readable after eviction.
#[derive(Debug)]
pub struct FileChunks {
    file: File,
    size: u64,
}

/// Small images in memory, by `ETag`. An id would not be enough: when a media object is removed, a new one
/// with another file may get its id. Images are never invalidated: each request first computes the `ETag`
/// from the media object in the database.
pub type RecentRenders = Cache<String, Bytes, MemorySize>;

/// Weighs an image by the memory that it takes.
#[derive(Clone)]
pub struct MemorySize;

pub struct Renders {
    folder: PathBuf,
    /// Maximum total bytes of all files.
    capacity: u64,
    /// Total bytes of all files; none before the first write.
    size: Mutex<Option<u64>>,
    render_locks: [Mutex<()>; RENDER_LOCKS],
    pub counts: CacheCounts,
}

/// Numbers of images found in the cache, and rendered.
#[derive(Default)]
pub struct CacheCounts {
    /// Found in memory.
    pub memory: AtomicU64,
    /// Found on disk.
    pub disk: AtomicU64,
    rendered: AtomicU64,
}

impl RenderedImage {
    /// Its size in bytes.
    pub fn size(&self) -> u64 {
        match self {
            Self::InMemory(bytes) => bytes.len() as u64,
            Self::OnDisk(chunks) => chunks.size,
        }
    }
}

impl FileChunks {
    /// Total bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Reads the next chunk; empty at the end.
    pub fn read(&mut self) -> Result<Vec<u8>> {
        let length = self.size.min(limits::RESPONSE_CHUNK_BYTES);
        let mut chunk = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
        (&self.file).take(length).read_to_end(&mut chunk).map_err(Error::from_io)?;
        Ok(chunk)
    }
}

impl Weighter<String, Bytes> for MemorySize {
    fn weight(&self, tag: &String, image: &Bytes) -> u64 {
        (tag.len() + image.len()) as u64
    }
}

/// Creates an empty cache in memory.
pub fn recent_renders() -> RecentRenders {
    Cache::with_weighter(EXPECTED_IMAGES, limits::RENDER_MEMORY_CACHE_BYTES, MemorySize)
}

impl Renders {
    pub fn new(folder: PathBuf, capacity: u64) -> Self {
        let render_locks = std::array::from_fn(|_| Mutex::default());
        Self {
            folder,
            capacity,
            size: Mutex::default(),
            render_locks,
            counts: CacheCounts::default(),
        }
    }

    /// Returns the numbers of images found in memory, found on disk, and rendered.
    pub fn counts(&self) -> [u64; 3] {
        let CacheCounts { memory, disk, rendered } = &self.counts;
        [memory, disk, rendered].map(|count| count.load(Ordering::Relaxed))
    }

    /// Returns a rendered image from the cache, and records `now` as its last use, at most once an hour.
    pub fn get(&self, id: &FileId, name: &str, now: SystemTime) -> Option<RenderedImage> {
        let file = File::open(self.path(id, name)).ok()?;
        let meta = file.metadata().ok()?;
        let age = now.duration_since(meta.modified().ok()?).unwrap_or_default();
        if age > USE_UPDATE_INTERVAL {
            // Fails in a read-only directory, which is no error.
            file.set_modified(now).ok();
        }
        let mut chunks = FileChunks { file, size: meta.len() };
        if chunks.size > limits::RESPONSE_CHUNK_BYTES {
            return Some(RenderedImage::OnDisk(chunks));
        }
        chunks.read().ok().map(|bytes| RenderedImage::InMemory(bytes.into()))
    }

    /// Returns an image from the cache, or renders it. Concurrent requests for the same image wait
    /// for one rendering.
    pub fn get_or_render(
        &self,
        id: &FileId,
        name: &str,
        now: SystemTime,
        render: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<RenderedImage> {
        let _lock = self.lock(id, name);
        if let Some(rendered) = self.get(id, name, now) {
            return Ok(rendered);
        }
        let image = render()?;
        self.counts.rendered.fetch_add(1, Ordering::Relaxed);
        // A slow reader of a large image must not keep it in memory.
        let is_large = image.len() as u64 > limits::RESPONSE_CHUNK_BYTES;
        let written = self.write(id, name, &image).ok().filter(|()| is_large);
        let large = written.and_then(|()| self.get(id, name, now));
        Ok(large.unwrap_or_else(|| RenderedImage::InMemory(image.into())))
    }

    /// Removes all images rendered from a file.
    pub fn remove(&self, id: &FileId) -> Result<()> {
        // `size` stays too large: it is recomputed when the cache seems full.
        let removed = fs::remove_dir_all(self.folder.join(id.to_string()));
        removed.or_else(folder::ignore_missing).map_err(Error::from_io)
    }

    /// Returns the ids of files with rendered images.
    pub fn ids(&self) -> Result<Vec<FileId>> {
        let paths = folder::entries(&self.folder).map_err(Error::from_io)?;
        let names = paths.iter().filter_map(|path| path.file_name()?.to_str());
        Ok(names.filter_map(FileId::parse).collect())
    }

    fn path(&self, id: &FileId, name: &str) -> PathBuf {
        self.folder.join(id.to_string()).join(name)
    }

    fn lock(&self, id: &FileId, name: &str) -> MutexGuard<'_, ()> {
        let mut hasher = DefaultHasher::new();
        (id, name).hash(&mut hasher);
        let lock =
            &self.render_locks[usize::try_from(hasher.finish() % RENDER_LOCKS as u64).unwrap_or(0)];
        // A panic leaves no partial state: files are complete or missing.
        lock.lock()
    }

    /// Writes the file of a rendered image. An empty file means that the original is sent instead.
    fn write(&self, id: &FileId, name: &str, image: &[u8]) -> io::Result<()> {
        fs::create_dir_all(self.folder.join(id.to_string()))?;
        folder::replace_file(&self.path(id, name), image)?;
        self.make_room(disk_bytes(image.len() as u64))
    }

    fn make_room(&self, added: u64) -> io::Result<()> {
        let mut size = self.size.lock();
        match &mut *size {
            Some(known) if *known + added <= self.capacity => *known += added,
            _ => *size = Some(self.evict()?),
        }
        Ok(())
    }

    /// Computes the size of the cache, and evicts the least recently used files when it exceeds the
    /// capacity.
    fn evict(&self) -> io::Result<u64> {
        let mut files = Vec::new();
        for folder in folder::entries(&self.folder)? {
            for file in folder::entries(&folder)? {
                // Another process may have removed it.
                let Ok(meta) = file.symlink_metadata() else { continue };
                files.push((meta.modified()?, disk_bytes(meta.len()), file));
            }
        }
        let mut size = files.iter().map(|(_, size, _)| size).sum();
        if size > self.capacity {
            files.sort_unstable();
            for (_, length, path) in files {
                if size <= self.capacity / 10 * KEPT_TENTHS {
                    break;
                }
                fs::remove_file(path).or_else(folder::ignore_missing)?;
                size -= length;
            }
        }
        Ok(size)
    }
}

/// The disk space of a file of some bytes.
fn disk_bytes(length: u64) -> u64 {
    length.max(1).next_multiple_of(MIN_FILE_BYTES)
}

#[cfg(test)]
mod tests;
