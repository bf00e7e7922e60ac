//! The record of an unfinished import, and the objects that it created before it was interrupted.
//!
//! The record is a row of the database: a crash leaves it consistent with the objects. This module
//! neither reads files nor writes objects.

use std::{collections::HashSet, fs::File};

use cms_model::error::{Result, path_error};
use cms_system::lock;

use crate::cms::Cms;

/// Locked by the process that imports.
const LOCK_FILE: &str = "import.lock";

/// An import that is recorded as unfinished until [`ImportRecord::finish`].
pub struct ImportRecord<'a> {
    cms: &'a Cms,
    folder: String,
    /// Primary key of the last object that existed before the import began.
    after: i64,
    was_interrupted: bool,
    /// Released when the process ends, however it ends.
    _lock: File,
}

impl Cms {
    /// Begins the import of a content folder, or resumes the interrupted one. One process imports
    /// at a time; the others wait here.
    pub fn begin_import(&self, folder: &str) -> Result<ImportRecord<'_>> {
        let path = self.config.folder.join(LOCK_FILE);
        let lock = if let Some(lock) = lock::try_lock(&path)? {
            lock
        } else {
            tracing::info!("waiting for the import of another process");
            let lock = lock::open(&path)?;
            lock.lock().map_err(|error| path_error(&path, &error))?;
            lock
        };
        let interrupted = self.store.read_autocommit(|reader| {
            let mut unfinished = reader.unfinished_imports()?.into_iter();
            Ok(unfinished.find_map(|(known, after)| (known == folder).then_some(after)))
        })?;
        let after = if let Some(after) = interrupted {
            after
        } else {
            let folder = folder.to_owned();
            self.store.write(move |writer| writer.begin_import(&folder))?
        };
        let (folder, was_interrupted) = (folder.to_owned(), interrupted.is_some());
        Ok(ImportRecord { cms: self, folder, after, was_interrupted, _lock: lock })
    }

    /// Returns the folders whose import is not finished.
    pub fn unfinished_imports(&self) -> Result<Vec<String>> {
        self.store.read_autocommit(|reader| {
            Ok(reader.unfinished_imports()?.into_iter().map(|(folder, _)| folder).collect())
        })
    }
}

impl ImportRecord<'_> {
    /// Returns whether an earlier process began this import.
    pub fn was_interrupted(&self) -> bool {
        self.was_interrupted
    }

    /// Returns the ids, in lower case, whose objects were created after the import began.
    pub fn objects_created(&self, content_type: &str, ids: &[&str]) -> Result<HashSet<String>> {
        self.cms.read_with_catalog(|reader, catalog| {
            let created = reader.created_after(catalog.get(content_type)?.pk, ids, self.after)?;
            Ok(created.iter().map(|id| id.to_lowercase()).collect())
        })
    }

    /// Removes the record: everything is imported.
    pub fn finish(self) -> Result<()> {
        let folder = self.folder.clone();
        self.cms.store.write(move |writer| writer.finish_import(&folder))
    }
}
