//! Media: stores uploads, and removes the files of objects that left the trash.
//!
//! Images are in [`super::image`], orphaned files in [`super::orphaned_files`]. Media objects
//! themselves are ordinary content objects.

use cms_media::{
    incoming::Incoming,
    media_type, pipeline, svg,
    upload::{self, MediaKind, MediaMetadata, Upload, UploadedFile},
};
use cms_model::{
    auth::scope::Access,
    clock::Timestamp,
    content_type::builtin::MEDIA,
    context::Caller,
    error::{Error, FieldErrors, Result},
    limits,
    media::{fingerprint::Fingerprint, id::FileId, transform::Size},
    message,
    object::link,
    settings::MediaStorage,
    wire::{media::UploadRequest, object::Json},
};
use cms_store::{PendingCommit, Reader, WriteTransaction};
use serde_json::{Map, Value, json};

use super::orphaned_files::removal_cutoff;
use crate::cms::service;

/// A record of an upload that is further in the future comes from a wrong clock.
const MAX_CLOCK_DIFFERENCE_MICROS: i64 = 3_600_000_000;

service! {
    /// Operations on files and images.
    Media, media
}

impl Media<'_> {
    /// Opens the file storage, so that its errors are reported before it is needed.
    ///
    /// # Errors
    /// [`Error::Busy`] when it does not respond, [`Error::Conflict`] when it belongs to another
    /// data directory, [`Error::Internal`] when it denies access.
    pub fn connect(&self) -> Result<()> {
        self.cms.files.connect()
    }

    /// Checks whether S3 storage responds; [`crate::Cms::readiness`] returns the result. A server
    /// calls it periodically.
    pub fn check_storage(&self) -> Result<()> {
        self.cms.files.check_storage()
    }

    /// Begins to receive an upload, before any of its data is known.
    pub fn receive(&self) -> Result<Incoming> {
        self.cms.files.receive()
    }

    /// Stores a received file, and returns its media object (see docs/reference/media.md#upload).
    ///
    /// # Errors
    /// [`Error::Invalid`] with all validation errors of the file and of the object.
    pub fn upload(
        &self,
        caller: &Caller,
        file: Option<Incoming>,
        request: &UploadRequest,
    ) -> Result<Json> {
        self.cms.objects().content_type(caller, MEDIA, Access::CREATE)?;
        let mut file = file;
        let content = match &mut file {
            Some(file) => file.head(limits::MAX_INSPECTED_BYTES).map_err(Error::from_io)?,
            None => Vec::new(),
        };
        let (id, media) =
            self.validate_upload(request, file.as_ref(), &content).map_err(Error::Invalid)?;
        let file = file.as_mut().expect("a request without a file is refused");

        if request.id.is_some() && self.ids_without_object([id.clone()])?.is_empty() {
            // Adding a file to an existing object is a change of it.
            if request.save {
                return Err(Error::invalid("id", message::ALREADY_USED));
            }
            caller.require(Access::UPDATE, MEDIA)?;
        }
        let payload = describe(&id, &media, &content, request);
        // The file may exist already: it must not be removed before it is recorded again.
        let no_removal =
            request.id.as_ref().map(|_| self.cms.files.lock_for_upload()).transpose()?;
        let reserved_at = request.id.as_ref().map(|_| self.cms.now());
        let is_new = self.store(&id, file, reserved_at)?;
        let (fingerprint, at) = (file.fingerprint(), self.cms.now());
        let record = {
            let id = id.clone();
            move |writer: &WriteTransaction<'_>| writer.record_file(&id, &fingerprint, at)
        };
        if !request.save {
            self.cms.store.write(record)?;
            self.store_if_removed(&id, file);
            let text = serde_json::to_vec(&payload).expect("a map has string keys");
            return Ok(Json(text));
        }
        let objects = self.cms.objects();
        let created = objects.begin_create_with(caller, MEDIA, payload, record);
        let created = created.and_then(PendingCommit::wait).map(Json);
        let may_be_stored = matches!(created, Ok(_) | Err(Error::OutcomeUnknown));
        if !may_be_stored && is_new {
            drop(no_removal);
            // The file stays if another upload of it was successful meanwhile.
            let since = reserved_at.unwrap_or(Timestamp(0));
            self.remove_unused(vec![UnusedFile { id, since }]);
        } else if may_be_stored {
            self.store_if_removed(&id, file);
        }
        created
    }

    /// Stores a recorded file again if another node has removed it before it knew of the record. A failure is
    /// only logged: the object is created, and the file was stored before.
    fn store_if_removed(&self, id: &FileId, file: &mut Incoming) {
        let files = &self.cms.files;
        if self.cms.cluster().is_none() {
            return;
        }
        let stored = files.size(id).and_then(|size| match size {
            Some(_) => Ok(false),
            None => files.store(id, file),
        });
        if let Err(error) = stored {
            tracing::warn!(%id, %error, "cannot check that no other node has removed the file");
        }
    }

    fn validate_upload(
        &self,
        request: &UploadRequest,
        file: Option<&Incoming>,
        content: &[u8],
    ) -> std::result::Result<(FileId, MediaMetadata), FieldErrors> {
        let file = file.map(|file| UploadedFile {
            name: &request.file_name,
            declared: request.declared.as_deref(),
            content,
            size: file.size(),
        });
        let upload = Upload { file, kind: request.kind.as_deref() };
        let media = upload::check_upload(&upload, self.cms.config.media_file_limit);
        let id = match request.id.as_deref() {
            None => Some(FileId::new(&*self.cms.config.ids)),
            Some(id) => FileId::parse(id),
        };
        match (media, id) {
            (Ok(media), Some(id)) => Ok((id, media)),
            (media, id) => {
                let mut errors = media.err().unwrap_or_default();
                if id.is_none() {
                    errors.add("id", message::NOT_VALID);
                }
                Err(errors)
            }
        }
    }

    /// Stores a file, unless the identical file is stored already. Returns whether it is new. A damaged file
    /// is replaced if the record proves that this is its original. An id that other uploads may use, too, is
    /// first reserved, with the time `reserve_at`.
    pub(crate) fn store(
        &self,
        id: &FileId,
        file: &mut Incoming,
        reserve_at: Option<Timestamp>,
    ) -> Result<bool> {
        let (files, sent) = (&self.cms.files, file.fingerprint());
        let is_same = if files.size(id)?.is_none() {
            let is_reserved = match reserve_at {
                None => true,
                Some(at) => !self.had_other_content(id, sent)? && self.reserve(id, sent, at)?,
            };
            if is_reserved && files.store(id, file)? {
                return Ok(true);
            }
            // A concurrent upload may have stored a file: compares the file itself, because the record is that of this
            // upload.
            is_reserved && files.fingerprint(id, &|| Ok(()))? == Some(sent)
        } else {
            let recorded = self.cms.store.read_autocommit(|reader| reader.stored_file(id))?;
            let may_be_same = recorded.is_none_or(|recorded| recorded == sent);
            if may_be_same && files.fingerprint(id, &|| Ok(()))? == Some(sent) {
                true
            } else if recorded == Some(sent) {
                files.repair(id, file)?;
                self.cms.renders.remove(id)?;
                self.cms.recent_renders.clear();
                true
            } else {
                false
            }
        };
        if is_same { Ok(false) } else { Err(Error::invalid("id", message::ALREADY_USED)) }
    }

    /// Returns whether an object with this id, live or in the trash, had a file of other content. The object
    /// describes that file, and caches have its renderings under the same entity tags.
    fn had_other_content(&self, id: &FileId, sent: Fingerprint) -> Result<bool> {
        self.lookup(|reader, media| {
            let recorded = reader.stored_file(id)?;
            Ok(recorded.is_some_and(|recorded| recorded != sent) && is_used(reader, media, id)?)
        })
    }

    /// Reserves an id for the content of an upload, in the database: a bucket may replace a file with
    /// that of a concurrent upload. Returns false if another upload has reserved it.
    fn reserve(&self, id: &FileId, sent: Fingerprint, at: Timestamp) -> Result<bool> {
        if self.cms.config.media == MediaStorage::DataDirectory {
            return Ok(true);
        }
        let (id, recent) = (id.clone(), removal_cutoff(at)..latest_plausible_time(at));
        self.cms.store.write(move |writer| writer.reserve_file(&id, &sent, at, recent))
    }

    /// Reads from the database, with the primary key of the media type, which never changes. Each
    /// statement has its own snapshot.
    pub(super) fn lookup<T>(&self, read: impl FnOnce(&Reader<'_>, i64) -> Result<T>) -> Result<T> {
        let media = match self.cms.catalog.cached().find(MEDIA) {
            Some(media) => media.pk,
            None => self.cms.read_with_catalog(|_, catalog| Ok(catalog.get(MEDIA)?.pk))?,
        };
        self.cms.store.read_autocommit(|reader| read(reader, media))
    }

    /// Removes all images rendered from the files of deleted objects of a type. Only media objects
    /// have files, which stay until their objects are removed from the trash.
    ///
    /// The clean-up retries failed removals: the deletion itself is complete.
    pub(crate) fn delete_rendered_images<'i>(
        &self,
        content_type: &str,
        ids: impl IntoIterator<Item = &'i str>,
    ) {
        if content_type == MEDIA {
            for id in ids.into_iter().filter_map(FileId::parse) {
                self.cms.renders.remove(&id).ok();
            }
        }
    }

    /// Removes files as [`Self::remove_files`] does. The clean-up retries failed removals.
    pub(crate) fn remove_unused(&self, files: Vec<UnusedFile>) {
        self.remove_files(files).ok();
    }

    /// Removes files and their records, except files that an object uses, live or in the trash, or
    /// that were uploaded again. Returns the number of removed files; none while a backup needs all
    /// files.
    pub(super) fn remove_files(&self, files: Vec<UnusedFile>) -> Result<Option<u64>> {
        if files.is_empty() {
            return Ok(Some(0));
        }
        let _lock = self.cms.files.lock_for_removal()?;
        let latest = latest_plausible_time(self.cms.now());
        let mut ids = self.cms.write_with_catalog(move |writer, catalog| {
            let media = catalog.get(MEDIA)?.pk;
            let mut removed = Vec::new();
            for UnusedFile { id, since } in files {
                if !is_used(writer, media, &id)?
                    && writer.remove_file_record_unless_recent(&id, since..latest)?
                {
                    removed.push(id);
                }
            }
            Ok(removed)
        })?;
        // Checked after the deletion was committed: a backup that begins now does not have the objects.
        if let Some(cluster) = self.cms.cluster() {
            if cluster.is_backup_running()? {
                return Ok(None);
            }
            // Another node may have recorded an upload of the same file since.
            cluster.catch_up()?;
            ids = self.without_record(ids)?;
        }
        let is_removed = self.cms.files.remove(&ids)?;
        Ok(is_removed.then_some(ids.len() as u64))
    }

    /// Returns the ids of the files that have no record.
    fn without_record(&self, ids: Vec<FileId>) -> Result<Vec<FileId>> {
        self.cms.store.read_autocommit(|reader| {
            let mut found = Vec::with_capacity(ids.len());
            for id in ids {
                if reader.stored_file(&id)?.is_none() {
                    found.push(id);
                }
            }
            Ok(found)
        })
    }

    /// Removes the rendered images of all objects of a type that were deleted at this time. The
    /// clean-up retries failed removals.
    pub(crate) fn delete_rendered_images_of_purged_type(&self, content_type: &str, at: Timestamp) {
        if content_type == MEDIA
            && let Ok(deleted) =
                self.lookup(|reader, media| reader.deleted_ids(media, Timestamp(at.0 - 1), None))
        {
            self.delete_rendered_images(MEDIA, deleted.iter().map(String::as_str));
        }
    }
}

/// The latest time that a record can have; later ones are from a wrong clock.
fn latest_plausible_time(now: Timestamp) -> Timestamp {
    Timestamp(now.0 + MAX_CLOCK_DIFFERENCE_MICROS)
}

/// A file that no object has used since a time. An upload after that time keeps the file.
pub(crate) struct UnusedFile {
    pub(crate) id: FileId,
    pub(crate) since: Timestamp,
}

/// Returns whether an object uses a file, live or in the trash.
pub(super) fn is_used(reader: &Reader<'_>, media: i64, id: &FileId) -> Result<bool> {
    let id = id.to_string();
    Ok(reader.object_pk(media, &id)?.is_some() || reader.is_in_trash(media, &id)?)
}

/// The media object of a file, with its properties in the documented order (see
/// docs/reference/media.md#media-objects).
fn describe(
    id: &FileId,
    media: &MediaMetadata,
    content: &[u8],
    request: &UploadRequest,
) -> Map<String, Value> {
    let Size { width, height } = match media.kind {
        MediaKind::Image => dimensions(media.mime_type, content).unwrap_or_default(),
        MediaKind::File => Size::default(),
    };
    let object = json!({
        "id": id.to_string(),
        "extension": media.extension,
        "fileName": media.file_name,
        "mimeType": media.mime_type,
        "size": media.size,
        "type": media.kind.as_str(),
        "source": "disk",
        "externalId": "",
        "url": format!("/image/0x0/{id}.{}", media.extension),
        "height": height,
        "width": width,
    });
    let Value::Object(mut object) = object else { unreachable!("an object literal") };
    for (name, text) in [("alt", &request.alt), ("title", &request.title)] {
        if let Some(text) = text {
            object.insert(name.to_owned(), Value::from(text.as_str()));
        }
    }
    if !request.tags.is_empty() {
        let tags = request.tags.iter().map(|tag| link::to("_tag", tag)).collect();
        object.insert("tags".to_owned(), Value::Array(tags));
    }
    object
}

/// The displayed size of an image; none when the file does not contain it.
fn dimensions(media_type: &str, content: &[u8]) -> Option<Size> {
    if media_type::is_svg(media_type) {
        svg::dimensions(content)
    } else {
        pipeline::measure(content)
    }
}
