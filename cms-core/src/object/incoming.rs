//! Lists the objects that link to an object (see docs/reference/objects.md#incoming-links).

use std::collections::HashMap;

use cms_model::{
    auth::scope::Access,
    content_type::catalog::CompiledType,
    context::Caller,
    error::Result,
    limits,
    object::{
        link,
        model::{Columns, Edition},
        title::listed_title,
        view::View,
    },
    paging::{ListRange, PageRequest},
    wire::{
        list::{List, is_named},
        object::{IncomingLink, IncomingLinks},
    },
};
use cms_store::{IncomingTotals, LinkingObjects, Reader};

use super::{
    service::{Objects, find_map},
    write,
};

impl Objects<'_> {
    /// Lists the live objects that link to an object, ordered by type name and creation: of the given
    /// types, or of all types if none are given.
    pub fn incoming(
        &self,
        caller: &Caller,
        name: &str,
        id: &str,
        content_types: Option<&[String]>,
        page: PageRequest,
    ) -> Result<IncomingLinks> {
        self.read(caller, name, Access::READ, |reader, catalog, content_type| {
            let view = View::for_object(caller, content_type);
            let (id, pk) = find_map(reader, content_type, view, id, |stored| {
                (stored.id.clone().into_owned(), stored.pk)
            })?;
            let search = Search { reader, caller, target: (name, &id), itself: pk };
            let totals = reader.incoming_totals(search.target, pk)?;
            let list = List::new(page, 0, Vec::new());
            let mut links = IncomingLinks { list, hidden: false };
            for content_type in catalog.types() {
                let Some(totals) = totals.get(&content_type.pk) else { continue };
                if !caller.may(Access::READ, content_type.name()) {
                    links.hidden = true;
                } else if is_named(content_types, content_type.name()) {
                    search.add_type(content_type, *totals, page, &mut links)?;
                }
            }
            links.list.total_pages = page.page_count(links.list.total_count);
            links.list.count = links.list.data.len() as u64;
            Ok(links)
        })
    }
}

/// A search for the links to one object.
struct Search<'a> {
    reader: &'a Reader<'a>,
    caller: &'a Caller,
    /// Type and id.
    target: (&'a str, &'a str),
    /// Primary key of the target: its own links do not count.
    itself: i64,
}

/// An object with links to the target.
struct Linking {
    id: String,
    title: String,
    is_approved: bool,
    /// Paths of the links.
    paths: Vec<String>,
}

impl Search<'_> {
    /// Adds the objects of a type to the total, and those on the page to the list.
    fn add_type(
        &self,
        content_type: &CompiledType,
        totals: IncomingTotals,
        page: PageRequest,
        links: &mut IncomingLinks,
    ) -> Result<()> {
        let view = View::for_object(self.caller, content_type);
        let (kind, matching) = match view.edition {
            Edition::Published => (LinkingObjects::Published, totals.published),
            Edition::Current if view.only_approved => (LinkingObjects::Approved, totals.approved),
            Edition::Current => (LinkingObjects::All, totals.all),
        };
        let except = match kind {
            LinkingObjects::Published => self.linking_since_publication(content_type)?,
            _ => Vec::new(),
        };
        let matching = matching.saturating_sub(except.len() as u64);
        let list = &mut links.list;
        let offset = page.offset().saturating_sub(list.total_count);
        list.total_count += matching;
        let missing = page.limit.saturating_sub(u32::try_from(list.data.len()).unwrap_or(u32::MAX));
        if offset < matching && missing > 0 {
            let range = ListRange { offset, limit: missing };
            let (target, ctd) = (self.target, content_type.pk);
            let rows = self.reader.incoming(target, self.itself, (ctd, kind, &except), range)?;
            self.add_items(content_type, view, &rows, &mut list.data)?;
        }
        Ok(())
    }

    /// The published objects of a type whose link exists only in the current version.
    fn linking_since_publication(&self, content_type: &CompiledType) -> Result<Vec<i64>> {
        let modified = (content_type.pk, LinkingObjects::Modified, &[][..]);
        let all = ListRange { offset: 0, limit: u32::MAX };
        let mut rows = self.reader.incoming(self.target, self.itself, modified, all)?;
        let published = self.linking(content_type, Edition::Published, &rows)?;
        rows.retain(|pk| !published.contains_key(pk));
        Ok(rows)
    }

    fn add_items(
        &self,
        content_type: &CompiledType,
        view: View,
        rows: &[i64],
        items: &mut Vec<IncomingLink>,
    ) -> Result<()> {
        let mut current = self.linking(content_type, Edition::Current, rows)?;
        let mut published = if content_type.definition.draft_public {
            self.linking(content_type, Edition::Published, rows)?
        } else {
            HashMap::new()
        };
        let public = View::public(content_type);
        for pk in rows {
            let (current, published) = (current.remove(pk), published.remove(pk));
            let is_public = match (&current, public.edition) {
                (_, Edition::Published) => published.is_some(),
                (Some(current), Edition::Current) => !public.only_approved || current.is_approved,
                (None, Edition::Current) => false,
            };
            let is_current = current.is_some();
            let shown = match view.edition {
                Edition::Current => current.or(published),
                Edition::Published => published,
            };
            let Some(Linking { id, title, paths, .. }) = shown else { continue };
            items.push(IncomingLink {
                content_type: content_type.name().to_owned(),
                id,
                object_title: title,
                properties: paths,
                current: is_current,
                published: is_public,
            });
        }
        Ok(())
    }

    /// Returns those of the objects whose edition has a link to the target.
    fn linking(
        &self,
        content_type: &CompiledType,
        edition: Edition,
        rows: &[i64],
    ) -> Result<HashMap<i64, Linking>> {
        let public = View::public(content_type);
        let mut found = HashMap::new();
        self.reader.object_rows(edition, rows, Columns::All, |_, stored| {
            let paths = self.paths(content_type, &stored.data)?;
            if !paths.is_empty() {
                let linking = Linking {
                    id: stored.id.clone().into_owned(),
                    title: listed_title(&stored.internal.title),
                    is_approved: public.admits_state(&stored.internal),
                    paths,
                };
                found.insert(stored.pk, linking);
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// The paths of the first links to the target in the properties of an object.
    fn paths(&self, content_type: &CompiledType, data: &str) -> Result<Vec<String>> {
        let (name, id) = self.target;
        let mut paths = Vec::new();
        for link in link::links(&content_type.properties, &write::parse(data)?) {
            let is_to_target = link.content_type == name && link.id.eq_ignore_ascii_case(id);
            if is_to_target && !paths.contains(&link.path) {
                paths.push(link.path);
                if paths.len() == limits::MAX_INCOMING_PATHS {
                    break;
                }
            }
        }
        Ok(paths)
    }
}
