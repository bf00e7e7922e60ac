//! The file of a backup: a tar archive with the database, the stored files, and last a manifest.
//!
//! ```text
//! cms.db                the database
//! media/_media-<uuid>   the uploaded files, any number
//! manifest.json         counts and a digest of the entries before it
//! ```
//!
//! The manifest is the last entry, so that a file can be written and read as a stream, and a
//! truncated file has none. Names of entries are compared with these forms and never used as paths.

use std::io::{self, Read, Write};

use cms_model::{
    auth::key::hex,
    error::{Error, Result},
    media::id::FileId,
    wire::backup::Backup,
};
use sha2::{Digest, Sha256};
use tar::{Archive, Builder, Entry, EntryType, Header};

/// Incremented when older versions cannot read the file.
const FORMAT: u32 = 1;

const DATABASE: &str = "cms.db";
const FILES: &str = "media/";
const MANIFEST: &str = "manifest.json";

/// Largest manifest that is read, in bytes.
const MAX_MANIFEST_BYTES: u64 = 256 * 1024 * 1024;
/// Bytes per read.
const CHUNK_BYTES: usize = 64 * 1024;

/// The name of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EntryName {
    Database,
    File(FileId),
}

impl EntryName {
    fn name(&self) -> String {
        match self {
            Self::Database => DATABASE.to_owned(),
            Self::File(id) => format!("{FILES}{id}"),
        }
    }

    fn parse(name: &str) -> Option<Self> {
        if name == DATABASE {
            return Some(Self::Database);
        }
        let id = FileId::parse(name.strip_prefix(FILES)?)?;
        Some(Self::File(id)).filter(|part| part.name() == name)
    }
}

/// The counts and the digest of the entries written or read so far.
#[derive(Default)]
struct Checksum {
    digest: Sha256,
    files: u64,
    bytes: u64,
}

impl Checksum {
    fn begin(&mut self, part: &EntryName, size: u64) {
        self.digest.update(format!("{} {size}\n", part.name()));
        self.files += u64::from(*part != EntryName::Database);
        self.bytes += size;
    }

    /// The digest of all entries and of the other fields of the manifest.
    fn sha256(mut self, manifest: &Backup) -> String {
        let undigested = Backup { sha256: String::new(), ..manifest.clone() };
        self.digest.update(serde_json::to_vec(&undigested).expect("a manifest has string keys"));
        hex(&self.digest.finalize())
    }
}

/// Writes a backup.
pub(super) struct ArchiveWriter<W: Write> {
    tar: Builder<W>,
    sum: Checksum,
    /// Seconds since the epoch.
    at: u64,
}

impl<W: Write> ArchiveWriter<W> {
    pub(super) fn new(output: W, at: u64) -> Self {
        Self { tar: Builder::new(output), sum: Checksum::default(), at }
    }

    /// Adds an entry of exactly `size` bytes.
    pub(super) fn add(&mut self, part: &EntryName, size: u64, content: impl Read) -> Result<()> {
        self.sum.begin(part, size);
        let content = ExactReader { content, left: size, digest: &mut self.sum.digest };
        append(&mut self.tar, &part.name(), size, self.at, content)
    }

    /// Completes the file with a manifest that has the fields of `known`.
    pub(super) fn finish(mut self, known: Backup) -> Result<Backup> {
        let Checksum { files, bytes, .. } = self.sum;
        let mut backup = Backup { format: FORMAT, files, bytes, ..known };
        backup.sha256 = self.sum.sha256(&backup);
        let text = serde_json::to_vec_pretty(&backup).expect("a manifest has string keys");
        append(&mut self.tar, MANIFEST, text.len() as u64, self.at, &*text)?;
        self.tar.into_inner().and_then(|mut output| output.flush()).map_err(append_error)?;
        Ok(backup)
    }
}

fn append(
    tar: &mut Builder<impl Write>,
    name: &str,
    size: u64,
    at: u64,
    content: impl Read,
) -> Result<()> {
    let mut header = Header::new_gnu();
    header.set_size(size);
    header.set_mode(0o600);
    header.set_mtime(at);
    tar.append_data(&mut header, name, content).map_err(append_error)
}

/// Returns the error of the content if reading it failed, else that of the output.
fn append_error(error: io::Error) -> Error {
    error.downcast().unwrap_or_else(Error::from_io)
}

/// A reader that returns exactly the declared number of bytes, or fails.
struct ExactReader<'d, R> {
    content: R,
    left: u64,
    digest: &'d mut Sha256,
}

impl<R: Read> Read for ExactReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.content.by_ref().take(self.left).read(buffer)?;
        if read == 0 && self.left > 0 && !buffer.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= read as u64;
        self.digest.update(&buffer[..read]);
        Ok(read)
    }
}

/// Reads a backup, passes each entry to `take`, and verifies all entries against the manifest.
///
/// Entries are verified only when this returns, because the manifest is the last one.
///
/// # Errors
/// [`Error::BadRequest`] when the file is not a backup, damaged or truncated, [`Error::Conflict`]
/// when a newer version wrote it, and errors of `take`.
pub(super) fn unpack(
    input: impl Read,
    mut take: impl FnMut(&EntryName, &mut EntryContent<'_>) -> Result<()>,
) -> Result<Backup> {
    let mut archive = Archive::new(input);
    let mut sum = Checksum::default();
    let mut is_first = true;
    // Raw: otherwise `tar` reads extension headers of any length into memory; a backup has none.
    for entry in archive.entries().map_err(unreadable)?.raw(true) {
        let mut entry =
            entry.map_err(|error| if is_first { foreign() } else { unreadable(error) })?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if entry.header().entry_type() != EntryType::Regular {
            return Err(if is_first { foreign() } else { unexpected(&name) });
        }
        if !is_first && name == MANIFEST {
            return compare(sum, manifest(&mut entry)?);
        }
        let part =
            EntryName::parse(&name).filter(|part| is_first == (*part == EntryName::Database));
        let Some(part) = part else {
            return Err(if is_first { foreign() } else { unexpected(&name) });
        };
        let size = entry.header().size().map_err(unreadable)?;
        sum.begin(&part, size);
        let mut content =
            EntryContent { entry: Box::new(&mut entry), left: size, digest: &mut sum.digest };
        take(&part, &mut content)?;
        content.skip_rest()?;
        is_first = false;
    }
    Err(if is_first { foreign() } else { truncated() })
}

/// The content of one entry.
pub(super) struct EntryContent<'e> {
    entry: Box<dyn Read + 'e>,
    left: u64,
    digest: &'e mut Sha256,
}

impl EntryContent<'_> {
    /// Writes the complete content to an output.
    pub(super) fn write_to(&mut self, output: &mut dyn Write) -> Result<()> {
        self.each(|bytes| output.write_all(bytes).map_err(Error::from_io))
    }

    fn skip_rest(&mut self) -> Result<()> {
        self.each(|_| Ok(()))
    }

    fn each(&mut self, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut buffer = vec![0; CHUNK_BYTES];
        while self.left > 0 {
            let read = self.entry.read(&mut buffer).map_err(unreadable)?;
            if read == 0 {
                return Err(truncated());
            }
            self.left -= read as u64;
            self.digest.update(&buffer[..read]);
            take(&buffer[..read])?;
        }
        Ok(())
    }
}

fn manifest(entry: &mut Entry<'_, impl Read>) -> Result<Backup> {
    let size = entry.size();
    if size > MAX_MANIFEST_BYTES {
        return Err(unexpected(MANIFEST));
    }
    let mut text = Vec::new();
    entry.read_to_end(&mut text).map_err(unreadable)?;
    if (text.len() as u64) < size {
        return Err(truncated());
    }
    let format: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    match format["format"].as_u64() {
        Some(format) if format > u64::from(FORMAT) => Err(Error::Conflict(format!(
            "a newer version wrote this backup (format {format}, this program knows {FORMAT}): use \
             that version"
        ))),
        _ => serde_json::from_slice(&text).map_err(|_| unexpected(MANIFEST)),
    }
}

fn compare(sum: Checksum, manifest: Backup) -> Result<Backup> {
    let counts = (sum.files, sum.bytes);
    if counts == (manifest.files, manifest.bytes) && sum.sha256(&manifest) == manifest.sha256 {
        return Ok(manifest);
    }
    let message = "the backup is damaged: checksum mismatch";
    Err(Error::BadRequest(message.to_owned()))
}

fn foreign() -> Error {
    Error::BadRequest("the file is not a backup of cms".to_owned())
}

fn truncated() -> Error {
    Error::BadRequest("the backup is truncated".to_owned())
}

fn unexpected(name: &str) -> Error {
    let name: String = name.chars().take(100).collect();
    Error::BadRequest(format!("the backup is damaged: unexpected entry {name:?}"))
}

fn unreadable(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => truncated(),
        _ => error.downcast().unwrap_or_else(|error| {
            Error::BadRequest(format!("the backup is damaged or cannot be read: {error}"))
        }),
    }
}
