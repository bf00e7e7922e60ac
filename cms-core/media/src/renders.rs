//! Rendered pictures on disk, so that each is made once, and those asked for lately in memory.
//!
//! They are derived: the folder can be deleted at any time. Each media object has a folder of its
//! own in it, and each rendering a file that is named after what was asked for. An empty file says
//! that the stored file itself is the answer. A full cache gives up what was not used for longest.
//!
//! A cache that cannot be read or written costs time and never a picture: whoever asks gets theirs,
//! made anew.

use std::{
    collections::hash_map::DefaultHasher,
    fs::{self, File},
    hash::{Hash, Hasher},
    io::{self, ErrorKind, Read, Write},
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use cms_model::{
    error::{Error, Result},
    limits,
    media::id::FileId,
};
use quick_cache::{Weighter, sync::Cache};

/// Locks under which pictures are made; pictures that share one wait for each other.
const LOCKS: usize = 64;
/// A file that is used is marked as used at most so often.
const MARKED_EVERY: Duration = Duration::from_hours(1);
/// What stays of a full cache, in tenths.
const KEPT: u64 = 9;
/// What a file takes at least: there may be many that say little.
const BLOCK: u64 = 4096;

/// How many pictures are in memory when they are of a usual size.
const USUAL_NUMBER: usize = 1000;

/// A picture that was made.
#[derive(Debug)]
pub enum Made {
    Whole(Bytes),
    /// A large one, to be read piece by piece.
    Large(Pieces),
}

/// A file that is read from its beginning, and stays readable when its place is taken.
#[derive(Debug)]
pub struct Pieces {
    file: File,
    size: u64,
}

/// Small pictures in memory, by their tag: an id may come back with another file, a tag does not.
/// Nothing has to be forgotten here, since pictures are looked up in the database first.
pub struct Recent(Cache<String, Bytes, Size>);

/// What a picture takes in memory.
#[derive(Clone)]
struct Size;

pub struct Renders {
    folder: PathBuf,
    /// Most bytes of all files together.
    capacity: u64,
    /// Bytes of all files; not known before the first was written.
    size: Mutex<Option<u64>>,
    making: [Mutex<()>; LOCKS],
    pub uses: Uses,
}

/// How often pictures were found, and made.
#[derive(Default)]
pub struct Uses {
    /// In memory.
    pub recent: AtomicU64,
    /// On disk.
    pub cached: AtomicU64,
    made: AtomicU64,
}

impl Made {
    /// Its size in bytes.
    pub fn size(&self) -> u64 {
        match self {
            Self::Whole(bytes) => bytes.len() as u64,
            Self::Large(pieces) => pieces.size,
        }
    }
}

impl Pieces {
    /// Bytes in all.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Reads the next piece; an empty one at the end.
    pub fn read(&mut self) -> Result<Vec<u8>> {
        let most = self.size.min(limits::CHUNK_BYTES);
        let mut piece = Vec::with_capacity(usize::try_from(most).unwrap_or_default());
        (&self.file).take(most).read_to_end(&mut piece).map_err(Error::from_io)?;
        Ok(piece)
    }
}

impl Weighter<String, Bytes> for Size {
    fn weight(&self, tag: &String, picture: &Bytes) -> u64 {
        (tag.len() + picture.len()) as u64
    }
}

impl Default for Recent {
    fn default() -> Self {
        Self(Cache::with_weighter(USUAL_NUMBER, limits::RENDER_MEMORY_CACHE_BYTES, Size))
    }
}

impl Recent {
    pub fn get(&self, tag: &str) -> Option<Bytes> {
        self.0.get(tag)
    }

    pub fn keep(&self, tag: &str, picture: &Bytes) {
        self.0.insert(tag.to_owned(), picture.clone());
    }
}

impl Renders {
    pub fn new(folder: PathBuf, capacity: u64) -> Self {
        let making = std::array::from_fn(|_| Mutex::default());
        Self { folder, capacity, size: Mutex::default(), making, uses: Uses::default() }
    }

    /// How often pictures were found in memory, found on disk, and made.
    pub fn uses(&self) -> [u64; 3] {
        let Uses { recent, cached, made } = &self.uses;
        [recent, cached, made].map(|count| count.load(Ordering::Relaxed))
    }

    /// Returns a picture that was made before. `now` is for keeping what is used.
    pub fn get(&self, id: &FileId, name: &str, now: SystemTime) -> Option<Made> {
        let file = File::open(self.path(id, name)).ok()?;
        let meta = file.metadata().ok()?;
        let age = now.duration_since(meta.modified().ok()?).unwrap_or_default();
        if age > MARKED_EVERY {
            // A folder that cannot be written serves as well.
            file.set_modified(now).ok();
        }
        let mut pieces = Pieces { file, size: meta.len() };
        if pieces.size > limits::CHUNK_BYTES {
            return Some(Made::Large(pieces));
        }
        pieces.read().ok().map(|bytes| Made::Whole(bytes.into()))
    }

    /// Returns a picture, and makes it if that was not done before. Of several callers who want the
    /// same one, one makes it and the others wait.
    pub fn get_or_make(
        &self,
        id: &FileId,
        name: &str,
        now: SystemTime,
        make: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<Made> {
        let _making = self.lock(id, name);
        if let Some(made) = self.get(id, name, now) {
            return Ok(made);
        }
        let picture = make()?;
        self.uses.made.fetch_add(1, Ordering::Relaxed);
        // Whoever reads a large one slowly must not hold it in memory meanwhile.
        let is_large = picture.len() as u64 > limits::CHUNK_BYTES;
        let kept = self.keep(id, name, &picture).ok().filter(|()| is_large);
        let large = kept.and_then(|()| self.get(id, name, now));
        Ok(large.unwrap_or_else(|| Made::Whole(picture.into())))
    }

    /// Removes all pictures made from a file.
    pub fn forget(&self, id: &FileId) -> Result<()> {
        match fs::remove_dir_all(self.folder.join(id.to_string())) {
            // What that freed is found out when the cache seems full.
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(Error::from_io(error)),
        }
    }

    /// Returns the files of which pictures were made.
    pub fn ids(&self) -> Result<Vec<FileId>> {
        let mut ids = Vec::new();
        for entry in entries(&self.folder).map_err(Error::from_io)? {
            let name = entry.map_err(Error::from_io)?.file_name();
            ids.extend(name.to_str().and_then(FileId::parse));
        }
        Ok(ids)
    }

    fn path(&self, id: &FileId, name: &str) -> PathBuf {
        self.folder.join(id.to_string()).join(name)
    }

    fn lock(&self, id: &FileId, name: &str) -> MutexGuard<'_, ()> {
        let mut hasher = DefaultHasher::new();
        (id, name).hash(&mut hasher);
        let lock = &self.making[usize::try_from(hasher.finish() % LOCKS as u64).unwrap_or(0)];
        // What a panic left is not touched by the next: files are complete or not there.
        lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a file beside its place and moves it there, so that nobody ever reads half of it. It is
    /// on disk before it is moved: an empty file means something.
    fn keep(&self, id: &FileId, name: &str, picture: &[u8]) -> io::Result<()> {
        let path = self.path(id, name);
        // Another process may make the same.
        let unfinished = path.with_added_extension(format!("{}.part", std::process::id()));
        let write = || {
            fs::create_dir_all(self.folder.join(id.to_string()))?;
            let mut file = File::create(&unfinished)?;
            file.write_all(picture)?;
            file.sync_data()?;
            fs::rename(&unfinished, &path)
        };
        write().inspect_err(|_| drop(fs::remove_file(&unfinished)))?;
        self.make_room(taken(picture.len() as u64))
    }

    fn make_room(&self, added: u64) -> io::Result<()> {
        let mut size = self.size.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *size {
            Some(known) if *known + added <= self.capacity => *known += added,
            _ => *size = Some(self.shrink()?),
        }
        Ok(())
    }

    /// Counts what is there, and removes what was not used for longest when that is too much.
    fn shrink(&self) -> io::Result<u64> {
        let mut files = Vec::new();
        for folder in entries(&self.folder)? {
            for file in entries(&folder?.path())? {
                let file = file?;
                // Another process may have removed it.
                let Ok(meta) = file.metadata() else { continue };
                files.push((meta.modified()?, taken(meta.len()), file.path()));
            }
        }
        let mut size = files.iter().map(|(_, size, _)| size).sum();
        if size > self.capacity {
            files.sort_unstable();
            for (_, length, path) in files {
                if size <= self.capacity / 10 * KEPT {
                    break;
                }
                fs::remove_file(path).or_else(if_there)?;
                size -= length;
            }
        }
        Ok(size)
    }
}

/// What a file of some bytes takes of the disk.
fn taken(length: u64) -> u64 {
    length.max(1).next_multiple_of(BLOCK)
}

/// The entries of a folder; none of one that is not there.
fn entries(folder: &Path) -> io::Result<impl Iterator<Item = io::Result<fs::DirEntry>>> {
    match fs::read_dir(folder) {
        Ok(entries) => Ok(Some(entries).into_iter().flatten()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None.into_iter().flatten()),
        Err(error) => Err(error),
    }
}

fn if_there(error: io::Error) -> io::Result<()> {
    if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

#[cfg(test)]
mod tests;
