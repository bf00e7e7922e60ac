//! Uploads the files of media objects before the objects are created, under the ids of the objects.
//!
//! Storing a file twice does no harm, and the clean-up removes files without an object; so an import
//! can end at any point and be repeated.

use std::{mem, path::PathBuf, sync::atomic::Ordering};

use cms_core::{
    Error, FieldErrors,
    import::{ImportObject, Refusal},
    wire::media::UploadRequest,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    super::{
        media::{self, default_kind, is_refused},
        parallel,
    },
    OnConflict, TypeFiles,
    objects::Import,
};
use crate::{
    content::{
        ImportRow,
        stream::{self, Transfer},
    },
    failure::Result,
    printer::{Printer, ProgressDisplay},
};

/// Files between two updates of the report.
const BATCH_SIZE: usize = 500;

/// The part of a media object that names its file.
#[derive(Deserialize)]
struct FileRow {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    extension: Value,
    #[serde(default, rename = "type")]
    kind: Value,
    #[serde(default)]
    internal: Value,
}

/// A file and the media object that it belongs to.
struct MediaFile {
    path: PathBuf,
    id: String,
    extension: String,
    kind: String,
}

/// The outcome of a file.
enum FileImport {
    Stored,
    Unchanged,
    Refused(Error),
}

impl Import<'_> {
    /// Stores the files of all media objects that the folder holds.
    pub(super) fn send_files(
        &mut self,
        files_by_type: &[TypeFiles],
        printer: &Printer,
    ) -> Result<()> {
        for type_files in files_by_type {
            if self.rules.from_export && type_files.content_type.name == media::TYPE {
                self.send_files_of(type_files, printer)?;
            }
        }
        Ok(())
    }

    fn send_files_of(&mut self, type_files: &TypeFiles, printer: &Printer) -> Result<()> {
        let mut files = type_files.files.clone();
        let sizes = files.paths().map(|path| path.metadata().map_or(0, |meta| meta.len()));
        let mut progress = printer.byte_progress("files", sizes.sum());
        let transfer = Transfer::new(self.interrupt.clone());
        let mut batch = Vec::new();
        for source in &type_files.sources {
            source.rows(&type_files.content_type, &mut |row: ImportRow<FileRow>| {
                // An object that cannot be read is refused later, with the other objects.
                let Ok(FileRow { id: Value::String(id), extension, kind, internal }) = row.value
                else {
                    return Ok(());
                };
                // Exports have no files of deleted objects.
                if internal["deletedAt"].as_str().is_some_and(|at| !at.is_empty()) {
                    return Ok(());
                }
                let extension = extension.as_str().unwrap_or_default().to_owned();
                match files.take(&id, &extension) {
                    None => self.report.files.missing += 1,
                    Some(_)
                        if self.rules.on_conflict.stays_deleted(&type_files.deleted_ids, &id) =>
                    {
                        self.report.files.unchanged += 1;
                    }
                    Some(path) => {
                        let kind = kind.as_str().unwrap_or_else(|| default_kind(&path)).to_owned();
                        batch.push(MediaFile { path, id, extension, kind });
                    }
                }
                if batch.len() >= BATCH_SIZE {
                    let full = mem::take(&mut batch);
                    self.send_batch(type_files, full, &transfer, &mut progress, printer)?;
                }
                Ok(())
            })?;
        }
        self.send_batch(type_files, batch, &transfer, &mut progress, printer)?;
        self.report.files.without_object += files.len() as u64;
        Ok(())
    }

    fn send_batch(
        &mut self,
        type_files: &TypeFiles,
        batch: Vec<MediaFile>,
        transfer: &Transfer,
        progress: &mut ProgressDisplay,
        printer: &Printer,
    ) -> Result<()> {
        self.report.interrupted |= self.interrupt.load(Ordering::Relaxed);
        let stops_on_error = self.rules.stop_on_error && self.report.files.refused > 0;
        if self.report.interrupted || stops_on_error {
            return Ok(());
        }
        let update = || progress.advance_to(transfer.done());
        let send = |file: &MediaFile| self.send_file(file, transfer);
        let outcomes =
            parallel::map(&batch, parallel::DEFAULT_THREADS, &transfer.stop, send, update)?;
        for (file, outcome) in batch.into_iter().zip(outcomes) {
            match outcome {
                None => self.report.interrupted = true,
                Some(FileImport::Stored) => self.report.files.stored += 1,
                Some(FileImport::Unchanged) => self.report.files.unchanged += 1,
                Some(FileImport::Refused(error)) => {
                    self.report.files.refused += 1;
                    let location = file.path.display().to_string();
                    let refusal = Refusal {
                        content_type: type_files.content_type.name.clone(),
                        object: ImportObject::new(location, json!({"id": file.id})),
                        errors: field_errors(error),
                    };
                    self.report.refuse(refusal, printer)?;
                }
            }
        }
        Ok(())
    }

    fn send_file(&self, file: &MediaFile, transfer: &Transfer) -> Result<FileImport> {
        let is_stored = match self.target.file(&file.id, &file.extension) {
            Ok(_) if self.rules.on_conflict == OnConflict::Keep => true,
            // If the content differs, the target refuses the upload below.
            Ok(mut stored) => {
                stream::stored_digest(&mut *stored, transfer)?
                    == stream::digest(&file.path, transfer)?
            }
            // The upload repairs a damaged file, which the target does not send.
            Err(Error::NotFound { .. } | Error::Internal(_)) => false,
            Err(error) => return Err(error.into()),
        };
        if is_stored {
            transfer.advance(file.path.metadata().map_or(0, |meta| meta.len()));
            return Ok(FileImport::Unchanged);
        }
        if self.rules.dry_run {
            return Ok(FileImport::Stored);
        }
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        let request = UploadRequest {
            file_name: name.into_owned(),
            kind: Some(file.kind.clone()),
            id: Some(file.id.clone()),
            ..UploadRequest::default()
        };
        match self.target.upload(stream::open_upload(&file.path, transfer)?, &request) {
            Ok(_) => Ok(FileImport::Stored),
            Err(error) if is_refused(&error) => Ok(FileImport::Refused(error)),
            Err(error) => Err(error.into()),
        }
    }
}

fn field_errors(error: Error) -> FieldErrors {
    match error {
        Error::Invalid(errors) => errors,
        other => FieldErrors::one("file", other.to_string()),
    }
}
