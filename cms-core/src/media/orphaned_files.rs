//! Orphaned files, and media objects without a file.
//!
//! An orphaned file is removed a day after its last upload, but not before this database has known it as
//! orphaned for a day: a restored or new database may not know the objects of older files yet. Media objects
//! without a file are only reported.

use std::collections::{HashMap, HashSet};

use cms_media::files::StoredFile;
use cms_model::{
    clock::Timestamp,
    error::Result,
    limits,
    media::id::FileId,
    wire::check::{CheckRequest, Finding, MediaCheck},
};
use cms_store::Reader;

use super::service::{Media, UnusedFile, is_used};
use crate::{Duty, check::EnsureRunning};

/// Files that are removed at a time.
const FILES_PER_BATCH: usize = 1000;

/// The result of a clean-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrphanCleanUp {
    /// Removed orphaned files.
    pub removed: u64,
    /// Orphaned files that were kept because they are too large a share of the stored files.
    pub withheld: u64,
    /// Stored files.
    pub files: u64,
}

/// The initiator of a clean-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trigger {
    /// A background task: it removes few files, by a clock that does not jump.
    Automatic,
    /// `cms check --repair`.
    Command,
}

impl Media<'_> {
    /// Removes files that were recorded as orphaned a day ago, rendered images without a media object,
    /// and incomplete uploads.
    ///
    /// Keeps the orphaned files if these are more than a tenth of all files: their objects were probably
    /// lost.
    ///
    /// # Errors
    /// [`crate::Error::Busy`] when the database is damaged, because objects of files may be
    /// unreadable.
    pub fn clean_up(&self) -> Result<OrphanCleanUp> {
        self.remove_orphans(Trigger::Automatic)
    }

    fn remove_orphans(&self, trigger: Trigger) -> Result<OrphanCleanUp> {
        self.cms.store.check_undamaged()?;
        let trusted = self.cms.retention_now()?;
        let cutoff = match trigger {
            Trigger::Automatic => removal_cutoff(trusted),
            Trigger::Command => removal_cutoff(self.cms.now()),
        };
        if trigger == Trigger::Automatic && !self.cms.has_duty(Duty::OrphanedFiles) {
            self.remove_local_files(cutoff)?;
            return Ok(OrphanCleanUp::default());
        }
        let stored = self.cms.files.list(&|| Ok(()))?;
        // A node that is behind does not know the objects of newer files.
        if let Some(cluster) = self.cms.cluster() {
            cluster.catch_up()?;
        }
        let files = stored.len() as u64;
        let orphans = self.orphans(stored)?;
        let (seen, now) = (self.note(&orphans)?, self.cms.now());
        let old = orphans.into_iter().filter(|orphan| is_old(orphan, &seen, cutoff, now));
        let old: Vec<FileId> = old.map(|orphan| orphan.id).collect();
        let mut clean_up = OrphanCleanUp { files, ..OrphanCleanUp::default() };
        let count = old.len() as u64;
        if trigger == Trigger::Automatic
            && count * limits::MIN_STORED_FILES_PER_REMOVED_ORPHAN > files
        {
            clean_up.withheld = count;
        } else {
            for batch in old.chunks(FILES_PER_BATCH) {
                // Another node may have taken over this duty, and may know newer objects.
                let may_remove =
                    trigger == Trigger::Command || self.cms.has_duty(Duty::OrphanedFiles);
                if !may_remove {
                    return Ok(clean_up);
                }
                let files = batch.iter().map(|id| UnusedFile { id: id.clone(), since: cutoff });
                let Some(removed) = self.remove_files(files.collect())? else {
                    return Ok(clean_up);
                };
                clean_up.removed += removed;
                // A later file with the same id is kept for a day again.
                let orphans = batch.to_vec();
                self.cms.store.write(move |writer| {
                    orphans.iter().try_for_each(|id| writer.delete_orphan_record(&id.to_string()))
                })?;
            }
        }
        self.remove_local_files(cutoff)?;
        Ok(clean_up)
    }

    /// Removes rendered images without a media object, and incomplete uploads.
    fn remove_local_files(&self, cutoff: Timestamp) -> Result<()> {
        for id in self.ids_without_object(self.cms.renders.ids()?)? {
            self.cms.renders.remove(&id)?;
        }
        self.cms.files.remove_unfinished(cutoff)
    }

    /// Compares files with media objects and with the recorded uploads; removes orphaned files on
    /// request.
    ///
    /// Ignores media objects whose id cannot be that of a file: they were created without a file.
    pub(crate) fn check(
        &self,
        request: &CheckRequest,
        ensure_running: &EnsureRunning,
    ) -> Result<(MediaCheck, Vec<Finding>)> {
        // In this order: a file is stored before its object, and removed after it.
        let mut missing = self.objects()?;
        let stored = self.cms.files.list(&**ensure_running)?;
        let files: HashSet<&FileId> = stored.iter().map(|file| &file.id).collect();
        missing.retain(|id| !files.contains(id));
        let deleted: HashSet<FileId> =
            self.ids_without_object(missing.clone())?.into_iter().collect();
        missing.retain(|id| !deleted.contains(id));

        let mut found = MediaCheck { files: stored.len() as u64, ..MediaCheck::default() };
        let findings = self.verify(&stored, request, &mut found, &**ensure_running)?;
        let cutoff = removal_cutoff(self.cms.now());
        let orphans = self.orphans(stored)?;
        let (seen, now) = (self.seen()?, self.cms.now());
        let (old, new): (Vec<_>, Vec<_>) =
            orphans.into_iter().partition(|orphan| is_old(orphan, &seen, cutoff, now));
        ensure_running()?;
        let removed =
            if request.repair { self.remove_orphans(Trigger::Command)?.removed } else { 0 };
        let found = MediaCheck {
            missing: missing.iter().map(FileId::to_string).collect(),
            waiting: new.len() as u64,
            orphaned: old.iter().map(|orphan| orphan.id.to_string()).collect(),
            removed,
            ..found
        };
        Ok((found, findings))
    }

    /// Returns the stored files that belong to no object, live or in the trash.
    fn orphans(&self, mut stored: Vec<StoredFile>) -> Result<Vec<StoredFile>> {
        let ids = stored.iter().map(|file| file.id.clone());
        let orphans: HashSet<FileId> = self.unused_ids(ids, is_used)?.into_iter().collect();
        stored.retain(|file| orphans.contains(&file.id));
        Ok(stored)
    }

    /// Returns when each orphaned file was first recorded.
    fn seen(&self) -> Result<HashMap<String, Timestamp>> {
        self.cms.store.read_autocommit(|reader| Ok(reader.orphans()?.into_iter().collect()))
    }

    /// Records the orphaned files; returns when each of them was first recorded.
    fn note(&self, orphans: &[StoredFile]) -> Result<HashMap<String, Timestamp>> {
        let now = self.cms.now();
        let mut seen = self.seen()?;
        let names: HashSet<String> = orphans.iter().map(|orphan| orphan.id.to_string()).collect();
        let gone: Vec<String> =
            seen.keys().filter(|name| !names.contains(*name)).cloned().collect();
        // A time in the future comes from a wrong clock.
        let is_known = |name: &String| seen.get(name).is_some_and(|at| *at <= now);
        let new: Vec<String> = names.into_iter().filter(|name| !is_known(name)).collect();
        seen.extend(new.iter().map(|name| (name.clone(), now)));
        if !gone.is_empty() || !new.is_empty() {
            self.cms.store.write(move |writer| {
                gone.iter().try_for_each(|name| writer.delete_orphan_record(name))?;
                new.iter().try_for_each(|name| writer.record_orphan(name, now))
            })?;
        }
        Ok(seen)
    }

    /// Returns the ids that belong to no live media object.
    pub(super) fn ids_without_object(
        &self,
        ids: impl IntoIterator<Item = FileId>,
    ) -> Result<Vec<FileId>> {
        self.unused_ids(ids, |reader, media, id| {
            Ok(reader.object_pk(media, &id.to_string())?.is_some())
        })
    }

    /// Returns the ids for which `is_needed` returns false.
    fn unused_ids(
        &self,
        ids: impl IntoIterator<Item = FileId>,
        is_needed: impl Fn(&Reader<'_>, i64, &FileId) -> Result<bool>,
    ) -> Result<Vec<FileId>> {
        let mut unused = Vec::new();
        let mut ids = ids.into_iter().peekable();
        while ids.peek().is_some() {
            // Short reads, so that no snapshot is held for long.
            self.lookup(|reader, media| {
                for id in ids.by_ref().take(limits::MAX_PAGE_SIZE as usize) {
                    if !is_needed(reader, media, &id)? {
                        unused.push(id);
                    }
                }
                Ok(())
            })?;
        }
        Ok(unused)
    }

    /// Returns the ids of all media objects that could have a file.
    fn objects(&self) -> Result<Vec<FileId>> {
        let mut files = Vec::new();
        let mut last = String::new();
        loop {
            let next = |reader: &Reader<'_>, media| {
                reader.object_ids_after(media, &last, limits::MAX_PAGE_SIZE)
            };
            let ids = self.lookup(next)?;
            let Some(next) = ids.last() else { return Ok(files) };
            last.clone_from(next);
            files.extend(ids.iter().filter_map(|id| FileId::parse(id)));
        }
    }
}

/// Returns whether an orphaned file was first recorded before a time, and not stored again since. A time of storage
/// after `now` comes from a wrong clock.
fn is_old(
    file: &StoredFile,
    seen: &HashMap<String, Timestamp>,
    before: Timestamp,
    now: Timestamp,
) -> bool {
    let is_seen = seen.get(&file.id.to_string()).is_some_and(|at| *at < before);
    is_seen && (file.stored_at < before || file.stored_at > now)
}

/// Files recorded before this time are removed.
pub(super) fn removal_cutoff(now: Timestamp) -> Timestamp {
    Timestamp(now.0 - limits::ORPHAN_RETENTION_HOURS * 3_600_000_000)
}
