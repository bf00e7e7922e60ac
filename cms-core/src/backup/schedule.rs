//! Backups that are made again and again, in a folder or a bucket, of which the newest are kept.
//!
//! When the next one is due follows from the names of those that are there, so it does not matter how
//! often a server starts.

use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
    time::Duration,
};

use cms_model::{
    clock::Timestamp,
    dates,
    error::{Error, Result, path_error},
    settings::{Durability, S3Bucket},
    wire::backup::Backup,
};
use cms_system::folder;

use super::{archive, service::Backups};
use crate::media::storage::Storage;

/// Where backups are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackupPlace {
    /// A folder, which is made when missing.
    Folder(PathBuf),
    /// S3-compatible storage.
    S3(S3Bucket),
}

/// When backups are made, and how many of them are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupPlan {
    pub to: BackupPlace,
    pub every: Duration,
    /// At least one.
    pub keep: usize,
}

/// How the file store of a folder names what is not whole yet.
const UNFINISHED: &str = ".tar#";

impl Backups<'_> {
    /// Returns how long it is until the next backup is due.
    pub fn due_in(&self, plan: &BackupPlan) -> Result<Duration> {
        let now = self.cms.config.clock.now();
        let names = self.own(&open(&plan.to)?)?;
        let Some(last) = names.last().and_then(|name| made_at(name)) else {
            return Ok(Duration::ZERO);
        };
        let age = u64::try_from(now.seconds() - last.seconds()).unwrap_or_default();
        Ok(plan.every.saturating_sub(Duration::from_secs(age)))
    }

    /// Makes a backup, reads it again, and removes the oldest. Gives up once `stops` says so.
    ///
    /// # Errors
    /// Those of [`Backups::begin`], and what the place says. Nothing older is removed then.
    pub fn make(&self, plan: &BackupPlan, stops: &dyn Fn() -> bool) -> Result<Backup> {
        let storage = open(&plan.to)?;
        let name = format!("{}{}.tar", self.prefix()?, stamp(self.cms.config.clock.now()));
        let copied = self.begin()?;
        self.sweep(&plan.to)?;
        let mut upload = storage.write(&name)?;
        let written = self.write(copied, &mut Stoppable { output: &mut upload, stops });
        match written {
            Ok(_) => upload.finish()?,
            Err(error) => {
                upload.abort();
                return Err(error);
            }
        }
        let looked_at = storage.read(&name).and_then(|file| archive::unpack(file, |_, _| Ok(())));
        if looked_at.is_err() {
            storage.remove(&name)?;
        }
        let names = self.own(&storage)?;
        if looked_at.is_ok() {
            for old in &names[..names.len().saturating_sub(plan.keep.max(1))] {
                storage.remove(old)?;
            }
        }
        looked_at
    }

    /// Removes what a server left in a folder that was killed while it made a backup. In a bucket
    /// nothing shows of a file before it is whole.
    fn sweep(&self, place: &BackupPlace) -> Result<()> {
        let BackupPlace::Folder(folder) = place else { return Ok(()) };
        let prefix = self.prefix()?;
        let fault = |error: &_| path_error(folder, error);
        for entry in fs::read_dir(folder).map_err(|error| fault(&error))? {
            let entry = entry.map_err(|error| fault(&error))?;
            let name = entry.file_name();
            let name = name.to_str().unwrap_or_default();
            if name.starts_with(&prefix) && name.contains(UNFINISHED) {
                fs::remove_file(entry.path()).map_err(|error| fault(&error))?;
            }
        }
        Ok(())
    }

    /// Returns the names of this space's backups, oldest first. One that a clock which went wrong
    /// dated in the future is left alone: it must not keep others from being made and kept.
    fn own(&self, storage: &Storage) -> Result<Vec<String>> {
        let now = self.cms.config.clock.now();
        let mut names = storage.names()?;
        let prefix = self.prefix()?;
        names.retain(|name| name.starts_with(&prefix) && made_at(name).is_some_and(|at| at <= now));
        names.sort();
        Ok(names)
    }

    /// Several spaces may share a place.
    fn prefix(&self) -> Result<String> {
        let space = self.cms.store.peek(|reader| Ok(reader.names()?.1))?;
        Ok(format!("cms-{}-", space.split('-').next_back().unwrap_or_default()))
    }
}

/// When the backup of a name was made, whatever space it is of.
fn made_at(name: &str) -> Option<Timestamp> {
    let stamp = name.strip_suffix(".tar")?.rsplit('-').next()?;
    let (day, time) = stamp.strip_suffix('Z')?.split_once('T')?;
    if day.len() != 8 || time.len() != 6 || !stamp.is_ascii() {
        return None;
    }
    let date = format!("{}-{}-{}", &day[..4], &day[4..6], &day[6..]);
    dates::parse_date(&format!("{date}T{}:{}:{}Z", &time[..2], &time[2..4], &time[4..]))
}

/// `20260102T030405Z`: names in order of time.
fn stamp(at: Timestamp) -> String {
    let date = dates::object_date(at.seconds());
    let digits: String = date.chars().take(19).filter(|c| !"-:".contains(*c)).collect();
    format!("{digits}Z")
}

fn open(place: &BackupPlace) -> Result<Storage> {
    match place {
        BackupPlace::Folder(folder) => {
            folder::make(folder).map_err(|error| path_error(folder, &error))?;
            Storage::folder(folder, Durability::Full)
        }
        BackupPlace::S3(bucket) => Storage::bucket(bucket),
    }
}

/// An output that somebody may give up.
struct Stoppable<'s> {
    output: &'s mut dyn Write,
    stops: &'s dyn Fn() -> bool,
}

impl Write for Stoppable<'_> {
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
