//! Files of any kind as streams: sent, compared, told apart and written, a piece at a time.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Read, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use sha2::{Digest, Sha256};

use crate::{
    failure::{Failure, Result},
    target::{Outgoing, reading_failed},
};

/// Bytes in memory at a time.
const PIECE: usize = 64 * 1024;

/// How far many files are, from any thread.
#[derive(Clone, Default)]
pub(crate) struct Pace {
    /// Bytes that were read.
    done: Arc<AtomicU64>,
    /// Ends reading in the middle of a file.
    pub(crate) stop: Arc<AtomicBool>,
}

impl Pace {
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

/// A file that counts what is read of it.
struct Counted {
    file: File,
    pace: Pace,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.pace.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("stopped"));
        }
        let read = self.file.read(buffer)?;
        self.pace.advance(read as u64);
        Ok(read)
    }
}

/// Opens a file to send it.
pub(crate) fn outgoing(path: &Path, pace: &Pace) -> Result<Outgoing> {
    let open = || {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        Ok(Outgoing { content: Box::new(Counted { file, pace: pace.clone() }), size })
    };
    open().map_err(|error: io::Error| Failure::unreadable(path.display(), error))
}

/// Tells whether a stored file holds the bytes of a file here.
pub(crate) fn is_same(stored: &mut dyn Read, path: &Path, pace: &Pace) -> Result<bool> {
    let unreadable = |error| Failure::unreadable(path.display(), error);
    let mut file = File::open(path).map_err(unreadable)?;
    let (mut here, mut there) = (vec![0; PIECE], vec![0; PIECE]);
    while !pace.stop.load(Ordering::Relaxed) {
        let read = fill(&mut file, &mut here).map_err(unreadable)?;
        let other = fill(stored, &mut there).map_err(reading_failed)?;
        if here[..read] != there[..other] {
            return Ok(false);
        }
        if read < PIECE {
            return Ok(true);
        }
    }
    Err(Failure::local("stopped"))
}

/// Reads until the buffer is full or nothing is left.
fn fill(reader: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// What tells files of other bytes apart.
pub(crate) fn digest(path: &Path) -> Result<[u8; 32]> {
    let mut hash = Sha256::new();
    let mut piece = vec![0; PIECE];
    let unreadable = |error| Failure::unreadable(path.display(), error);
    let mut file = File::open(path).map_err(unreadable)?;
    loop {
        let read = fill(&mut file, &mut piece).map_err(unreadable)?;
        hash.update(&piece[..read]);
        if read < PIECE {
            return Ok(hash.finalize().into());
        }
    }
}

/// Copies a stored file. Returns its size, or none when it was stopped on the way.
pub(crate) fn copy(
    stored: &mut dyn Read,
    to: &mut dyn Write,
    unwritable: impl Fn(io::Error) -> Failure,
    pace: &Pace,
) -> Result<Option<u64>> {
    let mut piece = vec![0; PIECE];
    let mut size = 0;
    while !pace.stop.load(Ordering::Relaxed) {
        let read = fill(stored, &mut piece).map_err(reading_failed)?;
        to.write_all(&piece[..read]).map_err(&unwritable)?;
        size += read as u64;
        if read < PIECE {
            to.flush().map_err(&unwritable)?;
            return Ok(Some(size));
        }
    }
    Ok(None)
}

/// A file that takes its place when it is complete, and goes away with this value otherwise.
pub(crate) struct NewFile<'p> {
    place: &'p Path,
    draft: PathBuf,
}

impl<'p> NewFile<'p> {
    /// Begins the file beside its place.
    pub(crate) fn create(place: &'p Path) -> Result<(Self, File)> {
        let unwritable = |error| Failure::unwritable(place.display(), error);
        let name = place.file_name().filter(|_| !place.is_dir());
        let name = name.ok_or_else(|| unwritable(ErrorKind::IsADirectory.into()))?;
        let draft = place.with_file_name(format!(".{}.part", name.to_string_lossy()));
        let file = File::create(&draft).map_err(unwritable)?;
        Ok((Self { place, draft }, file))
    }

    pub(crate) fn finish(self) -> Result<()> {
        fs::rename(&self.draft, self.place)
            .map_err(|error| Failure::unwritable(self.place.display(), error))
    }
}

impl Drop for NewFile<'_> {
    fn drop(&mut self) {
        // Not there any more when it took its place.
        fs::remove_file(&self.draft).ok();
    }
}
