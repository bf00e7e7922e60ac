//! Files without a media object, and media objects without a file.
//!
//! The first are removed a day after this database first saw them: not after they were stored, since
//! the database may have been put back, or be a new one. The second are told, for somebody to mend.

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

use super::service::Media;

/// What a clean-up did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sweep {
    /// Orphaned files that it removed.
    pub removed: u64,
    /// Orphaned files that it left alone since they are too many of the stored ones.
    pub withheld: u64,
    /// Stored files that it found.
    pub files: u64,
}

/// Who cleans up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trigger {
    /// A background task: it removes few files, by a time that does not jump.
    Automatic,
    /// An operator.
    Command,
}

impl Media<'_> {
    /// Removes what belongs to no media object: files that this database has seen for a day without
    /// one, pictures made of them, and half-received files.
    ///
    /// More than a tenth of all files are not removed: that many orphaned files rather mean that their
    /// objects were lost.
    ///
    /// # Errors
    /// [`crate::Error::Busy`] in a damaged database, which does not know which files have an object.
    pub fn sweep(&self) -> Result<Sweep> {
        self.remove_orphans(Trigger::Automatic)
    }

    fn remove_orphans(&self, trigger: Trigger) -> Result<Sweep> {
        self.cms.store.check_undamaged()?;
        let trusted = self.cms.retention_time()?;
        let stale = match trigger {
            Trigger::Automatic => stale(trusted),
            Trigger::Command => stale(self.cms.config.clock.now()),
        };
        let stored = self.cms.files.list()?;
        let files = stored.len() as u64;
        let orphans = self.orphans(stored)?;
        let seen = self.note(&orphans)?;
        let old = orphans.into_iter().filter(|orphan| orphan.is_old(&seen, stale));
        let old: Vec<FileId> = old.map(|orphan| orphan.id).collect();
        let mut sweep = Sweep { files, ..Sweep::default() };
        let count = old.len() as u64;
        if trigger == Trigger::Automatic && count * limits::MIN_FILES_PER_ORPHAN_REMOVED > files {
            sweep.withheld = count;
        } else if count > 0 {
            // False while a backup needs all files.
            if !self.remove_files(&old)? {
                return Ok(sweep);
            }
            self.forget(old)?;
            sweep.removed = count;
        }
        for id in self.without_object(self.cms.renders.ids()?)? {
            self.cms.renders.forget(&id)?;
        }
        self.cms.files.remove_unfinished(stale)?;
        Ok(sweep)
    }

    /// Compares files with media objects and with what was uploaded; removes files without an object
    /// when asked to.
    ///
    /// Objects whose id no file can have are left out: they were made without one.
    pub(crate) fn check(&self, request: &CheckRequest) -> Result<(MediaCheck, Vec<Finding>)> {
        // In this order: the file of an object is stored before the object, and removed after it.
        let mut missing = self.objects()?;
        let stored = self.cms.files.list()?;
        let files: HashSet<&FileId> = stored.iter().map(|file| &file.id).collect();
        missing.retain(|id| !files.contains(id));
        let deleted: HashSet<FileId> = self.without_object(missing.clone())?.into_iter().collect();
        missing.retain(|id| !deleted.contains(id));

        let mut found = MediaCheck { files: stored.len() as u64, ..MediaCheck::default() };
        let findings = self.verify(&stored, request, &mut found)?;
        let stale = stale(self.cms.config.clock.now());
        let orphans = self.orphans(stored)?;
        let seen = self.seen()?;
        let (old, new): (Vec<_>, Vec<_>) =
            orphans.into_iter().partition(|orphan| orphan.is_old(&seen, stale));
        let removed =
            if request.repair { self.remove_orphans(Trigger::Command)?.removed } else { 0 };
        let found = MediaCheck {
            missing: missing.iter().map(FileId::to_string).collect(),
            waiting: new.len() as u64,
            orphaned: old.into_iter().map(|orphan| orphan.name).collect(),
            removed,
            ..found
        };
        Ok((found, findings))
    }

    /// Returns the files that belong to no live object.
    fn orphans(&self, stored: Vec<StoredFile>) -> Result<Vec<Orphan>> {
        let ids = stored.iter().map(|file| file.id.clone());
        let orphans: HashSet<FileId> = self.without_object(ids)?.into_iter().collect();
        let now = self.cms.config.clock.now();
        let orphans = stored.into_iter().filter(|file| orphans.contains(&file.id));
        let orphans = orphans.map(|StoredFile { id, stored_at, .. }| {
            // A time to come says nothing.
            let stored_at = Some(stored_at).filter(|at| *at <= now);
            Orphan { name: id.to_string(), id, stored_at }
        });
        Ok(orphans.collect())
    }

    /// Returns since when clean-ups know of orphaned files.
    fn seen(&self) -> Result<HashMap<String, Timestamp>> {
        self.cms.store.peek(|reader| Ok(reader.orphans()?.into_iter().collect()))
    }

    /// Notes which files are orphaned; returns since when each of them is.
    fn note(&self, orphans: &[Orphan]) -> Result<HashMap<String, Timestamp>> {
        let now = self.cms.config.clock.now();
        let mut seen = self.seen()?;
        let names: HashSet<&String> = orphans.iter().map(|orphan| &orphan.name).collect();
        let gone: Vec<String> = seen.keys().filter(|name| !names.contains(name)).cloned().collect();
        // A time to come is one of a clock that was wrong then.
        let is_known = |name: &&String| seen.get(*name).is_some_and(|at| *at <= now);
        let new: Vec<String> = names.into_iter().filter(|name| !is_known(name)).cloned().collect();
        seen.extend(new.iter().map(|name| (name.clone(), now)));
        if !gone.is_empty() || !new.is_empty() {
            self.cms.store.write(move |writer| {
                gone.iter().try_for_each(|name| writer.forget_orphan(name))?;
                new.iter().try_for_each(|name| writer.note_orphan(name, now))
            })?;
        }
        Ok(seen)
    }

    /// Forgets files that were removed: another one of that id begins its day anew.
    fn forget(&self, removed: Vec<FileId>) -> Result<()> {
        if removed.is_empty() {
            return Ok(());
        }
        self.cms.store.write(move |writer| {
            removed.iter().try_for_each(|id| writer.forget_orphan(&id.to_string()))
        })
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
                for id in ids.by_ref().take(limits::MAX_PAGE_SIZE as usize) {
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
                reader.object_ids_after(media, &last, limits::MAX_PAGE_SIZE)
            };
            let ids = self.look(next)?;
            let Some(next) = ids.last() else { return Ok(files) };
            last.clone_from(next);
            files.extend(ids.iter().filter_map(|id| FileId::parse(id)));
        }
    }
}

/// A stored file that belongs to no live object.
struct Orphan {
    id: FileId,
    name: String,
    stored_at: Option<Timestamp>,
}

impl Orphan {
    /// Tells whether it was seen before a time, and not stored again since.
    fn is_old(&self, seen: &HashMap<String, Timestamp>, before: Timestamp) -> bool {
        let is_seen = seen.get(&self.name).is_some_and(|at| *at < before);
        is_seen && self.stored_at.is_none_or(|at| at < before)
    }
}

/// What was seen before this time has no object to wait for.
fn stale(now: Timestamp) -> Timestamp {
    Timestamp(now.0 - limits::UNSAVED_UPLOAD_HOURS * 3_600_000_000)
}
