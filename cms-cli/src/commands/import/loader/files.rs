//! Brings the files of media objects in, before the objects, under the ids of the objects.
//!
//! Storing a file twice does no harm, and a file whose object never comes goes away after a day; so an
//! import can end at any point and be repeated.

use std::path::PathBuf;

use cms_core::{Error, FieldErrors, wire::media::UploadRequest};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    super::{
        super::{
            media::{self, is_refused, usual_kind},
            parallel,
        },
        Job,
        element::Element,
    },
    BATCH, Existing, Loader,
};
use crate::{
    content::{
        Row,
        stream::{self, Pace},
    },
    failure::Result,
    printer::{Printer, Progress},
};

/// The part of a media object that says which file it has.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    extension: Value,
    #[serde(default, rename = "type")]
    kind: Value,
}

/// A file that is to be stored under an id.
struct MediaFile {
    path: PathBuf,
    id: String,
    extension: String,
    kind: String,
}

/// What became of a file.
enum Fate {
    Stored,
    Unchanged,
    Refused(Error),
}

impl Loader<'_> {
    /// Stores the files of all media objects that the folder holds.
    pub(super) fn send_files(&mut self, jobs: &[Job], printer: &mut Printer) -> Result<()> {
        for job in jobs {
            if self.options.from_folder && job.content_type.name == media::TYPE {
                self.send_files_of(job, printer)?;
            }
        }
        Ok(())
    }

    fn send_files_of(&mut self, job: &Job, printer: &mut Printer) -> Result<()> {
        let mut files = job.files.clone();
        let sizes = files.paths().map(|path| path.metadata().map_or(0, |meta| meta.len()));
        let mut progress = printer.bytes("files", sizes.sum());
        let pace = Pace::new(self.interrupt.clone());
        let mut batch = Vec::new();
        for source in &job.sources {
            source.rows(&job.content_type, &mut |row: Row<Head>| {
                // What cannot be read is told with the objects.
                let Ok(Head { id: Value::String(id), extension, kind }) = row.value else {
                    return Ok(());
                };
                let extension = extension.as_str().unwrap_or_default().to_owned();
                match files.take(&id, &extension) {
                    None => self.counts.files.missing += 1,
                    Some(_) if self.stays_deleted(job, &id) => {
                        self.counts.files.unchanged += 1;
                    }
                    Some(path) => {
                        let kind = kind.as_str().unwrap_or_else(|| usual_kind(&path)).to_owned();
                        batch.push(MediaFile { path, id, extension, kind });
                    }
                }
                if batch.len() >= BATCH {
                    self.send_batch(
                        job,
                        std::mem::take(&mut batch),
                        &pace,
                        &mut progress,
                        printer,
                    )?;
                }
                Ok(())
            })?;
        }
        self.send_batch(job, batch, &pace, &mut progress, printer)?;
        self.counts.files.without_object += files.len() as u64;
        Ok(())
    }

    fn send_batch(
        &mut self,
        job: &Job,
        batch: Vec<MediaFile>,
        pace: &Pace,
        progress: &mut Progress,
        printer: &mut Printer,
    ) -> Result<()> {
        if self.stops() {
            return Ok(());
        }
        let look = || progress.advance_to(pace.done());
        let send = |file: &MediaFile| self.send_file(file, pace);
        let fates = parallel::each(&batch, parallel::USUAL, &pace.stop, send, look)?;
        for (file, fate) in batch.into_iter().zip(fates) {
            match fate {
                None => self.counts.interrupted = true,
                Some(Fate::Stored) => self.counts.files.stored += 1,
                Some(Fate::Unchanged) => self.counts.files.unchanged += 1,
                Some(Fate::Refused(error)) => {
                    self.counts.files.refused += 1;
                    let element =
                        Element::new(file.path.display().to_string(), json!({"id": file.id}));
                    self.tell_refused(job, &element, &faults(error), printer)?;
                }
            }
        }
        Ok(())
    }

    fn send_file(&self, file: &MediaFile, pace: &Pace) -> Result<Fate> {
        let is_there = match self.target.file(&file.id, &file.extension) {
            Ok(_) if self.options.existing == Existing::Keep => true,
            // Another file is the target's to refuse.
            Ok(mut stored) => {
                stream::stored_digest(&mut *stored, pace)? == stream::digest(&file.path, pace)?
            }
            Err(Error::NotFound { .. }) => false,
            Err(error) => return Err(error.into()),
        };
        if is_there {
            pace.advance(file.path.metadata().map_or(0, |meta| meta.len()));
            return Ok(Fate::Unchanged);
        }
        if self.options.dry_run {
            return Ok(Fate::Stored);
        }
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        let request = UploadRequest {
            file_name: name.into_owned(),
            kind: Some(file.kind.clone()),
            id: Some(file.id.clone()),
            ..UploadRequest::default()
        };
        match self.target.upload(stream::outgoing(&file.path, pace)?, &request) {
            Ok(_) => Ok(Fate::Stored),
            Err(error) if is_refused(&error) => Ok(Fate::Refused(error)),
            Err(error) => Err(error.into()),
        }
    }
}

fn faults(error: Error) -> FieldErrors {
    match error {
        Error::Invalid(faults) => faults,
        other => {
            let mut faults = FieldErrors::default();
            faults.add("file", other.to_string());
            faults
        }
    }
}
