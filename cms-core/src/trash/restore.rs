//! Restores deleted objects (see docs/reference/trash.md#restore). Conversion, validation and the
//! write are in [`crate::object::write::restore`].

use cms_model::{
    auth::scope::Access,
    clock::Timestamp,
    content_type::builtin::MEDIA,
    context::Caller,
    error::{Error, Result},
    media::{fingerprint::Fingerprint, id::FileId},
    message,
    object::validate::validate_id,
    pattern::StepBudget,
    wire::{object::Json, trash::RestoreRequest},
};
use serde_json::{Map, Value};

use super::service::{Trash, deleted, find, unused_file};
use crate::{
    hooks::{self, WriteEvent},
    media::service::UnusedFile,
    object::{
        service::{require_quota, to_json},
        write::{
            Context, require_steps_left,
            restore::{Restoration, RestoreInputs, properties},
        },
    },
};

impl Trash<'_> {
    /// Refuses an entry that does not exist, or that the caller must not restore.
    pub fn require_restorable(&self, caller: &Caller, entry: &str) -> Result<()> {
        caller.require_write()?;
        self.cms.read_with_catalog(|reader, catalog| {
            find(reader, catalog, caller, entry, Access::RESTORE).map(drop)
        })
    }

    /// Restores a deleted object with all its versions.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the object does not conform to its current type, or its id or a
    /// unique value is used; then the entry stays.
    pub fn restore(
        &self,
        caller: &Caller,
        entry: &str,
        mut request: RestoreRequest,
    ) -> Result<Json> {
        caller.require_write()?;
        if let Some(id) = &request.id {
            validate_id(&Value::from(id.as_str())).into_result()?;
        }
        let config = &self.cms.config;
        self.call_webhooks(caller, entry, &mut request)?;
        let context = Context::new(caller, config);
        let (name, old, old_file, prepared) = self.cms.read_with_catalog(|reader, catalog| {
            let (found, content_type) = find(reader, catalog, caller, entry, Access::RESTORE)?;
            let deleted = deleted(reader, entry, found.pk)?;
            let inputs = RestoreInputs { caller, context: &context, request: &request };
            let budget = &mut StepBudget::per_object();
            let prepared = Restoration::new(reader, content_type, &deleted, &inputs, budget)?;
            let prepared = prepared.checked(reader, catalog, content_type)?;
            let old_file = unused_file(&found);
            Ok((content_type.name().to_owned(), found.id, old_file, prepared))
        })?;
        let moved = request.id.clone().filter(|id| name == MEDIA && !id.eq_ignore_ascii_case(&old));
        let (media, at) = (self.cms.media(), context.stamp.at);
        let no_removal = moved.as_ref().map(|_| self.cms.files.lock_for_upload()).transpose()?;
        let file = moved.map(|id| self.copy_file(&old, &id, at)).transpose()?.flatten();
        let quota = config.max_objects;
        let (owned_caller, entry) = (caller.clone(), entry.to_owned());
        let new_file = file.as_ref().map(|copy| (copy.id.clone(), copy.fingerprint));
        let restored = self.cms.write_with_catalog(move |writer, catalog| {
            let (found, content_type) =
                find(writer, catalog, &owned_caller, &entry, Access::RESTORE)?;
            let deleted = deleted(writer, &entry, found.pk)?;
            let prepared = if prepared.is_of(content_type, &deleted) {
                prepared
            } else {
                let inputs =
                    RestoreInputs { caller: &owned_caller, context: &context, request: &request };
                let budget = &mut StepBudget::per_write();
                let prepared = Restoration::new(writer, content_type, &deleted, &inputs, budget)?;
                require_steps_left(budget)?;
                prepared
            };
            let prepared = prepared.checked(writer, catalog, content_type)?;
            require_quota(writer, quota, 1)?;
            // Creates missing webhook deliveries first: those of a purge need the trash entry, which
            // this restore removes.
            hooks::before_removal(writer, at)?;
            if let Some((id, fingerprint)) = &new_file {
                writer.record_file(id, fingerprint, at)?;
            }
            let stored = prepared.write(writer, content_type, &context)?;
            Ok(to_json(content_type, &stored))
        });
        if let Some(copy) = file {
            drop(no_removal);
            // The old file is unused if the object was restored, else the copy is unused.
            let copy = copy.is_new.then_some(UnusedFile { id: copy.id, since: at });
            media.remove_unused(old_file.into_iter().chain(copy).collect());
        }
        restored
    }

    /// Calls the synchronous webhooks about a new object; data that they change becomes a new
    /// version.
    fn call_webhooks(
        &self,
        caller: &Caller,
        entry: &str,
        request: &mut RestoreRequest,
    ) -> Result<()> {
        let (name, id, sent) = self.cms.read_with_catalog(|reader, catalog| {
            let (found, content_type) = find(reader, catalog, caller, entry, Access::RESTORE)?;
            let id = request.id.clone().unwrap_or(found.id);
            let sent = if let Some(data) = &request.data {
                data.clone()
            } else {
                let deleted = deleted(reader, entry, found.pk)?;
                properties(reader, content_type, &deleted, &deleted.stored.data, &id)?
            };
            Ok((content_type.name().to_owned(), id, sent))
        })?;
        let Some(mut calls) = self.cms.before_write(caller, &name, WriteEvent::Create)? else {
            return Ok(());
        };
        let without_id = |mut data: Map<String, Value>| {
            data.shift_remove("id");
            data
        };
        let received = without_id(calls.call_with_id(&id, sent.clone())?);
        if received != without_id(sent) {
            request.data = Some(received);
        }
        Ok(())
    }

    /// Copies the file of a media object that returns under another id; none when it has no file.
    ///
    /// # Errors
    /// [`Error::Internal`] when the file is damaged: the record of its copy would hide that.
    fn copy_file(&self, old: &str, new: &str, at: Timestamp) -> Result<Option<FileCopy>> {
        let files = &self.cms.files;
        let Some(from) = FileId::parse(old) else { return Ok(None) };
        let Some(size) = files.size(&from)? else { return Ok(None) };
        let to = FileId::parse(new).ok_or_else(|| Error::invalid("id", message::NOT_VALID))?;
        let mut copy = files.receive_copy()?;
        files.copy(&from, size, &mut copy)?;
        self.cms.media().require_intact(&from, copy.fingerprint())?;
        let is_new = self.cms.media().store(&to, &mut copy, Some(at))?;
        Ok(Some(FileCopy { id: to, fingerprint: copy.fingerprint(), is_new }))
    }
}

/// The file of a media object under its new id.
struct FileCopy {
    id: FileId,
    fingerprint: Fingerprint,
    /// It did not exist before.
    is_new: bool,
}
