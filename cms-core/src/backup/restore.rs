//! Making a data folder from a backup, and looking whether a file is one.

use std::{
    fs::{self, File},
    io::{BufReader, Read},
    path::{Path, PathBuf},
};

use super::archive::{self, Content, Part};
use crate::{
    CoreConfig,
    error::{Error, Result, unusable},
    folder,
    media::{files::Files, id::FileId},
    store::{self, Store},
    wire::backup::Backup,
};

/// Where a folder is made, within itself.
const STAGE: &str = "restoring";
const DATABASE: &str = "cms.db";
/// Beside a database that somebody has open: changes that are not in it yet.
const LOG: &str = "cms.db-wal";
const FILES: &str = "media";

/// Reads a whole backup, and compares it with what its end says.
///
/// # Errors
/// [`Error::BadRequest`] when it is no backup, damaged or cut off, [`Error::Conflict`] when a newer
/// version wrote it.
pub fn verify_backup(backup: &Path) -> Result<Backup> {
    archive::unpack(open(backup)?, |_, _| Ok(()))
}

/// Makes a data folder from a backup: in an empty folder, or in one that is not there yet. Files go
/// where `config` says that they are kept.
///
/// Nothing is found in the folder before everything is there and was compared with what was written.
///
/// # Errors
/// Those of [`verify_backup`]; [`Error::Conflict`] when the folder is not empty.
pub fn restore(backup: &Path, config: &CoreConfig) -> Result<Backup> {
    let input = open(backup)?;
    let is_new = prepare(&config.folder)?;
    let mut stage = Stage { folder: config.folder.join(STAGE), files: None, sent: Vec::new() };
    let restored = stage.fill(input, config).and_then(|backup| {
        stage.finish(&config.folder)?;
        Ok(backup)
    });
    if restored.is_err() {
        stage.clear(&config.folder, is_new);
    }
    restored
}

fn open(backup: &Path) -> Result<impl Read + use<>> {
    let file = File::open(backup)
        .map_err(|error| Error::BadRequest(format!("cannot read {}: {error}", backup.display())))?;
    Ok(BufReader::with_capacity(256 * 1024, file))
}

/// Makes sure that a folder is there and empty; tells whether it was made. What an earlier attempt
/// left that was cut off is no content.
fn prepare(folder: &Path) -> Result<bool> {
    let is_new = !folder.exists();
    let fault = |error: &_| unusable(folder, error);
    folder::make(folder).map_err(|error| fault(&error))?;
    for entry in fs::read_dir(folder).map_err(|error| fault(&error))? {
        let entry = entry.map_err(|error| fault(&error))?;
        if entry.file_name() != STAGE {
            return Err(Error::Conflict(format!("the folder {} is not empty", folder.display())));
        }
        fs::remove_dir_all(entry.path()).map_err(|error| fault(&error))?;
    }
    Ok(is_new)
}

/// A data folder under way.
struct Stage {
    folder: PathBuf,
    /// Known once the database is there.
    files: Option<Files>,
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
        fs::create_dir(&self.folder).map_err(|error| unusable(&self.folder, &error))?;
        let backup = archive::unpack(input, |part, content| match part {
            Part::Database => self.take_database(content, &staged),
            Part::File(id) => self.take_file(id, content),
        })?;
        Ok(backup)
    }

    fn take_database(&mut self, content: &mut Content<'_>, staged: &CoreConfig) -> Result<()> {
        let path = self.folder.join(DATABASE);
        let file = File::create_new(&path).map_err(|error| unusable(&path, &error))?;
        content.write_to(&mut &file)?;
        file.sync_all().map_err(|error| unusable(&path, &error))?;
        drop(file);
        let damage = store::read_copy(&path, |copy| Ok(copy.damage()?.join("; ")))?;
        if !damage.is_empty() {
            return Err(Error::BadRequest(format!("the database in it is damaged: {damage}")));
        }
        // Brought up to date here, so that a backup that is too new is refused in time.
        let store = Store::open(staged)?;
        let space = store.peek(|reader| Ok(reader.names()?.1))?;
        drop(store);
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
        // Another one in a bucket is the same: the file of an id never changes.
        if files.size(id)?.is_none() && files.store(id, &mut incoming)? {
            self.sent.push(id.clone());
        }
        Ok(())
    }

    /// Puts everything in its place; the database last, which makes it a data folder.
    fn finish(&self, folder: &Path) -> Result<()> {
        for name in [FILES, DATABASE] {
            let (from, to) = (self.folder.join(name), folder.join(name));
            if from.exists() {
                fs::rename(&from, &to).map_err(|error| unusable(&to, &error))?;
            }
        }
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(|error| unusable(folder, &error))?;
        fs::remove_dir_all(&self.folder).map_err(|error| unusable(&self.folder, &error))
    }

    /// Takes everything back, as far as that works.
    fn clear(&self, folder: &Path, is_new: bool) {
        if let Some(files) = &self.files {
            files.remove(&self.sent).ok();
        }
        for name in [STAGE, FILES] {
            fs::remove_dir_all(folder.join(name)).ok();
        }
        fs::remove_file(folder.join(DATABASE)).ok();
        if is_new {
            fs::remove_dir(folder).ok();
        }
    }
}
