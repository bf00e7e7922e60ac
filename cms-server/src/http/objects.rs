//! Content objects.

use cms_core::{
    Cms, Edit, PendingCommit, RenderedObjects, Result, limits,
    paging::{self, PageRequest},
    wire::object::{self, Direction, Json, ListRequest, ObjectRequest, ValidateRequest},
};

use super::context::RequestContext;
use crate::{
    extract::{body, query::Query},
    response::Response,
};

pub(crate) fn list(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, ..] = &context.path;
    let request = list_request(&context.query);
    let list = cms.objects().render_list(&context.caller, name, &request)?;
    if let Some(filters) = &request.filters {
        context.unknown_paths.filters =
            cms.objects().unknown_filters(&context.caller, name, filters);
    }
    context.unknown_paths.fields =
        cms.objects().unknown_fields(&context.caller, name, &request.fields, request.hydrate);
    Ok(rendered(list))
}

fn list_request(query: &Query<'_>) -> ListRequest {
    ListRequest {
        page: page(query),
        order_by: query.text("order_by").map(str::to_owned),
        descending: is_descending(query),
        empty_first: paging::boolean(query.get("empty_first")),
        hydrate: paging::hydration(query.get("hydrate")),
        filters: query.text("filters").map(str::to_owned),
        ids: query.list("ids"),
        fields: query.texts("fields"),
    }
}

pub(crate) fn get(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, id, _] = &context.path;
    let (hydrate, fields) = (context.query.get("hydrate"), context.query.texts("fields"));
    let request = ObjectRequest { hydrate: paging::hydration(hydrate), fields };
    let object = cms.objects().render(&context.caller, name, id, &request)?;
    context.unknown_paths.fields =
        cms.objects().unknown_fields(&context.caller, name, &request.fields, request.hydrate);
    Ok(rendered(object))
}

fn rendered(RenderedObjects { json, tag, types }: RenderedObjects) -> Response {
    Response::from(json).with_tag(tag).cacheable(Some(types))
}

pub(crate) fn create(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, ..] = &context.path;
    let payload = object::read(context.body)?;
    after_commit(context, cms.objects().begin_create(&context.caller, name, payload)?)
}

pub(crate) fn replace(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    edit(cms, context, Edit::Replace)
}

pub(crate) fn patch(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    edit(cms, context, Edit::Patch)
}

fn edit(cms: &Cms, context: &RequestContext<'_>, edit: Edit) -> Result<Response> {
    let [name, id, _] = &context.path;
    let payload = object::read(context.body)?;
    after_commit(context, cms.objects().begin_edit(&context.caller, name, id, payload, edit)?)
}

/// The response to a write. A thread that serves connections does not wait for the commit.
fn after_commit(context: &RequestContext<'_>, commit: PendingCommit<Vec<u8>>) -> Result<Response> {
    if context.caller.fast_only {
        return Ok(Response::pending(commit));
    }
    Ok(Response::tagged(Json(commit.wait()?)))
}

pub(crate) fn delete(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, id, _] = &context.path;
    cms.objects().delete(&context.caller, name, id)?;
    Ok(Response::no_content())
}

pub(crate) fn deleted_ids(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, ..] = &context.path;
    let ids =
        cms.objects().deleted_ids(&context.caller, name, context.query.get("deletedAfter"))?;
    Ok(Response::json(&ids))
}

pub(crate) fn versions(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, id, _] = &context.path;
    let (page, direction) = (page(&context.query), direction(&context.query));
    Ok(Response::tagged(cms.objects().versions(&context.caller, name, id, page, direction)?))
}

pub(crate) fn version(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, id, version] = &context.path;
    Ok(Response::tagged(cms.objects().version(&context.caller, name, id, version)?))
}

pub(crate) fn duplicate(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, id, _] = &context.path;
    let payload = body::object(context.body)?;
    Ok(Response::tagged(cms.objects().duplicate(&context.caller, name, id, &payload)?))
}

pub(crate) fn validate(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, ..] = &context.path;
    let request = ValidateRequest {
        id: context.query.text("id").map(str::to_owned),
        patch: paging::boolean(context.query.get("patch")),
    };
    let payload = object::read(context.body)?;
    cms.objects().validate(&context.caller, name, &request, payload)?;
    Ok(Response::no_content())
}

pub(crate) fn incoming(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, id, _] = &context.path;
    let (types, page) = (context.query.list("content_type"), page(&context.query));
    let links = cms.objects().incoming(&context.caller, name, id, types.as_deref(), page)?;
    Ok(Response::json(&links))
}

pub(crate) fn page(query: &Query<'_>) -> PageRequest {
    PageRequest::parse(query.get("page"), query.get("limit"), limits::MAX_PAGE_SIZE)
}

pub(crate) fn is_descending(query: &Query<'_>) -> bool {
    direction(query) == Direction::Descending
}

/// Every value except `desc` means ascending.
pub(crate) fn direction(query: &Query<'_>) -> Direction {
    match query.get("order_direction") {
        Some(text) if text.eq_ignore_ascii_case("desc") => Direction::Descending,
        _ => Direction::Ascending,
    }
}
