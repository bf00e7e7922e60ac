//! The file of a backup: a tar archive with the database, the stored files, and last a manifest.
//!
//! ```text
//! cms.db                one file, sound and whole
//! media/_media-<uuid>   as it was uploaded; any number of them
//! manifest.json         says what must have come before, with a digest of all of it
//! ```
//!
//! The manifest comes last, so a file can be written and read in one go, and one that was cut off
//! has none. Names are compared with these forms and never used as paths.

use std::{
    fmt::Write as _,
    io::{self, Read, Write},
};

use cms_model::{
    error::{Error, Result},
    media::id::FileId,
    wire::backup::Backup,
};
use sha2::{Digest, Sha256};
use tar::{Archive, Builder, Entry, EntryType, Header};

/// Grows whenever an older program could not read the file.
const FORMAT: u32 = 1;

const DATABASE: &str = "cms.db";
const FILES: &str = "media/";
const MANIFEST: &str = "manifest.json";

/// Largest manifest that is read, in bytes.
const MANIFEST_BYTES: u64 = 256 * 1024 * 1024;
/// Bytes that are read at a time.
const CHUNK: usize = 64 * 1024;

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Database,
    File(FileId),
}

impl Part {
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

/// What the manifest says of all entries before it.
#[derive(Default)]
struct Sum {
    digest: Sha256,
    files: u64,
    bytes: u64,
}

impl Sum {
    fn begin(&mut self, part: &Part, size: u64) {
        self.digest.update(format!("{} {size}\n", part.name()));
        self.files += u64::from(*part != Part::Database);
        self.bytes += size;
    }

    /// The digest of all entries, and of what else the manifest says.
    fn sha256(mut self, manifest: &Backup) -> String {
        let rest = Backup { sha256: String::new(), ..manifest.clone() };
        self.digest.update(serde_json::to_vec(&rest).expect("a manifest has string keys"));
        let mut text = String::new();
        for byte in self.digest.finalize() {
            write!(text, "{byte:02x}").expect("writing to memory cannot fail");
        }
        text
    }
}

/// Writes a backup.
pub(super) struct Packer<W: Write> {
    tar: Builder<W>,
    sum: Sum,
    /// Seconds since the epoch.
    at: u64,
}

impl<W: Write> Packer<W> {
    pub(super) fn new(output: W, at: u64) -> Self {
        Self { tar: Builder::new(output), sum: Sum::default(), at }
    }

    /// Adds an entry of exactly so many bytes.
    pub(super) fn add(&mut self, part: &Part, size: u64, content: impl Read) -> Result<()> {
        self.sum.begin(part, size);
        let content = Exactly { content, left: size, digest: &mut self.sum.digest };
        append(&mut self.tar, &part.name(), size, self.at, content)
    }

    /// Ends the file with what is known of it.
    pub(super) fn finish(mut self, known: Backup) -> Result<Backup> {
        let Sum { files, bytes, .. } = self.sum;
        let mut backup = Backup { format: FORMAT, files, bytes, ..known };
        backup.sha256 = self.sum.sha256(&backup);
        let text = serde_json::to_vec_pretty(&backup).expect("a manifest has string keys");
        append(&mut self.tar, MANIFEST, text.len() as u64, self.at, &*text)?;
        self.tar.into_inner().and_then(|mut output| output.flush()).map_err(unwritten)?;
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
    tar.append_data(&mut header, name, content).map_err(unwritten)
}

/// What a reader of ours said, or what became of the output.
fn unwritten(error: io::Error) -> Error {
    error.downcast().unwrap_or_else(Error::from_io)
}

/// A reader that gives as many bytes as were promised, or fails.
struct Exactly<'d, R> {
    content: R,
    left: u64,
    digest: &'d mut Sha256,
}

impl<R: Read> Read for Exactly<'_, R> {
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

/// Reads a backup, shows each entry to `take`, and compares all of it with the manifest.
///
/// What `take` was shown counts only when this returns: a manifest that does not fit comes last.
///
/// # Errors
/// [`Error::BadRequest`] when it is no backup, damaged or cut off, [`Error::Conflict`] when a newer
/// program wrote it, and whatever `take` says.
pub(super) fn unpack(
    input: impl Read,
    mut take: impl FnMut(&Part, &mut Content<'_>) -> Result<()>,
) -> Result<Backup> {
    let mut archive = Archive::new(input);
    let mut sum = Sum::default();
    let mut is_first = true;
    // Raw: what only says more about the entry that follows is read as a whole, however long it is, and
    // is not in a backup.
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
        let part = Part::parse(&name).filter(|part| is_first == (*part == Part::Database));
        let Some(part) = part else {
            return Err(if is_first { foreign() } else { unexpected(&name) });
        };
        let size = entry.header().size().map_err(unreadable)?;
        sum.begin(&part, size);
        let mut content =
            Content { entry: Box::new(&mut entry), left: size, digest: &mut sum.digest };
        take(&part, &mut content)?;
        content.skip_rest()?;
        is_first = false;
    }
    Err(if is_first { foreign() } else { cut_off() })
}

/// The content of one entry.
pub(super) struct Content<'e> {
    entry: Box<dyn Read + 'e>,
    left: u64,
    digest: &'e mut Sha256,
}

impl Content<'_> {
    /// Writes all of it.
    pub(super) fn write_to(&mut self, output: &mut dyn Write) -> Result<()> {
        self.each(|bytes| output.write_all(bytes).map_err(Error::from_io))
    }

    fn skip_rest(&mut self) -> Result<()> {
        self.each(|_| Ok(()))
    }

    fn each(&mut self, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut buffer = vec![0; CHUNK];
        while self.left > 0 {
            let read = self.entry.read(&mut buffer).map_err(unreadable)?;
            if read == 0 {
                return Err(cut_off());
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
    if size > MANIFEST_BYTES {
        return Err(unexpected(MANIFEST));
    }
    let mut text = Vec::new();
    entry.read_to_end(&mut text).map_err(unreadable)?;
    if (text.len() as u64) < size {
        return Err(cut_off());
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

fn compare(sum: Sum, manifest: Backup) -> Result<Backup> {
    let counts = (sum.files, sum.bytes);
    if counts == (manifest.files, manifest.bytes) && sum.sha256(&manifest) == manifest.sha256 {
        return Ok(manifest);
    }
    let message = "the backup is damaged: its content is not what was written";
    Err(Error::BadRequest(message.to_owned()))
}

fn foreign() -> Error {
    Error::BadRequest("this is no backup of cms".to_owned())
}

fn cut_off() -> Error {
    Error::BadRequest("the backup is cut off: its end is missing".to_owned())
}

fn unexpected(name: &str) -> Error {
    let name: String = name.chars().take(100).collect();
    Error::BadRequest(format!("the backup is damaged: nothing in it is called {name:?}"))
}

fn unreadable(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => cut_off(),
        _ => error.downcast().unwrap_or_else(|error| {
            Error::BadRequest(format!("the backup is damaged, or cannot be read: {error}"))
        }),
    }
}
