//! Finds the objects that a request matches.

use std::collections::HashSet;

use cms_model::{
    content_type::catalog::{Catalog, CompiledType},
    context::Caller,
    error::{Error, Result},
    limits,
    object::{list::ObjectList, model::Edition, view::View},
    paging::ListRange,
    query::linked::LinkScope,
    wire::{bulk::BulkRequest, object::ListRequest},
};
use cms_store::Reader;

/// Returns the primary keys of the matching objects, in creation order. `found` has the matches of
/// the search text, if there is one.
pub(super) fn object_pks(
    reader: &Reader<'_>,
    caller: &Caller,
    (catalog, content_type): (&Catalog, &CompiledType),
    request: &BulkRequest,
    found: Option<&HashSet<i64>>,
) -> Result<Vec<i64>> {
    let masked = View::for_object(caller, content_type).masked;
    let current = View { edition: Edition::Current, only_approved: false, masked };
    let scope = LinkScope { catalog, caller, view: View::for_object };
    let mut pks = list(reader, content_type, current, request.filters.clone(), scope)?;
    if let Some(found) = found {
        pks.retain(|pk| found.contains(pk));
    }
    if caller.visibility.public_only {
        let public = list(reader, content_type, View::public(content_type), None, scope)?;
        let public: HashSet<i64> = public.into_iter().collect();
        pks.retain(|pk| public.contains(pk));
    }
    if pks.len() > limits::MAX_BULK_OBJECTS {
        let message = format!("Too many objects, limit: {}", limits::MAX_BULK_OBJECTS);
        return Err(Error::invalid("filters", message));
    }
    Ok(pks)
}

fn list(
    reader: &Reader<'_>,
    content_type: &CompiledType,
    view: View,
    filters: Option<String>,
    scope: LinkScope<'_>,
) -> Result<Vec<i64>> {
    let request = ListRequest { filters, ..ListRequest::default() };
    let list = ObjectList::new(&request, ListRange::from(request.page), view);
    reader.matching_pks(content_type, &list, scope)
}
