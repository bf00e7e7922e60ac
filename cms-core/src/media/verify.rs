//! Compares stored files with their uploads: sizes always, digests on request.
//!
//! Missing and orphaned files are in [`super::orphaned_files`].

use std::collections::HashMap;

use cms_media::files::StoredFile;
use cms_model::{
    content_type::builtin::MEDIA,
    error::{Error, Result},
    limits,
    media::{fingerprint::Fingerprint, id::FileId},
    wire::check::{CheckArea, CheckRequest, Finding, MediaCheck},
};
use cms_store::MediaFile;

use super::service::Media;
use crate::check;

impl Media<'_> {
    /// Returns the size of the stored file of a media object.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the file does not exist, [`Error::Internal`] when its size differs
    /// from the upload: it must not be sent or rendered.
    pub(super) fn intact_size(&self, id: &FileId) -> Result<u64> {
        let found =
            self.cms.files.size(id)?.ok_or_else(|| Error::not_found("file", id.to_string()))?;
        match self.difference(id, found, None)? {
            Some(difference) => {
                tracing::error!(%id, cause = difference, "stored file has the wrong size");
                Err(Error::internal(format!("{difference}; {REMEDY}")))
            }
            None => Ok(found),
        }
    }

    /// Rejects content that was read from the stored file of a media object and differs from the upload.
    pub(crate) fn require_intact(&self, id: &FileId, found: Fingerprint) -> Result<()> {
        match self.difference(id, found.size, Some(found))? {
            Some(difference) => Err(Error::internal(format!("{difference}; {REMEDY}"))),
            None => Ok(()),
        }
    }

    /// Returns how a stored file of this size, and of this content if that was read, differs from the
    /// record of its upload. A file without a record does not differ.
    fn difference(
        &self,
        id: &FileId,
        size: u64,
        content: Option<Fingerprint>,
    ) -> Result<Option<String>> {
        let recorded = self.cms.store.read_autocommit(|reader| reader.stored_file(id))?;
        Ok(recorded.and_then(|recorded| {
            if size != recorded.size {
                return Some(wrong_size(id, recorded.size, size));
            }
            content.filter(|content| *content != recorded).map(|_| wrong_digest(id))
        }))
    }

    /// Compares the files of all media objects with their records; with `repair`, records files
    /// without a record.
    pub(super) fn verify(
        &self,
        stored: &[StoredFile],
        request: &CheckRequest,
        found: &mut MediaCheck,
        ensure_running: &dyn Fn() -> Result<()>,
    ) -> Result<Vec<Finding>> {
        let sizes: HashMap<&FileId, u64> =
            stored.iter().map(|file| (&file.id, file.size)).collect();
        let mut findings = Vec::new();
        let mut last = String::new();
        loop {
            let page = self.cms.store.read_autocommit(|reader| {
                reader.media_files_after(MEDIA, &last, limits::MAX_PAGE_SIZE)
            })?;
            let Some(file) = page.last() else { return Ok(findings) };
            last.clone_from(&file.id);
            let mut unrecorded = Vec::new();
            for MediaFile { id, recorded, declared_size, .. } in page {
                ensure_running()?;
                let Some(id) = FileId::parse(&id) else { continue };
                let Some(&size) = sizes.get(&id) else { continue };
                let problem = match recorded {
                    Some(known) if known.size != size || request.digests => {
                        self.problem(&id, request.digests, ensure_running)?
                    }
                    Some(_) => None,
                    None => {
                        found.unrecorded += 1;
                        match declared_size {
                            Some(declared) if declared != size => {
                                Some(wrong_size(&id, declared, size))
                            }
                            _ if request.repair => {
                                let read = self.cms.files.fingerprint(&id, ensure_running)?;
                                unrecorded.extend(read.map(|read| (id.clone(), read)));
                                None
                            }
                            _ => None,
                        }
                    }
                };
                findings.extend(problem.map(|message| {
                    let (place, message) =
                        (format!("{MEDIA}/{id}"), format!("{message}; {REMEDY}"));
                    check::finding(CheckArea::Files, &place, message, false)
                }));
            }
            found.recorded += self.record(unrecorded)?;
        }
    }

    /// Returns the error of a stored file, from its current state and record: it may have been
    /// removed, or stored again, since it was listed.
    fn problem(
        &self,
        id: &FileId,
        digests: bool,
        ensure_running: &dyn Fn() -> Result<()>,
    ) -> Result<Option<String>> {
        if !digests {
            let Some(size) = self.cms.files.size(id)? else { return Ok(None) };
            return self.difference(id, size, None);
        }
        match self.cms.files.fingerprint(id, ensure_running) {
            Ok(None) => Ok(None),
            Ok(Some(found)) => self.difference(id, found.size, Some(found)),
            Err(Error::Internal(cause)) => {
                Ok(Some(format!("the stored file {id} cannot be read: {cause}")))
            }
            Err(error) => Err(error),
        }
    }

    /// Stores a record for each of these files that has none yet; returns the number of the files.
    fn record(&self, files: Vec<(FileId, Fingerprint)>) -> Result<u64> {
        if files.is_empty() {
            return Ok(0);
        }
        let at = self.cms.now();
        self.cms.store.write(move |writer| {
            let mut recorded = 0;
            for (id, fingerprint) in &files {
                // The record of an upload wins over the file on disk.
                if writer.stored_file(id)?.is_none() {
                    writer.record_file(id, fingerprint, at)?;
                    recorded += 1;
                }
            }
            Ok(recorded)
        })
    }
}

/// How an operator repairs a damaged file.
pub(crate) const REMEDY: &str = "restore the file from an earlier backup, or delete the media object and remove it \
     from the trash";

pub(crate) fn wrong_size(id: &FileId, expected: u64, found: u64) -> String {
    format!("the stored file {id} has {found} bytes, {expected} bytes were uploaded")
}

pub(crate) fn wrong_digest(id: &FileId) -> String {
    format!("the content of the stored file {id} is not what was uploaded: its SHA-256 differs")
}
