//! Lists deleted objects, and removes them permanently (see docs/reference/trash.md).

use std::{collections::BTreeMap, sync::Arc};

use cms_model::{
    auth::scope::Access,
    clock::Timestamp,
    content_type::{
        builtin::MEDIA,
        catalog::{Catalog, CompiledType},
    },
    context::{Caller, Stamp},
    dates,
    error::{Error, Result},
    limits,
    media::id::FileId,
    object::view::{Audience, View},
    read,
    wire::{
        author::Author,
        list::{List, is_named},
        object::Json,
        trash::{EmptiedTrash, EmptyTrashRequest, TrashItem, TrashRequest},
    },
};
use cms_store::{ActorRef, DeletedObject, Reader, TrashEntry, TrashFilter, WriteTransaction};
use serde_json::Value;

use crate::{
    cms::service,
    hooks,
    media::service::UnusedFile,
    object::{service::to_json, write::restore::properties},
};

/// The rights on a type that reading its deleted objects needs.
const READ: Access = Access::READ_DELETED;

service! {
    /// Operations on deleted objects.
    Trash, trash
}

impl Trash<'_> {
    /// Lists the deletions that the caller may see, newest first.
    pub fn list(&self, caller: &Caller, request: &TrashRequest) -> Result<List<TrashItem>> {
        caller.require_write()?;
        let range = request.range()?;
        self.cms.read_with_catalog(|reader, catalog| {
            let nothing = || Ok(List::new(request.page, 0, Vec::new()));
            let (mut actor, mut author) = (None, None);
            if let Some(id) = &request.by {
                // An unknown actor deleted nothing.
                let Some(pk) = reader.actor_pk(id)? else { return nothing() };
                let reference = ActorRef::Row(pk);
                author = Some(reader.authors([reference])?.author_of(reference));
                actor = Some(pk);
            }
            let is_listed = |content_type: &&Arc<CompiledType>| {
                // Authors whom the caller may not see are not found, either.
                let is_hidden =
                    |by: &Author| by.clone().shown_to(caller, content_type.name()).id.is_none();
                is_named(request.content_types.as_deref(), content_type.name())
                    && caller.may(READ, content_type.name())
                    && !author.as_ref().is_some_and(is_hidden)
            };
            let types: Vec<i64> = catalog
                .types()
                .iter()
                .filter(is_listed)
                .map(|content_type| content_type.pk)
                .collect();
            if types.is_empty() || caller.visibility.public_only {
                return nothing();
            }
            let all = types.len() == catalog.types().len();
            let filter = TrashFilter {
                types: (!all).then_some(types),
                range,
                text: request.text.clone(),
                actor,
            };
            let total = reader.trash_count(&filter)?;
            let entries = reader.trash_list(&filter, request.page.into())?;
            let items = items(reader, catalog, caller, &entries)?;
            Ok(List::new(request.page, total, items))
        })
    }

    /// Returns one deletion with the deleted object, converted to its current type as on a restore.
    pub fn get(&self, caller: &Caller, entry: &str) -> Result<Json> {
        caller.require_write()?;
        self.cms.read_with_catalog(|reader, catalog| {
            let (found, content_type) = find(reader, catalog, caller, entry, READ)?;
            let mut deleted = deleted(reader, entry, found.pk)?;
            let (data, id) = (&deleted.stored.data, &deleted.stored.id);
            let data = properties(reader, content_type, &deleted, data, id)?;
            deleted.stored.data = Value::Object(data).to_string().into();
            let item = items(reader, catalog, caller, &[found])?.pop();
            let mut out = serde_json::to_vec(&item).map_err(Error::internal)?;
            out.pop();
            out.extend_from_slice(b",\"object\":");
            let view = View::for_object(caller, content_type);
            out.extend_from_slice(&to_json(content_type, &view.mask(deleted.stored)).0);
            out.push(b'}');
            Ok(Json(out))
        })
    }

    /// Removes one deleted object permanently.
    pub fn remove(&self, caller: &Caller, entry: &str) -> Result<()> {
        caller.require_write()?;
        let stamp = caller.stamp(self.cms.now());
        let (caller, entry) = (caller.clone(), entry.to_owned());
        let removed = self.cms.write_with_catalog(move |writer, catalog| {
            let (found, _) = find(writer, catalog, &caller, &entry, Access::DELETE)?;
            remove_entries(writer, catalog, vec![found], stamp)
        })?;
        self.cms.media().remove_unused(removed);
        Ok(())
    }

    /// Removes many deleted objects permanently, the oldest first. Requires an admin.
    pub fn empty(&self, caller: &Caller, request: &EmptyTrashRequest) -> Result<EmptiedTrash> {
        caller.require_admin()?;
        let before = request.before()?;
        let stamp = caller.stamp(self.cms.now());
        let names = request.content_types.clone();
        let (removed_count, more, files) =
            self.cms.write_with_catalog(move |writer, catalog| {
                let row = |name: &String| catalog.find(name).map(|content_type| content_type.pk);
                let types: Option<Vec<i64>> =
                    names.map(|names| names.iter().filter_map(row).collect());
                let limit = limits::MAX_TRASH_REMOVALS;
                let mut found = writer.trash_before(types.as_deref(), before, limit + 1)?;
                let more = found.len() > limit as usize;
                found.truncate(limit as usize);
                let count = found.len() as u64;
                Ok((count, more, remove_entries(writer, catalog, found, stamp)?))
            })?;
        self.cms.media().remove_unused(files);
        Ok(EmptiedTrash { removed_count, more })
    }

    /// Removes everything that was deleted before a time, in transactions of limited size.
    pub(crate) fn expire(&self, before: Timestamp) -> Result<()> {
        if !self.cms.store.read_autocommit(|reader| reader.has_trash_before(before))? {
            return Ok(());
        }
        let limit = limits::MAX_EXPIRED_TRASH_REMOVALS;
        loop {
            let at = self.cms.now();
            let (more, files) = self.cms.write_with_catalog(move |writer, catalog| {
                let stamp = Stamp { at, actor: Some(writer.system_actor("retention")?) };
                let found = writer.trash_before(None, before, limit)?;
                let more = found.len() == limit as usize;
                let files = remove_entries(writer, catalog, found, stamp)?;
                if !more {
                    writer.delete_removed_ids(before)?;
                    writer.delete_former_definitions(before)?;
                }
                Ok((more, files))
            })?;
            self.cms.media().remove_unused(files);
            if !more {
                return Ok(());
            }
        }
    }
}

/// Finds an entry of a type on which the caller has the rights.
pub(super) fn find<'c>(
    reader: &Reader<'_>,
    catalog: &'c Catalog,
    caller: &Caller,
    entry: &str,
    needs: Access,
) -> Result<(TrashEntry, &'c Arc<CompiledType>)> {
    let unknown = || Error::not_found("trash entry", entry);
    let pk = read::digits(entry).ok_or_else(unknown)?;
    let found = reader.trash_entry(pk)?.ok_or_else(unknown)?;
    let content_type = catalog.find_by_pk(found.ctd);
    let is_visible = |content_type: &&Arc<CompiledType>| {
        caller.may(needs, content_type.name()) && !caller.visibility.public_only
    };
    Ok((found, content_type.filter(is_visible).ok_or_else(unknown)?))
}

/// Returns the object of an entry.
pub(super) fn deleted(reader: &Reader<'_>, entry: &str, pk: i64) -> Result<DeletedObject> {
    reader.deleted_object(pk)?.ok_or_else(|| Error::not_found("trash entry", entry))
}

fn items(
    reader: &Reader<'_>,
    catalog: &Catalog,
    caller: &Caller,
    entries: &[TrashEntry],
) -> Result<Vec<TrashItem>> {
    let authors = reader.authors(entries.iter().map(|entry| entry.deleted_by))?;
    let item = |entry: &TrashEntry| {
        let content_type = catalog.find_by_pk(entry.ctd)?;
        let by = authors.author_of(entry.deleted_by);
        let expires_at = entry.deleted_at.0 + limits::TRASH_RETENTION_DAYS * 86_400_000_000;
        Some(TrashItem {
            entry: entry.pk.to_string(),
            content_type: content_type.name().to_owned(),
            id: entry.id.clone(),
            object_title: entry.title.clone(),
            version: entry.version,
            deleted_at: dates::microsecond_date(entry.deleted_at),
            expires_at: dates::microsecond_date(Timestamp(expires_at)),
            by: by.shown_to(caller, content_type.name()),
            id_taken: entry.id_taken,
        })
    };
    Ok(entries.iter().filter_map(item).collect())
}

/// Returns the file that a media object used until its deletion.
pub(super) fn unused_file(entry: &TrashEntry) -> Option<UnusedFile> {
    FileId::parse(&entry.id).map(|id| UnusedFile { id, since: entry.deleted_at })
}

/// Removes entries in a transaction; returns the files of media objects.
fn remove_entries(
    writer: &WriteTransaction<'_>,
    catalog: &Catalog,
    entries: Vec<TrashEntry>,
    stamp: Stamp,
) -> Result<Vec<UnusedFile>> {
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    // This creates the webhook deliveries that journal rows still lack: those of a purge are created
    // from trash entries.
    hooks::before_removal(writer, stamp.at)?;
    let mut by_type: BTreeMap<i64, Vec<TrashEntry>> = BTreeMap::new();
    for entry in entries {
        by_type.entry(entry.ctd).or_default().push(entry);
    }
    let mut files = Vec::new();
    for (ctd, entries) in by_type {
        let Some(content_type) = catalog.find_by_pk(ctd) else { continue };
        let pks: Vec<i64> = entries.iter().map(|entry| entry.pk).collect();
        let audience = Audience::of(content_type, false);
        writer.remove_trash((ctd, content_type.name()), &pks, audience, stamp)?;
        if content_type.name() == MEDIA {
            files.extend(entries.iter().filter_map(unused_file));
        }
    }
    Ok(files)
}
