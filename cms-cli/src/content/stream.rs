//! Files as streams: uploaded, compared by digest and written, one chunk at a time.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Read, Seek, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use cms_core::{Error, folder, lock};
use sha2::{Digest as _, Sha256};

use crate::{
    failure::{Failure, Result},
    target::{FileUpload, read_error},
};

/// Bytes in memory at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// Progress of a transfer of several files, shared by threads.
#[derive(Clone, Default)]
pub(crate) struct Transfer {
    /// Bytes read so far.
    done: Arc<AtomicU64>,
    /// Ends the transfer, even within a file.
    pub(crate) stop: Arc<AtomicBool>,
}

impl Transfer {
    pub(crate) fn new(stop: Arc<AtomicBool>) -> Self {
        Self { done: Arc::default(), stop }
    }

    pub(crate) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    pub(crate) fn advance(&self, by: u64) {
        self.done.fetch_add(by, Ordering::Relaxed);
    }
}

/// A file whose bytes are counted.
struct CountingFile {
    file: File,
    transfer: Transfer,
}

impl Read for CountingFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.transfer.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("stopped"));
        }
        let read = self.file.read(buffer)?;
        self.transfer.advance(read as u64);
        Ok(read)
    }
}

/// Opens a file to upload it.
pub(crate) fn open_upload(path: &Path, transfer: &Transfer) -> Result<FileUpload> {
    let unreadable = |error| Failure::unreadable(path.display(), error);
    let file = File::open(path).map_err(unreadable)?;
    let size = file.metadata().map_err(unreadable)?.len();
    let transfer = transfer.clone();
    let open = move || {
        let mut file = file.try_clone()?;
        file.rewind()?;
        Ok(Box::new(CountingFile { file, transfer: transfer.clone() }) as Box<dyn Read + Send>)
    };
    Ok(FileUpload { open: Box::new(open), size })
}

/// Reads the next chunk, which is shorter only at the end of the input.
fn read_chunk(reader: &mut dyn Read, chunk: &mut Vec<u8>) -> io::Result<usize> {
    chunk.clear();
    reader.take(CHUNK_BYTES as u64).read_to_end(chunk)
}

/// SHA-256 of a file.
pub(crate) type Digest = [u8; 32];

/// Returns the digest of a local file.
pub(crate) fn digest(path: &Path, transfer: &Transfer) -> Result<Digest> {
    let unreadable = |error| Failure::unreadable(path.display(), error);
    digest_of(&mut File::open(path).map_err(unreadable)?, unreadable, transfer)
}

/// Returns the digest of a stored file.
pub(crate) fn stored_digest(stored: &mut dyn Read, transfer: &Transfer) -> Result<Digest> {
    digest_of(stored, |error| read_error(error).into(), transfer)
}

fn digest_of(
    reader: &mut dyn Read,
    failure: impl Fn(io::Error) -> Failure,
    transfer: &Transfer,
) -> Result<Digest> {
    let mut hash = Sha256::new();
    let mut chunk = Vec::with_capacity(CHUNK_BYTES);
    while !transfer.stop.load(Ordering::Relaxed) {
        let read = read_chunk(reader, &mut chunk).map_err(&failure)?;
        hash.update(&chunk);
        if read < CHUNK_BYTES {
            return Ok(hash.finalize().into());
        }
    }
    Err(Failure::local("stopped"))
}

/// Copies a stored file. Returns its size, or none when it was interrupted.
pub(crate) fn copy(
    stored: &mut dyn Read,
    to: &mut dyn Write,
    unwritable: impl Fn(io::Error) -> Failure,
    transfer: &Transfer,
) -> Result<Option<u64>> {
    let mut chunk = Vec::with_capacity(CHUNK_BYTES);
    let mut size = 0;
    while !transfer.stop.load(Ordering::Relaxed) {
        let read = read_chunk(stored, &mut chunk).map_err(read_error)?;
        to.write_all(&chunk).map_err(&unwritable)?;
        size += read as u64;
        if read < CHUNK_BYTES {
            to.flush().map_err(&unwritable)?;
            return Ok(Some(size));
        }
    }
    Ok(None)
}

/// A file that replaces its path when it is complete, and is removed otherwise.
pub(crate) struct AtomicFile {
    path: PathBuf,
    /// None for a device or a pipe: it is written directly. The file keeps its lock until it has its
    /// final name.
    temporary: Option<(PathBuf, File)>,
}

impl AtomicFile {
    /// Creates the temporary file beside the path, or beside the target of a symbolic link.
    pub(crate) fn create(path: &Path) -> Result<(Self, File)> {
        Self::begin(path, false)
    }

    /// Creates a file that only its owner may read, whatever the mode of an earlier file.
    pub(crate) fn create_private(path: &Path) -> Result<(Self, File)> {
        Self::begin(path, true)
    }

    fn begin(path: &Path, is_private: bool) -> Result<(Self, File)> {
        let unwritable = |error| Failure::unwritable(path.display(), error);
        let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let name = path.file_name().filter(|_| !path.is_dir());
        let name = name.ok_or_else(|| unwritable(ErrorKind::IsADirectory.into()))?;
        let earlier = path.metadata().ok();
        if earlier.as_ref().is_some_and(|earlier| !earlier.is_file()) {
            // Devices and pipes are not replaced.
            let file = File::options().write(true).open(path).map_err(unwritable)?;
            return Ok((Self { path: path.clone(), temporary: None }, file));
        }
        let temporary = path.with_file_name(format!(".{}.part", name.to_string_lossy()));
        let Some(file) = open_locked(&temporary, is_private).map_err(unwritable)? else {
            let message = format!("another command is writing {}", path.display());
            return Err(Error::Busy(message).into());
        };
        // Removes the content that a killed command left.
        file.set_len(0).map_err(unwritable)?;
        if let Some(earlier) = earlier.filter(|_| !is_private) {
            file.set_permissions(earlier.permissions()).map_err(unwritable)?;
        }
        let locked = file.try_clone().map_err(unwritable)?;
        Ok((Self { path: path.clone(), temporary: Some((temporary, locked)) }, file))
    }

    /// The path that is written before [`AtomicFile::finish`].
    pub(crate) fn path(&self) -> &Path {
        self.temporary.as_ref().map_or(&self.path, |(path, _)| path)
    }

    /// Makes the file durable under its final name.
    pub(crate) fn finish(mut self) -> Result<()> {
        let Some((temporary, file)) = &self.temporary else { return Ok(()) };
        let parent = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        file.sync_all()
            .and_then(|()| fs::rename(temporary, &self.path))
            .and_then(|()| folder::sync(parent.unwrap_or(Path::new("."))))
            .map_err(|error| Failure::unwritable(self.path.display(), error))?;
        self.temporary = None;
        Ok(())
    }
}

/// Writes a text to a file, which has either its former content or all of the text.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<()> {
    let (new_file, mut file) = AtomicFile::create(path)?;
    file.write_all(text.as_bytes()).map_err(|error| Failure::unwritable(path.display(), error))?;
    new_file.finish()
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some((temporary, _)) = &self.temporary {
            fs::remove_file(temporary).ok();
        }
    }
}

/// Returns whether a path leads to an open file.
#[cfg(unix)]
pub(super) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;

    let opened = file.metadata()?;
    Ok(path
        .metadata()
        .is_ok_and(|found| (found.dev(), found.ino()) == (opened.dev(), opened.ino())))
}

#[cfg(not(unix))]
pub(super) fn is_at(_: &File, path: &Path) -> io::Result<bool> {
    Ok(path.exists())
}

/// Opens a temporary file for writing, and locks it; none if another process writes it.
fn open_locked(path: &Path, is_private: bool) -> io::Result<Option<File>> {
    let mut options = File::options();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    if is_private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    loop {
        let file = options.open(path)?;
        if !lock::wait(Duration::ZERO, || file.try_lock())? {
            return Ok(None);
        }
        // Its former owner may have given it its final name since it was opened.
        if !is_at(&file, path)? {
            continue;
        }
        #[cfg(unix)]
        if is_private {
            // A remaining file keeps its mode.
            file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        }
        return Ok(Some(file));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atomic_file_is_written_by_one_command_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let (first, mut file) = AtomicFile::create_private(&path).unwrap();
        let second = AtomicFile::create_private(&path).err().unwrap();
        assert_eq!(second.exit_code(), 9);
        file.write_all(b"complete").unwrap();
        drop(file);
        assert!(AtomicFile::create(&path).is_err());
        first.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"complete");
        drop(AtomicFile::create(&path).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
