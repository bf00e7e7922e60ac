//! Restores a data directory from a backup, and verifies backups.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{BufReader, Read, Write},
    path::{Path, PathBuf},
};

use cms_media::files::Files;
use cms_model::{
    content_type::builtin::MEDIA,
    error::{Error, Result, path_error},
    media::{fingerprint::Fingerprint, id::FileId},
    wire::backup::Backup,
};
use cms_store::read_copy;
use cms_system::{folder, lock};

use super::archive::{self, EntryContent, EntryName};
use crate::CoreConfig;

/// The staging directory within the data directory.
const STAGING_DIRECTORY: &str = "restoring";
/// The manifest of the backup; in the staging directory once all entries are verified.
const COMPLETE: &str = "complete.json";
pub(crate) const DATABASE: &str = "cms.db";
/// The write-ahead log of an open database.
const WAL: &str = "cms.db-wal";
const FILES: &str = "media";
/// Locked by every process that uses the data directory.
const LOCK: &str = "lock";

/// Verifies a backup against its manifest.
///
/// # Errors
/// [`Error::BadRequest`] when the file is not a backup, damaged or truncated, [`Error::Conflict`]
/// when a newer version wrote it.
pub fn verify_backup(backup: &Path) -> Result<Backup> {
    archive::unpack(open(backup)?, |_, _| Ok(()))
}

/// Restores a data directory from a backup: in an empty or missing directory, or in one whose
/// restore was interrupted. `config` decides where uploaded files are stored.
///
/// Entries are written to a staging directory and verified; then the files are moved, the database
/// last. A killed process leaves the staging directory, which no server opens. The next call starts
/// again; if the database was already moved, it only verifies the backup and removes the staging directory.
///
/// # Errors
/// Those of [`verify_backup`]; [`Error::Conflict`] when the directory is not empty, [`Error::Busy`]
/// when another process uses it.
pub fn restore(backup: &Path, config: &CoreConfig) -> Result<Backup> {
    let input = open(backup)?;
    let folder = &config.folder;
    let is_new = !folder.exists();
    folder::create(folder).map_err(|error| path_error(folder, &error))?;
    let had_lock = folder.join(LOCK).exists();
    let lock = lock::try_lock(&folder.join(LOCK))?.ok_or_else(|| {
        let folder = folder.display();
        Error::Busy(format!("another process uses or restores the data directory {folder}"))
    })?;
    let mut stage = StagingDirectory {
        folder: folder.join(STAGING_DIRECTORY),
        files: None,
        recorded: HashMap::new(),
        sent: Vec::new(),
    };
    let remove_lock = || {
        if !had_lock {
            fs::remove_file(folder.join(LOCK)).ok();
        }
    };
    match DirectoryState::in_folder(folder).inspect_err(|_| remove_lock())? {
        DirectoryState::Nothing => {}
        DirectoryState::Interrupted => stage.discard(folder)?,
        DirectoryState::Restored(manifest) => {
            let wanted = archive::unpack(input, |_, _| Ok(()))?;
            if wanted != manifest {
                return Err(occupied(folder));
            }
            fs::remove_dir_all(&stage.folder).map_err(|error| path_error(&stage.folder, &error))?;
            return Ok(wanted);
        }
    }
    let restored = stage.fill(input, config).and_then(|backup| {
        stage.complete(&backup)?;
        stage.finish(folder)?;
        Ok(backup)
    });
    if restored.is_err() {
        stage.clear(folder);
        remove_lock();
        drop(lock);
        if is_new {
            fs::remove_dir(folder).ok();
        }
    }
    restored
}

fn open(backup: &Path) -> Result<impl Read + use<>> {
    let file = File::open(backup)
        .map_err(|error| Error::BadRequest(format!("cannot read {}: {error}", backup.display())))?;
    Ok(BufReader::with_capacity(256 * 1024, file))
}

/// The state of a directory before a restore.
enum DirectoryState {
    Nothing,
    /// A restore was interrupted before it moved the database.
    Interrupted,
    /// A restore moved the database and was interrupted before it removed the staging directory.
    Restored(Backup),
}

impl DirectoryState {
    /// # Errors
    /// [`Error::Conflict`] when the directory contains other files than a restore leaves.
    fn in_folder(folder: &Path) -> Result<Self> {
        let mut names = folder::names(folder).map_err(|error| path_error(folder, &error))?;
        names.retain(|name| name != LOCK);
        let stage = folder.join(STAGING_DIRECTORY);
        let has = |name: &str| names.iter().any(|found| found == name);
        let has_only = |known: &[&str]| names.iter().all(|name| known.iter().any(|k| name == k));
        if names.is_empty() {
            return Ok(Self::Nothing);
        }
        if !has(STAGING_DIRECTORY) {
            return Err(occupied(folder));
        }
        let manifest = fs::read(stage.join(COMPLETE)).ok();
        let manifest: Option<Backup> = manifest.and_then(|text| serde_json::from_slice(&text).ok());
        let is_staged = stage.join(DATABASE).exists();
        match manifest {
            _ if has_only(&[STAGING_DIRECTORY]) => Ok(Self::Interrupted),
            // The files were moved, the database was not: the files belong to the backup.
            Some(_) if has_only(&[STAGING_DIRECTORY, FILES]) && is_staged => Ok(Self::Interrupted),
            Some(manifest) if has(DATABASE) && !is_staged => Ok(Self::Restored(manifest)),
            _ => Err(occupied(folder)),
        }
    }
}

fn occupied(folder: &Path) -> Error {
    let folder = folder.display();
    Error::Conflict(format!("the data directory {folder} is not empty: use an empty or a new one"))
}

/// The data directory during a restore.
struct StagingDirectory {
    folder: PathBuf,
    /// Set once the database is written.
    files: Option<Files>,
    /// Fingerprints of the uploaded files in the database.
    recorded: HashMap<FileId, Fingerprint>,
    /// Files stored so far. A failed restore removes them one by one, because files in a bucket are not
    /// removed with the directory.
    sent: Vec<FileId>,
}

impl StagingDirectory {
    fn fill(&mut self, input: impl Read, config: &CoreConfig) -> Result<Backup> {
        let staged = CoreConfig { folder: self.folder.clone(), ..config.clone() };
        fs::create_dir(&self.folder).map_err(|error| path_error(&self.folder, &error))?;
        archive::unpack(input, |part, content| match part {
            EntryName::Database => self.take_database(content, &staged),
            EntryName::File(id) => self.take_file(id, content),
        })
    }

    fn take_database(&mut self, content: &mut EntryContent<'_>, staged: &CoreConfig) -> Result<()> {
        let path = self.folder.join(DATABASE);
        let file = folder::create_private(&path).map_err(|error| path_error(&path, &error))?;
        content.write_to(&mut &file)?;
        file.sync_all().map_err(|error| path_error(&path, &error))?;
        drop(file);
        let damage = read_copy(&path, |copy| Ok(copy.quick_check()?.join("; ")))?;
        if !damage.is_empty() {
            return Err(Error::BadRequest(format!(
                "the database in the backup is damaged: {damage}"
            )));
        }
        // Migrated here, so that a backup of a newer version is rejected early.
        let store = staged.open_store()?;
        let space = store.read_autocommit(|reader| Ok(reader.space_ids()?.space))?;
        store.write(|writer| {
            // Orphaned files get a new deadline: their objects may have been created after the backup.
            writer.delete_orphan_records()?;
            writer.revoke_all_access()
        })?;
        let objects =
            store.read_autocommit(|reader| reader.media_files_after(MEDIA, "", u32::MAX))?;
        drop(store);
        let recorded = objects.into_iter();
        let recorded = recorded.filter_map(|file| FileId::parse(&file.id).zip(file.recorded));
        self.recorded = recorded.collect();
        if self.folder.join(WAL).exists() {
            return Err(Error::internal("the database cannot be closed"));
        }
        let files = Files::new(staged.files(), space);
        // Also for a backup without files: the bucket may belong to another data directory.
        files.connect()?;
        self.files = Some(files);
        Ok(())
    }

    fn take_file(&mut self, id: &FileId, content: &mut EntryContent<'_>) -> Result<()> {
        let files = self.files.as_ref().expect("the database comes first");
        let mut incoming = files.receive_copy()?;
        content.write_to(&mut incoming)?;
        let found = incoming.fingerprint();
        if self.recorded.get(id).is_some_and(|&recorded| recorded != found) {
            return Err(Error::BadRequest(format!(
                "the backup is damaged: checksum mismatch of the file {id}"
            )));
        }
        match files.size(id)? {
            None => {
                if files.store(id, &mut incoming)? {
                    self.sent.push(id.clone());
                }
                Ok(())
            }
            // An existing file in a bucket is the same: the file of an id never changes.
            Some(size) if size == found.size => Ok(()),
            Some(size) => Err(Error::Conflict(format!(
                "the bucket has a damaged file {id}: {size} bytes instead of {}; remove it, or use another \
                 prefix",
                found.size
            ))),
        }
    }

    /// Records that all entries are written and verified.
    fn complete(&self, backup: &Backup) -> Result<()> {
        let path = self.folder.join(COMPLETE);
        let text = serde_json::to_vec(backup).expect("a manifest has string keys");
        let written = File::create_new(&path).and_then(|mut file| {
            file.write_all(&text)?;
            file.sync_all()
        });
        written.and_then(|()| folder::sync(&self.folder)).map_err(|error| path_error(&path, &error))
    }

    /// Moves everything to the data directory, the database last.
    fn finish(&self, folder: &Path) -> Result<()> {
        for name in [FILES, DATABASE] {
            let (from, to) = (self.folder.join(name), folder.join(name));
            if from.exists() {
                fs::rename(&from, &to).map_err(|error| path_error(&to, &error))?;
            }
            folder::sync(folder).map_err(|error| path_error(folder, &error))?;
        }
        fs::remove_dir_all(&self.folder).map_err(|error| path_error(&self.folder, &error))
    }

    /// Removes the staging directory of an interrupted restore. Moved files are moved back first:
    /// without a database they would look like the files of a lost database.
    fn discard(&self, folder: &Path) -> Result<()> {
        let (from, to) = (folder.join(FILES), self.folder.join(FILES));
        if from.exists() {
            fs::rename(&from, &to).map_err(|error| path_error(&from, &error))?;
        }
        fs::remove_dir_all(&self.folder).map_err(|error| path_error(&self.folder, &error))
    }

    /// Removes everything, ignoring errors.
    fn clear(&self, folder: &Path) {
        if let Some(files) = &self.files
            && (self.sent.is_empty() || files.remove(&self.sent).is_ok())
        {
            files.release().ok();
        }
        // The database first: a directory with a database counts as complete.
        fs::remove_file(folder.join(DATABASE)).ok();
        for name in [FILES, STAGING_DIRECTORY] {
            fs::remove_dir_all(folder.join(name)).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::{super::archive::ArchiveWriter, *};
    use crate::testing::TestCms;
    use cms_model::{context::Caller, wire::media::UploadRequest};

    /// An archive with a valid digest and a file that was changed before the backup.
    #[test]
    fn restore_rejects_a_file_that_differs_from_the_upload() {
        let core = TestCms::new();
        let mut incoming = core.cms.media().receive().unwrap();
        incoming.write_all(b"what was uploaded").unwrap();
        let request = UploadRequest {
            kind: Some("file".to_owned()),
            file_name: "a.txt".to_owned(),
            save: true,
            ..UploadRequest::default()
        };
        core.cms.media().upload(&Caller::local(), Some(incoming), &request).unwrap();
        let database = core.path().join("copy.db");
        core.cms.store.copy(&database).unwrap();
        let database = fs::read(&database).unwrap();
        let id = core.cms.files.list(&|| Ok(())).unwrap().remove(0).id;

        let backup = core.path().join("site.tar");
        let folder = core.path().join("restored");
        for content in [&b"what was replaced"[..], b"what was", b"what was uploaded"] {
            let mut packer = ArchiveWriter::new(File::create(&backup).unwrap(), 0);
            packer.add(&EntryName::Database, database.len() as u64, &*database).unwrap();
            packer.add(&EntryName::File(id.clone()), content.len() as u64, content).unwrap();
            packer.finish(Backup::default()).unwrap();
            let restored = restore(&backup, &CoreConfig::new(&folder));
            if content == b"what was uploaded" {
                restored.unwrap();
                continue;
            }
            let Err(Error::BadRequest(message)) = restored else { panic!("{restored:?}") };
            let wanted = format!("the backup is damaged: checksum mismatch of the file {id}");
            assert_eq!(message, wanted);
            assert!(!folder.exists());
        }
    }
}
