//! Files without a media object, and media objects without a file.
//!
//! The first are swept up when a day has gone by; the second are told, for somebody to mend.

use std::collections::HashSet;

use super::{files::StoredFile, id::FileId, service::Media};
use crate::{clock::Timestamp, error::Result, limits, store::Reader, wire::check::MediaCheck};

impl Media<'_> {
    /// Removes what belongs to no media object: files that were uploaded a day ago and never became
    /// one, files of deleted objects, pictures made of either, and half-received files.
    ///
    /// Returns how many files were removed.
    pub fn sweep(&self) -> Result<u64> {
        let stale = self.stale();
        let old = self.cms.files.list()?.into_iter().filter(|file| file.stored_at < stale);
        let orphans = self.without_object(old.map(|file| file.id))?;
        if !self.cms.files.remove(&orphans)? {
            return Ok(0);
        }
        for id in self.without_object(self.cms.renders.ids()?)? {
            self.cms.renders.forget(&id)?;
        }
        self.cms.files.remove_unfinished(stale)?;
        Ok(orphans.len() as u64)
    }

    /// Compares files with media objects; removes files without one when asked to.
    ///
    /// Objects whose id no file can have are left out: they were made without one.
    pub(crate) fn check(&self, repair: bool) -> Result<MediaCheck> {
        // In this order: the file of an object is stored before the object, and removed after it.
        let mut missing = self.objects()?;
        let stored = self.cms.files.list()?;
        let files: HashSet<&FileId> = stored.iter().map(|file| &file.id).collect();
        missing.retain(|id| !files.contains(id));
        let deleted: HashSet<FileId> = self.without_object(missing.clone())?.into_iter().collect();
        missing.retain(|id| !deleted.contains(id));

        let files = stored.len() as u64;
        let stale = self.stale();
        let (old, new): (Vec<_>, Vec<_>) =
            stored.into_iter().partition(|file| file.stored_at < stale);
        let ids = |files: Vec<StoredFile>| files.into_iter().map(|file| file.id);
        let waiting = self.without_object(ids(new))?;
        let orphaned = self.without_object(ids(old))?;
        let text = |ids: Vec<FileId>| ids.iter().map(FileId::to_string).collect();
        Ok(MediaCheck {
            files,
            missing: text(missing),
            waiting: waiting.len() as u64,
            orphaned: text(orphaned),
            removed: if repair { self.sweep()? } else { 0 },
        })
    }

    /// What was stored before this time has no object to wait for.
    fn stale(&self) -> Timestamp {
        let now = self.cms.config.clock.now();
        Timestamp(now.0 - limits::UNSAVED_HOURS * 3_600_000_000)
    }

    /// Leaves out files that belong to a live object.
    pub(super) fn without_object(
        &self,
        ids: impl IntoIterator<Item = FileId>,
    ) -> Result<Vec<FileId>> {
        let mut orphans = Vec::new();
        let mut ids = ids.into_iter().peekable();
        while ids.peek().is_some() {
            // Small reads, so that none of them is long.
            self.look(|reader, media| {
                for id in ids.by_ref().take(limits::PAGE_MAX as usize) {
                    if reader.object_pk(media, &id.to_string())?.is_none() {
                        orphans.push(id);
                    }
                }
                Ok(())
            })?;
        }
        Ok(orphans)
    }

    /// Returns the ids of all media objects that could have a file.
    fn objects(&self) -> Result<Vec<FileId>> {
        let mut files = Vec::new();
        let mut last = String::new();
        loop {
            let next = |reader: &Reader<'_>, media| {
                reader.object_ids_after(media, &last, limits::PAGE_MAX)
            };
            let ids = self.look(next)?;
            let Some(next) = ids.last() else { return Ok(files) };
            last.clone_from(next);
            files.extend(ids.iter().filter_map(|id| FileId::parse(id)));
        }
    }
}
