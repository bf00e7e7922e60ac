//! Searches content: the order of the steps (see docs/reference/search.md).

use std::{collections::HashMap, sync::Arc};

use cms_model::{
    TRACE_TARGET,
    auth::scope::Access,
    content_type::{
        catalog::{Catalog, CompiledType},
        model::{InputType, Property},
    },
    context::Caller,
    error::{Error, Result},
    limits,
    memory::BufferReservation,
    object::{
        model::{Columns, Edition, StoredObject},
        projection::{self, PathScope, Projection},
        render,
        view::{self, View},
    },
    search::query::{HitOrder, Search, SearchQuery, SortBy, WeightedField},
    wire::{list::is_named, object::Json, search::SearchRequest},
};
use cms_search::{Hit, SearchResults, SearchScope};
use cms_store::{Reader, TypesRead};
use tracing::info_span;

use super::{generation_folder::CurrentGeneration, index_follower::ContentSource, response};
use crate::{
    cms::service,
    object::hydrate::{Hydration, with_properties},
};

service! {
    /// Full-text search and its index.
    Searching, search
}

impl Searching<'_> {
    /// Searches all content that the caller may read (see docs/reference/search.md#parameters).
    ///
    /// The response includes every write acknowledged before the request. If updating the index would
    /// take longer than [`crate::CoreConfig::search_wait`], it says that it is incomplete.
    ///
    /// # Errors
    /// [`Error::Invalid`] for invalid parameters, [`Error::Busy`] when the search takes too long.
    pub fn search(&self, caller: &Caller, request: &SearchRequest) -> Result<Json> {
        self.render(caller, request).map(|(json, _)| json)
    }

    /// As [`Self::search`], with the types that the response was made from; none if it depends on
    /// something else, too, and must not be cached.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub fn render(
        &self,
        caller: &Caller,
        request: &SearchRequest,
    ) -> Result<(Json, Option<TypesRead>)> {
        let mut search = Search::read(request)?;
        // The age of objects changes with time.
        let is_cacheable = !search.decay_old;
        let (head, scope) = self.cms.read_with_catalog(|reader, catalog| {
            projection(catalog, caller, request)?;
            let types = searched_types(catalog, caller, request);
            refuse_order_in_lists(&search, &types)?;
            if search.fields.as_ref().is_some_and(|fields| !has_known_field(fields, &types)) {
                search.query = SearchQuery::None;
            }
            let scope = self.scope(caller, request, catalog, &types);
            Ok((reader.journal_head()?, scope))
        })?;
        let (found, index) = info_span!(target: TRACE_TARGET, "search")
            .in_scope(|| self.find(head.seq, &search, &scope, window(request)))?;
        let is_current = index.position.covers(head.seq);
        self.cms.read_with_catalog(|reader, catalog| {
            let types = searched_types(catalog, caller, request);
            let projection = projection(catalog, caller, request)?;
            let projection = projection.as_ref();
            let linked = &self.cms.linked_objects;
            let mut hydration =
                Hydration::new((reader, catalog, caller), linked, projection, request.hydrate);
            let mut row_memory = BufferReservation::new(&caller.memory);
            let rows =
                rows((reader, caller, &types), (&found, &hydration, projection), &mut row_memory)?;
            let organization = &reader.space_ids()?.organization;
            let hits = response::Hits {
                found: &found,
                rows,
                organization,
                caller,
                projection,
                is_current,
            };
            let mut text_memory = BufferReservation::new(&caller.memory);
            let text = hits.render(request, &mut hydration, &mut text_memory)?;
            drop(row_memory);
            // The response depends on all types, because all objects influence scores and counts. It is not cached if
            // the index was replaced or is being rebuilt: an admin may have found that index wrong.
            let is_cacheable =
                is_cacheable && is_current && self.cms.index.is_still_current(&index);
            let types = is_cacheable.then_some(TypesRead::All);
            Ok((Json(hydration.finish(text, text_memory)?.0), types))
        })
    }

    /// Returns the paths of the `item_fields` of a search that no searched type declares: they
    /// return nothing.
    pub fn unknown_item_fields(&self, caller: &Caller, request: &SearchRequest) -> Vec<String> {
        let catalog = self.cms.catalog.cached();
        projection::unknown_paths(&request.item_fields, declared(&catalog, caller, request))
    }

    /// Searches the index. A damaged index is rebuilt, and searched again. Also returns the searched index.
    fn find(
        &self,
        seq: i64,
        search: &Search,
        scope: &SearchScope,
        (offset, limit): (usize, usize),
    ) -> Result<(SearchResults, Arc<CurrentGeneration>)> {
        let run = || {
            let wait = self.cms.config.search_wait;
            let current = self.cms.index.wait_for_position(self.source(), seq, wait)?;
            let found = current.generation.search(search, scope, offset, limit);
            Ok((found, current))
        };
        match run()? {
            (Err(Error::Internal(_)), broken) if self.cms.index.discard(&broken) => {
                let (found, current) = run()?;
                Ok((found?, current))
            }
            (found, current) => Ok((found?, current)),
        }
    }

    /// Runs one indexing batch; returns whether more is to be done.
    pub fn index_batch(&self) -> Result<bool> {
        self.cms.index.index_batch(self.source())
    }

    /// As [`Self::index_batch`], unless it is better to wait for more changes. A server calls it
    /// continuously, so that searches have little to index.
    pub fn index_batch_if_due(&self) -> Result<bool> {
        let seq = self.cms.store.read_autocommit(|reader| Ok(reader.journal_head()?.seq))?;
        if self.cms.index.is_due(seq) { self.index_batch() } else { Ok(false) }
    }

    pub(super) fn source(&self) -> ContentSource<'_> {
        let cms = self.cms;
        ContentSource { store: &cms.store, catalog: &cms.catalog, clock: &*cms.config.clock }
    }

    /// The part of the index that the caller may see.
    fn scope(
        &self,
        caller: &Caller,
        request: &SearchRequest,
        catalog: &Catalog,
        types: &HashMap<i64, &CompiledType>,
    ) -> SearchScope {
        let is_approved_only =
            |content_type: &CompiledType| View::for_list(caller, content_type).only_approved;
        let boost = |(name, boost): &(String, f32)| Some((catalog.find(name)?.pk, *boost));
        SearchScope {
            published: !view::sees_every_status(caller),
            ctds: (types.len() < searchable_types(catalog).count())
                .then(|| types.keys().copied().collect()),
            approved_only: types
                .values()
                .filter(|content_type| is_approved_only(content_type))
                .map(|content_type| content_type.pk)
                .collect(),
            boosts: request.boosts.iter().filter_map(boost).collect(),
            now: self.cms.now().seconds(),
        }
    }
}

/// The types that are indexed, whether or not a request searches them.
fn searchable_types(catalog: &Catalog) -> impl Iterator<Item = &CompiledType> {
    catalog
        .types()
        .iter()
        .map(|content_type| &**content_type)
        .filter(|content_type| content_type.is_searchable())
}

/// The types that a request searches, by primary key.
fn searched_types<'c>(
    catalog: &'c Catalog,
    caller: &Caller,
    request: &SearchRequest,
) -> HashMap<i64, &'c CompiledType> {
    let is_wanted = |name: &str| is_named(request.content_types.as_deref(), name);
    searchable_types(catalog)
        .filter(|content_type| {
            is_wanted(content_type.name()) && caller.may(Access::READ, content_type.name())
        })
        .map(|content_type| (content_type.pk, content_type))
        .collect()
}

/// Reads the `item_fields` of a search; none for complete items.
fn projection(
    catalog: &Catalog,
    caller: &Caller,
    request: &SearchRequest,
) -> Result<Option<Projection>> {
    Projection::read("item_fields", &request.item_fields, declared(catalog, caller, request))
}

/// Returns a function that checks whether a searched type declares a path, or every hit has the field.
fn declared<'a>(
    catalog: &'a Catalog,
    caller: &'a Caller,
    request: &SearchRequest,
) -> impl Fn(&[String]) -> bool + use<'a> {
    let types = searched_types(catalog, caller, request);
    let scope = PathScope { catalog, caller, hydrate: request.hydrate };
    move |names| match names {
        [name] if response::HIT_FIELDS.contains(&name.as_str()) => true,
        _ => types.values().any(|content_type| scope.declares(&content_type.properties, names)),
    }
}

/// Returns the offset and the limit of the page; both are 0 for a page that ends beyond
/// [`limits::MAX_SEARCH_RESULTS`].
fn window(request: &SearchRequest) -> (usize, usize) {
    let (offset, limit) = (request.page.offset(), u64::from(request.page.limit));
    if offset + limit > limits::MAX_SEARCH_RESULTS {
        return (0, 0);
    }
    let small = |number| usize::try_from(number).unwrap_or(usize::MAX);
    (small(offset), small(limit))
}

/// Returns whether any of the fields exists in a searched type (see
/// docs/reference/search.md#parameters).
fn has_known_field(fields: &[WeightedField], types: &HashMap<i64, &CompiledType>) -> bool {
    let is_known = |path: &str| {
        let name = path.split('.').next().unwrap_or(path);
        let has = |content_type: &&CompiledType| {
            content_type.properties.iter().any(|property| property.name == name)
        };
        ["id", "internal"].contains(&name) || types.values().any(has)
    };
    fields.iter().any(|field| is_known(&field.path))
}

/// A property inside a list of objects cannot be a sort key (see docs/reference/search.md#errors).
fn refuse_order_in_lists(search: &Search, types: &HashMap<i64, &CompiledType>) -> Result<()> {
    let HitOrder::Score { then: Some(then) } = &search.order else { return Ok(()) };
    let SortBy::Path { path, .. } = &then.by else { return Ok(()) };
    if types.values().any(|content_type| is_inside_list(&content_type.properties, path)) {
        let message = "Ordering by fields nested in lists is not possible";
        return Err(Error::invalid("order_by", message));
    }
    Ok(())
}

fn is_inside_list(properties: &[Property], path: &str) -> bool {
    let Some((name, rest)) = path.split_once('.') else { return false };
    let property = properties.iter().find(|property| property.name == name);
    property.is_some_and(|property| {
        property.input_type == InputType::Object || is_inside_list(&property.nested, rest)
    })
}

/// The rows of the hits, each with its type. The index may be slightly older than the database: a
/// hit that was deleted, or is no longer visible to the caller, has no row.
fn rows<'t>(
    (reader, caller, types): (&Reader<'_>, &Caller, &HashMap<i64, &'t CompiledType>),
    (found, hydration, projection): (&SearchResults, &Hydration<'_>, Option<&Projection>),
    buffered: &mut BufferReservation<'_>,
) -> Result<HashMap<i64, (&'t CompiledType, StoredObject<'static>)>> {
    let edition = |hit: &Hit| {
        types.get(&hit.ctd).map(|content_type| View::for_list(caller, content_type).edition)
    };
    // One statement reads all types.
    let needs =
        |columns| types.values().all(|content_type| hydration.columns(content_type) == columns);
    let mut same = [Columns::WithoutProperties, Columns::IndexedProperties].into_iter();
    let columns = same.find(|columns| needs(*columns)).unwrap_or(Columns::All);
    // Only the named properties are kept in memory.
    let reduced = projection.filter(|projection| !projection.names_member("object_data"));
    let mut rows = HashMap::with_capacity(found.hits.len());
    let mut bytes = 0;
    for wanted in Edition::ALL {
        let hits = found.hits.iter().filter(|hit| edition(hit) == Some(wanted));
        let pks: Vec<i64> = hits.map(|hit| hit.pk).collect();
        if pks.is_empty() {
            continue;
        }
        reader.object_rows(wanted, &pks, columns, |ctd, stored| {
            if let Some(content_type) = types.get(&ctd) {
                let view = View::for_list(caller, content_type);
                if view.edition == wanted && view.admits_state(&stored.internal) {
                    let mut stored = with_properties(stored, columns, content_type);
                    if let Some(projection) = reduced {
                        stored.data = projection.reduced(&stored.data).into();
                    }
                    let size = render::object_bytes(&stored);
                    bytes += size;
                    render::require_bounded(bytes)?;
                    buffered.add(size)?;
                    rows.insert(stored.pk, (*content_type, stored.into_owned()));
                }
            }
            Ok(())
        })?;
    }
    Ok(rows)
}
