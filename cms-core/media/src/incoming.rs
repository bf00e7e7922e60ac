//! Uploads in progress: written to disk as they arrive.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
};

use cms_model::{
    error::{Result, path_error},
    ids::IdSource,
    media::fingerprint::{Fingerprint, Fingerprinter},
};

/// A file that is being received. It is removed on drop, unless it was stored.
#[derive(Debug)]
pub struct Incoming {
    path: PathBuf,
    file: File,
    /// Digest of the bytes within the limit.
    fingerprinter: Fingerprinter,
    size: u64,
    limit: u64,
}

impl Incoming {
    /// Begins a file in a directory, which is created if missing.
    pub fn new(folder: &Path, ids: &dyn IdSource, limit: u64) -> Result<Self> {
        let path = folder.join(ids.uuid());
        let create = || {
            fs::create_dir_all(folder)?;
            File::options().read(true).write(true).create_new(true).open(&path)
        };
        let file = create().map_err(|error| path_error(folder, &error))?;
        Ok(Self { path, file, fingerprinter: Fingerprinter::default(), size: 0, limit })
    }

    /// Number of received bytes, including those beyond the limit.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns size and SHA-256 of the bytes written to disk so far.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprinter.clone().finish()
    }

    /// Reads from the beginning, at most `limit` bytes.
    pub fn head(&mut self, limit: u64) -> io::Result<Vec<u8>> {
        self.file.rewind()?;
        let expected = usize::try_from(self.size.min(limit)).unwrap_or_default();
        let mut head = Vec::with_capacity(expected);
        (&self.file).take(limit).read_to_end(&mut head)?;
        Ok(head)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn file(&self) -> &File {
        &self.file
    }
}

/// Bytes beyond the limit are counted and discarded.
impl Write for Incoming {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = usize::try_from(self.limit.saturating_sub(self.size)).unwrap_or(usize::MAX);
        let kept = &bytes[..bytes.len().min(room)];
        self.file.write_all(kept)?;
        self.fingerprinter.write_all(kept)?;
        self.size += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        // Fails if the file was moved into the storage. After a crash, the clean-up removes the file
        // a day later.
        fs::remove_file(&self.path).ok();
    }
}
