//! Lists, creates, changes and deletes the shared views of a content type (see
//! docs/reference/views.md). The server stores their definitions and does not interpret them.

use std::sync::Arc;

use cms_model::{
    auth::scope::Access,
    content_type::catalog::CompiledType,
    context::Caller,
    dates,
    error::{Error, Result},
    limits,
    paging::PageRequest,
    wire::{
        list::List,
        shared_view::{NewSharedView, SharedView, SharedViewChange},
    },
};
use cms_store::{Authors, Reader, SharedViewRow, WriteTransaction};
use serde_json::value::RawValue;

use crate::cms::service;

service! {
    /// Operations on the shared views of a content type.
    SharedViews, shared_views
}

impl SharedViews<'_> {
    /// Lists the views of a type, by name.
    pub fn list(&self, caller: &Caller, name: &str, page: PageRequest) -> Result<List<SharedView>> {
        self.cms.read_with_catalog(|reader, catalog| {
            let content_type = catalog.look_up(name)?;
            caller.require(Access::READ, content_type.name())?;
            let views = reader.shared_views(content_type.pk)?;
            let total = views.len() as u64;
            let authors = reader.authors(views.iter().map(|view| view.actor.into()))?;
            let shown = page.of(views).map(|view| to_wire(&authors, caller, content_type, view));
            Ok(List::new(page, total, shown.collect::<Result<_>>()?))
        })
    }

    /// Creates a view.
    ///
    /// # Errors
    /// [`Error::Forbidden`] when the type has the maximum number of views.
    pub fn create(&self, caller: &Caller, name: &str, new: NewSharedView) -> Result<SharedView> {
        let (id, stamp) = (self.cms.config.ids.uuid(), caller.stamp(self.cms.now()));
        self.write(caller, name, move |writer, caller, content_type| {
            if writer.shared_view_count(content_type.pk)? >= limits::MAX_SHARED_VIEWS {
                return Err(Error::Forbidden);
            }
            let text = (new.name.as_str(), new.definition.as_str());
            let view = writer.insert_shared_view(content_type.pk, &id, text, stamp)?;
            to_wire(&writer.authors([view.actor.into()])?, caller, content_type, view)
        })
    }

    /// Changes a view of the caller, or any view for an admin. `change` is parsed already; its errors
    /// are reported only after those of the view.
    pub fn update(
        &self,
        caller: &Caller,
        name: &str,
        id: &str,
        change: Result<SharedViewChange>,
    ) -> Result<SharedView> {
        let (id, now) = (id.to_owned(), self.cms.now());
        self.write(caller, name, move |writer, caller, content_type| {
            let mut view = find_own(writer, caller, content_type, &id)?;
            let change = change?;
            view.name = change.name.unwrap_or(view.name);
            view.definition = change.definition.unwrap_or(view.definition);
            view.updated_at = now;
            writer.update_shared_view(&view)?;
            to_wire(&writer.authors([view.actor.into()])?, caller, content_type, view)
        })
    }

    /// Deletes a view of the caller, or any view for an admin.
    pub fn delete(&self, caller: &Caller, name: &str, id: &str) -> Result<()> {
        let id = id.to_owned();
        self.write(caller, name, move |writer, caller, content_type| {
            let view = find_own(writer, caller, content_type, &id)?;
            writer.delete_shared_view(view.pk)
        })
    }

    /// Runs a write with the type as read inside the write transaction.
    fn write<T: Send + 'static>(
        &self,
        caller: &Caller,
        name: &str,
        write: impl FnOnce(&WriteTransaction<'_>, &Caller, &Arc<CompiledType>) -> Result<T>
        + Send
        + 'static,
    ) -> Result<T> {
        caller.require_write()?;
        let (caller, name) = (caller.clone(), name.to_owned());
        self.cms.write_with_catalog(move |writer, catalog| {
            let content_type = catalog.look_up(&name)?;
            caller.require(Access::UPDATE, content_type.name())?;
            write(writer, &caller, content_type)
        })
    }
}

/// Finds a view that the caller may change.
fn find_own(
    reader: &Reader<'_>,
    caller: &Caller,
    content_type: &CompiledType,
    id: &str,
) -> Result<SharedViewRow> {
    let unknown = || Error::not_found("view", format!("{}/{id}", content_type.name()));
    let view = reader.shared_view(content_type.pk, id)?.ok_or_else(unknown)?;
    if view.actor == caller.actor().pk || caller.is_admin() {
        Ok(view)
    } else {
        Err(Error::Forbidden)
    }
}

fn to_wire(
    authors: &Authors,
    caller: &Caller,
    content_type: &CompiledType,
    view: SharedViewRow,
) -> Result<SharedView> {
    Ok(SharedView {
        id: view.id,
        name: view.name,
        definition: RawValue::from_string(view.definition).map_err(Error::internal)?,
        by: authors.author_of(view.actor.into()).shown_to(caller, content_type.name()),
        created_at: dates::microsecond_date(view.created_at),
        updated_at: dates::microsecond_date(view.updated_at),
    })
}
