//! Stores, removes and lists the objects that callers have open (see docs/reference/presence.md).
//!
//! Sending and seeing presence need the update right on the type.

use std::collections::HashSet;

use cms_model::{
    auth::scope::Access,
    content_type::catalog::Catalog,
    context::Caller,
    dates,
    error::{Error, Result},
    message,
    object::{
        model::{Columns, Edition},
        view::View,
    },
    wire::{
        list::is_named,
        presence::{Presence, PresenceRequest},
    },
};

use super::table::OpenTab;
use crate::{cms::service, object::service::find_map};

service! {
    /// Operations on presence.
    Presences, presences
}

/// The presences that a caller sees at a time.
#[derive(Clone, Debug, Default)]
pub struct VisiblePresences {
    /// Identifies the state of all presences of the process.
    pub revision: u64,
    pub presences: Vec<Presence>,
}

impl Presences<'_> {
    /// Stores for 45 seconds that a tab of the caller has an object open.
    ///
    /// # Errors
    /// [`Error::Forbidden`] without update right, or when there are too many tabs.
    pub fn put(&self, caller: &Caller, request: PresenceRequest) -> Result<()> {
        let name = &request.content_type;
        let (ctd, object, id) = self.find(caller, name, &request.id)?;
        let at = self.cms.now();
        let by = caller.actor().author();
        let tab = OpenTab { ctd, object, id, property: request.property, by, at };
        self.cms.presence.put(caller.actor().pk, request.tab, tab)
    }

    /// Requires that the caller may have an object open, and that it exists.
    pub fn require(&self, caller: &Caller, content_type: &str, id: &str) -> Result<()> {
        self.find(caller, content_type, id).map(drop)
    }

    /// Removes a tab of the caller, if it is known.
    pub fn remove(&self, caller: &Caller, tab: &str) -> Result<()> {
        caller.require_write()?;
        self.cms.presence.remove(caller.actor().pk, tab);
        Ok(())
    }

    /// Lists the tabs that have one object, or any object of the type, open. The type is required.
    pub fn list(
        &self,
        caller: &Caller,
        content_type: Option<&str>,
        id: Option<&str>,
    ) -> Result<Vec<Presence>> {
        let missing = || Error::invalid("content_type", message::required("content_type"));
        let name = content_type.ok_or_else(missing)?;
        let object = match id {
            Some(id) => Some(self.find(caller, name, id)?.1),
            None => self.cms.objects().content_type(caller, name, Access::UPDATE).map(|_| None)?,
        };
        let names = [name.to_owned()];
        let visible = self.changed_since(caller, Some(&names), object, None)?;
        Ok(visible.unwrap_or_default().presences)
    }

    /// Lists the presences that the caller sees, of all types or of these, and of all objects or of the one
    /// with this primary key; none when no presence of the process has changed since the revision `seen`.
    pub fn changed_since(
        &self,
        caller: &Caller,
        content_types: Option<&[String]>,
        object: Option<i64>,
        seen: Option<u64>,
    ) -> Result<Option<VisiblePresences>> {
        let catalog = self.cms.catalog_of(caller)?;
        let types: Vec<_> = catalog
            .types()
            .iter()
            .filter(|content_type| {
                caller.may(Access::UPDATE, content_type.name())
                    && is_named(content_types, content_type.name())
            })
            .collect();
        let name_of =
            |ctd: i64| types.iter().find(|content_type| content_type.pk == ctd).map(|t| t.name());
        let is_shown = |tab: &OpenTab| {
            name_of(tab.ctd).is_some() && object.is_none_or(|object| tab.object == object)
        };
        let now = self.cms.now();
        let found = self.cms.presence.changed_since(seen, now, is_shown);
        let Some((revision, tabs)) = found else { return Ok(None) };
        let public_only = caller.visibility.public_only;
        let in_view = public_only.then(|| self.in_view(caller, &catalog, &tabs)).transpose()?;
        let is_in_view = |tab: &OpenTab| in_view.as_ref().is_none_or(|v| v.contains(&tab.object));
        let presences = tabs.into_iter().filter(|(_, tab)| is_in_view(tab));
        let presences = presences.filter_map(|(name, tab)| {
            Some(Presence {
                tab: name,
                content_type: name_of(tab.ctd)?.to_owned(),
                id: tab.id,
                property: tab.property,
                by: tab.by,
                at: dates::microsecond_date(tab.at),
            })
        });
        Ok(Some(VisiblePresences { revision, presences: presences.collect() }))
    }

    /// Returns the primary keys of the open objects that are in the view of the request.
    fn in_view(
        &self,
        caller: &Caller,
        catalog: &Catalog,
        tabs: &[(String, OpenTab)],
    ) -> Result<HashSet<i64>> {
        let mut in_view = HashSet::new();
        let pks: Vec<i64> = tabs.iter().map(|(_, tab)| tab.object).collect();
        self.cms.store.read(|reader| {
            reader.object_rows(Edition::Current, &pks, Columns::WithoutProperties, |ctd, stored| {
                let content_type = catalog.find_by_pk(ctd);
                if content_type.is_some_and(|content_type| {
                    View::for_object(caller, content_type).contains_object(&stored.internal)
                }) {
                    in_view.insert(stored.pk);
                }
                Ok(())
            })
        })?;
        Ok(in_view)
    }

    /// Finds an object in the view of the request: primary keys of type and object, and the stored
    /// id.
    fn find(&self, caller: &Caller, name: &str, id: &str) -> Result<(i64, i64, String)> {
        self.cms.objects().read(caller, name, Access::UPDATE, |reader, _, content_type| {
            let view = View::for_object(caller, content_type);
            find_map(reader, content_type, view, id, |stored| {
                (content_type.pk, stored.pk, stored.id.clone().into_owned())
            })
        })
    }
}
