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

use sha2::{Digest as _, Sha256};

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
pub(crate) type Digest = [u8; 32];

/// Reads a file here.
pub(crate) fn digest(path: &Path, pace: &Pace) -> Result<Digest> {
    let unreadable = |error| Failure::unreadable(path.display(), error);
    digest_of(&mut File::open(path).map_err(unreadable)?, unreadable, pace)
}

/// Reads a stored file.
pub(crate) fn stored_digest(stored: &mut dyn Read, pace: &Pace) -> Result<Digest> {
    digest_of(stored, |error| reading_failed(error).into(), pace)
}

fn digest_of(
    reader: &mut dyn Read,
    failure: impl Fn(io::Error) -> Failure,
    pace: &Pace,
) -> Result<Digest> {
    let mut hash = Sha256::new();
    let mut piece = vec![0; PIECE];
    while !pace.stop.load(Ordering::Relaxed) {
        let read = fill(reader, &mut piece).map_err(&failure)?;
        hash.update(&piece[..read]);
        if read < PIECE {
            return Ok(hash.finalize().into());
        }
    }
    Err(Failure::local("stopped"))
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
pub(crate) struct NewFile {
    place: PathBuf,
    /// None for a place that is no file: it is written to at once.
    draft: Option<PathBuf>,
}

impl NewFile {
    /// Begins the file beside its place: where the place leads to, when it is a link.
    pub(crate) fn create(place: &Path) -> Result<(Self, File)> {
        Self::begin(place, false)
    }

    /// The same for a file that only its owner may read, whoever may read an earlier one.
    pub(crate) fn create_private(place: &Path) -> Result<(Self, File)> {
        Self::begin(place, true)
    }

    fn begin(place: &Path, is_private: bool) -> Result<(Self, File)> {
        let unwritable = |error| Failure::unwritable(place.display(), error);
        let place = &place.canonicalize().unwrap_or_else(|_| place.to_owned());
        let name = place.file_name().filter(|_| !place.is_dir());
        let name = name.ok_or_else(|| unwritable(ErrorKind::IsADirectory.into()))?;
        let earlier = place.metadata().ok();
        if earlier.as_ref().is_some_and(|earlier| !earlier.is_file()) {
            // Nothing takes the place of a device or a pipe; they are written to.
            let file = File::options().write(true).open(place).map_err(unwritable)?;
            return Ok((Self { place: place.clone(), draft: None }, file));
        }
        let draft = place.with_file_name(format!(".{}.part", name.to_string_lossy()));
        let mut options = File::options();
        options.write(true).create(true).truncate(true);
        if is_private {
            // A draft that was left keeps the mode that it has.
            fs::remove_file(&draft).ok();
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        let file = options.open(&draft).map_err(unwritable)?;
        if let Some(earlier) = earlier.filter(|_| !is_private) {
            file.set_permissions(earlier.permissions()).map_err(unwritable)?;
        }
        Ok((Self { place: place.clone(), draft: Some(draft) }, file))
    }

    /// Where it is written until then.
    pub(crate) fn path(&self) -> &Path {
        self.draft.as_ref().unwrap_or(&self.place)
    }

    pub(crate) fn finish(self) -> Result<()> {
        let Some(draft) = &self.draft else { return Ok(()) };
        fs::rename(draft, &self.place)
            .map_err(|error| Failure::unwritable(self.place.display(), error))
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // Not there any more when it took its place.
        if let Some(draft) = &self.draft {
            fs::remove_file(draft).ok();
        }
    }
}
