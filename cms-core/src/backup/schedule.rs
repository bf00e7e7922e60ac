//! Scheduled backups in a directory or a bucket, of which the newest are kept.
//!
//! The time of the next backup follows from the names of the existing ones, so restarts do not
//! change the schedule.

use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
    time::Duration,
};

use cms_media::storage::Storage;
use cms_model::{
    clock::Timestamp,
    dates,
    error::{Error, Result, path_error},
    media::id::FileId,
    settings::{Durability, S3Bucket},
    wire::backup::Backup,
};
use cms_system::folder;

use super::{archive, service::Backups};

/// The destination of backups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackupDestination {
    /// A directory, which is created if missing.
    Folder(PathBuf),
    /// S3-compatible storage.
    S3(S3Bucket),
}

/// The interval and the number of scheduled backups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupSchedule {
    pub destination: BackupDestination,
    pub every: Duration,
    /// At least one.
    pub keep: usize,
}

/// The mark of incomplete files in a directory.
const UNFINISHED: &str = ".tar#";

impl Backups<'_> {
    /// Returns the time until the next backup is due.
    pub fn due_in(&self, schedule: &BackupSchedule) -> Result<Duration> {
        let now = self.cms.now();
        let Some((last, _)) = self.own(&open(&schedule.destination)?)?.pop() else {
            return Ok(Duration::ZERO);
        };
        let age = u64::try_from(now.seconds() - last.seconds()).unwrap_or_default();
        Ok(schedule.every.saturating_sub(Duration::from_secs(age)))
    }

    /// Returns the number of missing files of a backup that were uploaded: other media objects never had a file.
    fn lost_files(&self, backup: &Backup) -> Result<usize> {
        self.cms.store.read(|reader| {
            let mut lost = 0;
            for id in backup.missing.iter().filter_map(|id| FileId::parse(id)) {
                lost += usize::from(reader.stored_file(&id)?.is_some());
            }
            Ok(lost)
        })
    }

    /// Creates a backup, verifies it, and removes the oldest ones. Fails if `stops` returns true
    /// while the backup is written.
    ///
    /// # Errors
    /// Those of [`Backups::begin`] and of the destination. Older backups are removed only after the new
    /// one is verified.
    pub fn create_scheduled(
        &self,
        schedule: &BackupSchedule,
        stops: &dyn Fn() -> bool,
    ) -> Result<Backup> {
        let storage = open(&schedule.destination)?;
        let name = format!("{}{}.tar", self.prefix()?, stamp(self.cms.now()));
        let copied = self.begin()?;
        self.remove_incomplete(&schedule.destination)?;
        let mut upload = storage.write(&name)?;
        let written = self.write(copied, &mut StoppableWriter { output: &mut upload, stops });
        match written {
            Ok(_) => upload.finish()?,
            Err(error) => {
                upload.abort();
                return Err(error);
            }
        }
        let verified = storage.read(&name).and_then(|file| archive::unpack(file, |_, _| Ok(())));
        if verified.is_err() {
            storage.remove(&name)?;
        }
        let backup = verified?;
        let lost = self.lost_files(&backup)?;
        if backup.has_no_files() || lost > 0 {
            // Older backups may be the only ones that contain the media files.
            tracing::warn!(
                missing = backup.missing.len(),
                lost,
                "media files are missing: older backups are not removed"
            );
            return Ok(backup);
        }
        let mut others = self.own(&storage)?;
        others.retain(|(_, other)| *other != name);
        let kept = schedule.keep.saturating_sub(1).min(others.len());
        for (_, old) in &others[..others.len() - kept] {
            storage.remove(old)?;
        }
        Ok(backup)
    }

    /// Removes incomplete backups of killed servers from a directory. A bucket contains only
    /// complete files.
    fn remove_incomplete(&self, destination: &BackupDestination) -> Result<()> {
        let BackupDestination::Folder(folder) = destination else { return Ok(()) };
        let prefix = self.prefix()?;
        let failed = |error: io::Error| path_error(folder, &error);
        for name in folder::names(folder).map_err(failed)? {
            let name = name.to_str().unwrap_or_default();
            if name.starts_with(&prefix) && name.contains(UNFINISHED) {
                fs::remove_file(folder.join(name)).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Returns times and names of the scheduled backups of this space, oldest first. Files with other names
    /// belong to the user. Backups dated in the future by a wrong clock are ignored, so that they do not
    /// delay or replace others.
    fn own(&self, storage: &Storage) -> Result<Vec<(Timestamp, String)>> {
        let (now, prefix) = (self.cms.now(), self.prefix()?);
        let names = storage.names()?.into_iter();
        let dated = names.filter_map(|name| Some((created_at(name.strip_prefix(&prefix)?)?, name)));
        let mut own: Vec<_> = dated.filter(|(at, _)| *at <= now).collect();
        own.sort();
        Ok(own)
    }

    /// The name prefix of this space, because spaces may share a destination.
    fn prefix(&self) -> Result<String> {
        let space = self.cms.store.read_autocommit(|reader| Ok(reader.space_ids()?.space))?;
        Ok(format!("cms-{}-", space.split('-').next_back().unwrap_or_default()))
    }
}

/// The time of a backup, parsed from its name without the prefix.
fn created_at(name: &str) -> Option<Timestamp> {
    let stamp = name.strip_suffix(".tar")?;
    let (day, time) = stamp.strip_suffix('Z')?.split_once('T')?;
    if day.len() != 8 || time.len() != 6 || !stamp.is_ascii() {
        return None;
    }
    let date = format!("{}-{}-{}", &day[..4], &day[4..6], &day[6..]);
    dates::parse_date(&format!("{date}T{}:{}:{}Z", &time[..2], &time[2..4], &time[4..]))
}

/// The time as `20260102T030405Z`, so that names sort by time.
fn stamp(at: Timestamp) -> String {
    let date = dates::object_date(at.seconds());
    let digits: String = date.chars().take(19).filter(|c| !"-:".contains(*c)).collect();
    format!("{digits}Z")
}

fn open(destination: &BackupDestination) -> Result<Storage> {
    match destination {
        BackupDestination::Folder(folder) => {
            folder::create(folder).map_err(|error| path_error(folder, &error))?;
            Storage::folder(folder, Durability::Full)
        }
        BackupDestination::S3(bucket) => Storage::bucket(bucket),
    }
}

/// A writer that fails when `stops` returns true.
struct StoppableWriter<'s> {
    output: &'s mut dyn Write,
    stops: &'s dyn Fn() -> bool,
}

impl Write for StoppableWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if (self.stops)() {
            return Err(io::Error::other(Error::Busy("the server stops".to_owned())));
        }
        self.output.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}
