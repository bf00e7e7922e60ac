//! Creates backups without blocking writers.
//!
//! First the removal of files is suspended, on all nodes of a cluster, then the database is copied. The
//! files of the backup are those of the copy, and all of them exist until the end.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, Read, Write},
    path::PathBuf,
};

use cms_media::chunks::ChunkReader;
use cms_model::{
    clock::Timestamp,
    content_type::builtin::MEDIA,
    dates,
    error::{Error, Result, path_error},
    media::{
        fingerprint::{Fingerprint, Fingerprinter},
        id::FileId,
    },
    wire::backup::Backup,
};
use cms_store::{MediaFile, Reader, read_copy};
use cms_system::folder::ignore_missing;

use super::archive::{ArchiveWriter, EntryName};
use crate::{
    cluster::node::RunningBackup,
    cms::service,
    media::verify::{REMEDY, wrong_digest, wrong_size},
};

/// Bytes of a stored file in memory. Each chunk is one request to S3.
const CHUNK_BYTES: u64 = 1024 * 1024;

/// The copy of the database, in the directory of incomplete uploads.
const DATABASE_COPY: &str = "database-copy";

/// Number of damaged files that a message names.
const MAX_NAMED_FILES: usize = 10;

service! {
    /// Operations on backups.
    Backups, backups
}

/// A copy of the database. Its files are not removed until this value is dropped.
pub struct DatabaseCopy {
    database: CopyFile,
    files: Vec<BackupFile>,
    known: Backup,
    at: Timestamp,
    lock: BackupLock,
}

/// While this exists, no file is removed.
struct BackupLock {
    _folder: File,
    cluster: Option<RunningBackup>,
}

/// The stored file of a media object.
struct BackupFile {
    id: FileId,
    /// The fingerprint of its upload.
    recorded: Option<Fingerprint>,
    /// The object is in the trash without a record of its file: it may have none.
    may_be_missing: bool,
}

/// A file that is removed on drop.
struct CopyFile(PathBuf);

impl Drop for CopyFile {
    fn drop(&mut self) {
        // After a crash, the clean-up removes it a day later.
        fs::remove_file(&self.0).ok();
    }
}

impl Backups<'_> {
    /// Begins a backup with all writes acknowledged before the call.
    ///
    /// # Errors
    /// [`Error::Busy`] while another backup of the data directory or of the cluster runs,
    /// [`Error::Internal`] when the database is damaged, [`Error::NoSpace`] when the disk is full,
    /// [`Error::Damaged`] with the stored files whose size differs from the upload.
    pub fn begin(&self) -> Result<DatabaseCopy> {
        let config = &self.cms.config;
        let lock = self.lock()?;
        let folder = self.cms.files.incoming();
        fs::create_dir_all(&folder).map_err(|error| path_error(&folder, &error))?;
        // This process holds the lock, so an existing file of this name was left by a killed process.
        let database = CopyFile(folder.join(DATABASE_COPY));
        fs::remove_file(&database.0)
            .or_else(ignore_missing)
            .map_err(|error| path_error(&database.0, &error))?;
        let at = config.clock.now();
        self.cms.store.copy(&database.0)?;
        let (files, known) = read_copy(&database.0, |copy| inspect_copy(copy, at))?;
        self.require_sizes(&files)?;
        Ok(DatabaseCopy { database, files, known, at, lock })
    }

    /// Writes a backup in chunks; returns its manifest.
    ///
    /// # Errors
    /// [`Error::Internal`] with the error of the output or of a file, [`Error::Damaged`] with the
    /// first file that differs from the upload. The output is then not a valid backup.
    pub fn write(&self, copied: DatabaseCopy, output: &mut dyn Write) -> Result<Backup> {
        // The lock is bound first, and so released last: the next backup uses the same file name.
        let DatabaseCopy { lock, database, files, mut known, at } = copied;
        let seconds = u64::try_from(at.seconds()).unwrap_or_default();
        let mut packer = ArchiveWriter::new(output, seconds);
        let open = || Ok((fs::metadata(&database.0)?.len(), File::open(&database.0)?));
        let (size, content) = open().map_err(|error| path_error(&database.0, &error))?;
        packer.add(&EntryName::Database, size, content)?;
        for BackupFile { id, recorded, may_be_missing } in files {
            match self.cms.files.size(&id)? {
                Some(size) => {
                    if let Some(known) = recorded.filter(|known| known.size != size) {
                        let damage = wrong_size(&id, known.size, size);
                        return Err(Error::Damaged(format!("{damage}; {REMEDY}")));
                    }
                    let content = self.open_file(&id, size, recorded);
                    packer.add(&EntryName::File(id.clone()), size, content)?;
                }
                None if may_be_missing => {}
                None => known.missing.push(id.to_string()),
            }
        }
        if lock.cluster.as_ref().is_some_and(|running| !running.is_held()) {
            // Without the lock, other nodes may have removed files that belong to the copy.
            return Err(Error::Busy("the backup lost its lock in the cluster".to_owned()));
        }
        packer.finish(known)
    }

    fn lock(&self) -> Result<BackupLock> {
        let folder = self.cms.files.lock_for_backup()?;
        let cluster = self.cms.cluster().map(|cluster| {
            let running = cluster.lock_for_backup()?;
            // A node commits the deletion of media objects before it checks for this lock and removes
            // their files. So if it did not see the lock, the deletion is already committed, and after
            // this catch-up the copy does not have these objects either.
            cluster.catch_up().map(|()| running)
        });
        Ok(BackupLock { _folder: folder, cluster: cluster.transpose()? })
    }

    /// Returns a reader of a stored file. At the end of the file, it compares the fingerprint with that
    /// of the upload.
    fn open_file(&self, id: &FileId, size: u64, recorded: Option<Fingerprint>) -> impl Read {
        let mut fingerprinter = Fingerprinter::default();
        ChunkReader::new(size, CHUNK_BYTES, move |range| {
            let end = range.end;
            let gone = || Error::internal(format!("the file {id} is gone"));
            let chunk = self.cms.files.read(id, range).and_then(|chunk| chunk.ok_or_else(gone));
            let chunk = chunk.map_err(io::Error::other)?;
            fingerprinter.write_all(&chunk)?;
            // Checked before the last bytes are returned: the caller may not read again.
            if end == size && recorded.is_some_and(|it| it != fingerprinter.clone().finish()) {
                // HTTP clients see only that the response ends early.
                tracing::error!(%id, "stored file has the wrong content");
                let damage = Error::Damaged(format!("{}; {REMEDY}", wrong_digest(id)));
                return Err(io::Error::other(damage));
            }
            Ok(chunk)
        })
    }

    /// Compares the sizes of all stored files with those of the uploads before anything is written,
    /// so that one error names every truncated file.
    fn require_sizes(&self, files: &[BackupFile]) -> Result<()> {
        let stored = self.cms.files.list(&|| Ok(()))?;
        let sizes: HashMap<_, _> = stored.into_iter().map(|file| (file.id, file.size)).collect();
        let mut damaged = Vec::new();
        for BackupFile { id, recorded, .. } in files {
            if let (Some(&found), Some(Fingerprint { size, .. })) = (sizes.get(id), recorded)
                && found != *size
            {
                damaged.push(wrong_size(id, *size, found));
            }
        }
        if damaged.is_empty() {
            return Ok(());
        }
        let more = damaged.len().saturating_sub(MAX_NAMED_FILES);
        damaged.truncate(MAX_NAMED_FILES);
        if more > 0 {
            damaged.push(format!("{more} more"));
        }
        Err(Error::Damaged(format!("{}; {REMEDY}", damaged.join("; "))))
    }
}

/// Checks a copy for damage; returns its files and the manifest.
fn inspect_copy(copy: &Reader<'_>, at: Timestamp) -> Result<(Vec<BackupFile>, Backup)> {
    let damage = copy.quick_check()?;
    if !damage.is_empty() {
        return Err(Error::internal(format!("the database is damaged: {}", damage.join("; "))));
    }
    let objects = copy.media_files_after(MEDIA, "", u32::MAX)?.into_iter();
    let files = objects.filter_map(|MediaFile { id, recorded, is_in_trash, .. }| {
        let may_be_missing = is_in_trash && recorded.is_none();
        Some(BackupFile { id: FileId::parse(&id)?, recorded, may_be_missing })
    });
    let files = files.collect();
    let known = Backup {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        created_at: dates::object_date(at.seconds()),
        space: copy.space_ids()?.space,
        journal: copy.journal_head()?.seq,
        objects: copy.live_objects()?,
        ..Backup::default()
    };
    Ok((files, known))
}
