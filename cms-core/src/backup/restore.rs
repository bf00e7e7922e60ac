//! Making a data folder from a backup, and looking whether a file is one.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, BufReader, Read, Write},
    path::{Path, PathBuf},
};

use cms_model::{
    error::{Error, Result, path_error},
    media::{fingerprint::Fingerprint, id::FileId},
    wire::backup::Backup,
};
use cms_system::{folder, lock};

use super::archive::{self, Content, Part};
use crate::{
    CoreConfig,
    media::{files::Files, service::TYPE},
    store::{self, Store, Writer},
};

/// Where a folder is made, within itself.
const STAGE: &str = "restoring";
/// In the stage once all of it was compared: the manifest of the backup.
const COMPLETE: &str = "complete.json";
const DATABASE: &str = "cms.db";
/// Beside a database that somebody has open: changes that are not in it yet.
const LOG: &str = "cms.db-wal";
const FILES: &str = "media";
/// Held by every process that uses the folder.
const LOCK: &str = "lock";

/// Reads a whole backup, and compares it with what its end says.
///
/// # Errors
/// [`Error::BadRequest`] when it is no backup, damaged or cut off, [`Error::Conflict`] when a newer
/// version wrote it.
pub fn verify_backup(backup: &Path) -> Result<Backup> {
    archive::unpack(open(backup)?, |_, _| Ok(()))
}

/// Makes a data folder from a backup: in an empty folder, in one that is not there yet, or in one
/// whose restore was interrupted. Files go where `config` says that they are kept.
///
/// Nothing is found in the folder before everything is there and was compared with what was written.
/// Then the files move to their place, and the database last. A process that is killed on the way
/// leaves the stage, which no server opens; the same call made again begins anew.
///
/// # Errors
/// Those of [`verify_backup`]; [`Error::Conflict`] when the folder is not empty, [`Error::Busy`] when
/// another process uses it.
pub fn restore(backup: &Path, config: &CoreConfig) -> Result<Backup> {
    let input = open(backup)?;
    let folder = &config.folder;
    let is_new = !folder.exists();
    folder::make(folder).map_err(|error| path_error(folder, &error))?;
    let had_lock = folder.join(LOCK).exists();
    let lock = lock::try_hold(&folder.join(LOCK))?.ok_or_else(|| {
        let folder = folder.display();
        Error::Busy(format!("another process uses or restores the data folder {folder}"))
    })?;
    let mut stage = Stage {
        folder: folder.join(STAGE),
        files: None,
        recorded: HashMap::new(),
        sent: Vec::new(),
    };
    match Found::in_folder(folder)? {
        Found::Nothing => {}
        Found::Interrupted => stage.discard(folder)?,
        Found::Restored(manifest) => {
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
        if !had_lock {
            fs::remove_file(folder.join(LOCK)).ok();
        }
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

/// What a restore finds in the folder.
enum Found {
    Nothing,
    /// What a restore left that was interrupted before the database was in its place.
    Interrupted,
    /// The database is in its place, and only the stage was not removed any more.
    Restored(Backup),
}

impl Found {
    /// # Errors
    /// [`Error::Conflict`] when there is anything that no restore left.
    fn in_folder(folder: &Path) -> Result<Self> {
        let failed = |error: &_| path_error(folder, error);
        let mut names = Vec::new();
        for entry in fs::read_dir(folder).map_err(|error| failed(&error))? {
            names.push(entry.map_err(|error| failed(&error))?.file_name());
        }
        names.retain(|name| name != LOCK);
        let stage = folder.join(STAGE);
        let has = |name: &str| names.iter().any(|found| found == name);
        let has_only = |known: &[&str]| names.iter().all(|name| known.iter().any(|k| name == k));
        if names.is_empty() {
            return Ok(Self::Nothing);
        }
        if !has(STAGE) {
            return Err(occupied(folder));
        }
        let manifest = fs::read(stage.join(COMPLETE)).ok();
        let manifest: Option<Backup> = manifest.and_then(|text| serde_json::from_slice(&text).ok());
        let is_staged = stage.join(DATABASE).exists();
        match manifest {
            _ if has_only(&[STAGE]) => Ok(Self::Interrupted),
            // The files were moved, the database was not: they are those of the backup.
            Some(_) if has_only(&[STAGE, FILES]) && is_staged => Ok(Self::Interrupted),
            Some(manifest) if has(DATABASE) && !is_staged => Ok(Self::Restored(manifest)),
            _ => Err(occupied(folder)),
        }
    }
}

fn occupied(folder: &Path) -> Error {
    Error::Conflict(format!("the folder {} is not empty", folder.display()))
}

/// A data folder under way.
struct Stage {
    folder: PathBuf,
    /// Known once the database is there.
    files: Option<Files>,
    /// What the database says of the files that were uploaded.
    recorded: HashMap<FileId, Fingerprint>,
    /// Files that were stored; elsewhere they do not go away with the folder.
    sent: Vec<FileId>,
}

impl Stage {
    fn fill(&mut self, input: impl Read, config: &CoreConfig) -> Result<Backup> {
        let staged = CoreConfig {
            folder: self.folder.clone(),
            media_file_limit: u64::MAX,
            ..config.clone()
        };
        fs::create_dir(&self.folder).map_err(|error| path_error(&self.folder, &error))?;
        let backup = archive::unpack(input, |part, content| match part {
            Part::Database => self.take_database(content, &staged),
            Part::File(id) => self.take_file(id, content),
        })?;
        Ok(backup)
    }

    fn take_database(&mut self, content: &mut Content<'_>, staged: &CoreConfig) -> Result<()> {
        let path = self.folder.join(DATABASE);
        let file = File::create_new(&path).map_err(|error| path_error(&path, &error))?;
        content.write_to(&mut &file)?;
        file.sync_all().map_err(|error| path_error(&path, &error))?;
        drop(file);
        let damage = store::read_copy(&path, |copy| Ok(copy.damage()?.join("; ")))?;
        if !damage.is_empty() {
            return Err(Error::BadRequest(format!("the database in it is damaged: {damage}")));
        }
        // Brought up to date here, so that a backup that is too new is refused in time.
        let store = Store::open(staged)?;
        let space = store.peek(|reader| Ok(reader.names()?.1))?;
        // Their day begins anew: files may have got their objects after the backup.
        store.write(forget_orphans)?;
        let objects = store.peek(|reader| reader.media_files_after(TYPE, "", u32::MAX))?;
        drop(store);
        let recorded = objects.into_iter();
        let recorded = recorded.filter_map(|file| FileId::parse(&file.id).zip(file.recorded));
        self.recorded = recorded.collect();
        if self.folder.join(LOG).exists() {
            return Err(Error::internal("the database cannot be closed"));
        }
        self.files = Some(Files::new(staged, space));
        Ok(())
    }

    fn take_file(&mut self, id: &FileId, content: &mut Content<'_>) -> Result<()> {
        let files = self.files.as_ref().expect("the database comes first");
        let mut incoming = files.receive()?;
        content.write_to(&mut incoming)?;
        let found = incoming.fingerprint();
        if self.recorded.get(id).is_some_and(|&recorded| recorded != found) {
            return Err(Error::BadRequest(format!(
                "the backup is damaged: the file {id} in it is not what was uploaded"
            )));
        }
        // Another one in a bucket is the same: the file of an id never changes.
        if files.size(id)?.is_none() && files.store(id, &mut incoming)? {
            self.sent.push(id.clone());
        }
        Ok(())
    }

    /// Notes that everything is there and was compared.
    fn complete(&self, backup: &Backup) -> Result<()> {
        let path = self.folder.join(COMPLETE);
        let text = serde_json::to_vec(backup).expect("a manifest has string keys");
        let written = File::create_new(&path).and_then(|mut file| {
            file.write_all(&text)?;
            file.sync_all()
        });
        written.and_then(|()| sync(&self.folder)).map_err(|error| path_error(&path, &error))
    }

    /// Puts everything in its place; the database last, which makes it a data folder.
    fn finish(&self, folder: &Path) -> Result<()> {
        for name in [FILES, DATABASE] {
            let (from, to) = (self.folder.join(name), folder.join(name));
            if from.exists() {
                fs::rename(&from, &to).map_err(|error| path_error(&to, &error))?;
            }
            sync(folder).map_err(|error| path_error(folder, &error))?;
        }
        fs::remove_dir_all(&self.folder).map_err(|error| path_error(&self.folder, &error))
    }

    /// Removes what an interrupted restore left. Files that have moved already go back first: on their
    /// own they would look like those of a lost database.
    fn discard(&self, folder: &Path) -> Result<()> {
        let (from, to) = (folder.join(FILES), self.folder.join(FILES));
        if from.exists() {
            fs::rename(&from, &to).map_err(|error| path_error(&from, &error))?;
        }
        fs::remove_dir_all(&self.folder).map_err(|error| path_error(&self.folder, &error))
    }

    /// Takes everything back, as far as that works.
    fn clear(&self, folder: &Path) {
        if let Some(files) = &self.files {
            files.remove(&self.sent).ok();
        }
        // The database first: a folder that has one counts as complete.
        fs::remove_file(folder.join(DATABASE)).ok();
        for name in [FILES, STAGE] {
            fs::remove_dir_all(folder.join(name)).ok();
        }
    }
}

fn forget_orphans(writer: &Writer<'_>) -> Result<()> {
    writer.forget_all_orphans()
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::{super::archive::Packer, *};
    use crate::testing::TestCms;
    use cms_model::{context::Caller, wire::media::UploadRequest};

    /// An archive whose own digest is right, with a file that was changed before it was written.
    #[test]
    fn restore_refuses_a_file_that_is_not_what_was_uploaded() {
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
        let id = core.cms.files.list().unwrap().remove(0).id;

        let backup = core.path().join("site.tar");
        let folder = core.path().join("restored");
        for content in [&b"what was replaced"[..], b"what was", b"what was uploaded"] {
            let mut packer = Packer::new(File::create(&backup).unwrap(), 0);
            packer.add(&Part::Database, database.len() as u64, &*database).unwrap();
            packer.add(&Part::File(id.clone()), content.len() as u64, content).unwrap();
            packer.finish(Backup::default()).unwrap();
            let restored = restore(&backup, &CoreConfig::new(&folder));
            if content == b"what was uploaded" {
                restored.unwrap();
                continue;
            }
            let Err(Error::BadRequest(message)) = restored else { panic!("{restored:?}") };
            let wanted =
                format!("the backup is damaged: the file {id} in it is not what was uploaded");
            assert_eq!(message, wanted);
            assert!(!folder.exists());
        }
    }
}
