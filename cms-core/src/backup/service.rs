//! Making backups: the order of the steps.
//!
//! First files are kept from being removed, then the database is copied, then the copy is looked
//! through: it names the files that belong to it, and all of them are there until the end. Writers
//! wait for none of it.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, Cursor, Read, Write},
    ops::Range,
    path::PathBuf,
};

use cms_model::{
    clock::Timestamp,
    dates,
    error::{Error, Result, path_error},
    media::{
        fingerprint::{Fingerprint, Fingerprinter},
        id::FileId,
    },
    wire::backup::Backup,
};

use super::archive::{Packer, Part};
use crate::{
    cms::Cms,
    media::{
        service::TYPE,
        verify::{REMEDY, wrong_digest, wrong_size},
    },
    store::{Reader, read_copy},
};

/// Bytes of a stored file that are in memory at a time. From S3 each piece is a request.
const PIECE: u64 = 1024 * 1024;

/// How many damaged files a message names.
const NAMED: usize = 10;

/// Copies of all that a space holds.
pub struct Backups<'a> {
    pub(crate) cms: &'a Cms,
}

/// A copy of the database, and the promise that its files stay. Both go away with this value.
pub struct Copied {
    database: CopyFile,
    files: RecordedFiles,
    known: Backup,
    at: Timestamp,
    _kept: File,
}

/// Stored files, and what was recorded of them at the upload.
type RecordedFiles = Vec<(FileId, Option<Fingerprint>)>;

/// A file that is removed in the end.
struct CopyFile(PathBuf);

impl Drop for CopyFile {
    fn drop(&mut self) {
        // What a crash leaves is swept up a day later.
        fs::remove_file(&self.0).ok();
    }
}

impl Backups<'_> {
    /// Begins a backup. It has every write that was acknowledged before the call.
    ///
    /// # Errors
    /// [`Error::Busy`] while another backup of the folder is made, [`Error::Internal`] when the
    /// database is damaged, or the disk has no room for a copy of it, [`Error::Damaged`] with the
    /// stored files that have another size than what was uploaded.
    pub fn begin(&self) -> Result<Copied> {
        let config = &self.cms.config;
        let kept = self.cms.files.keep()?;
        let folder = self.cms.files.incoming();
        fs::create_dir_all(&folder).map_err(|error| path_error(&folder, &error))?;
        let database = CopyFile(folder.join(config.ids.uuid()));
        let at = config.clock.now();
        self.cms.store.copy(&database.0)?;
        let (files, known) = read_copy(&database.0, |copy| look_through(copy, at))?;
        self.require_sizes(&files)?;
        Ok(Copied { database, files, known, at, _kept: kept })
    }

    /// Writes what was begun, a piece at a time; returns what its manifest says.
    ///
    /// # Errors
    /// [`Error::Internal`] with what went wrong with the output or with a file, [`Error::Damaged`] with
    /// the first file that is not what was uploaded. What was written then is no backup.
    pub fn write(&self, copied: Copied, output: &mut dyn Write) -> Result<Backup> {
        let Copied { database, files, mut known, at, _kept: kept } = copied;
        let seconds = u64::try_from(at.seconds()).unwrap_or_default();
        let mut packer = Packer::new(output, seconds);
        let open = || Ok((fs::metadata(&database.0)?.len(), File::open(&database.0)?));
        let (size, content) = open().map_err(|error| path_error(&database.0, &error))?;
        packer.add(&Part::Database, size, content)?;
        for (id, recorded) in files {
            match self.cms.files.size(&id)? {
                Some(size) => {
                    if let Some(known) = recorded.filter(|known| known.size != size) {
                        let damage = wrong_size(&id, known.size, size);
                        return Err(Error::Damaged(format!("{damage}; {REMEDY}")));
                    }
                    let content = Stored {
                        backups: self,
                        id: &id,
                        rest: 0..size,
                        piece: none(),
                        recorded,
                        fingerprinter: Fingerprinter::default(),
                    };
                    packer.add(&Part::File(id.clone()), size, content)?;
                }
                None => known.missing.push(id.to_string()),
            }
        }
        let backup = packer.finish(known)?;
        drop(kept);
        Ok(backup)
    }

    /// Compares the sizes of stored files with what was uploaded: all of them, and before anything is
    /// written, so that an operator learns of every truncated file at once.
    fn require_sizes(&self, files: &[(FileId, Option<Fingerprint>)]) -> Result<()> {
        let stored = self.cms.files.list()?;
        let sizes: HashMap<_, _> = stored.into_iter().map(|file| (file.id, file.size)).collect();
        let mut damaged = Vec::new();
        for (id, recorded) in files {
            if let (Some(&found), Some(Fingerprint { size, .. })) = (sizes.get(id), recorded)
                && found != *size
            {
                damaged.push(wrong_size(id, *size, found));
            }
        }
        if damaged.is_empty() {
            return Ok(());
        }
        let more = damaged.len().saturating_sub(NAMED);
        damaged.truncate(NAMED);
        if more > 0 {
            damaged.push(format!("{more} more"));
        }
        Err(Error::Damaged(format!("{}; {REMEDY}", damaged.join("; "))))
    }
}

/// Finds out what belongs to a copy, and whether it is sound.
fn look_through(copy: &Reader<'_>, at: Timestamp) -> Result<(RecordedFiles, Backup)> {
    let damage = copy.damage()?;
    if !damage.is_empty() {
        return Err(Error::internal(format!("the database is damaged: {}", damage.join("; "))));
    }
    let objects = copy.media_files_after(TYPE, "", u32::MAX)?.into_iter();
    let files =
        objects.filter_map(|file| Some((FileId::parse(&file.id)?, file.recorded))).collect();
    let known = Backup {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        created_at: dates::object_date(at.seconds()),
        space: copy.names()?.1,
        journal: copy.journal_head()?.seq,
        objects: copy.live_objects()?,
        ..Backup::default()
    };
    Ok((files, known))
}

/// A stored file, of which a piece is in memory.
struct Stored<'s> {
    backups: &'s Backups<'s>,
    id: &'s FileId,
    rest: Range<u64>,
    piece: Cursor<Vec<u8>>,
    recorded: Option<Fingerprint>,
    fingerprinter: Fingerprinter,
}

impl Stored<'_> {
    /// Compares what was read with what was uploaded; called at the end of the file.
    fn verify(&self) -> Result<()> {
        let found = self.fingerprinter.clone().finish();
        match self.recorded {
            Some(recorded) if recorded != found => {
                // Whoever takes a backup over HTTP only sees that the response ends early.
                tracing::error!(id = %self.id, "stored file has the wrong content");
                Err(Error::Damaged(format!("{}; {REMEDY}", wrong_digest(self.id))))
            }
            _ => Ok(()),
        }
    }
}

fn none() -> Cursor<Vec<u8>> {
    Cursor::new(Vec::new())
}

impl Read for Stored<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.piece.read(buffer)?;
        if read > 0 || buffer.is_empty() || self.rest.is_empty() {
            return Ok(read);
        }
        let end = self.rest.end.min(self.rest.start + PIECE);
        let piece = self.backups.cms.files.read(self.id, self.rest.start..end);
        let piece = piece.map_err(io::Error::other)?;
        let gone = || io::Error::other(Error::internal(format!("the file {} is gone", self.id)));
        let piece = piece.ok_or_else(gone)?;
        self.fingerprinter.write_all(&piece)?;
        self.piece = Cursor::new(piece.to_vec());
        self.rest.start = end;
        if self.rest.is_empty() {
            // Before the last bytes are handed out: whoever reads may not ask again.
            self.verify().map_err(io::Error::other)?;
        }
        self.piece.read(buffer)
    }
}
